"""A task's runs pooled: aggregates of their scores, and the tables that compare them by protocol, unless current."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from functools import cache, partial
from itertools import chain

import polars as pl

from evaluate.retrievers import BASELINE, retrievers
from evaluate.score.contexts.material import load_files
from evaluate.score.ledger import is_kept, ledger_of_candidates, ledger_of_lines
from evaluate.selection import ItemPart, parts_of_runs
from evaluate.statistics.boards import board_rows, characters_of, ledger_means, rank_runs
from evaluate.statistics.comparisons import ScoreMatrix, compare_runs, with_places
from evaluate.statistics.effects import effects_of
from evaluate.statistics.means import aggregate
from evaluate.statistics.repairs import repairs_of
from evaluate.statistics.slices import SLICE
from evaluate.systems import Run, run_batches, runs_of, write_by_run
from lake.averages import FEWEST_ITEMS
from lake.benchmarks import protocols_of
from lake.catalog.protocol import Protocol, Task
from lake.make import BuildTarget, target_of
from lake.outcome import Outcome
from lake.pools import chunks_of, files_of
from lake.relevance import RELEVANCE
from lake.store import Lake, Part, contents_of
from lake.tables.evaluated import Ledger


def aggregate_runs(item_parts: Sequence[ItemPart], protocols: Sequence[Protocol], runs: Sequence[Run]) -> None:
    """Aggregate the scores of runs under some protocols, unless the aggregates are current."""
    todo: dict[Run, BuildTarget] = {}
    for run in runs:
        stored = (parts_of_runs(item_parts, "scores", [run.run_id], protocol=by.name) for by in protocols)
        if inputs := list(chain.from_iterable(stored)):
            folders = {"benchmark": item_parts[0].task.benchmark, "run_id": run.run_id}
            target = target_of(item_parts[0].lake, "aggregates", part="all", inputs=inputs, code=[aggregate], **folders)
            if not target.is_current:
                todo[run] = target
    if not todo:
        return
    lake = item_parts[0].lake
    items, means = pl.concat([item_part.items for item_part in item_parts]).lazy(), list[pl.DataFrame]()
    for protocol in protocols:
        name, mine = protocol.name, [run.run_id for run in todo if run.protocol in ("", protocol.name)]
        for batch in run_batches(lake, "scores", mine, parts_of_runs(item_parts, "scores", mine, protocol=name)):
            scores = pl.concat([item_part.of_runs("scores", batch, protocol=name) for item_part in item_parts])
            run_items = pl.concat([item_part.of_runs("run_items", batch) for item_part in item_parts])
            means.append(aggregate(protocol, scores.drop("benchmark"), items, run_items).collect())
    write_by_run({run.run_id: target for run, target in todo.items()}, pl.concat(means))


def systems_of(lake: Lake, task: Task) -> pl.DataFrame:
    """A task's runs, sorted: columns of table `runs`, and is_complete, is_baseline, is_expected."""
    known, built_in = retrievers().values(), pl.col("origin") == "built-in"
    tagged = [retriever.name for retriever in known if BASELINE in retriever.tags]
    chance = [retriever.name for retriever in known if retriever.is_chance]
    runs = runs_of(lake, task)
    return runs.select(
        *("run_id", "system", "task", "chunker", "retriever", "origin", "status", "limit", "protocol", "selection"),
        is_complete=(pl.col("status") == "complete") & pl.col("limit").is_null(),
        is_baseline=built_in & pl.col("retriever").is_in(tagged),
        is_expected=built_in & pl.col("retriever").is_in(chance),
    ).collect()


