"""A small world in which ContextBench's readings differ wherever they can: what their protocols are sealed with."""

from __future__ import annotations

import polars as pl

from evaluate.score.contexts.gathered import FINAL, LINES, RANKING, STEP, Material, Runs

_SEEN = {
    "run_id": pl.String, "item_id": pl.String, "part": pl.String, "step": pl.Int64, "rank": pl.Int64,
    "path_given": pl.String, "path": pl.String, "line_start": pl.Int64, "line_end": pl.Int64, "symbol": pl.String,
}  # fmt: skip
_LINE_BYTES = 10
_TEXTS = {"a": (40, True), "b": (12, False), "empty": (0, True), "bare": (25, True)}
"""Content → how many lines of ten bytes it has, and whether the last one has an end."""
_COSTS = (0, 800, 400, 400, 400)
"""Non-whitespace characters of the lines of every file, over and over."""
_FILES = {"a.py": "a", "src/b.py": "b", "empty.py": "empty", "notes.txt": "bare"}
_ITEMS = ("plain", "scattered", "without symbols", "gold elsewhere", "no gold", "skipped")
_DEFINITIONS = (
    ("a", 0, 200, "class_definition", "A", "A"),
    ("a", 20, 60, "function_definition", "f", "A.f"),
    ("a", 60, 120, "function_definition", "g", "A.g"),
    ("a", 120, 180, "function_definition", "f", "A.f"),
    ("a", 250, 330, "function_definition", "f", "f"),
    ("a", 330, 400, "arrow_function", None, None),
    ("b", 30, 109, "function_definition", "main", "main"),
)
_GOLD = (
    ("plain", "a.py", 5, 20),
    ("plain", "src/b.py", 3, 12),
    ("scattered", "a.py", 0, 2),
    ("scattered", "a.py", 2, 4),
    ("scattered", "a.py", 30, 41),
    ("scattered", "empty.py", 0, 1),
    ("without symbols", "notes.txt", 3, 9),
    ("gold elsewhere", "elsewhere.py", 0, 10),
    ("skipped", "a.py", 0, 10),
)
_GOLD_EDITS = (("plain", "a.py", 6), ("plain", "a.py", 7), ("scattered", "a.py", 35), ("skipped", "a.py", 3))
_EDITS = (
    *(("plain", "a.py", line) for line in (4, 5, 7, 19, 20, 30)),
    ("without symbols", "notes.txt", 4),
)

_STEPS: dict[str, list[list[tuple[str, int | None, int | None, str | None]]]] = {
    "plain": [
        [("a.py", 0, 10, None), ("a.py", 5, 12, None), ("a.py", None, None, None)],
        [("a.py", 8, 30, None), ("src/b.py", 0, 4, None), ("nowhere.py", 0, 5, None)],
        [],
        [("src/b.py", 0, None, None), ("src/b.py", None, None, None), ("nowhere.py", None, None, None)],
    ],
    "scattered": [
        [("a.py", 20, 5, None), ("a.py", 20, 5, None), ("empty.py", 0, 1, None)],
        [("a.py", -1, 3, None), ("a.py", -4, -2, None), ("a.py", 38, 60, None), ("a.py", 45, 50, None)],
        [
            ("a.py", 10, 25, None),
            ("a.py", 15, 11, None),
            ("a.py", 25, 22, None),
            ("a.py", 28, 27, None),
            ("a.py", None, None, "A.f"),
            ("a.py", None, None, "f"),
        ],
        [("src/b.py", 12, 13, None), ("empty.py", None, None, None), ("a.py", None, None, "nothing")],
    ],
    "without symbols": [[("notes.txt", 0, 5, None)], [("notes.txt", 24, 26, None)]],
    "gold elsewhere": [],
    "no gold": [[("a.py", 0, 5, None)]],
}
_FINALS: dict[str, list[tuple[str, int | None, int | None, str | None]]] = {
    "plain": [("a.py", 4, 18, None), ("src/b.py", 11, 14, None), ("src/b.py", None, None, None)],
    "scattered": [("a.py", 30, 60, None), ("a.py", 20, 5, None), ("a.py", None, None, "A.g"), ("gone.py", 0, 3, None)],
    "without symbols": [("gone.py", 0, 3, None), ("gone.py", None, None, None)],
    "gold elsewhere": [("a.py", 0, None, None), ("a.py", None, None, None)],
    "no gold": [("empty.py", None, None, None)],
}
_CHUNKS = [
    (path, start, start + 10) for start in (10, 0, 30, 20, 40, 5, 25, 35) for path in ("a.py", "src/b.py", "notes.txt")
]


