"""What the benchmarks are, side by side, and what is odd about their gold: counted in the lake."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from lake.catalog.gold_flags import CONSEQUENCES, FLAGS
from lake.store import Lake
from report.entities import Benchmark
from report.facts import Facts
from report.leaderboard.board import build_board
from report.parameters import TaskParameters
from report.shown import MISSING, count, plural


@dataclass(frozen=True)
class Side:
    """One benchmark's column of the table that holds them side by side: row → what stands there."""

    benchmark: Benchmark
    cells: dict[str, str]


@dataclass(frozen=True)
class Finding:
    """Something of a benchmark's gold that a reader should know.

    Attributes:
        benchmark: Whose gold.
        what: What it is.
        n_items: In how many items.
        n: How many spans or files, where these are counted.
        then: What becomes of them.
    """

    benchmark: str
    what: str
    n_items: str
    n: str
    then: str


def side_by_side(lake: Lake, facts: Facts) -> list[Side]:
    """The benchmarks, each by its first board."""
    gold = _gold_of_items(lake)
    return [_side(facts, benchmark, gold) for benchmark in facts.benchmarks.values()]


def _side(facts: Facts, benchmark: Benchmark, gold: pl.DataFrame) -> Side:
    protocols = facts.boards(benchmark.name)
    cells = {"Items": f"{benchmark.n_scorable:,} of {plural(benchmark.n_items, 'item')} can be scored"}
    cells["Repositories"] = count(benchmark.n_repos)
    cells["Languages"] = ", ".join(benchmark.languages) or MISSING
    cells["Subsets"] = ", ".join(benchmark.subsets) or MISSING
    if protocols:
        rule = protocols[0].parameters
        board = build_board(facts, protocols[0])
        task = facts.tasks.get(protocols[0].task or next(iter(rule.tasks), ""))
        asked = task.read(TaskParameters) if task else None
        mine = gold.filter(benchmark=benchmark.name, gold=rule.gold)
        rules = gold_rules(benchmark)
        cells = {
            "Asked with": asked.query if asked else MISSING,
            "Searched": asked.pool if asked else MISSING,
            "Gold": rules.get(rule.gold, rule.gold),
            "Ranked by": f"{board.primary.title}, under {board.protocol.short}",
            "Gold of an item": _sizes(mine),
            **cells,
        }
    cells["Licence"] = benchmark.declaration.licence or "not stated"
    return Side(benchmark, cells)


def gold_rules(benchmark: Benchmark) -> dict[str, str]:
    """What the benchmark says of each of its gold rules, where it does."""
    said = json.loads(benchmark.declaration.parameters or "{}")
    return {str(name): str(text) for name, text in dict(said.get("gold_rules", {})).items()}


def _gold_of_items(lake: Lake) -> pl.DataFrame:
    """Of each item and gold rule: spans, files, lines."""
    n_lines = (pl.col("line_end") - pl.col("line_start")).sum()
    spans = lake.scan("gold_spans").group_by("benchmark", "gold", "item_id")
    return spans.agg(span=pl.len(), file=pl.col("path").n_unique(), line=n_lines).collect()


def _sizes(mine: pl.DataFrame) -> str:
    if mine.is_empty():
        return MISSING
    parts = []
    for name in ("line", "span", "file"):
        middle, most = int(mine[name].sort()[mine.height // 2]), int(mine[name].sort()[-1])
        parts.append(plural(middle, name) + (f" (at most {most:,})" if most > middle else ""))
    return f"in the middle {', '.join(parts)}"


def findings(lake: Lake, facts: Facts) -> list[Finding]:
    """What items are flagged with, and why some cannot be scored, the most frequent first."""
    items = lake.scan("items").select("benchmark", "gold_flags", "scorable", "why_not")
    flags = (
        items.select("benchmark", flag=pl.col("gold_flags"))
        .explode("flag", empty_as_null=False)
        .drop_nulls()
        .with_columns(pl.col("flag").str.split_exact(":", 1).struct.rename_fields(["name", "n"]))
        .unnest("flag")
        .group_by("benchmark", "name")
        .agg(n_items=pl.len(), n=pl.col("n").cast(pl.Int64, strict=False).sum())
    )
    reasons = (
        items.filter(~pl.col("scorable"))
        .with_columns(name=pl.col("why_not").fill_null("not stated").str.split(":").list.first())
        .group_by("benchmark", "name")
        .agg(n_items=pl.len(), n=pl.lit(None, pl.Int64))
    )
    title = {name: one.title for name, one in facts.benchmarks.items()}
    found = []
    for rows, then in ((flags, ""), (reasons, "in no number: the denominators are without them, for every system")):
        ordered = rows.sort("benchmark", "n_items", "name", descending=[False, True, False]).collect()
        for benchmark, name, n_items, n in ordered.iter_rows():
            what = f"not scorable: {name}" if then else FLAGS.get(name, name)
            said = then or CONSEQUENCES.get(name, "")
            found.append(Finding(title.get(benchmark, benchmark), what, count(n_items), count(n), said))
    return found


FACTS: Sequence[str] = ("Asked with", "Searched", "Gold", "Ranked by", "Gold of an item", "Items", "Repositories",
                        "Languages", "Subsets", "Licence")  # fmt: skip
"""The rows of the table of benchmarks."""
