"""The answers of systems per item: lines of rankings up to a cut-off, lines of agents by step, or candidate ranks."""

from collections.abc import Sequence

import polars as pl

from lake.offsets import LineOffsets, held_pieces
from report.items.roster import Roster

TOP, MANY, TOP_OF_MANY = 5, 1_000_000, 1
"""Candidates stored per answer: TOP, or TOP_OF_MANY from MANY answers on, to limit the site's size.

An answer then takes 2 bytes: 12 MB in all for 192,000 items and 20 systems."""

_NUMBER = pl.col("path").str.strip_prefix("cand:").cast(pl.Int64, strict=False)

RANGE = ("file", "start", "end")
_CASE = ("item", "run")
_RANKED = ("ranking", "lines")


def spans_by_item(roster: Roster) -> pl.DataFrame:
    """The gold and returned lines of each item, a row per item.

    Columns: item; files (paths) and lengths (in lines, -1 for an unknown file); gold, a flat list of ranges of three
    numbers: file, start, end; own: file, first line of the query's text, first line of the part to complete, and the
    line after it; and, with an entry per run: run, answer (ranges), steps (ranges, each after the number of its step).
    An empty range names only its file.
    """
    lake, items, gold = roster.lake, roster.items, roster.gold
    pools = items.select("item_id", "item", "pool_id")
    hits = _hits(roster).join(pools.lazy(), on="item_id").drop("item_id").collect()
    # The query's text and the lines to complete.
    known = items.drop_nulls(["target_path", "query_line_start", "target_line"])
    n_lines = pl.col("target_text").fill_null("").str.count_matches("\n", literal=True).cast(pl.Int64)
    after, hole = pl.col("target_line") + pl.max_horizontal(n_lines, 1), pl.col("target_line")
    own = known.select("item", path="target_path", query="query_line_start", hole=hole, after=after, place=0)
    paths = pl.concat([frame.select("item", "path") for frame in (gold, own, hits)]).unique()
    # The existing files, with a number of characters per line.
    existing = roster.files.join(paths.join(pools, on="item").lazy(), on=["pool_id", "path"])
    known_files = existing.select("item", "path", "pool_id", "sha256").collect()
    blobs = lake.scan("blobs").filter(pl.col("sha256").is_in(known_files["sha256"].unique().implode()))
    one_each = known_files.sort("item", "path", "sha256").unique(["item", "path"], maintain_order=True).lazy()
    files = one_each.join(blobs.select("sha256", "n_lines", n_nws="line_nws"), on="sha256").drop("sha256").collect()
    # Number the files of each item from 0, files with gold first.
    numbered = (
        paths.join(gold.select("item", "path", is_gold=True).unique(), on=["item", "path"], how="left")
        .join(files.select("item", "path", "n_lines"), on=["item", "path"], how="left")
        .sort("item", pl.col("is_gold").is_null(), "path")
        .select("item", "path", pl.col("n_lines").fill_null(-1), file=pl.int_range(pl.len()).over("item"))
    )
    if roster.board.protocol.has_contexts:
        # Contexts are compared only with gold in existing files; rankings with all gold.
        gold = gold.join(numbered.filter(pl.col("n_lines") >= 0), on=["item", "path"], how="semi")
    parts = hits.lazy().with_columns(start="line_start", end="line_end")
    final, steps = (_clamped(parts.filter(part=part), files) for part in ("final", "step"))
    answers = [_paid(parts.filter(pl.col("part").is_in(_RANKED)), files, roster), final]
    answered = lake.scan("run_items", benchmark=roster.benchmark).join(roster.numbers, on="run_id")
    by_item = (
        answered.join(pools.lazy(), on="item_id")
        .select(_CASE)
        .join(_flat(pl.concat(answers, how="diagonal"), numbered, _CASE, RANGE, "answer"), on=_CASE, how="left")
        .join(_flat(steps, numbered, _CASE, ("step", *RANGE), "steps"), on=_CASE, how="left")
        .with_columns(pl.col("answer", "steps").fill_null([]))
        .sort(_CASE)
        .group_by("item", maintain_order=True)
        .agg("run", "answer", "steps")
    )
    golden = gold.lazy().select("item", "path", start="line_start", end="line_end", place=0)
    return (
        items.lazy()
        .select("item")
        .join(numbered.lazy().group_by("item").agg(files="path", lengths="n_lines"), on="item", how="left")
        .join(_flat(golden, numbered, ["item"], RANGE, "gold"), on="item", how="left")
        .join(_flat(own.lazy(), numbered, ["item"], ("file", "query", "hole", "after"), "own"), on="item", how="left")
        .join(by_item, on="item", how="left")
        .with_columns(pl.exclude("item").fill_null([]))
        .sort("item")
        .collect()
    )


