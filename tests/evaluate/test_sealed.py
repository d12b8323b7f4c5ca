import json
import shutil
import subprocess
import sys
from importlib.util import cache_from_source
from pathlib import Path

import pytest

from tests.evaluate.sealing import sealed
from tests.tiny import ROOT, put

pytestmark = pytest.mark.slow

RECORDED = ROOT / "tests" / "evaluate" / "sealed.json"
MEND = (
    "A sealed number moved. Restore the rule; or, where it was wrong, give the protocol another name and record it: "
    "python -m tests.evaluate.sealing > tests/evaluate/sealed.json"
)

SWITCHES = (
    ("evaluate/score/coverage.py", "n_lines_for(k - spent).clip(0)", "n_lines_for(k - spent)", "repoeval@chunking-v1"),
    ("lake/offsets.py", '+ budget, side="right")', '+ budget, side="left")', "repoeval@chunking-v1"),
    ("lake/relevance.py", ".filter(n_shared > 0)", ".filter(n_shared >= 0)", "repoeval@target-v1"),
    (
        "lake/relevance.py",
        'iou = pl.when(pl.col("similarity") >= inputs',
        'iou = pl.when(pl.col("similarity") > inputs',
        "repobench-r@chunking-v1",
    ),
    (
        "lake/relevance.py",
        'is_relevant = pl.col("similarity") >= inputs',
        'is_relevant = pl.col("similarity") > inputs',
        "repoeval@iou-50-v1",
    ),
    ("evaluate/metrics/ranked.py", 'pl.col("rank") <= k if', 'pl.col("rank") < k if', "repoeval@code-chunk-v1"),
    ("evaluate/score/metric_values.py", "fill_null(0) < pl.min", "fill_null(0) <= pl.min", "repobench-r@official-v1"),
    ("evaluate/metrics/ranked.py", '"n_relevant") > 0, _ONE', '"n_relevant") > 1, _ONE', "repobench-r@identifier-v1"),
    ("lake/offsets.py", '+ budget, side="right")', '+ budget, side="left")', "contextbench@docs-v1"),
    ("evaluate/score/contexts/scoring.py", "<= N_RANKED_STEPS", "< N_RANKED_STEPS", "contextbench@docs-v1"),
    ("evaluate/score/contexts/gold_sets.py", "(1 if rules", "(2 if rules", "contextbench@official-v1"),
    ("evaluate/score/contexts/scoring.py", '"line") < pl', '"line") <= pl', "contextbench@official-v1"),
    ("evaluate/score/contexts/scoring.py", '"line") >= pl', '"line") > pl', "contextbench@official-v1"),
    ("evaluate/score/contexts/intervals.py", ", turned.start - 1", ", turned.start", "contextbench@official-v1"),
    ("lake/pools.py", "descending=[True, False, False]", "descending=[False, False, False]", "sample"),
)
"""File, what stands in it, what a slip makes of it, and what must move."""


def test_every_recorded_number_is_as_it_was_recorded() -> None:
    recorded, now = json.loads(RECORDED.read_text(encoding="utf-8")), sealed()
    assert now["sample"] == recorded["sample"], MEND
    hashes = now["protocols"]
    assert isinstance(hashes, dict)
    assert {name: hashes.get(name) for name in recorded["protocols"]} == recorded["protocols"], MEND


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the code that the seals cover, and of what prints them."""
    root = tmp_path_factory.mktemp("sealed")
    for name in ("lake", "evaluate"):
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("data", "cache", "__pycache__"))
    put(root / "sealing.py", (ROOT / "tests/evaluate/sealing.py").read_bytes())
    return root


@pytest.mark.parametrize(("name", "was", "becomes", "moved"), SWITCHES, ids=[f"{row[0]}: {row[2]}" for row in SWITCHES])
def test_every_changed_rule_moves_a_sealed_number(copy: Path, name: str, was: str, becomes: str, moved: str) -> None:
    original = (copy / name).read_text(encoding="utf-8")
    assert original.count(was) == 1, f"{name} has {was!r} {original.count(was)} times: say the switch anew"
    # Python tells compiled code from its source's size and second: two slips of one size may have both in common.
    compiled = Path(cache_from_source(str(copy / name)))
    compiled.unlink(missing_ok=True)
    put(copy / name, original.replace(was, becomes).encode())
    try:
        words = [sys.executable, "sealing.py", *([moved] if moved != "sample" else [])]
        printed = subprocess.run(words, cwd=copy, capture_output=True, text=True, check=True).stdout
    finally:
        put(copy / name, original.encode())
        compiled.unlink(missing_ok=True)
    before, after = json.loads(RECORDED.read_text(encoding="utf-8")), json.loads(printed)
    if moved == "sample":
        assert after["sample"] != before["sample"]
    else:
        assert after["protocols"][moved] != before["protocols"][moved]
