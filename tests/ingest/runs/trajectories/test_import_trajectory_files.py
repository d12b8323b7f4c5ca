"""Trajectories in files, folders and ZIPs: what is one is read, what is none is counted, what is damaged is told."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from ingest.runs.read_trajectories import Ids
from lake.errors import Exit
from lake.limits import MAX_DOCUMENT_BYTES
from lake.store import Lake
from tests.ingest.runs.agents import (
    CATS,
    ITEMS,
    ORBITS,
    ROCKETS,
    counts,
    hits,
    imported,
    issues_once,
    jsonl,
    laid_out,
    lake,
    of_item,
    refused,
    rejected,
    unified,
    zipped,
)
from tests.ingest.runs.formats.test_import_formats import zstd

__all__ = ["issues_once", "lake"]

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
    assert (counts(result)["n_done"], counts(result)["n_skipped"], result.n_rejected) == (3, 3, 0)
    assert "passed over, as no trajectories: 3 of the files" in result.outcome("x", "").warnings


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
    assert "not JSON at line 1, column" in str(error)
    assert "is it cut off?" in str(error)
    assert (counts(result)["n_failed"], result.outcome("x", "").code) == (1, Exit.INCOMPLETE)
    assert "failed: 1 of them cannot be read to their end" in result.outcome("x", "").warnings


def test_a_line_that_is_cut_off_is_a_failed_item_and_the_others_are_read(lake: Lake) -> None:
    data = jsonl(unified(ROCKETS)) + jsonl(unified(ORBITS))[:150] + b"\n" + jsonl(unified(CATS))
    assert counts(imported(lake, data))["n_done"] == 2
    status, error = of_item(lake, "status", "error", item=ORBITS)
    assert status == "failed"
    assert "not JSON" in str(error)
    assert hits(lake, item=ORBITS) == []


def test_what_is_cut_off_beside_its_whole_self_is_counted_and_the_whole_one_scored(lake: Lake) -> None:
    result = imported(lake, jsonl(unified())[:-20] + b"\n" + jsonl(unified()))
    assert (of_item(lake, "status"), result.n_rejected) == (("done",), 1)
    assert rejected(lake)[0][1] == f"given.jsonl, line 1, item {ROCKETS}"


def test_damage_that_names_no_item_is_a_reject(lake: Lake) -> None:
    result = imported(lake, jsonl(unified()) + b'{"model_pa\n[1]\n7\n')
    assert [position for _, position, _ in rejected(lake)] == ["line 2", "line 3", "line 4"]
    assert (result.n_rejected, counts(result)["n_done"]) == (3, 1)


@pytest.mark.parametrize("pack", [gzip.compress, zstd])
@pytest.mark.parametrize("how", ["folder", "zip"])
def test_a_packed_file_that_is_damaged_is_told_and_the_others_are_read(
    lake: Lake, how: str, pack: Callable[[bytes], bytes]
) -> None:
    noise = random.Random(1).randbytes(9000).hex()
    entries = {f"{item}.traj.json.gz": pack(mini(item, pad=noise)) for item in ITEMS}
    entries[f"{CATS}.traj.json.gz"] = entries[f"{CATS}.traj.json.gz"][:-40]
    entries["tiny.gz"] = pack(b"{}")[:-4]
    result = imported(lake, wrapped(lake, how, entries))
    status, error = of_item(lake, "status", "error", item=CATS)
    assert (status, "to its end" in str(error)) == ("failed", True)
    assert (counts(result)["n_no_context"], [row[1] for row in rejected(lake)]) == (2, ["file"])


def test_a_zip_inside_a_zip_is_not_opened_and_said(lake: Lake) -> None:
    imported(lake, zipped({**BY_ITEM, "more.zip": zipped(BY_ITEM)}), name="a.zip")
    assert rejected(lake) == [
        ("a.zip", "entry more.zip", "an archive inside is not opened; unpack it beside the others")
    ]


@pytest.mark.parametrize("entries", [{}, {"a.txt": b"x"}])
def test_a_folder_without_trajectories_is_missing_data(lake: Lake, entries: dict[str, bytes]) -> None:
    assert refused(lake, laid_out(lake.root.parent / "given", entries)).code == Exit.MISSING


def test_several_formats_in_one_folder_are_refused_until_one_is_named(lake: Lake) -> None:
    entries = {"all.jsonl": jsonl(*ALL), f"{CATS}.traj.json": mini(CATS)}
    folder = laid_out(lake.root.parent / "given", entries)
    assert "mini-swe-agent (1 file), unified (1 file)" in refused(lake, folder).what
    assert counts(imported(lake, folder, format="unified"))["n_done"] == 3


def test_a_change_anywhere_in_a_folder_is_another_import(lake: Lake) -> None:
    folder = laid_out(lake.root.parent / "given", BY_ITEM)
    first = imported(lake, folder)
    assert imported(lake, folder).is_current
    (folder / f"{CATS}/{CATS}.json").write_bytes(json.dumps(unified(CATS, model_patch="")).encode())
    assert imported(lake, folder).run_id != first.run_id
    assert lake.read("runs").height == 1


def test_what_is_larger_than_is_read_at_most_fails_and_says_so(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ingest.runs.trajectories.trajectory_file.MAX_DOCUMENT_BYTES", 2000)
    assert MAX_DOCUMENT_BYTES > 10**8
    entries = {f"{ROCKETS}.traj.json": mini(ROCKETS, pad="x" * 3000), f"{CATS}.traj.json": mini(CATS)}
    imported(lake, wrapped(lake, "folder", entries))
    assert of_item(lake, "status", "error") == ("failed", "it holds more than 2,000 bytes, which are read at most")
    assert lake.read("run_items").filter(pl.col("item_id") == CATS)["status"].item() == "no-context"


def test_a_name_that_was_cut_off_after_32_characters_is_of_the_one_item_that_begins_so() -> None:
    cut = "acme-industries__rockets-and-boo"
    ids = Ids({f"{cut}sters-1": "one", "acme__rockets-1": "two"})
    assert (ids.item_of(cut), ids.item_of("acme__rockets-1"), ids.item_of("acme__rockets")) == ("one", "two", None)
    assert Ids({f"{cut}sters-1": "one", f"{cut}ks-1": "two"}).item_of(cut) is None
