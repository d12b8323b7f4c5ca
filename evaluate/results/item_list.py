"""Items at the command line, with a line of each question: those that are selected, or those that a system failed."""

from __future__ import annotations

import polars as pl

from evaluate.results.one_item import default_protocol
from lake.benchmarks import known_tasks
from lake.catalog.protocol import Protocol
from lake.errors import Exit, GoldspanError, unknown_name
from lake.hints import typed
from lake.printed_table import PrintedTable
from lake.selection import Where, of_where
from lake.store import Lake
from lake.text import counted

WIDTH = 80
"""So many characters of a question are printed."""


def item_table(lake: Lake, benchmark: str, where: Where, *, failed_by: str = "", protocol: str = "") -> PrintedTable:
    """The scorable items of a benchmark, the best system's score of each, and a line of its question.

    Args:
        lake: Evaluated.
        benchmark: Its name.
        where: Which items are selected; see :func:`lake.selection.parse_items`.
        failed_by: A system: only the items that it scores 0, or has no answer to, are listed, with its score.
        protocol: Whose primary metric is the score; the benchmark's first without it.
    """
    benchmarks = lake.scan("items").select(pl.col("benchmark").unique().sort()).collect()["benchmark"].to_list()
    if benchmark not in benchmarks:
        raise unknown_name(benchmark, "benchmark", benchmarks)
    rules = default_protocol(lake, benchmark, protocol)
    scores = _scores(lake, benchmark, rules)
    items = of_where(lake.scan("items", benchmark=benchmark).filter("scorable"), where)
    best = scores.sort("value", "system", descending=[True, False]).group_by("item_id", maintain_order=True).first()
    rows = items.join(best.lazy(), on="item_id", how="inner" if not failed_by else "left")
    if failed_by:
        mine = scores.filter(system=failed_by)
        if mine.is_empty():
            raise unknown_name(failed_by, "system", scores["system"].unique().sort())
        failed = mine.filter((pl.col("value") == 0) | pl.col("value").is_null()).select("item_id")
        rows = rows.join(failed.lazy(), on="item_id", how="semi")
    rows = rows.join(_questions(lake, benchmark, rules), on="item_id", how="left").sort("item_id")
    table = rows.select("item_id", "repo", "value", "system", "target_path", "text").collect()
    measure = rules.primary.metric + (f"@{rules.primary.k}" if rules.primary.k else "")
    failing = f" that {failed_by} scores 0" if failed_by else ""
    return PrintedTable(
        f"{benchmark} ({rules.name}): {counted(table.height, 'item')}{failing}; best: a system's highest {measure}",
        ["item", "repository", "best", "by", "question"],
        [
            (
                item_id,
                repo,
                "–" if value is None else f"{value:.3f}",
                system or "",
                _line(text or "", is_hole=path is not None),
            )
            for item_id, repo, value, system, path, text in table.iter_rows()
        ],
        [typed("One of them: python -m evaluate item ITEM --systems SYSTEM")],
        texts=2,
    )


def _scores(lake: Lake, benchmark: str, rules: Protocol) -> pl.DataFrame:
    """Every system's score of every item by a protocol's primary metric; the oracle and chance are left out."""
    runs = lake.scan("runs", benchmark=benchmark).filter(
        ~pl.col("retriever").is_in(["oracle", "random"]).fill_null(False)
    )
    is_primary = {"metric": rules.primary.metric, "k": rules.primary.k}
    scores = lake.scan("scores", benchmark=benchmark, protocol=rules.name).filter(**is_primary)
    rows = scores.join(runs.select("run_id", "system"), on="run_id").select("item_id", "system", "value").collect()
    if rows.is_empty():
        message = f"no system has a score under {rules.name}"
        raise GoldspanError(message, where=str(lake.root), hint="First: make evaluate", code=Exit.MISSING)
    return rows


def _questions(lake: Lake, benchmark: str, rules: Protocol) -> pl.LazyFrame:
    task = next(task for task in known_tasks(lake).values() if task.name in rules.tasks)
    return lake.scan("queries", benchmark=benchmark, query=task.query).select("item_id", "text")


def _line(text: str, *, is_hole: bool) -> str:
    """The first line of a question that has a word; of code before a hole the last, where the hole is."""
    lines = [line.strip() for line in text.splitlines() if any(map(str.isalnum, line))] or [""]
    line = lines[-1 if is_hole else 0]
    return line if len(line) <= WIDTH else f"{line[: WIDTH - 1]}…"
