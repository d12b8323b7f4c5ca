import gzip
import math
import pickle
import shutil
from pathlib import Path

import polars as pl
import pytest
import pytrec_eval

from evaluate.metrics import parse_metric
from evaluate.results.undeclared_metrics import explored
from lake.benchmarks import TASKS, protocols, protocols_of
from lake.errors import Exit
from lake.store import Lake
from report.exports.of_run import ExportedRun
from tests.evaluate.score.test_repobench_similarity import ROWS
from tests.ingest.benchmarks.test_beir import lay_out
from tests.tiny import Said, build, command, put

pytestmark = pytest.mark.slow

NAMES = {
    "precision@5": "P_5", "precision@10": "P_10", "recall@5": "recall_5", "recall@10": "recall_10", "ndcg@5":
    "ndcg_cut_5", "ndcg@10": "ndcg_cut_10", "success@1": "success_1", "success@5": "success_5", "map": "map",
    "mrr@1000": "recip_rank",
}  # fmt: skip
"""Ours → trec_eval's."""

WINDOWS = "window-4-2+bm25-okapi"


def done(*arguments: object) -> Said:
    ended = command(*arguments)  # type: ignore[arg-type]  # the stage is a text
    assert ended.code in (0, Exit.INCOMPLETE), ended.err + ended.out
    return ended


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    """Three benchmarks, evaluated, and a run with known chunks that was made elsewhere."""
    folder = tmp_path_factory.mktemp("judged")
    rows = pickle.dumps({"test": {"easy": list(ROWS), "hard": []}})
    put(folder / "rows/data/python_cff.gz", gzip.compress(rows))
    root = folder / "lake"
    chunkers = ("--chunkers", "whole-file,window-4-2")
    done("ingest", "repoeval", "--source", build(folder / "tiny"), *chunkers, "--lake", root)
    done("ingest", "repobench-r", "--source", folder / "rows", *chunkers, "--lake", root)
    done("ingest", "beir", "--source", lay_out(folder / "beir"), "--chunkers", "whole-file", "--lake", root)
    done("evaluate", "--lake", root)
    done("report", "export", WINDOWS, "--benchmark", "repoeval", "--format", "trec", "-o", folder / "t", "--lake", root)
    lines = [line.split(" ") for line in (folder / "t").read_text().splitlines()]
    queries = list(dict.fromkeys(query for query, *_ in lines))
    backwards = []
    # The first query is left without an answer; every other list is turned round, after a path that no pool has.
    for query in queries[1:]:
        documents = ["nowhere/x.py#L1-L3", *(line[2] for line in reversed(lines) if line[0] == query)]
        backwards += [f"{query} Q0 {name} {rank} {-rank} mine\n" for rank, name in enumerate(documents, 1)]
    put(folder / "mine.trec", "".join(backwards).encode())
    known = ("--system", "mine", "--benchmark", "repoeval", "--chunker", "window-4-2")
    done("ingest", "run", folder / "mine.trec", *known, "--lake", root)
    bare = ("--system", "bare", "--benchmark", "repoeval")
    done("ingest", "run", folder / "mine.trec", *bare, "--lake", root)
    done("evaluate", "--lake", root)
    return Lake(root)


def runs(lake: Lake) -> list[tuple[str, str, str]]:
    """run_id, task and system of every run that is scored by its ranking; `random` is by what any order is worth."""
    ranked = lake.read("hits").filter(part="ranking")["run_id"].unique()
    is_random = pl.col("system").str.ends_with("+random")
    rows = lake.read("runs").filter(pl.col("run_id").is_in(ranked.implode()), ~is_random).sort("run_id")
    return rows.select("run_id", "task", "system").rows()


def exported(lake: Lake, to: Path, run: str, name: str, *options: object) -> list[str]:
    done("report", "export", run, "--format", name, "-o", to / name, *options, "--lake", lake.root)
    return (to / name).read_text().splitlines()


def item_of(query: str) -> str:
    return query.replace("%20", " ").replace("%25", "%")


