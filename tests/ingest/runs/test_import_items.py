import json
import shlex
from pathlib import Path

import polars as pl
import pytest

from ingest.runs.importing import import_run
from ingest.runs.request import ImportRequest
from lake.errors import Exit, GoldspanError
from lake.fingerprint import sha256_of
from lake.store import Lake
from tests.ingest.runs.imports import FIRST, ITEMS, LAST, ROCKETS, hit, hits, imported, refused, trec, tsv
from tests.tiny import TASKS, Row, Said, build, command, ingested, put

COLUMNS = ("item_id", "document", "rank", "query_sha256")


def answered(lake: Lake) -> list[tuple[object, ...]]:
    return lake.read("run_items").sort("item_id").select("item_id", "status", "error").rows()


def test_an_item_that_the_file_does_not_answer_was_not_asked(lake: Lake) -> None:
    result = imported(lake, hit("rockets/orbit.py"))
    assert answered(lake) == [(FIRST, "done", None)]
    assert lake.read("runs").select("status", "n_items").row(0) == ("partial", 1)
    outcome = result.outcome("x", "")
    assert (outcome.expected, outcome.scored, outcome.missing, outcome.code) == (1, 1, 0, Exit.DONE)
    ran = "\n".join(outcome.warnings)
    assert "answers 1 of 5 items: a partial run, scored on these and not ranked" in ran
    assert "with --asked-all (in a submission `asked: all`) it scores 0 for the other 4" in ran


def test_a_system_that_was_asked_all_failed_of_what_the_file_does_not_answer(lake: Lake) -> None:
    partial = imported(lake, hit("rockets/orbit.py"))
    result = imported(lake, hit("rockets/orbit.py"), asked_all=True)
    assert result.notes == [f"replaces {partial.run_id}, imported earlier under the same name"]
    assert answered(lake)[1:] == [(item, "missing", "no ranking in given.txt") for item in ITEMS[1:]]
    assert lake.read("runs").select("status", "n_items").row(0) == ("complete", 5)
    outcome = result.outcome("x", "")
    assert (outcome.expected, outcome.scored, outcome.missing, outcome.code) == (5, 1, 4, Exit.INCOMPLETE)
    assert "not ranked" not in "".join(outcome.warnings)
    assert imported(lake, hit("rockets/orbit.py"), asked_all=True).is_current


def test_of_the_items_that_are_named_those_without_an_answer_failed(lake: Lake, tmp_path: Path) -> None:
    file = put(tmp_path / "given.txt", trec([(item, "cats.py", 1, 1) for item in (ITEMS[0], ITEMS[3])]))
    items = f"{ITEMS[0]},{ITEMS[1]},{LAST}"
    options = ("--items", items, "--benchmark", "repoeval", "--system", "x", "--lake", lake.root)
    command("ingest", "run", file, *options).refused(
        Exit.INVALID, "not every item of the file is in repoeval/prompt (1 unknown)"
    )
    ran = command("ingest", "run", file, "--skip-unknown", *options)
    assert "ingest: 1 of 3 items, 2 missing" in ran.err
    missing = [(item, "missing", "no ranking in given.txt") for item in (ITEMS[1], LAST)]
    assert answered(lake) == [(FIRST, "done", None), *missing]
    row = lake.read("runs").row(0, named=True)
    assert (row["status"], row["n_items"], len(row["selection"])) == ("partial", 3, 3)


def test_a_file_of_items_that_cannot_be_scored_is_refused(tmp_path: Path) -> None:
    gone: Row = {**TASKS[4], "metadata": {**TASKS[4]["metadata"], "fpath_tuple": ["not_there", "a.py"]}}  # type: ignore[dict-item] # a row's metadata is a mapping
    ingested(tmp_path / "lake", build(tmp_path / "source", [*TASKS[:4], gone]))
    error = refused(Lake(tmp_path / "lake"), hit("cats.py", "function-2k/not_there/0"))
    assert "none of the items that it answers can be scored in this lake" in error.what


def test_parts_mirror_those_of_the_items_and_untouched_ones_are_not_asked(tmp_path: Path) -> None:
    source = build(build(tmp_path / "source"), context="4k")
    ingested(tmp_path / "lake", source, subsets=["function-2k", "function-4k"])
    lake = Lake(tmp_path / "lake")
    assert imported(lake, hit("rockets/orbit.py"), asked_all=True).n_items == 5
    both = hit("rockets/orbit.py") + hit("rockets/orbit.py", FIRST.replace("2k", "4k"))
    assert imported(lake, both, asked_all=True).n_items == 10
    for name in ("hits", "run_items"):
        assert [part.name for part in lake.parts(name)] == ["function-2k", "function-4k"]
    assert [part.name for part in lake.parts("runs")] == ["all"]


def test_an_unknown_item_is_refused_with_the_nearest_name(lake: Lake) -> None:
    error = refused(lake, hit("rockets/orbit.py") + hit("rockets/orbit.py", f"{ROCKETS}/7"))
    assert error.code == Exit.INVALID
    assert error.examples == (f"line 2: '{ROCKETS}/7'",)
    assert f"Did you mean '{ROCKETS}/" in error.hint
    assert "--skip-unknown skips them" in error.hint


def test_skip_unknown_counts_and_lists_what_is_left_out(lake: Lake) -> None:
    rows = [(FIRST, "rockets/orbit.py", 1, 1), ("other", "a.py", 1, 2), ("other", "b.py", 2, 1)]
    result = imported(lake, trec(rows), skip_unknown=True)
    assert (result.counts["n_rejected"], result.counts["n_unknown"], result.outcome("x", "").code) == (0, 1, Exit.DONE)
    (reject,) = lake.read("rejects").rows(named=True)
    assert (reject["source"], reject["position"], reject["excerpt"]) == ("given.txt", "item other, line 2", "other")
    assert reject["reason"] == "not an item of repoeval/prompt"
    assert hits(lake, "path") == [("rockets/orbit.py",)]


