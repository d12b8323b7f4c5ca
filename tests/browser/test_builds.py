import re
import shutil
from pathlib import Path

from lake.store import Lake
from report.build import build
from tests.report.small_lake import CHUNKING, write_boards, write_scores
from tests.report.test_build import files
from tests.tiny import python


def test_a_process_with_other_hashes_and_threads_writes_the_same_bytes(hostile_site: Path, tmp_path: Path) -> None:
    settings = {"PYTHONHASHSEED": "7", "POLARS_MAX_THREADS": "3", "TZ": "Asia/Kathmandu", "LANG": "C"}
    lake = hostile_site.parent / "lake"
    python("-m", "report", "--lake", lake, "--site", tmp_path / "site", "--quiet", **settings).done()
    ours, theirs = files(hostile_site), files(tmp_path / "site")
    assert [name for name in {*ours, *theirs} if ours.get(name) != theirs.get(name)] == []


SYSTEM = "fixed-nws-1500+jaccard"
OLD, NEW = re.compile(r"\b0?\.5871?\b"), re.compile(r"\b0?\.6071?\b")
"""Its number before and after, between the same neighbours."""
KEPT = {"manifest.json", "data.html"}
"""What says of every file how large it is, and of tables their first rows."""
FOOTER = re.compile(r"<footer>.*?</footer>", re.DOTALL)


def test_one_changed_value_changes_wherever_it_is_shown_and_nothing_else(hostile_site: Path, tmp_path: Path) -> None:
    shutil.copytree(hostile_site.parent / "lake", tmp_path / "lake")
    lake = Lake(tmp_path / "lake")
    write_scores(lake, SYSTEM, CHUNKING, 0.6071, fingerprint="changed")
    build(write_boards(lake), tmp_path / "site")
    before, after = _texts(hostile_site), _texts(tmp_path / "site")
    assert before.keys() == after.keys()
    showing = {name for name, text in before.items() if OLD.search(text)}
    assert {"index.html", "repoeval.html", "systems/fixed-nws-1500-jaccard.html"} <= showing
    assert {name for name, text in after.items() if OLD.search(text)} == set()
    assert {name for name in showing if not NEW.search(after[name])} == set()
    changed = {name for name in before if before[name] != after[name]}
    assert showing <= changed
    # Elsewhere it moves a median, a difference or a mark: of its own benchmark alone.
    other = [name for name in changed - showing - KEPT if "contextbench" in name or "hostile" in name]
    assert other == []
    assert {name for name in changed - showing - KEPT if not OF_BENCHMARK.search(before[name] + name)} == set()


OF_BENCHMARK = re.compile("repoeval|RepoEval")


def _texts(site: Path) -> dict[str, str]:
    """Every file that is no picture or table, without the footer, whose hashes name the build."""
    endings = {".html", ".js", ".json", ".csv", ".svg"}
    return {
        name: FOOTER.sub("", content.decode())
        for name, content in files(site).items()
        if Path(name).suffix in endings and not name.startswith("static/")
    }
