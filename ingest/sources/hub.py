"""The publishers' own files: archives in git at pinned commits, and datasets on the Hugging Face hub."""

from __future__ import annotations

import errno
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, ValidationError

from ingest.sources.archive import open_archive
from ingest.sources.download import Remote, UnreachableError, fetch
from ingest.sources.tree import UNKNOWN_SIZE, Entry, Progress, Source, Tree, entry_on_disk, unusable
from lake.errors import Exit, GoldspanError
from lake.fingerprint import sha256_of_file
from lake.text import listed

HUB = "hub"
BRANCH = "main"
_SECONDS = 30
_DISK_FAULTS = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT, errno.ENOTDIR, errno.EEXIST)
_INSTEAD = (
    "Try again with a connection, and without HF_HUB_OFFLINE where that is set; or put these files below\n"
    "  <folder>/{benchmark}/ and give SOURCE=<folder> (and REPOSITORIES=github where rows name repositories),\n"
    "  or SOURCE=sample, which needs neither."
)


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
    """A publisher's archives, downloaded when they are read; see `Source` for what the other attributes say."""

    benchmark: str
    pin: Pin
    cache: Path
    progress: Progress | None = None

    def find(self, path: str) -> Tree | None:
        """As of `Source`."""
        if path not in self.pin.archives:
            return None
        name, blob_id = self.pin.archives[path]
        remote = Remote(f"{self.pin.base}/{self.pin.repository}/{self.pin.commit}/{name}", name, blob_id)
        try:
            return open_archive(fetch(remote, self.cache, self.progress), name)
        except UnreachableError as error:
            what = f"{name} cannot be downloaded from {urlsplit(remote.url).netloc}: {error}"
            lacking = [name for name, blob_id in self.pin.archives.values() if not (self.cache / blob_id).is_file()]
            hint = f"Not here yet: {listed(lacking)}.\n  {_INSTEAD.format(benchmark=self.benchmark)}"
            raise GoldspanError(what, where=remote.url, hint=hint, code=Exit.MISSING) from error


@dataclass(frozen=True)
class Dataset:
    """What is read of a dataset on the hub, `owner/name`.

    Attributes:
        endings: What the names of the files end in that are read.
        commit: An explicit pin; empty where the branch is resolved once and recorded.
    """

    name: str
    endings: tuple[str, ...]
    commit: str = ""


# A script dataset, which `datasets` refuses to load: its files are taken as they are. Its commit is not known here.
DATASETS: Mapping[str, Dataset] = {
    "repobench-r": Dataset(
        "tianyang/repobench-r", ("data/java_cff.gz", "data/java_cfr.gz", "data/python_cff.gz", "data/python_cfr.gz")
    ),
    "contextbench": Dataset("Contextbench/ContextBench", (".parquet",)),
}


class _Record(BaseModel):
    """The commit of a dataset, the sizes of its files in bytes, and the sha256 of those that have come since."""

    model_config = ConfigDict(extra="forbid")

    dataset: str
    commit: str
    sizes: dict[str, int]
    sha256: dict[str, str] = {}


@dataclass
class HuggingFace:
    """What is asked of the hub, by a library that is imported when it is needed: that takes long."""

    shows_progress: bool = False

    def resolve(self, dataset: str, revision: str) -> tuple[str, dict[str, int]]:
        """The commit of a revision, and the sizes of its files in bytes."""
        from huggingface_hub import HfApi

        with _reached():
            info = HfApi().dataset_info(dataset, revision=revision, files_metadata=True, timeout=_SECONDS)
        if not info.sha:
            raise UnreachableError(f"it does not say at which commit {revision} stands")
        return info.sha, {file.rfilename: file.size or 0 for file in info.siblings or []}

    def fetch(self, dataset: str, path: str, commit: str, cache: Path) -> Path:
        """A file of a commit; what the cache holds is not asked for again."""
        from huggingface_hub import snapshot_download
        from huggingface_hub.utils.tqdm import disable_progress_bars

        if not self.shows_progress:
            disable_progress_bars()
        with _reached():
            folder = snapshot_download(
                dataset, repo_type="dataset", revision=commit, cache_dir=cache, allow_patterns=[path]
            )
        file = Path(str(folder)) / path
        if not file.is_file():
            raise UnreachableError(f"{dataset}@{commit} does not have it")
        return file


