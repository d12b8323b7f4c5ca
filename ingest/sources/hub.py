"""The publishers' own files: archives in git at pinned commits, and datasets on the Hugging Face hub."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO

from ingest.sources.folder import open_archive
from ingest.sources.repository import git_blob_id
from ingest.sources.tree import HUB, Entry, Source, Tree
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
        lacking = [each for each, known in archives.values() if not (cache / known).is_file()]
        hint = f"Still to download: {listed(lacking)}.\n  {_INSTEAD.format(benchmark)}"
        with downloading(name, url, hint, is_quiet=say is None):
            if file.is_file() and git_blob_id(file.read_bytes()) == blob_id:
                return open_archive(file, name)
            from huggingface_hub.file_download import http_get

            if say is not None:
                say(f"downloading {name}")
            cache.mkdir(parents=True, exist_ok=True)
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
    if benchmark in _SOURCES:
        source, *pin = _SOURCES[benchmark]
        return source(benchmark, cache, say, *pin)
    hint = f"There is: {', '.join(sorted(_SOURCES))}. Give a folder: SOURCE=<folder>."
    raise GoldspanError(f"{benchmark} cannot be fetched from its publisher yet", hint=hint, code=Exit.MISSING)
