"""A run's rankings and what is relevant to its items as other tools read them: lines, tables, the JSON of ranx."""

from __future__ import annotations

import json

import polars as pl

from lake.errors import Exit, GoldspanError


def trec(ranking: pl.DataFrame) -> bytes:
    """Six columns of a ranking, as :attr:`ExportedRun.ranking` gives it: query, Q0, document, rank, score, run."""
    item, document, name = map(_column, ("item_id", "document", "run_id"))
    return _lines(_falling(ranking), pl.format("{} Q0 {} {} {} {}", item, document, "rank", "falling", name))


def qrels(rows: pl.DataFrame) -> bytes:
    """Four columns: query, 0, document, grade; of item_id, document and grade."""
    return _lines(rows, pl.format("{} 0 {} {}", _column("item_id"), _column("document"), "grade"))


def ranx(ranking: pl.DataFrame) -> bytes:
    """`{query: {document: score}}`, best first."""
    lists = _falling(ranking).group_by("item_id", maintain_order=True).agg("document", "falling")
    found = {item: dict(zip(documents, scores, strict=True)) for item, documents, scores in lists.iter_rows()}
    return (json.dumps(found, ensure_ascii=False) + "\n").encode()


def tsv(ranking: pl.DataFrame) -> bytes:
    """Tab-separated columns under a header: item_id, document, rank, score."""
    return _table(ranking, item_id="item_id", document="document", rank="rank", score="falling")


def beir_results(ranking: pl.DataFrame) -> bytes:
    """BEIR's table of results: query-id, corpus-id, score."""
    return _table(ranking, **{"query-id": "item_id", "corpus-id": "document", "score": "falling"})


def answers(ranking: pl.DataFrame) -> bytes:
    """JSON Lines as programs answer them: id, and results with path, start and end (from 1, inclusive) and score."""
    has_lines = pl.col("line_end") > pl.col("line_start")
    span = pl.when(has_lines).then(pl.col("line_start") + 1).alias("start"), pl.when(has_lines).then("line_end")
    results = pl.struct("path", *span, score="falling").alias("results")
    lists = _falling(ranking).group_by("item_id", maintain_order=True).agg(results.struct.rename_fields(_RESULT))
    return lists.rename({"item_id": "id"}).write_ndjson().encode()


_RESULT = ["path", "start", "end", "score"]


def _table(ranking: pl.DataFrame, **columns: str) -> bytes:
    named = _falling(ranking).select(pl.col(column).alias(name) for name, column in columns.items())
    return named.write_csv(separator="\t", quote_style="never").encode()


def _falling(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows of a ranking with `falling`.

    trec_eval orders by the score alone and breaks ties its own way, so the score written falls with the rank.

    Raises:
        GoldspanError: There is none.
    """
    if rows.is_empty():
        message = "the run has no ranking to write"
        raise GoldspanError(message, hint="Trajectories have no single ranking; use csv.", code=Exit.MISSING)
    return rows.with_columns(falling=pl.col("rank").max().over("item_id") + 1 - pl.col("rank"))


def _column(name: str) -> pl.Expr:
    # A space would end the column.
    return pl.col(name).str.replace_all("%", "%25", literal=True).str.replace_all(r"\s", "%20")


def _lines(rows: pl.DataFrame, line: pl.Expr) -> bytes:
    return "".join(f"{text}\n" for text in rows.select(line).to_series()).encode()
