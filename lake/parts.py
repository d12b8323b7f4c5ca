"""A part of a table: one Parquet file, with the fingerprint of its inputs and a digest of its bytes in its name.

Its path is `<table>/<folder>=<value>/…/part-<name>.<fingerprint>.<digest>.parquet`. The digest covers the lake's
format, the table's columns, the rest of the path, and the bytes; it is compared before a part is first read. A part
that is damaged, was copied or moved, or has other columns is thus found, set aside, and left to its stage.
"""

import hashlib
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from glob import glob
from pathlib import Path
from urllib.parse import quote, unquote

import polars as pl

from lake.errors import Exit, GoldspanError
from lake.tables import FINAL, IMPORT_REJECTS, RANKING, TABLES, Table, table
from lake.text import is_encodable

FORMAT_VERSION = 5  # part of every fingerprint and of every digest
MAX_NAME_BYTES = 240  # file systems allow 255, and a temporary name is longer than the final one
FORMAT = {"goldspan.part": f'{{"format":{FORMAT_VERSION}}}'}
"""The Parquet metadata of every part, which identifies lakes of another version."""

ASIDE = ".damaged"  # the folder of a lake for parts that were set aside as damaged
TEMPORARY = ".tmp"  # the suffix of a part's file name while it is being written
DAMAGE_HINT = (
    "`python -m ingest verify` lists what is damaged or missing. `make ingest evaluate` makes it again; "
    "imported runs must be imported again."
)

# Protocol and system names contain '@' and '+', which are safe in a path; '/' and '%' are not.
_SAFE = "@+,:~ "
_DIGEST_LENGTH = 16
_FILE = re.compile(rf"part-(.*)\.([^.]*)\.([0-9a-f]{{{_DIGEST_LENGTH}}})\.parquet", re.DOTALL)
_WRITTEN_AS = re.compile(r'\{.*"format":(\d{1,9})\b.*\}')


@dataclass(frozen=True)
class Part:
    """One stored part of a table; a file not written by the lake has no fingerprint."""

    table: str
    name: str
    path: Path
    folders: dict[str, str] = field(hash=False)
    fingerprint: str = ""
    digest: str = ""

    @property
    def relative_path(self) -> str:
        """The path in the lake without fingerprint, digest and suffix."""
        return "/".join([*self.path.parts[-len(self.folders) - 2 : -1], f"part-{quoted(self.name)}"])


@dataclass
class PartCounts:
    """The parts made, found current, and removed, by relative path, so that each counts once."""

    made: set[str] = field(default_factory=set)
    current: set[str] = field(default_factory=set)
    removed: set[str] = field(default_factory=set)

    def add(self, other: "PartCounts") -> None:
        """Add the parts counted by another process."""
        for name, parts in vars(other).items():
            getattr(self, name).update(parts)

    def counts(self) -> dict[str, int]:
        """The numbers of parts made, already current, and removed without replacement."""
        current, removed = self.current - self.made - self.removed, self.removed - self.made
        return {"made": len(self.made), "current": len(current), "removed": len(removed)}


def new_part(
    root: Path, declared: Table, name: str, folders: Mapping[str, str], fingerprint: str, data: memoryview
) -> Part:
    """A part to be written from `data`; its path contains the digest."""
    stem = f"part-{quoted(name)}.{fingerprint}"
    inside = [declared.name, *(f"{folder}={quoted(folders[folder])}" for folder in declared.folders)]
    for text in [*inside, f"{stem}.{'0' * _DIGEST_LENGTH}.parquet"]:
        if len(text.encode()) > MAX_NAME_BYTES:
            message = f"a name is too long for a file name: {len(text.encode()):,} bytes, {MAX_NAME_BYTES} at most"
            raise GoldspanError(message, examples=[text], hint="Choose a shorter one.", code=Exit.USAGE)
    written = hashlib.sha256(_digest_prefix((*inside, stem)))
    written.update(data)
    return _part_at(root, [*inside, f"{stem}.{written.hexdigest()[:_DIGEST_LENGTH]}.parquet"])


