"""A small ContextBench beside the small lake: an agent, a retriever and chance, scored at every granularity."""

from lake.store import Lake
from tests.report.small_lake import METRIC, row, run_id, write, write_boards

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
        "benchmark": BENCHMARK, "tasks": [TASK], "gold": "context", "relevance": "",
        "metrics": [{"metric": name, "ks": [0]} for name in metrics], "has_contexts": False, "leaves_out_failed": False,
        "parity_only": False, "place": 1,
        "primary": {"granularity": "line", "metric": "line_f1", "k": 0, "aggregate": "macro"},
        "headline": {"slice": "all", "slice_value": "all"}, "hash": "c0ffee11c0ffee11",
    }  # fmt: skip
    write(lake, "protocols", [row(PROTOCOL, rules, meaning="Lines, files, symbols and bytes.")], **add)
    said = [row(name, METRIC, meaning=f"What {name} means.") for name in metrics]
    write(lake, "metrics", said, **add)
    items = [
        {"benchmark": BENCHMARK, "item_id": f"issue/{number}", "subset": "full", "language": "go", "repo": "acme/one",
         "pool_id": "pool", "scorable": number < 2,
         "why_not": None if number < 2 else "its repository is not at hand"}
        for number in range(3)
    ]  # fmt: skip
    write(lake, "items", items, benchmark=BENCHMARK)
    for system, primary in SYSTEMS.items():
        _write_run(lake, system, primary)
    return write_boards(lake)


def _write_run(lake: Lake, system: str, primary: float | None) -> None:
    """A run with its scores under `docs-v1`; none of those where `primary` is None."""
    name = run_id(system, "contextbench.issue")
    chunker, plus, retriever = system.partition("+")
    run = {
        "run_id": name, "system": system, "benchmark": BENCHMARK, "task": TASK, "chunker": chunker if plus else None,
        "retriever": retriever or None, "origin": "built-in" if plus else "imported", "parameters": "{}",
        "versions": "{}", "status": "complete", "n_items": 2, "fingerprint": "f",
    }  # fmt: skip
    write(lake, "runs", [run], benchmark=BENCHMARK, run_id=name)
    answered: list[dict[str, object]] = [
        {"run_id": name, "item_id": f"issue/{number}", "status": "done",
         "n_steps": None if plus else N_STEPS.get(system, 1), "n_returned": 0, "n_nws": 100, "ties": []}
        for number in range(2)
    ]  # fmt: skip
    write(lake, "run_items", answered, benchmark=BENCHMARK, run_id=name)
    for rows_of in ("hits", "edits"):
        write(lake, rows_of, [], benchmark=BENCHMARK, run_id=name)
    if primary is None:
        return
    folders = {"benchmark": BENCHMARK, "protocol": PROTOCOL, "run_id": name}
    rows = [
        {"run_id": name, "protocol": PROTOCOL, "granularity": granularity, "metric": f"{granularity}_{quantity}",
         "k": 0, "slice": "all", "slice_value": "all", "macro": value, "micro": value, "by_repo": value,
         "n": 2, "n_items": 2, "n_repos": 1, "unit": "item", "n_failed": 0, "n_not_applicable": 0}
        for place, granularity in enumerate(GRANULARITIES)
        for number, quantity in enumerate(QUANTITIES)
        for value in [primary / (1 + place + number / 8)]
    ]  # fmt: skip
    write(lake, "aggregates", rows, **folders)
    steps = [
        {"run_id": name, "protocol": PROTOCOL, "item_id": f"issue/{number}", "granularity": granularity, "step": step,
         "n_gold": 1_000, "n_cumulative_hit": round(1_000 * primary * step / N_STEPS[system])}
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
        "tasks": [TASK], "gold": "context-official", "relevance": "",
        "metrics": [{"metric": name, "ks": [0]} for name in ("line_coverage", *OF_STEPS)],
        "primary": {"granularity": "line", "metric": "line_coverage", "k": 0, "aggregate": "micro"},
        "headline": {"slice": "all", "slice_value": "all"}, "hash": "deadbeefdeadbeef", "place": 2,
        "benchmark": "contextbench", "parity_only": False, "has_contexts": True, "leaves_out_failed": True,
    }  # fmt: skip
    write(lake, "protocols", [row(OFFICIAL, rules, meaning="What failed is left out.")], part="official")
    read = {"direction": "higher", "cut": "none", "of_steps": True}
    said = [row(name, {**read, "micro": micro}) for name, micro in OF_STEPS.items()]
    write(lake, "metrics", said, part="official")
    _write_run(lake, ELSEWHERE, None)
    for system, (micro, macro) in {**AVERAGES, ELSEWHERE: (0.5, 0.5)}.items():
        name = run_id(system, "contextbench.issue")
        n_failed = 1 if system == "an-agent" else 0
        found = {
            "run_id": name, "protocol": OFFICIAL, "granularity": "line", "metric": "line_coverage", "k": 0,
            "slice": "all", "slice_value": "all", "macro": macro, "micro": micro, "by_repo": macro, "n": 2 - n_failed,
            "n_items": 2, "n_repos": 1, "n_failed": n_failed, "n_not_applicable": 0, "unit": "item",
        }  # fmt: skip
        of_steps = [
            {**found, "metric": metric, "macro": macro / 2, "micro": None if rule == "none" else micro / 4}
            for metric, rule in OF_STEPS.items()
        ]
        write(lake, "aggregates", [found, *of_steps], benchmark=BENCHMARK, protocol=OFFICIAL, run_id=name)
    return write_boards(lake)
