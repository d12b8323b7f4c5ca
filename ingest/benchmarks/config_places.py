"""Where the data of a declaration lies: what it names is there, and in the folder that may be read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from os.path import realpath
from pathlib import Path

from ingest.benchmarks.config_faults import Fault, refused
from ingest.benchmarks.declaration import Shape
from ingest.sources.dataset_rows import ENDINGS
from ingest.sources.datasets import HubRows, is_saved
from ingest.sources.strict_yaml import Place as PlaceInYaml
from lake.errors import Exit, did_you_mean


def lies_in(folder: Path, place: Path) -> bool:
    """Whether a place lies in a folder, wherever links lead."""
    # Not `Path.resolve`, which raises where links go round in a circle.
    return Path(realpath(place)).is_relative_to(realpath(folder))


def located(
    file: Path, data: Mapping[str, object], shape: Shape, reads: Path, lines: Mapping[PlaceInYaml, int]
) -> dict[str, Path | HubRows]:
    """What is declared, which is there and in the folder that may be read.

    Args:
        file: The declaration.
        data: What it says below `data`.
        shape: The benchmark's.
        reads: The folder whose files it may name.
        lines: Where its keys stand.

    Raises:
        GoldspanError: Something is not there, or lies outside.
    """
    root = file.parent / str(data["root"])
    places: dict[str, Path | HubRows] = {
        name: data_set if isinstance(data_set := data[name], HubRows) else root / str(data_set)
        for name in shape.places
        if data[name] is not None
    }
    local = {name: place for name, place in places.items() if isinstance(place, Path)}
    try:
        if outside := [name for name, place in local.items() if not lies_in(reads, place)]:
            problem = f"it leads out of {reads}, whose files alone are read"
            hint = "Where that is meant, name a folder around it on the command line: --config-reads FOLDER."
            raise refused(file, [Fault(("data", name), problem, hint) for name in outside], lines)
        if not root.is_dir():
            hint = f"It is taken from the folder of {file.name}."
            fault = Fault(("data", "root"), f"the folder {root} is not there", hint)
            raise refused(file, [fault], lines, code=Exit.MISSING)
        for name, place in local.items():
            found = _tree_at(place) if shape.places[name].is_tree else _rows_at(place)
            if isinstance(found, Fault):
                raise refused(file, [found._replace(place=("data", name))], lines, code=Exit.MISSING)
            places[name] = found
    except OSError as error:
        fault = Fault(("data",), f"what it names cannot be looked at: {error.strerror}", "Check who may read it.")
        raise refused(file, [fault], lines, code=Exit.MISSING) from error
    return places


def _tree_at(place: Path) -> Path | Fault:
    """A folder, or a zip, whose name may be given without its ending."""
    for one in (place, Path(f"{place}.zip")):
        if one.is_dir() or one.is_file():
            return one
    return _absent(place, "folder or zip", lambda other: other.is_dir() or other.suffix == ".zip")


def _rows_at(place: Path) -> Path | Fault:
    """A file of rows, or a folder that `save_to_disk` made."""
    if place.is_file() or is_saved(place):
        return place
    return _absent(place, "file", lambda other: other.suffix in ENDINGS or is_saved(other))


def _absent(place: Path, what: str, is_near: Callable[[Path], bool]) -> Fault:
    around = place.parent
    near = [other.name for other in around.iterdir() if is_near(other)] if around.is_dir() else []
    return Fault((), f"the {what} {place} is not there", did_you_mean(place.name, near))
