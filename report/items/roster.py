"""The runs, protocol and cut-off for which a benchmark's items are shown, and the files with the items' data."""

import json
from collections.abc import Sequence
from functools import cached_property

import polars as pl

from lake.catalog.protocol import USUAL_BUDGET
from lake.pools import own_pool
from lake.tables import UNSEARCHED
from lake.tables.evaluated import LEDGER_TITLES
from lake.verdict import reference_of
from report.leaderboard.board import Board
from report.leaderboard.gold_ledger import largest_class, shown_rows
from report.render import data_file, packed
from report.tables_read import RunRow

N_RETRIEVERS, N_AGENTS = 1, 2  # shown by default; without agents one retriever more is shown
RAW_BYTES = 1_000_000  # JSON per file before compression, which reduces it to about a fifth
NO_CLASS = "-"  # stands for an item without a ledger class: it is not scorable or has no gold


class Roster:
    """A benchmark's runs with answers, best first, cut at `budget` non-whitespace characters or `depth` results."""

    def __init__(self, board: Board) -> None:
        self.board, self.lake, self.benchmark = board, board.facts.lake, board.benchmark.name
        # The random baseline is an expectation over all orders: it has no answer to show.
        self.runs = [row.run for row in board.every if row.run.retriever != "random" and row.cells]
        ids = [run.run_id for run in self.runs]
        kinds = {"run_id": pl.String(), "run": pl.Int64()}
        self.numbers = pl.LazyFrame({"run_id": ids, "run": range(len(ids))}, kinds)
        primary = board.primary
        is_budget = primary.granularity == "line" or primary.rule.cut == "budget"
        self.budget = (primary.k or USUAL_BUDGET) if is_budget else 0
        self.depth = primary.k or 10

    @cached_property
    def usual(self) -> Sequence[RunRow]:
        """The runs shown by default: the best retriever and agents, or without agents retrievers and the reference."""
        best = [row.run for row in shown_rows(self.board) if row.run in self.runs]
        agents = [run for run in best if run.has_steps][:N_AGENTS]
        retrievers = [run for run in best if not run.has_steps]
        if agents:
            return [*retrievers[:N_RETRIEVERS], *agents]
        reference = reference_of(self.board.benchmark.kind, [run.system for run in self.runs])
        baselines = [run for run in self.runs if run.baseline and run.system == reference]
        return [*retrievers[: N_RETRIEVERS + 1], *baselines] or self.runs[:1]

    @cached_property
    def items(self) -> pl.DataFrame:
        """The benchmark's items with the pool searched, numbered (`item`) in the order of ids in JavaScript."""
        stored = self.lake.scan("items", benchmark=self.benchmark).drop("patch").collect()
        # JavaScript compares texts by UTF-16 code units.
        ids = sorted(stored["item_id"], key=lambda item_id: item_id.encode("utf-16-be", "surrogatepass"))
        order = pl.DataFrame({"item_id": ids, "item": range(len(ids))}, {"item_id": pl.String, "item": pl.Int64})
        items = stored.join(order, on="item_id").sort("item")
        task = self.board.task
        if task is None or not task.pool_prefix:
            return items
        # An edition has only the files of items' own pools: use these where the task's pool is missing.
        own = own_pool(task.pool_prefix, task.pool_by)
        pools = self.lake.scan("files", benchmark=self.benchmark).select("pool_id").unique().collect()["pool_id"]
        return items.with_columns(pool_id=pl.when(own.is_in(pools.implode())).then(own).otherwise("pool_id"))

    @property
    def files(self) -> pl.LazyFrame:
        """The table `files` of the benchmark, with those that are not searched under the id of their pool."""
        files = self.lake.scan("files", benchmark=self.benchmark)
        return files.with_columns(pl.col("pool_id").str.strip_suffix(UNSEARCHED))

    @cached_property
    def gold(self) -> pl.DataFrame:
        """The gold spans of the headline protocol: item, path, line_start, line_end, candidate."""
        columns = ("item", "path", "line_start", "line_end")
        spans = self.lake.scan("gold_spans", benchmark=self.benchmark).filter(gold=self.board.protocol.gold)
        known = spans.join(self.items.lazy().select("item_id", "item"), on="item_id")
        return known.select(*columns, "candidate").sort(columns).collect()


