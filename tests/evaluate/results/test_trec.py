import gzip
import json
import math
import random
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
import pytrec_eval
from scipy import stats

from lake.errors import Exit
from tests.ingest.runs.formats.test_import_formats import zstd
from tests.tiny import Said, command

Qrels = Mapping[str, Mapping[str, int]]
Run = Mapping[str, Mapping[str, float]]

QRELS: Qrels = {"q1": {"d1": 2, "d2": 1, "d3": 0, "d9": 3}, "q2": {"d1": 1, "d5": -1}, "q3": {"d4": 0}, "q4": {"d7": 1}}
RUN: Run = {
    "q1": {"d3": 0.5, "d1": 0.5, "d2": 0.25, "d8": 0.9},
    "q2": {"d5": 1e39, "d2": 2e39, "d1": 3.0},
    "q3": {"d4": 1.0},
    "nobody": {"d1": 1.0},
}
MEASURES = {
    "map": "map", "Rprec": "Rprec", "recip_rank": "recip_rank", "ndcg": "ndcg", "ndcg@1": "ndcg_cut_1", "ndcg_cut_3":
    "ndcg_cut_3", "precision@2": "P_2", "P_5": "P_5", "recall@3": "recall_3", "success@1": "success_1", "map_cut_2":
    "map_cut_2", "set_recall": "set_recall", "hit@3": "success_3",
}  # fmt: skip
THEIRS = {
    "map", "Rprec", "recip_rank", "ndcg", "ndcg_cut.1,3", "P.2,5", "recall.3", "success.1,3", "map_cut.2", "set_recall"
}  # fmt: skip


def write(folder: Path, qrels: Qrels, run: Run) -> tuple[Path, Path]:
    judged = [f"{query} 0 {document} {grade}\n" for query, of in qrels.items() for document, grade in of.items()]
    ranked = [f"{query} Q0 {document} 1 {score!r} me\n" for query, of in run.items() for document, score in of.items()]
    (folder / "qrels").write_text("".join(judged))
    (folder / "run").write_text("".join(ranked))
    return folder / "qrels", folder / "run"


def score(*arguments: object) -> Said:
    return command("evaluate", "score", *arguments)


def values(*arguments: object, metrics: Sequence[str] = tuple(MEASURES)) -> dict[str, dict[str, float]]:
    run = score(*arguments, "--metrics", ",".join(metrics), "-q", "--json").done()
    return {row.pop("query"): row for row in json.loads(run.out)["values"]}


SCORES = (0.0, -0.0, 0.5, 0.5000000001, 1.0, -2.5, 1e39, 3e39, 5e-324)
"""Some are alike as Float32, the largest infinite: these go by document, descending."""


def test_every_measure_of_graded_judgements_is_trec_evals(tmp_path: Path) -> None:
    draw = random.Random(20_240_601)
    qrels = {
        f"q{query}": {f"é{draw.randrange(40)}": draw.choice([-1, 0, 1, 1, 2, 3]) for _ in range(draw.randrange(1, 12))}
        for query in range(300)
    }
    run = {
        f"q{query}": {
            f"é{draw.randrange(40)}": draw.choice([*SCORES, draw.random()]) for _ in range(draw.randrange(1, 30))
        }
        for query in range(5, 304)
    }
    theirs = pytrec_eval.RelevanceEvaluator(qrels, THEIRS).evaluate(run)
    ours = values(*write(tmp_path, qrels, run), "--answered")
    assert set(ours) == set(theirs)
    for query, of in ours.items():
        for value, called in zip(of.values(), MEASURES.values(), strict=True):
            assert math.isclose(value, theirs[query][called], abs_tol=1e-12), (query, called)


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    return write(tmp_path, QRELS, RUN)


