"""Commands that answer JSON lines: at once or in the end, in any order, with what they do that they should not."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from ingest.programs import command, running
from ingest.programs.command import JsonCommand
from lake.errors import Exit, GoldspanError

READ = "import json, os, sys, time\nrequests = map(json.loads, sys.stdin)\n"
ANSWER = "print(json.dumps({'id': one['id'], 'twice': one['text'] * 2}), flush=True)\n"
AS_IT_READS = READ + "for one in requests:\n    " + ANSWER
ALL_AT_ONCE = READ + "for one in reversed(list(requests)):\n    " + ANSWER.replace(", flush=True", "")
FAILS = "for one in requests:\n    if one['text'] == 'é3':\n        HARM\n    " + ANSWER
REQUESTS = [{"id": str(number), "text": f"é{number}"} for number in range(7)]


def answers(program: str, seconds: float = 20) -> list[str]:
    """What each request was answered, or why not."""
    told = JsonCommand((sys.executable, "-c", program), seconds).answers(REQUESTS)
    assert all(answer.error or answer.payload["id"] == str(number) for number, answer in enumerate(told))
    return [answer.error or str(answer.payload["twice"]) for answer in told]


@pytest.mark.parametrize("program", [AS_IT_READS, ALL_AT_ONCE], ids=["as it reads", "all at once"])
def test_every_request_has_its_answer_in_whatever_order_they_come(program: str) -> None:
    assert answers(program) == [f"é{number}é{number}" for number in range(7)]


@pytest.mark.parametrize(
    ("harm", "why"),
    [
        ("sys.exit('no threes')", "it ended with status 1 and no answer; it complained: no threes"),
        ("os.abort()", "it was ended by signal 6 and no answer"),
        ("print('hm', flush=True)", "it wrote 'hm', which is no JSON; what it tells a person"),
        ("print('[1]', flush=True)", "it wrote '[1]', which is no JSON object with the id"),
        ('print(\'{"id": "x"}\', flush=True)', "it answered the id 'x', which was not sent"),
    ],
)
@pytest.mark.parametrize("reads_all", [False, True])
def test_what_it_fails_on_costs_no_other_its_answer(harm: str, why: str, reads_all: bool) -> None:
    program = READ + ("requests = list(requests)\n" if reads_all else "") + FAILS.replace("HARM", harm)
    found = answers(program)
    assert found[3].startswith(why)
    assert found[:3] + found[4:] == [f"é{number}é{number}" for number in (0, 1, 2, 4, 5, 6)]


def test_what_hangs_is_killed_with_all_that_it_started(tmp_path: Path) -> None:
    note = tmp_path / "child"
    hangs = (
        f"import subprocess; child = subprocess.Popen(['sleep', '60']); open({str(note)!r}, 'w').write(str(child.pid))"
    )
    found = answers(READ + FAILS.replace("HARM", f"{hangs}; time.sleep(60)"), seconds=2)
    assert found[3] == "no answer within 2 seconds"
    assert found[4:] == ["é4é4", "é5é5", "é6é6"]
    for _ in range(100):
        try:
            os.kill(int(note.read_text()), 0)
        except ProcessLookupError:
            return
        state = Path(f"/proc/{note.read_text()}/stat").read_text().rpartition(")")[2].split()[0]
        if state == "Z":
            return
        time.sleep(0.05)
    pytest.fail("what it started still runs")


def test_what_never_answers_is_given_up_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "MAX_VAIN", 2)
    found = answers("import sys; sys.exit('SyntaxError: bad')")
    why = "it ended with status 1 and no answer; it complained: SyntaxError: bad"
    assert found == [why] * 2 + [f"not tried, after 2 others in vain; the last: {why}"] * 5


def test_an_endless_line_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "MAX_LINE_BYTES", 1000)
    assert (
        answers(READ + "while True: sys.stdout.write('x' * 1000)")[0]
        == "its answer has a line of more than 1,000 bytes"
    )


def test_a_command_is_read_as_a_person_writes_it_and_its_files_are_in_its_digest(tmp_path: Path) -> None:
    script = tmp_path / "my script.py"
    script.write_text("1")
    command = JsonCommand.of(f"{sys.executable} '{script}' --n 3")
    assert command.words == (sys.executable, str(script), "--n", "3")
    assert script in command.files
    before = command.digest
    script.write_text("2")
    assert JsonCommand.of(f"{sys.executable} '{script}' --n 3").digest != before


@pytest.mark.parametrize(
    ("text", "code", "why"),
    [
        ("no-such-program x", Exit.MISSING, "there is no program 'no-such-program' on this machine"),
        ("node 'x", Exit.USAGE, "cannot be read: No closing quotation"),
        (" ", Exit.USAGE, "there is none"),
    ],
)
def test_what_is_no_command_is_refused(text: str, code: Exit, why: str) -> None:
    with pytest.raises(GoldspanError, match=why) as refused:
        JsonCommand.of(text)
    assert refused.value.code == code


@pytest.mark.parametrize(
    ("stack", "shown"),
    [
        (
            'Traceback:\n  File "mine.py", line 7, in f\n    x[3]\nKeyError: 3',
            'File "mine.py", line 7, in f | x[3] | KeyError: 3',
        ),
        (
            "x\ny\nError: no\n    at a (mine.js:2:5)\n    at b\n}\n\nNode.js v20",
            "x | y | Error: no | at a (mine.js:2:5)",
        ),
        ("one\ntwo\nthree\nfour", "two | three | four"),
    ],
)
def test_the_error_is_shown_with_the_line_that_it_comes_from(stack: str, shown: str) -> None:
    _, why = JsonCommand((sys.executable, "-c", f"import sys; sys.exit({stack!r})")).run([{"id": "1"}])
    assert why.endswith(f"it complained: {shown}")
