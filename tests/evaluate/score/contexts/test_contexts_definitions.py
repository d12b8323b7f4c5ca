import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluate.score.contexts.gold_sets import ContentDefinitions
from lake.catalog.protocol import DOCS_CONTEXTS, OFFICIAL_CONTEXTS, ContextRules
from tests.frames import frame

Found = tuple[int, int, int, str]

TEXTS = pl.DataFrame({"sha256": ["one", "two", "none"]})
_DEFINITION = st.tuples(st.integers(0, 1), st.integers(0, 20), st.integers(0, 12), st.sampled_from("fgh"))
_SPAN = st.tuples(st.integers(0, 2), st.integers(0, 40), st.integers(1, 20))


def definitions(rows: list[Found], rules: ContextRules) -> ContentDefinitions:
    rows_of_texts = frame(
        [(TEXTS["sha256"][text], start, start + length, name, name, f"A.{name}") for text, start, length, name in rows],
        *("sha256", "byte_start", "byte_end", "kind", "name", "qualified_name"),
    ).unique(maintain_order=True)
    return ContentDefinitions(rows_of_texts.collect(), TEXTS, rules)


def overlapped(rows: list[Found], spans: list[tuple[int, int, int]], rules: ContextRules) -> list[set[int]]:
    text, start, length = np.array(spans, np.int64).reshape(-1, 3).T
    overlaps = definitions(rows, rules).overlapped(text, start, start + length)
    symbols: list[set[int]] = [set() for _ in spans]
    for row, first, after in zip(*overlaps, strict=True):
        symbols[row] |= set(range(first, after))
    return symbols


def numbered(rows: list[Found], rules: ContextRules) -> list[tuple[int, int, int, int]]:
    """Text, start, last byte that counts and number of each definition; symbols are counted in the order of theirs."""
    numbers: list[dict[object, int]] = [{}, {}, {}]
    out = []
    for text, start, length, name in sorted(set(rows), key=lambda row: (row[0], row[1], row[1] + row[2], row[3])):
        if rules is DOCS_CONTEXTS and not length:
            continue
        key = name if rules is DOCS_CONTEXTS else (start, length, name)
        # Published, an exclusive end is held against inclusive spans.
        last = start + length - (rules is DOCS_CONTEXTS)
        out.append((text, start, last, numbers[text].setdefault(key, len(numbers[text]))))
    return out


@pytest.mark.parametrize("rules", [DOCS_CONTEXTS, OFFICIAL_CONTEXTS], ids=["docs", "official"])
@given(st.lists(_DEFINITION, max_size=10), st.lists(_SPAN, min_size=1, max_size=6))
def test_spans_overlap_at_one_byte(rules: ContextRules, rows: list[Found], spans: list[tuple[int, int, int]]) -> None:
    known = numbered(rows, rules)
    wanted = [
        {n for other, begin, last, n in known if other == text and begin < start + length and last >= start}
        for text, start, length in spans
    ]
    assert overlapped(rows, spans, rules) == wanted


@pytest.mark.parametrize(
    ("rules", "symbol", "meant"),
    [
        (DOCS_CONTEXTS, "A.f", {0}),
        (DOCS_CONTEXTS, "g", {1}),
        (DOCS_CONTEXTS, "Other.g", {1}),
        (DOCS_CONTEXTS, "nothing", set()),
        (OFFICIAL_CONTEXTS, "f", {0, 2}),
        (OFFICIAL_CONTEXTS, " A.f ", {0, 2}),
        (OFFICIAL_CONTEXTS, "A.nothing", set()),
    ],
)
def test_a_name_is_matched_whole_or_by_its_last_part(rules: ContextRules, symbol: str, meant: set[int]) -> None:
    known = definitions([(0, 0, 5, "f"), (0, 6, 5, "g"), (0, 12, 5, "f"), (1, 0, 5, "f")], rules)
    symbols = pl.DataFrame({"row": [0], "text": [0], "symbol": [symbol]})
    assert set(known.meant(symbols)["number"]) == meant
