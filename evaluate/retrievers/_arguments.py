"""Arguments behind a retriever's name: what `bm25-code:k1=1.2` and `hybrid:tfidf:symbols` mean."""

from __future__ import annotations

from evaluate.retrievers import Retriever, retrievers
from lake.errors import Exit, GoldspanError, unknown_name


def called(name: str) -> Retriever:
    """The retriever that `name` or `name:arguments` means.

    Raises:
        GoldspanError: No retriever is called so, or it takes no such arguments.
    """
    head, colon, arguments = name.partition(":")
    found = retrievers().get(head)
    if found is None:
        raise unknown_name(head, "retriever", retrievers())
    if not colon:
        return found
    if found.with_arguments is None:
        message = f"retriever {head!r} takes no arguments, and {arguments!r} is behind it"
        raise GoldspanError(message, hint=f"Write {head}.", code=Exit.USAGE)
    return found.with_arguments(arguments)


def component(caller: str, name: str) -> Retriever:
    """The retriever that another one calls by a name.

    Raises:
        GoldspanError: There is none, or it ranks by the gold or stands for every order: no ranking to build on.
    """
    found = called(name)
    if found.needs == "gold" or found.is_chance:
        message = f"retriever {caller!r} cannot call {name!r}, which is no way to search"
        raise GoldspanError(message, hint=f"Write {caller}:bm25-okapi, for example.", code=Exit.USAGE)
    return found


def numbers_in(retriever: str, arguments: str, **defaults: float) -> dict[str, float]:
    """Numbers written as `k1=1.2:b=0.75`; what is not written has its default.

    Args:
        retriever: Whose arguments, for the message.
        arguments: What is behind the name and its colon.
        **defaults: Every number that may be written.

    Raises:
        GoldspanError: A part is no `name=number` of these, is there twice, or is negative or not finite.
    """
    numbers: dict[str, float] = {}
    for part in arguments.split(":"):
        name, _, text = part.partition("=")
        try:
            number = float(text)
        except ValueError:
            number = -1.0
        if name not in defaults or name in numbers or not 0 <= number < float("inf"):
            usage = "".join(f":{known}={value:g}" for known, value in defaults.items())
            message = f"retriever {retriever!r} takes no argument {part!r}"
            raise GoldspanError(message, hint=f"Write {retriever}{usage}, or leave some out.", code=Exit.USAGE)
        numbers[name] = number
    return {**defaults, **numbers}
