"""Query forms: the part of a query that a retriever sees. A system names one after `~`: `syntax-1500+tfidf~title`."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import polars as pl

from lake.import_statements import without_imports
from lake.offsets import split_lines
from lake.text import is_blank

_LONG = r"(?:[rRbBuUfF]{0,2}(?:\"{3}(?s:\\.|.)*?(?:\"{3}|\Z)|'{3}(?s:\\.|.)*?(?:'{3}|\Z)))"
_TEXT = r"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'"
_LETTER = r"\"(?:\\.|[^\"\\\n])*\"|'(?:\\[^'\n]+|[^'\\\n])'"
_SLASHES = r"//[^\n]*|/\*(?s:.)*?(?:\*/|\Z)"
_BACKTICKS = r"`(?s:\\.|[^`\\])*`"
_COMMENTS: Mapping[str, re.Pattern[str]] = {
    # Whole strings are matched too, so that text inside a string is not taken for a comment.
    language: re.compile(rf"(?:{strings})|[ \t]*(?P<comment>{comments})")
    for languages, strings, comments in (
        ("python ruby", f"{_LONG}|{_TEXT}", r"\#[^\n]*"),
        ("javascript typescript tsx", f"{_BACKTICKS}|{_TEXT}", _SLASHES),
        ("java csharp kotlin scala swift", f"{_LONG}|{_LETTER}", _SLASHES),
        ("c cpp rust", _LETTER, _SLASHES),
        ("go", f"{_BACKTICKS}|{_LETTER}", _SLASHES),
        ("php", _TEXT, rf"{_SLASHES}|\#(?!\[)[^\n]*"),
    )
    for language in languages.split()
}


@dataclass(frozen=True)
class QueryForm:
    """A part of a query's text: `rewrite(text, language)` → the text for the retriever."""

    name: str
    meaning: str
    rewrite: Callable[[str, str], str]


def last_lines(text: str, _: str) -> str:
    """The last three lines with their line ends; a newline at the end of the text starts no line."""
    return "".join(split_lines(text)[-3:])


def first_line(text: str, _: str) -> str:
    """The first line that is not blank."""
    return next((line.rstrip("\r\n") for line in split_lines(text) if not is_blank(line)), "")


def without_comments(text: str, language: str) -> str:
    """The text without comments; unchanged if the language's comments are not known. Docstrings are no comments."""
    lexer = _COMMENTS.get(language)
    return text if lexer is None else lexer.sub(lambda match: "" if match["comment"] else match[0], text)


QUERY_FORMS: Mapping[str, QueryForm] = {
    form.name: form
    for form in (
        QueryForm("last-3-lines", "The last three lines of the query.", last_lines),
        QueryForm("no-imports", "The query without its import statements.", without_imports),
        QueryForm("no-comments", "The query without its comments; docstrings stay.", without_comments),
        QueryForm("title", "The first line of the query that is not blank: an issue's title.", first_line),
    )
}


def rewritten(queries: pl.DataFrame, form: str) -> pl.DataFrame:
    """Queries (`text`, `language`, any other columns) with their text in the form called `form`; unchanged if empty."""
    if not form:
        return queries
    rewrite = QUERY_FORMS[form].rewrite
    rows = queries.select("text", pl.col("language").fill_null("")).iter_rows()
    return queries.with_columns(text=pl.Series([rewrite(text, language) for text, language in rows], dtype=pl.String))
