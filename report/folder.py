"""The site's folder: a site is built next to the old one and swapped in whole; files of others are never replaced."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import polars as pl
from filelock import FileLock
from pydantic import BaseModel

from lake.errors import Exit, GoldspanError, refusal_of
from lake.fingerprint import sha256_of_file
from report.format import DASH, board_page, count, score

if TYPE_CHECKING:
    from report.downloads import Stored
    from report.leaderboard.board import Board

CHECKOUT = Path(__file__).parent.parent
"""The root of the checkout: code, templates and workflows."""

MANIFEST = "manifest.json"


class SiteFile(BaseModel):
    """A file of a site: its size, its hash and, for a table, its number of rows."""

    bytes: int
    sha256: str
    rows: int | None = None


class PrimaryNumber(BaseModel):
    """A system's primary score on a board, the number of items it is over, and the run id."""

    value: float | None = None
    n: int
    run: str


class BoardNumbers(BaseModel):
    """A board's primary scores in a manifest, with what they depend on: the data and the protocol's hash (`rules`)."""

    title: str
    path: str
    data: str
    rules: str
    systems: Mapping[str, PrimaryNumber]


class Manifest(BaseModel):
    """A description of a built site: the fingerprints of its inputs, its files, and every board's primary numbers.

    `fingerprint` covers the code, the options and the lake without costs, `lake` only the latter, `costs` the measured
    costs, which alone differ between sites built from the same inputs, and `editions` what editions' pages show.
    """

    generator: Literal["goldspan report"]
    format: Literal[1]
    fingerprint: str
    lake: str
    costs: str = ""
    editions: str = ""
    files: Mapping[str, SiteFile] = {}
    numbers: Mapping[str, BoardNumbers] = {}

    def text(self) -> str:
        """The manifest as JSON text."""
        return self.model_dump_json(indent=1, exclude_none=True) + "\n"


def manifest_in(file: Path) -> Manifest:
    """The manifest in a file; raises OSError, or ValueError if it is not a manifest of this program."""
    return Manifest.model_validate_json(file.read_bytes())


def stored_manifest(site: Path) -> Manifest | None:
    """The manifest of the last build; None if the folder contains no site built here."""
    try:
        return manifest_in(site / MANIFEST)
    except (OSError, ValueError):
        return None


def current(site: Path, fingerprint: str, costs: str) -> Manifest | None:
    """The site's manifest if its fingerprints are these and no file has changed since; else None."""
    stored = stored_manifest(site)
    if stored is None or (stored.fingerprint, stored.costs) != (fingerprint, costs):
        return None
    paths = {site / name: file.sha256 for name, file in stored.files.items()}
    return stored if all(path.is_file() and sha256_of_file(path) == sha for path, sha in paths.items()) else None


@contextmanager
def building(site: Path) -> Iterator[Path]:
    """Yield a new folder, which replaces the site if the block ends well; files that no build wrote are kept.

    Raises:
        GoldspanError: The folder contains no site but something else, or cannot be written.
    """
    site = site.resolve()
    new, old = (site.with_name(f".{site.name}.{end}") for end in ("new", "old"))
    names = sorted(path.name for path in site.iterdir()) if site.is_dir() else []
    if (names or site.is_file()) and stored_manifest(site) is None:
        message = "this folder is not empty and not a Goldspan site, so nothing is written to it"
        hint = "Name an empty or a new folder: make report SITE=…"
        raise GoldspanError(message, where=str(site), examples=names, hint=hint, code=Exit.USAGE)
    try:
        site.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(site.with_name(f".{site.name}.lock")):
            # A build that was killed between the two renames left the site under its old name.
            if old.exists() and not site.exists():
                old.rename(site)
            for left in (new, old):
                shutil.rmtree(left, ignore_errors=True)
            new.mkdir()
            try:
                yield new
                stored = stored_manifest(site)
                ours = {*stored.files, MANIFEST} if stored else set()
                for path in sorted(site.rglob("*")) if stored else ():
                    name = path.relative_to(site)
                    if path.is_file() and name.as_posix() not in ours and not (new / name).exists():
                        (new / name).parent.mkdir(parents=True, exist_ok=True)
                        shutil.copy2(path, new / name)
                if site.exists():
                    site.rename(old)
                new.rename(site)
            finally:
                shutil.rmtree(new, ignore_errors=True)
                shutil.rmtree(old, ignore_errors=True)
    except (OSError, pl.exceptions.PolarsError) as error:
        # Polars errors other than a refused write are not about this folder.
        if isinstance(error, pl.exceptions.PolarsError) and not refusal_of(error):
            raise
        message = f"the site could not be written: {refusal_of(error) or error}"
        raise GoldspanError(message, where=str(site), hint="The earlier site is unchanged.") from error


def add_file(new: Path, path: str, content: bytes) -> None:
    """Write a file of the site; raises GoldspanError if the path is already taken."""
    to = new / path
    to.parent.mkdir(parents=True, exist_ok=True)
    try:
        with to.open("xb") as file:
            file.write(content)
    except FileExistsError as error:
        message = f"two pages have the same path {path!r}"
        hint = "Two benchmarks' names differ only in punctuation; rename one."
        raise GoldspanError(message, hint=hint) from error


def numbers_of(boards: Iterable[Board]) -> dict[str, BoardNumbers]:
    """Board name → its primary numbers, stored in the manifest so that the next build can compare its own."""
    return {
        f"{board.protocol.name} {board.protocol.task}".strip(): BoardNumbers(
            title=f"{board.benchmark.title}, {board.protocol.short}: {board.primary.title}, {board.averaging}",
            path=board_page(board.benchmark.name),
            data=f"{board.benchmark.source} {board.benchmark.revision}".strip()
            + f", {count(board.benchmark.n_scorable)} items",
            rules=board.protocol.hash,
            systems={
                row.run.system: PrimaryNumber(value=row.number, n=row.n, run=row.run.run_id) for row in board.every
            },
        )
        for board in boards
        if board.every
    }


def changes_since(
    before: Manifest, numbers: Mapping[str, BoardNumbers], downloads: Sequence[Stored]
) -> dict[str, object]:
    """The changes since the build of manifest `before`, as stored in `changes.json`."""
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
    """A system's scores before and now, why they differ (None if they do not), and the absolute difference."""
    before, now = old.value if old else None, new.value if new else None
    size = None if before is None or now is None else abs(now - before)
    # If two different numbers round to the same text, show all their digits.
    shown = repr if size and score(before) == score(now) else score
    why: str | None = "new" if old is None else "gone"
    if old is not None and new is not None:
        reasons = [f"over {count(new.n)} items, before over {count(old.n)}"] * (old.n != new.n)
        why = "; ".join([*reasons, *["another run"] * (old.run != new.run)]) if before != now else None
    cells = {"before": shown(before) if old else DASH, "now": shown(now) if new else DASH}
    return {"system": system, **cells, "why": why, "size": size}
