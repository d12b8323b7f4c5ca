"""Data: every table to download, how to read it, what was rejected, and how to cite."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from report.downloads import Stored
from report.facts import Facts
from report.leaderboard.board import Board, build_board
from report.publisher import Entry, Material, Page, Project, Publisher
from report.shown import MISSING
from report.snippets import recipes

PATH = "data.html"
MAX_REJECTS = 20
_MAX_CELL = 60


def _pages(material: Material) -> Iterator[Page]:
    facts = material.facts
    benchmarks = list(facts.benchmarks.values())
    groups = [(table, list(files)) for table, files in groupby(material.downloads, key=lambda each: each.download)]
    paths = {download.name: [each.path for each in files] for download, files in groups}
    board = _first_board(facts)
    values = {
        "groups": groups,
        "first": {each.path: _first_rows(each) for each in material.downloads},
        "recipes": [] if board is None else recipes(board, paths["aggregates"], paths["scores"]),
        "n_bytes": sum(each.n_bytes for each in material.downloads),
        "benchmarks": benchmarks,
        "citation": _citation(material.project),
        "rejects": list(facts.rejects.head(MAX_REJECTS).iter_rows(named=True)),
        "n_rejects": facts.rejects.height,
        "stages": [(stage, n) for stage, n in facts.rejects["stage"].value_counts().sort("stage").iter_rows()],
    }
    yield Page(PATH, "Data", "data.html", values)


def _first_board(facts: Facts) -> Board | None:
    boards = (build_board(facts, protocol) for name in facts.benchmarks for protocol in facts.boards(name)[:1])
    return next((board for board in boards if board.rows), None)


def _first_rows(stored: Stored) -> list[list[str]]:
    return [[_cut(value) for value in row] for row in stored.first]


def _cut(value: object) -> str:
    text = MISSING if value is None else str(value)
    return text if len(text) <= _MAX_CELL else f"{text[:_MAX_CELL]}…"


def _citation(project: Project) -> str:
    fields = {
        "title": f"{{{project.name}}}: {project.summary}",
        "version": project.version,
        "license": project.licence,
    }
    lines = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields.items())
    return f"@software{{{project.name.lower()},\n{lines}\n}}"


PUBLISHER = Publisher(
    name="data",
    order=80,
    meaning="Every table to download, how to read it, what was rejected, and how to cite.",
    entries=lambda _: [Entry("Data", PATH)],
    pages=_pages,
)
