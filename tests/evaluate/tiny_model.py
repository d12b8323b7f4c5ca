"""A tiny model with random weights, made on the spot: BERT's shape, a vocabulary of a few pieces, 32 wide."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder, SentenceTransformer
    from torch import Tensor

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "<encoder-only>")
PIECES = ("def", "return", "self", "query", "import", "math", *"abcdefghijklmnopqrstuvwxyz0123456789_()=:+*/.,'\"#")
MAX_LENGTH = 24

needs_dense = pytest.mark.skipif(
    find_spec("sentence_transformers") is None, reason="the extra `dense` is not installed: make dense"
)
"""Looked up and not imported: collecting the tests would take torch's seconds in every process."""


def tiny_model(folder: Path, *, seed: int = 0, is_cross: bool = False) -> Path:
    """Save one; the seed decides its weights."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.base.modules import Transformer
    from sentence_transformers.sentence_transformer.modules import Pooling
    from transformers import BertConfig, BertForSequenceClassification, BertModel, BertTokenizer

    torch.manual_seed(seed)
    pieces = [*SPECIAL, *PIECES, *(f"##{piece}" for piece in PIECES)]
    config = BertConfig(
        vocab_size=len(pieces),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=64,
        num_labels=1,
        initializer_range=0.5,
    )
    inner = folder / "plain"
    inner.mkdir(parents=True)
    (inner / "vocab.txt").write_text("\n".join(pieces), encoding="utf-8")
    tokenizer = BertTokenizer(str(inner / "vocab.txt"), model_max_length=MAX_LENGTH)
    tokenizer.save_pretrained(inner)
    (BertForSequenceClassification if is_cross else BertModel)(config).save_pretrained(inner)
    if is_cross:
        return inner
    transformer = Transformer(str(inner))
    pooling = Pooling(transformer.get_embedding_dimension(), pooling_mode="mean")
    prompts = {"query": "query: ", "document": ""}
    SentenceTransformer(modules=[transformer, pooling], prompts=prompts).save(str(folder / "model"))
    return folder / "model"


def pieces(network: SentenceTransformer | CrossEncoder) -> list[str]:
    """Tokens of the texts that a model is given from now on, as they are spelt."""
    given: list[str] = []

    def before(_: object, arguments: tuple[Mapping[str, Tensor], ...]) -> None:
        given[:] = network.tokenizer.convert_ids_to_tokens(arguments[0]["input_ids"][0])

    network.register_forward_pre_hook(before)
    return given
