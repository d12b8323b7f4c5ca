"""The declarations of all tables of the lake (columns, key, rules, folders), and values shared by the stages."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Literal

import dataframely as dy
import polars as pl

from lake.averages import column_meanings
from lake.errors import Exit, GoldspanError, lookup
from lake.fingerprint import canonical_json, fingerprint
from lake.tables import evaluated, ingested, of_runs


@dataclass(frozen=True)
class Table:
    """A table's name, schema, Hive folders, and who makes its parts (`runs`: the stage that made or imported a run)."""

    name: str
    schema: type[dy.Schema]
    folders: tuple[str, ...] = ()
    made_by: Literal["ingest", "runs", "evaluate"] = "ingest"

    @cached_property
    def key(self) -> list[str]:
        """The columns that identify a row; rows are stored in their order."""
        return list(self.schema.primary_key())

    @cached_property
    def columns(self) -> dict[str, pl.DataType]:
        """Column name → type, in the declared order."""
        # No polars query here: one that runs at import time leaves threads that break forked processes.
        return {name: column.dtype for name, column in self.schema.columns().items()}

    @property
    def meaning(self) -> str:
        """The meaning of a row, as a sentence."""
        return (self.schema.__doc__ or "").strip()

    def column_meaning(self, column: str) -> str:
        """The meaning of a column of this table."""
        meanings = _meanings()
        own = meanings["of"].get(self.name, {})
        return str(own.get(column) or {**meanings["columns"], **column_meanings()}[column])

    def checked(self, frame: pl.DataFrame) -> pl.DataFrame:
        """A frame with its columns in the declared order; raises an error that names what breaks the declaration."""
        missing = [column for column in self.columns if column not in frame.columns]
        unexpected = [column for column in frame.columns if column not in self.columns]
        if missing or unexpected:
            raise GoldspanError(f"{self.name}: missing {missing}, unexpected {unexpected}", code=Exit.INVALID)
        schema = frame.schema
        wrong = [f"{name} is {schema[name]}, not {kind}" for name, kind in self.columns.items() if schema[name] != kind]
        if wrong:
            raise GoldspanError(f"{self.name}: wrong types", examples=wrong, code=Exit.INVALID)
        ordered = frame if frame.columns == list(self.columns) else frame.select(list(self.columns))
        # Which rows break which rule is worked out only where any does: that takes twice as long.
        if ordered.is_empty() or self.schema.is_valid(ordered):
            return ordered
        _, failure = self.schema.filter(ordered)
        rows = failure.invalid().select(self.key).head(3).rows(named=True)
        broken = ", ".join(f"{rule} ({count:,} rows)" for rule, count in sorted(failure.counts().items()))
        message = f"{self.name}: rows break {broken}"
        raise GoldspanError(message, examples=[canonical_json(row) for row in rows], code=Exit.INVALID)


TABLES: Mapping[str, Table] = {
    table.name: table
    for table in (
        Table("benchmarks", of_runs.Benchmarks),
        Table("chunkers", of_runs.Chunkers),
        Table("symbol_rules", of_runs.Declared),
        Table("tasks", of_runs.Tasks, (), "evaluate"),
        Table("protocols", of_runs.Protocols, (), "evaluate"),
        Table("metrics", of_runs.Metrics, (), "evaluate"),
        Table("retrievers", of_runs.Declared, (), "evaluate"),
        Table("items", ingested.Items, ("benchmark",)),
        # By query rule as well, so that one rule's texts can be read alone.
        Table("queries", ingested.QueryRows, ("benchmark", "query")),
        Table("gold_spans", ingested.GoldSpans, ("benchmark",)),
        Table("blobs", ingested.Blobs),
        Table("pools", ingested.Pools, ("benchmark", "kind")),
        Table("files", ingested.Files, ("benchmark", "kind")),
        # By chunker as well, so that a new chunker adds a folder and leaves the others untouched.
        Table("chunks", ingested.Chunks, ("chunker",)),
        Table("chunk_status", ingested.ChunkStatus, ("chunker",)),
        # By rule set as well, for the same reason.
        Table("symbols", ingested.Symbols, ("rules",)),
        Table("symbol_status", ingested.SymbolStatus),
        Table("vectors", evaluated.Vectors, (), "evaluate"),
        Table("runs", of_runs.Runs, ("benchmark", "run_id"), "runs"),
        Table("submissions", of_runs.Submissions),
        Table("formats", of_runs.Formats),
        Table("costs", of_runs.CostRows, ("benchmark", "run_id"), "evaluate"),
        Table("run_items", of_runs.RunItems, ("benchmark", "run_id"), "runs"),
        Table("hits", of_runs.Hits, ("benchmark", "run_id"), "runs"),
        Table("usage", of_runs.ItemUsage, ("benchmark", "run_id")),
        Table("edits", of_runs.Edits, ("benchmark", "run_id")),
        Table("relevance", evaluated.Relevance, ("benchmark", "chunker"), "evaluate"),
        Table("scores", evaluated.Scores, ("benchmark", "protocol", "run_id"), "evaluate"),
        Table("step_scores", evaluated.StepScores, ("benchmark", "protocol", "run_id"), "evaluate"),
        Table("aggregates", evaluated.Aggregates, ("benchmark", "run_id"), "evaluate"),
        Table("ledger", evaluated.Ledger, ("benchmark", "protocol"), "evaluate"),
        Table("ledger_means", evaluated.LedgerMeans, ("benchmark", "protocol"), "evaluate"),
        Table("effects", evaluated.Effects, ("benchmark", "protocol"), "evaluate"),
        Table("repairs", evaluated.Repairs, ("benchmark", "protocol"), "evaluate"),
        Table("comparisons", evaluated.Comparisons, ("benchmark", "protocol"), "evaluate"),
        Table("ranks", evaluated.Ranks, ("benchmark", "protocol"), "evaluate"),
        Table("boards", evaluated.Boards, ("benchmark", "protocol"), "evaluate"),
        Table("rejects", ingested.RejectRows),
    )
}


