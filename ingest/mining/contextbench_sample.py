"""ContextBench's sample: a folder in upstream layout, and beside it the repositories that its rows name."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from filelock import FileLock

from ingest.mining.sample import DATA, OWN_LICENCE
from ingest.sources.folder import FolderSource
from ingest.sources.git import Repositories
from ingest.sources.git_process import GitProcess
from ingest.sources.tree import unusable
from lake.errors import GoldspanError
from lake.fingerprint import fingerprint, sha256_of_file

ROOT = DATA / "contextbench"
STREAMS = ROOT / "repositories"
"""The folder of the repositories: `<owner>/<name>.fast-export`, as `git fast-export` writes one, with every date and
author, so that each commit has the same id wherever it is made."""


@dataclass(frozen=True)
class ContextBenchSample(FolderSource):
    """The sample, and the cache its repositories are made in and fetched to; see `Source` for the other attributes."""

    cache: Path

    @cached_property
    def own_repositories(self) -> Repositories:
        """Its own, made where the cache does not hold them, and cloned as all others are."""
        folder = self.cache.resolve() / "contextbench-sample" / self.revision
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with FileLock(folder / ".lock"):
                for name, stream in _streams().items():
                    _make(folder / name, stream)
        except OSError as error:
            raise unusable(self.cache, error) from error
        return Repositories(self.cache, base=folder.as_uri())


def contextbench_sample(cache: Path) -> ContextBenchSample:
    """ContextBench's sample, its repositories made in a cache when they are asked for."""
    files = sorted(file for file in ROOT.rglob("*") if file.is_file())
    revision = fingerprint([(file.relative_to(ROOT), sha256_of_file(file)) for file in files])[:16]
    licences = dict.fromkeys(_streams(), OWN_LICENCE)
    return ContextBenchSample(ROOT, cache, name="sample", label="sample", pinned=revision, licences=licences)


def _streams() -> dict[str, Path]:
    """`owner/name` → what a repository is made of."""
    files = sorted(STREAMS.rglob("*.fast-export"))
    return {file.relative_to(STREAMS).with_suffix("").as_posix(): file for file in files}


def _make(folder: Path, stream: Path) -> None:
    """A bare repository of what was exported; one that is there already stays."""
    if folder.is_dir():
        return
    beside = folder.with_name(f"{folder.name}.{os.getpid()}.new")
    shutil.rmtree(beside, ignore_errors=True)
    git = GitProcess(beside)
    git.make()
    git.run("config", "uploadpack.allowFilter", "true")
    done = git.run("fast-import", "--quiet", given=stream.read_bytes())
    if done.code:
        what = f"a repository of the sample cannot be made: {done.reason}"
        raise GoldspanError(what, where=str(beside), hint="Check space and permissions.")
    beside.replace(folder)
