import json
import re
import sys
from pathlib import Path

import polars as pl
import pytest

from evaluate.commands.listing import provenance
from ingest.contents.chunkers import Cut, Document
from ingest.contents.chunking import cut_by_command
from ingest.programs import command as json_command
from ingest.programs.command import JsonCommand
from lake.errors import Exit
from lake.store import Lake
from tests.ingest.test_killed import all_end
from tests.tiny import build, command, put, refused

TEXT = "é\r\n😀\nb\n"
PROGRAM = """\
import json, sys
for line in sys.stdin:
    one = json.loads(line)
    if "purr" in one["text"]:
        sys.exit("no cats")
    n = one["text"].count("\\n")
    print(json.dumps({"id": one["id"], "chunks": [{"start": 2, "end": n + 1}, {"start": 1, "end": 1}]}), flush=True)
"""
FUNCTION = """\
def first_line(document):
    print("this goes nowhere that matters")
    return [(0, 1)]
"""


def cut_of(chunks: object) -> Cut:
    answer = json.dumps({"chunks": chunks})
    program = (
        f"import json, sys; print(json.dumps(dict(json.loads({answer!r}), id=json.loads(sys.stdin.readline())['id'])))"
    )
    (cut,) = cut_by_command(JsonCommand((sys.executable, "-c", program)), [Document(TEXT)], ["x"])
    return cut


def test_answers_are_lines_from_1_or_bytes_in_any_order() -> None:
    assert cut_of([{"start": 2, "end": 3}, {"start": 1, "end": 1}]) == Cut([(0, 1), (1, 3)])
    assert cut_of([{"start_byte": 4, "end_byte": 8}, {"start_byte": 0, "end_byte": 2}]) == Cut(
        [(0, 2), (4, 8)], unit="bytes"
    )
    # What splits a text at its line ends has an empty line behind the last.
    assert cut_of([{"start": 3, "end": 4}, {"start": 4, "end": 4}]) == Cut([(2, 3)])
    assert cut_of([]) == Cut([])


@pytest.mark.parametrize(
    ("chunks", "why"),
    [
        (None, "the answer has no list of chunks"),
        ([3], "the chunk 3 has no whole numbers start and end"),
        ([{"start": 1.0, "end": 2}], "has no whole numbers start and end"),
        ([{"start": 1, "end": 1}, {"start_byte": 1, "end_byte": 2}], "has no whole numbers start and end"),
    ],
)
def test_an_answer_that_is_wrong_fails_its_file_and_says_why(chunks: object, why: str) -> None:
    cut = cut_of(chunks)
    assert cut.ranges == []
    assert why in cut.failed


@pytest.mark.slow
def test_a_command_is_a_chunker_until_it_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    source, lake, script = build(tmp_path / "source"), Lake(tmp_path / "lake"), tmp_path / "my chunks.py"
    script.write_text(PROGRAM)
    options = ("ingest", "repoeval", "--source", source, "--lake", lake.root)
    given = f"mine={sys.executable} 'my chunks.py'"
    run = command(*options, "--chunker", given)
    run.ended(5, "most often: it ended with status 1 and no answer; standard error: no cats")
    rejects = lake.read("rejects").filter(position="chunker mine")["reason"]
    assert rejects.to_list() == ["it could not be cut: it ended with status 1 and no answer; standard error: no cats"]
    ranges = lake.read("chunks", chunker="mine").group_by("sha256", maintain_order=True).agg("line_start", "line_end")
    assert all(start == [0, 1] and end[0] == 1 for _, start, end in ranges.iter_rows())
    assert f"mine{' ' * 2}Given as" in command("ingest", "list", "chunkers", "--lake", lake.root).out
    # By its name alone where the lake is trusted, and current as long as its script is.
    assert "mine: cutting" not in command(*options, "--chunkers", "mine", "--trust-lake").err
    script.write_text(PROGRAM.replace("purr", "nobody"))
    run = command(*options, "--chunkers", "mine", "--trust-lake")
    run.done(f"mine runs this command to chunk: {given.removeprefix('mine=')}")
    assert lake.read("rejects").filter(position="chunker mine").is_empty()
    command("evaluate", "--lake", lake.root, "--systems", "mine+bm25-okapi").done()
    runs = lake.scan("runs").filter(system="mine+bm25-okapi", task="repoeval/prompt").collect()
    (ingested, _) = provenance(lake, runs["run_id"][0])["commands"]
    assert ingested[-2:] == ["--chunker", given]


