"""One part of the items under one task, the unit of work: ranked and scored for some systems, as far as not done."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import chain

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
from evaluate.rank.ranking import Ranked, cost_rows, hits_by_run, rank, ranked_hit_rows, run_item_rows
from evaluate.retrievers import Pool, Queries
from evaluate.score.chance import score_runs
from evaluate.score.conformance import protocol_hash, sealed
from evaluate.score.contexts.chance import expected_contexts
from evaluate.score.contexts.scoring import score_part
from evaluate.score.metric_values import ScoringInputs
from evaluate.selection import ItemPart, parts_of_runs
from evaluate.systems import PlannedRun, Run, run_batches, write_by_run
from evaluate.texts.query_forms import rewritten
from lake.benchmarks import protocols_of
from lake.catalog.protocol import Protocol
from lake.make import BuildTarget, Input, target_of
from lake.offsets import LineOffsets
from lake.relevance import RELEVANCE
from lake.tables import GOLD_RUN

ReadPools = dict[tuple[str, ...], dict[bool, ChunkedPools]]
"""The pools in memory, by chunker and pool ids, and by whether their chunks of only white space are included."""


@dataclass(frozen=True)
class Partition:
    """One part of the items under one task. Tasks that are given the same `read` share the pools in memory."""

    item_part: ItemPart
    read: ReadPools = field(default_factory=dict)

    def run(self, runs: Sequence[Run]) -> None:
        """Make what is missing of the rankings of runs over one chunker's chunks, and of their scores."""
        if todo := [run for run in runs if isinstance(run, PlannedRun) and not self._ranking(run).is_current]:
            self._rank(todo)
        for protocol in protocols_of(self.item_part.task):
            targets = {run: of_run for run in runs if (of_run := self._scoring(run, protocol))}
            for chunker in dict.fromkeys(run.chunker for run in targets):
                # Made here so that a damaged part is made again even if the scores exist.
                self._relevance(protocol, chunker)
            outdated = {run.run_id: scores for run, (*_, scores) in targets.items() if not scores.is_current}
            for scored, tables in self.scores(protocol, [run for run in targets if run.run_id in outdated]):
                write_by_run({run_id: outdated[run_id] for run_id in scored}, *tables)

    def is_current(self, runs: Sequence[Run]) -> bool:
        """Whether nothing is left to do for some runs."""
        rankings = (self._ranking(run) for run in runs if isinstance(run, PlannedRun))
        protocols = protocols_of(self.item_part.task)
        scoring = (target for run in runs for protocol in protocols for target in self._scoring(run, protocol))
        return all(target.is_current for target in chain(rankings, scoring))

    def scores(self, protocol: Protocol, runs: Sequence[Run]) -> Iterator[tuple[Sequence[str], Sequence[pl.DataFrame]]]:
        """The scores of some runs at a time under a protocol: rows of `step_scores`, if they have any, and `scores`."""
        item_part = self.item_part
        for chunker in dict.fromkeys(run.chunker for run in runs):
            listed, chance = (
                [run.run_id for run in runs if run.chunker == chunker and run.is_chance == is_chance]
                for is_chance in (False, True)
            )
            if protocol.context is None:
                pool = None if chunker is None else self._pools(chunker).chunks.lazy()
                axis = self._axis if any(metric.shape == "covered" for metric, _ in metrics_of(protocol)) else None
                gold, relevance = item_part.gold_of(protocol.gold).lazy(), self._relevance(protocol, chunker)
                scores = score_runs(
                    ScoringInputs(protocol, item_part.items.lazy(), gold, pool, axis, relevance),
                    hits=item_part.of_runs("hits", listed),
                    answers=item_part.of_runs("run_items", listed).select("run_id", "item_id", "completion"),
                    chance=chance,
                )
                yield [*listed, *chance], [scores]
                continue
            for batch in run_batches(item_part.lake, "hits", listed, parts_of_runs([item_part], "hits", listed)):
                scored = score_part(item_part, protocol, batch)
                steps = scored.steps.with_columns(protocol=pl.lit(protocol.name))
                yield batch, [steps, sealed(scored.scores.lazy(), protocol).collect()]
            for run_id in chance:
                expected = expected_contexts(item_part, protocol, run_id, chunker or "")
                yield [run_id], [sealed(expected.lazy(), protocol).collect()]

    def _rank(self, runs: Sequence[PlannedRun]) -> None:
        """Rank the part for runs that use one chunker: some pools at a time, whose tokens all runs share."""
        results, hits, items = list[dict[str, Ranked]](), list[pl.DataFrame](), list[pl.DataFrame]()
        item_part, chunker, queries = self.item_part, runs[0].system.chunker, self.item_part.queries
        task = item_part.task
        parts = split_pools(item_part.lake, item_part.pool_ids, POOL_FILES_AT_ONCE)
        for pool_ids in parts:
            if is_whole := len(parts) == 1:
                pools = self._pools(chunker)
            else:
                pools = load_pools(item_part.lake, chunker, pool_ids, with_blank=item_part.task.ranks_blank)
                queries = item_part.queries.filter(pl.col("pool_id").is_in(pool_ids.implode()))
            ranked = {run.run_id: Ranked() for run in runs}
            # All runs on one batch of pools before the next, because no pool is kept.
            for batch in pools.batches(queries):
                # Queries of equal form are rewritten once for all runs.
                pairs, are_own = dict[tuple[str, int], list[tuple[Pool, Queries]]](), batch.are_own(queries)
                for run in runs:
                    retriever, protocol = run.system.retriever, run.system.protocol
                    key = (retriever.query_form, retriever.n_side_by_side if are_own else 1)
                    if key not in pairs:
                        pairs[key] = list(queries_by_pool(rewritten(queries, key[0]), batch, key[1]))
                    known: Iterable[tuple[Pool, Queries]] = pairs[key]
                    if protocol:
                        gold, relevance = item_part.gold_of(protocol.gold), self._relevance(protocol, chunker)
                        column = RELEVANCE[protocol.relevance].similarity
                        known = with_gold(known, queries, batch, gold, relevance, column)
                    # The oracle scores by the gold, which may be blank, so its scores are not set to 0.
                    zero_blank, before = task.ranks_blank and retriever.needs != "gold", ranked[run.run_id]
                    rank(retriever, known, tie=task.tie, depth=task.depth, zero_blank=zero_blank, before=before)
            by_run, axis = hits_by_run(ranked), None
            if pools.share_lines:
                axis = self._axis if is_whole else load_axis(item_part.lake, pool_ids)
            results.append(ranked)
            hits.append(ranked_hit_rows(by_run, pools, axis))
            items.append(run_item_rows(ranked, by_run, queries, pools))
        targets = {run.run_id: self._ranking(run) for run in runs}
        write_by_run(targets, cost_rows(results, item_part.part), pl.concat(hits), pl.concat(items))

    def _relevance(self, protocol: Protocol, chunker: str | None) -> pl.LazyFrame | None:
        """The similarity of each searched chunk to the gold, computed once; None if relevance is not a similarity."""
        if chunker is None or not RELEVANCE[protocol.relevance].similarity:
            return None
        target, item_part = self._relevance_target(protocol, chunker), self.item_part
        gold = item_part.gold_of(protocol.gold)
        target.make(lambda: relevance_rows(item_part.lake, self._pools(chunker), item_part.items, gold))
        return target.scan("relevance")

    def _pools(self, chunker: str) -> ChunkedPools:
        pool_ids, with_blank = self.item_part.pool_ids, self.item_part.task.ranks_blank
        key = (chunker, *pool_ids)
        known = self.read.pop(key, {})
        # Memory holds the pools of one chunker and task only.
        self.read.clear()
        if with_blank not in known and True in known:
            known[False] = known[True].without_blank()
        elif with_blank not in known:
            known[with_blank] = load_pools(self.item_part.lake, chunker, pool_ids, with_blank=with_blank)
        self.read[key] = known
        return known[with_blank]

    @cached_property
    def _axis(self) -> LineOffsets:
        return load_axis(self.item_part.lake, self.item_part.pool_ids)

    @cached_property
    def _target(self) -> Callable[..., BuildTarget]:
        """A target of this part in some tables."""
        item_part = self.item_part
        return partial(target_of, item_part.lake, part=item_part.part, benchmark=item_part.task.benchmark)

    def _ranking(self, run: PlannedRun) -> BuildTarget:
        """The target of the part's ranking by a run; the run's stamp covers the code."""
        # `run_items` is last, so that its part marks the hits as complete.
        return self._target(
            "costs", "hits", "run_items", inputs=[self.item_part], parameters=run.stamp, run_id=run.run_id
        )

    def _scoring(self, run: Run, protocol: Protocol) -> list[BuildTarget]:
        """The targets of a run's scoring under a protocol, its scores last; empty if it has no answers or no scores."""
        by_similarity = bool(RELEVANCE[protocol.relevance].similarity)
        # Similarity to the gold is measured on chunks, so the run's chunker has to be known.
        if run.protocol not in ("", protocol.name) or (by_similarity and run.chunker is None):
            return []
        item_part = self.item_part
        read: list[Input] = [*item_part.parts_of("run_items", run_id=run.run_id)]
        if isinstance(run, PlannedRun):
            read = [self._ranking(run)]
        if not read:
            return []
        read.append(item_part)
        tables, code = ["scores"], list[Callable[..., object]](metric.at for metric, _ in metrics_of(protocol))
        code += [score_runs] if protocol.context is None else [score_part, expected_contexts]
        if protocol.context is not None:
            # The expectation of a random ranking has no steps.
            tables = tables if run.is_chance else ["step_scores", *tables]
            # All parts of `symbols` have the same fingerprint, that of the code that found them.
            symbols = item_part.lake.parts("symbols", rules=protocol.context.symbols)
            read += [part for run_id in (run.run_id, GOLD_RUN) for part in item_part.parts_of("edits", run_id=run_id)]
            read += {part.fingerprint: part for part in symbols}.values()
        folders = {"protocol": protocol.name, "run_id": run.run_id}
        scores = self._target(*tables, inputs=read, parameters=protocol_hash(protocol), code=code, **folders)
        return [*([self._relevance_target(protocol, run.chunker)] if by_similarity and run.chunker else []), scores]

    def _relevance_target(self, protocol: Protocol, chunker: str) -> BuildTarget:
        inputs = [self.item_part, self.item_part.lake.part("chunkers", chunker)]
        return self._target(
            "relevance", inputs=inputs, parameters=protocol.gold, code=[relevance_rows], chunker=chunker
        )
