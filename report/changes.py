"""What changed since a site that was published before: its manifest beside what is to be published now."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from report.downloads import Stored
from report.folder import BoardNumbers, Manifest, PrimaryNumber
from report.format import DASH, board_page, count, score
from report.leaderboard.board import Board

CHANGES = "changes.json"


def numbers_of(boards: Iterable[Board]) -> dict[str, BoardNumbers]:
    """Every board's primary numbers, for the next build to compare its own with."""
    numbers = {}
    for board in boards:
        benchmark, protocol = board.benchmark, board.protocol
        systems = {row.run.system: PrimaryNumber(row.number, row.n, row.run.run_id) for row in board.every}
        if systems:
            title = f"{benchmark.title}, {protocol.short}: {board.primary.title}, {board.averaging}"
            source = " ".join(filter(None, [benchmark.source, benchmark.revision]))
            data, name = f"{source}, {count(benchmark.n_scorable)} items", f"{protocol.name} {protocol.task}".strip()
            numbers[name] = BoardNumbers(title, board_page(benchmark.name), data, protocol.hash, systems)
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
    old, new = before.systems if before else {}, now.systems if now else {}
    changed = [_of_system(name, old.get(name), new.get(name)) for name in {*old, *new}]
    systems = [row for row in changed if row["why"] is not None]
    systems.sort(key=lambda row: (row["size"] is not None, -(row["size"] or 0.0), row["system"]))
    return {"title": shown.title, "path": shown.path if now else "", "why": "; ".join(reasons), "systems": systems}


def _of_system(system: str, old: PrimaryNumber | None, new: PrimaryNumber | None) -> dict[str, Any]:
    """A system's numbers, why they differ as far as that is known (None where they do not), and how much."""
    before, now = old.value if old else None, new.value if new else None
    size = None if before is None or now is None else abs(now - before)
    # Numbers that would look alike are shown in as many digits as tell them apart.
    shown = repr if size and score(before) == score(now) else score
    why: str | None = "new" if old is None else "gone"
    if old is not None and new is not None:
        reasons = [f"over {count(new.n)} items, before over {count(old.n)}"] * (old.n != new.n)
        why = "; ".join([*reasons, *["another run"] * (old.run != new.run)]) if before != now else None
    cells = {"before": shown(before) if old else DASH, "now": shown(now) if new else DASH}
    return {"system": system, **cells, "why": why, "size": size}
