from collections.abc import Sequence

import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rank_bm25 import BM25Okapi

from evaluate.rank.similarity import similarities
from evaluate.texts.tokens import Texts
from lake.store import Lake
from lake.tables import table
from lake.text import words
from tests.frames import frame
from tests.ingest.benchmarks.repobench_r import test_repobench
from tests.tiny import command

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
    number = {text: n for n, text in enumerate(texts)}
    chunks = [(f"i{n}", "cand:0", 0, number[chunk]) for n, (chunk, _) in enumerate(pairs)]
    golden = [(f"i{n}", number[gold]) for n, (_, gold) in enumerate(pairs)]
    similar = similarities(
        frame(chunks, "item_id", "path", "chunk_no", text=pl.Int64()).collect(),
        Texts(texts),
        frame(golden, "item_id", snippet=pl.Int64()).collect(),
        Texts(texts),
    )
    table("relevance").checked(similar.with_columns(chunker=pl.lit("whole-file")).select(*table("relevance").columns))
    assert similar["item_id"].to_list() == [f"i{n}" for n in range(len(pairs))]
    return list(similar.select("jaccard", "identifier_overlap").iter_rows())


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
            "text": [1, 0, 0, 0],
        }
    )
    texts, snippets = Texts(["one", "two", "unused"]), Texts(["two", "one"])
    gold = pl.DataFrame({"item_id": ["a", "b"], "snippet": [1, 0]})
    assert similarities(chunks, texts, gold, snippets).rows() == [
        ("b", "cand:1", 0, 1.0, 1.0),
        ("a", "cand:0", 0, 1.0, 1.0),
        ("b", "cand:0", 0, 0.0, 0.0),
    ]
    assert similarities(chunks.clear(), Texts(), gold.clear(), Texts()).is_empty()


# Few marks, so that texts share tokens; then any text there is.
marks = st.sampled_from(
    [*"ab_1é+", "if", "def ", " ", "\t", "\n", "\r\n", "\ufeff", "\u0085", "\u00a0", "\x1c", "\u2009"]
)
some_texts = st.one_of(st.lists(marks, max_size=12).map("".join), st.text(max_size=20))


@given(pairs=st.lists(st.tuples(some_texts, some_texts), min_size=1, max_size=6))
@example(pairs=[("a\ufeffb", "a\u0085b"), ("", ""), ("\u00a0", "\t")])
def test_both_are_what_a_plain_reading_gives(pairs: list[tuple[str, str]]) -> None:
    assert measured(pairs) == [plain(*pair) for pair in pairs]


OFFICIAL, CHUNKS = "repobench-r/official", "repobench-r/chunks"
CODE = "x = 1\ntotal = helper(alpha)\n"
WITH_BLANK = ["\n", "def helper(alpha): ...", "b", "c", "d"]


def row(context: Sequence[str], gold: int, code: str = CODE) -> dict[str, object]:
    return test_repobench.row(gold=gold, context=list(context), code=code, import_statement="import z")


ROWS = (
    row(WITH_BLANK, 1),
    # The gold is blank, and everything else shares as little with the query.
    row(["one", "two", " \n", "three", "four"], 2),
    # Nothing is shared: the first candidate, a blank one, comes first.
    row(["", "gold", "two", "three", "four"], 1),
    row(["\n\n", "def helper(alpha): ...", "b", "c", "d"], 1, code="\n\n"),
)
"""Right at the first row alone."""


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    folder = tmp_path_factory.mktemp("blank")
    source = test_repobench.put(folder / "raw", [*ROWS], [])
    options = ("--source", source, "--chunkers", "whole-file,fixed-nws-12")
    command("ingest", "repobench-r", *options, "--lake", folder / "lake").done()
    run = command("evaluate", "--lake", folder / "lake")
    run.done(f"left out of {CHUNKS}, as their gold is only white space: 1 item")
    return Lake(folder / "lake")


def ranking(lake: Lake, task: str, retriever: str) -> dict[int, list[tuple[str, float]]]:
    runs = lake.read("runs").filter(task=task, system=f"whole-file+{retriever}").select("run_id")
    hits = lake.scan("hits").collect().join(runs, on="run_id").filter(part="ranking").sort("item_id", "rank")
    grouped = hits.group_by("item_id").agg(pl.struct("path", "score"))
    return {int(item[-1]): [(hit["path"], hit["score"]) for hit in rows] for item, rows in grouped.iter_rows()}


@pytest.mark.parametrize("retriever", ["bm25-okapi", "jaccard-regex", "edit-regex"])
def test_blank_candidates_score_nothing_and_blank_gold_counts_as_published(lake: Lake, retriever: str) -> None:
    rankings = ranking(lake, OFFICIAL, retriever)
    paths = [f"cand:{n}" for n in range(5)]
    assert all(rankings[row] == [(path, 0.0) for path in paths] for row in (1, 2, 3))
    assert [path for path, _ in rankings[0]] == ["cand:1", "cand:0", *paths[2:]]
    if retriever == "bm25-okapi":
        scores = BM25Okapi([words(text) for text in WITH_BLANK]).get_scores(words("\n".join(CODE.split("\n")[-3:])))
        assert [score for _, score in sorted(rankings[0])] == pytest.approx(list(scores))
    runs = lake.read("runs").filter(task=OFFICIAL)
    head = lake.read("aggregates").filter(protocol="repobench-r@official-v1", slice="subset", metric="accuracy", k=1)
    means = dict(head.join(runs, on="run_id").select("system", pl.concat_list("macro", "n", "n_items")).iter_rows())
    expected = {retriever: 1 / 4, "oracle": 1, "random": 1 / 5}
    assert {name: means[f"whole-file+{name}"] for name in expected} == {
        name: pytest.approx([share, 4, 4]) for name, share in expected.items()
    }


def test_chunks_of_white_space_stay_out_of_every_other_pool(lake: Lake) -> None:
    rankings = ranking(lake, CHUNKS, "bm25-okapi")
    assert sorted(rankings) == [0, 2, 3]
    assert all({path for path, _ in rankings[row]} == {f"cand:{n}" for n in range(1, 5)} for row in (0, 2, 3))
