from dataclasses import replace
from difflib import SequenceMatcher

from hypothesis import example, given
from hypothesis import strategies as st

from evaluate.retrievers import retrievers
from evaluate.systems import resolve_systems
from lake.catalog.benchmarks.repobench_r import REPOBENCH_CHUNKS, REPOBENCH_OFFICIAL
from lake.catalog.benchmarks.repoeval import REPOEVAL_PROMPT
from lake.text import regex_tokens
from tests.evaluate.hand_made import pool_of, queries_of, scores_of


def searched(texts: list[str], queries: list[str]) -> list[list[float]]:
    return [list(row) for row in scores_of("edit-regex", pool_of(texts=texts), queries_of(queries))]


def difflibs(query: str, text: str) -> float:
    return SequenceMatcher(None, regex_tokens(query), regex_tokens(text)).ratio()


def test_what_is_frequent_in_a_long_text_is_junk() -> None:
    query, text = "z x", "y" + " x" * 200
    unjunked = SequenceMatcher(None, regex_tokens(query), regex_tokens(text), autojunk=False).ratio()
    assert searched([text], [query]) == [[difflibs(query, text)]]
    assert difflibs(query, text) != unjunked


TEXTS = st.lists(st.sampled_from(["a", "b", "f(x)", "é", "1", "\n", "if "]), max_size=12).map(" ".join)


@given(texts=st.lists(TEXTS, min_size=1, max_size=6), queries=st.lists(TEXTS, min_size=1, max_size=4), data=st.data())
@example(texts=["a"], queries=["a"], data=None)
def test_every_pair_has_difflibs_ratio(texts: list[str], queries: list[str], data: st.DataObject | None) -> None:
    assert searched(texts, queries) == [[difflibs(query, text) for text in texts] for query in queries]
    # The same of pools side by side: each query has some of the texts, in any order.
    if data is None:
        return
    rows = st.lists(st.integers(0, len(texts) - 1), max_size=5)
    held = [data.draw(rows) for _ in queries]
    chunks = pool_of(texts=[texts[row] for one in held for row in one])
    pools = replace(chunks, side_by_side={f"pool {n}": len(one) for n, one in enumerate(held)})
    found = scores_of("edit-regex", pools, queries_of(queries))
    for query, one, scores in zip(queries, held, found, strict=True):
        assert scores[: len(one)].tolist() == [difflibs(query, texts[row]) for row in one]


def test_it_runs_unasked_on_the_published_task_alone() -> None:
    names = {
        task.name: {system.retriever.name for system in resolve_systems(task, [], {"whole-file": ""}, retrievers(), [])}
        for task in (REPOBENCH_OFFICIAL, REPOBENCH_CHUNKS, REPOEVAL_PROMPT)
    }
    assert [task for task, found in names.items() if "edit-regex" in found] == ["repobench-r/official"]
    # A whole text takes too long against a query of four thousand characters, unless somebody asks for just that.
    asked = resolve_systems(REPOBENCH_CHUNKS, ["*+edit-regex"], {"whole-file": ""}, retrievers(), [])
    assert "edit-regex" in {system.retriever.name for system in asked}
