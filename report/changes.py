"""What changed since a site that was published before: its manifest beside what is to be published now."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

from pydantic import TypeAdapter, ValidationError

from lake.errors import Exit, GoldspanError
from report.downloads import Stored
from report.folder import MANIFEST, Manifest
from report.leaderboard.board import Board
from report.shown import MISSING, count, score, slug

PATH = "changes.json"


@dataclass(frozen=True)
class Number:
    """A system's primary number on a board: over how many items, and of which run."""

    value: float | None
    n: int
    run: str


@dataclass(frozen=True)
class Numbers:
    """The primary numbers of a board, as a manifest keeps them: of which data, by which rules, and those of systems."""

    title: str
    path: str
    data: str
    rules: str
    systems: Mapping[str, Number]


_Kept = TypeAdapter(dict[str, Numbers])


@dataclass(frozen=True)
class Change:
    """A system whose number is new, gone or another, and why, as far as that is known."""

    system: str
    before: str
    now: str
    why: str
    size: float | None


@dataclass(frozen=True)
class BoardChanges:
    """What changed on a board, the most first; `why` holds for all its systems."""

    title: str
    path: str
    why: str
    systems: Sequence[Change]


@dataclass(frozen=True)
class Changes:
    """What changed since a build; of files to download their rows before and now."""

    build: str
    knows_numbers: bool
    boards: Sequence[BoardChanges]
    files: Sequence[tuple[str, str, str]]

    def text(self) -> bytes:
        """All of it, as a file."""
        return (json.dumps(asdict(self), indent=1, ensure_ascii=False) + "\n").encode()


def numbers_of(boards: Iterable[Board]) -> dict[str, Numbers]:
    """Every board's primary numbers, for the next build to compare its own with."""
    found = {}
    for board in boards:
        benchmark, protocol = board.benchmark, board.protocol
        declared = benchmark.declaration
        data = f"{' '.join(filter(None, [declared.source, declared.revision]))}, {count(benchmark.n_scorable)} items"
        title = f"{benchmark.title}, {protocol.short}: {board.primary.title}, {board.averaging}"
        systems = {
            row.run.system: Number(row.number, row.head.n if row.head else 0, row.run.run_id) for row in board.every
        }
        if systems:
            key, rules = f"{protocol.name} {protocol.task}".strip(), protocol.parameters.hash
            found[key] = Numbers(title, f"{slug(benchmark.name)}.html", data, rules, systems)
    return found


def changes_since(before: Manifest, numbers: Mapping[str, Numbers], downloads: Sequence[Stored]) -> Changes:
    """What changed since a build whose manifest is given.

    Raises:
        GoldspanError: The manifest is not as a build writes it.
    """
    try:
        known = _Kept.validate_python(before.numbers or {})
        rows = {name: int(str(facts["rows"])) for name, facts in before.files.items() if "rows" in facts}
    except (ValidationError, ValueError) as error:
        said = str(error).splitlines()[0]
        message = f"the {MANIFEST} given by --since is not as it was written: {said}"
        raise GoldspanError(message, hint="Take it from the published site again.", code=Exit.INVALID) from error
    now = {one.path: one.n_rows for one in downloads}
    boards = [_of_board(known.get(name), numbers.get(name)) for name in ({**numbers, **known} if known else ())]
    changed = sorted(path for path in {*rows, *now} if rows.get(path) != now.get(path))
    return Changes(
        build=before.fingerprint[:12],
        knows_numbers=bool(known),
        boards=[board for board in boards if board.systems or board.why],
        files=[(path, count(rows.get(path)), count(now.get(path))) for path in changed],
    )


def _of_board(before: Numbers | None, now: Numbers | None) -> BoardChanges:
    shown = now or before
    assert shown is not None
    reasons = []
    if before is None or now is None:
        reasons.append("a new board" if now else "no longer scored")
    else:
        reasons += [f"other data: {before.data} before, {now.data} now"] * (before.data != now.data)
        reasons += [f"other rules: protocol {before.rules} before, {now.rules} now"] * (before.rules != now.rules)
    changed = list(_of_systems(before.systems if before else {}, now.systems if now else {}))
    changed.sort(key=lambda one: (one.size is not None, -(one.size or 0.0), one.system))
    return BoardChanges(shown.title, shown.path if now else "", "; ".join(reasons), changed)


def _of_systems(before: Mapping[str, Number], now: Mapping[str, Number]) -> Iterator[Change]:
    for system in {*before, *now}:
        old, new = before.get(system), now.get(system)
        if old is None or new is None:
            one = old or new
            assert one is not None
            value = score(one.value)
            yield Change(system, *((value, MISSING, "gone") if old else (MISSING, value, "new")), None)
        elif old.value != new.value:
            reasons = [f"over {count(new.n)} items, before over {count(old.n)}"] * (old.n != new.n)
            reasons += ["another run"] * (old.run != new.run)
            size = None if old.value is None or new.value is None else abs(new.value - old.value)
            yield Change(system, *_apart(old.value, new.value), "; ".join(reasons), size)


def _apart(before: float | None, now: float | None) -> tuple[str, str]:
    """Two numbers in as many digits as tell them apart."""
    if score(before) != score(now) or before is None or now is None:
        return score(before), score(now)
    return repr(before), repr(now)
