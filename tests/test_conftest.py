"""The rule that in CI a skipped test is a failure, and that tests of data that is not there are not picked."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import settings

from tests.tiny import ROOT, put

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
    for name in ("tests/conftest.py", "tests/engines.py", "tests/once.py", "pyproject.toml"):
        shutil.copy(ROOT / name, folder / name)
    if not (folder / "lake").exists():
        (folder / "lake").symlink_to(ROOT / "lake")
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


def test_in_ci_what_is_skipped_in_any_process_is_named_and_fails(tmp_path: Path) -> None:
    put(tmp_path / "tests/test_other.py", b"import pytest\n\npytest.skip('why', allow_module_level=True)\n")
    done = _pytest(tmp_path, SKIPPED, "-n", "2", "--dist", "loadfile", CI="true")
    assert done.returncode == 1, done.stdout + done.stderr
    _, _, named = done.stdout.partition("skipped in CI, which counts as failed")
    assert "tests/test_it.py::test_skipped" in named
    assert "tests/test_other.py" in named


def test_elsewhere_skips_pass_and_say_why(tmp_path: Path) -> None:
    done = _pytest(tmp_path, SKIPPED + REAL.removeprefix(TESTS))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed, 2 skipped, 1 xfailed" in done.stdout
    assert "../shared/data, the real benchmark data, is not there" in done.stdout
    assert "counts as failed" not in done.stdout


def test_in_ci_tests_of_data_that_is_not_there_are_not_picked(tmp_path: Path) -> None:
    done = _pytest(tmp_path, REAL, CI="true")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed, 1 deselected, 1 xfailed" in done.stdout


def test_what_is_slow_is_picked_by_its_folder_and_by_the_data_that_it_reads(tmp_path: Path) -> None:
    put(tmp_path / "tests/browser/test_page.py", b"def test_page() -> None:\n    pass\n")
    assert "1 passed, 2 deselected, 1 xfailed" in _pytest(tmp_path, REAL, "-m", "not slow").stdout
    assert "1 passed, 1 skipped, 2 deselected" in _pytest(tmp_path, REAL, "-m", "slow").stdout


def test_no_test_of_examples_has_a_deadline() -> None:
    assert settings.default is not None
    assert settings.default.deadline is None
    for path in (ROOT / "tests").rglob("test_*.py"):
        if path.name != Path(__file__).name:
            assert "deadline=" not in path.read_text(encoding="utf-8"), path
