import csv
import io
import json
import os
import re
import shutil
import subprocess
import threading
from pathlib import Path

import polars as pl
import pytest

from lake.errors import Exit, GoldspanError
from lake.store import Lake
from report.exports import Choice, export
from report.exports.wide import latex_text
from tests.frames import change
from tests.report.context_lake import write_context
from tests.report.small_lake import (
    CHUNKING,
    HOSTILE,
    HOSTILE_SHOWN,
    SYSTEMS,
    aggregated,
    run_id,
    write_boards,
    write_lake,
    write_ranks,
    write_scores,
)
from tests.tiny import command, refused

pytestmark = pytest.mark.slow

RUN = run_id("fixed-nws-1500+bm25-okapi")


def exported(
    lake: Lake, to: Path, run: str | None, format_name: str, table: str = "ranking", choice: Choice | None = None
) -> str:
    export(lake, run, format_name, to / "out", table, choice)
    return (to / "out").read_bytes().decode()


def test_json_and_parquet_hold_the_same_rows(small: Lake, tmp_path: Path) -> None:
    rows = json.loads(exported(small, tmp_path, None, "json"))
    export(small, None, "parquet", tmp_path / "board.parquet", "ranking")
    assert pl.read_parquet(tmp_path / "board.parquet").rows(named=True) == rows


def test_markdown_shows_the_table_of_the_page(small: Lake, tmp_path: Path) -> None:
    text = exported(small, tmp_path, None, "md")
    assert (
        "**RepoEval (sample), repoeval@chunking-v1, function-2k, mean over items; "
        "n = N = 5 where no cell or line says otherwise**"
    ) in text
    assert "| fixed-nws-1500+jaccard | 0.587 |" in text
    assert "\\<img src=x" in text
    assert HOSTILE_SHOWN not in text


HOSTILE_NAMES = (
    "=HYPERLINK(1)", "+1+1", "-2+3", "@SUM(1)", "\tx", "\rx", "\n=x", "\uff1d1", "[1cm] a", "*b", "a|b`c`<i>~$&#_^\\",
)  # fmt: skip


@pytest.fixture
def hostile(tmp_path: Path) -> Lake:
    """A lake whose systems are called what spreadsheets, Markdown and LaTeX would act on."""
    systems = {name: (number / 100, number / 200) for number, name in enumerate(HOSTILE_NAMES)}
    return write_lake(tmp_path / "hostile", systems)


def test_no_cell_of_a_csv_is_a_formula_and_numbers_stay_numbers(hostile: Lake, tmp_path: Path) -> None:
    text = exported(hostile, tmp_path, None, "csv")
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert {row["system"].removeprefix("'") for row in rows} >= set(HOSTILE_NAMES)
    assert [cell for row in rows for cell in row.values() if cell.startswith(tuple("=+-@\t\r\n\uff1d"))] == []
    assert {float(row["value"]) for row in rows if row["system"] == "'+1+1"} >= {0.01, 0.005}
    write_scores(hostile, "*b", "repoeval@target-v1", -0.25, fingerprint="below zero")
    write_boards(hostile)
    rows = list(csv.DictReader(io.StringIO(exported(hostile, tmp_path, None, "csv"), newline="")))
    assert min(float(row["value"]) for row in rows if row["average"] == "macro") == -0.25


def test_markdown_shows_every_name_as_it_is(hostile: Lake, tmp_path: Path) -> None:
    benchmarks = hostile.read("benchmarks").with_columns(display_name=pl.lit("a|b`c`\n**[x](y)** <i>"))
    hostile.write("benchmarks", benchmarks, part="0", fingerprint="renamed")
    text = exported(hostile, tmp_path, None, "md")
    captions = [line for line in text.splitlines() if line.startswith("**")]
    assert len(captions) == 2
    assert captions[0].startswith(r"**a\|b\`c\` \*\*\[x\](y)\*\* \<i\> (sample), repoeval@chunking-v1")
    tables = [line for line in text.splitlines() if line.startswith("|")]
    n_cells = {len(re.findall(r"(?<!\\)\|", line)) for line in tables}
    assert len(n_cells) == 1
    assert any(line.startswith(r"| a\|b\`c\`\<i\>\~\$\&#\_^\\ |") for line in tables)


