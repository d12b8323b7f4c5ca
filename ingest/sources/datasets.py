"""Data sets that `datasets` reads: folders that `save_to_disk` made, and the hub's at a pinned commit.

Each is an entry of JSON Lines, so that whoever reads rows reads these. `datasets` is imported when a row is asked for:
it takes a second. A file in Parquet or JSON Lines is read in pieces without it: it would copy the whole to a cache,
unpack pages of any size for that, and give up a file for one bad line.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import IO, TYPE_CHECKING

import pyarrow as pa  # type: ignore[import-untyped]  # ships no types

from ingest.sources.archive import open_archive
from ingest.sources.folder import read_folder
from ingest.sources.tree import UNKNOWN_SIZE, Entry, Source, Tree, UnreadableEntryError, entry_on_disk
from lake.errors import Exit, GoldspanError
from lake.fingerprint import fingerprint, sha256_of_file
from lake.limits import MAX_ROWS, MAX_STREAMED_BYTES, MIB

if TYPE_CHECKING:
    from datasets import Dataset, DownloadManager  # type: ignore[import-untyped]  # ships no types

_STATE = "state.json"
_COMMIT = re.compile(r"[0-9a-f]{40}")
_HUB_NAME = re.compile(r"[\w.-]+/[\w.-]+")
_ROWS_AT_ONCE = 1_000
_FORMATS = (".parquet", ".jsonl", ".json")


@dataclass(frozen=True)
class HubRows:
    """A data set on the Hugging Face hub, as a declaration names it: `owner/name` at a commit, one split of it."""

    hub: str
    revision: str
    split: str
    config: str = ""


def hub_rows(keys: Mapping[str, object]) -> HubRows:
    """What a declaration says of a data set on the hub.

    Raises:
        ValueError: It is no such thing; the message says which key is off.
    """
    known = {"hub", "revision", "split", "config"}
    texts = {key: value for key, value in keys.items() if key in known and isinstance(value, str)}
    if off := sorted({*keys} - {*texts} | ({"hub", "revision", "split"} - {*texts})):
        message = f"a data set of the hub has hub, revision, split and maybe config, all texts: see {', '.join(off)}"
        raise ValueError(message)
    if not _HUB_NAME.fullmatch(texts["hub"]) or not _COMMIT.fullmatch(texts["revision"]):
        raise ValueError("hub is to be owner/name, and revision the 40 digits of a commit: a branch moves")
    return HubRows(**texts)


def is_saved(folder: Path) -> bool:
    """Whether a folder is one that `save_to_disk` made."""
    return (folder / _STATE).is_file()


@dataclass(frozen=True)
class ConfiguredSource(Source):
    """Places by name, those among `trees` a folder or a zip of files, the others data sets; see `Source`."""

    places: Mapping[str, Path | HubRows]
    trees: frozenset[str]

    def find(self, path: str) -> Tree | None:
        """A place that is declared, called by its own name: folders above it are nobody's business."""
        data = self.places.get(path)
        if data is None:
            return None
        if isinstance(data, HubRows):
            entry = entry_of_hub(data)
        elif path in self.trees:
            location = data.resolve().name
            return read_folder(data, location) if data.is_dir() else open_archive(data, location)
        elif is_saved(data):
            entry = entry_of_saved(data)
        else:
            entry = entry_on_disk(data, data.name, data.name, data.stat().st_size)
        return Tree(entry.path, [entry])


def entry_of_saved(folder: Path) -> Entry:
    """A folder that `save_to_disk` made, as JSON Lines, where what it says of itself is so."""
    path = f"{folder.resolve().name}.jsonl"
    with _unreadable(folder.name, path, f"{_STATE} cannot be read"):
        with (folder / _STATE).open("rb") as file:
            names = [str(item["filename"]) for item in json.loads(file.read(MIB))["_data_files"]]
        files = [folder / name for name in names]
        if not files or any(part.parent != folder or part.is_symlink() or not part.is_file() for part in files):
            raise UnreadableEntryError(folder.name, path, f"{_STATE} names no files that lie beside it")
        if sum(file.stat().st_size for file in files) > MAX_STREAMED_BYTES:
            raise UnreadableEntryError(folder.name, path, f"more than the {MAX_STREAMED_BYTES:,} bytes that are read")
        made_from = fingerprint([sha256_of_file(file) for file in files])

    return _entry(folder.name, path, lambda: _datasets().load_from_disk(str(folder)), made_from)


