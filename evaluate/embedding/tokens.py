"""Texts as a model's own tokens, too long ones cut from the side that matters less."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer

Ids = npt.NDArray[np.int32]

AT_ONCE = 256
"""How many texts are cut into tokens at once."""


@dataclass(frozen=True)
class Tokens:
    """The tokens of a text, as the model takes them.

    Attributes:
        ids: The tokens' numbers.
        types: 0, or 1 for tokens of a pair's second text.
        n_cut: How many of its tokens are left out.
    """

    ids: Ids
    types: Ids
    n_cut: int


@dataclass(frozen=True)
class Cutter:
    """A tokenizer, and how much a model takes of it.

    Attributes:
        tokenizer: Set neither to cut nor to pad.
        room: How many tokens, with those that a model has around every text.
    """

    tokenizer: Tokenizer
    room: int

    def texts(self, texts: Sequence[str], *, prefix: str, cut: Literal["left", "right"]) -> Iterator[Tokens]:
        """Texts with a prefix, which is never cut: of a text too long, what is left is its end or its beginning."""
        n = self.room - self.tokenizer.num_special_tokens_to_add(is_pair=False)
        before = self._plain([prefix])[0] if prefix else None
        for first in range(0, len(texts), AT_ONCE):
            piece = texts[first : first + AT_ONCE]
            whole = self._plain([prefix + text for text in piece])
            for text, found in zip(piece, whole, strict=True):
                n_cut = max(0, len(found) - n)
                if n_cut and before is not None and cut == "left":
                    (rest,) = self._plain([text])
                    rest.truncate(max(0, n - len(before)), direction="left")
                    kept = before.merge([before, rest], growing_offsets=True)
                    kept.truncate(n)
                else:
                    kept = found
                    kept.truncate(n, direction=cut)
                yield _tokens(self.tokenizer.post_process(kept), n_cut)

    def pairs(self, pairs: Sequence[tuple[str, str]]) -> Iterator[Tokens]:
        """Queries, each with a document: a query has at most half of the room, of its end; the document the rest."""
        n = self.room - self.tokenizer.num_special_tokens_to_add(is_pair=True)
        for first in range(0, len(pairs), AT_ONCE):
            piece = pairs[first : first + AT_ONCE]
            sides = (self._plain([pair[side] for pair in piece]) for side in (0, 1))
            for query, document in zip(*sides, strict=True):
                n_cut = max(0, len(query) + len(document) - n)
                query.truncate(max(n // 2, n - len(document)), direction="left")
                document.truncate(n - len(query))
                yield _tokens(self.tokenizer.post_process(query, document), n_cut)

    def _plain(self, texts: Sequence[str]) -> list[Encoding]:
        return self.tokenizer.encode_batch(list(texts), add_special_tokens=False)


def _tokens(encoding: Encoding, n_cut: int) -> Tokens:
    return Tokens(np.array(encoding.ids, np.int32), np.array(encoding.type_ids, np.int32), n_cut)
