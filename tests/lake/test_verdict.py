"""Whether the chunker or the retriever matters more: one sentence for each outcome."""

from __future__ import annotations

import pytest

from lake.verdict import DIFFERENCE, Share, which_matters_more

SHARES: dict[str, Share] = {
    "chunker": (0.221, 0.104, 0.338), "retriever": (0.614, 0.44, 0.78), "interaction": (0.165, 0.05, 0.29)
}  # fmt: skip
NUMBERS = "the chunker 22 % (10 to 34), the retriever 61 % (44 to 78), what only the two together do 16 % (5 to 29)"


@pytest.mark.parametrize(
    ("difference", "too_few", "sentence"),
    [
        ((0.39, 0.1, 0.7), False, "The retriever matters more here: it explains 61 % (44 to 78) of what varies between "
         "these 12 systems, the chunker 22 % (10 to 34), what only the two together do 16 % (5 to 29)."),
        ((-0.39, -0.7, -0.1), False, "The chunker matters more here: it explains 22 % (10 to 34) of what varies "
         "between these 12 systems, the retriever 61 % (44 to 78), what only the two together do 16 % (5 to 29)."),
        ((0.39, -0.1, 0.8), False, "It cannot be told here whether the chunker or the retriever matters more, as the "
         f"intervals allow for either: of what varies between these 12 systems {NUMBERS}."),
        ((0.39, 0.1, 0.7), True, "It cannot be told here whether the chunker or the retriever matters more, as there "
         f"are too few items or repositories: of what varies between these 12 systems {NUMBERS}."),
        ((None, -1.0, 1.0), False, "Between these 12 systems nothing varies but by chance."),
    ],
)  # fmt: skip
def test_each_outcome_has_its_sentence(difference: Share, too_few: bool, sentence: str) -> None:
    assert which_matters_more({**SHARES, DIFFERENCE: difference}, 12, too_few=too_few) == sentence
