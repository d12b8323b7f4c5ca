"""Importing trajectories at the command line: what is said, what is asked for, how errors end."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from lake.errors import Exit
from lake.store import Lake
from tests.ingest.runs.agents import (
    CATS,
    ITEMS,
    UPSTREAM,
    counts,
    hits,
    imported,
    issues,
    issues_once,
    jsonl,
    lake,
    unified,
    zipped,
)
from tests.tiny import Said, command, put, stored

__all__ = ["issues_once", "lake"]

ALL = jsonl(*(unified(item) for item in ITEMS))


def run(lake: Lake, file: Path, *arguments: object, verb: str = "run", benchmark: str = "contextbench") -> Said:
    named = ("--benchmark", benchmark, "--system", "agent", "--lake", lake.root)
    return command("ingest", verb, file, *named, *arguments)


@pytest.mark.parametrize("verb", ["run", "check"])
def test_a_whole_import_ends_in_0(lake: Lake, verb: str) -> None:
    said = run(lake, put(lake.root.parent / "a.zip", zipped({"all.jsonl": ALL})), verb=verb)
    assert said.code == Exit.DONE
    lines = said.err.splitlines()
    assert lines[0] == "a.zip: ContextBench's unified predictions for contextbench/issue"
    assert lines[1].startswith("ingest: 3 of 3 items")
    assert ("; parts: " in lines[1]) == (verb == "run")
    assert lines[3] == "  trajectories: 3, with 3 steps and 6 spans"


@pytest.mark.parametrize(
    ("arguments", "code", "what"),
    [
        (("--task", "contextbench/isue"), Exit.USAGE, "unknown task"),
        (("--format", "mini-swe-agnt"), Exit.USAGE, "Did you mean 'mini-swe-agent'"),
        (("--format", "mini-swe-agent"), Exit.INVALID, "none of the file's is known"),
        (("--chunker", "whole-file"), Exit.USAGE, "chunker"),
        (("--system", " "), Exit.USAGE, "the system name ' ' is empty"),
    ],
)
def test_a_wrong_argument_is_told_in_a_few_lines(lake: Lake, arguments: tuple[str, str], code: Exit, what: str) -> None:
    before = stored(lake.root)
    file = put(lake.root.parent / "a.jsonl", jsonl({**unified("x"), "messages": []}))
    said = run(lake, file, *arguments)
    assert (said.code, "Traceback" in said.err, what in said.err) == (code, False, True)
    assert len(said.err.splitlines()) <= 10
    assert stored(lake.root) == before


def test_a_benchmark_that_asks_no_agents_takes_no_trajectories(lake_folder: Path) -> None:
    file = put(lake_folder.parent / "a.jsonl", ALL)
    said = run(Lake(lake_folder), file, benchmark="repoeval")
    assert (said.code, "no task of repoeval is answered by a trajectory" in said.err) == (Exit.USAGE, True)
    said = run(Lake(lake_folder), file, "--task", "repoeval/prompt", benchmark="repoeval")
    assert (said.code, "is answered by a ranking" in said.err) == (Exit.USAGE, True)


def test_trajectories_of_items_that_cannot_be_scored_are_left_out_and_counted(tmp_path: Path) -> None:
    lake = issues(tmp_path / "lake", unscorable=[CATS])
    result = imported(lake, ALL)
    assert (result.n_items, counts(result)["n_done"], counts(result)["n_unscorable"]) == (2, 2, 1)
    assert CATS not in lake.read("hits")["item_id"]
    assert "left out: 1 answer to items that cannot be scored in this lake" in result.outcome("", "").warnings


def test_an_item_of_two_subsets_is_answered_in_both(lake: Lake) -> None:
    items = lake.read("items", benchmark="contextbench").with_columns(subset=pl.lit("verified"))
    lake.write("items", items, part="verified", fingerprint="1", benchmark="contextbench")
    imported(lake, jsonl(unified(UPSTREAM[CATS])))
    rows = lake.read("run_items").filter(pl.col("item_id") == CATS, pl.col("status") == "done")
    assert rows.height == 2


def test_files_that_came_later_make_it_another_import(lake: Lake) -> None:
    imported(lake, jsonl(unified(pred_files=["lib/dog.js"])))
    assert hits(lake, "path", part="final")[0] == (None,)
    files = lake.read("files").filter(pl.col("path") == "README.md").with_columns(path=pl.lit("lib/dog.js"))
    files = files.drop("benchmark", "kind")
    lake.write("files", files, part="more", fingerprint="2", benchmark="contextbench", kind="rest")
    assert not imported(lake, jsonl(unified(pred_files=["lib/dog.js"]))).is_current
    assert hits(lake, "path", part="final")[0] == ("lib/dog.js",)


def test_nothing_is_left_of_an_import_that_ends_midway(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    imported(lake, jsonl(unified()))
    before = stored(lake.root)

    def stop(*arguments: object, **more: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("ingest.runs.imported_runs.ImportedRun.conclude", stop)
    with pytest.raises(KeyboardInterrupt):
        imported(lake, ALL, name="other.jsonl", system="another")
    assert stored(lake.root, "runs") == {name: data for name, data in before.items() if name.startswith("runs/")}
