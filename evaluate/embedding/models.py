"""Local models: a folder on this machine, or a commit in the hub's cache. Nothing is downloaded."""

from __future__ import annotations

import importlib.util
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from evaluate.embedding.vectors import KeyedVectors, Made, VectorStore, key_of
from lake.engine import THREADS
from lake.errors import Exit, GoldspanError
from lake.fingerprint import canonical_json, fingerprint, sha256_of_file

if TYPE_CHECKING:
    from tokenizers import Encoding

TextKind = Literal["query", "document"]

CUT: Mapping[TextKind, Literal["left", "right"]] = {"query": "left", "document": "right"}
"""The side on which texts that are too long are cut: a prompt's end is what has to be continued."""


@dataclass(frozen=True)
class Model:
    """A model, by folder or hub name, and settings that replace the model's own.

    `marks` are words that are always one token; `max_length` is in tokens of a text with its prefix.
    """

    name: str
    dtype: str = "float32"
    pooling: str = ""
    marks: tuple[str, ...] = ()
    alias: str = ""
    query_prefix: str | None = None
    document_prefix: str | None = None
    max_length: int | None = None

    @property
    def shown(self) -> str:
        """The name to show: the alias, else the hub's name or the folder's own name, without its path."""
        if self.alias:
            return self.alias
        if not Path(self.name).is_dir() and not self.name.startswith(("/", ".")):
            return self.name
        # Symbolic links are not resolved: the link's name is the name the user chose.
        path = Path(os.path.abspath(self.name))  # noqa: PTH100  # unlike Path.absolute, without `..`
        if path.parent.name == "snapshots":
            # A commit in the hub's cache.
            return path.parts[-3].removeprefix("models--").replace("--", "/")
        return path.name

    @property
    def folder(self) -> Path | None:
        """The model's folder; None if it is not on this machine."""
        local = Path(self.name)
        return local.absolute() if local.is_dir() else _snapshot_of(self.name)

    @property
    def revision(self) -> str:
        """The hub's commit, or a digest of the folder's weights and settings; empty if the model is not found."""
        folder = self.folder
        if folder is None:
            return ""
        return _digest_of(folder) if folder == Path(self.name).absolute() else folder.name

    def missing(self) -> str:
        """Instructions to install or download what is missing, or an empty text."""
        if not all(map(importlib.util.find_spec, ("torch", "sentence_transformers"))):
            # In that order: the second alone would install torch's GPU packages, several GB.
            install = "pip install torch==2.13.0, then pip install -r requirements-dense.txt"
            return f"First: {install}; in a checkout: make dense."
        if self.folder is not None:
            return ""
        what = f"{self.name} is neither a local folder nor a model in the Hugging Face cache"
        return f"{what}; Goldspan downloads no models. First: hf download {self.name}"

    def prefix(self, kind: TextKind) -> str:
        """The prefix of texts of this kind: the given one, or that of the model's own settings."""
        given = self.query_prefix if kind == "query" else self.document_prefix
        if given is not None:
            return given
        file = (self.folder or Path()) / "config_sentence_transformers.json"
        prompts = json.loads(file.read_text(encoding="utf-8")).get("prompts") if file.is_file() else None
        return str((prompts or {}).get(kind) or "")

    def identity(self, **settings: object) -> str:
        """A text that differs between models, revisions and settings, and so identifies their vectors."""
        # The alias does not change the vectors.
        own = {"model": replace(self, alias="").shown, "revision": self.revision}
        return canonical_json({**own, "dtype": self.dtype, "pooling": self.pooling, **settings})

    def maker(self, kind: TextKind) -> str:
        """The identity of the vectors of queries or documents."""
        return self.identity(prefix=self.prefix(kind), cut=CUT[kind], max_length=self.max_length)

    def embed(self, kind: TextKind, texts: Sequence[str]) -> Made:
        """The vectors of queries or documents; models that differ in prefixes are loaded once."""
        encoder = encoder_of(replace(self, query_prefix=None, document_prefix=None))
        return encoder.vectors(texts, self.prefix(kind), CUT[kind])

    def vectors(self, kind: TextKind, store: VectorStore, texts: Iterable[str]) -> tuple[list[str], KeyedVectors]:
        """The keys and the vectors of texts; vectors missing from the lake are computed and stored."""
        every = [(key_of(text), text) for text in texts]
        return [key for key, _ in every], store.get(self.maker(kind), dict(every), partial(self.embed, kind))


@cache
def _snapshot_of(name: str) -> Path | None:
    # Imported when needed: it is slow to import.
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    try:
        return Path(snapshot_download(name, local_files_only=True))
    except (HFValidationError, LocalEntryNotFoundError):
        return None


@cache
def _digest_of(folder: Path) -> str:
    # Weights, settings and vocabularies; other files in a model's folder do not affect its vectors.
    counted = (".bin", ".jinja", ".json", ".model", ".pt", ".safetensors", ".txt")
    paths = [path for path in folder.rglob("*") if path.suffix in counted and path.is_file()]
    files = sorted((path.relative_to(folder).as_posix(), path) for path in paths)
    return fingerprint([(name, sha256_of_file(path)) for name, path in files])


