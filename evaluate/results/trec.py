"""A run against relevance judgements, from two files and without a lake: values, means, two runs compared, and lines.

Measures are our metrics by their own names, or by those that trec_eval has for them. Lines are as it has them, of
measure, query and value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from scipy.special import stdtrit

from evaluate.metrics import Metric, metric_named, parse_metric
from evaluate.results.trec_files import QRELS, RUN, fault, rows_of
from evaluate.score.judgements import score_graded
from evaluate.score.metric_values import label
from evaluate.statistics.comparisons import uncertainty, verdict_of
from evaluate.statistics.pairs import Values, differences, flip_tests
from lake.errors import Exit, GoldspanError
from lake.exact import exact_sum
from lake.text import counted

DEFAULT = (
    "map", "r_precision", "recip_rank", "ndcg", "ndcg@5", "ndcg@10", "ndcg@20", "ndcg@100", "precision@5",
    "precision@10", "precision@20", "precision@100", "recall@5", "recall@10", "recall@20", "recall@100", "success@1",
    "success@5", "success@10",
)  # fmt: skip

_OF_A_LIST = {"map": "map", "Rprec": "r_precision", "recip_rank": "mrr", "ndcg": "ndcg", "set_recall": "recall"}
_CUT_OFF = {"P": "precision", "recall": "recall", "success": "success", "ndcg_cut": "ndcg", "map_cut": "map"}
"""trec_eval's name → ours."""

_CUT = re.compile(r"(\w+)_([1-9][0-9]*)")
_READABLE = {"rank", "n_relevant", "share", "shares"}
_EVERY_RANK = 1 << 40
"""A cut-off that no list reaches."""

LEVEL = 0.05
MEANS = {"measure": pl.String, "mean": pl.Float64, "low": pl.Float64, "high": pl.Float64, "queries": pl.Int64}
_NAME_WIDTH = 22
"""As wide as trec_eval's."""


@dataclass(frozen=True)
class Measure:
    """A metric with its cut-off, under the name that it is shown by.

    Attributes:
        name: `ndcg@10`; of a whole list the name alone.
        metric: Which.
        k: Its cut-off; 0 is the whole list.
    """

    name: str
    metric: Metric
    k: int

    @property
    def column(self) -> str:
        """What its values are called where they are measured."""
        return label(self.metric, self.k)


def measure_named(text: str) -> Measure:
    """The measure that a text names: `ndcg@10`, or as trec_eval has it `ndcg_cut_10`, `P_10`, `recip_rank`.

    A result's gain in nDCG is its grade, as trec_eval has it; of grades 0 and 1 that is our `ndcg`.

    Raises:
        GoldspanError: There is none of that name, it needs a cut-off, or it asks for more than relevance judgements.
    """
    cut = _CUT.fullmatch(text)
    if text in _OF_A_LIST:
        found, name = (metric_named(_OF_A_LIST[text]), 0), "r_precision" if text == "Rprec" else text
    else:
        written = f"{_CUT_OFF[cut[1]]}@{cut[2]}" if cut is not None and cut[1] in _CUT_OFF else text
        found = parse_metric(written)
        name = f"{found[0].name}@{found[1]}" if found[1] else found[0].name
    metric, k = found
    if metric.name == "ndcg":
        metric = metric_named("ndcg_graded")
    if metric.shape != "ranked" or not metric.at(k or 1).reads <= _READABLE:
        message = f"metric {text!r} asks for more than relevance judgements"
        raise GoldspanError(message, hint="Score a run of a benchmark: python -m evaluate.", code=Exit.USAGE)
    # An ideal list is made of as many as the cut-off says.
    return Measure(name, metric, _EVERY_RANK if metric.name == "ndcg_graded" and k == 0 else k)


@dataclass(frozen=True)
class Scored:
    """What a run is worth.

    Attributes:
        values: query and a column per measure, by its name, a row for every judged query; sorted.
        n_answered: How many of those the run has results for.
        n_unjudged: How many queries of the run are not judged, and left out.
    """

    values: pl.DataFrame
    n_answered: int
    n_unjudged: int


def read_qrels(path: Path) -> pl.DataFrame:
    """The judgements of a file: query, document, grade.

    Raises:
        GoldspanError: It cannot be read, holds none, or judges a document twice for a query.
    """
    with rows_of(path, QRELS) as rows:
        judged = rows.collect()
    _check_once(path, judged.lazy(), judged.lazy().group_by("query").agg(_n_twice()).collect())
    if judged.is_empty():
        raise fault(path, QRELS)
    return judged


def score_file(path: Path, judged: pl.DataFrame, measures: Sequence[Measure], *, answered_only: bool = False) -> Scored:
    """Score the run of a file.

    Results are ordered as trec_eval orders them, by score descending and equal scores by document id descending; the
    file's ranks are not read. Documents without a judgement are not relevant.

    Args:
        path: The file.
        judged: As :func:`read_qrels` gives them.
        measures: By what.
        answered_only: Leave out judged queries that the run has no result for; they score 0 otherwise.

    Raises:
        GoldspanError: It cannot be read, or returns a document twice for a query.
    """
    queries = judged.select(pl.col("query").unique())
    with rows_of(path, RUN) as rows:
        requested = [(one.metric, one.k) for one in measures]
        is_nan = pl.col("score").is_nan().any().alias("is_nan")
        lists = rows.group_by("query").agg(_n_twice(), is_nan).collect(engine="streaming")
        if lists.is_empty() or lists["is_nan"].any():
            raise fault(path, RUN)
        _check_once(path, rows, lists)
        values = score_graded(rows, judged.lazy(), requested).collect(engine="streaming")
    answered = queries.join(lists, on="query", how="semi")
    if answered.is_empty():
        message = f"no query of {path} is judged"
        firsts = {"RUN": lists["query"].sort()[0], "QRELS": queries["query"].sort()[0]}
        examples = [f"{name}: {query}" for name, query in firsts.items()]
        raise GoldspanError(message, examples=examples, hint="Are the ids written alike?", code=Exit.INVALID)
    if answered_only:
        values = values.join(answered, on="query", how="semi", maintain_order="left")
    named = values.sort("query").select("query", *(pl.col(one.column).alias(one.name) for one in measures))
    return Scored(named, answered.height, lists.height - answered.height)


