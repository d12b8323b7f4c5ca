"""A part is read as it was written or not at all: flipped bits, copies, other files in its place, other formats."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from lake import parts
from lake.errors import Exit, GoldspanError
from lake.parts import MAX_NAME_BYTES, DamagedPartError, OtherFormatError
from lake.store import Lake, Part
from lake.tables import table
from lake.wholeness import ASIDE, survey


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(tmp_path / "lake")


def _chunks(lake: Lake, part: str = "p", *, chunker: str = "c", n: int = 3) -> Part:
    numbers = ("line_start", "line_end", "byte_start", "byte_end", "n_nws")
    rows = [{"chunker": chunker, "sha256": f"{part}{n}", "chunk_no": n, **dict.fromkeys(numbers, n)} for n in range(n)]
    frame = pl.DataFrame(rows, schema=table("chunks").columns)
    return lake.write("chunks", frame, part=part, fingerprint="f", chunker=chunker)


FILLED = {
    pl.List(pl.Float64): [],
    pl.Int64(): 1,
    pl.Float64(): 1.0,
    pl.Boolean(): True,
    pl.String(): "x",
    pl.List(pl.Int64()): [1],
}


def _row(lake: Lake, name: str, part: str = "items", *, run_id: str = "r", origin: str = "x") -> Part:
    """A row of a table, of no meaning, stored under a run where the table has runs."""
    declared = table(name)
    given = {"benchmark": "b", "run_id": run_id, "origin": origin, "why_not": None, "part": "ranking"}
    row = {column: given.get(column, FILLED.get(kind)) for column, kind in declared.columns.items()}
    folders = {folder: str(given[folder]) for folder in declared.folders}
    frame = pl.DataFrame([row], schema=declared.columns)
    return lake.write(name, frame, part=part, fingerprint="f", **folders)


def _flip(path: Path, bit: int) -> None:
    data = bytearray(path.read_bytes())
    data[bit // 8] ^= 1 << bit % 8
    path.write_bytes(data)


def test_flipped_bits_all_over_a_part_are_noticed(lake: Lake) -> None:
    part = _chunks(lake)
    whole = part.path.read_bytes()

    for bit in range(0, len(whole) * 8, 73):
        _flip(part.path, bit)
        with pytest.raises(GoldspanError) as caught:
            assert part.fingerprint
        assert caught.value.code == Exit.INVALID
        part.path.write_bytes(whole)
    assert part.fingerprint == "f"
    assert lake.read("chunks").height == 3


def test_a_large_part_is_compared_to_its_last_byte(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "_BLOCK", 64)
    part, drawn = _chunks(lake, n=2_000), random.Random(1)
    for _ in range(50):
        bit = drawn.randrange(part.path.stat().st_size * 8)
        _flip(part.path, bit)
        with pytest.raises(DamagedPartError):
            lake.scan("chunks")
        _flip(part.path, bit)
    assert lake.read("chunks").height == 2_000


def _cut_short(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-7])


def _become(kind: Callable[[Path], object]) -> Callable[[Path], None]:
    def become(path: Path) -> None:
        path.unlink()
        kind(path)

    return become


DAMAGE: list[tuple[Callable[[Path], object], str]] = [
    (lambda path: path.write_bytes(b""), "it is no whole Parquet file"),
    (lambda path: path.write_bytes(b"P"), "it is no whole Parquet file"),
    (lambda path: path.write_text("no parquet at all"), "it is no whole Parquet file"),
    (_cut_short, "it is no whole Parquet file"),
    (lambda path: pl.DataFrame({"x": [1]}).write_parquet(path), "its bytes are not those that were written"),
    (
        lambda path: pl.read_parquet(path).reverse().write_parquet(path, metadata=pl.read_parquet_metadata(path)),
        "its bytes are not those that were written",
    ),
    (_become(Path.mkdir), "it is a folder"),
    (_become(os.mkfifo), "it is a pipe"),
    (_become(lambda path: path.symlink_to("/dev/null")), "it is a device"),
    (_become(lambda path: path.symlink_to("nowhere")), "it cannot be read: No such file or directory"),
]


@pytest.mark.parametrize(("damage", "why"), DAMAGE)
def test_what_is_no_part_is_named_and_set_aside(lake: Lake, damage: Callable[[Path], object], why: str) -> None:
    _chunks(lake, "whole")
    part = _chunks(lake, "bad")
    damage(part.path)
    with pytest.raises(DamagedPartError, match="the lake holds a part that does not fit: ") as caught:
        lake.read("chunks")
    assert (caught.value.why, caught.value.where, caught.value.code) == (why, str(part.path), Exit.INVALID)
    warned: list[str] = []
    with lake.locked(warn=warned.append):
        assert lake.read("chunks")["sha256"].unique().sort().to_list() == ["whole0", "whole1", "whole2"]
        _chunks(lake, "bad")
    (sentence,) = warned
    assert sentence.startswith(f"chunks/chunker=c/part-bad.parquet: {why}; set aside in {ASIDE}, it is made again")
    assert lake.damage == warned
    assert os.path.lexists(lake.root / ASIDE / "chunks/chunker=c/part-bad.parquet.1")
    assert survey(lake.root)[1] == []


@pytest.mark.parametrize("record", ['"x":' + "[" * 100_000, '"x":1'], ids=["deep", "empty"])
def test_a_record_that_says_something_else_is_damage(lake: Lake, record: str) -> None:
    part = _chunks(lake)
    pl.read_parquet(part.path).write_parquet(part.path, metadata={"goldspan.part": f"{{{record}}}"})
    parts.add_digest(part.path)
    (fault,) = survey(lake.root)[1]
    assert fault.why == "its record cannot be read"


def test_a_copy_is_known_by_its_place(lake: Lake) -> None:
    first, second = _chunks(lake, "p"), _chunks(lake, "q")
    other = _chunks(lake, "p", chunker="d")
    shutil.copy(first.path, first.path.with_name("part-p copy.parquet"))
    shutil.copy(first.path, first.path.with_name("copy.parquet"))
    shutil.copy(first.path, second.path)
    shutil.copy(first.path, other.path)
    shutil.copytree(first.path.parent, first.path.parent.with_name("old"))
    fit, faults = survey(lake.root)
    assert {fault.why for fault in faults} <= {f"it is a copy of {one.relative_path}" for one in (first, second, other)}
    assert (len(faults), len(fit)) == (8, 1)
    with pytest.raises(DamagedPartError, match="it is a copy of chunks/chunker=c/part-p"):
        lake.read("chunks")
    with lake.locked():
        assert lake.read("chunks").rows() == lake.scan_parts([first], "chunks").collect().rows()
    assert len([path for path in lake.root.rglob("*.parquet") if path.is_file()]) == 1


@pytest.mark.parametrize("name", ["part-\udcff.parquet", f"part-{'ü' * 120}.parquet", "part-\x1b[31m\n.parquet"])
def test_a_stray_of_any_name_is_set_aside(lake: Lake, name: str) -> None:
    part = _chunks(lake)
    part.path.with_name(name).write_text("x")
    with lake.locked():
        assert lake.read("chunks").height == 3
    assert len(list((lake.root / ASIDE).rglob("*.1"))) == 1


def test_a_file_where_a_folder_belongs_is_set_aside(lake: Lake) -> None:
    lake.root.mkdir()
    (lake.root / "hits").write_text("x")
    (lake.root / "chunks").mkdir()
    (lake.root / "chunks/chunker=c").write_text("x")
    with lake.locked():
        _chunks(lake)
        _row(lake, "hits")
    assert sorted(path.name for path in (lake.root / ASIDE).rglob("*.1")) == ["chunker=c.1", "hits.1"]


@pytest.mark.parametrize(
    ("link", "to"),
    [
        ("chunks/chunker=c/again", ".."),
        ("chunks/chunker=d", "chunker=c"),
        ("hits", "chunks"),
        ("hits/x=y", "../chunks"),
    ],
)
def test_a_link_that_leads_back_into_the_lake_costs_no_part(lake: Lake, link: str, to: str) -> None:
    part = _chunks(lake)
    (lake.root / link).parent.mkdir(exist_ok=True)
    (lake.root / link).symlink_to(to)
    before = part.path.read_bytes()
    assert [one.relative_path for one in lake.parts("chunks")] == [part.relative_path]
    assert [(fault.path, fault.why) for fault in survey(lake.root)[1]] == [
        (lake.root / link, "it is a link to a folder")
    ]
    with lake.locked():
        assert [one.relative_path for one in lake.parts("chunks")] == [part.relative_path]
    assert part.path.read_bytes() == before
    assert [path.name for path in (lake.root / ASIDE).rglob("*.1")] == [f"{link.rpartition('/')[2]}.1"]


def test_set_aside_twice_both_are_kept(lake: Lake) -> None:
    for _ in range(2):
        _cut_short(_chunks(lake).path)
        with lake.locked():
            pass
    assert sorted(path.name for path in (lake.root / ASIDE).rglob("*.parquet.*")) == [
        "part-p.parquet.1",
        "part-p.parquet.2",
    ]


def test_a_part_of_other_columns_is_named(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(parts, "columns_of", lambda table: "other")
        _chunks(lake)
    with pytest.raises(DamagedPartError, match="it has other columns than chunks has in this version of Goldspan"):
        lake.read("chunks")


def test_a_lake_of_another_format_says_so_and_is_left_alone(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    part = _chunks(lake)
    record = {"goldspan.part": '{"format":3}'}
    pl.read_parquet(part.path).write_parquet(part.path, metadata=record)
    for age, number in (("an older", 3), ("a newer", 5)):
        with pytest.raises(
            OtherFormatError, match=f"written by {age} Goldspan: its format is {number}, this one's is 4"
        ):
            lake.read("chunks")
        with pytest.raises(OtherFormatError, match="LAKE="), lake.locked():
            pass
        assert part.path.exists()
        with monkeypatch.context() as patch:
            patch.setattr(parts, "FORMAT_VERSION", 5)
            _chunks(lake)


def test_a_part_that_was_checked_is_checked_again_when_it_changes(lake: Lake) -> None:
    part = _chunks(lake)
    assert lake.read("chunks").height == 3
    os.utime(part.path, (1, 1))
    assert part.fingerprint == "f"
    _flip(part.path, 100)
    os.utime(part.path, (2, 2))
    with pytest.raises(DamagedPartError):
        lake.read("chunks")


def test_what_the_caller_reads_and_does_not_make_is_an_error_and_stays(lake: Lake) -> None:
    part = _chunks(lake)
    _cut_short(part.path)
    with pytest.raises(DamagedPartError, match="no whole Parquet"), lake.locked(makes={"runs", "evaluate"}):
        pass
    assert part.path.exists()


def test_what_a_later_stage_makes_is_left_to_it(lake: Lake) -> None:
    costs = _row(lake, "costs", "all")
    _cut_short(costs.path)
    with lake.locked(makes={"ingest", "runs"}):
        assert costs.path.exists()
    with lake.locked(makes={"runs", "evaluate"}):
        assert not costs.path.exists()


@pytest.mark.parametrize("name", ["hits", "run_items", "edits", "runs"])
def test_an_imported_run_that_loses_rows_is_set_aside_and_named(lake: Lake, name: str) -> None:
    _row(lake, "items")
    for run_id, origin in (("mine", "built-in"), ("theirs", "imported")):
        parts = {one: _row(lake, one, run_id=run_id) for one in ("hits", "run_items", "edits")}
        parts["runs"] = _row(lake, "runs", "all", run_id=run_id, origin=origin)
    _row(lake, "costs", "all", run_id="mine")
    _cut_short(parts[name].path)
    with lake.locked():
        assert [part.folders["run_id"] for part in lake.parts("runs")] == ["mine"]
    (sentence,) = lake.damage
    assert sentence.startswith(f"{parts[name].relative_path}: it is no whole Parquet file; set aside")
    assert sentence.endswith("import the run theirs again")


@pytest.mark.parametrize("name", ["hits", "run_items", "edits"])
@pytest.mark.parametrize("is_asked", [True, False], ids=["program", "file"])
def test_an_imported_run_that_lost_a_part_is_damaged(lake: Lake, name: str, *, is_asked: bool) -> None:
    _row(lake, "items")
    parts = {one: _row(lake, one) for one in ("hits", "run_items", "edits")}
    parts["runs"] = _row(lake, "runs", "all", origin="imported")
    if is_asked:
        _row(lake, "costs", "all")
    with lake.naming_damage():
        pass
    parts[name].path.unlink()
    (fault,) = survey(lake.root)[1]
    assert fault.path == parts["runs"].path
    with pytest.raises(DamagedPartError, match=name), lake.naming_damage():
        pass
    with lake.locked():
        assert not lake.parts("runs")
    (sentence,) = lake.damage
    assert sentence.endswith("import the run r again")


@pytest.mark.parametrize("name", ["hits", "runs"])
def test_a_run_made_here_that_loses_rows_keeps_the_others(lake: Lake, name: str) -> None:
    _row(lake, "items")
    parts = {"hits": _row(lake, "hits"), "runs": _row(lake, "runs", "all", origin="built-in")}
    _row(lake, "costs", "all")
    _cut_short(parts[name].path)
    with lake.locked():
        assert [len(lake.parts(one)) for one in parts] == [one != name for one in parts]
    assert lake.damage[0].endswith("it is made again")


def test_a_copy_beside_an_imported_run_costs_it_nothing(lake: Lake) -> None:
    _row(lake, "items")
    part = [_row(lake, name) for name in ("run_items", "edits", "hits")][-1]
    _row(lake, "runs", "all", origin="imported")
    shutil.copy(part.path, part.path.with_name("part-items copy.parquet"))
    with lake.locked():
        assert len(lake.parts("runs")) == len(lake.parts("hits")) == 1


def test_a_name_too_long_for_a_file_is_a_sentence(lake: Lake) -> None:
    for name in ("x" * 300, "ü" * 50):
        with pytest.raises(
            GoldspanError, match=f"a name is too long for a file's: 3.. bytes, {MAX_NAME_BYTES} at most"
        ):
            _chunks(lake, name)
        with pytest.raises(GoldspanError, match="too long"):
            lake.part("chunks", "p", chunker=name)
    longest = "x" * (MAX_NAME_BYTES - len("part-.parquet"))
    assert _chunks(lake, longest).fingerprint == "f"


def test_a_name_that_is_no_text_is_a_sentence(lake: Lake) -> None:
    with pytest.raises(GoldspanError, match="a name holds bytes that are no text"):
        lake.part("chunks", "p", chunker="\udc80")