@pytest.mark.parametrize("what", ["touch {}", "of_somebody_else:cut"])
def test_a_foreign_lakes_chunkers_are_not_run(what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    trace, lake = tmp_path / "trace", Lake(tmp_path / "lake")
    (tmp_path / "of_somebody_else.py").write_text(f"import pathlib\npathlib.Path({str(trace)!r}).touch()\n")
    options = ("ingest", "repoeval", "--source", build(tmp_path / "source"), "--lake", lake.root, "--chunkers")
    command(*options, "whole-file").done()
    what = what.format(trace)
    row = lake.read("chunkers").with_columns(name=pl.lit("mine"), command=pl.lit(what))
    lake.write("chunkers", row, part="mine", fingerprint="of somebody else")
    command(*options, "mine").ended(2, f"for example: mine={what}", "--trust-lake")
    assert not trace.exists()


def test_a_python_function_is_a_chunker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "given_function.py").write_text(FUNCTION)
    lake = Lake(tmp_path / "lake")
    options = ("ingest", "repoeval", "--source", build(tmp_path / "source"), "--lake", lake.root)
    command(*options, "--chunker", "first=given_function:first_line").done()
    chunks = lake.read("chunks", chunker="first")
    assert chunks.select(pl.col("line_start", "line_end").unique()).rows() == [(0, 1)]
    twice = command(*options, *("--chunker", "first=given_function:first_line") * 2)
    assert "two --chunker options use one name" in twice.err
    # What has not cut a file yet is to be given again, as its name alone would be refused.
    put(tmp_path / "source/repositories/function_level/zoo_animals/new.py", b"new = 1\n")
    command(*options, "--chunkers", "whole-file").done()
    run = command("evaluate", "--lake", lake.root, "--systems", "whole-file+bm25-okapi")
    assert "ingest them with it (--chunkers, or --chunker of your own)" in run.err


@pytest.mark.slow
def test_a_function_failing_on_all_files_is_named_and_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "failing_function.py").write_text("def cut(document):\n    return [(0, 1 // 0)]\n")
    lake = Lake(tmp_path / "lake")
    options = ("ingest", "repoeval", "--source", build(tmp_path / "source"), "--lake", lake.root)
    run = command(*options, "--chunker", "bad=failing_function:cut")
    why = "failing_function.py:2: ZeroDivisionError: integer division or modulo by zero"
    assert run.code == 5
    assert re.search(rf"repoeval: bad failed on (\d+) of \1 files, most often: {re.escape(why)}\n", run.err)
    command(*options, "--chunkers", "whole-file").done()
    run = command("evaluate", "--lake", lake.root, "--systems", "*+bm25-okapi")
    run.done("skipped bad: it has no chunks for the files of repoeval")


@pytest.mark.parametrize(
    ("given", "code", "why"),
    [
        ("mine", 2, "'mine' is no name (letters, digits, ._-) and command"),
        ("syntax-9=node x.js", 2, "'syntax-9' is the name of a built-in chunker"),
        ("sizes=node x.js", 2, "'sizes' is the name of a built-in chunker"),
        ("a b=node x.js", 2, "is no name (letters, digits, ._-) and command"),
        ("mine=no-such-program", 4, "the program 'no-such-program' is not installed"),
        ("mine=node 'x", 2, "cannot be read: No closing quotation"),
        ("mine=builtins:print", 2, "builtins:print cannot be imported as a Python function"),
        ("mine=no_module:f", 2, "no_module:f cannot be imported as a Python function: ModuleNotFoundError"),
    ],
)
def test_what_is_no_chunker_is_refused(given: str, code: int, why: str, tmp_path: Path) -> None:
    command("ingest", "--chunker", given, "--lake", tmp_path).ended(code, why)


READ = "import json, os, sys, time\nrequests = map(json.loads, sys.stdin)\n"
ANSWER = "print(json.dumps({'id': one['id'], 'twice': one['text'] * 2}), flush=True)\n"
AS_IT_READS = READ + "for one in requests:\n    " + ANSWER
ALL_AT_ONCE = READ + "for one in reversed(list(requests)):\n    " + ANSWER.replace(", flush=True", "")
FAILS = "for one in requests:\n    if one['text'] == 'é3':\n        HARM\n    " + ANSWER
REQUESTS = [{"id": str(number), "text": f"é{number}"} for number in range(7)]


