import shutil
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import evaluate.partition
import evaluate.score.contexts.chance
import evaluate.selection
import ingest.benchmarks.contextbench as contextbench
from evaluate.metrics import parse_metric
from evaluate.results.compare import compare
from evaluate.results.undeclared_metrics import explored
from evaluate.statistics.means import aggregate
from lake.benchmarks import TASKS, protocols
from lake.errors import Exit
from lake.store import Lake
from lake.tables import table
from tests.evaluate.score.ledger_in_lake import checked
from tests.frames import change, score_rows
from tests.once import linked
from tests.tiny import command, stored

pytestmark = pytest.mark.slow

DOCS, OFFICIAL = "contextbench@docs-v1", "contextbench@official-v1"
SCORED = ("scores", "step_scores", "aggregates")


@pytest.fixture(scope="module")
def made(sample_contextbench: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    lake = linked(sample_contextbench / "lake", tmp_path_factory.mktemp("contexts") / "lake")
    _evaluate(lake)
    return lake


@pytest.fixture
def lake(made: Path, tmp_path: Path) -> Lake:
    return Lake(linked(made, tmp_path / "lake"))


def _evaluate(lake: Path) -> None:
    systems = "*+bm25-okapi,sample-*"
    command("evaluate", "--benchmarks", "contextbench", "--systems", systems, "--lake", lake).done()


def whole(lake: Lake, protocol: str = DOCS) -> pl.DataFrame:
    runs = lake.read("runs", benchmark="contextbench").select("run_id", "system")
    aggregates = lake.read("aggregates", benchmark="contextbench").filter(protocol=protocol).join(runs, on="run_id")
    return aggregates.filter(pl.col("slice") == "all")


def macro(lake: Lake, metric: str, k: int = 0) -> dict[str, float | None]:
    rows = whole(lake).filter(pl.col("metric") == metric, pl.col("k") == k)
    return dict(rows.select("system", "macro").iter_rows())


def test_an_agent_that_was_asked_a_part_has_scores_and_a_ledger_of_that_part_alone(lake: Lake) -> None:
    run_id = lake.read("runs").filter(system="sample-methodical")["run_id"].item()
    before = lake.read("scores", run_id=run_id)
    kept = lake.read("items", benchmark="contextbench").filter("scorable").sort("item_id").head(5)
    for name in ("run_items", "hits", "edits"):
        (part,) = lake.parts(name, benchmark="contextbench", run_id=run_id)
        rows = lake.scan_parts([part], name).drop("benchmark").collect().join(kept, on="item_id", how="semi")
        lake.write(name, rows, part=part.name, fingerprint="x", benchmark="contextbench", run_id=run_id)
    row = lake.read("runs", run_id=run_id).with_columns(n_items=pl.lit(5, pl.Int64)).select(*table("runs").columns)
    lake.write("runs", row, part="all", fingerprint="x", benchmark="contextbench", run_id=run_id)
    _evaluate(lake.root)
    of_kept = before.join(kept, on="item_id", how="semi")
    after = lake.read("scores", run_id=run_id)
    assert_frame_equal(after, of_kept, check_row_order=False)
    for name in ("step_scores", "ledger"):
        assert set(lake.read(name).filter(run_id=run_id)["item_id"]) == set(kept["item_id"])
    for protocol in (DOCS, OFFICIAL):
        assert set(whole(lake, protocol).filter(run_id=run_id)["n_items"]) == {5}


def test_agents_are_scored_where_nothing_was_cut(lake: Lake) -> None:
    for name in ("chunkers", "chunks", *SCORED):
        shutil.rmtree(lake.root / name)
    command("evaluate", "--benchmarks", "contextbench", "--lake", lake.root).done()
    assert set(whole(lake)["system"]) == {"sample-hurried", "sample-methodical"}


def test_random_has_scores_and_no_steps_of_its_own(lake: Lake) -> None:
    run_id = lake.read("runs").filter(pl.col("system") == "whole-file+random")["run_id"].item()
    of_run = {"benchmark": "contextbench", "protocol": DOCS, "run_id": run_id}
    assert lake.read("step_scores", **of_run).is_empty()
    assert 0.0 < lake.read("scores", **of_run).filter(metric="file_coverage", k=5)["value"].mean() < 1.0  # type: ignore[operator] # floats


def test_the_oracle_bounds_what_is_retrieved_and_gives_the_share(lake: Lake) -> None:
    f1 = macro(lake, "line_f1")
    rows = lake.read("boards", protocol=DOCS).filter(metric="line_f1", k=0, slice="all", average="macro")
    rows = rows.join(lake.read("runs").select("run_id", "system"), on="run_id")
    shares = dict(rows.select("system", "share_of_oracle").iter_rows())
    bound, bm25, chance = (f1[f"whole-file+{name}"] for name in ("oracle", "bm25-okapi", "random"))
    assert None not in (bound, bm25, chance)
    assert bound >= bm25 >= chance > 0  # type: ignore[operator] # none of them is None
    assert shares["whole-file+bm25-okapi"] == pytest.approx(bm25 / bound)  # type: ignore[operator] # likewise
    assert shares["sample-hurried"] is None


def test_what_is_worked_out_for_a_table_equals_what_is_stored(lake: Lake) -> None:
    requested = [parse_metric(name) for name in ("file_coverage@5", "line_f1@8000", "symbol_precision@20")]
    task, protocol = TASKS["contextbench/issue"], protocols()[DOCS]
    computed = explored(lake, task, protocol, requested).drop("protocol_hash")
    wanted = pl.concat(lake.read("scores", protocol=DOCS).filter(metric=metric.name, k=k) for metric, k in requested)
    assert computed["run_id"].n_unique() == 5
    order = ["run_id", "item_id", "metric"]
    assert_frame_equal(computed.sort(order), wanted.drop("benchmark", "protocol_hash").sort(order))


def numbers_of(printed: str) -> dict[str, list[str]]:
    """System → the numbers of the first table, without the first one's interval."""
    cells = [line.split("\t") for line in printed.split("\n\n")[0].splitlines()[2:] if not line.startswith("#")]
    return {system: [first, *others] for system, first, _, _, *others in cells}


def test_any_cut_off_of_steps_and_budgets_is_worked_out_when_asked_for(lake: Lake) -> None:
    options = ("--benchmarks", "contextbench", "--systems", "*+bm25-okapi,sample-*", "--lake", lake.root)
    run = command("evaluate", *options, "--metrics", "file_coverage@20,file_coverage@19,line_f1@0,line_f1@4000").done()
    numbers = numbers_of(run.out)
    # The repositories have fewer files than nineteen.
    assert numbers["whole-file+bm25-okapi"][0] == numbers["whole-file+bm25-okapi"][1]
    assert numbers["sample-hurried"][:2] == ["–", "–"]
    assert float(numbers["whole-file+oracle"][3]) > float(numbers["whole-file+random"][3]) > 0
    run = command("evaluate", *options, "--metrics", "lines_coverage@100,lines_f1@100,file_mrr,ndcg@50").done()
    numbers = numbers_of(run.out)
    assert float(numbers["whole-file+oracle"][0]) > float(numbers["whole-file+random"][0]) > 0
    # An agent has a context and no list of results; what lists of files a random order has is not worked out.
    assert numbers["sample-hurried"][2:4] == numbers["whole-file+random"][2:3] * 2 == ["–", "–"]
    assert float(numbers["whole-file+oracle"][2]) == 1 >= float(numbers["whole-file+oracle"][3]) > 0.5
    run = command("evaluate", *options, "--metrics", "file_coverage@21")
    run.refused(Exit.USAGE, "runs of contextbench/issue keep 20 results")


def test_agents_that_answered_different_items_are_also_compared_on_those_that_both_have(lake: Lake) -> None:
    agent = lake.read("runs").filter(pl.col("system") == "sample-hurried")["run_id"].item()
    part = (
        lake.part("scores", "all", protocol=OFFICIAL, run_id=agent, benchmark="contextbench")
        or lake.parts("scores", protocol=OFFICIAL, run_id=agent)[0]
    )
    rows = pl.read_parquet(part.path)
    failed = rows["item_id"].unique().sort().head(3)
    nothing = pl.when(~pl.col("item_id").is_in(failed.implode())).then(pl.col("value", "numerator", "denominator"))
    kept = rows.with_columns(nothing)
    lake.write("scores", kept, part=part.name, fingerprint="", **part.folders)
    means = aggregate(protocols()[OFFICIAL], kept.lazy(), lake.scan("items", benchmark="contextbench")).collect()
    of_run = {name: part.folders[name] for name in ("benchmark", "run_id")}
    others = lake.read("aggregates", **of_run).filter(pl.col("protocol") != OFFICIAL).select(means.columns)
    lake.write("aggregates", pl.concat([means, others]), part="all", fingerprint="", **of_run)
    for stale in [*lake.parts("comparisons", protocol=OFFICIAL), *lake.parts("boards", protocol=OFFICIAL)]:
        lake.remove(stale)
    compared = compare(lake, "sample-hurried", "sample-methodical", [])
    (pair,) = [row for row in compared if row["protocol"] == OFFICIAL]
    board = {row["system"]: row for row in whole(lake, OFFICIAL).filter(metric=pair["metric"], k=0).rows(named=True)}
    assert (pair["average"], pair["n_a"], pair["n_b"], pair["n"]) == ("micro", 27, 30, 27)
    assert (pair["a"], pair["b"]) == tuple(board[name]["micro"] for name in ("sample-hurried", "sample-methodical"))
    theirs = lake.read("scores", protocol=OFFICIAL).filter(metric=pair["metric"], k=0)
    mine = lake.read("runs").filter(pl.col("system") == "sample-methodical")["run_id"].item()
    theirs = theirs.filter(pl.col("run_id") == mine, ~pl.col("item_id").is_in(failed.implode()))
    assert pair["b_shared"] == pytest.approx(sum(theirs["numerator"].to_list()) / sum(theirs["denominator"].to_list()))
    assert pair["b_shared"] != pair["b"]
    run = command("evaluate", "compare", "sample-hurried", "sample-methodical", "--lake", lake.root)
    assert "27 and 30  all items, micro" in run.out
    assert "  on their shared items" in run.out


@pytest.mark.parametrize(("protocol", "wanted"), [(DOCS, 0.0), (OFFICIAL, 1.0)])
def test_the_ratio_of_sums_of_nothing_is_what_the_protocol_makes_of_nothing(protocol: str, wanted: float) -> None:
    names = ["file_coverage", "file_precision", "editloc_precision", "file_redundancy"]
    zero = dict.fromkeys(("k", "value", "numerator", "denominator"), 0)
    items = pl.LazyFrame({"item_id": ["item"], "repo": ["a"], "subset": ["full"]})
    rows = score_rows({"metric": names}, protocol=protocol, item_id="item", granularity="file", **zero)
    aggregates = aggregate(protocols()[protocol], rows, items).collect()
    micro = dict(aggregates.filter(slice="all").select("metric", "micro").iter_rows())
    assert micro == {**dict.fromkeys(names[:3], wanted), "file_redundancy": 0.0}


def test_other_symbols_are_scored_anew(lake: Lake) -> None:
    before = stored(lake.root, *SCORED)
    for part in lake.parts("symbols", rules="docs"):
        rows = lake.scan_parts([part], "symbols").collect().head(1)
        lake.write("symbols", rows, part=part.name, fingerprint="fewer", rules="docs")
    _evaluate(lake.root)
    made = before.keys() - stored(lake.root, *SCORED).keys()
    pooled = {path for path in made if path.startswith("aggregates/")}
    assert pooled
    assert made - pooled == {path for path in before if "docs-v1" in path}


def test_sources_are_slices_and_never_kept_apart(lake: Lake) -> None:
    (part,) = lake.parts("items", benchmark="contextbench")
    source = pl.when(pl.int_range(pl.len()) % 2 == 0).then(pl.lit("Pro")).otherwise(pl.lit("Multi"))
    change(lake, "items", part, source=source)
    _evaluate(lake.root)
    slices = lake.read("aggregates", benchmark="contextbench").filter(protocol=OFFICIAL).select("slice", "slice_value")
    assert {("all", "all"), ("source", "Pro"), ("source", "Multi")} <= {*slices.iter_rows()}
    assert not slices["slice"].str.contains("/").any()


def test_micro_redundancy_is_what_was_seen_again_over_what_was_seen(lake: Lake) -> None:
    run_id = lake.read("runs").filter(system="sample-methodical")["run_id"].item()
    steps = lake.read("step_scores", protocol=DOCS, run_id=run_id).filter(granularity="line").sort("item_id", "step")
    last = steps.group_by("item_id").last()
    means = whole(lake).filter(run_id=run_id)
    redundancy = means.filter(metric="line_redundancy")["micro"].item()
    assert redundancy == pytest.approx(1 - sum(last["n_cumulative"]) / sum(steps["n_pred"]), abs=1e-12)
    assert means.filter(metric="line_auc")["micro"].item() is None


def test_imported_systems_are_asked_for_by_name_and_glob_and_no_other_is_scored(lake: Lake) -> None:
    for name in SCORED:
        shutil.rmtree(lake.root / name)
    options = ("evaluate", "--benchmarks", "contextbench", "--lake", lake.root, "--systems")
    systems = dict(lake.read("runs").select("run_id", "system").iter_rows())

    def scored(pattern: str) -> set[str]:
        command(*options, pattern).done()
        return {systems[run_id] for run_id in lake.read("scores")["run_id"].unique()}

    assert scored("sample-hurried") == {"sample-hurried"}
    assert scored("*-m?thodical") == {"sample-hurried", "sample-methodical"}
    baselines = {f"whole-file+{name}" for name in ("bm25-okapi", "oracle", "random")}
    shutil.rmtree(lake.root / "scores")
    assert scored("*+bm25-okapi") == baselines
    command(*options, "sample-hurrid").refused(Exit.USAGE, "Did you mean 'sample-hurried'")
    listed = command("evaluate", "list", "systems", "--lake", lake.root)
    assert "sample-methodical" in listed.out


def test_where_the_gold_of_agents_and_rankings_went_adds_up(lake: Lake) -> None:
    means = checked(lake, "line_coverage", 0, DOCS).filter(slice="all").join(lake.read("runs"), on="run_id")
    shares = {(system, kind): macro for system, kind, macro in means.select("system", "class", "macro").iter_rows()}
    agents = [name for name in means["system"].unique() if name.startswith("sample-")]
    # What an agent saw and did not keep is what its steps cover beyond its final context.
    assert agents
    assert all(shares[name, "past_budget"] == shares[name, "unreachable"] == 0 for name in agents)
    seen = lake.read("step_scores", protocol=DOCS).filter(granularity="line").group_by("run_id", "item_id")
    last = seen.agg(pl.col("n_cumulative_hit").sort_by("step").last())
    ledger = lake.read("ledger", protocol=DOCS).join(lake.read("runs").select("run_id", "system"), on="run_id")
    both = ledger.filter(pl.col("system").is_in(agents)).join(last, on=["run_id", "item_id"])
    assert both["seen"].sum() > 0
    assert (both["found"] + both["seen"] >= both["n_cumulative_hit"]).all()
    assert all(shares[name, "seen"] == 0 for name in means["system"].unique() if name not in agents)


def test_gold_that_is_not_searched_is_unreachable_whoever_ran_the_search(lake: Lake) -> None:
    """The same ranking, of a system built in and imported, has one ledger."""
    ranking = lake.root.parent / "mine.tsv"
    command("report", "export", "whole-file+bm25-okapi", "--format", "tsv", "-o", ranking, "--lake", lake.root).done()
    mine = ["--benchmark", "contextbench", "--system", "mine", "--lake", lake.root]
    command("ingest", "run", ranking, *mine).done()
    command("evaluate", "--benchmarks", "contextbench", "--systems", "mine", "--lake", lake.root).done()
    runs = lake.read("runs").select("run_id", "system")
    ledger = lake.read("ledger", protocol=DOCS).join(runs, on="run_id").drop("run_id").sort("item_id")
    built_in, imported = (ledger.filter(system=name).drop("system") for name in ("whole-file+bm25-okapi", "mine"))
    assert built_in["unreachable"].sum() > 0
    assert_frame_equal(built_in, imported)


def test_items_in_many_parts_score_as_in_one_part(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contextbench, "ITEMS_OF_A_PART", 11)
    monkeypatch.setattr(evaluate.selection, "FILES_AT_ONCE", 1)
    # Pools of one part too are gone through one at a time, and nobody notices.
    monkeypatch.setattr(evaluate.partition, "POOL_FILES_AT_ONCE", 1)
    monkeypatch.setattr(evaluate.score.contexts.chance, "_FILES_AT_ONCE", 1)
    lake = tmp_path / "parts"
    command("ingest", "contextbench", "--source", "sample", "--chunkers", "whole-file", "--lake", lake).done()
    _evaluate(lake)
    whole, parts = Lake(made), Lake(lake)
    names = [part.name for part in parts.parts("items", benchmark="contextbench")]
    assert names == ["full-0000", "full-0001", "full-0002"]
    assert {part.name for part in parts.parts("scores", benchmark="contextbench")} == {*names}
    for name in ("items", "gold_spans", "hits", "run_items", "scores", "step_scores", "ledger", "aggregates", "boards"):
        key = table(name).key
        assert_frame_equal(parts.read(name).sort(key), whole.read(name).sort(key), check_exact=True)