def means(values: pl.DataFrame, measures: Sequence[Measure]) -> pl.DataFrame:
    """Per measure its mean over the queries with a 95 % t interval: measure, mean, low, high, queries."""
    n = values.height
    width = stdtrit(n - 1, 1 - LEVEL / 2) / n**0.5 if n > 1 else None
    rows = []
    for one in measures:
        mean, deviation = values.select(exact_sum(pl.col(one.name)) / n, deviation=pl.col(one.name).std()).row(0)
        ends = (None, None) if width is None else (mean - width * deviation, mean + width * deviation)
        rows.append((one.name, mean, *ends, n))
    return pl.DataFrame(rows, schema=MEANS, orient="row")


def _n_twice() -> pl.Expr:
    # Hashes, as numbers, take far less memory to count; that two documents of a list share one never happens.
    return (pl.len() - pl.col("document").hash().n_unique()).alias("n_twice")


def _check_once(path: Path, rows: pl.LazyFrame, lists: pl.DataFrame) -> None:
    """See that no document stands twice for a query."""
    twice = lists.filter(pl.col("n_twice") > 0)["query"].sort()
    if twice.is_empty():
        return
    of_first = rows.filter(pl.col("query") == twice[0]).group_by("document").len().filter(pl.col("len") > 1).collect()
    message = f"a document stands twice for a query: {counted(len(twice), 'query')}"
    examples = [f"{twice[0]} {document}" for document in of_first["document"].sort()]
    raise GoldspanError(message, where=str(path), examples=examples, hint="Keep one of the two.", code=Exit.INVALID)


def compared(a: pl.DataFrame, b: pl.DataFrame, measures: Sequence[Measure]) -> pl.DataFrame:
    """Per measure the second run less the first, on the queries that both have: delta, interval, p and the verdict.

    p is of a sign-flip test over queries, each measure for itself; the verdict is on the second run.
    """
    queries = a.select("query").join(b.select("query"), on="query").sort("query")
    both = [queries.join(run, on="query", how="left", maintain_order="left") for run in (a, b)]
    rows, first, second = [], np.array([0]), np.array([1])
    for one in measures:
        values = np.stack([run[one.name].to_numpy() for run in both])
        found = differences(Values(values, np.arange(queries.height)), first, second, "macro")
        p, _ = flip_tests(found, np.array([False]))
        said = {name: column[0].item() for name, column in uncertainty(found).items()}
        counts = {"n_items": queries.height, "n_repos": queries.height, "sign": 1, "p_adjusted": None}
        rows.append({"measure": one.name, **said, "p": p[0].item(), **counts})
    frame = pl.DataFrame(rows, schema_overrides={"p_adjusted": pl.Float64}).with_columns(verdict=verdict_of())
    return frame.select("measure", "delta", "low", "high", "p", "verdict", queries="n_items")


def value_lines(values: pl.DataFrame, other: pl.DataFrame | None = None) -> Iterator[str]:
    """A line per query and measure: the value, and then that of a second run; – where one of the two has none."""
    runs = [values] if other is None else [values, other]
    long = [run.unpivot(index="query", variable_name="measure", value_name=f"run {n}") for n, run in enumerate(runs)]
    rows = long[0] if other is None else long[0].join(long[1], on=["query", "measure"], how="full", coalesce=True)
    order = pl.col("measure").cast(pl.Enum(values.columns[1:]))
    for query, name, *found in rows.sort("query", order).iter_rows():
        yield "\t".join((f"{name:{_NAME_WIDTH}}", query, *("–" if one is None else f"{one:.4f}" for one in found)))


def mean_lines(means: pl.DataFrame) -> Iterator[str]:
    """A line per measure: its mean over `all` queries, and the interval's ends."""
    for name, mean, low, high, _ in means.iter_rows():
        ends = "\t".join("–" if end is None else f"{end:.4f}" for end in (low, high))
        yield f"{name:{_NAME_WIDTH}}\tall\t{mean:.4f}\t{ends}"


def notes(scored: Scored) -> Iterator[str]:
    """What the numbers are over, and who was left out."""
    n = scored.values.height
    yield f"means over {counted(n, 'judged query')}, then 95 % t intervals over these: as if queries were independent"
    if missing := n - scored.n_answered:
        without = f"{counted(missing, 'judged query')} without results count 0, as with trec_eval -c"
        yield f"{without}; --answered leaves them out"
    if scored.n_unjudged:
        yield f"{counted(scored.n_unjudged, 'query')} of the run without judgements are left out"


def compared_lines(means: pl.DataFrame, compared: pl.DataFrame) -> Iterator[str]:
    """A line per measure: the first run's mean, the difference with its interval, p, and what is said of the second."""
    first = dict(means.select("measure", "mean").iter_rows())
    yield "measure\tRUN\tRUN2 - RUN\tlow\thigh\tp\tverdict on RUN2\tqueries"
    for name, delta, low, high, p, verdict, n in compared.iter_rows():
        yield f"{name}\t{first[name]:.4f}\t{delta:+.4f}\t{low:+.4f}\t{high:+.4f}\t{p:.4f}\t{verdict}\t{n}"
