"""System: a page per system: what it is, its numbers by slice, where the gold went, its items, how it was made."""

from __future__ import annotations

from collections.abc import Iterator

from lake.averages import FEWEST_REPOS, ITEM_NOTE
from report.downloads import table_files
from report.format import board_page, compare_address, item_address, score
from report.leaderboard.board import Board, BoardRow
from report.leaderboard.board_files import PUBLISHED_AGAIN
from report.publisher import Page, Publisher, SiteMaterial
from report.snippets import of_system
from report.systems import SystemOnBoard, profile, systems_on

_FILES = ("scores", "rankings", "aggregates")


class _Standings:
    """A system on one benchmark: all that it did on the first board that has it, and its rows on the others."""

    def __init__(self, first: SystemOnBoard) -> None:
        self.benchmark, self.first = first.board.benchmark, first
        self.others: list[tuple[Board, BoardRow]] = []


def _pages(material: SiteMaterial) -> Iterator[Page]:
    facts = material.facts
    by_system: dict[str, dict[str, _Standings]] = {run.system: {} for run in facts.runs}
    for board in material.every_board:
        name = board.benchmark.name
        new = [row for row in board.every if name not in by_system[row.run.system]]
        for part in systems_on(board, new) if new else ():
            by_system[part.row.run.system][name] = _Standings(part)
        for row in board.every:
            if row not in new:
                by_system[row.run.system][name].others.append((board, row))
    for system, by_benchmark in by_system.items():
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
            "standings": list(by_benchmark.values()),
            "paths": {name: board_page(name) for name in facts.benchmarks},
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
        sentences = [
            f"{system} on {each.benchmark.title}: {each.first.board.primary.title} {score(each.first.row.number)}, "
            f"{each.first.row.standing}."
            for each in by_benchmark.values()
            if each.first.row.head
        ]
        yield Page(facts.system_paths[system], system, "system.html", values, sentences[0] if sentences else "")


SYSTEM_PAGES = Publisher("systems", 90, __doc__, _pages)
