"""What is wrong with a declaration: each fault with its key, its line, what was found and what to do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple

from pydantic import ValidationError

from ingest.sources.strict_yaml import Place
from lake.errors import Exit, GoldspanError, did_you_mean


class Fault(NamedTuple):
    """What is wrong with one key, and what to do about it."""

    place: Place
    problem: str
    hint: str = ""


def faults_of_keys(error: ValidationError, sections: Mapping[str, Sequence[str]]) -> Iterator[Fault]:
    """What a model found; a key that is missing because it is misspelt is reported once."""
    misspelt: set[Place] = set()
    nested = [f"{section}.{key}" for section, keys in sections.items() if section for key in keys]
    for fault in sorted(error.errors(), key=lambda fault: fault["type"] != "extra_forbidden"):
        path, name, value = tuple(fault["loc"]), str(fault["loc"][-1]), fault["input"]
        problem = f"{fault['msg'][:1].lower()}{fault['msg'][1:]}, not {shown(value)}"
        match fault["type"]:
            case "extra_forbidden":
                known = sections[str(path[0])] if len(path) > 1 else [*sections[""], *get_close_matches(name, nested)]
                hint = did_you_mean(name, known)
                misspelt |= {(*path[:-1], meant) for meant in known if repr(meant) in hint}
                yield Fault(path, "there is no such key", hint)
            case "missing":
                if path not in misspelt:
                    keys = sections.get(name)
                    yield Fault(path, "is missing", f"It holds {', '.join(keys)}." if keys else "")
            case "value_error":
                yield Fault(path, str(fault["ctx"]["error"]))
            case "string_type":
                hint = "" if isinstance(value, (list, dict)) else "Write it in quotes if it is meant as a text."
                yield Fault(path, problem, hint)
            case "model_type":
                yield Fault(path, f"{shown(value)} is not keys with values", f"It holds {', '.join(sections[name])}.")
            case _:
                yield Fault(path, problem)


def refused(
    file: Path, faults: Sequence[Fault], lines: Mapping[Place, int], *, code: Exit = Exit.INVALID
) -> GoldspanError:
    """The error that tells some faults, at least one, in few lines."""
    messages = [(_line(fault.place, lines), f"{dotted(fault.place)}: {fault.problem}") for fault in faults]
    if len(faults) == 1:
        ((line, message),) = messages
        return GoldspanError(message, where=", ".join(filter(None, [str(file), line])), hint=faults[0].hint, code=code)
    examples = [", ".join(filter(None, both)) for both in messages]
    what = f"{len(faults)} keys are not as they are to be"
    return GoldspanError(what, where=str(file), examples=examples, hint=faults[0].hint, code=code)


def shown(value: object) -> str:
    """What was found, in a few words."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (list, dict)):
        return f"a {'list' if isinstance(value, list) else 'mapping'} of {len(value)}"
    return repr(value[:60]) if isinstance(value, str) else str(value)[:60]


def dotted(place: Place) -> str:
    """A key as people write it."""
    return ".".join(part if part.isprintable() else ascii(part) for part in (str(part)[:60] for part in place))


def _line(place: Place, lines: Mapping[Place, int]) -> str:
    """The line of a key; of the one around it, where it is missing."""
    known = [lines[place[:n]] for n in range(len(place), 0, -1) if place[:n] in lines]
    return f"line {known[0]}" if known else ""
