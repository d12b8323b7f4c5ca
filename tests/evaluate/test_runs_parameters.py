"""What runs and declared things carry as JSON is for people: nothing is decided by it."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from lake.errors import Exit
from lake.store import Lake
from lake.tables import TABLES
from tests.ingest.runs.test_import import trec
from tests.tiny import command, put

pytestmark = pytest.mark.slow

RUNS = ("runs", "run_items", "hits", "scores", "aggregates")


def _emptied(lake: Lake) -> None:
    """Empty the JSON of every row that has some, in parts that are otherwise as they were."""
    for name in (name for name, table in TABLES.items() if "parameters" in table.columns):
        for part in lake.parts(name):
            rows = lake.scan_parts([part], name).select(*TABLES[name].columns).collect()
            emptied = rows.with_columns(parameters=pl.lit("{}"))
            lake.write(name, emptied, part=part.name, fingerprint=part.fingerprint, **part.folders)


def test_a_lake_whose_parameters_are_emptied_is_scored_and_shown_alike(lake_folder: Path, tmp_path: Path) -> None:
    lake = Lake(lake_folder)
    ranking = put(tmp_path / "run.trec", trec([("function-2k/zoo_animals/0", "cats.py#L1-L2", 1, 1.0)]))
    told = ("--benchmark", "repoeval", "--system", "theirs", "--lake", lake_folder)
    assert command("ingest", "run", ranking, *told).code == Exit.DONE
    options = ("--items", "repo=zoo_animals", "--lake", lake_folder)
    assert command("evaluate", *options).code in (0, Exit.INCOMPLETE)
    assert command("report", "--lake", lake_folder, "--site", tmp_path / "before").code == 0
    before = {name: lake.read(name) for name in RUNS}
    assert before["runs"]["selection"].list.len().max() == 1
    _emptied(lake)
    again = before["runs"].filter((pl.col("selection").list.len() > 0) | (pl.col("origin") == "imported"))["run_id"]
    for part in [part for name in ("scores", "aggregates") for part in lake.parts(name)]:
        if part.folders["run_id"] in again:
            lake.remove(part)
    assert command("evaluate", *options).code in (0, Exit.INCOMPLETE)
    assert command("report", "--lake", lake_folder, "--site", tmp_path / "after").code == 0
    for name, rows in before.items():
        assert lake.read(name).drop("parameters", strict=False).equals(rows.drop("parameters", strict=False)), name
    pages = [(tmp_path / side / "repoeval-all.html").read_text(encoding="utf-8") for side in ("before", "after")]
    without = [text.partition("<footer>")[0] for text in (pages[0], pages[1])]
    assert without[0] == without[1]
