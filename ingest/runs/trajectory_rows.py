"""Trajectories as rows of the lake: every file read once, each path with its file, the usage with its costs."""

from collections import Counter
from collections.abc import Mapping

import polars as pl

from ingest.contents.patches import edit_rows
from ingest.rejects import Rejects
from ingest.runs.find_trajectories import Ids, TrajectoryFiles, trajectories_of
from ingest.runs.ranking_rows import REPEATED, measured, with_files
from ingest.runs.request import ImportJob
from ingest.runs.trajectory import NO_RESULT, FileSpan
from ingest.runs.usage import LIKE_OUTCOMES, LIKE_PRICES, AgentUsage, PriceList, Prices, outcomes_in
from ingest.runs.values import LAST_LINE
from ingest.sources.strict_yaml import read_yaml, validated
from lake.limits import MAX_NAME_CHARACTERS, MAX_PATCH_CHARACTERS, MAX_VIEWS
from lake.tables import FINAL, PUBLISHED_READING, STEP, table
from lake.text import counted, listed

_AT_ONCE = 100_000
_TOKENS = {"n_input": "input", "n_cached": "cached", "n_cache_written": "cache_written", "n_output": "output"}
_USAGE = {name: table("usage").columns[name] for name in vars(AgentUsage())}
_OF_VIEW = ("part", "step", "rank", "path_given", "line_start", "line_end", "symbol")
VIEW_COLUMNS = {"trajectory": pl.Int64(), **{name: table("hits").columns[name] for name in _OF_VIEW}}
"""The spans that agents saw or named, in order; `trajectory` counts from 0, a null end is the file's."""
ANSWER_COLUMNS: Mapping[str, pl.DataType] = {
    "trajectory": pl.Int64(), "named": pl.String(), "item_id": pl.String(), "position": pl.String(),
    "n_steps": pl.Int64(), "n_steps_published": pl.Int64(), "failed": pl.String(), "patch": pl.String(),
    "step_turns": pl.List(pl.Int64()), "step_calls": pl.List(pl.Int64()), **_USAGE,
}  # fmt: skip
"""One row per trajectory; `named` is the item as given in the file, `item_id` null if no item has that name."""


