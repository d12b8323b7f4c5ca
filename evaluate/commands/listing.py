"""`python -m evaluate list`: what there is to run, and what it is measured by."""

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
    store = Lake(lake)
    chunkers = [part.name for part in store.parts("chunkers")]
    built_in = [f"{chunker}+{retriever}" for chunker in chunkers for retriever in retrievers()]
    columns = ("system", "task", "origin", "status", "n_items")
    runs = store.scan("runs").select("run_id", *columns).rename({"run_id": "name"}).collect()
    known = [(f"{each.name}{each.arguments and f'[{each.arguments}]'}", each.meaning) for each in retrievers().values()]
    listings: dict[str, list[dict[str, object]]] = {
        "systems": [{"name": name} for name in [*built_in, *imported_systems(store)]],
        "runs": runs.sort("name").to_dicts(),
        "retrievers": [{"name": name, "meaning": meaning} for name, meaning in known],
        "forms": [{"name": f"~{name}", "meaning": form.meaning} for name, form in QUERY_FORMS.items()],
        "tasks": [{"name": name, "meaning": task.meaning} for name, task in known_tasks(store).items()],
        "protocols": [{"name": name, "meaning": each.meaning} for name, each in known_protocols(store).items()],
        "metrics": [
            {"name": metric.name, "ks": list(metric.ks), "meaning": metric.meaning} for metric in metrics().values()
        ],
    }
    print_listing(lookup(what, "listing", listings), format)
