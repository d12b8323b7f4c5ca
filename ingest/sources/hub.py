"""The publishers' own files at pinned commits, downloaded once and checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from ingest.sources.archive import open_archive
from ingest.sources.download import Remote, UnreachableError, fetch
from ingest.sources.hub_dataset import DATASETS, open_dataset
from ingest.sources.tree import Progress, Source, Tree
from lake.errors import Exit, GoldspanError
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
"""Benchmark → where its publisher keeps it."""


@dataclass(frozen=True)
class HubSource(Source):
    """A publisher's archives; see `Source` for what the attributes say."""

    pin: Pin
    cache: Path
    revision: str
    progress: Progress | None = None
    name: str = "hub"
    label: str = ""
    licences: Mapping[str, str] = field(default_factory=dict)

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


def open_hub(
    benchmark: str, cache: Path, *, progress: Progress | None = None, pins: Mapping[str, Pin] = PINS
) -> Source:
    """The publisher's files of a benchmark, in git or on the Hugging Face hub; nothing is downloaded yet.

    Args:
        benchmark: The benchmark's name; a `GoldspanError` says which there are.
        cache: Where downloads are kept.
        progress: Called with bytes done, bytes in all (0 where unknown) and the file's name.
        pins: What is pinned in git; another one for tests.
    """
    if (pin := pins.get(benchmark)) is not None:
        return HubSource(pin, cache, f"{pin.repository}@{pin.commit}", progress)
    if benchmark in DATASETS:
        return open_dataset(benchmark, cache, progress=progress)
    hint = f"There is: {', '.join(sorted({*pins, *DATASETS}))}. Give a folder: SOURCE=<folder>."
    what = f"{benchmark} cannot be fetched from its publisher yet"
    raise GoldspanError(what, hint=hint, code=Exit.MISSING)
