from pathlib import Path

import polars as pl
import pytest

from evaluate.statistics.accounts import characters_of
from lake.catalog.protocols import protocols
from lake.store import Lake
from lake.tables import table

# run → item → part and rank → its new characters; item c is in another subset, d was not answered
RANKED = {"a": {("ranking", 1): 1_500, ("ranking", 2): 900, ("ranking", 6): 7_000}, "b": {("ranking", 1): 100}}
AGENT = {"a": {("step", 1): 999, ("final", 1): 20_000, ("final", 2): None}, "b": {("final", 1): 400}}
BEST_LINES = {"a": {("ranking", 1): 50, ("ranking", 2): 70, ("lines", 1): 5_000}, "b": {("lines", 1): 3_000}}


def _read(tmp_path: Path, protocol: str, hits: dict[str, dict[tuple[str, int], int | None]]) -> dict[int, float]:
    """By cut-off the characters of the items of the slice."""
    lake, benchmark = Lake(tmp_path), protocol.partition("@")[0]
    columns = table("hits").columns
    other = {"c": {("ranking", 1): 10**6}} if hits else {}
    rows = [
        {
            **dict.fromkeys(columns),
            "run_id": "r",
            "item_id": item,
            "part": part,
            "step": 0,
            "rank": rank,
            "n_new_nws": n,
        }
        for item, given in (hits | other).items()
        for (part, rank), n in given.items()
    ]
    lake.write("hits", pl.DataFrame(rows, schema=columns), part="p", fingerprint="f", benchmark=benchmark, run_id="r")
    items = pl.LazyFrame({"item_id": list("abcd"), "subset": ["s", "s", "t", "s"], "scorable": [True] * 4})
    shown = {
        "run_id": "r",
        "is_primary": True,
        "is_headline": True,
        "slice": "subset",
        "slice_value": "s",
        "n_items": 3,
    }
    found = characters_of(protocols()[protocol], pl.DataFrame([shown]), items, [lake.scan("hits")])
    if found.is_empty():
        return {}
    assert set(found["n_items"]) == {3}
    whole = sum(n or 0 for item in hits.values() for (part, _), n in item.items() if part in ("ranking", "final"))
    assert hits is BEST_LINES or set(found["returned"]) == {whole / 3}
    return {k: read * 3 for k, read in found.select("k", "read").iter_rows()}


@pytest.mark.parametrize(
    ("protocol", "hits", "read"),
    [
        # Of a budget what was returned, as far as it goes.
        ("repoeval@chunking-v1", RANKED, {2_000: 2_100, 8_000: 8_100, 32_000: 9_500}),
        ("repoeval@chunking-v1", BEST_LINES, {2_000: 4_000, 8_000: 8_000, 32_000: 8_000}),
        # The first results, the best lines' order aside.
        ("repoeval@code-chunk-v1", RANKED, {5: 2_500, 10: 9_500}),
        ("repobench-r@official-v1", BEST_LINES, {1: 50, 3: 120, 5: 120}),
        # Of a ranking the context that it gives, of an agent its own, however long.
        ("contextbench@official-v1", RANKED, {0: 8_100}),
        ("contextbench@docs-v1", AGENT, {0: 20_400, 2_000: 2_400, 8_000: 8_400, 32_000: 20_400}),
    ],
)
def test_characters_are_read_down_to_each_cut_off_of_the_primary_metric(
    tmp_path: Path, protocol: str, hits: dict[str, dict[tuple[str, int], int | None]], read: dict[int, float]
) -> None:
    assert _read(tmp_path, protocol, hits) == pytest.approx(read)


def test_a_run_that_returned_no_lines_is_not_said_to_be_read_in_no_time(tmp_path: Path) -> None:
    assert _read(tmp_path, "repoeval@completion-v1", {}) == {}
