"""Every metric, declared once as polars expressions; the docstring of each is its text on the page.

A metric is one decorated function in any module here: all are read when the package is.
"""

import importlib
import inspect
import pkgutil
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import polars as pl

from lake.catalog.protocol import Protocol
from lake.errors import Exit, GoldspanError, did_you_mean, lookup

Shape = Literal["ranked", "filed", "found", "listed", "pooled", "covered", "completed", "gathered"]
"""The frame a metric's expressions are read over.

- ``ranked``: the numerator aggregates an item's relevant hits (columns `rank`, `iou`); the denominator reads item
  columns (`n_relevant`: Int64, `gains`: list of the pool's IoU gains, best first). Where a rule also measures hits that
  are not relevant, these have neither `rank` nor `iou`, only `place` and `similarity`.
- ``filed``: as ``ranked``, with files for results: the gold files in the order in which a list first names them.
- ``found``: both aggregate an item's relevant hits (also `is_gold`).
- ``listed``: both aggregate all of an item's hits (columns `rank`, `is_judged`).
- ``pooled``: both read item columns: what a pool holds needs no ranking (also `boundary`).
- ``covered``: both read one row per item with the sizes of its sets of lines, as `evaluate.score.coverage` names them.
- ``completed``: both read one row per item that compares a completion with its target: `is_exact`, `similarity`.
- ``gathered``: both read one row per item with the sizes of its contexts, as `evaluate.metrics.context` names them.
"""
CutKind = Literal["results", "budget", "lines"]
"""What k counts: results from the top of the list, or non-whitespace characters of newly covered lines, or those."""
Micro = Literal["ratio of sums", "equals macro", "undefined"]
Direction = Literal["higher", "lower", "neither"]
"""Which values are better; `neither` describes a run and ranks nothing."""


@dataclass(frozen=True)
class Ratio:
    """A metric at one cut-off: numerator over denominator, 0 where the denominator is 0."""

    numerator: pl.Expr
    denominator: pl.Expr

    @property
    def reads(self) -> frozenset[str]:
        """The columns that either side reads."""
        return frozenset((*self.numerator.meta.root_names(), *self.denominator.meta.root_names()))


RatioAt = Callable[[int], Ratio]


@dataclass(frozen=True, kw_only=True)
class Metric:
    """A metric, declared by calling this with the function from k to its ratio: `@metric("recall", title=…, ks=(5,))`.

    `k` 0 means the whole list. `is_undefined_null`: an item whose denominator is 0 has no value, where others have 0.
    `is_of_steps`: it describes the steps of a run, which protocols that average answers as ratios of sums average over
    items. `bounds` are the least and the greatest value that it can have: no interval leaves them. `title` is the name
    in words and `meaning`, its text on the page, the function's docstring, unless they are given. `formula`, for the
    page, is what stands before a fraction, above its line and below it; a formula without a fraction has the first
    alone.
    """

    name: str = field(kw_only=False)
    title: str = ""
    ks: tuple[int, ...] = (0,)
    meaning: str = ""
    formula: tuple[str, ...] = ()
    granularity: str = "chunk"
    direction: Direction = "higher"
    bounds: tuple[float, float] = (0.0, 1.0)
    micro: Micro = "ratio of sums"
    shape: Shape = "ranked"
    cut: CutKind = "results"
    is_undefined_null: bool = False
    is_of_steps: bool = False
    at: RatioAt = field(default=lambda k: Ratio(pl.lit(k), pl.lit(0)), compare=False)

    def __call__(self, at: RatioAt) -> RatioAt:
        """Declare it."""
        meaning = self.meaning or " ".join((inspect.getdoc(at) or "").split())
        if not meaning:
            message = f"metric {self.name!r} has no docstring, which is its text on the page"
            raise GoldspanError(message, where=at.__module__)
        if self.name in _METRICS:
            message = f"metric {self.name!r} is declared twice"
            where = f"{_METRICS[self.name].at.__module__} and {at.__module__}"
            raise GoldspanError(message, where=where, hint="Give one of them another name.")
        title = self.title or self.name.capitalize().replace("_", " ")
        _METRICS[self.name] = replace(self, title=title, meaning=meaning, at=at)
        return at

    @property
    def reads(self) -> frozenset[str]:
        """The columns that it reads."""
        return self.at(self.ks[0]).reads


Requested = Sequence[tuple[Metric, int]]
metric = Metric
_METRICS: dict[str, Metric] = {}
_ALIAS = re.compile(r"(?P<name>[a-z][a-z0-9_]*?)(?:(?:@|_at_)(?P<k>[0-9]+))?", re.IGNORECASE)
_SIGNS: Mapping[CutKind, str] = {"budget": "@", "lines": "@lines", "results": "@top"}


def size_at(size: str, cut: CutKind, k: int) -> str:
    """The name of the column with a size of a set of lines, up to a cut-off; a budget of 0 is no limit."""
    return f"{size}{_SIGNS[cut]}{k}"


def metrics() -> Mapping[str, Metric]:
    """Every declared metric by name, in the order of the names."""
    return dict(sorted(_METRICS.items()))


def metric_named(name: str) -> Metric:
    """The metric of a name."""
    return lookup(name, "metric", _METRICS)


def metrics_of(protocol: Protocol) -> list[tuple[Metric, int]]:
    """Every metric of a protocol with every cut-off, in the declared order; of grades nDCG takes the gains."""
    metrics = {name: metric_named(name) for name, _ in protocol.metrics}
    if protocol.relevance == "graded" and "ndcg" in metrics:
        metrics["ndcg"] = replace(metrics["ndcg"], at=metric_named("ndcg_iou").at)
    return [(metrics[name], k) for name, ks in protocol.metrics for k in ks]


def parse_metric(text: str) -> tuple[Metric, int]:
    """A metric and its cut-off as people write them: `ndcg@10`, `nDCG_at_10`, `accuracy_at_1`.

    A metric with a single usual cut-off may go without (`mrr`), and one that has a value of the whole (`map`). Without
    a budget, or with one of 0, there is no limit (`line_f1`).
    """
    match = _ALIAS.fullmatch(text.strip())
    if match is None:
        raise GoldspanError(f"{text!r} is no metric with a cut-off", hint="Write it as `ndcg@10`.", code=Exit.USAGE)
    name, k = match["name"].lower(), match["k"]
    if name not in _METRICS:
        raise GoldspanError(f"unknown metric {text!r}", hint=did_you_mean(name, _METRICS), code=Exit.USAGE)
    metric = _METRICS[name]
    if k is None and (metric.cut == "budget" or 0 in metric.ks):
        return metric, 0
    if k is None and len(metric.ks) == 1:
        return metric, metric.ks[0]
    if k is not None and int(k) and metric.cut == "results" and not any(metric.ks):
        raise GoldspanError(f"metric {text!r}: {name} has no cut-off", hint=f"Write it as `{name}`.", code=Exit.USAGE)
    if k is None or (int(k) == 0 and 0 not in metric.ks and metric.cut != "budget"):
        message = f"metric {text!r} needs a cut-off"
        raise GoldspanError(message, hint=f"Usual: {', '.join(f'{name}@{k}' for k in metric.ks)}.", code=Exit.USAGE)
    return metric, int(k)


for _module in sorted(module.name for module in pkgutil.iter_modules(__path__)):
    importlib.import_module(f"{__name__}.{_module}")
