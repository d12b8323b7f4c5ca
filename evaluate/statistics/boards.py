"""Tables `ranks`, `ledger_means` and `boards`: a leaderboard's contents, computed once for all readers."""

from collections.abc import Iterable

import dataframely as dy
import polars as pl

from evaluate.metrics import metric_named, metrics, metrics_of
from evaluate.score.contexts.gold_sets import RANKED_BUDGET
from evaluate.score.ledger import GOLD_CLASSES
from evaluate.statistics.slices import MEASURE, SLICE, average_of, in_slice, slice_of, slice_value
from lake.averages import AVERAGES, FEWEST_ITEMS, average_columns
from lake.catalog.protocol import MAX_VALUES, Protocol
from lake.exact import from_steps, steps
from lake.tables import FINAL, LINES, RANKING, table
from lake.tables.evaluated import Boards, Comparisons, LedgerMeans, Ranks
from lake.verdict import BETTER, FEWER_ITEMS, LIMITED, WORSE, both_ways, reference_of

_WHERE = [*MEASURE, *SLICE]
CHARACTERS = ("run_id", "k", *SLICE, "read", "returned")


def rank_runs(protocol: Protocol, rows: pl.DataFrame, comparisons: dy.DataFrame[Comparisons]) -> dy.DataFrame[Ranks]:
    """The ranks and tie groups of the ranked runs in every slice, by the primary metric: rows of table `ranks`.

    rank_low and rank_high follow the verdicts, so the two never disagree. The best run without a tie_group starts the
    next one, which all others without a group join that are not significantly different from it.
    """
    metric = metric_named(protocol.primary.metric)
    ranked = rows.lazy().filter("is_primary", "is_ranked")
    number = pl.col(average_of(protocol, metric)) * (-1 if metric.direction == "lower" else 1)
    among = ranked.select(*_WHERE, "run_id")
    both = both_ways(comparisons.lazy())
    for side in ("run_a", "run_b"):
        both = both.join(among, left_on=[*_WHERE, side], right_on=[*_WHERE, "run_id"], how="semi")
    n_apart = both.group_by(*_WHERE, run_id="run_b").agg(
        n_better=(pl.col("verdict") == WORSE).sum(), n_worse=(pl.col("verdict") == BETTER).sum()
    )
    placed = ranked.join(n_apart, on=[*_WHERE, "run_id"], how="left").with_columns(
        protocol=pl.lit(protocol.name),
        rank=number.rank("min", descending=True).over(_WHERE),
        rank_low=1 + pl.col("n_better").fill_null(0),
        rank_high=pl.len().over(_WHERE) - pl.col("n_worse").fill_null(0),
        too_few=pl.col("n") < FEWEST_ITEMS,
        exploratory=~pl.col("is_headline"),
    )
    apart = both.filter(pl.col("verdict").is_in([BETTER, WORSE])).select(*_WHERE, "run_a", "run_b")
    enough = placed.filter(~pl.col("too_few")).sort("rank", "run_id").group_by(_WHERE, maintain_order=True)
    known, told_apart, ordered = pl.collect_all([placed, apart, enough.agg("run_id")])
    differ, groups = set(told_apart.iter_rows()), list[tuple[object, ...]]()
    for *where, left in ordered.iter_rows():
        group = 0
        while left:
            group += 1
            members = {run_id for run_id in left if (*where, left[0], run_id) not in differ}
            groups += [(*where, run_id, group) for run_id in members]
            left = [run_id for run_id in left if run_id not in members]
    columns = {name: table("ranks").columns[name] for name in (*_WHERE, "run_id", "tie_group")}
    of_runs = pl.LazyFrame(groups, columns, orient="row")
    shown = pl.when(~pl.col("too_few")).then(pl.col("rank", "rank_low", "rank_high"))
    return Ranks.cast(known.lazy().join(of_runs, on=[*_WHERE, "run_id"], how="left").with_columns(shown)).collect()


