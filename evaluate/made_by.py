"""The code that makes rankings, similarities, scores and aggregates: what decides whether they are current."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from evaluate.metrics import metrics_of
from evaluate.query_forms import QUERY_FORMS
from evaluate.rank.hit_rows import hit_rows
from evaluate.rank.pool_contents import LakePools
from evaluate.rank.pools import relevance_rows
from evaluate.rank.ranking import rank
from evaluate.retrievers import Retriever
from evaluate.score.contexts.chance import expected_contexts
from evaluate.score.contexts.material import load_material, load_runs
from evaluate.score.contexts.scoring import score_contexts
from evaluate.score.scoring import score_run
from evaluate.statistics.oracle_share import with_share_of_oracle
from evaluate.statistics.pooling import pooled
from lake.catalog.protocol import Protocol
from lake.code import code_digest

Code = Sequence[Callable[..., object]]
"""Functions: what counts is the code in the closure of their imports."""

RELEVANCE_CODE: Code = [relevance_rows]
"""What measures how like the gold a chunk is."""

AGGREGATING_CODE: Code = [pooled, with_share_of_oracle]
"""What aggregates scores."""


def ranking_code(retriever: Retriever) -> str:
    """A digest of what reads pools, of the retriever, and of what orders its scores: a part of the run's id."""
    return code_digest(rank, hit_rows, *_functions_of(retriever))


def _functions_of(retriever: Retriever) -> Iterator[Callable[..., object]]:
    """What a retriever and those that it calls run."""
    for one in retriever.parts():
        yield one.index
        if one.with_arguments:
            yield one.with_arguments
        if one.query_form:
            yield QUERY_FORMS[one.query_form].rewrite
        if one.needs in ("files", "definitions"):
            yield LakePools


def scoring_code(protocol: Protocol) -> Code:
    """What scores a run under a protocol, and its metrics."""
    metrics = [metric.at for metric, _ in metrics_of(protocol)]
    if protocol.context is None:
        return [score_run, *metrics]
    return [score_contexts, load_material, load_runs, expected_contexts, *metrics]