def test_trec_evals_numbers_of_the_two_files_are_the_lakes_for_every_item(lake: Lake, tmp_path: Path) -> None:
    requested = [parse_metric(name) for name in NAMES]
    protocols, n_compared = set(), 0
    judged = [(run_id, task) for run_id, task, system in runs(lake) if system != "bare"]
    rankings = {run_id: pytrec_eval.parse_run(exported(lake, tmp_path, run_id, "trec")) for run_id, _ in judged}
    pairs = [
        (task, protocol) for task in sorted({task for _, task in judged}) for protocol in protocols_of(TASKS[task])
    ]
    for task, protocol in pairs:
        with lake.locked(makes=()):
            scored = explored(lake, TASKS[task], protocol, requested, [run for run, of in judged if of == task])
        for run_id, ours in scored.partition_by("run_id", as_dict=True).items():
            qrels = pytrec_eval.parse_qrel(exported(lake, tmp_path, run_id[0], "qrels", "--protocol", protocol.name))
            assert {item_of(query) for query in qrels} == set(ours["item_id"])
            theirs = pytrec_eval.RelevanceEvaluator(qrels, set(NAMES.values())).evaluate(rankings[run_id[0]])
            by_item = {item_of(query): values for query, values in theirs.items()}
            for item_id, metric, k, value in ours.select("item_id", "metric", "k", "value").iter_rows():
                name = NAMES[f"{metric}@{k}" if k else metric]
                expected = by_item[item_id][name] if item_id in by_item else 0.0
                assert math.isclose(value, expected, abs_tol=1e-12), (run_id, protocol.name, item_id, name)
                n_compared += 1
            protocols.add(protocol.name)
    assert protocols == {
        "beir@graded-v1", "repobench-r@chunking-v1", "repobench-r@identifier-v1", "repobench-r@official-v1",
        "repoeval@chunking-v1", "repoeval@code-chunk-v1", "repoeval@target-v1",
    }  # fmt: skip
    assert n_compared > 1_000


def test_of_a_run_whose_chunks_nobody_knows_what_it_returned_is_judged(lake: Lake, tmp_path: Path) -> None:
    known, bare = ({*exported(lake, tmp_path, name, "qrels")} for name in ("mine", "bare"))
    returned = {line.split(" ")[2] for line in exported(lake, tmp_path, "bare", "trec")}
    assert bare - known <= {line for line in bare if line.split(" ")[2:] == ["-", "0"]}
    assert {line.split(" ")[2] for line in bare} <= returned | {"-"}


def test_an_item_to_which_nothing_is_relevant_counts(lake: Lake, tmp_path: Path) -> None:
    options = ("--protocol", "repobench-r@identifier-v1")
    (run_id,) = [run for run, task, system in runs(lake) if (task, system) == ("repobench-r/chunks", WINDOWS)]
    lines = [line.split(" ") for line in exported(lake, tmp_path, run_id, "qrels", *options)]
    scored = lake.read("scores", run_id=run_id, protocol=options[1])["item_id"].unique()
    assert {item_of(line[0]) for line in lines} == set(scored)
    assert all((line[3] == "0") == (line[2] == "-") for line in lines)


def test_a_document_of_judged_documents_goes_by_its_own_id(lake: Lake, tmp_path: Path) -> None:
    system = "whole-file+bm25-okapi"
    qrels = exported(lake, tmp_path, system, "qrels", "--benchmark", "beir")
    assert qrels == ["q1 0 d1 2", "q1 0 d2 1", "q2 0 4 3", "q2 0 d3 1"]
    trec = exported(lake, tmp_path, system, "trec", "--benchmark", "beir")
    assert {line.split(" ")[2] for line in trec} == {"d1", "d2", "d3", "4", "empty"}


def test_chunks_of_the_same_lines_are_told_apart(lake: Lake, tmp_path: Path) -> None:
    """A chunker that cuts within lines: the second chunk of a file is of the first one's lines."""
    copy = Lake(Path(shutil.copytree(lake.root, tmp_path / "lake")))
    for part in copy.parts("chunks", chunker="window-4-2"):
        frame = copy.scan_parts([part], "chunks").collect()
        is_second = pl.col("chunk_no") == 1
        moved = [
            pl.when(is_second).then(pl.col(name).shift(1)).otherwise(name).alias(name)
            for name in ("line_start", "line_end")
        ]
        frame = frame.sort("sha256", "chunk_no").with_columns(moved)
        copy.write("chunks", frame, part=part.name, fingerprint="cut within lines", chunker="window-4-2")
    run = ExportedRun(copy, str(copy.read("runs").filter(system="mine")["run_id"][0]))
    chunks = run.chunks
    assert not chunks.select("pool_id", "document").is_duplicated().any()
    second = chunks.filter(chunk_no=1)["document"]
    assert second.str.ends_with("-L2.2").any()
    assert set(second.str.strip_suffix(".2")) <= set(chunks.filter(chunk_no=0)["document"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--protocol", "beir@graded-v1"), "unknown protocol of"),
        (("--protocol", "beir@graded"), "unknown protocol"),
        (("--metrics", "ndcg"), "apply to boards, not to a run"),
    ],
)
def test_what_cannot_be_judged_is_said(lake: Lake, options: tuple[str, ...], message: str) -> None:
    (run_id,) = lake.read("runs").filter(system="mine")["run_id"]
    ended = command("report", "export", run_id, "--format", "qrels", *options, "--lake", lake.root)
    ended.refused(Exit.USAGE, message)


