import re
from pathlib import Path

import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lake.errors import Exit, GoldspanError
from lake.store import Lake
from lake.tables import TABLES, Table, declared_rows, table
from tests.data_dictionary import lines
from tests.frames import chunk_rows, score_rows
from tests.tiny import ROOT, python

HOSTILE = ["a/b", "[x]", "*", "?", "%", "%2F", "a b", "ü😀", "..", "../x", "a=b", "a+b@c~d:e", "-", ".hidden", "\\"]

RUN = {"benchmark": "repoeval", "protocol": "repoeval@x-v1", "run_id": "r"}


def _scores(*rows: tuple[str, float | None], run_id: str = "r") -> pl.DataFrame:
    item_id, value = zip(*rows, strict=True)
    return score_rows({"item_id": item_id, "value": value}, run_id=run_id, protocol="repoeval@x-v1").collect()


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(tmp_path / "lake")


def test_what_is_written_is_read_back_sorted_by_key_with_the_columns_of_its_folders(lake: Lake) -> None:
    lake.write("scores", _scores(("b", 0.5), ("a", 1.0)), part="p", fingerprint="f", **RUN)
    read = lake.read("scores")
    assert read["item_id"].to_list() == ["a", "b"]
    assert read.columns == [*table("scores").columns, "benchmark"]
    assert read["benchmark"].to_list() == ["repoeval"] * 2


@settings(max_examples=20)
@given(rows=st.permutations(range(6)), columns=st.permutations(list(table("scores").columns)))
def test_equal_frames_give_equal_bytes_in_any_order(lake: Lake, rows: list[int], columns: list[str]) -> None:
    frame = _scores(*((f"i{n}", n / 3) for n in range(6)))
    first = lake.write("scores", frame, part="p", fingerprint="f", **RUN).path.read_bytes()
    second = lake.write("scores", frame[rows].select(columns), part="p", fingerprint="f", **RUN).path.read_bytes()
    assert first == second


def test_a_write_replaces_the_part_and_no_other(lake: Lake) -> None:
    lake.write("scores", _scores(("a", 1.0)), part="p", fingerprint="1", **RUN)
    lake.write("scores", _scores(("b", 1.0)), part="q", fingerprint="1", **RUN)
    lake.write("scores", _scores(("c", 1.0)), part="p", fingerprint="2", **RUN)
    assert sorted(lake.read("scores")["item_id"]) == ["b", "c"]
    names = [file.name.split(".")[0] for file in lake.root.rglob("*") if file.is_file()]
    assert sorted(names) == ["part-p", "part-q"]


def test_columns_missing_and_unexpected_are_named_together(lake: Lake) -> None:
    frame = _scores(("a", 1.0)).rename({"value": "values"})
    with pytest.raises(GoldspanError) as caught:
        lake.write("scores", frame, part="p", fingerprint="f", **RUN)
    assert str(caught.value) == "scores: missing ['value'], unexpected ['values']"
    assert caught.value.code == Exit.INVALID
    assert not list(lake.root.rglob("*"))


def test_a_wrong_type_is_refused_and_named() -> None:
    frame = _scores(("a", 1.0)).with_columns(pl.col("k").cast(pl.Int32), pl.col("value").cast(pl.String))
    with pytest.raises(GoldspanError, match="scores: wrong types") as caught:
        table("scores").checked(frame)
    assert caught.value.examples == ("k is Int32, not Int64", "value is String, not Float64")


def test_a_null_in_a_column_that_allows_none_is_refused_and_shown() -> None:
    frame = _scores(("a", 1.0)).with_columns(protocol_hash=pl.lit(None, pl.String))
    with pytest.raises(GoldspanError, match=r"scores: rows break protocol_hash\|nullability \(1 rows\)") as caught:
        table("scores").checked(frame)
    assert '"item_id":"a"' in caught.value.examples[0]


def test_a_key_twice_is_refused_and_shown() -> None:
    with pytest.raises(GoldspanError, match=r"scores: rows break primary_key \(2 rows\)") as caught:
        table("scores").checked(_scores(("a", 1.0), ("a", 0.0), ("b", 0.0)))
    assert '"item_id":"a"' in caught.value.examples[0]


def test_rows_of_another_run_are_refused_in_a_runs_part(lake: Lake) -> None:
    with pytest.raises(GoldspanError, match="scores: rows of another run_id in the part of 'r'"):
        lake.write("scores", _scores(("a", 1.0), run_id="s"), part="p", fingerprint="f", **RUN)


def test_a_folder_that_a_table_has_not_is_named(lake: Lake) -> None:
    with pytest.raises(KeyError, match="scores has no folder run"):
        lake.scan("scores", run="r")


@example(values=HOSTILE)
@given(values=st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=20), min_size=1, max_size=3))
def test_any_text_is_a_folder(lake: Lake, values: list[str]) -> None:
    for value in values:
        part = lake.write("chunks", chunk_rows("s", chunker=value), part=value, fingerprint="f", chunker=value)
        assert (part.name, part.folders) == (value, {"chunker": value})
    assert set(lake.read("chunks")["chunker"]) >= set(values)
    for value in values:
        assert lake.read("chunks", chunker=value)["chunker"].to_list() == [value]
        assert lake.scan("chunks").filter(pl.col("chunker") == value).collect()["chunker"].to_list() == [value]
        assert [part.folders for part in lake.parts("chunks", chunker=value)] == [{"chunker": value}]
        assert (stored := lake.part("chunks", value, chunker=value))
        assert stored.fingerprint == "f"
    _stays_inside(lake)


