"""A model in memory: texts too long are cut where it matters less, the rest is `encode` and `predict` of its library.

The library could cut a query's beginning, but its prefix with it, and no pair so that its query keeps half of the room.
So a text is cut into tokens here, and the library is given tokens.

What a model gives for a text differs in the last bits between machines, between versions of torch, and with the texts
that are in the same batch; so batches are made by a rule, of the same texts always the same ones.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from evaluate.embedding.models import Model
from lake.engine import THREADS
from lake.errors import Exit, GoldspanError

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder, SentenceTransformer
    from tokenizers import Encoding, Tokenizer
    from transformers import BatchEncoding

BATCH = 32
"""How many texts a model is given at once."""

AT_ONCE = 256
"""How many texts are cut into tokens at once."""

Vectors = npt.NDArray[np.float32]
Ids = npt.NDArray[np.int32]


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


class Encoder:
    """A model in memory, on the GPU where there is one.

    Args:
        model: Which; it is at hand.
        is_cross: It scores pairs of texts; otherwise it gives texts vectors.
        max_length: How many tokens it is given of a text at most; None for as many as it says itself.

    Attributes:
        network: The library's own model.
        cutter: Cuts texts into its tokens.
    """

    def __init__(self, model: Model, *, is_cross: bool = False, max_length: int | None = None) -> None:
        self.network = _loaded(model, is_cross)
        self._is_cross = is_cross
        tokenizer = self.network.tokenizer
        if tokenizer is None or not hasattr(tokenizer, "backend_tokenizer"):
            raise _unfit(model, "it has no tokenizer that gives a transformer its tokens")
        takes = getattr(self.network.transformers_model.config, "max_position_embeddings", None) or 1 << 20
        own = tokenizer.model_max_length
        if max_length is not None and max_length > takes:
            raise _unfit(model, f"it takes {takes:,} tokens, and max_length={max_length} asks for more")
        backend = tokenizer.backend_tokenizer
        backend.no_truncation()
        backend.no_padding()
        self.cutter = Cutter(backend, max_length or min(own, takes))
        # The library's step from inputs to the tensors of a batch: tokens have only to be padded.
        self.network.preprocess = self._padded

    def batches(self, tokens: Sequence[Tokens], tie: Sequence[str]) -> Iterator[tuple[list[int], Vectors]]:
        """What the model makes of texts, batch by batch, the longest first: their places, and a row for each.

        Args:
            tokens: The texts.
            tie: What orders texts of one length.
        """
        order = sorted(range(len(tokens)), key=lambda place: (-len(tokens[place].ids), tie[place]))
        for first in range(0, len(order), BATCH):
            places = order[first : first + BATCH]
            yield places, self.forward([tokens[place] for place in places])

    def forward(self, tokens: Sequence[Tokens]) -> Vectors:
        """What the model makes of one batch."""
        # As tuples: the library takes a list of such for a list of inputs, whether of texts or of pairs.
        batch = [(one,) for one in tokens]
        if self._is_cross:
            made = self.network.predict(batch, batch_size=BATCH, show_progress_bar=False, activation_fn=_unchanged)
        else:
            made = self.network.encode(batch, batch_size=BATCH, show_progress_bar=False)
        return np.asarray(made, np.float32).reshape(len(tokens), -1)

    def _padded(self, batch: Sequence[tuple[Tokens]], **_: object) -> BatchEncoding:
        tokenizer = self.network.tokenizer
        features = [{"input_ids": one.ids.tolist(), "token_type_ids": one.types.tolist()} for (one,) in batch]
        wanted = [{name: ids for name, ids in row.items() if name in tokenizer.model_input_names} for row in features]
        return tokenizer.pad(wanted, return_tensors="pt")


def _unchanged(scores: object) -> object:
    """Of scores only the order counts: none is squeezed into 0 to 1."""
    return scores


@cache
def encoder_of(model: Model, *, is_cross: bool = False, max_length: int | None = None) -> Encoder:
    """A model in memory, loaded once by a process.

    Raises:
        GoldspanError: The extra is not installed, the model is not at hand, or it cannot be loaded as what it is to be.
    """
    if why := model.missing():
        raise GoldspanError(f"the model {model.name} cannot run here", hint=why, code=Exit.MISSING)
    return Encoder(model, is_cross=is_cross, max_length=max_length)


def _loaded(model: Model, is_cross: bool) -> SentenceTransformer | CrossEncoder:
    # Imported when needed: no other run waits seconds for them.
    import torch
    from sentence_transformers import CrossEncoder
    from transformers.utils import logging

    logging.disable_progress_bar()
    if THREADS in os.environ:
        # One of several processes on this machine has its share of the cores.
        torch.set_num_threads(int(os.environ[THREADS]))
    folder, options = str(model.folder), {"dtype": model.dtype}
    try:
        if is_cross:
            network: SentenceTransformer | CrossEncoder = CrossEncoder(
                folder, local_files_only=True, model_kwargs={**options}
            )
        else:
            network = _pooled(folder, model, options)
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        raise _unfit(model, f"{type(error).__name__}: {error}".splitlines()[0]) from error
    network.eval()
    if model.marks:
        known = [mark for mark in model.marks if network.tokenizer.convert_tokens_to_ids(mark) is not None]
        network.tokenizer.add_tokens(known, special_tokens=True)
    return network


def _pooled(folder: str, model: Model, options: Mapping[str, str]) -> SentenceTransformer:
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.base.modules import Transformer
    from sentence_transformers.sentence_transformer.modules import Pooling

    if not model.pooling:
        return SentenceTransformer(folder, local_files_only=True, model_kwargs={**options})
    transformer = Transformer(folder, model_kwargs={**options, "local_files_only": True})
    pooling = Pooling(transformer.get_embedding_dimension(), pooling_mode=model.pooling)
    return SentenceTransformer(modules=[transformer, pooling])


def _unfit(model: Model, why: str) -> GoldspanError:
    message = f"the model {model.name} cannot be used: {why}"
    return GoldspanError(message, where=str(model.folder), code=Exit.INVALID)
