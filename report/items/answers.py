"""What systems answered to an item: lines of rankings down to a cut-off, of agents by step; or ranks of candidates."""

from collections.abc import Sequence

import polars as pl

from lake.offsets import LineOffsets, held_pieces
from lake.tables import UNSEARCHED
from report.items.roster import Roster

TOP, MANY, TOP_OF_MANY = 5, 1_000_000, 1
"""So many candidates are named of each answer; of this many answers and more only so many, which a site has room for.

An answer then takes 2 bytes: 12 MB in all for 192,000 items and 20 systems."""

_NUMBER = pl.col("path").str.strip_prefix("cand:").cast(pl.Int64, strict=False)

RANGE = ("file", "start", "end")
_CASE = ("item", "run")
_RANKED = ("ranking", "lines")


def spans_by_item(roster: Roster) -> pl.DataFrame:
    """Which lines of an item's files are gold and which were returned, a row per item.

    It has item; files, and their lengths in lines, -1 where there is no such file; gold, three numbers a range: file,
    start, end; own: file, the line on which the query's own text begins, that of its hole, and the one after; and for
    each run that was asked run, answer (ranges), steps (ranges behind the number of their step). A range without a line
    names its file alone.
    """
    lake, items, gold = roster.lake, roster.items, roster.gold
    pools = items.select("item_id", "item", "pool_id")
    hits = _hits(roster).join(pools.lazy(), on="item_id").drop("item_id").collect()
    # The query's own text and its hole.
    known = items.drop_nulls(["target_path", "query_line_start", "target_line"])
    n_lines = pl.col("target_text").fill_null("").str.count_matches("\n", literal=True).cast(pl.Int64)
    after, hole = pl.col("target_line") + pl.max_horizontal(n_lines, 1), pl.col("target_line")
    own = known.select("item", path="target_path", query="query_line_start", hole=hole, after=after, place=0)
    paths = pl.concat([frame.select("item", "path") for frame in (gold, own, hits)]).unique()
    files = _files(roster, paths.join(pools, on="item"))
    # The files of each item from 0, those with gold first.
    numbered = (
        paths.join(gold.select("item", "path", is_gold=True).unique(), on=["item", "path"], how="left")
        .join(files.select("item", "path", "n_lines"), on=["item", "path"], how="left")
        .sort("item", pl.col("is_gold").is_null(), "path")
        .select("item", "path", pl.col("n_lines").fill_null(-1), file=pl.int_range(pl.len()).over("item"))
    )
    if roster.board.protocol.has_contexts:
        # Gold in no file of the repository is left out of what is held against contexts; elsewhere it counts whole.
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
    """What the runs returned, of rankings little more than the cut-off takes: the rest is much and is not shown."""
    hits = roster.lake.scan("hits", benchmark=roster.benchmark).join(roster.numbers, on="run_id")
    is_ranked = pl.col("part").is_in(_RANKED)
    # The lines that are best returned stand in place of the ranking, where a run has both.
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


def _files(roster: Roster, paths: pl.DataFrame) -> pl.DataFrame:
    """The named files that are there: item, path, pool_id, n_lines and, line by line, n_nws."""
    files = roster.lake.scan("files", benchmark=roster.benchmark).with_columns(
        pl.col("pool_id").str.strip_suffix(UNSEARCHED)
    )
    known = files.join(paths.lazy(), on=["pool_id", "path"]).select("item", "path", "pool_id", "sha256").collect()
    hashes = known["sha256"].unique().implode()
    texts = (
        roster.lake.scan("blobs").filter(pl.col("sha256").is_in(hashes)).select("sha256", "n_lines", n_nws="line_nws")
    )
    one_each = known.sort("item", "path", "sha256").unique(["item", "path"], maintain_order=True)
    return one_each.lazy().join(texts, on="sha256").drop("sha256").collect()


