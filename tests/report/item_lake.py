"""A lake of a few items whose spans overlap, touch, are empty or a whole file: a retriever, an agent, candidates."""

from collections.abc import Sequence
from pathlib import Path

from lake.offsets import Offsets
from lake.store import Lake
from tests.report.small_lake import METRIC, declared, row, write, write_boards

CONTEXTS = "contextbench"
CANDIDATES = "repobench-r"
PROTOCOL = "contextbench@docs-v1"
OFFICIAL = "repobench-r@official-v1"
HOSTILE = "x</script><img src=x onerror=alert(1)>\u202e.py"
HOSTILE_SHOWN = "x</script><img src=x onerror=alert(1)>\\u{202E}.py"
SHAS = {"a.py": "a" * 64, "b.py": "b" * 64, HOSTILE: "c" * 64}
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
    declared(lake, "benchmarks", [
        row(name, {**columns, "place": place}, title=f"Title of {name}", licence=licence)
        for place, name in enumerate((CONTEXTS, CANDIDATES), 1)
    ])  # fmt: skip
    declared(lake, "metrics", [row(name, METRIC, title=title) for name, title in
                               (("line_f1", "Line F1"), ("accuracy", "Accuracy"))])  # fmt: skip
    declared(lake, "retrievers", [row("bm25-okapi", {}, title="BM25"), row("jaccard", {}, title="Jaccard")])
    task = {"query": "the issue", "pool": "the repository", "tie": "hash"}
    tasks = {CONTEXTS: f"{CONTEXTS}/issue", CANDIDATES: f"{CANDIDATES}/official"}
    declared(lake, "tasks", [row(name, {**task, "benchmark": of}) for of, name in tasks.items()])
    rules = {"relevance": "", "headline": {"slice": "all", "slice_value": "all"}, "leaves_out_failed": False,
             "parity_only": False, "place": 1, "hash": "c0ffee11c0ffee11"}  # fmt: skip
    primaries = {PROTOCOL: ("context", "line", "line_f1", 0), OFFICIAL: ("candidate", "chunk", "accuracy", 1)}
    declared(lake, "protocols", [
        row(name, {**rules, "benchmark": name.partition("@")[0], "tasks": [tasks[name.partition("@")[0]]],
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
        {"benchmark": CONTEXTS, "item_id": name, "subset": "full", "language": "python" if number % 2 else "go",
         "repo": "acme/two" if number == 2 else "acme/one", "commit": "0123456789abcdef", "pool_id": "pool",
         "target_path": None if number == 4 else "a.py", "query_line_start": 1, "target_line": 3,
         "target_text": "x\ny\n", "scorable": number != 3, "why_not": "it is gone" if number == 3 else None}
        for number, name in enumerate(ids)
    ]  # fmt: skip
    write(lake, "items", items, benchmark=CONTEXTS)
    queries = [
        {"benchmark": CONTEXTS, "item_id": name, "query": "problem-statement", "text": QUESTION, "sha256": ""}
        for name in ids
    ]
    write(lake, "queries", queries, benchmark=CONTEXTS, query="problem-statement")
    spans = [
        {"benchmark": CONTEXTS, "item_id": name, "gold": "context", "path": path, "line_start": start, "line_end": end}
        for number, name in enumerate(ids) if number != 3
        for path, start, end in GOLD
    ]  # fmt: skip
    write(lake, "gold_spans", spans, benchmark=CONTEXTS)
    files = [{"pool_id": "pool", "path": path, "sha256": SHAS[path], "position": at} for at, path in enumerate(TEXTS)]
    write(lake, "files", files, benchmark=CONTEXTS, kind="searched")
    blobs = [
        {"sha256": SHAS[path], "text": text, "n_bytes": len(text.encode()), "n_lines": text.count("\n"),
         "line_starts": Offsets.between_lines(text).starts, "line_nws": Offsets.between_lines(text).n_nws.tolist(),
         "language": "python", "flags": []}
        for path, text in TEXTS.items()
    ]  # fmt: skip
    write(lake, "blobs", blobs)
    asked = [name for number, name in enumerate(ids) if number != 3]
    for place, (system, amounts) in enumerate(AMOUNTS.items()):
        name = write_run(lake, CONTEXTS, system, PROTOCOL, ("line", "line_f1", 0), 0.5 - place / 10, asked)
        kept = dict(zip(CLASSES, amounts, strict=True)) | {"unreachable": 0, "no_answer": 0}
        ledger = [{"run_id": name, "protocol": PROTOCOL, "item_id": one, "n_gold": 36, **kept} for one in asked]
        write(lake, "ledger", ledger, benchmark=CONTEXTS, protocol=PROTOCOL, run_id=name)
        write(lake, "hits", [hit for one in asked for hit in _hits(name, system, one)], benchmark=CONTEXTS, run_id=name)


def _hits(run_id: str, system: str, item: str) -> list[dict[str, object]]:
    if system != AGENT:
        ranked = RANKED if system == RETRIEVER else [("b.py", 0, 20)]
        seen: dict[str, set[int]] = {path: set() for path in TEXTS}
        hits: list[dict[str, object]] = []
        for rank, (path, start, end) in enumerate(ranked, 1):
            new = set(range(start, end)) - seen[path]
            seen[path] |= new
            nws = Offsets.between_lines(TEXTS[path]).n_nws
            hit = {"run_id": run_id, "item_id": item, "part": "ranking", "step": 0, "rank": rank, "path": path}
            hits.append(hit | {"line_start": start, "line_end": end, "n_new_nws": int(sum(nws[line] for line in new))})
        return hits
    parts: list[tuple[str, int, Spans]] = [("step", at, spans) for at, spans in enumerate(STEPS, 1)]
    return [
        {"run_id": run_id, "item_id": item, "part": part, "step": step, "rank": rank, "path_given": f"/testbed/{path}",
         "path": path if path in TEXTS else None, "line_start": start, "line_end": end}
        for part, step, spans in [*parts, ("final", 0, FINAL)]
        for rank, (path, start, end) in enumerate(spans, 1)
    ]  # fmt: skip


def _write_candidates(lake: Lake) -> None:
    ids = [f"python_cff/test/hard/{number}" for number in range(3)]
    items = [
        {"benchmark": CANDIDATES, "item_id": name, "subset": "python_cff", "language": "python", "repo": "acme/one",
         "pool_id": name, "n_candidates": 8, "target_path": "t.py", "scorable": True}
        for name in ids
    ]  # fmt: skip
    write(lake, "items", items, part="c", benchmark=CANDIDATES)
    files = [
        {"pool_id": name, "path": f"cand:{at}", "sha256": SHAS["b.py"], "position": at}
        for name in ids
        for at in range(8)
    ]
    write(lake, "files", files, benchmark=CANDIDATES, kind="candidates")
    spans = [{"benchmark": CANDIDATES, "item_id": name, "gold": "candidate", "path": "cand:6", "line_start": 0,
              "line_end": 3, "candidate": 6} for name in ids]  # fmt: skip
    write(lake, "gold_spans", spans, part="c", benchmark=CANDIDATES)
    system = "whole-file+bm25-okapi"
    name = write_run(lake, CANDIDATES, system, OFFICIAL, ("chunk", "accuracy", 1), 1 / 3, ids)
    scores = [{"run_id": name, "protocol": OFFICIAL, "item_id": one, "granularity": "chunk", "metric": "accuracy",
               "k": 1, "value": float(at == 0), "protocol_hash": ""} for at, one in enumerate(ids)]  # fmt: skip
    write(lake, "scores", scores, benchmark=CANDIDATES, protocol=OFFICIAL, run_id=name)
    orders = [[6, 1, 2, 3, 4, 5, 7, 0], [0, 1, 2, 3, 4, 5, 6, 7], [7, 6, 5, 4, 3, 2, 1, 0]]
    hits = [
        {"run_id": name, "item_id": one, "part": "ranking", "step": 0, "rank": rank, "path": f"cand:{candidate}",
         "line_start": 0, "line_end": 3}
        for one, order in zip(ids, orders, strict=True)
        for rank, candidate in enumerate(order, 1)
    ]  # fmt: skip
    write(lake, "hits", hits, benchmark=CANDIDATES, run_id=name)


def write_run(
    lake: Lake, benchmark: str, system: str, protocol: str, measure: tuple[str, str, int], value: float, ids: list[str]
) -> str:
    """A run of its own key, its items and its mean; its id."""
    chunker, plus, retriever = system.partition("+")
    name = f"{benchmark}.task--{system}--{KEYS[system]}"
    task = f"{benchmark}/{'issue' if benchmark == CONTEXTS else 'official'}"
    run = {
        "run_id": name, "system": system, "benchmark": benchmark, "task": task, "chunker": chunker if plus else None,
        "retriever": retriever or None, "origin": "built-in" if plus else "imported", "parameters": "{}",
        "versions": "{}", "status": "complete", "n_items": len(ids), "fingerprint": "f",
    }  # fmt: skip
    write(lake, "runs", [run], benchmark=benchmark, run_id=name)
    answered: list[dict[str, object]] = [
        {"run_id": name, "item_id": one, "status": "done", "n_steps": None if plus else len(STEPS), "n_returned": 1,
         "n_nws": 100, "ties": []}
        for one in ids
    ]  # fmt: skip
    write(lake, "run_items", answered, benchmark=benchmark, run_id=name)
    granularity, metric, k = measure
    mean = {
        "run_id": name, "protocol": protocol, "granularity": granularity, "metric": metric, "k": k, "slice": "all",
        "slice_value": "all", "macro": value, "micro": value, "by_repo": value, "n": len(ids), "n_items": len(ids),
        "n_repos": 1, "n_failed": 0, "n_not_applicable": 0, "unit": "item",
    }  # fmt: skip
    write(lake, "aggregates", [mean], benchmark=benchmark, protocol=protocol, run_id=name)
    return name
