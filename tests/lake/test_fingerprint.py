import functools
import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lake import code
from lake.code import code_digest
from lake.fingerprint import fingerprint
from tests.tiny import put

SOURCES = {
    "first/__init__.py": "",
    "first/step.py": "from first import rules\n\ndef step(text):\n    return rules.cut(text)\n",
    "first/rules.py": "from .words import words\n\ndef cut(text):\n    '''Cut a text.'''\n    return words(text)\n",
    "first/words.py": "def words(text):\n    # Blanks part words.\n    return text.split()\n",
    "first/other.py": "def other():\n    return 1\n",
    "first/later.py": "def later(text):\n    from first.other import other\n    return other()\n",
}


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A checkout of six small modules; what the real one remembers stays out of it."""
    for name, text in SOURCES.items():
        put(tmp_path / name, text.encode())
    monkeypatch.setattr(code, "ROOT", tmp_path)
    monkeypatch.setattr(code, "_CACHE", tmp_path / "cache")
    monkeypatch.syspath_prepend(tmp_path)
    forget()
    yield tmp_path
    for name in [name for name in sys.modules if name.partition(".")[0] == "first"]:
        del sys.modules[name]
    forget()


def forget() -> None:
    for function in (code.digest_of, code._source, code._known, code._files_of):
        function.cache_clear()


def attribute(name: str) -> Callable[..., object]:
    module, _, function = name.rpartition(".")
    value: Callable[..., object] = getattr(importlib.import_module(module), function)
    return value


def digest_after(checkout: Path, name: str, text: str, function: str = "first.step.step") -> str:
    put(checkout / name, text.encode())
    forget()
    return code_digest(attribute(function))


@pytest.mark.parametrize(
    ("name", "was", "becomes"),
    [
        ("first/words.py", "text.split()", "text.split('-')"),
        ("first/rules.py", "words(text)", "words(text)[1:]"),
        ("first/step.py", "rules.cut(text)", "rules.cut(text.lower())"),
        ("first/__init__.py", "", "import sys\n"),
    ],
)
def test_a_change_anywhere_in_the_closure_changes_the_digest(checkout: Path, name: str, was: str, becomes: str) -> None:
    before = code_digest(attribute("first.step.step"))
    assert digest_after(checkout, name, SOURCES[name].replace(was, becomes) if was else becomes) != before


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("first/words.py", '"""Words."""\ndef words(text):\n    return (\n        text.split()\n    )  # parted\n'),
        ("first/rules.py", SOURCES["first/rules.py"].replace("Cut a text.", "Cut any text into words.")),
        ("first/other.py", "def other():\n    return 2\n"),
        ("first/new.py", "def new():\n    return 3\n"),
    ],
)
def test_comments_docstrings_formatting_and_other_modules_keep_the_digest(checkout: Path, name: str, text: str) -> None:
    before = code_digest(attribute("first.step.step"))
    assert digest_after(checkout, name, text) == before


def test_functions_bound_into_a_partial_count(checkout: Path) -> None:
    step, other = attribute("first.step.step"), attribute("first.other.other")
    assert code_digest(functools.partial(step, by=other)) == code_digest(step, other) != code_digest(step)


def test_what_is_remembered_of_the_sources_gives_the_same_digest(checkout: Path) -> None:
    before = code_digest(attribute("first.step.step"))
    assert (checkout / "cache/sources.json").is_file()
    forget()
    assert code_digest(attribute("first.step.step")) == before


def test_equal_values_have_equal_fingerprints_whatever_their_order() -> None:
    assert fingerprint({"a": 1, "b": (2, 3)}) == fingerprint({"b": [2, 3], "a": 1})
    assert fingerprint({"x", "y", "z"}) == fingerprint(frozenset(["z", "y", "x"]))
    assert fingerprint(Path("a/b")) == fingerprint("a/b")


@pytest.mark.parametrize(
    ("first", "other"),
    [
        (("a", "b"), ("ab",)),
        (("1",), (1,)),
        ((None,), ("",)),
        (([],), ()),
        ((1,), (1.0,)),
        ((["a"], "b"), ("a", ["b"])),
    ],
)
def test_different_values_have_different_fingerprints(first: tuple[object, ...], other: tuple[object, ...]) -> None:
    assert fingerprint(*first) != fingerprint(*other)
