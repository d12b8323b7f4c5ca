"""The seal on a protocol: a hash of its rules and of the scores they give on a small fixture.

A change to code that moves a number moves the hash, so it cannot pass under the old name.
"""

from __future__ import annotations

import dataclasses
import functools

import polars as pl

from evaluate.metrics import metrics_of
from evaluate.score.completions import COMPLETION
from evaluate.score.contexts import conformance as contexts
from evaluate.score.contexts.scoring import score_contexts
from evaluate.score.coverage import OWN_TEXT
from evaluate.score.metric_values import SCORE_COLUMNS, measure_run
from lake.catalog.protocol import Protocol
from lake.errors import GoldspanError, unknown_name
from lake.fingerprint import canonical_json, sha256_of
from lake.lines import LineAxis
from lake.relevance import RELEVANCE

_WORDS = ("title", "meaning", "place")
"""What a protocol says about itself to people; mending a sentence changes no rule."""

_AT = {"first": 1, "fifth": 5, "sixth": 6, "tenth": 10, "eleventh": 11}
"""Items whose first relevant hit stands at that rank, on either side of every cut-off."""
_SPANS = ["item_id", "path", "line_start", "line_end"]
_GOLD = [
    ("plain", "a.py", 10, 30),
    ("overlapping", "a.py", 10, 30),
    ("overlapping", "a.py", 20, 45),
    ("overlapping", "a.py", 90, 95),
    ("overlapping", "b.py", 0, 5),
    ("adjacent", "b.py", 40, 50),
    ("adjacent", "b.py", 50, 60),
    ("nothing returned", "a.py", 0, 10),
    ("nothing relevant", "elsewhere.py", 0, 10),
    ("deep", "b.py", 0, 200),
    ("one line", "a.py", 59, 60),
    ("past the end", "a.py", 115, 130),
    ("spent to the last character", "c.py", 8, 33),
    ("short list", "a.py", 0, 12),
    ("as long as a cut-off", "a.py", 0, 12),
    ("only chunk", "d.py", 2, 6),
    ("empty gold", "a.py", 8, 8),
    ("empty gold", "b.py", 30, 34),
    *((item, "a.py", 0, 12) for item in _AT),
]
_TARGET = "    total = 0\n\n    for one in many:\n        total += one\n    return total\n"
_ANSWERS = (
    _TARGET,
    "total = 0\nfor one in many:\n\n  total += one\nreturn total\nprint(total)\n",
    "    total = 1\n    for one in many:\n        total += one\n    return total\n",
    "    return sum(many)\n",
    "",
    None,
)
_FILES = {"a.py": 120, "b.py": 200, "c.py": 40, "d.py": 10}
_ITEMS = sorted({item for item, *_ in _GOLD} | {"no gold"})
_N_HITS = 15
_STEPS = (7, 3)
"""Two walks over the pool's chunks: hits in an order that is neither good nor bad."""
_LEVELS = ("easy", "hard")
_ALIKE = (0.0, 0.35, 0.7, 0.6999999999999999, 1.0, 0.5, 0.9)
"""Similarities on either side of a threshold and on it."""


def check_rules(protocol: Protocol) -> None:
    """See that a protocol's rules fit one another and what is declared.

    Raises:
        GoldspanError: An unknown relevance rule or metric; a threshold where none belongs, or none where one does; a
            cut-off or a primary metric that is not among its metrics.
    """
    if protocol.relevance not in RELEVANCE:
        kind = "relevance rule"
        raise unknown_name(kind, protocol.relevance, RELEVANCE)
    if bool(RELEVANCE[protocol.relevance].similarity) != (protocol.threshold is not None):
        message = f"protocol {protocol.name!r}: relevance by similarity needs a threshold, and no other has one"
        raise GoldspanError(message, examples=[f"{protocol.relevance}, threshold {protocol.threshold}"])
    named = [(found.granularity, found.name, k) for found, k in metrics_of(protocol)]
    if unmeasured := {(metric, k) for metric, k, *_ in protocol.applies} - {(name, k) for _, name, k in named}:
        message = f"protocol {protocol.name!r}: a cut-off that applies to some items is not among its metrics"
        raise GoldspanError(message, examples=[f"{metric}@{k}" for metric, k in sorted(unmeasured)])
    primary = protocol.primary
    if (primary.granularity, primary.metric, primary.k) not in named:
        message = f"protocol {protocol.name!r}: its primary metric is not among its metrics"
        raise GoldspanError(message, examples=[f"{primary.metric}@{primary.k}"])


@functools.cache
def protocol_hash(protocol: Protocol) -> str:
    """The seal: sha256 over the protocol's rules (its title and meaning left out) and over its scores on the fixture.

    Scores are taken to 12 significant digits, so that machines agree whose logarithms differ in the last bit.
    """
    check_rules(protocol)
    rules = {name: value for name, value in dataclasses.asdict(protocol).items() if name not in _WORDS}
    if protocol.context is None:
        # Rankings alone are not read as contexts; saying so would say nothing new.
        del rules["context"]
    scores = _scores(protocol) if protocol.context is None else _context_scores(protocol)
    return sha256_of(canonical_json({"rules": rules, "scores": scores}).encode())


