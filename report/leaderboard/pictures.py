"""The figures of a leaderboard: coverage by step, scores by size of chunks and pools; ways to count compared."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import polars as pl

from lake.averages import AVERAGES
from lake.catalog.protocol import USUAL_BUDGET
from lake.text import counted
from report.charts.figures import LONG, ORACLE_KIND, Curve, Figure, cut, draw
from report.format import count, score, signed, slug
from report.leaderboard.board import Board
from report.tables_read import ALL_ITEMS, RunRow

SAME = 5e-4  # differences up to this size, which no page shows, count as ties


def ways_to_count(boards: Sequence[Board]) -> dict[str, Any]:
    """The difference of the first two systems by `every` gold rule, cut-off and average; `turned`: below 0."""
    runs, every = [row.run for row in boards[0].systems[:2]] if boards else [], list[dict[str, Any]]()
    for board in boards:
        rows = {row.run.system: row for row in reversed(board.rows)}
        of_primary = [column for column in board.columns if column.measure[:2] == board.primary.measure[:2]]
        for column, average in product(of_primary, AVERAGES):
            values = [rows[run.system].value(column, average) for run in runs if run.system in rows]
            known = [value for value in values if value is not None]
            if len(known) == 2:
                delta = known[1] - known[0] if board.primary.lower_is_better else known[0] - known[1]
                way = {"protocol": board.protocol.short, "column": column.title, "average": average}
                every.append(way | {"delta": delta})
    if not every:
        return {"every": every, "sentence": ""}
    first, second = (run.full_name for run in runs)
    ahead, turned = sum(way["delta"] > SAME for way in every), [way for way in every if way["delta"] < -SAME]
    shown = f"{first} is ahead of {second} in {ahead} of {len(every)} ways of scoring, and behind in"
    sentence = f"{shown} none."
    if turned:
        worst = min(turned, key=lambda way: way["delta"])
        reading = f"{worst['protocol']}, {worst['column']}, {AVERAGES[worst['average']].meaning}"
        sentence = f"{shown} {len(turned)}, most under {reading} ({signed(worst['delta'])})."
    return {"first": first, "second": second, "every": every, "turned": turned, "sentence": sentence}


_POOLS: Mapping[str, str] = {
    "chunking-v1": "function_level", "scale-1-v1": "with-1", "scale-4-v1": "with-4", "scale-16-v1": "with-16",
}  # fmt: skip
"""Protocol → prefix of its pools' ids after the benchmark's name; the smallest pools first."""


def pool_sizes(boards: Sequence[Board]) -> dict[str, Any] | None:
    """Mean numbers of files per pool, and scores of the systems run over at least two of the pools."""
    by_protocol = {board.protocol.short: board for board in boards if board.rows}
    of_pools = [(by_protocol[name], prefix) for name, prefix in _POOLS.items() if name in by_protocol]
    if len(of_pools) < 2 or "chunking-v1" not in by_protocol:
        return None
    name = boards[0].benchmark.name
    pools = boards[0].facts.lake.read("pools", benchmark=name)
    of_prefix = (pools.filter(pl.col("pool_id").str.starts_with(f"{name}/{prefix}/")) for _, prefix in of_pools)
    sizes = [float(each.select(pl.col("n_files").mean()).item() or 0) for each in of_prefix]
    runs = {row.run.system: row.run for board, _ in of_pools for row in board.rows}
    numbers = [{row.run.system: row.number for row in board.rows} for board, _ in of_pools]
    each = [(run, [of_board.get(system) for of_board in numbers]) for system, run in runs.items()]
    lines = [(run, values) for run, values in each if sum(value is not None for value in values) > 1]
    if not lines:
        return None
    labels, curves = labels_of([run for run, _ in lines]), []
    for run, values in lines:
        places, known = zip(*((size, n) for size, n in zip(sizes, values, strict=True) if n is not None), strict=True)
        curves.append(Curve(labels[run.run_id], known, run.drawn, places, run.system))
    rows = [
        {"system": curve.system, "kind": curve.kind, "files": size, "value": value}
        for curve in curves
        for size, value in zip(curve.places, curve.values, strict=True)
    ]
    first, title = of_pools[0][0], of_pools[0][0].primary.title
    figure = line_figure(first, "pools", f"{title} by the size of the pool", ("Files searched", title), curves, rows)
    return {"board": first, "sizes": sizes, "lines": lines, "figure": figure}


MAX_CURVES = 8  # in a picture: more could not be told apart; the table has them all
_SIZED = re.compile(r"(.*[^\d-])-(\d+)")


def figure_of(
    board: Board, name: str, title: str, function: str, what: Sequence[object], rows: Sequence[Mapping[str, object]]
) -> Figure:
    """A figure of a board, drawn by a function from the arguments `what`; `name` must be unique on the board."""
    path = f"{slug(board.benchmark.name)}/{slug(board.protocol.short)}-{name}"
    part = "" if board.slice[0] == ALL_ITEMS else f", {board.slice[1]}"
    population = f"{board.benchmark.title}, {board.protocol.short}{part}, {counted(board.n_items, 'item')}"
    about = (path, title, population, pl.DataFrame(rows, infer_schema_length=None).write_csv())
    return Figure(*about, draw(function, *what, about=about))


def labels_of(runs: Sequence[RunRow]) -> dict[str, str]:
    """Run id → label in a picture; the chunker is added if several runs have the same name."""
    names = Counter(run.short_name for run in runs)
    return {
        run.run_id: f"{cut(run.short_name, LONG - 1 - len(run.chunker))} {run.chunker}"
        if names[run.short_name] > 1 and run.chunker
        else run.short_name
        for run in runs
    }


def line_figure(
    board: Board, name: str, title: str, axes: tuple[str, str], curves: Sequence[Curve],
    rows: Sequence[Mapping[str, object]],
) -> Figure:  # fmt: skip
    """A figure of the first MAX_CURVES curves; `axes` are the titles of x and y."""
    drawn = curves[:MAX_CURVES]
    ends = "; ".join(
        f"{curve.label} {score(curve.values[0])} at {count(curve.places[0])} to {score(curve.values[-1])} "
        f"at {count(curve.places[-1])}"
        for curve in drawn
    )
    described = f"Line chart: {title}, of {counted(len(drawn), 'line')}: {ends}."
    return figure_of(board, name, title, "plots.line_chart", (drawn, axes, described), rows)


def steps_of(board: Board) -> dict[str, Any] | None:
    """Coverage by step at the primary metric's granularity: the best systems' curves, and all systems."""
    granularity = board.primary.granularity
    mine = board.facts.steps.filter(protocol=board.protocol.name, granularity=granularity)
    covered = {run_id: (group["coverage"].to_list(), group["n"][0]) for (run_id,), group in mine.group_by("run_id")}
    rows = [(row, *covered[row.run.run_id]) for row in board.every if row.run.run_id in covered]
    # The best of every kind, then the best of all others.
    compared = [row.run for row, *_ in rows if row.comparable]
    first = {run.drawn: run for run in reversed(compared)}.values()
    chosen = [*first, *(run for run in compared if run not in first and not run.baseline)][:MAX_CURVES]
    shown = [run for run in compared if run in chosen]
    if not shown:
        return None
    labels = labels_of(shown)
    curves = [Curve(labels[run.run_id], covered[run.run_id][0], run.drawn, system=run.system) for run in shown]
    numbers = [
        {"system": row.run.system, "kind": row.run.drawn, "step": step, "coverage": value, "n": n}
        for row, coverage, n in rows
        for step, value in enumerate(coverage, 1)
    ]
    of = f"{granularity} coverage".capitalize()
    title = f"{of} of all that was seen, by step"
    return {
        "granularity": granularity,
        "at": (1, 2, 3, 5, 10, 15, 20),
        "rows": rows,
        "without": [row.run.full_name for row in board.rows if row.run.run_id not in covered],
        "figure": line_figure(board, "steps", title, ("Step", of), curves, numbers),
    }


def chunk_sizes(board: Board) -> dict[str, Any] | None:
    """Line scores by mean chunk size, for families of chunkers with one retriever in at least three sizes, or None."""
    # Where the primary metric depends on how files are cut into chunks, line F1 is shown.
    f1s = [column for column in board.columns if column.metric == "line_f1"]
    near = min(f1s, key=lambda column: abs(column.k - USUAL_BUDGET), default=None)
    column = board.primary if board.primary.granularity == "line" else near
    if column is None:
        return None
    families: dict[tuple[str, str, bool], tuple[str, RunRow, dict[int, tuple[float, float]]]] = {}
    for row in board.rows:
        run, value, sized = row.run, row.value(column), _SIZED.fullmatch(row.run.chunker or "")
        if sized and value is not None:
            *_, at = families.setdefault((sized[1], run.retriever or "", run.baseline), (sized[1], run, {}))
            at[int(sized[2])] = (run.chunk_size or float(sized[2]), value)
    lines = [families[key] for key in sorted(families) if len(families[key][2]) > 2]
    systems = [line for line in lines if not line[1].baseline]
    if not systems:
        return None
    systems.sort(key=lambda line: max(value for _, value in line[2].values()), reverse=not column.lower_is_better)
    chosen = [*(line for line in lines if line[1].drawn == ORACLE_KIND), *systems][:MAX_CURVES]
    curves, numbers = [], []
    for family, run, at in lines:
        name, (places, values) = f"{run.short_name} {family}", zip(*sorted(at.values()), strict=True)
        of_family = {"chunkers and retriever": name, "kind": run.drawn}
        numbers += [of_family | {"size": n, "characters": size, "value": value} for n, (size, value) in at.items()]
        if (family, run, at) in chosen:
            curves.append(Curve(name, values, run.drawn, places))
    axes, title = ("Non-whitespace characters per chunk", column.title), f"{column.title} by the size of chunks"
    figure = line_figure(board, "sizes", title, axes, curves, numbers)
    sizes = sorted({size for _, _, at in lines for size in at})
    return {"column": column, "lines": lines, "sizes": sizes, "n_drawn": len(chosen), "figure": figure}
