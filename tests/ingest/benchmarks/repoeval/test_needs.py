"""Gold by need: what the names of a completion resolve to, by hand, and the pools that end at the hole."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import polars as pl
import pytest

from ingest.benchmarks.declaration import PoolGroup
from ingest.benchmarks.repoeval.needs import ELSEWHERE, LIBRARY, OWN_FILE, UNRESOLVED, with_needs
from ingest.contents.blobs import pool_frames
from lake.store import Lake
from tests.tiny import command, put

FILES = {
    "kennel/__init__.py": "from kennel.dogs import Dog, bark as speak\n",
    "kennel/dogs.py": """import functools

LOUD = {
    "husky": 3,
}


class Dog:
    name: str = ""

    def __init__(self, name):
        self.name = name
        self.age = 0

    @functools.cache
    def walk(self, miles=1):
        return miles


def bark(times):
    open("ran", "w").close()
    return times


open("ran", "w").close()
""",
    "kennel/cats.py": """import numpy as np
from kennel import Dog, speak
from kennel.dogs import LOUD as loud, bark
from . import dogs


def chase(pet: Dog, unknown):
    ...
""",
}
LINE = FILES["kennel/cats.py"].count("\n") - 1


def needs_of(body: str) -> tuple[str, list[tuple[str, int, int]]]:
    """The kind and the gold of a completion of `chase`."""
    own = FILES["kennel/cats.py"].replace("    ...\n", body)
    files = [("repoeval/function_level/pets", path, text.encode()) for path, text in FILES.items()]
    files[2] = (*files[2][:2], own.encode())
    task = {
        "item_id": "function-2k/pets/0", "repo": "pets", "pool_id": "repoeval/function_level/pets", "scorable": True,
        "target_path": "kennel/cats.py", "target_line": LINE, "target_text": body,
    }  # fmt: skip
    items, gold, pools = with_needs(pl.DataFrame([task]), PoolGroup("function_level", *pool_frames(files)))
    if gold.height:
        shown = pools.files.filter(path="kennel/cats.py").join(pools.blobs, on="sha256")["text"].item()
        assert shown == "".join(own.splitlines(keepends=True)[:LINE])
        assert pools.files["pool_id"].unique().to_list() == [f"repoeval/need/pets/kennel/cats.py:{LINE}"]
        assert pools.files["path"].to_list() == sorted(FILES)
    else:
        assert pools.files.is_empty()
    return str(items["need"].item()), gold.drop("item_id").rows()


DOGS = "kennel/dogs.py"


@pytest.mark.parametrize(
    ("body", "spans"),
    [
        ("    return bark(1)\n", [(DOGS, 19, 22)]),
        ("    return dogs.bark(2)\n", [(DOGS, 19, 22)]),
        ("    return speak(3)\n", [(DOGS, 19, 22)]),
        ("    return bark(times=3)\n", [(DOGS, 19, 22)]),
        ("    return pet.walk()\n", [(DOGS, 14, 17)]),
        ("    return pet.age\n", [(DOGS, 12, 13)]),
        ("    return Dog\n", [(DOGS, 7, 13)]),
        ("    return loud\n", [(DOGS, 2, 5)]),
        ("    return Dog(bark(0)).walk()\n", [(DOGS, 7, 13), (DOGS, 14, 17), (DOGS, 19, 22)]),
    ],
)
def test_a_name_is_followed_to_its_definition_in_another_file(body: str, spans: list[tuple[str, int, int]]) -> None:
    """A function, a module's, re-exported under another name, by an argument, a method and an attribute through an
    annotation, a class to its first method's end, a constant under an alias, and several."""
    assert needs_of(body) == (ELSEWHERE, spans)


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("    times = [pet]\n    return times\n", OWN_FILE),
        ("    return chase(pet, None)\n", OWN_FILE),
        ("    return len([pet])\n", LIBRARY),
        ("    return np.array(pet)\n", LIBRARY),
        ("    return unknown.attribute\n", UNRESOLVED),
        ("    return dogs\n", OWN_FILE),
    ],
)
def test_an_item_that_needs_no_other_file_has_no_pool_and_says_what_it_names(body: str, kind: str) -> None:
    assert needs_of(body) == (kind, [])


def test_nothing_of_the_repository_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    needs_of("    return bark(1)\n")
    assert not list(tmp_path.iterdir())


def lay_out(folder: Path, bodies: Sequence[str]) -> Path:
    """RepoEval's layout, with a task for each completion of `chase`, each in a file of its own."""
    root = folder / "repoeval"
    rows = []
    for number, body in enumerate(bodies):
        own = FILES["kennel/cats.py"].replace("    ...\n", body)
        path = f"kennel/cats{number}.py"
        put(root / "repositories/function_level/pets" / path, own.encode())
        place = {"fpath_tuple": ["pets", *path.split("/")], "lineno": LINE, "context_start_lineno": 0}
        prompt = "".join(own.splitlines(keepends=True)[:LINE])
        rows.append({"prompt": prompt, "metadata": {**place, "task_id": f"pets/{number}", "ground_truth": body}})
    for path in ("kennel/__init__.py", "kennel/dogs.py"):
        put(root / "repositories/function_level/pets" / path, FILES[path].encode())
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    put(root / "datasets/function_level_completion_2k_context_codex.test.jsonl", lines.encode())
    return folder


def test_gold_by_need_is_asked_for_kept_scored_and_listed(tmp_path: Path) -> None:
    bodies = ["    return bark(1)\n", "    return pet.walk()\n", "    return len([pet])\n"]
    source, lake = lay_out(tmp_path / "source", bodies), tmp_path / "lake"
    given = ("ingest", "repoeval", "--source", source, "--lake", lake, "--chunkers", "whole-file")
    assert "gold by need" not in command(*given).err
    assert "needs" not in [part.name for part in Lake(lake).parts("files", benchmark="repoeval")]
    told = command(*given, "--needs").err
    assert "gold by need: 2 of 3 items; the others: library only 1" in told
    # What a lake has is not taken away by a command that does not ask for it again.
    assert " made" not in command(*given).err
    assert sorted(Lake(lake).read("items")["need"]) == [ELSEWHERE, ELSEWHERE, LIBRARY]
    assert command("evaluate", "--lake", lake).code == 0
    scored = Lake(lake).read("scores").filter(protocol="repoeval@needs-v1")
    assert scored["item_id"].n_unique() == 2
    oracle = Lake(lake).read("runs").filter(task="repoeval/need", retriever="oracle")["run_id"].item()
    reached = scored.filter(run_id=oracle, metric="line_coverage", k=8_000)["value"]
    assert reached.to_list() == [1.0, 1.0]
    assert command("report", "--lake", lake, "--site", tmp_path / "site").code == 0
    methods = (tmp_path / "site/methods.html").read_text().replace("<wbr>", "")
    assert "kennel/dogs.py:20–22" in methods
    assert "needs-v1" in (tmp_path / "site/repoeval.html").read_text().partition("</h1>")[2][:3000]


def test_a_lake_whose_completions_need_nothing_is_evaluated_as_ever(tmp_path: Path) -> None:
    source, lake = lay_out(tmp_path / "source", ["    return len([pet])\n"]), tmp_path / "lake"
    assert command("ingest", "repoeval", "--source", source, "--lake", lake, "--needs").code == 0
    assert command("evaluate", "--lake", lake).code == 0
    assert "repoeval/need" not in Lake(lake).read("runs")["task"].to_list()