def test_a_system_of_two_benchmarks_is_named_with_its_benchmark_or_protocol(lake: Lake, tmp_path: Path) -> None:
    ended = command("report", "export", "whole-file+bm25-okapi", "--format", "trec", "--lake", lake.root)
    ended.refused(Exit.USAGE, "has 4 runs")
    lines = exported(lake, tmp_path, "whole-file+bm25-okapi", "trec", "--protocol", "repobench-r@official-v1")
    assert lines[0].split(" ")[-1].startswith("repobench-r.official--")


BEIR_RUNS = (
    (WINDOWS, "repoeval@chunking-v1"),
    ("whole-file+bm25-okapi", "repobench-r@official-v1"),
    ("whole-file+bm25-okapi", "beir@graded-v1"),
)


@pytest.mark.parametrize(("system", "protocol"), BEIR_RUNS)
def test_an_exported_beir_folder_scores_alike(lake: Lake, tmp_path: Path, system: str, protocol: str) -> None:
    options = ("--protocol", protocol, "--format", "beir", "-o", tmp_path / "folder", "--lake", lake.root)
    done("report", "export", system, *options)
    again = tmp_path / "lake"
    done("ingest", "beir", "--source", tmp_path / "folder", "--chunkers", "whole-file", "--lake", again)
    copied = ("--benchmark", "beir", "--system", "copied", "--skip-unknown", "--lake", again)
    done("ingest", "run", tmp_path / "folder/run.trec", *copied)
    done("evaluate", "--systems", "copied", "--lake", again)
    copy = Lake(again)
    assert copy.read("files").height == (tmp_path / "folder/corpus.jsonl").read_text().count("\n")
    (run_id,) = [run for run, task, name in runs(lake) if name == system and task in protocols()[protocol].tasks]
    metrics = ["precision", "ndcg", "accuracy"]
    wanted = pl.col("metric").is_in(metrics) & pl.col("k").is_in([1, 3, 5, 10]) & pl.col("value").is_not_null()
    before = lake.read("scores", run_id=run_id, protocol=protocol).filter(wanted)
    after = copy.read("scores", protocol="beir@graded-v1").with_columns(pl.col("metric").replace("hit", "accuracy"))
    both = before.join(after, on=["item_id", "metric", "k"], suffix=" after")
    # An item to which nothing is relevant is none that BEIR's layout can ask.
    assert both["item_id"].n_unique() == copy.read("items")["scorable"].sum() > 0
    assert both["value after"].to_list() == pytest.approx(both["value"].to_list(), abs=1e-12)


def test_a_folder_is_never_replaced(lake: Lake, tmp_path: Path) -> None:
    put(tmp_path / "folder/mine", b"x")
    options = ("--format", "beir", "--lake", lake.root)
    ended = command("report", "export", "mine", *options, "-o", tmp_path / "folder")
    assert ended.code != 0
    assert "folder" in ended.err
    assert [path.name for path in tmp_path.rglob("*")] == ["folder", "mine"]
    assert command("report", "export", "mine", *options).code == Exit.USAGE


def test_a_run_whose_documents_nobody_knows_is_no_beir_folder(lake: Lake, tmp_path: Path) -> None:
    ended = command("report", "export", "bare", "--format", "beir", "-o", tmp_path / "x", "--lake", lake.root)
    ended.refused(Exit.MISSING, "Import it again with --chunker.")


FORMATS = ("trec", "tsv", "parquet")


def scores(lake: Lake, system: str) -> pl.DataFrame:
    (run_id,) = lake.read("runs").filter(pl.col("system") == system)["run_id"]
    return lake.read("scores").filter(pl.col("run_id") == run_id).drop("run_id")


@pytest.mark.parametrize("chunker", ["window-4-2", "chonkie-token-6"], ids=["shared lines", "many within a line"])
def test_every_format_of_rankings_keeps_scores(chunker: str, source: Path, lake_folder: Path, tmp_path: Path) -> None:
    lake, system = Lake(lake_folder), f"{chunker}+bm25-okapi"
    if lake.part("chunkers", chunker) is None:
        command("ingest", "repoeval", "--source", source, "--chunkers", chunker, "--lake", lake_folder).done()
        command("evaluate", "--systems", system, "--lake", lake_folder).done()
    for written in FORMATS:
        file = tmp_path / f"run.{written}"
        command("report", "export", system, "--format", written, "-o", file, "--lake", lake_folder).done()
        options = ("--benchmark", "repoeval", "--system", written, "--chunker", chunker)
        command("ingest", "run", file, *options, "--lake", lake_folder).done(f"--format {written})")
    command("evaluate", "--systems", ",".join(FORMATS), "--lake", lake_folder).done()
    first = scores(lake, system)
    key = [name for name in first.columns if first[name].dtype != pl.Float64]
    assert first.height > 100
    for written in FORMATS:
        again = scores(lake, written)
        assert again.sort(key).equals(first.sort(key)), written
