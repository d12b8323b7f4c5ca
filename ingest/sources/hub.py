"""The publishers' own files: archives in git at pinned commits, and datasets on the Hugging Face hub."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any

from ingest.sources.folder import open_archive
from ingest.sources.repository import git_blob_id
from ingest.sources.tree import HUB, UNKNOWN_SIZE, Entry, Source, Tree, entry_on_disk
from lake.errors import Exit, GoldspanError
from lake.text import listed

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


@dataclass(frozen=True, kw_only=True)
class _Published(Source):
    """A publisher's files, downloaded into a cache when read; without `say` no messages are shown."""

    benchmark: str
    cache: Path
    say: Callable[[str], None] | None = None

    def had(self, wanted: str, where: str, here: str) -> AbstractContextManager[None]:
        """What a download runs in; `here` says what is lacking or where it goes."""
        return downloading(wanted, where, f"{here}\n  {_INSTEAD.format(self.benchmark)}", is_quiet=self.say is None)


@dataclass(frozen=True)
class HubSource(_Published):
    """Archives of a git repository at a commit, at `<base>/<repository>/<commit>/<path>`.

    `archives` maps a path in the benchmark's layout (`datasets`) to the path in the repository and the git blob id.
    """

    repository: str
    commit: str
    archives: Mapping[str, tuple[str, str]]
    base: str = "https://raw.githubusercontent.com"

    @property
    def revision(self) -> str:
        """`owner/name@commit`."""
        return f"{self.repository}@{self.commit}"

    def find(self, path: str) -> Tree | None:
        """See `Source.find`."""
        if path not in self.archives:
            return None
        name, blob_id = self.archives[path]
        url, file = f"{self.base}/{self.repository}/{self.commit}/{name}", self.cache / blob_id
        lacking = [each for each, known in self.archives.values() if not (self.cache / known).is_file()]
        with self.had(name, url, f"Still to download: {listed(lacking)}."):
            if file.is_file() and git_blob_id(file.read_bytes()) == blob_id:
                return open_archive(file, name)
            from huggingface_hub.file_download import http_get

            if self.say is not None:
                self.say(f"downloading {name}")
            self.cache.mkdir(parents=True, exist_ok=True)
            part = file.with_suffix(".part")
            with part.open("wb") as stream:
                http_get(url, stream, displayed_filename=name)
            if (other := git_blob_id(part.read_bytes())) != blob_id:
                part.unlink()
                what = f"{name} is not the pinned file: git blob {other}, not {blob_id}"
                hint = "It was deleted. Either a proxy sent something else, or the publisher changed the file."
                raise GoldspanError(what, where=url, hint=hint, code=Exit.INVALID)
            part.replace(file)
        return open_archive(file, name)


@dataclass(frozen=True)
class DatasetSource(_Published):
    """A dataset's files, each downloaded when it is read.

    The commit is looked up on the hub once and recorded in `<cache>/<owner>--<name>.json`; later runs use that commit
    until the file is deleted.
    """

    dataset: str
    endings: tuple[str, ...]

    @property
    def revision(self) -> str:
        """`owner/name@commit`."""
        return f"{self.dataset}@{self._record()['commit']}"

    def find(self, path: str) -> Tree | None:
        """See `Source.find`; all files are in the folder `.`."""
        if path != ".":
            return None
        names = sorted(name for name in self._record()["sizes"] if name.endswith(self.endings))
        return Tree(path, [Entry(name, UNKNOWN_SIZE, partial(self._opened, name)) for name in names])

    def _opened(self, path: str) -> AbstractContextManager[IO[bytes]]:
        commit, cache = self._record()["commit"], self.cache / "huggingface"
        with self._asked(path):
            from huggingface_hub import snapshot_download

            folder = snapshot_download(
                self.dataset, repo_type="dataset", revision=commit, cache_dir=cache, allow_patterns=[path]
            )
            file = Path(str(folder)) / path
            return entry_on_disk(file, path, file.stat().st_size).open()

    def _asked(self, wanted: str) -> AbstractContextManager[None]:
        here = f"It is downloaded to {self.cache / 'huggingface'}."
        return self.had(f"{wanted} of {self.dataset}", f"dataset {self.dataset} of the Hugging Face hub", here)

    def _record(self) -> dict[str, Any]:
        """The `commit`, and the `sizes` of its files by name."""
        file = self.cache / f"{self.dataset.replace('/', '--')}.json"
        if not file.is_file():
            with self._asked("the commit"):
                from huggingface_hub import HfApi

                info = HfApi().dataset_info(self.dataset, revision="main", files_metadata=True, timeout=30)
            record = {"commit": info.sha, "sizes": {each.rfilename: each.size or 0 for each in info.siblings or []}}
            self.cache.mkdir(parents=True, exist_ok=True)
            beside = file.with_suffix(".tmp")
            beside.write_text(f"{json.dumps(record, indent=1, sort_keys=True)}\n", encoding="utf-8")
            beside.replace(file)
        recorded: dict[str, Any] = json.loads(file.read_bytes())
        return recorded


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
_SOURCES: Mapping[str, Callable[..., Source]] = {
    "repoeval": partial(HubSource, "microsoft/CodeT", "35f54d60b152cc31d134b788e702878ad613d9f7", _CODET),
    "repobench-r": partial(DatasetSource, "tianyang/repobench-r", REPOBENCH_FILES),
    "contextbench": partial(DatasetSource, "Contextbench/ContextBench", (".parquet",)),
}


def open_hub(benchmark: str, cache: Path, *, say: Callable[[str], None] | None = None) -> Source:
    """The publisher's files of a benchmark, kept in a cache; nothing is downloaded yet."""
    if benchmark in _SOURCES:
        return _SOURCES[benchmark](benchmark=benchmark, cache=cache, say=say, name=HUB)
    hint = f"There is: {', '.join(sorted(_SOURCES))}. Give a folder: SOURCE=<folder>."
    raise GoldspanError(f"{benchmark} cannot be fetched from its publisher yet", hint=hint, code=Exit.MISSING)
