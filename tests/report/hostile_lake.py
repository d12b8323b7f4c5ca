"""A benchmark whose every name is an attack on the page that shows it: of repositories, paths, items, systems."""

from ingest.contents.blobs import pool_frames
from lake.store import Lake
from tests.frames import write
from tests.report.small_lake import METRIC, ran, row, write_boards

ATTACK = "</script><img src=x onerror=alert(1)>\u202egpj\x00\ufffd'\"{{7*7}}&lt;"
"""What must come out as text: markup, a reversal of the reading direction, NUL, what invalid UTF-8 is read as."""

SHOWN = "</script><img src=x onerror=alert(1)>\\u{202E}gpj\\u{0}\ufffd'\"{{7*7}}&lt;"
"""As a page has it: hidden characters by their numbers."""

BENCHMARK, PROTOCOL, TASK = "hostile", "hostile@files-v1", "hostile/issue"
REPOS = (f"o/{ATTACK}", "=cmd|'/c calc'!A1/repo", "../../etc/passwd")
PATHS = (f"src/{ATTACK}.py", "javascript:alert(1)", "a\nb\u2028c.py")
SYSTEMS = {f"agent{ATTACK}": 0.7, f"whole-file+{ATTACK}": 0.5, "__proto__": 0.3, "whole-file+random": 0.1}
LONG_LINE = "x" * 1_000_000
"""A line of a million characters, as minified files have it."""

N_ITEMS, N_STEPS = 6, 3
_HEADLINE: dict[str, object] = {"slice": "all", "slice_value": "all"}
_KEY = {"granularity": "file", "metric": "file_f1", "k": 0, **_HEADLINE}


def item_id(number: int) -> str:
    return f"{number}/{ATTACK}#?&="


def write_hostile(lake: Lake) -> Lake:
    add = {"part": BENCHMARK}
    licences = [{"repo": repo, "licence": ATTACK} for repo in REPOS]
    words = {"display_name": "Hostile", "title": ATTACK, "meaning": ATTACK, "licence": ATTACK, "citation": ATTACK}
    write(lake, "benchmarks", [row(BENCHMARK, {"label": "", "licences": licences, "place": 9}, **words)], **add)
    write(lake, "tasks", [row(TASK, {"benchmark": BENCHMARK, "query": ATTACK, "pool": ATTACK, "tie": "hash"})], **add)
    rules = {
        "benchmark": BENCHMARK, "tasks": [TASK], "gold": "hostile", "place": 0,
        "metrics": [{"metric": name, "ks": [0]} for name in ("file_f1", "file_coverage")],
        "has_contexts": True, "hash": "0" * 16,
        "primary": {"granularity": "file", "metric": "file_f1", "k": 0, "aggregate": "macro"},
    }  # fmt: skip
    write(lake, "protocols", [row(PROTOCOL, rules, meaning=ATTACK, title=ATTACK)], **add)
    metrics = [row("file_coverage", METRIC, meaning=ATTACK, title=ATTACK), row("file_f1", METRIC)]
    write(lake, "metrics", metrics, **add)
    write(lake, "retrievers", [row(ATTACK, {}, meaning=ATTACK, title=ATTACK)], **add)
    _write_items(lake)
    for number, (system, value) in enumerate(SYSTEMS.items()):
        _write_run(lake, f"hostile.issue--{system}--{number:08x}", system, value)
    _write_comparisons(lake)
    _write_submissions(lake)
    return write_boards(lake)


def _write_submissions(lake: Lake) -> None:
    system = next(iter(SYSTEMS))
    texts = ("label", "date", "contact", "licence", "description", "revision", "cost", "why", "file")
    same: dict[str, object] = {"benchmark": BENCHMARK, "task": TASK, "kind": "agent", "authors": [ATTACK]}
    same |= dict.fromkeys(texts, ATTACK)
    reported = [{"metric": ATTACK, "value": 0.5}]
    scored = {"system": system, "status": "scored", "run_id": f"hostile.issue--{system}--{0:08x}"}
    refused = {"system": ATTACK, "status": "refused", "reported": []}
    write(lake, "submissions", [
        {**same, "submission": "a/1", "url": f"https://example.org/{ATTACK}", "reported": reported, **scored},
        {**same, "submission": "b/1", "url": "javascript:alert(1)", **refused},
    ])  # fmt: skip


def _write_items(lake: Lake) -> None:
    items: list[dict[str, object]] = [
        {"item_id": item_id(number), "subset": ATTACK, "language": ATTACK, "scorable": True, "commit": ATTACK,
         "repo": REPOS[number % len(REPOS)], "pool_id": f"pool{number}", "difficulty": ATTACK}
        for number in range(N_ITEMS)
    ]  # fmt: skip
    write(lake, "items", items, benchmark=BENCHMARK)
    text = f"{ATTACK}\n{LONG_LINE}\ndef f():\n\tpass\n"
    _, blobs = pool_frames([("pool", "a.py", text.encode())])
    lake.write("blobs", blobs, part=BENCHMARK, fingerprint="f")
    (sha256,) = blobs["sha256"]
    queries = [{"item_id": item_id(number), "text": text, "sha256": sha256} for number in range(N_ITEMS)]
    write(lake, "queries", queries, benchmark=BENCHMARK, query="issue")
    gold = {"gold": "hostile", "path": PATHS[0], "line_start": 1, "line_end": 3}
    write(lake, "gold_spans", [{"item_id": item_id(number), **gold} for number in range(N_ITEMS)], benchmark=BENCHMARK)
    write(lake, "files", [
        {"pool_id": f"pool{number}", "path": path, "sha256": sha256, "position": position}
        for number in range(N_ITEMS)
        for position, path in enumerate(PATHS)
    ], benchmark=BENCHMARK, kind="searched", part=BENCHMARK)  # fmt: skip


