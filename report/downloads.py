"""The results to download: one Parquet file per table, with the system and benchmark in each row."""

import re
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from lake.fingerprint import sha256_of_file
from lake.store import Lake
from lake.tables import table
from lake.text import REGEX_TOKEN
from lake.usage import run_costs
from report.editions import LakeWithEditions
from report.tables_read import MEASURE, BenchmarkRow, run_kinds

DATA_FOLDER = "data"
MAX_DOWNLOAD_BYTES = 25_000_000  # static hosts refuse larger files; a larger table is split
MAX_ROWS = {"hits": 4_000_000, "scores": 10_000_000, "chunks": 10_000_000, "files": 10_000_000}
"""Table → maximum number of rows. Above it rankings are cut at a rank, scores are only those of the protocols' primary
metrics, and chunks and files are published empty."""


@dataclass(frozen=True)
class Download:
    """A table of the lake to download, in the file `<name>.parquet`.

    `about` is `benchmark` for tables imported with one. Columns in `without` are texts we may not publish. Rows
    `of_runs` get the names of their systems. `declares` names the thing that each row declares. A table `if_any` is
    written only if the lake has it. For a table that `ships`, the file of each published edition is copied too.
    """

    name: str
    table: str
    about: str = "results"
    without: tuple[str, ...] = ()
    of_runs: bool = False
    note: str = ""
    declares: str = ""
    if_any: bool = False
    ships: bool = False

    @property
    def meaning(self) -> str:
        """The meaning of a row, with the note."""
        own = f"One row per {self.declares}, with its description on the pages." if self.declares else ""
        meaning = " ".join(f"{own or table(self.table).meaning} {self.note}".split())
        # Some files have another name than their table.
        for other in DOWNLOADS:
            meaning = meaning.replace(f"`{other.table}`", f"`{other.name}`")
        return meaning

    @property
    def first_sentence(self) -> str:
        """The meaning of a row up to the first full stop, colon or semicolon."""
        first = re.split(r"(?<=[^.])[.:;](?= )", self.meaning, maxsplit=1)[0]
        return f"{first.rstrip('.')}."


LEFT_OUT = ("oracle", "random")  # the retrievers whose rankings are not published
_LINES = "Lines are counted from 0 and a range ends before line_end: an editor's lines 10 to 20 are 9 and 20 here."
_SUMMED = "The parts of a run are added up; query times are their median and 95th percentile."
_NO_TEXT = "Queries and answers as text are not published here."
_OF_SYSTEMS = "A lake's rankings of `oracle` and `random` are left out: the gold comes first, or chance orders them."
_TEXTS = ("patch", "target_text")

DOWNLOADS: Sequence[Download] = (
    Download("aggregates", "aggregates", of_runs=True, ships=True),
    Download("ranks", "ranks", of_runs=True, if_any=True),
    Download("comparisons", "comparisons", of_runs=True, if_any=True, ships=True),
    Download("scores", "scores", of_runs=True, ships=True),
    Download("ledger", "ledger", of_runs=True, if_any=True),
    Download("ledger_means", "ledger_means", of_runs=True, if_any=True),
    Download("step_scores", "step_scores", of_runs=True, if_any=True),
    Download("rankings", "hits", of_runs=True, note=f"{_LINES} {_OF_SYSTEMS}", ships=True),
    Download("edits", "edits", note="Lines are counted from 0.", if_any=True),
    Download("usage", "usage", if_any=True),
    Download("repairs", "repairs", of_runs=True, if_any=True),
    Download("run_items", "run_items", of_runs=True, without=("completion",)),
    Download("runs", "runs"),
    Download("submissions", "submissions", if_any=True),
    Download("effects", "effects", if_any=True),
    Download("costs", "costs", of_runs=True, note=_SUMMED),
    Download("items", "items", about="benchmark", without=_TEXTS, note=_NO_TEXT),
    Download("queries", "queries", about="benchmark", without=("text",), note=_NO_TEXT),
    Download("gold_spans", "gold_spans", about="benchmark", note=_LINES),
    Download("files", "files", about="benchmark", note="Their contents are not published here."),
    Download("chunks", "chunks", about="benchmark", without=("text",), note=_LINES),
    Download("benchmarks", "benchmarks", declares="benchmark"),
    Download("tasks", "tasks", declares="task"),
    Download("protocols", "protocols", declares="protocol"),
    Download("metrics", "metrics", declares="metric"),
    Download("retrievers", "retrievers", declares="retriever"),
    Download("chunkers", "chunkers", declares="chunker"),
    Download("rejects", "rejects", without=("excerpt",)),
)


