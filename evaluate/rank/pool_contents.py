"""The files of pools and the definitions in them, as the lake holds them: for retrievers that see more than chunks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from evaluate.retrievers import Pool
from evaluate.texts.tokens import Counted, by_spelling
from lake.errors import Exit, GoldspanError
from lake.searched import files_of
from lake.store import Lake, Part
from lake.text import counted, language_of

RULES = "docs"
"""The rules by which the definitions were found."""


class _File(NamedTuple):
    """A file of a pool, and whether definitions were looked for in it."""

    sha256: str
    is_read: bool


class _Definitions(NamedTuple):
    """The names of a content's definitions, and the lines on which they begin."""

    names: list[str]
    line_start: npt.NDArray[np.int64]


@dataclass(frozen=True)
class LakePools:
    """Some pools of a lake, and the parts of table `files` that hold them, where these are known."""

    lake: Lake
    pool_ids: pl.Series
    parts: list[Part] | None = None

    def definitions(self, pool: Pool) -> Counted:
        """How often each chunk of a pool holds the first line of a definition of each name.

        Raises:
            GoldspanError: Some files of the pool were not looked through.
        """
        files, chunks = self._files[pool.pool_id], dict[str, list[int]]()
        for chunk, path in enumerate(pool.path):
            if path in files:
                chunks.setdefault(path, []).append(chunk)
        unread = sorted(path for path in chunks if not files[path].is_read and language_of(path))
        if unread:
            message = f"the lake has no definitions of {counted(len(unread), 'file')} of {pool.pool_id}"
            raise GoldspanError(message, examples=unread[:3], hint="First: make ingest", code=Exit.MISSING)
        starts, ends = np.asarray(pool.line_start), np.asarray(pool.line_end)
        begun: list[list[str]] = [[] for _ in pool.path]
        for path, of_file in chunks.items():
            if (found := self._definitions.get(files[path].sha256)) is None:
                continue
            lines = found.line_start[:, None]
            for definition, place in zip(
                *np.nonzero((starts[of_file] <= lines) & (lines < ends[of_file])), strict=True
            ):
                begun[of_file[place]].append(found.names[definition])
        return by_spelling(begun)

    @cached_property
    def _files(self) -> dict[str, dict[str, _File]]:
        """The files of each pool, by path."""
        status = self.lake.scan("symbol_status").select("sha256", is_read=True)
        held = files_of(self.lake, self.pool_ids, self.parts).select("pool_id", "path", "sha256")
        known = held.join(status, on="sha256", how="left").with_columns(pl.col("is_read").fill_null(value=False))
        files: dict[str, dict[str, _File]] = {}
        for pool_id, path, sha256, is_read in known.collect().iter_rows():
            files.setdefault(pool_id, {})[path] = _File(sha256, is_read)
        return files

    @cached_property
    def _definitions(self) -> dict[str, _Definitions]:
        """The definitions in each content."""
        held = files_of(self.lake, self.pool_ids, self.parts).select("sha256").unique()
        symbols = self.lake.scan("symbols", rules=RULES).select("sha256", "name", "line_start").drop_nulls("name")
        of_content = symbols.join(held, on="sha256", how="semi").group_by("sha256").agg("name", "line_start").collect()
        return {sha256: _Definitions(names, np.array(lines)) for sha256, names, lines in of_content.iter_rows()}
