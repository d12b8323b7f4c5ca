"""The files of pools and the definitions in them, as the lake holds them: for retrievers that see more than chunks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import polars as pl

from evaluate.retrievers import Pool
from evaluate.texts.tokens import Counted, by_spelling
from lake.errors import Exit, GoldspanError
from lake.searched import files_of
from lake.store import Lake, Part
from lake.text import counted, language_of

RULES = "docs"
"""The rules by which the definitions were found."""

_Frames = dict[tuple[object, ...], pl.DataFrame]


@dataclass(frozen=True)
class LakePools:
    """Some pools of a lake.

    Attributes:
        lake: Where from.
        pool_ids: Which pools.
        parts: The parts of table `files` that hold them, where they are known.
    """

    lake: Lake
    pool_ids: pl.Series
    parts: list[Part] | None = None

    def definitions(self, pool: Pool) -> Counted:
        """How often each chunk of a pool holds the first line of a definition of each name.

        Raises:
            GoldspanError: Some files of the pool were not looked through.
        """
        chunks = pl.DataFrame(
            {"path": list(pool.path), "start": pool.line_start, "end": pool.line_end},
            schema_overrides={"path": pl.String},
        ).with_row_index("chunk")
        cut = self._files[pool.pool_id,].join(chunks, on="path", how="semi")
        unread = [path for path in cut.filter(~pl.col("is_read"))["path"].sort() if language_of(path)]
        if unread:
            message = f"the lake has no definitions of {counted(len(unread), 'file')} of {pool.pool_id}"
            raise GoldspanError(message, examples=unread[:3], hint="First: make ingest", code=Exit.MISSING)
        begun = cut.join(self._definitions, on="sha256").join(chunks, on="path")
        begun = begun.filter(pl.col("line_start").is_between("start", "end", closed="left"))
        named = chunks.join(begun.group_by("chunk").agg("name"), on="chunk", how="left", maintain_order="left")
        return by_spelling(named["name"].fill_null([]).to_list())

    @cached_property
    def _files(self) -> _Frames:
        """pool_id, path, sha256 and whether definitions were looked for, by pool."""
        status = self.lake.scan("symbol_status").select("sha256", is_read=True)
        held = files_of(self.lake, self.pool_ids, self.parts).select("pool_id", "path", "sha256")
        known = held.join(status, on="sha256", how="left", maintain_order="left")
        return (
            known.with_columns(pl.col("is_read").fill_null(value=False)).collect().partition_by("pool_id", as_dict=True)
        )

    @cached_property
    def _definitions(self) -> pl.DataFrame:
        """sha256, name and line_start of every definition in them."""
        held = files_of(self.lake, self.pool_ids, self.parts).select("sha256").unique()
        symbols = self.lake.scan("symbols", rules=RULES).select("sha256", "name", "line_start").drop_nulls("name")
        return symbols.join(held, on="sha256", how="semi").collect()
