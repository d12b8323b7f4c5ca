import os
import subprocess

import pytest

from tests.tiny import ROOT


def make(*words: str, shell: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    told = ["make", "--no-print-directory", "--dry-run", *words]
    return subprocess.run(told, cwd=ROOT, env={**os.environ, **(shell or {})}, capture_output=True, text=True)


def test_variables_of_the_command_line_reach_the_stages_and_those_of_the_shell_do_not() -> None:
    outside = {name: value for name, value in os.environ.items() if not name.startswith("GOLDSPAN_")}
    shell = {**outside, "DEBUG": "1", "SITE": "/somewhere", "GOLDSPAN_LIMIT": "7"}
    words = [
        "make",
        "--no-print-directory",
        "--eval",
        "said: ; @env",
        "said",
        "SOURCE=a folder",
        "ITEMS=repo=x,split=test",
    ]
    printed = subprocess.run(words, cwd=ROOT, env=shell, capture_output=True, text=True, check=True).stdout
    ours = dict(line.split("=", 1) for line in printed.splitlines() if line.startswith("GOLDSPAN_"))
    assert ours == {"GOLDSPAN_SOURCE": "a folder", "GOLDSPAN_ITEMS": "repo=x,split=test", "GOLDSPAN_LIMIT": "7"}


@pytest.mark.parametrize(("typed", "close"), [("SOURCES", "SOURCE"), ("SYSTEM", "SYSTEMS"), ("TIMOUT", "TIMEOUT")])
def test_an_unknown_variable_is_refused_with_the_one_that_may_be_meant(typed: str, close: str) -> None:
    said = make("ingest", f"{typed}=x")
    assert (said.returncode, said.stdout) == (2, "")
    assert f"unknown variable {typed}; did you mean {close}?" in said.stderr


def test_a_variable_that_is_like_none_is_refused_too() -> None:
    assert "unknown variable QQ." in make("ingest", "QQ=1").stderr


def test_a_flag_of_the_shell_is_said_not_to_be_taken_in_one_line() -> None:
    said = make("ingest", "report", shell={"LAKE": "x", "DEBUG": "1"})
    assert (said.returncode, said.stderr.count("\n")) == (0, 1)
    assert "not taken from the shell: DEBUG LAKE." in said.stderr
    assert make("ingest", "LAKE=y", shell={"LAKE": "x"}).stderr == ""
    assert make("help", shell={"LAKE": "x"}).stderr == ""
