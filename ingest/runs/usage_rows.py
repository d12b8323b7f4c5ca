"""What agents used, as rows of the lake: from their files, a price list and a list of outcomes."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Annotated, ClassVar

import polars as pl
from pydantic import BaseModel, ConfigDict, Field

from ingest.runs.trajectories.usage import AgentUsage
from ingest.runs.values import list_at, object_at, str_at
from ingest.sources.strict_yaml import read_yaml, validated
from lake.errors import Exit, GoldspanError
from lake.fingerprint import sha256_of_file
from lake.tables import table
from lake.text import counted, listed

USAGE: Mapping[str, pl.DataType] = {name: table("usage").columns[name] for name in vars(AgentUsage())}
"""The columns of what an agent used."""

_TOKENS = {"n_input": "input", "n_cached": "cached", "n_cache_written": "cache_written", "n_output": "output"}
_PER = 1_000_000
_LIKE_PRICES = "It is to hold `date: 2026-11-01` and `models: {NAME: {input: 3.00, cached: 0.30, output: 15.00}}`."
_LIKE_OUTCOMES = "It is to hold ids of resolved items, a line each or as a JSON list, or to be SWE-bench's report."
_TRIED = (
    "submitted_ids", "completed_ids", "unresolved_ids", "error_ids", "empty_patch_ids", "generated", "applied",
    "no_generation",
)  # fmt: skip
"""Keys of SWE-bench's report, of today and of 2024, that list instances which an agent tried."""

Price = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Prices(BaseModel):
    """What a model's tokens cost, in US dollars per million; what is read from or written to a cache, as input."""

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid", strict=True, frozen=True)

    input: Price
    output: Price
    cached: Price | None = None
    cache_written: Price | None = None


class PriceList(BaseModel):
    """Prices on a day, by model."""

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid", strict=True, frozen=True)

    date: date
    models: Annotated[dict[str, Prices], Field(min_length=1)]

    def of(self, model: str) -> Prices | None:
        """The prices of a model: those under its name, else those under the longest name that its own contains."""
        names = [name for name in self.models if name in model]
        return self.models[max(names, key=len)] if names else None


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


@dataclass(frozen=True)
class Given:
    """What is given beside agents' files: a price list, and outcomes."""

    prices: Path | None = None
    resolved: Path | None = None

    @property
    def parameters(self) -> list[str]:
        """What a run is made from beside its own file: digests of these."""
        files = [file for file in (self.prices, self.resolved) if file is not None and file.is_file()]
        return [sha256_of_file(file) for file in files]


class UsageRows:
    """The rows of table `usage` of a run, part by part."""

    def __init__(self, run_id: str, given: Given) -> None:
        self.run_id, self.given = run_id, given
        self.prices, self.prices_name, self.unpriced = None, "", set[str]()
        self.outcomes, self.others = dict[str, bool](), None
        self.n_priced, self.n_known = 0, Counter[bool]()
        if given.prices is not None:
            self.prices = validated(PriceList, read_yaml(given.prices, _LIKE_PRICES), given.prices, _LIKE_PRICES)
            self.prices_name = f"{given.prices.name}, {self.prices.date}"
        if given.resolved is not None:
            self.outcomes, self.others = outcomes_in(given.resolved)

    def part(self, answers: pl.DataFrame) -> pl.DataFrame:
        """A row for every answer of which anything is known.

        The answers are item_id, upstream_id, step_turns, step_calls and the columns of `USAGE`.
        """
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
        if self.prices is None or row["n_input"] is None:
            return None
        prices = self.prices.of(str(row["model"] or ""))
        if prices is None:
            self.unpriced.add(str(row["model"] or "a model without a name"))
            return None
        by_kind = prices.model_dump(exclude_none=True)
        dollars = (int(str(row[name] or 0)) * by_kind.get(kind, prices.input) for name, kind in _TOKENS.items())
        return float(sum(dollars)) / _PER

    def sentences(self) -> list[str]:
        """What came of the price list and of the outcomes, for the last block."""
        sentences = []
        if self.prices is not None:
            none = f"; it has no price of {listed(sorted(self.unpriced))}" if self.unpriced else ""
            sentences.append(f"{counted(self.n_priced, 'item')} priced by {self.prices_name}{none}")
        if self.given.resolved is not None:
            n = counted(self.n_known.total(), "item")
            sentences.append(f"outcome of {n} known by {self.given.resolved.name}: {self.n_known[True]:,} resolved")
        return sentences