def test_no_name_is_an_argument_of_latex(hostile: Lake, tmp_path: Path) -> None:
    text = exported(hostile, tmp_path, None, "latex")
    lines = text.splitlines()
    assert [line for line in lines if line.lstrip().startswith(("[", "*"))] == []
    assert any(line.startswith("{[}1cm{]} a & ") for line in lines)
    assert any(line.startswith("{*}b & ") for line in lines)
    backslash, caret = r"\textbackslash{}", r"\textasciicircum{}"
    special = r"a\textbar{}b\textasciigrave{}c\textasciigrave{}\textless{}i\textgreater{}\textasciitilde{}\$\&\#\_"
    assert any(line.startswith(f"{special}{caret}{backslash} & ") for line in lines)


def test_two_hyphens_or_quotes_in_a_name_stay_two_in_latex() -> None:
    assert latex_text("a---b – c") == "a-{}-{}-b -- c"
    assert latex_text("it''s") == "it'{}'s"


def test_trec_has_six_columns_and_counts_lines_from_one(small: Lake, tmp_path: Path) -> None:
    lines = [line.split(" ") for line in exported(small, tmp_path, RUN, "trec").splitlines()]
    assert lines[:2] == [
        ["item/0", "Q0", "a%20b.py#L10-L20", "1", "2", RUN],
        ["item/0", "Q0", "a%20b.py#L10-L20", "2", "1", RUN],
    ]
    assert len(lines) == 10


def test_a_runs_scores_can_be_had(small: Lake, tmp_path: Path) -> None:
    rows = json.loads(exported(small, tmp_path, RUN, "json", "scores"))
    assert {row["value"] for row in rows} == set(SYSTEMS["fixed-nws-1500+bm25-okapi"])


@pytest.mark.parametrize(
    ("run", "format_name", "table", "choice", "message"),
    [
        (None, "cvs", "ranking", None, "unknown format 'cvs'"),
        (None, "trec", "ranking", None, "is for a run, not for leaderboards"),
        (RUN, "md", "ranking", None, "is for leaderboards, not for a run"),
        (RUN + "0", "csv", "ranking", None, "unknown run"),
        (RUN, "csv", "rankings", None, "unknown table 'rankings'"),
        (None, "parquet", "ranking", None, "give a file or folder with -o"),
        (None, "csv", "ranking", Choice("repoevil"), "unknown benchmark 'repoevil'\n  Did you mean 'repoeval'"),
        (None, "csv", "ranking", Choice(protocol="repoeval@chunking"), "unknown protocol"),
        (None, "csv", "ranking", Choice(slice="repo=acme/4"), "unknown slice 'repo=acme/4'\n  Did you mean 'repo=acme"),
        (None, "csv", "ranking", Choice(metrics=["ndgc@10"]), "unknown metric 'ndgc@10'\n  Did you mean 'ndcg@10'"),
        (None, "csv", "ranking", Choice(systems=["bm25"]), "unknown system 'bm25'"),
    ],
)
def test_impossible_exports_are_refused(
    small: Lake, run: str | None, format_name: str, table: str, choice: Choice | None, message: str
) -> None:
    with refused(re.escape(message), Exit.USAGE):
        export(small, run, format_name, None, table, choice)


def test_a_device_a_pipe_and_a_link_are_written_to_and_never_replaced(small: Lake, tmp_path: Path) -> None:
    whole = exported(small, tmp_path, None, "csv")
    (tmp_path / "link").symlink_to(tmp_path / "target")
    export(small, None, "csv", tmp_path / "link", "ranking")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_text() == whole
    os.mkfifo(tmp_path / "pipe")
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append((tmp_path / "pipe").read_text()))
    reader.start()
    export(small, None, "csv", tmp_path / "pipe", "ranking")
    reader.join()
    assert read == [whole]
    assert (tmp_path / "pipe").is_fifo()
    export(small, None, "csv", Path("/dev/null"), "ranking")
    assert Path("/dev/null").is_char_device()
    assert {path.name for path in tmp_path.iterdir()} == {"lake", "out", "link", "target", "pipe"}


