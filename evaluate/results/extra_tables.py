"""Tables in addition to the boards: usage, costs, effects of chunkers and retrievers; and the last lines of a run."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice

import polars as pl

from evaluate.metrics import Metric
from evaluate.results.board import (
    PrintedTable,
    best_first,
    is_of_items,
    item_counts,
    number_of,
    primary_metric,
    primary_name,
    rows_of_board,
    slice_label,
)
from evaluate.selection import edition
from evaluate.statistics.slices import SLICE
from lake.averages import AVERAGES, FEWEST_ITEMS, FEWEST_REPOS, ITEM, ITEM_INTERVALS, REPOSITORY
from lake.benchmarks import protocols_of, tasks_of
from lake.catalog.protocol import Protocol, Task
from lake.errors import typed
from lake.pools import is_picked
from lake.store import Lake
from lake.text import NO_VALUE, counted, group_name, listed
from lake.usage import USED, first_gold, pareto_front, run_costs, run_usage
from lake.verdict import DIFFERENCE, Line, by_pair, repair_sentence, verdict_on, which_matters_more


def usage_table(lake: Lake, task: Task, protocol: Protocol, systems: Sequence[str] = ()) -> PrintedTable | None:
    """The agents' usage per item in a task, as recorded in their files; None if no file records it."""
    of_task = lake.scan("runs", benchmark=task.benchmark).filter(task=task.name).select("run_id", "system")
    usage = run_usage(lake).join(of_task, on="run_id").join(first_gold(lake, protocol.name), on="run_id", how="left")
    rows = usage.sort("system", "run_id").collect()
    rows = rows.filter([is_picked(name, systems) for name in rows["system"]])
    if rows.is_empty():
        return None
    cells = []
    for row in rows.iter_rows(named=True):
        means = "/".join(number_of(row[f"first_{name}"], ".1f") for name in ("step", "turn", "call"))
        cells.append([
            row["system"], row["models"] or NO_VALUE, *(_used(row, name) for name in USED),
            NO_VALUE if row["first_step"] is None else f"{means} ({row['n_found']}/{row['n_items']})",
            number_of(row["lines_per_step"], ",.0f"),
            f"{row['n_resolved']}/{row['n_outcomes']}" if row["n_outcomes"] else NO_VALUE,
        ])  # fmt: skip
    prices = [f"US dollars by {name}" for name in rows["prices"].unique().sort() if name]
    names = dict(rows.select("run_id", "system").iter_rows())
    repairs = lake.read("repairs", benchmark=task.benchmark, protocol=protocol.name).iter_rows(named=True)
    sentences = [repair_sentence(row, names[row["run_id"]]) for row in repairs if row["run_id"] in names]
    heads = ("tokens", "usd", "seconds", "turns", "calls", "first gold step/turn/call", "lines/step", "resolved")
    title = f"{task.name}: usage per item, as reported in the agents' files"
    return PrintedTable(title, ["system", "model", *heads], cells, [*prices, *sentences])


def _used(row: Mapping[str, float | None], name: str) -> str:
    mean, known, n_items = row[name], row[f"{name}_known"], row["n_items"]
    if mean is None:
        return NO_VALUE
    return f"{mean:,.0f}" if known == n_items and mean >= 10 else f"{mean:,.4g}" + f" ({known})" * (known != n_items)


