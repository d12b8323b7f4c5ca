"""`python -m evaluate score`: score a ranking against relevance judgements with ir_measures, without a lake.

Results are in trec_eval's order: by score as Float32 descending, equal scores by document id descending.
"""

import json as jsonlib
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain, count
from pathlib import Path
from typing import IO, Annotated, Any

import ir_measures
import numpy as np
import polars as pl
import typer
from scipy.special import stdtrit

from evaluate.results import regions
from evaluate.results.board import number_of
from evaluate.statistics.comparisons import uncertainty, verdict_of
from evaluate.statistics.detectable import LEVEL
from evaluate.statistics.pairs import Values, differences, flip_tests
from lake.console import Console, JsonOption, MemoryOption, QuietOption, setting, split_names
from lake.errors import Exit, GoldspanError, did_you_mean
from lake.limits import MAX_DOCUMENT_BYTES, MAX_LINE_BYTES, parsed_json
from lake.text import counted, escaped

app = typer.Typer()


@app.command("score")
def score_command(
    qrels: Annotated[
        Path, typer.Argument(metavar="QRELS", help="Relevance judgements: TREC's four columns, BEIR's table or JSON.")
    ],
    ranked: Annotated[Path, typer.Argument(metavar="RUN", help="A ranking: TREC's six columns, BEIR's table or JSON.")],
    other: Annotated[Path | None, typer.Argument(metavar="RUN2", help="Second run, to compare with RUN.")] = None,
    metrics: Annotated[str, setting("METRICS", "Comma list of ir_measures' names: AP,nDCG@10; or trec_eval's.")] = "",
    per_query: Annotated[bool, typer.Option("-q", "--per-query", help="Print every query's values too.")] = False,
    answered: Annotated[bool, typer.Option("--answered", help="Leave out judged queries without results.")] = False,
    json: JsonOption = False,
    quiet: QuietOption = False,
    memory_limit: MemoryOption = None,  # set as it is read
) -> None:
    """Score any ranking against any relevance judgements with ir_measures; no lake is needed."""
    paths = [ranked, *([other] if other else [])]
    score = regions.score_region_files if regions.is_gold(qrels) else score_files
    values, (notes, *others) = zip(*score(qrels, paths, split_names(metrics), answered_only=answered), strict=True)
    of_runs = list(map(means, values))
    compared = compared_by_query(*values) if other else []
    if json:
        shown: dict[str, object] = {"means": of_runs[0]}
        shown |= {"means2": of_runs[1], "compared": compared} if other else {}
        if per_query:
            shown |= {name: of_run.to_dicts() for name, of_run in zip(("values", "values2"), values, strict=False)}
        print(jsonlib.dumps(shown))
        return
    rows = list[list[str]]()
    if per_query:
        both = values[0].join(values[1], on="query", how="full", coalesce=True).sort("query") if other else values[0]
        for row in both.iter_rows(named=True):
            for measure in values[0].columns[1:]:
                of_each = [row[name] for name in (measure, f"{measure}_right") if name in row]
                rows.append([f"{measure:22}", row["query"], *(number_of(value, ".4f") for value in of_each)])
    if other:
        rows.append(["measure", "RUN", "RUN2 - RUN", "low", "high", "p", "verdict on RUN2", "queries"])
        for mean, row in zip(of_runs[0], compared, strict=True):
            ends = (number_of(row[end], "+z.4f") for end in ("delta", "low", "high"))
            numbers = (number_of(mean["mean"], ".4f"), *ends, number_of(row["p"], ".4f"))
            rows.append([str(row["measure"]), *numbers, str(row["verdict"]), str(row["queries"])])
        by_run = zip(("RUN", "RUN2"), (notes, *others), strict=True)
        of_runs_alone = [f"{name}: {note}" for name, (_, *more) in by_run for note in more]
        notes = [f"95 % intervals and p {OVER_QUERIES}", *of_runs_alone]
    else:
        rows += [
            # As wide as trec_eval's.
            [f"{row['measure']:22}", "all", *(number_of(row[end], ".4f") for end in ("mean", "low", "high"))]
            for row in of_runs[0]
        ]
    print(*(escaped("\t".join(row)) for row in rows), sep="\n")
    for note in notes:
        Console(quiet=quiet).say(note)


DEFAULT = (
    "AP", "Rprec", "RR", "nDCG", "nDCG@5", "nDCG@10", "nDCG@20", "nDCG@100", "P@5", "P@10", "P@20", "P@100", "R@5",
    "R@10", "R@20", "R@100", "Success@1", "Success@5", "Success@10",
)  # fmt: skip
ALIASES = {
    "map": "AP", "map_cut": "AP", "precision": "P", "recall": "R", "recip_rank": "RR", "mrr": "RR", "ndcg": "nDCG",
    "ndcg_cut": "nDCG", "success": "Success", "hit": "Success", "r_precision": "Rprec", "set_recall": "SetR",
    "err": "ERR", "judged": "Judged",
}  # fmt: skip
"""The names that trec_eval and our protocols have for measures of ir_measures."""

