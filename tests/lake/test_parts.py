import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import polars as pl
import pytest

from lake import parts
from lake.errors import Exit, GoldspanError
from lake.parts import ASIDE, MAX_NAME_BYTES
from lake.store import Lake, Part
from lake.tables import IMPORT_REJECTS, table
from tests.frames import chunk_rows, write
from tests.resilience.flips import flip

DAMAGED = "it was changed or moved, or another version of Goldspan wrote it"


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(tmp_path / "lake")


def _chunks(lake: Lake, part: str = "p", *, chunker: str = "c", n: int = 3) -> Part:
    frame = chunk_rows(*(f"{part}{number}" for number in range(n)), chunker=chunker)
    return lake.write("chunks", frame, part=part, fingerprint="f", chunker=chunker)


ROWS: Mapping[str, Mapping[str, object]] = {
    "runs": {"system": "x", "task": "b/x", "origin": "built-in", "n_items": 1},
    "run_items": {"item_id": "i", "n_returned": 1},
    "hits": {"item_id": "i", "rank": 1},
    "edits": {"item_id": "i", "reading": "docs", "path": "a", "line": 1, "kind": "deleted"},
    "costs": {"part": "items", "query_seconds": [], "hardware": "x"},
}


def _row(lake: Lake, name: str, part: str = "items", *, run_id: str = "r", **more: object) -> Part:
    """A row of a table of runs, of no meaning."""
    return write(lake, name, [{**ROWS[name], **more}], part=part, benchmark="b", run_id=run_id)


def _imported(lake: Lake, run_id: str = "r") -> dict[str, Part]:
    stored = {name: _row(lake, name, run_id=run_id) for name in ("hits", "run_items", "edits")}
    write(lake, "rejects", [dict.fromkeys(table("rejects").columns, "x")], part=f"{IMPORT_REJECTS}{run_id}")
    return {**stored, "runs": _row(lake, "runs", "all", run_id=run_id, origin="imported")}


def test_a_flipped_bit_anywhere_is_noticed(lake: Lake) -> None:
    part = _chunks(lake)
    whole = part.path.read_bytes()
    for bit in range(0, len(whole) * 8, 331):
        flip(part.path, bit)
        with pytest.raises(GoldspanError) as caught:
            lake.read("chunks")
        assert caught.value.code == Exit.INVALID
        part.path.write_bytes(whole)
    assert lake.read("chunks").height == 3


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.write_bytes(b""),
        lambda path: path.write_text("no parquet at all"),
        lambda path: path.write_bytes(path.read_bytes()[:-7]),
        lambda path: pl.DataFrame({"x": [1]}).write_parquet(path),
        flip,
    ],
)
def test_what_is_no_part_is_named_and_set_aside(lake: Lake, damage: Callable[[Path], object]) -> None:
    _chunks(lake, "whole")
    part = _chunks(lake, "bad")
    damage(part.path)
    with pytest.raises(GoldspanError, match=f"a file of the lake cannot be used: {DAMAGED}") as caught:
        lake.read("chunks")
    assert (caught.value.where, caught.value.code) == (str(part.path), Exit.INVALID)
    warned: list[str] = []
    with lake.locked(warn=warned.append):
        assert lake.read("chunks")["sha256"].unique().sort().to_list() == ["whole0", "whole1", "whole2"]
        assert lake.part("chunks", "bad", chunker="c") is None
        _chunks(lake, "bad")
    sentence = f"chunks/chunker=c/{part.path.name}: {DAMAGED}; set aside in {ASIDE}, it is made again"
    assert warned == lake.damage == [sentence]
    assert (lake.root / ASIDE / f"{part.path.relative_to(lake.root)}{ASIDE}").exists()
    with lake.locked(warn=warned.append):
        assert len(warned) == 1


