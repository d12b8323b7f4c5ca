"""Whether an imported ranking was made for the items that the lake has: what it says of them is held against theirs."""

from __future__ import annotations

import polars as pl

from ingest.runs.input_file import InputFile
from ingest.runs.input_rows import refuse
from ingest.runs.items import ItemPart
from lake.catalog.task import Task
from lake.store import Lake

_CANDIDATE = "candidate"
"""The gold rule whose spans say which candidate is right."""


def check_revision(lake: Lake, task: Task, input_file: InputFile, part: ItemPart, rows: pl.DataFrame) -> None:
    """Compare the queries' hashes and the right candidates that a file names, where it does, with the items'.

    Args:
        lake: Where the items' gold is.
        task: What is answered.
        input_file: The file.
        part: The items.
        rows: The file's rows about them.

    Raises:
        GoldspanError: One is another.
    """
    hint = f"Is this the same revision of the data? {task.name} searches for {task.query_meaning}."
    told = rows.with_columns(pl.col("item_id", "query_sha256").cast(pl.String))
    hashed = told.filter(pl.col("query_sha256") != "")
    if hashed.height:
        asked = part.scorable.select("item_id", wanted=pl.col("query_sha256").fill_null("without a query"))
        other = hashed.join(asked, on="item_id", maintain_order="left")
        other = other.filter(pl.col("query_sha256").str.to_lowercase() != pl.col("wanted"))
        shown = pl.format("item {}: {}, here {}", "item_id", "query_sha256", "wanted")
        what = "made for another query: its sha256 is not the item's"
        refuse(input_file, other, what, shown=shown, hint=hint)
    judged = told.filter(pl.col("gold").is_not_null()).unique("item_id", keep="first", maintain_order=True)
    if judged.height:
        gold = lake.scan_part("gold_spans", part.part, benchmark=task.benchmark).filter(pl.col("gold") == _CANDIDATE)
        right = gold.select("item_id", wanted="candidate").collect()
        other = judged.join(right, on="item_id", maintain_order="left").filter(pl.col("gold") != pl.col("wanted"))
        shown = pl.format("item {}: candidate {} is right, here {}", "item_id", "gold", "wanted")
        what = "made of other rows: the right candidate is not the item's"
        refuse(input_file, other, what, shown=shown, hint=hint)
