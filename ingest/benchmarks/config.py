"""Own data read by the rules of a benchmark: the declaration that `--config` reads, in the form that `list` prints."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from os.path import realpath
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Discriminator, Field, Tag, create_model

from ingest.benchmarks.declaration import Benchmark, DataLocation, declared_files
from ingest.sources.folder import find_in, open_archive
from ingest.sources.hub import HubRows, entry_of, is_saved
from ingest.sources.strict_yaml import read_yaml, shown, validated
from ingest.sources.tree import Source, Tree
from lake.benchmarks import protocols
from lake.errors import Exit, GoldspanError, did_you_mean
from lake.fingerprint import fingerprint
from lake.tables import SITE_PAGES

OWN, PUBLISHED_LABEL = "own", "published"
"""The label of own data that has a name of its own and no other label, and the label of the published data."""
RESERVED: Mapping[str, str] = {
    PUBLISHED_LABEL: "the published data",
    "sample": "the bundled sample",
    "mined": "what is mined from a repository or from packages",
}

_HINT = "Expected a config file like those that `python -m ingest list benchmarks --format yaml` prints."
_DESCRIBED = ("title", "meaning", "homepage", "paper", "licence", "citation")
_PRINTED = ("name", "display_name", *_DESCRIBED[:2], "version", "tags", *_DESCRIBED[2:], "subsets", "default_subsets")
_KEYS = {"meaning": "description", "licence": "license"}
NAME = r"^[A-Za-z0-9][A-Za-z0-9_-]{0,39}$"
"""The form of a name for own data."""

_STRICT = ConfigDict(extra="forbid", strict=True, frozen=True)
_KeyPath = Annotated[str, Field(pattern=r"^[^.\s]+(\.[^.\s]+)*$")]
_AsTuple = BeforeValidator(lambda paths: tuple(paths) if isinstance(paths, list) else (paths,))
_KeyPaths = Annotated[tuple[_KeyPath, ...], _AsTuple, Field(min_length=1)]
_File = Annotated[str, Field(pattern=r"^[^\x00]+$"), Tag("file")]
_Hub = Annotated[HubRows, Tag("hub")]
_Data = Annotated[_File | _Hub, Discriminator(lambda value: "hub" if isinstance(value, dict | HubRows) else "file")]


class DataDeclaration(BaseModel):
    """A declaration of own data; the published licence and home page do not apply, so both are empty by default."""

    model_config = _STRICT

    name: Annotated[str, Field(pattern=NAME)]
    like: str = ""
    label: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$")]
    data: BaseModel
    fields: BaseModel
    title: str | None = None
    meaning: Annotated[str | None, Field(alias="description")] = None
    homepage: str = ""
    paper: str | None = None
    licence: Annotated[str, Field(alias="license")] = ""
    citation: str | None = None


def describe(benchmark: Benchmark) -> dict[str, object]:
    """A benchmark as a declaration: with a label of your own, `read_config` can read it."""
    printed = {_KEYS.get(name, name): getattr(benchmark, name) for name in _PRINTED}
    places = {name: location.usual for name, location in benchmark.data.items()}
    data = {"root": ".", **places, "subset": benchmark.default_subsets[0]}
    fields = {name: paths[0] if len(paths) == 1 else list(paths) for name, paths in benchmark.fields.items()}
    printed |= {"label": PUBLISHED_LABEL, "data": data, "fields": fields, "gold": dict(benchmark.gold_rules)}
    return {key: list(value) if isinstance(value, tuple) else value for key, value in printed.items()}


def read_config(file: Path, known: Mapping[str, Benchmark], reads: Path | None = None) -> tuple[Benchmark, Source]:
    """The benchmark and source that a declaration describes; its data must be below its folder or `reads`."""

    def fault(key: str, problem: str, hint: str = "", code: Exit = Exit.INVALID) -> GoldspanError:
        return GoldspanError(f"{key}: {problem}", where=str(file), hint=hint, code=code)

    content = read_yaml(file, _HINT)
    # `list` prints a list of one declaration.
    content = content[0] if isinstance(content, list) and len(content) == 1 else content
    if not isinstance(content, dict):
        raise fault(file.name, f"expected the keys of one benchmark, found {shown(content)}", _HINT)
    key = "like" if "like" in content else "name"
    benchmark = known.get(str(content.get(key)))
    if benchmark is None:
        hint = f"For own data add like: {' or '.join(known)}. Its name may be any other."
        raise fault(key, f"expected a benchmark that own data can follow, found {shown(content.get(key))}", hint)
    # Values copied from what is printed for the published data are dropped: they do not apply to own data.
    printed = describe(benchmark)
    given = {key: value for key, value in content.items() if key in ("name", "data") or value != printed.get(key)}
    own_label = {"label": OWN} if "like" in given else {}
    declaration = validated(_model(benchmark), own_label | {"fields": {}} | given, file, _HINT)
    if meaning := RESERVED.get(declaration.label.lower()):
        raise fault("label", f"{declaration.label!r} is reserved for {meaning}; choose another")
    if declaration.like:
        # Some pages of a site are named after protocols.
        name, ends = declaration.name.lower(), {"all", *(protocol.partition("@")[2] for protocol in protocols())}
        if name in {*SITE_PAGES, *known} or name.endswith(tuple(f"-{end}" for end in ends)):
            hint = "Choose another, such as my-data (`ingest own`: --name my-data)."
            raise fault("name", f"{declaration.name!r} is a published benchmark, or another page of the site", hint)
        benchmark = own_benchmark(benchmark, declaration.name)
    data, fields = dict(declaration.data), dict(declaration.fields)
    root, trees = file.parent / data["root"], dict[str, Tree]()
    allowed = [file.parent, reads or file.parent]
    for name, location in benchmark.data.items():
        try:
            trees[name] = _opened(root, data[name], location, allowed) if data[name] else Tree(name, [])
        except GoldspanError as error:
            raise fault(f"data.{name}", error.what, error.hint, error.code) from error
    pools = [trees[name] for name, location in benchmark.data.items() if location.is_tree]
    tasks = [entry for name, tree in trees.items() if not benchmark.data[name].is_tree for entry in tree.entries]
    if "/" in data["subset"]:
        # RepoBench-R's reader takes the split of a file's rows from its path.
        tasks = [replace(entry, path=f"{data['subset']}/{entry.path}") for entry in tasks]
    own = replace(
        benchmark,
        **declaration.model_dump(include={*_DESCRIBED}, exclude_none=True),
        subsets=(data["subset"],),
        default_subsets=(data["subset"],),
        find=partial(declared_files, tasks, pools),
        parts=partial(benchmark.parts, fields=fields),
        at_hand=None,
        has_excerpts=all(_is_in(file.parent, root / data[name]) for name in trees if isinstance(data[name], str)),
    )
    # Other field paths read other rows from the same bytes, so they are part of the revision.
    revision = "" if fields == benchmark.fields else f"fields-{fingerprint(fields)[:8]}"
    return own, Source(name=str(file), label=declaration.label, revision=revision)


def own_benchmark(benchmark: Benchmark, name: str) -> Benchmark:
    """A benchmark `name` for own data by the rules of `benchmark`, without its title, licence, citation and so on."""
    title = f"Own data in the manner of {benchmark.display_name}"
    meaning = f"Own data, asked and scored by the rules of {benchmark.display_name}."
    return replace(
        benchmark, name=name, like=benchmark.name, display_name=name, title=title, meaning=meaning, version=1,
        homepage="", licence="", repository_licences={}, citation="", paper="", place=Benchmark.place,
    )  # fmt: skip


def _model(benchmark: Benchmark) -> type[DataDeclaration]:
    subsets = Literal[(*benchmark.subsets,)]  # type: ignore[valid-type]  # known when it runs alone
    places = {
        name: (_File if location.is_tree else _Data, "" if location.is_optional else ...)
        for name, location in benchmark.data.items()
    }
    data = create_model("Data", __config__=_STRICT, root=(str, "."), **places, subset=(subsets, ...))  # type: ignore[call-overload]  # as above
    paths = {name: (_KeyPaths, default) for name, default in benchmark.fields.items()}
    fields = create_model("Fields", __config__=_STRICT, **paths)  # type: ignore[call-overload]  # as above
    return create_model("Declared", __base__=DataDeclaration, data=(data, ...), fields=(fields, ...))


def _is_in(folder: Path, path: Path) -> bool:
    # Not `Path.resolve`, which raises an error if links form a circle.
    return Path(realpath(path)).is_relative_to(realpath(folder))


def _opened(root: Path, data: str | HubRows, location: DataLocation, allowed: Sequence[Path]) -> Tree:
    """The files that a declaration names; an error if they do not exist or are outside the `allowed` folders."""
    if isinstance(data, HubRows):
        return Tree(data.hub, [entry_of(data)])
    target = root / data
    if not any(_is_in(folder, target) for folder in allowed):
        what = f"it is outside {allowed[-1]}, and only files inside are read"
        hint = "To allow it, name a folder that contains it: --config-reads FOLDER."
        raise GoldspanError(what, hint=hint, code=Exit.INVALID)
    try:
        if location.is_tree:
            tree = open_archive(target, target.name) if target.is_file() else find_in(target.parent, target.name)
        else:
            tree = Tree(target.name, [entry_of(target)]) if target.is_file() or is_saved(target) else None
        near = [other.name for other in target.parent.glob("*") if other != target]
    except OSError as error:
        raise GoldspanError(f"{target} cannot be opened: {error.strerror}", code=Exit.MISSING) from error
    if tree is None:
        what = f"the {'folder or zip' if location.is_tree else 'file'} {target} is not there"
        raise GoldspanError(what, hint=did_you_mean(target.name, near), code=Exit.MISSING)
    return replace(tree, entries=[entry for entry in tree.entries if location.holds(entry.path)])
