"""Dense retrieval by exact cosine similarity; the lake keeps the vectors, as a model gives others on other machines."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from evaluate.embedding.models import Model, TextKind
from evaluate.embedding.vectors import GIVEN, TEXTS_PER_PART, KeyedVectors, VectorStore, key_of
from evaluate.retrievers import Floats, Index, Pool, PoolScores, Queries, Retriever, RunTexts, TrackSteps, values_in
from lake.errors import Exit, GoldspanError
from lake.fingerprint import sha256_of
from lake.text import counted

BLOCK = 16_384
"""The number of vectors compared at once, which are held in double precision."""


def cosine_index(
    look_up: Callable[[Iterable[str]], tuple[Sequence[str], KeyedVectors]], keys: Sequence[str], chunks: KeyedVectors
) -> Index:
    """An index over chunks' vectors; `look_up` returns the keys of queries, and the vectors of those that have one."""
    column = {key: column for column, key in enumerate(sorted({*keys}))}
    matrix, columns = np.array([chunks[key] for key in column]), [column[key] for key in keys]

    def search(queries: Queries) -> PoolScores:
        """The cosine of every query and chunk; a query without a vector fails alone."""
        keys, vectors = look_up(queries.text)
        missing = {row: f"no vector for the query, key {key}" for row, key in enumerate(keys) if key not in vectors}
        of_queries = _unit(np.array([vectors.get(key, np.zeros(matrix.shape[1])) for key in keys], np.float64))
        blocks = range(0, len(matrix), BLOCK)
        cosines = [of_queries @ _unit(matrix[first : first + BLOCK].astype(np.float64)).T for first in blocks]
        return PoolScores(np.concatenate(cosines, axis=1)[:, columns], missing)

    return Index(search, int(matrix.nbytes))


def _unit(matrix: Floats) -> Floats:
    length = np.linalg.norm(matrix, axis=1, keepdims=True)
    unit: Floats = np.divide(matrix, length, out=np.zeros_like(matrix), where=length > 0)
    return unit


def text_key(text: str) -> str:
    """The first 16 hex digits of the sha256 of a text in UTF-8."""
    return sha256_of(text.encode())[:16]


def chunk_texts(pool: Pool) -> list[str]:
    r"""The text of each chunk as it is embedded: its lines joined by `\n`; a file's last chunk keeps the file's end."""
    ends_file = pool.line_end == pool.n_file_lines
    return [text if is_last else text.removesuffix("\n") for text, is_last in zip(pool.text, ends_file, strict=True)]


def given_vectors(pool: Pool) -> Index:
    """An index over vectors given to the lake; if any chunk lacks one, no query of the pool can be answered."""
    store = pool.vectors
    assert store is not None, "a pool of a lake"

    def look_up(texts: Iterable[str]) -> tuple[Sequence[str], KeyedVectors]:
        keys = [text_key(text) for text in texts]
        return keys, store.read(GIVEN, keys)

    keys, vectors = look_up(chunk_texts(pool))
    if missing := [key for key in keys if key not in vectors]:
        what = f"no vector for {len(missing):,} chunks, the first with key {missing[0]}"
        raise GoldspanError(f"{what}; give them with python -m evaluate --vectors FILE")
    return cosine_index(look_up, keys, vectors)


RECORDED = Retriever(
    name="recorded",
    title="Recorded vectors",
    meaning="The cosine of vectors that were made elsewhere and given to the lake, by the hash of the text. An item "
    "fails if its query or a chunk of its pool has no vector.",
    index=given_vectors,
    parameters={"key": "first 16 hex digits of sha256"},
    needs="vectors",
    runs="named",
)

_DTYPES = {"fp32": "float32", "bf16": "bfloat16", "fp16": "float16"}
_POOLINGS = ("cls", "max", "mean", "mean_sqrt_len_tokens", "weightedmean", "lasttoken")


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise ValueError
    return int(text)


_SETTINGS: Mapping[str, tuple[str, Callable[[str], str | int]]] = {
    "dtype": ("bf16", {**_DTYPES, **{name: name for name in _DTYPES.values()}}.__getitem__),
    "max_length": ("512", _count),
    "pooling": ("mean", {name: name for name in _POOLINGS}.__getitem__),
    "query_prefix": ("query%3A%20", str),
    "document_prefix": ("passage%3A%20", str),
    "model": ("NAME", str),
    "top": ("100", _count),
}
"""The settings of a model: an example value and a parser for each."""


ARGUMENTS = ("dtype", "max_length", "pooling", "query_prefix", "document_prefix")


