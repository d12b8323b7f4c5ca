"""System: a page per system: what it is, its numbers by slice, where the gold went, its items, how it was made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lake.verdict import FEWEST_REPOS, ITEM_NOTE
from report.addresses import compare_address, item_address
from report.downloads import table_files
from report.format import score, slug
from report.leaderboard.board import Board, BoardRow
from report.leaderboard.board_files import PUBLISHED_AGAIN
from report.models import BenchmarkRow
from report.publisher import Page, Publisher, SiteMaterial
from report.snippets import of_system
from report.systems.parts import SystemOnBoard, profile, systems_on

_FILES = ("scores", "rankings", "aggregates")


class _Standings:
    """A system on one benchmark: all that it did on the first board that has it, and its rows on the others."""

    def __init__(self, benchmark: BenchmarkRow, first: SystemOnBoard) -> None:
        self.benchmark, self.first = benchmark, first
        self.others: list[tuple[Board, BoardRow]] = []


def _pages(material: SiteMaterial) -> Iterator[Page]:
    facts = material.facts
    by_system: dict[str, dict[str, _Standings]] = {run.system: {} for run in facts.runs}
    for name, boards in material.boards.items():
        for board in boards:
            new = [row for row in board.every if name not in by_system[row.run.system]]
            for part in systems_on(board, new) if new else ():
                by_system[part.row.run.system][name] = _Standings(board.benchmark, part)
            for row in board.every:
                if row not in new:
                    by_system[row.run.system][name].others.append((board, row))
    for system, by_benchmark in by_system.items():
        standings = list(by_benchmark.values())
        runs = [run for run in facts.runs if run.system == system]
        made_of = (facts.chunkers.get(runs[0].chunker or ""), facts.retrievers.get(runs[0].retriever or ""))
        declared = [each for each in made_of if each is not None]
        used = {run.benchmark for run in runs}
        benchmarks = [benchmark for name, benchmark in facts.benchmarks.items() if name in used]
        files = {name: table_files(material.downloads, name, benchmarks) for name in _FILES}
        values = {
            "system": system,
            "runs": runs,
            "own": [run for run in runs if not facts.benchmarks[run.benchmark].is_edition],
            "again": PUBLISHED_AGAIN,
            "standings": standings,
            "paths": {name: f"{slug(name)}.html" for name in facts.benchmarks},
            "declared": declared,
            "snippet": of_system(files, system),
            "files": files,
            "citations": [(each.shown_name, each.citation) for each in (*benchmarks, *declared) if each.citation],
            "profile": profile,
            "item_address": item_address,
            "item_note": ITEM_NOTE,
            "fewest_repos": FEWEST_REPOS,
            "compare_address": compare_address,
        }
        description = _description(system, [each.first for each in standings])
        yield Page(facts.system_paths[system], system, "system.html", values, description=description)


def _description(system: str, parts: Sequence[SystemOnBoard]) -> str:
    first = next((part for part in parts if part.row.head is not None), None)
    if first is None:
        return ""
    title = f"{first.board.benchmark.title}: {first.board.primary.title}"
    return f"{system} on {title} {score(first.row.number)}, {first.row.standing}."


SYSTEM_PAGES = Publisher("systems", 90, __doc__, _pages)
