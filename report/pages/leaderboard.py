"""Leaderboard: a page per benchmark: its answer, every system with interval, tie group and provenance; all numbers."""

import json
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

import polars as pl

from lake.averages import AVERAGES, FEWEST_REPOS, ITEM_INTERVALS, average_columns
from report.format import board_page, run_key, slug, visible
from report.leaderboard.board import Board, Measure
from report.leaderboard.costs import by_characters, costs_of
from report.leaderboard.gold_ledger import shares_of
from report.leaderboard.main_table import MainTable, average_table, choices_of, controls_of, heats_of, shade
from report.leaderboard.pictures import chunk_sizes, pool_sizes, steps_of, ways_to_count
from report.leaderboard.verdicts import beats, board_sentence, reference_row, sentences
from report.methods.interval_coverage import coverage_note
from report.publisher import Page, Publisher, SiteMaterial
from report.render import data_file
from report.tables_read import IMPORTED, MEASURE, TablesRead

_NUMBERS = tuple(name for average in AVERAGES for name in average_columns(average))
MEASURE_FIELDS = (
    *_NUMBERS, "n", "n_failed", "share_of_oracle", "read", "delta", "delta_low", "delta_high", "rank", "rank_low",
    "rank_high", "tie_group", "too_few", "unit",
)  # fmt: skip
"""The fields of a run in a slice in a measure's file, in this order; unknown ones at the end are left out."""

PUBLISHED_AGAIN = "make published SOURCE=FOLDER LAKE=lake/again"
"""The command that computes the published editions again; runs of the lake have commands of their own."""

_DIGITS = 6


def _pages(material: SiteMaterial) -> Iterator[Page]:
    # Request all figures, page by page, before the first page waits for its pictures.
    requested = [
        (
            [_section(board) for board in boards],
            pool_sizes(boards),
            costs_of(boards[0]) if any(board.every for board in boards) else None,
        )
        for boards in material.written_boards.values()
    ]
    for (name, boards), (sections, sizes, costs) in zip(material.written_boards.items(), requested, strict=True):
        benchmark, files = material.benchmarks[name], dict[str, bytes]()
        for section in sections:
            board = section["board"]
            # Only here, since these read all numbers of a board.
            section |= {"heats": heats_of(board), "controls": controls_of(board)}
            files |= _files(section) if board.every else {}
        # Declarations of all names on the boards, and caveats.
        runs = [row.run for board in boards for row in board.every]
        columns = {column.metric: column for board in boards for column in board.columns}
        used = {name for run in runs for name in (run.retriever, run.chunker)}
        retrievers = [each for each in material.retrievers.values() if each.name in used]
        values = {
            "benchmark": benchmark,
            "sections": sections,
            "has_runs": costs is not None,
            "beats": beats(boards[0]) if boards else [],
            "pool_sizes": sizes,
            "readings": ways_to_count(boards),
            "costs": costs,
            "shade": shade,
            "has_agents": any(run.has_steps for run in runs),
            "imported": [run for run in material.runs_of(name) if run.origin == IMPORTED],
            "metrics": [column.rule for column in columns.values()],
            "chunkers": [each for each in material.chunkers.values() if each.name in used],
            "baselines": [each for each in retrievers if "baseline" in each.tags],
            "retrievers": [each for each in retrievers if "baseline" not in each.tags],
            # Metrics of chunks depend on how a chunker cuts; those of lines do not.
            "depends_on_cutting": [each for each, column in columns.items() if column.granularity == "chunk"],
            "neutral": [each for each, column in columns.items() if column.granularity == "line"],
        }
        description = f"{benchmark.title}: {sections[0]['verdict']}" if boards and boards[0].every else ""
        yield Page(board_page(name), benchmark.title, "leaderboard.html", values, description, files)
        if costs is not None:
            title = f"{benchmark.title}: every number"
            yield Page(board_page(name, "-all"), title, "leaderboard-all.html", values)


