"""The benchmarks side by side, what is odd about their gold, and how far two readings of one benchmark lie apart."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from statistics import median

import polars as pl

from lake.naming import CONSEQUENCES, FLAGS
from lake.store import Lake
from lake.text import counted
from report.format import DASH, count
from report.leaderboard.board import Board
from report.leaderboard.columns import columns_of
from report.models import ALL_ITEMS, BenchmarkRow
from report.tables_read import TablesRead

SIDES = (
    "Asked with", "Searched", "Gold", "Ranked by", "Gold of an item", "Items", "Repositories", "Languages", "Subsets",
    "Licence",
)  # fmt: skip


def side_of(facts: TablesRead, benchmark: BenchmarkRow, boards: Sequence[Board]) -> dict[str, str]:
    """A benchmark by its first board: some of the SIDES → what is said there."""
    cells = {
        "Items": f"{benchmark.n_scorable:,} of {counted(benchmark.n_items, 'item')} can be scored",
        "Repositories": count(benchmark.n_repos),
        "Languages": ", ".join(benchmark.languages) or DASH,
        "Subsets": ", ".join(benchmark.subsets) or DASH,
        "Licence": benchmark.licence or "not stated",
    }
    if not boards:
        return cells
    board = boards[0]
    gold = board.protocol.gold
    task = board.task if board.task else None
    return cells | {
        "Asked with": task.query if task else DASH,
        "Searched": task.pool if task else DASH,
        "Gold": gold_rules(benchmark).get(gold, gold),
        "Ranked by": f"{board.primary.title}, under {board.protocol.short}",
        "Gold of an item": _gold_of_an_item(facts.lake, benchmark.name, gold),
    }


def gold_rules(benchmark: BenchmarkRow) -> dict[str, str]:
    """What the benchmark says of each of its gold rules, where it does."""
    parameters = json.loads(benchmark.parameters or "{}")
    return {str(name): str(text) for name, text in dict(parameters.get("gold_rules", {})).items()}


def _gold_of_an_item(lake: Lake, benchmark: str, rule: str) -> str:
    spans = lake.scan("gold_spans", benchmark=benchmark).filter(gold=rule).group_by("item_id")
    n_lines = (pl.col("line_end") - pl.col("line_start")).sum()
    sizes = spans.agg(line=n_lines, span=pl.len(), file=pl.col("path").n_unique()).drop("item_id").collect()
    if sizes.is_empty():
        return DASH
    parts = []
    for size in sizes:
        middle, most = int(size.sort()[size.len() // 2]), int(size.sort()[-1])
        parts.append(counted(middle, size.name) + (f" (at most {most:,})" if most > middle else ""))
    return f"in the middle {', '.join(parts)}"


def findings(facts: TablesRead) -> list[tuple[str, str, str, str, str]]:
    """What items are flagged with, and why some cannot be scored, the most frequent first.

    By benchmark: what it is, of how many items, of how many spans or files, and what becomes of them.
    """
    items = facts.lake.scan("items").select("benchmark", "gold_flags", "scorable", "why_not")
    flag = pl.col("gold_flags").str.split_exact(":", 1)
    flags = (
        items.explode("gold_flags", empty_as_null=False)
        .drop_nulls("gold_flags")
        .group_by("benchmark", name=flag.struct[0])
        .agg(n_items=pl.len(), n=flag.struct[1].cast(pl.Int64, strict=False).sum())
    )
    reasons = (
        items.filter(~pl.col("scorable"))
        .group_by("benchmark", name=pl.col("why_not").fill_null("not stated").str.split(":").list.first())
        .agg(n_items=pl.len(), n=pl.lit(None, pl.Int64))
    )
    lines = []
    for rows, then in ((flags, ""), (reasons, "in no number: the denominators are without them, for every system")):
        ordered = rows.sort("benchmark", "n_items", "name", descending=[False, True, False]).collect()
        for benchmark, name, n_items, n in ordered.iter_rows():
            title = facts.benchmarks[benchmark].title if benchmark in facts.benchmarks else benchmark
            what = f"not scorable: {name}" if then else FLAGS.get(name, name)
            lines.append((title, what, count(n_items), count(n), then or CONSEQUENCES.get(name, "")))
    return lines


_MEASURE = ["granularity", "metric", "k"]


def protocol_differences(facts: TablesRead, benchmark: str) -> list[dict[str, object]]:
    """The benchmark's first protocol against each other one that scored the same runs, without baselines.

    `rows` has one entry per shared metric; `largest` is the largest difference of one `system`, second less first.
    """
    mine = [protocol for protocol in facts.protocols.values() if protocol.benchmark == benchmark]
    shown = facts.boards(benchmark)
    if not shown:
        return []
    first = facts.protocols[shown[0].name]
    systems = {run.run_id: run.system for run in facts.runs_of(benchmark) if run.comparable and not run.baseline}
    is_compared = pl.col("run_id").is_in(list(systems))
    numbers = {
        protocol.name: facts.board_rows(protocol).filter(is_compared, slice=ALL_ITEMS).drop_nulls("value").collect()
        for protocol in mine
    }
    pairs = (
        (other, list(_apart(facts, systems, numbers[first.name], numbers[other.name])))
        for other in mine
        if other.name != first.name
    )
    return [{"first": first, "other": other, "rows": rows} for other, rows in pairs if rows]


def _apart(
    facts: TablesRead, systems: Mapping[str, str], first: pl.DataFrame, other: pl.DataFrame
) -> Iterator[dict[str, object]]:
    both = first.join(other, on=[*_MEASURE, "average", "run_id"], suffix="_other")
    numbers = both.sort("run_id").select(*_MEASURE, "average", "run_id", "value", "value_other").rows()
    by_average: dict[tuple[object, ...], list[tuple[str, float, float]]] = {}
    for *measure_and_average, run_id, ours, theirs in numbers:
        by_average.setdefault(tuple(measure_and_average), []).append((run_id, ours, theirs))
    for column in columns_of(facts, first):
        average = "micro" if (*column.measure, "micro") in by_average else "macro"
        known = by_average.get((*column.measure, average))
        if column.rule.direction == "neither" or known is None:
            continue
        run_id, ours, theirs = max(known, key=lambda numbers: abs(numbers[2] - numbers[1]))
        yield {
            "title": column.title,
            "average": average,
            "n": len(known),
            "medians": (median(value for _, value, _ in known), median(value for _, _, value in known)),
            "largest": theirs - ours,
            "system": systems[run_id],
        }
