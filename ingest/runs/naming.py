"""The names an import is given: a benchmark and a chunker of the lake, a system that is nobody's yet, the run's own."""

from __future__ import annotations

import polars as pl

from lake.declarations import CHUNKER_ALIASES
from lake.errors import Exit, GoldspanError, unknown_name
from lake.store import Lake

MAX_SYSTEM_CHARACTERS = 120
_MAX_ID_BYTES = 160
"""A run's name is a folder's name, which may have 255 bytes with what stands around it."""


def run_id_of(task: str, system: str, stamp: str) -> str:
    """`<task>--<system>--<8 hex>`, with `/` written `.`; a name that is too long for a folder is cut."""
    name = system
    while len("".join(mark if mark.isascii() else "%00" * len(mark.encode()) for mark in name)) > _MAX_ID_BYTES:
        name = name[:-1]
    return f"{task}--{name}--{stamp[:8]}".replace("/", ".")


def check_benchmark(lake: Lake, name: str) -> None:
    """See that the lake holds a benchmark.

    Raises:
        GoldspanError: It does not.
    """
    held = [part.name for part in lake.parts("benchmarks")]
    if name not in held:
        if not held:
            message = "the lake holds no benchmark"
            raise GoldspanError(message, where=str(lake.root), hint="First: make ingest", code=Exit.MISSING)
        raise unknown_name(name, "benchmark", held)


def check_system(lake: Lake, benchmark: str, name: str) -> None:
    """See that a name can be a system's, and that no built-in system has it.

    Raises:
        GoldspanError: It cannot, or one has.
    """
    problem = ""
    if not name or name != name.strip():
        problem = "is empty" if not name.strip() else "begins or ends with a space"
    elif len(name) > MAX_SYSTEM_CHARACTERS:
        problem = f"has {len(name)} characters; {MAX_SYSTEM_CHARACTERS} are allowed"
    elif not name.isprintable():
        problem = "holds a character that cannot be printed"
    if problem:
        message = f"the system name {name[:40]!a} {problem}"
        raise GoldspanError(message, hint="Name what made the ranking, such as my-retriever v2.", code=Exit.USAGE)
    chunker, _, retriever = name.rpartition("+")
    chunkers = {part.name for part in lake.parts("chunkers")}
    retrievers = set(lake.scan("retrievers").select("name").collect()["name"])
    runs = lake.scan("runs", benchmark=benchmark).filter(pl.col("system") == name, pl.col("origin") == "built-in")
    if (chunker in chunkers and retriever in retrievers) or runs.select(pl.len()).collect().item():
        message = f"the system name {name!r} is that of a system of Goldspan's own"
        raise GoldspanError(message, hint="Call the imported one something else.", code=Exit.USAGE)


def known_chunker(lake: Lake, name: str) -> str | None:
    """A chunker of the lake by its name or alias; None without a name.

    Raises:
        GoldspanError: The lake has no chunks of it.
    """
    if not name:
        return None
    wanted, known = CHUNKER_ALIASES.get(name, name), [part.name for part in lake.parts("chunkers")]
    if wanted not in known:
        raise unknown_name(name, "chunker of this lake", known)
    return wanted
