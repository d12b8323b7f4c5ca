"""The board of a task under a protocol: its runs with rank, interval and item counts, best first; and its printing."""

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from evaluate.metrics import Metric, Requested, metric_named, metrics_of
from evaluate.results.undeclared_metrics import explored, why_not
from evaluate.runs.pooling import systems_of
from evaluate.selection import edition
from evaluate.statistics.boards import CHARACTERS, board_rows
from evaluate.statistics.means import aggregate
from evaluate.statistics.slices import UNSLICED, in_slice, slice_of
from lake.averages import ITEM, ITEM_INTERVALS
from lake.benchmarks import check_benchmark, protocols_of, tasks_of
from lake.catalog.protocol import Protocol, Task
from lake.console import split_names
from lake.errors import Exit, GoldspanError
from lake.pools import Where, is_picked, of_where
from lake.store import Lake
from lake.tables.evaluated import Scores
from lake.text import NO_VALUE, counted, escaped, group_name


@dataclass(frozen=True)
class PrintedTable:
    """A table with notes below it; the first `texts` columns are texts, the others right-aligned numbers."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = ()
    texts: int = 1


def print_tables(tables: Iterable[PrintedTable]) -> None:
    """Print tables on stdout. In tab-separated output, lines that are not rows begin with `# `."""
    is_terminal = sys.stdout.isatty()
    for number, table in enumerate(tables):
        if number:
            print()
        if not is_terminal:
            print(f"# {escaped(table.title)}")
            for row in [table.columns, *table.rows]:
                print(*(escaped(cell).replace("\t", " ") for cell in row), sep="\t")
            for note in table.notes:
                print(f"# {escaped(note)}")
            continue
        # Imported when needed, as most tables are not printed on a terminal.
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        aligned = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
        for column, name in enumerate(table.columns):
            aligned.add_column(Text(escaped(name)), justify="left" if column < table.texts else "right", no_wrap=True)
        for row in table.rows:
            aligned.add_row(*(Text(escaped(cell)) for cell in row))
        # As wide as the table: a name that does not fit continues on the next line, and is never cut.
        terminal = Console(highlight=False, soft_wrap=True, width=1_000)
        terminal.print(Text(escaped(table.title), "bold"))
        terminal.print(aligned)
        for note in table.notes:
            terminal.print(Text(escaped(note), "dim"))


def benchmarks_named(lake: Lake, names: Iterable[str] | str | None) -> list[str]:
    """The named benchmarks, each of them known; without names all of the lake."""
    for name in (benchmarks := split_names(names)):
        check_benchmark(lake, name)
    return benchmarks or [part.name for part in lake.parts("benchmarks")]


def boards_of(lake: Lake, benchmarks: Sequence[str], tasks: Sequence[str] = ()) -> list[tuple[Task, Protocol]]:
    """The boards (task and protocol) of some benchmarks, or of some of their tasks; protocols for parity have none."""
    # A task that takes imported runs only has none until it has a run.
    answered = set(lake.scan("runs").select("task").unique().collect()["task"])
    chosen = [task for name in benchmarks for task in tasks_of(lake, name) if not tasks or task.name in tasks]
    chosen = [task for task in chosen if not task.imported_only or task.name in answered]
    return [(task, protocol) for task in chosen for protocol in protocols_of(task) if not protocol.parity_only]


def check_measured(requested: Requested, tables: Sequence[tuple[Task, Protocol]], of: str) -> None:
    """Check that every requested metric is available for the runs of some task under its protocol."""
    for metric, k in requested:
        reasons = [why_not(task, protocol, metric, k) for task, protocol in tables]
        if reasons and all(reasons):
            message = f"metric {metric_label(metric, k)!r} cannot be computed for {of}"
            hint = "`python -m evaluate list metrics` lists all metrics."
            raise GoldspanError(message, examples=list(dict.fromkeys(reasons)), hint=hint, code=Exit.USAGE)


def metric_label(metric: Metric, k: int) -> str:
    """A metric with its cut-off, as users write it: `ndcg@10`."""
    return f"{metric.name}@{k}" if k else metric.name


def rows_of_board(
    lake: Lake,
    task: Task,
    protocol: Protocol,
    slice_name: str = "",
    requested: Requested = (),
    systems: Sequence[str] = (),
    where: Where = (),
) -> pl.DataFrame | None:
    """A task's rows of table `boards` over one slice, stored or made here, with facts of its runs; None without any."""
    runs, folders = systems_of(lake, task), {"benchmark": task.benchmark, "protocol": protocol.name}
    stored = lake.scan("boards", **folders).filter(task=task.name)
    slice_, _, value = slice_name.partition("=")
    of_slice = stored.filter(slice=slice_, slice_value=value or slice_) if slice_name else stored.filter("is_opening")
    rows = of_slice.drop("benchmark").collect()
    is_mine = pl.col("run_id").is_in(runs["run_id"].implode())
    aggregates = lake.scan("aggregates", benchmark=task.benchmark).filter(is_mine, protocol=protocol.name)
    if (requested or where or rows.is_empty()) and not aggregates.head(1).collect().is_empty():
        items = of_where(lake.scan("items", benchmark=task.benchmark), where)
        slice_, value = slice_of(protocol, aggregates, slice_name, items if where else None)
        known = {"slice": slice_, "slice_value": value}
        # For selected items nothing is stored, ranked or compared.
        parts = [aggregates.filter(pl.lit(not where), **known).drop("benchmark").collect()]
        of_scores = [explored(lake, task, protocol, requested).lazy()]
        if where:
            of_scores.append(Scores.cast(lake.scan("scores", **folders).filter(is_mine)))
        run_items, inside = lake.scan("run_items", benchmark=task.benchmark), in_slice(items, slice_, value)
        made = aggregate(protocol, pl.concat(of_scores), inside, run_items, slices=UNSLICED)
        parts.append(made.with_columns(**{name: pl.lit(of) for name, of in known.items()}).collect())
        others = {name: lake.scan(name, **folders).filter(**known) for name in ("ranks", "comparisons", "boards")}
        others["characters"] = others.pop("boards").select(CHARACTERS).drop_nulls().unique()
        tables = {name: (frame.clear() if where else frame).collect() for name, frame in others.items()}
        rows = board_rows(protocol, runs, task.kind, aggregates=pl.concat(parts), **tables)
    of_runs = runs.select("run_id", "system", "retriever", "status", "is_baseline")
    rows = rows.filter("is_shown").join(of_runs, on="run_id")
    rows = rows.filter([is_picked(name, systems) for name in rows["system"]])
    return None if rows.is_empty() else rows


