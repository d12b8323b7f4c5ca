import json
import re
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


@pytest.mark.parametrize("name", ["add-a-system", "wrong-number"])
def test_a_template_asks_for_what_is_needed(name: str) -> None:
    template = yaml.safe_load((ROOT / f".github/ISSUE_TEMPLATE/{name}.yml").read_text())
    assert template["name"]
    assert template["description"]
    asked = [part for part in template["body"] if part["type"] != "markdown"]
    assert all(part["attributes"]["label"] for part in asked)
    assert sum(part.get("validations", {}).get("required", False) for part in asked) >= 3


def test_the_development_container_makes_what_the_makefile_knows() -> None:
    container = json.loads((ROOT / ".devcontainer/devcontainer.json").read_text())
    assert "make .venv/.dev" in container["postCreateCommand"]
    assert ".venv/.dev:" in (ROOT / "Makefile").read_text() or ".venv/.%" in (ROOT / "Makefile").read_text()