def characters_of(
    protocol: Protocol, rows: pl.DataFrame, items: pl.LazyFrame, hits: Iterable[pl.LazyFrame]
) -> pl.DataFrame:
    """How much one reads of the runs scored in the headline slice: mean non-whitespace characters per item.

    Each run has all its hits in one frame of `hits`. `read` is what is read down to a cut-off k of the primary metric
    (for 0 all, of a ranking scored as a context the context formed from it), `returned` everything; no line twice.
    """
    shown = rows.lazy().filter("is_primary", "is_headline").select("run_id", *SLICE, "n_items").collect()
    if shown.is_empty():
        return Boards.create_empty().select(CHARACTERS)
    of_slice = in_slice(items.filter("scorable"), *shown.row(0)[1:3])
    ks = sorted({k for metric, k in metrics_of(protocol) if metric.name == protocol.primary.metric})
    is_budget = metric_named(protocol.primary.metric).cut == "budget"
    new, part, returned = pl.col("n_new_nws").fill_null(0), pl.col("part"), pl.col("returned")
    whole = returned
    if protocol.context is not None:
        whole = pl.when(part == FINAL).then(returned).otherwise(returned.clip(upper_bound=RANKED_BUDGET))
    down_to = {k: returned.clip(upper_bound=k) if is_budget else pl.col(f"first {k}") for k in ks} | {0: whole}
    firsts = {f"first {k}": new.filter(pl.col("rank") <= k).sum() for k in ks if not is_budget}
    # A run with both parts is read from LINES (the best order for lines) at budgets, from RANKING at other cut-offs.
    has_lines = (part == LINES).any().over("run_id")
    is_read = ~has_lines | (part != (RANKING if is_budget else LINES))
    read = [
        some.filter(part.is_in([RANKING, LINES, FINAL]))
        .group_by("run_id", "item_id", "part")
        .agg(new.sum().alias("returned"), **firsts)
        # After the sums, as a join is slower than they are.
        .join(of_slice, on="item_id", how="semi")
        .filter(is_read)
        .group_by("run_id")
        .agg(returned.sum(), *(down_to[k].sum().alias(str(k)) for k in ks))
        .collect()
        for some in hits
    ]
    # A run of completions, or without any hit, has no row.
    return (
        pl.concat(read)
        .lazy()
        .join(shown.lazy(), on="run_id")
        .with_columns(pl.exclude("run_id", *SLICE, "n_items") / pl.col("n_items"))
        .unpivot([str(k) for k in ks], index=["run_id", *SLICE, "returned"], variable_name="k", value_name="read")
        .select(pl.col(name).cast(pl.Int64) if name == "k" else pl.col(name) for name in CHARACTERS)
        .collect()
    )


def ledger_means(ledger: pl.LazyFrame, items: pl.LazyFrame, slices: pl.DataFrame) -> dy.DataFrame[LedgerMeans]:
    """Rows of table `ledger_means`: macro is the mean of items' shares, micro the share of all gold."""
    # `all` is included even if nothing has a score.
    names = sorted({"all", *slices["slice"]})
    values = items.select("item_id", *(slice_value(name).alias(name) for name in names))
    exact = {"whole": pl.col("n_gold")}
    exact |= {f"{name}/shares": pl.col(name) / pl.col("n_gold") for name in GOLD_CLASSES}
    exact |= {f"{name}/gold": pl.col(name) for name in GOLD_CLASSES}
    # Summed per kind of items (equal in all slices) once, then kinds per slice.
    of_kinds = ledger.join(values, on="item_id").group_by("run_id", "protocol", *names)
    kinds = of_kinds.agg(
        pl.len().cast(pl.Int64).alias("n"),
        *(steps(value).sum().alias(name) for name, value in exact.items()),
        *((pl.col(name) > 0).sum().cast(pl.Int64).alias(f"{name}/items") for name in GOLD_CLASSES),
    ).collect()
    of_slices = [
        kinds.lazy()
        .select(pl.exclude(names), slice=pl.lit(name), slice_value=name)
        .join(slices.lazy(), on=["run_id", *SLICE], how="semi")
        .group_by("run_id", "protocol", *SLICE)
        .agg(pl.all().sum())
        .with_columns(from_steps(pl.col(*exact)))
        for name in names
    ]
    sums = pl.concat(pl.collect_all(of_slices)).lazy()
    means = pl.concat(
        sums.select(
            *("run_id", "protocol", *SLICE),
            pl.lit(name).alias("class"),
            macro=pl.col(f"{name}/shares") / pl.col("n"),
            micro=pl.col(f"{name}/gold") / pl.col("whole"),
            n="n",
            n_items=f"{name}/items",
            n_gold=f"{name}/gold",
        )
        for name in GOLD_CLASSES
    )
    return LedgerMeans.cast(means).collect()