def _section(board: Board) -> dict[str, Any]:
    """The section of one protocol on a benchmark's pages; the protocol's own average comes first in `tables`."""
    reference, rule, task = reference_row(board), board.protocol, board.task
    rules = {
        "Gold": rule.gold,
        # Contexts are compared with the gold as sets of lines, without a relevance rule.
        "Relevant": "" if rule.has_contexts else rule.relevance,
        "Query": task.query if task else "",
        "Pool": task.pool if task else "",
        "Ties": "equal scores keep the candidates' own order" if task and task.tie == "pool" else "",
    }
    averages = sorted(AVERAGES, key=lambda average: average != board.average)
    return {
        "board": board,
        "path": f"boards/{slug(board.benchmark.name)}/{slug(board.protocol.short)}",
        "reference": reference,
        "verdict": board_sentence(board) if board.every else "",
        "main": MainTable(board, reference),
        "coverage": _coverage(board),
        "sizes": chunk_sizes(board),
        "choices": choices_of(board),
        "steps": steps_of(board),
        "curve": by_characters(board, *board.primary.measure[:2]),
        "tables": [average_table(board, average, reference) for average in averages],
        "rules": [(key, value) for key, value in rules.items() if value],
    }


def _coverage(board: Board) -> str:
    """The note on how often intervals like a board's cover the truth; empty if the board has no intervals."""
    numbers = [row.number for row in board.systems or board.rows if row.number is not None]
    n_repos = max((row.head.n_repos for row in board.rows if row.head), default=0)
    if not numbers or not board.has("low"):
        return ""
    if board.benchmark.is_own:
        # Intervals of own data are over items, like those with few repositories.
        n_repos = min(n_repos, FEWEST_REPOS - 1)
    # A metric whose ratio of sums equals its mean counts hits: its scores are 0 or 1.
    return coverage_note(numbers, n_repos, is_hit_or_miss=board.primary.rule.micro == "same")


def _files(section: Mapping[str, Any]) -> dict[str, bytes]:
    """The data files of a board: path in the site → content. Differences are to the reference."""
    board, path, reference, verdict = (section[name] for name in ("board", "path", "reference", "verdict"))
    rows = sorted(board.every, key=lambda row: (row.run.system, row.run.run_id))
    names = ("index_seconds", "index_bytes", "query_p50", "query_p95", "hardware")
    costs = {number: [row.run.cost[name] for name in names] for number, row in enumerate(rows) if row.run.cost}
    paths = {column: f"{path}/{slug(column.granularity)}-{slug(column.metric)}-{column.k}" for column in board.columns}
    measures = _measures(board, [row.run.run_id for row in rows])
    # Views without stored comparisons show the verdict of the opening view, with that view's name.
    by_view = {**sentences(board)}
    by_view[board.primary.name] = {**by_view.get(board.primary.name, {}), board.view: verdict}
    about = {
        "benchmark": visible(board.benchmark.title),
        "protocol": board.protocol.name,
        "short": board.protocol.short,
        "average": board.average,
        "slice": board.view,
        "fields": MEASURE_FIELDS,
        "itemIntervals": f"{ITEM_INTERVALS}. ",
        "reference": rows.index(reference) if reference else None,
        "again": PUBLISHED_AGAIN if board.benchmark.is_edition else "",
        "citation": board.benchmark.citation,
        "averages": {name: average.meaning for name, average in AVERAGES.items()},
        "columns": [
            {
                "name": column.name,
                "title": column.title,
                "level": column.granularity,
                "quantity": column.quantity,
                "better": column.rule.direction,
                "micro": column.rule.micro,
                "steps": column.rule.of_steps,
                "path": to,
            }
            for column, to in paths.items()
        ],
        "slices": section["controls"]["slices"],
        "runs": [
            {
                "id": run.run_id,
                "key": run_key(run.run_id),
                "system": visible(run.system),
                "name": visible(run.short_name),
                "by": visible(run.by),
                "path": quote(board.facts.system_paths[run.system]),
                "kind": run.kind,
                "shape": run.drawn,
                "mark": run.retriever if run.baseline else "",
                "origin": run.provenance,
                "whole": run.comparable,
                "state": "" if run.comparable else row.state,
                "chunks": run.n_chunks,
                "ledger": [[share["name"], share["title"], round(share["share"], 4)] for share in shares],
                "precision": precision,
            }
            for row in rows
            for run, (shares, precision) in [(row.run, shares_of(board).get(row.run.run_id, ((), None)))]
        ],
        "verdicts": by_view,
        "verdict": f"{board.primary.title}, {board.averaging}, {board.slice[1]}: {verdict}",
    }
    return {
        f"{path}.js": data_file(path, about),
        f"{path}/costs.js": data_file(f"{path}/costs", costs),
        **{f"{to}.js": data_file(to, measures.get(column.measure, "{}"), is_json=True) for column, to in paths.items()},
    }


