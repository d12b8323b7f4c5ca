"""Your own data in a benchmark's manner: the declaration `--config` reads, in the shape in which `list` prints it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Annotated, NamedTuple

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError, create_model

from ingest.benchmarks.config_faults import (
    RULES,
    SEALED,
    Fault,
    fault_of_name,
    faults_of_keys,
    faults_of_rules,
    refused,
    shown,
)
from ingest.benchmarks.config_places import lies_in, located
from ingest.benchmarks.declaration import Benchmark, Shape, find_places
from ingest.benchmarks.fields import Fields, check
from ingest.benchmarks.own import OWN, own_benchmark
from ingest.sources.datasets import ConfiguredSource, hub_rows
from ingest.sources.strict_yaml import Place as PlaceInYaml
from ingest.sources.strict_yaml import read_yaml
from ingest.sources.tree import Source
from lake.errors import Exit, GoldspanError, did_you_mean
from lake.fingerprint import fingerprint

PUBLISHED = "published"
RESERVED: Mapping[str, str] = {
    PUBLISHED: "the published data",
    "sample": "the bundled sample",
    "mined": "what is mined from a repository or from packages",
}
"""Labels that say something else already."""
_LABEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")


def _label(value: object) -> object:
    if isinstance(value, str):
        is_what = RESERVED.get(value.lower())
        check(is_what is None, f"{value!r} is what {is_what} is called; give your data a name of its own")
        wanted = "is to be 1 to 40 letters, digits, '-', '_' and '.', a letter or digit first"
        check(_LABEL.fullmatch(value) is not None, f"{shown(value)} {wanted}")
    return value


def _paths(value: object) -> object:
    paths = value if isinstance(value, list) else [value]
    are_paths = all(isinstance(path, str) and all(map(str.strip, path.split("."))) for path in paths)
    wanted = "is not a path into a row: keys joined by dots, such as metadata.lineno"
    check(bool(paths) and are_paths, f"{shown(value)} {wanted}")
    return tuple(paths)


def _place(value: object) -> object:
    is_place = not isinstance(value, str) or (value.strip() != "" and "\0" not in value)
    check(is_place, f"{shown(value)} is no file or folder")
    return value


def _rows(value: object) -> object:
    if isinstance(value, dict):
        return hub_rows(value)
    check(isinstance(value, str), f"{shown(value)} is neither a file nor a data set of the hub")
    return _place(value)


PathKeys = Annotated[tuple[str, ...], BeforeValidator(_paths)]
Location = Annotated[str, BeforeValidator(_place)]
Rows = Annotated[object, BeforeValidator(_rows)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


def _keys_of(shape: Shape) -> tuple[type[_Strict], type[_Strict]]:
    """The keys below `data` and below `fields`: each place, from `root`; each field, upstream's path without it."""
    places: dict[str, tuple[object, object]] = {
        name: (Location if place.is_tree else Rows, None if place.is_optional else ...)
        for name, place in shape.places.items()
    }
    fields: dict[str, tuple[object, object]] = {name: (PathKeys, paths) for name, paths in shape.fields.items()}
    keys: dict[str, tuple[object, object]] = {"root": (Location, "."), **places, "subset": (str, ...)}
    return _model("DataKeys", keys), _model("FieldKeys", fields)


def _model(name: str, keys: dict[str, tuple[object, object]]) -> type[_Strict]:
    return create_model(name, __base__=_Strict, **keys)  # type: ignore[call-overload,no-any-return]  # keys by name


