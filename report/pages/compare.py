"""Compare: two to six systems beside one another: verdicts, where they differ, and every item on which they do."""

from __future__ import annotations

import json
from collections.abc import Iterator

from lake.verdict import INSEPARABLE, PAIR_ALONE
from report.data_files import data_file, packed
from report.format import COMPARE, items_path, pairs_path, run_key, title_of, visible
from report.leaderboard.board import cells_in
from report.leaderboard.gold_ledger import LEDGER_TITLES, amounts_of, precisions_of
from report.leaderboard.verdicts import DIGITS, PAIR_COLUMNS, PAIR_SENTENCES, board_verdict, pairs_among
from report.outcomes import BoardOutcomes, outcome_files
from report.publisher import Page, Publisher, SiteMaterial

MOST = 6


def _pages(material: SiteMaterial) -> Iterator[Page]:
    every = [outcomes for outcomes in map(BoardOutcomes, material.every_board) if len(outcomes.rows) > 1]
    files: dict[str, bytes] = {}
    for outcomes in every:
        files |= outcome_files(outcomes, _said(outcomes))
        for number, stratum in enumerate(outcomes.strata):
            name = f"{outcomes.name}/slice-{number}"
            files[f"{name}.js"] = data_file(name, _stratum(outcomes, stratum))
    boards_of = [
        (benchmark, pairs_path(name), [outcomes for outcomes in every if outcomes.board.benchmark is benchmark])
        for name, benchmark in material.facts.benchmarks.items()
    ]
    values = {"benchmarks": boards_of, "n_boards": len(every), "most": MOST}
    description = "Two to six systems compared: verdict, difference by repository, every item that flips."
    yield Page(COMPARE, "Compare", "compare.html", values, description, files)


def _said(outcomes: BoardOutcomes) -> dict[str, object]:
    board, verdict = outcomes.board, board_verdict(outcomes.board)
    first = [run_id for run_id in (verdict.reference, verdict.run_id) if run_id in outcomes.run_ids]
    return {
        "protocol": board.protocol.name,
        "benchmark": board.benchmark.title,
        "measure": board.primary.title,
        "average": board.average,
        "averaged": board.averaging,
        "sign": {"higher": 1, "lower": -1, "neither": 0}[board.primary.rule.direction],
        "slice": title_of(board.slice[0]),
        "strata": outcomes.strata,
        "items": items_path(board.benchmark.name),
        "first": list(map(run_key, first if len(first) > 1 else outcomes.run_ids[:2])),
        "runs": [
            {
                "key": run_key(row.run.run_id),
                "system": visible(row.run.system),
                "name": visible(row.run.full_name),
                "kind": row.run.kind,
                "drawn": row.run.drawn,
                "state": row.state,
                "page": board.facts.system_paths[row.run.system],
            }
            for row in outcomes.rows
        ],
        "classes": list(LEDGER_TITLES.items()),
        "sentences": PAIR_SENTENCES,
        "alone": {"verdict": INSEPARABLE, "note": PAIR_ALONE},
        "digits": DIGITS,
    }


def _stratum(outcomes: BoardOutcomes, value: str) -> dict[str, object]:
    """Over one value of the slice: each run's number with its interval, its ledger, and every pair's comparison."""
    board, run_ids = outcomes.board, outcomes.run_ids
    rows = board.by_slice.filter(slice=board.slice[0], slice_value=value)
    cells = dict(zip(rows["run_id"], cells_in(rows), strict=True))
    amounts, precisions = amounts_of(board, value), precisions_of(board, value)
    return {
        "means": [[cell.value, *cell.interval, cell.n] if (cell := cells.get(run_id)) else None for run_id in run_ids],
        "ledger": [
            [of_run.get(name, 0.0) for name in LEDGER_TITLES] if (of_run := amounts.get(run_id)) else None
            for run_id in run_ids
        ],
        "precision": [precisions.get(run_id) for run_id in run_ids],
        "columns": PAIR_COLUMNS,
        "pairs": packed(json.dumps(pairs_among(board, run_ids, value).rows()).encode()),
    }


COMPARE_PAGES = Publisher("compare", 60, __doc__, _pages, lambda _: [("Compare", COMPARE)])
