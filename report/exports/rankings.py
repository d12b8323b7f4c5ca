"""A run's rankings as other tools read them: TREC's lines, and the JSON of ranx and pytrec_eval."""

from __future__ import annotations

import json

import polars as pl

from lake.errors import Exit, GoldspanError


def trec(rows: pl.DataFrame) -> bytes:
    """Six columns: query, Q0, document, rank, score, run; a document is `path#L10-L20`, lines as people count them."""
    # A space would end the column.
    texts = [
        pl.col(name).str.replace_all("%", "%25", literal=True).str.replace_all(r"\s", "%20")
        for name in ("item_id", "document", "run_id")
    ]
    item, doc, run = texts
    lines = _ranked(rows).select(pl.format("{} Q0 {} {} {} {}", item, doc, "rank", "falling", run)).to_series()
    return "".join(f"{line}\n" for line in lines).encode()


def ranx(rows: pl.DataFrame) -> bytes:
    """`{query: {document: score}}`, best first."""
    lists = _ranked(rows).group_by("item_id", maintain_order=True).agg("document", "falling")
    found = {item: dict(zip(documents, scores, strict=True)) for item, documents, scores in lists.iter_rows()}
    return (json.dumps(found, ensure_ascii=False) + "\n").encode()


def _ranked(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows of rankings, with `document` and `falling`.

    trec_eval orders by the score alone and breaks ties its own way, so the score written falls with the rank.
    """
    document = pl.format("{}#L{}-L{}", pl.col("path"), pl.col("line_start") + 1, pl.col("line_end"))
    kept = rows.filter(pl.col("part") == "ranking", pl.col("path").is_not_null())
    if not kept.height:
        message = "the run has no ranking to write"
        raise GoldspanError(message, hint="Trajectories have no single ranking; use csv.", code=Exit.MISSING)
    return kept.with_columns(
        pl.when(pl.col("line_start").is_null()).then("path").otherwise(document).alias("document"),
        (pl.col("rank").max().over("item_id") + 1 - pl.col("rank")).alias("falling"),
    )
