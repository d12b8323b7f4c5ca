import gzip
import io
import json
import os
import pickle
from collections.abc import Sequence
from pathlib import Path

import polars as pl
import pytest

from ingest.sources.rows import read_pickle
from ingest.sources.tree import Entry, UnreadableFileError
from lake.store import Lake
from tests.tiny import Said, command

pytestmark = pytest.mark.slow

Raw = dict[str, object]


def row(n_candidates: int = 5, gold: object = 1, **other: object) -> Raw:
    snippets = [f"def helper_{number}(value):\n    return value + {number}\n" for number in range(n_candidates)]
    return {
        "repo_name": "somebody/something",
        "file_path": "pkg/main.py",
        "context": snippets,
        "import_statement": "from pkg.helpers import helper_1",
        "code": "def main():\n    total = 0\n",
        "next_line": "    total = helper_1(total)",
        "gold_snippet_index": gold,
        **other,
    }


def without(key: str) -> Raw:
    return {name: value for name, value in row().items() if name != key}


def put(folder: Path, easy: Sequence[object], hard: Sequence[object], name: str = "python_cff") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "data").mkdir(exist_ok=True)
    data = gzip.compress(pickle.dumps({split: {"easy": [*easy], "hard": [*hard]} for split in ("test", "train")}))
    (folder / "data" / f"{name}.gz").write_bytes(data)
    return folder


def ingested(folder: Path, lake: Path, *arguments: object) -> Said:
    return command("ingest", "repobench-r", "--source", folder, "--lake", lake, "--chunkers", "whole-file", *arguments)


def test_a_rows_candidates_are_its_pool_and_its_gold_is_one_of_them(tmp_path: Path) -> None:
    ingested(put(tmp_path / "raw", [row(), row(6, 0)], [row(10, 9)]), tmp_path / "lake").done()
    lake = Lake(tmp_path / "lake")
    items = lake.read("items").sort("item_id")
    assert items.select("item_id", "subset", "split", "level", "n_candidates").rows() == [
        ("python_cff/test/easy/0", "python_cff", "test", "easy", 5),
        ("python_cff/test/easy/1", "python_cff", "test", "easy", 6),
        ("python_cff/test/hard/0", "python_cff", "test", "hard", 10),
    ]
    gold = lake.read("gold_spans").sort("item_id")
    assert gold.select("path", "line_start", "line_end", "candidate").rows() == [
        ("cand:1", 0, 2, 1),
        ("cand:0", 0, 2, 0),
        ("cand:9", 0, 2, 9),
    ]
    files = lake.read("files").filter(pl.col("pool_id") == items["pool_id"][2]).sort("position")
    assert files["path"].to_list() == [f"cand:{number}" for number in range(10)]
    # Ten candidates of the hard row hold those of the easy ones: a content is stored once.
    assert lake.read("blobs").height == 10


def test_the_gold_index_is_known_in_every_spelling(tmp_path: Path) -> None:
    names = ("gold_snippet_index", "golden_snippet_index", "gold_snippet_idex")
    spelled = [{**without("gold_snippet_index"), name: 3} for name in names]
    ingested(put(tmp_path / "raw", spelled, []), tmp_path / "lake").done()
    assert Lake(tmp_path / "lake").read("gold_spans")["candidate"].to_list() == [3, 3, 3]


BAD: dict[str, tuple[object, str]] = {
    "index out of range": (row(5, 5), "`gold_snippet_index` is 5, not the number of one of the 5"),
    "index in the file": (row(5, -1), "is -1, not the number of one of"),
    "index NaN": (row(5, float("nan")), "`gold_snippet_index` must be a whole number"),
    "index a text": (row(5, "one"), "must be a whole number"),
    "index a truth": (row(5, gold=True), "must be a whole number"),
    "empty context": (row(context=[]), "`context` must be a list of candidates that is not empty"),
    "a candidate that is no text": (row(context=["a", None, "b"]), "1 of its candidates are not texts"),
    "a candidate in bytes": (row(context=[b"a", "b"]), "1 of its candidates are not texts"),
    "missing key": (without("next_line"), "`next_line` is missing; it must be a text"),
    "missing index": (without("gold_snippet_index"), "is missing; it must be a whole number"),
    "half a surrogate pair": (row(code="\ud800"), "`code` must be a text"),
    "no object": (["a", "list"], "a list, not an object"),
}


def test_a_bad_row_is_a_reject_with_its_position_and_the_rest_goes_on(tmp_path: Path) -> None:
    ingested(put(tmp_path / "raw", [row(), *(bad for bad, _ in BAD.values()), row(6)], []), tmp_path / "lake").ended(5)
    lake = Lake(tmp_path / "lake")
    rejects = lake.read("rejects").select("source", "position", "reason").rows()
    reasons = {position: reason for source, position, reason in rejects if source == "python_cff.gz"}
    assert len(reasons) == len(BAD)
    for number, (name, (_, reason)) in enumerate(BAD.items(), start=1):
        assert reason in reasons[f"test/easy row {number}"], name
    assert set(lake.read("items")["item_id"]) == {f"python_cff/test/easy/{number}" for number in (0, len(BAD) + 1)}


