from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluate.score.contexts.material import Material
from tests.evaluate.score.contexts.contexts_world import CONTEXTS, PUBLISHED, View, answer, scored, world

FILES = {"a.py": "one\n\nthree\nfour and more\n" * 3, "b.py": "\n\nno end", "empty.py": ""}
GOLD = [("a.py", 2, 5), ("a.py", 4, 9), ("b.py", 1, 4), ("gone.py", 1, 3)]
_VIEW = st.builds(View, st.sampled_from([*FILES, "nowhere.py"]), st.integers(-2, 16), st.integers(-2, 16))
_VIEWS = st.lists(_VIEW, max_size=6)

Ranges = list[tuple[int, int]]
SIZES = ("n_gold", "n_pred", "n_hit", "n_cumulative", "n_cumulative_hit")


@pytest.fixture(scope="module")
def material() -> Material:
    return world(FILES, GOLD)


def docs_lines(views: Sequence[View]) -> set[tuple[str, int]]:
    ends = {path: text.count("\n") + (not text.endswith("\n") and text != "") for path, text in FILES.items()}
    return {(v.path, n) for v in views for n in range(v.start or 0, (v.end or 0) + 1) if 1 <= n <= ends.get(v.path, 0)}


def docs_bytes(views: Sequence[View]) -> set[tuple[str, int]]:
    starts = {path: [0, *(at + 1 for at, mark in enumerate(text) if mark == "\n")] for path, text in FILES.items()}
    return {
        (path, byte)
        for path, line in docs_lines(views)
        for byte in range(starts[path][line - 1], ([*starts[path][1:], len(FILES[path])])[line - 1])
    }


def merged(ranges: Ranges) -> Ranges:
    """Published: inclusive ranges in order, one that begins at most behind the last one joining it."""
    out: Ranges = []
    for start, end in sorted(ranges):
        if out and start <= out[-1][1] + 1:
            out[-1] = (out[-1][0], max(out[-1][1], end))
        else:
            out.append((start, end))
    return out


def published_lines(views: Sequence[View]) -> dict[str, Ranges]:
    ranges_of: dict[str, Ranges] = {}
    for view in views:
        if view.path in FILES and (view.start or 0) > 0 and (view.end or 0) > 0:
            ranges_of.setdefault(view.path, []).append((view.start or 0, view.end or 0))
    return {path: merged(ranges) for path, ranges in ranges_of.items()}


def size(held: dict[str, Ranges]) -> int:
    return sum(end - start + 1 for ranges in held.values() for start, end in ranges)


def shared(held: dict[str, Ranges], gold: dict[str, Ranges]) -> int:
    pairs = [(mine, other) for path in held for mine in held[path] for other in gold.get(path, [])]
    return sum(max(0, min(mine[1], other[1]) - max(mine[0], other[0]) + 1) for mine, other in pairs)


GOLD_VIEWS = [View(*span) for span in GOLD]


@given(st.lists(_VIEWS, max_size=4), _VIEWS)
def test_docs_sizes_are_those_of_sets(material: Material, steps: list[list[View]], final: list[View]) -> None:
    scores = scored(CONTEXTS, material, answer(final, steps))
    for granularity, as_set in (("line", docs_lines), ("span", docs_bytes)):
        gold = as_set(GOLD_VIEWS)
        rows = scores.steps.filter(granularity=granularity).select(SIZES)
        seen: list[View] = []
        for step, row in zip(steps, rows.iter_rows(), strict=True):
            seen += step
            here, so_far = as_set(step), as_set(seen)
            assert row == (len(gold), len(here), len(here & gold), len(so_far), len(so_far & gold))
        precision = scores.scores.filter(metric=f"{granularity}_precision", k=0).row(0, named=True)
        held = as_set(final)
        assert (precision["numerator"], precision["denominator"]) == (len(held & gold), len(held))


@given(st.lists(_VIEWS, max_size=4), _VIEWS)
def test_published_sizes_are_of_merged_ranges(material: Material, steps: list[list[View]], final: list[View]) -> None:
    scores = scored(PUBLISHED, material, answer([*final, View("a.py")], steps))
    gold = {"a.py": [(2, 9)], "b.py": [(1, 4)], "gone.py": [(1, 3)]}
    rows = scores.steps.filter(granularity="line").select(SIZES)
    seen: list[View] = []
    for step, row in zip(steps or [final], rows.iter_rows(), strict=True):
        seen += step
        here, so_far = published_lines(step), published_lines(seen)
        assert row == (15, size(here), shared(here, gold), size(so_far), shared(so_far, gold))
    held = published_lines(final)
    precision = scores.scores.filter(metric="line_precision", k=0).row(0, named=True)
    assert (precision["numerator"], precision["denominator"]) == (shared(held, gold), size(held))
    assert precision["value"] == (shared(held, gold) / size(held) if size(held) > 0 else 1.0)
