"""The inputs of context scores: what runs gathered for items, and the gold; only the rows of a lake that are needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import polars as pl

from evaluate.selection import ItemPart
from lake.catalog.protocol import ContextRules, Protocol
from lake.pools import files_of
from lake.store import Lake, contents_of, parts_holding
from lake.tables import GOLD_RUN, LINES, PUBLISHED_READING, RANKING, UNSEARCHED

_HIT = ["run_id", "item_id", "part", "step", "rank", "path_given", "path", "line_start", "line_end", "symbol"]
_EDIT = ["item_id", "path", "line"]


@dataclass(frozen=True)
class Material:
    """The items and the contents of their repositories, independent of any run.

    `gold_edits` has item_id, path, line: the lines that the gold patches edit, as the protocol reads patches; `files`
    pool_id, path, sha256 of every named file; `texts` and `definitions` columns of `blobs` and of `symbols` for those.
    """

    items: pl.DataFrame
    gold: pl.DataFrame
    gold_edits: pl.DataFrame
    files: pl.DataFrame
    texts: pl.DataFrame
    definitions: pl.DataFrame


class ContextRuns(NamedTuple):
    """The answers of some runs: columns of `run_items` (and is_ranking: no steps on any item), `hits` and `edits`."""

    run_items: pl.DataFrame
    hits: pl.DataFrame
    edits: pl.DataFrame


def rules_of(protocol: Protocol) -> ContextRules:
    """The protocol's context rules; an error if it has none."""
    if protocol.context is None:
        raise ValueError(f"{protocol.name} scores no contexts")
    return protocol.context


def load_runs(item_part: ItemPart, protocol: Protocol, names: Sequence[str]) -> ContextRuns:
    """The answers of some runs to a part of the items."""
    reading, items = _reading_of(protocol), item_part.items.select("item_id").lazy()
    answers, hits, edits = (
        item_part.of_runs(table, names).join(items, on="item_id", how="semi")
        for table in ("run_items", "hits", "edits")
    )
    # ContextBench's converter has its own reading of agents' files, in parts `published-…`.
    hits, is_published = hits.select(_HIT), pl.col("part").str.starts_with(PUBLISHED_READING)
    if reading == "docs":
        hits = hits.filter(~is_published)
    else:
        has_both = answers.filter(pl.col("n_steps_published").is_not_null()).select("run_id", "item_id", has_both=True)
        known = hits.join(has_both, on=["run_id", "item_id"], how="left")
        kept = known.filter(is_published | (pl.col("part").is_in([RANKING, LINES])) | pl.col("has_both").is_null())
        hits = kept.drop("has_both").with_columns(part=pl.col("part").str.strip_prefix(PUBLISHED_READING))
        answers = answers.with_columns(n_steps=pl.coalesce("n_steps_published", "n_steps"))
    is_ranking = pl.col("n_steps").is_null().all().over("run_id")
    answered = answers.select("run_id", "item_id", "status", "n_steps", "has_patch", is_ranking=is_ranking)
    edits = edits.filter(reading=reading).select("run_id", *_EDIT)
    return ContextRuns(*pl.collect_all([answered, hits, edits]))


def load_material(item_part: ItemPart, protocol: Protocol, runs: ContextRuns) -> Material:
    """The part's items, their gold, and the contents of all files that the runs and the gold name."""
    lake, of_items = item_part.lake, item_part.items.lazy().select("item_id", "pool_id")
    patches = item_part.scan("items").select("item_id", has_gold_patch=pl.col("patch").str.len_bytes().fill_null(0) > 0)
    of_patches = of_items.join(patches, on="item_id", how="left", maintain_order="left")
    gold_spans = item_part.gold_of(protocol.gold).lazy().select("item_id", "path", "line_start", "line_end")
    patched = item_part.scan("edits", run_id=GOLD_RUN)
    patched = patched.filter(reading=_reading_of(protocol)).join(of_items, on="item_id", how="semi")
    seen = runs.hits.lazy().select("item_id", "path").drop_nulls()
    paths = pl.concat([seen, gold_spans.select("item_id", "path")]).unique()
    in_pools = paths.join(of_items, on="item_id").select("pool_id", "path").unique()
    files = load_files(lake, in_pools.collect())
    contents = files["sha256"].unique()
    texts = contents_of(lake, contents, ["n_bytes", "n_lines", "line_starts", "line_nws", "flags"])
    parts = parts_holding(lake, "symbols", "sha256", contents, rules=rules_of(protocol).symbols)
    symbols = lake.scan_parts(parts, "symbols").filter(pl.col("sha256").is_in(contents.implode()))
    symbols = symbols.select("sha256", "byte_start", "byte_end", "kind", "name", "qualified_name")
    wanted = [of_patches, gold_spans, symbols, patched.select(_EDIT)]
    items, gold, definitions, gold_edits = pl.collect_all(wanted)
    return Material(items, gold, gold_edits, files, texts, definitions)


def load_files(lake: Lake, paths: pl.DataFrame) -> pl.DataFrame:
    """The contents of the named files (pool_id, path) that a lake has, searched or not: pool_id, path, sha256."""
    pools = paths["pool_id"].unique()
    files = files_of(lake, pl.concat([pools, pools + UNSEARCHED]))
    files = files.with_columns(pl.col("pool_id").str.strip_suffix(UNSEARCHED)).select("pool_id", "path", "sha256")
    return files.join(paths.lazy(), on=["pool_id", "path"], how="semi").collect()


def _reading_of(protocol: Protocol) -> str:
    """How the protocol reads patches (column `reading` of `edits`) and agents' files."""
    return "docs" if rules_of(protocol).edits == "gold patch" else "official"