def shortened(name: str) -> pl.Expr:
    """A number to six decimals, or unchanged if that would lie half-way between shown numbers and round differently."""
    short = pl.col(name).round(_DIGITS)
    is_half_way = (short * 10**_DIGITS).round(0).cast(pl.Int64) % 500 == 0
    return pl.when(is_half_way).then(pl.col(name)).otherwise(short).alias(name)


def _measures(board: Board, run_ids: list[str]) -> dict[Measure, str]:
    """Measure → JSON text: `slice=value` → for each run its MEASURE_FIELDS up to the last known one, or null."""
    stored, view = board.facts.board_rows(board.protocol).collect(), ["position", "slice", "slice_value"]
    # Filtered here: in the plan, this filter takes longer than reading.
    stored = stored.filter(pl.col("run_id").is_in(run_ids))
    # Sorted by the table's key, in which the rows of each average are stored, so that rows match one to one.
    rows = stored.filter("is_shown").drop("value", "low", "high", "share_of_oracle")
    averaged = stored.select(
        pl.col("share_of_oracle").filter(average="macro"),
        *(
            pl.col(name).filter(average=average).alias(to)
            for average in AVERAGES
            for name, to in zip(("value", "low", "high"), average_columns(average), strict=True)
        ),
    )
    short = [shortened(name) for name in (*_NUMBERS, "share_of_oracle", "delta", "delta_low", "delta_high")]
    whole, unit = pl.col("read").round(0).cast(pl.Int64), pl.format('"{}"', "unit").alias("unit")
    numbers = pl.concat([rows.sort(*view[1:], "run_id", "column"), averaged], how="horizontal")
    # Written as text all at once, because there are millions of rows.
    fields = numbers.with_columns(*short, whole, unit).select(MEASURE_FIELDS)
    text = fields.write_csv(include_header=False, null_value="null", quote_style="never")
    row = pl.format("[{}]", pl.Series("row", text.splitlines(), pl.String).str.replace("(?:,null)+$", ""))
    at = pl.col("run_id").replace_strict(run_ids, range(len(run_ids)), return_dtype=pl.Int64)
    n_missing = pl.col("at") - pl.col("at").shift(1).over(view).fill_null(-1) - 1
    missing = pl.lit("null," * len(run_ids)).str.slice(0, n_missing * len("null,"))
    by_view = (
        numbers.select(*MEASURE, *view, row.alias("row"), at=at)
        .sort(*view, "at")
        .with_columns(row=missing + pl.col("row"))
        .group_by(*MEASURE, *view[1:], maintain_order=True)
        .agg(pl.col("row").str.join(","))
    )
    by_measure: dict[Measure, dict[str, str]] = {}
    for granularity, metric, k, slice_, value, joined in by_view.iter_rows():
        by_measure.setdefault((granularity, metric, k), {})[f"{slice_}={visible(value)}"] = joined
    return {
        measure: "{" + ",".join(f"{json.dumps(key, ensure_ascii=False)}:[{by[key]}]" for key in sorted(by)) + "}"
        for measure, by in by_measure.items()
    }


def _entries(facts: TablesRead) -> list[tuple[str, str]]:
    # If there is an edition of the same benchmark, the lake's own is marked as such.
    editions = {benchmark.shown_name for benchmark in facts.benchmarks.values() if benchmark.is_edition}
    entries = []
    for name, benchmark in facts.benchmarks.items():
        title = benchmark.shown_name
        if title in editions and not benchmark.is_edition:
            title = benchmark.title if benchmark.label else f"{title} (this lake)"
        entries.append((title, board_page(name)))
    return entries


LEADERBOARD_PAGES = Publisher("leaderboard", 10, __doc__, _pages, _entries)
