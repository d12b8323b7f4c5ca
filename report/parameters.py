"""The columns that the tables of declared things have beside those they share, as far as a page reads them."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel

Average = Literal["macro", "micro", "by_repo"]

WHOLE = "all"
"""The slice that holds every item, and its one value."""


class Licence(BaseModel):
    """A repository's licence, empty where nobody knows it."""

    repo: str
    licence: str


class BenchmarkParameters(BaseModel):
    """What a benchmark's row says beyond its words."""

    label: str
    like: str
    """The benchmark by whose rules own data is scored; empty for one of those."""
    licences: list[Licence]
    place: int
    """Where it stands among the benchmarks."""


class Primary(BaseModel):
    """The metric a protocol ranks by."""

    granularity: str
    metric: str
    k: int = 0
    aggregate: Average = "macro"


class Slice(BaseModel):
    """A set of items that scores are averaged over."""

    slice: str = WHOLE
    slice_value: str = WHOLE


class TaskParameters(BaseModel):
    """What a task's row says of what is searched, and for what."""

    benchmark: str
    query: str
    pool: str
    tie: str
    pool_prefix: str
    """Its pools are `<prefix>/<repo>` in place of the items' own."""


class Metrics(BaseModel):
    """A metric and its cut-offs."""

    metric: str
    ks: list[int]


class ProtocolParameters(BaseModel):
    """How a protocol scores, as its row says it."""

    benchmark: str
    tasks: list[str]
    gold: str
    relevance: str
    metrics: list[Metrics]
    primary: Primary
    headline: Slice
    has_contexts: bool
    leaves_out_failed: bool
    hash: str
    parity_only: bool
    place: int


class MetricParameters(BaseModel):
    """How a metric is to be read."""

    direction: Literal["higher", "lower", "neither"]
    """`neither` for a metric that describes a run and ranks nothing."""
    micro: Literal["ratio", "same", "none"]
    of_steps: bool
    """It describes the steps of a run."""
    cut: str
    """What k counts: `results`, or the non-whitespace characters of a `budget`."""
