"""Every table of the lake, declared once: columns, key, rules, where its parts lie."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import dataframely as dy
import polars as pl

from lake.errors import unknown_name


class Declared(dy.Schema):
    """What a page says of a declared thing; the stage that owns the declaration writes its row."""

    name = dy.String(primary_key=True)
    title = dy.String()
    display_name = dy.String()
    meaning = dy.String()
    version = dy.Int64()
    tags = dy.List(dy.String())
    source = dy.String()
    revision = dy.String()
    licence = dy.String()
    citation = dy.String()
    paper = dy.String()
    parameters = dy.String()
    primary_metric = dy.String()
    fingerprint = dy.String()


class Items(dy.Schema):
    """One row per item of a benchmark; what is searched for lies in `queries`."""

    benchmark = dy.String(primary_key=True)
    item_id = dy.String(primary_key=True)
    subset = dy.String()
    split = dy.String(nullable=True)
    level = dy.String(nullable=True)
    context = dy.String(nullable=True)
    difficulty = dy.String(nullable=True)
    source = dy.String(nullable=True)
    language = dy.String()
    repo = dy.String()
    commit = dy.String(nullable=True)
    pool_id = dy.String()
    patch = dy.String(nullable=True)
    target_path = dy.String(nullable=True)
    target_line = dy.Int64(nullable=True, min=0)
    target_text = dy.String(nullable=True)
    query_line_start = dy.Int64(nullable=True, min=0)
    n_candidates = dy.Int64(nullable=True, min=1)
    upstream_id = dy.String(nullable=True)
    gold_flags = dy.List(dy.String(), nullable=True)
    scorable = dy.Bool()
    why_not = dy.String(nullable=True)

    @dy.rule()
    def unscorable_says_why(cls) -> pl.Expr:
        """An item is scorable, or says why not."""
        return pl.col("scorable") == pl.col("why_not").is_null()


class Queries(dy.Schema):
    """The text that is searched for, one row per item and query rule: `query` is the rule's name."""

    benchmark = dy.String(primary_key=True)
    item_id = dy.String(primary_key=True)
    query = dy.String(primary_key=True)
    text = dy.String()
    sha256 = dy.String()


class GoldSpans(dy.Schema):
    """What a gold rule calls the answer: half-open line ranges per item; `gold` is the rule's name.

    `times`: how often the benchmark names the span; null is once. `grade`: how relevant it is, where that is judged in
    grades; null is 1.
    """

    benchmark = dy.String(primary_key=True)
    item_id = dy.String(primary_key=True)
    gold = dy.String(primary_key=True)
    path = dy.String(primary_key=True)
    line_start = dy.Int64(primary_key=True, min=0)
    line_end = dy.Int64(primary_key=True, min=0)
    byte_start = dy.Int64(nullable=True, min=0)
    byte_end = dy.Int64(nullable=True, min=0)
    candidate = dy.Int64(nullable=True, min=0)
    times = dy.Int64(nullable=True, min=1)
    grade = dy.Int64(nullable=True, min=1)

    @dy.rule()
    def range_is_not_reversed(cls) -> pl.Expr:
        """A range ends where it starts or after."""
        return pl.col("line_end") >= pl.col("line_start")


class Blobs(dy.Schema):
    """A file's content, stored once per sha256 of its bytes; `line_starts` are byte offsets into the text's UTF-8."""

    sha256 = dy.String(primary_key=True)
    text = dy.String()
    n_bytes = dy.Int64(min=0)
    n_lines = dy.Int64(min=0)
    line_starts = dy.List(dy.Int64())
    language = dy.String()
    flags = dy.List(dy.String())


class Files(dy.Schema):
    """Which paths a pool holds, and the content of each, in the pool's own order."""

    pool_id = dy.String(primary_key=True)
    path = dy.String(primary_key=True)
    sha256 = dy.String()
    position = dy.Int64(min=0)


class Chunks(dy.Schema):
    """How a chunker cuts a content: half-open lines and bytes; the text is that slice of the blob."""

    chunker = dy.String(primary_key=True)
    sha256 = dy.String(primary_key=True)
    chunk_no = dy.Int64(primary_key=True, min=0)
    line_start = dy.Int64(min=0)
    line_end = dy.Int64(min=0)
    byte_start = dy.Int64(min=0)
    byte_end = dy.Int64(min=0)
    n_nws = dy.Int64(min=0)


class Symbols(dy.Schema):
    """A definition in a content, as one set of rules finds it; `kind` is the syntax tree's own name for the node."""

    rules = dy.String(primary_key=True)
    sha256 = dy.String(primary_key=True)
    byte_start = dy.Int64(primary_key=True, min=0)
    byte_end = dy.Int64(primary_key=True, min=0)
    kind = dy.String(primary_key=True)
    name = dy.String(nullable=True)
    qualified_name = dy.String(nullable=True)
    line_start = dy.Int64(min=0)
    line_end = dy.Int64(min=0)


