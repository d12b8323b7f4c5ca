"""Dense retrieval: the cosine of vectors that a sentence-transformers model makes of queries and chunks.

The vectors of one text differ in the last bits between machines and with the texts beside it in a batch, so rankings of
two machines may differ where chunks are all but equally near; the lake keeps every vector that it has ranked by.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Literal

import polars as pl

from evaluate.embedding.models import Model, TextKind, encoder_of
from evaluate.embedding.vectors import TEXTS_PER_PART, KeyedVectors, Made, VectorStore, key_of
from evaluate.retrievers import Index, Pool, Retriever, RunTexts, TrackSteps
from evaluate.retrievers._arguments import settings_in
from evaluate.retrievers.cosine import cosine_index
from lake.errors import Exit, GoldspanError
from lake.text import counted

CUT: Mapping[TextKind, Literal["left", "right"]] = {"query": "left", "document": "right"}
"""The side from which what is too long is cut: a prompt's end is what is to be continued."""

ARGUMENTS = ("dtype", "max_length", "pooling", "query_prefix", "document_prefix")


@dataclass(frozen=True)
class Dense:
    """A model, what is written before queries and chunks, and how many tokens it is given; None: as it says itself."""

    model: Model
    query_prefix: str | None = None
    document_prefix: str | None = None
    max_length: int | None = None

    def prefix(self, kind: TextKind) -> str:
        """What is written before queries or documents."""
        prefix = self.query_prefix if kind == "query" else self.document_prefix
        return self.model.prompt(kind) if prefix is None else prefix

    def maker(self, kind: TextKind) -> str:
        """What tells these vectors from all others of the same texts."""
        return self.model.identity(prefix=self.prefix(kind), cut=CUT[kind], max_length=self.max_length)

    def embed(self, kind: TextKind, texts: Sequence[str]) -> Made:
        """What the model makes of queries or documents."""
        return encoder_of(self.model, max_length=self.max_length).vectors(texts, self.prefix(kind), CUT[kind])

    def vectors(self, kind: TextKind, store: VectorStore, texts: Sequence[str]) -> tuple[list[str], KeyedVectors]:
        """The keys of texts, and the vectors of all: what the lake has none of is embedded."""
        keys = [key_of(text) for text in texts]
        by_key = dict(zip(keys, texts, strict=True))
        return keys, store.get(self.maker(kind), by_key, partial(self.embed, kind))

    def configured(self, text: str, retriever: str) -> Dense:
        """The same with arguments."""
        given = settings_in(retriever, text, ARGUMENTS)
        dtype, pooling = (given.pop(name, getattr(self.model, name)) for name in ("dtype", "pooling"))
        length = int(given.pop("max_length", 0)) or self.max_length
        return replace(self, model=replace(self.model, dtype=dtype, pooling=pooling), max_length=length, **given)


def index(dense: Dense, pool: Pool) -> Index:
    """The vectors of a pool's chunks."""
    store = pool.vectors_of_lake()
    return cosine_index(partial(dense.vectors, "query", store), *dense.vectors("document", store, pool.text))


def prepare(dense: Dense, store: VectorStore, run_texts: RunTexts, track: TrackSteps) -> dict[str, str]:
    """Embed all chunks and queries that have no vector yet; how many were longer than the model takes.

    Different texts are counted: one that is there twice is embedded once.
    """
    keys: dict[TextKind, set[str]] = {"document": set(), "query": set()}
    for part in run_texts():
        for (kind, of_run), texts in zip(keys.items(), part, strict=True):
            by_key, maker = {key_of(text): text for text in texts}, dense.maker(kind)
            of_run.update(by_key)
            stored = set(store.n_cut(maker)["key"])
            missing = {key: text for key, text in by_key.items() if key not in stored}
            title = f"embedding {counted(len(missing), 'text')} by {Path(dense.model.shown).name}"
            made = store.make(maker, missing, partial(dense.embed, kind))
            for _ in track(made, title, total=-(-len(missing) // TEXTS_PER_PART)):
                pass
    n_cut = {}
    names: Mapping[TextKind, str] = {"document": "chunks cut", "query": "queries cut"}
    for kind, name in names.items():
        are_cut = store.n_cut(dense.maker(kind)).filter(pl.col("key").is_in(list(keys[kind])), pl.col("n_cut") > 0)
        n_cut[name] = f"{are_cut.height:,} of {len(keys[kind]):,}"
    return n_cut


def _declared(name: str, title: str, dense: Dense, meaning: str, source: str = "") -> Retriever:
    model = dense.model
    settings = {"model": model.shown, "dtype": model.dtype, "pooling": model.pooling, "max_length": dense.max_length}
    prefixes = {"query_prefix": dense.query_prefix, "document_prefix": dense.document_prefix}
    return Retriever(
        name=name,
        title=title,
        meaning=meaning,
        index=partial(index, dense),
        source=source,
        parameters={key: value for key, value in {**settings, **prefixes}.items() if value not in (None, "")},
        runs="named",
        missing=model.missing,
        revision=partial(getattr, model, "revision"),
        prepare=partial(prepare, dense),
        arguments="".join(f":{name}=…" for name in ARGUMENTS),
        with_arguments=lambda text: _declared(f"{name}:{text}", title, dense.configured(text, name), meaning, source),
    )


def _of_any_model(text: str) -> Retriever:
    name, colon, arguments = text.partition(":")
    if not name:
        raise GoldspanError("dense is by a model, and none is named", hint=_USAGE, code=Exit.USAGE)
    alias, equals, path = name.partition("=")
    if equals and not Path(name).is_dir():
        if not _ALIAS.fullmatch(alias) or not path:
            what = f"dense:{name} does not name a model"
            raise GoldspanError(what, hint=_USAGE, code=Exit.USAGE)
        model = Model(path, alias=alias)
    else:
        model = Model(name)
    dense = Dense(model).configured(arguments, f"dense:{name}")
    shown = dense.model.shown
    short = Path(shown).name
    return replace(
        _declared(f"dense:{shown}{colon}{arguments}", f"Dense ({short})", dense, _MEANING.format(model=short)),
        arguments="",
        with_arguments=None,
    )


_USAGE = (
    "Write dense:NAME, a folder of this machine or what the hub calls a model that is in its cache; "
    "dense:NAME=FOLDER gives it a name of letters, digits, dots, dashes and underscores."
)
_ALIAS = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")

_MEANING = (
    "The cosine of the vectors that the model {model} makes of the query and of a chunk. Long queries are cut from the "
    "left, long chunks from the right."
)

DENSE = Retriever(
    name="dense",
    title="Dense",
    meaning=_MEANING.format(model="that is named behind the colon"),
    index=partial(index, Dense(Model(""))),
    runs="named",
    missing=lambda: _USAGE,
    arguments=f":NAME{''.join(f':{name}=…' for name in ARGUMENTS)}",
    with_arguments=_of_any_model,
)

_MODE = "<encoder-only></s>"

UNIXCODER = _declared(
    "unixcoder",
    "UniXcoder",
    Dense(Model("microsoft/unixcoder-base", "float32", "mean", ("<encoder-only>",)), _MODE, _MODE, 512),
    _MEANING.format(model="UniXcoder, in its encoder-only mode,"),
    "microsoft/unixcoder-base; the mean of the tokens' vectors, as RepoBench has it",
)

CODEBERT = _declared(
    "codebert",
    "CodeBERT",
    Dense(Model("microsoft/codebert-base", "float32", "mean"), "", "", 512),
    _MEANING.format(model="CodeBERT"),
    "microsoft/codebert-base; the mean of the tokens' vectors, as RepoBench has it",
)