@contextmanager
def _reached() -> Iterator[None]:
    """Whatever is raised when something cannot be had, as one error; faults of the disk as they are."""
    from httpx2 import HTTPError  # the connection's own errors, which huggingface_hub lets through
    from huggingface_hub.errors import XetDownloadError

    try:
        yield
    except (OSError, HTTPError, XetDownloadError) as error:
        if isinstance(error, OSError) and error.errno in _DISK_FAULTS:
            raise
        raise UnreachableError(" ".join(str(error).split()) or type(error).__name__) from error


@dataclass(frozen=True)
class DatasetSource(Source):
    """A dataset's files, each downloaded when it is read; see `Source` for what the other attributes say.

    The hub is asked for the commit the first time, and the answer is recorded in `<cache>/<owner>--<name>.json`. Later
    runs keep to it, and refuse a file that is not the one that came then, until the record is deleted or a commit
    pinned.
    """

    benchmark: str
    dataset: Dataset
    cache: Path
    hub: HuggingFace = field(default_factory=HuggingFace)

    @property
    def revision(self) -> str:
        """`owner/name@commit`.

        Raises:
            GoldspanError: The commit is not recorded here and cannot be had (code MISSING).
        """
        return f"{self.dataset.name}@{self._record().commit}"

    def find(self, path: str) -> Tree | None:
        """As of `Source`; what is read lies in the folder `.`."""
        if path != ".":
            return None
        sizes = self._record().sizes
        files = sorted(name for name in sizes if name.endswith(self.dataset.endings))
        return Tree(path, [self._entry(name, sizes[name] or UNKNOWN_SIZE) for name in files])

    def _entry(self, path: str, size: int) -> Entry:
        return Entry(path, size, lambda: self._downloaded(path).read(), lambda: self._downloaded(path).open())

    def _downloaded(self, path: str) -> Entry:
        """A file of the dataset on this machine, checked against what came first."""
        record = self._record()
        with self._had(path):
            file = self.hub.fetch(self.dataset.name, path, record.commit, self.cache / "huggingface")
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

    def _record(self) -> _Record:
        """What is recorded of the commit; resolved and recorded where nothing is, or a pin is another commit."""
        try:
            if self._file.is_file():
                record = _Record.model_validate_json(self._file.read_bytes())
                if self.dataset.commit in ("", record.commit):
                    return record
        except ValidationError as error:
            what = f"what was recorded of {self.dataset.name} cannot be read: {error.errors()[0]['msg']}"
            hint = f"Delete it; {BRANCH} is then resolved anew."
            raise GoldspanError(what, where=str(self._file), hint=hint, code=Exit.INVALID) from error
        with self._had("the commit"):
            commit, sizes = self.hub.resolve(self.dataset.name, self.dataset.commit or BRANCH)
        record = _Record(dataset=self.dataset.name, commit=commit, sizes=sizes)
        self._keep(record)
        return record

    def _keep(self, record: _Record) -> None:
        text = f"{json.dumps(record.model_dump(), indent=1, sort_keys=True)}\n"
        beside = self._file.with_suffix(".tmp")
        with self._had(""):
            self.cache.mkdir(parents=True, exist_ok=True)
            beside.write_text(text, encoding="utf-8")
            beside.replace(self._file)

    @contextmanager
    def _had(self, wanted: str) -> Iterator[None]:
        try:
            yield
        except UnreachableError as error:
            what = f"{wanted} of {self.dataset.name} cannot be had from the Hugging Face hub: {error}"
            hint = f"It would go into {self.cache / 'huggingface'}.\n  {_INSTEAD.format(benchmark=self.benchmark)}"
            raise GoldspanError(what, where=f"dataset {self.dataset.name}", hint=hint, code=Exit.MISSING) from error
        except OSError as error:
            raise unusable(self.cache, error) from error


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
        return HubSource(benchmark, pin, cache, progress, name=HUB, pinned=f"{pin.repository}@{pin.commit}")
    if benchmark in DATASETS:
        return DatasetSource(benchmark, DATASETS[benchmark], cache, HuggingFace(progress is not None), name=HUB)
    hint = f"There is: {', '.join(sorted({*pins, *DATASETS}))}. Give a folder: SOURCE=<folder>."
    raise GoldspanError(f"{benchmark} cannot be fetched from its publisher yet", hint=hint, code=Exit.MISSING)
