"""A run against relevance judgements, without a lake: ir_measures' values, with an interval and a paired test beside.

Measures, their names and their values are those of ir_measures. Each is given the results in trec_eval's order: by
score as Float32 descending, equal scores by document id descending.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import count

import ir_measures
import numpy as np
import polars as pl
from scipy.special import stdtrit

from evaluate.results.trec_files import ScoreLists
from evaluate.statistics.comparisons import uncertainty, verdict_of
from evaluate.statistics.detectable import LEVEL
from evaluate.statistics.pairs import Values, differences, flip_tests
from lake.errors import Exit, GoldspanError, unknown_name
from lake.text import counted

DEFAULT = (
    "AP", "Rprec", "RR", "nDCG", "nDCG@5", "nDCG@10", "nDCG@20", "nDCG@100", "P@5", "P@10", "P@20", "P@100", "R@5",
    "R@10", "R@20", "R@100", "Success@1", "Success@5", "Success@10",
)  # fmt: skip
ALIASES = {
    "map": "AP", "map_cut": "AP", "precision": "P", "recall": "R", "recip_rank": "RR", "mrr": "RR", "ndcg": "nDCG",
    "ndcg_cut": "nDCG", "success": "Success", "hit": "Success", "r_precision": "Rprec", "set_recall": "SetR",
    "err": "ERR", "judged": "Judged",
}  # fmt: skip
"""What trec_eval and our protocols call a measure of ir_measures."""

GDEVAL_GRADE = 4
"""The highest grade that gdeval, which computes ERR, takes."""
OVER_QUERIES = "are over queries: for this collection only"
"""The unit of interval and test, as a file of judgements names no repositories."""
_NAME_WIDTH = 22
"""As wide as trec_eval's."""

MeasureRow = dict[str, float | str | None]


def measure_named(text: str) -> ir_measures.Measure:
    """The measure of a name: `nDCG@10`, `AP(rel=2)`, or as trec_eval has it `ndcg_cut_10`."""
    with_cut_off = re.sub(r"^(\w+?)_([0-9]+)$", r"\1@\2", text)
    name = re.split("[(@]", with_cut_off)[0]
    try:
        measure = ir_measures.parse_measure(ALIASES.get(name, name) + with_cut_off.removeprefix(name))
        measure.validate_params()  # type: ignore[no-untyped-call]  # it ships no types
        if measure.params.get("cutoff", 1) < 1:
            raise ValueError("a cut-off is at least 1")
    except NameError as error:
        raise unknown_name(text, "measure", [*ir_measures.measures.registry, *ALIASES]) from error
    except (ValueError, AssertionError) as error:
        message = f"measure {text!r}: {re.sub('<object.*>', 'nothing', str(error))}"
        raise GoldspanError(message, hint="Write nDCG@10, AP or AP(rel=2).", code=Exit.USAGE) from error
    return measure


def score_run(
    run: ScoreLists, judged: ScoreLists, measures: Sequence[ir_measures.Measure], *, answered_only: bool
) -> pl.DataFrame:
    """What a run is worth: query, and a column for every measure, null where it is not defined; sorted by query.

    Documents without a grade are not relevant; judged queries without results score 0, unless these are left out.
    """
    answered = sorted(query for query, of in run.items() if of and judged.get(query))
    if not answered:
        examples = [f"RUN: {min(run)}", f"QRELS: {min(judged)}"]
        message = "no query of RUN is judged"
        raise GoldspanError(message, examples=examples, hint="Are the ids written alike?", code=Exit.INVALID)
    queries = answered if answered_only else sorted(query for query, of in judged.items() if of)
    # Some of what ir_measures calls reads names with spaces wrong, or ends the process: it gets numbers.
    name: defaultdict[str, str] = defaultdict(map(str, count()).__next__)
    grades = {
        name[query]: {name[document]: int(grade) for document, grade in judged[query].items()} for query in queries
    }
    scores = {name[query]: {name[document]: rank for rank, document in _ascending(run[query])} for query in answered}
    if max(max(of.values()) for of in grades.values()) > GDEVAL_GRADE and any(
        map(ir_measures.gdeval.supports, measures)
    ):
        message = f"ERR and nDCG of exponential gains take grades up to {GDEVAL_GRADE}; QRELS has higher ones"
        raise GoldspanError(message, hint="Choose another of --metrics, such as nDCG@10.", code=Exit.INVALID)
    values: dict[tuple[str, str], float] = {}
    try:
        for row in ir_measures.DefaultPipeline.iter_calc(measures, grades, scores):
            values[str(row.measure), row.query_id] = row.value
    # Anything: the measures are those of many libraries and programs.
    except Exception as error:
        message = f"ir_measures cannot compute one of {', '.join(map(str, measures))}"
        raise GoldspanError(
            message, examples=[str(error)], hint="Leave it out of --metrics.", code=Exit.USAGE
        ) from error
    columns = {str(measure): [values.get((str(measure), name[query])) for query in queries] for measure in measures}
    rows = pl.DataFrame({"query": queries, **columns}, schema_overrides=dict.fromkeys(columns, pl.Float64))
    return rows.fill_nan(None)


