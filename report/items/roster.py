"""Whose answers to a benchmark's items are shown, under which protocol, down to which cut-off; and in which files.

The files are shards of like size with what is shown of each item, and the list that finds one.
"""

import json
from collections.abc import Iterator, Sequence
from functools import cached_property

import polars as pl

from lake.pools import own_pool
from lake.verdict import reference_of
from report.leaderboard.board import Board
from report.leaderboard.gold_ledger import LEDGER_TITLES, largest_class, shown_rows
from report.models import RunRow
from report.render import data_file, packed

CONTEXT_BUDGET = 8_000
"""Non-whitespace characters: where a ranking is cut that is compared with contexts, as their protocols say."""

N_RETRIEVERS, N_AGENTS = 1, 2
"""So many of either are shown where nobody chose, of a benchmark without agents one more retriever."""

RAW_BYTES = 1_000_000
"""So much JSON goes into a file, which packed is a fifth of it or so."""

NO_CLASS = "-"
"""Stands for an item of which nothing is kept: it cannot be scored, or has no gold."""


class Roster:
    """The runs of a benchmark's headline whose answers can be shown, the best first; the data knows them by `numbers`.

    A ranking is cut at a `budget` of non-whitespace characters or, where that is 0, at a `depth` of results.
    """

    def __init__(self, board: Board) -> None:
        self.board, self.lake, self.benchmark = board, board.facts.lake, board.benchmark.name
        # Chance stands for every order of the pool: it has no answer of its own to an item.
        self.runs = [row.run for row in board.every if row.run.retriever != "random" and row.cells]
        ids = [run.run_id for run in self.runs]
        kinds = {"run_id": pl.String(), "run": pl.Int64()}
        self.numbers = pl.LazyFrame({"run_id": ids, "run": range(len(ids))}, kinds)
        primary = board.primary
        is_budget = primary.granularity == "line" or primary.rule.cut == "budget"
        self.budget = (primary.k or CONTEXT_BUDGET) if is_budget else 0
        self.depth = primary.k or 10

    @cached_property
    def usual(self) -> Sequence[RunRow]:
        """Those that are shown where nobody chose: the best retriever and agents, or retrievers and the reference."""
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
        """The benchmark's items, numbered in the order in which scripts compare their ids; with the pool searched."""
        stored = self.lake.scan("items", benchmark=self.benchmark).drop("patch").collect()
        # As JavaScript compares texts: by units of UTF-16.
        ids = sorted(stored["item_id"], key=lambda item_id: item_id.encode("utf-16-be", "surrogatepass"))
        order = pl.DataFrame({"item_id": ids, "item": range(len(ids))}, {"item_id": pl.String, "item": pl.Int64})
        items = stored.join(order, on="item_id").sort("item")
        task = self.board.task
        if task is None or not task.pool_prefix:
            return items
        # An edition has the files of items' own pools: a task's are alike as far as its systems could see.
        own = own_pool(task.pool_prefix, task.pool_by)
        pools = self.lake.scan("files", benchmark=self.benchmark).select("pool_id").unique().collect()["pool_id"]
        return items.with_columns(pool_id=pl.when(own.is_in(pools.implode())).then(own).otherwise("pool_id"))

    @cached_property
    def gold(self) -> pl.DataFrame:
        """The gold of the headline's rule: item, path, line_start, line_end, candidate."""
        columns = ("item", "path", "line_start", "line_end")
        spans = self.lake.scan("gold_spans", benchmark=self.benchmark).filter(gold=self.board.protocol.gold)
        known = spans.join(self.items.lazy().select("item_id", "item"), on="item_id")
        return known.select(*columns, "candidate").sort(columns).collect()


def classes_of(roster: Roster) -> pl.DataFrame:
    """The class that holds most of an item's gold, by run: run, item_id, class (its number) and each class's amount."""
    return (
        roster.lake.scan("ledger", benchmark=roster.benchmark, protocol=roster.board.protocol.name)
        .join(roster.numbers, on="run_id")
        .filter(pl.col("n_gold") > 0)
        .select("run", "item_id", largest_class().alias("class"), *LEDGER_TITLES)
        .collect()
    )