@cache
def _meanings() -> dict[str, dict[str, Any]]:
    # Imported when needed: only the last stage reads it.
    import tomllib

    return tomllib.loads(Path(__file__).with_name("meanings.toml").read_text(encoding="utf-8"))


def table(name: str) -> Table:
    """The declaration of a table."""
    return lookup(name, "table", TABLES)


def declared_rows(name: str, rows: Iterable[Mapping[str, object]]) -> pl.DataFrame:
    """Rows for a table of declarations; missing values become empty, the name, or the fingerprint of the row."""
    schema = table(name).columns
    empty: dict[object, object] = {pl.String: "", pl.List: []}
    blank: dict[str, object] = {column: empty.get(kind.base_type()) for column, kind in schema.items()}
    blank |= {"version": 1, "parameters": "{}"}
    declared = pl.DataFrame([{**blank, "display_name": row["name"], **row} for row in rows], schema=schema)
    stamps = [row["fingerprint"] or fingerprint([row]) for row in declared.to_dicts()]
    return declared.with_columns(fingerprint=pl.Series(stamps, dtype=pl.String))


RANKING, LINES = "ranking", "lines"
"""The values of `part` for a ranking's hits: the ranking itself and, if given, the order best for covering lines."""
STEP, FINAL = "step", "final"
PUBLISHED_READING = "published-"
"""The prefix of `step` and `final` in `hits` if ContextBench's converter reads an agent's file differently."""
UNSEARCHED = "#rest"  # the suffix of the id of a pool's unsearched files; runs may name those files
DONE = "done"  # the status of an item that a run answered; all others count as failed
BLANK_GOLD = "blank"  # the flag of an item whose gold is only white space, which no ranking of chunks can find
GOLD_RUN = "gold"  # the run id of the benchmark's own rows in tables of runs: the lines edited by gold patches
IMPORT_REJECTS = "import-"  # the start of the name of an imported run's part of `rejects`; the run's id follows
PROGRAMS = ("command", "function", "ripgrep")  # formats of runs of a program made here, which is their `file`
SEARCHED = ("searched", "candidates")  # the kinds of pools that are searched; kind `rest` is not
SITE_PAGES = frozenset({"compare", "data", "index", "methods", "submit"})  # a site's pages beside those of benchmarks

FLAGS: Mapping[str, tuple[str, str]] = {
    "content-differs": ("spans whose content differs from the lines they name", "the line numbers are trusted"),
    "ends-past-eof": ("spans that end past their file's end", "cut to the file's end"),
    "starts-past-eof": ("spans that start past their file's end", "the file stays gold, without lines"),
    "file-missing": ("gold files that are not in their repository", "left out of every count"),
    "file-not-searched": (
        "gold files that are not searched (unsupported language or over 1 MB)",
        "they stay gold, which no retriever can return",
    ),
    "duplicate-spans": ("duplicate spans", "counted once"),
}
"""Flag of an item → what it counts, and how the project's own gold rule treats that."""
