"""Items of the small RepoEval, rankings of them as files, and what an import makes of a file."""

import dataclasses
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TypedDict, Unpack
from unittest.mock import patch

import polars as pl
import pytest

from ingest.runs.importing import import_run
from ingest.runs.request import ImportJob, ImportRequest
from lake.benchmarks import TASKS
from lake.catalog.benchmarks.repoeval import REPOEVAL_PROMPT
from lake.errors import GoldspanError
from lake.store import Lake
from tests.tiny import put, stored

ROCKETS, ZOO = "function-2k/acme_rockets", "function-2k/zoo_animals"
ITEMS = (f"{ROCKETS}/0", f"{ROCKETS}/1", f"{ROCKETS}/2", f"{ZOO}/0", f"{ZOO}/1")
FIRST, LAST = ITEMS[0], ITEMS[-1]


class Pools(TypedDict, total=False):
    pool_prefix: str
    subsets: tuple[str, ...]


Ranked = Sequence[tuple[object, ...]]
"""Rows of item, document, rank, score."""


def trec(rows: Ranked) -> bytes:
    return "".join(f"{item} Q0 {document} {rank} {score} x\n" for item, document, rank, score in rows).encode()


def tsv(rows: Ranked, *columns: str) -> bytes:
    lines = ["\t".join(columns), *("\t".join(map(str, row)) for row in rows)]
    return "".join(f"{line}\n" for line in lines).encode()


class Settings(TypedDict, total=False):
    benchmark: str
    system: str
    task: str
    format: str
    skip_unknown: bool
    chunker: str
    asked_all: bool


def imported(
    lake: Lake, given: bytes | Path, *, write: bool = True, name: str = "given.txt", **settings: Unpack[Settings]
) -> ImportJob:
    """Import a file, or bytes under a name."""
    path = given if isinstance(given, Path) else put(lake.root.parent / "files" / name, given)
    request = dataclasses.replace(ImportRequest(path, "repoeval", "mine"), **settings)
    with lake.locked():
        return import_run(lake, request, write=write)


def refused(lake: Lake, given: bytes | Path, *, name: str = "given.txt", **settings: Unpack[Settings]) -> GoldspanError:
    """The error an import ends with; nothing of the file is stored then."""
    before = stored(lake.root)
    with pytest.raises(GoldspanError) as caught:
        imported(lake, given, name=name, **settings)
    assert stored(lake.root) == before
    assert len(caught.value.render().splitlines()) <= 10
    return caught.value


def hits(lake: Lake, *columns: str, item: str = FIRST) -> list[tuple[object, ...]]:
    rows = lake.read("hits").filter(pl.col("item_id") == item).sort("rank")
    return rows.select(columns or ("path", "line_start", "line_end")).rows()


def hit(document: str, item: str = FIRST) -> bytes:
    return trec([(item, document, 1, 0.5)])


def another(name: str, **fields: Unpack[Pools]) -> AbstractContextManager[object]:
    """A catalogue with one task more, of which rankings are told."""
    task = dataclasses.replace(REPOEVAL_PROMPT, name=name, **fields)
    return patch.dict(TASKS, {name: task})