_SUMMED = ("NumQ", "NumRel", "NumRet")
"""The measures that ir_measures sums instead of averaging (prefixes: `NumRelRet` is one too)."""
OVER_QUERIES = "are over queries: for this collection only"
"""The unit of interval and test: queries, as a file of judgements names no repositories."""
_MAX_GRADE = 1_000_000
"""The highest possible grade: trec_eval keeps a counter for every grade up to the highest."""

ScoreLists = dict[str, dict[str, float]]
MeasureRow = dict[str, Any]


QRELS, RUN = "query 0 document grade", "query Q0 document rank score tag"
"""The columns of the two files."""


def read_lists(path: Path, columns: str) -> ScoreLists:
    """Query → document → number, from TREC's columns, BEIR's table, or JSON, plain or packed."""
    lists: ScoreLists = defaultdict(dict)
    name, number = ("QRELS", int) if columns == QRELS else ("RUN", float)
    with regions.unpacked_file(path) as stream:
        for where, row in _rows(stream, columns.split()):
            try:
                query, document, value = (part.decode() if isinstance(part, bytes) else part for part in row)
                value = number(value) if isinstance(value, str) else value
                is_number = type(value) in (int, number) and value == value  # false for NaN
                if not is_number or (number is int and abs(value) > _MAX_GRADE) or not f"{query}{document}".encode():
                    raise ValueError("no such number")
            except ValueError as error:
                message = f"{name} has lines of `{columns}`, BEIR's three columns under their heading, or is JSON "
                message += f"{{query: {{document: number}}}}; a grade is a whole number, at most {_MAX_GRADE:,}"
                raise GoldspanError(message, where=str(path), examples=[where], code=Exit.INVALID) from error
            if document in lists[query]:
                message = f"{name} has document {document} twice for query {query}"
                raise GoldspanError(message, where=str(path), examples=[where], code=Exit.INVALID)
            lists[query][document] = value
    if not any(lists.values()):
        raise GoldspanError(f"{name} is empty", where=str(path), code=Exit.INVALID)
    return lists


def _rows(stream: IO[bytes], names: Sequence[str]) -> Iterator[tuple[str, Sequence[Any]]]:
    """The place of each row, and its query, document and number; fewer fields if a line is not a row."""
    first = stream.readline(MAX_LINE_BYTES).removeprefix(b"\xef\xbb\xbf")
    if first.lstrip()[:1] in (b"{", b"["):
        # An object is a tuple of its pairs, so that no name that stands twice is lost.
        value = parsed_json(first + stream.read(MAX_DOCUMENT_BYTES), of_pairs=tuple)
        for query, of in value if isinstance(value, tuple) else [(repr(value)[:200], None)]:
            for document, number in of if isinstance(of, tuple) else [("", None)]:
                yield f"{query}: {{{document}: {number!r}}}", (query, document, number)
        return
    columns, read = len(names), (0, 2, 3 if "grade" in names else 4)
    for number, line in enumerate(chain([first], iter(lambda: stream.readline(MAX_LINE_BYTES), b"")), 1):
        parts = line.split()
        if parts == [b"query-id", b"corpus-id", b"score"]:
            columns, read = 3, (0, 1, 2)
        elif parts:
            where = f"line {number}: {line.decode(errors='replace').rstrip()}"
            yield where, [parts[column] for column in read] if len(parts) == columns else []


def measure_named(text: str) -> ir_measures.Measure:
    """The measure with a name such as `nDCG@10` or `AP(rel=2)`, or trec_eval's `ndcg_cut_10`; else an error."""
    with_cut_off = re.sub(r"^(\w+?)_([0-9]+)$", r"\1@\2", text)
    name = re.split("[(@]", with_cut_off)[0]
    try:
        measure = ir_measures.parse_measure(ALIASES.get(name, name) + with_cut_off.removeprefix(name))
        measure.validate_params()  # type: ignore[no-untyped-call]  # it ships no types
        if measure.params.get("cutoff", 1) < 1:
            raise ValueError("a cut-off is at least 1")
    except NameError as error:
        hint = did_you_mean(name, [*ir_measures.measures.registry, *ALIASES])
        raise GoldspanError(f"unknown measure {text!r}", hint=hint, code=Exit.USAGE) from error
    except (ValueError, AssertionError) as error:
        message = f"measure {text!r}: {re.sub('<object.*>', 'nothing', str(error))}"
        raise GoldspanError(message, hint="Write nDCG@10, AP or AP(rel=2).", code=Exit.USAGE) from error
    return measure