def test_a_query_of_another_sha256_is_refused(lake: Lake) -> None:

    prompt = str(TASKS[0]["prompt"])
    error = refused(lake, tsv([(FIRST, "rockets/orbit.py", 1, sha256_of(b"another"))], *COLUMNS))
    assert error.what == "made for another query: its sha256 is not the item's: 1 line"
    same = tsv([(FIRST, "rockets/orbit.py", 1, sha256_of(prompt.encode()))], *COLUMNS)
    assert imported(lake, same).counts["n_done"] == 1


def test_an_empty_list_is_an_answer(lake: Lake) -> None:
    result = imported(lake, f'{{"{FIRST}": {{}}, "{LAST}": {{"dogs.py": 1}}}}'.encode())
    assert (result.counts["n_done"], result.counts["n_hits"]) == (2, 1)
    item = lake.read("run_items").filter(pl.col("item_id") == FIRST).row(0, named=True)
    assert (item["status"], item["n_returned"]) == ("done", 0)


ALL = trec([(item, "cats.py", 1, 1) for item in ITEMS])
VARIABLES = ("BENCHMARK", "CHUNKER", "FORMAT", "SKIP_UNKNOWN", "SYSTEM", "TASK")


@pytest.fixture(autouse=True)
def _no_settings_of_imports(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


def ran(lake: Lake, data: bytes, *arguments: object, verb: str = "run", system: str = "mine") -> Said:
    file = put(lake.root.parent / "given.txt", data)
    options = ("--benchmark", "repoeval", "--system", system, "--lake", lake.root)
    return command("ingest", verb, file, *options, *arguments)


def test_run_says_what_it_counted_and_what_to_type_next(lake: Lake) -> None:
    answer = ran(lake, trec([(FIRST, "x/rockets/orbit.py#L13", 1, 2), (FIRST, "no.py", 2, 1)]))
    assert (answer.code, answer.out) == (Exit.DONE, "")
    _, last, run, answered_part, lost, clamped, hint = answer.err.splitlines()
    assert last.startswith("ingest: 1 of 1 item; parts: ")
    assert last.endswith(f"→ {lake.root}")
    assert run.startswith("  run repoeval.prompt--mine--")
    assert lost == "  unresolved (no such file in the pool): 1 of 2 paths, such as 'no.py'"
    assert clamped == "  clamped: 1 range that ended one line past the end of the file"
    assert answered_part.startswith("  answers 1 of 5 items: a partial run")
    assert hint == f"  next: make evaluate LAKE={lake.root}"


def test_what_is_skipped_as_asked_is_named_and_no_fault(lake: Lake) -> None:
    for _ in range(2):
        ran(lake, ALL + hit("a.py", "other"), "--skip-unknown").done("skipped: 1 item not asked here")
    assert lake.read("rejects")["excerpt"].to_list() == ["other"]


def test_check_without_a_name_ends_in_a_command_that_can_be_typed(lake: Lake, tmp_path: Path) -> None:
    file = put(tmp_path / "my answers.v2.jsonl", ALL)
    checked = command("ingest", "check", file, "--benchmark", "repoeval", "--lake", lake.root)
    words = shlex.split(checked.err.rstrip().rpartition("next: ")[2])
    assert words[1:4] == ["-m", "ingest", "run"]
    assert words[-2:] == ["--system", "NAME"]
    command(*words[2:]).ended(checked.code)


def test_a_file_that_is_not_there_is_missing_data(lake: Lake, tmp_path: Path) -> None:
    for path in (tmp_path / "no.trec", tmp_path):
        answer = command("ingest", "run", path, "--benchmark", "repoeval", "--system", "x", "--lake", lake.root)
        answer.refused(Exit.MISSING)


def test_a_lake_without_items_is_missing_data(tmp_path: Path) -> None:
    ran(Lake(tmp_path / "empty"), ALL).refused(Exit.MISSING, "First: make ingest")


def test_an_unknown_benchmark_is_a_usage_error(lake: Lake, tmp_path: Path) -> None:
    file = put(tmp_path / "f", ALL)
    with pytest.raises(GoldspanError, match="Did you mean 'repoeval'") as caught:
        import_run(lake, ImportRequest(file, "repoevall", "x"), write=False)
    assert caught.value.code == Exit.USAGE


def test_every_option_is_a_variable_too(lake: Lake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    values = ("repoeval", "whole-file", "trec", "1", "from-outside", "repoeval/prompt")
    for name, value in zip(VARIABLES, values, strict=True):
        monkeypatch.setenv(f"GOLDSPAN_{name}", value)
    file = put(tmp_path / "f", ALL + hit("a.py", "other"))
    command("ingest", "run", file, "--lake", lake.root).done()
    assert lake.read("runs").select("system", "chunker").rows() == [("from-outside", "whole-file")]


def test_formats_and_tasks_are_listed(lake: Lake) -> None:
    formats = json.loads(command("ingest", "list", "formats", "--format", "json").out)
    assert {"json", "parquet", "repocoder", "trec", "tsv"} <= {row["name"] for row in formats}
    assert all(row["example"] and row["meaning"].endswith(".") for row in formats)
    tasks = command("ingest", "list", "tasks").out.split()
    assert {"repoeval/prompt", "repoeval/completion"} <= set(tasks)
