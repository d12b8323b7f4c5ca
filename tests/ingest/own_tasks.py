"""Five tasks of one's own in RepoEval's manner, under other keys than upstream's, and the command that reads them."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import yaml

from tests.tiny import REPOSITORIES, TASKS, Row, Said, command, jsonl, put

OURS = """\
name: repoeval
label: ours
data:
  tasks: questions.jsonl
  repositories: repos
  subset: function-2k
fields:
  prompt: q
  ground_truth: answer.text
  path: meta.where.file
  line: meta.where.line
  context_start: meta.where.from
  id: meta.no
"""


def renamed(row: Row, number: int) -> Row:
    """A row of RepoEval under other keys."""
    metadata = cast("dict[str, object]", row["metadata"])
    where = {"file": metadata["fpath_tuple"], "line": metadata["lineno"], "from": metadata["context_start_lineno"]}
    return {"q": row["prompt"], "answer": {"text": metadata["ground_truth"]}, "meta": {"no": number, "where": where}}


def lay_out(folder: Path, text: str = OURS) -> Path:
    """Five tasks under other keys, their repositories, and the declaration beside them."""
    put(folder / "questions.jsonl", jsonl([renamed(row, number) for number, row in enumerate(TASKS)]))
    for path, data in REPOSITORIES.items():
        put(folder / "repos" / path, data)
    return put(folder / "mine.yaml", text.encode())


def ingest_own(config: object, lake: Path, *arguments: object) -> Said:
    said = command("ingest", "--config", config, "--lake", lake, "--chunkers", "whole-file", *arguments)
    assert "Traceback" not in said.err
    assert "fault of Goldspan's own" not in said.err
    assert len(said.err.splitlines()) <= 10
    return said


def printed() -> tuple[dict[str, object], str]:
    """RepoEval's declaration as `list` prints it, parsed and as text."""
    out = command("ingest", "list", "benchmarks", "--format", "yaml").out
    entry = next(one for one in yaml.safe_load(out) if one["name"] == "repoeval")
    return entry, yaml.safe_dump([entry], sort_keys=False)
