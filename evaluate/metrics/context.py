"""Metrics of gathered contexts: what of an item's gold a run gathered, on its way and in the end.

Lines are measured by the metrics of :mod:`evaluate.metrics.covered`, at budget 0 where the whole context counts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import polars as pl

from evaluate.metrics.declaration import Direction, Micro, Ratio, metric
from lake.catalog.cut_offs import DEPTHS

_ONE = pl.lit(1.0)
_OF = {
    "file": "files",
    "symbol": "definitions (functions, classes and the like)",
    "span": "bytes",
    "editloc": "edited lines",
    "line": "lines",
}
_FINAL = "; at k, what a ranking's first k results hold"


def gold(granularity: str) -> pl.Expr:
    """How much gold there is."""
    return pl.col(f"n_gold/{granularity}")


def predicted(granularity: str, k: int) -> pl.Expr:
    """How much the final context holds (k 0), or a ranking's first k results."""
    return pl.col(f"n_pred/{granularity}@{k}")


def hit(granularity: str, k: int) -> pl.Expr:
    """How much of that is gold."""
    return pl.col(f"n_hit/{granularity}@{k}")


def _declare(
    name: str,
    at: Callable[[int], Ratio],
    meaning: str,
    *,
    granularity: str,
    ks: Sequence[int] = (0,),
    direction: Direction = "higher",
    micro: Micro = "ratio of sums",
    is_of_steps: bool = False,
) -> None:
    at.__doc__ = meaning
    metric(
        name,
        title=name.capitalize().replace("_", " ").replace(" f1", " F1").replace(" auc", " AUC"),
        ks=ks,
        granularity=granularity,
        direction=direction,
        micro=micro,
        shape="gathered",
        is_of_steps=is_of_steps,
    )(at)


def _declare_sets(granularity: str) -> None:
    """Coverage, precision and F1 of a final context as a set."""
    what, ks = _OF[granularity], (0,) if granularity == "editloc" else (0, *DEPTHS)
    gold_one = "the lines that the gold patch edits" if granularity == "editloc" else f"the gold {what}"
    held = "the lines that the run's patch edits" if granularity == "editloc" else f"the {what} in the final context"
    more = "" if granularity == "editloc" else _FINAL
    _declare(
        f"{granularity}_coverage",
        lambda k: Ratio(hit(granularity, k), gold(granularity)),
        f"Share of {gold_one} that are among {held}{more}.",
        granularity=granularity,
        ks=ks,
    )
    _declare(
        f"{granularity}_precision",
        lambda k: Ratio(hit(granularity, k), predicted(granularity, k)),
        f"Share of {held} that are among {gold_one}{more}.",
        granularity=granularity,
        ks=ks,
    )
    _declare(
        f"{granularity}_f1",
        lambda k: Ratio(2 * hit(granularity, k), gold(granularity) + predicted(granularity, k)),
        f"Harmonic mean of coverage and precision of {what}{more}.",
        granularity=granularity,
        ks=ks,
    )


def _declare_trajectory(granularity: str) -> None:
    """What a run's way was worth."""
    what = _OF[granularity]
    _declare(
        f"{granularity}_auc",
        lambda k: Ratio(pl.col(f"auc/{granularity}"), _ONE),
        f"Mean over the steps of the share of the gold {what} that had been seen by then: the earlier, the higher.",
        granularity=granularity,
        micro="undefined",
        is_of_steps=True,
    )
    _declare(
        f"{granularity}_redundancy",
        lambda k: Ratio(
            pl.col(f"n_seen/{granularity}") - pl.col(f"n_union/{granularity}"), pl.col(f"n_seen/{granularity}")
        ),
        f"Share of the {what} seen in all steps that an earlier step had seen already.",
        granularity=granularity,
        direction="lower",
        is_of_steps=True,
    )


for _granularity in ("file", "symbol", "span", "editloc"):
    _declare_sets(_granularity)
for _granularity in ("file", "symbol", "span", "line"):
    _declare_trajectory(_granularity)


@metric(
    "n_steps",
    title="Steps",
    ks=(0,),
    granularity="trajectory",
    direction="neither",
    micro="equals macro",
    shape="gathered",
    is_of_steps=True,
)
def n_steps(k: int) -> Ratio:
    """How many steps a run took; of a ranking, how many of its results are taken as steps."""
    del k
    return Ratio(pl.col("n_steps"), _ONE)