def classes_of(roster: Roster) -> pl.DataFrame:
    """The ledger class with most of each item's gold, by run: run, item_id, class (number), and each class's amount."""
    return (
        roster.lake.scan("ledger", benchmark=roster.benchmark, protocol=roster.board.protocol.name)
        .join(roster.numbers, on="run_id")
        .filter(pl.col("n_gold") > 0)
        .select("run", "item_id", largest_class().alias("class"), *LEDGER_TITLES)
        .collect()
    )


def class_texts(roster: Roster, classes: pl.DataFrame) -> dict[int, str]:
    """Run → a text with one character per item: the class with most of its gold."""
    by_run = classes.pivot("run", index="item_id", values="class")
    rows = roster.items.select("item_id").join(by_run, on="item_id", how="left", maintain_order="left")
    joined = rows.select(pl.exclude("item_id").cast(pl.String).fill_null(NO_CLASS).str.join(""))
    texts = next(joined.iter_rows(named=True), {})
    return {run: texts.get(str(run), NO_CLASS * rows.height) for run in range(len(roster.runs))}


def listing(roster: Roster, classes: pl.DataFrame) -> pl.DataFrame:
    """item_id, repo, language, scorable, gold (lines or 1 candidate), solved (systems that found most of it)."""
    systems = [number for number, run in enumerate(roster.runs) if not run.baseline]
    amount = pl.sum_horizontal(list(LEDGER_TITLES)).round().cast(pl.Int64)
    is_solved = (pl.col("class") == 0) & pl.col("run").is_in(systems)
    known = classes.group_by("item_id").agg(gold=amount.max(), solved=is_solved.sum())
    return (
        roster.items.select("item_id", "repo", "language", "scorable")
        .join(known, on="item_id", how="left", maintain_order="left")
        .with_columns(pl.col("solved").fill_null(0))
    )


def shards(rows: pl.DataFrame, folder: str, name: str) -> tuple[list[str], dict[str, bytes]]:
    """The first item id of each shard of rows, and the data files: packed JSON named `<name>/<shard>`.

    It has the `rows`, the number of scorable items before them (`at`), and the ids of those just `before` and `behind`.
    """
    # Null fields would be a large part of small rows.
    text = pl.struct(pl.exclude("scorable")).struct.json_encode().str.replace_all(r',"[a-z_]+":null', "")
    n_bytes, is_scorable = pl.col("json").str.len_bytes().cast(pl.Int64).cum_sum(), pl.col("scorable").cast(pl.Int64)
    id_ = pl.when("scorable").then("item_id")
    walked = rows.select("item_id", "scorable", json=text).with_columns(
        shard=((n_bytes - 1) // RAW_BYTES).rle_id(), at=is_scorable.cum_sum() - is_scorable,
        before=id_.forward_fill().shift(1), behind=id_.backward_fill().shift(-1),
    )  # fmt: skip
    edges = [pl.col("item_id", "at", "before").first(), pl.col("behind").last(), pl.col("json").str.join(",")]
    joined, files = walked.group_by("shard", maintain_order=True).agg(edges), dict[str, bytes]()
    for shard, _, at, before, behind, joined_rows in joined.iter_rows():
        around = json.dumps({"at": at, "before": before, "behind": behind}, ensure_ascii=False)
        content = f'{around[:-1]},"rows":[{joined_rows}]}}'
        files[f"{folder}/{shard}.js"] = data_file(f"{name}/{shard}", packed(content.encode()))
    return joined["item_id"].to_list(), files