class Stored:
    """A downloadable file with its columns, types and first rows; `edition` is its edition's name or empty."""

    def __init__(self, download: Download, path: Path, site: Path, edition: str = "") -> None:
        self.download, self.path, self.edition = download, path.relative_to(site).as_posix(), edition
        rows, of_table = pl.scan_parquet(path, glob=False), table(download.table)
        n, first = pl.collect_all([rows.select(pl.len()), rows.head(3)])
        self.n_rows, self.n_bytes, self.sha256 = int(n.item()), path.stat().st_size, sha256_of_file(path)
        self.columns = [(name, str(kind), of_table.column_meaning(name)) for name, kind in first.schema.items()]
        self.first = first.rows()


def write_downloads(lake: Lake, site: Path, metadata: Mapping[str, str]) -> list[Stored]:
    """Write every table, with `metadata`, as one file or more; copy the files of published editions unchanged."""
    runs, folder, stored = run_kinds(lake).collect(), site / DATA_FOLDER, []
    folder.mkdir(parents=True)
    editions = lake.editions if isinstance(lake, LakeWithEditions) else []
    for download in DOWNLOADS:
        own = Lake(lake.root) if download.ships else lake
        if not download.if_any or own.parts(download.table):
            frame, note = _published(own, download, for_readers(own, download, _frame(own, download, runs), runs))
            shown = replace(download, note=f"{download.note} {note}".strip())
            paths = _write(frame, folder / f"{download.name}.parquet", {**metadata, **file_metadata(shown, frame)})
            stored += [Stored(shown, path, site) for path in paths]
        for edition in editions if download.ships else ():
            file, to = edition / f"{download.table}.parquet", folder / f"{download.name}-{edition.name}.parquet"
            if file.is_file():
                stored.append(Stored(download, Path(shutil.copyfile(file, to)), site, edition.name))
    return stored


def file_metadata(download: Download, frame: pl.LazyFrame) -> dict[str, str]:
    """The Parquet metadata of a file: the meaning of a row and of each column."""
    of_table = table(download.table)
    columns = {f"goldspan.column.{name}": of_table.column_meaning(name) for name in frame.collect_schema()}
    return {"goldspan.meaning": download.meaning, **columns}


def table_files(stored: Sequence[Stored], name: str, benchmarks: Iterable[BenchmarkRow]) -> list[str]:
    """The paths of the files that contain a table's rows of some benchmarks."""
    editions = {benchmark.name if benchmark.is_edition else "" for benchmark in benchmarks}
    return [each.path for each in stored if each.download.name == name and each.edition in editions]


def _published(lake: Lake, download: Download, frame: pl.LazyFrame) -> tuple[pl.LazyFrame, str]:
    """The rows of a table that are published, and a sentence that tells if some are left out (empty if not)."""
    most = MAX_ROWS.get(download.table)
    # The joins behind `frame` add no rows, so the stored table gives their number.
    n = lake.scan(download.table).select(pl.len()).collect().item() if most else 0
    if most is None or n <= most:
        return frame, ""
    if download.table == "hits":
        is_in_a_list = pl.col("part").is_in(["ranking", "lines"])
        by_rank = frame.filter(is_in_a_list).group_by("rank").len().sort("rank").collect()
        n_fitting = int((by_rank["len"].cast(pl.Int64).cum_sum() <= most).sum())
        if n_fitting == by_rank.height:
            return frame, ""
        depth = max(1, n_fitting)
        note = f"Only the first {depth:,} results of each list, without scores: all are too many to publish."
        # Scores hardly compress: they are nine tenths of the file.
        return frame.filter((pl.col("rank") <= depth) | ~is_in_a_list).drop("score"), note
    if download.table == "scores":
        primaries = lake.scan("protocols").select(*primary_measure(), protocol="name")
        note = f"Only those by the protocols' primary metrics: all {n:,} are too many to publish."
        return frame.join(primaries, on=["protocol", *MEASURE], how="semi", maintain_order="left"), note
    return frame.head(0), f"Left out: {n:,} are too many to publish."


