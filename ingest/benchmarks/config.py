"""Your own data in a benchmark's manner: the declaration `--config` reads, in the shape in which `list` prints it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import partial
from os.path import realpath
from pathlib import Path
from typing import Annotated, NamedTuple

from pydantic import BaseModel, BeforeValidator, ConfigDict, Discriminator, Field, Tag

from ingest.benchmarks.declaration import Benchmark, DataLocation, DataSchema, find_places
from ingest.benchmarks.own import OWN, own_benchmark
from ingest.sources.datasets import ConfiguredSource, HubRows, is_saved
from ingest.sources.strict_yaml import read_yaml, shown, validated
from ingest.sources.tree import Source
from lake.catalog.protocols import protocols
from lake.errors import Exit, GoldspanError, did_you_mean
from lake.fingerprint import fingerprint
from lake.naming import SITE_PAGES

HINT = "Expected a config file like those that `python -m ingest list benchmarks --format yaml` prints."
SEALED: Mapping[str, str] = {"prompts": "sealed", "scoring": "sealed", "relevance": "sealed", "judge": "none"}
"""What no declaration can change, as every benchmark's says it."""

PUBLISHED = "published"
RESERVED: Mapping[str, str] = {
    PUBLISHED: "the published data",
    "sample": "the bundled sample",
    "mined": "what is mined from a repository or from packages",
}
"""Labels that say something else already."""

_KeyPath = Annotated[str, Field(pattern=r"^[^.\s]+(\.[^.\s]+)*$")]
_KeyPaths = Annotated[
    tuple[_KeyPath, ...],
    BeforeValidator(lambda paths: tuple(paths) if isinstance(paths, list) else (paths,)),
    Field(min_length=1),
]
_File = Annotated[str, Field(pattern=r"^[^\x00]+$"), Tag("file")]
_Hub = Annotated[HubRows, Tag("hub")]
_Data = Annotated[_File | _Hub, Discriminator(lambda value: "hub" if isinstance(value, dict | HubRows) else "file")]


