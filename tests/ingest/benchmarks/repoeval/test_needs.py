import contextlib
from collections.abc import Sequence
from pathlib import Path

import polars as pl
import pytest

from ingest.benchmarks.declaration import PoolGroup
from ingest.benchmarks.repoeval.needs import ELSEWHERE, LIBRARY, OWN_FILE, UNRESOLVED, with_needs
from ingest.contents.blobs import pool_frames
from lake.store import Lake
from tests.tiny import build, command, task

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


DOGS = "kennel/dogs.py"
FOLLOWED: dict[str, list[tuple[str, int, int]]] = {
    "    return bark(1)\n": [(DOGS, 19, 22)],
    "    return dogs.bark(2)\n": [(DOGS, 19, 22)],
    "    return speak(3)\n": [(DOGS, 19, 22)],
    "    return bark(times=3)\n": [(DOGS, 19, 22)],
    "    return pet.walk()\n": [(DOGS, 14, 17)],
    "    return pet.age\n": [(DOGS, 12, 13)],
    "    return Dog\n": [(DOGS, 7, 13)],
    "    return loud\n": [(DOGS, 2, 5)],
    "    return Dog(bark(0)).walk()\n": [(DOGS, 7, 13), (DOGS, 14, 17), (DOGS, 19, 22)],
}
"""A function, a module's, re-exported under another name, by an argument, a method and an attribute through an
annotation, a class to its first method's end, a constant under an alias, and several."""
UNNEEDED = {
    "    times = [pet]\n    return times\n": OWN_FILE,
    "    return chase(pet, None)\n": OWN_FILE,
    "    return len([pet])\n": LIBRARY,
    "    return np.array(pet)\n": LIBRARY,
    "    return unknown.attribute\n": UNRESOLVED,
    "    return dogs\n": OWN_FILE,
}
OWN = {body: f"kennel/cats{number}.py" for number, body in enumerate([*FOLLOWED, *UNNEEDED])}
"""A completion of `chase` → the file in which it stands."""


@pytest.fixture(scope="module")
def needs(tmp_path_factory: pytest.TempPathFactory) -> tuple[pl.DataFrame, pl.DataFrame, PoolGroup]:
    """Items, gold and pools of all completions, resolved together: jedi reads the library's stubs once."""
    texts = {OWN[body]: FILES["kennel/cats.py"].replace("    ...\n", body) for body in OWN}
    pool = "repoeval/function_level/pets"
    files = [(pool, path, text.encode()) for path, text in ({**FILES, **texts}).items() if path != "kennel/cats.py"]
    tasks = [
        {"item_id": body, "repo": "pets", "pool_id": pool, "language": "python", "scorable": True, "target_path": path,
         "target_line": LINE, "target_text": body}
        for body, path in OWN.items()
    ]  # fmt: skip
    folder = tmp_path_factory.mktemp("needs")
    with contextlib.chdir(folder):
        resolved = with_needs(pl.DataFrame(tasks), PoolGroup("function_level", *pool_frames(files)), [])
    assert not list(folder.iterdir()), "nothing of the repository runs"
    return resolved


@pytest.mark.parametrize("body", FOLLOWED)
def test_a_name_is_followed_to_another_file(needs: tuple[pl.DataFrame, pl.DataFrame, PoolGroup], body: str) -> None:
    items, gold, pools = needs
    assert items.filter(item_id=body)["need"].item() == ELSEWHERE
    assert gold.filter(item_id=body).drop("item_id").rows() == FOLLOWED[body]
    files = pools.files.filter(pool_id=f"need/pets/{OWN[body]}:{LINE}")
    assert files["path"].sort().to_list() == sorted({DOGS, "kennel/__init__.py", *OWN.values()})
    shown = files.filter(path=OWN[body]).join(pools.blobs, on="sha256")["text"].item()
    assert shown == "".join(FILES["kennel/cats.py"].splitlines(keepends=True)[:LINE])


@pytest.mark.parametrize(("body", "kind"), UNNEEDED.items())
def test_items_without_needs(needs: tuple[pl.DataFrame, pl.DataFrame, PoolGroup], body: str, kind: str) -> None:
    items, gold, pools = needs
    assert items.filter(item_id=body)["need"].item() == kind
    assert gold.filter(item_id=body).is_empty()
    assert pools.files.filter(pl.col("pool_id").str.contains(OWN[body], literal=True)).is_empty()


def lay_out(folder: Path, bodies: Sequence[str]) -> Path:
    """RepoEval's layout, with a task for each completion of `chase`, each in a file of its own."""
    own = {f"kennel/cats{n}.py": FILES["kennel/cats.py"].replace("    ...\n", body) for n, body in enumerate(bodies)}
    texts = zip(own.items(), bodies, strict=True)
    rows = [task("pets", path, text, 0, LINE, 1, ground_truth=body) for (path, text), body in texts]
    files = {f"pets/{path}": text.encode() for path, text in (FILES | own).items() if path != "kennel/cats.py"}
    return build(folder, rows, repositories=files)


@pytest.mark.slow
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
    command("evaluate", "--lake", lake).done()
    scored = Lake(lake).read("scores").filter(protocol="repoeval@needs-v1")
    assert scored["item_id"].n_unique() == 2
    oracle = Lake(lake).read("runs").filter(task="repoeval/need", retriever="oracle")["run_id"].item()
    reached = scored.filter(run_id=oracle, metric="line_coverage", k=8_000)["value"]
    assert reached.to_list() == [1.0, 1.0]
    command("report", "--lake", lake, "--site", tmp_path / "site").done()
    assert "definitions elsewhere 2, library only 1." in (tmp_path / "site/methods.html").read_text()
    assert "needs-v1" in (tmp_path / "site/repoeval.html").read_text().partition("</h1>")[2][:3000]


@pytest.mark.slow
def test_a_lake_whose_completions_need_nothing_is_evaluated_as_ever(tmp_path: Path) -> None:
    source, lake = lay_out(tmp_path / "source", ["    return len([pet])\n"]), tmp_path / "lake"
    command("ingest", "repoeval", "--source", source, "--lake", lake, "--needs").done()
    command("evaluate", "--lake", lake).done()
    assert "repoeval/need" not in Lake(lake).read("runs")["task"].to_list()
