"""Conclusions in fixed words: the first system compared with its reference, and chunkers compared with retrievers."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

import polars as pl

from lake.averages import ITEM, ITEM_NOTE, REPOSITORY
from lake.text import counted

REFERENCES: Mapping[str, Sequence[str]] = {
    "repoeval": ("fixed-nws-1500+own-file", "*+own-file"),
    "repobench-r": ("whole-file+random", "*+random"),
    "contextbench": ("fixed-nws-1500+bm25-okapi", "*+bm25-okapi"),
}
"""Benchmark → patterns of its reference system, fixed before any result was known."""
_USUAL = ("whole-file+bm25-okapi", "*+bm25-okapi")

BETTER, WORSE, INSEPARABLE = "better", "worse", "cannot be separated"
EQUIVALENT, TOO_FEW = "equivalent", "too few items"
"""The possible verdicts on the second of two systems."""
IN_WORDS: Mapping[str, str] = {INSEPARABLE: "not significantly different"}
LIMITED, FEWER_ITEMS = "limited", "fewer items"
"""States of complete runs that are not compared on a board: they were run, or scored, on fewer items."""
EXPLORATORY = "not corrected for multiple comparisons"
PAIR_ALONE = "the interval is of this pair alone, the test is corrected for multiple comparisons"
ALONE = "(testing this pair alone) "
NO_SYSTEM = "No system was run beside the baselines."
NO_OTHER = "No system was run beside the reference."
NONE_WHOLE = "No system has a number over all the items, so none is ranked."

SENTENCES: Mapping[str, str] = {
    BETTER: "{system}, {place}, beats {reference} by {by}{interval}.",
    WORSE: "No system beats {reference}: {system}, {place}, scores {by} less{interval}.",
    INSEPARABLE: "{system}, {place}, is not significantly different from {reference}: {delta}{least}.",
    EQUIVALENT: "{system}, {place}, and {reference} are equivalent: {delta}.",
    TOO_FEW: "Too few items to compare {system} with {reference}: {delta}.",
}

Share = tuple[float | None, float, float]
DIFFERENCE = "retriever over chunker"  # the row for the retriever's share minus the chunker's share
FACTORS = ("chunker", "retriever", "interaction")


def reference_of(kind: str, systems: Iterable[str]) -> str:
    """The first system by name that the first matching pattern of a kind of benchmark matches; empty if none does."""
    names = sorted(systems)
    return next((name for pattern in REFERENCES.get(kind, _USUAL) for name in names if fnmatchcase(name, pattern)), "")


@dataclass(frozen=True)
class Verdict:
    """The comparison of a benchmark's first system with its reference, or `nothing`, the reason why there is none.

    `is_first`: the system ranks first, not the reference. `delta` is the system's score minus the reference's.
    """

    nothing: str = ""
    run_id: str = ""
    reference: str = ""
    kind: str = ""
    is_first: bool = True
    delta: float = 0.0
    low: float | None = None
    high: float | None = None
    smallest_detectable: float | None = None
    exploratory: bool = False
    unit: str = REPOSITORY

    def sentence(self, called: Callable[[str], str], digits: int = 3, first: str = "ranked first") -> str:
        """The verdict as a sentence; `called` gives the name of a run's system, `first` the words for the top place."""
        if self.nothing:
            return self.nothing
        interval, by, leaves_out_0 = "", "", False
        if self.low is not None and self.high is not None:
            leaves_out_0 = self.low > 0 or self.high < 0
            # An interval without 0 is shown with enough digits for none of its ends to look like 0.
            least = min(abs(self.low), abs(self.high)) if leaves_out_0 else 1.0
            digits = next((n for n in range(digits, 9) if round(least, n)), 9)
            low, high = (self.low, self.high) if self.delta >= 0 else (-self.high, -self.low)
            interval = f" (95 % CI {self.low:z.{digits}f} to {self.high:z.{digits}f})"
            by = f" (95 % CI {low:z.{digits}f} to {high:z.{digits}f})"
        bound, alone = self.smallest_detectable, ALONE if self.exploratory else ""
        text = SENTENCES[self.kind].format(
            system=called(self.run_id),
            place=first if self.is_first else "the best of the others",
            reference=called(self.reference),
            by=f"{abs(self.delta):.{digits}f}",
            interval=by,
            delta=f"{self.delta:+z.{digits}f}{interval}",
            least="" if bound is None else f"; smallest detectable difference {alone}{bound:.{digits}f}",
        )
        notes = [f"exploratory: {EXPLORATORY}"] if self.exploratory else []
        notes += [PAIR_ALONE] if self.kind == INSEPARABLE and leaves_out_0 and not self.exploratory else []
        notes += [ITEM_NOTE] if self.unit == ITEM else []
        before = f"{text[:-2]}; " if text.endswith(").") else f"{text[:-1]} ("
        return f"{before}{'; '.join(notes)})." if notes else text