_VIEW = [*SLICE, "average", "column"]


def board_rows(
    protocol: Protocol,
    runs: pl.DataFrame,
    kind: str,
    *,
    aggregates: pl.DataFrame,
    ranks: pl.DataFrame,
    comparisons: pl.DataFrame,
    characters: pl.DataFrame,
) -> dy.DataFrame[Boards]:
    """The board of one task's runs under one protocol; `kind`, the benchmark of its rules, names the reference."""
    opening = slice_of(protocol, aggregates.lazy())
    values = aggregates.lazy().group_by(SLICE).agg(pl.col("n_items").max())
    by_size = values.sort("n_items", "slice_value", descending=[True, False]).group_by("slice", maintain_order=True)
    shown = aggregates.lazy().drop("protocol")
    shown = shown.join(by_size.head(MAX_VALUES), on=SLICE, how="semi", maintain_order="left")
    shown = shown.join(_columns(protocol, aggregates), on=MEASURE)
    shown = shown.join(runs.lazy().select("run_id", "system", "task", "status", "limit"), on="run_id")
    shown = shown.join(_bounds(protocol, runs, aggregates.lazy()), on=[*MEASURE, *SLICE, "run_id"], how="left")
    n_asked = (pl.col("n_items") - pl.col("n_not_applicable")).max().over(*MEASURE, *SLICE)
    incomplete = pl.when(pl.col("status") != "complete").then("status")
    fewer = pl.when(pl.col("n") < n_asked).then(pl.lit(FEWER_ITEMS)).otherwise(pl.lit(""))
    shown = shown.with_columns(
        state=pl.when(pl.col("limit").is_not_null()).then(pl.lit(LIMITED)).otherwise(pl.coalesce(incomplete, fewer)),
        of_items=pl.col("n_items").max().over(SLICE),
        is_opening=(pl.col("slice") == opening[0]) & (pl.col("slice_value") == opening[1]),
    )
    averaged = []
    for average in AVERAGES:
        value, low, high = map(pl.col, average_columns(average))
        ends = {"value": value, "low": low, "high": high, "is_shown": pl.col("own") == average}
        share = value / pl.col("bound") if average == "macro" else pl.lit(None, pl.Float64)
        averaged.append(shown.with_columns(average=pl.lit(average), share_of_oracle=share, **ends))
    rows = pl.concat(averaged)
    directed = pl.col("value") * pl.when("lower_is_better").then(1).otherwise(-1)
    rows = rows.sort(*_VIEW, pl.col("state") != "", directed, "system", "run_id", nulls_last=True)
    rows = rows.with_columns(place=pl.int_range(1, pl.len() + 1).over(_VIEW))
    places = ranks.lazy().select(*SLICE, "run_id", "rank", "rank_low", "rank_high", "tie_group", "too_few")
    places = places.with_columns(is_primary=True, is_shown=True)
    rows = rows.join(places, on=[*SLICE, "run_id", "is_primary", "is_shown"], how="left")
    rows = rows.join(characters.lazy(), on=["run_id", "k", *SLICE], how="left")
    made = rows.collect()
    # `delta` to the reference comes from `comparisons`, else from two means over equally many items.
    heads = made.lazy().filter("is_opening", "is_primary", "is_shown").sort(pl.col("state") != "", "run_id")
    run_of = dict(reversed(heads.select("system", "run_id").collect().rows()))
    reference = run_of.get(reference_of(kind, run_of), "")
    both = both_ways(comparisons.lazy()).filter(run_a=reference)
    compared = both.select(*MEASURE, *SLICE, "delta", run_id="run_b", delta_low="low", delta_high="high", is_shown=True)
    others = made.lazy().filter(run_id=reference).select(*_VIEW, "n", beside="value")
    apart = pl.when(pl.col("run_id") != reference).then(pl.col("value") - pl.col("beside"))
    rows = made.lazy().join(compared, on=[*MEASURE, *SLICE, "run_id", "is_shown"], how="left")
    rows = rows.join(others, on=[*_VIEW, "n"], how="left").with_columns(delta=pl.coalesce("delta", apart))
    return Boards.cast(rows.with_columns(protocol=pl.lit(protocol.name))).collect()


