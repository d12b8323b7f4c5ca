"""YAML that people write by hand: no key twice, no aliases, and every key one that its model knows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from lake.errors import Exit, GoldspanError, did_you_mean

MAX_BYTES = 2**16
"""Thirty times what a declaration needs."""

M = TypeVar("M", bound=BaseModel)


class _Loader(yaml.SafeLoader):
    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            # An alias can make a few lines stand for billions.
            event = self.peek_event()  # type: ignore[no-untyped-call]  # the stubs lack it
            raise yaml.MarkedYAMLError(
                problem=f"an alias, *{event.anchor}: write it out", problem_mark=event.start_mark
            )
        return super().compose_node(parent, index)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[object, object]:
        lines: dict[str, int] = {}
        for key, _ in node.value:
            problem = ""
            if key.tag != "tag:yaml.org,2002:str":
                problem = f"the key {key.value} is no text; if it is meant as one, write it in quotes"
            elif key.value in lines:
                problem = f"the key {key.value!r} stands there twice, first in line {lines[key.value]}"
            if problem:
                raise yaml.MarkedYAMLError(problem=problem, problem_mark=key.start_mark)
            lines[key.value] = key.start_mark.line + 1
        return super().construct_mapping(node, deep)


def read_yaml(file: Path, hint: str = "") -> object:
    """A file's content.

    Raises:
        GoldspanError: It is not there, too large, or no YAML of plain texts, numbers, lists and keys that stand once.
    """
    # With the folder it lies in: what is wrong with a submission stands on a page, and no path of a machine does.
    called = Path(*file.parts[-2:]).as_posix()
    try:
        with file.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except OSError as error:
        near = [str(other) for end in ("*.yaml", "*.yml") for other in sorted(file.parent.glob(end)) if other.is_file()]
        hint = f"There is: {', '.join(near[:5])}." if near else hint
        what = f"{called} does not exist" if not file.exists() else f"{called} cannot be read: {error.strerror}"
        raise GoldspanError(what, where=str(file), hint=hint, code=Exit.MISSING) from error
    problem, where = "", str(file)
    try:
        if len(data) <= MAX_BYTES:
            content: object = yaml.load(data.decode("utf-8-sig"), Loader=_Loader)
            # Half a surrogate pair is no character, and cannot be stored.
            json.dumps(content, ensure_ascii=False, default=str).encode()
            return content
        problem = f"has more than {MAX_BYTES:,} bytes"
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where += f", line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        problem = f"cannot be read: {error.problem or error.context}"
    except RecursionError:
        problem = "cannot be read: it nests too deep"
    except (yaml.YAMLError, ValueError) as error:
        problem = f"cannot be read: {str(error).splitlines()[0]}"
    raise GoldspanError(f"{file.name} {problem}", where=where, hint=hint, code=Exit.INVALID)


def validated(model: type[M], content: object, file: Path, hint: str = "") -> M:
    """A file's content as a model, whose keys it has.

    Raises:
        GoldspanError: It is not: every fault with its key, and "did you mean" for a key that there is not.
    """
    try:
        return model.model_validate(content)
    except ValidationError as error:
        faults = list(_faults(error, list(model.model_fields)))
    first, first_hint = faults[0]
    if len(faults) == 1:
        raise GoldspanError(first, where=str(file), hint=first_hint or hint, code=Exit.INVALID)
    what, examples = f"{len(faults)} keys are not as they should be", [message for message, _ in faults]
    raise GoldspanError(what, where=str(file), examples=examples, hint=first_hint or hint, code=Exit.INVALID)


def _faults(error: ValidationError, known: list[str]) -> Iterator[tuple[str, str]]:
    """What is wrong with each key, and what to do; a key that is missing because it is misspelt is told once."""
    hints = ""
    for fault in sorted(error.errors(), key=lambda fault: fault["type"] != "extra_forbidden"):
        key = ".".join(str(part)[:60] for part in fault["loc"])
        match fault["type"]:
            case "extra_forbidden":
                hint = did_you_mean(key, known) if len(fault["loc"]) == 1 else ""
                hints += hint
                yield f"{key}: there is no such key", hint
            case "missing":
                if repr(key) not in hints:
                    yield f"{key}: is missing", ""
            case "value_error":
                yield f"{key}: {fault['ctx']['error']}", ""
            case _:
                message = f"{fault['msg'][:1].lower()}{fault['msg'][1:]}, not {shown(fault['input'])}"
                hint = "Write it in quotes if it is meant as a text." if fault["type"] == "string_type" else ""
                yield f"{key}: {message}" if key else message, hint


def shown(value: object) -> str:
    """What was found, in a few words."""
    if isinstance(value, (list, dict)):
        return f"a {'list' if isinstance(value, list) else 'mapping'} of {len(value)}"
    return "nothing" if value is None else repr(value)[:60]
