"""Where imported spans lie: the file of the pool that each path means, its lines, bytes and non-white characters."""

from dataclasses import dataclass

import polars as pl

from ingest.runs.ranking_rows import REPEATED
from ingest.runs.request import ImportJob
from lake.naming import UNSEARCHED
from lake.offsets import added_lines
from lake.store import Lake

MAX_FOLDERS = 64  # at most so many leading folders are dropped from a path
_FOLDERS = r"(?s)^.*/"


def _resolved(wanted: pl.DataFrame, files: pl.DataFrame) -> pl.DataFrame:
    """The file each path means: that of its name, or with the fewest leading folders dropped; none with `..`."""
    key, tail = ["pool", "path_given"], pl.col("tail")
    as_given = wanted.join(files.with_columns(path_given="path"), on=key)
    rest = wanted.join(as_given, on=key, how="anti").with_columns(tail=pl.col("path_given").cast(pl.String))
    rest = rest.filter(~tail.str.contains(r"(?:^|/)\.\.(?:/|$)"))
    resolved, texts = [as_given], files.with_columns(tail=pl.col("path").cast(pl.String))
    for _ in range(MAX_FOLDERS):
        rest = rest.filter(tail.str.contains("/", literal=True)).with_columns(tail.str.replace(r"^[^/]*/", ""))
        if rest.is_empty():
            break
        now = rest.join(texts, on=["pool", "tail"])
        resolved.append(now.select(as_given.columns))
        rest = rest.join(now, on=key, how="anti")
    return pl.concat(resolved)


def with_files(job: ImportJob, rows: pl.DataFrame, given: str, *, whole_trees: bool = False) -> pl.DataFrame:
    """Rows of pool_id, which is dropped, with the file that each path of a column means: path, sha256, n_lines."""
    pools = rows.select(pl.col("pool_id").unique().sort()).with_row_index("pool").cast({"pool": pl.Int64})
    rows = rows.join(pools, on="pool_id", how="left", maintain_order="left").drop("pool_id")
    wanted = rows.select("pool", path_given=given).unique()
    if whole_trees:
        pools = pl.concat([pools, pools.with_columns(pl.col("pool_id") + UNSEARCHED)])
    # The files that are called as some path is, whatever folder that is in.
    leaves = wanted["path_given"].cast(pl.String).str.replace(_FOLDERS, "").unique()
    files = job.lake.scan("files", benchmark=job.task.benchmark).join(pools.lazy(), on="pool_id")
    files = files.filter(pl.col("path").str.replace(_FOLDERS, "").is_in(leaves.implode()))
    files = files.join(job.lake.scan("blobs").select("sha256", "n_lines"), on="sha256")
    known = files.select("pool", pl.col("path", "sha256").cast(REPEATED), "n_lines").collect()
    resolved = _resolved(wanted, known).rename({"path_given": given})
    return rows.join(resolved, on=["pool", given], how="left", maintain_order="left").drop("pool")


def named_whole(job: ImportJob, rows: pl.DataFrame) -> pl.DataFrame:
    """Rows of a ranking in which a document that is a file's whole name means that file, even with `#L1-L2` or `::`."""
    documents = rows.select(pl.col("document").unique().cast(pl.String))
    documents = documents.filter(pl.col("document").str.contains("#L|::"))
    files = job.lake.scan("files", benchmark=job.task.benchmark).select(document="path")
    names = documents.lazy().join(files, on="document", how="semi").collect()["document"]
    whole = pl.when(pl.col("document").cast(pl.String).is_in(names.implode()).fill_null(value=False))
    cleared = [whole.then(None).otherwise(name).alias(name) for name in ("symbol", "line_start", "line_end", "nth")]
    return rows.with_columns(*cleared, path_given=whole.then("document").otherwise("path_given"))


@dataclass(frozen=True)
class ContentLines:
    """The line starts of some contents, laid end to end: one place for every line and one for each end.

    `contents` are sha256 and offset, the place of the first line; of each place `n_nws_before` are the non-white
    characters before it, also of the contents before, and `byte_at` is its byte in its content.
    """

    contents: pl.DataFrame
    n_nws_before: pl.Series
    byte_at: pl.Series

    @classmethod
    def of(cls, lake: Lake, sha256s: pl.Series) -> "ContentLines":
        """Lay out some contents."""
        wanted = sha256s.unique().cast(pl.String).to_frame("sha256").lazy()
        blobs = lake.scan("blobs").join(wanted, on="sha256", how="semi")
        stored = blobs.select("sha256", "text", "line_starts", "line_nws").collect()
        n_places = stored.select((pl.col("line_starts").list.len() + 1).cast(pl.Int64)).to_series()
        starts = pl.col("line_starts").list.concat(pl.col("text").str.len_bytes().cast(pl.Int64))
        contents = stored.select(pl.col("sha256").cast(REPEATED), offset=n_places.cum_sum() - n_places)
        before = stored.select(pl.concat_list(pl.lit(0, pl.Int64), "line_nws").explode().cum_sum()).to_series()
        return cls(contents, before, stored.select(starts.explode()).to_series())

    def measured(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Rows of sha256, line_start, line_end, inside the content, with byte_start, byte_end and n_nws."""
        placed = rows.join(self.contents, on="sha256", how="left", maintain_order="left")
        start, end = pl.col("offset") + pl.col("line_start"), pl.col("offset") + pl.col("line_end")
        byte, nws = pl.lit(self.byte_at), pl.lit(self.n_nws_before)
        placed = placed.with_columns(byte_start=byte.gather(start), byte_end=byte.gather(end))
        return placed.with_columns(n_nws=nws.gather(end) - nws.gather(start)).drop("offset")

    def added(self, rows: pl.DataFrame) -> pl.DataFrame:
        """item, rank, n_new_nws: non-white characters of the lines (on sha256) that no better rank of the item has."""
        new = self.measured(added_lines(rows, ["item", "sha256"]))
        summed = new.group_by("item", "rank").agg(n_new_nws=pl.col("n_nws").sum())
        added = rows.select("item", "rank").join(summed, on=["item", "rank"], how="left")
        return added.with_columns(pl.col("n_new_nws").fill_null(0))
