"""The cost of an agent's work on an item, as recorded in its file, and what a user adds: prices and outcomes.

Providers count differently: OpenAI and Google include tokens read from a cache in the tokens of the prompt, Anthropic
does not. Here `n_input` never includes them, and `n_output` always includes reasoning.
"""

from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import BaseModel, ConfigDict, Field

from ingest.runs.values import LAST_LINE, JsonRecord, at, count_at, list_at, object_at, str_at, value_in
from ingest.sources.input_file import InputFile

SYNTHETIC = "<synthetic>"  # Claude Code's model name for answers that no model gave
_MILLISECONDS = 1e11  # a larger number is in milliseconds: as seconds it is a time after the year 5000
_NAMES = (
    ("prompt_tokens", "total_prompt_tokens", "promptTokenCount"),
    ("input_tokens", "inputTokens", "inputOther", "input", "tokens_sent"),
    ("cache_read_input_tokens", "cached_input_tokens", "cache_read_tokens", "cached_tokens", "total_cached_tokens",
     "cacheReadInputTokens", "cacheReadTokens", "cacheRead", "inputCacheRead", "cached", "cachedContentTokenCount"),
    ("cache_creation_input_tokens", "cache_write_tokens", "cache_write_input_tokens", "cacheCreationInputTokens",
     "cacheWriteTokens", "cacheWrite", "inputCacheCreation"),
    ("output_tokens", "completion_tokens", "total_completion_tokens", "outputTokens", "output", "tokens_received",
     "candidatesTokenCount"),
    ("total", "totalTokenCount"),
)  # fmt: skip
"""Names of counts: prompt, input, cache read, cache written, output (Google's lacks thoughts), Google's total."""
LIKE_PRICES = "It must contain `date: 2026-11-01` and `models: {NAME: {input: 3.00, cached: 0.30, output: 15.00}}`."
LIKE_OUTCOMES = "It must be a list of ids of resolved items (one per line, or JSON), or SWE-bench's report."
_TRIED = (
    "submitted_ids", "completed_ids", "unresolved_ids", "error_ids", "empty_patch_ids", "generated", "applied",
    "no_generation",
)  # fmt: skip
"""Keys of SWE-bench's report, of today and of 2024, that list instances which an agent attempted."""


@dataclass(frozen=True)
class TokenCounts:
    """Token counts as defined in :class:`AgentUsage`; None if a format does not record a cache."""

    n_input: int = 0
    n_cached: int | None = None
    n_cache_written: int | None = None
    n_output: int = 0

    @classmethod
    def of(cls, usage: object, *, includes_cached: bool = False) -> "TokenCounts | None":
        """The counts in a usage object of a provider or an agent, for one or several answers; None if it has none.

        A prompt, or an input that `includes_cached`, has the tokens of the cache in it unless these are more.
        """
        flat = {"cached_tokens": at(usage, "prompt_tokens_details", "cached_tokens"), **object_at(usage)}
        given = ([count_at(flat, name) for name in names] for names in _NAMES)
        prompt, fresh, cached, written, output, total = (
            max((count for count in counts if count is not None), default=None) for counts in given
        )
        n_input = fresh if prompt is None else prompt
        if n_input is None and not includes_cached:
            return None
        n_input = n_input or 0
        n_output = max(output or 0, (total or 0) - n_input)
        others = (cached or 0) + (written or 0)
        if others <= n_input and (includes_cached or prompt is not None or "cached_input_tokens" in flat):
            n_input -= others
        return cls(n_input, cached, written, n_output)


@dataclass(frozen=True)
class AgentUsage:
    """The usage for one item, subagents included; None where the file does not record it.

    `model` answered most often; `n_input` counts tokens neither read from nor written to a cache; `seconds` run from
    the first timestamp to the last; `n_turns` counts answers of models; `exit_status` is copied from the record.
    """

    model: str | None = None
    n_input: int | None = None
    n_cached: int | None = None
    n_cache_written: int | None = None
    n_output: int | None = None
    usd: float | None = None
    seconds: float | None = None
    n_turns: int | None = None
    n_calls: int | None = None
    exit_status: str | None = None

    def with_tokens(self, given: Iterable[TokenCounts | None]) -> "AgentUsage":
        """This usage with the sum of some token counts, unless all are 0 or unknown; empty texts become None."""
        total = Counter[str]()
        for tokens in filter(None, given):
            total.update({name: count for name, count in vars(tokens).items() if count is not None})
        known = total if any(total.values()) else {}
        return replace(self, model=self.model or None, exit_status=self.exit_status or None, **known)


def dollars_at(value: object, *keys: str) -> float | None:
    """An amount above 0, else None: a model without a price is recorded as costing 0."""
    amount = at(value, *keys)
    return float(amount) if isinstance(amount, int | float) and amount is not True and 0 < amount < 2**53 else None


def seconds_of(events: Iterable[JsonRecord]) -> float | None:
    """Seconds from the first `timestamp` of some events to the last; None for fewer than two."""
    return seconds_between(event.get("timestamp") for event in events)


def seconds_between(stamps: Iterable[object]) -> float | None:
    """Seconds from first to last time (ISO 8601, or seconds or milliseconds since 1970); None for fewer than two."""
    times = list[float]()
    for stamp in stamps:
        if isinstance(stamp, int | float) and not isinstance(stamp, bool) and 0 < stamp < LAST_LINE:
            times.append(stamp / 1000 if stamp > _MILLISECONDS else stamp)
        elif isinstance(stamp, str):
            with suppress(ValueError):
                moment = datetime.fromisoformat(stamp)
                # Times without a zone all have the same one within a file.
                times.append((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())
    return round(max(times) - min(times), 3) if len(times) > 1 else None


def most_frequent(models: Iterable[str]) -> str | None:
    """The model named most often, the first of several; None if none is named."""
    counts = Counter(model for model in models if model and model != SYNTHETIC)
    return counts.most_common(1)[0][0] if counts else None


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
    given = InputFile.at(file)
    report = value_in(text := given.text())
    if report is None and not text.lstrip().startswith("{"):
        report = text.split()
    outcomes, others = dict[str, bool](), None
    if isinstance(report, dict):
        by_instance = {name: object_at(of_item).get("resolved") for name, of_item in report.items()}
        outcomes = {name: is_resolved for name, is_resolved in by_instance.items() if isinstance(is_resolved, bool)}
        for keys, is_resolved in ((_TRIED, False), (("resolved_ids", "resolved"), True)):
            outcomes |= {str_at(name): is_resolved for key in keys for name in list_at(report, key) if str_at(name)}
    elif isinstance(report, list) and all(isinstance(name, str) and name for name in report):
        outcomes, others = dict.fromkeys(report, True), False
    if not outcomes:
        raise given.wrong(what=f"{file.name} does not say which items are resolved", hint=LIKE_OUTCOMES)
    return outcomes, others