def class_texts(roster: Roster, classes: pl.DataFrame) -> dict[int, str]:
    """Run → a character for each item, in their order: the class that holds most of its gold."""
    by_run = classes.pivot("run", index="item_id", values="class")
    rows = roster.items.select("item_id").join(by_run, on="item_id", how="left", maintain_order="left")
    joined = rows.select(pl.exclude("item_id").cast(pl.String).fill_null(NO_CLASS).str.join(""))
    texts = next(joined.iter_rows(named=True), {})
    return {run: texts.get(str(run), NO_CLASS * rows.height) for run in range(len(roster.runs))}


def listing(roster: Roster, classes: pl.DataFrame) -> pl.DataFrame:
    """What the list says of each item: item_id, repo, language, scorable, gold, solved.

    `gold` is how many lines, or 1 where gold is a candidate, null where that is not kept. `solved` counts the systems,
    baselines left out, with most of the item's gold in the first class.
    """
    systems = [number for number, run in enumerate(roster.runs) if not run.baseline]
    amount = pl.sum_horizontal(list(LEDGER_TITLES)).round().cast(pl.Int64)
    is_solved = (pl.col("class") == 0) & pl.col("run").is_in(systems)
    known = classes.group_by("item_id").agg(gold=amount.max(), solved=is_solved.sum())
    return (
        roster.items.select("item_id", "repo", "language", "scorable")
        .join(known, on="item_id", how="left", maintain_order="left")
        .with_columns(pl.col("solved").fill_null(0))
    )


def list_columns(listed: pl.DataFrame) -> dict[str, object]:
    """The same for a script: a list per column; repositories and languages by number, behind their names."""
    columns: dict[str, object] = {"id": listed["item_id"].to_list()}
    for name, many in (("repo", "repos"), ("language", "languages")):
        values = listed[name].unique().sort().to_list()
        numbers = listed[name].replace_strict(values, range(len(values)), return_dtype=pl.Int64)
        columns |= {many: values, name: numbers.to_list()}
    scorable = listed["scorable"].cast(pl.Int8).to_list()
    return columns | {"scorable": scorable, "gold": listed["gold"].to_list(), "solved": listed["solved"].to_list()}


def with_shards(frame: pl.DataFrame) -> pl.DataFrame:
    """Rows in their order as JSON: item_id, scorable, json, shard (from 0); what is null is left out of the JSON."""
    rows = frame.select("item_id", "scorable", json=pl.struct(pl.exclude("scorable")).struct.json_encode())
    # Names of what is null take much of what is small.
    rows = rows.with_columns(pl.col("json").str.replace_all(r',"[a-z_]+":null', ""))
    before = pl.col("json").str.len_bytes().cast(pl.Int64).cum_sum() - 1
    return rows.with_columns(shard=(before // RAW_BYTES).rle_id())


def bounds(rows: pl.DataFrame) -> list[str]:
    """The least item id of each shard, in order: an item is in the last shard whose least id is not above its own."""
    return rows.group_by("shard", maintain_order=True).agg(pl.col("item_id").first())["item_id"].to_list()


def shard_files(rows: pl.DataFrame, folder: str, name: str) -> Iterator[tuple[str, bytes]]:
    """The files of rows from :func:`with_shards`: path and content, which gives packed JSON under `<name>/<shard>`.

    Beside `rows` it has `at`, how many scorable items come before them, and the scorable items `before` and `behind`.
    """
    id_, is_scorable = pl.when("scorable").then("item_id"), pl.col("scorable").cast(pl.Int64)
    walked = rows.with_columns(
        at=is_scorable.cum_sum() - is_scorable, before=id_.forward_fill().shift(1), behind=id_.backward_fill().shift(-1)
    )
    edges = [pl.col("at", "before").first(), pl.col("behind").last()]
    joined = walked.group_by("shard", maintain_order=True).agg(*edges, pl.col("json").str.join(","))
    for shard, at, before, behind, text in joined.iter_rows():
        edges_json = json.dumps({"at": at, "before": before, "behind": behind}, ensure_ascii=False)
        content = f'{edges_json[:-1]},"rows":[{text}]}}'
        yield f"{folder}/{shard}.js", data_file(f"{name}/{shard}", packed(content.encode()))
