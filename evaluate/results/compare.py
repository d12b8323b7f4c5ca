"""The comparison of two systems under every protocol, by the board's own numbers; and its printing."""

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple

import polars as pl

from evaluate.metrics import Requested, metric_named, metrics_of
from evaluate.results.board import check_measured, metric_label, primary_metric, slice_label
from evaluate.results.published import Published, check_same_data
from evaluate.results.undeclared_metrics import explored, why_not
from evaluate.runs.pooling import systems_of
from evaluate.statistics.comparisons import POINT, ScoreMatrix, compare_runs
from evaluate.statistics.means import aggregate
from evaluate.statistics.slices import (
    MEASURE,
    SLICE,
    UNSLICED,
    WHOLE_SLICE,
    Slice,
    average_of,
    in_slice,
    slice_of,
    with_slice,
)
from lake.averages import FEWEST_ITEMS, ITEM, ITEM_NOTE
from lake.benchmarks import known_protocols, known_tasks, protocols_called
from lake.catalog.protocol import Protocol, Task
from lake.errors import Exit, GoldspanError, lookup
from lake.pools import Where, of_where
from lake.store import Lake
from lake.tables import table
from lake.text import counted
from lake.verdict import ALONE, BETTER, EQUIVALENT, EXPLORATORY, INSEPARABLE, TOO_FEW, WORSE, both_ways

Comparison = dict[str, Any]
"""One metric of two runs of a task under one protocol, over one slice, as `compare --json` prints it.

`a` and `b` are over the `n_a` and `n_b` items of the slice with a value of either run, `a_shared`, `b_shared` and all
fields from `delta` on (the second minus the first, as in table `comparisons`) over the `n` shared items.
"""

_OF_TABLE = (
    *("delta", "low", "high", "p", "p_adjusted", "wins", "ties", "losses"),
    *("smallest_detectable", "equivalent", "verdict", "exploratory", "n_repos", "unit"),
)


class RunPair(NamedTuple):
    """Two runs of a task that one protocol scored: their ids, systems and rows of `scores`; the first may be away."""

    task: Task
    protocol: Protocol
    run_ids: Sequence[str]
    systems: Sequence[str]
    scores: Sequence[pl.LazyFrame]
    is_across: bool


def compare(
    lake: Lake,
    a: str,
    b: str,
    requested: Requested,
    *,
    against: Published | None = None,
    protocol_names: Sequence[str] = (),
    slice_name: str = "",
    where: Where = (),
    say: Callable[[str], None] = lambda _: None,
) -> list[Comparison]:
    """Compare two systems (names or run ids) under every protocol that scored both; by default by primary metrics."""
    sources = (against or lake, lake)
    runs = [_scored(source) for source in sources]
    for known, name in zip(runs, (a, b), strict=True):
        if known.is_empty():
            raise lake.lacks("nothing is scored", "evaluate")
        lookup(name, "run or system", dict.fromkeys([*known["system"], *known["run_id"]]))
    tasks, protocols = known_tasks(lake), [each for name in protocol_names for each in protocols_called(lake, name)]
    pairs = []
    for protocol in protocols or known_protocols(lake).values():
        for task in (tasks[name] for name in protocol.tasks if name in tasks):
            meant = [*_meant(protocol, task, runs[0], a), *_meant(protocol, task, runs[1], b)]
            if len(meant) == 2:
                folders, columns = {"benchmark": task.benchmark, "protocol": protocol.name}, table("scores").columns
                run_ids, systems = zip(*meant, strict=True)
                of_runs = zip(sources, run_ids, strict=True)
                scores = [source.scan("scores", **folders, run_id=of).select(*columns) for source, of in of_runs]
                pairs.append(RunPair(task, protocol, run_ids, systems, scores, against is not None))
    if not pairs:
        raise lake.lacks(f"no protocol scored both {a} and {b}", f"evaluate SYSTEMS='{a},{b}'")
    if against is None:
        check_measured(requested, [(pair.task, pair.protocol) for pair in pairs], f"{a} and {b}")
    else:
        notes = (check_same_data(pair.task, pair.protocol, (against, lake), pair.scores) for pair in pairs)
        for note in dict.fromkeys(chain.from_iterable(notes)):
            say(note)
    of_pairs = with_slice(pairs, lambda pair: [*_compared(lake, pair, requested, slice_name, where)])
    rows = list(chain.from_iterable(of_pairs))
    measured = {(row["metric"], row["k"]) for row in rows}
    missing = sorted(metric_label(metric, k) for metric, k in requested if (metric.name, k) not in measured)
    if missing or not rows:
        hint = "With --against only stored metrics are compared: those that a protocol declares." if against else ""
        message = f"no item has a value from both {a} and {b}"
        raise GoldspanError(message, examples=missing, hint=hint, code=Exit.MISSING)
    return rows


