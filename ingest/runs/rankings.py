"""Imported rankings and completions as rows of the lake: documents with their files, completions with their items."""

import polars as pl

from ingest.runs.ranking_rows import REPEATED, checked_rows, measured, named_whole, refuse, with_files, written
from ingest.runs.request import ImportJob
from lake.catalog.protocol import CUT_OFFS
from lake.limits import MAX_RUN_ROWS
from lake.tables import RANKING

DEFINITIONS = "docs"  # the rules for finding a definition that a document names
_LARGEST_FLOAT32 = 3.4028234663852886e38
_HOLE = ["repo", "path", "line"]
_SHOWN = pl.format("{}/{}, line {} from 0", "repo", "path", "line")


def read_rankings(job: ImportJob) -> pl.DataFrame:
    """The rows of a ranking (`RANKING_COLUMNS` but document), each checked by itself."""
    input_file, frames, n_rows = job.input_file, list[pl.DataFrame](), 0
    for frame in job.files.importer.read(input_file):
        n_rows += frame.height
        if n_rows > MAX_RUN_ROWS:
            hint = "Split it by items, and keep the best 100 or so of each list."
            raise input_file.wrong(what=f"it has more than the limit of {MAX_RUN_ROWS:,} rows", hint=hint)
        frames.append(checked_rows(input_file, frame))
    if not n_rows:
        raise input_file.wrong(what="the file holds no rows")
    rows = pl.concat(frames)
    listed = rows.filter(pl.col("path_given").is_not_null())
    without = listed.filter(pl.col("rank").is_null())
    if without.height < listed.height:
        refuse(input_file, without, "no rank, although other rows have one", shown=written())
    counts = listed.group_by("item_id").agg(n=pl.len(), n_ranks=pl.col("rank").n_unique())
    are_alike = (counts["n_ranks"] == 1).all() and (counts["n"] > 1).any() and not listed["score"].null_count()
    if are_alike:
        # By score as Float32, descending (larger numbers are infinite, hence tied), then by document, descending.
        score = pl.col("score").clip(-_LARGEST_FLOAT32, _LARGEST_FLOAT32).cast(pl.Float32).cast(pl.Float64)
        rows = rows.sort(pl.col("document").cast(pl.String), descending=True, maintain_order=True)
        rows = rows.with_columns(score=score, rank=pl.lit(None, pl.Int64))
        job.notes.append("ranks are missing or all equal, so lists are ordered by score, as in trec_eval")
    return named_whole(job.lake, job.task.benchmark, rows).drop("document")


def ranking_tables(job: ImportJob, items: pl.DataFrame, rows: pl.DataFrame) -> tuple[pl.DataFrame, ...]:
    """The rows of `run_items` and `hits` for one part; `rows` are the lists of its items."""
    known = items.select(pl.col("item_id").cast(REPEATED), "item", "pool_id")
    rows = rows.join(known, on="item_id", maintain_order="left")
    _check_revision(job, items, rows)
    failed = rows.filter(pl.col("error").is_not_null()).select("item", "error")
    documents = rows.filter(pl.col("path_given").is_not_null()).drop("query_sha256", "error", "gold")
    spans = _located(job, _ranked(job, documents))
    ties = pl.col("rank").filter((pl.col("score") == pl.col("score").shift(-1)) & pl.col("rank").is_in(CUT_OFFS))
    sizes = spans.group_by("item").agg(n_returned=pl.len().cast(pl.Int64), n_nws=pl.col("n_nws").sum(), ties=ties)
    job.counts["n_tied"] += sizes.filter(pl.col("ties").list.len() > 0).height
    answered = items.select("item_id", "item").join(rows, on="item", how="semi")
    answered = answered.join(sizes, on="item", how="left").join(failed, on="item", how="left")
    ended = pl.when(pl.col("error").is_null()).then(pl.lit("done")).otherwise(pl.lit("failed"))
    return answered.with_columns(status=ended), spans.with_columns(part=pl.lit(RANKING), step=pl.lit(0))


