"""`python -m evaluate compare`: two systems on the items both were asked, and a gate between them."""

from __future__ import annotations

import json as jsonlib
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from evaluate.commands.options import ItemsOption, ProtocolOption, SliceOption
from evaluate.metrics import parse_metric
from evaluate.results.compare import compare, comparison, undecided
from evaluate.results.compared import parse_gate
from evaluate.results.other_lake import Published
from lake.catalog.references import REFERENCE
from lake.console import DEFAULT_LAKE, Console, JsonOption, LakeOption, setting, split_names
from lake.errors import Exit, GoldspanError
from lake.selection import parse_items, with_items
from lake.store import Lake
from lake.text import escaped

app = typer.Typer()


@app.command("compare")
def compare_systems(
    a: Annotated[str, typer.Argument(metavar="A", help="A system, a run id, or `reference`.")],
    b: Annotated[str, typer.Argument(metavar="[B]", help="Another (with --against: A).")] = "",
    against: Annotated[Path | None, setting("AGAINST", "Take A from a published scores.parquet.")] = None,
    metric: Annotated[str, setting("METRIC", "Comma list (default: each protocol's primary metric).")] = "",
    slice_: SliceOption = "",
    protocol: ProtocolOption = "",
    items: ItemsOption = "",
    fail_if: Annotated[str, setting("FAIL_IF", 'A gate: "ndcg@10 drops > 0.01" or "ndcg@10 is worse".')] = "",
    flips: Annotated[bool, typer.Option("--flips", help="List the items on which the two differ.")] = False,
    lake: LakeOption = DEFAULT_LAKE,
    json: JsonOption = False,
) -> None:
    """Hold one system against another on the items both were asked.

    Exit code 6: the gate fails. 3: it cannot decide, as under 30 items are shared, or nothing can be compared.

    With --against A is among published scores and B in the lake: a change is compared with what it changes.
    """
    gate = parse_gate(fail_if) if fail_if else None
    requested = [parse_metric(name) for name in split_names(metric)]
    if gate is not None and (gate.metric, gate.k) not in requested:
        requested.append((gate.metric, gate.k))
    if not b and against is None:
        message = "compare takes two systems, or one and --against"
        raise GoldspanError(message, hint="`python -m evaluate list systems` shows them.", code=Exit.USAGE)
    store, other, notes = Lake(lake), Published(against) if against else None, list[str]()
    with store.locked(makes=()) if requested and other is None else nullcontext():
        where = parse_items(items)
        if where:
            with_items(store, [part.name for part in store.parts("benchmarks")], where)
        rows = compare(
            store,
            a,
            b or a,
            requested,
            against=other,
            protocol_names=split_names(protocol),
            slice_name=slice_,
            where=where,
            say=notes.append,
        )
    broken = [row for row in rows if gate is not None and gate.is_broken_by(row)]
    if json:
        kept = [{**row, "fails": row in broken, **({} if flips else {"flips": None})} for row in rows]
        print(jsonlib.dumps(kept, indent=2))
        for note in notes:
            Console().say(note)
    else:
        names_runs = against is not None or REFERENCE in (a, b)
        print(*map(escaped, [*comparison(rows, broken, flips=flips, names_runs=names_runs), *notes]), sep="\n")
    open_ = [row for row in rows if gate is not None and gate.is_undecided_by(row)]
    if open_ and not broken:
        raise GoldspanError(undecided(fail_if, open_), code=Exit.INVALID)
    raise typer.Exit(Exit.GATE if broken else Exit.DONE)
