import json
import re
import shlex
import shutil
import sys
from pathlib import Path

import polars as pl
import pytest

from ingest.runs.formats.rankings import parse_answer
from ingest.runs.program_runs import write_below
from lake.errors import Exit
from lake.store import Lake
from tests.ingest.runs.imports import FIRST, ITEMS, LAST, hits
from tests.tiny import Said, command, leftovers, put, stored

pytestmark = pytest.mark.slow

ROCKETS, ZOO = "repoeval/function_level/acme_rockets", "repoeval/function_level/zoo_animals"
LOOP = """
import json, os, sys, time
for line in sys.stdin:
    item = json.loads(line)
    answer = {"id": item["id"], "results": []}
"""


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def searched(lake: Lake, what: str, *arguments: object, verb: str = "run", system: str = "mine") -> Said:
    options = ("--benchmark", "repoeval", "--system", system, "--lake", lake.root)
    return command("ingest", verb, "--search", what, *options, *arguments)


def program(body: str) -> str:
    """A program that answers with what some lines make of `answer`."""
    lines = "".join(f"    {line}\n" for line in [*body.splitlines(), "print(json.dumps(answer), flush=True)"])
    Path("program.py").write_text(LOOP + lines)
    return f"{shlex.quote(sys.executable)} program.py"


def outcomes(lake: Lake) -> dict[str, tuple[str, str | None]]:
    rows = lake.read("run_items").select("item_id", "status", "error").iter_rows()
    return {item: (status, error) for item, status, error in rows}


def test_a_program_is_asked_pool_by_pool_and_what_it_answers_becomes_a_run(lake: Lake) -> None:
    what = program(
        "found = sorted(os.path.relpath(os.path.join(at, one), item['files']) for at, _, all in os.walk(item['files'])"
        " for one in all)\n"
        "print(json.dumps({**item, 'found': found, 'process': os.getpid()}), file=open('asked.jsonl', 'a'))\n"
        "answer['results'] = [{'path': found[0], 'score': 1}, {'path': found[-1], 'start': 2, 'end': 3, 'score': 2}]"
    )
    searched(lake, what).done()
    seen = [json.loads(line) for line in Path("asked.jsonl").read_text().splitlines()]
    assert [(question["id"], question["pool"]) for question in seen] == [(item, ROCKETS) for item in ITEMS[:3]] + [
        (item, ZOO) for item in ITEMS[3:]
    ]
    assert len({question["process"] for question in seen}) == 1
    assert len({question["files"] for question in seen}) == 2
    assert not any(Path(question["files"]).exists() for question in seen)
    assert seen[-1]["found"] == ["cats.py", "copy/cats.py", "dogs.py"]
    assert seen[-1]["k"] == 100
    texts = dict(lake.read("queries").select("item_id", "text").iter_rows())
    assert all(question["query"] == texts[question["id"]] for question in seen)
    columns = ("rank", "path", "line_start", "line_end", "score")
    assert hits(lake, *columns, item=LAST) == [(1, "dogs.py", 1, 3, 2.0), (2, "cats.py", 0, 7, 1.0)]
    run = lake.read("runs").row(0, named=True)
    assert (run["origin"], run["format"], run["file"], run["status"]) == ("imported", "command", what, "complete")
    assert json.loads(run["parameters"]).keys() == {"search", "files", "sha256"}
    cost = lake.read("costs").row(0, named=True)
    assert cost["run_id"] == run["run_id"]
    assert cost["index_seconds"] > 0


def test_the_same_command_with_the_same_files_is_asked_once(lake: Lake) -> None:
    what = program("open('asked', 'a').write('x')")
    searched(lake, what).done()
    before = stored(lake.root)
    again = searched(lake, what)
    assert (again.code, stored(lake.root), Path("asked").read_text()) == (Exit.DONE, before, "xxxxx")
    assert "--again runs it again" in again.err
    searched(lake, what, "--again").done()
    assert len(Path("asked").read_text()) == 10
    program("open('asked', 'a').write('x')\npass")
    assert "replaces" in searched(lake, what).err
    assert len(Path("asked").read_text()) == 15


