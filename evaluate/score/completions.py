"""Completions beside their targets: what exact match and edit similarity are read from."""

from __future__ import annotations

import numpy as np
import polars as pl
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cpdist

_LINE_END = "[\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]"
"""What `str.splitlines` takes for the end of a line, beside \\n."""

_WHITE_SPACE = (
    "\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
"""What `str.strip` strips."""


def completion_similarity(cases: pl.LazyFrame) -> pl.LazyFrame:
    """How near each completion comes to its target, as columns is_exact and similarity.

    Both are taken as their lines, stripped, blank ones left out; a completion is cut to as many lines as the target has
    (RepoCoder's compute_score). What ends a line and what is stripped is what Python's `splitlines` and `strip` say.
    """
    texts = (
        cases.with_columns(target=_lines(pl.col("target_text")), said=_lines(pl.col("completion")))
        .with_columns(pl.col("said").list.head(pl.col("target").list.len()))
        .with_columns(pl.col("target", "said").list.join("\n"))
        .collect()
    )
    similarity = cpdist(
        texts["said"].fill_null("").to_list(),
        texts["target"].fill_null("").to_list(),
        scorer=Levenshtein.normalized_similarity,
        dtype=np.float64,
    )
    return (
        texts.lazy()
        .with_columns(
            is_exact=(pl.col("said") == pl.col("target")).fill_null(value=False),
            similarity=pl.when(pl.col("completion").is_not_null()).then(pl.Series(similarity)).otherwise(0.0),
        )
        .drop("target", "said")
    )


def _lines(text: pl.Expr) -> pl.Expr:
    # Two ends for one, as of \r\n, make a blank line more, and those are left out.
    lines = text.str.replace_all(_LINE_END, "\n").str.split("\n")
    stripped = lines.list.eval(pl.element().str.strip_chars(_WHITE_SPACE))
    return stripped.list.eval(pl.element().filter(pl.element() != ""))
