"""Dense retrieval: the cosine of vectors that a sentence-transformers model makes of queries and chunks.

The vectors of one text differ in the last bits between machines and with the texts beside it in a batch, so rankings of
two machines may differ where chunks are all but equally near; the lake keeps every vector that it has ranked by.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice
from pathlib import Path

import polars as pl

from evaluate.embedding.kept import PART, Side, key_of
from evaluate.embedding.models import Model
from evaluate.retrievers import Index, Material, Pool, Retriever
from evaluate.retrievers._arguments import settings_in
from evaluate.retrievers.cosine import cosine_index
from lake.errors import Exit, GoldspanError

SLAB = 16_384
"""How many texts are sorted by length together: so many stand in memory, and hardly a batch mixes lengths."""

ARGUMENTS = ("dtype", "max_length", "pooling", "query_prefix", "document_prefix")


@dataclass(frozen=True)
class Dense:
    """A model, and what it is told.

    Attributes:
        model: The model.
        query_prefix: What is written before a query; None for what the model says itself.
        document_prefix: Likewise before a chunk.
        max_length: How many tokens it is given at most; None for as many as it says itself.
    """

    model: Model
    query_prefix: str | None = None
    document_prefix: str | None = None
    max_length: int | None = None

    @property
    def queries(self) -> Side:
        """Queries: a prompt's end is what is to be continued, so a long one is cut from the left."""
        own = self.model.prompt("query") if self.query_prefix is None else self.query_prefix
        return Side(self.model, own, "left", self.max_length)

    @property
    def documents(self) -> Side:
        """Chunks: a long one is cut from the right."""
        own = self.model.prompt("document") if self.document_prefix is None else self.document_prefix
        return Side(self.model, own, "right", self.max_length)

    def told(self, text: str, retriever: str) -> Dense:
        """The same with arguments."""
        given = settings_in(retriever, text, ARGUMENTS)
        dtype, pooling = (given.pop(name, getattr(self.model, name)) for name in ("dtype", "pooling"))
        length = int(given.pop("max_length", 0)) or self.max_length
        return replace(self, model=replace(self.model, dtype=dtype, pooling=pooling), max_length=length, **given)


def index(dense: Dense, pool: Pool) -> Index:
    """The vectors of a pool's chunks, read from the lake; what has none yet is embedded."""
    store = pool.vectors_of_lake()
    return cosine_index(partial(dense.queries.vectors, store), *dense.documents.vectors(store, pool.text))


def prepare(dense: Dense, material: Material) -> dict[str, str]:
    """Embed all chunks and queries that have no vector yet, long ones first; how many were longer than the model takes.

    Different texts are counted: one that is there twice is embedded once.
    """
    sides = (("chunks", dense.documents), ("queries", dense.queries))
    return {f"{name} cut": _prepared(side, material, place) for place, (name, side) in enumerate(sides)}


def _prepared(side: Side, material: Material, place: int) -> str:
    store = material.vectors
    asked = {key_of(text) for texts in material.texts() for text in texts[place]}
    missing = asked - set(store.n_cut(side.maker)["key"])
    if missing:
        title = f"embedding {len(missing):,} texts by {Path(side.model.shown).name}"
        texts = _once((texts[place] for texts in material.texts()), set(missing))
        slabs = iter(lambda: dict(islice(texts, SLAB)), {})
        embedded = chain.from_iterable(side.embed(store, slab) for slab in slabs)
        for _ in material.track(embedded, title, total=-(-len(missing) // PART)):
            pass
    n_cut = store.n_cut(side.maker).filter(pl.col("key").is_in(list(asked)), pl.col("n_cut") > 0).height
    return f"{n_cut:,} of {len(asked):,}"


def _once(texts: Iterator[Sequence[str]], missing: set[str]) -> Iterator[tuple[str, str]]:
    """The missing texts with their keys, each once."""
    for text in chain.from_iterable(texts):
        if (key := key_of(text)) in missing:
            missing.discard(key)
            yield key, text


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
        arguments="".join(f":{one}=…" for one in ARGUMENTS),
        with_arguments=lambda text: _declared(f"{name}:{text}", title, dense.told(text, name), meaning, source),
    )


def _of_any_model(text: str) -> Retriever:
    name, colon, arguments = text.partition(":")
    if not name:
        raise GoldspanError("dense is by a model, and none is named", hint=_USAGE, code=Exit.USAGE)
    dense = Dense(Model(name)).told(arguments, f"dense:{name}")
    shown = dense.model.shown
    short = Path(shown).name
    return replace(
        _declared(f"dense:{shown}{colon}{arguments}", f"Dense ({short})", dense, MEANING.format(model=short)),
        arguments="",
        with_arguments=None,
    )


_USAGE = "Write dense:NAME, a folder of this machine or what the hub calls a model that is in its cache."

MEANING = (
    "The cosine of the vectors that the model {model} makes of the query and of a chunk. Long queries are cut from the "
    "left, long chunks from the right."
)

DENSE = Retriever(
    name="dense",
    title="Dense",
    meaning=MEANING.format(model="that is named behind the colon"),
    index=partial(index, Dense(Model(""))),
    runs="named",
    missing=lambda: _USAGE,
    arguments=f":NAME{''.join(f':{one}=…' for one in ARGUMENTS)}",
    with_arguments=_of_any_model,
)

_MODE = "<encoder-only></s>"

UNIXCODER = _declared(
    "unixcoder",
    "UniXcoder",
    Dense(Model("microsoft/unixcoder-base", "float32", "mean", ("<encoder-only>",)), _MODE, _MODE, 512),
    MEANING.format(model="UniXcoder, in its encoder-only mode,"),
    "microsoft/unixcoder-base; the mean of the tokens' vectors, as RepoBench has it",
)

CODEBERT = _declared(
    "codebert",
    "CodeBERT",
    Dense(Model("microsoft/codebert-base", "float32", "mean"), "", "", 512),
    MEANING.format(model="CodeBERT"),
    "microsoft/codebert-base; the mean of the tokens' vectors, as RepoBench has it",
)
