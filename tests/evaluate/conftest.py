"""The mined rows, as they lie there and as a lake holds them: made once for all that ask; and what models are given."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import polars as pl
import pytest

from evaluate.embedding.encoder import Encoder
from evaluate.embedding.vectors import Made
from lake.store import Lake
from tests.evaluate.score.repobench_plain import Chunk, Number, Row, rows_of
from tests.tiny import command

CHUNKERS = ("whole-file", "fixed-nws-1500")
N_ROWS = 1_797


@dataclass(frozen=True)
class Mined:
    """The mined rows, as they lie there and as a lake holds them."""

    rows: Mapping[str, Row]
    lake: Lake

    @cached_property
    def runs(self) -> dict[tuple[str, str], str]:
        """Task and system → run."""
        found = self.lake.read("runs").select("task", "system", "run_id").rows()
        return {(task, system): run_id for task, system, run_id in found}

    def ranking(self, task: str, system: str) -> dict[str, list[tuple[Chunk, float]]]:
        """What each item was answered, in order, with scores."""
        hits = self.lake.scan("hits", benchmark="repobench-r", run_id=self.runs[task, system])
        ordered = hits.filter(part="ranking").sort("item_id", "rank")
        found: dict[str, list[tuple[Chunk, float]]] = defaultdict(list)
        for item_id, rank, path, number, score in (
            ordered.select("item_id", "rank", "path", "chunk_no", "score").collect().iter_rows()
        ):
            found[item_id].append(((path, number), score))
            assert len(found[item_id]) == rank
        return found

    def scored(self, task: str, system: str, protocol: str) -> dict[str, dict[tuple[str, int], Number]]:
        """Every stored value of a run under a protocol."""
        folders = {"benchmark": "repobench-r", "run_id": self.runs[task, system], "protocol": protocol}
        found: dict[str, dict[tuple[str, int], Number]] = defaultdict(dict)
        stored = self.lake.read("scores", **folders).select("item_id", "metric", "k", "value")
        for item_id, metric, k, value in stored.iter_rows():
            found[item_id][metric, k] = value
        return found

    def pools(self, chunker: str) -> dict[str, dict[Chunk, str]]:
        """Every chunk of every item's pool with its text, cut here from the row's own snippet by its lines."""
        cut = (
            self.lake.scan("files")
            .join(self.lake.scan("chunks", chunker=chunker).filter(pl.col("n_nws") > 0), on="sha256")
            .select("pool_id", "path", "chunk_no", "line_start", "line_end")
        )
        found: dict[str, dict[Chunk, str]] = defaultdict(dict)
        for pool_id, path, number, start, end in cut.collect().iter_rows():
            item_id = pool_id.removeprefix("repobench-r/")
            snippet = self.rows[item_id].candidates[int(path.removeprefix("cand:"))]
            found[item_id][path, number] = "\n".join(snippet.split("\n")[start:end])
        return found


@pytest.fixture(scope="session")
def mined(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Mined:
    lake = tmp_path_factory.mktemp("mined") / "lake"
    said = command("ingest", "repobench-r", "--source", shared, "--chunkers", ",".join(CHUNKERS), "--lake", lake)
    assert said.code == 0, said.err
    said = command("evaluate", "--benchmarks", "repobench-r", "--lake", lake)
    assert said.code == 0, said.err
    rows = {row.item_id: row for row in rows_of(shared / "repobench-r-mined")}
    assert len(rows) == N_ROWS
    return Mined(rows, Lake(lake))


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many texts a model was given at a time."""
    sizes: list[int] = []
    for name in ("vectors", "scores"):
        make = getattr(Encoder, name)

        def counting(self: Encoder, texts: Sequence[object], *others: str, make: Callable[..., Made] = make) -> Made:
            sizes.append(len(texts))
            return make(self, texts, *others)

        monkeypatch.setattr(Encoder, name, counting)
    return sizes
