"""The definitions in the files of pools, as the lake holds them: for retrievers that go by more than words."""

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


@dataclass(frozen=True)
class Definitions:
    """The definitions of some pools of a lake; `parts` of table `files` hold these, where they are known."""

    lake: Lake
    pool_ids: pl.Series
    parts: list[Part] | None = None

    def __call__(self, pool: Pool) -> Counted:
        """How often each chunk of a pool holds the first line of a definition of each name."""
        path = pl.Series(pool.path, dtype=pl.String)
        chunks = pl.DataFrame({"path": path, "start": pool.line_start, "end": pool.line_end}).with_row_index("chunk")
        files = chunks.join(self._files.filter(pool_id=pool.pool_id), on="path")
        unread = [path for path in files.filter(~pl.col("is_read"))["path"].unique().sort() if language_of(path)]
        if unread:
            message = f"the lake has no definitions of {counted(len(unread), 'file')} of {pool.pool_id}"
            raise GoldspanError(message, examples=unread[:3], hint="First: make ingest", code=Exit.MISSING)
        begun = files.join(self._symbols, on="sha256").filter(pl.col("line_start").is_between("start", "end", "left"))
        names = chunks.join(begun.group_by("chunk").agg("name"), on="chunk", how="left", maintain_order="left")["name"]
        return by_spelling([of_chunk or () for of_chunk in names.to_list()])

    @cached_property
    def _files(self) -> pl.DataFrame:
        """The files of the pools: pool_id, path, sha256, is_read."""
        status = self.lake.scan("symbol_status").select("sha256", is_read=True)
        files = files_of(self.lake, self.pool_ids, self.parts).select("pool_id", "path", "sha256")
        known = files.join(status, on="sha256", how="left").with_columns(pl.col("is_read").fill_null(value=False))
        return known.collect()

    @cached_property
    def _symbols(self) -> pl.DataFrame:
        """The definitions in the files: sha256, name, line_start."""
        symbols = self.lake.scan("symbols", rules=RULES).select("sha256", "name", "line_start").drop_nulls("name")
        return symbols.join(self._files.lazy().select("sha256"), on="sha256", how="semi").collect()
