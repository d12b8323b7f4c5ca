"""Data: every table to download, how to read it, what was rejected, and how to cite.

The folder of downloads is a data set with a card of the Hugging Face Hub, by whose `configs` `datasets.load_dataset`
reads a table, and with metadata in Croissant 1.0 (https://docs.mlcommons.org/croissant/docs/croissant-spec.html).
"""

from collections.abc import Iterator, Sequence
from typing import Any

from report.downloads import DATA_FOLDER, Stored, table_files
from report.format import DASH, visible
from report.leaderboard.board import Board
from report.publisher import Page, Publisher, SiteMaterial
from report.render import render


def recipes(board: Board, aggregates: Sequence[str], scores: Sequence[str]) -> list[dict[str, object]]:
    """Recipes to read a board's scores by item, flips and order from files of the tables, with `snippets` of code."""
    granularity, metric, k = board.primary.measure
    # With several tasks a system may have several runs, so runs are named.
    who = "run_id" if board.protocol.task else "system"
    names = [getattr(row.run, who) for row in sorted(board.rows, key=lambda row: row.run.baseline)]
    values = {
        "measured": [("protocol", board.protocol.name), ("granularity", granularity), ("metric", metric), ("k", k)],
        "sliced": list(zip(("slice", "slice_value"), board.slice, strict=True)),
        "scores": scores,
        "aggregates": aggregates,
        "who": who,
        "first": names[0],
        "other": names[-1 if len(names) < 2 else 1],
        "average": board.average,
        "is_falling": not board.primary.lower_is_better,
    }
    a_row = f"{board.primary.title} of {board.benchmark.title}: a row per item, a column per system."
    differ = "Items on which two systems of your choice differ, the largest difference first."
    texts = {
        "per-item": ("Scores by item and system", a_row),
        "flips": ("Flips between two systems", differ),
        "order": ("The leaderboard again", "The order of the board by its primary metric."),
    }
    return [
        {
            "name": name,
            "title": title,
            "meaning": meaning,
            "snippets": {library: written(f"{name}.{library}", values) for library in ("pandas", "polars", "DuckDB")},
        }
        for name, (title, meaning) in texts.items()
        if name != "flips" or len(names) > 1
    ]


def written(name: str, values: dict[str, Any]) -> str:
    """The code of a snippet, filled in."""
    functions = {
        "literal": lambda value: visible(repr(value)),
        "sql": lambda value: str(value) if isinstance(value, int) else "'" + value.replace("'", "''") + "'",
        "files": lambda paths: repr(paths[0] if len(paths) == 1 else list(paths)),
    }
    code = render(f"snippets/{name}.txt", values | functions)
    return f"{code.rstrip()}\n"


_PATH = "data.html"
_MAX_CELL = 60
_READ = ("aggregates", "scores")
CARD, CROISSANT = f"{DATA_FOLDER}/README.md", f"{DATA_FOLDER}/croissant.json"


def _pages(material: SiteMaterial) -> Iterator[Page]:
    tables: dict[str, list[Stored]] = {}
    for stored in material.downloads:
        tables.setdefault(stored.download.name, []).append(stored)
    board = next((boards[0] for boards in material.boards_of.values() if boards and boards[0].rows), None)
    citation = render("citation.txt", {"project": material.project})
    values = {
        "groups": [(files[0].download, files) for files in tables.values()],
        "first": {each.path: [list(map(_cut, row)) for row in each.first] for each in material.downloads},
        "recipes": recipes(board, *(table_files(material.downloads, name, [board.benchmark]) for name in _READ))
        if board
        else [],
        "n_bytes": sum(each.n_bytes for each in material.downloads),
        "benchmarks": list(material.benchmarks.values()),
        "card": {"card": CARD, "Croissant metadata": CROISSANT},
        "citation": citation,
        "rejects": list(material.rejects.head(20).iter_rows(named=True)),
        "n_rejects": material.rejects.height,
        "stages": material.rejects["stage"].value_counts().sort("stage").rows(),
    }
    of_card = {"project": material.project, "tables": tables, "citation": citation}
    files = {
        path: f"{render(template, of_card)}\n".encode()
        for path, template in ((CARD, "card.txt"), (CROISSANT, "croissant.txt"))
    }
    yield Page(_PATH, "Data", "data.html", values, files=files)


def _cut(value: object) -> str:
    text = DASH if value is None else str(value)
    return text if len(text) <= _MAX_CELL else f"{text[:_MAX_CELL]}…"


DATA_PAGES = Publisher("data", 80, __doc__, _pages, lambda _: [("Data", _PATH)])
