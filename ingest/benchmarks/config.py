"""Your own data in a benchmark's manner: the declaration `--config` reads, in the shape in which `list` prints it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from functools import partial
from os.path import realpath
from pathlib import Path
from typing import Annotated, Literal, NamedTuple, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, create_model

from ingest.benchmarks.config_faults import Fault, faults_of_keys, refused, shown
from ingest.benchmarks.declaration import Benchmark, DataLocation, DataSchema, find_places
from ingest.benchmarks.fields import check
from ingest.benchmarks.own import OWN, own_benchmark
from ingest.sources.datasets import ConfiguredSource, HubRows, hub_rows, is_saved
from ingest.sources.strict_yaml import read_yaml
from ingest.sources.tree import Source
from lake.catalog.protocols import protocols
from lake.errors import Exit, GoldspanError, did_you_mean
from lake.fingerprint import fingerprint
from lake.naming import SITE_PAGES

SEALED: Mapping[str, str] = {"prompts": "sealed", "scoring": "sealed", "relevance": "sealed", "judge": "none"}
"""What no declaration can change, as every benchmark's says it."""

PUBLISHED = "published"
RESERVED: Mapping[str, str] = {
    PUBLISHED: "the published data",
    "sample": "the bundled sample",
    "mined": "what is mined from a repository or from packages",
}
"""Labels that say something else already."""


def _label(label: str) -> str:
    is_what = RESERVED.get(label.lower())
    check(is_what is None, f"{label!r} is what {is_what} is called; give your data a name of its own")
    return label


def _paths(value: object) -> object:
    paths = value if isinstance(value, list) else [value]
    are_paths = all(isinstance(path, str) and all(map(str.strip, path.split("."))) for path in paths)
    wanted = "is not a path into a row: keys joined by dots, such as metadata.lineno"
    check(bool(paths) and are_paths, f"{shown(value)} {wanted}")
    return tuple(paths)


def _rows(value: object) -> object:
    is_file = isinstance(value, str) and "\0" not in value
    check(is_file or isinstance(value, dict), f"{shown(value)} is neither a file nor a data set of the hub")
    return hub_rows(value) if isinstance(value, dict) else value


Label = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$"), AfterValidator(_label)]
OwnName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,39}$")]
PathKeys = Annotated[tuple[str, ...], BeforeValidator(_paths)]
Location = Annotated[str, Field(pattern=r"^[^\x00]+$")]
Rows = Annotated[object, BeforeValidator(_rows)]


M = TypeVar("M", bound=BaseModel)


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Keys(_Strict):
    """What a declaration may set; of other data than the published, neither its licence nor its home holds."""

    name: str
    like: str | None = None
    label: Label
    data: dict[str, object]
    fields: dict[str, PathKeys] = {}
    title: str | None = None
    description: str | None = None
    homepage: str = ""
    paper: str | None = None
    license: str = ""
    citation: str | None = None


class Configured(NamedTuple):
    """A benchmark as it reads the data of a declaration, and that data."""

    benchmark: Benchmark
    source: Source


def described(benchmark: Benchmark) -> dict[str, object]:
    """A benchmark's declaration: with a label of one's own, what `read_config` reads."""
    own: dict[str, object] = {}
    if benchmark.shape is not None:
        places = {name: declared.usual for name, declared in benchmark.shape.places.items()}
        fields = {name: paths[0] if len(paths) == 1 else list(paths) for name, paths in benchmark.shape.fields.items()}
        data = {"root": ".", **places, "subset": benchmark.default_subsets[0]}
        own = {"label": PUBLISHED, "data": data, "fields": fields}
    return {
        "name": benchmark.name,
        "display_name": benchmark.display_name,
        "title": benchmark.title,
        "description": benchmark.meaning,
        "version": benchmark.version,
        "homepage": benchmark.homepage,
        "paper": benchmark.paper,
        "license": benchmark.licence,
        "citation": benchmark.citation,
        "subsets": list(benchmark.subsets),
        "default_subsets": list(benchmark.default_subsets),
        **own,
        "gold": dict(benchmark.gold_rules),
        "sealed": dict(SEALED),
    }


def read_config(file: Path, known: Mapping[str, Benchmark], reads: Path | None = None) -> Configured:
    """The benchmark and the data that a declaration names, whose files lie below `reads`, else below its own folder."""
    content, lines = read_yaml(file)
    if isinstance(content, list) and len(content) == 1:
        # As `list` prints it.
        content, lines = content[0], {where[1:]: line for where, line in lines.items()}
    if not isinstance(content, dict):
        what = f"{file.name} holds {shown(content)}, which is not one declaration"
        hint = "Begin with what `python -m ingest list benchmarks --format yaml` prints, and keep one benchmark of it."
        raise GoldspanError(what, where=str(file), hint=hint, code=Exit.INVALID)
    shapes = {name: benchmark.shape for name, benchmark in known.items() if benchmark.shape is not None}
    key = "like" if "like" in content else "name"
    kind = str(content.get(key))
    if kind not in shapes:
        problem = f"{shown(content[key])} is no benchmark that data can be like" if key in content else "is missing"
        hint = f"Name the benchmark that the data is like: {' or '.join(shapes)}. A name of your own needs like: too."
        raise refused(file, [Fault((key,), problem, hint)], lines)
    benchmark, shape = known[kind], shapes[kind]
    keys, faults = _keys(content, benchmark, shape, known)
    if keys is None:
        raise refused(file, faults, lines)
    data, fields = dict[str, object](keys.data), dict(keys.fields)
    places: dict[str, Path | HubRows] = {}
    for name, declared in shape.places.items():
        try:
            if data[name] is not None:
                places[name] = _located(file.parent / str(data["root"]), data[name], declared, reads or file.parent)
        except GoldspanError as error:
            raise refused(file, [Fault(("data", name), error.what, error.hint)], lines, code=error.code) from error
    if keys.like is not None:
        benchmark = own_benchmark(benchmark, keys.name)
    own = replace(
        benchmark,
        title=benchmark.title if keys.title is None else keys.title,
        meaning=benchmark.meaning if keys.description is None else keys.description,
        homepage=keys.homepage,
        paper=benchmark.paper if keys.paper is None else keys.paper,
        licence=keys.license,
        citation=benchmark.citation if keys.citation is None else keys.citation,
        subsets=(str(data["subset"]),),
        default_subsets=(str(data["subset"]),),
        find=shape.find or partial(find_places, shape.places),
        parts=partial(benchmark.parts, fields=fields),
        at_hand=None,
        has_excerpts=all(_is_in(file.parent, path) for path in places.values() if isinstance(path, Path)),
    )
    # Other paths read other rows from equal bytes, so they are part of what exactly this is.
    revision = "" if fields == shape.fields else f"fields-{fingerprint(fields)[:8]}"
    trees = frozenset(name for name, declared in shape.places.items() if declared.is_tree)
    return Configured(own, ConfiguredSource(places, trees, name=str(file), label=keys.label, pinned=revision))


