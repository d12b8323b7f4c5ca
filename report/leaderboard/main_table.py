"""A board's tables: the main table, its controls, a table per average, and the primary metric as shaded grids."""

import math
from typing import Any

import polars as pl
from markupsafe import Markup

from lake.averages import AVERAGES, ITEM, REPOSITORY, Aggregate
from lake.verdict import which_matters_more
from report.format import count, number_key, place_of, score, title_of, visible
from report.leaderboard.board import Board, BoardRow, Cell
from report.tables_read import ALL_ITEMS

HEAT_STEPS = 8


def shade(value: float | None, least: float, most: float) -> int:
    """The shade of a score, the higher the darker; scores beyond the range are clipped."""
    share = 0.0 if value is None else min(max((value - least) / ((most - least) or 1.0), 0.0), 1.0)
    return math.floor(share * HEAT_STEPS + 0.5)


def heats_of(board: Board) -> list[dict[str, Any]]:
    """A shaded grid per slice, the values with the most items as columns; of identical grids only the first."""
    is_compared = pl.col("run_id").is_in([row.run.run_id for row in board.rows])
    mine, heats = board.by_slice.filter(is_compared, pl.col("slice") != ALL_ITEMS), list[dict[str, Any]]()
    for name in sorted(mine["slice"].unique(), key=place_of):
        part = mine.filter(slice=name)
        sizes = dict(part.group_by("slice_value").agg(pl.col("n").max()).iter_rows())
        columns = [(value, sizes[value]) for value in sorted(sizes, key=number_key)]
        at = {(run_id, value): score for run_id, value, score in part["run_id", "slice_value", "value"].iter_rows()}
        rows = [(row, [at.get((row.run.run_id, value)) for value, _ in columns]) for row in board.rows]
        if len(columns) < 2 or any((heat["columns"], heat["rows"]) == (columns, rows) for heat in heats):
            continue
        systems = [scores for row, scores in rows if not row.run.baseline] or [scores for _, scores in rows]
        known = [score for scores in systems for score in scores if score is not None] or [0.0]
        n_values, n_items = board.slice_size(name)
        heat = {"slice": name, "title": title_of(name), "columns": columns, "rows": rows, "n_items": n_items}
        heats.append(heat | {"n_values": max(n_values, len(columns)), "range": (min(known), max(known))})
    return heats


def choices_of(board: Board) -> dict[str, Any] | None:
    """The grid of chunkers and retrievers, best first, with `means` by both names, of which one may be empty."""
    tasks = {board.protocol.task} if board.protocol.task else {row.run.task for row in board.rows}
    sign = 1 if board.primary.lower_is_better else -1
    whole = board.facts.effects.filter(pl.col("task").is_in(tasks), **board.where, repo="")
    cells = whole.drop_nulls("mean").sort(sign * pl.col("mean"), "chunker", "retriever")
    if cells.is_empty():
        return None
    means = {(row["chunker"], row["retriever"]): row["mean"] for row in cells.iter_rows(named=True)}
    grid = [mean for (chunker, retriever), mean in means.items() if chunker and retriever]
    shares = whole.filter(pl.col("mean").is_null()).select("factor", "share", "low", "high")
    answer = which_matters_more(
        shares.rows_by_key("factor", unique=True),
        len(grid),
        too_few=any(row.head is not None and bool(row.head.too_few) for row in board.rows),
        unit=ITEM if board.is_of_items else REPOSITORY,
    )
    return {
        **{f"{factor}s": cells.filter(factor=factor).to_dicts() for factor in ("chunker", "retriever")},
        "means": means,
        "answer": answer,
        "left_out": whole["left_out"].to_list()[0],
        "range": (min(grid), max(grid)),
    }


N_SHOWN = 15  # rows in the page itself; the others are loaded on demand, and are in the page with every number
COARSE, FINE = 2, 3  # decimals
_NARROW = 0.04  # median width of intervals below which more decimals are shown
_FAR = 2.0  # multiple of the systems' reach beyond which baselines are named at the edge of the axis
_LEVELS = ("line", "file", "symbol", "span")  # in the order of the switch; others follow in the board's order


