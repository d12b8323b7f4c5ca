import json
from pathlib import Path

import pytest

from lake.errors import Exit
from lake.store import Lake
from report.build import build
from report.folder import manifest_in
from tests.frames import write
from tests.report.html import parse, table
from tests.report.small_lake import CHUNKING, run_id, write_boards, write_run, write_scores
from tests.tiny import command, put

BM25 = "fixed-nws-1500+bm25-okapi"
JACCARD = "fixed-nws-1500+jaccard"


def changed(lake: Lake) -> Lake:
    """A number another, one another from the seventh digit on, a system new and one gone."""
    write_scores(lake, BM25, CHUNKING, 0.7)
    write_scores(lake, JACCARD, CHUNKING, 0.5871001)
    write_run(lake, "added+bm25-okapi")
    write_scores(lake, "added+bm25-okapi", CHUNKING, 0.25)
    for name in ("runs", "scores", "aggregates"):
        for part in lake.parts(name, run_id=run_id("window-20-10+bm25-okapi")):
            lake.remove(part)
    return write_boards(lake)


def test_changes_are_told_largest_first_and_alike_in_every_build(small: Lake, built: Path, tmp_path: Path) -> None:
    lake = changed(small)
    for name in ("a", "b"):
        command("report", "--lake", lake.root, "--site", tmp_path / name, "--since", built).done()
    files = {path.relative_to(tmp_path / "a"): path.read_bytes() for path in (tmp_path / "a").rglob("*.*")}
    assert all((tmp_path / "b" / name).read_bytes() == content for name, content in files.items())
    page = parse(files[Path("index.html")].decode())
    assert table(page, "4 systems")[1:] == [
        ["added+bm25-okapi", "–", "0.250", "new"],
        ["window-20-10+bm25-okapi", "0.732", "–", "gone"],
        [BM25, "0.625", "0.700", "not known"],
        [JACCARD, "0.5871", "0.5871001", "not known"],
    ]
    rows = {file: (before, now) for file, before, now in table(page, "Files added")[1:]}
    assert rows["data/scores.parquet"] == ("325", "300")
    assert "data/benchmarks.parquet" not in rows
    stored = json.loads(files[Path("changes.json")])
    assert [board["why"] for board in stored["boards"]] == ["", ""]
    assert stored["boards"][0]["systems"][2]["size"] == pytest.approx(0.0746)
    command("report", "--lake", lake.root, "--site", tmp_path / "a", "--since", tmp_path / "b/manifest.json").done()
    assert "No system was added or removed, and no number changed." in (tmp_path / "a/index.html").read_text()


def test_other_data_and_other_rules_are_named(small: Lake, built: Path, tmp_path: Path) -> None:
    (benchmark,) = small.read("benchmarks").to_dicts()
    write(small, "benchmarks", [{**benchmark, "revision": "abc"}])
    protocols = small.read("protocols").to_dicts()
    write(small, "protocols", [{**row, "hash": "0ther"} if row["name"] == CHUNKING else row for row in protocols])
    build(small, tmp_path / "site", since=manifest_in(built / "manifest.json"))
    stored = json.loads((tmp_path / "site/changes.json").read_text())
    data = "other data: sample 35f54d6, 5 items before, sample abc, 5 items now"
    assert [board["why"] for board in stored["boards"]] == [
        f"{data}; other rules: protocol c0ffee11c0ffee11 before, 0ther now",
        data,
    ]


def test_the_versions_of_many_packages_stand_on_the_data_page_alone(small: Lake, tmp_path: Path) -> None:
    (benchmark,) = small.read("benchmarks").to_dicts()
    write(small, "benchmarks", [{**benchmark, "revision": "attrs==26.1.0 click==8.5.1"}])
    build(small, tmp_path / "site")
    board, data = ((tmp_path / "site" / name).read_text() for name in ("repoeval.html", "data.html"))
    assert "click==8.5.1" in data
    assert "click==8.5.1" not in board
    assert 'href="data.html#sources">versions</a>' in board


def test_a_build_that_nobody_asks_says_nothing_of_changes(built: Path) -> None:
    assert not (built / "changes.json").exists()
    assert "What changed" not in (built / "index.html").read_text()


def test_a_manifest_may_lack_numbers_and_other_files_are_refused(small: Lake, built: Path, tmp_path: Path) -> None:
    manifest = json.loads((built / "manifest.json").read_text())

    def told(content: bytes) -> tuple[int, str]:
        file = put(tmp_path / "given.json", content)
        answer = command("report", "--lake", small.root, "--site", tmp_path / "site", "--since", file)
        assert "Traceback" not in answer.err
        return answer.code, answer.err

    old = {key: value for key, value in manifest.items() if key != "numbers"}
    assert told(json.dumps(old).encode())[0] == Exit.DONE
    assert "That build kept no numbers to compare with." in (tmp_path / "site/index.html").read_text()
    for content in (b"", b"[]", b"\xff", b"[" * 100_000, json.dumps({**old, "files": 3}).encode()):
        code, err = told(content)
        assert (code, "--since cannot be read" in err) == (Exit.INVALID, True), err
    for wrong in ({"numbers": {"x": 1}}, {"files": {"data/x.parquet": {"rows": "many"}}}):
        assert told(json.dumps({**manifest, **wrong}).encode())[0] == Exit.INVALID
    missing = command("report", "--lake", small.root, "--site", tmp_path / "site", "--since", tmp_path / "none")
    assert missing.code == Exit.MISSING
