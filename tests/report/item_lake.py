"""A lake of a few items whose spans overlap, touch, are empty or a whole file: a retriever, an agent, candidates."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from ingest.contents.blobs import pool_frames
from lake.fingerprint import sha256_of
from lake.offsets import Offsets
from lake.store import Lake
from tests.frames import write
from tests.report.small_lake import METRIC, ran, row, write_boards

CONTEXTS = "contextbench"
CANDIDATES = "repobench-r"
PROTOCOL = "contextbench@docs-v1"
OFFICIAL = "repobench-r@official-v1"
HOSTILE = "x</script><img src=x onerror=alert(1)>\u202e.py"
HOSTILE_SHOWN = "x</script><img src=x onerror=alert(1)>\\u{202E}.py"
TEXTS = {
    "a.py": "".join(f"name_{n:02} = '{'x' * 488}'\n" for n in range(40)),
    "b.py": "".join(f"def f{n}():\n" for n in range(20)),
    HOSTILE: "</script>\x00\u202e\n" * 3,
}
QUESTION = "It breaks.\n</script>\u202e"
N_ITEMS = 7
GOLD = [("a.py", 4, 10), ("a.py", 8, 14), ("a.py", 14, 20), ("b.py", 0, 20), (HOSTILE, 1, 1), ("gone.py", 0, 5)]
"""Overlapping, adjacent, whole, empty; the last in no file of the repository."""

RANKED = [("b.py", 15, 20), ("a.py", 0, 10), (HOSTILE, 0, 3), ("a.py", 5, 20), ("a.py", 30, 40)]
Spans = Sequence[tuple[str, int | None, int | None]]

STEPS: Sequence[Spans] = [
    [("a.py", 0, 8), ("lost.py", 0, 9)],
    [("a.py", 8, 4), ("b.py", None, None)],
    [("b.py", 0, None), ("a.py", 2, 12)],
    [("a.py", 10, 99)],
]
"""A range reversed, one past the end, a view of a whole file, a file without lines, one that is nowhere."""

FINAL: Spans = [("a.py", 6, 12), ("b.py", 0, None), (HOSTILE, 0, 1)]
RETRIEVER, AGENT, OTHER = "fixed-nws-1500+bm25-okapi", "an-agent", "fixed-nws-1500+jaccard"
KEYS = {RETRIEVER: "00000001", AGENT: "00000002", OTHER: "00000003", "whole-file+bm25-okapi": "00000004"}
AMOUNTS = {RETRIEVER: (16, 5, 0, 15, 0), AGENT: (26, 0, 10, 0, 0), OTHER: (20, 0, 0, 0, 16)}
"""System → gold found, past the budget, seen, in other lines, never returned; of 36."""

CLASSES = ("found", "past_budget", "seen", "other_lines", "not_returned")


def write_item_lake(root: Path, *, n_items: int = N_ITEMS, licence: str = "MIT") -> Lake:
    lake = Lake(root)
    licences = [{"repo": "acme/one", "licence": licence}, {"repo": "acme/two", "licence": ""}]
    columns = {"label": "sample", "licences": licences}
    write(lake, "benchmarks", [
        row(name, {**columns, "place": position}, title=f"Title of {name}", licence=licence)
        for position, name in enumerate((CONTEXTS, CANDIDATES), 1)
    ])  # fmt: skip
    write(lake, "metrics", [row(name, METRIC, title=title) for name, title in
                               (("line_f1", "Line F1"), ("accuracy", "Accuracy"))])  # fmt: skip
    write(lake, "retrievers", [row("bm25-okapi", {}, title="BM25"), row("jaccard", {}, title="Jaccard")])
    task = {"query": "the issue", "pool": "the repository", "tie": "hash"}
    tasks = {CONTEXTS: f"{CONTEXTS}/issue", CANDIDATES: f"{CANDIDATES}/official"}
    write(lake, "tasks", [row(name, {**task, "benchmark": of}) for of, name in tasks.items()])
    primaries = {PROTOCOL: ("context", "line", "line_f1", 0), OFFICIAL: ("candidate", "chunk", "accuracy", 1)}
    write(lake, "protocols", [
        row(name, {"benchmark": name.partition("@")[0], "tasks": [tasks[name.partition("@")[0]]],
                   "gold": gold, "has_contexts": name == PROTOCOL, "metrics": [{"metric": metric, "ks": [k]}],
                   "primary": {"granularity": of, "metric": metric, "k": k, "aggregate": "macro"}})
        for name, (gold, of, metric, k) in primaries.items()
    ])  # fmt: skip
    _write_contexts(lake, n_items)
    _write_candidates(lake)
    return write_boards(lake)


def item_id(number: int) -> str:
    """Some are not as they are written in an address."""
    return f"issue {number}+{number}" if number else HOSTILE


def _write_contexts(lake: Lake, n_items: int) -> None:
    ids = [item_id(number) for number in range(n_items)]
    items = [
        {"item_id": name, "subset": "full", "language": "python" if number % 2 else "go",
         "repo": "acme/two" if number == 2 else "acme/one", "commit": "0123456789abcdef", "pool_id": "pool",
         "target_path": None if number == 4 else "a.py", "query_line_start": 1, "target_line": 3,
         "target_text": "x\ny\n", "scorable": number != 3, "why_not": "it is gone" if number == 3 else None}
        for number, name in enumerate(ids)
    ]  # fmt: skip
    write(lake, "items", items, benchmark=CONTEXTS)
    queries = [{"item_id": name, "text": QUESTION, "sha256": ""} for name in ids]
    write(lake, "queries", queries, benchmark=CONTEXTS, query="problem-statement")
    spans = [
        {"item_id": name, "gold": "context", "path": path, "line_start": start, "line_end": end}
        for number, name in enumerate(ids) if number != 3
        for path, start, end in GOLD
    ]  # fmt: skip
    write(lake, "gold_spans", spans, benchmark=CONTEXTS)
    files, blobs = pool_frames(("pool", path, text.encode()) for path, text in TEXTS.items())
    lake.write("files", files, part="0", fingerprint="f", benchmark=CONTEXTS, kind="searched")
    lake.write("blobs", blobs.with_columns(language=pl.lit("python")), part="0", fingerprint="f")
    scorable = [name for number, name in enumerate(ids) if number != 3]
    for position, (system, amounts) in enumerate(AMOUNTS.items()):
        name = write_run(lake, CONTEXTS, system, PROTOCOL, ("line", "line_f1", 0), 0.5 - position / 10, scorable)
        kept = dict(zip(CLASSES, amounts, strict=True)) | {"unreachable": 0, "no_answer": 0}
        ledger = [{"item_id": item, "n_gold": 36, **kept} for item in scorable]
        write(lake, "ledger", ledger, benchmark=CONTEXTS, protocol=PROTOCOL, run_id=name)
        write(lake, "hits", [hit for item in scorable for hit in _hits(system, item)], benchmark=CONTEXTS, run_id=name)


def _hits(system: str, item: str) -> list[dict[str, object]]:
    if system != AGENT:
        ranked = RANKED if system == RETRIEVER else [("b.py", 0, 20)]
        seen: dict[str, set[int]] = {path: set() for path in TEXTS}
        hits: list[dict[str, object]] = []
        for rank, (path, start, end) in enumerate(ranked, 1):
            new = set(range(start, end)) - seen[path]
            seen[path] |= new
            nws = Offsets.between_lines(TEXTS[path]).n_nws
            hit = {"item_id": item, "rank": rank, "path": path, "line_start": start, "line_end": end}
            hits.append(hit | {"n_new_nws": int(sum(nws[line] for line in new))})
        return hits
    parts: list[tuple[str, int, Spans]] = [("step", at, spans) for at, spans in enumerate(STEPS, 1)]
    return [
        {"item_id": item, "part": part, "step": step, "rank": rank, "path": path if path in TEXTS else None,
         "path_given": f"/testbed/{path}", "line_start": start, "line_end": end}
        for part, step, spans in [*parts, ("final", 0, FINAL)]
        for rank, (path, start, end) in enumerate(spans, 1)
    ]  # fmt: skip


def _write_candidates(lake: Lake) -> None:
    ids = [f"python_cff/test/hard/{number}" for number in range(3)]
    items = [
        {"item_id": name, "subset": "python_cff", "language": "python", "repo": "acme/one", "pool_id": name,
         "n_candidates": 8, "target_path": "t.py", "scorable": True}
        for name in ids
    ]  # fmt: skip
    write(lake, "items", items, part="c", benchmark=CANDIDATES)
    files = [
        {"pool_id": name, "path": f"cand:{at}", "sha256": sha256_of(TEXTS["b.py"].encode()), "position": at}
        for name in ids
        for at in range(8)
    ]
    write(lake, "files", files, benchmark=CANDIDATES, kind="candidates")
    gold = {"gold": "candidate", "path": "cand:6", "line_start": 0, "line_end": 3, "candidate": 6}
    write(lake, "gold_spans", [{"item_id": name, **gold} for name in ids], part="c", benchmark=CANDIDATES)
    system = "whole-file+bm25-okapi"
    name = write_run(lake, CANDIDATES, system, OFFICIAL, ("chunk", "accuracy", 1), 1 / 3, ids)
    measure = {"granularity": "chunk", "metric": "accuracy", "k": 1, "protocol_hash": ""}
    scores = [{**measure, "item_id": item, "value": float(at == 0)} for at, item in enumerate(ids)]
    write(lake, "scores", scores, benchmark=CANDIDATES, protocol=OFFICIAL, run_id=name)
    orders = [[6, 1, 2, 3, 4, 5, 7, 0], [0, 1, 2, 3, 4, 5, 6, 7], [7, 6, 5, 4, 3, 2, 1, 0]]
    hits = [
        {"item_id": item, "rank": rank, "path": f"cand:{candidate}", "line_start": 0, "line_end": 3}
        for item, order in zip(ids, orders, strict=True)
        for rank, candidate in enumerate(order, 1)
    ]
    write(lake, "hits", hits, benchmark=CANDIDATES, run_id=name)


def write_run(
    lake: Lake, benchmark: str, system: str, protocol: str, measure: tuple[str, str, int], value: float, ids: list[str]
) -> str:
    """A run of its own key, its items and its mean; its id."""
    name = f"{benchmark}.task--{system}--{KEYS[system]}"
    task = f"{benchmark}/{'issue' if benchmark == CONTEXTS else 'official'}"
    write(lake, "runs", [ran(system, task, len(ids))], benchmark=benchmark, run_id=name)
    n_steps = None if "+" in system else len(STEPS)
    answered = [{"item_id": item, "n_steps": n_steps, "n_returned": 1} for item in ids]
    write(lake, "run_items", answered, benchmark=benchmark, run_id=name)
    granularity, metric, k = measure
    mean = {
        "granularity": granularity, "metric": metric, "k": k, "macro": value, "micro": value, "by_repo": value,
        "n": len(ids), "n_items": len(ids), "n_repos": 1,
    }  # fmt: skip
    write(lake, "aggregates", [mean], benchmark=benchmark, protocol=protocol, run_id=name)
    return name
