"""Data: every table to download, how to read it, what was rejected, and how to cite."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from report.dataset_card import CARD, CROISSANT, card_files
from report.downloads import table_files
from report.format import DASH
from report.publisher import Page, Publisher, SiteMaterial
from report.snippets import recipes

_PATH = "data.html"
_MAX_REJECTS = 20
_MAX_CELL = 60
_READ = ("aggregates", "scores")


def _pages(material: SiteMaterial) -> Iterator[Page]:
    facts = material.facts
    groups = [(table, list(files)) for table, files in groupby(material.downloads, key=lambda each: each.download)]
    board = next((boards[0] for boards in material.boards.values() if boards and boards[0].rows), None)
    about = material.project
    title = f"{{{about['name']}}}: {about['description']}"
    fields = {"title": title, "version": about["version"], "license": about["license"]}
    lines = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields.items())
    citation = f"@software{{{about['name'].lower()},\n{lines}\n}}"
    values = {
        "groups": groups,
        "first": {each.path: [list(map(_cut, row)) for row in each.first] for each in material.downloads},
        "recipes": recipes(board, *(table_files(material.downloads, name, [board.benchmark]) for name in _READ))
        if board
        else [],
        "n_bytes": sum(each.n_bytes for each in material.downloads),
        "benchmarks": list(facts.benchmarks.values()),
        "card": {"card": CARD, "Croissant metadata": CROISSANT},
        "citation": citation,
        "rejects": list(facts.rejects.head(_MAX_REJECTS).iter_rows(named=True)),
        "n_rejects": facts.rejects.height,
        "stages": facts.rejects["stage"].value_counts().sort("stage").rows(),
    }
    yield Page(_PATH, "Data", "data.html", values, files=card_files(material.downloads, material.project, citation))


def _cut(value: object) -> str:
    text = DASH if value is None else str(value)
    return text if len(text) <= _MAX_CELL else f"{text[:_MAX_CELL]}…"


DATA_PAGES = Publisher("data", 80, __doc__, _pages, lambda _: [("Data", _PATH)])
