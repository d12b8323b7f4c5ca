"""The Hugging Face hub by `huggingface_hub`: which commit a branch stands at, and the files of a commit."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ingest.sources.download import TIMEOUT_SECONDS, UnreachableError
from ingest.sources.tree import Progress

_DISK_FAULTS = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT, errno.ENOTDIR, errno.EEXIST)


class HuggingFace:
    """What is asked of the hub, by a library that is imported when it is needed: that takes long.

    HF_HUB_OFFLINE and the like hold as the user has set them. What cannot be had is an `UnreachableError`; a cache that
    cannot be written is an `OSError`.
    """

    def resolve(self, dataset: str, branch: str) -> tuple[str, dict[str, int]]:
        """The commit a branch stands at, and the sizes of its files in bytes where it says them; asked for once."""
        from huggingface_hub import HfApi

        with _mapped():
            info = HfApi().dataset_info(dataset, revision=branch, files_metadata=True, timeout=TIMEOUT_SECONDS)
        if not info.sha:
            message = f"it does not say at which commit {branch} stands"
            raise UnreachableError(message)
        return info.sha, {each.rfilename: each.size for each in info.siblings or [] if each.size is not None}

    def fetch(self, dataset: str, path: str, commit: str, cache: Path, progress: Progress | None) -> Path:
        """A file of a commit; what the cache holds is not asked for again, what has arrived of it is kept."""
        from huggingface_hub import HfApi, hf_hub_download, try_to_load_from_cache

        cached = try_to_load_from_cache(dataset, path, cache_dir=cache, revision=commit, repo_type="dataset")
        if isinstance(cached, str):
            return Path(cached)
        with _mapped():
            # A download tries for half a minute and prints as much; this says at once that nothing is to be had.
            HfApi().dataset_info(dataset, revision=commit, timeout=TIMEOUT_SECONDS)
            file = hf_hub_download(
                dataset, path, repo_type="dataset", revision=commit, cache_dir=cache, tqdm_class=_bar(path, progress)
            )
        return Path(str(file))


@contextmanager
def _mapped() -> Iterator[None]:
    """Whatever is raised when something cannot be had, as one error; faults of the disk as they are."""
    from httpx2 import HTTPError  # the connection's own errors, which huggingface_hub lets through
    from huggingface_hub.errors import EntryNotFoundError, XetDownloadError

    try:
        yield
    except (OSError, HTTPError, EntryNotFoundError, XetDownloadError) as error:
        if isinstance(error, OSError) and error.errno in _DISK_FAULTS:
            raise
        raise UnreachableError(" ".join(str(error).split()) or type(error).__name__) from error


def _bar(path: str, progress: Progress | None) -> type[object]:
    """A progress bar that prints nothing and tells `progress`."""
    from huggingface_hub.utils.tqdm import tqdm

    class Bar(tqdm):
        def __init__(self, *, initial: int | None = 0, total: int | None = None, **options: object) -> None:
            self.done, self.whole = initial or 0, total or 0
            options["disable"] = True
            super().__init__(initial=initial, total=total, **options)  # type: ignore[no-untyped-call]  # it has no types

        def update(self, n: float | None = 1) -> None:
            self.done += int(n or 0)
            if progress is not None:
                progress(self.done, self.whole, path)

    return Bar
