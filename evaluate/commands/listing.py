"""`python -m evaluate list`: what there is to run, and what it is measured by."""

from __future__ import annotations

from typing import Annotated

import typer

from evaluate.metrics import metrics
from evaluate.retrievers import retrievers
from evaluate.systems import imported_systems
from evaluate.texts.query_forms import QUERY_FORMS
from lake.benchmarks import known_protocols, known_tasks
from lake.console import DEFAULT_LAKE, FormatOption, LakeOption, print_listing
from lake.errors import lookup
from lake.store import Lake

app = typer.Typer()


@app.command("list")
def list_systems(
    what: Annotated[
        str, typer.Argument(help="systems, runs, retrievers, forms (of a query), tasks, protocols or metrics.")
    ] = "systems",
    lake: LakeOption = DEFAULT_LAKE,
    format: FormatOption = "",  # noqa: A002  # the flag's own name
) -> None:
    """What there is: systems (over the lake's chunkers, and imported), runs, retrievers, tasks, protocols, metrics."""
    chunkers = [part.name for part in Lake(lake).parts("chunkers")]
    built_in = [f"{chunker}+{retriever}" for chunker in chunkers for retriever in retrievers()]
    listings: dict[str, list[dict[str, object]]] = {
        "systems": [{"name": name} for name in [*built_in, *imported_systems(Lake(lake))]],
        "runs": _runs(Lake(lake)),
        "retrievers": [
            {
                "name": f"{retriever.name}{retriever.arguments and f'[{retriever.arguments}]'}",
                "meaning": retriever.meaning,
            }
            for retriever in retrievers().values()
        ],
        "forms": [{"name": f"~{form.name}", "meaning": form.meaning} for form in QUERY_FORMS.values()],
        "tasks": [{"name": task.name, "meaning": task.meaning} for task in known_tasks(Lake(lake)).values()],
        "protocols": [
            {"name": protocol.name, "meaning": protocol.meaning} for protocol in known_protocols(Lake(lake)).values()
        ],
        "metrics": [
            {"name": metric.name, "ks": list(metric.ks), "meaning": metric.meaning} for metric in metrics().values()
        ],
    }
    print_listing(lookup(what, "listing", listings), format)


def _runs(lake: Lake) -> list[dict[str, object]]:
    columns = ("system", "task", "origin", "status", "n_items")
    return lake.scan("runs").select(*columns, name="run_id").select("name", *columns).collect().sort("name").to_dicts()
