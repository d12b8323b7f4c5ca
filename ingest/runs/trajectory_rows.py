"""Imported trajectories as rows of the lake: every path found in its tree, what was used, all else as it was given."""

import json
from collections import Counter
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Annotated, ClassVar

import polars as pl
from pydantic import BaseModel, ConfigDict, Field

from ingest.contents.patches import edit_rows
from ingest.runs.imported_runs import Tables, imported_hits, run_items
from ingest.runs.ranking_rows import REPEATED
from ingest.runs.read_trajectories import USAGE
from ingest.runs.request import AskedItems, ImportJob, ImportRequest
from ingest.runs.resolve_paths import ContentLines, with_files
from ingest.runs.values import list_at, object_at, str_at
from ingest.sources.strict_yaml import read_yaml, validated
from lake.errors import Exit, GoldspanError
from lake.naming import FINAL, PUBLISHED_READING
from lake.tables import table
from lake.text import counted, listed

_TOKENS = {"n_input": "input", "n_cached": "cached", "n_cache_written": "cache_written", "n_output": "output"}
_LIKE_PRICES = "It is to hold `date: 2026-11-01` and `models: {NAME: {input: 3.00, cached: 0.30, output: 15.00}}`."
_LIKE_OUTCOMES = "It is to hold ids of resolved items, a line each or as a JSON list, or to be SWE-bench's report."
_TRIED = (
    "submitted_ids", "completed_ids", "unresolved_ids", "error_ids", "empty_patch_ids", "generated", "applied",
    "no_generation",
)  # fmt: skip
"""Keys of SWE-bench's report, of today and of 2024, that list instances which an agent tried."""


def trajectory_tables(
    job: ImportJob, part: AskedItems, views: pl.DataFrame, given: pl.DataFrame, usage: "UsageRows"
) -> Tables:
    """One part's rows of `hits`, `run_items`, `edits` and `usage`; `given` are the answers to its items."""
    items = part.scorable.with_row_index("item").cast({"item": pl.Int64})
    answers = given.join(items.select("item_id", "item", "pool_id"), on="item_id", maintain_order="left")
    job.result.counts["n_unscorable"] += given.height - answers.height
    slashes = pl.col("path_given").str.replace_all("\\", "/", literal=True)
    plain = slashes.str.replace_all(r"/(?:\.?/)+", "/").str.replace(r"^(?:\./)+", "").cast(REPEATED)
    rows = views.join(answers.select("trajectory", "item", "pool_id"), on="trajectory", maintain_order="left")
    rows = with_files(job, rows.with_columns(plain=plain), "plain", whole_trees=True)
    # Lines are 0-based and half-open from here on.
    given_start, start, end, last = map(pl.col, ("start", "line_start", "line_end", "n_lines"))
    to_the_end = pl.when(given_start > 1).then(pl.max_horizontal(given_start, last))
    given_end = pl.when(given_start.is_not_null()).then(pl.coalesce("end", to_the_end))
    rows = rows.with_columns(line_start=given_start - 1, line_end=given_end)
    final = rows.filter(pl.col("part") == FINAL)
    spans = final.filter(pl.col("path").is_not_null() & start.is_not_null())
    spans = spans.with_columns(line_start=start.clip(0, last), line_end=end.fill_null(last).clip(0, last))
    # item, rank, n_new_nws: what each row of a final context adds to those before it.
    added = ContentLines.of(job.lake, spans["sha256"]).added(spans)
    returned = final.group_by("item").agg(n_returned=pl.len().cast(pl.Int64))
    n_nws = added.group_by("item").agg(n_nws=pl.col("n_new_nws").sum())
    facts = answers.drop("item_id").join(returned, on="item", how="left").join(n_nws, on="item", how="left")
    failed, without = pl.col("failed").is_not_null(), pl.col("n_returned").is_null()
    status = pl.when(failed).then(pl.lit("failed")).when(without).then(pl.lit("no-context")).otherwise(pl.lit("done"))
    no_context = pl.when(without).then(pl.lit("the trajectory gives no final context"))
    facts = facts.select(
        "item", "n_returned", "n_nws", pl.when(~failed).then(pl.col("n_steps", "n_steps_published")), status=status,
        error=pl.coalesce("failed", no_context), has_patch=pl.when(~failed).then(pl.col("patch").fill_null("") != ""),
    )  # fmt: skip
    outcomes = items.select("item_id", "item").join(facts, on="item", how="left")
    ended = run_items(job.run_id, outcomes, f"no trajectory in {job.input_file.name}")
    whole = answers.filter(pl.col("failed").is_null())
    patched = whole.filter(pl.col("patch").str.strip_chars() != "")
    edits, notes = edit_rows(job.run_id, patched.select("item_id", "patch").iter_rows())
    position = dict(patched.select("item_id", "position").iter_rows())
    for item_id, note in notes:
        job.rejects.add(position[item_id], f"item {item_id}", note)
    own = rows.filter(~pl.col("part").str.starts_with(PUBLISHED_READING))
    # A file that is named beside its lines is named once.
    named = own.unique(["item", "part", "step", "path_given"], maintain_order=True)
    job.result.counts.update(
        n_faulty_patches=len({item_id for item_id, _ in notes}), n_no_patch=whole.height - patched.height,
        n_steps=int(ended["n_steps"].sum()), n_hits=named.height, n_spans=own.filter(start.is_not_null()).height,
        n_beyond=own.filter(end > last).height, n_reversed=own.filter((start < 0) | (end < 1) | (end <= start)).height,
    )  # fmt: skip
    job.result.add_unresolved(named.filter(pl.col("path").is_null())["path_given"])
    used = usage.part(given.join(part.items.select("item_id", "upstream_id"), on="item_id"))
    of_final = added.with_columns(part=pl.lit(FINAL))
    rows = rows.join(of_final, on=["item", "part", "rank"], how="left", maintain_order="left")
    return {"hits": imported_hits(job.run_id, rows, items), "edits": edits, "usage": used, "run_items": ended}


