"""A benchmark's items at the command line: those that are selected, those that a system failed, a line of each."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from lake.store import Lake
from tests.tiny import Said, command

SYSTEM = "window-4-2+own-file"


def listed(lake: Path, *arguments: object) -> Said:
    return command("evaluate", "items", "repoeval", *arguments, "--lake", lake)


def rows_of(said: Said) -> list[list[str]]:
    return [line.split("\t") for line in said.out.splitlines() if not line.startswith("# ")][1:]


def test_items_have_their_best_score_and_the_line_before_the_hole(lake_folder: Path) -> None:
    lake, said = Lake(lake_folder), listed(lake_folder)
    assert said.code == 0, said.err
    scores = lake.read("scores", protocol="repoeval@chunking-v1").filter(metric="line_f1", k=8000)
    runs = lake.read("runs").filter(~pl.col("retriever").is_in(["oracle", "random"]))
    best = scores.join(runs, on="run_id").group_by("item_id").agg(pl.col("value").max())
    queries = dict(lake.read("queries", query="prompt").select("item_id", "text").iter_rows())
    rows = rows_of(said)
    assert {item_id: score for item_id, _, score, _, _ in rows} == {
        item_id: f"{value:.3f}" for item_id, value in best.iter_rows()
    }
    for item_id, _, _, _, line in rows:
        assert line in queries[item_id].splitlines()[-1]


def test_what_a_system_failed_is_what_it_scores_0(lake_folder: Path) -> None:
    lake = Lake(lake_folder)
    (run_id,) = lake.read("runs").filter(system=SYSTEM)["run_id"]
    scores = lake.read("scores", run_id=run_id, protocol="repoeval@chunking-v1").filter(metric="line_f1", k=8000)
    failed = sorted(scores.filter(pl.col("value") == 0)["item_id"])
    assert sorted(row[0] for row in rows_of(listed(lake_folder, "--failed-by", SYSTEM))) == failed
    chosen = listed(lake_folder, "--where", "repo=zoo_animals")
    assert {row[1] for row in rows_of(chosen)} == {"zoo_animals"}
    assert "2 items" in chosen.out.splitlines()[0]


def test_what_is_not_there_is_said(lake_folder: Path) -> None:
    assert "Did you mean 'window-4-2+own-file'" in listed(lake_folder, "--failed-by", "window-4-2+own-fil").err
    assert command("evaluate", "items", "repoval", "--lake", lake_folder).code == 2
    assert "items are selected by column=value" in listed(lake_folder, "--where", "nothing=1").err