class Encoder:
    """A loaded model, on the GPU if there is one: a cross-encoder scores pairs of texts, other models give vectors."""

    def __init__(self, model: Model, *, is_cross: bool = False) -> None:
        # Imported when needed: importing them takes seconds.
        import torch
        from sentence_transformers import CrossEncoder, SentenceTransformer
        from sentence_transformers.base.modules import Transformer
        from sentence_transformers.sentence_transformer.modules import Pooling
        from transformers.utils import logging

        logging.disable_progress_bar()
        if THREADS in os.environ:
            # Each of several processes on this machine uses its share of the cores.
            torch.set_num_threads(int(os.environ[THREADS]))
        folder, dtype = str(model.folder), {"dtype": model.dtype}
        self.network: SentenceTransformer | CrossEncoder
        try:
            if is_cross:
                self.network = CrossEncoder(folder, local_files_only=True, model_kwargs=dtype)
            elif not model.pooling:
                self.network = SentenceTransformer(folder, local_files_only=True, model_kwargs=dtype)
            else:
                transformer = Transformer(folder, model_kwargs={**dtype, "local_files_only": True})
                pooling = Pooling(transformer.get_embedding_dimension(), pooling_mode=model.pooling)
                self.network = SentenceTransformer(modules=[transformer, pooling])
            tokenizer = self.network.tokenizer
            takes = getattr(self.network.transformers_model.config, "max_position_embeddings", None) or 1 << 20
            if not getattr(tokenizer, "is_fast", False):
                raise ValueError("it has no fast tokenizer")
            if (model.max_length or 0) > takes:
                raise ValueError(f"max_length={model.max_length} is over its limit of {takes:,} tokens")
        except (OSError, ValueError, KeyError, RuntimeError) as error:
            message = f"the model {model.name} cannot be used: {type(error).__name__}: {error}".splitlines()[0]
            raise GoldspanError(message, where=folder, code=Exit.INVALID) from error
        self.network.eval()
        if model.marks:
            known = [mark for mark in model.marks if tokenizer.convert_tokens_to_ids(mark) is not None]
            tokenizer.add_tokens(known, special_tokens=True)
        tokenizer.model_max_length = model.max_length or min(tokenizer.model_max_length, takes)
        self._room = tokenizer.model_max_length - tokenizer.num_special_tokens_to_add(pair=is_cross)

    def vectors(self, texts: Sequence[str], prefix: str, cut: Literal["left", "right"]) -> Made:
        """The vectors of texts with a prefix; texts that are too long are cut on side `cut`, the prefix never is."""
        n_prefix = len(self._tokens([prefix])[0])
        tokens = self._tokens([prefix + text for text in texts])
        n_cut = [max(0, len(of_text) - self._room) for of_text in tokens]
        if cut == "left" and prefix:
            texts = [
                _ending(text, self._tokens([text])[0], self._room - n_prefix) if n else text
                for text, n in zip(texts, n_cut, strict=True)
            ]
        self.network.tokenizer.truncation_side = cut
        matrix = self.network.encode(list(texts), prompt=prefix, show_progress_bar=False)
        return np.asarray(matrix, np.float32), n_cut

    def scores(self, pairs: Sequence[tuple[str, str]]) -> Made:
        """The scores of (query, document) pairs; a long query gets half the room, or what the document leaves."""
        queries, documents = (self._tokens([pair[side] for pair in pairs]) for side in (0, 1))
        length = [len(query) + len(document) for query, document in zip(queries, documents, strict=True)]
        short = [
            (_ending(query, tokens, max(self._room // 2, self._room - len(document))), text)
            for (query, text), tokens, document in zip(pairs, queries, documents, strict=True)
        ]
        self.network.tokenizer.truncation_side = "right"
        # Only the order of scores matters, so they are not mapped to 0 to 1.
        scores = self.network.predict(short, show_progress_bar=False, activation_fn=lambda scores: scores)
        return np.reshape(scores, (len(pairs), -1)).astype(np.float32), [max(0, n - self._room) for n in length]

    def _tokens(self, texts: Sequence[str]) -> Sequence[Encoding]:
        tokens = self.network.tokenizer(list(texts), add_special_tokens=False, verbose=False)
        encodings: Sequence[Encoding] = tokens.encodings
        return encodings


def _ending(text: str, tokens: Encoding, n: int) -> str:
    """The end of a text of at most `n` tokens, starting at the beginning of a word."""
    if len(tokens) <= n:
        return text
    word = tokens.word_ids
    begins = next((k for k in range(len(tokens) - n, len(tokens)) if word[k] != word[k - 1]), None)
    return "" if begins is None else text[tokens.offsets[begins - 1][1] :]


@cache
def encoder_of(model: Model, *, is_cross: bool = False) -> Encoder:
    """A loaded model, cached per process."""
    if why := model.missing():
        raise GoldspanError(f"the model {model.name} cannot run here", hint=why, code=Exit.MISSING)
    return Encoder(model, is_cross=is_cross)
