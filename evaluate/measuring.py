"""From relevant hits to numbers: one grouping for every metric and cut-off, then a row for every item."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from evaluate.completions import COMPLETION, compared
from evaluate.coverage import line_sets
from evaluate.judging import RELEVANCE, disjoint
from evaluate.lines import LineAxis
from evaluate.metrics import Metric
from evaluate.protocols import Protocol
from lake.errors import GoldspanError

Requested = Sequence[tuple[Metric, int]]

SCORE_COLUMNS = ("item_id", "granularity", "metric", "k", "value", "numerator", "denominator")
"""What a score says before it is told which run and protocol it belongs to."""


def measure(
    relevant: pl.LazyFrame, items: pl.LazyFrame, requested: Requested, *, key: str | Sequence[str] = "item_id"
) -> pl.LazyFrame:
    """Numerators, denominators and values of ranked metrics, one row per item in the items' order.

    Args:
        relevant: The relevant results alone: key, `rank` (Int64, from 1) and what else the metrics read (`iou`).
        items: One row per item that must have a value: key and the columns denominators read (`n_relevant`, `gains`).
        requested: The metrics and cut-offs, all of shape ``ranked``.
        key: The columns that tell one item from another.

    Returns:
        The key, and per metric the columns `<name>@<k>` (value), `<name>@<k>/n` and `<name>@<k>/d`; an item without
        relevant results scores 0, or null where the metric says so.
    """
    depths = [k for _, k in requested]
    numerators, denominators = _parts(requested)
    seen = relevant if 0 in depths else relevant.filter(pl.col("rank") <= max(depths, default=0))
    counted = seen.group_by(key).agg(numerators)
    return (
        items.join(counted, on=key, how="left", maintain_order="left")
        .with_columns(
            pl.col(f"{label(metric, k)}/n").fill_null(0.0) for metric, k in requested if not metric.is_absent_null
        )
        .with_columns(denominators)
        .with_columns(_value(label(metric, k)) for metric, k in requested)
    )


def measure_sets(sets: pl.LazyFrame, requested: Requested) -> pl.LazyFrame:
    """Numerators, denominators and values of metrics of line sets, as :func:`measure` gives those of ranked ones.

    Args:
        sets: As :func:`evaluate.coverage.line_sets` or :func:`evaluate.completions.compared` gives it.
        requested: The metrics and cut-offs, all of one shape other than ``ranked``.
    """
    numerators, denominators = _parts(requested)
    return sets.with_columns(*numerators, *denominators).with_columns(
        _value(label(metric, k)) for metric, k in requested
    )


def label(metric: Metric, k: int) -> str:
    """A metric with its cut-off, as a column's name: `ndcg@10`."""
    return f"{metric.name}@{k}"


def lengthen(wide: pl.LazyFrame, requested: Requested) -> pl.LazyFrame:
    """One row per item, metric and cut-off, with the columns of a score; sums only where a metric can be pooled.

    Args:
        wide: As :func:`measure` gives it, by item_id.
        requested: The metrics and cut-offs in it.
    """
    rows = pl.concat_list(_row(metric, label(metric, k), k) for metric, k in requested)
    return wide.select("item_id", rows.alias("row")).explode("row").unnest("row").select(*SCORE_COLUMNS)


def measure_run(
    protocol: Protocol,
    *,
    hits: pl.LazyFrame,
    items: pl.LazyFrame,
    gold: pl.LazyFrame,
    pool: pl.LazyFrame,
    axis: LineAxis | None,
    completions: pl.LazyFrame | None = None,
) -> pl.LazyFrame:
    """Everything a protocol measures of one run, one row per item, metric and cut-off, unsorted.

    Args:
        protocol: Whose relevance rule and metrics.
        hits: item_id, rank, path, line_start, line_end.
        items: item_id, pool_id, for metrics of line sets also OWN_TEXT; every item that must have a score.
        gold: item_id, path, line_start, line_end, of the protocol's gold rule.
        pool: pool_id, path, chunk_no, line_start, line_end: the chunks a pool holds.
        axis: The lines of the pools' files; needed by metrics of line sets alone.
        completions: item_id, completion; read by metrics of completions alone, for which items carry `target_text`.

    Raises:
        GoldspanError: The protocol measures sets of lines and there is no axis.
    """
    ranked = [(metric, k) for metric, k in protocol.requested() if metric.shape == "ranked"]
    covered = [(metric, k) for metric, k in protocol.requested() if metric.shape == "covered"]
    completed = [(metric, k) for metric, k in protocol.requested() if metric.shape == "completed"]
    spans = disjoint(gold)
    measured = []
    if ranked:
        relevant = RELEVANCE[protocol.relevance](hits, spans, ["item_id", "rank"])
        measured.append(lengthen(measure(relevant, judged_items(protocol, items, spans, pool), ranked), ranked))
    if covered:
        budgets, depths = cut_offs_of(covered)
        lines = required(axis, protocol)
        sets = line_sets(hits=hits, items=items, gold=spans, axis=lines, budgets=budgets, depths=depths)
        measured.append(lengthen(measure_sets(sets, covered), covered))
    if completed:
        said = pl.LazyFrame(schema=COMPLETION) if completions is None else completions
        measured.append(lengthen(measure_sets(compared(items, said), completed), completed))
    return pl.concat(measured)


