"""Seven metrics of a large made-up ranking, from Parquet to Parquet, beside pytrec_eval."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl

from tests.bench import Bench, Row, Settings
from tests.bench._measure import Stopwatch, beside, call, fastest

METRICS = ("precision@5", "precision@10", "recall@5", "recall@10", "ndcg@5", "ndcg@10", "mrr@10")
N_QUERIES, DEPTH, N_RELEVANT = 100_000, 100, 10
N_DOCUMENTS = 1_000_003
"""A prime, so that equal steps through the documents never meet the same one twice."""
AT_LEAST = {"ratio": 15, "difference": 1e-12}


def run(settings: Settings, folder: Path) -> Iterator[Row]:
    """Both from the same files, each in a process of its own."""
    call(write, folder)
    theirs, ours = (
        fastest(settings.attempts(large=True), partial(call, scorer, folder)) for scorer in (pytrec_eval, goldspan)
    )
    values = [pl.read_parquet(folder / f"{name}.parquet").sort("query").select(METRICS) for name in ("ours", "theirs")]
    apart = float(np.abs(values[0].to_numpy() - values[1].to_numpy()).max())
    yield from beside(("pytrec_eval-terrier", theirs), ("ours", ours), AT_LEAST, apart)


def write(folder: str) -> None:
    """Rankings in no order, some scores tied, and ten relevant documents a query, some not returned."""
    draw = np.random.default_rng(20_240_601)
    first = draw.integers(N_DOCUMENTS, size=(N_QUERIES, 1))
    step = draw.integers(1, N_DOCUMENTS, size=(N_QUERIES, 1))
    documents = (first + step * np.arange(DEPTH + N_RELEVANT)) % N_DOCUMENTS
    drawn = draw.random((N_QUERIES, DEPTH + N_RELEVANT))
    relevant = drawn.argpartition(N_RELEVANT, axis=1)[:, :N_RELEVANT]
    judged = np.take_along_axis(documents, relevant, axis=1)
    # Four digits tie some of a hundred scores, and the Float32 of trec_eval ties none that they do not.
    ranking = _named(documents[:, :DEPTH]).with_columns(score=draw.random((N_QUERIES, DEPTH)).round(4).ravel())
    in_order = pl.struct("score", "document").rank(descending=True).over("query").cast(pl.Int64)
    ranking.with_columns(rank=in_order).write_parquet(Path(folder, "ranking.parquet"))
    _named(judged).with_columns(grade=pl.lit(1)).write_parquet(Path(folder, "judgements.parquet"))


def _named(documents: np.ndarray[tuple[int, int], np.dtype[np.int64]]) -> pl.DataFrame:
    queries = np.repeat(np.arange(N_QUERIES), documents.shape[1])
    numbers = pl.DataFrame({"query": queries, "document": documents.ravel()})
    return numbers.select(
        query="q" + pl.col("query").cast(pl.String).str.zfill(7),
        document="d" + pl.col("document").cast(pl.String).str.zfill(7),
    )


def goldspan(folder: str) -> dict[str, object]:
    """Ours."""
    from evaluate.metrics import parse_metric
    from tests.graded import score_graded

    watch = Stopwatch()
    ranking, judgements = (pl.scan_parquet(Path(folder, f"{name}.parquet")) for name in ("ranking", "judgements"))
    scored = score_graded(ranking, judgements, [parse_metric(name) for name in METRICS])
    scored.sink_parquet(Path(folder, "ours.parquet"))
    return watch.read()


def pytrec_eval(folder: str) -> dict[str, object]:
    """pytrec_eval-terrier, from dicts. Its reciprocal rank has no cut-off: one below 1/10 becomes 0 afterwards."""
    from pytrec_eval import RelevanceEvaluator

    watch = Stopwatch()
    dicts: list[dict[str, dict[str, int]]] = []
    for name, value in (("judgements", "grade"), ("ranking", "score")):
        frame = pl.read_parquet(Path(folder, f"{name}.parquet"))
        rows = frame.group_by("query", maintain_order=True).agg("document", value).iter_rows()
        dicts.append({query: dict(zip(of_query, values, strict=True)) for query, of_query, values in rows})
    names = ("P_5", "P_10", "recall_5", "recall_10", "ndcg_cut_5", "ndcg_cut_10", "recip_rank")
    evaluator = RelevanceEvaluator(dicts[0], {"P.5,10", "recall.5,10", "ndcg_cut.5,10", "recip_rank"})
    values = evaluator.evaluate(dicts[1])
    columns = {name: [value[theirs] for value in values.values()] for name, theirs in zip(METRICS, names, strict=True)}
    reciprocal = pl.when(pl.col("mrr@10") >= 0.1).then("mrr@10").otherwise(0.0)
    pl.DataFrame({"query": list(values), **columns}).with_columns(reciprocal).write_parquet(
        Path(folder, "theirs.parquet")
    )
    return watch.read()


SCORING = Bench(
    name="scoring",
    title=f"{len(METRICS)} metrics of {N_QUERIES:,} rankings of {DEPTH} results",
    method=f"from Parquet (query, document, score, rank; judgements) to Parquet by query, without imports; {METRICS}.",
    run=run,
)