def _check_revision(job: ImportJob, items: pl.DataFrame, rows: pl.DataFrame) -> None:
    """Raise if rows are of another query, or name another right candidate, than the items."""
    hint = f"Is this the same revision of the data? {job.task.name} searches for {job.task.query_meaning}."
    wanted = items.select("item_id", wanted=pl.col("query_sha256").fill_null("without a query"))
    rows = rows.select(pl.col("item_id", "query_sha256").cast(pl.String), "gold", "position")
    rows = rows.join(wanted, on="item_id", maintain_order="left")
    sha256, gold = pl.col("query_sha256"), pl.col("gold")
    other = rows.filter((sha256 != "") & (sha256.str.to_lowercase() != pl.col("wanted")))
    shown = pl.format("item {}: {} in the file, {} here", "item_id", sha256, "wanted")
    refuse(job.input_file, other, "made for another query: its sha256 is not the item's", shown=shown, hint=hint)
    if rows["gold"].count():
        right = job.lake.scan("gold_spans", benchmark=job.task.benchmark).filter(gold="candidate")
        other = rows.join(right.select("item_id", "candidate").collect(), on="item_id", maintain_order="left")
        shown = pl.format("item {}: the right candidate is {} in the file, {} here", "item_id", gold, "candidate")
        what, other = (
            "made for other data: its right candidate is not the item's",
            other.filter(gold != pl.col("candidate")),
        )
        refuse(job.input_file, other, what, shown=shown, hint=hint)


def _ranked(job: ImportJob, rows: pl.DataFrame) -> pl.DataFrame:
    """The rows with ranks from 1: in the order of the file's ranks if it has any, else by score, ties as given."""
    rank, score = pl.col("rank"), pl.col("score")
    by_rank = bool(rows["rank"].count())
    ordered = rows.sort("item", rank if by_rank else -score, maintain_order=True)
    is_wrong = ((rank == rank.shift()) | (score > score.shift())).over("item") & by_rank
    shown = pl.format("item {}: rank {}, score {}", "item_id", rank, score.cast(pl.String).fill_null("none"))
    hint = "A rank is used once per list, a better one for a higher score; or leave out the ranks or the scores."
    what = "ranks that are used twice, or that disagree with the scores"
    refuse(job.input_file, ordered.filter(is_wrong), what, shown=shown, hint=hint)
    return ordered.with_columns(rank=pl.int_range(1, pl.len() + 1, dtype=pl.Int64).over("item"))


def _located(job: ImportJob, rows: pl.DataFrame) -> pl.DataFrame:
    """The rows, each with its file and lines in it; an error if a row ends past its file or occurs twice."""
    spans = _defined(job, with_files(job.lake, job.task.benchmark, rows))
    job.counts["n_hits"] += spans.height
    job.add_unresolved(spans.filter(pl.col("path").is_null())["path_given"])
    end, last = pl.col("line_end"), pl.col("n_lines")
    shown = pl.format("item {}: {} ends after line {}, the file's last", "item_id", written(), last)
    hint = "Check that the revision of the files is the same and that lines are counted as in the format."
    beyond = spans.filter(end > last + 1)
    refuse(job.input_file, beyond, "a range past the end of the file", shown=shown, hint=hint)
    job.counts["n_clamped"] += spans.filter(end > last).height
    start = pl.min_horizontal(pl.col("line_start").fill_null(pl.when(last >= 0).then(0)), last)
    clamped = spans.with_columns(line_start=start, line_end=pl.min_horizontal(end.fill_null(last), last))
    lists = clamped.select("item", pl.coalesce("path", "path_given"), "line_start", "line_end", "nth", "chunk_no")
    twice, shown = clamped.filter(lists.is_duplicated()), pl.format("item {}: {}", "item_id", written())
    hint = "List each chunk once per item; two spellings of a path are the same path."
    refuse(job.input_file, twice, "a document listed twice for an item", shown=shown, hint=hint)
    return _numbered(job, measured(job.lake, clamped))


def _defined(job: ImportJob, rows: pl.DataFrame) -> pl.DataFrame:
    """The rows with the lines of the definitions they name; if its file lacks the definition, a row gets no file."""
    key = ["sha256", "symbol"]
    wanted = rows.filter(pl.col("symbol").is_not_null()).select(pl.col(key).cast(pl.String)).unique()
    if wanted.is_empty():
        return rows.drop("symbol")
    known = job.lake.scan("symbols", rules=DEFINITIONS).rename({"qualified_name": "symbol"})
    first = known.join(wanted.lazy(), on=key, how="semi").sort("byte_start").group_by(key)
    defined = first.agg(pl.col("line_start", "line_end").first().name.prefix("of_"), n=pl.len()).collect()
    spans = rows.join(defined.with_columns(pl.col(key).cast(REPEATED)), on=key, how="left", maintain_order="left")
    job.counts["n_ambiguous"] += spans.filter(pl.col("n") > 1).height
    is_named, lines = pl.col("symbol").is_not_null(), ("line_start", "line_end")
    given = pl.format("{}::{}", pl.col("path_given").cast(pl.String), pl.col("symbol").cast(pl.String)).cast(REPEATED)
    return spans.with_columns(
        pl.when(~is_named | pl.col("n").is_not_null()).then(pl.col("path", "sha256", "n_lines")),
        *(pl.coalesce(f"of_{name}", name).alias(name) for name in lines),
        path_given=pl.when(is_named).then(given).otherwise("path_given"),
    ).drop("symbol", "n", "of_line_start", "of_line_end")


