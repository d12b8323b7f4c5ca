"""Where the numbers of a run come from: the data, the rules, the code, and the commands that make them again."""

import json as jsonlib
import platform
import shlex
import tomllib
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import polars as pl
import typer

from evaluate.selection import edition
from lake.code import ROOT
from lake.console import DEFAULT_LAKE, JsonOption, LakeOption
from lake.errors import Exit, lookup
from lake.fingerprint import fingerprint
from lake.naming import PROGRAMS
from lake.store import Lake
from lake.text import escaped

app = typer.Typer()

_DATA = ("items", "queries", "gold_spans")


@app.command("repro")
def reproduce(
    run_id: Annotated[str, typer.Argument(metavar="RUN_ID", help="A run; `list runs` shows them.")],
    lake: LakeOption = DEFAULT_LAKE,
    json: JsonOption = False,
) -> None:
    """Where the numbers of a run come from, and the commands that make them again."""
    origin = provenance(Lake(lake), run_id)
    print(jsonlib.dumps(origin, indent=2) if json else "\n".join(map(escaped, lines(origin))))


def provenance(lake: Lake, run_id: str) -> dict[str, Any]:
    """Where a run comes from, as `repro --json` prints it.

    `data` is over the benchmark's items, queries and gold, equal on every machine for equal data and code; `lake` is
    over everything that the lake holds. `commands` make the run again, in order: arguments of `python -m`.
    """
    runs = {row["run_id"]: row for row in lake.read("runs").iter_rows(named=True)}
    run = lookup(run_id, "run", runs, code=Exit.MISSING)
    benchmark = str(run["benchmark"])
    declared = lake.read("benchmarks").row(by_predicate=pl.col("name") == benchmark, named=True)
    scores = lake.scan("scores", benchmark=benchmark, run_id=run_id)
    hashes = scores.select("protocol", "protocol_hash").unique().sort("protocol").collect()
    parts = [part for name in _DATA for part in lake.parts(name, benchmark=benchmark)]
    return {
        "run": run,
        "protocols": dict(hashes.iter_rows()),
        "source": str(declared["source"]),
        "revision": str(declared["revision"]),
        "label": edition(lake, benchmark).label,
        "data": fingerprint([(part.relative_path, part.fingerprint) for part in parts]),
        "lake": lake.state(*_DATA, "files", "blobs", "chunks", "runs", "hits", "scores", "aggregates"),
        "commands": _commands(lake, run, str(declared["source"])),
    }


def _commands(lake: Lake, run: Mapping[str, Any], source: str) -> list[list[str]]:
    benchmark = str(run["benchmark"])
    run_items = lake.scan("run_items", benchmark=benchmark, run_id=str(run["run_id"]))
    items = lake.scan("items", benchmark=benchmark).join(run_items, on="item_id", how="semi")
    subsets = items.select(pl.col("subset").unique().sort()).collect()["subset"].to_list()
    is_imported = run["origin"] == "imported"
    selected = ",".join(f"{picked['column']}={picked['value']}" for picked in run["selection"] or ())
    # A chunker is asked for by its name, or with the command or function that it was given by.
    cut_by = lake.scan("chunkers").filter(name=run["chunker"] or "").select("parameters").collect()["parameters"]
    given = jsonlib.loads(cut_by[0]).get("command") if len(cut_by) and not is_imported else None
    of_ingest = {
        "--source": source if source in {"sample", "hub"} else "FOLDER",
        "--subsets": ",".join(subsets),
        "--chunkers": "" if is_imported or given else run["chunker"],
        "--chunker": f"{run['chunker']}={given}" if given else "",
        "--limit": edition(lake, benchmark).limit,
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


def lines(of: Mapping[str, Any]) -> Iterator[str]:
    """What :func:`provenance` gives, for a person."""
    run, label, revision = of["run"], of["label"], of["revision"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    source = f"{of['source']}{f' at {revision}' if revision else ''}{f', labelled {label}' if label else ''}"
    facts = {
        "run": run["run_id"],
        "system": f"{run['system']} ({run['origin']}, {run['status']}, {run['n_items']:,} items)",
        "task": run["task"],
        "data": f"{source}; content {of['data'][:16]}",
        "lake": of["lake"][:16],
        "fingerprint": run["fingerprint"],
        "parameters": run["parameters"],
        "versions": run["versions"],
        "this machine": f"{project['name']} {project['version']}, Python {platform.python_version()}",
    }
    width = max(map(len, facts)) + 2
    yield from (f"{name:{width}}{value}" for name, value in facts.items())
    yield from (f"{'protocol':{width}}{name}, hash {digest[:16]}" for name, digest in of["protocols"].items())
    yield "made again by"
    yield from (f"  python -m {shlex.join(command)}" for command in of["commands"])
