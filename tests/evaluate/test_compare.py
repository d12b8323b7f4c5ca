from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from evaluate.compare import compare, parse_gate
from evaluate.metrics import parse_metric
from lake.errors import Exit, GoldspanError
from lake.store import Lake
from tests.tiny import command

A, B = "whole-file+bm25-okapi", "whole-file+own-file"


def test_means_and_flips_are_those_of_the_stored_scores(lake_folder: Path) -> None:
    lake = Lake(lake_folder)
    runs = dict(lake.read("runs").filter(task="repoeval/prompt").select("system", "run_id").iter_rows())
    for found in compare(lake, A, B, [parse_metric("precision@5"), parse_metric("mrr")]):
        scores = lake.read("scores", protocol=found.protocol).filter(metric=found.metric, k=found.k)
        a, b = (dict(scores.filter(run_id=runs[one]).select("item_id", "value").iter_rows()) for one in (A, B))
        assert found.n == len(a) == len(b)
        assert (found.a, found.b) == pytest.approx((sum(a.values()) / len(a), sum(b.values()) / len(b)))
        assert found.wins == sum(b[item] > a[item] for item in a)
        assert found.losses == sum(b[item] < a[item] for item in a)
        assert found.wins + found.ties + found.losses == found.n


def test_swapping_the_systems_mirrors_the_comparison(lake_folder: Path) -> None:
    there, back = compare(Lake(lake_folder), A, B, []), compare(Lake(lake_folder), B, A, [])
    mirrored = [(one.a, one.b, one.wins, one.ties, one.losses) for one in there]
    assert mirrored == [(one.b, one.a, one.losses, one.ties, one.wins) for one in back]


def test_a_run_may_be_named_by_its_id(lake_folder: Path) -> None:
    lake = Lake(lake_folder)
    run_id = lake.scan("runs").filter(pl.col("system") == A).collect()["run_id"][0]
    assert compare(lake, run_id, B, []) == compare(lake, A, B, [])


def test_a_system_is_equal_to_itself(lake_folder: Path) -> None:
    assert all((one.delta, one.wins, one.losses) == (0, 0, 0) for one in compare(Lake(lake_folder), A, A, []))


def test_a_gate_that_fails_is_exit_code_6_and_names_the_row(lake_folder: Path) -> None:
    best, worst = "whole-file+own-file", "whole-file+random"
    said = command("evaluate", "compare", best, worst, "--fail-if", "mrr drops > 0.01", "--lake", lake_folder)
    assert (said.code, "fails" in said.out) == (Exit.GATE, True)
    said = command("evaluate", "compare", worst, best, "--fail-if", "mrr drops > 0.01", "--lake", lake_folder)
    assert (said.code, "fails" in said.out) == (Exit.DONE, False)
    said = command("evaluate", "compare", worst, best, "--fail-if", "mrr rises > 0.01", "--lake", lake_folder)
    assert said.code == Exit.GATE


def test_json_is_one_list(lake_folder: Path) -> None:
    said = command("evaluate", "compare", A, B, "--json", "--lake", lake_folder)
    assert [row["protocol"] for row in json.loads(said.out)] == sorted(
        {"repoeval@chunking-v1", "repoeval@code-chunk-v1", "repoeval@target-v1"}
    )


def test_an_unknown_system_asks_did_you_mean(lake_folder: Path) -> None:
    with pytest.raises(GoldspanError, match=r"Did you mean 'whole-file\+bm25-okapi'"):
        compare(Lake(lake_folder), "whole-file+bm25", B, [])


@pytest.mark.parametrize("text", ["", "ndcg@10", "ndcg@10 falls > 1", "ndcg@10 drops > x", "ndcg@10 drops < 0.1"])
def test_what_is_no_gate_is_refused_with_how_to_write_one(text: str) -> None:
    with pytest.raises(GoldspanError, match=r"ndcg@10 drops > 0\.01"):
        parse_gate(text)