class Declaration(BaseModel):
    """What a declaration may set; of other data than the published, neither its licence nor its home holds."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,39}$")]
    like: str = ""
    label: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$")]
    data: dict[str, _Data]
    fields: dict[str, _KeyPaths] = {}
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
    if benchmark.schema is not None:
        places = {name: declared.usual for name, declared in benchmark.schema.places.items()}
        fields = {name: paths[0] if len(paths) == 1 else list(paths) for name, paths in benchmark.schema.fields.items()}
        data = {"root": ".", **places, "subset": benchmark.default_subsets[0]}
        own = {"label": PUBLISHED, "data": data, "fields": fields}
    return {
        "name": benchmark.name,
        "display_name": benchmark.display_name,
        "title": benchmark.title,
        "description": benchmark.meaning,
        "version": benchmark.version,
        "tags": list(benchmark.tags),
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
    """The benchmark and the data that a declaration names, whose files lie below `reads`, else below its own folder.

    Raises:
        GoldspanError: It is no declaration, a key is not as it should be, or its data is not there.
    """
    content = read_yaml(file, HINT)
    # As `list` prints it.
    content = content[0] if isinstance(content, list) and len(content) == 1 else content
    if not isinstance(content, dict):
        what = f"{file.name} holds {shown(content)}, which is not one declaration"
        raise GoldspanError(what, where=str(file), hint=HINT, code=Exit.INVALID)
    key = "like" if "like" in content else "name"
    benchmark = known.get(str(content.get(key)))
    if benchmark is None or benchmark.schema is None:
        readable = " or ".join(name for name, declared in known.items() if declared.schema is not None)
        hint = f"Name the benchmark that the data is like: {readable}. A name of your own needs like: too."
        raise _fault(file, key, f"{shown(content.get(key))} is no benchmark that data can be like", hint)
    declaration, schema = _declaration(file, content, benchmark, known), benchmark.schema
    data, fields = {"root": ".", **declaration.data}, {**schema.fields, **declaration.fields}
    for section, names, keys in (("data", data, ["root", *schema.places, "subset"]), ("fields", fields, schema.fields)):
        for name in names:
            if name not in keys:
                raise _fault(file, f"{section}.{name}", "there is no such key", did_you_mean(name, keys))
    subset, subsets = str(data.get("subset")), schema.subsets or benchmark.subsets
    if subset not in subsets:
        raise _fault(file, "data.subset", f"{shown(data.get('subset'))} is no subset", did_you_mean(subset, subsets))
    places = _places(file, data, schema, reads or file.parent)
    if declaration.like:
        benchmark = own_benchmark(benchmark, declaration.name)
    own = replace(
        benchmark,
        title=_or(declaration.title, benchmark.title),
        meaning=_or(declaration.description, benchmark.meaning),
        homepage=declaration.homepage,
        paper=_or(declaration.paper, benchmark.paper),
        licence=declaration.license,
        citation=_or(declaration.citation, benchmark.citation),
        subsets=(subset,),
        default_subsets=(subset,),
        find=schema.find or partial(find_places, schema.places),
        parts=partial(benchmark.parts, fields=fields),
        at_hand=None,
        has_excerpts=all(_is_in(file.parent, path) for path in places.values() if isinstance(path, Path)),
    )
    # Other paths read other rows from equal bytes, so they are part of what exactly this is.
    revision = "" if fields == schema.fields else f"fields-{fingerprint(fields)[:8]}"
    trees = frozenset(name for name, location in schema.places.items() if location.is_tree)
    return Configured(own, ConfiguredSource(places, trees, name=str(file), label=declaration.label, pinned=revision))


def _declaration(
    file: Path, content: Mapping[str, object], benchmark: Benchmark, known: Collection[str]
) -> Declaration:
    """What a declaration says, apart from what is printed of every benchmark."""
    printed, is_own = described(benchmark), "like" in content
    # What is printed may stand in it as it is; what is printed of the published data says nothing of other data.
    fixed = printed.keys() - Declaration.model_fields.keys()
    unsaid = printed.keys() - {"name", "data"} if is_own else fixed
    given = {key: value for key, value in content.items() if key not in unsaid or value != printed[key]}
    if sealed := sorted(fixed & given.keys()):
        hint = "Take it out: what is asked, how it is scored and what counts as relevant is sealed, so numbers compare."
        raise _fault(file, sealed[0], f"it is {benchmark.name}'s own and cannot be changed", hint)
    declaration = validated(Declaration, ({"label": OWN} if is_own else {}) | given, file, HINT)
    if meaning := RESERVED.get(declaration.label.lower()):
        problem = f"{declaration.label!r} is what {meaning} is called; give your data a name of its own"
        raise _fault(file, "label", problem)
    if is_own and (taken := _name_taken(declaration.name, known)):
        raise _fault(file, "name", f"{declaration.name!r} is {taken}", "Give your data another name, such as my-data.")
    return declaration


def _places(
    file: Path, data: Mapping[str, str | HubRows], schema: DataSchema, reads: Path
) -> dict[str, Path | HubRows]:
    """Where the data of each place is."""
    places: dict[str, Path | HubRows] = {}
    for name, location in schema.places.items():
        if name in data:
            try:
                places[name] = _located(file.parent / str(data["root"]), data[name], location, reads)
            except GoldspanError as error:
                raise _fault(file, f"data.{name}", error.what, error.hint, error.code) from error
        elif not location.is_optional:
            hint = f"data holds root, {', '.join(schema.places)} and subset."
            raise _fault(file, f"data.{name}", "is missing", hint)
    return places


def _fault(file: Path, key: str, problem: str, hint: str = "", code: Exit = Exit.INVALID) -> GoldspanError:
    return GoldspanError(f"{key}: {problem}", where=str(file), hint=hint, code=code)


def _or(text: str | None, instead: str) -> str:
    return instead if text is None else text


def _name_taken(name: str, published: Collection[str]) -> str:
    """What else is called so: a benchmark, or a page of a site, some of which are called after protocols."""
    ends = {"all", *(protocol.partition("@")[2] for protocol in protocols())}
    if name.lower() in SITE_PAGES or any(name.lower().endswith(f"-{end}") for end in ends):
        return "what another page of a site is called"
    return "a published benchmark" if name.lower() in published else ""


def _is_in(folder: Path, path: Path) -> bool:
    """Whether a path is in a folder, wherever links lead."""
    # Not `Path.resolve`, which raises where links go round in a circle.
    return Path(realpath(path)).is_relative_to(realpath(folder))


def _located(root: Path, data: str | HubRows, location: DataLocation, reads: Path) -> Path | HubRows:
    """What is declared, which is there and in the folder that may be read."""
    if isinstance(data, HubRows):
        if location.is_tree:
            raise GoldspanError("a data set of the hub is no folder or zip", code=Exit.INVALID)
        return data
    target = root / data
    if not _is_in(reads, target):
        hint = "Where that is meant, name a folder around it on the command line: --config-reads FOLDER."
        raise GoldspanError(f"it leads out of {reads}, whose files alone are read", hint=hint, code=Exit.INVALID)
    try:
        # A zip may be named without its ending.
        for path in (target, Path(f"{target}.zip")) if location.is_tree else (target,):
            if path.is_file() or (path.is_dir() and (location.is_tree or is_saved(path))):
                return path
        near = [other.name for other in target.parent.iterdir() if other != target] if target.parent.is_dir() else []
    except OSError as error:
        what = f"{target} cannot be looked at: {error.strerror}"
        raise GoldspanError(what, hint="Check who may read it.", code=Exit.MISSING) from error
    what = f"the {'folder or zip' if location.is_tree else 'file'} {target} is not there"
    raise GoldspanError(what, hint=did_you_mean(target.name, near), code=Exit.MISSING)
