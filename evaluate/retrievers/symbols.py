"""Definitions that a query mentions by name: go to definition, for every name in it at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evaluate.retrievers import Floats, Pool, Queries, Retriever
from evaluate.retrievers._weights import TokenWeights, once
from evaluate.retrievers.bm25_code import cased_words


@dataclass(frozen=True)
class Definitions:
    """A pool by the names that its chunks define."""

    names: TokenWeights

    @property
    def n_bytes(self) -> int:
        """Bytes of the weights."""
        return self.names.n_bytes

    def search(self, queries: Queries) -> Floats:
        """The rarity of the mentioned names that a chunk defines; a chunk that defines none is left out."""
        scores = self.names.search(queries)
        return np.where(scores > 0, scores, np.nan)


def index(pool: Pool) -> Definitions:
    """The names that the pool's chunks define, each as rare as ln(1 + all definitions / those of the name)."""
    found = pool.definitions()
    n_defined = np.asarray(found.counts.sum(axis=0)).ravel()
    rarity = np.log1p(n_defined.sum() / n_defined)
    return Definitions(TokenWeights.of(found, rarity[found.counts.indices], cased_words, once))


SYMBOLS = Retriever(
    name="symbols",
    title="Definitions of names",
    meaning="The chunks in which a definition begins whose name the query mentions, and no others: ln(1 + definitions "
    "in the pool / those of that name), added up over the names. A name is a whole identifier, case kept; definitions "
    "are those of the rules `docs`.",
    index=index,
    source="Ours: an editor's go to definition, for every name in the query.",
    parameters={"rules": "docs"},
    needs="definitions",
    runs="asked",
    # Elsewhere no definitions are stored: candidates are snippets of no file.
    tasks=("repoeval/prompt", "contextbench/issue"),
)