class Vectors(dy.Schema):
    """Vectors that were made elsewhere, by the key of the text each stands for."""

    model = dy.String(primary_key=True)
    key = dy.String(primary_key=True)
    vector = dy.List(dy.Float32())


class Runs(dy.Schema):
    """One row per run: a system's answers to one task."""

    run_id = dy.String(primary_key=True)
    system = dy.String()
    benchmark = dy.String()
    task = dy.String()
    chunker = dy.String(nullable=True)
    retriever = dy.String(nullable=True)
    origin = dy.String()
    parameters = dy.String()
    versions = dy.String()
    status = dy.String()
    n_items = dy.Int64(min=0)
    limit = dy.Int64(nullable=True, min=1)
    fingerprint = dy.String()


class Costs(dy.Schema):
    """What a run cost where it was made: seconds and bytes. The one table that differs between equal runs."""

    run_id = dy.String(primary_key=True)
    index_seconds = dy.Float64(nullable=True)
    query_p50 = dy.Float64(nullable=True)
    query_p95 = dy.Float64(nullable=True)
    index_bytes = dy.Int64(nullable=True)
    hardware = dy.String()


class RunItems(dy.Schema):
    """What happened to each item of a run; `ties` lists the cut-offs k at which rank k and k+1 score alike.

    `n_steps_published` is there where `hits` holds a second reading of an agent's file.
    """

    run_id = dy.String(primary_key=True)
    item_id = dy.String(primary_key=True)
    status = dy.String()
    error = dy.String(nullable=True)
    n_steps = dy.Int64(nullable=True)
    n_returned = dy.Int64(min=0)
    n_nws = dy.Int64(min=0)
    ties = dy.List(dy.Int64())
    has_patch = dy.Bool(nullable=True)
    completion = dy.String(nullable=True)
    n_steps_published = dy.Int64(nullable=True)


class Hits(dy.Schema):
    """What a run returned, in order: ranks from 1, half-open lines and bytes.

    An agent's rows (parts `step` and `final`) stand as it gave them, before any rule: a row with a symbol names one, a
    row with neither lines nor symbol names a file alone, and a range may be reversed, start before line 0 (line 0 as
    people count) or run past the end; `line_start` 0 without a `line_end` is a view of the whole file. The parts
    `published-step` and `published-final` are there where ContextBench's published converter reads the agent's file
    otherwise; its protocol scores them in place of the others.
    """

    run_id = dy.String(primary_key=True)
    item_id = dy.String(primary_key=True)
    part = dy.String(primary_key=True)
    step = dy.Int64(primary_key=True, min=0)
    rank = dy.Int64(primary_key=True, min=1)
    path_given = dy.String(nullable=True)
    path = dy.String(nullable=True)
    line_start = dy.Int64(nullable=True)
    line_end = dy.Int64(nullable=True)
    byte_start = dy.Int64(nullable=True)
    byte_end = dy.Int64(nullable=True)
    symbol = dy.String(nullable=True)
    chunk_no = dy.Int64(nullable=True)
    score = dy.Float64(nullable=True)


class Edits(dy.Schema):
    """A line that a patch changes, as one reading of patches has it; under run_id `gold` are the gold patches' lines.

    `line` is 0-based, in the old file. `kind` is `deleted`, or `before-insertion` for the line before a pure insertion.
    """

    run_id = dy.String(primary_key=True)
    item_id = dy.String(primary_key=True)
    reading = dy.String(primary_key=True)
    path = dy.String(primary_key=True)
    line = dy.Int64(primary_key=True, min=0)
    kind = dy.String(primary_key=True)


class Relevance(dy.Schema):
    """How like the gold snippet a chunk of an item's pool is: shares of tokens and of identifiers."""

    item_id = dy.String(primary_key=True)
    path = dy.String(primary_key=True)
    chunker = dy.String(primary_key=True)
    chunk_no = dy.Int64(primary_key=True, min=0)
    jaccard = dy.Float64(min=0, max=1)
    identifier_overlap = dy.Float64(min=0, max=1)


class Scores(dy.Schema):
    """One number per run, protocol, item and metric; k is 0 where the metric has no cut-off."""

    run_id = dy.String(primary_key=True)
    protocol = dy.String(primary_key=True)
    item_id = dy.String(primary_key=True)
    granularity = dy.String(primary_key=True)
    metric = dy.String(primary_key=True)
    k = dy.Int64(primary_key=True, min=0)
    value = dy.Float64(nullable=True)
    numerator = dy.Float64(nullable=True)
    denominator = dy.Float64(nullable=True)
    protocol_hash = dy.String()