def cost_table(lake: Lake, task: Task, protocol: Protocol, systems: Sequence[str] = ()) -> PrintedTable | None:
    """A task's runs in the headline slice of a protocol, best first, with their costs; None without any."""
    metric, k = primary_metric(protocol)
    board = rows_of_board(lake, task, protocol, systems=systems)
    if board is None:
        return None
    slice_, value = board.select(SLICE).row(0)
    rows = (
        board.lazy()
        .filter(metric=metric.name)
        .join(run_costs(lake).drop("benchmark"), on="run_id", how="left")
        .filter(pl.col("read").is_not_null() | pl.col("hardware").is_not_null())
        .with_columns(pl.col("index_bytes") * 1e-6, pl.col("query_p50", "query_p95") * 1e3)
        .sort("k", "place")
        .collect()
    )
    shown = rows.filter(k=k)
    if shown.is_empty():
        return None
    frontiers = {"characters": _pareto_front(rows, "read", metric), "time": _pareto_front(shown, "query_p50", metric)}
    cells = []
    for row in shown.iter_rows(named=True):
        on = [name for name, run_ids in frontiers.items() if row["run_id"] in run_ids]
        cells.append([
            row["system"], number_of(row["value"]), *(number_of(row[name], ".0f") for name in ("read", "returned")),
            *(number_of(row[name], ".4g") for name in ("index_seconds", "index_bytes", "query_p50", "query_p95")),
            ", ".join(on),
        ])  # fmt: skip
    hardware = shown["hardware"].drop_nulls().unique().sort()
    rule = f"frontier: no other system has at least its {metric.name} at no more cost, and is better in one of "
    rule += "the two; baselines, and means over fewer items, are left out; by characters at every cut-off of "
    return PrintedTable(
        f"{protocol.name}, {slice_label(slice_, value)}: cost",
        ["system", primary_name(protocol), "read", "returned", "index s", "index MB", "p50 ms", "p95 ms", "frontier"],
        cells,
        [f"{rule}{metric.name}", *(f"measured on {name}" for name in hardware)],
    )


def _pareto_front(rows: pl.DataFrame, cost: str, metric: Metric) -> set[str]:
    compared = rows.filter(~pl.col("is_baseline"), pl.col(cost) > 0, pl.col("value").is_not_null(), state="")
    lower = metric.direction == "lower"
    kept = pareto_front(compared[cost].to_list(), compared["value"].to_list(), lower_is_better=lower)
    return set(compared["run_id"].filter(pl.Series(kept, dtype=pl.Boolean)))


def effects_table(lake: Lake, task: Task, protocol: Protocol) -> PrintedTable | None:
    """The grid of a task's systems with its margins, and which factor matters more; None if there is no grid."""
    rows = lake.scan("effects", benchmark=task.benchmark, protocol=protocol.name).filter(task=task.name, repo="")
    levels, factors = pl.collect_all(rows.filter(pl.col("mean").is_null() == is_share) for is_share in (False, True))
    if levels.is_empty():
        return None
    by_level = {(row["chunker"], row["retriever"]): row for row in levels.iter_rows(named=True)}
    shares = {row["factor"]: (row["share"], row["low"], row["high"]) for row in factors.iter_rows(named=True)}
    chunkers, retrievers = (sorted({level[side] for level in by_level} - {""}) for side in (0, 1))
    whole = by_level["", ""]
    n_items, n_repos, left_out = whole["n_items"], whole["n_repos"], whole["left_out"]
    unit = ITEM if n_repos < FEWEST_REPOS or protocol.over_items else REPOSITORY
    n_systems = len(chunkers) * len(retrievers)
    notes = [which_matters_more(shares, n_systems, too_few=n_items < FEWEST_ITEMS, unit=unit)]
    if shares[DIFFERENCE][0] is not None:
        notes.append("shares need not sum to 100 %: chance is subtracted, and a share below 0 is shown as 0")
    notes += [f"left out, as not every chunker was run with every retriever: {listed(left_out)}"] if left_out else []
    over = f"{counted(n_items, 'item')}, {counted(n_repos, 'repository')}"
    where = slice_label(whole["slice"], whole["slice_value"])
    ends, lines = ("effect", "low", "high"), list[list[str]]()
    margins = {key: [number_of(row[end], "+z.3f") for end in ends] for key, row in by_level.items()}
    for chunker in [*chunkers, ""]:
        means = [number_of(by_level[chunker, retriever]["mean"]) for retriever in ["", *retrievers]]
        lines.append([chunker or "mean", *means, *(margins[chunker, ""] if chunker else [""] * 3)])
    for number, end in enumerate(ends):
        lines.append([end, "", *(margins["", retriever][number] for retriever in retrievers), *[""] * 3])
    title = f"{protocol.name} of {task.name}, {where}: {primary_name(protocol)} by chunker and retriever; {over}"
    return PrintedTable(title, ["chunker", "mean", *retrievers, *ends], lines, notes)


