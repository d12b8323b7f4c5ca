"""The command line shared by all stages: options, progress, the final summary and exit codes.

stdout carries data; stderr carries progress and logs. A terminal shows a progress bar, a pipe gets a line now and then.
"""

import importlib
import json as jsonlib
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, NoReturn, TypeVar

import polars as pl
import typer
from typer.core import TyperCommand, TyperGroup

from lake.code import ROOT
from lake.errors import Exit, GoldspanError, refusal_of, typed, unknown_name
from lake.limits import limit_memory
from lake.outcome import COUNTS, Outcome
from lake.store import Lake
from lake.text import escaped

PIPE_SECONDS = 10.0
_STOPPED = {Exit.INTERRUPTED: "interrupted", Exit.TERMINATED: "ended by SIGTERM"}


def setting(name: str, text: str, *flags: str, **limits: object) -> object:
    """An option with help text that can also be set by the environment variable GOLDSPAN_<name>."""
    return typer.Option(*flags, envvar=f"GOLDSPAN_{name}", help=text, **limits)  # type: ignore[arg-type]  # whichever a kind of value has


DEFAULT_LAKE = Path("lake/data")

LakeOption = Annotated[Path, setting("LAKE", "Data folder.", "--lake", show_default=True)]
JsonOption = Annotated[bool, setting("JSON", "Print the result as JSON.", "--json")]
QuietOption = Annotated[bool, setting("QUIET", "Print only errors.", "--quiet")]
LimitOption = Annotated[int | None, setting("LIMIT", "Use a fixed sample of N items.", min=1, max=2**63 - 1)]
DebugOption = Annotated[bool, setting("DEBUG", "Show the traceback of an error.", "--debug")]
_MEMORY = "GB of memory per process (default: 85 % of the machine's)."
MemoryOption = Annotated[float | None, setting("MEMORY_LIMIT", _MEMORY, min=0.1, callback=limit_memory)]
EngineOption = Annotated[str, setting("ENGINE", "auto, local:N (N processes) or dask://HOST:PORT.")]
FormatOption = Annotated[str, typer.Option("--format", help="json or yaml (default: a table).")]

_T = TypeVar("_T")


class Console:
    """Progress and messages on stderr; `quiet` suppresses all but warnings."""

    def __init__(self, *, quiet: bool = False, json: bool = False) -> None:
        self.quiet = quiet
        self.json = json
        self._started = time.perf_counter()

    def say(self, text: str) -> None:
        """Print one line about progress."""
        if not self.quiet:
            self.warn(text)

    def warn(self, text: str) -> None:
        """Print one line about a problem, even if `quiet`."""
        print(escaped(text), file=sys.stderr)

    def track(self, things: Iterable[_T], title: str, *, total: int) -> Iterator[_T]:
        """Yield `things`, `total` in number, and show progress."""
        if sys.stderr.isatty() and not self.quiet and total:
            # Imported when needed: commands without a bar start faster.
            from rich.console import Console as RichConsole
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

            text = TextColumn("{task.description}", markup=False)
            columns = text, BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
            with Progress(*columns, console=RichConsole(stderr=True), transient=True) as progress:
                yield from progress.track(things, total=total, description=escaped(title))
            return
        last_line = time.perf_counter()
        for done, thing in enumerate(things):
            if time.perf_counter() - last_line > PIPE_SECONDS:
                last_line = time.perf_counter()
                self.say(f"{title}: {done:,} of {total:,}")
            yield thing

    def lake_lock(self, lake: Lake, makes: Collection[str]) -> AbstractContextManager[None]:
        """The lake's lock (:meth:`Lake.locked`), with messages to the user."""
        return lake.locked(makes=makes, say=self.say, warn=self.warn)

    def finish(self, stage: str, outcome: Outcome) -> Exit:
        """Print the final summary, as lines on stderr or one JSON object on stdout, and return the exit code."""
        seconds = time.perf_counter() - self._started
        if self.json:
            counts = {name: getattr(outcome, name) for name in COUNTS} | outcome.tally.counts()
            print(jsonlib.dumps({"written": outcome.written, **counts, "seconds": round(seconds, 3)}))
        else:
            for line in outcome.lines(stage, f"{seconds:.1f}"):
                self.say(line)
        return outcome.code


