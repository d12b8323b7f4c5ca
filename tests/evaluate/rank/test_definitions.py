from pathlib import Path

import polars as pl
import pytest

from evaluate.rank.chunk_texts import definitions_in
from evaluate.rank.pools import load_pools
from evaluate.texts.tokens import defined_names
from lake.errors import GoldspanError
from lake.store import Lake
from tests.tiny import command


def test_a_definition_is_in_the_chunk_that_its_first_line_is_in(lake_folder: Path) -> None:
    lake = Lake(lake_folder)
    pool_ids = lake.read("pools").filter(pl.col("repo") == "zoo_animals")["pool_id"]
    (pool,) = load_pools(lake, "window-4-2", pool_ids).side_by_side()
    found = pool.counted(defined_names)
    named = {"purr": "def purr", "meow": "def meow", "bark": "def bark", "fetch": "def fetch"}
    assert sorted(found.vocabulary) == sorted(named)
    for name, head in named.items():
        column = found.counts[:, [found.vocabulary.to_list().index(name)]].toarray().ravel()
        assert column.tolist() == [head in text for text in pool.text]


def test_definitions_that_were_not_looked_for_are_an_error_and_not_none(lake_folder: Path) -> None:
    lake = Lake(lake_folder)
    for part in lake.parts("symbol_status"):
        lake.remove(part)
    pool_ids = lake.read("pools")["pool_id"].unique().sort()
    for pool in load_pools(lake, "whole-file", pool_ids).side_by_side():
        with pytest.raises(GoldspanError, match=r"the lake has no definitions of .* files?"):
            pool.counted(defined_names)


def test_a_file_without_a_line_needs_none_that_were_looked_for(lake_folder: Path) -> None:
    lake = Lake(lake_folder)
    for part in lake.parts("symbol_status"):
        lake.remove(part)
    contents = lake.read("files").select("sha256", line_start=pl.lit(0), line_end=pl.lit(0))
    assert definitions_in(lake, contents).counts.nnz == 0
    with pytest.raises(GoldspanError, match="the lake has no definitions of"):
        definitions_in(lake, contents.with_columns(line_end=pl.lit(1)))


def test_a_run_by_definitions_is_made_again_when_these_are_found_by_other_rules(lake_folder: Path) -> None:
    systems = ("--systems", "whole-file+symbols,whole-file+hybrid,whole-file+tfidf~no-comments")
    command("evaluate", "--lake", lake_folder, *systems).done()
    lake = Lake(lake_folder)
    before = dict(lake.read("runs").select("system", "run_id").rows())
    assert lake.read("run_items").filter(pl.col("status") != "done").is_empty()
    (rules,) = (part for part in lake.parts("symbol_rules") if part.name == "docs")
    row = lake.scan_parts([rules], "symbol_rules").collect()
    lake.write("symbol_rules", row.with_columns(fingerprint=pl.lit("other")), part="docs", fingerprint="other")
    assert command("evaluate", "--lake", lake_folder, *systems).code == 0
    after = dict(lake.read("runs").select("system", "run_id").rows())
    changed = {system for system, run_id in after.items() if before[system] != run_id}
    assert changed == {"whole-file+symbols", "whole-file+hybrid"}
