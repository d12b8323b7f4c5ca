"""SEMANTICS §2 read once more, in loops and sets: no import of the code it is to be held against, and no table."""

from __future__ import annotations

import gzip
import pickle
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache
from pathlib import Path

from rank_bm25 import BM25Okapi

GOLD_KEYS = ("gold_snippet_index", "golden_snippet_index", "gold_snippet_idex")


Number = float | None
Chunk = tuple[str, int]
"""A candidate's path and the number of the chunk within it."""


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
