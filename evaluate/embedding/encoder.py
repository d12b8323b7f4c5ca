"""A model that is loaded: tokens in, vectors or scores out.

What it gives for a text differs in the last bits between machines, between versions of torch, and with the texts that
are in the same batch; so batches are made by a rule, of the same texts always the same ones.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, cast

import numpy as np
import numpy.typing as npt

from evaluate.embedding.models import Model
from evaluate.embedding.tokens import Cutter, Tokens
from lake.engine import THREADS
from lake.errors import Exit, GoldspanError

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder, SentenceTransformer
    from torch import Tensor

BATCH = 32
"""How many texts a model is given at once."""

Vectors = npt.NDArray[np.float32]


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
        self._output = "scores" if is_cross else "sentence_embedding"
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
        self._names = [name for name in ("input_ids", "token_type_ids") if name in tokenizer.model_input_names]
        self._padding = {"input_ids": tokenizer.pad_token_id or 0, "token_type_ids": tokenizer.pad_token_type_id}
        self._pads_left = tokenizer.padding_side == "left"

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
        import torch

        device = self.network.device
        with torch.inference_mode():
            output = self.network({name: one.to(device) for name, one in self._features(tokens).items()})
            made = cast("Tensor", output[self._output]).float().cpu().numpy()
        return np.asarray(made, np.float32).reshape(len(tokens), -1)

    def _features(self, tokens: Sequence[Tokens]) -> dict[str, Tensor]:
        import torch

        width = max(len(one.ids) for one in tokens)
        spans = [slice(width - len(one.ids), width) if self._pads_left else slice(len(one.ids)) for one in tokens]
        arrays = {name: np.full((len(tokens), width), self._padding[name], np.int64) for name in self._names}
        arrays["attention_mask"] = np.zeros((len(tokens), width), np.int64)
        for row, (span, one) in enumerate(zip(spans, tokens, strict=True)):
            arrays["attention_mask"][row, span] = 1
            for name in self._names:
                arrays[name][row, span] = one.ids if name == "input_ids" else one.types
        return {name: torch.from_numpy(array) for name, array in arrays.items()}


@cache
def encoder_of(model: Model, *, is_cross: bool = False, max_length: int | None = None) -> Encoder:
    """A model in memory, loaded once by a process.

    Raises:
        GoldspanError: The extra is not installed, the model is not at hand, or it cannot be loaded as what it is to be.
    """
    if why := model.missing():
        message = f"the model {model.name} cannot run here"
        raise GoldspanError(message, hint=why, code=Exit.MISSING)
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
