"""Debian's Chromium through Playwright, on files and on a local host; any console error fails a test."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lake.store import Lake
from report.build import build
from tests.once import made_once
from tests.report.context_lake import write_context, write_official
from tests.report.hostile_lake import write_hostile
from tests.report.small_lake import write_lake
from tests.report.wide_lake import write_wide

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page, Request

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
N_SYSTEMS = 60
"""So many have budgets of weight to keep."""

PATIENCE = 60_000
"""Milliseconds that a test waits at most for what a page is to show: a busy machine is slow."""

AXE = Path(__file__).parent / "node_modules" / "axe-core" / "axe.min.js"


def wanting(what: str) -> None:
    """Tests that cannot run never pass in silence: in CI they fail, elsewhere they are skipped with the reason."""
    if os.environ.get("CI", "").lower() == "true":
        pytest.fail(what, pytrace=False)
    pytest.skip(what)


def chromium() -> str | None:
    """The browser's program, if it is installed."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    executable = chromium()
    if executable is None:
        wanting("no browser: install Debian's chromium (apt-get install chromium)")
    try:
        from playwright.sync_api import expect, sync_playwright
    except ImportError:
        wanting("no Playwright: pip install -r requirements-dev.txt")
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        # The pictures' converter has this process do without the machine's fonts.
        own: dict[str, str | float | bool] = {**os.environ}
        own.pop("FONTCONFIG_FILE", None)
        started = playwright.chromium.launch(executable_path=executable, args=FLAGS, env=own)
        yield started
        started.close()


@pytest.fixture(scope="session")
def axe() -> str:
    if not AXE.is_file():
        wanting("no axe-core: npm ci --prefix tests/browser")
    return AXE.read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory, "small", lambda root: write_official(write_context(write_lake(root))))


@pytest.fixture(scope="session")
def hostile_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    make = lambda root: write_hostile(write_official(write_context(write_lake(root))))  # noqa: E731  # said once
    return built(tmp_path_factory, "hostile", make)


@pytest.fixture(scope="session")
def wide_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory, "wide", lambda root: write_wide(root, n_items=16, n_systems=N_SYSTEMS))


def built(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], Lake]) -> Path:
    return made_once(factory, f"site {name}", lambda home: build(make(home / "lake"), home / "site")) / "site"


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the base class's own name
        """Say nothing."""


@pytest.fixture(scope="session", params=["file", "http"])
def scheme(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def base(site: Path) -> str:
    """The files of the small lakes' site, or of a module's own: a browser allows them less than a host."""
    return site.as_uri()


@contextmanager
def served(site: Path, scheme: str) -> Iterator[str]:
    if scheme == "file":
        yield site.as_uri()
        return
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    thread.join()
    server.server_close()


Opened = Callable[..., "Page"]


@pytest.fixture
def opened(browser: Browser, base: str) -> Iterator[Opened]:
    """Opens a page in a new context; at the end nothing may have been logged, refused or asked of elsewhere."""
    with watching(browser, base) as open_:
        yield open_


@contextmanager
def watching(browser: Browser, base: str) -> Iterator[Opened]:
    contexts = []
    wrong: list[str] = []

    def open_(path: str, **options: object) -> Page:
        context = browser.new_context(**options)  # type: ignore[arg-type]  # whatever Playwright takes
        contexts.append(context)
        context.set_default_timeout(PATIENCE)
        context.add_init_script(
            "addEventListener('securitypolicyviolation', e => console.error('policy: ' + e.violatedDirective))"
        )
        page = context.new_page()
        page.on("console", lambda message: wrong.append(message.text) if message.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("dialog", lambda shown: wrong.append(f"dialog: {shown.message}"))
        page.on("requestfailed", lambda sent: None if given_up(sent) else wrong.append(f"failed: {sent.url}"))
        page.on("request", lambda sent: None if sent.url.startswith(base) else wrong.append(f"asked: {sent.url}"))
        page.goto(f"{base}/{path}")
        return page

    yield open_
    for context in contexts:
        context.close()
    assert wrong == []


def given_up(request: Request) -> bool:
    """Whether the browser cancelled a request, as when a test leaves a page while its icon loads."""
    return request.failure == "net::ERR_ABORTED"


def downloaded(link: Locator, folder: Path) -> Path:
    """What a click downloads, in a folder under the name that the page gives it."""
    with link.page.expect_download() as started:
        link.click()
    file = folder / started.value.suggested_filename
    started.value.save_as(file)
    return file


def until(page: Page, script: str, given: object = None) -> None:
    """Wait for a script to say so; Playwright's own way evaluates texts in the page, which its policy forbids."""
    for _ in range(2_400):
        if page.evaluate(script, given):
            return
        page.wait_for_timeout(25)
    pytest.fail(f"never: {script}")