def _numbered(job: ImportJob, rows: pl.DataFrame) -> pl.DataFrame:
    if job.chunker is None:
        return rows.with_columns(chunk_no=pl.lit(None, pl.Int64))
    wanted = rows.select(pl.col("sha256").cast(pl.String)).unique()
    chunks = job.lake.scan("chunks", chunker=job.chunker).join(wanted.lazy(), on="sha256", how="semi")
    lines, measured = ["sha256", "line_start", "line_end"], ["byte_start", "byte_end", "n_nws"]
    nth = pl.int_range(1, pl.len() + 1, dtype=pl.Int64).over(lines, order_by="chunk_no")
    cut = chunks.with_columns(pl.col("sha256").cast(REPEATED)).with_columns(nth=nth).drop("chunker").collect()
    numbers = cut.select(*lines, "chunk_no", by_number="nth")
    given = rows.join(numbers, on=[*lines, "chunk_no"], how="left", maintain_order="left").drop("chunk_no")
    given = given.with_columns(nth=pl.coalesce("by_number", "nth", 1))
    numbered = given.join(cut, on=[*lines, "nth"], how="left", maintain_order="left", suffix="_cut")
    job.counts["n_no_chunk"] += int(numbered["chunk_no"].is_null().sum())
    # A chunk may begin and end within a line, so its own bytes replace those of its lines.
    return numbered.with_columns(pl.coalesce(f"{name}_cut", name).alias(name) for name in measured)


def read_completions(job: ImportJob) -> pl.DataFrame:
    """The completions: each with the item whose hole it fills, else its location as `item_id`."""
    input_file = job.input_file
    rows = pl.concat(job.files.importer.read(input_file))
    holes = job.items.select(
        "part", "item_id", "query_line_start", "query_sha256",
        repo="repo", path="target_path", line="target_line", wanted="target_text",
    )  # fmt: skip
    filled = rows.join(holes, on=_HOLE, maintain_order="left").with_columns(
        same_target=(pl.col("target_text") == pl.col("wanted")).fill_null(value=True),
        same_start=pl.col("context_start").is_null() | (pl.col("context_start") == pl.col("query_line_start")),
        same_prompt=(pl.col("prompt_sha256") == pl.col("query_sha256")).fill_null(value=False),
    )
    likeness = pl.sum_horizontal(pl.col("same_target") * 4, pl.col("same_start") * 2, "same_prompt")
    for side in ("position", "item_id"):
        filled = filled.filter(likeness == likeness.max().over("part", side))
    # Of several parts with the hole, the one counts whose items fit the file best: by number, starts and prompts.
    fit = pl.struct(pl.len().over("part"), pl.col("same_start", "same_prompt").sum().over("part")).rank("dense")
    best = filled.with_columns(fit=fit).filter(pl.col("fit") == pl.col("fit").max().over("position"))
    by_row = best.group_by("position", maintain_order=True)
    several = by_row.agg(pl.col(*_HOLE).first(), "item_id").filter(pl.col("item_id").list.len() > 1)
    shown = pl.format("{}: {}", _SHOWN, pl.col("item_id").list.sort().list.join(" or "))
    hint = "Give each row its prompt, ground_truth and context_start_lineno, or ingest only one of the subsets."
    refuse(input_file, several, "a row that answers several items", shown=shown, hint=hint)
    twice = best.filter(best.select("item_id").is_duplicated())
    refuse(input_file, twice, "two completions for one place", shown=_SHOWN)
    location = pl.format("{}/{}#L{}", "repo", "path", pl.col("line") + 1)
    rest = rows.join(best, on="position", how="anti").with_columns(item_id=location)
    return pl.concat([best, rest], how="diagonal")


def completion_tables(job: ImportJob, items: pl.DataFrame, rows: pl.DataFrame) -> tuple[pl.DataFrame, ...]:
    """The rows of `run_items` for one part; `rows` are the completions of its items."""
    return (rows.join(items, on="item_id", how="semi").select("item_id", "completion", status=pl.lit("done")),)