def test_a_crash_costs_its_item_and_two_of_them_the_rest_of_the_pool(lake: Lake) -> None:
    run = searched(lake, program(f"if item['id'] in {ITEMS[:2]!r}: sys.exit('out of\\nmemory')")).ended(Exit.INCOMPLETE)
    why = "it ended with status 1 and no answer; standard error: out of | memory"
    assert f"failed in pool {ROCKETS}: 3 of 3 items: {why}" in run.err
    assert "ingest: 2 of 5 items, 3 failed" in run.err
    statuses = outcomes(lake)
    assert [statuses.pop(ITEMS[0]), statuses.pop(ITEMS[1])] == [("failed", why)] * 2
    assert statuses.pop(ITEMS[2]) == ("failed", f"not asked: 2 items of its pool had no answer: {why}")
    assert set(statuses.values()) == {("done", None)}


def test_a_time_out_costs_its_item_and_two_of_them_the_rest_of_the_pool(lake: Lake) -> None:
    what = program(f"if item['id'] in {(ITEMS[0], ITEMS[3], ITEMS[4])!r}: time.sleep(600)")
    searched(lake, what, "--timeout", 6).ended(Exit.INCOMPLETE)
    late = ("failed", "no answer within 6 seconds")
    assert [outcomes(lake)[item] for item in ITEMS] == [late, ("done", None), ("done", None), late, late]


def test_a_program_that_reads_everything_first_is_sent_a_pools_items_together(lake: Lake) -> None:
    Path("all.py").write_text(
        "import json, sys\nprint(*[json.dumps({'id': json.loads(one)['id'], 'results': [{'path': 'cats.py'}]})"
        " for one in reversed(list(sys.stdin))], sep='\\n')\n"
    )
    run = searched(lake, f"{shlex.quote(sys.executable)} all.py", "--timeout", 6)
    run.done("it answered only after reading all of a pool's items")
    assert hits(lake, item=LAST) == [("cats.py", 0, 7)]


PATH = {"path": "a.py"}
NO_RESULTS: list[object] = [
    {"file": "a.py"}, {**PATH, "line": 3}, {**PATH, "start": 3}, {**PATH, "start": 0, "end": 3},
    {**PATH, "start": 4, "end": 3}, *({**PATH, "score": score} for score in (float("nan"), 10**400, True)),
]  # fmt: skip
NO_ANSWERS: list[tuple[object, str]] = [
    (None, "`results` must be a list"),
    ([PATH, {"path": "b", "score": 1}], "some results have a score and some have none"),
    *(([PATH, result], "result 2: expected a path, maybe start and end (lines from 1)") for result in NO_RESULTS),
]


def test_what_is_no_answer_says_why() -> None:
    for results, why in NO_ANSWERS:
        with pytest.raises(ValueError, match=re.escape(why)):
            parse_answer({"results": results})


@pytest.mark.parametrize(
    ("body", "code", "why"),
    [
        ("print('Loading…')", Exit.ERROR, "it wrote 'Loading…', not a JSON object with the id"),
        ("answer['id'] = 'other'", Exit.ERROR, "not a JSON object with the id of an open request"),
        ("answer['results'] = [{'file': 'a.py'}]", Exit.ERROR, "2 of 2 items: result 1: expected a path"),
        (
            "answer['results'] = [{'path': 'dogs.py', 'start': 1, 'end': 99}]",
            Exit.INVALID,
            "range past the end of the file: 2 lines",
        ),
    ],
)
def test_a_run_of_no_valid_answer_is_an_error_and_nothing_is_stored(
    lake: Lake, body: str, code: Exit, why: str
) -> None:
    before = stored(lake.root)
    searched(lake, program(body)).refused(code, why)
    assert stored(lake.root) == before


def test_a_program_that_answers_nothing_at_all_is_an_error(lake: Lake) -> None:
    run = searched(lake, "sh -c 'echo no such index >&2; exit 3'")
    run.ended(
        Exit.ERROR,
        "ingest: the program answered none of 5 items",
        "it ended with status 3 and no answer; standard error: no such index",
    )
    assert lake.parts("runs") == []


def test_what_is_asked_is_a_file_or_a_program_that_is_there(lake: Lake) -> None:
    assert "the program 'nodee' is not installed" in searched(lake, "nodee search.js").err
    searched(lake, "ripgrep", put(Path("a.txt"), b"x")).refused(Exit.USAGE, "either FILE or --search")
    neither = command("ingest", "run", "--benchmark", "repoeval", "--system", "x", "--lake", lake.root)
    neither.refused(Exit.USAGE, "either FILE or --search")