class StepScores(dy.Schema):
    """What each step of a trajectory saw: sizes of sets, of the step alone and of all steps up to it.

    Sizes are counts of files, symbols, bytes (granularity `span`) or lines.
    """

    run_id = dy.String(primary_key=True)
    protocol = dy.String(primary_key=True)
    item_id = dy.String(primary_key=True)
    granularity = dy.String(primary_key=True)
    step = dy.Int64(primary_key=True, min=1)
    n_gold = dy.Int64(nullable=True)
    n_pred = dy.Int64(nullable=True)
    n_hit = dy.Int64(nullable=True)
    n_cumulative = dy.Int64(nullable=True)
    n_cumulative_hit = dy.Int64(nullable=True)


class Aggregates(dy.Schema):
    """A metric over a slice of the items; the whole is slice `all`, value `all`.

    The means are over `n` of `n_items`. `n_not_applicable` have no value of the metric though the run answered them;
    what is left failed and is in no mean. `n_failed` counts every failed item, also where it scores 0 and so is in `n`.
    `low` to `high` is the 95 % interval of `macro` over other repositories like these; `micro_…` and `by_repo_…` are
    those of the other means. `item_low` to `item_high` is that of `macro` for these repositories only, resampled from
    their items in the slices a board opens with.
    """

    run_id = dy.String(primary_key=True)
    protocol = dy.String(primary_key=True)
    granularity = dy.String(primary_key=True)
    metric = dy.String(primary_key=True)
    k = dy.Int64(primary_key=True, min=0)
    slice = dy.String(primary_key=True)
    slice_value = dy.String(primary_key=True)
    macro = dy.Float64(nullable=True)
    micro = dy.Float64(nullable=True)
    by_repo = dy.Float64(nullable=True)
    low = dy.Float64(nullable=True)
    high = dy.Float64(nullable=True)
    micro_low = dy.Float64(nullable=True)
    micro_high = dy.Float64(nullable=True)
    by_repo_low = dy.Float64(nullable=True)
    by_repo_high = dy.Float64(nullable=True)
    item_low = dy.Float64(nullable=True)
    item_high = dy.Float64(nullable=True)
    n = dy.Int64(min=0)
    n_items = dy.Int64(min=0)
    n_repos = dy.Int64(min=0)
    n_failed = dy.Int64(min=0)
    n_not_applicable = dy.Int64(min=0)
    rank = dy.Int64(nullable=True)
    rank_low = dy.Int64(nullable=True)
    rank_high = dy.Int64(nullable=True)
    tie_group = dy.Int64(nullable=True)
    share_of_oracle = dy.Float64(nullable=True)


class Parity(dy.Schema):
    """One quantity that someone outside this project computed too: how many of its values are equal here.

    Equal means to 1e-12, of values beyond 1 in proportion. A row that compared nothing says in `explanation` why
    its reference was not run.
    """

    reference = dy.String(primary_key=True)
    quantity = dy.String(primary_key=True)
    benchmark = dy.String()
    kind = dy.String()
    n_compared = dy.Int64(min=0)
    n_equal = dy.Int64(min=0)
    largest_difference = dy.Float64(nullable=True)
    explanation = dy.String()


class Ledger(dy.Schema):
    """Where an item's gold went in a run, in gold lines, or in units of 1 where gold is one candidate: it adds up.

    `n_gold` is the sum of the seven that follow, each taking of what those before it leave; a share is a part over
    `n_gold`. `found`: within the cut-off of the protocol's primary metric. `past_budget`: returned by a ranking beyond
    it. `seen`: shown in an agent's steps, not kept in its final context. `unreachable`: in nothing that was searched.
    `no_answer`: the run gave no answer. `other_lines`: its file was returned by other lines. `not_returned`: its file
    never was. For `random` they are expectations over all orders of the pool.
    """

    run_id = dy.String(primary_key=True)
    protocol = dy.String(primary_key=True)
    item_id = dy.String(primary_key=True)
    n_gold = dy.Float64(min=0)
    found = dy.Float64(min=0)
    past_budget = dy.Float64(min=0)
    seen = dy.Float64(min=0)
    unreachable = dy.Float64(min=0)
    no_answer = dy.Float64(min=0)
    other_lines = dy.Float64(min=0)
    not_returned = dy.Float64(min=0)

    @dy.rule()
    def parts_add_up(cls) -> pl.Expr:
        """The parts are the whole."""
        parts = ("found", "past_budget", "seen", "unreachable", "no_answer", "other_lines", "not_returned")
        return (pl.sum_horizontal(parts) - pl.col("n_gold")).abs() <= 1e-12 * pl.col("n_gold")