def _paid(ranked: pl.LazyFrame, files: pl.DataFrame, roster: Roster) -> pl.LazyFrame:
    """What the cut-off takes of rankings: item, run, path, start, end, place; every line once, and files as named."""
    if not roster.budget:
        return _clamped(ranked, files)
    axis = LineOffsets.of(files.select("pool_id", "path", "n_nws").unique(["pool_id", "path"]))
    cases = ranked.select(_CASE).unique().sort(_CASE).with_row_index("case").collect()
    pools = files.lazy().select("item", "pool_id").unique()
    case = pl.col("case").cast(pl.Int64).alias("item")
    spans = ranked.join(cases.lazy(), on=_CASE).join(pools, on="item").filter(pl.col("line_start").is_not_null())
    placed = axis.place(spans.select(case, "pool_id", "path", "rank", "line_start", "line_end"))
    # Paid for in the order of the ranking, and of the lines within a hit; the first line too dear ends it.
    walked = held_pieces(placed, len(axis.n_nws_before)).sort("item", "rank", "start").with_columns(n_nws=axis.n_nws())
    left = roster.budget - (pl.col("n_nws").cum_sum().over("item") - pl.col("n_nws"))
    taken = pl.when(left >= 0).then(axis.n_lines_for(left)).otherwise(0)
    numbers = axis.files.lazy().with_row_index("at").with_columns(pl.col("at").cast(pl.Int64))
    start = pl.col("start") - pl.col("offset")
    return (
        walked.with_columns(taken=taken)
        .filter(pl.col("taken") > 0)
        .with_columns(axis.file_at("start").alias("at"))
        .join(numbers, on="at")
        .select(pl.col("item").alias("case"), "path", start.alias("start"), end=start + pl.col("taken"), place="rank")
        .join(cases.lazy().with_columns(pl.col("case").cast(pl.Int64)), on="case")
        .select(*_CASE, "path", "start", "end", "place")
    )


def _clamped(rows: pl.LazyFrame, files: pl.DataFrame) -> pl.LazyFrame:
    """Ranges cut to their files, as :func:`_paid` gives them, with step; what names no line is from 0 to 0."""
    known = rows.join(files.lazy().select("item", "path", "n_lines"), on=["item", "path"], how="left")
    n_lines = pl.col("n_lines").fill_null(0)
    start = pl.col("start").fill_null(0).clip(0, n_lines)
    # Without an end it is a view of the whole file, where it has a start.
    end = pl.when(pl.col("start").is_null()).then(0).otherwise(pl.col("end").fill_null(n_lines).clip(0, n_lines))
    return known.select(*_CASE, "path", "step", start=start, end=pl.max_horizontal(start, end), place="rank")


def _flat(
    rows: pl.LazyFrame, numbered: pl.DataFrame, by: Sequence[str], columns: Sequence[str], name: str
) -> pl.LazyFrame:
    """One list of numbers for each `by`: the columns of its rows, one row behind the other."""
    known = rows.join(numbered.lazy().select("item", "path", "file"), on=["item", "path"])
    order = [*by, *([] if "step" not in columns else ["step"]), "place", *columns]
    numbers = pl.concat_list(pl.col(columns).cast(pl.Int64))
    return (
        known.sort(order)
        .group_by(by, maintain_order=True)
        .agg(numbers.list.explode(keep_nulls=False, empty_as_null=False).alias(name))
    )


def candidates_by_item(roster: Roster) -> pl.DataFrame:
    """What a shard says of candidates, a row per item: item, n_candidates, gold (candidates), and of runs run, answer.

    An answer of a run that was asked is the rank of the gold, 0 where it has none, whether the primary metric calls
    that right (1, 0; -1 where it has no value), then the first candidates.
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
    """What one run says: the columns of _SCHEMA. A run at a time, since all rankings of many items are too much."""
    lake, run_id = roster.lake, roster.runs[number].run_id
    folders = {"benchmark": roster.benchmark, "run_id": run_id}
    hits = lake.scan("hits", **folders).filter(part="ranking")
    ranked = hits.join(pools, on="item_id").select("item", "path", "rank")
    # A candidate that is returned in several chunks stands where the first of them does.
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
