"""Whether the chunker or the retriever matters more, in a sentence from the rows of table `effects`."""

from __future__ import annotations

from collections.abc import Mapping

Share = tuple[float | None, float, float]
"""A share of what varies, and its interval."""

DIFFERENCE = "retriever over chunker"
"""The factor whose share is that of the retriever less that of the chunker."""

FACTORS = ("chunker", "retriever", "interaction")
"""What varies between the systems of a grid."""

_UNTOLD = "cannot be told here whether the chunker or the retriever matters more"


def which_matters_more(shares: Mapping[str, Share], n_systems: int, *, too_few: bool) -> str:
    """The answer with its numbers.

    Args:
        shares: Factor → its share, of a grid of systems.
        n_systems: How many these are.
        too_few: There are too few items or repositories to say.
    """
    share, low, high = shares[DIFFERENCE]
    if share is None:
        return f"Between these {n_systems} systems nothing varies but by chance."
    chunker, retriever = (f"the {name} {_percent(shares[name])}" for name in ("chunker", "retriever"))
    together = f"what only the two together do {_percent(shares['interaction'])}"
    explained = f"of what varies between these {n_systems} systems"
    if too_few or low <= 0 <= high:
        why = "there are too few items or repositories" if too_few else "the intervals allow for either"
        return f"It {_UNTOLD}, as {why}: {explained} {chunker}, {retriever}, {together}."
    first, second = ("retriever", chunker) if low > 0 else ("chunker", retriever)
    return f"The {first} matters more here: it explains {_percent(shares[first])} {explained}, {second}, {together}."


def _percent(share: Share) -> str:
    point, low, high = (round(100 * (one or 0.0)) for one in share)
    return f"{point} % ({low} to {high})"