def settings_in(retriever: str, text: str, names: Sequence[str] = ARGUMENTS) -> dict[str, Any]:
    """Settings parsed from `dtype=bf16:max_length=512`; empty for an empty text."""
    known = ", ".join(f"{name}={_SETTINGS[name][0]}" for name in names)
    hint = f"Arguments are {known}, separated by colons; in a value, write a space as %20 and a colon as %3A."
    return values_in(retriever, text, {name: _SETTINGS[name][1] for name in names}, hint) if text else {}


def embedded(model: Model, pool: Pool) -> Index:
    """An index over the vectors of a pool's chunks."""
    store = pool.vectors
    assert store is not None, "a pool of a lake"
    return cosine_index(partial(model.vectors, "query", store), *model.vectors("document", store, pool.text))


def prepare(model: Model, store: VectorStore, run_texts: RunTexts, track: TrackSteps) -> dict[str, str]:
    """Embed all chunks and queries that have no vector yet; return how many different ones the model cuts."""
    keys: dict[TextKind, set[str]] = {"document": set(), "query": set()}
    for part in run_texts():
        for (kind, of_run), texts in zip(keys.items(), part, strict=True):
            by_key, maker = {key_of(text): text for text in texts}, model.maker(kind)
            of_run.update(by_key)
            stored = set(store.n_cut(maker)["key"])
            missing = {key: text for key, text in by_key.items() if key not in stored}
            title = f"embedding {counted(len(missing), 'text')} by {Path(model.shown).name}"
            made = store.make(maker, missing, partial(model.embed, kind))
            for _ in track(made, title, total=-(-len(missing) // TEXTS_PER_PART)):
                pass
    n_cut = {}
    for kind, name in zip(keys, ("chunks cut", "queries cut"), strict=True):
        are_cut = store.n_cut(model.maker(kind)).filter(pl.col("key").is_in(list(keys[kind])), pl.col("n_cut") > 0)
        n_cut[name] = f"{are_cut.height:,} of {len(keys[kind]):,}"
    return n_cut


def _declared(name: str, title: str, model: Model, meaning: str, source: str = "") -> Retriever:
    settings = {"model": model.shown, **{name: getattr(model, name) for name in ARGUMENTS}}
    return Retriever(
        name=name,
        title=title,
        meaning=meaning,
        index=partial(embedded, model),
        source=source,
        parameters={key: value for key, value in settings.items() if value not in (None, "")},
        runs="named",
        missing=model.missing,
        revision=partial(getattr, model, "revision"),
        prepare=partial(prepare, model),
        arguments="".join(f":{name}=…" for name in ARGUMENTS),
        with_arguments=lambda text: _declared(
            f"{name}:{text}", title, replace(model, **settings_in(name, text)), meaning, source
        ),
    )


def _of_any_model(text: str) -> Retriever:
    name, colon, arguments = text.partition(":")
    alias, equals, path = name.partition("=")
    has_alias = bool(equals) and not Path(name).is_dir()
    if not name or (has_alias and not (_ALIAS.fullmatch(alias) and path)):
        raise GoldspanError(f"dense:{name} does not name a model", hint=_USAGE, code=Exit.USAGE)
    plain = Model(path, alias=alias) if has_alias else Model(name)
    model, short = replace(plain, **settings_in(f"dense:{name}", arguments)), Path(plain.shown).name
    title, meaning = f"Dense ({short})", _MEANING.format(model=short)
    return _declared(f"dense:{model.shown}{colon}{arguments}", title, model, meaning)


_USAGE = (
    "Write dense:NAME, where NAME is a local folder or a model in the Hugging Face cache; "
    "dense:NAME=FOLDER gives it another name (letters, digits, dots, dashes and underscores)."
)
_ALIAS = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")

_MEANING = (
    "The cosine of the embeddings of query and chunk by the model {model}. Long queries are cut at the start, long "
    "chunks at the end."
)

DENSE = Retriever(
    name="dense",
    title="Dense",
    meaning=_MEANING.format(model="named after the colon"),
    index=partial(embedded, Model("")),
    runs="named",
    missing=lambda: _USAGE,
    arguments=f":NAME{''.join(f':{name}=…' for name in ARGUMENTS)}",
    with_arguments=_of_any_model,
)

_MODE = "<encoder-only></s>"

UNIXCODER = _declared(
    "unixcoder",
    "UniXcoder",
    Model("microsoft/unixcoder-base", "float32", "mean", ("<encoder-only>",), "", _MODE, _MODE, 512),
    _MEANING.format(model="UniXcoder in its encoder-only mode"),
    "microsoft/unixcoder-base; the mean of the tokens' vectors, as in RepoBench",
)

CODEBERT = _declared(
    "codebert",
    "CodeBERT",
    Model("microsoft/codebert-base", "float32", "mean", (), "", "", "", 512),
    _MEANING.format(model="CodeBERT"),
    "microsoft/codebert-base; the mean of the tokens' vectors, as in RepoBench",
)
