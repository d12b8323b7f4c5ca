"""Strict reading of hand-written YAML: no duplicate keys, and no keys that its model does not have."""

from pathlib import Path
from typing import TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from lake.errors import Exit, GoldspanError, did_you_mean

_MAX_BYTES = 2**22  # YAML is read slowly, a megabyte in some seconds
_M = TypeVar("_M", bound=BaseModel)


class _Loader(yaml.SafeLoader):
    def construct_scalar(self, node: yaml.ScalarNode | yaml.MappingNode) -> str:
        # Half a surrogate pair cannot be encoded or stored.
        str(node.value).encode()
        return super().construct_scalar(node)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[object, object]:
        lines: dict[str, int] = {}
        for key, _ in node.value:
            problem = f"the key {key.value!r} occurs twice, first in line {lines.get(key.value)}"
            if key.tag != "tag:yaml.org,2002:str":
                problem = f"the key {key.value} is not a text; if it should be, write it in quotes"
            if key.tag != "tag:yaml.org,2002:str" or key.value in lines:
                raise yaml.MarkedYAMLError(problem=problem, problem_mark=key.start_mark)
            lines[key.value] = key.start_mark.line + 1
        return super().construct_mapping(node, deep)


def parsed_yaml(data: bytes) -> object:
    """The content of a file with these bytes; raises a `yaml.YAMLError` or `ValueError`."""
    if len(data) > _MAX_BYTES:
        raise ValueError(f"it has more than {_MAX_BYTES:,} bytes")
    content: object = yaml.load(data.decode("utf-8-sig"), Loader=_Loader)
    return content


def read_yaml(file: Path, hint: str = "") -> object:
    """The content of a file: texts, numbers, lists, and mappings without duplicate keys."""
    # With its folder only: errors in submissions are shown on pages, where no local path belongs.
    name, where = Path(*file.parts[-2:]).as_posix(), str(file)
    try:
        with file.open("rb") as stream:
            return parsed_yaml(stream.read(_MAX_BYTES + 1))
    except OSError as error:
        near = did_you_mean(file.name, [other.name for other in file.parent.glob("*.y*ml") if other != file])
        message = f"{name} cannot be read: {error.strerror}"
        raise GoldspanError(message, where=where, hint=near or hint, code=Exit.MISSING) from error
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where += f", line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        problem = error.problem or error.context
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        problem = str(error).partition("\n")[0]
    raise GoldspanError(f"{file.name} cannot be read: {problem}", where=where, hint=hint, code=Exit.INVALID)


def validated(model: type[_M], content: object, file: Path, hint: str = "") -> _M:
    """The content of a file as a model; otherwise an error that lists every fault with its key and "did you mean"."""
    try:
        return model.model_validate(content)
    except ValidationError as error:
        faults = sorted(error.errors(), key=lambda fault: fault["type"] != "extra_forbidden")
    texts = {"extra_forbidden": "unknown key", "missing": "is missing", "model_type": "must be a mapping"}
    messages = list[str]()
    for fault in faults:
        key, kind = ".".join(str(part)[:60] for part in fault["loc"]), fault["type"]
        wrong = f"{fault['msg'][:1].lower()}{fault['msg'][1:]}, not {shown(fault['input'])}"
        message = str(fault["ctx"]["error"]) if kind == "value_error" else texts.get(kind, wrong)
        messages.append(f"{key}: {message}" if key else message)
    if faults[0]["type"] == "extra_forbidden":
        around: object = model
        for part in faults[0]["loc"][:-1]:
            field = getattr(around, "model_fields", {}).get(str(part))
            around = field.annotation if field else None
        hint = did_you_mean(str(faults[0]["loc"][-1]), getattr(around, "model_fields", {})) or hint
    elif faults[0]["type"] == "string_type":
        hint = "Write it in quotes if it should be a text."
    if len(messages) == 1:
        raise GoldspanError(messages[0], where=str(file), hint=hint, code=Exit.INVALID)
    what = f"{len(messages)} keys are wrong"
    raise GoldspanError(what, where=str(file), examples=messages, hint=hint, code=Exit.INVALID)


def shown(value: object) -> str:
    """A value in a few words."""
    if isinstance(value, (list, dict)):
        return f"a {'list' if isinstance(value, list) else 'mapping'} of {len(value)}"
    return "nothing" if value is None else repr(value)[:60]
