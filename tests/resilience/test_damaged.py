import shutil
from pathlib import Path

import pytest

from lake.errors import Exit
from lake.store import Lake
from lake.tables import TABLES
from tests.resilience.flips import drawn, flip, outcome
from tests.tiny import command, stored


@pytest.fixture
def lake(home: Path, tmp_path: Path) -> Path:
    return shutil.copytree(home / "lake2", tmp_path / "lake")


def test_a_flipped_bit_in_any_table_is_named_and_its_part_made_again_byte_by_byte(home: Path, tmp_path: Path) -> None:
    n = sum(bool(Lake(home / "lake2").parts(name)) for name in TABLES)
    flips = drawn(home / "lake2", n, seed=20240607)
    assert len({part.partition("/")[0] for part, _ in flips}) == n > 12
    for damage in (flips[first::4] for first in range(4)):
        assert outcome(home / "source", home / "lake2", tmp_path / "lake", damage) == "mended", damage


@pytest.mark.parametrize("name", ["aggregates", "items"])
def test_no_page_is_made_of_a_damaged_part(lake: Path, tmp_path: Path, name: str) -> None:
    command("report", "--lake", lake, "--site", tmp_path / "site").done()
    built = (tmp_path / "site/manifest.json").read_bytes()
    part = Lake(lake).parts(name)[0].path
    flip(part, 4_000)
    # The site is of the lake as it was, and stays: nothing of it is read again.
    command("report", "--lake", lake, "--site", tmp_path / "site").done()
    assert (tmp_path / "site/manifest.json").read_bytes() == built
    run = command("report", "--site", tmp_path / "new", "--lake", lake)
    run.ended(Exit.INVALID, f"where: {part}", "make ingest evaluate")
    assert not (tmp_path / "new").exists()


def test_evaluate_does_not_score_what_ingest_is_to_make_again(lake: Path) -> None:
    part = Lake(lake).parts("gold_spans")[0].path
    flip(part, 4_000)
    before = stored(lake)
    command("evaluate", "--lake", lake).ended(Exit.INVALID, f"where: {part}")
    assert stored(lake) == before


@pytest.mark.parametrize(("name", "lost"), [("runs", "repoeval.prompt--"), ("gold_spans", "repoeval")])
def test_a_lake_with_scores_and_no_items_is_refused(lake: Path, tmp_path: Path, name: str, lost: str) -> None:
    shutil.rmtree(lake / name)
    for arguments in (("report", "--site", tmp_path / "site"), ("report", "export")):
        command(*arguments, "--lake", lake).refused(Exit.INVALID, f"for example: {name} of {lost}")
    assert not (tmp_path / "site").exists()
    run = command("ingest", "verify", "--lake", lake).ended(Exit.INVALID)
    assert f"missing, although the lake has scores: {name} of {lost}" in run.out


def test_a_stray_is_named_by_verify_and_set_aside_even_quietly(home: Path, lake: Path, tmp_path: Path) -> None:
    (items,) = Lake(lake).parts("items")
    shutil.copy(items.path, items.path.with_name("part-old.parquet"))
    run = command("ingest", "verify", "--lake", lake)
    assert (run.code, run.out.count("\n")) == (Exit.INVALID, 1)
    assert "part-old.parquet: it was changed or moved, or another version of Goldspan wrote it" in run.out
    ingest = command(
        "ingest", "repoeval", "--source", home / "source", "--chunkers", "whole-file", "--lake", lake, "--quiet"
    )
    assert "part-old.parquet: it was changed or moved, or another version of Goldspan wrote it; set aside" in ingest.err
    assert stored(lake) == stored(home / "lake2")
    run = command("ingest", "verify", "--lake", lake)
    run.done(f"verify: {len(stored(lake)) + len(Lake(lake).parts('costs'))} parts")
    command("ingest", "verify", "--lake", tmp_path / "nothing").ended(Exit.MISSING)