class LedgerMeans(dy.Schema):
    """What share of the gold is in a class of the ledger, over a slice of the items; the shares of a slice add up to 1.

    `macro` is the mean of the items' shares, `micro` the share of all gold together; both are over the `n` items that
    have gold. `n_items` of them have some in the class, `n_gold` lines or candidates in all.
    """

    run_id = dy.String(primary_key=True)
    protocol = dy.String(primary_key=True)
    slice = dy.String(primary_key=True)
    slice_value = dy.String(primary_key=True)
    class_ = dy.String(primary_key=True, alias="class")
    macro = dy.Float64(min=0)
    micro = dy.Float64(min=0)
    n = dy.Int64(min=0)
    n_items = dy.Int64(min=0)
    n_gold = dy.Float64(min=0)


class Rejects(dy.Schema):
    """What could not be read or scored: where it stands and why; nothing is dropped in silence."""

    stage = dy.String(primary_key=True)
    source = dy.String(primary_key=True)
    position = dy.String(primary_key=True)
    reason = dy.String()
    excerpt = dy.String()


@dataclass(frozen=True)
class Table:
    """A table's name, its schema, and the Hive folders its parts lie in.

    Attributes:
        made_by: Who makes its parts again: `ingest`, `evaluate`, or for `runs` whoever made the run.
    """

    name: str
    schema: type[dy.Schema]
    folders: tuple[str, ...] = ()
    made_by: Literal["ingest", "runs", "evaluate"] = "ingest"

    @cached_property
    def key(self) -> list[str]:
        """The columns that tell one row from another, and the order rows are stored in."""
        return list(self.schema.primary_key())

    @cached_property
    def columns(self) -> dict[str, pl.DataType]:
        """Column name → type, in the declared order."""
        # Without a query: one that runs while modules are imported leaves threads that no forked process can use.
        return {name: column.dtype for name, column in self.schema.columns().items()}

    @property
    def meaning(self) -> str:
        """What a row is, in a sentence."""
        return (self.schema.__doc__ or "").strip()


TABLES: Mapping[str, Table] = {
    table.name: table
    for table in (
        *(Table(name, Declared) for name in ("benchmarks", "chunkers", "symbol_rules")),
        *(Table(name, Declared, (), "evaluate") for name in ("tasks", "protocols", "metrics", "retrievers")),
        Table("items", Items, ("benchmark",)),
        # By query rule as well, so that the texts of one alone are read.
        Table("queries", Queries, ("benchmark", "query")),
        Table("gold_spans", GoldSpans, ("benchmark",)),
        Table("blobs", Blobs),
        Table("files", Files),
        # By chunker as well, so that a new chunker adds its own folder and touches no other.
        Table("chunks", Chunks, ("chunker",)),
        # By rules as well, as chunks are by chunker.
        Table("symbols", Symbols, ("rules",)),
        Table("vectors", Vectors, (), "evaluate"),
        Table("runs", Runs, ("benchmark", "run_id"), "runs"),
        Table("costs", Costs, ("benchmark", "run_id"), "evaluate"),
        Table("run_items", RunItems, ("benchmark", "run_id"), "runs"),
        Table("hits", Hits, ("benchmark", "run_id"), "runs"),
        Table("edits", Edits, ("benchmark", "run_id")),
        Table("relevance", Relevance, ("benchmark", "chunker"), "evaluate"),
        Table("scores", Scores, ("benchmark", "protocol", "run_id"), "evaluate"),
        Table("step_scores", StepScores, ("benchmark", "protocol", "run_id"), "evaluate"),
        Table("aggregates", Aggregates, ("benchmark", "protocol", "run_id"), "evaluate"),
        Table("parity", Parity, (), "evaluate"),
        Table("ledger", Ledger, ("benchmark", "protocol", "run_id"), "evaluate"),
        Table("ledger_means", LedgerMeans, ("benchmark", "protocol", "run_id"), "evaluate"),
        Table("rejects", Rejects),
    )
}
"""Every declared table by name."""


def table(name: str) -> Table:
    """The declaration of a table.

    Raises:
        GoldspanError: There is none of that name.
    """
    if name not in TABLES:
        kind = "table"
        raise unknown_name(kind, name, TABLES)
    return TABLES[name]


def declared_row(*, name: str, title: str, meaning: str, **columns: object) -> pl.DataFrame:
    """One row of a table of declarations; what is not given is empty, and the display name is the name."""
    empty = {"display_name": name, "version": 1, "tags": [], "primary_metric": "", "parameters": "{}"}
    texts = dict.fromkeys(("source", "revision", "licence", "citation", "paper", "fingerprint"), "")
    row = {**texts, **empty, "name": name, "title": title, "meaning": meaning, **columns}
    return pl.DataFrame([row], schema=TABLES["benchmarks"].columns)
