from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from evaluate.embedding.models import Encoder, Model
from evaluate.embedding.vectors import VectorStore
from evaluate.retrievers import Floats
from evaluate.systems import ranking_code, retriever_named
from lake.store import Lake
from tests.evaluate.hand_made import pool_of, queries_of, scores_of
from tests.evaluate.tiny_model import MAX_LENGTH, needs_dense, pieces, tiny_model
from tests.tiny import CATS, DOGS

pytestmark = [pytest.mark.slow, needs_dense]

TEXTS = [CATS, DOGS, "times", "nothing of it", "nor of this", "times"]
QUERIES = ["meow times", "bark"]


@pytest.fixture(scope="session")
def cross_encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_model(tmp_path_factory.mktemp("tiny-cross-encoder"), is_cross=True)


def _scores(name: str, store: VectorStore, queries: Sequence[str] = QUERIES) -> Floats:
    return scores_of(name, replace(pool_of(texts=TEXTS), vectors=store), queries_of(queries))


def test_the_best_are_reranked_and_the_others_follow(cross_encoder: Path, tmp_path: Path, given: list[int]) -> None:
    from sentence_transformers import CrossEncoder

    store = VectorStore(Lake(tmp_path / "lake"))
    name = f"rerank:jaccard-regex:model={cross_encoder}:top=3"
    first, reranked = _scores("jaccard-regex", store), _scores(name, store)
    plain = CrossEncoder(str(cross_encoder))
    for row, query in enumerate(QUERIES):
        best = np.argsort(-first[row], kind="stable")[:3]
        short = [TEXTS[n] for n in best if len(TEXTS[n]) < 20]
        alone = plain.predict([(query, text) for text in short], activation_fn=lambda score: score)
        scores = dict(zip(short, alone, strict=True))
        for n in best:
            assert TEXTS[n] not in scores or np.isclose(reranked[row, n], scores[TEXTS[n]], atol=1e-5)
        others = [n for n in range(len(TEXTS)) if n not in best]
        assert reranked[row, best].min() > reranked[row, others].max()
        for a in others:
            for b in others:
                assert (reranked[row, a] > reranked[row, b]) == (first[row, a] > first[row, b])
    pairs = {(query, TEXTS[n]) for row, query in enumerate(QUERIES) for n in np.argsort(-first[row], kind="stable")[:3]}
    assert sum(given) == len(pairs), "each pair once"
    given.clear()
    assert np.array_equal(_scores(name, store), reranked)
    assert given == [], "every score is kept in the lake"


def test_a_pair_too_long_keeps_the_end_of_the_query_and_the_beginning_of_the_document(cross_encoder: Path) -> None:
    encoder = Encoder(Model(str(cross_encoder)), is_cross=True)
    tokens = pieces(encoder.network)
    letters, numbers = [*"abcdefghijklmnopqrstuvwxyz"], [*"0123456789" * 3]

    def cut(query: Sequence[str], document: Sequence[str]) -> tuple[list[str], int]:
        _, (n_cut,) = encoder.scores([(" ".join(query), " ".join(document))])
        return [*tokens], n_cut

    n = MAX_LENGTH - 3
    half = n // 2
    assert cut(letters, numbers) == (
        ["[CLS]", *letters[-half:], "[SEP]", *numbers[: n - half], "[SEP]"],
        len(letters) + len(numbers) - n,
    )
    assert cut(letters, numbers[:4]) == (["[CLS]", *letters[-n + 4 :], "[SEP]", *numbers[:4], "[SEP]"], 30 - n)
    assert cut(letters[:2], numbers) == (["[CLS]", "a", "b", "[SEP]", *numbers[: n - 2], "[SEP]"], 32 - n)


def test_the_name_says_whose_best_and_by_which_model() -> None:
    retriever = retriever_named("rerank:bm25-okapi:model=some/model:top=7")
    assert retriever.parameters == {"of": "bm25-okapi", "model": "some/model", "top": 7}
    assert [part.name for part in retriever.components] == ["bm25-okapi"]
    assert retriever_named("rerank:dense:a/b:dtype=bf16:top=5").components[0].name == "dense:a/b:dtype=bf16"
    assert ranking_code(retriever) != ranking_code(retriever_named("rerank:own-file:model=some/model:top=7"))