def _scored(source: Lake | Published) -> pl.DataFrame:
    """The runs of a source with each protocol that scored them."""
    names = ("run_id", "protocol")
    if isinstance(source, Lake):
        stored = {tuple(part.folders[name] for name in names) for part in source.parts("scores")}
        scored = pl.LazyFrame(list(stored), schema=dict.fromkeys(names, pl.String), orient="row")
    else:
        scored = source.scan("scores").select(names).unique()
    runs = source.scan("runs").select("run_id", "system", "task", "status")
    return runs.join(scored, on="run_id").sort("run_id", "protocol").collect()


def _meant(protocol: Protocol, task: Task, scored: pl.DataFrame, name: str) -> Iterator[tuple[str, str]]:
    """The one run of a task that a name means under a protocol, and its system; nothing if there is no such run."""
    known = scored.filter((pl.col("task") == task.name).fill_null(value=True), protocol=protocol.name)
    mine = known.filter((pl.col("run_id") == name) | (pl.col("system") == name))
    complete = mine.filter(status="complete")
    chosen = complete if mine.height > 1 and complete.height else mine
    if chosen.height > 1:
        examples = chosen["run_id"].to_list()
        message = f"{name} has {chosen.height} runs"
        raise GoldspanError(message, examples=examples, hint="Give the id of one.", code=Exit.USAGE)
    yield from chosen.select("run_id", "system").iter_rows()


def _compared(lake: Lake, pair: RunPair, requested: Requested, slice_name: str, where: Where) -> Iterator[Comparison]:
    """The comparisons of two runs under one protocol, by every requested metric of which they share an item."""
    task, protocol, (run_a, run_b), systems, scores, is_across = pair
    declared, columns = metrics_of(protocol), dict.fromkeys(requested or [primary_metric(protocol)])
    others = [column for column in columns if column not in declared and not why_not(task, protocol, *column)]
    beside = [] if is_across else others
    # Only slices that both have: a run over one repository shares no others with a run over all repositories.
    here = {run_b} if is_across else {run_a, run_b}
    aggregates = pl.concat(lake.scan("aggregates", benchmark=task.benchmark, run_id=run_id) for run_id in sorted(here))
    is_shared = pl.col("run_id").n_unique().over("protocol", *SLICE) == len(here)
    aggregates = aggregates.filter(is_shared, protocol=protocol.name)
    items = of_where(lake.scan("items", benchmark=task.benchmark), where)
    slice_, value = slice_of(protocol, aggregates, slice_name, items if where else None)
    inside = in_slice(items, slice_, value)
    if beside:
        made = explored(lake, task, protocol, beside, here).lazy()
        of_each = (made.filter(run_id=run_id) for run_id in pair.run_ids)
        scores = [pl.concat(both) for both in zip(scores, of_each, strict=True)]
    wanted = [column for column in columns if column in declared or column in beside]
    of_slice = {"slice": slice_, "slice_value": value}
    keys = [{"granularity": metric.granularity, "metric": metric.name, "k": k, **of_slice} for metric, k in wanted]
    measures = pl.DataFrame(keys, {name: table("comparisons").columns[name] for name in (*MEASURE, *SLICE)})
    # The runs are renamed `a` and `b`, as a run may be compared with itself.
    sides = [
        rows.filter(pl.col("value").is_not_null())
        .join(measures.lazy(), on=MEASURE, how="semi")
        .join(inside, on="item_id", how="semi")
        .with_columns(run_id=pl.lit(side))
        .collect()
        for side, rows in zip("ab", scores, strict=True)
    ]
    stored = lake.scan("comparisons", benchmark=task.benchmark, protocol=protocol.name).filter(**of_slice)
    # Nothing is stored for selected items.
    known = both_ways(stored).filter(pl.lit(not is_across and not where), run_a=run_a, run_b=run_b).collect()
    # Expected scores are known by their system, as published scores do not record the kind of run.
    expected = {*systems_of(lake, task).filter("is_expected")["system"]}
    is_expected = [system in expected for system in systems]
    flags = pl.DataFrame({"run_id": ["a", "b"], "is_expected": is_expected, "in_family": False})
    missing = flags.join(measures.join(known, on=MEASURE, how="anti"), how="cross")
    matrix = ScoreMatrix(protocol, missing, items, [side.lazy() for side in sides])
    rows = pl.concat([known, compare_runs(protocol, missing, matrix)], how="diagonal")
    both = [rows.join(other, on=["item_id", *MEASURE], how="semi") for rows, other in (sides, sides[::-1])]
    # Each side's averages by measure: over all items, and over each repository of which both have some.
    slices, of_both = (*UNSLICED, Slice("repo")), pl.len().over(*MEASURE, *SLICE) == len(sides)
    own_averages, shared_averages = (
        aggregate(protocol, pl.concat(each).lazy(), inside, slices=slices).filter(of_both).collect()
        for each in (sides, both)
    )
    differing = both[0].join(both[1], on=["item_id", *MEASURE]).filter(pl.col("value") != pl.col("value_right"))
    differing = differing.sort(pl.col("value_right") - pl.col("value"), "item_id", descending=[True, False])
    for metric, k in wanted:
        measure, average = {"metric": metric.name, "k": k}, average_of(protocol, metric)
        for row in rows.filter(**measure).iter_rows(named=True):
            own, shared = (
                averages.filter(**measure).select(*SLICE, average, "n").rows_by_key(SLICE)
                for averages in (own_averages, shared_averages)
            )
            (number_a, n_a), (number_b, n_b) = own[WHOLE_SLICE]
            (shared_a, _), (shared_b, _) = shared[WHOLE_SLICE]
            repositories = [(repo, n, a, b) for (name, repo), ((a, n), (b, _)) in shared.items() if name == "repo"]
            yield {
                "protocol": protocol.name,
                "task": task.name,
                **measure,
                **of_slice,
                "average": average,
                "run_a": run_a,
                "run_b": run_b,
                "a": number_a,
                "b": number_b,
                "n_a": n_a,
                "n_b": n_b,
                "n": row["n_items"],
                "a_shared": shared_a,
                "b_shared": shared_b,
                **{name: row[name] for name in _OF_TABLE},
                "is_declared": (metric, k) in declared,
                "repositories": tuple(sorted(repositories, key=lambda of: (-of[1], of[0]))),
                "flips": tuple(differing.filter(**measure).select("item_id", "value", "value_right").iter_rows()),
            }


