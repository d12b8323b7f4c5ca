"""What some runs gathered for some items, and the gold it is held against: frames in, numbered rows out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import polars as pl

STEP, FINAL = "step", "final"
"""The parts of an agent's hits."""

RANKING, LINES = "ranking", "lines"
"""The parts of a ranking's hits; the second, where there is one, is what to return to cover lines."""

N_RANKED_STEPS = 20
"""How many of a ranking's first results are its steps; in a shorter one the last state stands."""

FARTHEST = 1 << 32
"""No file has so many lines: what is said to lie further on is taken to lie there."""


@dataclass(frozen=True)
class Material:
    """What items are and what their repositories hold; nothing of it depends on a run.

    Attributes:
        items: item_id, pool_id, has_gold_patch: every item that must have a score.
        gold: item_id, path, line_start, line_end, of the protocol's gold rule.
        gold_edits: item_id, path, line: the lines that the gold patches edit, as the protocol reads patches.
        files: pool_id, path, sha256, of whatever is named.
        texts: sha256, n_bytes, n_lines, line_starts and line_nws (lists of Int64), flags, of those files.
        definitions: sha256, byte_start, byte_end, kind, name, qualified_name, of those files, by the protocol's rules.
    """

    items: pl.DataFrame
    gold: pl.DataFrame
    gold_edits: pl.DataFrame
    files: pl.DataFrame
    texts: pl.DataFrame
    definitions: pl.DataFrame


@dataclass(frozen=True)
class Runs:
    """What some runs answered.

    Attributes:
        names: The runs.
        run_items: run_id, item_id, status, n_steps (null for a ranking), has_patch.
        hits: run_id, item_id, part, step, rank, path_given, path, line_start, line_end, symbol.
        edits: run_id, item_id, path, line: the lines that the runs' patches edit, as the protocol reads patches.
        rankings: Which of the runs are rankings: nobody counts their steps.
    """

    names: tuple[str, ...]
    run_items: pl.DataFrame
    hits: pl.DataFrame
    edits: pl.DataFrame
    rankings: frozenset[str]

    @classmethod
    def of(cls, names: Sequence[str], run_items: pl.DataFrame, hits: pl.DataFrame, edits: pl.DataFrame) -> Runs:
        """Runs with all that they answered: those are rankings that have no steps on any item."""
        kinds = run_items.group_by("run_id").agg(pl.col("n_steps").is_null().all())
        return cls(tuple(names), run_items, hits, edits, frozenset(kinds.filter("n_steps")["run_id"]))

    def on(self, items: pl.DataFrame) -> Runs:
        """What they answered to some of the items."""
        run_items, hits, edits = (
            one.join(items, on="item_id", how="semi") for one in (self.run_items, self.hits, self.edits)
        )
        return replace(self, run_items=run_items, hits=hits, edits=edits)


@dataclass(frozen=True)
class Numbered:
    """The same with numbers in place of names.

    Attributes:
        cases: run_id, item_id, item (its number), status (null for what a run passed over), n_steps, has_patch and
            is_ranking; a row for every run and item, by run. A case's number is its row.
        files: item, is_there, text (the number of its content; null where it is not there), n_lines, n_bytes, flags;
            every file that is named, by item: a file that two items name is two. A file's number is its row.
        texts: Row i is content i: the columns of the material's.
        seen: case, run (its number), part, step, rank, file, line_start, line_end, symbol: all hits.
        gold: item, file, line_start, line_end, by item.
    """

    cases: pl.DataFrame
    files: pl.DataFrame
    texts: pl.DataFrame
    seen: pl.DataFrame
    gold: pl.DataFrame


def number(material: Material, runs: Runs) -> Numbered:
    """Number the cases, the files that are named, and what names them."""
    items = material.items.lazy().select("item_id", "pool_id").with_row_index("item").with_columns(_whole("item"))
    cases = _cases(items, runs).collect()
    hits = runs.hits.lazy().select(
        *("run_id", "item_id", "part", "step", "rank", "path", "symbol"),
        pl.col("line_start", "line_end").clip(-FARTHEST, FARTHEST),
        given=pl.when(pl.col("path").is_null()).then("path_given"),
    )
    gold = material.gold.lazy().select("item_id", "path", "line_start", "line_end", given=pl.lit(None, pl.String))
    texts = material.texts.lazy().with_row_index("text").with_columns(_whole("text"))
    files = (
        pl.concat([frame.select("item_id", "path", "given") for frame in (hits, gold)])
        .unique()
        .join(items, on="item_id")
        .join(material.files.lazy(), on=["pool_id", "path"], how="left")
        .join(texts.drop("line_starts", "line_nws"), on="sha256", how="left")
        .sort("item", "path", "given")
        .with_columns(file=pl.int_range(pl.len()), is_there=pl.col("text").is_not_null())
        .collect()
    )
    place = ["item_id", "path", "given"]
    known = files.lazy().select(*place, "item", "file")
    case = cases.lazy().select("run_id", "item_id", case=pl.int_range(pl.len()))
    seen, gold_rows = pl.collect_all(
        [
            hits.join(case, on=["run_id", "item_id"])
            .join(known, on=place, nulls_equal=True)
            .with_columns(run=pl.col("case") // max(1, material.items.height))
            .select("case", "run", "part", "step", "rank", "file", "line_start", "line_end", "symbol"),
            gold.join(known, on=place, nulls_equal=True).select("item", "file", "line_start", "line_end").sort("item"),
        ]
    )
    columns = ("item", "is_there", "text", "n_lines", "n_bytes", "flags")
    return Numbered(cases, files.select(columns), material.texts, seen, gold_rows)


def _cases(items: pl.LazyFrame, runs: Runs) -> pl.LazyFrame:
    names = pl.LazyFrame({"run_id": runs.names}, schema={"run_id": pl.String})
    answered = runs.run_items.lazy().select("run_id", "item_id", "status", "n_steps", "has_patch")
    return (
        names.with_columns(is_ranking=pl.col("run_id").is_in(list(runs.rankings)))
        .join(items.drop("pool_id"), how="cross", maintain_order="left_right")
        .join(answered, on=["run_id", "item_id"], how="left", maintain_order="left")
        .with_columns(
            pl.col("has_patch").fill_null(value=False),
            n_steps=pl.when("is_ranking").then(N_RANKED_STEPS).otherwise(pl.col("n_steps").fill_null(0)),
        )
    )


def _whole(column: str) -> pl.Expr:
    return pl.col(column).cast(pl.Int64)
