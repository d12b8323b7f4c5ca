"""`python -m evaluate score`: a ranking against relevance judgements, without a lake."""

from __future__ import annotations

import json as jsonlib
from pathlib import Path
from typing import Annotated

import typer

from evaluate.results import regions, trec
from evaluate.results.region_files import is_gold
from evaluate.results.trec_files import QRELS, RUN, read_lists
from lake.console import Console, DebugOption, JsonOption, MemoryOption, QuietOption, setting, split_names
from lake.text import escaped

app = typer.Typer()


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
    debug: DebugOption = False,
) -> None:
    """Score any ranking against any relevance judgements with ir_measures; no lake is needed."""
    paths = [ranked] if other is None else [ranked, other]
    if is_gold(qrels):
        values, notes = regions.score_region_files(qrels, paths, split_names(metrics), answered_only=answered)
        means = [trec.means(of_run) for of_run in values]
    else:
        measures = list(dict.fromkeys(map(trec.measure_named, split_names(metrics) or trec.DEFAULT)))
        judged, runs = read_lists(qrels, QRELS), [read_lists(path, RUN) for path in paths]
        values = [trec.score_run(run, judged, measures, answered_only=answered) for run in runs]
        means = [trec.means(of_run, measures) for of_run in values]
        notes = [*trec.run_notes(values[0]["query"].to_list(), runs[0], judged)]
    beside = trec.compared_by_query(*values) if other is not None else []
    if json:
        shown: dict[str, object] = {"means": means[0]}
        shown |= {"means2": means[1], "compared": beside} if other is not None else {}
        if per_query:
            shown |= {name: of_run.to_dicts() for name, of_run in zip(("values", "values2"), values, strict=False)}
        print(jsonlib.dumps(shown))
        return
    lines = [*trec.compared_lines(means[0], beside)] if beside else [*trec.mean_lines(means[0])]
    if per_query:
        lines = [*trec.value_lines(values[0], values[1] if other is not None else None), *lines]
    print(*map(escaped, lines), sep="\n")
    both = [f"95 % intervals and p {trec.OVER_QUERIES}"]
    for note in notes if other is None else both:
        Console(quiet=quiet).say(note)
