"""The bundled sample: what is mined from packages that the application installs anyway, and from Java of our own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ingest.mining.layouts import Mined, repobench_folders, repoeval_folders
from ingest.mining.miner import Recipe, folder_of
from ingest.mining.packages import Package, read_package
from ingest.sources.folder import read_folder
from ingest.sources.tree import Entry, Recorded, Tree
from lake.errors import Exit, GoldspanError

DATA = Path(__file__).parent / "data"
"""Code and rows of our own, as plain files."""

PACKAGES: dict[str, Recipe] = {
    "attrs": Recipe("python-attrs/attrs", split="train"),
    "click": Recipe("pallets/click"),
    "fsspec": Recipe("fsspec/filesystem_spec"),
    "gitpython": Recipe("gitpython-developers/GitPython"),
    "httpx2": Recipe("pydantic/httpx2"),
    "jinja2": Recipe("pallets/jinja"),
    "jsonschema": Recipe("python-jsonschema/jsonschema"),
    "markdown-it-py": Recipe("executablebooks/markdown-it-py"),
    "packaging": Recipe("pypa/packaging"),
    "python-dateutil": Recipe("dateutil/dateutil"),
    "rich": Recipe("Textualize/rich"),
}
"""Package → what is mined from it, under the name of where it is developed. Each is pure Python, permissively licensed
and pinned to one version for every platform in requirements.txt, so that the sample is the same everywhere."""

OWN = (
    Recipe("goldspan-sample/orchard", "java"),
    Recipe("goldspan-sample/railway", "java"),
    Recipe("goldspan-sample/lending", "java", split="train"),
)
"""What is mined from `data/java/<repository>`."""

OWN_LICENCE = "MIT"
"""As all of this project."""

BENCHMARKS = ("repobench-r", "repoeval")
"""Which benchmarks there is a sample of here; ContextBench's is `contextbench_sample`."""


@dataclass(frozen=True)
class SampleSource:
    """A benchmark's layout over what is mined; see `Source` for what the attributes say.

    Attributes:
        folders: The folders of the upstream layout → their files.
        revision: The packages it is cut from: `attrs==26.1.0 click==8.5.1 …`.
    """

    folders: Mapping[str, Sequence[Entry]]
    revision: str
    licences: dict[str, str]
    name: str = "sample"
    label: str = "sample"

    def tree(self, *paths: str) -> Tree | None:
        """The first of some folders that the sample has."""
        return next((Tree(path, self.folders[path]) for path in paths if path in self.folders), None)

    def recorded(self) -> Sequence[Recorded]:
        """None: its runs are ContextBench's."""
        return ()


def open_sample(benchmark: str) -> SampleSource:
    """The sample of a benchmark; packages are listed, nothing is read or mined before an entry is.

    Raises:
        GoldspanError: The benchmark has no sample, or a package is missing.
    """
    if benchmark not in BENCHMARKS:
        hint = f"There is one of contextbench, {' and '.join(BENCHMARKS)}. Give a folder: SOURCE=<folder>."
        what = f"there is no sample of {benchmark}"
        raise GoldspanError(what, hint=hint, code=Exit.MISSING)
    packages = [(read_package(name), recipe) for name, recipe in PACKAGES.items()]
    revision = " ".join(package.pin for package, _ in packages)
    mined = [of_package(package, recipe) for package, recipe in packages]
    if benchmark == "repoeval":
        licences = {folder_of(one.recipe.repository): one.licence for one in mined}
        return SampleSource(repoeval_folders(mined), revision, licences)
    mined += map(of_folder, OWN)
    licences = {one.recipe.repository: one.licence for one in mined}
    return SampleSource(repobench_folders(mined), revision, licences)


def of_package(package: Package, recipe: Recipe) -> Mined:
    """What a recipe mines from an installed package."""
    files = [Entry(file.path, file.size, file.read, made_from=file.digest) for file in package.files.values()]
    return Mined(recipe, files, package.licence)


def of_folder(recipe: Recipe, data: Path = DATA) -> Mined:
    """What a recipe mines from a folder of Java of our own, `java/<repository>`."""
    return Mined(recipe, read_folder(data / "java" / recipe.repository, recipe.repository).entries, OWN_LICENCE)