def best_first(rows: pl.DataFrame, column: tuple[Metric, int]) -> pl.DataFrame:
    """One row per run in `rows` (from :func:`rows_of_board`), sorted by a metric, with its value as `number`."""
    metric, k = column
    key = ["run_id", "system", "retriever", "status", "is_baseline", "slice", "slice_value", "of_items"]
    first = rows.filter(metric=metric.name, k=k).rename({"value": "number"})
    table = rows.select(key).unique().join(first.drop(key[1:]), on="run_id", how="left")
    is_whole = (pl.col("state") == "").fill_null(value=False)
    return table.with_columns(is_whole=is_whole).sort("place", "system", "run_id", nulls_last=True)


def is_of_items(table: pl.DataFrame) -> bool:
    """Whether the whole runs' intervals in a table of :func:`best_first` are over items; if none is whole, any."""
    compared = table.filter("is_whole") if table["is_whole"].any() else table
    return not compared.filter(pl.col("low").is_not_null(), unit=ITEM).is_empty()


def board(
    lake: Lake,
    task: Task,
    protocol: Protocol,
    requested: Requested = (),
    *,
    slice_name: str = "",
    systems: Sequence[str] = (),
    top: int | None = None,
    where: Where = (),
) -> PrintedTable | None:
    """A task's runs under a protocol, best first, those over fewer items last; None if there are no runs."""
    declared = metrics_of(protocol)
    beside = [(metric_named(name), 10) for name in ("recall", "mrr")]
    usual = [primary_metric(protocol), *(column for column in beside if column in declared)]
    columns = list(dict.fromkeys(requested or usual))
    reasons = {column: why_not(task, protocol, *column) for column in columns}
    undeclared = [column for column in columns if not reasons[column] and column not in declared]
    rows = rows_of_board(lake, task, protocol, slice_name, undeclared, systems, where)
    if rows is None:
        return None
    table, others = best_first(rows, columns[0]), rows.select("run_id", "metric", "k", "value")
    values = {(run_id, metric, k): value for run_id, metric, k, value in others.iter_rows()}
    if top is not None:
        table = table.filter(pl.col("is_baseline") | ((~pl.col("is_baseline")).cum_sum() <= top))
    notes = [reason for reason in reasons.values() if reason]
    notes += [f"{metric_label(*column)} is exploratory: {protocol.name} does not declare it" for column in undeclared]
    notes += [ITEM_INTERVALS] if is_of_items(table) else []
    (label, _), (slice_, value) = edition(lake, task.benchmark), table.select("slice", "slice_value").row(0)
    of = f" of {task.name}" if len(protocol.tasks) > 1 else ""
    names, of_slice = [metric_label(*column) for column in columns], slice_label(slice_, value)
    # Ranks are by the primary metric: next to another metric they would contradict the order of the rows.
    is_ranked = columns[0] == primary_metric(protocol) and not where
    if where:
        over = "" if slice_ == value else f" of {slice_} {value}"
        notes.append(f"over {counted(table['of_items'][0], 'selected item')}{over}; ranks exist only over all items")
    return PrintedTable(
        f"{protocol.name}{of}, {of_slice}, {protocol.primary.aggregate}{f', {label}' if label else ''}",
        ["system", *(["rank"] if is_ranked else []), names[0], "low", "high", *names[1:], "items"],
        [
            [
                row["system"] if row["status"] == "complete" else f"{row['system']} ({row['status']})",
                *([_rank(row)] if is_ranked else []),
                *(number_of(row[end]) for end in ("number", "low", "high")),
                *(number_of(values.get((row["run_id"], metric.name, k))) for metric, k in columns[1:]),
                item_counts(row),
            ]
            for row in table.iter_rows(named=True)
        ],
        notes,
        texts=1 + is_ranked,
    )


