"""The publishers' own files: archives in git at pinned commits, and datasets on the Hugging Face hub."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, ValidationError

from ingest.sources.archive import open_archive
from ingest.sources.download import HuggingFace, Remote, UnreachableError, fetch
from ingest.sources.tree import UNKNOWN_SIZE, Entry, Progress, Source, Tree, entry_on_disk, unusable
from lake.errors import Exit, GoldspanError
from lake.fingerprint import sha256_of_file
from lake.text import listed


@dataclass(frozen=True)
class Pin:
    """A commit of a publisher's git repository, `owner/name`.

    Attributes:
        archives: Path in the benchmark's layout (`datasets`) → path in the repository and git blob id.
        base: Where files of a commit are served: `<base>/<repository>/<commit>/<path>`.
    """

    repository: str
    commit: str
    archives: Mapping[str, tuple[str, str]]
    base: str = "https://raw.githubusercontent.com"

    def remote(self, path: str) -> Remote:
        """The archive of a path in the layout."""
        name, blob_id = self.archives[path]
        return Remote(f"{self.base}/{self.repository}/{self.commit}/{name}", name, blob_id)


PINS: Mapping[str, Pin] = {
    "repoeval": Pin(
        repository="microsoft/CodeT",
        commit="35f54d60b152cc31d134b788e702878ad613d9f7",
        archives={
            "datasets": ("RepoCoder/datasets/datasets.zip", "0f8a50199e2a3c38ab5322302138ac026f6255a6"),
            "repositories/function_level": (
                "RepoCoder/repositories/function_level.zip",
                "7dfc4a9f6ccf5ff84864359050b1eb5c65572ced",
            ),
            "repositories/line_and_api_level": (
                "RepoCoder/repositories/line_and_api_level.zip",
                "90b701a8c1106365465b398b15a844aec7f3da36",
            ),
        },
    ),
}


@dataclass(frozen=True)
class HubSource(Source):
    """A publisher's archives; see `Source` for what the attributes say."""

    pin: Pin
    cache: Path
    progress: Progress | None = None

    def find(self, path: str) -> Tree | None:
        """As of `Source`, downloaded where the cache does not hold it, and refused where it is not the pinned file."""
        if path not in self.pin.archives:
            return None
        remote = self.pin.remote(path)
        try:
            return open_archive(fetch(remote, self.cache, self.progress), remote.name)
        except UnreachableError as error:
            raise self._unreachable(remote, str(error)) from error

    def _unreachable(self, remote: Remote, reason: str) -> GoldspanError:
        part = self.cache / f"{remote.blob_id}.part"
        kept = part.stat().st_size if part.is_file() else 0
        names = [name for name, blob_id in self.pin.archives.values() if not (self.cache / blob_id).is_file()]
        lines = [
            f"Not here yet: {listed(names)} of {self.revision} (sizes unknown until the server is reached).",
            *([f"{kept:,} bytes of {remote.name} are kept; the next try goes on from there."] if kept else []),
            "Try again with a connection; or put these archives into a folder as datasets.zip and",
            "repositories/<level>.zip and give SOURCE=<that folder>; or SOURCE=sample, which needs neither.",
        ]
        what = f"{remote.name} cannot be downloaded from {urlsplit(remote.url).netloc}: {reason}"
        return GoldspanError(what, where=remote.url, hint="\n  ".join(lines), code=Exit.MISSING)


HUB = "hub"
BRANCH = "main"


@dataclass(frozen=True)
class Dataset:
    """What is read of a dataset on the hub, `owner/name`.

    Attributes:
        files: Folder → the files in it, called in the benchmark's layout as in the dataset.
        commit: An explicit pin; empty where the branch is resolved once and recorded.
        ending: Where the names are not known here: every file that ends so is read, and lies in the folder `.`.
    """

    name: str
    files: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    commit: str = ""
    ending: str = ""

    @property
    def paths(self) -> list[str]:
        """Every file that is read, as the dataset calls it."""
        return [f"{folder}/{name}" for folder, names in self.files.items() for name in names]

    def has(self, path: str) -> bool:
        """Whether a file of the dataset is read."""
        return path in self.paths or (self.ending != "" and path.endswith(self.ending))