def parts_below(root: Path, name: str, folders: Mapping[str, str], part: str | None = None) -> list[Part]:
    """The parts of a table, sorted by path; only those with the given folder values or the given name."""
    declared = table(name)
    if unexpected := sorted(set(folders) - set(declared.folders)):
        raise KeyError(f"{name} has no folder {unexpected[0]}")
    # Characters that quoted() leaves as they are have no meaning in a glob pattern.
    inside = [f"{folder}={quoted(folders[folder]) if folder in folders else '*'}" for folder in declared.folders]
    file = "part-*.parquet" if part is None else f"part-{quoted(part)}.*.parquet"
    paths = glob("/".join([name, *inside, file]), root_dir=root)  # noqa: PTH207  # Path's is far slower
    parts = [(names[:-1], _part_at(root, names)) for names in (path.split("/") for path in paths)]
    # Sorted by name before fingerprint: every lake reads equal inputs in the same order.
    parts.sort(key=lambda pair: (pair[0], f"{pair[1].name}.parquet", pair[1].path.name))
    return [stored for _, stored in parts if part in (None, stored.name)]


def _part_at(root: Path, names: Sequence[str]) -> Part:
    table_name, *folders, file = names
    written = _FILE.fullmatch(file)
    name, *made = (unquote(written[1]), written[2], written[3]) if written else (file,)
    values = {folder: unquote(value) for folder, _, value in (pair.partition("=") for pair in folders)}
    return Part(table_name, name, root.joinpath(*names), values, *made)


def remove_empty(folder: Path, root: Path) -> None:
    """Remove a folder and its parents, up to but not including the lake's root, as long as they are empty."""
    while folder != root and not any(folder.iterdir()):
        folder.rmdir()
        folder = folder.parent


def fault_of(part: Part) -> str:
    """The fault of a part as a phrase, empty if it is intact; a part of another version's lake raises an error."""
    try:
        *folders, file = part.path.parts[-len(part.folders) - 2 :]
        prefix = _digest_prefix((*folders, file.rsplit(".", 2)[0]))
        if part.digest == _digest(part.path, part.path.stat().st_mtime_ns, prefix):
            return ""
    except PermissionError:
        raise
    except OSError as error:
        return f"it cannot be read: {error.strerror or error}"
    _check_format(part.path)
    return "it was changed or moved, or another version of Goldspan wrote it"


def check_part(part: Part) -> None:
    """Raise an error if a part is not as it was written; the file is read once per process."""
    if why := fault_of(part):
        message = f"a file of the lake cannot be used: {why}"
        raise GoldspanError(message, where=str(part.path), hint=DAMAGE_HINT, code=Exit.INVALID)


def _digest_prefix(names: Sequence[str]) -> bytes:
    """The prefix of the bytes hashed for a digest: the lake's format, the table's columns, the path without digest."""
    *folders, stem = names
    return repr((FORMAT_VERSION, _columns(folders[0]), (*folders,), stem)).encode(errors="surrogateescape")


@cache
def _columns(table: str) -> str:
    return ", ".join(f"{name} {kind}" for name, kind in TABLES[table].columns.items())


@cache
def _digest(path: Path, _: int, prefix: bytes) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.sha256(prefix)).hexdigest()[:_DIGEST_LENGTH]


def _check_format(path: Path) -> None:
    try:
        with path.open("rb") as file:
            record = pl.read_parquet_metadata(file).get("goldspan.part", "")
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        return
    if (written := _WRITTEN_AS.fullmatch(record)) and (version := int(written[1])) != FORMAT_VERSION:
        age = "an older" if version < FORMAT_VERSION else "a newer"
        message = f"the lake was written by {age} Goldspan: its format is {version}, this one's is {FORMAT_VERSION}"
        hint = "Name another folder with LAKE=…, or delete this one and rebuild it: make ingest evaluate. "
        hint += "Imported runs must be imported again."
        raise GoldspanError(message, where=str(path), hint=hint, code=Exit.INVALID)


def quoted(value: str) -> str:
    """A value escaped for a path."""
    if not is_encodable(value):
        raise GoldspanError("a name is not valid UTF-8", examples=[value], hint="Write it in UTF-8.", code=Exit.USAGE)
    return quote(value, safe=_SAFE)