def compare_systems(by: tuple[Lake, Task, Protocol]) -> Outcome:
    """Write the tables that compare a task's systems under a protocol, unless they are current."""
    lake, task, protocol = by
    systems, result = systems_of(lake, task), Outcome(tally=lake.tally)
    folders = {"benchmark": task.benchmark, "protocol": protocol.name}
    scored = [part for part in lake.parts("scores", **folders) if part.folders["run_id"] in {*systems["run_id"]}]
    mine, every = {part.folders["run_id"] for part in scored}, lake.parts("aggregates", benchmark=task.benchmark)
    aggregated = [part for part in every if part.folders["run_id"] in mine]
    name = task.name.replace("/", ".")
    ledgers = [part for part in lake.parts("ledger", **folders) if part.name.startswith(f"{name}--")]
    items = lake.parts("items", benchmark=task.benchmark)
    systems = systems.filter(pl.col("run_id").is_in([part.folders["run_id"] for part in aggregated]))
    target = target_of(
        lake,
        *("effects", "ledger_means", "comparisons", "ranks", "boards"),
        part=name,
        inputs=[*aggregated, *scored, *ledgers, *items],
        parameters=[systems.rows(), asdict(protocol)],
        code=[characters_of, effects_of, ledger_means, compare_runs, rank_runs, board_rows],
        **folders,
    )
    if not aggregated:
        target.remove()
        return result

    def make() -> list[pl.DataFrame]:
        item_rows = lake.scan_parts(items, "items")
        pooled = lake.scan_parts(aggregated, "aggregates").filter(protocol=protocol.name).drop("benchmark").collect()
        rows = with_places(protocol, pooled, systems)
        # Slices of one repository are many: those with too few items are compared only on request.
        can_be_tested = (pl.col("n_repos") > 1) | (pl.col("n") >= FEWEST_ITEMS)
        wanted = rows.filter(pl.col("is_primary") | pl.col("is_headline"), can_be_tested)
        scores = ScoreMatrix(protocol, wanted, item_rows, _read(lake, "scores", scored, wanted))
        comparisons = compare_runs(protocol, wanted, scores)
        opening, hits = rows.filter("is_primary", "is_headline"), lake.parts("hits", benchmark=task.benchmark)
        read = characters_of(protocol, rows, item_rows, _read(lake, "hits", hits, opening))
        effects = effects_of(task, protocol, wanted, scores)
        ledger = lake.scan_parts(ledgers, "ledger").drop("benchmark")
        means = ledger_means(ledger, item_rows, pooled.select("run_id", *SLICE).unique())
        ranks = rank_runs(protocol, rows, comparisons)
        frames = {"aggregates": pooled, "ranks": ranks, "comparisons": comparisons, "characters": read}
        board = board_rows(protocol, systems, task.kind, **frames)
        return [effects, means, comparisons, ranks, board]

    target.make(make)
    # Some runs report which items they resolved.
    usage = lake.parts("usage", benchmark=task.benchmark)
    with_usage = {part.folders["run_id"] for part in usage}
    reporting = [part for part in scored if part.folders["run_id"] in with_usage]
    inputs = [*reporting, *usage, *items]
    target = target_of(lake, "repairs", part=name, inputs=inputs, code=[repairs_of], **folders)
    if reporting:
        read = (("scores", reporting), ("usage", usage), ("items", items))
        target.make(lambda: repairs_of(*(lake.scan_parts(parts, of) for of, parts in read)))
    else:
        target.remove()
    return result


def _read(lake: Lake, name: str, parts: Sequence[Part], rows: pl.DataFrame) -> Iterator[pl.LazyFrame]:
    """The rows of a table for the runs in `rows`, from some parts; each frame has as many runs as fit in memory."""
    runs = sorted({*rows["run_id"]})
    parts = [part for part in parts if part.folders["run_id"] in runs]
    for batch in run_batches(lake, name, runs, parts):
        yield lake.scan_parts([part for part in parts if part.folders["run_id"] in batch], name)


