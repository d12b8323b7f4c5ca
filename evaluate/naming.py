"""Retrievers by their whole names: `bm25-code:k1=1.2:b=0.75~no-imports` is one of arguments and of a query form."""

from __future__ import annotations

from dataclasses import replace

from evaluate.retrievers import BASELINE, Retriever, retrievers
from evaluate.retrievers._arguments import called
from evaluate.texts.query_forms import QUERY_FORMS
from lake.errors import Exit, GoldspanError, lookup


def retriever_named(name: str) -> Retriever:
    """The retriever that a name means: `name`, `name:arguments`, either with `~query-form` behind it.

    Raises:
        GoldspanError: No retriever or query form is called so, or it takes no such arguments.
    """
    asked, tilde, form = name.partition("~")
    found = called(asked)
    if found.runs == "always" and name not in retrievers():
        found = replace(found, runs="asked")
    return _asking(found, form) if tilde else found


def _asking(retriever: Retriever, name: str) -> Retriever:
    """A retriever that is asked a part of each query."""
    form = lookup(name, "query form", QUERY_FORMS)
    if BASELINE in retriever.tags:
        message = f"{retriever.name!r} looks at no word of a query, so {'~' + name!r} changes nothing"
        raise GoldspanError(message, hint=f"Write {retriever.name}.", code=Exit.USAGE)
    return replace(
        retriever,
        name=f"{retriever.name}~{name}",
        title=f"{retriever.title}, {name.replace('-', ' ')}",
        meaning=f"{retriever.meaning} Asked: {form.meaning[0].lower()}{form.meaning[1:]}",
        parameters={**retriever.parameters, "query form": name},
        query_form=name,
    )
