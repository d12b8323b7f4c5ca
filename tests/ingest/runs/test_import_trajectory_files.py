import gzip
import json
import random
import tracemalloc
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.rejects import Rejects
from ingest.runs.find_trajectories import Ids, TrajectoryFiles, importers, trajectory_files
from ingest.runs.importer import Importer, TrajectoryFile
from ingest.runs.trajectory import FileSpan
from ingest.runs.trajectory_rows import ANSWER_COLUMNS, VIEW_COLUMNS, parse_runs
from ingest.sources.input_file import InputFile
from ingest.sources.tree import entry_on_disk
from lake.errors import Exit
from lake.limits import MAX_DOCUMENT_BYTES
from lake.store import Lake
from tests.ingest.runs.agents import (
    CATS,
    ITEMS,
    ORBITS,
    ROCKETS,
    hits,
    imported,
    jsonl,
    laid_out,
    lake,
    of_item,
    refused,
    rejected,
    spans,
    unified,
    zipped,
)
from tests.ingest.runs.formats.recorded_sessions import rows
from tests.ingest.runs.formats.test_import_formats import zstd
from tests.ingest.runs.formats.test_import_told_apart import JSON
from tests.tiny import put

__all__ = ["lake"]

ALL = [unified(item) for item in ITEMS]
BY_ITEM = {f"{item}/{item}.json": json.dumps(unified(item)).encode() for item in ITEMS}


def wrapped(lake: Lake, how: str, entries: dict[str, bytes]) -> Path:
    folder = lake.root.parent / "given"
    if how == "folder":
        return laid_out(folder, entries)
    laid_out(folder, {"all.zip": zipped(entries)})
    return folder / "all.zip"


def mini(item: str = "", **changes: object) -> bytes:
    document: dict[str, object] = {"info": {"mini_version": "1.17.3", "submission": ""}, "messages": [], **changes}
    return json.dumps({**document, "instance_id": item} if item else document).encode()


@pytest.mark.parametrize("how", ["folder", "zip"])
def test_a_folder_or_zip_of_one_file_per_item_is_read(lake: Lake, how: str) -> None:
    entries = {**BY_ITEM, "notes.txt": b"none", "a/preds.json": b'{"x": {"model_patch": ""}}', "empty": b""}
    result = imported(lake, wrapped(lake, how, entries))
    assert (result.counts["n_done"], result.counts["n_skipped"], result.counts["n_rejected"]) == (3, 3, 0)
    assert "skipped: 3 files that are not trajectories" in result.outcome("x", "").warnings


@pytest.mark.parametrize("path", [f"{ROCKETS}.traj.json", f"{ROCKETS}/run.traj.json", f"x/{ROCKETS}.1/a.traj.json"])
def test_a_path_names_the_item_where_the_content_does_not(lake: Lake, path: str) -> None:
    imported(lake, wrapped(lake, "zip", {path: mini()}))
    assert of_item(lake, "status") == ("no-context",)


@pytest.mark.parametrize("how", ["folder", "zip"])
def test_a_trajectory_that_is_cut_off_is_a_failed_item(lake: Lake, how: str) -> None:
    entries = {f"{item}.traj.json": mini(item) for item in ITEMS}
    entries[f"{CATS}.traj.json"] = entries[f"{CATS}.traj.json"][:-30]
    result = imported(lake, wrapped(lake, how, entries))
    status, error, n_steps, has_patch = of_item(lake, "status", "error", "n_steps", "has_patch", item=CATS)
    assert (status, n_steps, has_patch) == ("failed", None, None)
    assert "not JSON (" in str(error)
    assert "is it cut off?" in str(error)
    assert (result.counts["n_failed"], result.outcome("x", "").code) == (1, Exit.INCOMPLETE)
    assert "failed: 1 item; reasons: table run_items" in result.outcome("x", "").warnings


def test_a_line_that_is_cut_off_is_a_failed_item_and_the_others_are_read(lake: Lake) -> None:
    data = jsonl(unified(ROCKETS)) + jsonl(unified(ORBITS))[:150] + b"\n" + jsonl(unified(CATS))
    assert imported(lake, data).counts["n_done"] == 2
    status, error = of_item(lake, "status", "error", item=ORBITS)
    assert status == "failed"
    assert "not JSON" in str(error)
    assert hits(lake, item=ORBITS) == []


def test_what_is_cut_off_beside_its_whole_self_is_counted_and_the_whole_one_scored(lake: Lake) -> None:
    result = imported(lake, jsonl(unified())[:-20] + b"\n" + jsonl(unified()))
    assert (of_item(lake, "status"), result.counts["n_rejected"]) == (("done",), 1)
    assert rejected(lake)[0][1] == f"given.jsonl, line 1, item {ROCKETS}"


