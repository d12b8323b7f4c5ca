import hashlib
import json
import re
from pathlib import Path

import polars as pl
import pytest

from lake.errors import Exit, GoldspanError
from lake.fingerprint import sha256_of_file
from lake.store import Lake
from report import build as building
from report.build import build
from tests.frames import change, write
from tests.report.html import page_of, parse, table
from tests.report.small_lake import (
    CHUNKING,
    PRIMARY,
    aggregated,
    run_id,
    write_benchmark,
    write_boards,
    write_lake,
    write_scores,
)
from tests.tiny import refused

pytestmark = pytest.mark.slow


def files(site: Path) -> dict[str, bytes]:
    return {path.relative_to(site).as_posix(): path.read_bytes() for path in sorted(site.rglob("*")) if path.is_file()}


def test_two_lakes_of_one_content_give_one_site(built: Path, tmp_path: Path) -> None:
    build(write_lake(tmp_path / "again"), tmp_path / "b")
    assert files(built) == files(tmp_path / "b")


def test_sites_of_lakes_with_other_costs_differ_only_in_costs(small: Lake, built: Path, tmp_path: Path) -> None:
    change(small, "costs", query_seconds=pl.col("query_seconds") * 7)
    build(small, tmp_path / "b")
    a, b = files(built), files(tmp_path / "b")
    assert a.keys() == b.keys()
    differing = {name for name in a if a[name] != b[name] and not re.search("figures/.*-time[.]", name)}
    boards = {"repoeval.html", "repoeval-all.html"}
    measured = {name for name in differing if name in boards or name.startswith("systems/")}
    costs = {f"boards/repoeval/{name}/costs.js" for name in ("chunking-v1", "target-v1")}
    assert differing - measured == {"data/costs.parquet", "data/croissant.json", "data.html", "manifest.json"} | costs
    assert boards | {"systems/fixed-nws-1500-jaccard.html"} <= measured
    assert all(MEASURED.sub(b"", a[name]) == MEASURED.sub(b"", b[name]) for name in measured)
    pages = [text["data.html"].decode().splitlines() for text in (a, b)]
    changed = [line for line, beside in zip(*pages, strict=True) if line != beside]
    # The file and its first rows.
    assert [line for line in changed if not re.search("costs.parquet|query_p[59]|in all", line)] == []


MEASURED = re.compile(rb"<(td|figure|span) data-measured>.*?</\1>", re.DOTALL)
"""What is measured says so."""


def test_a_site_that_stands_is_left_alone(small: Lake, site: Path) -> None:
    before = (site / "index.html").stat().st_ino
    assert build(small, site).is_current
    assert (site / "index.html").stat().st_ino == before


@pytest.mark.parametrize("harm", ["changed", "missing"])
def test_a_damaged_site_is_built_again(small: Lake, site: Path, harm: str) -> None:
    whole = files(site)
    victim = site / "data" / "aggregates.parquet"
    if harm == "changed":
        victim.write_bytes(b"no")
    else:
        victim.unlink()
    assert not build(small, site).is_current
    assert files(site) == whole


def test_measured_costs_count_though_their_fingerprint_stands(small: Lake, site: Path) -> None:
    part = small.parts("costs")[0]
    change(small, "costs", part, index_seconds=pl.lit(77.0))
    assert not build(small, site).is_current
    assert ">77<" in (site / "repoeval-all.html").read_text(encoding="utf-8")


def test_what_an_earlier_build_wrote_vanishes_and_other_files_stay(small: Lake, site: Path) -> None:
    (site / "CNAME").write_text("example.org")
    manifest = json.loads((site / "manifest.json").read_text())
    (site / "old.html").write_text("old")
    manifest["files"]["old.html"] = {"bytes": 3, "sha256": hashlib.sha256(b"old").hexdigest()}
    manifest["fingerprint"] = "another"
    (site / "manifest.json").write_text(json.dumps(manifest))
    build(small, site)
    assert not (site / "old.html").exists()
    assert (site / "CNAME").read_text() == "example.org"


@pytest.mark.parametrize(("name", "text"), [("thesis.tex", "precious"), ("manifest.json", '{"name": "an app"}')])
def test_a_folder_with_other_things_is_refused(small: Lake, tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / name).write_text(text)
    with refused("not a Goldspan site", Exit.USAGE):
        build(small, tmp_path / "home")
    assert files(tmp_path / "home") == {name: text.encode()}


def test_a_change_of_any_module_makes_the_site_again(small: Lake, site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert build(small, site).is_current

    def other(path: Path) -> str:
        return "other" if path.match("report/methods/interval_coverage.py") else sha256_of_file(path)

    monkeypatch.setattr("report.build.sha256_of_file", other)
    assert not build(small, site).is_current


def test_failed_builds_keep_the_site(small: Lake, site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = files(site)
    write_scores(small, "fixed-nws-1500+jaccard", CHUNKING, 0.1, fingerprint="changed")

    def fails(*_: object) -> None:
        message = "disk on fire"
        raise RuntimeError(message)

    monkeypatch.setattr(building, "add_file", fails)
    with pytest.raises(RuntimeError, match="disk on fire"):
        build(small, site)
    assert files(site) == before
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".site") and path.is_dir()] == []


def test_a_build_killed_between_the_renames_is_mended(small: Lake, site: Path, tmp_path: Path) -> None:
    whole = files(site)
    site.rename(tmp_path / ".site.old")
    (tmp_path / ".site.new").mkdir()
    build(small, site)
    assert files(site) == whole
    assert not (tmp_path / ".site.old").exists()