class Line(NamedTuple):
    """A run on a leaderboard; `is_whole`: its score is over all items."""

    run_id: str
    system: str
    number: float | None
    is_baseline: bool
    is_whole: bool


Pairs = Mapping[tuple[str, str], Mapping[str, Any]]


def by_pair(comparisons: pl.LazyFrame) -> Pairs:
    """Rows of table `comparisons` for one measure and slice, by pair of run ids in either order."""
    return both_ways(comparisons).collect().rows_by_key(["run_a", "run_b"], named=True, unique=True, include_key=True)


def verdict_on(lines: Sequence[Line], kind: str, pairs: Pairs) -> Verdict:
    """The verdict on the first non-baseline system of `lines` (best first), compared with the reference of `kind`."""
    systems = [line for line in lines if line.is_whole and not line.is_baseline]
    if not systems:
        return Verdict(NO_SYSTEM if all(line.is_baseline for line in lines) else NONE_WHOLE)
    if not (reference := reference_of(kind, {line.system for line in lines})):
        return Verdict("Nothing to compare: the declared reference was not run.")
    other = min((not line.is_whole, line.run_id, line) for line in lines if line.system == reference)[2]
    first = next((line for line in systems if line.system != reference), None)
    if first is None:
        return Verdict(NO_OTHER)
    row = pairs.get((other.run_id, first.run_id))
    between = Verdict(run_id=first.run_id, reference=other.run_id)
    if row is None or row["verdict"] is None:
        return replace(between, kind=TOO_FEW, delta=(first.number or 0.0) - (other.number or 0.0))
    return replace(
        between,
        kind=row["verdict"],
        is_first=first is systems[0],
        **{name: row[name] for name in ("delta", "low", "high", "smallest_detectable", "exploratory", "unit")},
    )


def both_ways(comparisons: pl.LazyFrame) -> pl.LazyFrame:
    """Every comparison twice: as stored, and with the two runs swapped."""
    exchanged = {"run_a": "run_b", "run_b": "run_a", "wins": "losses", "losses": "wins"}
    negated = {"delta": "delta", "low": "high", "high": "low"}
    mirrored = comparisons.with_columns(
        *(pl.col(other).alias(name) for name, other in exchanged.items()),
        *((0.0 - pl.col(other)).alias(name) for name, other in negated.items()),
        pl.col("verdict").replace({BETTER: WORSE, WORSE: BETTER}),
    )
    return pl.concat([comparisons, mirrored])


def which_matters_more(shares: Mapping[str, Share], n_systems: int, *, too_few: bool, unit: str = REPOSITORY) -> str:
    """The answer as a sentence with numbers, from the share of each factor in a grid of `n_systems`."""
    share, low, high = shares[DIFFERENCE]
    if share is None:
        return f"These {n_systems} systems differ by no more than chance."
    chunker, retriever = (f"the {name} {_percent(shares[name])}" for name in ("chunker", "retriever"))
    together = f"their interaction {_percent(shares['interaction'])}"
    explained = f"of the variance between these {n_systems} systems"
    over = f" ({ITEM_NOTE})" if unit == ITEM else ""
    retriever_leads = low > 0 or shares["retriever"][1] > shares["chunker"][2]
    chunker_leads = high < 0 or shares["chunker"][1] > shares["retriever"][2]
    if too_few or retriever_leads == chunker_leads:
        why = "there are too few items" if too_few else "the intervals allow for either"
        undecided = "It is undecided here whether the chunker or the retriever matters more"
        return f"{undecided}, as {why}. Shares {explained}: {chunker}, {retriever}, {together}{over}."
    first, second = ("retriever", chunker) if retriever_leads else ("chunker", retriever)
    answer = f"it explains {_percent(shares[first])} {explained}, {second}, {together}"
    return f"The {first} matters more here: {answer}{over}."


COVERED: Mapping[str, str] = {"file_coverage": "files", "line_coverage": "lines"}
"""Coverage metric of a final context → the unit of gold that it counts."""


def repair_sentence(row: Mapping[str, Any], system: str) -> str:
    """A row of table `repairs` as a sentence."""
    delta, low, high = row["delta"], row["low"], row["high"]
    verdict = "it cannot be told whether context predicts repair"
    if low > 0 or high < 0:
        verdict = "context predicts repair" if low > 0 else "less context goes with repair"
    more = "more" if delta >= 0 else "less"
    over = f"{counted(row['n_items'], 'item')}{f'; {ITEM_NOTE}' if row['unit'] == ITEM else ''}"
    return (
        f"{system}: {verdict}. Where it resolved the item, its context has {abs(delta):.3f} {more} of the gold "
        f"{COVERED[row['metric']]} than elsewhere in the same repository "
        f"(95 % CI {low:z.3f} to {high:z.3f}; {over})."
    )


def _percent(share: Share) -> str:
    point, low, high = (round(100 * (end or 0.0)) for end in share)
    return f"{point} % ({low} to {high})"
