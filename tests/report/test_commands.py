import json
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from lake.errors import Exit
from lake.store import Lake
from tests.tiny import ROOT, command, python

pytestmark = pytest.mark.slow


def test_build_says_what_it_did_and_then_that_it_stands(small: Lake, tmp_path: Path) -> None:
    first = python("-W", "error", "-m", "report", "--lake", small.root, "--site", tmp_path / "site")
    n_pages = len(list((tmp_path / "site").rglob("*.html")))
    assert first.done(f"report: {n_pages} of {n_pages} pages; files: ").out == ""
    second = command("report", "--lake", small.root, "--site", tmp_path / "site", "--json").done()
    outcome = json.loads(second.out)
    assert (outcome["expected"], outcome["scored"], outcome["made"]) == (n_pages, n_pages, 0)


@pytest.mark.parametrize(("what", "name"), [("pages", "leaderboard"), ("formats", "trec")])
def test_list_says_what_there_is(what: str, name: str) -> None:
    done = command("report", "list", what, "--format", "json")
    assert name in [row["name"] for row in json.loads(done.out)]


def test_a_full_disk_is_said_and_the_site_before_is_left(small: Lake, site: Path, tmp_path: Path) -> None:
    (site / "index.html").write_text("changed, so that it is built again")
    done = subprocess.run(
        [sys.executable, "-m", "report", "--lake", str(small.root), "--site", str(site)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (3_000, 3_000)),
    )
    assert done.returncode == Exit.ERROR
    assert done.stderr.startswith("report: the site could not be written: ")
    assert "bug in Goldspan" not in done.stderr
    assert (site / "manifest.json").is_file()
    assert [path.name for path in tmp_path.iterdir() if path.name.endswith(".new")] == []
