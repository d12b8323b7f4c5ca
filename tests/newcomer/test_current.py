from tests.newcomer.checkout import CHUNKER, Checkout
from tests.tiny import put

RESULTS = ("hits", "run_items", "scores", "aggregates", "runs")
BM25 = f"{CHUNKER}+bm25-okapi"
OTHER = '''"""Another retriever."""

from dataclasses import replace

from evaluate.retrievers import baselines

OTHER = replace(baselines.RANDOM, name="other")
'''


def test_another_tokenizer_ranks_those_again_that_use_it_under_another_run_id(checkout: Checkout) -> None:
    before = checkout.runs()
    checkout.change("lake/text.py", "return _WORD.findall(text.lower())", "return _WORD.findall(text)")
    checkout.run("evaluate")
    after = checkout.runs()
    assert after[BM25] != before[BM25]
    assert not any(f"run_id={before[BM25]}" in path for path in checkout.parts("hits", "scores", "aggregates"))


def test_a_comment_and_a_retriever_that_nobody_asked_for_make_nothing_again(checkout: Checkout) -> None:
    before = checkout.parts(*RESULTS)
    checkout.append("lake/text.py", "# A remark.")
    put(checkout.root / "evaluate/retrievers/other.py", OTHER.encode())
    checkout.run("evaluate", "--systems", "*+bm25-okapi")
    after = checkout.parts(*RESULTS)
    assert {path: written for path, written in after.items() if path in before} == before