@pytest.mark.parametrize("output", ["", ".", "/", "/tmp"])
def test_an_output_that_names_no_file_is_said(small: Lake, output: str) -> None:
    with refused("not a file name", Exit.USAGE):
        export(small, None, "csv", Path(output), "ranking")


def test_a_full_disk_is_said(small: Lake) -> None:
    with pytest.raises(GoldspanError, match="the output could not be written: No space left on device"):
        export(small, None, "csv", Path("/dev/full"), "ranking")


def test_a_choice_of_protocol_slice_metrics_and_systems_is_all_that_is_exported(small: Lake, tmp_path: Path) -> None:
    choice = Choice("repoeval", "repoeval@chunking-v1", "repo=acme/one", ["ndcg"], ["fixed-nws-1500+*"], 2)
    export(small, None, "csv", tmp_path / "out", "ranking", choice)
    rows = pl.read_csv(tmp_path / "out").filter(pl.col("average") == "macro")
    assert rows.select("system", "value", "slice", "slice_value", "metric", "k", "n", "n_items").rows() == [
        ("fixed-nws-1500+bm25-okapi", 0.6254 * 0.7, "repo", "acme/one", "ndcg", 10, 2, 2),
        ("fixed-nws-1500+jaccard", 0.5871 * 0.7, "repo", "acme/one", "ndcg", 10, 2, 2),
        ("fixed-nws-1500+own-file", 0.8127 * 0.7, "repo", "acme/one", "ndcg", 10, 2, 2),
        ("fixed-nws-1500+random", 0.0742 * 0.7, "repo", "acme/one", "ndcg", 10, 2, 2),
    ]


def test_a_systems_name_serves_where_it_has_one_run(small: Lake, tmp_path: Path) -> None:
    system = "fixed-nws-1500+bm25-okapi"
    assert exported(small, tmp_path, system, "trec") == exported(small, tmp_path, RUN, "trec")
    other = small.read("runs").filter(pl.col("system") == system).with_columns(run_id=pl.lit("another"))
    small.write("runs", other, part="0", fingerprint="f", benchmark="repoeval", run_id="another")
    with pytest.raises(GoldspanError, match="has 2 runs") as caught:
        export(small, system, "trec", None, "ranking")
    assert set(caught.value.examples) == {RUN, "another"}
    assert "--benchmark and --protocol" in caught.value.hint


def test_what_was_written_is_said(small: Lake, tmp_path: Path) -> None:
    ended = command("report", "export", RUN, "--format", "trec", "-o", tmp_path / "x.trec", "--lake", small.root)
    n_bytes = (tmp_path / "x.trec").stat().st_size
    assert (ended.code, ended.out, ended.err) == (0, "", f"wrote {tmp_path / 'x.trec'}: {n_bytes} bytes\n")


def test_a_folder_that_does_not_exist_is_not_made(small: Lake, tmp_path: Path) -> None:
    ended = command("report", "export", "-o", tmp_path / "nowhere" / "x.csv", "--lake", small.root)
    ended.refused(Exit.USAGE, f"the folder {tmp_path / 'nowhere'} does not exist")
    assert not (tmp_path / "nowhere").exists()


