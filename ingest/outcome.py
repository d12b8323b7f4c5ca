"""What ingesting did, as its last block tells it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from lake.outcome import Outcome
from lake.parts import PartCounts
from lake.store import Lake


@dataclass
class Ingested:
    """What ingesting one benchmark did."""

    n_items: int = 0
    n_scorable: int = 0
    n_rejected: int = 0
    tally: PartCounts = field(default_factory=PartCounts)
    notes: list[str] = field(default_factory=list)
    news: list[str] = field(default_factory=list)


def outcome_of(done: Mapping[str, Ingested], store: Lake) -> Outcome:
    """What the last block says of the benchmarks that were read."""
    lake = store.root
    outcome = Outcome(
        written=str(lake), unit="items ready", tally=store.tally, news=list(store.damage), hint="make evaluate"
    )
    for result in done.values():
        outcome.expected += result.n_items
        outcome.scored += result.n_scorable
        outcome.missing += result.n_items - result.n_scorable
        outcome.rejected += result.n_rejected
        outcome.notes += result.notes
        outcome.news += result.news
    if outcome.rejected:
        outcome.notes.append(f"what was rejected, where and why: the table rejects, under {lake}/rejects")
    return outcome
