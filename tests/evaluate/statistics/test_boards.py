from dataclasses import replace

import polars as pl
import pytest

from evaluate.statistics.boards import CHARACTERS, board_rows
from lake.benchmarks import protocols
from lake.catalog.protocol import MAX_VALUES, Primary
from lake.tables import table

PROTOCOL = replace(
    protocols()["contextbench@docs-v1"],
    metrics=(("line_f1", (0,)), ("line_redundancy", (0,))),
    primary=Primary("line_f1", 0, "line", "micro"),
)
REFERENCE = "whole-file+bm25-okapi"
SYSTEMS = {"ref": REFERENCE, "good": "good", "part": "partial", "few": "few"}


def empty(name: str) -> pl.DataFrame:
    return pl.DataFrame(schema=table(name).columns)


def aggregate(run_id: str, value: float, metric: str = "line_f1", n: int = 4, where: str = "all") -> dict[str, object]:
    """A row of `aggregates` whose ratio of sums is above its mean by 0.25."""
    zero = dict.fromkeys(("n_failed", "n_not_applicable"), 0)
    counts = {**dict.fromkeys(table("aggregates").columns), **zero, "n": n, "n_items": 4, "n_repos": 1, "unit": "item"}
    key = {"run_id": run_id, "protocol": PROTOCOL.name, "granularity": "line", "metric": metric, "k": 0}
    slices = {"slice": "all" if where == "all" else "repo", "slice_value": where}
    return {**counts, **key, **slices, "macro": value, "micro": value + 0.25, "by_repo": value, "low": 0.0, "high": 1.0}


def boards(rows: list[dict[str, object]], comparisons: pl.DataFrame | None = None) -> pl.DataFrame:
    runs = pl.DataFrame([
        {"run_id": run_id, "system": system, "task": "contextbench/issue", "origin": "imported",
         "status": "partial" if run_id == "part" else "complete"}
        for run_id, system in SYSTEMS.items()
    ], schema=table("runs").columns)  # fmt: skip
    return board_rows(
        PROTOCOL, runs, "contextbench",
        aggregates=pl.DataFrame(rows, schema=table("aggregates").columns), ranks=empty("ranks"),
        comparisons=empty("comparisons") if comparisons is None else comparisons,
        characters=empty("boards").select(CHARACTERS),
    )  # fmt: skip


VALUES = {"ref": 0.25, "good": 0.5, "part": 0.625, "few": 0.75}


@pytest.fixture(scope="module")
def rows() -> pl.DataFrame:
    of_f1 = [aggregate(name, value, n=3 if name == "few" else 4) for name, value in VALUES.items()]
    return boards([*of_f1, *(aggregate(name, value, "line_redundancy") for name, value in VALUES.items())])


def test_the_rows_are_those_of_the_table(rows: pl.DataFrame) -> None:
    table("boards").checked(rows)
    assert rows.filter("is_shown").height == len(VALUES) * 2


def test_what_is_compared_comes_first_and_the_state_says_why_the_rest_is_not(rows: pl.DataFrame) -> None:
    shown = rows.filter("is_shown", position=0).sort("place")
    assert shown["run_id"].to_list() == ["good", "ref", "few", "part"]
    assert shown["state"].to_list() == ["", "", "fewer items", "partial"]
    assert shown["value"].to_list() == [0.75, 0.5, 1.0, 0.875]


def test_the_lowest_leads_where_lower_is_better_and_steps_are_averaged_over_items(rows: pl.DataFrame) -> None:
    shown = rows.filter("is_shown", column="line_redundancy").sort("place")
    assert shown["average"].unique().to_list() == ["macro"]
    assert shown["run_id"].to_list() == ["ref", "good", "few", "part"]


def test_a_difference_is_the_stored_one_or_that_of_numbers_over_as_many_items(rows: pl.DataFrame) -> None:
    deltas = dict(rows.filter("is_shown", position=0).select("run_id", "delta").iter_rows())
    assert deltas == {"good": 0.25, "part": 0.375, "few": None, "ref": None}
    pair = {
        "protocol": PROTOCOL.name, "granularity": "line", "metric": "line_f1", "k": 0, "slice": "all",
        "slice_value": "all", "run_a": "good", "run_b": "ref", "delta": -0.125, "low": -0.5, "high": 0.0,
    }  # fmt: skip
    stored = pl.DataFrame([{**dict.fromkeys(table("comparisons").columns), **pair}], table("comparisons").columns)
    row = boards([aggregate(name, VALUES[name]) for name in ("good", "ref")], stored).filter("is_shown", run_id="good")
    assert row.select("delta", "delta_low", "delta_high").row(0) == (0.125, 0.0, 0.5)


def test_of_a_slice_with_many_values_those_of_most_items_are_kept() -> None:
    repos = [{**aggregate("ref", 0.5, where=f"o/{number:03}"), "n_items": number + 1} for number in range(100)]
    kept = boards([aggregate("ref", 0.5), *repos]).filter(slice="repo")["slice_value"].unique().sort()
    assert kept.to_list() == [f"o/{number:03}" for number in range(100 - MAX_VALUES, 100)]