def _hits(roster: Roster) -> pl.LazyFrame:
    """The hits of all runs; rankings only little further than the cut-off, since the many others are not shown."""
    hits = roster.lake.scan("hits", benchmark=roster.benchmark).join(roster.numbers, on="run_id")
    is_ranked = pl.col("part").is_in(_RANKED)
    # If a run has both a ranking and best lines (part `lines`), the lines are shown.
    has_lines = hits.filter(part="lines").select("run", instead=pl.lit("lines")).unique()
    kept = hits.join(has_lines, on="run", how="left").filter(
        pl.col("part").is_in(["final", "step"]) | (pl.col("part") == pl.col("instead").fill_null("ranking"))
    )
    new = pl.col("n_new_nws").fill_null(0)
    before = new.cum_sum().over("run", "item_id", "part", order_by="rank") - new
    is_within = before <= roster.budget if roster.budget else pl.col("rank") <= roster.depth
    path = pl.coalesce("path", "path_given").fill_null("")
    return kept.filter(~is_ranked | is_within).select(
        "run", "item_id", "part", "step", "rank", path.alias("path"), "line_start", "line_end"
    )


def _paid(ranked: pl.LazyFrame, files: pl.DataFrame, roster: Roster) -> pl.LazyFrame:
    """Lines of rankings within the cut-off: item, run, path, start, end, place (rank); each line once if by budget."""
    if not roster.budget:
        return _clamped(ranked, files)
    axis = LineOffsets.of(files.select("pool_id", "path", "n_nws").unique(["pool_id", "path"]))
    cases = ranked.select(_CASE).unique().sort(_CASE).with_columns(case=pl.int_range(pl.len())).collect()
    pools = files.lazy().select("item", "pool_id").unique()
    spans = ranked.join(cases.lazy(), on=_CASE).join(pools, on="item").filter(pl.col("line_start").is_not_null())
    placed = axis.place(spans.select(pl.col("case").alias("item"), "pool_id", "path", "rank", "line_start", "line_end"))
    # Lines use the budget in the order of rank, then line; the first line that exceeds it ends the answer.
    walked = held_pieces(placed, len(axis.n_nws_before)).sort("item", "rank", "start").with_columns(n_nws=axis.n_nws())
    left = roster.budget - (pl.col("n_nws").cum_sum().over("item") - pl.col("n_nws"))
    taken = pl.when(left >= 0).then(axis.n_lines_for(left)).otherwise(0)
    numbers = axis.files.lazy().with_columns(at=pl.int_range(pl.len()))
    start = pl.col("start") - pl.col("offset")
    return (
        walked.with_columns(taken=taken)
        .filter(pl.col("taken") > 0)
        .with_columns(axis.file_at("start").alias("at"))
        .join(numbers, on="at")
        .select(pl.col("item").alias("case"), "path", start.alias("start"), end=start + pl.col("taken"), place="rank")
        .join(cases.lazy(), on="case")
        .select(*_CASE, "path", "start", "end", "place")
    )


def _clamped(rows: pl.LazyFrame, files: pl.DataFrame) -> pl.LazyFrame:
    """Ranges clipped to their files: the columns of :func:`_paid`, and step; a hit without lines becomes 0 to 0."""
    known = rows.join(files.lazy().select("item", "path", "n_lines"), on=["item", "path"], how="left")
    n_lines = pl.col("n_lines").fill_null(0)
    start = pl.col("start").fill_null(0).clip(0, n_lines)
    # A range with a start and no end goes to the end of the file.
    end = pl.when(pl.col("start").is_null()).then(0).otherwise(pl.col("end").fill_null(n_lines).clip(0, n_lines))
    return known.select(*_CASE, "path", "step", start=start, end=pl.max_horizontal(start, end), place="rank")


