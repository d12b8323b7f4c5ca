import json
import shutil
from pathlib import Path

import polars as pl
import pytest

from evaluate.commands.boards import parse_gate
from evaluate.metrics import parse_metric
from evaluate.results.compare import compare
from lake.errors import Exit, GoldspanError
from lake.store import Lake
from tests.tiny import Said, command, stored

pytestmark = pytest.mark.slow

A, B = "whole-file+bm25-okapi", "whole-file+own-file"


def test_a_run_may_be_named_by_its_id(lake_folder: Path) -> None:
    lake = Lake(lake_folder)
    run_id = lake.scan("runs").filter(pl.col("system") == A).collect()["run_id"][0]
    assert compare(lake, run_id, B, []) == compare(lake, A, B, [])


def test_a_gate_that_fails_is_exit_code_6_and_names_the_row(lake_folder: Path) -> None:
    best, worst = "whole-file+own-file", "whole-file+random"
    run = command("evaluate", "compare", best, worst, "--fail-if", "mrr drops > 0.01", "--lake", lake_folder)
    assert (run.code, "fails" in run.out) == (Exit.GATE, True)
    run = command("evaluate", "compare", worst, best, "--fail-if", "mrr drops > 0.01", "--lake", lake_folder)
    assert (run.code, "fails" in run.out) == (Exit.DONE, False)
    command("evaluate", "compare", worst, best, "--fail-if", "mrr rises > 0.01", "--lake", lake_folder).ended(Exit.GATE)


@pytest.mark.parametrize("text", ["", "ndcg@10", "ndcg@10 falls > 1", "ndcg@10 drops > x", "ndcg@10 drops < 0.1"])
def test_what_is_no_gate_is_refused_with_how_to_write_one(text: str) -> None:
    with pytest.raises(GoldspanError, match=r"ndcg@10 drops > 0\.01"):
        parse_gate(text)


def test_the_line_says_over_which_slice_how_averaged_and_of_how_many_items(lake_folder: Path) -> None:
    run = command("evaluate", "compare", A, B, "--lake", lake_folder)
    lines = {line.split()[0]: line for line in run.out.splitlines()}
    assert lines["repoeval@chunking-v1"].endswith("5  subset function-2k, macro")
    assert lines["repoeval@code-chunk-v1"].endswith("5  subset function-2k, by_repo")


def test_against_an_expectation_no_wins_are_counted(lake_folder: Path) -> None:
    for pair in ((A, "whole-file+random"), ("whole-file+random", A)):
        rows = compare(Lake(lake_folder), *pair, [])
        assert {(row["wins"], row["ties"], row["losses"]) for row in rows} == {(None,) * 3}
    run = command("evaluate", "compare", A, "whole-file+random", "--lake", lake_folder)
    assert "expectations over all orders" in run.out


def test_an_undeclared_cut_off_is_compared_and_marked(lake_folder: Path) -> None:
    lake = Lake(lake_folder)
    runs = dict(lake.read("runs").filter(task="repoeval/prompt").select("system", "run_id").iter_rows())
    before = stored(lake_folder)
    for row in compare(lake, A, B, [parse_metric("precision@2")]):
        gold = {"repoeval@chunking-v1": "context-and-completion", "repoeval@target-v1": "target"}.get(row["protocol"])
        if gold is None:
            continue
        spans = lake.read("gold_spans").filter(gold=gold).select("item_id", "path")
        top = lake.read("hits", run_id=runs[B]).filter(pl.col("rank") <= 2, part="ranking")
        # Whole files: a file is relevant where it is the gold's.
        right = top.join(spans.unique(), on=["item_id", "path"]).height
        assert not row["is_declared"]
        assert row["b"] == pytest.approx(right / 2 / 5)
    assert stored(lake_folder) == before
    run = command("evaluate", "compare", B, A, "--fail-if", "precision@2 drops > 0.9", "--lake", lake_folder)
    assert (run.code, "precision@2 (exploratory)" in run.out) == (Exit.DONE, True)
    run = command("evaluate", "compare", B, B, "--metric", "em", "--lake", lake_folder)
    run.refused(Exit.USAGE, "em is not measured under repoeval@chunking-v1")


def test_a_name_of_several_runs_means_the_complete_one(lake_folder: Path) -> None:
    whole = compare(Lake(lake_folder), A, B, [])
    options = ("--systems", A, "--items", "repo=zoo_animals")
    command("evaluate", "--lake", lake_folder, *options).done()
    assert compare(Lake(lake_folder), A, B, []) == whole


