"""SEMANTICS §2 read once more, in loops and sets: no import of the code it is to be held against, and no table."""

from __future__ import annotations

import gzip
import pickle
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache
from pathlib import Path

from rank_bm25 import BM25Okapi

GOLD_KEYS = ("gold_snippet_index", "golden_snippet_index", "gold_snippet_idex")
LEFT_OUT = {"if", "else", "for", "while", "return", "class", "def", "import", "from"}
WHITE = "\t\n\v\f\r \u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff" + "".join(map(chr, range(0x2000, 0x200B)))
"""ECMAScript's white space."""

Number = float | None


@dataclass(frozen=True)
class Row:
    """One row of a pickle, and what it is called here."""

    item_id: str
    level: str
    candidates: Sequence[str]
    gold: int
    imports: str
    code: str

    @property
    def last_lines(self) -> str:
        return "\n".join(self.code.split("\n")[-3:])


def rows_of(folder: Path) -> Iterator[Row]:
    """Every row of every pickle of a folder in the hub's layout."""
    for file in sorted((folder / "data").glob("*.gz")):
        for split, levels in pickle.loads(gzip.decompress(file.read_bytes())).items():
            for level, rows in levels.items():
                for n, row in enumerate(rows):
                    (gold,) = [row[key] for key in GOLD_KEYS if key in row]
                    item_id = f"{file.name.removesuffix('.gz')}/{split}/{level}/{n}"
                    yield Row(item_id, level, row["context"], gold, row["import_statement"], row["code"])


@cache
def regex_tokens(text: str) -> list[str]:
    return re.findall(r"[A-Za-z_]\w*|\d+|[^\w\s]", text)


@cache
def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def jaccard_of_tokens(query: str, candidate: str) -> float:
    one, other = set(regex_tokens(query)), set(regex_tokens(candidate))
    return len(one & other) / len(one | other) if one | other else 0.0


def edit(query: str, candidate: str) -> float:
    return SequenceMatcher(None, regex_tokens(query), regex_tokens(candidate)).ratio()


def scores(retriever: str, query: str, candidates: Sequence[str]) -> list[float]:
    """A lexical retriever's score of every candidate."""
    if retriever == "bm25-okapi":
        return [float(one) for one in BM25Okapi([words(text) for text in candidates]).get_scores(words(query))]
    score = {"jaccard-regex": jaccard_of_tokens, "edit-regex": edit}[retriever]
    return [score(query, candidate) for candidate in candidates]


def by_score(found: Sequence[float]) -> list[int]:
    """The candidates from best to worst; equal ones in their own order."""
    return sorted(range(len(found)), key=lambda place: (-found[place], place))


def accuracies(row: Row, order: Sequence[int]) -> dict[int, float]:
    """The published protocol: is the gold index among the first k? At 1 and 3, and at 5 for hard rows."""
    return {k: float(row.gold in order[:k]) for k in ((1, 3) if row.level == "easy" else (1, 3, 5))}


@cache
def tokens(text: str) -> frozenset[str]:
    """What stands between white space."""
    for mark in WHITE:
        text = text.replace(mark, " ")
    return frozenset(text.split(" ")) - {""}


@cache
def identifiers(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\b[a-zA-Z_][a-zA-Z0-9_]*\b", text, re.ASCII)) - LEFT_OUT


def jaccard(chunk: str, gold: str) -> float:
    one, other = tokens(chunk), tokens(gold)
    return len(one & other) / len(one | other) if one | other else 0.0


def overlap(chunk: str, gold: str) -> float:
    return len(identifiers(chunk) & identifiers(gold)) / len(identifiers(chunk)) if identifiers(chunk) else 0.0


Chunk = tuple[str, int]
"""A candidate's path and the number of the chunk within it."""


def rechunked(
    likeness: Mapping[Chunk, float], order: Sequence[Chunk], gold: int, *, has_boundary: bool
) -> dict[tuple[str, int], Number]:
    """The re-chunked protocols for one row: a chunk is relevant from 0.7 on.

    Args:
        likeness: Every chunk of the pool, with how like the gold snippet it is.
        order: The ranking.
        gold: The gold candidate.
        has_boundary: Whether the best of the gold's own chunks is asked for.
    """
    relevant = {chunk for chunk, share in likeness.items() if share >= 0.7}
    found: dict[tuple[str, int], Number] = {}
    for k in (1, 3, 5):
        right = float(any(chunk in relevant for chunk in order[:k]))
        found["accuracy", k] = right
        found["accuracy_reachable", k] = right if relevant else None
    first = [chunk for chunk in order[:5] if chunk in relevant]
    ranks = [place for place, chunk in enumerate(order, start=1) if chunk in relevant]
    found["precision", 5] = len(first) / 5
    found["recall", 5] = len(first) / len(relevant) if relevant else 0.0
    found["mrr", 10] = 1 / ranks[0] if ranks and ranks[0] <= 10 else 0.0
    found["reachable", 0] = float(bool(relevant))
    found["non_gold_share", 5] = sum(path != f"cand:{gold}" for path, _ in first) / len(first) if first else None
    found["correct", 0] = float(bool(ranks))
    found["found_rank", 0] = float(ranks[0]) if ranks else None
    found["best_similarity", 0] = max((likeness[chunk] for chunk in order), default=0.0)
    if has_boundary:
        own = [share for (path, _), share in likeness.items() if path == f"cand:{gold}"]
        found["boundary_similarity", 0] = max(own, default=None)
    return found