class Keys(_Strict):
    """What a declaration may set beside `data` and `fields`; whatever else is printed may stand in it as it is.

    What describes the benchmark holds where nothing is said; of the published data's licence and home, nothing does.
    Data of a name of its own says `like` which benchmark it is, and needs no label beside.
    """

    name: str
    like: str | None = None
    label: Annotated[str, BeforeValidator(_label)]
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
        places = {name: place.usual for name, place in benchmark.shape.places.items()}
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
    """The benchmark and the data that a declaration names.

    Args:
        file: YAML; what it names is looked for from its own folder.
        known: Benchmarks by name.
        reads: The folder whose files it may name; its own without one. Of what lies outside its own folder no excerpt
            is kept, as excerpts are published with the site.

    Raises:
        GoldspanError: The file is no declaration, sets what is sealed, or what it names is not there or lies outside.
    """
    content, lines = read_yaml(file)
    if isinstance(content, list) and len(content) == 1:
        # As `list` prints it.
        content, lines = content[0], {place[1:]: line for place, line in lines.items()}
    if not isinstance(content, dict):
        what = f"{file.name} holds {shown(content)}, which is not one declaration"
        hint = "Begin with what `python -m ingest list benchmarks --format yaml` prints, and keep one benchmark of it."
        raise GoldspanError(what, where=str(file), hint=hint, code=Exit.INVALID)
    benchmark, shape = _benchmark(file, content, known, lines)
    keys, data, fields = _keys(file, content, benchmark, shape, lines)
    if keys.like is not None:
        benchmark = own_benchmark(benchmark, keys.name)
    places = located(file, data, shape, reads or file.parent, lines)
    is_own = all(lies_in(file.parent, place) for place in places.values() if isinstance(place, Path))
    subset, trees = str(data["subset"]), frozenset(name for name, place in shape.places.items() if place.is_tree)
    own = replace(
        benchmark,
        title=benchmark.title if keys.title is None else keys.title,
        meaning=benchmark.meaning if keys.description is None else keys.description,
        homepage=keys.homepage,
        paper=benchmark.paper if keys.paper is None else keys.paper,
        licence=keys.license,
        citation=benchmark.citation if keys.citation is None else keys.citation,
        subsets=(subset,),
        default_subsets=(subset,),
        find=shape.find or partial(find_places, shape.places),
        parts=partial(benchmark.parts, fields=fields),
        at_hand=None,
        has_excerpts=is_own,
    )
    # Other paths read other rows from equal bytes, so they are part of what exactly this is.
    revision = "" if fields == shape.fields else f"fields-{fingerprint(fields)[:8]}"
    return Configured(own, ConfiguredSource(places, trees, name=str(file), label=keys.label, pinned=revision))


def _benchmark(
    file: Path, content: dict[str, object], known: Mapping[str, Benchmark], lines: Mapping[PlaceInYaml, int]
) -> tuple[Benchmark, Shape]:
    """The benchmark in whose manner the data is: `like` says it, or `name` where the data has no name of its own."""
    key = "like" if "like" in content else "name"
    name, own = content.get(key), content.get("name")
    if key == "like" and (fault := fault_of_name(own, known)):
        raise refused(file, [fault], lines)
    if isinstance(name, str) and name in known and (shape := known[name].shape) is not None:
        return known[name], shape
    problem = "is missing" if name is None else f"{shown(name)} is no benchmark whose manner data can have"
    able = " or ".join(one.name for one in known.values() if one.shape is not None)
    hint = f"Name the benchmark whose manner the data has: {able}."
    if key == "name" and isinstance(name, str) and not get_close_matches(name, known):
        hint = f"Data of a name of its own says whose manner it has, like: {able}."
    raise refused(file, [Fault((key,), problem, hint)], lines)


def _keys(
    file: Path,
    content: dict[str, object],
    benchmark: Benchmark,
    shape: Shape,
    lines: Mapping[PlaceInYaml, int],
) -> tuple[Keys, dict[str, object], Fields]:
    own = list(Keys.model_fields)
    fixed: dict[str, object] = {key: value for key, value in described(benchmark).items() if key not in own}
    fixed |= SEALED
    data_keys, field_keys = _keys_of(shape)
    sections = {"data": list(data_keys.model_fields), "fields": list(field_keys.model_fields)}
    faults = list(faults_of_rules(content, fixed, sections, benchmark.name))
    whole = create_model("Declaration", __base__=Keys, data=(data_keys, ...), fields=(field_keys, field_keys()))
    if "like" in content:
        # What is printed of the published data says nothing of other data.
        published = described(benchmark)
        said = {key: value for key, value in content.items() if key == "data" or value != published.get(key)}
        content = {"label": OWN, **said}
    try:
        keys = whole.model_validate({key: content[key] for key in content if key not in fixed and key not in RULES})
    except ValidationError as error:
        faults += faults_of_keys(error, {"": [*own, *fixed], **sections})
        raise refused(file, faults, lines) from error
    data, fields = dict[str, object](keys.data), dict(keys.fields)
    subsets = shape.subsets or benchmark.subsets
    if (subset := str(data["subset"])) not in subsets:
        problem = f"{shown(subset)} is no subset of {benchmark.name}"
        faults.append(Fault(("data", "subset"), problem, did_you_mean(subset, subsets)))
    if faults:
        raise refused(file, faults, lines)
    return keys, data, fields


_NEEDED = ("name", "label", "data")
