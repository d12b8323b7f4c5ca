"""RepoBench's edit similarity: difflib's ratio of two lists of tokens."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import partial
from typing import NamedTuple

import numpy as np

from evaluate.retrievers import Floats, Integers, Pool, Queries, Retriever, Scan, _codegen
from evaluate.texts.tokens import Tokenizer
from lake.engine import Engine
from lake.text import regex_tokens

WORTH_PROCESSES = 100_000_000
"""From so many characters to compare on, starting processes is worth its seconds."""


class Job(NamedTuple):
    """Pairs of a query and a text, to be compared in one process.

    Attributes:
        place: Where the ratios belong in the whole.
        queries: The queries, by any numbers.
        texts: The texts, likewise.
        query: The query of each pair.
        text: The text of each pair; equal ones stand together.
    """

    place: Integers
    queries: dict[int, str]
    texts: dict[int, str]
    query: Sequence[int]
    text: Sequence[int]


def compared(tokens: Tokenizer, job: Job) -> tuple[Integers, Floats]:
    """The ratio of each pair, with the place it belongs to.

    It is `difflib.SequenceMatcher(None, query, text).ratio()`: in that order, which matters, and taking tokens that are
    frequent in a long text for junk, as is its default. What it works out of a text is used for all of the text's
    queries.
    """
    asked = {number: tokens(query) for number, query in job.queries.items()}
    found, matcher, now = [], SequenceMatcher[str](None), -1
    for query, text in zip(job.query, job.text, strict=True):
        if text != now:
            matcher.set_seq2(tokens(job.texts[text]))
            now = text
        matcher.set_seq1(asked[query])
        found.append(matcher.ratio())
    return job.place, np.array(found, dtype=np.float64)


def ratios(
    queries: Sequence[str],
    texts: Sequence[str],
    query: Integers,
    text: Integers,
    tokens: Tokenizer,
    *,
    n_processes: int | None = None,
) -> Floats:
    """The ratio of each pair of a query and a text.

    Args:
        queries: The queries.
        texts: The texts.
        query: The query of each pair, as a row of the queries.
        text: The text of each pair, as a row of the texts.
        tokens: What cuts both; a function of a module, so that another process finds it.
        n_processes: In how many processes; without it, one per core where there is much to do, and this one is not
            itself one of several.
    """
    if n_processes is None:
        n_processes = (os.cpu_count() or 1) if _is_worth(queries, texts, query, text) else 1
    order = np.lexsort((query, text))
    jobs = []
    # Several jobs per process even out how long they take; all pairs of a text are in one.
    n_jobs = 4 * n_processes if n_processes > 1 else 1
    wanted = np.arange(1, n_jobs) * len(order) // n_jobs
    edges = np.searchsorted(text[order], text[order[wanted]]) if len(order) else wanted
    for place in np.split(order, np.unique(edges)):
        asked, held = query[place].tolist(), text[place].tolist()
        some = {row: queries[row] for row in asked}, {row: texts[row] for row in held}
        jobs.append(Job(place, *some, asked, held))
    found = np.zeros(len(order))
    for place, values in Engine(n_processes).map(partial(compared, tokens), jobs):
        found[place] = values
    return found


def _is_worth(queries: Sequence[str], texts: Sequence[str], query: Integers, text: Integers) -> bool:
    if multiprocessing.parent_process() is not None:
        return False
    asked, held = (np.array([len(one) for one in side], dtype=np.int64) for side in (queries, texts))
    return bool(asked[query].sum() + held[text].sum() >= WORTH_PROCESSES)


def score(pool: Pool, queries: Queries, *, tokens: Tokenizer = regex_tokens) -> Floats:
    """The ratio of every query and chunk; of pools side by side that of every chunk and the query of its own."""
    rows: dict[str, int] = {}
    text = np.array([rows.setdefault(one, len(rows)) for one in pool.text], np.int64)
    if pool.side_by_side:
        return pool.spread(ratios(queries.text, list(rows), pool.owner, text, tokens))
    query, chunk = (side.ravel() for side in np.indices((len(queries), len(pool))))
    return ratios(queries.text, list(rows), query, text[chunk], tokens).reshape(len(queries), len(pool))


EDIT_REGEX = Retriever(
    name="edit-regex",
    title="Edit similarity of tokens",
    meaning="How much of query and candidate is left in common when one list of tokens is turned into the other: twice "
    "the matching tokens over all tokens of both, as Python's difflib finds them. Tokens are identifiers, numbers and "
    "single marks, case kept.",
    index=partial(Scan, score=score),
    source="RepoBench's lexical retriever, with a regular expression for its tokenizer",
    parameters={"tokens": "regex"},
    tasks=("repobench-r/official",),
    n_side_by_side=1_000_000,
)

EDIT_CODEGEN = Retriever(
    name="edit-codegen",
    title="Edit similarity of CodeGen's tokens",
    meaning="How much of query and candidate is left in common when one list of tokens is turned into the other: twice "
    "the matching tokens over all tokens of both, as Python's difflib finds them. Tokens are those of CodeGen-350M.",
    index=partial(Scan, score=partial(score, tokens=_codegen.codegen_tokens)),
    source="RepoBench's lexical retriever",
    parameters=_codegen.parameters(),
    tasks=("repobench-r/official",),
    missing=_codegen.missing,
    n_side_by_side=1_000_000,
)