def test_a_judged_query_without_results_counts_zero_unless_it_is_left_out(files: tuple[Path, Path]) -> None:
    run = score(*files, "--metrics", "recip_rank")
    assert run.out == f"{'RR':22}\tall\t0.1667\t0.0000\t0.4729\n"
    assert "4 judged queries" in run.err
    assert "1 judged query without results count" in run.err
    assert "left out, as not judged: 1 query of the run" in run.err
    assert score(*files, "--metrics", "recip_rank", "--answered").out.split("\t")[2] == "0.2222"


def test_the_interval_is_students_over_queries(files: tuple[Path, Path]) -> None:
    printed = json.loads(score(*files, "--metrics", "nDCG@10", "--json", "-q").out)
    column = [row["nDCG@10"] for row in printed["values"]]
    low, high = stats.t.interval(0.95, len(column) - 1, loc=math.fsum(column) / len(column), scale=stats.sem(column))
    (mean,) = printed["means"]
    assert low < 0
    # Of a measure that is never below 0 no mean is.
    assert (mean["low"], mean["high"]) == (0.0, pytest.approx(high, abs=1e-12))


def test_an_interval_ends_where_the_measure_does(tmp_path: Path) -> None:
    qrels = {f"q{number}": {"d1": 1} for number in range(3)}
    files = write(tmp_path, qrels, {"q0": {"d1": 1.0}, "q1": {"d1": 1.0}, "q2": {"d2": 1.0, "d1": 0.5}})
    (mean,) = json.loads(score(*files, "--metrics", "map", "--json").out)["means"]
    assert mean["mean"] == pytest.approx(5 / 6)
    assert (mean["low"] > 0, mean["high"]) == (True, 1.0)


def test_one_query_has_a_mean_and_no_interval_and_json_no_nan(tmp_path: Path) -> None:
    files = write(tmp_path, {"q1": {"d1": 1}}, {"q1": {"d1": 1.0}})
    run = score(*files, files[1], "--metrics", "AP", "--json")
    printed = json.loads(run.out, parse_constant=pytest.fail)
    assert printed["means"] == [{"measure": "AP", "mean": 1.0, "low": None, "high": None, "queries": 1}]
    assert (printed["compared"][0]["delta"], printed["compared"][0]["low"]) == (0.0, None)
    assert "\t–\t–" in score(*files, "--metrics", "AP").out


def test_what_is_summed_has_no_interval(files: tuple[Path, Path]) -> None:
    assert score(*files, "--metrics", "NumRet").out == f"{'NumRet':22}\tall\t8.0000\t–\t–\n"


def test_one_measure_by_several_names_is_printed_once_by_that_of_ir_measures(files: tuple[Path, Path]) -> None:
    run = score(*files, "--metrics", "ndcg_cut_10,ndcg@10,nDCG@10,AP(rel=2),map_cut_5,hit@1")
    assert [line.split("\t")[0].strip() for line in run.out.splitlines()] == [
        "nDCG@10", "AP(rel=2)", "AP@5", "Success@1",
    ]  # fmt: skip


def spaced(data: bytes) -> bytes:
    """With a byte order mark, CRLF, empty lines, tabs and several spaces."""
    return b"\xef\xbb\xbf\r\n" + data.replace(b" ", b" \t ", 7).replace(b"\n", b"  \r\n\n")


@pytest.mark.parametrize("way", [gzip.compress, zstd, spaced, bytes.strip, lambda data: data.replace(b" ", b"\t")])
def test_however_it_is_packed_or_spaced_the_numbers_are_the_same(files: tuple[Path, Path], way: object) -> None:
    plain = values(*files)
    assert callable(way)
    for file in files:
        file.write_bytes(way(file.read_bytes()))
    assert values(*files) == plain


def test_json_and_beirs_tables_give_the_same_numbers(files: tuple[Path, Path], tmp_path: Path) -> None:
    plain = values(*files)
    (tmp_path / "qrels.json").write_text(json.dumps(QRELS))
    (tmp_path / "run.json").write_text(json.dumps(RUN))
    assert values(tmp_path / "qrels.json", tmp_path / "run.json") == plain
    for name, of in (("qrels.tsv", QRELS), ("run.tsv", RUN)):
        rows = [f"{query}\t{document}\t{number}" for query, grades in of.items() for document, number in grades.items()]
        (tmp_path / name).write_text("\n".join(["query-id\tcorpus-id\tscore", *rows]))
    assert values(tmp_path / "qrels.tsv", tmp_path / "run.tsv") == plain


