"""The publishers' own files, and data sets read with the library `datasets`, from the hub or from a folder.

A data set becomes an entry of JSON Lines, which the reader of rows can read.
"""

from __future__ import annotations

import importlib
import json
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import IO, TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field

from ingest.sources.folder import open_archive
from ingest.sources.repository import git_blob_id
from ingest.sources.tree import HUB, Entry, Source, Tree, UnreadableFileError, entry_on_disk
from lake.errors import Exit, GoldspanError, lookup
from lake.fingerprint import fingerprint, sha256_of_file
from lake.limits import MAX_ROWS
from lake.text import listed

if TYPE_CHECKING:
    from datasets import Dataset, IterableDataset  # type: ignore[import-untyped]  # ships no types

_INSTEAD = (
    "Try again online and without HF_HUB_OFFLINE; or put these files below\n"
    "  <folder>/{}/ and give SOURCE=<folder> (and REPOSITORIES=github where rows name repositories),\n"
    "  or SOURCE=sample, which needs neither."
)


@contextmanager
def downloading(wanted: str, where: str, hint: str, *, is_quiet: bool = True) -> Iterator[None]:
    """Turn errors while downloading `wanted` into one `GoldspanError`."""
    # Imported when needed, as it is slow. huggingface_hub lets the connection's own errors through.
    from httpx2 import HTTPError
    from huggingface_hub.errors import XetDownloadError
    from huggingface_hub.utils.logging import set_verbosity_error
    from huggingface_hub.utils.tqdm import disable_progress_bars

    # It reports each attempt; the final error is reported here.
    set_verbosity_error()  # type: ignore[no-untyped-call]  # untyped
    if is_quiet:
        disable_progress_bars()
    try:
        yield
    except (OSError, HTTPError, XetDownloadError) as error:
        what = f"{wanted} cannot be downloaded: {' '.join(str(error).split()) or type(error).__name__}"
        raise GoldspanError(what, where=where, hint=hint, code=Exit.MISSING) from error


Say = Callable[[str], None] | None


def archive_source(
    benchmark: str,
    cache: Path,
    say: Say,
    repository: str,
    commit: str,
    archives: Mapping[str, tuple[str, str]],
    base: str = "https://raw.githubusercontent.com",
) -> Source:
    """Archives of a git repository, downloaded when read; `archives`: path in the layout → path there and blob id."""

    def find(path: str) -> Tree | None:
        if path not in archives:
            return None
        name, blob_id = archives[path]
        url, file = f"{base}/{repository}/{commit}/{name}", cache / blob_id
        hint = f"Needed: {listed([each for each, _ in archives.values()])}.\n  {_INSTEAD.format(benchmark)}"
        with downloading(name, url, hint, is_quiet=say is None):
            if not file.is_file() or git_blob_id(file.read_bytes()) != blob_id:
                from huggingface_hub.file_download import http_get

                if say is not None:
                    say(f"downloading {name}")
                cache.mkdir(parents=True, exist_ok=True)
                part = file.with_suffix(".part")
                with part.open("wb") as stream:
                    http_get(url, stream, displayed_filename=name)
                if (other := git_blob_id(part.read_bytes())) != blob_id:
                    part.unlink()
                    what = f"{name} is not the pinned file: git blob {other}, not {blob_id}; was it changed on the way?"
                    raise GoldspanError(what, where=url, code=Exit.INVALID)
                part.replace(file)
            return open_archive(file, name)

    return Source(name=HUB, find=find, revision=f"{repository}@{commit}")


def _dataset_source(benchmark: str, cache: Path, say: Say, dataset: str, endings: tuple[str, ...]) -> Source:
    """A dataset's files, downloaded when read, at a commit that is looked up once and recorded in the cache."""
    home, file = cache / "huggingface", cache / f"{dataset.replace('/', '--')}.json"
    hint, where = f"It is downloaded to {home}.", f"dataset {dataset} of the Hugging Face hub"
    had = partial(downloading, where=where, hint=f"{hint}\n  {_INSTEAD.format(benchmark)}", is_quiet=say is None)
    if not file.is_file():
        with had(f"the commit of {dataset}"):
            from huggingface_hub import HfApi

            info = HfApi().dataset_info(dataset, revision="main", files_metadata=True, timeout=30)
        record = {"commit": info.sha, "sizes": {each.rfilename: each.size or 0 for each in info.siblings or []}}
        cache.mkdir(parents=True, exist_ok=True)
        beside = file.with_suffix(".tmp")
        beside.write_text(f"{json.dumps(record, indent=1, sort_keys=True)}\n", encoding="utf-8")
        beside.replace(file)
    record = json.loads(file.read_bytes())
    commit = record["commit"]

    def opened(path: str) -> IO[bytes]:
        with had(f"{path} of {dataset}"):
            from huggingface_hub import snapshot_download

            folder = snapshot_download(
                dataset, repo_type="dataset", revision=commit, cache_dir=home, allow_patterns=[path]
            )
            return Path(str(folder), path).open("rb")

    names = sorted(name for name in record["sizes"] if name.endswith(endings))
    tree = Tree(".", [Entry(name, partial(opened, name)) for name in names])
    return Source(name=HUB, find={".": tree}.get, revision=f"{dataset}@{commit}")


_CODET = {
    "datasets": ("RepoCoder/datasets/datasets.zip", "0f8a50199e2a3c38ab5322302138ac026f6255a6"),
    "repositories/function_level": (
        "RepoCoder/repositories/function_level.zip",
        "7dfc4a9f6ccf5ff84864359050b1eb5c65572ced",
    ),
    "repositories/line_and_api_level": (
        "RepoCoder/repositories/line_and_api_level.zip",
        "90b701a8c1106365465b398b15a844aec7f3da36",
    ),
}
REPOBENCH_FILES = ("data/java_cff.gz", "data/java_cfr.gz", "data/python_cff.gz", "data/python_cfr.gz")

# RepoBench-R is a script dataset, which `datasets` refuses to load, so its files are read directly.
_SOURCES: Mapping[str, tuple[Callable[..., Source], *tuple[object, ...]]] = {
    "repoeval": (archive_source, "microsoft/CodeT", "35f54d60b152cc31d134b788e702878ad613d9f7", _CODET),
    "repobench-r": (_dataset_source, "tianyang/repobench-r", REPOBENCH_FILES),
    "contextbench": (_dataset_source, "Contextbench/ContextBench", (".parquet",)),
}


def open_hub(benchmark: str, cache: Path, *, say: Say = None) -> Source:
    """The publisher's files of a benchmark, kept in a cache and downloaded when read; without `say`, no messages."""
    source, *pin = lookup(benchmark, "benchmark of SOURCE=hub", _SOURCES, code=Exit.MISSING)
    return source(benchmark, cache, say, *pin)


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
