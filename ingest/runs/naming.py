"""The names of an import: a benchmark and a chunker of the lake, a system that is nobody's yet, the run's own."""

from __future__ import annotations

import polars as pl

from ingest.runs.import_outcome import ImportRequest
from lake.declarations import CHUNKER_ALIASES
from lake.errors import Exit, GoldspanError, unknown_name
from lake.store import Lake

MAX_SYSTEM_CHARACTERS = 120
_MAX_ID_BYTES = 120
"""A run's name is part of a file's name, which may have 255 bytes with the digests in it."""


def run_id_of(task: str, system: str, stamp: str) -> str:
    """`<task>--<system>--<8 hex>`, with `/` written `.`; a name that is too long for a folder is cut."""
    name = system
    while len("".join(mark if mark.isascii() else "%00" * len(mark.encode()) for mark in name)) > _MAX_ID_BYTES:
        name = name[:-1]
    return f"{task}--{name}--{stamp[:8]}".replace("/", ".")


def check_request(lake: Lake, request: ImportRequest) -> str | None:
    """See that the lake holds the benchmark and the chunker, and that the name can be a system's; the chunker's name.

    Raises:
        GoldspanError: It does not, the name cannot, or a built-in system has it.
    """
    held = [part.name for part in lake.parts("benchmarks")]
    if not held:
        message = "the lake holds no benchmark"
        raise GoldspanError(message, where=str(lake.root), hint="First: make ingest", code=Exit.MISSING)
    if request.benchmark not in held:
        raise unknown_name(request.benchmark, "benchmark", held)
    chunkers = [part.name for part in lake.parts("chunkers")]
    _check_system(lake, request.benchmark, request.system, chunkers)
    chunker = CHUNKER_ALIASES.get(request.chunker, request.chunker)
    if chunker and chunker not in chunkers:
        raise unknown_name(chunker, "chunker of this lake", chunkers)
    return chunker or None


def _check_system(lake: Lake, benchmark: str, name: str, chunkers: list[str]) -> None:
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
    retrievers = set(lake.scan("retrievers").select("name").collect()["name"])
    runs = lake.scan("runs", benchmark=benchmark).filter(pl.col("system") == name, pl.col("origin") == "built-in")
    if (chunker in chunkers and retriever in retrievers) or not runs.collect().is_empty():
        message = f"the system name {name!r} is that of a system of Goldspan's own"
        raise GoldspanError(message, hint="Call the imported one something else.", code=Exit.USAGE)