@pytest.mark.parametrize(
    ("qrels", "run", "message"),
    [
        (b"q1 0 d1 1\n", b"q1 Q0 d1 1 0.5 me\nq1 Q0 d2 2 me\n", "line 2: q1 Q0 d2 2 me"),
        (b"q1 0 d1 1\n", b"\nq1 Q0 d1 1 0.5 me extra\nq1 Q0 d2 2 0.5\n", "line 2: q1 Q0 d1 1 0.5 me extra"),
        (b"q1 0 d1 1\n", b"q1 Q0 d1 1 nan me\n", "line 1: q1 Q0 d1 1 nan me"),
        (b"q1 0 d1 1\n", b"q1 Q0 d1 1 much me\n", "line 1: q1 Q0 d1 1 much me"),
        (b"q1 0 d1 1\n", b"q1 Q0 d\xff 1 0.5 me\n", "line 1: q1 Q0 d\ufffd 1 0.5 me"),
        (b"q1 0 d1 1\n", b"q1 0 d1 1\n", "RUN has lines of `query Q0 document rank score tag`"),
        (b"q1 0 d1 0.5\n", b"q1 Q0 d1 1 0.5 me\n", "QRELS has lines of `query 0 document grade`"),
        (b"q1 0 d1 18446744073709551616\n", b"q1 Q0 d1 1 0.5 me\n", "line 1: q1 0 d1 18446744073709551616"),
        (b'{"q1": {"d1": 18446744073709551616}}', b"q1 Q0 d1 1 0.5 me\n", "a whole number, at most 1,000,000"),
        (b"", b"q1 Q0 d1 1 0.5 me\n", "QRELS is empty"),
        (b"q1 0 d1 1\n", b"\n", "RUN is empty"),
        (b"q1 0 d1 1\nq1 0 d1 0\n", b"q1 Q0 d1 1 0.5 me\n", "QRELS has document d1 twice for query q1"),
        (b"q1 0 d1 1\n", b'{"q1": {"d1": 2, "d1": 1}}', "RUN has document d1 twice for query q1"),
        (b'{"q1": {"d1": 1}, "q1": {"d1": 1}}', b"q1 Q0 d1 1 0.5 me\n", "QRELS has document d1 twice for query q1"),
        (b"q1 0 d1 1\n", b"q1 Q0 d1 1 0.5 me\nq1 Q0 d1 2 0.4 me\n", "line 2: q1 Q0 d1 2 0.4 me"),
        (b'{"q1": {"d1": 1.5}}', b"q1 Q0 d1 1 0.5 me\n", "q1: {d1: 1.5}"),
        (b'{"q1": {"d1": 1}', b"q1 Q0 d1 1 0.5 me\n", "cannot be read to its end: Expecting"),
        (b'{"q1": {"\\ud800": 1}}', b"q1 Q0 d1 1 0.5 me\n", "JSON {query: {document: number}}"),
        (b"q1 0 d1 1\n", b'{"q1": {"d1": NaN}}', "q1: {d1: nan}"),
        (b"q1 0 d1 1\n", b'["q1"]', "JSON {query: {document: number}}"),
        (b"q1 0 d1 1\n", gzip.compress(b"q1 Q0 d1 1 0.5 me\n", mtime=0)[:-9], "cannot be read to its end"),
    ],
)
def test_unreadable_rows_are_named_by_file_and_line(tmp_path: Path, qrels: bytes, run: bytes, message: str) -> None:
    (tmp_path / "qrels").write_bytes(qrels)
    (tmp_path / "run").write_bytes(run)
    score(tmp_path / "qrels", tmp_path / "run").refused(Exit.INVALID, message, str(tmp_path))


