"""One part of the items under one task: rank it and score it for one system after the other, as far as it is not done.

This is the unit of work: a pure function of what the lake holds, so that parts can be made in any order and anywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial

import polars as pl

from evaluate.batches import rows_of
from evaluate.metrics import metrics_of
from evaluate.rank.hit_rows import cost_rows, hit_rows, run_item_rows
from evaluate.rank.pools import ChunkedPools, load_axis, load_pools, queries_by_pool, relevance_rows, with_gold
from evaluate.rank.ranking import Ranked, rank, rank_at_once, together
from evaluate.retrievers import Pool, Queries
from evaluate.score.conformance import protocol_hash
from evaluate.score.contexts.chance import expected_contexts
from evaluate.score.contexts.material import load_material, load_runs
from evaluate.score.contexts.scoring import score_contexts
from evaluate.score.metric_inputs import Basis
from evaluate.score.scoring import score_runs
from evaluate.selection import ItemPart
from evaluate.systems import PlannedRun, Run
from evaluate.texts.query_forms import rewritten
from lake.catalog.protocol import CUT_OFFS, Protocol
from lake.catalog.protocols import protocols_of
from lake.catalog.task import Task
from lake.lines import LineAxis
from lake.make import Input, Product, product_of, write_by_run
from lake.relevance import RELEVANCE
from lake.store import Lake


@dataclass
class PoolCache:
    """What was read last, for whoever asks the same next: one part's pools under one chunker, its files' lines."""

    _pools: tuple[tuple[str, ...], ChunkedPools] | None = field(default=None, init=False)
    _axis: tuple[tuple[str, ...], LineAxis] | None = field(default=None, init=False)

    def pools(self, chunker: str, asked: ItemPart) -> ChunkedPools:
        """The asked pools as a chunker cuts them."""
        task = asked.task
        key = (chunker, task.pool_prefix, str(task.ranks_blank), asked.part, asked.fingerprint)
        if self._pools is None or self._pools[0] != key:
            self._pools = None
            with_blank = task.ranks_blank
            self._pools = (key, load_pools(asked.lake, chunker, asked.pool_ids, asked.files, with_blank=with_blank))
        return self._pools[1]

    def axis(self, asked: ItemPart) -> LineAxis:
        """The lines of the asked pools' files."""
        key = (asked.task.pool_prefix, asked.part, asked.fingerprint)
        if self._axis is None or self._axis[0] != key:
            self._axis = None
            self._axis = (key, load_axis(asked.lake, asked.pool_ids, asked.files))
        return self._axis[1]