def material() -> Material:
    """Four files and six items, one of which nobody answers."""
    texts = [
        {
            "sha256": name,
            "n_bytes": n_lines * _LINE_BYTES - (not is_closed),
            "n_lines": n_lines,
            "line_starts": [_LINE_BYTES * line for line in range(n_lines)],
            # Whole lines spend 8,000 to the last character, and what comes next may begin with a blank line.
            "line_nws": [_COSTS[line % len(_COSTS)] for line in range(n_lines)],
            "flags": [] if is_closed else ["no-final-newline"],
        }
        for name, (n_lines, is_closed) in _TEXTS.items()
    ]
    columns = ["sha256", "byte_start", "byte_end", "kind", "name", "qualified_name"]
    text_types: dict[str, pl.DataType] = {
        "sha256": pl.String(),
        "n_bytes": pl.Int64(),
        "n_lines": pl.Int64(),
        "line_starts": pl.List(pl.Int64()),
        "line_nws": pl.List(pl.Int64()),
        "flags": pl.List(pl.String()),
    }
    return Material(
        items=pl.DataFrame(
            {"item_id": _ITEMS, "pool_id": "pool", "has_gold_patch": [name != "no gold" for name in _ITEMS]}
        ),
        gold=pl.DataFrame(_GOLD, schema=["item_id", "path", "line_start", "line_end"], orient="row"),
        gold_edits=pl.DataFrame(_GOLD_EDITS, schema=["item_id", "path", "line"], orient="row"),
        files=pl.DataFrame(
            [("pool", *one) for one in _FILES.items()], schema=["pool_id", "path", "sha256"], orient="row"
        ),
        texts=pl.DataFrame(texts, schema=text_types),
        definitions=pl.DataFrame(_DEFINITIONS, schema=columns, orient="row"),
    )


def runs() -> Runs:
    """An agent that does everything odd, one that never edits, and rankings, one of them with an order for lines."""
    answered = [
        *(("agent", item, "done", len(steps), item in {"plain", "without symbols"}) for item, steps in _STEPS.items()),
        *(("reader", item, "done", len(_STEPS[item]), False) for item in ("plain", "scattered")),
        *((run, item, "done", None, None) for run in ("ranking", "oracle") for item in _ITEMS[:-1]),
    ]
    hits = [row for item in _STEPS for row in _agent("agent", item)]
    hits += [row for item in ("plain", "scattered") for row in _agent("reader", item)]
    for place, item in enumerate(_ITEMS[:3]):
        ordered = [_CHUNKS[(7 * rank + place) % len(_CHUNKS)] for rank in range(len(_CHUNKS))]
        for run, part, chunks in (
            ("ranking", RANKING, ordered),
            ("oracle", RANKING, ordered),
            ("oracle", LINES, _CHUNKS),
        ):
            hits += [(run, item, part, 0, rank, None, *chunk, None) for rank, chunk in enumerate(chunks, start=1)]
    return Runs.of(
        names=("agent", "reader", "ranking", "oracle"),
        run_items=pl.DataFrame(
            answered,
            schema={
                "run_id": pl.String,
                "item_id": pl.String,
                "status": pl.String,
                "n_steps": pl.Int64,
                "has_patch": pl.Boolean,
            },
            orient="row",
        ),
        hits=pl.DataFrame(hits, schema=_SEEN, orient="row"),
        edits=pl.DataFrame(
            [("agent", *edit) for edit in _EDITS], schema=["run_id", "item_id", "path", "line"], orient="row"
        ),
    )


def _agent(run: str, item: str) -> list[tuple[object, ...]]:
    parts = [(STEP, step, seen) for step, seen in enumerate(_STEPS[item], start=1)] + [(FINAL, 0, _FINALS[item])]
    return [
        (run, item, part, step, rank, path, path if path in _FILES else None, start, end, symbol)
        for part, step, seen in parts
        for rank, (path, start, end, symbol) in enumerate(seen, start=1)
    ]
