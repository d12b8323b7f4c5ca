"""The site at the published size of RepoBench-R: what building it takes, what it weighs, how fast its pages answer."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tests.bench import MEGABYTE, Bench, Row, Settings, Target
from tests.bench._measure import STAGES, Job, call, command, row

if TYPE_CHECKING:
    from playwright.sync_api import Page as Tab

N_ITEMS, N_SYSTEMS, PROTOCOL, ITEMS_OF_A_REPO = 192_000, 20, "repobench-r@official-v1", 64
BUILD = {"seconds": 600, "peak_mb": 8_000, "disk_mb": 60}
REAL, UNCHANGED = {"seconds": 20}, {"seconds": 1}
SLOWDOWN = 4
INTERACTIVE, SORTED, FLIPS = {"seconds": 1}, {"seconds": 0.1}, {"seconds": 1.5}
"""At a processor so many times slower than this one."""


def run(settings: Settings, folder: Path) -> Iterator[Row]:
    """The large site, then its pages in a browser; where a source is given, the site of its data."""
    lake, site = folder / "lake", folder / "site"
    size = f"{settings.rows[0] if settings.rows else N_ITEMS:,} items x {N_SYSTEMS} systems"
    call(write, lake, *settings.rows[:1])
    build = ["-m", "report", "--lake", str(lake), "--site", str(site), "--json", "--quiet"]
    built = command(build)
    yield row(size, built, disk_mb=_written(site), target=BUILD)
    yield row(f"{size}: nothing changed", command(build))
    yield from _in_a_browser(site)
    if not settings.is_sample:
        yield from _real(settings, folder / "real")


def write(folder: str, n_items: str = str(N_ITEMS)) -> None:
    """The made-up lake."""
    from tests.report.wide_lake import write_wide

    write_wide(
        Path(folder), n_items=int(n_items), n_systems=N_SYSTEMS, names=[PROTOCOL], items_of_a_repo=ITEMS_OF_A_REPO
    )


def _written(site: Path) -> float:
    return sum(path.stat().st_size for path in site.rglob("*") if path.is_file()) / MEGABYTE


def _real(settings: Settings, folder: Path) -> Iterator[Row]:
    """The site of all data that the source holds, then with nothing changed."""
    job = Job(settings, folder)
    for stage in STAGES[:-1]:
        job.stage(stage)
    for what, target in (("made", REAL), ("nothing changed", UNCHANGED)):
        built = job.stage("report")
        yield row(f"the source's site: {what}", built, disk_mb=_written(folder / "site"), target=target)
    shutil.rmtree(folder)


def _in_a_browser(site: Path) -> Iterator[Row]:
    """Pages over loopback HTTP at a slowed processor: the middle of five attempts."""
    from playwright.sync_api import sync_playwright

    from tests.browser.conftest import FLAGS, chromium, served

    executable = chromium()
    if executable is None:
        yield Row("in a browser", failed="no browser: install Debian's chromium (apt-get install chromium)")
        return
    with served(site, "http") as base, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=FLAGS)
        for what, measure, target in _MEASURES:
            attempts = sorted(_slowed(browser.new_page(), partial(measure, base)) for _ in range(5))
            yield Row(f"at 1/{SLOWDOWN} speed: {what}", {"seconds": attempts[2]}, target)
        browser.close()


def _slowed(tab: Tab, measure: Callable[[Tab], float]) -> float:
    tab.context.new_cdp_session(tab).send("Emulation.setCPUThrottlingRate", {"rate": SLOWDOWN})
    try:
        return measure(tab)
    finally:
        tab.close()


def _interactive(base: str, tab: Tab) -> float:
    """Until the page is parsed and its scripts, which are at its end or deferred, have run."""
    tab.goto(f"{base}/repobench-r.html")
    timing = "performance.getEntriesByType('navigation')[0]"
    return float(tab.evaluate(f"{timing}.domContentLoadedEventEnd - {timing}.startTime")) / 1000


_SORT = """() => {
  const table = [...document.querySelectorAll('table[data-main]')].find(each => each.getClientRects().length);
  const button = table.querySelector('th.primary button');
  const started = performance.now();
  button.click();
  document.body.getBoundingClientRect();
  return performance.now() - started;
}"""


def _sorted(base: str, tab: Tab) -> float:
    """From the click to the new layout."""
    tab.goto(f"{base}/repobench-r.html#rows=all&sort=system")
    tab.wait_for_selector("table[data-main] th[aria-sort][data-key=system]")
    return float(tab.evaluate(_SORT)) / 1000


_WATCH_FLIPS = """
new MutationObserver(() => {
  if (!window.flipsAt && document.querySelector("#flips-table tbody tr")) window.flipsAt = performance.now();
}).observe(document, {childList: true, subtree: true});
"""


def _flips(base: str, tab: Tab) -> float:
    """From opening the page of comparisons to the list of the items on which its two systems differ."""
    tab.add_init_script(_WATCH_FLIPS)
    tab.goto(f"{base}/compare.html")
    tab.wait_for_selector("#flips-table tbody tr")
    return float(tab.evaluate("window.flipsAt")) / 1000


_MEASURES: tuple[tuple[str, Callable[[str, Tab], float], Target], ...] = (
    ("a leaderboard is interactive", _interactive, INTERACTIVE),
    ("a leaderboard's rows are sorted", _sorted, SORTED),
    (f"flips of two systems over {N_ITEMS:,} items are listed", _flips, FLIPS),
)

SITE = Bench(
    name="site",
    title="the site of 192,000 items and 20 systems",
    method="a made-up lake of RepoBench-R's shape, written beforehand; whole processes; without item texts. A page's "
    "times are the middle of five in headless Chromium with its processor slowed; ROWS=12000 for another size.",
    run=run,
)
