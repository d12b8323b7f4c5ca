"""System: a page per system: what it is, its numbers by slice, where the gold went, its items, how it was made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from lake.catalog.unit import FEWEST_REPOS, ITEM_NOTE
from report.addresses import compare_address, item_address
from report.downloads import files_of
from report.format import score, slug
from report.leaderboard.board_files import PUBLISHED_AGAIN
from report.publisher import Material, Page, Publisher
from report.snippets import of_system
from report.systems.parts import Part, parts_of, profile

_FILES = ("scores", "rankings", "aggregates")


def _pages(material: Material) -> Iterator[Page]:
    facts = material.facts
    by_system: dict[str, list[Part]] = {run.system: [] for run in facts.runs}
    for board in material.every_board:
        for system, part in parts_of(board):
            by_system[system].append(part)
    for system, parts in by_system.items():
        runs = [run for run in facts.runs if run.system == system]
        made_of = (facts.chunkers.get(runs[0].chunker or ""), facts.retrievers.get(runs[0].retriever or ""))
        declared = [each for each in made_of if each is not None]
        used = {run.benchmark for run in runs}
        benchmarks = [benchmark for name, benchmark in facts.benchmarks.items() if name in used]
        files = {name: files_of(material.downloads, name, benchmarks) for name in _FILES}
        mine = groupby(parts, key=lambda part: part.board.benchmark)
        values = {
            "system": system,
            "runs": runs,
            "own": [run for run in runs if not facts.benchmarks[run.benchmark].is_edition],
            "again": PUBLISHED_AGAIN,
            "by_benchmark": [(benchmark, list(of)) for benchmark, of in mine],
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
        yield Page(facts.system_paths[system], system, "system.html", values, description=_said(system, parts))


def _said(system: str, parts: Sequence[Part]) -> str:
    first = next((part for part in parts if part.row.head is not None), None)
    if first is None:
        return ""
    title = f"{first.board.benchmark.title}: {first.board.primary.title}"
    return f"{system} on {title} {score(first.row.number)}, {first.place}."


SYSTEMS = Publisher("systems", 90, __doc__, _pages)
