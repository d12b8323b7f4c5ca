"""SWE-Explore's measures: each equal to its definition written plainly, and the command that prints them."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluate.metrics.standard import LINE_BUDGETS
from evaluate.results.region_files import read_gold, read_returned
from evaluate.results.regions import score_regions
from lake.errors import Exit
from tests.tiny import command

PATHS = ("a.py", "b.py", "c.py")
N_LINES = {"a.py": 40, "b.py": 12}

Region = tuple[str, int, int]


def interval(region: Region) -> tuple[int, int] | None:
    """First and last line, from 1; None where the file's length would have to be known."""
    path, start, end = region
    if end == -1 or start < 0:
        if path not in N_LINES:
            return None
        n = N_LINES[path]
        first, last = (n + start + 1 if start < 0 else start), (n if end == -1 else end)
        return min(max(first, 1), n), min(max(last, 1), n)
    return (max(start, 1), end) if end >= 1 else None


def lines(region: Region) -> list[tuple[str, int]]:
    ends = interval(region)
    return [(region[0], line) for line in range(ends[0], ends[1] + 1)] if ends else []


def overlap(one: Region, other: Region) -> bool:
    a, b = interval(one), interval(other)
    return one[0] == other[0] and a is not None and b is not None and a[0] <= b[1] and b[0] <= a[1]


def share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def plainly(truth: dict[str, Any], returned: list[Region]) -> dict[str, float]:
    """The measures of one issue, by their definitions."""
    core = [tuple(region.values()) for region in truth["read_core_regions"]]
    optional = [tuple(region.values()) for each in truth["read_optional_regions_map"].values() for region in each]
    main, core_files = set(truth["main_files"]), set(truth["read_core_files"])
    other_files = {path for each in truth["read_optional_files_map"].values() for path in each}
    gold, more = {line for of in core for line in lines(of)}, {line for of in optional for line in lines(of)}
    shown = {line for of in returned for line in lines(of)}
    named = {path for path, _, _ in returned}
    measures = {
        "precision": share(len(shown & gold), len(shown)),
        "recall": share(len(shown & gold), len(gold)),
        "hit_file_rate": share(len(named & core_files), len(core_files)),
        "noise_file_rate": share(len(named - core_files - other_files), len(named)),
        "hit_region_rate": share(sum(any(overlap(of, one) for one in returned) for of in core), len(core)),
        "noise_region_rate": share(
            sum(not any(overlap(one, of) for of in core + optional) for one in returned), len(returned)
        ),
        "context_efficiency": share(len(shown & (gold | more)), len(shown)),
        "optional_coverage": share(len(shown & more), len(more)),
    }
    both = measures["precision"] + measures["recall"]
    measures["f1_score"] = share(2 * measures["precision"] * measures["recall"], both)
    parts = [(3 if of[0] in main else 2, set(lines(of))) for of in core if lines(of)]
    covered = sum(weight * len(part & shown) / len(part) for weight, part in parts)
    measures["weighted_core_coverage"] = share(covered, sum(weight for weight, _ in parts))
    gains = [sum((1.5 if path in main else 1) for path, line in lines(of) if (path, line) in gold) for of in returned]
    sizes = [ends[1] - ends[0] + 1 if (ends := interval(of)) else 0 for of in returned]
    order = sorted(range(len(returned)), key=lambda n: -gains[n] / max(sizes[n], 1))
    for budget in LINE_BUDGETS:
        found, ideal = (dcg(gains, sizes, ranks, budget) for ranks in (range(len(returned)), order))
        measures[f"ndcg_at_{budget}"] = min(share(found, ideal), 1.0)
        walked = [line for of in returned for line in lines(of)]
        measures[f"recall_at_{budget}"] = share(len(set(walked[:budget]) & gold), len(gold))
        different = list(dict.fromkeys(walked))[:budget]
        hits = len(set(different) & gold)
        measures[f"core_coverage@{budget}"] = share(hits, len(gold))
        measures[f"core_precision@{budget}"] = share(hits, hits + len(set(different) - gold - more))
    first = next((n for n, of in enumerate(returned) if gold & set(lines(of))), None)
    measures["first_useful_hit"] = 0.0 if first is None else 1 - first / len(returned)
    return measures