def primary_measure() -> list[pl.Expr]:
    """The columns MEASURE of each protocol's primary metric, as expressions over table `protocols`."""
    return [pl.col("primary").struct.field(name) for name in MEASURE]


def _frame(lake: Lake, download: Download, runs: pl.DataFrame) -> pl.LazyFrame:
    if download.table == "runs":
        return runs.lazy()
    frame = run_costs(lake) if download.table == "costs" else lake.scan(download.table)
    if download.table == "hits":
        left_out = runs.filter(pl.col("retriever").is_in(LEFT_OUT))["run_id"]
        frame = frame.filter(~pl.col("run_id").is_in(left_out.implode()))
    elif download.table == "queries":
        text = pl.col("text")
        frame = frame.with_columns(n_chars=text.str.len_chars(), n_tokens=text.str.count_matches(REGEX_TOKEN))
    return frame.drop(download.without)


def for_readers(lake: Lake, download: Download, frame: pl.LazyFrame, runs: pl.DataFrame) -> pl.LazyFrame:
    """Rows of a table with the systems and kinds of their runs added; `runs` comes from :func:`run_kinds`."""
    if download.table == "aggregates":
        # Mark the numbers that each protocol's board shows first.
        opened = [pl.col("headline").struct.field(name) for name in ("slice", "slice_value")]
        headlines = lake.scan("protocols").select(*primary_measure(), *opened, protocol="name", is_headline=True)
        on = ["protocol", *MEASURE, "slice", "slice_value"]
        frame = frame.join(headlines, on=on, how="left", maintain_order="left")
        frame = frame.with_columns(pl.col("is_headline").fill_null(value=False))
    if not download.of_runs:
        return frame
    added = {run: columns for run, columns in _OF_RUN.items() if run in frame.collect_schema()}
    for run, columns in added.items():
        # A join takes half the memory of `replace` on millions of rows.
        of_run = runs.lazy().select(pl.col("run_id").alias(run), **columns)
        frame = frame.join(of_run, on=run, how="left", maintain_order="left")
    names = [name for columns in added.values() for name in columns]
    return frame.select("benchmark", *names, pl.all().exclude("benchmark", *names))


_OF_RUN = {
    "run_id": {"system": "system", "kind": "kind"},
    "run_a": {"system_a": "system"},
    "run_b": {"system_b": "system"},
}
"""Column with a run id → the columns added for it, each with the column of `runs` it is taken from."""


def _write(frame: pl.LazyFrame, path: Path, metadata: dict[str, str]) -> list[Path]:
    """Write a table to one file, or to several if it is larger than MAX_DOWNLOAD_BYTES; return their paths."""

    def sink(part: pl.LazyFrame, to: Path) -> Path:
        part.sink_parquet(to, compression="zstd", row_group_size=100_000, metadata=metadata)
        return to

    n_bytes = sink(frame, path).stat().st_size
    if n_bytes <= MAX_DOWNLOAD_BYTES:
        return [path]
    n_rows = pl.scan_parquet(path, glob=False).select(pl.len()).collect().item()
    path.unlink()
    # Rows differ in size: halves of the limit leave room for the larger ones.
    length = -(-n_rows // -(-2 * n_bytes // MAX_DOWNLOAD_BYTES))
    parts = enumerate((frame.slice(start, length) for start in range(0, n_rows, length)), start=1)
    return [sink(part, path.with_name(f"{path.stem}-{number}.parquet")) for number, part in parts]
