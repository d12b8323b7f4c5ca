"""What is wrong with a declaration of one's own: each fault with its key, its line, what was found and what to do."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple

from pydantic import ValidationError

from ingest.sources.strict_yaml import Place
from lake.catalog.protocols import protocols
from lake.errors import Exit, GoldspanError, did_you_mean
from lake.naming import SITE_PAGES

SEALED: Mapping[str, str] = {"prompts": "sealed", "scoring": "sealed", "relevance": "sealed", "judge": "none"}
"""What no declaration can change, as every benchmark's says it."""

RULES = {
    "aggregation", "budget", "budgets", "gold", "gold_rules", "granularity", "judge", "k", "ks", "metric", "metrics",
    "pool", "pools", "primary", "primary_metric", "prompts", "protocol", "protocols", "queries", "query", "relevance",
    "scoring", "sealed", "threshold", "thresholds", "tie", "ties",
}  # fmt: skip
"""Names under which somebody might look for a rule."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}")

_WANTED = {
    "label": "Give your data a name: it is shown wherever its numbers are.",
    "data": "Say where the data lies: {keys}.",
    "data.tasks": "The data set with the tasks, from data.root.",
    "data.repositories": "The folder or zip that holds <repository>/…, from data.root.",
    "data.subset": "Which of the benchmark's subsets the tasks are stored as, such as function-2k.",
}


class Fault(NamedTuple):
    """What is wrong with one key, and what to do about it."""

    place: Place
    problem: str
    hint: str = ""


def fault_of_name(name: object, published: Collection[str]) -> Fault | None:
    """What is wrong with the name of own data, if anything is.

    Args:
        name: As the declaration has it.
        published: The names of the declared benchmarks.
    """
    hint = "Give your data a name of its own, such as my-data."
    if name is None:
        return Fault(("name",), "is missing", hint)
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        wanted = "is to be 1 to 40 letters (a to z), digits, '-' and '_', a letter or digit first"
        return Fault(("name",), f"{shown(name)} {wanted}", hint)
    if name.lower() in published:
        return Fault(("name",), f"{name!r} is a published benchmark", hint)
    # Pages of other benchmarks are called after their protocols.
    ends = {"all", *(one.partition("@")[2] for one in protocols())}
    if name.lower() in SITE_PAGES or any(name.lower().endswith(f"-{end}") for end in ends):
        return Fault(("name",), f"{name!r} is what another page of a site is called", hint)
    return None


def faults_of_rules(
    content: Mapping[str, object], fixed: Mapping[str, object], sections: Mapping[str, Sequence[str]], name: str
) -> Iterator[Fault]:
    """Every rule that is named with another value than the one it has, wherever it stands.

    Args:
        content: The declaration.
        fixed: What may stand in it as it is, and not otherwise.
        sections: Section → its keys, which name no rule there.
        name: The benchmark's.
    """
    hint = (
        f"What {name} asks, how it is scored and what counts as relevant is sealed, so that numbers can be compared. "
        "Take it out; a new rule is a new protocol, under a name of its own."
    )
    ours = "It says whose rules these are. Take it out; label, title and description are yours."
    for key, value in content.items():
        if key == "sealed" and isinstance(value, dict):
            for rule, said in value.items():
                if SEALED.get(rule, _NONE) != said:
                    is_so = f"it is {SEALED[rule]!r} and stays so" if rule in SEALED else "there is no such rule"
                    yield Fault((key, rule), f"{shown(said)}; {is_so}", hint)
        elif key in fixed:
            if value != fixed[key]:
                yield Fault((key,), f"{shown(value)} is not what is declared", hint if key in RULES else ours)
        elif key in RULES:
            yield Fault((key,), "is sealed and cannot be set", hint)
    for section, keys in sections.items():
        inner = content.get(section)
        for key in inner if isinstance(inner, dict) else ():
            if key in RULES and key not in keys:
                yield Fault((section, key), "is sealed and cannot be set", hint)


_NONE = object()


def faults_of_keys(
    error: ValidationError, sections: Mapping[str, Sequence[str]], told_elsewhere: Collection[str] = frozenset(RULES)
) -> Iterator[Fault]:
    """What the models found; a key that is missing because it is misspelt is told once.

    Args:
        error: As pydantic has it.
        sections: Section → its keys; those at the top under the empty name.
        told_elsewhere: Keys that nobody knows and that are told of elsewhere.
    """
    misspelt: set[Place] = set()
    nested = [f"{section}.{key}" for section, keys in sections.items() if section for key in keys]
    for one in sorted(error.errors(), key=lambda one: one["type"] != "extra_forbidden"):
        place, name = tuple(one["loc"]), str(one["loc"][-1])
        if one["type"] == "extra_forbidden":
            close = get_close_matches(name, nested)
            known = sections[str(place[0])] if len(place) > 1 else [*sections[""], *close]
            hint = did_you_mean(name, known)
            misspelt |= {(*place[:-1], meant) for meant in known if repr(meant) in hint}
            if name not in told_elsewhere:
                yield Fault(place, "there is no such key", hint)
        elif one["type"] == "missing":
            if place not in misspelt:
                keys = ", ".join(sections.get(name, ()))
                yield Fault(place, "is missing", _WANTED.get(dotted(place), "").format(keys=keys))
        elif one["type"] == "value_error":
            yield Fault(place, str(one["ctx"]["error"]))
        elif one["type"] == "string_type":
            hint = "A text that YAML takes for something else is written in quotes."
            plain = not isinstance(one["input"], (list, dict))
            yield Fault(place, f"{shown(one['input'])} is not a text", hint if plain else "")
        else:
            hint = f"It holds {', '.join(sections.get(name, ()))}."
            yield Fault(place, f"{shown(one['input'])} is not keys with values", hint)


def refused(
    file: Path, faults: Sequence[Fault], lines: Mapping[Place, int], *, code: Exit = Exit.INVALID
) -> GoldspanError:
    """The error that tells some faults, at least one, in few lines."""
    found = [(_line(fault.place, lines), f"{dotted(fault.place)}: {fault.problem}") for fault in faults]
    if len(faults) == 1:
        ((line, said),) = found
        return GoldspanError(said, where=", ".join(filter(None, [str(file), line])), hint=faults[0].hint, code=code)
    examples = [", ".join(filter(None, both)) for both in found]
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
