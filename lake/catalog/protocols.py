"""Protocols: the sealed rules a run is scored by, declared with their benchmark."""

from __future__ import annotations

import functools
from collections.abc import Mapping

from lake.catalog import benchmarks
from lake.catalog.protocol import Protocol
from lake.declarations import discover
from lake.errors import lookup, unknown_name


@functools.cache
def protocols() -> Mapping[str, Protocol]:
    """Every declared protocol by name.

    Raises:
        GoldspanError: Two declarations have one name.
    """
    return discover(benchmarks, Protocol)


def protocol_named(name: str) -> Protocol:
    """The protocol of a name.

    Raises:
        GoldspanError: There is none; the message asks "did you mean".
    """
    return lookup(name, "protocol", protocols())


def protocols_called(name: str, benchmark: str = "") -> list[Protocol]:
    """The protocol of a name, or of a benchmark or of all those that are called so behind their `@`: `docs-v1`.

    Raises:
        GoldspanError: There is none; the message asks "did you mean".
    """
    known = [one for one in protocols().values() if not benchmark or one.name.startswith(f"{benchmark}@")]
    short = [one for one in known if one.name.partition("@")[2] == name]
    if name in protocols() or short:
        return short or [protocols()[name]]
    raise unknown_name(name, "protocol", {part for one in known for part in (one.name, one.name.partition("@")[2])})


def protocols_of(task: str) -> list[Protocol]:
    """Every protocol that scores the runs of a task, in the order of the names."""
    return [protocol for protocol in protocols().values() if task in protocol.tasks]
