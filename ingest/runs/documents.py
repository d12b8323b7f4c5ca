"""Document ids as people write them, turned once into a path and 0-based, half-open lines."""

from __future__ import annotations

from collections.abc import Mapping

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
    of_symbol = pl.coalesce("path_given", "document").str.extract_groups(_SYMBOL)
    parsed = parsed.with_columns(file=of_symbol.struct.field("1"), symbol=of_symbol.struct.field("2"))
    # Numbers that no Int64 holds are null here.
    unread = pl.col("first").is_null() | pl.col("last").is_null()
    fault = _first_fault({
        "it is empty": document == "",
        "it holds a control character": document.str.contains(_CONTROL),
        "its line numbers are too large": is_range & unread,
        "lines are counted from 1": is_range & ((pl.col("first") < 1) | (pl.col("last") < 1)),
        "its range is reversed": is_range & (pl.col("last") < pl.col("first")),
        "its range is not #L10 or #L10-L20": ~is_range & document.str.contains(_ALMOST_A_RANGE),
        "of several chunks with the same lines the second is .2": pl.col("nth") < 2,
        "it names lines and a definition": is_range & symbol.is_not_null(),
        "it is not path::Qualified.name": (symbol == "") | (pl.col("file") == ""),
    })  # fmt: skip
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
    fault = _first_fault({
        "the path is empty": path == "",
        "the path holds a control character": path.str.contains(_CONTROL),
        "one of line_start and line_end is missing": start.is_null() != end.is_null(),
        "lines are counted from 0 here": (start < 0) | (end < 0),
        "the range is reversed": end < start,
    })  # fmt: skip
    return spans.with_columns(fault=fault)


def _first_fault(faults: Mapping[str, pl.Expr]) -> pl.Expr:
    """The first of some faults that a row has; null where it has none."""
    return pl.coalesce(pl.when(is_so).then(pl.lit(fault)) for fault, is_so in faults.items())


def written() -> pl.Expr:
    """A span as people write it, for messages: `path#L10-L20`."""
    lines = pl.format("#L{}-L{}", pl.col("line_start") + 1, pl.col("line_end"))
    return pl.concat_str("path_given", lines.fill_null(""))
