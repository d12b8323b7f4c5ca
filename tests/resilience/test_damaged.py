"""Damage in a lake is never published: one flipped bit in any table, copies and strays, and what each command says."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from lake.errors import Exit
from lake.store import Lake
from lake.tables import TABLES
from lake.wholeness import ASIDE
from tests.resilience.flips import drawn, flip, outcome
from tests.resilience.stages import finish
from tests.tiny import build, command, stored


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A source, and the lake of an undisturbed run."""
    home = tmp_path_factory.mktemp("damaged")
    build(home / "source")
    assert [said.code for said in finish(home / "source", home / "whole")] == [0, 0]
    return home


def _tables(lake: Path) -> list[str]:
    return [name for name in TABLES if Lake(lake).parts(name)]


def test_a_flipped_bit_in_any_table_is_named_and_its_part_made_again_to_the_same_bytes(
    home: Path, tmp_path: Path
) -> None:
    n = len(_tables(home / "whole"))
    flips = drawn(home / "whole", n, seed=20240607)
    assert len({part.partition("/")[0] for part, _ in flips}) == n > 12
    found = {(part, bit): outcome(home / "source", home / "whole", tmp_path / "lake", part, bit) for part, bit in flips}
    assert set(found.values()) == {"mended"}, found


@pytest.mark.parametrize("name", ["aggregates", "scores", "runs", "metrics", "items"])
def test_no_page_and_no_export_is_made_of_a_damaged_part(home: Path, tmp_path: Path, name: str) -> None:
    lake = shutil.copytree(home / "whole", tmp_path / "lake")
    assert command("report", "--lake", lake, "--site", tmp_path / "site").code == 0
    built = (tmp_path / "site/manifest.json").read_bytes()
    part = Lake(lake).parts(name)[0].path
    flip(part, 4_000)
    for arguments in (("report", "--site", tmp_path / "site"), ("report", "--site", tmp_path / "new")):
        said = command(*arguments, "--lake", lake)
        assert said.code == Exit.INVALID
        assert f"where: {part}" in said.err
        assert "make ingest evaluate" in said.err
        assert "Traceback" not in said.err
    assert (tmp_path / "site/manifest.json").read_bytes() == built
    assert not (tmp_path / "new").exists()
    if name in {"aggregates", "runs", "metrics"}:
        said = command("report", "export", "--lake", lake)
        assert (said.code, said.out) == (Exit.INVALID, "")


def test_evaluate_does_not_score_what_ingest_is_to_make_again(home: Path, tmp_path: Path) -> None:
    lake = shutil.copytree(home / "whole", tmp_path / "lake")
    part = Lake(lake).parts("gold_spans")[0].path
    flip(part, 4_000)
    before = stored(lake)
    said = command("evaluate", "--lake", lake)
    assert said.code == Exit.INVALID
    assert f"where: {part}" in said.err
    assert stored(lake) == before


@pytest.mark.parametrize("name", ["runs", "items", "gold_spans", "files", "aggregates"])
def test_no_page_is_made_of_a_lake_that_lacks_what_its_scores_are_of(home: Path, tmp_path: Path, name: str) -> None:
    lake = shutil.copytree(home / "whole", tmp_path / "lake")
    shutil.rmtree(lake / name)
    for arguments in (("report", "--site", tmp_path / "site"), ("report", "export")):
        said = command(*arguments, "--lake", lake)
        assert (said.code, said.out) == (Exit.INVALID, "")
        assert f"for example: {name} of repoeval" in said.err
    assert not (tmp_path / "site").exists()
    said = command("ingest", "verify", "--lake", lake)
    assert said.code == Exit.INVALID
    assert f"{name} of repoeval" in said.out
    if name == "gold_spans":
        assert command("evaluate", "--lake", lake).code == Exit.MISSING


def test_an_imported_run_that_lost_its_results_is_named_and_not_scored(home: Path, tmp_path: Path) -> None:
    lake = shutil.copytree(home / "whole", tmp_path / "lake")
    items = Lake(lake).read("items")["item_id"]
    ranking = tmp_path / "good.tsv"
    rows = [f"{item_id}\tcats.py#L1-L3\t1\t1.0" for item_id in items]
    ranking.write_text("\n".join(["item_id\tdocument\trank\tscore", *rows]) + "\n")
    assert command("ingest", "run", ranking, "--benchmark", "repoeval", "--system", "good", "--lake", lake).code == 0
    assert command("evaluate", "--lake", lake).code == 0
    row = Lake(lake).scan("runs").filter(system="good").select("run_id").collect().item()
    (part,) = Lake(lake).parts("hits", run_id=row)
    part.path.unlink()
    why = f"hits contradicts the number of results that run_items gives for {len(items)} of {len(items)} items"
    for arguments in (("ingest", "verify"), ("report", "--site", tmp_path / "site"), ("evaluate", "table", "repoeval")):
        said = command(*arguments, "--lake", lake)
        assert said.code == Exit.INVALID
        assert why in said.out + said.err
    said = command("evaluate", "--lake", lake)
    assert said.code == 0
    assert why in said.err
    assert f"import the run {row} again" in said.err
    assert not Lake(lake).parts("scores", run_id=row)
    assert command("ingest", "verify", "--lake", lake).code == 0


def test_strays_are_set_aside_and_named_even_quietly(home: Path, tmp_path: Path) -> None:
    lake = shutil.copytree(home / "whole", tmp_path / "lake")
    scores, items = Lake(lake).parts("scores")[0].path, Lake(lake).parts("items")[0].path
    shutil.copy(scores, scores.with_name("part-old.parquet"))
    shutil.copy(items, items.with_name(f"{items.stem} copy.parquet"))
    said = command("ingest", "verify", "--lake", lake, "--json")
    assert said.code == Exit.INVALID
    assert {Path(str(one["path"])).name for one in json.loads(said.out)["wrong"]} == {
        "part-old.parquet",
        f"{items.stem} copy.parquet",
    }
    ingest = command(
        "ingest", "repoeval", "--source", home / "source", "--chunkers", "whole-file", "--lake", lake, "--quiet"
    )
    assert f"{items.stem} copy.parquet: it is a copy of" in ingest.err
    evaluate = command("evaluate", "--lake", lake, "--systems", "whole-file+bm25-okapi")
    assert evaluate.err.count("part-old.parquet: it is a copy of") == 2
    assert stored(lake) == stored(home / "whole")
    assert len([*(lake / ASIDE).rglob("*.parquet.1")]) == 2


def test_verify_says_that_a_lake_is_whole(home: Path, tmp_path: Path) -> None:
    said = command("ingest", "verify", "--lake", home / "whole", "--json")
    found = json.loads(said.out)
    parts = [path for path in (home / "whole").rglob("part-*.parquet")]
    assert (said.code, found["wrong"], found["parts"]) == (0, [], len(parts))
    assert found["bytes"] == sum(path.stat().st_size for path in parts)
    said = command("ingest", "verify", "--lake", tmp_path / "nothing")
    assert said.code == Exit.MISSING
    assert "there is no lake to verify" in said.err
