"""A list of chunks made elsewhere, brought in as a chunker of its own name: runs over them get every metric."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import polars as pl

from ingest.contents.chunkers_by_name import name_fault
from ingest.runs.chunk_rows import SCOPES, read_rows
from ingest.runs.documents import written
from ingest.runs.imported_runs import ImportedRun, count_rows, counts_in
from ingest.runs.input_file import InputFile
from ingest.runs.input_rows import NAME, refuse
from ingest.runs.naming import check_benchmark
from ingest.runs.resolve_paths import Axis, files_of, pools_of
from lake.errors import Exit, GoldspanError
from lake.fingerprint import canonical_json, fingerprint, sha256_of_file
from lake.lines import added_lines
from lake.make import Product, Slot, made_from
from lake.naming import SEARCHED
from lake.outcome import Outcome
from lake.parts import PartCounts
from lake.store import Lake
from lake.tables import declared_row, table
from lake.text import counted

PART = "imported"


@dataclass(frozen=True)
class ImportedChunks:
    """What importing a list of chunks did.

    Attributes:
        n_rows: Rows of the file.
        n_chunks: Different chunks of contents; a content that stands under several paths is cut alike everywhere.
        n_files: Contents that have a chunk.
        n_clamped: Chunks that ended one line past their file.
        is_whole: Whether every file with a line has a chunk, so that retrievers can search them.
        removed: Runs over the chunks that were there before under this name: those are gone, and they with them.
        is_current: Whether they were there already.
    """

    name: str
    n_rows: int
    n_chunks: int
    n_files: int
    n_clamped: int
    is_whole: bool
    removed: tuple[str, ...] = ()
    is_current: bool = False

    def outcome(self, written_to: str, tally: PartCounts) -> Outcome:
        """The last block."""
        notes = [f"chunker {self.name}: {counted(self.n_chunks, 'chunk')} of {counted(self.n_files, 'file')}"]
        if not self.is_whole:
            notes.append("other files have no chunk in the list: it is for imported runs, no retriever searches it")
        if self.n_clamped:
            notes.append(f"clamped: {counted(self.n_clamped, 'chunk')} that ended one line past their file")
        for run_id in self.removed:
            notes.append(f"taken away: {run_id}, over the chunks that had this name before; import it again")
        if not self.is_current:
            notes.append(f"a run over these chunks: python -m ingest run FILE … --chunker {self.name}")
        return Outcome(
            written_to, self.n_rows, self.n_rows, unit="chunks", notes=notes, hint="make evaluate", tally=tally
        )


def import_chunks(lake: Lake, file: Path, benchmark: str, name: str) -> ImportedChunks:
    """Store a list of chunks under a chunker's name; the caller holds the lake's lock.

    Args:
        lake: Where to.
        file: Parquet or tab-separated columns: see :mod:`ingest.runs.chunk_rows`.
        benchmark: Whose files they are chunks of.
        name: What the chunker is to be called.

    Raises:
        GoldspanError: The name is taken or none, or a row's pool or file is not there, its lines lie outside the file,
            or it stands twice.
    """
    input_file = InputFile.at(file)
    if input_file.is_folder:
        raise input_file.wrong(what="a list of chunks is a file, not a folder")
    check_benchmark(lake, benchmark)
    _check_name(lake, benchmark, name)
    pools = pools_of(lake, benchmark)
    product = _product(lake, benchmark, name, sha256_of_file(input_file.path))
    if product.is_current:
        stored = counts_in(_declared_as(lake, name), "counts")
        numbers = (stored["n_rows"], stored["n_chunks"], stored["n_files"], stored["n_clamped"])
        return ImportedChunks(name, *numbers, is_whole=stored["is_whole"] > 0, is_current=True)
    rows = read_rows(input_file)
    placed = _placed(lake, input_file, benchmark, rows, pools)
    n_clamped = placed.filter(pl.col("line_end") > pl.col("n_lines"))["position"].n_unique()
    placed = placed.with_columns(line_end=pl.min_horizontal("line_end", "n_lines"))
    _check_twice(input_file, placed)
    axis = Axis.of(lake, placed["sha256"])
    cut = axis.measured(
        placed.select("sha256", "line_start", "line_end").unique().sort("sha256", "line_start", "line_end")
    )
    chunk_no = pl.int_range(pl.len(), dtype=pl.Int64).over("sha256")
    frame = cut.with_columns(pl.col("sha256").cast(pl.String), chunker=pl.lit(name), chunk_no=chunk_no)
    files = lake.scan("files", benchmark=benchmark).filter(pl.col("kind").is_in(SEARCHED))
    with_lines = lake.scan("blobs").filter(pl.col("n_lines") > 0).select("sha256")
    uncut = files.select("sha256").unique().join(with_lines, on="sha256").join(frame.lazy(), on="sha256", how="anti")
    is_whole = uncut.head(1).collect().is_empty()
    removed = _remove_runs_over(lake, benchmark, name)
    counts = (rows.height, frame.height, frame["sha256"].n_unique(), n_clamped)
    made = ImportedChunks(name, *counts, is_whole, removed)
    # The row that says that they are there goes first.
    product.remove()
    status = _status(name, frame, placed.select("sha256", line_start=0, line_end="n_lines").unique(), axis)
    product.write(frame.select(*table("chunks").columns), status, _declared(benchmark, input_file, made))
    return made


def _product(lake: Lake, benchmark: str, name: str, sha256: str) -> Product:
    """The chunks of a list: made from the file, and from what says which contents its rows cut."""
    folders = {"chunker": name}
    slots = [Slot("chunks", PART, folders), Slot("chunk_status", PART, folders), Slot("chunkers", name, {})]
    inputs = [part for table in ("items", "files") for part in lake.parts(table, benchmark=benchmark)]
    return Product(lake, slots, made_from(inputs, [sha256, benchmark, name], [import_chunks]))


def _status(name: str, chunks: pl.DataFrame, contents: pl.DataFrame, axis: Axis) -> pl.DataFrame:
    """How each content was cut: the rows of `chunk_status`.

    Args:
        name: The chunker.
        chunks: The columns of `chunks`.
        contents: sha256, line_start, line_end: all its lines.
        axis: The contents' lines.
    """
    ranked = chunks.with_columns(pl.col("sha256").cast(NAME), pl.col("chunk_no").alias("rank"), path=pl.lit(""))
    covered = axis.measured(added_lines(ranked, ["sha256"])).group_by("sha256").agg(n_covered=pl.col("n_nws").sum())
    counts = ranked.group_by("sha256").agg(n_chunks=pl.len().cast(pl.Int64))
    none = pl.lit(None, pl.String)
    return (
        axis.measured(contents)
        .select(pl.col("sha256").cast(pl.String), "n_nws")
        .join(covered.cast({"sha256": pl.String}), on="sha256")
        .join(counts.cast({"sha256": pl.String}), on="sha256")
        .with_columns(chunker=pl.lit(name), fell_back=none, failed=none)
        .select(*table("chunk_status").columns)
    )


def _declared(benchmark: str, input_file: InputFile, made: ImportedChunks) -> pl.DataFrame:
    counts = {name: int(value) for name, value in vars(made).items() if isinstance(value, int) and name != "is_current"}
    n_files, n_chunks = made.n_files, made.n_chunks
    parameters = canonical_json({"sha256": sha256_of_file(input_file.path)})
    return declared_row(
        "chunkers",
        name=made.name,
        title=made.name,
        meaning=f"Chunks made elsewhere and imported: {n_chunks:,} of {n_files:,} files.",
        source=input_file.name,
        parameters=parameters,
        fingerprint=fingerprint(parameters, benchmark, counts),
        imported_for=benchmark,
        counts=count_rows(counts),
    )


def _remove_runs_over(lake: Lake, benchmark: str, name: str) -> tuple[str, ...]:
    """Take away the imported runs whose hits are chunks of that name, which are to be others; their names.

    Runs of retrievers are held against the chunks by the stage that makes them.
    """
    runs = lake.scan("runs", benchmark=benchmark).filter(pl.col("chunker") == name, pl.col("origin") == "imported")
    removed = tuple(runs.select("run_id").collect()["run_id"].sort())
    for run_id in removed:
        ImportedRun(lake, benchmark, run_id).remove()
    return removed


def _declared_as(lake: Lake, name: str) -> pl.DataFrame:
    """The row of a chunker of that name, where there is one."""
    return lake.scan_part("chunkers", name).collect()


def _check_name(lake: Lake, benchmark: str, name: str) -> None:
    problem = name_fault(name)
    if not problem:
        others = _declared_as(lake, name).filter(pl.col("imported_for") != benchmark)["imported_for"].to_list()
        problem = f"is taken, by {f'chunks of {others[0]}' if others[0] else 'a command'}" if others else ""
    if problem:
        message = f"--name {name[:80]!a} {problem}"
        raise GoldspanError(message, hint="Name what cut the files, such as my-ast.", code=Exit.USAGE)


def _placed(lake: Lake, input_file: InputFile, benchmark: str, rows: pl.DataFrame, pools: pl.DataFrame) -> pl.DataFrame:
    """The rows with the content each cuts, a row for every content that stands under its path in its pools.

    Raises:
        GoldspanError: A pool or file is not there, or lines lie outside it.
    """
    said = next(name for name in SCOPES if name in rows.columns)
    rows = rows.rename({said: "scope"})
    of_scope = pools.select("pool_id", scope=said).drop_nulls().unique()
    unknown = rows.join(of_scope, on="scope", how="anti")
    known = of_scope["scope"]
    hint = f"The lake has {known.n_unique():,} of {benchmark}" + (f", such as {known.min()!r}." if len(known) else ".")
    refuse(input_file, unknown, f"a {said} that is not there", shown=pl.col("scope"), hint=hint)
    pool_ids = of_scope["pool_id"].unique().sort()
    numbered = pool_ids.to_frame().with_row_index("pool").cast({"pool": pl.Int64})
    files = files_of(lake, benchmark, pool_ids).with_columns(pl.col("path").cast(pl.String))
    named = rows.join(of_scope.join(numbered, on="pool_id"), on="scope", maintain_order="left")
    found = named.join(files, left_on=["pool", "path_given"], right_on=["pool", "path"], maintain_order="left")
    lost, shown = rows.join(found, on="position", how="anti"), pl.format("{}: {}", "scope", written())
    refuse(input_file, lost, "a file that is not there", shown=shown, hint="Paths are those of the pool's files.")
    end = pl.when(pl.col("line_start").is_null()).then("n_lines").otherwise("line_end")
    found = found.with_columns(pl.col("line_start").fill_null(0), line_end=end)
    beyond = found.filter(pl.col("line_end") > pl.col("n_lines") + 1)
    past = pl.format("{}: {} ends past line {}, the file's last", "scope", written(), "n_lines")
    refuse(input_file, beyond.unique("position"), "a chunk that lies outside its file", shown=past)
    empty = found.filter(pl.col("line_start") >= pl.min_horizontal("line_end", "n_lines"))
    refuse(input_file, empty.unique("position"), "a chunk without a line", shown=shown)
    return found.select("position", "scope", "path_given", "sha256", "line_start", "line_end", "n_lines")


def _check_twice(input_file: InputFile, placed: pl.DataFrame) -> None:
    key = ["scope", "path_given", "line_start", "line_end"]
    once = placed.unique(["position", *key])
    again = once.sort("position").with_columns(first=pl.col("position").first().over(key))
    again = again.filter(pl.col("position") > pl.col("first"))
    shown = pl.format("{}: {} as in line {}", "scope", written(), "first")
    refuse(input_file, again, "a chunk that stands twice", shown=shown, hint="A list names a chunk of a file once.")