def test_damage_that_names_no_item_is_a_reject(lake: Lake) -> None:
    result = imported(lake, jsonl(unified()) + b'{"model_pa\n[1]\n7\n')
    assert [position for _, position, _ in rejected(lake)] == ["line 2", "line 3", "line 4"]
    assert (result.counts["n_rejected"], result.counts["n_done"]) == (3, 1)


@pytest.mark.parametrize("pack", [gzip.compress, zstd])
@pytest.mark.parametrize("how", ["folder", "zip"])
def test_a_damaged_packed_file_is_rejected(lake: Lake, how: str, pack: Callable[[bytes], bytes]) -> None:
    noise = random.Random(1).randbytes(9000).hex()
    entries = {f"{item}.traj.json.gz": pack(mini(item, pad=noise)) for item in ITEMS}
    entries[f"{CATS}.traj.json.gz"] = entries[f"{CATS}.traj.json.gz"][:-40]
    entries["tiny.gz"] = pack(b"{}")[:-4]
    result = imported(lake, wrapped(lake, how, entries))
    status, error = of_item(lake, "status", "error", item=CATS)
    assert (status, "to its end" in str(error)) == ("failed", True)
    assert (result.counts["n_no_context"], [row[1] for row in rejected(lake)]) == (2, ["file"])


def test_a_zip_inside_a_zip_is_not_opened_and_said(lake: Lake) -> None:
    result = imported(lake, zipped({**BY_ITEM, "more.zip": zipped(BY_ITEM)}), name="a.zip")
    assert dict(result.unread) == {"file *.zip": 1}


@pytest.mark.parametrize("entries", [{}, {"a.txt": b"x"}])
def test_a_folder_without_trajectories_is_missing_data(lake: Lake, entries: dict[str, bytes]) -> None:
    assert refused(lake, laid_out(lake.root.parent / "given", entries)).code == Exit.MISSING


def test_several_formats_in_one_folder_are_refused_until_one_is_named(lake: Lake) -> None:
    entries = {"all.jsonl": jsonl(*ALL), f"{CATS}.traj.json": mini(CATS)}
    folder = laid_out(lake.root.parent / "given", entries)
    assert "mini-swe-agent (1 file), unified (1 file)" in refused(lake, folder).what
    assert imported(lake, folder, format="unified").counts["n_done"] == 3


def test_a_change_anywhere_in_a_folder_is_another_import(lake: Lake) -> None:
    folder = laid_out(lake.root.parent / "given", BY_ITEM)
    first = imported(lake, folder)
    assert imported(lake, folder).is_current
    (folder / f"{CATS}/{CATS}.json").write_bytes(json.dumps(unified(CATS, model_patch="")).encode())
    assert imported(lake, folder).run_id != first.run_id
    assert lake.read("runs").height == 1


