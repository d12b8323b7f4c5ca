"""Document ids as people write them, turned once into a path and 0-based, half-open lines."""

from __future__ import annotations

import polars as pl

_RANGE = r"^(.+)#L([0-9]+)(?:-L([0-9]+))?(?:\.([0-9]{1,9}))?$"
_ALMOST_A_RANGE = r"#L[0-9-][^/]*$"
_SYMBOL = r"^(.*?)::(.*)$"
_CONTROL = r"[\x00-\x1f\x7f]"

HELP = (
    "A document is path#L10-L20 (both included, counted from 1), path#L10, path (the whole file), path::Qualified.name "
    "or cand:3; of several chunks with the same lines the second is path#L10-L10.2."
)


def spans_of(documents: pl.DataFrame) -> pl.DataFrame:
    """Documents as spans, or why they are none.

    Args:
        documents: document, and whatever goes with it.

    Returns:
        The same with path_given, symbol (the definition that is named; null for none), line_start, line_end (null for a
        whole file and for a definition), nth (which of the chunks with these lines; null for the first) and `fault`,
        null where there is none.
    """
    document, symbol = pl.col("document"), pl.col("symbol")
    groups = document.str.extract_groups(_RANGE)
    first, last = (groups.struct.field(number).cast(pl.Int64, strict=False) for number in ("2", "3"))
    is_range = pl.col("path_given").is_not_null()
    nth = groups.struct.field("4").cast(pl.Int64)
    ends = pl.when(groups.struct.field("3").is_null()).then(first).otherwise(last)
    parsed = documents.with_columns(groups.struct.field("1").alias("path_given"), first=first, last=ends, nth=nth)
    named = pl.coalesce("path_given", "document").str.extract_groups(_SYMBOL)
    parsed = parsed.with_columns(file=named.struct.field("1"), symbol=named.struct.field("2"))
    # Numbers that no Int64 holds are null here.
    unread = pl.col("first").is_null() | pl.col("last").is_null()
    fault = (
        pl.when(document == "")
        .then(pl.lit("it is empty"))
        .when(document.str.contains(_CONTROL))
        .then(pl.lit("it holds a control character"))
        .when(is_range & unread)
        .then(pl.lit("its line numbers are too large"))
        .when(is_range & ((pl.col("first") < 1) | (pl.col("last") < 1)))
        .then(pl.lit("lines are counted from 1"))
        .when(is_range & (pl.col("last") < pl.col("first")))
        .then(pl.lit("its range is reversed"))
        .when(~is_range & document.str.contains(_ALMOST_A_RANGE))
        .then(pl.lit("its range is not #L10 or #L10-L20"))
        .when(pl.col("nth") < 2)
        .then(pl.lit("of several chunks with the same lines the second is .2"))
        .when(is_range & symbol.is_not_null())
        .then(pl.lit("it names lines and a definition"))
        .when((symbol == "") | (pl.col("file") == ""))
        .then(pl.lit("it is not path::Qualified.name"))
    )
    return parsed.with_columns(fault=fault).select(
        *documents.columns,
        pl.coalesce("path_given", "file", "document").alias("path_given"),
        # As the lake has it, whatever the language writes between the names.
        symbol.str.replace_all("::", ".", literal=True),
        (pl.col("first") - 1).alias("line_start"),
        pl.col("last").alias("line_end"),
        "nth",
        "fault",
    )


def faults_of(spans: pl.DataFrame) -> pl.DataFrame:
    """The same for spans given in columns of their own.

    Args:
        spans: path_given, line_start, line_end (0-based, half-open; both null for a whole file).

    Returns:
        The same with `fault`, null where there is none.
    """
    path, start, end = pl.col("path_given"), pl.col("line_start"), pl.col("line_end")
    fault = (
        pl.when(path == "")
        .then(pl.lit("the path is empty"))
        .when(path.str.contains(_CONTROL))
        .then(pl.lit("the path holds a control character"))
        .when(start.is_null() != end.is_null())
        .then(pl.lit("one of line_start and line_end is missing"))
        .when((start < 0) | (end < 0))
        .then(pl.lit("lines are counted from 0 here"))
        .when(end < start)
        .then(pl.lit("the range is reversed"))
    )
    return spans.with_columns(fault=fault)


def written() -> pl.Expr:
    """A span as people write it, for messages: `path#L10-L20`."""
    lines = pl.format("#L{}-L{}", pl.col("line_start") + 1, pl.col("line_end"))
    return pl.concat_str(pl.col("path_given").cast(pl.String), lines.fill_null(""))