def _write_run(lake: Lake, run_id: str, system: str, value: float) -> None:
    folders = {"benchmark": BENCHMARK, "run_id": run_id}
    run = {**ran(system, TASK, N_ITEMS), "file": ATTACK, "format": ATTACK, "notes": [ATTACK]}
    write(lake, "runs", [run], **folders)
    ids = [item_id(number) for number in range(N_ITEMS)]
    plus = "+" in system
    answered = {"n_steps": None if plus else N_STEPS, "n_returned": len(PATHS), "n_nws": 9}
    write(lake, "run_items", [{"item_id": id_, **answered} for id_ in ids], **folders)
    parts = [("ranking", 0)] if plus else [("final", 0), *(("step", step) for step in range(1, N_STEPS + 1))]
    write(lake, "hits", [
        {"item_id": id_, "part": part, "step": step, "rank": rank, "path": path, "path_given": path, "line_start": 0,
         "line_end": 2, "score": 1.0 / rank}
        for id_ in ids
        for part, step in parts
        for rank, path in enumerate(PATHS, 1)
    ], **folders)  # fmt: skip
    write(lake, "edits", [], **folders)
    scored = {**folders, "protocol": PROTOCOL}
    write(lake, "scores", [
        {"granularity": "file", "k": 0, "item_id": id_, "metric": metric, "value": value, "numerator": value,
         "denominator": 1.0, "protocol_hash": "0bad"}
        for id_ in ids
        for metric in ("file_f1", "file_coverage")
    ], **scored)  # fmt: skip
    means: dict[str, object] = {"macro": value, "micro": value, "by_repo": value, "low": value - 0.05}
    means |= {"high": value + 0.05, "n": N_ITEMS, "n_items": N_ITEMS, "n_repos": len(REPOS)}
    slices = [("all", "all"), *(("repo", repo) for repo in REPOS), ("subset", ATTACK)]
    write(lake, "aggregates", [
        {**_KEY, **means, "metric": metric, "slice": name, "slice_value": of}
        for metric in ("file_f1", "file_coverage")
        for name, of in slices
    ], **scored)  # fmt: skip
    gone = dict.fromkeys(("past_budget", "seen", "unreachable", "no_answer", "other_lines", "not_returned"), 0.0)
    ledger = {**gone, "n_gold": 1.0, "found": 0.5, "other_lines": 0.5}
    write(lake, "ledger", [{**ledger, "item_id": id_} for id_ in ids], **scored)
    shares = {**_HEADLINE, "n": N_ITEMS, "n_items": N_ITEMS, "n_gold": 3.0}
    write(lake, "ledger_means", [
        {**shares, "class": name, "macro": 0.5, "micro": 0.5} for name in ("found", "other_lines")
    ], **scored)  # fmt: skip
    if not plus:
        write(lake, "step_scores", [
            {"item_id": id_, "granularity": "file", "step": step, "n_gold": 1, "n_pred": 3, "n_hit": 1,
             "n_cumulative": 3, "n_cumulative_hit": 1}
            for id_ in ids
            for step in range(1, N_STEPS + 1)
        ], **scored)  # fmt: skip


def _write_comparisons(lake: Lake) -> None:
    runs = [f"hostile.issue--{system}--{number:08x}" for number, system in enumerate(SYSTEMS)]
    values = list(SYSTEMS.values())
    same: dict[str, object] = {"p": 0.01, "p_adjusted": 0.01, "equivalent": False, "exploratory": False}
    same |= {"unit": "repository", "n_items": N_ITEMS, "n_repos": len(REPOS), "wins": 1, "ties": 4, "losses": 1}
    same |= {"smallest_detectable": 0.1, "verdict": "worse"}
    write(lake, "comparisons", [
        {**_KEY, **same, "run_a": runs[a], "run_b": runs[b], "delta": values[b] - values[a],
         "low": values[b] - values[a] - 0.05, "high": values[b] - values[a] + 0.05}
        for a in range(len(runs))
        for b in range(a + 1, len(runs))
    ], benchmark=BENCHMARK, protocol=PROTOCOL)  # fmt: skip
    placed = {**_KEY, "too_few": False, "exploratory": False, "unit": "repository"}
    write(lake, "ranks", [
        {**placed, "run_id": run, "rank": rank, "rank_low": rank, "rank_high": rank, "tie_group": rank}
        for rank, run in enumerate(runs[:3], 1)
    ], benchmark=BENCHMARK, protocol=PROTOCOL)  # fmt: skip
