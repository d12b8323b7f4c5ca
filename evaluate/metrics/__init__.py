"""All metrics, each a decorated function of this package that returns polars expressions, declared once."""

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
"""The frame over which a metric's expressions are evaluated.

- ``ranked``: the numerator aggregates an item's relevant hits (columns `rank`, `iou`); the denominator reads item
  columns (`n_relevant`, `gains`: list of the pool's IoU gains, best first). Hits that are not relevant have null `rank`
  and `iou`, and only `place` and `similarity`.
- ``filed``: as ``ranked``, with files as results: the gold files, ranked in the order in which a list first names them.
- ``found``: both aggregate an item's relevant hits (also `is_gold`); ``listed``: all of its hits (`rank`, `is_judged`).
- ``pooled``: both read item columns that describe the pool, without a ranking (also `boundary`).
- ``covered``, ``gathered``: both read one row per item with the sizes of its line sets, or of its contexts.
- ``completed``: both read one row per item that compares a completion with its target: `is_exact`, `similarity`.
"""
CutKind = Literal["results", "budget", "lines"]
"""The unit of k: results from the top of the list, non-whitespace characters of newly covered lines, or such lines."""
Micro = Literal["ratio of sums", "equals macro", "undefined"]
Direction = Literal["higher", "lower", "neither"]
"""Which values are better; `neither` describes a run and is not used for ranking."""


@dataclass(frozen=True)
class Ratio:
    """A metric at one cut-off: numerator over denominator, or 0 if the denominator is 0."""

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

    `k` 0 means the whole list. `is_undefined_null`: items whose denominator is 0 have no value instead of 0.
    `is_of_steps`: it describes the steps of a run. `bounds` are the least and the greatest possible value. `title`
    defaults to the name in words, and `meaning`, the text on the page, to the function's docstring. `formula` is the
    text before a fraction, its numerator and its denominator; a formula without a fraction has only the first.
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
        """Register the metric."""
        meaning = self.meaning or " ".join((inspect.getdoc(at) or "").split())
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
    """The name of the column with the size of a set of lines up to a cut-off; a budget of 0 is no limit."""
    return f"{size}{_SIGNS[cut]}{k}"


def metrics() -> Mapping[str, Metric]:
    """All declared metrics by name, sorted."""
    return dict(sorted(_METRICS.items()))


def metric_named(name: str) -> Metric:
    """The metric called `name`."""
    return lookup(name, "metric", _METRICS)


def metrics_of(protocol: Protocol) -> list[tuple[Metric, int]]:
    """All metrics of a protocol with all cut-offs, in the declared order; if relevance is graded, nDCG uses grades."""
    metrics = {name: metric_named(name) for name, _ in protocol.metrics}
    if protocol.relevance == "graded" and "ndcg" in metrics:
        metrics["ndcg"] = replace(metrics["ndcg"], at=metric_named("ndcg_iou").at)
    return [(metrics[name], k) for name, ks in protocol.metrics for k in ks]


def parse_metric(text: str) -> tuple[Metric, int]:
    """A metric and its cut-off from the usual spellings: `ndcg@10`, `nDCG_at_10`, `accuracy_at_1`.

    The cut-off may be omitted if the metric has only one (`mrr`) or a value without any (`map`, `line_f1`).
    """
    match = _ALIAS.fullmatch(text.strip())
    name, k = (match["name"].lower(), match["k"]) if match else (text, None)
    if name not in _METRICS:
        raise GoldspanError(f"unknown metric {text!r}", hint=did_you_mean(name, _METRICS), code=Exit.USAGE)
    metric = _METRICS[name]
    has_whole = metric.cut == "budget" or 0 in metric.ks
    if k is None and (has_whole or len(metric.ks) == 1):
        return metric, 0 if has_whole else metric.ks[0]
    has_cut_off = metric.cut != "results" or any(metric.ks)
    if k is None or not (has_cut_off if int(k) else has_whole):
        usual = ", ".join(f"{name}@{k}" if k else name for k in metric.ks)
        message = f"metric {text!r} needs {'a' if has_cut_off else 'no'} cut-off"
        raise GoldspanError(message, hint=f"Usual: {usual}.", code=Exit.USAGE)
    return metric, int(k)


for _module in sorted(module.name for module in pkgutil.iter_modules(__path__)):
    importlib.import_module(f"{__name__}.{_module}")
