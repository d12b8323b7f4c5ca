"""Items at the command line: one with its question, gold, scores and results; or a list with a line of each."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl

from evaluate.results.board import number_of, primary_name
from evaluate.results.printed_table import PrintedTable
from lake.benchmarks import known_tasks, protocols_called, tasks_of
from lake.catalog.protocol import Protocol
from lake.catalog.protocols import protocols_of
from lake.errors import Exit, GoldspanError, unknown_name
from lake.hints import typed
from lake.naming import FINAL, RANKING
from lake.selection import Where, of_where
from lake.store import Lake
from lake.text import counted, escaped

N_RESULTS, WIDTH = 20, 80
"""So many results of a list are printed, and so many characters of a question."""

ItemRow = dict[str, Any]
"""A row of table `items`."""
GoldLines = dict[str, list[tuple[int, int]]]
"""Path → its gold lines, from 0 and half-open."""


def item_lines(
    lake: Lake, item_id: str, *, benchmark: str = "", protocol: str = "", systems: Sequence[str] = ()
) -> Iterator[str]:
    """What is printed of an item: the question, its gold, the score of every system, and the results of those named."""
    item = _item(lake, item_id, benchmark)
    rules = default_protocol(lake, item["benchmark"], protocol)
    about = [item[name] for name in ("benchmark", "item_id", "language", "repo")]
    yield escaped(" · ".join([*about, *([item["commit"][:12]] if item["commit"] else [])]))
    if not item["scorable"]:
        yield f"not scorable: {item['why_not']}"
    for text in queries_of(lake, item["benchmark"], rules).filter(item_id=item_id).collect()["text"]:
        yield "\nquestion"
        yield from (f"  {escaped(line)}" for line in text.splitlines())
    spans = lake.scan("gold_spans", benchmark=item["benchmark"]).filter(item_id=item_id, gold=rules.gold)
    rows = spans.select("path", "line_start", "line_end").sort("path", "line_start").collect()
    gold: GoldLines = rows.rows_by_key("path")
    yield f"\ngold ({rules.name})"
    yield from (f"  {escaped(path)} {_ranges(lines)}" for path, lines in gold.items())
    scores = primary_scores(lake, item["benchmark"], rules).filter(item_id=item_id)
    scores = scores.sort("value", "system", descending=[True, False], nulls_last=True)
    known = scores["system"].to_list()
    for name in systems:
        if name not in known:
            raise unknown_name(name, "system of this item", known)
    measure = primary_name(rules)
    yield f"\n{measure}, {counted(len(known), 'system')}"
    for row in scores.iter_rows(named=True):
        yield f"  {_value(row['value'])}  {escaped(row['system'])}"
    for row in scores.filter(pl.col("system").is_in(systems)).iter_rows(named=True):
        has_sums = row["numerator"] is not None and row["denominator"] is not None
        of = f" = {row['numerator']:g} / {row['denominator']:g}" if has_sums else ""
        yield f"\n{escaped(row['system'])}: {measure} {_value(row['value'])}{of}"
        yield from _results(lake, item, row["run_id"], gold)


def _item(lake: Lake, item_id: str, benchmark: str) -> ItemRow:
    stored = lake.scan("items")
    rows = stored.filter(item_id=item_id).sort("benchmark").collect()
    rows = rows.filter(benchmark=benchmark) if benchmark else rows
    if rows.is_empty():
        raise unknown_name(item_id, "item", stored.select("item_id").unique().collect()["item_id"].sort())
    if rows.height > 1:
        message = f"several benchmarks have an item {item_id}"
        hint = "Name one: --benchmark NAME"
        raise GoldspanError(message, examples=rows["benchmark"].to_list(), hint=hint, code=Exit.USAGE)
    return rows.row(0, named=True)


def default_protocol(lake: Lake, benchmark: str, name: str = "") -> Protocol:
    """The protocol that a name means, or a benchmark's first."""
    if name:
        return protocols_called(lake, name, benchmark)[0]
    return protocols_of(tasks_of(lake, benchmark)[0])[0]


def queries_of(lake: Lake, benchmark: str, rules: Protocol) -> pl.LazyFrame:
    """The questions of a benchmark's items, as the first task under some rules asks them."""
    task = next(task for task in known_tasks(lake).values() if task.name in rules.tasks)
    return lake.scan("queries", benchmark=benchmark, query=task.query).select("item_id", "text")


