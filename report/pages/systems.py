"""System: what one system is, its numbers by benchmark and slice, where the gold went, its items, and its making."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from report.addresses import compare_address, item_address
from report.entities import Declaration, Run
from report.facts import Facts
from report.leaderboard.board import build_board
from report.publisher import Material, Page, Publisher
from report.shown import slug
from report.snippets import of_system
from report.systems.parts import Part, parts_of


def _pages(material: Material) -> Iterator[Page]:
    facts = material.facts
    boards = [build_board(facts, protocol) for name in facts.benchmarks for protocol in facts.boards(name)]
    by_system: dict[str, list[Part]] = {run.system: [] for run in facts.runs}
    for board in boards:
        for system, part in parts_of(material.lake, facts, board):
            by_system[system].append(part)
    files = {name: [each.path for each in material.downloads if each.download.name == name] for name in _FILES}
    for system, parts in by_system.items():
        runs = [run for run in facts.runs if run.system == system]
        declared = [each for each in _declared(facts, runs[0]) if each is not None]
        values = {
            "system": system,
            "runs": runs,
            "by_benchmark": [
                (benchmark, mine)
                for benchmark in facts.benchmarks.values()
                if (mine := [part for part in parts if part.board.benchmark.name == benchmark.name])
            ],
            "paths": {name: f"{slug(name)}.html" for name in facts.benchmarks},
            "declared": declared,
            "snippet": of_system(files, system),
            "files": files,
            "citations": _citations(facts, runs, declared),
            "item_address": item_address,
            "compare_address": compare_address,
        }
        yield Page(facts.system_paths[system], system, "system.html", values, said=_said(system, parts))


_FILES = ("scores", "rankings", "aggregates")
"""The downloads that have a system's own rows."""


def _declared(facts: Facts, run: Run) -> list[Declaration | None]:
    """The chunker and the retriever."""
    return [facts.chunkers.get(run.chunker or ""), facts.retrievers.get(run.retriever or "")]


def _citations(facts: Facts, runs: Sequence[Run], declared: Sequence[Declaration]) -> list[tuple[str, str]]:
    """What to cite: the benchmarks that it was run on, and what it is made of where that is declared."""
    used = dict.fromkeys(run.benchmark for run in runs)
    benchmarks = [one.declaration for name, one in facts.benchmarks.items() if name in used]
    return [(each.shown_name, each.citation) for each in (*benchmarks, *declared) if each.citation]


def _said(system: str, parts: Sequence[Part]) -> str:
    """Its first number, for those who share its address."""
    first = next((part for part in parts if part.row.head is not None), None)
    if first is None:
        return ""
    return f"{system} on {first.board.benchmark.title}: {first.board.primary.title} {first.number}, {first.place}."


SYSTEMS = Publisher(
    name="systems",
    order=90,
    meaning="A page per system: what it is, its numbers by slice, where the gold went, its items, how it was made.",
    entries=lambda _: [],
    pages=_pages,
)
