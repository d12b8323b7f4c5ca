"""Methods: what was compared with outside references, what every protocol and metric is, what to know of intervals."""

from collections.abc import Iterator

from lake.catalog.protocol import MAX_VALUES
from lake.verdict import SENTENCES
from report.leaderboard.gold_ledger import LEDGER_TITLES
from report.leaderboard.verdicts import BREADTH, LATE, REDUNDANT
from report.methods import parity
from report.methods.audit import SIDES, findings, gold_rules, needs_of, protocol_differences, side_of
from report.methods.interval_coverage import MEANS, N_SETS, simulated_coverage
from report.methods.parity import outcomes
from report.pages.systems import LEAST_ITEMS
from report.publisher import Page, Publisher, SiteMaterial

_PATH = "methods.html"


def _pages(material: SiteMaterial) -> Iterator[Page]:
    facts, boards = material.facts, material.every_board
    simulated = simulated_coverage().items()
    measured = {column.metric for board in boards for column in board.columns}
    values = {
        "parity": parity.parity_rows(),
        "expected": outcomes(facts),
        "sides": [
            (benchmark, side_of(facts, benchmark, material.boards[name]))
            for name, benchmark in facts.benchmarks.items()
        ],
        "rows_of_sides": SIDES,
        "boards": boards,
        "gold_rules": gold_rules,
        "between": [difference for name in facts.benchmarks for difference in protocol_differences(facts, name)],
        "metrics": [metric for name, metric in facts.metrics.items() if name in measured],
        "findings": findings(facts),
        "needs": [needs for benchmark in facts.benchmarks.values() if (needs := needs_of(facts.lake, benchmark))],
        "stages": facts.rejects["stage"].value_counts().sort("stage").rows(),
        "sentences": SENTENCES,
        "classes": LEDGER_TITLES,
        "benchmarks": list(facts.benchmarks.values()),
        "coverage": {"means": MEANS, "rows": [(*key, cells) for key, cells in simulated], "n_sets": N_SETS},
        "max_values": MAX_VALUES,
        "least_items": LEAST_ITEMS,
        "thresholds": {"breadth": BREADTH, "redundant": REDUNDANT, "late": LATE},
    }
    yield Page(_PATH, "Methods", "methods.html", values)


METHODS_PAGES = Publisher("methods", 85, __doc__, _pages, lambda _: [("Methods", _PATH)])