def test_a_stored_comparison_is_the_tables_row_and_swapped_its_mirror(lake_folder: Path) -> None:
    lake = Lake(lake_folder)
    runs = dict(lake.read("runs").filter(task="repoeval/prompt").select("system", "run_id").iter_rows())
    rows = lake.read("comparisons", protocol="repoeval@chunking-v1").filter(
        metric="line_f1", k=8_000, slice="subset", run_a=runs[A], run_b=runs[B]
    )
    row = rows.row(0, named=True)
    (there,), (back,) = (compare(lake, *pair, [], protocol_names=["repoeval@chunking-v1"]) for pair in ((A, B), (B, A)))
    shown = ("delta", "low", "high", "p", "p_adjusted", "wins", "ties", "losses", "smallest_detectable", "verdict")
    assert [there[name] for name in shown] == [row[name] for name in shown]
    assert (back["delta"], back["low"], back["high"]) == (-row["delta"], -row["high"], -row["low"])
    assert (back["p"], back["smallest_detectable"]) == (row["p"], row["smallest_detectable"])


def test_what_is_not_stored_is_worked_out_as_what_is(lake_folder: Path) -> None:
    lake = Lake(lake_folder)
    stored_rows = compare(lake, A, B, [parse_metric("recall@5")])
    for part in lake.parts("comparisons"):
        lake.remove(part)
    assert compare(lake, A, B, [parse_metric("recall@5")]) == stored_rows


def test_any_slice_that_both_have_can_be_compared(lake_folder: Path) -> None:
    lake = Lake(lake_folder)
    (row,) = compare(lake, A, B, [], protocol_names=["repoeval@chunking-v1"], slice_name="repo=zoo_animals")
    assert (row["n_repos"], row["unit"], row["verdict"]) == (1, "item", "too few items")
    assert [repo for repo, *_ in row["repositories"]] == ["zoo_animals"]
    with pytest.raises(GoldspanError, match=r"unknown slice of repoeval@chunking-v1 'repo=zoo_animal'"):
        compare(lake, A, B, [], protocol_names=["repoeval@chunking-v1"], slice_name="repo=zoo_animal")


def test_repositories_and_flips_add_up_to_the_comparison(lake_folder: Path) -> None:
    for row in compare(Lake(lake_folder), A, B, [parse_metric("precision@5")]):
        assert sum(n for _, n, _, _ in row["repositories"]) == row["n"]
        assert len(row["repositories"]) == row["n_repos"]
        if row["average"] == "macro":
            mean = sum(n * (b - a) for _, n, a, b in row["repositories"]) / row["n"]
            assert row["delta"] == pytest.approx(mean) == sum(b - a for _, a, b in row["flips"]) / row["n"]
        assert row["wins"] is not None
        assert row["losses"] is not None
        assert len(row["flips"]) == row["wins"] + row["losses"]
    run = command("evaluate", "compare", A, B, "--flips", "--metric", "mrr", "--lake", lake_folder)
    assert "function-2k/" in run.out


def test_a_gate_by_verdict_goes_by_the_verdict(lake_folder: Path) -> None:
    (row,) = compare(Lake(lake_folder), A, B, [], protocol_names=["repoeval@chunking-v1"])
    gate = parse_gate("line_f1@8000 is worse")
    verdicts = {"worse": True, "too few items": None, "cannot be separated": False}
    assert {verdict: gate.is_broken({**row, "verdict": verdict}) for verdict in verdicts} == verdicts
    assert not parse_gate("ndcg@10 is worse").is_broken({**row, "verdict": "worse"})


def test_a_gate_that_cannot_decide_is_exit_code_3_and_says_so(lake_folder: Path) -> None:
    gate = ("--fail-if", "line_f1@8000 is worse", "--protocol", "repoeval@chunking-v1")
    run = command("evaluate", "compare", A, B, *gate, "--lake", lake_folder)
    run.ended(Exit.INVALID, 'the gate "line_f1@8000 is worse" cannot decide: it needs 30 shared items')


def test_two_systems_that_no_protocol_scored_cannot_be_compared(lake_folder: Path) -> None:
    lake = Lake(lake_folder)
    systems = dict(lake.read("runs").select("run_id", "system").iter_rows())
    for part in lake.parts("scores"):
        is_chunking = part.folders["protocol"] == "repoeval@chunking-v1"
        if systems[part.folders["run_id"]] in (A, B) and (systems[part.folders["run_id"]] == A) == is_chunking:
            lake.remove(part)
    with pytest.raises(GoldspanError, match="no protocol scored both"):
        compare(lake, A, B, [])


