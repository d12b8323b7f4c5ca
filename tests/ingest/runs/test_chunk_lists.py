"""Lists of chunks made elsewhere: brought in as a chunker, or refused by the row that is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl
import pytest

from lake.errors import Exit
from lake.store import Lake
from tests.ingest.runs.test_import import FIRST, ITEMS, lake, once, trec
from tests.tiny import CATS, DOGS, Said, command, stored

__all__ = ["lake", "once"]

Row = tuple[object, ...]
CAT_LINES = len(CATS.splitlines())
LIST: Sequence[Row] = (
    ("zoo_animals", "cats.py", 0, 3),
    ("zoo_animals", "cats.py", 3, CAT_LINES),
    # The same content under another path: cut alike, so it says nothing new, and a chunk more.
    ("zoo_animals", "copy/cats.py", 0, 3),
    ("zoo_animals", "copy/cats.py", 2, 5),
    ("zoo_animals", "dogs.py", 0, len(DOGS.splitlines()) + 1),
    ("acme_rockets", "rockets/engine.py", 0, 4),
)


def put(folder: Path, rows: Sequence[Row] = LIST, header: str = "repo\tpath\tline_start\tline_end") -> Path:
    file = folder / "chunks.tsv"
    file.write_text("".join("\t".join(map(str, row)) + "\n" for row in [[header], *rows]))
    return file


def given(lake: Lake, file: Path, name: str = "mine", benchmark: str = "repoeval") -> Said:
    return command("ingest", "chunks", file, "--benchmark", benchmark, "--name", name, "--lake", lake.root)


def test_a_list_becomes_the_chunks_of_a_chunker_of_its_name(lake: Lake, tmp_path: Path) -> None:
    said = given(lake, put(tmp_path))
    assert said.code == 0, said.err
    assert "chunker mine: 5 chunks of 3 files" in said.err
    assert "clamped: 1 chunk that ended one line past their file" in said.err
    files = lake.read("files").filter(pool_id="repoeval/function_level/zoo_animals").select("path", "sha256")
    cut = lake.read("chunks", chunker="mine").join(files, on="sha256").sort("path", "chunk_no")
    cats = cut.filter(path="cats.py")
    assert cats.select("chunk_no", "line_start", "line_end").rows() == [(0, 0, 3), (1, 2, 5), (2, 3, CAT_LINES)]
    lines = CATS.encode().splitlines(keepends=True)
    for start, end, first, last, n_nws in cats.select(
        "line_start", "line_end", "byte_start", "byte_end", "n_nws"
    ).iter_rows():
        text = b"".join(lines[start:end])
        assert CATS.encode()[first:last] == text
        assert n_nws == len(b"".join(text.split()))
    dogs = cut.filter(path="dogs.py").select("line_start", "line_end").rows()
    assert dogs == [(0, len(DOGS.splitlines()))]
    before = stored(lake.root)
    assert " made" not in given(lake, put(tmp_path)).err
    assert stored(lake.root) == before


def test_a_list_is_read_again_where_its_items_have_changed_and_not_for_files_of_others(
    lake: Lake, tmp_path: Path
) -> None:
    given(lake, put(tmp_path))
    files = lake.parts("files")[0]
    rows = lake.read("files", **files.folders).drop("benchmark", "kind")
    lake.write("files", rows, part="x", fingerprint="x", benchmark="other", kind="searched")
    assert " made" not in given(lake, put(tmp_path)).err
    items = lake.parts("items")[0]
    lake.write("items", lake.scan_parts([items], "items").collect(), part=items.name, fingerprint="x", **items.folders)
    assert "3 made" in given(lake, put(tmp_path)).err


def test_other_headers_documents_and_parquet_say_the_same(lake: Lake, tmp_path: Path) -> None:
    assert given(lake, put(tmp_path)).code == 0
    wanted = lake.read("chunks", chunker="mine").drop("chunker")
    rows = [(repo, f"{path}#L{int(str(start)) + 1}-L{end}", 1.0) for repo, path, start, end in LIST]
    assert given(lake, put(tmp_path, rows, "repository\tdocument\tscore"), "documents").code == 0
    frame = pl.DataFrame(LIST, schema=["repo", "path", "line_start", "line_end"], orient="row")
    pool = pl.format("repoeval/function_level/{}", "repo")
    frame.select("path", "line_start", "line_end", pool_id=pool).write_parquet(tmp_path / "chunks.parquet")
    assert given(lake, tmp_path / "chunks.parquet", "parquet").code == 0
    item = pl.when(pl.col("repo") == "zoo_animals").then(pl.lit(ITEMS[-1])).otherwise(pl.lit(FIRST))
    frame.select("path", "line_start", "line_end", item_id=item).write_csv(tmp_path / "items.tsv", separator="\t")
    assert given(lake, tmp_path / "items.tsv", "items").code == 0
    for name in ("documents", "parquet", "items"):
        assert lake.read("chunks", chunker=name).drop("chunker").equals(wanted)


def test_a_run_over_imported_chunks_has_recall_and_no_retriever_searches_a_list_with_gaps(
    lake: Lake, tmp_path: Path
) -> None:
    assert given(lake, put(tmp_path)).code == 0
    rows = [(item, "cats.py#L1-L3", 1, 1.0) for item in ITEMS if "zoo" in item]
    (tmp_path / "run.tsv").write_bytes(trec(rows))
    told = ("--benchmark", "repoeval", "--system", "theirs", "--chunker", "mine", "--lake", lake.root)
    assert command("ingest", "run", tmp_path / "run.tsv", *told).code == Exit.INCOMPLETE
    said = command("evaluate", "--systems", "*+bm25-okapi,theirs", "--lake", lake.root)
    assert "left out: mine is an imported list that has no chunk of some files; it is for imported runs" in said.err
    runs = lake.read("runs")
    assert not [name for name in runs["system"] if name.startswith("mine+")]
    run_id = runs.filter(system="theirs")["run_id"].item()
    scores = lake.read("scores", run_id=run_id, protocol="repoeval@chunking-v1").filter(metric="recall", k=5)
    # Gold of the first zoo task is all of cats.py, of which its copy is another file: three chunks, one returned.
    assert dict(scores.select("item_id", "value").iter_rows())["function-2k/zoo_animals/0"] == pytest.approx(1 / 3)


def test_a_list_that_cuts_every_file_is_searched_like_any_chunker(lake: Lake, tmp_path: Path) -> None:
    files = lake.read("files").join(lake.read("blobs").filter(pl.col("n_lines") > 0), on="sha256")
    rows = [(pool, path, 0, n) for pool, path, n in files.select("pool_id", "path", "n_lines").iter_rows()]
    assert given(lake, put(tmp_path, rows, "pool\tpath\tline_start\tline_end")).code == 0
    assert command("evaluate", "--systems", "*+bm25-okapi", "--lake", lake.root).code == 0
    assert {"mine+bm25-okapi", "mine+oracle", "mine+random"} <= set(lake.read("runs")["system"])
    site = tmp_path / "site"
    assert command("report", "--site", site, "--lake", lake.root).code == 0


def test_a_benchmark_without_items_is_said_to_have_none(source: Path, tmp_path: Path) -> None:
    for tasks in (source / "datasets").glob("*.jsonl"):
        tasks.write_text("{}\n")
    empty = Lake(tmp_path / "empty")
    command("ingest", "repoeval", "--source", source, "--lake", empty.root)
    said = given(empty, put(tmp_path, LIST))
    assert "The lake has 0 of repoeval.\n" in said.err


@pytest.mark.parametrize(
    ("row", "what", "example"),
    [
        (("zoo", "cats.py", 0, 3), "a repo that is not there: 1 line", "line 8: zoo"),
        (("zoo_animals", "cat.py", 0, 3), "a file that is not there: 1 line", "line 8: zoo_animals: cat.py#L1-L3"),
        (
            ("zoo_animals", "cats.py", 0, CAT_LINES + 2),
            "a chunk that lies outside its file: 1 line",
            f"line 8: zoo_animals: cats.py#L1-L{CAT_LINES + 2} ends past line {CAT_LINES}, the file's last",
        ),
        (("zoo_animals", "cats.py", 2, 2), "a chunk without a line: 1 line", "line 8: zoo_animals: cats.py#L3-L2"),
        (("zoo_animals", "cats.py", 3, 2), "a chunk that cannot be read: 1 line", "the range is reversed"),
        (("zoo_animals", "cats.py", -1, 2), "a chunk that cannot be read: 1 line", "lines are counted from 0 here"),
        (("zoo_animals", "cats.py", 0, "x"), "a line_end that is not a whole number: 1 line", "line 8: x"),
        (("zoo_animals", "cats.py", 0), "not the 4 columns of the header: 1 line", "zoo_animals"),
        (LIST[0], "a chunk that stands twice: 1 line", "line 8: zoo_animals: cats.py#L1-L3 as in line 2"),
        (
            ("zoo_animals", "dogs.py", 0, len(DOGS.splitlines())),
            "a chunk that stands twice: 1 line",
            f"zoo_animals: dogs.py#L1-L{len(DOGS.splitlines())} as in line 6",
        ),
    ],
)
def test_a_row_that_is_wrong_is_refused_by_its_line_and_nothing_is_stored(
    lake: Lake, tmp_path: Path, row: Row, what: str, example: str
) -> None:
    before = stored(lake.root)
    said = given(lake, put(tmp_path, [*LIST, row]))
    assert said.code == Exit.INVALID
    assert what in said.err
    assert example in said.err
    assert stored(lake.root) == before


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("whole-file", "is a chunker of Goldspan's own"),
        ("window-7-7", "is a chunker of Goldspan's own"),
        ("code-chunk-fixed", "is a chunker of Goldspan's own"),
        ("a+b", "is to be letters, digits"),
        ("", "is to be letters, digits"),
        ("../x", "is to be letters, digits"),
    ],
)
def test_a_name_that_is_taken_or_none_is_refused(lake: Lake, tmp_path: Path, name: str, why: str) -> None:
    said = given(lake, put(tmp_path), name)
    assert (said.code, why in said.err) == (Exit.USAGE, True)


@pytest.mark.parametrize(
    "content", [b"", b"repo\tpath\n", b"PAR1nonsense", b"a\tb\n1\t2\n", b"\xff\xfe", b"\n\n", b"repo\tdocument\n"]
)
def test_what_is_no_list_is_refused(lake: Lake, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "chunks.tsv").write_bytes(content)
    said = given(lake, tmp_path / "chunks.tsv")
    assert said.code == Exit.INVALID
    assert "Traceback" not in said.err
    assert given(lake, tmp_path / "none.tsv").code == Exit.MISSING
    assert given(lake, tmp_path).code == Exit.INVALID
    assert given(lake, put(tmp_path), benchmark="repoevl").code == Exit.USAGE


def test_another_list_of_the_same_name_takes_the_place_of_the_first(lake: Lake, tmp_path: Path) -> None:
    assert given(lake, put(tmp_path)).code == 0
    assert given(lake, put(tmp_path, LIST[:1])).code == 0
    assert lake.read("chunks", chunker="mine").height == 1
    status = lake.read("chunk_status", chunker="mine")
    assert status.select("n_chunks", "n_nws", "n_covered").rows() == [(1, 84, 32)]


def test_runs_over_a_list_that_is_replaced_are_taken_away_by_name_and_come_back_when_imported_again(
    lake: Lake, tmp_path: Path
) -> None:
    (tmp_path / "run.tsv").write_bytes(trec([(item, "cats.py#L1-L3", 1, 1.0) for item in ITEMS if "zoo" in item]))
    told = ("--benchmark", "repoeval", "--system", "theirs", "--lake", lake.root)

    def recalls() -> list[float]:
        command("evaluate", "--systems", "theirs", "--lake", lake.root)
        scores = lake.read("scores", protocol="repoeval@chunking-v1").filter(metric="recall", k=5)
        return scores.filter(pl.col("item_id") == "function-2k/zoo_animals/0")["value"].to_list()

    assert given(lake, put(tmp_path)).code == 0
    assert command("ingest", "run", tmp_path / "run.tsv", *told, "--chunker", "mine").code == Exit.INCOMPLETE
    assert recalls() == [pytest.approx(1 / 3)]
    run_id = lake.read("runs").filter(system="theirs")["run_id"].item()
    assert "taken away" not in given(lake, put(tmp_path)).err
    # Every line of its own: the prompt's answer is as many chunks as it has lines, in both copies of the file.
    finer = [("zoo_animals", "cats.py", 0, 3), *(("zoo_animals", "cats.py", n, n + 1) for n in range(3, CAT_LINES))]
    said = given(lake, put(tmp_path, finer))
    assert (said.code, f"taken away: {run_id}, over the chunks" in said.err) == (0, True), said.err
    assert recalls() == []
    assert command("ingest", "run", tmp_path / "run.tsv", *told, "--chunker", "mine").code == Exit.INCOMPLETE
    (after,) = recalls()
    assert 0 < after < 1 / 3


def test_parquet_columns_of_another_kind_are_refused(lake: Lake, tmp_path: Path) -> None:
    for column in ([[1]], [{"a": 1}], [b"x"]):
        frame = pl.DataFrame({"repo": column, "path": ["cats.py"], "line_start": [0], "line_end": [1]})
        frame.write_parquet(tmp_path / "chunks.parquet")
        said = given(lake, tmp_path / "chunks.parquet")
        assert (said.code, "Traceback" in said.err) == (Exit.INVALID, False), said.err
