"""Arguments behind a retriever's name: what `bm25-code:k1=1.2` and `hybrid:tfidf:symbols` mean."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar
from urllib.parse import unquote

from evaluate.retrievers import Retriever, retrievers
from lake.errors import Exit, GoldspanError, unknown_name

Value = TypeVar("Value")

_DTYPES = {"fp32": "float32", "bf16": "bfloat16", "fp16": "float16"}
_POOLINGS = ("cls", "max", "mean", "mean_sqrt_len_tokens", "weightedmean", "lasttoken")


def retriever_of_name(name: str) -> Retriever:
    """The retriever that `name` or `name:arguments` means."""
    head, colon, arguments = name.partition(":")
    retriever = retrievers().get(head)
    if retriever is None:
        raise unknown_name(head, "retriever", retrievers())
    if not colon:
        return retriever
    if retriever.with_arguments is None:
        message = f"retriever {head!r} takes no arguments, and {arguments!r} is behind it"
        raise GoldspanError(message, hint=f"Write {head}.", code=Exit.USAGE)
    return retriever.with_arguments(arguments)


def component(caller: str, name: str) -> Retriever:
    """The retriever that another one calls by a name: none that ranks by the gold or stands for every order."""
    retriever = retriever_of_name(name)
    if retriever.needs == "gold" or retriever.is_chance:
        message = f"retriever {caller!r} cannot call {name!r}, which is no way to search"
        raise GoldspanError(message, hint=f"Write {caller}:bm25-okapi, for example.", code=Exit.USAGE)
    return retriever


def number(text: str, most: float = math.inf) -> float:
    """A finite number that is not negative, and not above `most`; a ValueError where it is none."""
    value = float(text)
    if not 0 <= value <= most or math.isinf(value):
        raise ValueError
    return value


def _count(text: str) -> str:
    if not text.isdecimal() or int(text) == 0:
        raise ValueError
    return text


def values_in(retriever: str, text: str, readers: Mapping[str, Callable[[str], Value]], hint: str) -> dict[str, Value]:
    """Values written as `name=value`, each once, with colons between; what a name cannot hold is written `%20`.

    `readers` reads the value of every name that may be written; a ValueError or KeyError says that it is none.
    """
    values: dict[str, Value] = {}
    for part in text.split(":"):
        name, equals, value = part.partition("=")
        try:
            if name in values or not equals:
                raise ValueError
            values[name] = readers[name](unquote(value))
        except (KeyError, ValueError) as error:
            message = f"retriever {retriever!r} takes no argument {part!r}"
            raise GoldspanError(message, hint=hint, code=Exit.USAGE) from error
    return values


_SETTINGS: Mapping[str, tuple[str, Callable[[str], str]]] = {
    "dtype": ("bf16", {**_DTYPES, **{name: name for name in _DTYPES.values()}}.__getitem__),
    "max_length": ("512", _count),
    "pooling": ("mean", {name: name for name in _POOLINGS}.__getitem__),
    "query_prefix": ("query%3A%20", str),
    "document_prefix": ("passage%3A%20", str),
    "model": ("NAME", str),
    "top": ("100", _count),
}
"""What a model may be told: an example, and what reads it."""


def settings_in(retriever: str, text: str, names: Sequence[str]) -> dict[str, str]:
    """What a model is told, written as `dtype=bf16:max_length=512`; nothing where there is no text."""
    known = ", ".join(f"{name}={_SETTINGS[name][0]}" for name in names)
    hint = f"Arguments are {known}, with colons between; of a value, a space is %20, a colon %3A."
    return values_in(retriever, text, {name: _SETTINGS[name][1] for name in names}, hint) if text else {}
