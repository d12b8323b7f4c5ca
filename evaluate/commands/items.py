"""`python -m evaluate status`, `item` and `items`: the contents of a lake, and its items one by one."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any

import polars as pl
import typer

from evaluate.results.board import PrintedTable, number_of, primary_name, print_tables
from lake.benchmarks import check_benchmark, known_tasks, protocols_called, protocols_of, tasks_of
from lake.catalog.protocol import Protocol
from lake.console import DEFAULT_LAKE, Console, LakeOption, setting, split_systems
from lake.errors import Exit, GoldspanError, lookup, typed, unknown_name
from lake.pools import of_where, parse_items, with_items
from lake.store import Lake
from lake.tables import FINAL, RANKING
from lake.text import counted, escaped

app = typer.Typer()


@app.command()
def item(
    item_id: Annotated[str, typer.Argument(metavar="ITEM", help="Item id.")],
    benchmark: Annotated[str, setting("BENCHMARK", "Benchmark, if several have an item with this id.")] = "",
    protocol: Annotated[str, setting("PROTOCOL", "Protocol (default: the benchmark's first).")] = "",
    systems: Annotated[str, setting("SYSTEMS", "Comma list of systems to print.", "--systems", "--system")] = "",
    lake: LakeOption = DEFAULT_LAKE,
) -> None:
    """Print an item: question, gold and every system's score; with --systems, also results and how they are scored."""
    store = Lake(lake)
    names = split_systems(systems, store)
    stored = store.scan("items").filter(benchmark=benchmark) if benchmark else store.scan("items")
    matches = stored.filter(item_id=item_id).sort("benchmark").collect()
    if matches.is_empty():
        raise unknown_name(item_id, "item", stored.select("item_id").unique().collect()["item_id"])
    benchmark, *others = matches["benchmark"]
    if others:
        message, examples = f"several benchmarks have an item {item_id}", [benchmark, *others]
        raise GoldspanError(message, examples=examples, hint="Name one: --benchmark NAME", code=Exit.USAGE)
    item = matches.row(0, named=True)
    rules = default_protocol(store, benchmark, protocol)
    about = [benchmark, item_id, item["language"], item["repo"], *([item["commit"][:12]] if item["commit"] else [])]
    print(escaped(" · ".join(about)))
    if not item["scorable"]:
        print(f"not scorable: {item['why_not']}")
    for text in queries_of(store, benchmark, rules).filter(item_id=item_id).collect()["text"]:
        print("\nquestion", *(f"  {escaped(line)}" for line in text.splitlines()), sep="\n")
    of_item = store.scan("gold_spans", benchmark=benchmark).filter(item_id=item_id, gold=rules.gold)
    rows = of_item.select("path", "line_start", "line_end").sort("path", "line_start").collect()
    gold: dict[str, list[tuple[int, int]]] = rows.rows_by_key("path")
    print(f"\ngold ({rules.name})")
    for path, spans in gold.items():
        print(f"  {escaped(path)}", ", ".join(f"{a + 1}-{b}" if b > a else "no line" for a, b in spans))
    scores = primary_scores(store, benchmark, rules).filter(item_id=item_id)
    scores = scores.sort("value", "system", descending=[True, False], nulls_last=True)
    known, measure = scores["system"].to_list(), primary_name(rules)
    for name in names:
        lookup(name, "system of this item", dict.fromkeys(known))
    print(f"\n{measure}, {counted(len(known), 'system')}")
    for row in scores.iter_rows(named=True):
        print(f"  {number_of(row['value']):>5}  {escaped(row['system'])}")
    for row in scores.filter(pl.col("system").is_in(names)).iter_rows(named=True):
        has_sums = row["numerator"] is not None and row["denominator"] is not None
        of = f" = {row['numerator']:g} / {row['denominator']:g}" if has_sums else ""
        print(f"\n{escaped(row['system'])}: {measure} {number_of(row['value'])}{of}")
        print(*_results(store, item, row["run_id"], gold), sep="\n")


@app.command()
def items(
    benchmark: Annotated[str, typer.Argument(metavar="BENCHMARK", help="Benchmark name.")],
    where: Annotated[str, typer.Option("--where", "--items", help="column=value, ids, or a file of ids.")] = "",
    failed_by: Annotated[str, typer.Option("--failed-by", help="Only items that this system scores 0.")] = "",
    protocol: Annotated[str, setting("PROTOCOL", "Protocol (default: the benchmark's first).")] = "",
    lake: LakeOption = DEFAULT_LAKE,
) -> None:
    """List a benchmark's items with best score and question; with --failed-by, only those that a system scores 0."""
    store, selected = Lake(lake), parse_items(where, "--where")
    check_benchmark(store, benchmark)
    if selected:
        with_items(store, [benchmark], selected)
    rules = default_protocol(store, benchmark, protocol)
    scores = primary_scores(store, benchmark, rules)
    scores = scores.filter(~pl.col("retriever").is_in(["oracle", "random"]).fill_null(False))
    of_benchmark = of_where(store.scan("items", benchmark=benchmark).filter("scorable"), selected)
    best = scores.sort("value", "system", descending=[True, False]).unique("item_id", keep="first")
    if failed_by:
        lookup(failed_by, "system", dict.fromkeys(scores["system"]))
        failed = scores.filter(pl.col("value").fill_null(0) == 0, system=failed_by).lazy()
        of_benchmark = of_benchmark.join(failed, on="item_id", how="semi")
    rows = of_benchmark.join(best.lazy(), on="item_id", how="inner" if not failed_by else "left")
    rows = rows.join(queries_of(store, benchmark, rules), on="item_id", how="left").sort("item_id")
    table = rows.select("item_id", "repo", "value", "system", "target_path", "text").collect()
    failing = f" that {failed_by} scores 0" if failed_by else ""
    title = f"{benchmark} ({rules.name}): {counted(table.height, 'item')}{failing}; "
    title += f"best: the highest {primary_name(rules)} of any system"
    cells = []
    for item_id, repo, value, system, path, text in table.iter_rows():
        # The first line with a letter or digit; of code before a hole the last, next to the hole.
        lines = [line.strip() for line in (text or "").splitlines() if any(map(str.isalnum, line))] or [""]
        line = lines[0 if path is None else -1]
        cut = line if len(line) <= WIDTH else f"{line[: WIDTH - 1]}…"
        cells.append((item_id, repo, number_of(value), system or "", cut))
    hint = typed("To see one: python -m evaluate item ITEM --systems SYSTEM")
    print_tables([PrintedTable(title, ["item", "repository", "best", "by", "question"], cells, [hint], texts=2)])


