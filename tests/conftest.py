"""Fixtures every test may ask for, and the rule that in CI no test may be skipped."""

import os
import shutil
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.engines import POOL, without_processes
from tests.once import made_once

# What builds lakes imports whole stages: where it is asked for, and not at every start.
ROOT = Path(__file__).parents[1]
SHARED = ROOT / "../shared/data"

SLOW = ("parity", "newcomer", "resilience", "browser")
"""Folders of tests that start a browser, many processes, or the code of others."""

# No example fails for the machine being slow; examples of one test may share its temporary folder.
UNHURRIED = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
settings.register_profile("goldspan", deadline=None, max_examples=25, suppress_health_check=UNHURRIED)
settings.load_profile("goldspan")

WITHOUT_EDITIONS = ("GOLDSPAN_PUBLISHED", "none")
"""What ships beside a lake's own results is on a site where a test asks for it."""
os.environ[WITHOUT_EDITIONS[0]] = WITHOUT_EDITIONS[1]

_skipped: list[str] = []


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("GOLDSPAN_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv(*WITHOUT_EDITIONS)


@pytest.fixture(scope="session", autouse=True)
def _work_is_done_here() -> Iterator[None]:
    with without_processes():
        yield


@pytest.fixture
def processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(POOL, ProcessPoolExecutor)


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real benchmark data; where it is not there, the test is skipped."""
    if not SHARED.is_dir():
        pytest.skip("../shared/data, the real benchmark data, is not there")
    return SHARED.resolve()


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A small RepoEval in upstream layout: five tasks, two repositories."""
    from tests.tiny import build

    return build(tmp_path / "source")


@pytest.fixture(scope="session")
def _made_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    def make(home: Path) -> None:
        from tests.tiny import CHUNKERS, build, command

        given = ("--source", build(home / "source"), "--chunkers", ",".join(CHUNKERS), "--lake", home / "lake")
        for stage, *arguments in (("ingest", "repoeval", *given), ("evaluate", "--lake", home / "lake")):
            command(str(stage), *arguments).done()

    return made_once(tmp_path_factory, "tiny", make)


@pytest.fixture(scope="session")
def sample_contextbench(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample's ContextBench in a lake that is read and not written; what the command said is beside it."""
    return made_once(tmp_path_factory, "sample", lambda home: _contextbench(home))


@pytest.fixture(scope="session")
def real_contextbench(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same of the real rows, repositories and runs: parsing these takes a minute."""
    return made_once(tmp_path_factory, "real", lambda home: _contextbench(home, "--source", shared))


def _contextbench(home: Path, *source: object) -> None:
    from lake.errors import Exit
    from tests.tiny import command

    run = command("ingest", "contextbench", *source, "--chunkers", "whole-file", "--lake", home / "lake")
    assert run.code in (Exit.DONE, Exit.INCOMPLETE), run.err
    (home / "said").write_text(run.err, encoding="utf-8")


@pytest.fixture
def lake_folder(_made_once: Path, tmp_path: Path) -> Path:
    """A lake into which the small RepoEval was ingested and evaluated; each test has a copy of its own."""
    return shutil.copytree(_made_once / "lake", tmp_path / "ready")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what reads the real data, and what is slow; where that data is not there, CI picks no test of it.

    The folders of slow tests come first: one of their files, begun last, would keep one process busy alone.
    """
    items.sort(key=lambda item: _folder(item) not in SLOW)
    for item in items:
        if "shared" in getattr(item, "fixturenames", ()):
            item.add_marker("shared")
        if item.get_closest_marker("shared") or _folder(item) in SLOW:
            item.add_marker("slow")
        if _folder(item) == "browser":
            # A page on a machine at work may take longer than a test waits: once more, and the closing line counts it.
            item.add_marker(pytest.mark.flaky(reruns=1))
    if _in_ci() and not SHARED.is_dir():
        unread = [item for item in items if item.get_closest_marker("shared")]
        config.hook.pytest_deselected(items=unread)
        items[:] = [item for item in items if item not in unread]


def _folder(item: pytest.Item) -> str:
    return item.path.relative_to(ROOT / "tests").parts[0]


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.skipped and not hasattr(report, "wasxfail"):
        _skipped.append(report.nodeid)


def pytest_collectreport(report: pytest.CollectReport) -> None:
    """A file skipped as a whole counts as well."""
    if report.skipped:
        _skipped.append(report.nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: object) -> None:
    """Of tests that ran in several processes, what each of these skipped."""
    _skipped.extend(name for name in getattr(node, "workeroutput", {}).get("skipped", ()) if name not in _skipped)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """In CI a skipped test is a failure: what was not run proves nothing."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["skipped"] = _skipped
    if _in_ci() and _skipped and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if _in_ci() and _skipped:
        terminalreporter.section("skipped in CI, which counts as failed")
        for name in _skipped:
            terminalreporter.line(name)


def _in_ci() -> bool:
    return os.environ.get("CI", "").lower() in {"1", "true", "yes"}
