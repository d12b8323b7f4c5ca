"""Chunks and queries compared by the cosine of their vectors, exactly: no index that leaves some out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evaluate.retrievers import Answer, Floats, Integers, Queries
from evaluate.vectors import Vectors

BLOCK = 16_384
"""How many vectors are compared at once: so many stand in memory in double precision."""

LookUp = Callable[[Sequence[str]], tuple[Sequence[str], Vectors]]
"""From texts to their keys, and to the vectors of those that have one."""


@dataclass(frozen=True)
class CosineIndex:
    """The vectors of a pool's chunks.

    Attributes:
        look_up: Gives the vectors of queries.
        chunks: The pool's different vectors.
        row: The row of `chunks` for each chunk: equal texts have one row, so that they score alike to the last bit.
    """

    look_up: LookUp
    chunks: npt.NDArray[np.float32]
    row: Integers

    @property
    def n_bytes(self) -> int:
        """Bytes of the matrix."""
        return int(self.chunks.nbytes)

    def search(self, queries: Queries) -> Answer:
        """The cosine of every query's and chunk's vectors; a query without a vector fails alone."""
        keys, vectors = self.look_up(queries.text)
        missing = {row: f"no vector for the query, key {key}" for row, key in enumerate(keys) if key not in vectors.row}
        asked = np.zeros((len(keys), self.chunks.shape[1]))
        for row, key in enumerate(keys):
            if row not in missing:
                asked[row] = vectors.matrix[vectors.row[key]]
        asked = _unit(asked)
        blocks = range(0, len(self.chunks), BLOCK)
        cosines = [asked @ _unit(self.chunks[first : first + BLOCK].astype(np.float64)).T for first in blocks]
        return Answer(np.concatenate(cosines, axis=1)[:, self.row], missing)


def _unit(matrix: Floats) -> Floats:
    length = np.linalg.norm(matrix, axis=1, keepdims=True)
    unit: Floats = np.divide(matrix, length, out=np.zeros_like(matrix), where=length > 0)
    return unit
