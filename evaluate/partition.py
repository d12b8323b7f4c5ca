"""One part of the items under one task: rank it and score it for some systems, as far as it is not done.

This is the unit of work: a pure function of what the lake holds, so that parts can be made in any order and anywhere.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain
from typing import NamedTuple

import polars as pl

from evaluate.metrics import metrics_of
from evaluate.rank.pools import (
    POOL_FILES_AT_ONCE,
    ChunkedPools,
    load_axis,
    load_pools,
    queries_by_pool,
    relevance_rows,
    split_pools,
    with_gold,
)
from evaluate.rank.ranking import Ranked, cost_rows, rank, ranked_hit_rows, run_item_rows, together
from evaluate.retrievers import Pool, Queries
from evaluate.score.chance import score_runs
from evaluate.score.conformance import protocol_hash, sealed
from evaluate.score.contexts.chance import expected_contexts
from evaluate.score.contexts.scoring import score_part
from evaluate.score.metric_inputs import ScoringInputs
from evaluate.selection import ItemPart
from evaluate.systems import PlannedRun, Run, batches, rows_of
from evaluate.texts.query_forms import rewritten
from lake.benchmarks import protocols_of
from lake.catalog.protocol import CUT_OFFS, Protocol
from lake.make import BuildTarget, Input, target_of, write_by_run
from lake.offsets import LineOffsets
from lake.relevance import RELEVANCE
from lake.tables import GOLD_RUN


class RankedRows(NamedTuple):
    """What some runs' ranking of some pools gave: by run, and as rows of `hits` and `run_items`."""

    by_run: dict[str, Ranked]
    hits: pl.DataFrame
    run_items: pl.DataFrame


class ScoreTables(NamedTuple):
    """What some runs score under a protocol: rows of `scores`, before them of `step_scores` where they have steps."""

    runs: Sequence[Run]
    tables: Sequence[pl.DataFrame]