def test_bold_is_what_the_best_cannot_be_told_from(small: Lake, tmp_path: Path) -> None:
    first, second = "window-20-10+bm25-okapi", "fixed-nws-1500+bm25-okapi"
    write_ranks(small, [(first, 1), (second, 1), ("fixed-nws-1500+jaccard", 2)])
    text = exported(small, tmp_path, None, "latex", choice=Choice(protocol=CHUNKING))
    assert sorted(re.findall(r"^.* & (\S+) & \\textbf", text, re.MULTILINE)) == sorted([first, second])
    assert "fixed-nws-1500+jaccard & 0.587 &" in text
    assert r"\textbackslash{}u\{202E\}" in text


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs Debian's texlive-latex-recommended")
def test_latex_compiles_alone_whatever_systems_are_called(hostile: Lake, tmp_path: Path) -> None:
    write_context(hostile)
    (tmp_path / "tables.tex").write_text(exported(hostile, tmp_path, None, "latex"), encoding="utf-8")
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "tables.tex"],
        cwd=tmp_path, capture_output=True, text=True, errors="replace", check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:]
    assert (tmp_path / "tables.pdf").read_bytes().startswith(b"%PDF")
    tables = re.findall(r"\\begin\{tabular\}\{(\w+)\}", (tmp_path / "tables.tex").read_text(encoding="utf-8"))
    assert max(map(len, tables)) <= 7


def test_the_top_is_systems_with_rank_and_interval_and_baselines_follow_marked(small: Lake, tmp_path: Path) -> None:
    best, second = "window-20-10+bm25-okapi", "fixed-nws-1500+bm25-okapi"
    ends = {"low": pl.col("macro") - 0.25, "high": pl.col("macro") + 0.25}
    change(small, "aggregates", *aggregated(small), **ends)
    write_ranks(small, [(best, 1), (second, 1)])
    chosen = Choice("repoeval", CHUNKING, top=2)
    baselines = ["fixed-nws-1500+own-file", HOSTILE, "fixed-nws-1500+random"]
    export(small, None, "parquet", tmp_path / "out", "ranking", chosen)
    rows = pl.read_parquet(tmp_path / "out").filter(metric="ndcg", k=10, average="macro")
    assert rows["system"].to_list() == [best, second, *baselines]
    assert rows["is_baseline"].to_list() == [False, False, True, True, True]
    places = ("value", "low", "high", "unit", "rank", "rank_low", "rank_high", "tie_group", "n")
    assert rows.select(places).row(0) == (0.7316, 0.7316 - 0.25, 0.7316 + 0.25, "item", 1, 1, 3, 1, 5)
    text = exported(small, tmp_path, None, "md", choice=chosen)
    assert "95 % intervals are over items: for these repositories only" in text
    lines = [line.strip("| ").split(" | ") for line in text.splitlines() if "|" in line]
    assert [lines[0], *lines[2:5]] == [
        ["Rank", "System", "ndcg at 10", "Difference", "n/N", "Characters"],
        ["1 (1–3, tie A)", best, "0.73 (0.48 to 0.98)", "−0.08", "5/5", "4,810"],
        ["2 (1–3, tie A)", second, "0.63 (0.38 to 0.88)", "−0.19", "5/5", "5,514"],
        ["–", "fixed-nws-1500+own-file (baseline)", "0.81 (0.56 to 1.06)", "reference", "5/5", "4,383"],
    ]


def test_chosen_metrics_are_the_columns_and_ranks_stand_beside_what_they_are_by(small: Lake, tmp_path: Path) -> None:
    write_ranks(small, [("window-20-10+bm25-okapi", 1)])
    heads = {
        ("ndcg", "mrr"): ["Rank", "System", "ndcg@10", "mrr@10"],
        ("mrr", "recall"): ["System", "recall@10", "mrr@10"],
    }
    for metrics, wanted in heads.items():
        text = exported(small, tmp_path, None, "latex", choice=Choice(protocol=CHUNKING, metrics=metrics))
        (head,) = re.findall(r"^.*System.*(?= \\\\$)", text, re.MULTILINE)
        assert head.split(" & ") == wanted


@pytest.mark.parametrize("output", [None, Path("-")])
def test_no_file_or_a_dash_is_stdout(
    small: Lake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes],
    output: Path | None,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    assert export(small, None, "csv", output, "ranking").startswith("stdout: ")
    assert capfdbinary.readouterr().out.startswith(b"benchmark,")
    assert not (tmp_path / "-").exists()
