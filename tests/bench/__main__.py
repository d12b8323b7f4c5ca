"""`python -m tests.bench [NAME…]`: measure, and print one table; over a target is said, and ends well all the same."""

import os
import platform
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from evaluate.results.board import PrintedTable, print_tables
from lake.console import Console, DebugOption, QuietOption, run, split_names
from lake.errors import Exit, GoldspanError, lookup
from tests.bench import FORMS, Bench, Row, Settings, benches
from tests.bench._measure import METHOD, ChildError

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
    quiet: QuietOption = False,
    debug: DebugOption = False,
) -> None:
    """Measure speed and memory beside named peers."""
    console, known = Console(quiet=quiet), benches()
    chosen = [lookup(name, "bench", known) for name in split_names(names) or known]
    if source not in {"sample", "hub"}:
        if not Path(source).is_dir():
            raise GoldspanError(f"source {source!r} is no folder", hint="Or sample, or hub.", code=Exit.MISSING)
        source = str(Path(source).resolve())
    settings = Settings(source, repeat, tuple(map(int, split_names(rows))), full)
    measured: list[tuple[Bench, Row]] = []
    for each in chosen:
        console.say(f"{each.name}: {each.title}")
        with tempfile.TemporaryDirectory(prefix="goldspan-bench-") as folder:
            for row in _rows(each, settings, Path(folder)):
                measured.append((each, row))
                console.say(f"  {row.what}: {row.failed or ', '.join(numbers(row.measured).values())}")
    machine = f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, {platform.system()} {platform.machine()}"
    attempts = f"best of {settings.attempts()}, large ones of {settings.attempts(large=True)}"
    title = f"source {source}; {attempts}; {machine}, Python {platform.python_version()}"
    print_tables([printed(title, measured, [METHOD, *(f"{each.name}: {each.method}" for each in chosen)])])
    raise typer.Exit(Exit.ERROR if any(row.failed for _, row in measured) else Exit.DONE)


def _rows(bench: Bench, settings: Settings, folder: Path) -> Iterator[Row]:
    try:
        yield from bench.run(settings, folder)
    except ChildError as error:
        yield Row(bench.title, failed="; ".join(line.strip() for line in error.render().splitlines()))


def numbers(of: Mapping[str, float]) -> dict[str, str]:
    """What is measured, or the limits of that, as it is printed."""
    return {name: form.format(of[name]) for name, form in FORMS.items() if name in of}


def printed(title: str, measured: Sequence[tuple[Bench, Row]], notes: Sequence[str]) -> PrintedTable:
    """A row for each that was measured."""
    cells = []
    for bench, row in measured:
        shown, signs = numbers(row.measured), {"ratio": "≥"}
        target = ", ".join(f"{signs.get(name, '≤')} {limit}" for name, limit in numbers(row.target).items())
        cells.append([bench.name, row.what, *(shown.get(name, "") for name in FORMS), target, row.verdict])
    failed = [f"{bench.name}, {row.what}: {row.failed}" for bench, row in measured if row.failed]
    return PrintedTable(title, ["bench", "what", *FORMS, "target", ""], cells, [*failed, *notes], texts=2)


if __name__ == "__main__":
    run(app, "tests.bench")