def test_a_lake_that_changes_meanwhile_is_noticed(small: Lake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    states = iter([("before", ""), ("after", "")])
    monkeypatch.setattr(building, "lake_state", lambda _: next(states))
    with pytest.raises(GoldspanError, match="the lake changed while the site was being built"):
        build(small, tmp_path / "site")
    assert not (tmp_path / "site").exists()


def test_an_empty_lake_says_what_to_type(tmp_path: Path) -> None:
    with refused("make ingest evaluate", Exit.MISSING):
        build(Lake(tmp_path / "nothing"), tmp_path / "site")
    assert not (tmp_path / "site").exists()


def test_a_benchmark_without_runs_is_said_to_be_not_run(tmp_path: Path) -> None:
    build(write_lake(tmp_path / "lake", runs=False), tmp_path / "site")
    for name in ("index.html", "repoeval.html"):
        assert "not run" in parse((tmp_path / "site" / name).read_text(encoding="utf-8")).text


def test_a_benchmark_without_protocols_still_has_its_page(tmp_path: Path) -> None:
    lake = Lake(tmp_path / "lake")
    write_benchmark(lake)
    for part in lake.parts("protocols"):
        lake.remove(part)
    build(lake, tmp_path / "site")
    assert "not run" in (tmp_path / "site" / "repoeval.html").read_text(encoding="utf-8")


def test_ranks_intervals_and_the_oracles_share_are_shown_once_they_exist(small: Lake, tmp_path: Path) -> None:
    interval = {"low": pl.col("macro") - 0.01, "high": pl.col("macro") + 0.01}
    change(small, "aggregates", *aggregated(small), **interval)
    second = {"run_id": run_id("fixed-nws-1500+jaccard"), "rank": 2, "rank_low": 1, "rank_high": 4, "too_few": False}
    withheld = {"run_id": run_id("window-20-10+bm25-okapi"), "too_few": True}
    write(small, "ranks", [{**PRIMARY, **second}, {**PRIMARY, **withheld}], benchmark="repoeval", protocol=CHUNKING)
    share = pl.when(pl.col("protocol") == CHUNKING, pl.col("average") == "macro").then(0.75)
    change(small, "boards", *write_boards(small).parts("boards"), share_of_oracle=share)
    page = page_of(small, tmp_path)
    head, *shown = table(page, "RepoEval (sample), chunking-v1, macro")
    row = dict(zip(head, next(row for row in shown if row[0] == "jaccard fixed-nws-1500"), strict=True))
    wanted = ("2 1 to 4", "0.587 0.577 to 0.597", "0.750")
    assert (row["Rank"], row["ndcg@10"], row["of the oracle"]) == wanted
    ranks = {cells[0]: cells[head.index("Rank")] for cells in shown if len(cells) == len(head)}
    assert (ranks["bm25-okapi window-20-10"], ranks["random fixed-nws-1500"]) == ("too few to rank", "–")
    assert "of the oracle" not in table(page, "RepoEval (sample), target-v1, macro")[0]
    text = page.all("section")[0].text
    assert "No interval" not in text
    assert "95 % intervals are over items: for these repositories only." in text
    board = parse((tmp_path / "site" / "repoeval.html").read_text(encoding="utf-8"))
    assert "95 % intervals are over items: for these repositories only." in board.all("section")[0].text
    views = [each for each in page.all("section")[0].all("div") if "data-average" in each.attributes]
    explained = [(view.attributes["data-average"], "% of oracle: " in view.text) for view in views]
    assert explained == [("macro", True), ("micro", False), ("by_repo", False)]


def test_a_small_n_stands_beside_a_number_and_never_beside_a_dash(small: Lake, tmp_path: Path) -> None:
    change(small, "aggregates", *aggregated(small), n=pl.when(metric="mrr").then(3).otherwise("n").cast(pl.Int64))
    page = page_of(write_boards(small), tmp_path)
    for average, wanted in (("macro", r"\d\.\d{3} n 3|–"), ("micro", "–")):
        head, *shown = table(page, f"RepoEval (sample), chunking-v1, {average}")
        cells = {row[head.index("mrr@10")] for row in shown if len(row) == len(head)}
        assert len(cells) > (average == "macro")
        assert all(re.fullmatch(wanted, cell) for cell in cells), cells


def test_two_benchmarks_whose_pages_would_collide_are_an_error(small: Lake, tmp_path: Path) -> None:
    rows = small.read("benchmarks")
    both = pl.concat([rows.with_columns(name=pl.lit("repo eval")), rows.with_columns(name=pl.lit("repo/eval"))])
    write(small, "benchmarks", both.rows(named=True), fingerprint="two")
    with pytest.raises(GoldspanError, match=r"two pages have the same path 'repo-eval\.html'"):
        build(small, tmp_path / "site")


def test_a_metric_that_describes_is_never_best(small: Lake, tmp_path: Path) -> None:
    change(small, "metrics", direction=pl.when(micro="same").then(pl.lit("neither")).otherwise("direction"))
    page = page_of(write_boards(small), tmp_path)
    tables = [each for each in page.all("table") if "RepoEval (sample), chunking-v1, macro" in each.text]
    # Primary, what it is above the reference, two columns of precision, recall and mrr: precision ranks nothing here.
    marked = [[bool(cell.all("b")) for cell in row.all("td")] for row in tables[0].all("tr")]
    assert [True, False, False, False, True, True] in [row[1:7] for row in marked]


def test_metrics_over_chunks_and_over_lines_are_told_apart(small: Lake, tmp_path: Path) -> None:
    change(small, "aggregates", granularity=pl.when(metric="recall").then(pl.lit("line")).otherwise("granularity"))
    text = page_of(write_boards(small), tmp_path, "repoeval.html").text
    assert "ndcg, precision, mrr depend on how the chunker cuts" in text
    assert "Across chunkers compare recall (lines, however they were cut)" in text
