import json
import shutil
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest

from evaluate.embedding import vectors as stored
from evaluate.embedding.models import Model, TextKind, encoder_of
from evaluate.embedding.vectors import VectorStore, give_vectors, key_of
from evaluate.retrievers import Queries, dense
from evaluate.retrievers.dense import cosine_index
from evaluate.texts.tokens import Texts
from lake.errors import Exit, GoldspanError
from lake.store import Lake
from tests.evaluate.tiny_model import MAX_LENGTH, needs_dense, pieces, tiny_model
from tests.tiny import command

pytestmark = [pytest.mark.slow, needs_dense]

SHORT = ["def a(): return 1", "import math", "x"]
LONG = ["def " + " ".join(f"a{n}" for n in range(40)), "self " * 50 + "return x"]


@pytest.fixture(scope="session")
def model_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_model(tmp_path_factory.mktemp("tiny-model"))


@pytest.fixture
def store(tmp_path: Path) -> VectorStore:
    return VectorStore(Lake(tmp_path / "lake"))


def _rows(
    dense: Model, store: VectorStore, texts: Sequence[str], kind: TextKind = "document"
) -> npt.NDArray[np.float32]:
    keys, vectors = dense.vectors(kind, store, texts)
    return np.array([vectors[key] for key in keys])


def test_vectors_equal_the_librarys_in_any_batch(model_folder: Path, store: VectorStore, given: list[int]) -> None:
    from sentence_transformers import SentenceTransformer

    plain = SentenceTransformer(str(model_folder))
    dense = Model(str(model_folder))
    texts = [*SHORT, *LONG, *SHORT]
    assert np.allclose(_rows(dense, store, texts), plain.encode(texts, prompt=""), atol=1e-5)
    assert sum(given) == len({*texts}), "each text once"
    # The model's own prompt stands before a query.
    assert np.allclose(_rows(dense, store, SHORT, "query"), plain.encode(SHORT, prompt_name="query"), atol=1e-5)
    bare = replace(dense, query_prefix="")
    plain.tokenizer.truncation_side = "left"
    assert np.allclose(_rows(bare, store, LONG, "query"), plain.encode(LONG, prompt=""), atol=1e-5)


def test_a_query_loses_its_beginning_and_keeps_its_prefix_and_a_document_loses_its_end(model_folder: Path) -> None:
    encoder = encoder_of(Model(str(model_folder), marks=("<encoder-only>",)))
    text, tokens = " ".join("abcdefghijklmnopqrstuvwxyz"), pieces(encoder.network)

    def cut(prefix: str, side: Literal["left", "right"], text: str = text) -> tuple[list[str], int]:
        _, (n_cut,) = encoder.vectors([text], prefix, side)
        return [*tokens], n_cut

    n = MAX_LENGTH - 2
    assert cut("", "right") == (["[CLS]", *text.split()[:n], "[SEP]"], 26 - n)
    assert cut("", "left") == (["[CLS]", *text.split()[-n:], "[SEP]"], 26 - n)
    assert cut("query: ", "left") == (["[CLS]", "query", ":", *text.split()[-n + 2 :], "[SEP]"], 28 - n)
    assert cut("query: ", "right")[0][:4] == ["[CLS]", "query", ":", "a"]
    # A word is left out whole.
    words = " ".join(f"{letter}xy" for letter in "abcdefghij")
    assert cut("query: ", "left", words)[0][:4] == ["[CLS]", "query", ":", "e"]
    # A word of the vocabulary that is declared a mark is one token, as the model was taught it.
    assert cut("<encoder-only>[SEP]", "left")[0][:4] == ["[CLS]", "<encoder-only>", "[SEP]", text.split()[-n + 2]]


