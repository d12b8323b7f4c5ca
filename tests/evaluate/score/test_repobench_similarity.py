from collections.abc import Sequence

import polars as pl
from hypothesis import example, given
from hypothesis import strategies as st

from evaluate.rank.similarity import similarities
from lake.tables import table
from tests.frames import frame

SPACES = {chr(code) for code in (*range(0x09, 0x0E), 0x20, 0xA0, 0x1680, *range(0x2000, 0x200B))}
SPACES |= {chr(code) for code in (0x2028, 0x2029, 0x202F, 0x205F, 0x3000, 0xFEFF)}
LEFT_OUT = ["if", "else", "for", "while", "return", "class", "def", "import", "from"]


def tokens(text: str) -> set[str]:
    return set("".join(" " if mark in SPACES else mark for mark in text).split(" ")) - {""}


def identifiers(text: str) -> set[str]:
    runs = "".join(mark if mark.isascii() and (mark.isalnum() or mark == "_") else " " for mark in text).split(" ")
    return {run for run in runs if run and not run[0].isdigit()} - set(LEFT_OUT)


def plain(chunk: str, gold: str) -> tuple[float, float]:
    either, names = tokens(chunk) | tokens(gold), identifiers(chunk)
    return (
        len(tokens(chunk) & tokens(gold)) / len(either) if either else 0.0,
        len(names & identifiers(gold)) / len(names) if names else 0.0,
    )


def measured(pairs: Sequence[tuple[str, str]]) -> list[tuple[float, float]]:
    """Similarities of (chunk, gold) pairs, each an item of its own; equal texts are given once."""
    texts = sorted({text for pair in pairs for text in pair})
    number = {text: place for place, text in enumerate(texts)}
    chunks = [(f"i{place}", "cand:0", 0, number[chunk]) for place, (chunk, _) in enumerate(pairs)]
    golden = [(f"i{place}", number[gold]) for place, (_, gold) in enumerate(pairs)]
    found = similarities(
        frame(chunks, "item_id", "path", "chunk_no", text_id=pl.Int64()).collect(),
        frame(((text, number[text]) for text in texts), "text", text_id=pl.Int64()).collect(),
        frame(golden, "item_id", text_id=pl.Int64()).collect(),
    )
    table("relevance").checked(found.with_columns(chunker=pl.lit("whole-file")).select(*table("relevance").columns))
    assert found["item_id"].to_list() == [f"i{place}" for place in range(len(pairs))]
    return list(found.select("jaccard", "identifier_overlap").iter_rows())


def test_white_space_is_ecmascripts() -> None:
    cut = [("a\ufeffb", "a b"), ("a\u00a0b", "a b"), ("a\u2003b", "a b"), ("a\u2028b", "a b"), ("a\x0bb", "a b")]
    whole = [("a\u0085b", "a b"), ("a\x1cb", "a b"), ("a\x1fb", "a b"), ("a\u200bb", "a b"), ("a\u180eb", "a b")]
    assert [jaccard for jaccard, _ in measured(cut)] == [1.0] * len(cut)
    assert [jaccard for jaccard, _ in measured(whole)] == [0.0] * len(whole)


def test_chunks_without_gold_are_left_out_and_the_order_is_kept() -> None:
    chunks = pl.DataFrame(
        {
            "item_id": ["b", "none", "a", "b"],
            "path": ["cand:1", "cand:0", "cand:0", "cand:0"],
            "chunk_no": [0, 0, 0, 0],
            "text_id": ["y", "x", "x", "x"],
        }
    )
    texts = pl.DataFrame({"text_id": ["x", "y", "unused"], "text": ["one", "two", "three"]})
    gold = pl.DataFrame({"item_id": ["a", "b"], "text_id": ["x", "y"]})
    assert similarities(chunks, texts, gold).rows() == [
        ("b", "cand:1", 0, 1.0, 1.0),
        ("a", "cand:0", 0, 1.0, 1.0),
        ("b", "cand:0", 0, 0.0, 0.0),
    ]
    assert similarities(chunks.clear(), texts.clear(), gold.clear()).is_empty()


# Few marks, so that texts share tokens; then any text there is.
marks = st.sampled_from(
    [*"ab_1é+", "if", "def ", " ", "\t", "\n", "\r\n", "\ufeff", "\u0085", "\u00a0", "\x1c", "\u2009"]
)
some_texts = st.one_of(st.lists(marks, max_size=12).map("".join), st.text(max_size=20))


@given(pairs=st.lists(st.tuples(some_texts, some_texts), min_size=1, max_size=6))
@example(pairs=[("a\ufeffb", "a\u0085b"), ("", ""), ("\u00a0", "\t")])
def test_both_are_what_a_plain_reading_gives(pairs: list[tuple[str, str]]) -> None:
    assert measured(pairs) == [plain(*pair) for pair in pairs]
