import importlib
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest

from lake.declarations import discover
from lake.errors import Exit, GoldspanError
from tests.tiny import put, refused


@dataclass(frozen=True)
class Thing:
    name: str


Package = Callable[..., ModuleType]


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Package:
    """Makes a package of modules, each given by its source text."""

    def make(**modules: str) -> ModuleType:
        monkeypatch.syspath_prepend(tmp_path)
        for name, text in {"__init__": "", **modules}.items():
            file = tmp_path / f"declared_in_a_test/{name}.py"
            put(file, f"from tests.lake.test_declarations import Thing\n{text}\n".encode())
        for name in [name for name in sys.modules if name.partition(".")[0] == "declared_in_a_test"]:
            monkeypatch.delitem(sys.modules, name)
        return importlib.import_module("declared_in_a_test")

    return make


def test_every_public_modules_declarations_are_found_in_the_order_of_their_names(package: Package) -> None:
    declared = discover(package(b="ONE = Thing('one')", a="TWO = Thing('two')\nTHREE = Thing('three')"), Thing)
    assert list(declared.items()) == [(name, Thing(name)) for name in ("one", "three", "two")]


def test_where_every_module_is_to_declare_something_one_that_does_not_is_named(package: Package) -> None:
    made = package(a="ONE = Thing('one')", _helper="", b="two = Thing")
    with refused(r"declared_in_a_test/b\.py declares no thing", Exit.USAGE):
        discover(made, Thing, in_every=True)
    assert list(discover(made, Thing)) == ["one"]


def test_a_name_twice_is_an_error_that_says_where(package: Package) -> None:
    made = package(a="ONE = Thing('one')", b="OTHER = Thing('one')")
    with pytest.raises(GoldspanError, match="thing 'one' is declared twice") as caught:
        discover(made, Thing)
    assert caught.value.where == "declared_in_a_test.a and declared_in_a_test.b"