def test_vectors_are_known_by_all_that_may_change_them(model_folder: Path, tmp_path: Path) -> None:
    plain = Model(str(model_folder), document_prefix="")
    others = [
        replace(plain, document_prefix="query: "),
        replace(plain, max_length=8),
        replace(plain, dtype="bfloat16"),
        replace(plain, pooling="cls"),
        replace(plain, name=str(tiny_model(tmp_path / "other", seed=1))),
    ]
    makers = {dense.maker("document") for dense in (plain, *others)}
    assert len({*makers, replace(plain, query_prefix="").maker("query")}) == 7
    moved = Model(str(shutil.copytree(model_folder, tmp_path / "copy")))
    assert moved.revision == plain.revision, "the folder's place is no part of its digest"
    assert others[-1].revision != plain.revision
    assert key_of("a") == "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"


def test_every_chunk_has_its_exact_cosine_in_blocks_too(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(7)
    chunks, of_queries = (random.normal(size=(n, 5)).astype(np.float32) for n in (11, 3))
    chunks[4] = 0
    row = np.array([*range(11), 3])
    vectors = dict(zip("012", of_queries, strict=True))
    queries = Queries(["a", "b", "c", "d"], Texts(["0", "1", "2", "none"]), [None] * 4, np.full(4, -1))
    held = {str(n): chunk for n, chunk in enumerate(chunks)}
    index = cosine_index(lambda texts: ([*texts], vectors), [str(n) for n in row], held)
    whole = index.search(queries)
    lengths = np.linalg.norm(of_queries, axis=1)[:, None] * np.maximum(np.linalg.norm(chunks, axis=1), 1e-9)
    assert np.allclose(whole.scores[:3], (of_queries @ chunks.T / lengths)[:, row], atol=1e-6)
    assert np.array_equal(whole.scores[:, 3], whole.scores[:, 11]), "equal texts score alike to the last bit"
    assert list(whole.failed) == [3]
    monkeypatch.setattr(dense, "BLOCK", 4)
    assert np.allclose(index.search(queries).scores, whole.scores, atol=1e-12)


def test_each_text_is_embedded_once_and_cut_texts_are_counted(
    lake_folder: Path, model_folder: Path, given: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(model_folder.parent)
    evaluate = ("evaluate", "--lake", lake_folder, "--systems", "window-4-2+dense:model,whole-file+dense:model")
    run = command(*evaluate).done()
    lake = Lake(lake_folder)
    vectors = lake.read("vectors")
    # Two sides: some text may be a chunk and a query.
    assert sum(given) == vectors.height == vectors.unique(["model", "key"]).height
    runs = lake.read("runs").filter(pl.col("retriever") == "dense:model").sort("system", "task")
    assert runs["system"].unique().sort().to_list() == ["whole-file+dense:model", "window-4-2+dense:model"]
    (row,) = runs.filter(pl.col("task") == "repoeval/prompt", pl.col("chunker") == "whole-file")["parameters"]
    facts = json.loads(row)
    assert facts["revision"] == Model("model").revision
    assert facts["queries cut"] == "5 of 5"
    n_cut, _, n = facts["chunks cut"].split()
    assert 0 < int(n_cut) <= int(n)
    assert f"whole-file+dense:model, repoeval/prompt: chunks cut {n_cut} of {n}, queries cut 5 of 5" in run.err
    assert (lake.read("run_items").filter(pl.col("run_id").is_in(runs["run_id"].implode()))["status"] == "done").all()

    ranked = lake.read("hits").filter(pl.col("run_id").is_in(runs["run_id"].implode()))
    parts = [part for name in ("runs", "hits", "run_items") for part in lake.parts(name)]
    for part in [part for part in parts if "dense" in str(part.path)]:
        lake.remove(part)
    given.clear()
    command(*evaluate).done()
    assert given == []
    again = Lake(lake_folder).read("hits").filter(pl.col("run_id").is_in(runs["run_id"].implode()))
    assert again.equals(ranked)

    # Where the model is gone, its runs stay.
    monkeypatch.chdir(lake_folder)
    command("evaluate", "--lake", lake_folder).done()
    assert set(runs["run_id"]) <= set(Lake(lake_folder).read("runs")["run_id"])


def test_a_model_is_named_by_its_folder_never_its_path(lake_folder: Path, model_folder: Path, tmp_path: Path) -> None:
    systems = f"whole-file+dense:{model_folder},whole-file+hybrid:bm25-okapi:dense:{model_folder}:dtype=bf16"
    command("evaluate", "--lake", lake_folder, "--systems", systems).done()
    runs = Lake(lake_folder).read("runs")
    names = {"whole-file+dense:model", "whole-file+hybrid:bm25-okapi:dense:model:dtype=bf16"}
    assert names <= set(runs["system"])
    site = tmp_path / "site"
    command("report", "--lake", lake_folder, "--site", site).done()
    files = [path for path in site.rglob("*") if path.is_file()]
    assert any("dense-model" in path.name for path in files)
    for path in files:
        folders = (str(model_folder), model_folder.parent.name)
        assert not any(folder in path.as_posix() or folder.encode() in path.read_bytes() for folder in folders)
    parquet = [pl.read_parquet(path) for path in files if path.suffix == ".parquet"]
    texts = [frame.select(pl.col(pl.String)) for frame in parquet]
    assert not any(frame.to_series(n).str.contains(str(model_folder), literal=True).any()
                   for frame in texts for n in range(frame.width))  # fmt: skip


def test_interrupted(model_folder: Path, store: VectorStore, given: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored, "TEXTS_PER_PART", 32)
    dense = Model(str(model_folder))
    maker = dense.maker("document")
    texts = {key_of(text): text for text in (f"def a{n}" for n in range(100))}
    work = store.make(maker, texts, partial(dense.embed, "document"))
    next(work), next(work)
    assert store.n_cut(maker).height == 64
    assert [vector.shape for vector in store.read(maker, texts).values()] == [(32,)] * 64
    keys, vectors = dense.vectors("document", store, list(texts.values()))
    assert sorted(given) == [4, 32, 32, 32]
    assert set(keys) == set(vectors)


def test_an_error_names_the_extra(lake_folder: Path, model_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    run = command("evaluate", "--lake", lake_folder, "--systems", f"window-4-2+dense:{model_folder}")
    run.refused(
        Exit.MISSING, "cannot run here\n  First: pip install torch==2.13.0, then pip install -r requirements-dense.txt"
    )


@pytest.mark.parametrize("name", ["dense:some/model", "unixcoder"])
def test_a_missing_model(name: str, lake_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    run = command("evaluate", "--lake", lake_folder, "--systems", f"window-4-2+{name}").refused(Exit.MISSING)
    model = "microsoft/unixcoder-base" if name == "unixcoder" else "some/model"
    assert f"{model} is neither a local folder" in run.err
    assert f"First: hf download {model}" in run.err


@pytest.mark.parametrize(
    ("columns", "what", "examples"),
    [
        ({"key": ["a"], "embedding": [[1.0]]}, """the Parquet cannot be read: 'Field "vector" does not exist""", ()),
        ({"key": ["a", "b", "a"], "vector": [[1.0]] * 3}, "lack a key of their own: 2", ("a", "a")),
        ({"key": ["a", "b"], "vector": [[1.0], [1.0, 2.0]]}, "not finite, have another length, or lack a key", ("a",)),
        ({"key": ["a", "b"], "vector": [[1.0], [float("nan")]]}, "not finite, have another length", ("b",)),
    ],
)
def test_bad_vectors(tmp_path: Path, columns: dict[str, list[object]], what: str, examples: tuple[str, ...]) -> None:
    pl.DataFrame(columns).write_parquet(tmp_path / "vectors.parquet")
    with pytest.raises(GoldspanError) as refused:
        give_vectors(Lake(tmp_path / "lake"), tmp_path / "vectors.parquet", "theirs")
    assert what in refused.value.what
    assert tuple(refused.value.examples) == examples