def test_a_run_of_other_queries_is_said_with_an_id_of_both(tmp_path: Path) -> None:
    done = score(*write(tmp_path, {"q1": {"d1": 1}}, {"Q1": {"d1": 1.0}}))
    done.refused(Exit.INVALID, "no query of RUN is judged\n  for example: RUN: Q1\n  for example: QRELS: q1")


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        ("line_f1@2000", "unknown measure 'line_f1@2000'"),
        ("ndgc@10", "Did you mean 'ndcg'"),
        ("P", "measure 'P': invalid param cutoff=nothing"),
        ("ndcg_cut_0", "a cut-off is at least 1"),
        ("AP(2)", "args must be named"),
        ("nDCG@", "invalid syntax"),
        ("RBP(rel=1)", "ERR and nDCG of exponential gains take grades up to 4"),
    ],
)
def test_a_measure_that_cannot_be_had_is_a_usage_error(files: tuple[Path, Path], metric: str, message: str) -> None:
    score(*files, "--metrics", metric).refused(Exit.USAGE, message)


def test_a_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    score(tmp_path / "qrels", tmp_path / "run").refused(Exit.MISSING, "No such file or directory")
    assert "Is a directory" in score(tmp_path, tmp_path).err


def test_a_second_run_is_compared_by_paired_sign_flips_over_queries(tmp_path: Path) -> None:
    qrels = {f"q{number}": {"d1": 1} for number in range(60)}
    run = {query: {"d1": 1.0 if number % 2 else 0.0, "d2": 0.5} for number, query in enumerate(qrels)}
    files = write(tmp_path, qrels, run)
    better = "".join(f"{query} Q0 d1 1 1 me\n{query} Q0 d2 2 0.5 me\n" for query in qrels)
    (tmp_path / "better").write_text(better)
    printed = json.loads(score(*files, tmp_path / "better", "--metrics", "P_1", "--json").out)
    (pair,) = printed["compared"]
    assert [printed[name][0]["mean"] for name in ("means", "means2")] == [0.5, 1.0]
    assert set(printed) == {"means", "means2", "compared"}
    assert (pair["delta"], pair["verdict"], pair["queries"]) == (0.5, "better", 60)
    assert pair["p"] < 0.001
    assert "\tworse\t60" in score(files[0], tmp_path / "better", files[1], "--metrics", "P_1").out
    alike = score(*files, files[1], "--metrics", "P_1")
    assert "equivalent" in alike.out
    assert alike.err == "95 % intervals and p are over queries: for this collection only\n"
    (tmp_path / "part").write_text("q1 Q0 d1 1 1 me\n")
    in_part = score(*files, tmp_path / "part", "--metrics", "P_1").err
    assert "\nRUN2: 59 judged queries without results count 0; --answered leaves them out\n" in in_part
    assert "60 judged queries; 95 % t intervals are over queries: for this" in score(*files, "--metrics", "P_1").err


def test_every_query_of_two_runs_is_printed_with_both_values(files: tuple[Path, Path], tmp_path: Path) -> None:
    (tmp_path / "other").write_text("q4 Q0 d7 1 1 me\n")
    options = (*files, tmp_path / "other", "--metrics", "P_1,recip_rank", "-q")
    lines = [line.split("\t") for line in score(*options).out.splitlines()]
    assert [line[0].strip() for line in lines[:8]] == ["P@1", "RR"] * 4
    assert lines[1][1:] == ["q1", "0.3333", "0.0000"]
    assert lines[7][1:] == ["q4", "0.0000", "1.0000"]
    assert lines[8][0] == "measure"
    told = json.loads(score(*options, "--json").out)
    assert [row["RR"] for row in told["values2"]] == [0.0, 0.0, 0.0, 1.0]
    # Each run's own queries where those without results are left out.
    alone = [line.split("\t") for line in score(*options, "--answered").out.splitlines()]
    assert [line[2:] for line in alone if line[1] == "q4"] == [["–", "1.0000"]] * 2