def answers(program: str, seconds: float = 120) -> list[str]:
    told = JsonCommand((sys.executable, "-c", program), seconds).answers(REQUESTS)
    assert all("error" in answer or answer["id"] == str(number) for number, answer in enumerate(told))
    return [str(answer.get("error") or answer["twice"]) for answer in told]


@pytest.mark.parametrize("program", [AS_IT_READS, ALL_AT_ONCE], ids=["as it reads", "all at once"])
def test_every_request_has_its_answer_in_whatever_order_they_come(program: str) -> None:
    assert answers(program) == [f"é{number}é{number}" for number in range(7)]


@pytest.mark.parametrize(
    ("harm", "why"),
    [
        ("sys.exit('no threes')", "it ended with status 1 and no answer; standard error: no threes"),
        ("os.abort()", "it was ended by signal 6 and no answer"),
        ("print('hm', flush=True)", "it wrote 'hm', not a JSON object with the id"),
        ("print('[1]', flush=True)", "it wrote '[1]', not a JSON object with the id"),
        ('print(\'{"id": "x"}\', flush=True)', 'it wrote \'{"id": "x"}\', not a JSON object with the id'),
    ],
)
@pytest.mark.parametrize("reads_all", [False, True])
def test_what_it_fails_on_costs_no_other_its_answer(harm: str, why: str, reads_all: bool) -> None:
    program = READ + ("requests = list(requests)\n" if reads_all else "") + FAILS.replace("HARM", harm)
    got = answers(program)
    assert got[3].startswith(why)
    assert got[:3] + got[4:] == [f"é{number}é{number}" for number in (0, 1, 2, 4, 5, 6)]


@pytest.mark.slow
def test_what_hangs_is_killed_with_all_that_it_started(tmp_path: Path) -> None:
    note = tmp_path / "child"
    hangs = f"import subprocess; p = subprocess.Popen(['sleep', '600']); open({str(note)!r}, 'w').write(str(p.pid))"
    got = answers(READ + FAILS.replace("HARM", f"{hangs}; time.sleep(600)"), seconds=20)
    assert got[3] == "no answer within 20 seconds"
    assert got[4:] == ["é4é4", "é5é5", "é6é6"]
    assert all_end([int(note.read_text())])


def test_what_never_answers_is_given_up_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_command, "MAX_VAIN", 2)
    got = answers("import sys; sys.exit('SyntaxError: bad')")
    why = "it ended with status 1 and no answer; standard error: SyntaxError: bad"
    assert got == [why] * 2 + [f"not tried: there was no answer to any request before, at last: {why}"] * 5


def test_what_never_answers_in_time_is_given_up_sooner() -> None:
    got = answers("import time; time.sleep(60)", seconds=0.5)
    assert got[0] == "no answer within 0.5 seconds"
    assert got[1:] == [f"not tried: there was no answer to any request before, at last: {got[0]}"] * 6


def test_an_endless_line_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_command, "MAX_LINE_BYTES", 1000)
    endless = answers(READ + "while True: sys.stdout.write('x' * 1000)")
    assert endless[0] == "its answer has a line of more than 1,000 bytes"


def test_a_command_is_read_as_a_person_writes_it_and_its_files_are_in_its_digest(tmp_path: Path) -> None:
    script = tmp_path / "my script.py"
    script.write_text("1")
    command = JsonCommand.of(f"{sys.executable} '{script}' --n 3")
    assert command.words == (sys.executable, str(script), "--n", "3")
    assert script in command.files
    before = command.digest
    script.write_text("2")
    assert JsonCommand.of(f"{sys.executable} '{script}' --n 3").digest != before
    with refused("the program '' is not installed", Exit.MISSING):
        JsonCommand.of(" ")


@pytest.mark.parametrize(
    ("stack", "shown"),
    [
        (
            'Traceback:\n  File "mine.py", line 7, in f\n    x[3]\nKeyError: 3',
            'File "mine.py", line 7, in f | x[3] | KeyError: 3',
        ),
        ("x\ny\nError: no\n    at a (a.js:2:5)\n    at b\n}\n\nNode.js v20", "x | y | Error: no | at a (a.js:2:5)"),
        ("one\ntwo\nthree\nfour", "two | three | four"),
    ],
)
def test_the_error_is_shown_with_the_line_that_it_comes_from(stack: str, shown: str) -> None:
    (answer,) = JsonCommand((sys.executable, "-c", f"import sys; sys.exit({stack!r})")).answers([{"id": "1"}])
    assert str(answer["error"]).endswith(f"standard error: {shown}")