def _keys(
    content: dict[str, object], benchmark: Benchmark, shape: DataSchema, known: Collection[str]
) -> tuple[Keys | None, list[Fault]]:
    """What a declaration says, or what is wrong with it."""
    printed, is_own = described(benchmark), "like" in content
    places = {
        name: (Location if declared.is_tree else Rows, None if declared.is_optional else ...)
        for name, declared in shape.places.items()
    }
    subset = Literal[shape.subsets or benchmark.subsets]  # type: ignore[valid-type]  # as the benchmark has them
    data = _model("DataKeys", {"root": (Location, "."), **places, "subset": (subset, ...)}, _Strict)
    fields = _model("FieldKeys", {name: (PathKeys, paths) for name, paths in shape.fields.items()}, _Strict)
    more = {"name": (OwnName, ...), "label": (Label, OWN)} if is_own else {}
    whole = _model("Declaration", {**more, "data": (data, ...), "fields": (fields, fields())}, Keys)
    # What is printed may stand in it as it is; what is printed of the published data says nothing of other data.
    unsaid = printed.keys() - {"name", "data"} if is_own else printed.keys() - Keys.model_fields.keys()
    given = {key: value for key, value in content.items() if key not in unsaid or value != printed[key]}
    why = "Take it out: what is asked, how it is scored and what counts as relevant is sealed, so that numbers compare."
    fixed = [key for key in given if key in printed.keys() - Keys.model_fields.keys()]
    faults = [Fault((key,), f"it is {benchmark.name}'s own and cannot be changed", why) for key in fixed]
    given = {key: value for key, value in given.items() if key not in fixed}
    try:
        keys = whole.model_validate(given)
    except ValidationError as error:
        sections = {"": Keys.model_fields, "data": data.model_fields, "fields": fields.model_fields}
        return None, [*faults, *faults_of_keys(error, {name: list(keys) for name, keys in sections.items()})]
    if is_own:
        faults += _faults_of_name(str(content["name"]), known)
    return None if faults else keys, faults


def _model(name: str, keys: Mapping[str, object], base: type[M]) -> type[M]:
    return create_model(name, __base__=base, **keys)  # type: ignore[call-overload,no-any-return]  # keys by name


def _faults_of_name(name: str, published: Collection[str]) -> Iterator[Fault]:
    """Own data is called neither as a benchmark nor as a page of a site: those of others are called after protocols."""
    ends = {"all", *(protocol.partition("@")[2] for protocol in protocols())}
    is_page = name.lower() in SITE_PAGES or any(name.lower().endswith(f"-{end}") for end in ends)
    if name.lower() in published or is_page:
        what = "what another page of a site is called" if is_page else "a published benchmark"
        yield Fault(("name",), f"{name!r} is {what}", "Give your data a name of its own, such as my-data.")


def _is_in(folder: Path, place: Path) -> bool:
    """Whether a place is in a folder, wherever links lead."""
    # Not `Path.resolve`, which raises where links go round in a circle.
    return Path(realpath(place)).is_relative_to(realpath(folder))


def _located(root: Path, data: object, declared: DataLocation, reads: Path) -> Path | HubRows:
    """What is declared, which is there and in the folder that may be read."""
    if isinstance(data, HubRows):
        return data
    target = root / str(data)
    if not _is_in(reads, target):
        hint = "Where that is meant, name a folder around it on the command line: --config-reads FOLDER."
        raise GoldspanError(f"it leads out of {reads}, whose files alone are read", hint=hint, code=Exit.INVALID)
    # A zip may be named without its ending.
    try:
        for path in (target, Path(f"{target}.zip")) if declared.is_tree else (target,):
            if path.is_file() or (path.is_dir() and (declared.is_tree or is_saved(path))):
                return path
        near = [other.name for other in target.parent.iterdir() if other != target] if target.parent.is_dir() else []
    except OSError as error:
        what = f"{target} cannot be looked at: {error.strerror}"
        raise GoldspanError(what, hint="Check who may read it.", code=Exit.MISSING) from error
    what = f"the {'folder or zip' if declared.is_tree else 'file'} {target} is not there"
    raise GoldspanError(what, hint=did_you_mean(target.name, near), code=Exit.MISSING)
