"""Query forms: what of a query's text a retriever sees. A system takes one behind `~`: `syntax-1500+tfidf~title`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import polars as pl

from lake.text import is_blank, split_lines


@dataclass(frozen=True)
class QueryForm:
    """A part of a query's text, or another text made from it.

    Attributes:
        name: What stands behind `~` in a system's name.
        meaning: What is left of the text, in a sentence that reads well on a page.
        rewrite: `rewrite(text, language)` → what the retriever is given; of a text that holds nothing of the kind that
            is left, an empty one.
    """

    name: str
    meaning: str
    rewrite: Callable[[str, str], str]


def last_lines(text: str, _: str) -> str:
    """The last three lines with their ends; a newline at the end of the text begins no line."""
    return "".join(split_lines(text)[-3:])


def first_line(text: str, _: str) -> str:
    """The first line that is not blank."""
    return next((line.rstrip("\r\n") for line in split_lines(text) if not is_blank(line)), "")


QUERY_FORMS: Mapping[str, QueryForm] = {
    form.name: form
    for form in (
        QueryForm("last-3-lines", "The last three lines of the query.", last_lines),
        QueryForm("title", "The first line of the query that is not blank: an issue's title.", first_line),
    )
}
"""Every query form by its name."""


def rewritten(queries: pl.DataFrame, form: str) -> pl.DataFrame:
    """Queries as a form leaves them.

    Args:
        queries: `text` and `language` (null where a benchmark has none), beside any other columns.
        form: The name of a query form; empty for the queries as they are.
    """
    if not form:
        return queries
    rewrite = QUERY_FORMS[form].rewrite
    rows = queries.select("text", pl.col("language").fill_null("")).iter_rows()
    return queries.with_columns(text=pl.Series([rewrite(text, language) for text, language in rows], dtype=pl.String))
