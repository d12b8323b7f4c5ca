"""What `python -m evaluate compare` prints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from evaluate.metrics import metric_named
from evaluate.results.board import called
from evaluate.results.compared import Compared
from evaluate.statistics.comparisons import FEWEST_ITEMS, FEWEST_REPOS, POINT
from lake.text import counted
from lake.verdict import BETTER, EQUIVALENT, INSEPARABLE, TOO_FEW, WORSE


def comparison(
    found: Sequence[Compared], broken: Sequence[Compared], *, flips: bool = False, names_runs: bool = False
) -> Iterator[str]:
    """The lines of a comparison: the numbers, once more where the two have numbers for different items, the verdict.

    Args:
        found: The comparisons.
        broken: Those that fail the gate.
        flips: Whether to name the items on which the two differ.
        names_runs: Whether to say which runs A and B are, as they were not named.
    """
    yield f"{'protocol, metric':44}{'A':>9}{'B':>9}{'B - A':>9}{'wins':>7}{'ties':>7}{'losses':>8}{'items':>8}  over"
    for one in found:
        several = len({other.task for other in found if other.protocol == one.protocol}) > 1
        named = f"{one.protocol}{f' of {one.task}' if several else ''} {called(metric_named(one.metric), one.k)}"
        label = named if one.is_declared else f"{named} (exploratory)"
        over = f"  {one.slice} {one.slice_value}, {one.average}{'  fails' if one in broken else ''}"
        counts = ((one.wins, 7), (one.ties, 7), (one.losses, 8))
        moved = "".join("–".rjust(width) if n is None else f"{n:{width},}" for n, width in counts)
        paired = f"{one.a_shared:9.3f}{one.b_shared:9.3f}{one.delta:+9.3f}{moved}{one.n:8,}"
        if one.n_a == one.n_b == one.n:
            yield f"{label:44}{paired}{over}"
        else:
            yield f"{label:44}{one.a:9.3f}{one.b:9.3f}{f'{one.n_a:,} and {one.n_b:,}':>39}{over}"
            yield f"{'  on the items that both have':44}{paired}"
        if names_runs:
            yield f"  A is {one.run_a}, B is {one.run_b}"
        yield f"  {_sentence(one)}"
        for repo, n, a, b in one.repositories[:_MOST_REPOSITORIES]:
            yield f"    {repo:40}{a:9.3f}{b:9.3f}{b - a:+9.3f}{n:30,}"
        if (n_more := len(one.repositories) - _MOST_REPOSITORIES) > 0:
            yield f"    {counted(n_more, 'more repository')}: --json"
        for item_id, a, b in one.flips if flips else ():
            yield f"    {item_id:40}{a:9.3f}{b:9.3f}{b - a:+9.3f}"
    if any(one.wins is None for one in found):
        yield "  –: random's numbers are expectations over all orders, which win, tie and lose nothing"


_MOST_REPOSITORIES = 10
_VERDICTS = {
    BETTER: "B is better than A",
    WORSE: "B is worse than A",
    INSEPARABLE: "A and B cannot be separated",
    EQUIVALENT: f"A and B are equivalent: less than {POINT} apart",
    TOO_FEW: f"too few to say which is better: under {FEWEST_REPOS} repositories or {FEWEST_ITEMS} items",
    None: "neither is better by this metric",
}


def _sentence(one: Compared) -> str:
    """The verdict, and the numbers that it is from."""
    interval = "" if one.low is None else f" ({one.low:+.3f} to {one.high:+.3f})"
    p = f"p {one.p:.3g}, exploratory" if one.p_adjusted is None else f"p {one.p_adjusted:.3g}, adjusted for all pairs"
    least = "" if one.smallest_detectable is None else f"; detectable from {one.smallest_detectable:.3f}"
    repos = counted(one.n_repos, "repository")
    return f"{_VERDICTS[one.verdict]}: {one.delta:+.3f}{interval}, {p}{least}; {repos}"
