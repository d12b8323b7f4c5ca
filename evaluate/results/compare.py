"""The comparison of two systems under every protocol, by the board's own numbers; and its printing."""

from collections.abc import Callable, Iterator, Sequence
from itertools import chain

import polars as pl

from evaluate.metrics import Requested, metric_named, metrics_of
from evaluate.results.board import check_measured, metric_label, primary_metric, slice_label
from evaluate.results.compared import Comparison, Published, RunPair, check_same_data, compared
from evaluate.results.undeclared_metrics import explored, why_not
from evaluate.runs.pooling import systems_of
from evaluate.statistics.comparisons import POINT
from evaluate.statistics.slices import slice_of, with_slice
from lake.averages import FEWEST_ITEMS, ITEM, ITEM_NOTE
from lake.benchmarks import known_protocols, known_tasks, protocols_called
from lake.catalog.protocol import Protocol, Task
from lake.errors import Exit, GoldspanError, lookup
from lake.pools import Where, of_where
from lake.store import Lake
from lake.text import counted
from lake.verdict import ALONE, BETTER, EQUIVALENT, EXPLORATORY, INSEPARABLE, TOO_FEW, WORSE, both_ways


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
    """Compare two systems (names or run ids) under every protocol that scored both; by primary metrics.

    Published scores (`against`) contain the first system; then only stored metrics are compared. The caller holds the
    lake's lock if undeclared metrics are requested; `say` is called with notes on what could not be compared.
    """
    sources = (against or lake, lake)
    runs = [_scored(source) for source in sources]
    for known, name in zip(runs, (a, b), strict=True):
        if known.is_empty():
            raise lake.lacks("nothing is scored", "evaluate")
        lookup(name, "run or system", dict.fromkeys([*known["system"], *known["run_id"]]))
    tasks, protocols = known_tasks(lake), [each for name in protocol_names for each in protocols_called(lake, name)]
    pairs = [
        RunPair(task, protocol, sources, meant)
        for protocol in protocols or known_protocols(lake).values()
        for task in (tasks[name] for name in protocol.tasks if name in tasks)
        if len(meant := [*_meant(protocol, task, runs[0], a), *_meant(protocol, task, runs[1], b)]) == 2
    ]
    if not pairs:
        raise lake.lacks(f"no protocol scored both {a} and {b}", f"evaluate SYSTEMS='{a},{b}'")
    if against is None:
        check_measured(requested, [(pair.task, pair.protocol) for pair in pairs], f"{a} and {b}")
    else:
        notes = (check_same_data(pair.task, pair.protocol, (against, lake), pair.scores) for pair in pairs)
        for note in dict.fromkeys(chain.from_iterable(notes)):
            say(note)
    of_pairs = with_slice(pairs, lambda pair: [*_under(lake, pair, requested, slice_name, where, runs[1])])
    rows = [row for of_pair in of_pairs for row in of_pair]
    measured = {(row["metric"], row["k"]) for row in rows}
    missing = sorted(metric_label(metric, k) for metric, k in requested if (metric.name, k) not in measured)
    if missing or not rows:
        hint = "With --against only stored metrics are compared: those that a protocol declares." if against else ""
        message = f"no item has a value from both {a} and {b}"
        raise GoldspanError(message, examples=missing, hint=hint, code=Exit.MISSING)
    return rows


def _scored(source: Lake | Published) -> pl.DataFrame:
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


def _under(
    lake: Lake, pair: RunPair, requested: Requested, slice_name: str, where: Where, runs: pl.DataFrame
) -> Iterator[Comparison]:
    """The comparisons of two runs under one protocol, by every requested metric that is available."""
    task, protocol, is_across = pair.task, pair.protocol, pair.sources[0] is not lake
    declared, columns = metrics_of(protocol), dict.fromkeys(requested or [primary_metric(protocol)])
    beside = [column for column in columns if column not in declared and not why_not(task, protocol, *column)]
    beside = [] if is_across else beside
    wanted = [column for column in columns if column in declared or column in beside]
    # Only slices that both have: a run over one repository shares no others with a run over all repositories.
    here = {run_id for source, (run_id, _) in zip(pair.sources, pair.runs, strict=True) if source is lake}
    of_runs = [lake.scan("aggregates", benchmark=task.benchmark, run_id=run_id) for run_id in sorted(here)]
    aggregates = pl.concat(of_runs).filter(protocol=protocol.name)
    is_shared = pl.col("run_id").n_unique().over("slice", "slice_value") == len(here)
    items = of_where(lake.scan("items", benchmark=task.benchmark), where)
    slice_, value = slice_of(protocol, aggregates.filter(is_shared), slice_name, items if where else None)
    scores = pair.scores
    if beside:
        made = explored(lake, task, protocol, beside, here).lazy()
        own = (made.filter(run_id=run_id) for run_id, _ in pair.runs)
        scores = [pl.concat(both) for both in zip(scores, own, strict=True)]
    # Expected scores are known by their system, as published scores do not record the kind of run.
    by_chance = systems_of(lake, task).filter("is_expected")
    expected = set(runs.join(by_chance, on="run_id", how="semi")["system"])
    is_expected = [system in expected for _, system in pair.runs]
    # Nothing is stored for selected items.
    stored = lake.scan("comparisons", benchmark=task.benchmark, protocol=protocol.name)
    of_slice = stored.filter(slice=slice_, slice_value=value)
    is_stored, (run_a, run_b) = pl.lit(not is_across and not where), (run_id for run_id, _ in pair.runs)
    known = both_ways(of_slice).filter(is_stored, run_a=run_a, run_b=run_b).collect()
    for metric, k in wanted:
        sides = [side.filter(metric=metric.name, k=k) for side in scores]
        row = known.filter(metric=metric.name, k=k)
        yield from compared(pair, metric, k, (slice_, value), sides, items, is_expected, row)


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
