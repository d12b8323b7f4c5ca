"""Imported completions as rows of the lake: each with the item whose hole it fills."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from ingest.runs.imported_runs import UNANSWERED, Imported, Tables, run_items
from ingest.runs.ranking_rows import refuse
from ingest.runs.request import AskedItems, ImportJob
from ingest.sources.input_file import InputFile

_HOLE = ["repo", "path", "line"]
_SHOWN = pl.format("{}/{}, line {} from 0", "repo", "path", "line")


def matched(
    input_file: InputFile, rows: pl.DataFrame, parts: Sequence[AskedItems]
) -> tuple[dict[str, pl.DataFrame], pl.DataFrame]:
    """Part of the items → the rows that fill its holes, with item_id; and the rows that answer none.

    One hole is asked about in several contexts: the part that most of the file's prompts fit is the one it answers, and
    within a part the item whose completion, context and prompt a row names.
    """
    holes = {part.name: _filled(rows, part) for part in parts}
    by_part: dict[str, pl.DataFrame] = {}
    rest = rows
    while holes:
        left = {part: frame.join(rest, on="position", how="semi") for part, frame in holes.items()}
        # How well a part's items fit the file: holes filled, contexts that start alike, prompts that are the same.
        fit = {part: (rows.height, rows["same_start"].sum(), rows["same_prompt"].sum()) for part, rows in left.items()}
        best = max(fit, key=lambda part: fit[part])
        if not left[best].height:
            break
        for other, value in fit.items():
            if other != best and value == fit[best] and left[other].join(left[best], on="position", how="semi").height:
                what = f"the completions answer {best} as well as {other}: nothing in them tells which"
                hint = "Give each row its prompt and context_start_lineno, or ingest one of the two alone."
                raise input_file.wrong(what=what, hint=hint)
        by_part[best] = left[best]
        answered = left[best].group_by("position", maintain_order=True).agg(pl.col(*_HOLE).first(), "item_id")
        several = answered.filter(pl.col("item_id").list.len() > 1)
        shown = pl.format("{}: {}", _SHOWN, pl.col("item_id").list.sort().list.join(" or "))
        hint = "Give each row its prompt, and the ground_truth and context_start_lineno of its task."
        refuse(input_file, several, "a row that answers several items", shown=shown, hint=hint)
        twice = left[best].filter(left[best].select("item_id").is_duplicated())
        refuse(input_file, twice, "a hole that is filled twice", shown=_SHOWN)
        rest = rest.join(left[best], on="position", how="anti")
        del holes[best]
    return by_part, rest


def _filled(rows: pl.DataFrame, part: AskedItems) -> pl.DataFrame:
    columns = {"repo": "repo", "path": "target_path", "line": "target_line", "wanted": "target_text"}
    items = part.items.select("item_id", "query_line_start", "query_sha256", **columns)
    joined = rows.join(items, on=_HOLE, maintain_order="left").with_columns(
        same_target=(pl.col("target_text") == pl.col("wanted")).fill_null(value=True),
        same_start=pl.col("context_start").is_null() | (pl.col("context_start") == pl.col("query_line_start")),
        same_prompt=(pl.col("prompt_sha256") == pl.col("query_sha256")).fill_null(value=False),
    )
    likeness = pl.sum_horizontal(pl.col("same_target") * 4, pl.col("same_start") * 2, "same_prompt")
    likest = [likeness == likeness.max().over(side) for side in ("position", "item_id")]
    return joined.filter(likest[0]).filter(likest[1])


def completion_tables(job: ImportJob, part: AskedItems, rows: pl.DataFrame, result: Imported) -> Tables:
    """One part's rows of `run_items`: the completion of every scorable item."""
    items = part.scorable.select("item_id")
    answered = rows.join(items, on="item_id", how="semi")
    result.counts["n_unscorable"] += rows.height - answered.height
    result.counts["n_done"] += answered.height
    result.counts["n_missing"] += items.height - answered.height
    result.counts["n_other_prompt"] += int((~answered["same_start"]).sum())
    is_done = pl.col("completion").is_not_null()
    joined = items.join(answered.select("item_id", "completion"), on="item_id", how="left")
    outcomes = joined.select(
        "item_id",
        pl.when(is_done).then(pl.lit("done")).otherwise(pl.lit(UNANSWERED)).alias("status"),
        pl.when(~is_done).then(pl.lit(f"no completion in {job.input_file.name}")).alias("error"),
        "completion",
    )
    return {"run_items": run_items(job.run_id, outcomes)}