def dcg(gains: list[float], sizes: list[int], ranks: Iterable[int], budget: int) -> float:
    total, spent = 0.0, 0
    for place, n in enumerate(ranks):
        spent += sizes[n]
        if spent > budget and place:
            break
        total += gains[n] / math.log2(place + 2)
    return total


regions = st.tuples(st.sampled_from(PATHS), st.integers(-3, 200), st.integers(-1, 320))
files = st.lists(st.sampled_from(PATHS), unique=True)


def as_objects(each: list[Region]) -> list[dict[str, object]]:
    return [{"path": path, "start": start, "end": end} for path, start, end in each]


@settings(max_examples=15)
@given(
    truth=st.fixed_dictionaries(
        {
            "read_core_regions": st.lists(regions, max_size=4).map(as_objects),
            "read_core_files": files,
            "read_optional_regions_map": st.dictionaries(
                st.sampled_from("xy"), st.lists(regions, max_size=2).map(as_objects)
            ),
            "read_optional_files_map": st.dictionaries(st.sampled_from("xy"), files),
            "main_files": files,
        }
    ),
    returned=st.lists(regions, max_size=5),
)
def test_every_measure_equals_its_plain_definition(
    tmp_path_factory: pytest.TempPathFactory, truth: dict[str, Any], returned: list[Region]
) -> None:
    folder = tmp_path_factory.mktemp("regions")
    rows = [{"instance_id": query, "ground_truth": truth, "file_line_counts": N_LINES} for query in ("one", "two")]
    (folder / "gold.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    (folder / "run.jsonl").write_text(json.dumps({"instance_id": "one", "regions": as_objects(returned)}))
    gold = read_gold(folder / "gold.jsonl")
    one, two = score_regions(gold, *read_returned(folder / "run.jsonl", gold)[:1], queries=["one", "two"]).to_dicts()
    assert {**one, "query": None} == pytest.approx({"query": None, **plainly(truth, returned)})
    assert two == pytest.approx({**dict.fromkeys(two, 0.0), "query": "two"})


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
    said = command("evaluate", "score", gold, run, "--answered", "--json")
    means = {row["measure"]: row["mean"] for row in json.loads(said.out)["means"]}
    assert (means["precision"], means["recall"], means["context_efficiency"]) == (0.5, 0.5, 1.0)
    assert (means["core_precision@100"], means["first_useful_hit"]) == (1.0, 0.5)
    said = command("evaluate", "score", gold, run, "--metrics", "recall")
    assert said.out.split("\t")[:3] == ["recall                ", "all", "0.2500"]
    assert "swe-explore@published-v1: means over 2 issues" in said.err
    assert "1 issue without regions count 0" in said.err


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"instance_id": "one"}, "there is no `regions`"),
        ({"regions": []}, "no object with an `instance_id`"),
        ({"instance_id": "one", "regions": [["a.py", 1]]}, "is no region of path, start and end"),
        ({"instance_id": "one", "regions": [["a.py", 1, "2"]]}, "lines that are no whole numbers"),
        ({"instance_id": "other", "regions": []}, "no issue of RUN has gold"),
        ({"instance_id": "one", "regions": [["a.py", 1, 2_000_000_000]]}, "at most 20,000,000 are read"),
    ],
)
def test_a_file_that_is_none_of_regions_is_named(tmp_path: Path, row: object, words: str) -> None:
    said = command("evaluate", "score", written(tmp_path / "g.jsonl", GOLD), written(tmp_path / "r.jsonl", row))
    assert said.code == Exit.INVALID
    assert words in said.err
    assert "Traceback" not in said.err
