"""YAML that says one thing: no key twice, no anchors, no tags, and every key's line for whoever has to mend it."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

import yaml

from lake.errors import Exit, GoldspanError

MAX_BYTES = 2**16
"""Thirty times what a declaration needs."""
MAX_DEPTH = 20

Place = tuple[str | int, ...]
"""Where a value stands: the keys, and the positions in lists, that lead to it."""

HINT = "Expected a config file like those that `python -m ingest list benchmarks --format yaml` prints."


def read_yaml(file: Path) -> tuple[object, dict[Place, int]]:
    """A file's content, and the line of every key in it, from 1.

    Raises:
        GoldspanError: It is not there, too large, no UTF-8, no YAML, nests too deep, holds a key twice or one that is
            no text, an alias or a tag; the message names line and column.
    """
    text = _text(file)
    try:
        depth = 0
        for event in yaml.parse(text, Loader=yaml.SafeLoader):
            # An alias can make a few lines stand for billions, so there are none.
            if isinstance(event, yaml.AliasEvent):
                raise _fault(file, event.start_mark, f"an alias, *{event.anchor}: write it out")
            if isinstance(event, (yaml.ScalarEvent, yaml.CollectionStartEvent)) and event.tag is not None:
                raise _fault(file, event.start_mark, f"a tag, {event.tag}: values are plain texts, numbers and lists")
            if isinstance(event, yaml.ScalarEvent) and not _encodable(event.value):
                raise _fault(file, event.start_mark, "half a surrogate pair, which is no character")
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > MAX_DEPTH:
                raise _fault(file, event.start_mark, "it nests too deep")
        lines: dict[Place, int] = {}
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        if node is not None:
            _note_lines(file, node, (), lines)
        return yaml.safe_load(text), lines
    except yaml.MarkedYAMLError as error:
        problem = error.problem or error.context or "not YAML"
        raise _fault(file, error.problem_mark or error.context_mark, f"not YAML: {problem}") from error
    except (yaml.YAMLError, ValueError) as error:
        # Neither a character that may not stand in YAML nor a date that is none comes with a place.
        what = f"{file.name} cannot be read: {str(error).splitlines()[0]}"
        raise GoldspanError(what, where=str(file), hint=HINT, code=Exit.INVALID) from error


def _text(file: Path) -> str:
    try:
        if not file.is_file():
            what = f"{_short(file)} {'is no file' if file.exists() else 'does not exist'}"
            near = [other for end in ("*.yaml", "*.yml") for other in sorted(file.parent.glob(end)) if other.is_file()]
            hint = f"There is: {', '.join(str(other) for other in near[:5])}." if near else HINT
            raise GoldspanError(what, where=str(file), hint=hint, code=Exit.MISSING)
        with file.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except OSError as error:
        what = f"{_short(file)} cannot be read: {error.strerror}"
        raise GoldspanError(what, where=str(file), hint="Check who may read it.", code=Exit.MISSING) from error
    if len(data) > MAX_BYTES:
        what = f"{file.name} has more than {MAX_BYTES:,} bytes"
        raise GoldspanError(what, where=str(file), hint=HINT, code=Exit.INVALID)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        what = f"{file.name} is not UTF-8: {error.reason}"
        hint = "Save it as UTF-8."
        raise GoldspanError(what, where=f"{file}, line {line}", hint=hint, code=Exit.INVALID) from error


def _short(file: Path) -> str:
    """A file with the folder that it lies in: what is wrong with a submission stands on a page, and no path does."""
    return Path(*file.parts[-2:]).as_posix()


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _note_lines(file: Path, node: yaml.Node, place: Place, lines: dict[Place, int]) -> None:
    if isinstance(node, yaml.SequenceNode):
        for number, item in enumerate(node.value):
            lines[(*place, number)] = item.start_mark.line + 1
            _note_lines(file, item, (*place, number), lines)
    if not isinstance(node, yaml.MappingNode):
        return
    for key, value in node.value:
        # Merge keys end here as well.
        if key.tag != "tag:yaml.org,2002:str":
            text = f" {key.value}" if isinstance(key, yaml.ScalarNode) else ""
            raise _fault(file, key.start_mark, f"the key{text} is no text; if it is meant as one, write it in quotes")
        inner = (*place, key.value)
        if inner in lines:
            problem = f"the key {key.value!r} stands there twice, first in line {lines[inner]}"
            raise _fault(file, key.start_mark, problem)
        lines[inner] = key.start_mark.line + 1
        _note_lines(file, value, inner, lines)


class _Mark(Protocol):
    """A position in a text, from 0."""

    line: int
    column: int


def _fault(file: Path, mark: _Mark | None, problem: str) -> GoldspanError:
    where = f"{file}, line {mark.line + 1}, column {mark.column + 1}" if mark else str(file)
    return GoldspanError(f"{file.name}: {problem}", where=where, hint=HINT, code=Exit.INVALID)
