"""Chunks and queries compared by the cosine of their vectors, exactly: no index that leaves some out."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from evaluate.retrievers import Answer, Floats, Index, Queries
from evaluate.vectors import Vectors

BLOCK = 16_384
"""How many vectors are compared at once: so many stand in memory in double precision."""

LookUp = Callable[[Sequence[str]], tuple[Sequence[str], Vectors]]
"""From texts to their keys, and to the vectors of those that have one."""


def cosine_index(look_up: LookUp, keys: Sequence[str], chunks: Vectors) -> Index:
    """The vectors of a pool's chunks.

    Args:
        look_up: Gives the vectors of queries.
        keys: Of each chunk: equal texts have one vector, so that they score alike to the last bit.
        chunks: All their vectors.
    """
    held, row = chunks.matrix, np.array([chunks.row[key] for key in keys])

    def search(queries: Queries) -> Answer:
        """The cosine of every query's and chunk's vectors; a query without a vector fails alone."""
        keys, vectors = look_up(queries.text)
        missing = {row: f"no vector for the query, key {key}" for row, key in enumerate(keys) if key not in vectors.row}
        asked = np.zeros((len(keys), held.shape[1]))
        for row_asked, key in enumerate(keys):
            if row_asked not in missing:
                asked[row_asked] = vectors.matrix[vectors.row[key]]
        asked = _unit(asked)
        blocks = range(0, len(held), BLOCK)
        cosines = [asked @ _unit(held[first : first + BLOCK].astype(np.float64)).T for first in blocks]
        return Answer(np.concatenate(cosines, axis=1)[:, row], missing)

    return Index(search, int(held.nbytes))


def _unit(matrix: Floats) -> Floats:
    length = np.linalg.norm(matrix, axis=1, keepdims=True)
    unit: Floats = np.divide(matrix, length, out=np.zeros_like(matrix), where=length > 0)
    return unit