def comparison(
    rows: Sequence[Comparison], broken: Sequence[Comparison], *, flips: bool = False, names_runs: bool = False
) -> Iterator[str]:
    """The lines of comparisons: the numbers, again over the shared items if items differ, and the verdict."""
    yield f"{'protocol, metric':44}{'A':>9}{'B':>9}{'B - A':>9}{'wins':>7}{'ties':>7}{'losses':>8}{'items':>8}  over"
    for row in rows:
        several = len({other["task"] for other in rows if other["protocol"] == row["protocol"]}) > 1
        label = " of ".join([row["protocol"], *([row["task"]] if several else [])])
        metric = metric_label(metric_named(row["metric"]), row["k"])
        label += f" {metric}{'' if row['is_declared'] else ' (exploratory)'}"
        of_slice = slice_label(row["slice"], row["slice_value"])
        over = f"  {of_slice}, {row['average']}{'  fails' if row in broken else ''}"
        counts = ((row["wins"], 7), (row["ties"], 7), (row["losses"], 8))
        moved = "".join("–".rjust(width) if n is None else f"{n:{width},}" for n, width in counts)
        paired = f"{row['a_shared']:9.3f}{row['b_shared']:9.3f}{row['delta']:+z9.3f}{moved}{row['n']:8,}"
        if row["n_a"] == row["n_b"] == row["n"]:
            yield f"{label:44}{paired}{over}"
        else:
            of_each = f"{row['n_a']:,} and {row['n_b']:,}"
            yield f"{label:44}{row['a']:9.3f}{row['b']:9.3f}{of_each:>39}{over}"
            yield f"{'  on their shared items':44}{paired}"
        if names_runs:
            yield f"  A is {row['run_a']}, B is {row['run_b']}"
        yield f"  {_sentence(row)}"
        for repo, n, a, b in row["repositories"][:_MOST_REPOSITORIES]:
            yield f"    {repo:40}{a:9.3f}{b:9.3f}{b - a:+z9.3f}{n:30,}"
        if (n_more := len(row["repositories"]) - _MOST_REPOSITORIES) > 0:
            yield f"    {counted(n_more, 'more repository')}, printed by --json"
        for item_id, a, b in row["flips"] if flips else ():
            yield f"    {item_id:40}{a:9.3f}{b:9.3f}{b - a:+z9.3f}"
    if any(row["wins"] is None for row in rows):
        yield "  –: random's scores are expectations over all orders, so wins, ties and losses are not counted"


_MOST_REPOSITORIES = 10
_VERDICTS = {
    BETTER: "B is better than A",
    WORSE: "B is worse than A",
    INSEPARABLE: "A and B are not significantly different",
    EQUIVALENT: f"A and B are equivalent: less than {POINT} apart",
    TOO_FEW: f"too few items to say which is better: under {FEWEST_ITEMS}",
    None: "no verdict, as this metric has no better direction",
}


def _sentence(row: Comparison) -> str:
    interval = "" if row["low"] is None else f" (95 % CI {row['low']:+z.3f} to {row['high']:+z.3f})"
    adjusted, least, alone = row["p_adjusted"], row["smallest_detectable"], ""
    if adjusted is None:
        alone, p = ALONE, f"p {row['p']:.3g}, exploratory: {EXPLORATORY}"
    else:
        p = f"p {adjusted:.3g}, adjusted for all pairs"
    p += "" if least is None else f"; smallest detectable difference {alone}{least:.3f}"
    over = f", over items: {ITEM_NOTE}" if row["unit"] == ITEM else ""
    repos = counted(row["n_repos"], "repository")
    return f"{_VERDICTS[row['verdict']]}: {row['delta']:+z.3f}{interval}, {p}; {repos}{over}"
