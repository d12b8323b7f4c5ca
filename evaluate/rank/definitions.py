"""The definitions in the files of pools, as the lake holds them: for retrievers that go by more than words."""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from evaluate.retrievers import Pool
from evaluate.texts.tokens import Counted, by_spelling
from lake.errors import Exit, GoldspanError
from lake.pools import files_of, parts_holding
from lake.store import Lake
from lake.text import counted, language_of

_NOTHING: tuple[list[int], list[str]] = ([], [])

DEFINITION_RULES = "docs"
"""The rules by which the definitions were found."""


@dataclass(frozen=True)
class PoolDefinitions:
    """The definitions of some pools of a lake."""

    lake: Lake
    pool_ids: pl.Series

    def __call__(self, pool: Pool) -> Counted:
        """How often each chunk of a pool holds the first line of a definition of each name."""
        files = self._files.get(pool.pool_id, {})
        unread = sorted(path for path in set(pool.path) & files.keys() if not files[path][1] and language_of(path))
        if unread:
            message = f"the lake has no definitions of {counted(len(unread), 'file')} of {pool.pool_id}"
            raise GoldspanError(message, examples=unread[:3], hint="First: make ingest", code=Exit.MISSING)
        # There are many small pools: a query plan for each would take longer than the search.
        names: list[Sequence[str]] = []
        for path, start, end in zip(pool.path, pool.line_start, pool.line_end, strict=True):
            lines, defined = self._symbols.get(files[path][0], _NOTHING) if path in files else _NOTHING
            names.append(defined[bisect_left(lines, start) : bisect_left(lines, end)])
        return by_spelling(names)

    @cached_property
    def _contents(self) -> pl.DataFrame:
        """The files of the pools: pool_id, path, sha256, is_read."""
        status = self.lake.scan("symbol_status").select("sha256", is_read=True)
        files = files_of(self.lake, self.pool_ids).select("pool_id", "path", "sha256")
        known = files.join(status, on="sha256", how="left").with_columns(pl.col("is_read").fill_null(value=False))
        return known.collect()

    @cached_property
    def _files(self) -> Mapping[str, Mapping[str, tuple[str, bool]]]:
        """Pool → path → the content, and whether it was read for definitions."""
        files: dict[str, dict[str, tuple[str, bool]]] = {}
        for pool_id, path, sha256, is_read in self._contents.iter_rows():
            files.setdefault(pool_id, {})[path] = (sha256, is_read)
        return files

    @cached_property
    def _symbols(self) -> Mapping[str, tuple[list[int], list[str]]]:
        """Content → the lines that begin a definition, in order, and the name of each."""
        parts = parts_holding(self.lake, "symbols", "sha256", self._contents["sha256"], rules=DEFINITION_RULES)
        symbols = self.lake.scan_parts(parts, "symbols").select("sha256", "line_start", "name").drop_nulls("name")
        mine = symbols.join(self._contents.lazy().select("sha256"), on="sha256", how="semi")
        by_content = mine.sort("sha256", "line_start", "name").group_by("sha256", maintain_order=True)
        rows = by_content.agg("line_start", "name").collect()
        return {sha256: (lines, names) for sha256, lines, names in rows.iter_rows()}