def _bounds(protocol: Protocol, runs: pl.DataFrame, aggregates: pl.LazyFrame) -> pl.LazyFrame:
    """What the oracle reaches over the same chunks and items as a run made here: MEASURE, SLICE, run_id, bound."""
    bounded = [
        metric.name
        for metric in metrics().values()
        # Among metrics of sets of lines, the oracle bounds F1 alone; it may not reach the best of the others.
        if (metric.shape == "ranked" and metric.direction == "higher") or metric.name == "line_f1"
    ]
    # Lists of structs cannot be compared.
    items = pl.col("selection").list.eval(pl.element().struct.json_encode()).list.join("")
    made, same = runs.lazy().filter(origin="built-in").with_columns(items=items), ["chunker", "limit", "items"]
    oracles = made.filter(protocol=protocol.name).select(*same, oracle="run_id")
    pairs = made.filter(pl.col("protocol").is_null()).join(oracles, on=same, nulls_equal=True)
    reached = aggregates.filter(pl.col("metric").is_in(bounded), pl.col("macro") > 0)
    reached = reached.select(*MEASURE, *SLICE, oracle="run_id", bound="macro")
    return reached.join(pairs.select("run_id", "oracle"), on="oracle").drop("oracle")


def _columns(protocol: Protocol, rows: pl.DataFrame) -> pl.LazyFrame:
    """The board's columns, one per measure: the primary metric first, then the others in the protocol's order."""
    primary = protocol.primary
    order = {metric: position for position, (metric, _) in enumerate(protocol.metrics)}
    first = (primary.granularity, primary.metric, primary.k)
    measures: list[tuple[str, str, int]] = rows.lazy().select(MEASURE).unique().collect().rows()
    measures.sort(key=lambda of: (of != first, order.get(of[1], len(order)), of[1], of[0], of[2]))
    names = [(metric, k) for _, metric, k in measures]
    columns = []
    for position, (granularity, metric, k) in enumerate(measures):
        name = f"{metric}@{k}" if k else metric
        columns.append({
            "granularity": granularity, "metric": metric, "k": k, "position": position,
            "column": name if names.count((metric, k)) == 1 else f"{granularity} {name}",
            "own": average_of(protocol, metric_named(metric)),
            "lower_is_better": metric_named(metric).direction == "lower",
            "is_primary": (granularity, metric, k) == first,
        })  # fmt: skip
    kinds = {"position": pl.Int64(), "column": pl.String(), "own": pl.String()}
    kinds |= dict.fromkeys(("lower_is_better", "is_primary"), pl.Boolean())
    return pl.LazyFrame(columns, {**{name: rows.schema[name] for name in MEASURE}, **kinds})