def keep_ledgers(item_parts: Sequence[ItemPart], systems: pl.DataFrame) -> None:
    """Write the ledgers of a task's scored runs under every protocol that has one; runs of one chunker share a part."""
    lake, task = item_parts[0].lake, item_parts[0].task
    by_chunker, prefix = defaultdict[str | None, list[Run]](list), f"{task.name.replace('/', '.')}--"
    for run_id, chunker, is_chance in systems.select("run_id", "chunker", "is_expected").iter_rows():
        by_chunker[chunker].append(Run(run_id, chunker=chunker, is_chance=is_chance))
    for protocol in filter(is_kept, protocols_of(task)):
        folders, kept = {"benchmark": task.benchmark, "protocol": protocol.name}, set[str]()
        for item_part in item_parts:
            gold_files = cache(partial(_gold_files, item_part, protocol))
            for chunker, runs in by_chunker.items():
                stored = {run: lake.part("scores", item_part.part, run_id=run.run_id, **folders) for run in runs}
                # Scores depend on the hits that they are of.
                scored = {run: scores for run, scores in stored.items() if scores}
                if not scored:
                    continue
                name = f"{prefix}{chunker or 'uncut'}--{item_part.part}"
                kept.add(name)
                cut = lake.part("chunkers", chunker) if chunker else None
                inputs, code = [*scored.values(), cut, item_part], (ledger_of_lines, load_files, files_of)
                chance = [run.run_id for run in scored if run.is_chance]
                target = target_of(lake, "ledger", part=name, inputs=inputs, parameters=chance, code=code, **folders)
                target.make(partial(_ledger, item_part, protocol, gold_files, chunker, list(scored)))
        for part in lake.parts("ledger", **folders):
            if part.name.startswith(prefix) and part.name not in kept:
                lake.remove(part)


def _gold_files(item_part: ItemPart, protocol: Protocol) -> pl.DataFrame:
    """The gold files that exist: item_id, pool_id, path, sha256, n_lines."""
    pools = item_part.items.lazy().select("item_id", "pool_id")
    of_gold = item_part.gold_of(protocol.gold).lazy().select("item_id", "path").unique().join(pools, on="item_id")
    files = load_files(item_part.lake, of_gold.select("pool_id", "path").unique().collect())
    n_lines = contents_of(item_part.lake, files["sha256"], ["n_lines"]).lazy()
    return of_gold.join(files.lazy(), on=["pool_id", "path"]).join(n_lines, on="sha256").collect()


def _ledger(
    item_part: ItemPart,
    protocol: Protocol,
    gold_files: Callable[[], pl.DataFrame],
    chunker: str | None,
    runs: Sequence[Run],
) -> pl.DataFrame:
    """The ledgers of runs over one chunker's chunks of the searched gold files; without a chunker, over whole files."""
    lake, ledgers = item_part.lake, list[pl.DataFrame]()
    run_ids, chance = [run.run_id for run in runs], [run.run_id for run in runs if run.is_chance]
    gold = item_part.gold_of(protocol.gold).lazy().select("item_id", "path", "line_start", "line_end")
    if by_lines := RELEVANCE[protocol.relevance].by_lines:
        files = gold_files()
        searched = files_of(lake, files["pool_id"]).select("pool_id", "path")
        chunks = files.lazy().join(searched, on=["pool_id", "path"], how="semi")
        if chunker is None:
            chunks = chunks.select("item_id", "path", line_start=pl.lit(0, pl.Int64), line_end="n_lines")
        else:
            cut = chunks_of(lake, chunker, files, with_blank=False).select("sha256", "line_start", "line_end")
            chunks = chunks.select("item_id", "path", "sha256").join(cut, on="sha256").drop("sha256")
    for batch in run_batches(lake, "hits", run_ids, parts_of_runs([item_part], "hits", run_ids)):
        given = {
            "scores": item_part.of_runs("scores", batch, protocol=protocol.name),
            "hits": item_part.of_runs("hits", batch),
            "answered": item_part.of_runs("run_items", batch),
            "gold": gold,
        }
        if by_lines:
            ledger = ledger_of_lines(protocol, **given, files=files.lazy(), chunks=chunks, chance=chance)
        else:
            ledger = ledger_of_candidates(protocol, **given)
        ledgers.append(ledger.collect())
    return Ledger.cast(pl.concat(ledgers).with_columns(protocol=pl.lit(protocol.name)))