def mend(root: Path, makes: Collection[str]) -> Iterator[str]:
    """Delete half-written files of killed processes; set damaged parts aside, and yield a message for each of them.

    `makes` names the makers that the caller acts for; a damaged part of `ingest` that it only reads is an error.
    """
    for declared in TABLES.values():
        for unfinished in (root / declared.name).rglob(f".*{TEMPORARY}"):
            unfinished.unlink(missing_ok=True)
        for part in parts_below(root, declared.name, {}) if declared.made_by in {*makes, "ingest"} else ():
            if declared.made_by not in makes:
                check_part(part)
            elif why := fault_of(part):
                yield _set_aside(root, part, why)
    if "runs" in makes:
        for row, why in _contradicted(root):
            yield _set_aside(root, row, why)


def _set_aside(root: Path, part: Part, why: str) -> str:
    """Move a damaged part out of the tables, with the run's row or the items that rely on it; return a message."""
    then, lost = "it is made again", {part.path}
    if part.table == "vectors":
        then += ", but vectors of your own must be given again with --vectors"
    is_of_run = "run_id" in part.folders and TABLES[part.table].made_by != "evaluate" and bool(part.fingerprint)
    # Every import has a part of rejects, so this is neither a stray file nor a run made here.
    if is_of_run and parts_below(root, "rejects", {}, IMPORT_REJECTS + part.folders["run_id"]):
        then = f"import the run {part.folders['run_id']} again"
        lost |= {row.path for row in parts_below(root, "runs", part.folders)}
    if part.table in ("files", "pools"):
        # Stored items mean that everything ingested with them is stored, so they have to go too.
        lost |= {items.path for items in parts_below(root, "items", {"benchmark": part.folders["benchmark"]})}
    for path in lost:
        # With another suffix, so that no glob pattern for parts matches it.
        aside = root / ASIDE / f"{path.relative_to(root)}{ASIDE}"
        aside.parent.mkdir(parents=True, exist_ok=True)
        path.replace(aside)
        remove_empty(path.parent, root)
    return f"{part.path.relative_to(root).as_posix()}: {why}; set aside in {ASIDE}, {then}"


def _contradicted(root: Path) -> Iterator[tuple[Part, str]]:
    """The `runs` parts of imported runs whose numbers of items or results differ from the stored rows, and why."""
    runs = _rows("runs", parts_below(root, "runs", {})).filter(origin="imported").select("run_id", "n_items").collect()
    if runs.is_empty():
        return
    answers, results = (
        _rows(name, [part for part in parts_below(root, name, {}) if part.folders["run_id"] in {*runs["run_id"]}])
        for name in ("run_items", "hits")
    )
    answered = answers.group_by("run_id").agg(n_answered=pl.len(), n_expected=pl.col("n_returned").sum())
    returned = results.filter(pl.col("part").is_in([RANKING, FINAL])).group_by("run_id").agg(n_returned=pl.len())
    counts = runs.lazy().join(answered, on="run_id", how="left").join(returned, on="run_id", how="left").fill_null(0)
    for run_id, n_items, n_answered, n_expected, n_returned in counts.sort("run_id").collect().iter_rows():
        for row in parts_below(root, "runs", {"run_id": run_id}):
            if n_answered != n_items:
                yield row, f"run_items has {n_answered:,} of its {n_items:,} items"
            elif n_returned != n_expected:
                yield row, f"hits has {n_returned:,} of its {n_expected:,} results"


def _rows(name: str, parts: list[Part]) -> pl.LazyFrame:
    paths = [part.path for part in parts]
    columns = TABLES[name].columns
    return pl.scan_parquet(paths, hive_partitioning=False, glob=False) if paths else pl.LazyFrame(schema=columns)


def missing_tables(root: Path) -> list[str]:
    """The tables that lack rows for a scored benchmark or run, as `runs of RUN`."""
    missing, tables = list[str](), {"benchmark": ("items", "gold_spans", "files")}
    tables["run_id"] = "runs", "run_items", "aggregates"
    for folder, names in tables.items():
        scored, *stored = (
            {part.folders[folder] for part in parts_below(root, name, {})} for name in ("scores", *names)
        )
        missing += [f"{name} of {lost}" for name, of in zip(names, stored, strict=True) for lost in sorted(scored - of)]
    return missing


def check_whole(root: Path) -> None:
    """Raise an error if the lake lacks tables that its scores refer to."""
    if lacking := missing_tables(root):
        message = "the lake has scores, but not all tables that they need; missing are the tables below"
        raise GoldspanError(message, where=str(root), examples=lacking, hint=DAMAGE_HINT, code=Exit.INVALID)
