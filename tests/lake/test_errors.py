import subprocess
import sys
from pathlib import Path

import pytest

from lake.errors import Exit, typed
from tests.tiny import ROOT, command

PYTHON = "env/bin/python"


@pytest.fixture(autouse=True)
def _python_below(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "executable", str(tmp_path / PYTHON))


@pytest.mark.parametrize(
    ("written", "completed"),
    [
        ("First: make ingest evaluate CHUNKERS=x.", "First: make ingest evaluate LAKE='a b' SITE=out CHUNKERS=x."),
        ("make report", "make report LAKE='a b' SITE=out"),
        ("make chunkers", "make chunkers"),
        ("python -m evaluate table x", f"GOLDSPAN_LAKE='a b' {PYTHON} -m evaluate table x"),
        ("`python -m evaluate list tasks` shows", f"`GOLDSPAN_LAKE='a b' {PYTHON} -m evaluate list tasks` shows"),
        ("python -m evaluate --vectors F", f"GOLDSPAN_LAKE='a b' {PYTHON} -m evaluate --vectors F"),
        ("python -m ingest run f --lake L", f"{PYTHON} -m ingest run f --lake L"),
        ("python -m pip install x", f"{PYTHON} -m pip install x"),
    ],
)
def test_a_hint_is_completed(written: str, completed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["evaluate", "--lake", "a b"])
    monkeypatch.setenv("GOLDSPAN_SITE", "out")
    assert typed(written) == completed


def test_without_flags_only_this_python_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["evaluate"])
    assert typed("make evaluate, python -m ingest verify") == f"make evaluate, {PYTHON} -m ingest verify"
    monkeypatch.setattr(sys, "executable", "/opt/python")
    assert typed("python -m ingest") == "/opt/python -m ingest"


def test_an_error_names_the_lake_that_was_given(tmp_path: Path) -> None:
    run = command("evaluate", "--lake", tmp_path / "none")
    assert (run.code, run.out, (tmp_path / "none").exists()) == (Exit.MISSING, "", False)
    assert "the lake holds no benchmark" in run.err
    assert run.err.splitlines()[-1] == f"  First: make ingest LAKE={tmp_path}/none"


@pytest.mark.parametrize("stage", ["ingest", "evaluate", "report"])
def test_a_python_without_the_libraries_ends_in_a_sentence(stage: str) -> None:
    # -S leaves the installed packages out.
    words = [sys.base_prefix + "/bin/python3", "-S", "-m", stage, "--limit", "5"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 4
    assert "Traceback" not in done.stderr
    assert done.stderr.rstrip().endswith(f".venv/bin/python -m {stage} --limit 5")
