import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from lake.store import Lake
from report.methods.parity import Parity, parity_rows
from tests.once import linked
from tests.parity.references.reference import Work, compare_all, compared, references
from tests.tiny import command

GRANULARITIES = ("file", "symbol", "span", "line")
PROTOCOL = "contextbench@official-v1"

pytestmark = pytest.mark.shared

Rows = dict[tuple[str, str], Parity]


@pytest.fixture(scope="module")
def work(real_contextbench: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which parity is worked out: its lake holds ContextBench."""
    folder = tmp_path_factory.mktemp("parity")
    linked(real_contextbench / "lake", folder / "lake")
    return folder


@pytest.fixture(scope="module")
def rows(shared: Path, work: Path) -> Rows:
    return {(row.reference, row.quantity): row for row in compare_all(shared, print, work)}


def test_the_page_of_methods_has_these_rows(rows: Rows) -> None:
    # The last digit of a difference may be another machine's.
    shown = [row._replace(largest_difference=None) for row in parity_rows()]
    assert shown == [row._replace(largest_difference=None) for row in rows.values()]


def test_every_compared_value_is_equal_and_every_reference_was_run(rows: Rows) -> None:
    differing = {key: row for key, row in rows.items() if row.n_equal != row.n_compared or not row.n_compared}
    assert differing == {}
    assert {reference for reference, _ in rows} >= {
        "code-chunk-rankings",
        "code-chunk-vectors",
        "contextbench-converter",
        "contextbench-evaluator",
        "pytrec_eval",
        "rank_bm25",
    }


@pytest.mark.usefixtures("rows")
def test_a_value_that_is_off_is_told(shared: Path, work: Path, tmp_path: Path) -> None:
    """The same table with one published number changed."""
    moved = shutil.copytree(shared, tmp_path / "data")
    summary = moved / "repoeval" / "code-chunk" / "summary.json"
    told = json.loads(summary.read_text())
    told["overall"]["fixed"]["ndcg"] += 1e-9
    summary.write_text(json.dumps(told))
    told_apart = compared(references()["code-chunk-vectors"], Work(moved, work, print))
    (mean,) = (row for row in told_apart if "mean over repositories" in row.quantity)
    assert (mean.n_compared, mean.n_equal) == (3, 2)
    assert mean.largest_difference == pytest.approx(1e-9, rel=1e-3)


@pytest.mark.usefixtures("rows")
def test_items_without_a_published_vector_fail_and_are_counted(work: Path) -> None:
    run_items = pl.read_parquet(
        work / "lake/run_items/benchmark=repoeval/run_id=repoeval.prompt--*recorded--*/part-*.parquet"
    )
    assert run_items.height == 455
    failed = run_items.filter(pl.col("status") == "failed")
    # trlx and betty have no vectors.
    assert failed.height == 46 + 36
    assert failed["error"].str.contains("no vector").all()


@pytest.mark.usefixtures("rows")
@pytest.mark.parametrize("cut", ["ast", "fixed"])
def test_a_ranking_of_unknown_chunks_has_precision_and_no_recall(shared: Path, work: Path, cut: str) -> None:
    options = ("--benchmark", "repoeval", "--task", "repoeval/prompt-code-chunk", "--lake", work / "lake")
    assert command("ingest", "run", work / f"{cut}.tsv", "--system", f"bare-{cut}", *options).code in {0, 5}
    assert command("evaluate", "--systems", f"bare-{cut}", "--lake", work / "lake").code in {0, 5}
    protocol = work / "lake/scores/benchmark=repoeval/protocol=repoeval@code-chunk-v1"
    scores = pl.read_parquet(protocol / f"run_id=*--bare-{cut}--*/part-*.parquet").filter(pl.col("k") == 5)
    ours = scores.pivot(on="metric", index="item_id", values="value")
    queries = pl.read_parquet(shared / "repoeval/code-chunk/queries.parquet").filter(pl.col("chunker") == cut)
    both = queries.with_columns(item_id=pl.format("function-2k/{}/{}", "repo", "n")).join(ours, on="item_id")
    assert both.height == 373
    assert both["precision_at_5"].to_list() == pytest.approx(both["precision"].to_list(), abs=1e-12)
    assert both["recall"].null_count() == 373


@pytest.mark.usefixtures("rows")
def test_what_is_an_error_there_has_no_value_here_and_means_are_over_the_rest(shared: Path, work: Path) -> None:
    lake = Lake(work / "lake")
    runs = lake.scan("runs", benchmark="contextbench").select("system", "run_id").collect()
    run_ids = {system: run_id for system, run_id in runs.iter_rows() if system.endswith(("-raw", "-unified"))}
    assert len(run_ids) == 10
    scorable = set(lake.read("items", benchmark="contextbench").filter("scorable")["item_id"])
    assert len(scorable) == 21
    for system, run_id in run_ids.items():
        official = list(_rows(shared / "contextbench/parity" / system.rpartition("-")[0] / "official.jsonl"))
        scored = {row["instance_id"] for row in official if "error" not in row}
        folders = {"benchmark": "contextbench", "protocol": PROTOCOL, "run_id": run_id}
        values = lake.scan("scores", **folders).filter(pl.col("value").is_not_null()).collect()
        assert {row["instance_id"] for row in official} & set(values["item_id"]) == scored
        run_items = lake.read("run_items", benchmark="contextbench", run_id=run_id)["item_id"]
        whole = lake.scan("aggregates").filter(**folders, slice="all").collect()
        for granularity in GRANULARITIES:
            finals = [row["final"][granularity] for row in official if "error" not in row]
            micro = sum(final["intersection"] for final in finals) / sum(final["gold_size"] for final in finals)
            coverage = whole.row(by_predicate=pl.col("metric") == f"{granularity}_coverage", named=True)
            assert coverage["micro"] == pytest.approx(micro, abs=1e-12)
            # Each agent was asked the items that it answers, some of the 21.
            assert (coverage["n"], coverage["n_items"]) == (len(scored), len(set(run_items) & scorable))


def _rows(file: Path) -> Iterator[dict]:  # type: ignore[type-arg]  # any JSON
    with file.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)
