"""Methods: what was compared with outside references, what every protocol and metric is, what to know of intervals."""

from collections.abc import Iterator, Sequence

import polars as pl

from lake.catalog.protocol import MAX_VALUES
from lake.relevance import disjoint
from lake.store import Lake
from lake.tables import FLAGS
from lake.tables.evaluated import LEDGER_TITLES
from lake.text import counted
from lake.verdict import SENTENCES
from report.format import DASH, count
from report.leaderboard.board import Board, columns_of
from report.leaderboard.verdicts import BREADTH, LATE, REDUNDANT
from report.methods.interval_coverage import MEANS, N_SETS, simulated_coverage
from report.methods.parity import outcomes, parity_rows
from report.pages.systems import LEAST_ITEMS
from report.publisher import Page, Publisher, SiteMaterial
from report.tables_read import ALL_ITEMS, MEASURE, BenchmarkRow, TablesRead

_PATH = "methods.html"


def _pages(material: SiteMaterial) -> Iterator[Page]:
    boards = material.every_board
    simulated = simulated_coverage().items()
    measured = {column.metric for board in boards for column in board.columns}
    # What completions need, by items; none without gold by the rule `needs`.
    kinds = material.lake.scan("items").drop_nulls("need").group_by("benchmark", "need").agg(n=pl.len())
    needs = kinds.sort("n", "need", descending=[True, False]).collect()
    values = {
        "parity": parity_rows(),
        "expected": outcomes(material),
        "sides": [
            (each, _side(material.lake, each, material.boards_of[name])) for name, each in material.benchmarks.items()
        ],
        "boards": boards,
        "between": [difference for name in material.benchmarks for difference in _differences(material, name)],
        "metrics": [metric for name, metric in material.metrics.items() if name in measured],
        "findings": findings(material),
        "needs": [
            (each, counts)
            for name, each in material.benchmarks.items()
            if (counts := needs.filter(benchmark=name)["need", "n"].rows())
        ],
        "stages": material.rejects["stage"].value_counts().sort("stage").rows(),
        "sentences": SENTENCES,
        "classes": LEDGER_TITLES,
        "benchmarks": list(material.benchmarks.values()),
        "coverage": {"means": MEANS, "rows": [(*key, cells) for key, cells in simulated], "n_sets": N_SETS},
        "max_values": MAX_VALUES,
        "least_items": LEAST_ITEMS,
        "thresholds": {"breadth": BREADTH, "redundant": REDUNDANT, "late": LATE},
    }
    yield Page(_PATH, "Methods", "methods.html", values)


def _side(lake: Lake, benchmark: BenchmarkRow, boards: Sequence[Board]) -> dict[str, str]:
    """A benchmark's cells in the comparison of benchmarks; task, gold and metric are of its first board, if any."""
    board = boards[0] if boards else None
    gold, task = board.protocol.gold if board else "", board.task if board else None
    return {
        "Query": task.query if task else DASH,
        "Pool": task.pool if task else DASH,
        "Gold": benchmark.gold_rules.get(gold, gold) or DASH,
        "Ranked by": f"{board.primary.title}, under {board.protocol.short}" if board else DASH,
        "Gold per item": gold_of_an_item(lake, benchmark.name, gold),
        "Items": f"{benchmark.n_scorable:,} of {counted(benchmark.n_items, 'item')} can be scored",
        "Repositories": count(benchmark.n_repos),
        "Languages": ", ".join(benchmark.languages) or DASH,
        "Subsets": ", ".join(benchmark.subsets) or DASH,
        "Licence": benchmark.licence or "not stated",
    }


def gold_of_an_item(lake: Lake, benchmark: str, rule: str) -> str:
    """The sizes of an item's gold in words; a line of several spans counts once."""
    stored = lake.scan("gold_spans", benchmark=benchmark).filter(gold=rule)
    lines = disjoint(stored).group_by("item_id").agg(line=(pl.col("gold_end") - pl.col("gold_start")).sum())
    counts = stored.group_by("item_id").agg(span=pl.len(), file=pl.col("path").n_unique())
    sizes = counts.join(lines, on="item_id", how="left").select(pl.col("line").fill_null(0), "span", "file").collect()
    if sizes.is_empty():
        return DASH
    parts = []
    for size in sizes:
        middle, most = int(size.sort()[size.len() // 2]), int(size.sort()[-1])
        parts.append(counted(middle, size.name) + (f" (at most {most:,})" if most > middle else ""))
    return f"median {', '.join(parts)}"


def findings(facts: TablesRead) -> list[tuple[str, str, str, str, str]]:
    """Flags of items, and why some are not scorable: benchmark, finding, items, spans or files, consequence."""
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
    for rows, then in ((flags, ""), (reasons, "left out of every average, for every system")):
        ordered = rows.sort("benchmark", "n_items", "name", descending=[False, True, False]).collect()
        for benchmark, name, n_items, n in ordered.iter_rows():
            what, becomes = (f"not scorable: {name}", then) if then else FLAGS.get(name, (name, ""))
            lines.append((facts.benchmarks[benchmark].title, what, count(n_items), count(n), becomes))
    return lines


def _differences(facts: TablesRead, benchmark: str) -> list[dict[str, object]]:
    """The first protocol compared with others of its benchmark over the same runs, by each metric that both have."""
    shown = facts.boards(benchmark)
    if not shown:
        return []
    systems = {run.run_id: run.system for run in facts.runs_of(benchmark) if run.comparable and not run.baseline}
    is_known = (pl.col("run_id").is_in(systems), pl.col("average").is_in(["micro", "macro"]))
    boards = facts.lake.scan("boards", benchmark=benchmark).filter(*is_known, slice=ALL_ITEMS)
    stored = boards.drop_nulls("value").collect()
    first = stored.filter(protocol=shown[0].name)
    apart = pl.col("value_other") - pl.col("value")
    furthest = apart.abs().arg_max()
    medians = (pl.col("value").median(), pl.col("value_other").median().alias("other"))
    columns = [column for column in columns_of(facts, first) if column.rule.direction != "neither"]
    others, of = stored.filter(pl.col("protocol") != shown[0].name), ["protocol_other", *MEASURE]
    both = first.join(others, on=[*MEASURE, "average", "run_id"], suffix="_other").sort("run_id")
    grouped = both.group_by(*of, "average")
    summary = grouped.agg(*medians, n=pl.len(), largest=apart.get(furthest), run=pl.col("run_id").get(furthest))
    # Ratios of sums where there are any, else means over items.
    known = summary.sort("average").rows_by_key(of, named=True, unique=True)
    differences = []
    for protocol in facts.protocols.values():
        rows = [
            {"title": column.title, "system": systems[row["run"]]} | row
            for column in columns
            if (row := known.get((protocol.name, *column.measure)))
        ]
        title = facts.benchmarks[benchmark].title
        differences += [{"benchmark": title, "first": shown[0], "other": protocol, "rows": rows}] if rows else []
    return differences


METHODS_PAGES = Publisher("methods", 85, __doc__, _pages, lambda _: [("Methods", _PATH)])
