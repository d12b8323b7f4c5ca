"""What was submitted, on the pages: where a number comes from, and how to hand one in, as the page says it."""

from __future__ import annotations

import pytest

from lake.store import Lake
from report.facts import load
from tests.report.small_lake import run_id, write, write_run

SAID = {
    "date": "2026-01-31", "benchmark": "repoeval", "task": "repoeval/prompt", "label": "sample", "kind": "agent",
    "authors": ["A. <b>Author</b>"], "contact": "", "url": "", "licence": "MIT", "description": "Made up.",
    "revision": "", "cost": "", "status": "reported", "why": "",
}  # fmt: skip
TOLD = [{"metric": "ndcg@10", "value": 0.98765}]


@pytest.fixture
def submitted(small: Lake) -> Lake:
    """The small lake with a submission that was scored, a newer claim and one that waits."""
    name = run_id("handed-in")
    write_run(small, "handed-in")
    row = small.read("runs", run_id=name).to_dicts()[0]
    row |= {"origin": "imported", "format": "trec", "file": "run.trec", "retriever": None}
    write(small, "runs", [row], benchmark="repoeval", run_id=name)
    of_run = {"system": "handed-in", "status": "scored", "run_id": name, "file": "run.trec", "reported": TOLD}
    waiting = {
        "system": "other",
        "status": "waiting",
        "why": "the lake does not hold it",
        "file": "run.trec",
        "reported": [],
    }
    write(small, "submissions", [
        {**SAID, "submission": "handed-in/2026-01-31", **of_run},
        {**SAID, "submission": "claim/2026-01-31", "system": "claim", "reported": TOLD},
        {**SAID, "submission": "other/2026-01-31", **waiting},
    ])  # fmt: skip
    return small


def test_a_run_says_where_its_numbers_come_from(submitted: Lake) -> None:
    runs = {run.system: run for run in load(submitted).runs}
    assert runs["fixed-nws-1500+bm25-okapi"].provenance == "run here"
    assert runs["handed-in"].provenance == "scored here from the submitted ranking"
    assert runs["handed-in"].kind == "agent"
    assert "claim" not in runs
