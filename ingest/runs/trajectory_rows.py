"""Imported trajectories as rows of the lake: every path found in its tree, everything else as it was given."""

from __future__ import annotations

import polars as pl

from ingest.contents.patches import edit_rows
from ingest.runs.imported_runs import UNANSWERED, Tables, imported_hits, run_items
from ingest.runs.outcome import Imported
from ingest.runs.ranking_rows import REPEATED
from ingest.runs.read_trajectories import FINAL, ParsedRuns
from ingest.runs.request import AskedItems, ImportJob
from ingest.runs.resolve_paths import ContentLines, with_files
from ingest.runs.usage_rows import UsageRows
from lake.naming import PUBLISHED_READING
from lake.rejects import Rejects

_NOTHING_BETWEEN = r"/(?:\.?/)+"
_HERE = r"^(?:\./)+"


def trajectory_tables(
    job: ImportJob, part: AskedItems, read: ParsedRuns, usage: UsageRows, result: Imported, rejects: Rejects
) -> Tables:
    """One part's rows of `hits`, `run_items`, `edits` and `usage`."""
    items = part.scorable.with_row_index("item").cast({"item": pl.Int64})
    answers = read.answers.join(items.select("item_id", "item", "pool_id"), on="item_id", maintain_order="left")
    result.counts["n_unscorable"] += read.answers.height - answers.height
    of_answers = answers.select("trajectory", "item", "pool_id")
    rows = _placed(job, read.views.join(of_answers, on="trajectory", maintain_order="left"))
    final = rows.filter(pl.col("part") == FINAL)
    added = _added(job, final)
    ended = _run_items(job, items, answers, final, added)
    edits = _edits(job, answers, result, rejects)
    _count(rows, answers, ended, result)
    used = usage.part(read.answers.join(part.items.select("item_id", "upstream_id"), on="item_id"))
    of_final = added.with_columns(part=pl.lit(FINAL))
    rows = rows.join(of_final, on=["item", "part", "rank"], how="left", maintain_order="left")
    return {"hits": imported_hits(job.run_id, rows, items), "edits": edits, "usage": used, "run_items": ended}


def _placed(job: ImportJob, views: pl.DataFrame) -> pl.DataFrame:
    """The views with line_start, line_end (0-based, half-open) and path, sha256, n_lines of their file."""
    slashes = pl.col("path_given").str.replace_all("\\", "/", literal=True)
    plain = slashes.str.replace_all(_NOTHING_BETWEEN, "/").str.replace(_HERE, "")
    rows = views.with_columns(plain=plain.cast(REPEATED))
    placed = with_files(job.lake, job.task.benchmark, rows, "plain", whole_trees=True)
    start, end, has_lines = pl.col("start"), pl.col("end"), pl.col("start").is_not_null()
    to_the_end = pl.when(start > 1).then(pl.max_horizontal("start", "n_lines"))
    return placed.with_columns(line_start=start - 1, line_end=pl.when(has_lines).then(pl.coalesce(end, to_the_end)))


def _run_items(
    job: ImportJob, items: pl.DataFrame, answers: pl.DataFrame, final: pl.DataFrame, added: pl.DataFrame
) -> pl.DataFrame:
    joined = (
        items.select("item_id", "item")
        .join(answers.drop("item_id"), on="item", how="left")
        .join(final.group_by("item").agg(n_returned=pl.len().cast(pl.Int64)), on="item", how="left")
        .join(added.group_by("item").agg(n_nws=pl.col("n_new_nws").sum()), on="item", how="left")
    )
    missing, failed = pl.col("trajectory").is_null(), pl.col("failed").is_not_null()
    without = pl.col("n_returned").is_null()
    why = pl.when(missing).then(pl.lit(f"no trajectory in {job.input_file.name}")).when(failed).then("failed")
    outcomes = joined.select(
        "item_id",
        pl.when(missing).then(pl.lit(UNANSWERED)).when(failed).then(pl.lit("failed"))
        .when(without).then(pl.lit("no-context")).otherwise(pl.lit("done")).alias("status"),
        why.when(without).then(pl.lit("the trajectory gives no final context")).alias("error"),
        pl.when(~failed).then("n_steps").alias("n_steps"),
        "n_returned",
        "n_nws",
        pl.when(~missing & ~failed).then(pl.col("patch").fill_null("") != "").alias("has_patch"),
        pl.when(~failed).then("n_steps_published").alias("n_steps_published"),
    )  # fmt: skip
    return run_items(job.run_id, outcomes)


def _added(job: ImportJob, final: pl.DataFrame) -> pl.DataFrame:
    """item, rank, n_new_nws: what each row of a final context adds to those before it."""
    last = pl.col("n_lines")
    spans = final.filter(pl.col("path").is_not_null() & pl.col("line_start").is_not_null()).with_columns(
        line_start=pl.col("line_start").clip(0, last), line_end=pl.col("line_end").fill_null(last).clip(0, last),
    )  # fmt: skip
    return ContentLines.of(job.lake, spans["sha256"]).added(spans)


def _edits(job: ImportJob, answers: pl.DataFrame, result: Imported, rejects: Rejects) -> pl.DataFrame:
    patched = answers.filter(_has_patch(), pl.col("failed").is_null())
    edits, notes = edit_rows(job.run_id, patched.select("item_id", "patch").iter_rows())
    position = dict(patched.select("item_id", "position").iter_rows())
    for item_id, note in notes:
        rejects.add(position[item_id], f"item {item_id}", note)
    result.counts["n_faulty_patches"] += len({item_id for item_id, _ in notes})
    return edits


def _count(rows: pl.DataFrame, answers: pl.DataFrame, run_items: pl.DataFrame, result: Imported) -> None:
    n = dict(run_items["status"].value_counts().iter_rows())
    result.counts["n_done"] += n.get("done", 0)
    result.counts["n_missing"] += n.get(UNANSWERED, 0)
    result.counts["n_failed"] += n.get("failed", 0)
    result.counts["n_no_context"] += n.get("no-context", 0)
    result.counts["n_no_patch"] += answers.filter(pl.col("failed").is_null() & ~_has_patch()).height
    result.counts["n_steps"] += int(run_items["n_steps"].sum())
    start, end = pl.col("line_start"), pl.col("line_end")
    own = rows.filter(~pl.col("part").str.starts_with(PUBLISHED_READING))
    # A file that is named beside its lines is named once.
    files = own.unique(["item", "part", "step", "path_given"], maintain_order=True)
    result.counts["n_hits"] += files.height
    result.counts["n_spans"] += own.filter(start.is_not_null()).height
    result.counts["n_beyond"] += own.filter(end > pl.col("n_lines")).height
    result.counts["n_reversed"] += own.filter((start < 0) | (end < 1) | (end <= start)).height
    lost = files.filter(pl.col("path").is_null())
    result.add_unresolved(lost["path_given"])


def _has_patch() -> pl.Expr:
    return pl.col("patch").fill_null("").str.strip_chars() != ""