def test_what_is_larger_than_is_read_at_most_fails_and_says_so(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ingest.sources.tree.MAX_DOCUMENT_BYTES", 2000)
    assert MAX_DOCUMENT_BYTES > 10**8
    entries = {f"{ROCKETS}.traj.json": mini(ROCKETS, pad="x" * 3000), f"{CATS}.traj.json": mini(CATS)}
    imported(lake, wrapped(lake, "folder", entries))
    assert of_item(lake, "status", "error") == ("failed", "it has more than the limit of 2,000 bytes")
    assert lake.read("run_items").filter(pl.col("item_id") == CATS)["status"].item() == "no-context"


def test_a_name_that_was_cut_off_after_32_characters_is_of_the_one_item_that_begins_so() -> None:
    cut = "acme-industries__rockets-and-boo"
    ids = Ids({f"{cut}sters-1": "one", "acme__rockets-1": "two"})
    assert (ids.item_of(cut), ids.item_of("acme__rockets-1"), ids.item_of("acme__rockets")) == ("one", "two", None)
    assert Ids({f"{cut}sters-1": "one", f"{cut}ks-1": "two"}).item_of(cut) is None


IMPORTERS = [importer for importer in importers().values() if importer.kind == "trajectory"]
WHOLE = {"info": {}, "messages": [], "trajectory": [], "traj_data": {}, "instance_id": ROCKETS}


def read_by(importer: Importer, path: Path) -> tuple[pl.DataFrame, pl.DataFrame, Rejects]:
    rejects = Rejects()
    file = TrajectoryFile(entry_on_disk(path, path.name))
    files, ids = TrajectoryFiles(importer, file, [file]), Ids({ROCKETS: ROCKETS})
    return *parse_runs(files, ids, rejects, Counter(), Counter()), rejects


@pytest.mark.parametrize("importer", IMPORTERS, ids=lambda importer: importer.name)
@given(value=JSON, whole=st.booleans())
def test_any_json_is_read_or_told(tmp_path: Path, importer: Importer, value: object, whole: bool) -> None:
    document = {**WHOLE, **value} if whole and isinstance(value, dict) else value
    views, answers, rejects = read_by(importer, put(tmp_path / "x.json", json.dumps(document).encode()))
    assert (views.schema, answers.schema) == (pl.Schema(VIEW_COLUMNS), pl.Schema(ANSWER_COLUMNS))
    assert answers.height + len(rejects) > 0


@pytest.mark.parametrize("importer", IMPORTERS, ids=lambda importer: importer.name)
@given(data=st.binary(max_size=60) | st.sampled_from([b"{", b"[{", b"\0" * 9, b"[" * 10**5, b'{"a":' * 10**5]))
def test_any_bytes_are_read_or_told(tmp_path: Path, importer: Importer, data: bytes) -> None:
    importer.recognise(data, "x.traj.json")
    read_by(importer, put(tmp_path / "x.json", data))


@pytest.mark.parametrize("data", [b"NaN", b'{"instance_id": 1' + b"0" * 5000 + b"}", b'{"patch": "\0"}', b"\xff"])
def test_what_python_or_json_does_not_take_is_told(tmp_path: Path, data: bytes) -> None:
    _, answers, rejects = read_by(importers()["unified"], put(tmp_path / "x.json", data + b"\n" + jsonl(unified())))
    assert (answers.height, len(rejects)) == (1, 1)


def test_lines_that_no_file_has_are_left_out_and_told(lake: Lake) -> None:
    steps = [*spans(**{"src/engine.py": (1, 2**70)}), *spans(**{"src/engine.py": (1, 2)}), *spans(a=("x", None))]
    assert imported(lake, jsonl(unified(pred_steps=steps))).counts["n_steps"] == 3
    assert hits(lake, "step", "line_end") == [(2, 2)]
    assert len(rejected(lake)) == 1
    assert "step 1 names what is no file, span of lines or symbol (1): ('src/engine.py'" in str(rejected(lake)[0][2])


def large(n_bytes: int) -> Iterator[bytes]:
    yield b'{"info": {"mini_version": "1", "submission": ""}, "messages": ['
    message = json.dumps({"role": "user", "content": "x" * 10**5}).encode() + b", "
    for _ in range(n_bytes // len(message)):
        yield message
    seen = "<explore_context>\nFile: /testbed/src/engine.py\nLines: 1-2\n</explore_context>"
    yield json.dumps({"role": "user", "content": seen}).encode() + b'], "instance_id": "%s"}' % ROCKETS.encode()


def test_large_trajectories_are_held_one_at_a_time(lake: Lake) -> None:
    large_one = b"".join(large(5 * 2**20))
    many = {f"{n}.traj.json": large_one.replace(ROCKETS.encode(), b"other__x-%d" % n) for n in range(8)}
    many["last.traj.json"] = large_one
    file = put(lake.root.parent / "a.zip", zipped(many))
    tracemalloc.start()
    try:
        imported(lake, file, skip_unknown=True)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert of_item(lake, "n_steps") == (1,)
    # The bytes, their text, and the same text as the values of a document.
    assert peak < 5 * len(large_one)


def test_trajectories_with_too_many_views_fail(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ingest.runs.trajectory_rows.MAX_VIEWS", 2)
    imported(lake, jsonl(unified(ROCKETS)))
    assert of_item(lake, "status", "error") == ("failed", "more views than the limit of 2 per run; split it")


def test_of_a_whole_runs_folder_the_last_stage_counts(tmp_path: Path) -> None:
    of, related = {"instance_id": "x", "found_files": ["a.py"]}, {"a.py": ["class: A"]}
    folder = tmp_path / "results"
    for path, row in {
        "file_level/loc_outputs": of,
        "file_level_combined/combined_locs": of,
        "related_elements/loc_outputs": {**of, "found_related_locs": related},
        "edit_location_samples/loc_outputs": {**of, "found_edit_locs": [{"a.py": ["line: 1"]}, {"a.py": ["line: 9"]}]},
        "edit_location_individual/loc_merged_0-0_outputs": {**of, "found_edit_locs": {"a.py": ["line: 1"]}},
        "edit_location_individual/loc_merged_1-1_outputs": {**of, "found_edit_locs": {"a.py": ["line: 9"]}},
        "repair_sample_1/output": {"instance_id": "x", "raw_output": ["…"], "try_count": [1]},
        "all_preds": {"instance_id": "x", "model_patch": "diff"},
    }.items():
        put(folder / f"swe-bench-lite/{path}.jsonl", rows(row))
    (file,) = trajectory_files(InputFile.at(folder), "auto", Rejects()).files
    assert file.path == "swe-bench-lite/edit_location_samples/loc_outputs.jsonl"
    (read_,) = importers()["agentless"].trajectories(file)
    assert (read_.final, read_.patch) == ((FileSpan("a.py"), FileSpan("a.py", 1, 1), FileSpan("a.py", 9, 9)), "diff")
