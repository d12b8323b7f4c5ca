import os
import shutil
import subprocess
from pathlib import Path

import yaml

from ingest.runs.bundled_runs import import_submissions
from lake.errors import Exit
from lake.outcome import Outcome
from lake.store import Lake
from tests.ingest.runs.imports import FIRST, ITEMS, trec
from tests.tiny import ROOT, command, put, stored

SAYS = {
    "name": "my-retriever", "benchmark": "repoeval", "kind": "retriever", "authors": "[A. Author]", "licence": "MIT",
    "description": "Made up.",
}  # fmt: skip
RUN = trec([(item, "cats.py" if "zoo" in item else "rockets/engine.py", 1, 1) for item in ITEMS])


def submit(root: Path, path: str, run: bytes | None = RUN, /, *, file: str = "run.trec", **says: str) -> Path:
    """Lay a submission `<system>/<date>` into a folder; an empty text leaves a key out."""
    keys = {key: value for key, value in {**SAYS, **says}.items() if value}
    folder = root / path
    put(folder / "system.yaml", "".join(f"{key}: {value}\n" for key, value in keys.items()).encode())
    if run is not None:
        put(folder / file, run)
    return folder


def brought(lake: Lake, root: Path) -> Outcome:
    result = Outcome()
    import_submissions(lake, root, result, lambda _: None)
    return result


def became(lake: Lake) -> dict[str, tuple[str, str]]:
    """Submission → its status, and why."""
    return {name: (status, why) for name, status, why in lake.read("submissions")["submission", "status", "why"].rows()}


def systems(lake: Lake) -> list[str]:
    return lake.read("runs")["system"].sort().to_list()


def test_a_submission_is_a_run_and_leaves_with_its_folder(lake: Lake, tmp_path: Path) -> None:
    root = tmp_path / "submissions"
    folder = submit(root, "mine/2026-01-31", reported="{ndcg@5: 1, line_f1@8000: .52}", revision='"0123"')
    assert brought(lake, root).warnings == ["mine/2026-01-31: 5 of 5 items"]
    (row,) = lake.read("submissions").to_dicts()
    assert (row["system"], row["task"]) == ("my-retriever", "repoeval/prompt")
    assert (row["file"], row["revision"]) == ("run.trec", "0123")
    assert row["reported"] == [{"metric": "line_f1@8000", "value": 0.52}, {"metric": "ndcg@5", "value": 1.0}]
    assert lake.read("runs").select("run_id", "origin").rows() == [(row["run_id"], "imported")]
    before, files = stored(lake.root), {part.path: part.path.stat().st_mtime_ns for part in lake.parts("runs")}
    brought(lake, root)
    assert {part.path: part.path.stat().st_mtime_ns for part in lake.parts("runs")} == files
    put(folder / "run.trec", trec([(FIRST, "rockets/orbit.py", 1, 1)]))
    assert brought(lake, root).changes == [f"replaces {row['run_id']}, imported earlier under the same name"]
    assert systems(lake) == ["my-retriever"]
    assert lake.read("runs")["run_id"].item() != row["run_id"]
    put(folder / "run.trec", RUN)
    brought(lake, root)
    assert stored(lake.root) == before
    shutil.rmtree(folder)
    assert brought(lake, root).changes == [f"{row['run_id']} was deleted with its submission"]
    assert not [path for path in stored(lake.root) if "runs" in path or "hits" in path or "submissions" in path]


def test_unanswered_items_fail_only_if_all_were_asked(lake: Lake, tmp_path: Path) -> None:
    part, root = trec([(FIRST, "rockets/orbit.py", 1, 1)]), tmp_path / "submissions"
    submit(root, "mine/2026-01-31", part)
    (note,) = brought(lake, root).warnings
    assert note.startswith("mine/2026-01-31: 1 of 1 item; answers 1 of 5 items")
    assert lake.read("runs").select("status", "n_items").row(0) == ("partial", 1)
    submit(root, "mine/2026-01-31", part, asked="all")
    assert brought(lake, root).warnings == ["mine/2026-01-31: 1 of 5 items"]
    assert lake.read("runs").select("status", "n_items").row(0) == ("complete", 5)


