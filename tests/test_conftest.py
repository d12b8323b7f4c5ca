"""The rule that in CI a skipped test is a failure, and that tests of data that is not there are not picked."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import settings

from tests.tiny import ROOT

pytestmark = pytest.mark.slow

TESTS = """
import pytest
from hypothesis import settings

def test_runs() -> None:
    pass

@pytest.mark.xfail(reason="expected")
def test_expected_to_fail() -> None:
    raise AssertionError
"""
SKIPPED = (
    TESTS
    + """
def test_skipped() -> None:
    pytest.skip("why")
"""
)
REAL = (
    TESTS
    + """
def test_real(shared) -> None:
    pass
"""
)


def _pytest(folder: Path, text: str, *arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    (folder / "tests").mkdir(exist_ok=True)
    for name in ("tests/conftest.py", "tests/tiny.py", "pyproject.toml"):
        shutil.copy(ROOT / name, folder / name)
    for name in ("lake", "ingest"):
        if not (folder / name).exists():
            (folder / name).symlink_to(ROOT / name)
    (folder / "tests/test_it.py").write_text(text)
    environment = {name: value for name, value in os.environ.items() if name != "CI"} | settings
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(("ci", "code"), [("true", 1), ("false", 0)])
def test_a_skipped_test_fails_ci_alone_and_is_named(tmp_path: Path, ci: str, code: int) -> None:
    done = _pytest(tmp_path, SKIPPED, CI=ci)
    assert done.returncode == code, done.stdout + done.stderr
    assert "1 passed, 1 skipped, 1 xfailed" in done.stdout
    assert ("skipped in CI, which counts as failed" in done.stdout) == bool(code)


@pytest.mark.parametrize("text", [SKIPPED, "import pytest\npytest.skip('why', allow_module_level=True)\n"])
def test_what_is_skipped_in_another_process_fails_ci_too(tmp_path: Path, text: str) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/test_other.py").write_text("def test_runs() -> None:\n    pass\n")
    done = _pytest(tmp_path, text, "-n", "2", "--dist", "loadfile", CI="true")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "skipped in CI, which counts as failed" in done.stdout
    assert done.stdout.count("tests/test_it.py") >= 2


def test_in_ci_tests_of_data_that_is_not_there_are_not_picked(tmp_path: Path) -> None:
    done = _pytest(tmp_path, REAL, CI="true")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed, 1 deselected, 1 xfailed" in done.stdout


def test_elsewhere_they_are_skipped_with_the_reason(tmp_path: Path) -> None:
    done = _pytest(tmp_path, REAL)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "../shared/data, the real benchmark data, is not there" in done.stdout


def test_what_is_slow_is_picked_by_its_folder_and_by_the_data_that_it_reads(tmp_path: Path) -> None:
    (tmp_path / "tests/browser").mkdir(parents=True)
    (tmp_path / "tests/browser/test_page.py").write_text("def test_page() -> None:\n    pass\n")
    assert "1 passed, 2 deselected, 1 xfailed" in _pytest(tmp_path, REAL, "-m", "not slow").stdout
    assert "1 passed, 1 skipped, 2 deselected" in _pytest(tmp_path, REAL, "-m", "slow").stdout


def test_no_test_of_examples_has_a_deadline() -> None:
    assert settings.default is not None
    assert settings.default.deadline is None
    for path in (ROOT / "tests").rglob("test_*.py"):
        if path.name != Path(__file__).name:
            assert "deadline=" not in path.read_text(encoding="utf-8"), path