Price = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Prices(BaseModel):
    """What a model's tokens cost, in US dollars per million; what is read from or written to a cache, as input."""

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid", strict=True, frozen=True)

    input: Price
    output: Price
    cached: Price | None = None
    cache_written: Price | None = None


class PriceList(BaseModel):
    """Prices on a day, by model: a name is that of every model whose own name contains it, the longest first."""

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid", strict=True, frozen=True)

    date: date
    models: Annotated[dict[str, Prices], Field(min_length=1)]


def outcomes_in(file: Path) -> tuple[dict[str, bool], bool | None]:
    """Item → whether it was resolved, by a list of those that were or by SWE-bench's report; and that of all others."""
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
        if not outcomes:
            for keys, is_resolved in ((_TRIED, False), (("resolved_ids", "resolved"), True)):
                ids = (str_at(name) for key in keys for name in list_at(report, key))
                outcomes |= dict.fromkeys(filter(None, ids), is_resolved)
    elif isinstance(report, list) and all(isinstance(name, str) and name for name in report):
        outcomes, others = dict.fromkeys(report, True), False
    if not outcomes:
        what = f"{file.name} names no item as resolved or not"
        raise GoldspanError(what, where=str(file), hint=_LIKE_OUTCOMES, code=Exit.INVALID)
    return outcomes, others


class UsageRows:
    """The rows of table `usage` of a run, part by part."""

    def __init__(self, run_id: str, request: ImportRequest) -> None:
        self.run_id, self.resolved, self.prices = run_id, request.resolved, dict[str, Prices]()
        self.outcomes, self.others = outcomes_in(self.resolved) if self.resolved else ({}, None)
        self.prices_name, self.unpriced, self.n_priced, self.n_known = "", set[str](), 0, Counter[bool]()
        if file := request.prices:
            prices = validated(PriceList, read_yaml(file, _LIKE_PRICES), file, _LIKE_PRICES)
            self.prices, self.prices_name = prices.models, f"{file.name}, {prices.date}"

    def part(self, answers: pl.DataFrame) -> pl.DataFrame:
        """A row for every answer (item_id, upstream_id, step_turns, step_calls, `USAGE`) of which anything is known."""
        rows = []
        columns = ("item_id", "upstream_id", "step_turns", "step_calls", *USAGE)
        for row in answers.select(columns).iter_rows(named=True):
            names = (row["item_id"], row.pop("upstream_id"))
            resolved = max((self.outcomes[name] for name in names if name in self.outcomes), default=self.others)
            priced = self._price(row) if row["usd"] is None else None
            self.n_priced += priced is not None
            if resolved is not None:
                self.n_known[resolved] += 1
            row |= {"usd": row["usd"] if priced is None else priced, "resolved": resolved}
            row["prices"] = self.prices_name if priced is not None else None
            if any(row[name] is not None for name in (*USAGE, "resolved", "step_calls")):
                rows.append({"run_id": self.run_id, **row})
        return pl.DataFrame(rows, schema=table("usage").columns)

    def _price(self, row: Mapping[str, object]) -> float | None:
        if not self.prices or row["n_input"] is None:
            return None
        model = str(row["model"] or "")
        names = [name for name in self.prices if name in model]
        if not names:
            self.unpriced.add(model or "a model without a name")
            return None
        prices = self.prices[max(names, key=len)]
        by_kind = prices.model_dump(exclude_none=True)
        dollars = (int(str(row[name] or 0)) * by_kind.get(kind, prices.input) for name, kind in _TOKENS.items())
        return float(sum(dollars)) / 1_000_000

    def sentences(self) -> list[str]:
        """What came of the price list and of the outcomes, for the last block."""
        sentences = []
        if self.prices:
            none = f"; it has no price of {listed(sorted(self.unpriced))}" if self.unpriced else ""
            sentences.append(f"{counted(self.n_priced, 'item')} priced by {self.prices_name}{none}")
        if self.resolved is not None:
            n = counted(self.n_known.total(), "item")
            sentences.append(f"outcome of {n} known by {self.resolved.name}: {self.n_known[True]:,} resolved")
        return sentences
