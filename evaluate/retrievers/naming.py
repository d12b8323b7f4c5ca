"""Retrievers by their whole names: `bm25-code:k1=1.2:b=0.75~no-imports` is one of arguments and of a query form."""

from __future__ import annotations

from dataclasses import replace

from evaluate.query_forms import QUERY_FORMS
from evaluate.retrievers import BASELINE, Retriever, retrievers
from lake.errors import Exit, GoldspanError, unknown_name


def retriever_named(name: str) -> Retriever:
    """The retriever that a name means: `name`, `name:arguments`, either with `~query-form` behind it.

    Raises:
        GoldspanError: No retriever or query form is called so, or it takes no such arguments.
    """
    asked, tilde, form = name.partition("~")
    head, colon, arguments = asked.partition(":")
    found = retrievers().get(head)
    if found is None:
        kind = "retriever"
        raise unknown_name(kind, head, retrievers())
    if colon:
        if found.with_arguments is None:
            message = f"retriever {head!r} takes no arguments, and {arguments!r} is behind it"
            raise GoldspanError(message, hint=f"Write {head}.", code=Exit.USAGE)
        found = found.with_arguments(arguments)
    if found.runs == "always" and name != head:
        found = replace(found, runs="asked")
    return _asking(found, form) if tilde else found


def component_named(caller: str, name: str) -> Retriever:
    """The retriever that another one calls by a name.

    Raises:
        GoldspanError: There is none, or it ranks by the gold or stands for every order: no ranking to build on.
    """
    found = retriever_named(name)
    if found.needs == "gold" or found.is_chance:
        message = f"retriever {caller!r} cannot call {name!r}, which is no way to search"
        raise GoldspanError(message, hint=f"Write {caller}:bm25-okapi, for example.", code=Exit.USAGE)
    return found


def _asking(retriever: Retriever, name: str) -> Retriever:
    """A retriever that is asked a part of each query."""
    if name not in QUERY_FORMS:
        kind = "query form"
        raise unknown_name(kind, name, QUERY_FORMS)
    if BASELINE in retriever.tags:
        message = f"{retriever.name!r} looks at no word of a query, so {'~' + name!r} changes nothing"
        raise GoldspanError(message, hint=f"Write {retriever.name}.", code=Exit.USAGE)
    form = QUERY_FORMS[name]
    return replace(
        retriever,
        name=f"{retriever.name}~{name}",
        title=f"{retriever.title}, {name.replace('-', ' ')}",
        meaning=f"{retriever.meaning} Asked: {form.meaning[0].lower()}{form.meaning[1:]}",
        parameters={**retriever.parameters, "query form": name},
        query_form=name,
    )


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
