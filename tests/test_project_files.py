import os
import re
import subprocess
import tomllib

import pytest
import yaml

from tests.tiny import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
VERBS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))


def test_the_citation_is_of_this_version_and_licence() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert (citation["version"], citation["license"]) == (PROJECT["version"], PROJECT["license"])
    assert citation["cff-version"] == "1.2.0"
    assert {"message", "title", "authors", "type"} <= citation.keys()


@pytest.mark.parametrize("name", ["tests", "submission", "publish"])
def test_a_workflow_runs_verbs_that_there_are(name: str) -> None:
    workflow = yaml.safe_load((ROOT / f".github/workflows/{name}.yml").read_text())
    steps = [step.get("run", "") for job in workflow["jobs"].values() for step in job["steps"]]
    verbs = {verb for step in steps for called in re.findall(r"\bmake ([a-z -]+)", step) for verb in called.split()}
    assert verbs
    assert verbs <= VERBS


def test_pull_requests_are_tested_as_the_project_tests_itself() -> None:
    workflow = yaml.safe_load((ROOT / ".github/workflows/tests.yml").read_text())
    # YAML 1.1 reads the key `on` as a truth.
    assert "pull_request" in workflow[True]
    steps = " ".join(step.get("run", "") for job in workflow["jobs"].values() for step in job["steps"])
    in_ci = re.findall(r"^make (test|test-slow|check)$", (ROOT / ".ci/run").read_text(), re.MULTILINE)
    assert len(in_ci) == 3
    assert all(f"make {verb}" in steps for verb in in_ci)


def make(*words: str, shell: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    told = ["make", "--no-print-directory", "--dry-run", *words]
    return subprocess.run(told, cwd=ROOT, env={**os.environ, **(shell or {})}, capture_output=True, text=True)


def test_variables_of_the_command_line_reach_the_stages_and_those_of_the_shell_do_not() -> None:
    outside = {name: value for name, value in os.environ.items() if not name.startswith("GOLDSPAN_")}
    shell = {**outside, "DEBUG": "1", "SITE": "/somewhere", "GOLDSPAN_LIMIT": "7"}
    made = ["make", "--no-print-directory", "--eval", "said: ; @env", "said"]
    words = [*made, "SOURCE=a folder", "ITEMS=repo=x,split=test"]
    printed = subprocess.run(words, cwd=ROOT, env=shell, capture_output=True, text=True, check=True).stdout
    ours = dict(line.split("=", 1) for line in printed.splitlines() if line.startswith("GOLDSPAN_"))
    assert ours == {"GOLDSPAN_SOURCE": "a folder", "GOLDSPAN_ITEMS": "repo=x,split=test", "GOLDSPAN_LIMIT": "7"}


@pytest.mark.parametrize(("typed", "close"), [("SOURCES", "SOURCE"), ("SYSTEM", "SYSTEMS"), ("TIMOUT", "TIMEOUT")])
def test_an_unknown_variable_is_refused_with_the_one_that_may_be_meant(typed: str, close: str) -> None:
    run = make("ingest", f"{typed}=x")
    assert (run.returncode, run.stdout) == (2, "")
    assert f"unknown variable {typed}; did you mean {close}?" in run.stderr


def test_a_flag_of_the_shell_is_said_not_to_be_taken_in_one_line() -> None:
    run = make("ingest", "report", shell={"LAKE": "x", "DEBUG": "1"})
    assert (run.returncode, run.stderr.count("\n")) == (0, 1)
    assert "not taken from the shell: DEBUG LAKE." in run.stderr
    assert make("ingest", "LAKE=y", shell={"LAKE": "x"}).stderr == ""
    assert make("help", shell={"LAKE": "x"}).stderr == ""