# A script dataset, which `datasets` refuses to load: its files are taken as they are. Its commit is not known here.
DATASETS: Mapping[str, Dataset] = {
    "repobench-r": Dataset(
        name="tianyang/repobench-r",
        files={"data": ("java_cff.gz", "java_cfr.gz", "python_cff.gz", "python_cfr.gz")},
    ),
    "contextbench": Dataset(name="Contextbench/ContextBench", ending=".parquet"),
}


class _Record(BaseModel):
    """What was resolved, and what has come since: file → its sha256, and its size in bytes."""

    model_config = ConfigDict(extra="forbid")

    dataset: str
    commit: str
    sha256: dict[str, str] = {}
    sizes: dict[str, int] = {}


@dataclass(frozen=True)
class DatasetSource(Source):
    """A dataset's files; see `Source` for what the other attributes say.

    The hub is asked for the commit the first time, and the answer is recorded in `<cache>/<owner>--<name>.json`. Later
    runs keep to it, and refuse a file that is not the one that came then, until the record is deleted or a commit
    pinned.
    """

    benchmark: str
    dataset: Dataset
    cache: Path
    hub: HuggingFace = field(default_factory=HuggingFace)
    progress: Progress | None = None

    @property
    def revision(self) -> str:
        """`owner/name@commit`.

        Raises:
            GoldspanError: The commit is not recorded here and cannot be had (code MISSING).
        """
        return f"{self.dataset.name}@{self._record().commit}"

    def find(self, path: str) -> Tree | None:
        """As of `Source`; a file is downloaded when it is read, which raises as `revision` does."""
        if path in self.dataset.files:
            sizes = self._record().sizes
            paths = {name: f"{path}/{name}" for name in self.dataset.files[path]}
        elif path == "." and self.dataset.ending:
            sizes = self._record().sizes
            paths = {name: name for name in sizes}
        else:
            return None
        return Tree(path, [self._entry(name, at, sizes.get(at, UNKNOWN_SIZE)) for name, at in sorted(paths.items())])

    def _entry(self, name: str, path: str, size: int) -> Entry:
        return Entry(name, size, lambda: self._downloaded(path).read(), lambda: self._downloaded(path).open())

    def _downloaded(self, path: str) -> Entry:
        """A file of the dataset on this machine, checked against what came first."""
        record = self._record()
        with self._one_error(record, path):
            file = self.hub.fetch(self.dataset.name, path, record.commit, self._downloads, self.progress)
            size, digest = file.stat().st_size, sha256_of_file(file)
        expected = record.sha256.setdefault(path, digest)
        if digest != expected:
            what = f"{path} of {self.dataset.name}@{record.commit} is not the file that came first: sha256 {digest}"
            hint = f"It was {expected}. To take what comes now, delete the file and {self._file}."
            raise GoldspanError(what, where=str(file), hint=hint, code=Exit.INVALID)
        self._keep(record)
        return entry_on_disk(file, path, self.dataset.name, size)

    @property
    def _file(self) -> Path:
        return self.cache / f"{self.dataset.name.replace('/', '--')}.json"

    @property
    def _downloads(self) -> Path:
        return self.cache / "huggingface"

    def _record(self) -> _Record:
        """What is recorded of the commit; resolved and recorded where nothing is and none is pinned."""
        pinned, known = self.dataset.commit, self._known()
        if known is not None and pinned in ("", known.commit):
            return known
        if pinned and not self.dataset.ending:
            return _Record(dataset=self.dataset.name, commit=pinned)
        with self._one_error(None, ""):
            commit, sizes = self.hub.resolve(self.dataset.name, pinned or BRANCH)
        sizes = {path: size for path, size in sizes.items() if self.dataset.has(path)}
        record = _Record(dataset=self.dataset.name, commit=commit, sizes=sizes)
        self._keep(record)
        return record

    def _known(self) -> _Record | None:
        with self._one_error(None, ""):
            data = self._file.read_bytes() if self._file.is_file() else None
        try:
            return _Record.model_validate_json(data) if data is not None else None
        except ValidationError as error:
            what = f"what was recorded of {self.dataset.name} cannot be read: {error.errors()[0]['msg']}"
            hint = f"Delete it; {BRANCH} is then resolved anew."
            raise GoldspanError(what, where=str(self._file), hint=hint, code=Exit.INVALID) from error

    def _keep(self, record: _Record) -> None:
        if record == self._known():
            return
        beside = self._file.with_suffix(".tmp")
        with self._one_error(record, ""):
            self.cache.mkdir(parents=True, exist_ok=True)
            beside.write_text(f"{json.dumps(record.model_dump(), indent=1, sort_keys=True)}\n", encoding="utf-8")
            beside.replace(self._file)

    @contextmanager
    def _one_error(self, record: _Record | None, path: str) -> Iterator[None]:
        try:
            yield
        except UnreachableError as error:
            raise self._unreachable(record, path, str(error)) from error
        except OSError as error:
            raise unusable(self.cache, error) from error

    def _unreachable(self, record: _Record | None, path: str, reason: str) -> GoldspanError:
        at, sizes, here = (record.commit, record.sizes, record.sha256) if record is not None else (BRANCH, {}, {})
        known = [*self.dataset.paths, *(name for name in sizes if name not in self.dataset.paths)]
        missing = [name for name in known if name not in here or name == path] or [f"data/*{self.dataset.ending}"]
        names = ", ".join(f"{name} ({sizes[name]:,} bytes)" if name in sizes else name for name in missing)
        unknown = "" if all(name in sizes for name in missing) else " (sizes unknown until the server is reached)"
        lines = [
            f"Not here yet: {names} of {self.dataset.name}@{at}{unknown}; they go into {self._downloads}.",
            "Try again with a connection, and without HF_HUB_OFFLINE where that is set; or put these files, or an",
            f"export as Parquet or JSONL, below <folder>/{self.benchmark}/ by these names and give SOURCE=<folder>",
            "(and REPOSITORIES=github, or the URL they lie below, where rows name repositories at commits);",
            "or SOURCE=sample, which needs neither.",
        ]
        wanted = f"{path} of {self.dataset.name}" if path else f"the commit of {self.dataset.name}"
        what = f"{wanted} cannot be had from the Hugging Face hub: {reason}"
        where = f"dataset {self.dataset.name}"
        return GoldspanError(what, where=where, hint="\n  ".join(lines), code=Exit.MISSING)


def open_hub(
    benchmark: str, cache: Path, *, progress: Progress | None = None, pins: Mapping[str, Pin] = PINS
) -> Source:
    """The publisher's files of a benchmark, in git or on the Hugging Face hub; nothing is downloaded yet.

    Args:
        benchmark: The benchmark's name.
        cache: Where downloads are kept.
        progress: Called with bytes done, bytes in all (0 where unknown) and the file's name.
        pins: What is pinned in git, and then alone; another one for tests.

    Raises:
        GoldspanError: The benchmark is neither pinned here nor a dataset.
    """
    if (pin := pins.get(benchmark)) is not None:
        return HubSource(pin, cache, progress, name=HUB, pinned=f"{pin.repository}@{pin.commit}")
    if benchmark in DATASETS:
        return DatasetSource(benchmark, DATASETS[benchmark], cache, progress=progress, name=HUB)
    hint = f"There is: {', '.join(sorted({*pins, *DATASETS}))}. Give a folder: SOURCE=<folder>."
    raise GoldspanError(f"{benchmark} cannot be fetched from its publisher yet", hint=hint, code=Exit.MISSING)
