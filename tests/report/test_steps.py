from pathlib import Path
from random import Random

import pytest

from lake.store import Lake
from report.coverage import MAX_STEPS, coverage_by_step
from tests.frames import write

PROTOCOL = "contextbench@docs-v1"
FOLDERS = {"benchmark": "contextbench", "protocol": PROTOCOL, "run_id": "run"}

BY_LINES = {PROTOCOL: "line"}


def step(item: str, number: int, n_cumulative_hit: int, n_gold: int = 10) -> dict[str, object]:
    counts = {"n_gold": n_gold, "n_cumulative_hit": n_cumulative_hit}
    return {"item_id": item, "granularity": "line", "step": number, **counts}


def aggregate(metric: str, n: int) -> dict[str, object]:
    return {"granularity": "line", "metric": metric, "n": n, "n_items": n, "n_repos": 0}


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    """Two trajectories of two and four steps, and an item whose trajectory has none."""
    lake = Lake(tmp_path)
    write(lake, "aggregates", [aggregate("line_auc", 3), aggregate("line_f1", 3)], **FOLDERS)
    long = [step("long", number, seen) for number, seen in ((1, 0), (2, 4), (3, 4), (4, 10))]
    short = [step("short", number, seen) for number, seen in ((1, 5), (2, 10))]
    write(lake, "step_scores", long + short, **FOLDERS)
    return lake


def test_a_finished_trajectory_keeps_what_it_had_and_one_without_steps_has_nothing(lake: Lake) -> None:
    rows = coverage_by_step(lake, BY_LINES)
    assert rows["n"].unique().to_list() == [3]
    assert rows["step"].to_list() == list(range(1, MAX_STEPS + 1))
    first = [0.5 / 3, (0.4 + 1.0) / 3, (0.4 + 1.0) / 3, 2 / 3]
    assert rows["coverage"].to_list() == pytest.approx(first + [2 / 3] * (MAX_STEPS - 4))


def test_a_run_without_any_step_is_not_shown(lake: Lake) -> None:
    write(lake, "aggregates", [aggregate("line_auc", 3)], **{**FOLDERS, "run_id": "chance"})
    assert coverage_by_step(lake, BY_LINES)["run_id"].unique().to_list() == ["run"]


def test_a_trajectory_longer_than_the_picture_is_shown_as_far_as_it_goes(lake: Lake) -> None:
    assert coverage_by_step(lake, BY_LINES, max_steps=2)["coverage"].to_list() == pytest.approx([0.5 / 3, 1.4 / 3])


def test_the_order_in_which_items_are_stored_says_nothing_to_the_last_bit(tmp_path: Path) -> None:
    sizes = [(n_gold, seen) for n_gold in range(3, 97) for seen in (n_gold // 3, n_gold // 2, n_gold - 1)]
    curves = []
    for seed in range(8):
        names = [f"item {number}" for number in range(len(sizes))]
        Random(seed).shuffle(names)
        rows = [
            step(name, number, number * seen // 3, n_gold)
            for name, (n_gold, seen) in zip(names, sizes, strict=True)
            for number in (1, 2, 3)
        ]
        lake = Lake(tmp_path / str(seed))
        write(lake, "aggregates", [aggregate("line_auc", len(sizes))], **FOLDERS)
        write(lake, "step_scores", rows, **FOLDERS)
        curves.append(coverage_by_step(lake, BY_LINES)["coverage"].to_list())
    assert all(curve == curves[0] for curve in curves)


def test_a_lake_without_trajectories_has_no_steps(tmp_path: Path) -> None:
    assert coverage_by_step(Lake(tmp_path), BY_LINES).is_empty()
