"""Tables `characters` and `ledger_means`: how much one reads of each run, and where the gold of its items went."""

from collections.abc import Iterable

import polars as pl

from evaluate.metrics import metric_named, metrics_of
from evaluate.score.contexts.gold_sets import RANKED_BUDGET
from evaluate.score.ledger import GOLD_CLASSES
from evaluate.statistics.slices import SLICE, in_slice, in_slice_of
from lake.catalog.protocol import Protocol
from lake.exact import exact_sum
from lake.naming import FINAL, LINES, RANKING
from lake.tables import table


def characters_of(
    protocol: Protocol, rows: pl.DataFrame, items: pl.LazyFrame, hits: Iterable[pl.LazyFrame]
) -> pl.DataFrame:
    """Rows of table `characters`, of every run that has the primary metric in the slice that is shown first.

    `rows` are aggregates as `with_places` gives them; a frame of `hits` has all those of a run.
    """
    shown = rows.lazy().filter("is_primary", "is_headline").select("run_id", *SLICE, "n_items").collect()
    ks = sorted({k for metric, k in metrics_of(protocol) if metric.name == protocol.primary.metric})
    declared = table("characters")
    if shown.is_empty():
        return pl.DataFrame(schema=declared.columns)
    of_slice = in_slice(items.filter("scorable"), *shown.row(0)[1:3])
    # A run of completions, or of nothing at all, has no row.
    read = pl.concat([_read(protocol, some.join(of_slice, on="item_id", how="semi"), ks) for some in hits])
    return (
        read.lazy()
        .join(shown.lazy(), on="run_id")
        .with_columns(pl.exclude("run_id", *SLICE, "n_items") / pl.col("n_items"))
        .unpivot(
            [str(k) for k in ks], index=["run_id", *SLICE, "n_items", "returned"], variable_name="k", value_name="read"
        )
        .with_columns(pl.col("k").cast(pl.Int64), protocol=pl.lit(protocol.name))
        .select(pl.col(name).cast(kind) for name, kind in declared.columns.items())
        .sort(declared.key)
        .collect()
    )


def _read(protocol: Protocol, hits: pl.LazyFrame, ks: list[int]) -> pl.DataFrame:
    """Of each run: the characters of all its items down to each cut-off, and `returned`, all of them."""
    is_budget = metric_named(protocol.primary.metric).cut == "budget"
    new, part = pl.col("n_new_nws").fill_null(0), pl.col("part")
    read = (
        hits.filter(part.is_in([RANKING, LINES, FINAL]))
        .group_by("run_id", "item_id", "part")
        .agg(new.sum().alias("returned"), *(new.filter(pl.col("rank") <= k).sum().alias(f"first {k}") for k in ks))
    )
    # The order that is best for lines is read in place of the ranking, where a run has both.
    has_lines = (part == LINES).any().over("run_id")
    read = read.filter(~has_lines | (part != (RANKING if is_budget else LINES)))
    whole = pl.col("returned")
    if protocol.context is not None:
        whole = pl.when(part == FINAL).then(whole).otherwise(whole.clip(upper_bound=RANKED_BUDGET))

    def down_to(k: int) -> pl.Expr:
        if k == 0:
            return whole
        return pl.col("returned").clip(upper_bound=k) if is_budget else pl.col(f"first {k}")

    sums = [pl.col("returned").sum(), *(down_to(k).sum().alias(str(k)) for k in ks)]
    return read.group_by("run_id").agg(sums).collect()


_N_GOLD = pl.col("n_gold")


def ledger_means(ledger: pl.LazyFrame, items: pl.LazyFrame, slices: pl.DataFrame) -> pl.LazyFrame:
    """Rows of table `ledger_means`: by class its macro (mean of the items' shares) and micro (share of all gold).

    `slices` has run_id, slice, slice_value: those that each run's scores are pooled over.
    """
    key = ["run_id", "protocol", "slice", "slice_value"]
    sums = list[pl.DataFrame]()
    # One slice at a time: in each an item counts once more. The whole is among them also where nothing has a score.
    for name in sorted({"all", *slices["slice"]}):
        of_slice = ledger.join(in_slice_of(items, name), on="item_id").with_columns(slice=pl.lit(name))
        rows = of_slice.join(slices.lazy(), on=["run_id", "slice", "slice_value"], how="semi")
        sums.append(
            rows.group_by(key)
            .agg(
                pl.len().cast(pl.Int64).alias("n"),
                exact_sum(_N_GOLD).alias("whole"),
                *(exact_sum(pl.col(name) / _N_GOLD).alias(f"{name}/shares") for name in GOLD_CLASSES),
                *(exact_sum(pl.col(name)).alias(f"{name}/gold") for name in GOLD_CLASSES),
                *((pl.col(name) > 0).sum().cast(pl.Int64).alias(f"{name}/items") for name in GOLD_CLASSES),
            )
            .collect()
        )
    return pl.concat(
        pl.concat(sums)
        .lazy()
        .select(
            *key,
            pl.lit(name).alias("class"),
            macro=pl.col(f"{name}/shares") / pl.col("n"),
            micro=pl.col(f"{name}/gold") / pl.col("whole"),
            n="n",
            n_items=f"{name}/items",
            n_gold=f"{name}/gold",
        )
        for name in GOLD_CLASSES
    ).select(*table("ledger_means").columns)
