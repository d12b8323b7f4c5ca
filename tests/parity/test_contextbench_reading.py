"""Raw trajectories read here against what ContextBench's published converter made of the same files."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from ingest.runs import find_trajectories as find_files
from ingest.runs.formats import contextbench_unified
from ingest.runs.trajectories.trajectory import FileSpan, Trajectory
from ingest.runs.trajectories.trajectory_file import TrajectoryFile
from ingest.sources.input_file import InputFile
from lake.rejects import Rejects

MINI = ("qwen25_32B_coder", "qwen3_coder_next", "qwen_32b", "qwen_8b")
SWE_AGENT = "sweagent_xarray4075_checkpoints"

Context = list[tuple[str, list[tuple[int | None, int | None]]]]


def raw(archive: Path) -> Iterator[tuple[str, Trajectory]]:
    """Every trajectory of an archive, with the file it stands in."""
    rejects = Rejects()
    found = find_files.trajectory_files(InputFile.at(archive), "auto", rejects)
    assert not len(rejects)
    for file in found.files:
        for one in found.importer.trajectories(file):
            assert not one.notes
            yield file.path, one


def converted(file: Path) -> dict[str, Trajectory]:
    """Item → what the published converter made of it."""
    found = contextbench_unified.trajectories(TrajectoryFile(file.name, InputFile(file).opened))
    return {one.item: one for one in found}


def context(views: Iterable[FileSpan] | None) -> Context:
    """Files in order, each with its ranges: files that are named beside their ranges say nothing more."""
    ranges: dict[str, list[tuple[int | None, int | None]]] = {}
    for view in views or ():
        named = ranges.setdefault(view.path, [])
        if view.start is not None:
            named.append((view.start, view.end))
    return sorted(ranges.items())


def differences(ours: Trajectory, theirs: Trajectory) -> list[str]:
    """Which of steps, final context and patch differ, by the published reading where there are two."""
    read = ours.published or ours
    pairs = {
        "steps": ([context(step) for step in read.steps], [context(step) for step in theirs.steps]),
        "final": (context(read.final), context(theirs.final)),
        "patch": (ours.patch or "", theirs.patch or ""),
    }
    return [name for name, (one, other) in pairs.items() if one != other]


@pytest.mark.parametrize("run", MINI)
def test_mini_swe_agent_is_read_as_the_published_converter_reads_it(shared: Path, run: str) -> None:
    folder = shared / "contextbench"
    theirs = converted(folder / "parity" / run / "unified.jsonl")
    ours = {one.item: one for _, one in raw(folder / "trajectories" / f"minisweagent_{run}.zip")}
    assert (len(ours), ours.keys()) == (21, theirs.keys())
    assert {item: found for item in ours if (found := differences(ours[item], theirs[item]))} == {}


def test_swe_agent_is_read_as_the_published_converter_reads_it(shared: Path) -> None:
    folder = shared / "contextbench"
    ((path, ours),) = raw(folder / "trajectories" / "sweagent_xarray-4075.zip")
    (theirs,) = converted(folder / "parity" / SWE_AGENT / "unified.jsonl").values()
    assert path == f"{theirs.item}.checkpoints.jsonl"
    assert differences(ours, theirs) == []


@pytest.mark.parametrize("run", [*MINI, SWE_AGENT])
def test_a_unified_prediction_has_every_span_and_file_of_its_json(shared: Path, run: str) -> None:
    file = shared / "contextbench" / "parity" / run / "unified.jsonl"
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    read = converted(file)
    for row in rows:
        one, data = read[row["instance_id"]], row["traj_data"]
        steps = [*data["pred_steps"], {"files": data["pred_files"], "spans": data["pred_spans"]}]
        for step, views in zip(steps, [*one.steps, one.final or ()], strict=True):
            files = [view.path for view in views if view.start is None]
            spans = [(view.path, view.start, view.end) for view in views if view.start is not None]
            assert files == step["files"]
            assert spans == [(path, s["start"], s["end"]) for path, of in step["spans"].items() for s in of]
        assert not one.notes