def score_files(
    qrels: Path, paths: Sequence[Path], names: Sequence[str], *, answered_only: bool
) -> Iterator[tuple[pl.DataFrame, list[str]]]:
    """Per run: its scores (query, and a column per measure, null where undefined); and notes."""
    measures = list(dict.fromkeys(map(measure_named, names or DEFAULT)))
    judged = read_lists(qrels, QRELS)
    for run in [read_lists(path, RUN) for path in paths]:
        answered = sorted(query for query, of in run.items() if of and judged.get(query))
        if not answered:
            examples, hint = [f"RUN: {min(run)}", f"QRELS: {min(judged)}"], "Compare how the two files write query ids."
            raise GoldspanError("no query of RUN is judged", examples=examples, hint=hint, code=Exit.INVALID)
        queries = answered if answered_only else sorted(query for query, of in judged.items() if of)
        values = _values(run, {query: judged[query] for query in queries}, measures, answered)
        notes = [f"means over {counted(len(queries), 'judged query')}; 95 % t intervals {OVER_QUERIES}"]
        if missing := sum(not run.get(query) for query in queries):
            notes.append(f"{counted(missing, 'judged query')} without results count 0; --answered leaves them out")
        if unjudged := sum(not judged.get(query) for query in run):
            notes.append(f"left out, as not judged: {counted(unjudged, 'query')} of the run")
        yield values, notes


def _values(
    run: ScoreLists, judged: ScoreLists, measures: Sequence[ir_measures.Measure], answered: Sequence[str]
) -> pl.DataFrame:
    # Some programs behind ir_measures misread names with spaces, or crash on them: they get numbers.
    name: defaultdict[str, str] = defaultdict(map(str, count()).__next__)
    grades = {
        name[query]: {name[document]: int(grade) for document, grade in of.items()} for query, of in judged.items()
    }
    scores = {}
    for query in answered:
        with np.errstate(over="ignore"):
            singles = np.array(list(run[query].values()), np.float32).tolist()
        ascending = sorted(zip(singles, run[query], strict=True))
        scores[name[query]] = {name[document]: rank for rank, (_, document) in enumerate(ascending)}
    values: dict[tuple[str, str], float] = {}
    try:
        for row in ir_measures.DefaultPipeline.iter_calc(measures, grades, scores):
            values[str(row.measure), row.query_id] = row.value
    # Any exception: the measures come from many libraries and programs.
    except Exception as error:
        message = f"ir_measures cannot compute one of {', '.join(map(str, measures))}"
        hint = "Leave it out of --metrics; ERR and nDCG of exponential gains take grades up to 4."
        raise GoldspanError(message, examples=[str(error)], hint=hint, code=Exit.USAGE) from error
    columns = {str(measure): [values.get((str(measure), name[query])) for query in judged] for measure in measures}
    rows = pl.DataFrame({"query": [*judged], **columns}, schema_overrides=dict.fromkeys(columns, pl.Float64))
    return rows.fill_nan(None)


def means(values: pl.DataFrame) -> list[MeasureRow]:
    """Per measure its mean over the queries, or its sum, with a 95 % t interval: measure, mean, low, high, queries."""
    rows: list[MeasureRow] = []
    for name in values.columns[1:]:
        defined = values[name].drop_nulls().to_list()
        n, total, is_sum = len(defined), sum(defined), name.startswith(_SUMMED)
        mean = total if is_sum else total / n if n else None
        low = high = None
        if mean is not None and not is_sum and n > 1:
            half = float(stdtrit(n - 1, 1 - LEVEL / 2) * np.std(defined, ddof=1) / n**0.5)
            low, high = max(mean - half, 0.0), mean + half
            high = high if max(defined) > 1 else min(high, 1.0)
        rows.append({"measure": name, "mean": mean, "low": low, "high": high, "queries": n})
    return rows


def compared_by_query(a: pl.DataFrame, b: pl.DataFrame) -> list[MeasureRow]:
    """Per measure the second run minus the first, on the queries that both have, by a sign-flip test over queries."""
    rows, both = [], a.join(b, on="query", maintain_order="left")
    for measure in a.columns[1:]:
        pairs = both.select(measure, f"{measure}_right").drop_nulls().to_numpy()
        n = len(pairs)
        # Values within 0 and 1 differ by at most 1; those of graded gains have no limit.
        most = 1.0 if pairs.size and pairs.min() >= 0 and pairs.max() <= 1 else np.inf
        delta = differences(Values(pairs.T, np.arange(n)), np.array([0]), np.array([1]), "macro")
        p, _ = flip_tests(delta, np.array([False]))
        about = {name: column[0].item() for name, column in uncertainty(delta, (-most, most)).items()}
        rows.append({"measure": measure, **about, "p": p[0].item(), "n_items": n, "sign": 1})
    frame = pl.DataFrame(rows).with_columns(p_adjusted=pl.lit(None, pl.Float64)).with_columns(verdict=verdict_of())
    columns = ("measure", "delta", "low", "high", "p", "verdict")
    return frame.with_columns(pl.col(pl.Float64).fill_nan(None)).select(*columns, queries="n_items").to_dicts()
