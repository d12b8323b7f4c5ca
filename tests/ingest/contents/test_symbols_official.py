"""Definitions by the published rules give the published symbol numbers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import polars as pl

from ingest.contents.definitions import definitions_of, ending_of

Place = tuple[str, int, int]
"""A file, and lines as people count them."""


class Repository:
    """One instance's files and the definitions that ranges of lines touch."""

    def __init__(self, file: Path) -> None:
        self.content = dict(pl.read_parquet(file).select("path", "content").iter_rows())

    def definitions(self, places: Iterable[Place]) -> set[tuple[str, str, int, int]]:
        """(file, kind, bytes) of every definition that overlaps, by their way of comparing bytes."""
        touched = set()
        for given, start, end in places:
            path = self.resolve(given)
            if path is None:
                continue
            text = self.content[path]
            found = definitions_of(text, ending_of(path)).get("official")
            first, last = _span(text.encode(), start, end)
            touched |= {
                (path, one.kind, one.byte_start, one.byte_end)
                for one in (found.definitions if found else [])
                if not (one.byte_end < first or one.byte_start > last)
            }
        return touched

    def resolve(self, given: str) -> str | None:
        """The file that a path means, leading folders dropped until there is one."""
        parts = [part for part in given.split("/") if part]
        return next((path for n in range(len(parts)) if (path := "/".join(parts[n:])) in self.content), None)


def _span(data: bytes, start: int, end: int) -> tuple[int, int]:
    """The first and the last byte of some lines; a line past the end has one byte that is not there."""
    starts = [0, *(match.end() for match in re.finditer(rb"\n", data))]
    first = starts[min(max(start, 1), len(starts)) - 1]
    last = starts[end] - 1 if end < len(starts) else len(data) - 1
    return first, max(first, last)


def test_the_published_symbol_numbers_follow(shared: Path) -> None:
    home = shared / "contextbench"
    gold = _gold(home / "contextbench_verified_test.parquet")
    repository = cache(lambda item: Repository(home / "repo_files" / f"{item}.parquet"))
    gold_definitions = cache(lambda item: repository(item).definitions(gold[item]))
    n_checked = 0
    for run in sorted((home / "parity").iterdir()):
        with (run / "unified.jsonl").open() as lines:
            spans = {row["instance_id"]: row["traj_data"]["pred_spans"] for row in map(json.loads, lines)}
        with (run / "official.jsonl").open() as lines:
            published = [row for row in map(json.loads, lines) if "final" in row]
        for row in published:
            item = row["instance_id"]
            given = [(path, one["start"], one["end"]) for path, ranges in spans[item].items() for one in ranges]
            seen = repository(item).definitions(given)
            symbol = row["final"]["symbol"]
            assert {
                "gold_size": len(gold_definitions(item)),
                "pred_size": len(seen),
                "intersection": len(seen & gold_definitions(item)),
            } == {name: symbol[name] for name in ("gold_size", "pred_size", "intersection")}
            n_checked += 1
    assert n_checked == 54


def _gold(file: Path) -> dict[str, list[Place]]:
    gold = {}
    for item, context in pl.read_parquet(file).select("original_inst_id", "gold_context").iter_rows():
        gold[item] = [(_path(one["file"]), one["start_line"], one["end_line"]) for one in json.loads(context)]
    return gold


def _path(given: str) -> str:
    """A gold file's path in the repository, as they have it."""
    return re.sub(r"^/(testbed|workspace/[^/]+)/", "", given).lstrip("./")
