"""A small ContextBench beside the small lake: an agent, a retriever and chance, scored at every granularity."""

from lake.store import Lake
from tests.frames import write
from tests.report.small_lake import METRIC, ran, row, run_id, write_boards

BENCHMARK = "contextbench"
PROTOCOL = "contextbench@docs-v1"
TASK = "contextbench/issue"
GRANULARITIES = ("line", "file", "symbol", "span")
QUANTITIES = ("f1", "coverage", "precision", "auc")
SYSTEMS = {"an-agent": 0.6125, "whole-file+bm25-okapi": 0.3125, "whole-file+random": 0.0625}
N_STEPS = {"an-agent": 3, "whole-file+bm25-okapi": 20, "whole-file+random": 20}


def write_context(lake: Lake) -> Lake:
    metrics = [f"{granularity}_{quantity}" for granularity in GRANULARITIES for quantity in QUANTITIES]
    add = {"part": "context"}
    columns = {"label": "sample", "licences": list[object](), "place": 2}
    words = {"display_name": "ContextBench", "title": "Find what a fix needs", "meaning": "Which code does it need?"}
    write(lake, "benchmarks", [row(BENCHMARK, columns, tags=["sample"], source="sample", **words)], **add)
    task = {"benchmark": BENCHMARK, "query": "the issue", "pool": "the repository", "tie": "hash"}
    write(lake, "tasks", [row(TASK, task)], **add)
    rules = {
        "benchmark": BENCHMARK, "tasks": [TASK], "gold": "context",
        "metrics": [{"metric": name, "ks": [0]} for name in metrics],
        "primary": {"granularity": "line", "metric": "line_f1", "k": 0, "aggregate": "macro"},
    }  # fmt: skip
    write(lake, "protocols", [row(PROTOCOL, rules, meaning="Lines, files, symbols and bytes.")], **add)
    rows = [row(name, METRIC, meaning=f"What {name} means.") for name in metrics]
    write(lake, "metrics", rows, **add)
    items = [
        {"item_id": f"issue/{number}", "subset": "full", "language": "go", "repo": "acme/one", "pool_id": "pool",
         "scorable": number < 2,
         "why_not": None if number < 2 else "its repository is not available"}
        for number in range(3)
    ]  # fmt: skip
    write(lake, "items", items, benchmark=BENCHMARK)
    for system, primary in SYSTEMS.items():
        _write_run(lake, system, primary)
    return write_boards(lake)


def _write_run(lake: Lake, system: str, primary: float | None) -> None:
    """A run with its scores under `docs-v1`; none of those where `primary` is None."""
    name = run_id(system, "contextbench.issue")
    write(lake, "runs", [ran(system, TASK, 2)], benchmark=BENCHMARK, run_id=name)
    n_steps = None if "+" in system else N_STEPS.get(system, 1)
    answered = [{"item_id": f"issue/{number}", "n_steps": n_steps, "n_returned": 0} for number in range(2)]
    write(lake, "run_items", answered, benchmark=BENCHMARK, run_id=name)
    for rows_of in ("hits", "edits"):
        write(lake, rows_of, [], benchmark=BENCHMARK, run_id=name)
    if primary is None:
        return
    folders = {"benchmark": BENCHMARK, "protocol": PROTOCOL, "run_id": name}
    rows = [
        {"granularity": granularity, "metric": f"{granularity}_{quantity}", "macro": value, "micro": value,
         "by_repo": value, "n": 2, "n_items": 2, "n_repos": 1}
        for position, granularity in enumerate(GRANULARITIES)
        for number, quantity in enumerate(QUANTITIES)
        for value in [primary / (1 + position + number / 8)]
    ]  # fmt: skip
    write(lake, "aggregates", rows, **folders)
    steps = [
        {"item_id": f"issue/{number}", "granularity": granularity, "step": step, "n_gold": 1_000,
         "n_cumulative_hit": round(1_000 * primary * step / N_STEPS[system])}
        for granularity in GRANULARITIES
        for number in range(2)
        for step in range(1, N_STEPS[system] + 1)
    ]  # fmt: skip
    write(lake, "step_scores", steps, **folders)


OFFICIAL = "contextbench@official-v1"
AVERAGES = {"an-agent": (0.875, 0.75), "whole-file+bm25-okapi": (0.25, 0.125), "whole-file+random": (0.125, 0.1875)}
"""System → its ratio of sums, which the published rules rank by, and its mean over items: they order unlike."""

OF_STEPS = {"line_auc": "none", "line_redundancy": "ratio"}
"""Metric of a run's steps → what its ratio of sums is. The mean of each is that of :data:`AVERAGES` halved."""

ELSEWHERE = "a-later-agent"
"""An agent that was scored under the published rules alone."""


def write_official(lake: Lake) -> Lake:
    """Beside :func:`write_context`: the same runs under rules that leave out what failed, as the agent did once."""
    rules = {
        "tasks": [TASK], "gold": "context-official", "hash": "deadbeefdeadbeef", "place": 2, "benchmark": BENCHMARK,
        "metrics": [{"metric": name, "ks": [0]} for name in ("line_coverage", *OF_STEPS)],
        "primary": {"granularity": "line", "metric": "line_coverage", "k": 0, "aggregate": "micro"},
        "has_contexts": True, "leaves_out_failed": True,
    }  # fmt: skip
    write(lake, "protocols", [row(OFFICIAL, rules, meaning="What failed is left out.")], part="official")
    read = {"direction": "higher", "cut": "none", "of_steps": True}
    rows = [row(name, {**read, "micro": micro}) for name, micro in OF_STEPS.items()]
    write(lake, "metrics", rows, part="official")
    _write_run(lake, ELSEWHERE, None)
    for system, (micro, macro) in {**AVERAGES, ELSEWHERE: (0.5, 0.5)}.items():
        name = run_id(system, "contextbench.issue")
        n_failed = 1 if system == "an-agent" else 0
        mean = {
            "granularity": "line", "metric": "line_coverage", "macro": macro, "micro": micro, "by_repo": macro,
            "n": 2 - n_failed, "n_items": 2, "n_repos": 1, "n_failed": n_failed,
        }  # fmt: skip
        of_steps = [
            {**mean, "metric": metric, "macro": macro / 2, "micro": None if rule == "none" else micro / 4}
            for metric, rule in OF_STEPS.items()
        ]
        write(lake, "aggregates", [mean, *of_steps], benchmark=BENCHMARK, protocol=OFFICIAL, run_id=name)
    return write_boards(lake)
