"""What was submitted: rankings that became runs of the lake, and numbers that are shown as reported and not ranked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lake.store import Lake

REPORTED = "reported only, not ranked"


@dataclass(frozen=True)
class Submission:
    """A row of `submissions`."""

    submission: str
    task: str
    system: str
    benchmark: str
    label: str
    date: str
    kind: str
    authors: tuple[str, ...]
    contact: str
    url: str
    licence: str
    description: str
    revision: str
    cost: str
    reported: Mapping[str, float]
    file: str | None
    status: str
    why: str
    run_id: str | None

    @property
    def standing(self) -> str:
        """What came of it, in words."""
        if self.status == "scored":
            return "scored here"
        if self.status == "reported":
            return REPORTED
        return f"{'not scored' if self.status == 'older' else self.status}: {self.why}"


def submissions(lake: Lake) -> tuple[Submission, ...]:
    """Everything that was submitted, the newest first."""
    rows = lake.read("submissions").sort("date", "submission", "task", descending=[True, False, False]).to_dicts()
    reported = [{one["metric"]: one["value"] for one in row["reported"]} for row in rows]
    return tuple(
        Submission(**{**row, "authors": tuple(row["authors"]), "reported": numbers})
        for row, numbers in zip(rows, reported, strict=True)
    )
