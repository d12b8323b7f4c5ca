"""Data sets read with the library `datasets`: folders written by `save_to_disk`, and hub data sets at a pinned commit.

Each becomes an entry of JSON Lines, which the reader of rows can read. Single Parquet or JSON Lines files are read in
pieces without the library, which would copy them to a cache and reject a whole file for one bad line.
"""

from __future__ import annotations

import importlib
import json
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import IO, TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field

from ingest.sources.hub import downloading
from ingest.sources.tree import Entry, UnreadableFileError, entry_on_disk
from lake.errors import GoldspanError
from lake.fingerprint import fingerprint, sha256_of_file
from lake.limits import MAX_ROWS

if TYPE_CHECKING:
    from datasets import Dataset, IterableDataset  # type: ignore[import-untyped]  # ships no types

STREAMED_FROM = 10**9
"""Hub data sets with at least so many bytes are streamed instead of downloaded first."""

_STATE, _FORMATS = "state.json", (".parquet", ".jsonl", ".json")


class HubRows(BaseModel):
    """A data set on the Hugging Face hub in a declaration: one split of `owner/name` at a commit."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    hub: str = Field(pattern=r"^[\w.-]+/[\w.-]+$")
    revision: str = Field(pattern=r"^[0-9a-f]{40}$", description="a commit: a branch moves")
    split: str
    config: str = ""


def is_saved(folder: Path) -> bool:
    """Whether a folder was written by `save_to_disk`."""
    return (folder / _STATE).is_file()


def entry_of(data: Path | HubRows) -> Entry:
    """The rows of a file, of a folder written by `save_to_disk`, or of a data set on the hub."""
    if isinstance(data, HubRows):
        path = f"{data.hub.rpartition('/')[2]}-{data.config or 'default'}-{data.split}.jsonl"
        return _entry(path, partial(_from_hub, data), fingerprint(data.model_dump()))
    if not data.is_dir():
        return entry_on_disk(data, data.name)
    name = data.resolve().name
    files = sorted(file for file in data.iterdir() if file.is_file())
    made_from = fingerprint([(file.name, sha256_of_file(file)) for file in files])
    return _entry(f"{name}.jsonl", partial(_from_disk, data), made_from)


def _entry(path: str, dataset: Callable[[], Dataset | IterableDataset], made_from: str) -> Entry:
    @contextmanager
    def stream() -> Iterator[IO[bytes]]:
        with tempfile.TemporaryFile() as file:
            try:
                # Of more rows the reader of rows says that they are too many.
                for table in islice(dataset().with_format("arrow").iter(batch_size=1_000), MAX_ROWS // 1_000 + 1):
                    table.validate(full=True)
                    rows = (json.dumps(row, ensure_ascii=False, default=str) for row in table.to_pylist())
                    file.writelines(f"{row}\n".encode(errors="replace") for row in rows)
            except GoldspanError:
                raise
            # Errors that `datasets` or Arrow raise for damaged data.
            except (OSError, ValueError, LookupError, TypeError, RuntimeError) as error:
                reason = f"`datasets` cannot read it: {(str(error).splitlines() or [type(error).__name__])[0][:200]}"
                raise UnreadableFileError(path, reason) from error
            file.seek(0)
            yield file

    return Entry(path, stream, made_from)


def _from_disk(folder: Path) -> Dataset:
    names = [str(file["filename"]) for file in json.loads((folder / _STATE).read_bytes())["_data_files"]]
    if any(Path(name).name != name for name in names):
        raise ValueError(f"{_STATE} names files that are not in its folder")
    return _datasets().load_from_disk(str(folder))


def _from_hub(rows: HubRows) -> Dataset | IterableDataset:
    """The split at its commit: streamed if large, else from the cache, into which it is downloaded first if needed."""
    datasets, hint = _datasets(), "Try again online and without HF_HUB_OFFLINE, or give a local copy instead."
    try:
        with downloading(f"{rows.hub}@{rows.revision}", f"dataset {rows.hub}", hint):
            builder = datasets.load_dataset_builder(rows.hub, rows.config or None, revision=rows.revision)
            if rows.revision not in builder.cache_dir:
                # Without a network, `datasets` takes whatever commit is in the cache.
                raise FileNotFoundError("the cache holds another commit")
            if not Path(builder.cache_dir).is_dir():
                for name in map(str, (builder.config.data_files or {}).get(rows.split, ())):
                    if not name.endswith(_FORMATS):
                        raise UnreadableFileError(name, f"expected one of {', '.join(_FORMATS)}")
                if (builder.info.download_size or 0) >= STREAMED_FROM:
                    return builder.as_streaming_dataset(split=rows.split)
                builder.download_and_prepare()
    except datasets.exceptions.DatasetsError as error:
        raise ValueError(str(error.__cause__ or error)) from error
    return builder.as_dataset(split=rows.split)


def _datasets() -> ModuleType:
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    library = importlib.import_module("datasets")
    library.disable_progress_bars()
    return library