def test_a_copy_is_known_by_its_place(lake: Lake) -> None:
    part = _chunks(lake)
    elsewhere = part.path.parent.with_name("chunker=d") / part.path.name
    elsewhere.parent.mkdir()
    other = part.path.name.replace("-p", "-q")
    copies = [elsewhere, part.path.with_name(other), part.path.with_name("part-p copy.parquet")]
    for copy in copies:
        shutil.copy(part.path, copy)
    with pytest.raises(GoldspanError, match=DAMAGED):
        lake.read("chunks")
    with lake.locked():
        assert lake.read("chunks").height == 3
    assert len(lake.damage) == 3
    assert not any(copy.exists() for copy in copies)


def test_a_part_of_other_columns_is_named(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(parts, "_columns", lambda table: "other")
        _chunks(lake)
    with pytest.raises(GoldspanError, match=DAMAGED):
        lake.read("chunks")


@pytest.mark.parametrize(("version", "age"), [(4, "an older"), (6, "a newer")])
@pytest.mark.parametrize("name", ["part-p.parquet", "part-p.f.0123456789abcdef.parquet"])
def test_a_lake_of_another_format_says_so_and_is_left_alone(lake: Lake, version: int, age: str, name: str) -> None:
    path = _chunks(lake).path.with_name(name)
    record = {"goldspan.part": f'{{"columns":"x","format":{version},"place":"y"}}'}
    pl.DataFrame({"x": [1]}).write_parquet(path, metadata=record)
    with pytest.raises(GoldspanError, match=f"by {age} Goldspan: its format is {version}, this one's is 5"):
        lake.read("chunks")
    with pytest.raises(GoldspanError, match="LAKE="), lake.locked():
        pass
    assert path.exists()


def test_what_the_caller_reads_and_does_not_make_is_an_error_and_stays(lake: Lake) -> None:
    part = _chunks(lake)
    flip(part.path)
    with pytest.raises(GoldspanError, match=DAMAGED), lake.locked(makes={"runs", "evaluate"}):
        pass
    assert part.path.exists()


def test_what_a_later_stage_makes_is_left_to_it(lake: Lake) -> None:
    costs = _row(lake, "costs", "all")
    flip(costs.path)
    with lake.locked(makes={"ingest", "runs"}):
        assert costs.path.exists()
    with lake.locked(makes={"runs", "evaluate"}):
        assert not costs.path.exists()


@pytest.mark.parametrize("name", ["hits", "run_items", "edits", "runs"])
def test_an_imported_run_that_loses_rows_is_set_aside_and_named(lake: Lake, name: str) -> None:
    for table_name, part in (("hits", "items"), ("run_items", "items"), ("runs", "all")):
        _row(lake, table_name, part, run_id="mine")
    lost = _imported(lake, "theirs")[name]
    flip(lost.path)
    with lake.locked():
        assert [part.folders["run_id"] for part in lake.parts("runs")] == ["mine"]
    path = lost.path.relative_to(lake.root)
    assert lake.damage == [f"{path}: {DAMAGED}; set aside in {ASIDE}, import the run theirs again"]


@pytest.mark.parametrize("name", ["hits", "run_items"])
def test_an_imported_run_that_lost_a_part_is_named(lake: Lake, name: str) -> None:
    imported = _imported(lake)
    with lake.locked():
        assert lake.damage == []
    imported[name].path.unlink()
    with lake.locked():
        assert not lake.parts("runs")
    (sentence,) = lake.damage
    assert f": {name} has 0 of its 1 " in sentence
    assert sentence.endswith("import the run r again")


def test_a_name_too_long_for_a_file_is_a_sentence(lake: Lake) -> None:
    for name in ("x" * 300, "ü" * 50):
        with pytest.raises(GoldspanError, match=f"too long for a file name: 3.. bytes, {MAX_NAME_BYTES} at most"):
            _chunks(lake, name)
    longest = "x" * (MAX_NAME_BYTES - len("part-.f.0123456789abcdef.parquet"))
    assert _chunks(lake, longest).path.exists()


def test_a_name_that_is_no_text_is_a_sentence(lake: Lake) -> None:
    with pytest.raises(GoldspanError, match="a name is not valid UTF-8"):
        lake.part("chunks", "p", chunker="\udc80")