_N_SHOWN, N_WANTED = 3, 20
"""The number of systems to show, and the maximum number of others that were requested or scored just now."""


def summary(
    lake: Lake, benchmark: str, patterns: Sequence[str] = (), made: Collection[str] = (), tasks: Sequence[str] = ()
) -> Iterator[str]:
    """The lines on one benchmark: its first task with runs, or each of `tasks`, under its first protocol.

    Requested systems (`patterns`) are shown whatever their rank, or else runs that were just scored (parts `made`).
    """
    now = {part.folders["run_id"] for part in lake.parts("scores", benchmark=benchmark) if part.relative_path in made}
    label, _ = edition(lake, benchmark)
    for task in tasks_of(lake, benchmark):
        declared = protocols_of(task) if not tasks or task.name in tasks else []
        shown = sorted((each for each in declared if not each.parity_only), key=lambda protocol: protocol.place)
        boards = ((each, board) for each in shown if (board := rows_of_board(lake, task, each)) is not None)
        for protocol, board in islice(boards, 1):
            rows, primary = best_first(board, primary_metric(protocol)), protocol.primary
            slice_, value = rows.select("slice", "slice_value").row(0)
            over = "all items" if slice_ == value else f"items of {slice_} {value}"
            measure = f"{primary_name(protocol)}, {AVERAGES[primary.aggregate].meaning}, {over} ({protocol.name})"
            yield f"{benchmark}{f' ({label})' if label else ''}: {measure}"
            comparisons = lake.scan("comparisons", benchmark=benchmark, protocol=protocol.name).filter(
                metric=primary.metric, k=primary.k, slice=slice_, slice_value=value
            )
            lines = [Line(*row) for row in rows.select(Line._fields).iter_rows()]
            verdict = verdict_on(lines, task.kind, by_pair(comparisons))
            yield f"  {verdict.sentence(dict(rows.select('run_id', 'system').iter_rows()).__getitem__)}"
            systems = rows.filter(~pl.col("is_baseline"))
            whole = systems.filter("is_whole")
            first = (whole if whole.height else systems).head(_N_SHOWN)
            yield from _systems(first)
            yield from [f"  {ITEM_INTERVALS}"] * is_of_items(rows)
            # Each baseline once: the run that the verdict compares with; of another baseline the best over any chunks.
            of_verdict = rows.filter("is_baseline").sort(pl.col("run_id") != verdict.reference, maintain_order=True)
            best = of_verdict.unique("retriever", keep="first")
            best = rows.join(best, on="run_id", how="semi", maintain_order="left")
            if best.height:
                numbers = best.select("retriever", "number").iter_rows()
                yield f"  baselines: {', '.join(f'{name} {number_of(number)}' for name, number in numbers)}"
            is_wanted = pl.Series([is_picked(name, patterns) for name in rows["system"]])
            if not patterns:
                is_wanted = rows["run_id"].is_in([] if now.issuperset(rows["run_id"]) else list(now))
            others = rows.filter(is_wanted, ~pl.col("run_id").is_in(first["run_id"].implode())).head(N_WANTED)
            if others.height:
                yield "  selected or just run:"
                yield from _systems(others)
            n_more = rows.height - first.height - best.height - others.join(best, on="run_id", how="anti").height
            if n_more > 0:
                yield f"  {n_more:,} more: {typed(f'python -m evaluate table {benchmark}')}"
            if not tasks:
                return


def _systems(rows: pl.DataFrame) -> Iterator[str]:
    width = max((len(name) for name in rows["system"]), default=0)
    for row in rows.iter_rows(named=True):
        low, high, tie = row["low"], row["high"], row["tie_group"]
        interval = NO_VALUE if low is None or high is None else f"{low:.3f} to {high:.3f}"
        group = f"tie {group_name(tie)}" if tie else "too few to rank" if row["too_few"] else ""
        state = group if row["is_whole"] else "partial"
        items = "item" if row["of_items"] == 1 else "items"
        number = f"{number_of(row['number'])} ({interval})  {item_counts(row)} {items}"
        yield f"  {row['system']:{width}}  {number}  {state}".rstrip()
