"""`python -m tests.bench [NAME…]`: measure, and print one table; over a target is said, and ends well all the same."""

import json as jsonlib
import os
import platform
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from lake.console import Console, DebugOption, JsonOption, QuietOption, run, split_names
from lake.errors import Exit, GoldspanError, unknown_name
from tests.bench import Bench, Row, Settings, benches
from tests.bench._measure import METHOD, ChildError
from tests.bench._table import aligned, plain

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def bench(
    names: Annotated[list[str] | None, typer.Argument(help="Which; all without it.")] = None,
    source: Annotated[str, typer.Option(envvar="GOLDSPAN_SOURCE", help="sample, hub, or a folder.")] = "sample",
    rows: Annotated[
        str, typer.Option(envvar="GOLDSPAN_ROWS", help="Comma list of sizes of `repobench`: 12000,48000.")
    ] = "",
    full: Annotated[
        float,
        typer.Option(
            envvar="GOLDSPAN_FULL", min=0, max=1, help="Share of its published size that `contextbench` makes up."
        ),
    ] = 0.0,
    repeat: Annotated[
        int | None,
        typer.Option(envvar="GOLDSPAN_REPEAT", min=1, help="The fastest of so many counts; 3, large ones 1."),
    ] = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
    debug: DebugOption = False,
) -> None:
    """Measure speed and memory beside named peers."""
    console, known = Console(quiet=quiet), benches()
    asked = split_names(names) or list(known)
    for name in asked:
        if name not in known:
            kind = "bench"
            raise unknown_name(name, kind, known)
    settings = Settings(_source(source), repeat, _sizes(rows), full)
    measured: list[tuple[Bench, Row]] = []
    for name in asked:
        console.say(f"{name}: {known[name].title}")
        with tempfile.TemporaryDirectory(prefix="goldspan-bench-") as folder:
            for row in _rows(known[name], settings, Path(folder)):
                measured.append((known[name], row))
                console.say(f"  {row.what}: {row.failed or f'{row.seconds or 0:.2f} s, {row.peak_mb or 0:,.0f} MB'}")
    if json:
        print(jsonlib.dumps([plain(*one) for one in measured], indent=2, ensure_ascii=False))
    else:
        print(_machine(settings, source))
        print(METHOD)
        for name in asked:
            print(f"{name}: {known[name].method}")
        print(f"\n{aligned(measured)}")
    raise typer.Exit(Exit.ERROR if any(row.failed for _, row in measured) else Exit.DONE)


def _rows(bench: Bench, settings: Settings, folder: Path) -> Iterator[Row]:
    try:
        yield from bench.run(settings, folder)
    except ChildError as error:
        yield Row(bench.title, failed=error.line)


def _source(given: str) -> str:
    if given in {"sample", "hub"}:
        return given
    folder = Path(given)
    if not folder.is_dir():
        message = f"source {given!r} is no folder"
        raise GoldspanError(message, hint="Give SOURCE=sample, SOURCE=hub or a folder.", code=Exit.MISSING)
    return str(folder.resolve())


def _sizes(given: str) -> tuple[int, ...]:
    sizes = split_names(given)
    wrong = [size for size in sizes if not size.isdecimal() or int(size) < 32]
    if wrong:
        message = f"ROWS: {wrong[0]!r} is no number of rows, 32 or more"
        raise GoldspanError(message, hint="Write ROWS=12000 or ROWS=12000,48000.", code=Exit.USAGE)
    return tuple(int(size) for size in sizes)


def _machine(settings: Settings, source: str) -> str:
    cores = f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
    python = f"Python {platform.python_version()} on {platform.system()} {platform.machine()}"
    attempts = f"best of {settings.attempts()}, large ones of {settings.attempts(large=True)}"
    return f"source {source}; {attempts}; {cores}; {python}"


if __name__ == "__main__":
    run(app, "tests.bench")
