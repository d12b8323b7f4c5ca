"""Dense retrieval beside a plain loop of sentence-transformers: the same texts, the same model, the same threads."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from evaluate.embedding.models import Model, TextKind
from evaluate.embedding.vectors import VectorStore
from evaluate.rank.pools import load_pools, queries_by_pool
from evaluate.rank.ranking import rank
from evaluate.retrievers import Pool, Queries
from evaluate.retrievers.dense import Dense
from evaluate.systems import retriever_named
from lake.catalog.benchmarks.repoeval import REPOEVAL_PROMPT
from lake.catalog.protocol import CUT_OFFS
from lake.console import Console
from lake.store import Lake
from tests.bench import Bench, Row, Settings, Target
from tests.bench._job import Job
from tests.bench._measure import Stopwatch, beside, call

CHUNKERS = ("fixed-nws-300", "syntax-300")
"""Of a size sweep: chunks that a model mostly takes whole."""

N_CHUNKS = 900
"""Of a chunker, at least, in the smallest pools."""

N_QUERIES = 10
"""Of each of them."""

MAX_LENGTH = 256
FASTER = Target(ratio=1.5, difference=1e-5)


def run(settings: Settings, folder: Path) -> Iterator[Row]:
    """Ours, then the plain loop."""
    if why := Model(".").missing():
        yield Row("ours and sentence-transformers", failed=why)
        return
    job = Job(settings, folder)
    job.stage("ingest", "--chunkers", ",".join(CHUNKERS), "repoeval")
    model = folder / "model"
    call(make_model, job.lake, model)
    ours = call(goldspan, job.lake, model, folder / "ours.npz")
    theirs = call(plain_loop, job.lake, model, folder / "theirs.npz")
    mine, other = np.load(folder / "ours.npz"), np.load(folder / "theirs.npz")
    apart = max(float(np.abs(mine[name] - other[name]).max()) for name in other.files)
    peer = ("sentence-transformers, batch by batch", theirs)
    yield from beside(peer, ("ours", ours), FASTER, difference=apart, against="of the library's")


def make_model(lake: str, folder: str) -> None:
    """A model of MiniLM's shape with random weights, which take as long as trained ones; its words are the chunks'."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.base.modules import Transformer
    from sentence_transformers.sentence_transformer.modules import Pooling
    from tokenizers import BertWordPieceTokenizer
    from transformers import BertConfig, BertModel, BertTokenizer

    words = BertWordPieceTokenizer()
    texts = [text for pool, _ in _asked(lake, CHUNKERS[0]) for text in pool.text]
    words.train_from_iterator(iter(texts), vocab_size=8_000, show_progress=False)
    inner = Path(folder).with_name("plain")
    inner.mkdir()
    words.save_model(str(inner))
    tokenizer = BertTokenizer(str(inner / "vocab.txt"), model_max_length=MAX_LENGTH)
    tokenizer.save_pretrained(inner)
    torch.manual_seed(0)
    shape = {"hidden_size": 384, "num_hidden_layers": 6, "num_attention_heads": 12, "intermediate_size": 1_536}
    BertModel(BertConfig(vocab_size=len(tokenizer), **shape)).save_pretrained(inner)
    transformer = Transformer(str(inner))
    pooling = Pooling(transformer.get_embedding_dimension(), pooling_mode="mean")
    SentenceTransformer(modules=[transformer, pooling]).save(folder)


def goldspan(lake: str, model: str, output: str) -> dict[str, object]:
    """Ours, in a child: every vector made and kept, then every pool ranked. Loading the model is not timed."""
    store, dense, retriever = VectorStore(Lake(Path(lake))), Dense(Model(model)), retriever_named(f"dense:{model}")
    asked = {chunker: _asked(lake, chunker) for chunker in CHUNKERS}
    dense.embed("document", ["a text before the clock runs"])
    watch = Stopwatch()
    for pairs in asked.values():
        assert retriever.prepare is not None
        retriever.prepare(store, partial(_both, pairs), Console(quiet=True).track)
    for pairs in asked.values():
        rank(retriever, iter(pairs), tie=REPOEVAL_PROMPT.tie, depth=REPOEVAL_PROMPT.depth, cut_offs=CUT_OFFS)
    cost = watch.read()
    kinds: tuple[TextKind, TextKind] = ("document", "query")
    vectors = {f"{place}": _vectors(dense, kind, store, asked, place) for place, kind in enumerate(kinds)}
    np.savez(output, allow_pickle=False, **vectors)
    return cost


def plain_loop(lake: str, model: str, output: str) -> dict[str, object]:
    """The library's `encode`, as a script would call it: batch by batch as the chunks come, then the queries."""
    from sentence_transformers import SentenceTransformer

    network = SentenceTransformer(model, local_files_only=True)
    asked = {chunker: _asked(lake, chunker) for chunker in CHUNKERS}
    network.encode(["a text before the clock runs"])
    made: list[list[Floats]] = [[], []]
    watch = Stopwatch()
    for pairs in asked.values():
        for place, side in ((0, "right"), (1, "left")):
            network.tokenizer.truncation_side = side
            texts = _texts(pairs, place)
            batches = (texts[first : first + 32] for first in range(0, len(texts), 32))
            made[place] += [network.encode(batch) for batch in batches]
    cost = watch.read()
    np.savez(output, allow_pickle=False, **{f"{place}": np.concatenate(some) for place, some in enumerate(made)})
    return cost


Asked = Sequence[tuple[Pool, Queries]]
Floats = npt.NDArray[np.float32]


def _asked(lake: str, chunker: str) -> Asked:
    """The smallest pools, until they have chunks enough, and the first queries of each."""
    opened = Lake(Path(lake))
    items = opened.read("items", benchmark="repoeval").filter("scorable")
    items = items.join(opened.read("queries", benchmark="repoeval", query=REPOEVAL_PROMPT.query), on="item_id")
    pools = load_pools(opened, chunker, items["pool_id"])
    sizes = pools.chunks.group_by("pool_id").len().sort("len", "pool_id")
    small = sizes.filter(pl.col("len").cum_sum().shift(1, fill_value=0) < N_CHUNKS)["pool_id"]
    items = items.filter(pl.col("pool_id").is_in(small.implode())).sort("item_id")
    items = items.group_by("pool_id", maintain_order=True).head(N_QUERIES)
    return list(queries_by_pool(items, pools))


def _both(pairs: Asked) -> Iterator[tuple[Sequence[str], Sequence[str]]]:
    return ((pool.text, queries.text) for pool, queries in pairs)


def _texts(pairs: Asked, place: int) -> list[str]:
    return [text for pair in pairs for text in pair[place].text]


def _vectors(dense: Dense, kind: TextKind, store: VectorStore, asked: Mapping[str, Asked], place: int) -> Floats:
    """The vectors that ours ranked by, a row for each text of the plain loop."""
    keys, vectors = dense.vectors(kind, store, [text for pairs in asked.values() for text in _texts(pairs, place)])
    return vectors.matrix[[vectors.row[key] for key in keys]]


DENSE = Bench(
    name="dense",
    title="dense retrieval beside a plain loop of sentence-transformers",
    method=f"RepoEval's smallest pools under {' and '.join(CHUNKERS)}, {N_QUERIES} queries of each; "
    f"a model of MiniLM's shape with random weights, {MAX_LENGTH} tokens, fp32; loading it is in neither.",
    run=run,
)