def test_a_limit_asks_a_sample_and_a_check_writes_nothing(lake: Lake) -> None:
    before = stored(lake.root)
    run = searched(lake, program(""), "--limit", 2, verb="check")
    assert (run.code, stored(lake.root)) == (Exit.DONE, before)
    assert "ingest: 2 of 2 items" in run.err
    searched(lake, program(""), "--limit", 2).done()
    assert lake.read("runs").select("limit", "status", "n_items").row(0) == (2, "partial", 2)
    command("evaluate", "--limit", 2, "--systems", "whole-file+random", "--lake", lake.root)
    run_items = lake.read("run_items").filter(pl.col("run_id").str.starts_with("repoeval.prompt--"))
    of_runs = run_items.sort("item_id").group_by("run_id").agg("item_id")["item_id"].to_list()
    assert len(of_runs) > 1
    assert all(items == of_runs[0] for items in of_runs)


def test_a_function_is_asked_in_a_process_of_its_own(lake: Lake) -> None:
    Path("mine.py").write_text(
        "import os\ndef search(item):\n    print('noise')\n    open('process', 'w').write(str(os.getpid()))\n"
        f"    return [{{'path': {{}}[item['id']]}}] if item['id'] == {FIRST!r} else iter([{{'path': 'dogs.py'}}])\n"
    )
    searched(lake, "mine:search").ended(Exit.INCOMPLETE)
    assert outcomes(lake)[FIRST] == ("failed", f"mine.py:5: KeyError: {FIRST!r}")
    evaluated = command("evaluate", "repoeval", "--systems", "mine", "--lake", lake.root)
    why = f"1 imported run, repoeval/prompt: 1 of 5 items failed: mine.py:5: KeyError: {FIRST!r}"
    assert (evaluated.code, why in evaluated.err) == (Exit.INCOMPLETE, True), evaluated.err
    assert hits(lake, item=LAST) == [("dogs.py", 0, 7)]
    assert lake.read("runs")["format"].to_list() == ["function"]
    assert "ModuleNotFoundError: No module named 'nomod'" in searched(lake, "nomod:search").err


def test_a_function_that_is_broken_or_fails_is_named_with_its_line(lake: Lake) -> None:
    Path("broken_search.py").write_text("def search(item):\n    return (\n")
    assert "standard error: broken_search.py:2: '(' was never closed" in searched(lake, "broken_search:search").err
    Path("broken_search.py").write_text("import no_such_module\n")
    run = searched(lake, "broken_search:search")
    run.ended(Exit.ERROR, "standard error: broken_search.py:1: ModuleNotFoundError: No module named 'no_such_module'")
    Path("broken_search.py").write_text("def search(item):\n    return item['nothing']\n")
    assert "broken_search.py:2: KeyError: 'nothing'" in searched(lake, "broken_search:search").err


@pytest.mark.skipif(shutil.which("rg") is None, reason="ripgrep is not installed: apt-get install ripgrep")
def test_ripgrep_finds_the_rarest_identifiers_of_the_query(lake: Lake) -> None:
    command("ingest", "run", "--search", "rg", "--benchmark", "repoeval", "--lake", lake.root).done()
    run = lake.read("runs").row(0, named=True)
    assert (run["system"], run["format"], "ripgrep" in json.loads(run["versions"])) == ("ripgrep", "ripgrep", True)
    assert hits(lake, "rank", "path", item=FIRST)[0] == (1, "rockets/engine.py")
    scores = lake.read("hits").sort("item_id", "rank").group_by("item_id", maintain_order=True).agg("score")
    assert all(scores_of == sorted(scores_of, reverse=True) for scores_of in scores["score"].to_list())


def test_without_ripgrep_the_error_says_how_to_install_it(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    run = searched(lake, "ripgrep")
    run.refused(Exit.MISSING, "ripgrep needs the program rg, which is not installed", "apt-get install ripgrep")


@pytest.mark.parametrize("path", ["../a.py", "/a.py", "a/../../b.py", "", "a\0b", "x" * 300, "taken/b.py"])
def test_no_file_is_written_outside_of_its_pools_folder(tmp_path: Path, path: str) -> None:
    folder = tmp_path / "pool"
    put(folder / "taken", b"")
    assert not write_below(folder, path, "text")
    assert leftovers(tmp_path) == ["pool/taken"]
    assert write_below(folder, "a/b.py", "text")