def _stays_inside(lake: Lake) -> None:
    """Nothing is written outside the table's own folder, however the value is spelt."""
    files = [file for file in lake.root.parent.rglob("*") if file.is_file() or file.is_symlink()]
    assert files
    for file in files:
        assert file.resolve().relative_to(lake.root / "chunks").parts[0].startswith("chunker=")


@pytest.mark.parametrize("name", ["[lake]", "la*ke", "a b", "ü", "x=1", "chunker=z"])
def test_a_lake_may_lie_in_a_folder_of_any_name(tmp_path: Path, name: str) -> None:
    lake = Lake(tmp_path / name)
    for chunker in ("c", "d"):
        lake.write("chunks", chunk_rows("s", chunker=chunker), part="p", fingerprint="f", chunker=chunker)
    assert lake.read("chunks", chunker="c")["chunker"].to_list() == ["c"]
    assert lake.scan("chunks").filter(pl.col("chunker") == "d").collect()["chunker"].to_list() == ["d"]
    lake.write("scores", _scores(("a", 1.0)), part="p", fingerprint="f", **RUN)
    assert lake.read("scores").select("benchmark", "run_id").rows() == [("repoeval", "r")]


def test_a_lake_that_is_not_there_has_no_rows_and_is_not_made_by_reading(lake: Lake) -> None:
    assert lake.read("scores").is_empty()
    assert lake.parts("scores") == []
    assert lake.part("benchmarks", "x") is None
    assert not lake.root.exists()


def test_the_state_of_tables_moves_with_any_part_and_with_nothing_else(lake: Lake, tmp_path: Path) -> None:
    lake.write("chunks", chunk_rows("s"), part="p", fingerprint="f", chunker="c")
    before = lake.state("chunks")
    lake.write("chunks", chunk_rows("s"), part="p", fingerprint="f", chunker="c")
    lake.write("scores", _scores(("a", 1.0)), part="p", fingerprint="f", **RUN)
    assert lake.state("chunks") == before
    lake.write("chunks", chunk_rows("s"), part="p", fingerprint="g", chunker="c")
    assert lake.state("chunks") != before
    lake.root.rename(tmp_path / "elsewhere")
    moved = Lake(tmp_path / "elsewhere")
    moved.write("chunks", chunk_rows("s"), part="p", fingerprint="f", chunker="c")
    assert moved.state("chunks") == before


def test_removing_takes_the_empty_folders_along_and_leaves_the_rest(lake: Lake) -> None:
    first = lake.write("scores", _scores(("a", 1.0)), part="p", fingerprint="f", **RUN)
    other = {**RUN, "run_id": "s"}
    lake.write("scores", _scores(("a", 1.0), run_id="s"), part="p", fingerprint="f", **other)
    lake.remove(first)
    lake.remove(first) if first.path.parent.exists() else None
    assert lake.read("scores")["run_id"].to_list() == ["s"]
    assert not first.path.parent.exists()
    lake.remove(lake.parts("scores")[0])
    assert list(lake.root.iterdir()) == []


def test_a_lake_that_cannot_be_made_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    lake = Lake(tmp_path / "file/lake")
    with pytest.raises(GoldspanError, match="the lake could not be written: Not a directory") as caught:
        lake.write("chunks", chunk_rows("s"), part="p", fingerprint="f", chunker="c")
    assert "LAKE=" in caught.value.hint
    with pytest.raises(GoldspanError, match="the lake could not be written: Not a directory"), lake.locked():
        pass


def test_a_failed_write_leaves_the_old_part_and_nothing_else(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    part = lake.write("chunks", chunk_rows("s"), part="p", fingerprint="f", chunker="c")

    def full(self: Path, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(GoldspanError, match="the lake could not be written: No space left on device"):
        lake.write("chunks", chunk_rows("t"), part="p", fingerprint="g", chunker="c")
    assert lake.read("chunks")["sha256"].to_list() == ["s"]
    assert [file.name for file in lake.root.rglob("*") if file.is_file()] == [part.path.name]


def test_what_a_killed_write_left_is_swept_away_and_never_read(lake: Lake) -> None:
    part = lake.write("chunks", chunk_rows("s"), part="p", fingerprint="f", chunker="c")
    left = part.path.with_name(".part-p.parquet.12345.tmp")
    left.write_bytes(part.path.read_bytes()[:50])
    assert lake.read("chunks").height == 1
    with lake.locked():
        assert not left.exists()
    assert lake.read("chunks").height == 1


every_table = pytest.mark.parametrize("declared", TABLES.values(), ids=TABLES)


@every_table
def test_a_table_says_what_a_row_is_in_a_sentence(declared: Table) -> None:
    assert re.fullmatch(r"[A-Z`].{20,}\.", declared.meaning, re.DOTALL), declared.meaning


def test_a_declared_row_fits_its_table_and_shows_its_name_where_no_other_is_given() -> None:
    declared = {"name": "x", "title": "X", "meaning": "It is x.", "tags": ["a"]}
    rows = table("chunkers").checked(declared_rows("chunkers", [declared]))
    row = rows.row(0, named=True)
    assert (row["name"], row["display_name"], row["version"], row["tags"], row["licence"]) == ("x", "x", 1, ["a"], "")


@pytest.mark.slow
def test_importing_the_stages_runs_no_query() -> None:
    # A process that is forked from one where polars has run waits for ever.
    code = "import ingest.commands.read, evaluate.commands.run, report.commands.build, os\n"
    code += "print(*(open(f'/proc/self/task/{one}/comm').read() for one in os.listdir('/proc/self/task')))"
    processes = python("-c", code).done().out
    assert "python" in processes
    assert "polars-0" not in processes


def test_every_column_has_a_meaning_and_the_docs_have_all_of_them() -> None:
    assert (ROOT / "docs/tables.md").read_text() == "\n".join(lines()) + "\n"