def test_a_truncated_gzip_is_a_reject_and_the_other_files_go_on(tmp_path: Path) -> None:
    folder = put(put(tmp_path / "raw", [row()], []), [row()], [], name="python_cfr")
    whole = (folder / "data/python_cff.gz").read_bytes()
    (folder / "data/python_cff.gz").write_bytes(whole[: len(whole) // 2])
    ingested(folder, tmp_path / "lake").ended(5)
    (reject,) = Lake(tmp_path / "lake").read("rejects").rows(named=True)
    assert (reject["source"], reject["position"]) == ("python_cff.gz", "the whole file")
    assert "cut off" in reject["reason"]
    assert Lake(tmp_path / "lake").read("items")["subset"].to_list() == ["python_cfr"]


def unpickled(data: bytes) -> object:
    return read_pickle(Entry("a.gz", lambda: io.BytesIO(data)))


@pytest.mark.parametrize(
    "value", [{"a": [1, 2.5, None, True, "é", ("t", frozenset({1})), {2}]}, [], "x", 10**40, float("inf")]
)
def test_plain_values_come_back(value: object) -> None:
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        if protocol >= 4 or not isinstance(value, dict):
            assert unpickled(pickle.dumps(value, protocol)) == value
            assert unpickled(gzip.compress(pickle.dumps(value, protocol))) == value


@pytest.mark.parametrize("value", [Path("x"), os.getcwd, io.BytesIO(b""), ValueError("x"), range(3), object()])
def test_every_other_value_is_refused(value: object) -> None:
    with pytest.raises(UnreadableFileError, match="nothing in it was run"):
        unpickled(pickle.dumps(value))


@pytest.mark.parametrize(
    "data", [b"", b"\x80", b"not a pickle", b"\x1f\x8b", pickle.dumps([1, 2])[:-1], b"\x80\x04P1\n."]
)
def test_what_is_no_whole_pickle_is_told_so(data: bytes) -> None:
    with pytest.raises(UnreadableFileError):
        unpickled(data)


def test_exports_in_parquet_and_json_lines_are_the_same_items(tmp_path: Path) -> None:
    rows = [row(), row(6, 2), row(11, 10)]
    stored = []
    for ending in ("parquet", "jsonl"):
        folder = tmp_path / ending / "data"
        folder.mkdir(parents=True)
        if ending == "parquet":
            pl.DataFrame(rows).write_parquet(folder / "python_cff_test.parquet")
        else:
            (folder / "python_cff_test.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        lake = tmp_path / f"{ending} lake"
        ingested(folder.parent, lake).done()
        stored.append(Lake(lake).read("items"))
    # Ten candidates and more are hard where nothing says so.
    assert stored[0]["level"].to_list() == ["easy", "easy", "hard"]
    assert stored[0].equals(stored[1])


def test_rows_of_v11_are_read_and_labelled(tmp_path: Path) -> None:
    context = [{"identifier": "f", "path": "a.py", "snippet": f"def f{number}(): ..."} for number in range(5)]
    newer = {**without("code"), "context": context, "cropped_code": "x = 1\n"}
    ingested(put(tmp_path / "raw", [newer, row()], []), tmp_path / "lake").done()
    assert Lake(tmp_path / "lake").read("items").sort("item_id")["source"].to_list() == ["v1.1", "v1"]


@pytest.mark.shared
def test_the_mined_rows_are_all_read(shared: Path, tmp_path: Path) -> None:
    ingested(shared, tmp_path / "lake").done()
    lake = Lake(tmp_path / "lake")
    assert lake.read("benchmarks")["tags"].to_list() == [["mined"]]
    counts = lake.read("items").group_by("subset", "level").len().sort("subset", "level").rows()
    assert counts == [
        ("python_cff", "easy", 603),
        ("python_cff", "hard", 305),
        ("python_cfr", "easy", 545),
        ("python_cfr", "hard", 344),
    ]


def test_a_row_whose_gold_is_white_space_alone_is_kept_and_flagged(tmp_path: Path) -> None:
    blank = [row(context=["def a(): ...", gold, "def b(): ..."]) for gold in ("", " \n\t\r\n", "\x00\x1f")]
    kept = row(context=["def a(): ...", "\u00a0", " "])
    ingested(put(tmp_path / "raw", [row(), *blank, kept], []), tmp_path / "lake").done("5 of 5 items ready")
    items = Lake(tmp_path / "lake").read("items").sort("item_id")
    assert items["gold_flags"].to_list() == [[], ["blank"], ["blank"], ["blank"], []]


def test_both_splits_of_a_pickle_are_read_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read = []

    def counted(entry: Entry) -> object:
        read.append(entry.path)
        return read_pickle(entry)

    monkeypatch.setattr("ingest.benchmarks.repobench_r.read_pickle", counted)
    folder = put(tmp_path / "raw", [row(), row()], [row(10)])
    both = ("--subsets", "python_cff/train,python_cff/test")
    ingested(folder, tmp_path / "lake", *both).done("6 of 6 items ready")
    assert len(read) == 1
    # Another file of the same name is not that file.
    put(folder, [row()], [row(10)])
    ingested(folder, tmp_path / "lake", *both).done("4 of 4 items ready")
    assert len(read) == 2


def test_contents_that_later_parts_share_are_stored_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ingest.benchmarks.repobench_r.ROWS_OF_A_PART", 2)
    monkeypatch.setattr("ingest.contents.chunks.CUT_AT_ONCE", 3)
    easy, hard = [row(5 + n % 5) for n in range(7)], [row(10 + n) for n in range(3)]
    folder = put(put(tmp_path / "raw", easy, hard), easy, hard, name="java_cff")
    ingested(folder, tmp_path / "lake").done()
    lake = Lake(tmp_path / "lake")
    assert len(lake.parts("items")) == 2 * 5
    # Twelve snippets, whatever part first held them, each cut once.
    assert lake.read("blobs")["sha256"].is_unique().all()
    assert lake.read("blobs").height == lake.read("chunks").height == 12
    assert len(lake.parts("chunks")) == 4
    again = ingested(folder, tmp_path / "lake")
    assert " made" not in again.err
