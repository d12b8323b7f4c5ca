"""The best ranking of the same chunks: it sees the gold, so it bounds what any retriever can score over them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from evaluate.retrievers import BASELINE, POOLS_AT_ONCE, Answer, Floats, Pool, Queries, Retriever, Scan, Span

Lines = npt.NDArray[np.bool_]


def score(pool: Pool, queries: Queries) -> Answer:
    """Two orders: by overlap with the gold for ranked metrics, by greedy covering for sets of lines.

    Where relevance is a similarity there is one: by that.
    """
    if queries.gains:
        return Answer(pool.spread(np.concatenate(queries.gains).reshape(-1, len(pool))))
    # Of pools side by side no two queries see the same chunk.
    shape = (1 if pool.side_by_side else len(queries), len(pool))
    overlaps, covering = np.zeros(shape), np.full(shape, np.nan)
    rows_of: dict[tuple[int, str], list[int]] = {}
    for row, place in enumerate(zip(pool.owner.tolist(), pool.path, strict=True)):
        rows_of.setdefault(place, []).append(row)
    for query, spans in enumerate(queries.gold):
        own, row = (query, 0) if pool.side_by_side else (0, query)
        here = {span.path: rows_of.get((own, span.path), []) for span in spans}
        _rate(pool, here, spans, overlaps[row], covering[row])
    return Answer(pool.spread(overlaps), lines=pool.spread(covering))


def _rate(
    chunks: Pool,
    rows_of: Mapping[str, Sequence[int]],
    spans: Sequence[Span],
    overlaps: Floats,
    covering: Floats,
) -> None:
    """Write down how much gold of one query each chunk shares, and the chunks' places in covering it."""
    grade = {span.path: span.grade for span in spans}
    pieces = [piece for path in sorted(grade) for piece in _met(chunks, rows_of, path, spans)]
    for piece in pieces:
        overlaps[piece.chunk] = piece.n_gold / piece.n_either * grade[piece.path]
    for span in spans:
        if span.line_start == span.line_end:
            # A gold text without a line shares none with itself.
            overlaps[[row for row in rows_of[span.path] if chunks.line_end[row] == 0]] = span.grade
    for place, chunk in enumerate(_greedy(pieces, _n_gold(spans))):
        covering[chunk] = -place


def _met(chunks: Pool, rows_of: Mapping[str, Sequence[int]], path: str, spans: Sequence[Span]) -> list[_Piece]:
    """The chunks of one file that share a line with its gold."""
    here = [span for span in spans if span.path == path]
    rows = rows_of[path]
    end = max([span.line_end for span in here] + [int(chunks.line_end[row]) for row in rows])
    gold = np.zeros(end, dtype=np.bool_)
    for span in here:
        gold[span.line_start : span.line_end] = True
    pieces = []
    for row in rows:
        start, stop = int(chunks.line_start[row]), int(chunks.line_end[row])
        n_gold = int(gold[start:stop].sum())
        if n_gold:
            pieces.append(_Piece(row, path, start, stop, gold, n_gold, stop - start + int(gold.sum()) - n_gold))
    return pieces


@dataclass(frozen=True)
class _Piece:
    """A chunk that shares lines with the gold of its file."""

    chunk: int
    path: str
    start: int
    stop: int
    gold: Lines
    n_gold: int
    n_either: int


def _greedy(pieces: Sequence[_Piece], n_gold: int) -> list[int]:
    """Chunks in the order of gold lines per line they add, as long as each raises the F1 of the union."""
    covered = {piece.path: np.zeros(len(piece.gold), dtype=np.bool_) for piece in pieces}
    left, chosen = list(pieces), list[int]()
    n_both = n_returned = 0
    while left:
        best, best_key, best_new = None, (0.0, 0, 0), (0, 0)
        for piece in left:
            new = ~covered[piece.path][piece.start : piece.stop]
            n_new, n_new_gold = int(new.sum()), int((new & piece.gold[piece.start : piece.stop]).sum())
            key = (n_new_gold / n_new if n_new else 0.0, n_new_gold, -piece.chunk)
            if best is None or key > best_key:
                best, best_key, best_new = piece, key, (n_new, n_new_gold)
        n_new, n_new_gold = best_new
        # 2(I + g) / (G + R + n) > 2I / (G + R), in whole numbers.
        if best is None or (n_both + n_new_gold) * (n_gold + n_returned) <= n_both * (n_gold + n_returned + n_new):
            break
        covered[best.path][best.start : best.stop] = True
        n_both, n_returned = n_both + n_new_gold, n_returned + n_new
        chosen.append(best.chunk)
        left.remove(best)
    return chosen


def _n_gold(spans: Sequence[Span]) -> int:
    return len({(span.path, line) for span in spans for line in range(span.line_start, span.line_end)})


ORACLE = Retriever(
    name="oracle",
    title="Oracle",
    meaning="What the best retriever over the same chunks could score. It is shown the gold: for ranked metrics the "
    "chunks that overlap most come first; for sets of lines those that add most gold per line, as long as each raises "
    "F1 (greedy).",
    index=partial(Scan, score=score),
    tags=(BASELINE,),
    needs="gold",
    version=4,
    n_side_by_side=POOLS_AT_ONCE,
)
