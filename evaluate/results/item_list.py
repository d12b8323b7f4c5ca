"""Items at the command line, with a line of each question: those that are selected, or those that a system failed."""

from __future__ import annotations

import polars as pl

from evaluate.results.board import number_of, primary_name
from evaluate.results.one_item import default_protocol, primary_scores, queries_of
from lake.errors import unknown_name
from lake.hints import typed
from lake.printed_table import PrintedTable
from lake.selection import Where, of_where
from lake.store import Lake
from lake.text import counted

WIDTH = 80
"""So many characters of a question are printed."""


def item_table(lake: Lake, benchmark: str, where: Where, *, failed_by: str = "", protocol: str = "") -> PrintedTable:
    """The scorable items of a benchmark, the best system's score of each, and a line of its question.

    With a system in `failed_by` only the items that it scores 0, or has no answer to. The score is by the primary
    metric of `protocol`, without it by that of the benchmark's first.
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