@dataclass(frozen=True)
class Partition:
    """One part of the items, as one task asks it. Its pools, once read, are kept as long as it is."""

    item_part: ItemPart

    def run(self, runs: Sequence[Run]) -> None:
        """Rank the part for runs over one chunker's chunks, unless they were imported, and score it, as far as needed.

        Every run is scored under all of its protocols, be its answers rankings or contexts.
        """
        planned = [run for run in runs if isinstance(run, PlannedRun)]
        self._rank([run for run in planned if not self._ranking(run).is_current])
        for protocol in protocols_of(self.item_part.task):
            targets = {run: of_run for run in runs if (of_run := self._scoring(run, protocol))}
            for chunker in dict.fromkeys(run.chunker for run in targets):
                # Made again where it was damaged, though the scores may be there.
                self._relevance(protocol, chunker)
            todo = {run: scores for run, (*_, scores) in targets.items() if not scores.is_current}
            for scored in self.scores(protocol, list(todo)):
                write_by_run({run.run_id: todo[run] for run in scored.runs}, *scored.tables)

    def is_current(self, runs: Sequence[Run]) -> bool:
        """Whether there is nothing to do for some runs."""
        rankings = (self._ranking(run) for run in runs if isinstance(run, PlannedRun))
        protocols = protocols_of(self.item_part.task)
        scoring = (target for run in runs for protocol in protocols for target in self._scoring(run, protocol))
        return all(target.is_current for target in chain(rankings, scoring))

    def scores(self, protocol: Protocol, runs: Sequence[Run]) -> Iterator[ScoreTables]:
        """The part's scores of runs under a protocol, worked out and not stored, some runs at a time."""
        for alike in _by_chunker(runs):
            if protocol.context is None:
                yield ScoreTables(alike, [self._scores_of_lists(alike, protocol)])
                continue
            for batch in batches([run for run in alike if not run.is_chance], "hits", [self.item_part]):
                scored = score_part(self.item_part, protocol, [run.run_id for run in batch])
                steps = scored.steps.with_columns(protocol=pl.lit(protocol.name))
                yield ScoreTables(batch, [steps, sealed(scored.scores.lazy(), protocol).collect()])
            for run in (run for run in alike if run.is_chance):
                expected = expected_contexts(self.item_part, protocol, run.run_id, run.chunker or "")
                yield ScoreTables([run], [sealed(expected.lazy(), protocol).collect()])

    def _scores_of_lists(self, runs: Sequence[Run], protocol: Protocol) -> pl.DataFrame:
        """Those of runs over one chunker's chunks under rules of rankings."""
        item_part, chunker = self.item_part, runs[0].chunker
        items, pool = item_part.items.lazy(), None if chunker is None else self._pools(chunker).chunks.lazy()
        axis = self._axis if any(metric.shape == "covered" for metric, _ in metrics_of(protocol)) else None
        gold, relevance = item_part.gold_of(protocol.gold).lazy(), self._relevance(protocol, chunker)
        listed = [run for run in runs if not run.is_chance]
        return score_runs(
            ScoringInputs(protocol, items, gold, pool, axis, relevance),
            hits=rows_of(item_part, "hits", listed),
            answers=rows_of(item_part, "run_items", listed).select("run_id", "item_id", "completion"),
            chance=[run.run_id for run in runs if run.is_chance],
        )

    def _rank(self, runs: Sequence[PlannedRun]) -> None:
        """Rank the part for runs over one chunker's chunks: some pools at a time, whose tokens are shared by all."""
        if not runs:
            return
        rows = [self._ranked_rows(runs, *some) for some in self._pools_in_turn(runs[0].system.chunker)]
        targets = {run.run_id: self._ranking(run) for run in runs}
        costs, hits, items = zip(*rows, strict=True)
        write_by_run(targets, cost_rows(costs, self.item_part.part), pl.concat(hits), pl.concat(items))

    def _pools_in_turn(self, chunker: str) -> Iterator[tuple[ChunkedPools, pl.DataFrame, Callable[[], LineOffsets]]]:
        """The pools, as many at a time as memory holds, with the queries to them and the lines of their files."""
        item_part = self.item_part
        batches = split_pools(item_part.lake, item_part.pool_ids, POOL_FILES_AT_ONCE)
        if len(batches) == 1:
            yield self._pools(chunker), item_part.queries, lambda: self._axis
            return
        for pool_ids in batches:
            queries = item_part.queries.filter(pl.col("pool_id").is_in(pool_ids.implode()))
            pools = load_pools(item_part.lake, chunker, pool_ids, with_blank=item_part.task.ranks_blank)
            yield pools, queries, partial(load_axis, item_part.lake, pool_ids)

    def _ranked_rows(
        self, runs: Sequence[PlannedRun], pools: ChunkedPools, queries: pl.DataFrame, axis: Callable[[], LineOffsets]
    ) -> RankedRows:
        # Where every item has a small pool of its own, these are gone through side by side.
        some = [pools] if pools.are_own(queries) else pools.batches()
        # All runs before the next pools: nothing of these is kept.
        parts = [list(self._ranked(runs, batch, queries)) for batch in some]
        ranked = {run.run_id: together(of_run) for run, of_run in zip(runs, zip(*parts, strict=True), strict=True)}
        return RankedRows(ranked, ranked_hit_rows(ranked, pools, axis), run_item_rows(ranked, queries, pools))

    def _ranked(self, runs: Sequence[PlannedRun], pools: ChunkedPools, all_queries: pl.DataFrame) -> Iterator[Ranked]:
        """What some pools give, run by run; the same words are put to the same pools once."""
        are_own = pools.are_own(all_queries)
        queries: dict[tuple[str, int], list[tuple[Pool, Queries]]] = {}
        for run in runs:
            task, retriever, protocol = self.item_part.task, run.system.retriever, run.system.protocol
            key = (retriever.query_form, retriever.n_side_by_side if are_own else 1)
            if key not in queries:
                texts = rewritten(all_queries, retriever.query_form)
                queries[key] = list(queries_by_pool(texts, pools, key[1]))
            known: Iterable[tuple[Pool, Queries]] = queries[key]
            if protocol:
                gold, gains = self.item_part.gold_of(protocol.gold), self._gains(protocol, run.system.chunker)
                known = with_gold(known, all_queries, pools, gold, gains)
            yield rank(
                retriever,
                known,
                tie=task.tie,
                depth=task.depth,
                cut_offs=CUT_OFFS,
                # The oracle scores by the gold, which may be blank.
                zero_blank=task.ranks_blank and retriever.needs != "gold",
            )

    def _relevance(self, protocol: Protocol, chunker: str | None) -> pl.LazyFrame | None:
        """How like the gold every chunk of the asked pools is, where the protocol goes by that; measured once."""
        if chunker is None or not RELEVANCE[protocol.relevance].similarity:
            return None
        target = self._relevance_target(protocol, chunker)
        target.make(partial(self._measured, protocol, chunker))
        return target.scan("relevance")

    def _measured(self, protocol: Protocol, chunker: str) -> pl.DataFrame:
        item_part = self.item_part
        gold = item_part.gold_of(protocol.gold)
        return relevance_rows(item_part.lake, self._pools(chunker), item_part.items, gold)

    def _gains(self, protocol: Protocol, chunker: str) -> pl.DataFrame | None:
        """What the oracle orders by, where relevance is a similarity."""
        relevance = self._relevance(protocol, chunker)
        if relevance is None:
            return None
        column = RELEVANCE[protocol.relevance].similarity
        return relevance.select("item_id", "path", "chunk_no", gain=column).collect()

    def _pools(self, chunker: str) -> ChunkedPools:
        if chunker not in self._read:
            item_part, with_blank = self.item_part, self.item_part.task.ranks_blank
            # Those of one chunker are enough for memory to hold.
            self._read.clear()
            self._read[chunker] = load_pools(item_part.lake, chunker, item_part.pool_ids, with_blank=with_blank)
        return self._read[chunker]

    @cached_property
    def _read(self) -> dict[str, ChunkedPools]:
        return {}

    @cached_property
    def _axis(self) -> LineOffsets:
        return load_axis(self.item_part.lake, self.item_part.pool_ids)

    def _folders(self, run: Run) -> dict[str, str]:
        return {"benchmark": self.item_part.task.benchmark, "run_id": run.run_id}

    def _ranking(self, run: PlannedRun) -> BuildTarget:
        """The part's ranking, for a run of that stamp, which has the digest of the code."""
        folders, item_part = self._folders(run), self.item_part
        # The items last, so that a part of them means that its hits are there.
        tables = ("costs", "hits", "run_items")
        return target_of(
            item_part.lake, *tables, part=item_part.part, inputs=[item_part], parameters=run.stamp, code=(), **folders
        )

    def _scoring(self, run: Run, protocol: Protocol) -> list[BuildTarget]:
        """What a run is scored by under a protocol, its scores last; nothing where it has no answers, or no scores."""
        by_similarity = bool(RELEVANCE[protocol.relevance].similarity)
        # Which chunks are like the gold is measured on chunks: somebody has to have said how these were cut.
        if run.protocol not in ("", protocol.name) or (by_similarity and run.chunker is None):
            return []
        item_part = self.item_part
        answered: Sequence[Input] = (
            [self._ranking(run)] if isinstance(run, PlannedRun) else item_part.parts_of("run_items", run_id=run.run_id)
        )
        if not answered:
            return []
        read, tables = list[Input](), ["scores"]
        if protocol.context is not None:
            # An expectation has no steps.
            tables = tables if run.is_chance else ["step_scores", *tables]
            # All parts of the symbols have one fingerprint, that of the code that found them.
            symbols = item_part.lake.parts("symbols", rules=protocol.context.symbols)
            read += [part for run_id in (run.run_id, GOLD_RUN) for part in item_part.parts_of("edits", run_id=run_id)]
            read += {part.fingerprint: part for part in symbols}.values()
        scores = target_of(
            item_part.lake,
            *tables,
            part=item_part.part,
            inputs=[*answered, item_part, *read],
            parameters=protocol_hash(protocol),
            code=_scoring_code(protocol),
            protocol=protocol.name,
            **self._folders(run),
        )
        return [*([self._relevance_target(protocol, run.chunker)] if by_similarity and run.chunker else []), scores]

    def _relevance_target(self, protocol: Protocol, chunker: str) -> BuildTarget:
        return target_of(
            self.item_part.lake,
            "relevance",
            part=self.item_part.part,
            inputs=[self.item_part, self.item_part.lake.part("chunkers", chunker)],
            parameters=protocol.gold,
            code=[relevance_rows],
            benchmark=self.item_part.task.benchmark,
            chunker=chunker,
        )


def _by_chunker(runs: Sequence[Run]) -> list[list[Run]]:
    over: dict[str | None, list[Run]] = {}
    for run in runs:
        over.setdefault(run.chunker, []).append(run)
    return list(over.values())


def _scoring_code(protocol: Protocol) -> list[Callable[..., object]]:
    """What scores a run under a protocol, and its metrics: the code in the closure of their imports counts."""
    metrics = [metric.at for metric, _ in metrics_of(protocol)]
    if protocol.context is None:
        return [score_runs, *metrics]
    return [score_part, expected_contexts, *metrics]
