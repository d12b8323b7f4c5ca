import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tiny import ROOT, put

pytestmark = pytest.mark.slow

TESTS = """
import pytest


def test_runs() -> None:
    pass


@pytest.mark.xfail(reason="expected")
def test_expected_to_fail() -> None:
    raise AssertionError


def test_real(shared) -> None:
    pass
"""
SKIPPED = f"{TESTS}\n\ndef test_skipped() -> None:\n    pytest.skip('why')\n"


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
    _, _, skipped = done.stdout.partition("skipped in CI, which counts as failed")
    assert "tests/test_it.py::test_skipped" in skipped
    assert "tests/test_other.py" in skipped


def test_what_reads_data_that_is_not_there_is_not_picked_in_ci_and_slow_elsewhere(tmp_path: Path) -> None:
    assert "1 passed, 1 deselected, 1 xfailed" in _pytest(tmp_path, TESTS, CI="true").stdout
    put(tmp_path / "tests/browser/test_page.py", b"def test_page() -> None:\n    pass\n")
    assert "1 passed, 2 deselected, 1 xfailed" in _pytest(tmp_path, TESTS, "-m", "not slow").stdout
    assert "1 passed, 1 skipped, 2 deselected" in _pytest(tmp_path, TESTS, "-m", "slow").stdout