class MainTable:
    """The table that a board opens with; `marks` are the baselines, drawn as lines; the axis goes from 0 to `reach`."""

    def __init__(self, board: Board, reference: BoardRow | None) -> None:
        systems = board.systems
        self.rows = [*systems, *board.apart][:N_SHOWN]
        self.n_ranked = min(len(systems), N_SHOWN)
        self.n_systems = len(systems) + len(board.apart)
        ends = [row.interval for row in systems]
        widths = sorted(high - low for low, high in ends if low is not None and high is not None)
        self.digits = COARSE if widths and widths[(len(widths) - 1) // 2] >= _NARROW else FINE
        # For each baseline one run: the reference if it is one of them, else the best.
        baselines = sorted((row for row in board.rows if row.run.baseline), key=lambda row: row is not reference)
        best = list({row.run.retriever: row for row in reversed(baselines)}.values())
        self.marks = [row for row in board.rows if row in best]
        reach = max([0.0, *(end for row in systems for end in (row.number, row.interval[1]) if end is not None)])
        near = (row.number for row in self.marks if row.number is not None and row.number <= _FAR * reach)
        self.reach = max([reach, *near]) or 1.0
        self.has_ranks = board.has("rank", systems)
        self.has_oracle = board.average == "macro" and board.has("share_of_oracle", systems)
        self.has_read = board.has("read", systems)
        self.is_too_few = any(row.head and row.head.too_few for row in systems)

    def at(self, value: float) -> float:
        """The place of a score on the axis, in per cent of the width."""
        return 100 * min(max(value / self.reach, 0.0), 1.0)


def controls_of(board: Board) -> dict[str, Any]:
    """The options of a board's controls, as values and labels.

    A value of a slice has its number of items, in all and with the primary metric applicable.
    """
    cuts = sorted({column.k for column in board.columns if column.k})
    budgets = {column.k for column in board.columns if column.rule.cut == "budget"}
    with_cuts = {column.metric for column in board.columns if column.k}
    has_whole = any(not column.k and column.metric in with_cuts for column in board.columns)
    words = [(str(cut), f"{cut // 1000}k" if cut in budgets and cut % 1000 == 0 else str(cut)) for cut in cuts]
    known = list(dict.fromkeys(column.granularity for column in board.columns))
    # With four granularities or more, the table can be limited to one.
    levels = sorted(known, key=[*_LEVELS, *known].index) if len(known) >= 4 else []
    n_asked = (pl.col("n_items") - pl.col("n_not_applicable")).max()
    sizes = board.by_slice.group_by("slice", "slice_value").agg(pl.col("n_items").max(), asked=n_asked)
    values = {name: sorted(of, key=lambda row: number_key(row[0])) for name, of in sizes.rows_by_key("slice").items()}
    # A slice with a single value contains the same items as `all`, so it is left out.
    kept = [name for name in values if len(values[name]) > 1 or name in (ALL_ITEMS, board.slice[0])]
    kept.sort(key=lambda name: (name != board.slice[0], name != ALL_ITEMS, place_of(name)))
    return {
        "metrics": list({column.metric: column for column in reversed(board.columns)}.values())[::-1],
        "levels": [(name, name) for name in levels],
        "cut_title": "Budget" if budgets == set(cuts) else "Cut-off" if budgets else "Results",
        "cuts": [("", "final"), *words] if has_whole else words,
        "kinds": sorted({row.run.kind for row in board.every if not row.run.baseline}),
        "slices": [
            {
                "name": name,
                "title": title_of(name),
                "values": [[visible(value), *of] for value, *of in values[name]],
                **dict(zip(("n_values", "n_items"), board.slice_size(name), strict=True)),
            }
            for name in kept
        ],
    }


def average_table(board: Board, average: Aggregate, reference: BoardRow | None) -> dict[str, Any]:
    """The leaderboard in one average: lines of a row, its primary cell, the HTML of its columns, and the difference."""
    averaged = [(column, board.averaged(column, average), board.best(column, average)) for column in board.columns]

    def line(row: BoardRow) -> tuple[BoardRow, Cell | None, list[Markup], float | None]:
        shown = []
        for column, of, best in averaged:
            cell = row.cell(column, of)
            text = score(cell.value if cell else None)
            is_best = row.comparable and not row.run.baseline and cell and text == best
            bold = f"<b>{text}</b>" if is_best else text
            is_over_others = cell and row.head and cell.value is not None and cell.n != row.n
            shown.append(Markup(f"{bold} <small>n {count(cell.n)}</small>" if cell and is_over_others else bold))
        own = row.cell(board.primary, average)
        is_over_others = row.head and reference and reference.head and row.n != reference.n
        return row, own, shown, own.delta if own and not is_over_others else None

    ordered, unranked = (sorted(rows, key=lambda row: row.place(average)) for rows in (board.rows, board.unranked))
    shares = {row.run.run_id: own.share_of_oracle for row in board.rows if (own := row.cell(board.primary, average))}
    return {
        "average": average,
        "title": AVERAGES[average].title,
        "meaning": AVERAGES[average].meaning,
        "is_sorted": any(row.value(board.primary, average) is not None for row in ordered),
        "ranked": [line(row) for row in ordered if not row.run.baseline],
        "baselines": [line(row) for row in ordered if row.run.baseline],
        "unranked": [line(row) for row in unranked],
        "shares": {run_id: share for run_id, share in shares.items() if share},
        "means": list(dict.fromkeys(column.metric for column, of, _ in averaged if of != average)),
    }
