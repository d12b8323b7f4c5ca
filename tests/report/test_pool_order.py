from pathlib import Path

from lake.store import Lake
from report.tables_read import pool_orders
from tests.report.small_lake import write


def item(number: int, level: str, n_candidates: int, *, scorable: bool = True) -> dict[str, object]:
    return {
        "benchmark": "repobench-r", "item_id": f"item/{number}", "subset": "python_cff", "split": "test",
        "level": level, "language": "python", "repo": "acme/one", "pool_id": f"pool/{number}",
        "n_candidates": n_candidates, "scorable": scorable, "why_not": None if scorable else "no gold",
    }  # fmt: skip


def gold(number: int, candidate: int) -> dict[str, object]:
    return {
        "benchmark": "repobench-r", "item_id": f"item/{number}", "gold": "candidate", "path": f"cand:{candidate}",
        "line_start": 0, "line_end": 1, "candidate": candidate,
    }  # fmt: skip


def test_gold_at_the_first_place_is_counted_beside_chance(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    items = [item(0, "hard", 10), item(1, "hard", 20), item(2, "easy", 5), item(3, "hard", 2, scorable=False)]
    write(lake, "items", items, benchmark="repobench-r")
    places = [gold(0, 0), gold(1, 7), gold(2, 4), gold(3, 0)]
    write(lake, "gold_spans", places, benchmark="repobench-r")
    orders = pool_orders(lake)
    hard, easy = (orders["repobench-r", f"python_cff/test/{level}"] for level in ("hard", "easy"))
    assert hard.endswith("accuracy@1 0.500, where chance has 0.075")
    assert easy.endswith("accuracy@1 0.000, where chance has 0.200")


def test_a_benchmark_without_candidates_has_none(tmp_path: Path) -> None:
    assert pool_orders(Lake(tmp_path)) == {}
