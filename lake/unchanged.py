"""Whether a stage has anything to do, known from a stamp: where nothing has changed, no part is opened.

When a stage is done it stores in the lake, under `.current`, what it was asked, the code and the libraries that did it,
the state of every file that it read or wrote, and what it said. Asked the same again, while all of that is what it was,
it says the same again. A file counts as unchanged while it is the same file on the disk, of the same size and times;
its content was read when the stamp was made. `python -m ingest verify` compares contents whatever the times are.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypedDict, cast

from lake.fingerprint import SETTLED_NS, State, states_below
from lake.hints import given

if TYPE_CHECKING:
    from lake.outcome import Outcome
    from lake.store import Lake

ROOT = Path(__file__).resolve().parents[1]
DEFAULT_LAKE = Path("lake/data")
FOLDER = ".current"
"""The folder of a lake that holds the stamps; without it everything is looked at."""

_SECONDS = "\u2400"

_WAITS = 5
"""How often it is waited for the files that were just written to be old enough to tell by their times."""


class Stamp(TypedDict):
    """What a stage stores when it is done.

    Attributes:
        made_by: A digest of the code and the libraries.
        read: File or folder → a digest of the states of its files.
        tables: The tables whose files are just those of `parts`.
        shared: The tables that may have other files beside those, known from this stamp or one of `evaluate`.
        parts: The lake's files that the stage answers for, and their states.
        others: Those of the shared tables that another stage answers for.
        facts: What is said as JSON, where that was asked for.
        printed: What is printed on stdout.
        said: What is said on stderr, with a mark where the seconds stand.
        code: The exit status.
    """

    made_by: str
    read: dict[str, str]
    tables: list[str]
    shared: list[str]
    parts: dict[str, list[int]]
    others: dict[str, list[int]]
    facts: dict[str, object]
    printed: list[str]
    said: list[str]
    code: int


class _Command(NamedTuple):
    """The command that this process was started with.

    Attributes:
        stage: The stage.
        name: What its stamp is called: a digest of its arguments, its settings and the folder it is given in.
        made_by: As in a stamp.
        read: Likewise, as it was before anything was read; None where that cannot tell whether there is something new.
    """

    stage: str
    name: str
    made_by: str
    read: dict[str, str] | None


_command: list[_Command] = []


def say_again(stage: str) -> None:
    """Say what the same command said before, and end the process, where nothing has changed since; else return."""
    started = time.perf_counter()
    settings = {name: value for name, value in os.environ.items() if name.startswith("GOLDSPAN_")}
    asked = _digest([stage, sys.argv[1:], settings, str(Path.cwd())])
    command = _Command(stage, f"{stage}-{asked}.json", _code_of(stage), {})
    _command[:] = [command]
    stamp = _read(_lake_named() / FOLDER / command.name)
    if stamp is None or stamp["made_by"] != command.made_by or not _is_current(_lake_named(), stamp):
        return
    seconds = time.perf_counter() - started
    if stamp["facts"]:
        print(json.dumps({**stamp["facts"], "seconds": round(seconds, 3)}))
    for line in stamp["printed"]:
        print(line)
    for line in stamp["said"]:
        print(line.replace(_SECONDS, f"{seconds:.1f}"), file=sys.stderr)
    sys.exit(stamp["code"])


def note_read(paths: Iterable[Path] | None) -> None:
    """Note the states of the files and folders that are to be read beside the lake, before they are.

    Args:
        paths: Which; None where something else is read, whose state cannot be told without reading it.
    """
    if not _command:
        return
    states = {str(path.absolute()): states_below(path.absolute()) for path in paths or ()}
    is_settled = all(_is_settled(found) for found in states.values())
    read = {path: _digest(found) for path, found in states.items()} if is_settled and paths is not None else None
    _command[:] = [_command[0]._replace(read=read)]


def keep(
    lake: Lake,
    outcome: Outcome,
    *,
    as_json: bool,
    quiet: bool,
    tables: Collection[str] = (),
    shared: Collection[str] = (),
    runs: Iterable[str] = (),
    written: Sequence[Path] = (),
    printed: Sequence[str] = (),
) -> None:
    """Store the stamp of a stage that is done, the lake being as it left it.

    Args:
        lake: The lake.
        outcome: What the stage did.
        as_json: Whether that is said as JSON.
        quiet: Whether nothing else is said.
        tables: Who makes the tables that it reads or writes, whose every part counts: see :class:`lake.tables.Table`.
        shared: Likewise the tables of which it reads or writes the parts of some runs.
        runs: Those runs.
        written: What it has written outside of the lake.
        printed: What it prints on stdout when it is asked the same again.
    """
    # Imported when needed: where nothing has changed, nobody waits for them.
    from lake.damage import survey
    from lake.parts import quoted
    from lake.tables import TABLES
    from lake.text import escaped

    if not _command or _command[0].read is None:
        return
    command = _command[0]
    whole = [one.name for one in TABLES.values() if one.made_by in tables]
    partly = [one.name for one in TABLES.values() if one.made_by in shared]
    names = [*whole, *partly]
    for _ in range(_WAITS):
        if all(_is_settled(states_below(path)) for path in [*(lake.root / name for name in names), *written]):
            break
        time.sleep(SETTLED_NS / 1e9)
    else:
        # Times that lie ahead tell nothing.
        return
    found = _states_of(lake.root, names)
    if survey(lake.root, [TABLES[name] for name in names]).faults:
        return
    own = {f"run_id={quoted(run)}" for run in runs}
    mine = {path for path in found if _table_of(path) in whole or own & {*path.split("/")}}
    again = outcome.unchanged()
    stamp = Stamp(
        made_by=command.made_by,
        read={**(command.read or {}), **{str(path.absolute()): _digest(states_below(path)) for path in written}},
        tables=whole,
        shared=partly,
        parts={path: [*found[path]] for path in mine},
        others={path: [*found[path]] for path in found.keys() - mine},
        facts=again.facts if as_json else {},
        printed=[*printed],
        said=[] if as_json or quiet else [escaped(line) for line in again.lines(command.stage, _SECONDS)],
        code=int(again.code),
    )
    with suppress(OSError):
        _write(lake.root / FOLDER, command, stamp)


def _is_current(lake: Path, stamp: Stamp) -> bool:
    if any(_digest(states_below(Path(path))) != digest for path, digest in stamp["read"].items()):
        return False
    found = {path: [*state] for path, state in _states_of(lake, [*stamp["tables"], *stamp["shared"]]).items()}
    if any(found.get(path) != state for path, state in stamp["parts"].items()):
        return False
    others = {path: state for path, state in found.items() if path not in stamp["parts"]}
    if any(_table_of(path) in stamp["tables"] for path in others):
        return False
    if others.items() <= stamp["others"].items():
        return True
    stamps = [other["parts"] for other in map(_read, (lake / FOLDER).glob("evaluate-*.json")) if other]
    # A stamp may be older than a part that another has made again since.
    return all(any(known.get(path) == state for known in [stamp["others"], *stamps]) for path, state in others.items())


def _table_of(path: str) -> str:
    return path.partition("/")[0]


def _states_of(lake: Path, names: Sequence[str]) -> dict[str, State]:
    """The files of some tables, by their place in the lake."""
    n = len(str(lake)) + 1
    return {path[n:]: state for name in names for path, state in states_below(lake / name).items()}


def _is_settled(states: dict[str, State]) -> bool:
    """Whether all files were changed so long ago that another change would tell."""
    return max((state[-1] for state in states.values() if state), default=0) < time.time_ns() - SETTLED_NS


def _read(file: Path) -> Stamp | None:
    try:
        stamp: object = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    is_stamp = isinstance(stamp, dict) and stamp.keys() == Stamp.__annotations__.keys()
    return cast(Stamp, stamp) if is_stamp else None


def _write(folder: Path, command: _Command, stamp: Stamp) -> None:
    """Put a stamp in place, and delete those that other code has stored for the stage: they never hold again."""
    folder.mkdir(parents=True, exist_ok=True)
    beside = folder / f".{command.name}.{os.getpid()}"
    beside.write_text(json.dumps(stamp), encoding="utf-8")
    beside.replace(folder / command.name)
    for file in folder.glob(f"{command.stage}-*.json"):
        other = _read(file)
        if other is None or other["made_by"] != command.made_by:
            file.unlink(missing_ok=True)


def _lake_named() -> Path:
    """The lake that the command names. If that is read wrongly, no stamp of the command is there."""
    return Path(given("lake") or DEFAULT_LAKE)


def _code_of(stage: str) -> str:
    """A digest of the states of the checkout's files that a stage runs or reads, and of the installed libraries'."""
    folders = [ROOT / "lake", ROOT / stage, *([ROOT / "site"] if stage == "report" else [])]
    places = [place for folder in folders for place in folder.iterdir() if place not in _NOT_CODE]
    places += [ROOT / "pyproject.toml", ROOT / ".github" / "workflows" / "publish.yml", *_records()]
    states = {path: state for place in places for path, state in states_below(place).items()}
    return _digest([sys.version, *(one for one in states.items() if not one[0].endswith((".parquet", ".pyc")))])


_NOT_CODE = {ROOT / name for name in ("lake/data", "lake/cache", "lake/submissions", "site/public")}


def _records() -> Iterator[Path]:
    """What records, never changed in place, what each installed package consists of."""
    for place in sys.path:
        with suppress(OSError):
            names = sorted(entry.name for entry in os.scandir(place) if entry.name.endswith(".dist-info"))
            yield from (Path(place, name, "RECORD") for name in names)


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:32]