def _rank(row: Mapping[str, object]) -> str:
    """The range of ranks that the verdicts allow, and the group of runs that do not differ significantly: `1-2 a`."""
    if row["too_few"]:
        return "too few"
    if row["rank_low"] is None or not isinstance(row["tie_group"], int):
        return ""
    return f"{row['rank_low']}-{row['rank_high']} {group_name(row['tie_group'])}"


def primary_metric(protocol: Protocol) -> tuple[Metric, int]:
    """A protocol's primary metric and its cut-off."""
    return metric_named(protocol.primary.metric), protocol.primary.k


def primary_name(protocol: Protocol) -> str:
    """A protocol's primary metric, with its cut-off if it has one."""
    return metric_label(*primary_metric(protocol))


def slice_label(name: str, value: str) -> str:
    """A slice's value for printing: `level line`, or `all items`."""
    return "all items" if name == value else f"{name} {value}"


def number_of(value: float | None, form: str = ".3f") -> str:
    """A number for printing, by default a score."""
    return NO_VALUE if value is None else format(value, form)


def item_counts(row: Mapping[str, object]) -> str:
    """The number of items behind a run's value, and the number of all items if that is larger."""
    return f"{row['of_items']:,}" if row["n"] in (row["of_items"], None) else f"{row['n']:,} of {row['of_items']:,}"