def _context_scores(protocol: Protocol) -> list[list[str]]:
    found = score_contexts(protocol, contexts.material(), contexts.runs())
    key = ["run_id", "item_id", "granularity"]
    frames = [found.scores.sort(*key, "metric", "k"), found.steps.sort(*key, "step")]
    return [[_digits(value) for value in row] for frame in frames for row in frame.iter_rows()]


def _scores(protocol: Protocol) -> list[list[str]]:
    fixture = {"hits": _hits(), "items": _items(), "gold": _gold(), "pool": _pool(), "relevance": _relevance()}
    scores = measure_run(protocol, axis=_axis(), completions=_completions(), **fixture).collect()
    ordered = scores.select(SCORE_COLUMNS).sort("item_id", "granularity", "metric", "k")
    return [[_digits(value) for value in row] for row in ordered.iter_rows()]


def _digits(value: object) -> str:
    return format(value, ".12g") if isinstance(value, float) else str(value)


def _items() -> pl.LazyFrame:
    """Items of two levels, whose own text is lines 15 to 25 of a.py, but for one that has none."""
    own = [(None, None, None) if item == "no gold" else ("a.py", 15, 25) for item in _ITEMS]
    rows = [
        (item, "pool", _LEVELS[place % 2], *text, _TARGET)
        for place, (item, text) in enumerate(zip(_ITEMS, own, strict=True))
    ]
    return pl.LazyFrame(rows, schema=["item_id", "pool_id", "level", *OWN_TEXT, "target_text"], orient="row")


def _completions() -> pl.LazyFrame:
    """Answers that are exact, exact but for blanks and what follows, near, shorter, empty and none."""
    return pl.LazyFrame(list(zip(_ITEMS, _ANSWERS, strict=False)), schema=COMPLETION, orient="row")


def _axis() -> LineAxis:
    """Lines of 0 to 330 characters, some of them blank.

    In c.py all but one have 1,000, so that whole lines spend a budget; the blank one follows 8,000, where gold starts.
    """
    rows = [("pool", path, [_n_nws(path, line) for line in range(n_lines)]) for path, n_lines in _FILES.items()]
    return LineAxis.of(pl.DataFrame(rows, schema=["pool_id", "path", "n_nws"], orient="row"))


def _n_nws(path: str, line: int) -> int:
    if path == "c.py":
        return 1_000 if line != 8 else 0
    return 37 * line % 331 if line % 7 else 0


def _gold() -> pl.LazyFrame:
    grade = pl.int_range(pl.len(), dtype=pl.Int64) % 3 + 1
    return pl.LazyFrame(_GOLD, schema=_SPANS, orient="row").with_columns(grade=grade)


def _chunks() -> list[tuple[str, int, int, int]]:
    """Windows of 20 lines every 10, so that neighbours overlap."""
    return [
        (path, number, start, min(start + 20, n_lines))
        for path, n_lines in _FILES.items()
        for number, start in enumerate(range(0, n_lines, 10))
    ]


def _pool() -> pl.LazyFrame:
    chunks = pl.LazyFrame(_chunks(), schema=["path", "chunk_no", "line_start", "line_end"], orient="row")
    return chunks.with_columns(pl.lit("pool").alias("pool_id"))


def _relevance() -> pl.LazyFrame:
    """Similarities of every chunk to every item's gold, the two kinds unlike; one item has none that is relevant."""
    rows = [
        (item, path, number, *(_alike(item, step * place + chunk) for step in _STEPS))
        for place, item in enumerate(_ITEMS)
        for chunk, (path, number, *_) in enumerate(_chunks())
    ]
    columns = ["item_id", "path", "chunk_no", "jaccard", "identifier_overlap"]
    return pl.LazyFrame(rows, schema=columns, orient="row")


def _alike(item: str, place: int) -> float:
    if item == "only chunk":
        # The last chunk there is lies alone in its file, and alone is relevant.
        return _ALIKE[2] if place % len(_chunks()) == 0 else _ALIKE[1]
    return _ALIKE[place % 2] if item == "nothing relevant" else _ALIKE[place * place % len(_ALIKE)]


def _hits() -> pl.LazyFrame:
    hits = [
        (item, rank, *chunk)
        for place, item in enumerate(_ITEMS)
        if item != "nothing returned"
        for rank, chunk in enumerate(_ranking(item, place), start=1)
    ]
    return pl.LazyFrame(hits, schema=["item_id", "rank", "path", "chunk_no", "line_start", "line_end"], orient="row")


def _ranking(item: str, place: int) -> list[tuple[str, int, int, int]]:
    chunks = _chunks()
    if item == "short list":
        return chunks[1:3]
    if item == "as long as a cut-off":
        return [next(chunk for chunk in chunks if chunk[0] == path) for path in ("c.py", "b.py", "a.py")]
    if item == "spent to the last character":
        return [chunk for chunk in chunks if chunk[0] == "c.py"]
    if item in _AT:
        # The gold lies in the first two chunks of a.py; the rest of that list comes from b.py.
        before = [chunk for chunk in chunks if chunk[0] == "b.py"][: _AT[item] - 1]
        return [*before, *chunks[:2]]
    return [chunks[(_STEPS[place % 2] * rank + place) % len(chunks)] for rank in range(1, _N_HITS + 1)]