def test_the_newest_of_a_system_and_task_counts_and_numbers_alone_are_never_a_run(lake: Lake, tmp_path: Path) -> None:
    root = tmp_path / "submissions"
    submit(root, "mine/2026-01-31")
    submit(root, "mine/2025-12-31", trec([(FIRST, "rockets/orbit.py", 1, 1)]))
    submit(root, "told/2026-01-31", None, name="told", reported="{ndcg@5: 0.9}")
    submit(root, "other/2026-01-31", name="other", label="sample")
    submit(root, "away/2026-01-31", trec([("repoeval/none", "a.py", 1, 1)]), name="away")
    submit(root, "elsewhere/2026-01-31", name="elsewhere", benchmark="repobench-r")
    result = brought(lake, root)
    assert systems(lake) == ["my-retriever"]
    assert lake.read("runs")["n_items"].item() == 5
    assert became(lake) == {
        "mine/2026-01-31": ("scored", ""),
        "mine/2025-12-31": ("older", "mine/2026-01-31 replaces it"),
        "told/2026-01-31": ("reported", ""),
        "other/2026-01-31": ("waiting", "the lake does not hold repoeval labelled 'sample'"),
        "away/2026-01-31": ("waiting", "no item of the file is in repoeval/prompt (1 unknown)"),
        "elsewhere/2026-01-31": ("waiting", "the lake does not hold the published repobench-r"),
    }
    assert result.rejected == 0
    shutil.rmtree(root / "mine/2026-01-31")
    brought(lake, root)
    assert lake.read("runs")["counts"].list.len().item() > 0
    assert became(lake)["mine/2025-12-31"] == ("scored", "")


def test_what_is_no_submission_is_a_reject_beside_the_others(lake: Lake, tmp_path: Path) -> None:
    root = tmp_path / "submissions"
    submit(root, "mine/2026-01-31")
    submit(root, "bad/2026-01-31", b"neither this\n", name="bad")
    submit(root, "typo/2026-01-31", name="typo", licence="", license="MIT")
    put(root / "loose/system.yaml", b"name: x\n")
    assert brought(lake, root).rejected == 3
    rows = lake.scan_part("rejects", "submissions").sort("source").collect()
    assert rows["source"].to_list() == ["bad/2026-01-31", "loose/system.yaml", "typo/2026-01-31"]
    assert rows["position"].to_list() == ["run.trec", "system.yaml", "system.yaml"]
    assert "license: unknown key" in rows["reason"][2]
    assert systems(lake) == ["my-retriever"]
    assert became(lake)["bad/2026-01-31"][0] == "refused"


FAULTS: list[tuple[dict[str, str], str]] = [
    ({"licence": "", "license": "MIT"}, "Did you mean 'licence'?"), ({"kind": ""}, "kind: is missing"),
    ({"benchmark": "repoevall"}, "Did you mean 'repoeval'?"), ({"revision": "12345678"}, "in quotes"),
    ({"task": "repoeval/promt"}, "Did you mean 'repoeval/prompt' or"), ({"name": "' '"}, "at least 1 character"),
    ({"reported": "{ndcg@5: much}"}, "ndcg@5: input should be a valid number, not 'much'"),
    ({"name": "own-file\u202e"}, "printable characters"),
    ({"reported": "[1, 2]"}, "reported: input should be a valid dictionary, not a list of 2"),
    ({"authors": "[]"}, "authors: list should have at least 1 item"),
]  # fmt: skip


def test_a_fault_is_told_in_few_lines_with_its_file(lake: Lake, tmp_path: Path) -> None:
    for says, told in FAULTS:
        run = command("ingest", "check", submit(tmp_path, "mine/2026-01-31", **says), "--lake", lake.root)
        assert (run.code in (Exit.INVALID, Exit.USAGE), told in run.err) == (True, True), run.err
        assert len(run.err.splitlines()) <= 10
        assert "README.md" in run.err or "Did you mean" in run.err or "system" in run.err


def test_files_that_are_no_run_and_folders_that_are_no_date_are_refused(lake: Lake, tmp_path: Path) -> None:
    def refusal(folder: Path) -> str:
        run = command("ingest", "check", folder, "--lake", lake.root).refused(Exit.INVALID)
        return run.err.splitlines()[0]

    assert "answer the same task" in refusal(put(submit(tmp_path, "a/2026-01-31") / "run.tsv", b"x").parent)
    assert "'notes.txt' is not allowed" in refusal(put(submit(tmp_path, "b/2026-01-31") / "notes.txt", b"x").parent)
    linked = submit(tmp_path, "c/2026-01-31", None)
    (linked / "run.trec").symlink_to("/etc/hostname")
    assert "'run.trec' is not allowed" in refusal(linked)
    assert "expected a run file or at least one reported number" in refusal(submit(tmp_path, "d/2026-01-31", None))
    for day in ("2026-02-30", "20260131", "latest"):
        assert "expected a folder <system>/<date>" in refusal(submit(tmp_path, f"e/{day}"))


