"""What ingesting did, as its last block tells it."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Ingested:
    """What ingesting one benchmark did."""

    n_items: int = 0
    n_scorable: int = 0
    n_cached: int = 0
    n_rejected: int = 0
    notes: list[str] = field(default_factory=list)
