"""Imported trajectories as rows of the lake: each path with its file, the usage with its costs, the rest as given."""

import json
from datetime import date
from pathlib import Path
from typing import Annotated, ClassVar

import polars as pl
from pydantic import BaseModel, ConfigDict, Field

from ingest.contents.patches import edit_rows
from ingest.runs.ranking_rows import REPEATED, measured, with_files
from ingest.runs.read_trajectories import USAGE, Ids, parse_runs
from ingest.runs.request import ImportJob
from ingest.runs.values import list_at, object_at, str_at
from ingest.sources.strict_yaml import read_yaml, validated
from lake.errors import Exit, GoldspanError
from lake.tables import FINAL, PUBLISHED_READING, table
from lake.text import counted, listed

_TOKENS = {"n_input": "input", "n_cached": "cached", "n_cache_written": "cache_written", "n_output": "output"}
_LIKE_PRICES = "It must contain `date: 2026-11-01` and `models: {NAME: {input: 3.00, cached: 0.30, output: 15.00}}`."
_LIKE_OUTCOMES = "It must be a list of ids of resolved items (one per line, or JSON), or SWE-bench's report."
_TRIED = (
    "submitted_ids", "completed_ids", "unresolved_ids", "error_ids", "empty_patch_ids", "generated", "applied",
    "no_generation",
)  # fmt: skip
"""Keys of SWE-bench's report, of today and of 2024, that list instances which an agent attempted."""


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
        places = twice.group_by("item_id", maintain_order=True).agg("position")
        shown = [f"item {item_id[:80]}: {' and '.join(at[:2])}" for item_id, at in places.iter_rows()]
        what = f"more than one trajectory of {counted(len(shown), 'item')}"
        hint = "Import each attempt separately, under a system name of its own."
        raise job.input_file.wrong(what, examples=shown, hint=hint)
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
    slashes = pl.col("path_given").str.replace_all("\\", "/", literal=True)
    plain = slashes.str.replace_all(r"/(?:\.?/)+", "/").str.replace(r"^(?:\./)+", "").cast(REPEATED)
    of_item = answers.select("trajectory", "item", "item_id", "pool_id")
    rows = job.views.join(of_item, on="trajectory", maintain_order="left")
    rows = with_files(job.lake, job.task.benchmark, rows.with_columns(plain=plain), "plain", whole_trees=True)
    # Lines are 0-based and half-open from here on.
    given_start, start, end, last = map(pl.col, ("start", "line_start", "line_end", "n_lines"))
    to_the_end = pl.when(given_start > 1).then(pl.max_horizontal(given_start, last))
    given_end = pl.when(given_start.is_not_null()).then(pl.coalesce("end", to_the_end))
    rows = rows.with_columns(line_start=given_start - 1, line_end=given_end)
    final = rows.filter(pl.col("part") == FINAL)
    spans = final.filter(pl.col("path").is_not_null() & start.is_not_null())
    spans = spans.with_columns(line_start=start.clip(0, last), line_end=end.fill_null(last).clip(0, last))
    added = measured(job.lake, spans).select("item", "rank", "part", "n_new_nws")
    sizes = final.group_by("item").agg(n_returned=pl.len().cast(pl.Int64))
    sizes = sizes.join(added.group_by("item").agg(n_nws=pl.col("n_new_nws").sum()), on="item", how="left")
    facts = answers.join(sizes, on="item", how="left")
    failed, without = pl.col("failed").is_not_null(), pl.col("n_returned").is_null()
    no_context = pl.when(without).then(pl.lit("the trajectory gives no final context"))
    ended = facts.select(
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
    used = given.filter(pl.any_horizontal(pl.col(*USAGE, "resolved", "step_calls").is_not_null()))
    return ended, rows, edits, used


Price = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Prices(BaseModel):
    """Prices of a model's tokens in US dollars per million; cached tokens without a price cost as much as input."""

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid", strict=True, frozen=True)

    input: Price
    output: Price
    cached: Price | None = None
    cache_written: Price | None = None


class PriceList(BaseModel):
    """Prices of one day by model; a name applies to all models whose name contains it, and the longest such counts."""

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid", strict=True, frozen=True)

    date: date
    models: Annotated[dict[str, Prices], Field(min_length=1)]


def outcomes_in(file: Path) -> tuple[dict[str, bool], bool | None]:
    """Item → whether it was resolved, by a list or SWE-bench's report; and the outcome of others (None: unknown)."""
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise GoldspanError(f"{file} cannot be read: {error}", hint=_LIKE_OUTCOMES, code=Exit.MISSING) from error
    try:
        report = json.loads(text)
    except (ValueError, RecursionError):
        report = None if text.lstrip().startswith("{") else text.split()
    outcomes, others = dict[str, bool](), None
    if isinstance(report, dict):
        by_instance = {name: object_at(of_item).get("resolved") for name, of_item in report.items()}
        outcomes = {name: is_resolved for name, is_resolved in by_instance.items() if isinstance(is_resolved, bool)}
        for keys, is_resolved in ((_TRIED, False), (("resolved_ids", "resolved"), True)):
            outcomes |= {str_at(name): is_resolved for key in keys for name in list_at(report, key) if str_at(name)}
    elif isinstance(report, list) and all(isinstance(name, str) and name for name in report):
        outcomes, others = dict.fromkeys(report, True), False
    if not outcomes:
        what = f"{file.name} does not say which items are resolved"
        raise GoldspanError(what, where=str(file), hint=_LIKE_OUTCOMES, code=Exit.INVALID)
    return outcomes, others


def with_costs(job: ImportJob, answers: pl.DataFrame) -> pl.DataFrame:
    """The answers to known items with `usd`, `prices` and `resolved`, from the files that the request names."""
    request, models, prices_name, unpriced = job.request, dict[str, Prices](), "", set[str]()
    outcomes, others = outcomes_in(request.resolved) if request.resolved else ({}, None)
    if file := request.prices:
        prices = validated(PriceList, read_yaml(file, _LIKE_PRICES), file, _LIKE_PRICES)
        models, prices_name = prices.models, f"{file.name}, {prices.date}"
    upstream, rows = dict(job.items.select("item_id", "upstream_id").iter_rows()), list[tuple[object, ...]]()
    for row in answers.select("item_id", *USAGE).iter_rows(named=True):
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
        # Compared with all items of the benchmark, as the import may be of a single one.
        items = job.lake.scan("items", benchmark=request.benchmark).select("item_id", "upstream_id").collect()
        if not request.skip_unknown and outcomes.keys().isdisjoint({*items["item_id"], *items["upstream_id"]}):
            what, hint = (
                f"{request.resolved.name} has no item of {request.benchmark}",
                "--skip-unknown accepts it anyway.",
            )
            examples = [ascii(name[:120]) for name in list(outcomes)[:3]]
            raise job.input_file.wrong(what, examples=examples, hint=f"{_LIKE_OUTCOMES} {hint}")
        n, n_resolved = counted(costs["resolved"].count(), "item"), costs["resolved"].sum()
        job.notes.append(f"{n} with an outcome in {request.resolved.name}: {n_resolved:,} resolved")
    return answers.with_columns(costs)