def entry_of_hub(rows: HubRows) -> Entry:
    """A data set of the hub, as JSON Lines."""
    path = f"{rows.hub.rpartition('/')[2]}-{rows.config or 'default'}-{rows.split}.jsonl"
    return _entry(rows.hub, path, partial(_from_hub, rows), fingerprint(vars(rows)))


def _entry(location: str, path: str, dataset: Callable[[], Dataset], made_from: str) -> Entry:
    @contextmanager
    def stream() -> Iterator[IO[bytes]]:
        with tempfile.TemporaryFile() as file:
            with _unreadable(location, path):
                for row in _rows(dataset()):
                    file.write(f"{json.dumps(row, ensure_ascii=False, default=str)}\n".encode(errors="replace"))
            file.seek(0)
            yield file

    def whole() -> bytes:
        with stream() as file:
            return file.read()

    return Entry(path, UNKNOWN_SIZE, whole, stream, made_from)


def _from_hub(rows: HubRows) -> Dataset:
    """The split at its commit, from the cache or by the network."""
    datasets = _datasets()
    try:
        builder = datasets.load_dataset_builder(rows.hub, rows.config or None, revision=rows.revision)
        if not Path(builder.cache_dir).is_dir():
            _check_files(datasets.DownloadManager(), builder.config.data_files, rows)
            builder.download_and_prepare()
    except (ConnectionError, FileNotFoundError) as error:
        raise _missing(rows, str(error)) from error
    except datasets.exceptions.DatasetsError as error:
        raise ValueError(str(error.__cause__ or error)) from error
    if rows.revision not in builder.cache_dir:
        # Without a network the cache gives whatever commit it holds.
        raise _missing(rows, "the cache holds another commit")
    return builder.as_dataset(split=rows.split)


def _check_files(manager: DownloadManager, files: object, rows: HubRows) -> None:
    """See that every file of the split can be read within the limits, before `datasets` unpacks it."""
    urls = files.get(rows.split) if isinstance(files, dict) else None
    if not urls:
        raise UnreadableEntryError(rows.hub, rows.hub, f"it has no split {rows.split!r}")
    for name in map(str, urls):
        if not name.endswith(_FORMATS):
            raise UnreadableEntryError(rows.hub, name, f"it is none of {', '.join(_FORMATS)}")
        file = Path(manager.download(name))
        if file.stat().st_size > MAX_STREAMED_BYTES:
            raise UnreadableEntryError(rows.hub, name, f"more than the {MAX_STREAMED_BYTES:,} bytes that are read")


def _missing(rows: HubRows, reason: str) -> GoldspanError:
    what = f"{rows.hub}@{rows.revision} cannot be had from the Hugging Face hub, and the cache does not hold it"
    message = (reason.splitlines() or [""])[0][:200]
    hint = (
        f"{message}\n  Try again with a connection and without HF_HUB_OFFLINE, or name a copy on this machine instead."
    )
    return GoldspanError(what, where=f"dataset {rows.hub}", hint=hint, code=Exit.MISSING)


def _datasets() -> ModuleType:
    """The library; whoever uses it tells nobody."""
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    import datasets

    datasets.disable_progress_bars()
    library: ModuleType = datasets
    return library


def _rows(dataset: Dataset) -> Iterator[Mapping[str, object]]:
    """The rows, some at a time: a text in a dictionary of values may stand for many."""
    if dataset.num_rows > MAX_ROWS:
        raise ValueError(f"it has {dataset.num_rows:,} rows; at most {MAX_ROWS:,} are read")
    for table in dataset.with_format("arrow").iter(batch_size=_ROWS_AT_ONCE):
        table.validate(full=True)
        yield from table.to_pylist()


@contextmanager
def _unreadable(location: str, path: str, what: str = "`datasets` cannot read it") -> Iterator[None]:
    """Whatever a damaged data set makes `datasets` or Arrow raise, as one error."""
    try:
        yield
    except GoldspanError:
        raise
    except (pa.ArrowException, OSError, ValueError, LookupError, TypeError, RuntimeError, MemoryError) as error:
        reason = f"{what}: {(str(error).splitlines() or [type(error).__name__])[0][:200]}"
        raise UnreadableEntryError(location, path, reason) from error
