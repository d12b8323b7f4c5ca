"""Measured rows as aligned columns and as plain values."""

from collections.abc import Iterable

from tests.bench import Bench, Row

HEAD = (
    "bench", "what", "seconds", "CPU s", "peak MB", "written MB", "× fastest peer", "largest difference", "target", "",
)  # fmt: skip
LEFT = (0, 1, 8, 9)


def aligned(measured: Iterable[tuple[Bench, Row]]) -> str:
    """A table with a head, numbers to the right, and what failed below it."""
    measured = list(measured)
    cells = [HEAD, *(_cells(bench, row) for bench, row in measured)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(HEAD))]
    lines = [
        "  ".join(
            cell.ljust(width) if column in LEFT else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in cells
    ]
    lines.insert(1, "  ".join("-" * width for width in widths))
    lines += [f"{bench.name}, {row.what}: {row.failed}" for bench, row in measured if row.failed]
    return "\n".join(lines)


def plain(bench: Bench, row: Row) -> dict[str, object]:
    """A row for `--json`."""
    told = {name: value for name, value in vars(row).items() if name != "extra"}
    return {"bench": bench.name, **told, "target": str(row.target), "verdict": row.verdict, **row.extra}


def _cells(bench: Bench, row: Row) -> tuple[str, ...]:
    forms = ((row.seconds, "{:.2f}"), (row.cpu_seconds, "{:.2f}"), (row.peak_mb, "{:,.0f}"), (row.disk_mb, "{:,.1f}"))
    more = ((row.ratio, "{:.2f}×"), (row.difference, f"{{:.1e}} {row.against}"))
    numbers = ("" if value is None else form.format(value).strip() for value, form in (*forms, *more))
    return (bench.name, row.what, *numbers, str(row.target), row.verdict)
