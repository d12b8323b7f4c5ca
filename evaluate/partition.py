"""One part of the items under one task: ranking and scoring it for some systems, as far as not done yet.

This is the unit of work: a pure function of the lake's contents, so parts can be made in any order and on any machine.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
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
from evaluate.score.metric_values import ScoringInputs
from evaluate.selection import ItemPart
from evaluate.systems import PlannedRun, Run, batches, rows_of
from evaluate.texts.query_forms import rewritten
from lake.benchmarks import protocols_of
from lake.catalog.protocol import CUT_OFFS, Protocol
from lake.make import BuildTarget, Input, target_of, write_by_run
from lake.offsets import LineOffsets
from lake.relevance import RELEVANCE
from lake.tables import GOLD_RUN


class ReadPools(NamedTuple):
    """Pools in memory, and whether their chunks of only white space are included."""

    pool_ids: pl.Series
    with_blank: bool
    pools: ChunkedPools


@dataclass(frozen=True)
class Partition:
    """One part of the items under one task. Its pools are read once, and shared with the tasks that are given `read`.

    `read` maps the chunker whose pools are in memory to these.
    """

    item_part: ItemPart
    read: dict[str, ReadPools] = field(default_factory=dict)

    def run(self, runs: Sequence[Run]) -> None:
        """Make the missing rankings and scores of runs that use one chunker; imported runs are only scored.

        Every run is scored under all of its protocols, whether its answers are rankings or contexts.
        """
        planned = [run for run in runs if isinstance(run, PlannedRun)]
        self._rank([run for run in planned if not self._ranking(run).is_current])
        for protocol in protocols_of(self.item_part.task):
            targets = {run: of_run for run in runs if (of_run := self._scoring(run, protocol))}
            for chunker in dict.fromkeys(run.chunker for run in targets):
                # Made here so that a damaged part is made again even if the scores exist.
                self._relevance(protocol, chunker)
            todo = {run: scores for run, (*_, scores) in targets.items() if not scores.is_current}
            for scored, tables in self.scores(protocol, list(todo)):
                write_by_run({run.run_id: todo[run] for run in scored}, *tables)

    def is_current(self, runs: Sequence[Run]) -> bool:
        """Whether nothing is left to do for some runs."""
        rankings = (self._ranking(run) for run in runs if isinstance(run, PlannedRun))
        protocols = protocols_of(self.item_part.task)
        scoring = (target for run in runs for protocol in protocols for target in self._scoring(run, protocol))
        return all(target.is_current for target in chain(rankings, scoring))

    def scores(self, protocol: Protocol, runs: Sequence[Run]) -> Iterator[tuple[Sequence[Run], Sequence[pl.DataFrame]]]:
        """The part's scores under a protocol, computed and not stored, some runs at a time.

        The rows of table `scores` come last, preceded by `step_scores` if the runs have steps.
        """
        for alike in _by_chunker(runs):
            if protocol.context is None:
                yield alike, [self._scores_of_lists(alike, protocol)]
                continue
            for batch in batches([run for run in alike if not run.is_chance], "hits", [self.item_part]):
                scored = score_part(self.item_part, protocol, [run.run_id for run in batch])
                steps = scored.steps.with_columns(protocol=pl.lit(protocol.name))
                yield batch, [steps, sealed(scored.scores.lazy(), protocol).collect()]
            for run in (run for run in alike if run.is_chance):
                expected = expected_contexts(self.item_part, protocol, run.run_id, run.chunker or "")
                yield [run], [sealed(expected.lazy(), protocol).collect()]

    def _scores_of_lists(self, runs: Sequence[Run], protocol: Protocol) -> pl.DataFrame:
        """The scores of runs that use one chunker under a protocol for rankings."""
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
        """Rank the part for runs that use one chunker: some pools at a time, whose tokens all runs share."""
        if not runs:
            return
        rows = [self._ranked_rows(runs, *some) for some in self._pools_in_turn(runs[0].system.chunker)]
        targets = {run.run_id: self._ranking(run) for run in runs}
        ranked, hits, items = zip(*rows, strict=True)
        write_by_run(targets, cost_rows(ranked, self.item_part.part), pl.concat(hits), pl.concat(items))

    def _pools_in_turn(self, chunker: str) -> Iterator[tuple[ChunkedPools, pl.DataFrame, Callable[[], LineOffsets]]]:
        """The pools, as many at a time as fit in memory, with their queries and the lines of their files."""
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
    ) -> tuple[dict[str, Ranked], pl.DataFrame, pl.DataFrame]:
        """The rankings of some pools: per run, and as rows of `hits` and `run_items`."""
        # All runs on one batch of pools before the next, because no pool is kept.
        parts = [list(self._ranked(runs, batch, queries)) for batch in pools.batches(queries)]
        ranked = {run.run_id: together(of_run) for run, of_run in zip(runs, zip(*parts, strict=True), strict=True)}
        return ranked, ranked_hit_rows(ranked, pools, axis), run_item_rows(ranked, queries, pools)

    def _ranked(self, runs: Sequence[PlannedRun], pools: ChunkedPools, all_queries: pl.DataFrame) -> Iterator[Ranked]:
        """The rankings of some pools, run by run; queries of equal form are rewritten once for all runs."""
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
                gold, gains = self.item_part.gold_of(protocol.gold), self._relevance(protocol, run.system.chunker)
                if gains is not None:
                    gain = RELEVANCE[protocol.relevance].similarity
                    gains = gains.select("item_id", "path", "chunk_no", gain=gain)
                known = with_gold(known, all_queries, pools, gold, gains)
            yield rank(
                retriever,
                known,
                tie=task.tie,
                depth=task.depth,
                cut_offs=CUT_OFFS,
                # The oracle scores by the gold, which may be blank, so its scores are not set to 0.
                zero_blank=task.ranks_blank and retriever.needs != "gold",
            )

    def _relevance(self, protocol: Protocol, chunker: str | None) -> pl.LazyFrame | None:
        """The similarity of each searched chunk to the gold, computed once; None if relevance is not a similarity."""
        if chunker is None or not RELEVANCE[protocol.relevance].similarity:
            return None
        target = self._relevance_target(protocol, chunker)
        item_part = self.item_part
        target.make(
            lambda: relevance_rows(
                item_part.lake, self._pools(chunker), item_part.items, item_part.gold_of(protocol.gold)
            )
        )
        return target.scan("relevance")

    def _pools(self, chunker: str) -> ChunkedPools:
        pool_ids, with_blank = self.item_part.pool_ids, self.item_part.task.ranks_blank
        known = self.read.pop(chunker, None)
        # Memory holds the pools of one chunker and task only.
        self.read.clear()
        if known and known.pool_ids.equals(pool_ids) and known.with_blank >= with_blank:
            pools = known.pools if known.with_blank == with_blank else known.pools.without_blank()
        else:
            known = None
            pools = load_pools(self.item_part.lake, chunker, pool_ids, with_blank=with_blank)
        self.read[chunker] = ReadPools(pool_ids, with_blank, pools)
        return pools

    @cached_property
    def _axis(self) -> LineOffsets:
        return load_axis(self.item_part.lake, self.item_part.pool_ids)

    def _folders(self, run: Run) -> dict[str, str]:
        return {"benchmark": self.item_part.task.benchmark, "run_id": run.run_id}

    def _ranking(self, run: PlannedRun) -> BuildTarget:
        """The target of the part's ranking by a run; the run's stamp covers the code."""
        folders, item_part = self._folders(run), self.item_part
        # `run_items` is last, so that its part marks the hits as complete.
        tables = ("costs", "hits", "run_items")
        return target_of(
            item_part.lake, *tables, part=item_part.part, inputs=[item_part], parameters=run.stamp, code=(), **folders
        )

    def _scoring(self, run: Run, protocol: Protocol) -> list[BuildTarget]:
        """The targets of a run's scoring under a protocol, its scores last; empty if it has no answers or no scores."""
        by_similarity = bool(RELEVANCE[protocol.relevance].similarity)
        # Similarity to the gold is measured on chunks, so the run's chunker has to be known.
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
            # The expectation of a random ranking has no steps.
            tables = tables if run.is_chance else ["step_scores", *tables]
            # All parts of `symbols` have the same fingerprint, that of the code that found them.
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
    """The functions whose code decides a run's scores under a protocol, including its metrics."""
    metrics = [metric.at for metric, _ in metrics_of(protocol)]
    if protocol.context is None:
        return [score_runs, *metrics]
    return [score_part, expected_contexts, *metrics]
