"""`python -m evaluate score`: a ranking against relevance judgements, without a lake."""

import json as jsonlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import polars as pl
import typer

from evaluate.results import regions, trec
from lake.console import Console, JsonOption, MemoryOption, QuietOption, setting, split_names
from lake.text import NO_VALUE, escaped

app = typer.Typer()

_NAME_WIDTH = 22
"""As wide as trec_eval's."""


@app.command("score")
def score_command(
    qrels: Annotated[Path, typer.Argument(help="Relevance judgements: TREC's four columns, BEIR's table or JSON.")],
    ranked: Annotated[Path, typer.Argument(metavar="RUN", help="A ranking: TREC's six columns, BEIR's table or JSON.")],
    other: Annotated[Path | None, typer.Argument(metavar="[RUN2]", help="A second, compared with the first.")] = None,
    metrics: Annotated[str, setting("METRICS", "Comma list of ir_measures' names: AP,nDCG@10; or trec_eval's.")] = "",
    per_query: Annotated[bool, typer.Option("-q", "--per-query", help="Print every query's values too.")] = False,
    answered: Annotated[bool, typer.Option("--answered", help="Leave out judged queries without results.")] = False,
    json: JsonOption = False,
    quiet: QuietOption = False,
    memory_limit: MemoryOption = None,  # set as it is read
) -> None:
    """Score any ranking against any relevance judgements with ir_measures; no lake is needed."""
    paths, kind = [ranked, *([other] if other else [])], regions if regions.is_gold(qrels) else trec
    values, notes = kind.score_files(qrels, paths, split_names(metrics), answered_only=answered)
    means = list(map(trec.means, values))
    compared = trec.compared_by_query(*values) if other else []
    if json:
        shown: dict[str, object] = {"means": means[0]}
        shown |= {"means2": means[1], "compared": compared} if other else {}
        if per_query:
            shown |= {name: of_run.to_dicts() for name, of_run in zip(("values", "values2"), values, strict=False)}
        print(jsonlib.dumps(shown))
        return
    rows = [*_of_queries(values)] if per_query else []
    if other:
        rows.append(["measure", "RUN", "RUN2 - RUN", "low", "high", "p", "verdict on RUN2", "queries"])
        for mean, row in zip(means[0], compared, strict=True):
            ends = (_digits(row[end], "+z.4f") for end in ("delta", "low", "high"))
            numbers = (_digits(mean["mean"]), *ends, _digits(row["p"]))
            rows.append([str(row["measure"]), *numbers, str(row["verdict"]), str(row["queries"])])
        notes = [f"95 % intervals and p {trec.OVER_QUERIES}"]
    else:
        rows += [
            [_name(row["measure"]), "all", *(_digits(row[end]) for end in ("mean", "low", "high"))] for row in means[0]
        ]
    print(*(escaped("\t".join(row)) for row in rows), sep="\n")
    for note in notes:
        Console(quiet=quiet).say(note)


def _of_queries(values: Sequence[pl.DataFrame]) -> Iterator[list[str]]:
    """A row per query and measure with the value of each run; – where it has none."""
    first, *others = values
    both = first.join(others[0], on="query", how="full", coalesce=True).sort("query") if others else first
    for row in both.iter_rows(named=True):
        for measure in first.columns[1:]:
            of_runs = (row[name] for name in (measure, f"{measure}_right") if name in row)
            yield [_name(measure), row["query"], *map(_digits, of_runs)]


def _name(measure: object) -> str:
    return f"{measure:{_NAME_WIDTH}}"


def _digits(value: float | str | None, form: str = ".4f") -> str:
    return NO_VALUE if value is None else format(value, form)
