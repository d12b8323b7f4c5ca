"""`python -m evaluate list`, `texts` and `repro`: listings, texts to embed elsewhere, the origin of a run's numbers."""

import json as jsonlib
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import polars as pl
import typer

from evaluate.metrics import metrics
from evaluate.rank.pools import load_pools
from evaluate.results.board import benchmarks_named
from evaluate.retrievers import retrievers
from evaluate.retrievers.dense import chunk_texts, text_key
from evaluate.selection import edition, selected_parts
from evaluate.systems import imported_systems, retriever_named
from evaluate.texts.query_forms import QUERY_FORMS, rewritten
from lake.benchmarks import known_protocols, known_tasks, tasks_of
from lake.console import (
    DEFAULT_LAKE,
    Console,
    FormatOption,
    JsonOption,
    LakeOption,
    print_listing,
    setting,
    split_names,
)
from lake.errors import Exit, GoldspanError, lookup, typed
from lake.fingerprint import fingerprint
from lake.store import Lake
from lake.tables import PROGRAMS
from lake.text import counted, escaped

app = typer.Typer()


@app.command("list")
def list_systems(
    what: Annotated[
        str, typer.Argument(help="systems, runs, retrievers, forms (of a query), tasks, protocols or metrics.")
    ] = "systems",
    lake: LakeOption = DEFAULT_LAKE,
    format: FormatOption = "",  # noqa: A002  # the flag's own name
) -> None:
    """List systems (of the lake's chunkers, or imported), runs, retrievers, forms, tasks, protocols or metrics."""
    store = Lake(lake)
    built_in = [f"{part.name}+{retriever}" for part in store.parts("chunkers") for retriever in retrievers()]
    columns = ("system", "task", "origin", "status", "n_items")
    runs = store.scan("runs").select(pl.col("run_id").alias("name"), *columns).sort("name").collect()
    known = [(f"{each.name}{each.arguments and f'[{each.arguments}]'}", each.meaning) for each in retrievers().values()]
    listings: dict[str, list[dict[str, object]]] = {
        "systems": [{"name": name} for name in [*built_in, *imported_systems(store)]],
        "runs": runs.to_dicts(),
        "retrievers": [{"name": name, "meaning": meaning} for name, meaning in known],
        "forms": [{"name": f"~{name}", "meaning": form.meaning} for name, form in QUERY_FORMS.items()],
        "tasks": [{"name": name, "meaning": task.meaning} for name, task in known_tasks(store).items()],
        "protocols": [{"name": name, "meaning": each.meaning} for name, each in known_protocols(store).items()],
        "metrics": [
            {"name": metric.name, "ks": list(metric.ks), "meaning": metric.meaning} for metric in metrics().values()
        ],
    }
    print_listing(lookup(what, "listing", listings), format)


@app.command()
def texts(
    system: Annotated[str, typer.Argument(metavar="SYSTEM", help="CHUNKER+recorded.")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="Parquet to write.")],
    benchmarks: Annotated[str, setting("BENCHMARKS", "Comma list (default: all).")] = "",
    lake: LakeOption = DEFAULT_LAKE,
) -> None:
    """Write the texts that a system compares, to embed elsewhere; --vectors reads the vectors."""
    store = Lake(lake)
    chunker, _, retriever = system.partition("+")
    if not retriever.startswith("recorded"):
        message = f"{system!r} does not use vectors made elsewhere"
        raise GoldspanError(message, hint="Write CHUNKER+recorded, such as syntax-1500+recorded", code=Exit.USAGE)
    lookup(chunker, "chunker", {part.name: part for part in store.parts("chunkers")})
    form = retriever_named(retriever).query_form
    frames = []
    for task in (task for name in benchmarks_named(store, benchmarks) for task in tasks_of(store, name)):
        if task.imported_only or task.runs != "always" or (task.chunkers and chunker not in task.chunkers):
            continue
        _, everything = edition(store, task.benchmark)
        for part in selected_parts(store, task, everything):
            pools = load_pools(store, chunker, part.pool_ids, with_blank=task.ranks_blank)
            chunks = [text for pool in pools.side_by_side() for text in chunk_texts(pool)]
            for kind, given in (("chunk", chunks), ("query", rewritten(part.queries, form)["text"])):
                distinct = list(dict.fromkeys(given))
                keys = [text_key(text) for text in distinct]
                frames.append(pl.DataFrame({"key": keys, "kind": kind, "text": distinct}))
    if not frames:
        raise store.lacks(f"the lake holds no chunks of {chunker} for these benchmarks")
    rows = pl.concat(frames).unique("key", keep="first", maintain_order=True).sort("key")
    with output.open("wb") as file:
        rows.write_parquet(file)
    kinds = dict(rows["kind"].value_counts().sort("kind").iter_rows())
    counts = ", ".join(counted(kinds.get(kind, 0), kind) for kind in ("chunk", "query"))
    Console().say(f"{counts} → {output}")
    command = " ".join(["python -m evaluate", *split_names(benchmarks), "--systems", system, "--vectors FILE"])
    Console().say(typed(f"  next (FILE: Parquet of key, vector): {command}"))


