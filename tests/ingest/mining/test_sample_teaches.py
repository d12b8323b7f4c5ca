"""What a newcomer sees of the sample: retrievers above chance, where the open file is not, and a reason where not."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from tests.tiny import command

pytestmark = pytest.mark.slow

A_CHUNK = 1500
CHUNKERS = f"fixed-nws-{A_CHUNK},whole-file"
RETRIEVERS = ("bm25-okapi", "jaccard-regex")
HEADLINES = {
    "contextbench@docs-v1": ("line_f1", 0, "all"),
    "repobench-r@official-v1": ("accuracy", 1, "python_cff/test/hard"),
    "repoeval@chunking-v1": ("line_f1", 8000, "function-2k"),
}


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample with the default subsets, two chunkers and the retrievers that need nothing installed."""
    folder = tmp_path_factory.mktemp("sample")
    said = command("ingest", "--lake", folder, "--chunkers", CHUNKERS, "--subsets", "full,function-2k,python_cff/test")
    assert said.code == 0, said.err
    return folder


@pytest.fixture(scope="module")
def tables(lake: Path) -> list[str]:
    """The tables that are printed."""
    systems = ",".join(f"*+{name}" for name in (*RETRIEVERS, "random", "own-file", "oracle"))
    said = command("evaluate", "--lake", lake, "--systems", f"{systems},sample-*")
    assert said.code == 0, said.err
    return command("evaluate", "table", "--lake", lake).out.strip().split("\n\n")


def _read(lake: Path, table: str) -> pl.DataFrame:
    return pl.read_parquet(lake / table / "**" / "*.parquet", hive_partitioning=True)


def _best(lake: Path, protocol: str) -> dict[str, float]:
    """The best mean of each retriever over its chunkers, in the headline table of a protocol."""
    metric, k, value = HEADLINES[protocol]
    rows = _read(lake, "aggregates").filter(protocol=protocol, metric=metric, k=k, slice_value=value)
    runs = _read(lake, "runs").select("run_id", "retriever")
    best = rows.join(runs, on="run_id").group_by("retriever").agg(pl.col("macro").max())
    return {name: number for name, number in best.iter_rows() if name is not None}


def _rows(table: str) -> list[tuple[str, float]]:
    """System and first number of a printed table's rows, best first."""
    lines = [line.split("\t") for line in table.splitlines()[2:] if not line.startswith("#")]
    return [(line[0], float(line[2])) for line in lines]


def test_files_are_larger_than_a_chunk_in_every_benchmark(lake: Path) -> None:
    chunks = _read(lake, "chunks").filter(chunker=f"fixed-nws-{A_CHUNK}").group_by("sha256").len("n")
    files = _read(lake, "files").join(chunks, on="sha256")
    large = files.group_by(pl.col("pool_id").str.split("/").list.first()).agg((pl.col("n") > 1).mean())
    shares = dict(large.iter_rows())
    assert set(shares) == {"contextbench", "repobench-r", "repoeval"}
    assert min(shares.values()) > 0.2, shares


@pytest.mark.parametrize("protocol", HEADLINES)
def test_a_retriever_beats_chance_in_every_headline_table(lake: Path, tables: list[str], protocol: str) -> None:
    assert any(table.startswith(f"# {protocol}") for table in tables)
    best = _best(lake, protocol)
    assert max(best[name] for name in RETRIEVERS) > 1.15 * best["random"], best


def test_there_are_tasks_on_which_a_retriever_beats_both_chance_and_the_open_file(
    lake: Path, tables: list[str]
) -> None:
    assert tables
    scores = _read(lake, "scores").filter(protocol="repoeval@chunking-v1", metric="line_f1", k=8000)
    runs = _read(lake, "runs").filter(chunker=f"fixed-nws-{A_CHUNK}").select("run_id", "retriever")
    of_item = scores.join(runs, on="run_id").pivot(on="retriever", index="item_id", values="value")
    baselines = pl.max_horizontal("own-file", "random")
    beaten = of_item.filter(pl.max_horizontal(RETRIEVERS) > baselines)
    assert beaten.height > 0.1 * of_item.height


def test_a_retriever_beats_the_open_file_where_the_budget_is_smaller_than_gold(lake: Path, tables: list[str]) -> None:
    assert tables
    rows = _read(lake, "aggregates").filter(
        protocol="repoeval@chunking-v1", metric="line_f1", k=2000, slice_value="function-2k"
    )
    runs = _read(lake, "runs").filter(chunker=f"fixed-nws-{A_CHUNK}").select("run_id", "retriever")
    mean = dict(rows.join(runs, on="run_id").select("retriever", "macro").iter_rows())
    assert mean["bm25-okapi"] > mean["own-file"] > mean["random"]


def test_no_table_has_a_baseline_in_front_without_a_sentence_that_says_why(tables: list[str]) -> None:
    assert len(tables) == 7
    for table in tables:
        rows = _rows(table)
        first = next(number for name, number in rows if name.rpartition("+")[2] not in ("oracle", "random", "own-file"))
        for baseline in ("random", "own-file"):
            leads = any(number >= first for name, number in rows if name.endswith(f"+{baseline}"))
            assert leads == (f"No system is above {baseline}: " in table), table