@app.command()
def status(lake: LakeOption = DEFAULT_LAKE) -> None:
    """Show what a lake holds, what cannot be scored, and which command comes next."""
    store = Lake(lake)
    if not store.parts("benchmarks"):
        raise store.lacks("the lake holds no benchmark")
    items = store.scan("items").group_by("benchmark").agg(n=pl.len(), n_lost=(~pl.col("scorable")).sum())
    runs = store.scan("runs").select("benchmark", "system", "origin").unique()
    systems = runs.group_by("benchmark").agg(n_systems=pl.len(), n_imported=(pl.col("origin") == "imported").sum())
    declared = store.scan("benchmarks").select(benchmark="name", data="label")
    joined = declared.join(items, on="benchmark", how="left").join(systems, on="benchmark", how="left")
    # A run that was imported since has no scores yet.
    with_scores = {part.folders["run_id"] for part in store.parts("scores")}
    behind = {part.folders["benchmark"] for part in store.parts("runs") if part.folders["run_id"] not in with_scores}
    scored = {part.folders["benchmark"] for part in store.parts("aggregates")}
    state = {name: "in part" if name in behind else "yes" for name in scored}
    rows = [
        [name, label or "published", *(f"{n or 0:,}" for n in counts), state.get(name, "")]
        for name, label, *counts in joined.sort("benchmark").collect().iter_rows()
    ]
    columns = ("benchmark", "data", "items", "not scorable", "systems", "imported", "scored")
    print_tables([PrintedTable(f"{lake}", columns, rows, texts=2)])
    unscored = [name for name, _, n_items, n_lost, *_ in rows if state.get(name) != "yes" and n_items != n_lost]
    if unscored or scored:
        verb = f"make evaluate BENCHMARKS={','.join(unscored)}" if unscored else "make report"
        Console().say(typed(f"  next: {verb}"))


N_RESULTS, WIDTH = 20, 80
"""The number of results to print of a list, and the number of characters of a question."""


def default_protocol(lake: Lake, benchmark: str, name: str = "") -> Protocol:
    """The protocol with a name, or the first of a benchmark if the name is empty."""
    return (protocols_called(lake, name, benchmark) if name else protocols_of(tasks_of(lake, benchmark)[0]))[0]


def queries_of(lake: Lake, benchmark: str, rules: Protocol) -> pl.LazyFrame:
    """The queries of a benchmark's items, in the form of the first task under a protocol."""
    task = next(task for task in known_tasks(lake).values() if task.name in rules.tasks)
    return lake.scan("queries", benchmark=benchmark, query=task.query).select("item_id", "text")


def primary_scores(lake: Lake, benchmark: str, rules: Protocol) -> pl.DataFrame:
    """Every system's score of every item by the primary metric: run_id, item_id, value, …, system, retriever."""
    is_primary = {"metric": rules.primary.metric, "k": rules.primary.k}
    scores = lake.scan("scores", benchmark=benchmark, protocol=rules.name).filter(**is_primary)
    scores = scores.select("run_id", "item_id", "value", "numerator", "denominator")
    runs = lake.scan("runs", benchmark=benchmark).select("run_id", "system", "retriever")
    rows = scores.join(runs, on="run_id").collect()
    if rows.is_empty():
        raise lake.lacks(f"no system has a score under {rules.name}", "evaluate")
    return rows


def _results(
    lake: Lake, item: dict[str, Any], run_id: str, gold: Mapping[str, Sequence[tuple[int, int]]]
) -> Iterator[str]:
    hits = lake.scan("hits", benchmark=item["benchmark"], run_id=run_id).filter(item_id=item["item_id"])
    wanted = hits.filter(pl.col("part").is_in([RANKING, FINAL])).sort("rank")
    rows = wanted.select("rank", "path", "path_given", "line_start", "line_end", "symbol").collect()
    if rows.is_empty():
        yield "  no results stored: none were returned, or it is random, scored over all orders"
    for rank, path, given, start, end, symbol in rows.head(N_RESULTS).iter_rows():
        spans = gold.get(path or given, [])
        last = sys.maxsize if end is None else end
        n_gold = 0 if start is None else sum(max(0, min(b, last) - max(a, start)) for a, b in spans)
        where = f" {symbol}" if symbol else "" if start is None or end is None else f" {start + 1}-{end}"
        of_gold = f"  {counted(n_gold, 'gold line')}" if n_gold else ""
        of_gold = "  a gold file, no lines given" if spans and start is None else of_gold
        yield f"  {'✓' if of_gold else '✗'} {rank:>3}  {escaped(path or given or '')}{escaped(where)}{of_gold}"
    if rows.height > N_RESULTS:
        yield f"  … {rows.height - N_RESULTS:,} more"
