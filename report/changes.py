"""What changed since a site that was published before: its manifest beside what is to be published now."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from report.downloads import Stored
from report.folder import BoardNumbers, Manifest, PrimaryNumber
from report.format import DASH, count, score, slug
from report.leaderboard.board import Board

CHANGES = "changes.json"


def numbers_of(boards: Iterable[Board]) -> dict[str, BoardNumbers]:
    """Every board's primary numbers, for the next build to compare its own with."""
    numbers = {}
    for board in boards:
        benchmark, protocol = board.benchmark, board.protocol
        source = " ".join(filter(None, [benchmark.source, benchmark.revision]))
        title = f"{benchmark.title}, {protocol.short}: {board.primary.title}, {board.averaging}"
        systems = {
            row.run.system: PrimaryNumber(row.number, row.head.n if row.head else 0, row.run.run_id)
            for row in board.every
        }
        if systems:
            path, data = f"{slug(benchmark.name)}.html", f"{source}, {count(benchmark.n_scorable)} items"
            numbers[f"{protocol.name} {protocol.task}".strip()] = BoardNumbers(
                title, path, data, protocol.hash, systems
            )
    return numbers


def changes_since(
    before: Manifest, numbers: Mapping[str, BoardNumbers], downloads: Sequence[Stored]
) -> dict[str, object]:
    """What changed since a build whose manifest is given, as `changes.json` has it."""
    known = before.numbers
    rows = {name: file.rows for name, file in before.files.items() if file.rows is not None}
    now = {stored.path: stored.n_rows for stored in downloads}
    boards = [_of_board(known.get(name), numbers.get(name)) for name in ({**numbers, **known} if known else ())]
    changed = sorted(path for path in {*rows, *now} if rows.get(path) != now.get(path))
    return {
        "build": before.fingerprint[:12],
        "knows_numbers": bool(known),
        "boards": [board for board in boards if board["systems"] or board["why"]],
        "files": [(path, count(rows.get(path)), count(now.get(path))) for path in changed],
    }


def _of_board(before: BoardNumbers | None, now: BoardNumbers | None) -> dict[str, object]:
    shown = now or before
    assert shown is not None
    if before is None or now is None:
        reasons = ["a new board" if now else "no longer scored"]
    else:
        reasons = [f"other data: {before.data} before, {now.data} now"] * (before.data != now.data)
        reasons += [f"other rules: protocol {before.rules} before, {now.rules} now"] * (before.rules != now.rules)
    changed = _of_systems(before.systems if before else {}, now.systems if now else {})
    systems = sorted(changed, key=lambda row: (row["size"] is not None, -(row["size"] or 0.0), row["system"]))
    return {"title": shown.title, "path": shown.path if now else "", "why": "; ".join(reasons), "systems": systems}


def _of_systems(before: Mapping[str, PrimaryNumber], now: Mapping[str, PrimaryNumber]) -> Iterator[dict[str, Any]]:
    """Each system with another number: the numbers, why they differ as far as that is known, and how much."""
    for system in {*before, *now}:
        old, new = before.get(system), now.get(system)
        if new is None and old is not None:
            yield {"system": system, "before": score(old.value), "now": DASH, "why": "gone", "size": None}
        elif old is None and new is not None:
            yield {"system": system, "before": DASH, "now": score(new.value), "why": "new", "size": None}
        elif old is not None and new is not None and old.value != new.value:
            reasons = [f"over {count(new.n)} items, before over {count(old.n)}"] * (old.n != new.n)
            reasons += ["another run"] * (old.run != new.run)
            size = None if old.value is None or new.value is None else abs(new.value - old.value)
            # Numbers that would look alike are shown in as many digits as tell them apart.
            is_alike = size is not None and score(old.value) == score(new.value)
            shown = repr if is_alike else score
            why = "; ".join(reasons)
            yield {"system": system, "before": shown(old.value), "now": shown(new.value), "why": why, "size": size}