def _ascending(scores: Mapping[str, float]) -> Iterator[tuple[int, str]]:
    """Documents from the last to the first in trec_eval's order, numbered."""
    with np.errstate(over="ignore"):
        singles = np.array(list(scores.values()), np.float32).tolist()
    return enumerate(document for _, document in sorted(zip(singles, scores, strict=True)))


def means(values: pl.DataFrame, measures: Sequence[ir_measures.Measure] = ()) -> list[MeasureRow]:
    """Per measure its mean over the queries with a 95 % t interval: measure, mean, low, high, queries.

    Of what ir_measures adds up in place of a mean, such as NumRet, the sum and no interval. Without `measures` every
    column has a mean.
    """
    rows: list[MeasureRow] = []
    aggregators = {str(measure): measure.aggregator() for measure in measures}
    for name in values.columns[1:]:
        defined = values[name].drop_nulls().to_list()
        total = aggregators.get(name) or ir_measures.measures.base.MeanAgg()  # type: ignore[no-untyped-call]  # no types
        for value in defined:
            total.add(value)
        is_mean = isinstance(total, ir_measures.measures.base.MeanAgg)
        low = high = None
        if is_mean and (n := len(defined)) > 1:
            half = float(stdtrit(n - 1, 1 - LEVEL / 2) * np.std(defined, ddof=1) / n**0.5)
            low, high = max(total.result() - half, 0.0), total.result() + half
            high = high if max(defined) > 1 else min(high, 1.0)
        mean = total.result() if defined else None
        rows.append({"measure": name, "mean": mean, "low": low, "high": high, "queries": len(defined)})
    return rows


def compared_by_query(a: pl.DataFrame, b: pl.DataFrame) -> list[MeasureRow]:
    """Per measure the second run less the first, on the queries that both have: delta, interval, p and the verdict.

    p is of a sign-flip test over queries, each measure for itself; the verdict is on the second run.
    """
    rows, both = [], a.join(b, on="query", maintain_order="left")
    for measure in a.columns[1:]:
        pairs = both.select(measure, f"{measure}_right").drop_nulls().to_numpy()
        n = len(pairs)
        # Of values within 0 and 1 a difference is at most 1, of graded gains anything.
        most = 1.0 if pairs.size and pairs.min() >= 0 and pairs.max() <= 1 else np.inf
        delta = differences(Values(pairs.T, np.arange(n)), np.array([0]), np.array([1]), "macro")
        p, _ = flip_tests(delta, np.array([False]))
        about = {name: column[0].item() for name, column in uncertainty(delta, (-most, most)).items()}
        rows.append({"measure": measure, **about, "p": p[0].item(), "n_items": n, "sign": 1})
    frame = pl.DataFrame(rows).with_columns(p_adjusted=pl.lit(None, pl.Float64)).with_columns(verdict=verdict_of())
    columns = ("measure", "delta", "low", "high", "p", "verdict")
    return frame.with_columns(pl.col(pl.Float64).fill_nan(None)).select(*columns, queries="n_items").to_dicts()


def value_lines(values: pl.DataFrame, others: pl.DataFrame | None) -> Iterator[str]:
    """A line per query and measure with the value of each run; – where it has none."""
    both = values if others is None else values.join(others, on="query", how="full", coalesce=True).sort("query")
    for row in both.iter_rows(named=True):
        for measure in values.columns[1:]:
            of_runs = (row[name] for name in (measure, f"{measure}_right") if name in row)
            yield "\t".join((f"{measure:{_NAME_WIDTH}}", row["query"], *map(_digits, of_runs)))


def mean_lines(means: Sequence[MeasureRow]) -> Iterator[str]:
    """A line per measure: its mean over `all` queries, and the interval's ends."""
    for row in means:
        yield "\t".join(
            (f"{row['measure']:{_NAME_WIDTH}}", "all", *(_digits(row[end]) for end in ("mean", "low", "high")))
        )


def compared_lines(means: Sequence[MeasureRow], compared: Sequence[MeasureRow]) -> Iterator[str]:
    """A line per measure: the first run's mean, the difference with its interval, p, and what is said of the second."""
    yield "measure\tRUN\tRUN2 - RUN\tlow\thigh\tp\tverdict on RUN2\tqueries"
    for mean, row in zip(means, compared, strict=True):
        ends = (_digits(row[end], "+z.4f") for end in ("delta", "low", "high"))
        numbers = (_digits(mean["mean"]), *ends, _digits(row["p"]))
        yield "\t".join((str(row["measure"]), *numbers, str(row["verdict"]), str(row["queries"])))


def _digits(value: float | str | None, form: str = ".4f") -> str:
    return "–" if value is None else format(value, form)


def run_notes(queries: Sequence[str], run: ScoreLists, judged: ScoreLists) -> Iterator[str]:
    """What the numbers are over, and who was left out."""
    yield f"means over {counted(len(queries), 'judged query')}; 95 % t intervals {OVER_QUERIES}"
    if missing := sum(not run.get(query) for query in queries):
        without = f"{counted(missing, 'judged query')} without results count 0, as with trec_eval -c"
        yield f"{without}; --answered leaves them out"
    if unjudged := sum(not judged.get(query) for query in run):
        yield f"{counted(unjudged, 'query')} of the run without judgements are left out"
