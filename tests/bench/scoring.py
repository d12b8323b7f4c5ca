"""Seven metrics of a large ranking, from Parquet to Parquet, beside pytrec_eval, ranx and ir_measures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import polars as pl

from tests.bench import Bench, Row, Settings, Target
from tests.bench._contestants import (
    METRICS,
    goldspan,
    goldspan_ranked,
    ir_measures,
    pytrec_eval,
    ranx,
)
from tests.bench._measure import ChildError, Measured, call
from tests.bench._rankings import DEPTH, write

REFERENCE = "pytrec_eval-terrier"
PEERS = {REFERENCE: pytrec_eval, "ranx": ranx, "ir_measures": ir_measures}
OURS = {"ours, from scores": goldspan, "ours, ranks stored": goldspan_ranked}
RATIOS = {"ours, from scores": 4, "ours, ranks stored": 15}
"""How many times as fast as the fastest peer each is to be, in less memory than any."""
FULL = 100_000
"""The number of queries the targets are meant for."""


def run(settings: Settings, folder: Path) -> Iterator[Row]:
    """Each contestant in a process of its own; differences are from pytrec_eval, whose order ours follows."""
    call(write, settings.queries, folder)
    done: dict[str, list[Measured]] = {}
    failed: dict[str, str] = {}
    # Round by round, so that other work on the machine disturbs all alike.
    for _ in range(settings.attempts(large=settings.queries >= FULL)):
        for name, contestant in (PEERS | OURS).items():
            try:
                done.setdefault(name, []).append(call(contestant, folder, folder / f"{name}.parquet"))
            except ChildError as error:
                failed[name] = error.line
    best = {name: min(attempts, key=lambda one: one.seconds) for name, attempts in done.items() if name not in failed}
    beside = [best[name] for name in PEERS if name in best]
    for name in PEERS | OURS:
        if name in failed or not beside:
            yield Row(name, failed=failed.get(name, "there is no peer to compare it with"))
        else:
            yield _row(name, best[name], beside, folder, is_judged=settings.queries >= FULL)


def _row(name: str, measured: Measured, peers: Sequence[Measured], folder: Path, *, is_judged: bool) -> Row:
    reference = folder / f"{REFERENCE}.parquet"
    apart = difference(folder / f"{name}.parquet", reference) if name != REFERENCE and reference.is_file() else None
    target = Target()
    if name in RATIOS and is_judged:
        target = Target(peak_mb=min(peer.peak_mb for peer in peers), ratio=RATIOS[name], difference=1e-12)
    return Row(
        name,
        measured.seconds,
        measured.peak_mb,
        measured.cpu_seconds,
        ratio=min(peer.seconds for peer in peers) / measured.seconds,
        difference=apart,
        against="" if apart is None else f"of {REFERENCE}",
        target=target,
        extra=measured.said,
    )


def difference(mine: Path, theirs: Path) -> float:
    """The largest difference between two contestants' values; infinite where they name other queries."""
    both = pl.read_parquet(mine).join(pl.read_parquet(theirs), on="query", how="full", suffix=" of theirs")
    apart = both.select((pl.col(name) - pl.col(f"{name} of theirs")).abs().fill_null(float("inf")) for name in METRICS)
    return float(apart.max_horizontal().max() or 0)  # type: ignore[arg-type] # a column of floats


SCORING = Bench(
    name="scoring",
    title=f"{len(METRICS)} metrics of a ranking of {DEPTH} results per query",
    method=f"from Parquet (query, document, score; relevance judgements) to per-query Parquet; imports "
    f"and ranx's compiling are not timed; {', '.join(METRICS)}. ranx and ir_measures order ties in other ways.",
    run=run,
)