@app.command("repro")
def reproduce(
    run_id: Annotated[str, typer.Argument(metavar="RUN_ID", help="Run id, or a system with one run.")],
    lake: LakeOption = DEFAULT_LAKE,
    json: JsonOption = False,
) -> None:
    """Show where a run's numbers come from, and the commands that reproduce them."""
    origin = provenance(Lake(lake), run_id)
    if json:
        print(jsonlib.dumps(origin, indent=2))
        return
    run, label, revision = origin["run"], origin["label"], origin["revision"]
    source = f"{origin['source']}{f' at {revision}' if revision else ''}{f', labelled {label}' if label else ''}"
    facts = [
        ("run", run["run_id"]),
        ("system", f"{run['system']} ({run['origin']}, {run['status']}, {run['n_items']:,} items)"),
        ("task", run["task"]),
        ("data", f"{source}; content {origin['data'][:16]}"),
        ("lake", origin["lake"][:16]),
        *((name, run[name]) for name in ("fingerprint", "parameters", "versions")),
        *(("protocol", f"{name}, hash {digest[:16]}") for name, digest in origin["protocols"].items()),
    ]
    lines = [f"{name:13}{value}" for name, value in facts]
    commands = [f"  python -m {shlex.join(command)}" for command in origin["commands"]]
    print(*map(escaped, [*lines, "reproduced by", *commands]), sep="\n")


def provenance(lake: Lake, run_id: str) -> dict[str, Any]:
    """The origin of a run, as `repro --json` prints it; `commands` are arguments of `python -m`."""
    rows = lake.read("runs").sort("run_id").to_dicts()
    of_system = [row for row in rows if row["system"] == run_id]
    if len(of_system) > 1:
        examples = [row["run_id"] for row in of_system]
        message = f"{run_id} has {len(examples)} runs"
        raise GoldspanError(message, examples=examples, hint="Give the id of one.", code=Exit.USAGE)
    runs = {row["run_id"]: row for row in rows} | {row["system"]: row for row in of_system}
    run = lookup(run_id, "run", runs, code=Exit.MISSING)
    benchmark, data = run["benchmark"], ("items", "queries", "gold_spans")
    declared = lake.read("benchmarks").row(by_predicate=pl.col("name") == benchmark, named=True)
    scores = lake.scan("scores", benchmark=benchmark, run_id=run["run_id"])
    hashes = scores.select("protocol", "protocol_hash").unique().sort("protocol").collect()
    parts = [part for name in data for part in lake.parts(name, benchmark=benchmark)]
    return {
        "run": run,
        "protocols": dict(hashes.iter_rows()),
        **{name: declared[name] for name in ("source", "revision", "label")},
        "data": fingerprint([(part.relative_path, part.fingerprint) for part in parts]),
        "lake": lake.state(*data, "files", "blobs", "chunks", "runs", "hits", "scores", "aggregates"),
        "commands": _commands(lake, run, declared["source"], declared["limit"]),
    }


def _commands(lake: Lake, run: Mapping[str, Any], source: str, limit: int | None) -> list[list[str]]:
    benchmark = run["benchmark"]
    run_items = lake.scan("run_items", benchmark=benchmark, run_id=run["run_id"])
    items = lake.scan("items", benchmark=benchmark).join(run_items, on="item_id", how="semi")
    subsets = items.select(pl.col("subset").unique().sort()).collect()["subset"].to_list()
    is_imported = run["origin"] == "imported"
    selected = ",".join(f"{picked['column']}={picked['value']}" for picked in run["selection"] or ())
    # A chunker is selected by name, or given again with its command or function.
    cut_by = lake.scan("chunkers").filter(name=run["chunker"] or "").select("command").collect()["command"]
    given = cut_by[0] if len(cut_by) and not is_imported else None
    of_ingest = {
        "--source": source if source in {"sample", "hub"} else "FOLDER",
        "--subsets": ",".join(subsets),
        "--chunkers": "" if is_imported or given else run["chunker"],
        "--chunker": f"{run['chunker']}={given}" if given else "",
        "--limit": limit,
    }
    made = [["ingest", benchmark, *_options(of_ingest)]]
    if is_imported:
        options = {"--benchmark": benchmark, **{f"--{name}": run[name] for name in ("system", "task", "chunker")}}
        if is_program := run["format"] in PROGRAMS:
            options |= {"--search": run["file"], "--items": selected, "--limit": run["limit"]}
        made.append(["ingest", "run", *([] if is_program else ["FILE"]), *_options(options)])
    of_evaluate = {
        "--benchmarks": benchmark,
        "--systems": run["system"],
        "--items": "" if is_imported else selected,
        "--limit": run["limit"],
        "--vectors": "VECTORS" if run["retriever"] == "recorded" else "",
    }
    return [*made, ["evaluate", *_options(of_evaluate)]]


def _options(values: Mapping[str, object]) -> Iterator[str]:
    return (text for name, value in values.items() if value not in ("", None) for text in (name, str(value)))
