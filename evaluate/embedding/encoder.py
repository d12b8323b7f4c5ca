"""A model in memory: `encode` and `predict` of its library, and how many tokens of each text it does not take.

The library would cut a query's beginning with its prefix, and a pair with no regard for its query; so queries that are
too long are cut before, at the beginning of a word.

What a model gives for a text differs in the last bits between machines, between versions of torch, and with the texts
that are in the same batch.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from evaluate.embedding.models import Model
from evaluate.embedding.vectors import EncodedText, Made
from lake.engine import THREADS
from lake.errors import Exit, GoldspanError

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder, SentenceTransformer
    from tokenizers import Encoding

BATCH = 32
"""How many texts a model is given at once."""


class Encoder:
    """A model in memory, on the GPU where there is one: a cross-encoder scores pairs of texts, others give vectors.

    It is given `max_length` tokens of a text at most, without it as many as it says itself.
    """

    def __init__(self, model: Model, *, is_cross: bool = False, max_length: int | None = None) -> None:
        self.network = _loaded(model, is_cross)
        tokenizer = self.network.tokenizer
        if not getattr(tokenizer, "is_fast", False):
            raise _unfit(model, "it has no tokenizer that gives a transformer its tokens")
        takes = getattr(self.network.transformers_model.config, "max_position_embeddings", None) or 1 << 20
        if max_length is not None and max_length > takes:
            raise _unfit(model, f"it takes {takes:,} tokens, and max_length={max_length} asks for more")
        tokenizer.model_max_length = max_length or min(tokenizer.model_max_length, takes)
        self._room = tokenizer.model_max_length - tokenizer.num_special_tokens_to_add(pair=is_cross)

    def vectors(self, texts: Sequence[str], prefix: str, cut: Literal["left", "right"]) -> Made:
        """The vectors of texts with a prefix, which is never cut: of a text too long, the end or the beginning is left.

        `cut` is the side from which it is cut.
        """
        n_prefix = len(self._tokens([prefix])[0])
        tokens = self._tokens([prefix + text for text in texts])
        n_cut = [max(0, len(of_text) - self._room) for of_text in tokens]
        if cut == "left" and prefix:
            texts = [
                _ending(text, self._tokens([text])[0], self._room - n_prefix) if n else text
                for text, n in zip(texts, n_cut, strict=True)
            ]
        self.network.tokenizer.truncation_side = cut
        encode = partial(self.network.encode, prompt=prefix, show_progress_bar=False)
        return _in_batches(encode, texts, [len(of_text) for of_text in tokens]), n_cut

    def scores(self, pairs: Sequence[tuple[str, str]]) -> Made:
        """The scores of queries, each with a document: of the room a query has half at most; the document the rest."""
        queries, documents = (self._tokens([pair[side] for pair in pairs]) for side in (0, 1))
        length = [len(query) + len(document) for query, document in zip(queries, documents, strict=True)]
        short = [
            (_ending(query, tokens, max(self._room // 2, self._room - len(document))), text)
            for (query, text), tokens, document in zip(pairs, queries, documents, strict=True)
        ]
        self.network.tokenizer.truncation_side = "right"
        # Only the order of scores counts: none is squeezed into 0 to 1.
        predict = partial(self.network.predict, show_progress_bar=False, activation_fn=lambda scores: scores)
        return _in_batches(predict, short, length), [max(0, n - self._room) for n in length]

    def _tokens(self, texts: Sequence[str]) -> Sequence[Encoding]:
        tokens = self.network.tokenizer(list(texts), add_special_tokens=False, verbose=False)
        encodings: Sequence[Encoding] = tokens.encodings
        return encodings


def _in_batches(
    make: Callable[[list[EncodedText]], npt.ArrayLike], texts: Sequence[EncodedText], length: Sequence[int]
) -> npt.NDArray[np.float32]:
    """What the library makes of texts, those of about as many tokens together: it would go by their characters."""
    order = sorted(range(len(texts)), key=lambda row: -length[row])
    batches = [order[first : first + BATCH] for first in range(0, len(order), BATCH)]
    rows = [np.reshape(make([texts[row] for row in batch]), (len(batch), -1)) for batch in batches]
    return np.concatenate(rows)[np.argsort(order)].astype(np.float32)


def _ending(text: str, tokens: Encoding, n: int) -> str:
    """The end of a text: so many of its tokens at most, from the beginning of a word on."""
    if len(tokens) <= n:
        return text
    word = tokens.word_ids
    begins = next((k for k in range(len(tokens) - n, len(tokens)) if word[k] != word[k - 1]), None)
    return "" if begins is None else text[tokens.offsets[begins - 1][1] :]


@cache
def encoder_of(model: Model, *, is_cross: bool = False, max_length: int | None = None) -> Encoder:
    """A model in memory, loaded once by a process."""
    if why := model.missing():
        raise GoldspanError(f"the model {model.name} cannot run here", hint=why, code=Exit.MISSING)
    return Encoder(model, is_cross=is_cross, max_length=max_length)


def _loaded(model: Model, is_cross: bool) -> SentenceTransformer | CrossEncoder:
    # Imported when needed: no other run waits seconds for them.
    import torch
    from sentence_transformers import CrossEncoder, SentenceTransformer
    from sentence_transformers.base.modules import Transformer
    from sentence_transformers.sentence_transformer.modules import Pooling
    from transformers.utils import logging

    logging.disable_progress_bar()
    if THREADS in os.environ:
        # One of several processes on this machine has its share of the cores.
        torch.set_num_threads(int(os.environ[THREADS]))
    folder, dtype = str(model.folder), {"dtype": model.dtype}
    network: SentenceTransformer | CrossEncoder
    try:
        if is_cross:
            network = CrossEncoder(folder, local_files_only=True, model_kwargs=dtype)
        elif not model.pooling:
            network = SentenceTransformer(folder, local_files_only=True, model_kwargs=dtype)
        else:
            transformer = Transformer(folder, model_kwargs={**dtype, "local_files_only": True})
            pooling = Pooling(transformer.get_embedding_dimension(), pooling_mode=model.pooling)
            network = SentenceTransformer(modules=[transformer, pooling])
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        raise _unfit(model, f"{type(error).__name__}: {error}".splitlines()[0]) from error
    network.eval()
    if model.marks:
        known = [mark for mark in model.marks if network.tokenizer.convert_tokens_to_ids(mark) is not None]
        network.tokenizer.add_tokens(known, special_tokens=True)
    return network


def _unfit(model: Model, why: str) -> GoldspanError:
    message = f"the model {model.name} cannot be used: {why}"
    return GoldspanError(message, where=str(model.folder), code=Exit.INVALID)