def _flat(
    rows: pl.LazyFrame, numbered: pl.DataFrame, by: Sequence[str], columns: Sequence[str], name: str
) -> pl.LazyFrame:
    """The rows of each group `by`, flattened to one list of numbers, row after row of `columns`."""
    known = rows.join(numbered.lazy().select("item", "path", "file"), on=["item", "path"])
    order = [*by, *([] if "step" not in columns else ["step"]), "place", *columns]
    numbers = pl.concat_list(pl.col(columns).cast(pl.Int64))
    return (
        known.sort(order)
        .group_by(by, maintain_order=True)
        .agg(numbers.list.explode(keep_nulls=False, empty_as_null=False).alias(name))
    )


def candidates_by_item(roster: Roster) -> pl.DataFrame:
    """The answers to items with candidates, a row per item: item, n_candidates, gold (candidates), run, answer.

    `run` and `answer` have an entry per run. An answer is a list: the rank of the gold (0 if not returned), the primary
    metric's value (1 or 0; -1 if it has none), then the first candidates.
    """
    items, gold = roster.items, roster.gold
    top = TOP_OF_MANY if items.height * len(roster.runs) >= MANY else TOP
    pools = items.lazy().select("item_id", "item")
    golden = gold.lazy().select("item", "path").unique()
    by_run = [_of_run(roster, number, top, pools, golden) for number in range(len(roster.runs))]
    answers = pl.concat([pl.DataFrame(schema=_SCHEMA), *by_run]).sort("item", "run")
    by_item = answers.lazy().group_by("item", maintain_order=True).agg("run", "answer")
    candidates = gold.lazy().group_by("item").agg(gold="candidate")
    return (
        items.lazy()
        .select("item", "n_candidates")
        .join(candidates, on="item", how="left")
        .join(by_item, on="item", how="left")
        .with_columns(pl.col("gold", "run", "answer").fill_null([]))
        .sort("item")
        .collect()
    )


_SCHEMA = {"item": pl.Int64(), "run": pl.Int64(), "answer": pl.List(pl.Int64())}


def _of_run(roster: Roster, number: int, top: int, pools: pl.LazyFrame, golden: pl.LazyFrame) -> pl.DataFrame:
    """The answers of one run, with columns _SCHEMA; run by run, because all rankings at once need too much memory."""
    lake, run_id = roster.lake, roster.runs[number].run_id
    folders = {"benchmark": roster.benchmark, "run_id": run_id}
    hits = lake.scan("hits", **folders).filter(part="ranking")
    ranked = hits.join(pools, on="item_id").select("item", "path", "rank")
    # A candidate returned in several chunks has the rank of its first.
    first = pl.col("rank") == pl.col("rank").min().over("item", "path")
    first_candidates = (
        ranked.filter(pl.col("rank") <= top, first).sort("item", "rank").select("item", candidate=_NUMBER)
    )
    gold_ranks = ranked.join(golden, on=["item", "path"], how="semi").group_by("item").agg(pl.col("rank").min())
    scores = lake.scan("scores", protocol=roster.board.protocol.name, **folders)
    right = scores.filter(**roster.board.primary.where).select("item_id", "value")
    head = [pl.col("rank").fill_null(0), pl.col("value").round().fill_null(-1).cast(pl.Int64)]
    return (
        lake.scan("run_items", **folders)
        .join(pools, on="item_id")
        .join(right, on="item_id", how="left")
        .join(gold_ranks, on="item", how="left")
        .join(first_candidates.group_by("item", maintain_order=True).agg("candidate"), on="item", how="left")
        .select("item", run=pl.lit(number, pl.Int64), answer=pl.concat_list(*head, pl.col("candidate").fill_null([])))
        .collect()
    )