def cut_offs_of(covered: Requested) -> tuple[list[int], list[int]]:
    """The budgets and the depths that some metrics of line sets are cut off at, each once."""
    budgets, depths = (dict.fromkeys(k for metric, k in covered if metric.cut == cut) for cut in ("budget", "results"))
    return list(budgets), list(depths)


def required(axis: LineAxis | None, protocol: Protocol) -> LineAxis:
    """The axis.

    Raises:
        GoldspanError: There is none.
    """
    if axis is None:
        message = f"{protocol.name} measures sets of lines and was given no files"
        raise GoldspanError(message, hint="Pass axis=LineAxis.of(lines).")
    return axis


def judged_items(protocol: Protocol, items: pl.LazyFrame, spans: pl.LazyFrame, pool: pl.LazyFrame) -> pl.LazyFrame:
    """What denominators read of an item, from its whole pool: item_id, n_relevant, gains (IoU, best first).

    Args:
        protocol: Whose relevance rule.
        items: item_id, pool_id.
        spans: Their gold, as :func:`evaluate.judging.disjoint` gives it.
        pool: pool_id, path, chunk_no, line_start, line_end.
    """
    judge, existing = RELEVANCE[protocol.relevance], reachable(items, spans, pool)
    ideal = (
        judge(existing, spans, ["item_id", "path", "chunk_no"])
        .group_by("item_id")
        .agg(pl.len().cast(pl.Int64).alias("n_relevant"), pl.col("iou").sort(descending=True).alias("gains"))
    )
    return (
        items.select("item_id")
        .join(ideal, on="item_id", how="left", maintain_order="left")
        .with_columns(pl.col("n_relevant").fill_null(0), pl.col("gains").fill_null(pl.lit([], pl.List(pl.Float64))))
    )


def reachable(items: pl.LazyFrame, gold: pl.LazyFrame, pool: pl.LazyFrame) -> pl.LazyFrame:
    """The pool's chunks that lie in a file of the item's gold: item_id, path, chunk_no, line_start, line_end."""
    files = gold.select("item_id", "path").unique()
    return (
        items.select("item_id", "pool_id")
        .join(files, on="item_id")
        .join(pool, on=["pool_id", "path"])
        .select("item_id", "path", "chunk_no", "line_start", "line_end")
    )


def _parts(requested: Requested) -> tuple[list[pl.Expr], list[pl.Expr]]:
    ratios = [(label(metric, k), metric.at(k)) for metric, k in requested]
    return (
        [ratio.numerator.cast(pl.Float64).alias(f"{name}/n") for name, ratio in ratios],
        [ratio.denominator.cast(pl.Float64).alias(f"{name}/d") for name, ratio in ratios],
    )


def _value(name: str) -> pl.Expr:
    numerator, denominator = pl.col(f"{name}/n"), pl.col(f"{name}/d")
    return pl.when(denominator == 0).then(0.0).otherwise(numerator / denominator).alias(name)


def _row(metric: Metric, name: str, k: int) -> pl.Expr:
    sums = [pl.col(f"{name}/{part}") if metric.stores_sums else pl.lit(None, pl.Float64) for part in "nd"]
    return pl.struct(
        pl.lit(metric.granularity).alias("granularity"),
        pl.lit(metric.name).alias("metric"),
        pl.lit(k, pl.Int64).alias("k"),
        pl.col(name).alias("value"),
        sums[0].alias("numerator"),
        sums[1].alias("denominator"),
    )