OF_THE_FAMILY = {"p_adjusted", "verdict", "exploratory"}


def across(there: Path, here: Path, *arguments: object) -> Said:
    return command("evaluate", "compare", *arguments, "--against", there, "--lake", here)


@pytest.fixture(scope="module")
def site(_made_once: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    lake = shutil.copytree(_made_once / "lake", folder / "lake")
    command("report", "--lake", lake, "--site", folder / "site", "--quiet").done()
    return folder / "site"


@pytest.fixture
def published(site: Path, tmp_path: Path) -> Path:
    return shutil.copytree(site / "data", tmp_path / "data") / "scores.parquet"


def test_the_numbers_are_those_of_one_lake(published: Path, lake_folder: Path) -> None:
    flags = ("--metric", "precision@5,mrr", "--flips", "--json")
    apart = across(published, lake_folder, A, B, *flags)
    within = command("evaluate", "compare", A, B, *flags, "--lake", lake_folder)
    declared = [row for row in json.loads(within.out) if row["is_declared"]]
    assert [{**row, **dict.fromkeys(OF_THE_FAMILY)} for row in json.loads(apart.out)] == [
        {**row, **dict.fromkeys(OF_THE_FAMILY)} for row in declared
    ]
    assert len(declared) > 2


@pytest.mark.parametrize(
    ("name", "changed", "words"),
    [
        ("queries", pl.col("sha256").str.replace("^.", "x"), "the two differ in the queries"),
        ("gold_spans", pl.col("line_end") + 1, "the two differ in the gold"),
        ("gold_spans", pl.col("path") + "x", "the two differ in the gold"),
        ("scores", pl.col("protocol_hash").str.reverse(), "the two differ in the rules"),
        ("benchmarks", pl.lit("mined").alias("label"), "the two differ in the benchmark's label"),
    ],
)
def test_other_data_or_rules(name: str, changed: pl.Expr, words: str, published: Path, lake_folder: Path) -> None:
    file = published.with_name(f"{name}.parquet")
    pl.read_parquet(file).with_columns(changed).write_parquet(file)
    across(published, lake_folder, A, "--fail-if", "mrr drops > 0.5").refused(Exit.INVALID, words)


def test_items_of_one_side_alone_are_named(published: Path, lake_folder: Path) -> None:
    scores = pl.read_parquet(published)
    scores.filter(item_id=scores["item_id"].min()).write_parquet(published)
    run = across(published, lake_folder, A, "--protocol", "repoeval@chunking-v1").done()
    assert "repoeval@chunking-v1: 4 items scored here only: left out of the difference" in run.out
    assert "1 and 5" in run.out


def test_an_export_of_a_run_is_compared_and_says_what_it_cannot_tell(lake_folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "main.parquet"
    flags = ("--table", "scores", "--format", "parquet", "-o", file)
    command("report", "export", A, *flags, "--lake", lake_folder).done()
    run = across(file, lake_folder, A).done()
    unknown = "the benchmark's label, the queries, the gold, the searched files"
    assert f"repoeval: not checked against this lake, as not published with the scores: {unknown}" in run.out


def test_what_holds_no_scores_is_refused(lake_folder: Path, tmp_path: Path) -> None:
    for folder in (tmp_path / "nowhere", lake_folder):
        across(folder, lake_folder, A).refused(Exit.MISSING, "no such file of scores")
    (tmp_path / "text.parquet").write_text("no Parquet")
    across(tmp_path / "text.parquet", lake_folder, A).refused(Exit.INVALID)
    pl.DataFrame({"item_id": ["a"]}).write_parquet(tmp_path / "other.parquet")
    run = across(tmp_path / "other.parquet", lake_folder, A)
    run.refused(Exit.INVALID, "lacks the columns benchmark, system, run_id")


def test_a_metric_that_is_not_stored_and_an_unknown_system_are_refused(published: Path, lake_folder: Path) -> None:
    across(published, lake_folder, A, "--fail-if", "precision@2 drops > 0.1").refused(Exit.MISSING, "precision@2")
    across(published, lake_folder, "whole-file+bm25", A).refused(Exit.USAGE, "Did you mean 'whole-file+bm25-okapi'")