def parse_runs(
    files: TrajectoryFiles, ids: Ids, rejects: Rejects, counts: Counter[str], unread: Counter[str]
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """All trajectories of some files, as rows of `VIEW_COLUMNS` and of `ANSWER_COLUMNS`."""
    views, answers = list[tuple[object, ...]](), list[tuple[object, ...]]()
    frames, n_views, read_with = list[pl.DataFrame](), 0, set[str]()
    for number, (file, trajectory) in enumerate(trajectories_of(files, ids, rejects)):
        where = f"{file.path}, {trajectory.position}" if trajectory.position else file.path
        read_with |= trajectory.read_with
        unread.update(trajectory.unread)
        counts["n_calls"] += len(trajectory.calls)
        for call in trajectory.calls:
            counts["n_not_understood"] += any(name != NO_RESULT for name in call.unread)
            counts["n_reading"] += call.reads
            counts["n_showing"] += call.reads and bool(call.views)
        n_unsound, patch, published = 0, trajectory.patch, trajectory.published
        contexts = [("", trajectory), *([(PUBLISHED_READING, published)] if published else [])]
        parts = [(of + STEP, step, seen) for of, context in contexts for step, seen in enumerate(context.steps, 1)]
        for part, step, seen in [*parts, *((of + FINAL, 0, context.final or ()) for of, context in contexts)]:
            if not files.importer.lists_files:
                # Each file with lines is also listed by itself, before them, as by published converters.
                alone = {view.path for view in seen if view.start is None and view.symbol is None}
                paths = dict.fromkeys(view.path for view in seen if view.start is not None and view.path not in alone)
                seen = (*map(FileSpan, paths), *seen)
            with_names = (view for view in seen if 0 < len(view.path) <= MAX_NAME_CHARACTERS >= len(view.symbol or ""))
            sound = [view for view in with_names if max(abs(view.start or 0), abs(view.end or 0)) <= LAST_LINE]
            n_unsound += len(seen) - len(sound)
            n_views += len(sound)
            for rank, view in enumerate(sound if n_views <= MAX_VIEWS else (), start=1):
                symbol = None if view.symbol is None else _text(view.symbol)
                start = None if view.start is None else view.start - 1
                views.append((number, part, step, rank, _text(view.path), start, view.end, symbol))
        if len(views) >= _AT_ONCE:
            frames.append(pl.DataFrame(views, schema=VIEW_COLUMNS, orient="row"))
            views.clear()
        notes = [*trajectory.notes]
        if n_unsound:
            notes.append(f"{n_unsound:,} views without a path or with impossible line numbers")
        if len(patch or "") > MAX_PATCH_CHARACTERS:
            notes.append(f"its patch is not read: more than {MAX_PATCH_CHARACTERS:,} characters")
            patch = None
        for note in notes:
            rejects.add(file.path, trajectory.position or f"item {trajectory.item}", note)
        name = ids.of_trajectory(trajectory, file)
        too_many = f"more views than the limit of {MAX_VIEWS:,} per run; split it"
        failed = trajectory.failed or (too_many if n_views > MAX_VIEWS else None)
        used = (_text(value) if isinstance(value, str) else value for value in vars(trajectory.usage).values())
        n_steps = (len(trajectory.steps), published and len(published.steps))
        # An unknown turn, 0, becomes null.
        turns, calls = ([pair[index] or None for pair in trajectory.shown_at] or None for index in (0, 1))
        of_item = (number, _text(name), ids.item_of(name), _text(where))
        answers.append((*of_item, *n_steps, failed, patch and _text(patch), turns, calls, *used))
    skipped = files.unread(read_with)
    counts["n_skipped"] = len(skipped)
    unread.update(skipped)
    frames.append(pl.DataFrame(views, schema=VIEW_COLUMNS, orient="row"))
    return pl.concat(frames), pl.DataFrame(answers, schema=dict(ANSWER_COLUMNS), orient="row")


def _text(text: str) -> str:
    """The text with half surrogate pairs, which are possible in JSON but not in UTF-8, written as escapes."""
    return text.encode(errors="backslashreplace").decode()


def read_trajectories(job: ImportJob) -> pl.DataFrame:
    """The trajectories, one per item, undamaged if possible; other damaged ones become rejects."""
    queries = job.lake.scan("queries", benchmark=job.task.benchmark, query=job.task.query)
    ids = Ids.of(job.items, lambda: dict(queries.select("item_id", "text").collect().iter_rows()))
    views, answers = parse_runs(job.files, ids, job.rejects, job.counts, job.unread)
    if answers.is_empty():
        reasons = [reject.reason for reject in job.rejects]
        raise job.input_file.wrong(what="it holds no trajectory of an item", examples=reasons)
    is_known, is_whole = pl.col("item_id").is_not_null(), pl.col("failed").is_null()
    known = answers.filter(is_known)
    twice = known.filter(is_whole).filter(pl.col("item_id").is_duplicated())
    if not twice.is_empty():
        shown = [f"{position}: item {item_id[:80]}" for position, item_id in twice["position", "item_id"].iter_rows()]
        hint = "Import each attempt separately, under a system name of its own."
        raise job.input_file.wrong(what="more than one trajectory of an item", examples=shown, hint=hint)
    kept = known.sort(~is_whole, "trajectory").unique("item_id", keep="first", maintain_order=True)
    left = known.join(kept, on="trajectory", how="anti").select("item_id", "position", "failed")
    for item_id, position, failed in left.iter_rows():
        job.rejects.add(job.input_file.name, f"{position}, item {item_id}", failed)
    job.views = views.join(kept.filter(is_whole), on="trajectory", how="semi", maintain_order="left")
    others = answers.filter(~is_known).with_columns(item_id="named")
    return pl.concat([with_costs(job, kept.sort("trajectory")), others], how="diagonal")


def trajectory_tables(job: ImportJob, items: pl.DataFrame, given: pl.DataFrame) -> tuple[pl.DataFrame, ...]:
    """The rows of `run_items`, `hits`, `edits` and `usage` for one part; `given` are the answers to its items."""
    answers = given.join(items.select("item_id", "item", "pool_id"), on="item_id", maintain_order="left")
    of_item = answers.select("trajectory", "item", "item_id", "pool_id")
    rows = job.views.join(of_item, on="trajectory", maintain_order="left").cast({"path_given": REPEATED})
    rows = with_files(job.lake, job.task.benchmark, rows, whole_trees=True)
    start, end, last = map(pl.col, ("line_start", "line_end", "n_lines"))
    to_the_end = pl.when(start > 0).then(pl.max_horizontal(start + 1, last))
    rows = rows.with_columns(line_end=pl.when(start.is_not_null()).then(pl.coalesce(end, to_the_end)))
    final = rows.filter(pl.col("part") == FINAL)
    spans = final.filter(pl.col("path").is_not_null() & start.is_not_null())
    spans = spans.with_columns(line_start=start.clip(0, last), line_end=end.fill_null(last).clip(0, last))
    added = measured(job.lake, spans).select("item", "rank", "part", "n_new_nws")
    sizes = final.group_by("item").agg(n_returned=pl.len().cast(pl.Int64))
    sizes = sizes.join(added.group_by("item").agg(n_nws=pl.col("n_new_nws").sum()), on="item", how="left")
    failed, without = pl.col("failed").is_not_null(), pl.col("n_returned").is_null()
    no_context = pl.when(without).then(pl.lit("the trajectory gives no final context"))
    ended = answers.join(sizes, on="item", how="left").select(
        "item_id", "n_returned", "n_nws", pl.when(~failed).then(pl.col("n_steps", "n_steps_published")),
        status=pl.when(failed).then(pl.lit("failed")).when(without).then(pl.lit("no-context")).otherwise(pl.lit("done")),
        error=pl.coalesce("failed", no_context), has_patch=pl.when(~failed).then(pl.col("patch").fill_null("") != ""),
    )  # fmt: skip
    whole = answers.filter(pl.col("failed").is_null())
    patched = whole.filter(pl.col("patch").str.strip_chars() != "")
    edits, notes = edit_rows(job.run_id, patched.select("item_id", "patch").iter_rows())
    position = dict(patched.select("item_id", "position").iter_rows())
    for item_id, note in notes:
        job.rejects.add(position[item_id], f"item {item_id}", note)
    own = rows.filter(~pl.col("part").str.starts_with(PUBLISHED_READING))
    # A file that is named both with lines and without counts once.
    distinct = own.unique(["item", "part", "step", "path_given"], maintain_order=True)
    job.counts.update(
        n_faulty_patches=len({item_id for item_id, _ in notes}), n_no_patch=whole.height - patched.height,
        n_steps=int(ended["n_steps"].sum()), n_hits=distinct.height, n_spans=own.filter(start.is_not_null()).height,
        n_beyond=own.filter(end > last).height, n_reversed=own.filter((start < 0) | (end < 1) | (end <= start)).height,
    )  # fmt: skip
    job.add_unresolved(distinct.filter(pl.col("path").is_null())["path_given"])
    rows = rows.join(added, on=["item", "part", "rank"], how="left", maintain_order="left")
    used = given.filter(pl.any_horizontal(pl.col(*_USAGE, "resolved", "step_calls").is_not_null()))
    return ended, rows, edits, used


def with_costs(job: ImportJob, answers: pl.DataFrame) -> pl.DataFrame:
    """The answers to known items with `usd`, `prices` and `resolved`, from the files that the request names."""
    request, models, prices_name, unpriced = job.request, dict[str, Prices](), "", set[str]()
    outcomes, others = outcomes_in(request.resolved) if request.resolved else ({}, None)
    if file := request.prices:
        prices = validated(PriceList, read_yaml(file, LIKE_PRICES), file, LIKE_PRICES)
        models, prices_name = prices.models, f"{file.name}, {prices.date}"
    upstream, rows = dict(job.items.select("item_id", "upstream_id").iter_rows()), list[tuple[object, ...]]()
    for row in answers.select("item_id", *_USAGE).iter_rows(named=True):
        names, usd, priced_by = (row["item_id"], upstream[row["item_id"]]), row["usd"], None
        resolved = max((outcomes[name] for name in names if name in outcomes), default=others)
        model = row["model"] or ""
        if models and usd is None and row["n_input"] is not None:
            if price := models.get(max((name for name in models if name in model), key=len, default="")):
                by_kind, priced_by = price.model_dump(exclude_none=True), prices_name
                dollars = ((row[name] or 0) * by_kind.get(kind, price.input) for name, kind in _TOKENS.items())
                usd = float(sum(dollars)) / 1_000_000
            else:
                unpriced.add(model or "a model without a name")
        rows.append((usd, priced_by, resolved))
    columns = table("usage").columns
    costs = pl.DataFrame(rows, {name: columns[name] for name in ("usd", "prices", "resolved")}, orient="row")
    if models:
        none = f"; it has no price of {listed(sorted(unpriced))}" if unpriced else ""
        job.notes.append(f"{counted(costs['prices'].count(), 'item')} priced by {prices_name}{none}")
    if request.resolved:
        if not request.skip_unknown and outcomes.keys().isdisjoint([*upstream, *upstream.values()]):
            what, examples = f"{request.resolved.name} has no item of {request.benchmark}", map(ascii, outcomes)
            hint = f"{LIKE_OUTCOMES} --skip-unknown accepts it anyway."
            raise job.input_file.wrong(what, examples=[*examples], hint=hint)
        n, n_resolved = counted(costs["resolved"].count(), "item"), costs["resolved"].sum()
        job.notes.append(f"{n} with an outcome in {request.resolved.name}: {n_resolved:,} resolved")
    return answers.with_columns(costs)
