import pytest

from lake.averages import ITEM
from lake.verdict import (
    BETTER,
    DIFFERENCE,
    INSEPARABLE,
    NO_OTHER,
    PAIR_ALONE,
    WORSE,
    Line,
    Share,
    Verdict,
    verdict_on,
    which_matters_more,
)

SHARES: dict[str, Share] = {
    "chunker": (0.221, 0.104, 0.338), "retriever": (0.614, 0.44, 0.78), "interaction": (0.165, 0.05, 0.29)
}  # fmt: skip
NUMBERS = "the chunker 22 % (10 to 34), the retriever 61 % (44 to 78), their interaction 16 % (5 to 29)"


@pytest.mark.parametrize(
    ("difference", "too_few", "sentence"),
    [
        ((0.39, -0.1, 0.8), False, "The retriever matters more here: it explains 61 % (44 to 78) of the variance "
         "between these 12 systems, the chunker 22 % (10 to 34), their interaction 16 % (5 to 29)."),
        ((0.39, 0.1, 0.7), True, "It is undecided here whether the chunker or the retriever matters more, as there "
         f"are too few items. Shares of the variance between these 12 systems: {NUMBERS}."),
        ((None, -1.0, 1.0), False, "These 12 systems differ by no more than chance."),
    ],
)  # fmt: skip
def test_each_outcome_has_its_sentence(difference: Share, too_few: bool, sentence: str) -> None:
    assert which_matters_more({**SHARES, DIFFERENCE: difference}, 12, too_few=too_few) == sentence


OVERLAPPING: dict[str, Share] = {
    "chunker": (0.5, 0.2, 0.8), "retriever": (0.4, 0.1, 0.7), "interaction": (0.1, 0.0, 0.3)
}  # fmt: skip


@pytest.mark.parametrize(
    ("difference", "start"),
    [
        ((-0.1, -0.5, 0.3), "It is undecided here"),
        ((-0.1, -0.2, -0.01), "The chunker matters more here"),
        ((0.1, 0.01, 0.2), "The retriever matters more here"),
    ],
)
def test_where_two_shares_overlap_the_interval_of_their_difference_tells(difference: Share, start: str) -> None:
    answer = which_matters_more({**OVERLAPPING, DIFFERENCE: difference}, 12, too_few=False, unit=ITEM)
    assert answer.startswith(start)
    assert answer.endswith("(for these repositories only).")


@pytest.mark.parametrize("kind", [BETTER, WORSE, INSEPARABLE])
@pytest.mark.parametrize("ends", [(-0.25, 0.0), (-0.25, 0.00001), (-0.00001, 0.25), (-0.0, -0.0)])
def test_no_sentence_has_a_negative_zero(kind: str, ends: tuple[float, float]) -> None:
    low, high = ends
    verdict = Verdict(run_id="a", reference="b", kind=kind, delta=-0.00001, low=low, high=high)
    sentence = verdict.sentence(str)
    assert "-0.000" not in sentence
    assert "0.000" in sentence


@pytest.mark.parametrize(
    ("delta", "low", "high", "by"),
    [
        (-0.975, -0.975, -0.975, "scores 0.975 less (95 % CI 0.975 to 0.975)"),
        (-0.2, -0.3, -0.1, "scores 0.200 less (95 % CI 0.100 to 0.300)"),
        (0.2, 0.1, 0.3, "by 0.200 (95 % CI 0.100 to 0.300)"),
        (0.00023, 0.00008, 0.0004, "by 0.0002 (95 % CI 0.0001 to 0.0004)"),
    ],
)
def test_the_interval_is_that_of_what_is_said(delta: float, low: float, high: float, by: str) -> None:
    verdict = Verdict(run_id="a", reference="b", kind=WORSE if delta < 0 else BETTER, delta=delta, low=low, high=high)
    assert by in verdict.sentence(str)


@pytest.mark.parametrize(
    ("kind", "low", "exploratory", "is_said"),
    [
        (INSEPARABLE, 0.01, False, True),
        (INSEPARABLE, -0.01, False, False),
        (INSEPARABLE, 0.01, True, False),
        (BETTER, 0.01, False, False),
    ],
)
def test_an_interval_without_0_or_verdict_is_explained(kind: str, low: float, exploratory: bool, is_said: bool) -> None:
    verdict = Verdict(run_id="a", reference="b", kind=kind, delta=0.1, low=low, high=0.2, exploratory=exploratory)
    assert (PAIR_ALONE in verdict.sentence(str)) == is_said


@pytest.mark.parametrize(
    ("ranked", "message"),
    [
        (["other", "reference"], "OTHER, ranked first, beats REFERENCE by 0.100."),
        (["reference", "other"], "No system beats REFERENCE: OTHER, the best of the others, scores 0.100 less."),
        (["reference"], NO_OTHER),
    ],
)  # fmt: skip
def test_the_verdict_is_on_the_first_system_even_where_the_reference_is(ranked: list[str], message: str) -> None:
    systems = {"reference": "whole-file+bm25-okapi"}
    lines = [Line(name, systems.get(name, name), 0.5, is_baseline=False, is_whole=True) for name in ranked]
    kind, delta = (BETTER, 0.1) if ranked[0] != "reference" else (WORSE, -0.1)
    numbers = {"low": None, "high": None, "smallest_detectable": None, "exploratory": False, "unit": "repository"}
    pairs = {("reference", "other"): {"verdict": kind, "delta": delta, **numbers}}
    assert verdict_on(lines, "beir", pairs).sentence(str.upper) == message