def primary_scores(lake: Lake, benchmark: str, rules: Protocol) -> pl.DataFrame:
    """Every system's score of every item by the primary metric: run_id, item_id, value, …, system, retriever."""
    is_primary = {"metric": rules.primary.metric, "k": rules.primary.k}
    scores = lake.scan("scores", benchmark=benchmark, protocol=rules.name).filter(**is_primary)
    scores = scores.select("run_id", "item_id", "value", "numerator", "denominator")
    runs = lake.scan("runs", benchmark=benchmark).select("run_id", "system", "retriever")
    rows = scores.join(runs, on="run_id").collect()
    if rows.is_empty():
        message = f"no system has a score under {rules.name}"
        raise GoldspanError(message, where=str(lake.root), hint="First: make evaluate", code=Exit.MISSING)
    return rows


def _results(lake: Lake, item: ItemRow, run_id: str, gold: GoldLines) -> Iterator[str]:
    """The list or the final context of a run, each result with a mark: whether it has gold."""
    hits = lake.scan("hits", benchmark=item["benchmark"], run_id=run_id).filter(item_id=item["item_id"])
    wanted = hits.filter(pl.col("part").is_in([RANKING, FINAL])).sort("rank")
    rows = wanted.select("rank", "path", "path_given", "line_start", "line_end", "symbol").collect()
    if rows.is_empty():
        yield "  returned nothing that is listed: chance is scored over every order"
    for rank, path, given, start, end, symbol in rows.head(N_RESULTS).iter_rows():
        spans = gold.get(path or given, [])
        last = sys.maxsize if end is None else end
        n_gold = 0 if start is None else sum(max(0, min(b, last) - max(a, start)) for a, b in spans)
        where = f" {symbol}" if symbol else "" if start is None or end is None else f" {start + 1}-{end}"
        of_gold = f"  {counted(n_gold, 'gold line')}" if n_gold else ""
        of_gold = "  a gold file, without lines" if spans and start is None else of_gold
        yield f"  {'✓' if of_gold else '✗'} {rank:>3}  {escaped(path or given or '')}{escaped(where)}{of_gold}"
    if rows.height > N_RESULTS:
        yield f"  … {rows.height - N_RESULTS:,} more"


def _ranges(spans: Sequence[tuple[int, int]]) -> str:
    return ", ".join(f"{start + 1}-{end}" if end > start else "no line" for start, end in spans)


def _value(value: float | None) -> str:
    return "   –" if value is None else f"{value:.3f}"


def item_table(lake: Lake, benchmark: str, where: Where, *, failed_by: str = "", protocol: str = "") -> PrintedTable:
    """The scorable items of a benchmark, the best system's score of each, and a line of its question.

    With a system in `failed_by` only the items that it scores 0, or has no answer to.
    """
    benchmarks = lake.scan("items").select(pl.col("benchmark").unique().sort()).collect()["benchmark"].to_list()
    if benchmark not in benchmarks:
        raise unknown_name(benchmark, "benchmark", benchmarks)
    rules = default_protocol(lake, benchmark, protocol)
    scores = primary_scores(lake, benchmark, rules)
    scores = scores.filter(~pl.col("retriever").is_in(["oracle", "random"]).fill_null(False))
    items = of_where(lake.scan("items", benchmark=benchmark).filter("scorable"), where)
    best = scores.sort("value", "system", descending=[True, False]).group_by("item_id", maintain_order=True).first()
    rows = items.join(best.lazy(), on="item_id", how="inner" if not failed_by else "left")
    if failed_by:
        mine = scores.filter(system=failed_by)
        if mine.is_empty():
            raise unknown_name(failed_by, "system", scores["system"].unique().sort())
        failed = mine.filter((pl.col("value") == 0) | pl.col("value").is_null()).select("item_id")
        rows = rows.join(failed.lazy(), on="item_id", how="semi")
    rows = rows.join(queries_of(lake, benchmark, rules), on="item_id", how="left").sort("item_id")
    table = rows.select("item_id", "repo", "value", "system", "target_path", "text").collect()
    best_of = f"best: a system's highest {primary_name(rules)}"
    failing = f" that {failed_by} scores 0" if failed_by else ""
    return PrintedTable(
        f"{benchmark} ({rules.name}): {counted(table.height, 'item')}{failing}; {best_of}",
        ["item", "repository", "best", "by", "question"],
        [
            (item_id, repo, number_of(value), system or "", _line(text or "", is_hole=path is not None))
            for item_id, repo, value, system, path, text in table.iter_rows()
        ],
        [typed("One of them: python -m evaluate item ITEM --systems SYSTEM")],
        texts=2,
    )


def _line(text: str, *, is_hole: bool) -> str:
    """The first line of a question that has a word; of code before a hole the last, where the hole is."""
    lines = [line.strip() for line in text.splitlines() if any(map(str.isalnum, line))] or [""]
    line = lines[-1 if is_hole else 0]
    return line if len(line) <= WIDTH else f"{line[: WIDTH - 1]}…"
