"""What scoring contexts needs of a lake: only the rows and columns of what is named."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from evaluate.score.contexts.gathered import LINES, RANKING, Material, Runs
from evaluate.selection import ItemPart
from lake.catalog.context_rules import ContextRules
from lake.catalog.protocol import Protocol
from lake.naming import GOLD_RUN, PUBLISHED_READING, REST
from lake.store import Lake

_HIT = ["run_id", "item_id", "part", "step", "rank", "path_given", "path", "line_start", "line_end", "symbol"]
_EDIT = ["item_id", "path", "line"]
_TEXT = ["sha256", "n_bytes", "n_lines", "line_starts", "line_nws", "flags"]


def reading_of(rules: ContextRules) -> str:
    """How the rules read patches, the value of column `reading` in `edits`, and agents' files: see :func:`_as_read`."""
    return "docs" if rules.edits == "gold patch" else "official"


def load_runs(lake: Lake, asked: ItemPart, rules: ContextRules, names: Sequence[str]) -> Runs:
    """What some runs answered to a part of the items."""
    items = asked.described.select("item_id").lazy()

    def rows(table: str) -> pl.LazyFrame:
        parts = [lake.part(table, asked.part, benchmark=asked.benchmark, run_id=name) for name in names]
        return lake.scan_parts([part for part in parts if part], table).join(items, on="item_id", how="semi")

    answers, seen = _as_read(rows("run_items"), rows("hits").select(_HIT), reading_of(rules))
    answered, hits, edits = pl.collect_all(
        [
            answers.select("run_id", "item_id", "status", "n_steps", "has_patch"),
            seen,
            rows("edits").filter(pl.col("reading") == reading_of(rules)).select("run_id", *_EDIT),
        ]
    )
    return Runs.of(names, answered, hits, edits)


def _as_read(answers: pl.LazyFrame, hits: pl.LazyFrame, reading: str) -> tuple[pl.LazyFrame, pl.LazyFrame]:
    """What agents' files say by one reading, of `run_items` and `hits` that may hold a second one of some items.

    The second, under parts that begin with `published-`, is what ContextBench's published converter makes of a file
    that is read otherwise here.
    """
    is_published = pl.col("part").str.starts_with(PUBLISHED_READING)
    if reading == "docs":
        return answers, hits.filter(~is_published)
    has_both = answers.filter(pl.col("n_steps_published").is_not_null()).select("run_id", "item_id", has_both=True)
    known = hits.join(has_both, on=["run_id", "item_id"], how="left")
    kept = known.filter(is_published | (pl.col("part").is_in([RANKING, LINES])) | pl.col("has_both").is_null())
    n_steps = pl.coalesce("n_steps_published", "n_steps")
    part = pl.col("part").str.strip_prefix(PUBLISHED_READING)
    return answers.with_columns(n_steps=n_steps), kept.drop("has_both").with_columns(part=part)


def load_material(lake: Lake, asked: ItemPart, protocol: Protocol, rules: ContextRules, runs: Runs) -> Material:
    """The asked items, their gold, and what their repositories hold of whatever some runs and the gold name."""
    items = _items(lake, asked)
    gold = asked.gold_of(protocol.gold).select("item_id", "path", "line_start", "line_end")
    patched = lake.scan_part("edits", asked.part, benchmark=asked.benchmark, run_id=GOLD_RUN)
    patched = patched.filter(pl.col("reading") == reading_of(rules)).join(items.lazy(), on="item_id", how="semi")
    seen = runs.hits.lazy().select("item_id", "path").drop_nulls()
    named = pl.concat([seen, gold.lazy().select("item_id", "path")]).unique()
    files = load_files(lake, asked.benchmark, named.join(items.lazy(), on="item_id").select("pool_id", "path").unique())
    hashes = files["sha256"].unique()
    texts, definitions, gold_edits = pl.collect_all(
        [
            _of(lake.scan("blobs"), hashes).select(_TEXT),
            _of(lake.scan("symbols", rules=rules.symbols), hashes).select(
                "sha256", "byte_start", "byte_end", "kind", "name", "qualified_name"
            ),
            patched.select(_EDIT),
        ]
    )
    return Material(items, gold, gold_edits, files, texts.sort("sha256"), definitions)


def load_files(lake: Lake, benchmark: str, named: pl.LazyFrame) -> pl.DataFrame:
    """The content of every named file that is there: pool_id, path, sha256.

    Args:
        lake: Where from.
        benchmark: Whose repositories.
        named: pool_id, path.
    """
    files = lake.scan("files", benchmark=benchmark).with_columns(pl.col("pool_id").str.strip_suffix(REST))
    return files.select("pool_id", "path", "sha256").join(named, on=["pool_id", "path"], how="semi").collect()


def _items(lake: Lake, asked: ItemPart) -> pl.DataFrame:
    patches = lake.scan_part("items", asked.part, benchmark=asked.benchmark).select(
        "item_id", has_gold_patch=pl.col("patch").str.len_bytes().fill_null(0) > 0
    )
    known = asked.described.lazy().select("item_id", "pool_id")
    return known.join(patches, on="item_id", how="left", maintain_order="left").collect()


def _of(rows: pl.LazyFrame, hashes: pl.Series) -> pl.LazyFrame:
    return rows.filter(pl.col("sha256").is_in(hashes.implode()))
