from pathlib import Path

import pytest

from lake.errors import Exit
from tests.tiny import build, command, ingested, put, task

pytestmark = pytest.mark.slow

N_ITEMS, N_WINS, N_LOSSES = 200, 11, 187
NAMES = ("odd.py", "even.py")
CHUNKERS = "whole-file,window-4-2"
EACH = 4
"""Lines of a function, with the empty one below it."""


def function(number: int) -> str:
    return f"def shape_{number}(side):\n    area_{number} = side * {number}\n    return area_{number} + side\n\n"


def make(folder: Path) -> Path:
    """A lake with a question about each of 200 functions of one repository, its systems ranked and scored."""
    texts = [
        "".join(function(number) for number in range(N_ITEMS) if number % 2 == place) for place, _ in enumerate(NAMES)
    ]
    files = {f"acme_shapes/{name}": text.encode() for name, text in zip(NAMES, texts, strict=True)}
    starts = [number // 2 * EACH for number in range(N_ITEMS)]
    rows = [
        task("acme_shapes", NAMES[number % 2], texts[number % 2], start, start + 1, 2)
        for number, start in enumerate(starts)
    ]
    source, lake = build(folder / "source", rows, repositories=files), folder / "lake"
    command("ingest", "repoeval", "--source", source, "--chunkers", CHUNKERS, "--lake", lake).done()
    wins, losses = range(N_WINS), range(N_WINS, N_WINS + N_LOSSES)
    for system, wrong in (("before", wins), ("after", losses)):
        lines = ["item_id\tdocument\tscore"]
        for number, start in enumerate(starts):
            path = NAMES[(number + (number in wrong)) % 2]
            lines.append(f"function-2k/acme_shapes/{number}\t{path}#L{start + 1}-L{start + 3}\t1")
        file = put(folder / f"{system}.tsv", "\n".join([*lines, ""]).encode())
        command("ingest", "run", file, "--benchmark", "repoeval", "--system", system, "--lake", lake).done()
    command("evaluate", "--lake", lake).done()
    return lake


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Such a lake, with two imported systems: `after` wins 11 of the items and loses 187 against `before`."""
    return make(tmp_path_factory.mktemp("alone"))


GATE = ("--fail-if", "line_f1@8000 is worse", "--protocol", "repoeval@chunking-v1")


def test_the_gate_fails_over_the_items_of_one_repository(lake: Path) -> None:
    failed = command("evaluate", "compare", "before", "after", *GATE, "--lake", lake)
    assert failed.code == Exit.GATE, failed.err
    assert "B is worse than A" in failed.out
    assert "1 repository, over items: for these repositories only" in failed.out
    assert f"{N_WINS}" in failed.out
    assert f"{N_LOSSES}" in failed.out
    command("evaluate", "compare", "after", "before", *GATE, "--lake", lake).done()


def test_effects_are_told_over_the_items_of_one_repository(lake: Path) -> None:
    printed = command("evaluate", "effects", "--protocol", "repoeval@chunking-v1", "--lake", lake).done()
    title, *_, answer = printed.out.strip().splitlines()
    assert f"{N_ITEMS} items, 1 repository" in title
    assert "matters more here" in answer or "is undecided here" in answer
    assert answer.endswith("(for these repositories only).")


def test_effects_without_a_grid_say_what_to_add(source: Path, tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    ingested(lake, source, chunkers=["whole-file"])
    assert command("evaluate", "--lake", lake).code == 0
    printed = command("evaluate", "effects", "--lake", lake)
    assert (printed.code, printed.out) == (Exit.MISSING, "")
    assert "no two chunkers, scored on all the items, have the same two retrievers" in printed.err
    assert "make ingest evaluate" in printed.err