def test_check_writes_nothing_takes_the_file_too_and_says_what_to_bring_in_first(lake: Lake, tmp_path: Path) -> None:
    before = stored(lake.root)
    folder = submit(tmp_path, "mine/2026-01-31", reported="{ndcg@5: 0.9}", task="repoeval/prompt")
    for path in (folder, folder / "system.yaml"):
        run = command("ingest", "check", path, "--lake", lake.root)
        run.done("5 of 5 items", "1 reported number, shown as reported, never ranked")
    other = submit(tmp_path, "other/2026-01-31", benchmark="contextbench")
    run = command("ingest", "check", other, "--lake", lake.root)
    run.refused(Exit.MISSING, "the lake does not hold the published contextbench", "BENCHMARKS=contextbench")
    unknown = submit(tmp_path, "unknown/2026-01-31", RUN + trec([("repoeval/none", "a.py", 1, 1)]))
    command("ingest", "check", unknown, "--lake", lake.root).refused(Exit.INVALID)
    command("ingest", "check", unknown, "--skip-unknown", "--lake", lake.root).done()
    command("ingest", "check", folder / "run.trec", "--lake", lake.root).refused(Exit.USAGE)
    assert stored(lake.root) == before


def test_each_file_of_several_names_its_task(lake: Lake, tmp_path: Path) -> None:
    folder = submit(tmp_path, "mine/2026-01-31", file="run.prompt.trec")
    line = b'{"prompt": "", "choices": [{"text": "x"}], "metadata": {"task_id": "none/0"}}\n'
    put(folder / "run.completion.jsonl", line)
    brought(lake, tmp_path)
    statuses = lake.read("submissions").select("task", "status").rows()
    assert statuses == [("repoeval/completion", "refused"), ("repoeval/prompt", "scored")]


def test_ingest_reads_the_folder_and_says_at_once_where_nothing_changed(source: Path, tmp_path: Path) -> None:
    root, lake = tmp_path / "submissions", tmp_path / "lake"
    submit(root, "mine/2026-01-31")
    options = ("repoeval", "--source", source, "--chunkers", "whole-file", "--lake", lake, "--submissions", root)
    assert "mine/2026-01-31: 5 of 5 items" in command("ingest", *options).err
    formats = Lake(lake).read("formats")
    assert formats.filter(name="trec").select("kind").item() == "ranking"
    command("ingest", *options).done()
    assert systems(Lake(lake)) == ["my-retriever"]
    submit(root, "mine/2026-01-31", name="renamed")
    run = command("ingest", "submissions", root, "--lake", lake).done()
    assert run.err.splitlines()[1].startswith("ingest: 1 of 1 submission imported; parts: ")
    assert systems(Lake(lake)) == ["renamed"]
    command("ingest", "submissions", tmp_path / "none", "--lake", lake).refused(Exit.MISSING)
    options = (*options[:-1], tmp_path / "none")
    command("ingest", *options).done()
    assert systems(Lake(lake)) == []


def test_the_readme_of_the_folder_shows_a_submission_that_is_one(lake: Lake, tmp_path: Path) -> None:
    text = (ROOT / "lake/submissions/README.md").read_text().partition("```yaml\n")[2].partition("```")[0]
    folder = submit(tmp_path, "mine/2026-01-31")
    text = text.replace("label: sample", "").replace("fixed-nws-1500", "whole-file")
    put(folder / "system.yaml", text.encode())
    command("ingest", "check", folder, "--lake", lake.root).done()


def test_the_workflow_checks_every_folder_that_a_pull_request_touches_once(tmp_path: Path) -> None:
    def git(*words: str) -> None:
        ours = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
        subprocess.run(["git", *ours, *words], cwd=tmp_path, check=True, capture_output=True)

    workflow = yaml.safe_load((ROOT / ".github/workflows/submission.yml").read_text())
    script = workflow["jobs"]["check"]["steps"][-1]["run"]
    put(
        tmp_path / ".venv/bin/python", b'#!/bin/sh\necho "$@" >> said; case "$4" in */bad/*) exit 3;; esac; exit 5\n'
    ).chmod(0o755)
    root = tmp_path / "lake/submissions"
    old = submit(root, "old/2026-01-31")
    put(root / "README.md", b"x")
    for words in ("init -q -b main", "add lake", "commit -qm x", "update-ref refs/remotes/origin/main HEAD"):
        git(*words.split())
    put(submit(root, "a b/2026-01-31") / "run/one.json", b"{}")
    put(root / "README.md", b"y")
    shutil.rmtree(old)
    git("add", "-A", "lake")
    git("commit", "-qm", "y")
    told = {**os.environ, "GITHUB_BASE_REF": "main"}
    assert subprocess.run(["bash", "-e", "-c", script], cwd=tmp_path, env=told, check=False).returncode == 0
    assert (tmp_path / "said").read_text() == "-m ingest check lake/submissions/a b/2026-01-31\n"
    submit(root, "bad/2026-01-31")
    git("add", "lake")
    git("commit", "-qm", "z")
    assert subprocess.run(["bash", "-e", "-c", script], cwd=tmp_path, env=told, check=False).returncode == 1
