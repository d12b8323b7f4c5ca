import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import cast

import pytest

from lake.errors import Exit
from lake.store import Lake
from tests.tiny import REPOSITORIES, ROOT, TASKS, Row, Said, command, jsonl, put, stored

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
    metadata = cast("dict[str, object]", row["metadata"])
    where = {"file": metadata["fpath_tuple"], "line": metadata["lineno"], "from": metadata["context_start_lineno"]}
    return {"q": row["prompt"], "answer": {"text": metadata["ground_truth"]}, "meta": {"no": number, "where": where}}


def lay_out(folder: Path, text: str = OURS) -> Path:
    put(folder / "questions.jsonl", jsonl([renamed(row, number) for number, row in enumerate(TASKS)]))
    for path, data in REPOSITORIES.items():
        put(folder / "repos" / path, data)
    return put(folder / "mine.yaml", text.encode())


def ingest_own(config: object, lake: Path, *arguments: object) -> Said:
    return command("ingest", "--config", config, "--lake", lake, "--chunkers", "whole-file", *arguments)


pytestmark = pytest.mark.slow


def test_tasks_under_other_keys_are_ingested_and_scored_with_their_label(tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    run = ingest_own(lay_out(tmp_path), lake)
    run.done(f"RepoEval from {tmp_path / 'mine.yaml'} (labelled ours)", "5 of 5 items ready")
    scored = command("evaluate", "--lake", lake).done()
    assert scored.out.startswith("repoeval (ours): ")
    boards = command("evaluate", "table", "--lake", lake).out
    heads = [line for line in boards.splitlines() if line.startswith("# repoeval@chunking-v1, ")]
    assert heads
    assert all(head.endswith(", ours") for head in heads)
    row = Lake(lake).read("benchmarks").row(0, named=True)
    assert (row["name"], row["tags"], row["source"]) == ("repoeval", ["ours"], "mine.yaml")
    assert row["label"] == "ours"


def test_the_declaration_of_the_docs_works(tmp_path: Path) -> None:
    blocks = [block.split("```")[0] for block in (ROOT / "docs/own-data.md").read_text().split("```yaml\n")[1:]]
    lay_out(tmp_path, next(block for block in blocks if "like: repoeval" in block))
    rows = [renamed(row, number) for number, row in enumerate(TASKS)]
    names = {"q": ("q",), "answer": ("answer", "text"), "at": ("meta", "where"), "number": ("meta", "no")}
    put(tmp_path / "tasks.jsonl", jsonl([{name: _at(row, keys) for name, keys in names.items()} for row in rows]))
    assert "5 of 5 items ready" in ingest_own(tmp_path / "mine.yaml", tmp_path / "lake").err


def _at(value: object, keys: Sequence[str]) -> object:
    for key in keys:
        value = cast("dict[str, object]", value)[key]
    return value


def test_what_describes_the_data_is_shown(tmp_path: Path) -> None:
    more = "title: Rockets\ndescription: Our rockets.\nlicense: ours alone\nhomepage: https://example.org\npaper: ''\n"
    ingest_own(lay_out(tmp_path, OURS + more), tmp_path / "lake").done()
    row = Lake(tmp_path / "lake").read("benchmarks").row(0, named=True)
    assert [row[key] for key in ("title", "meaning", "licence", "paper")] == [
        "Rockets", "Our rockets.", "ours alone", "",
    ]  # fmt: skip


@pytest.mark.parametrize(("folder", "top"), [("repos.zip", ""), ("repos", "top")])
def test_the_repositories_may_be_a_zip_with_or_without_a_top_folder(tmp_path: Path, folder: str, top: str) -> None:
    config = lay_out(tmp_path, OURS.replace(": repos", f": {folder}"))
    (tmp_path / "packed").mkdir()
    (tmp_path / "repos").rename(tmp_path / "packed" / (top or "repos"))
    shutil.make_archive(str(tmp_path / "repos"), "zip", tmp_path / "packed" / ("" if top else "repos"))
    assert "5 of 5 items ready" in ingest_own(config, tmp_path / "lake").err


@pytest.mark.parametrize(
    ("path", "instead", "reason"),
    [
        ("answer.text", "answer.txt", "`answer.txt` is missing; it has the ground_truth"),
        ("meta.where.line", "[a.b, q.c]", "`a.b` or `q.c` is missing; it has the line"),
        ("meta.no", "meta.id", "`meta.id` is missing; it has the id"),
    ],
)
def test_a_path_that_leads_nowhere_is_named_row_by_row(tmp_path: Path, path: str, instead: str, reason: str) -> None:
    ingest_own(lay_out(tmp_path, OURS.replace(path, instead)), tmp_path / "lake").ended(Exit.INCOMPLETE, "5 rejected")
    rejects = Lake(tmp_path / "lake").read("rejects").select("source", "position", "reason").rows()
    assert rejects == [("questions.jsonl", f"line {n}", reason) for n in range(1, 6)]


CLASHES = {
    "a source": (["--source", "sample"], "--config cannot go with --source"),
    "another benchmark": (["repobench-r"], "unknown benchmark 'repobench-r'"),
    "another subset": (["--subsets", "line-2k"], "unknown subset 'line-2k'"),
}


@pytest.mark.parametrize("given", CLASHES)
def test_what_a_declaration_leaves_no_room_for_is_a_usage_error(tmp_path: Path, given: str) -> None:
    arguments, error = CLASHES[given]
    config = lay_out(tmp_path)
    answer = command("ingest", *arguments, "--config", config, "--lake", tmp_path / "lake")
    answer.refused(Exit.USAGE, error)


def test_own_data_and_other_data_never_replace_each_other(source: Path, tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    published = ("ingest", "repoeval", "--source", source, "--chunkers", "whole-file", "--lake")
    command(*published, lake).done()
    answer = put(tmp_path / "answer.trec", b"function-2k/zoo_animals/0 Q0 cats.py:0-2 1 1.0 mine\n")
    command("ingest", "run", answer, "--benchmark", "repoeval", "--system", "mine", "--lake", lake).done()
    before = stored(lake)
    what = "RepoEval: the lake holds the published data; data labelled ours would replace it"
    ingest_own(config := lay_out(tmp_path / "ours"), lake).refused(Exit.USAGE, what, "--lake FOLDER")
    assert stored(lake) == before
    own = tmp_path / "own"
    ingest_own(config, own).done()
    before = stored(own)
    run = command(*published, own)
    run.refused(Exit.USAGE, "RepoEval: the lake holds data labelled ours; the published data would replace it")
    ingest_own(lay_out(tmp_path / "theirs", OURS.replace("ours", "theirs")), own).refused(Exit.USAGE)
    assert stored(own) == before
    ingest_own(config, own).done()
