import json
import math
from pathlib import Path

import pytest

from evaluate.results.regions import Answer, Issue, score_issue
from lake.errors import Exit
from tests.tiny import command

ISSUE = {
    "instance_id": "one",
    "read_core_regions": [["a.py", 1, 10], ["b.py", 8, -1], ["c.py", 5, -1]],
    "read_core_files": ["a.py", "b.py", "c.py"],
    "read_optional_regions_map": {"model": [["a.py", 11, 20]], "other": None},
    "read_optional_files_map": {"model": ["d.py"]},
    "main_files": ["a.py"],
    "file_line_counts": {"a.py": 40, "b.py": 12},
}
"""Core lines are 1 to 10 of a.py and 8 to 12 of b.py; how long c.py is nobody knows."""


def test_every_measure_is_what_its_definition_gives() -> None:
    # Of a.py 6 to 15; the last 200 lines of b.py, so all 12; a file that is neither core nor optional.
    returned = [["x.py", 1, 100], {"path": "a.py", "start": 6, "end": 15}, ["b.py", -200, -1]]
    answer = Answer.model_validate({"instance_id": "one", "regions": returned})
    measures = score_issue(Issue.model_validate(ISSUE), answer.regions)
    # x.py has no gain, a.py 5 lines of 1.5, b.py 5 of 1; of 100, 10 and 12 lines b.py comes second in the best order.
    ideal = 7.5 + 5 / math.log2(3)
    assert measures == pytest.approx({
        "precision": 10 / 122, "recall": 10 / 15, "f1_score": 20 / (122 + 15),
        "hit_file_rate": 2 / 3, "noise_file_rate": 1 / 3, "hit_region_rate": 2 / 3, "noise_region_rate": 1 / 3,
        "weighted_core_coverage": (3 * 0.5 + 2 * 1) / 5, "context_efficiency": 15 / 122, "optional_coverage": 5 / 10,
        "ndcg_at_100": 0.0,
        "ndcg_at_300": (7.5 / math.log2(3) + 5 / 2) / ideal, "ndcg_at_500": (7.5 / math.log2(3) + 5 / 2) / ideal,
        "recall_at_100": 0.0, "recall_at_300": 10 / 15, "recall_at_500": 10 / 15,
        "first_useful_hit": 1 - 1 / 3,
        "core_coverage@100": 0.0, "core_coverage@300": 10 / 15, "core_coverage@500": 10 / 15,
        "core_precision@100": 0.0, "core_precision@300": 10 / 117, "core_precision@500": 10 / 117,
    })  # fmt: skip
    assert set(score_issue(Issue.model_validate(ISSUE), []).values()) == {0.0}


def test_a_region_that_is_returned_again_counts_in_recalls_budget_alone() -> None:
    regions = [["a.py", 11, 60], ["a.py", 11, 60], ["a.py", 1, 10], ["a.py", 9, 3]]
    answer = Answer.model_validate({"instance_id": "one", "regions": regions})
    measures = score_issue(Issue.model_validate(ISSUE), answer.regions)
    assert (measures["recall_at_100"], measures["core_coverage@100"]) == (0.0, 10 / 15)
    # 9 to 3 is turned around: it has no line, and yet overlaps the core region.
    assert (measures["noise_region_rate"], measures["core_precision@100"]) == (0.0, 10 / 50)


GOLD = {
    "instance_id": "one",
    "ground_truth": {
        "read_core_files": ["a.py"],
        "read_core_regions": [{"path": "a.py", "start": 1, "end": 10}],
        "read_optional_files_map": None,
        "read_optional_regions_map": {"model": [{"path": "b.py", "start": 1, "end": 5}]},
        "main_files": ["a.py"],
    },
}


def written(path: Path, *rows: object) -> Path:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


def test_a_file_of_regions_is_scored_without_a_lake(tmp_path: Path) -> None:
    gold = written(tmp_path / "gold.jsonl", GOLD, {**GOLD, "instance_id": "two"})
    run = written(tmp_path / "run.jsonl", {"instance_id": "one", "regions": [["b.py", 1, 5], ["a.py", 6, 10]]})
    result = command("evaluate", "score", gold, run, "--answered", "--json")
    means = {row["measure"]: row["mean"] for row in json.loads(result.out)["means"]}
    assert (means["precision"], means["recall"], means["context_efficiency"]) == (0.5, 0.5, 1.0)
    assert (means["core_precision@100"], means["first_useful_hit"]) == (1.0, 0.5)
    result = command("evaluate", "score", gold, run, "--metrics", "recall")
    assert result.out.split("\t")[:3] == ["recall                ", "all", "0.2500"]
    assert "swe-explore@published-v1: means over 2 issues" in result.err
    assert "1 issue without regions count 0" in result.err


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"instance_id": "one"}, "regions: Field required"),
        ({"regions": []}, "instance_id: Field required"),
        ({"instance_id": "one", "regions": [["a.py", 1]]}, "regions.0: Input should be"),
        ({"instance_id": "one", "regions": [["a.py", 1, "2"]]}, "regions.0.end: Input should be a valid integer"),
        ({"instance_id": "other", "regions": []}, "no issue of RUN has gold"),
        ({"instance_id": "one", "regions": [["a.py", 1, 2_000_000_000]]}, "less than 10000000"),
    ],
)
def test_a_file_that_is_none_of_regions_is_named(tmp_path: Path, row: object, words: str) -> None:
    run = command("evaluate", "score", written(tmp_path / "g.jsonl", GOLD), written(tmp_path / "r.jsonl", row))
    run.refused(Exit.INVALID, words)