def stage_app(default: str, modules: Mapping[str, str]) -> typer.Typer:
    """The command-line app of a stage. Arguments without a command go to the default one: `python -m ingest repoeval`.

    `modules` maps each command to the module whose `app` declares it; it is imported only when the command is used.
    """

    class StageGroup(TyperGroup):
        def list_commands(self, ctx: object) -> list[str]:
            return list(modules)

        def get_command(self, ctx: object, cmd_name: str) -> TyperCommand | None:
            if cmd_name not in modules:
                return None
            app: typer.Typer = importlib.import_module(modules[cmd_name]).app
            command = typer.main.get_group(app).commands[cmd_name]
            return command if isinstance(command, TyperCommand) else None

        def format_help(self, ctx: object, formatter: object) -> None:
            if own := self.get_command(ctx, default):
                inside = own.context_class(own, info_name=ctx.info_name)  # type: ignore[attr-defined] # click's own Context, whose home moves between releases
                own.format_help(inside, formatter)  # type: ignore[arg-type] # as above
            super().format_help(ctx, formatter)  # type: ignore[arg-type] # as above

        def parse_args(self, ctx: object, args: list[str]) -> list[str]:
            if args[:1] == ["--version"]:
                import tomllib

                declared = tomllib.loads((ROOT / "pyproject.toml").read_text())
                print(f"goldspan {declared['project']['version']}")
                sys.exit(Exit.DONE)
            # `--debug` belongs to the stage, at any position.
            flags, rest = [arg for arg in args if arg == "--debug"], [arg for arg in args if arg != "--debug"]
            rest = rest if rest and rest[0] in {*modules, "--help"} else [default, *rest]
            return super().parse_args(ctx, [*flags, *rest])  # type: ignore[arg-type] # as above

        def invoke(self, ctx: object) -> object:
            """Run the command; if a mistyped command name was taken for an argument, suggest the command."""
            try:
                return super().invoke(ctx)  # type: ignore[arg-type] # as above
            except Exception as error:
                word, code = next(iter(sys.argv[1:]), ""), getattr(error, "code", getattr(error, "exit_code", None))
                # A benchmark name is no mistyped command: `repoeval` resembles `repro`, but the error is another.
                is_other = word in modules or (isinstance(error, GoldspanError) and repr(word) not in error.what)
                close = get_close_matches(word, modules, n=1, cutoff=0.7)
                if is_other or code != Exit.USAGE or not close:
                    raise
                what: str = getattr(error, "message", "") or getattr(error, "what", str(error))
                hint = f"Did you mean the command {close[0]!r}?"
                raise GoldspanError(what, hint=hint, code=Exit.USAGE) from error

    def options(debug: DebugOption = False) -> None:
        pass

    return typer.Typer(cls=StageGroup, callback=options, add_completion=False, pretty_exceptions_enable=False)


def run(app: typer.Typer, stage: str) -> None:
    """Run a stage's command line; errors of the user or the system end in a few lines, not a traceback."""
    debug = "--debug" in sys.argv or os.environ.get("GOLDSPAN_DEBUG", "").lower() in {"1", "true", "yes", "on"}
    try:
        signal.signal(signal.SIGTERM, _end_in_order)
        app(prog_name=f"python -m {stage}")
    except (KeyboardInterrupt, SystemExit) as stop:
        # Typer turns Ctrl-C inside a command into an exit of its own.
        code = stop.code if isinstance(stop, SystemExit) else Exit.INTERRUPTED
        if code not in _STOPPED:
            raise
        kept = "Finished work is kept; run the same command again to continue."
        Console().warn(f"{stage}: {_STOPPED[Exit(code)]}. {kept}")
        sys.exit(code)
    except (Exception, pl.exceptions.PanicException) as error:
        if debug:
            raise
        Console().warn(f"{stage}: {_sentence(error)}")
        sys.exit(error.code if isinstance(error, GoldspanError) else Exit.ERROR)


def _sentence(error: BaseException) -> str:
    """An error as a message: system errors and lack of memory by name, all unforeseen ones as a bug in Goldspan."""
    if isinstance(error, GoldspanError):
        error.hint = typed(error.hint)
        return error.render()
    if isinstance(error, MemoryError):
        return "out of memory.\n  Raise --memory-limit, or do less at once: --limit, ENGINE=local:1."
    if why := refusal_of(error):
        where = f"\n  where: {error.filename}" if isinstance(error, OSError) and error.filename else ""
        return f"the operating system refused: {why}{where}\n  Fix this and run the same command again."
    message = f"{type(error).__name__}: {error}".splitlines()[0][:300]
    return f"{message}\n  This is a bug in Goldspan. Run it again with --debug for the traceback."


def _end_in_order(_: int, __: object) -> NoReturn:
    for child in multiprocessing.active_children():
        child.terminate()
    sys.exit(Exit.TERMINATED)


def split_names(values: Iterable[str] | str | None) -> list[str]:
    """Names from `a,b`, `a b` or several arguments, without duplicates, in order."""
    texts = [values] if isinstance(values, str) else list(values or [])
    return list(dict.fromkeys(name for text in texts for name in text.replace(",", " ").split()))


def split_systems(values: str, lake: Lake) -> list[str]:
    """System names and globs from `a,b` or `a b`, in order; names of imported systems may contain spaces."""
    known = set(lake.scan("runs").select(pl.col("system").unique()).collect()["system"]) if values else set()
    names = [[name] if name in known else split_names(name) for name in map(str.strip, values.split(","))]
    return [values] if values in known else list(dict.fromkeys(name for each in names for name in each))


def print_listing(rows: Sequence[dict[str, object]], format: str) -> None:  # noqa: A002  # the flag's own name
    """Print rows as JSON, YAML or plain columns."""
    if format == "json":
        print(jsonlib.dumps(list(rows), indent=2))
    elif format == "yaml":
        import yaml

        print(yaml.safe_dump(list(rows), sort_keys=False, allow_unicode=True), end="")
    elif format:
        raise unknown_name(format, "format", ("json", "yaml"))
    else:
        for row in rows:
            # A true flag is shown as its column name, a false one is omitted.
            known = [name if value is True else value for name, value in row.items() if value is not False]
            texts = [", ".join(map(str, value)) if isinstance(value, list) else value for value in known]
            print(escaped("  ".join(str(text) for text in texts if text not in ("", None))))
        if not rows:
            Console().say(typed("the lake holds none; first: make ingest evaluate"))