@dataclass(frozen=True)
class Partition:
    """One part of the items, as one task asks it; and what was read before."""

    asked: ItemPart
    cache: PoolCache

    @property
    def lake(self) -> Lake:
        """Where from and where to."""
        return self.asked.lake

    @property
    def task(self) -> Task:
        """What is asked."""
        return self.asked.task

    def run(self, runs: Sequence[PlannedRun]) -> None:
        """Rank and score the part for some runs over the chunks of one chunker, as far as it is not done."""
        self._rank([run for run in runs if not self._ranking(run).is_current])
        for protocol in self._protocols:
            scored = [run for run in runs if run.protocol in ("", protocol.name)]
            # Made again where it was damaged, though the scores may be there.
            self._relevance(protocol, scored[0].chunker if scored else None)
            self.score(scored, protocol)

    def is_current(self, run: PlannedRun) -> bool:
        """Whether there is nothing to do for a run."""
        products = [ranking := self._ranking(run)]
        for protocol in (one for one in self._protocols if run.protocol in ("", one.name)):
            products.append(self._scores(run, [ranking], protocol))
            if RELEVANCE[protocol.relevance].similarity:
                products.append(self._relevance_product(protocol, run.system.chunker))
        return all(product.is_current for product in products)

    def score(self, runs: Sequence[Run], protocol: Protocol) -> None:
        """Score the part of runs over one chunker's chunks under one protocol, as far as they have one, and it is new.

        All that are to be scored are scored at once.
        """
        todo: dict[Run, Product] = {}
        for run in runs:
            run_items = self.asked.parts_of("run_items", run_id=run.run_id)
            if run_items and not (product := self._scores(run, run_items, protocol)).is_current:
                todo[run] = product
        if todo:
            write_by_run({run.run_id: product for run, product in todo.items()}, self.scores(list(todo), protocol))

    def scores(self, runs: Sequence[Run], protocol: Protocol) -> pl.DataFrame:
        """The part's scores of runs over one chunker's chunks under one protocol, worked out and not stored."""
        asked, chunker = self.asked, runs[0].chunker
        items, pool = asked.items.lazy(), None if chunker is None else self._pools(chunker).chunks.lazy()
        axis = self._axis() if any(metric.shape == "covered" for metric, _ in metrics_of(protocol)) else None
        gold, relevance = asked.gold_of(protocol.gold).lazy(), self._relevance(protocol, chunker)
        listed = [run for run in runs if not run.is_chance]
        return score_runs(
            Basis(protocol, items, gold, pool, axis, relevance),
            hits=rows_of(asked, "hits", listed),
            answers=rows_of(asked, "run_items", listed).select("run_id", "item_id", "completion"),
            chance=[run.run_id for run in runs if run.is_chance],
        )

    def _rank(self, runs: Sequence[PlannedRun]) -> None:
        """Rank the part for runs over one chunker's chunks: some pools at a time, whose tokens are shared by all."""
        if not runs:
            return
        pools = self._pools(runs[0].system.chunker)
        # Where every item has a small pool of its own, these are gone through side by side.
        batches = [pools] if pools.are_own(self.asked.described) else pools.batches()
        parts = zip(*(self._ranked(runs, batch) for batch in batches), strict=True)
        ranked = {run.run_id: together(of_run) for run, of_run in zip(runs, parts, strict=True)}
        hits, items = hit_rows(ranked, pools, self._axis), run_item_rows(ranked, self.asked.items, pools)
        products = {run.run_id: self._ranking(run) for run in runs}
        write_by_run(products, cost_rows(ranked, self.asked.part), hits, items)

    def _ranked(self, runs: Sequence[PlannedRun], pools: ChunkedPools) -> list[Ranked]:
        """What some pools give, run by run; the same words are put to the same pools once."""
        queries: dict[tuple[str, int], list[tuple[Pool, Queries]]] = {}

        def of_run(run: PlannedRun, n_side_by_side: int) -> Ranked:
            task, retriever, protocol = self.task, run.system.retriever, run.system.protocol
            key = (retriever.query_form, n_side_by_side)
            if key not in queries:
                texts = rewritten(self.asked.queries, retriever.query_form)
                queries[key] = list(queries_by_pool(texts, pools, n_side_by_side))
            known: Iterable[tuple[Pool, Queries]] = queries[key]
            if protocol:
                gold, gains = self.asked.gold_of(protocol.gold), self._gains(protocol, run.system.chunker)
                known = with_gold(known, self.asked.queries, pools, gold, gains)
            return rank(
                retriever,
                known,
                tie=task.tie,
                depth=task.depth,
                cut_offs=CUT_OFFS,
                # The oracle scores by the gold, which may be blank.
                zero_blank=task.ranks_blank and retriever.needs != "gold",
            )

        if not pools.are_own(self.asked.queries):
            return [of_run(run, 1) for run in runs]
        item_ids = self.asked.queries["item_id"].to_list()
        return [rank_at_once(partial(of_run, run), run.system.retriever.n_side_by_side, item_ids) for run in runs]

    def _relevance(self, protocol: Protocol, chunker: str | None) -> pl.LazyFrame | None:
        """How like the gold every chunk of the asked pools is, where the protocol goes by that; measured once."""
        if chunker is None or not RELEVANCE[protocol.relevance].similarity:
            return None
        product = self._relevance_product(protocol, chunker)
        product.make(partial(self._measured, protocol, chunker))
        return product.scan("relevance")

    def _measured(self, protocol: Protocol, chunker: str) -> pl.DataFrame:
        asked = self.asked
        gold = asked.gold_of(protocol.gold)
        return relevance_rows(self.lake, self._pools(chunker), asked.described, gold, asked.files)

    def _gains(self, protocol: Protocol, chunker: str) -> pl.DataFrame | None:
        """What the oracle orders by, where relevance is a similarity."""
        relevance = self._relevance(protocol, chunker)
        if relevance is None:
            return None
        column = RELEVANCE[protocol.relevance].similarity
        return relevance.select("item_id", "path", "chunk_no", gain=column).collect()

    def _pools(self, chunker: str) -> ChunkedPools:
        return self.cache.pools(chunker, self.asked)

    def _axis(self) -> LineAxis:
        return self.cache.axis(self.asked)

    @property
    def _protocols(self) -> list[Protocol]:
        """The protocols that rankings are scored by here; those of contexts score all runs together, afterwards."""
        return [protocol for protocol in protocols_of(self.task) if protocol.context is None]

    def _folders(self, run: Run) -> dict[str, str]:
        return {"benchmark": self.task.benchmark, "run_id": run.run_id}

    def _ranking(self, run: PlannedRun) -> Product:
        """The part's ranking, for a run of that stamp, which has the digest of the code."""
        folders, asked = self._folders(run), self.asked
        # The items last, so that a part of them means that its hits are there.
        tables = ("costs", "hits", "run_items")
        return product_of(self.lake, *tables, part=asked.part, inputs=[asked], parameters=run.stamp, code=(), **folders)

    def _scores(self, run: Run, ranking: Sequence[Input], protocol: Protocol) -> Product:
        return product_of(
            self.lake,
            "scores",
            part=self.asked.part,
            inputs=[*ranking, self.asked],
            parameters=protocol_hash(protocol),
            code=scoring_code(protocol),
            protocol=protocol.name,
            **self._folders(run),
        )

    def _relevance_product(self, protocol: Protocol, chunker: str) -> Product:
        return product_of(
            self.lake,
            "relevance",
            part=self.asked.part,
            inputs=[self.asked, self.lake.part("chunkers", chunker)],
            parameters=protocol.gold,
            code=[relevance_rows],
            benchmark=self.task.benchmark,
            chunker=chunker,
        )


def scoring_code(protocol: Protocol) -> list[Callable[..., object]]:
    """What scores a run under a protocol, and its metrics: the code in the closure of their imports counts."""
    metrics = [metric.at for metric, _ in metrics_of(protocol)]
    if protocol.context is None:
        return [score_runs, *metrics]
    return [score_contexts, load_material, load_runs, expected_contexts, *metrics]
