"""Resolve imported spans: the file of the pool that each path means, its lines, bytes and non-white characters."""

import polars as pl

from ingest.runs.ranking_rows import REPEATED
from ingest.runs.request import ImportJob
from lake.offsets import added_lines
from lake.store import Lake, contents_of
from lake.tables import UNSEARCHED

_FOLDERS = r"(?s)^.*[/\\]"


def _resolved(wanted: pl.DataFrame, files: pl.DataFrame) -> pl.DataFrame:
    """The file of each path: an exact match, else (a backslash is a slash) the fewest leading folders dropped."""
    key, tail = ["pool", "path_given"], pl.col("tail")
    as_given = wanted.join(files.with_columns(path_given="path"), on=key)
    slashes = pl.col("path_given").cast(pl.String).str.replace_all("\\", "/", literal=True)
    rest = wanted.join(as_given, on=key, how="anti").with_columns(tail=slashes)
    rest = rest.filter(~tail.str.contains(r"(?:^|/)\.\.(?:/|$)"))
    resolved, texts = [as_given], files.with_columns(tail=pl.col("path").cast(pl.String))
    for _ in range(65):  # at most 64 leading folders are dropped from a path
        now = rest.join(texts, on=["pool", "tail"])
        resolved.append(now.select(as_given.columns))
        rest = rest.join(now, on=key, how="anti").filter(tail.str.contains("/", literal=True))
        rest = rest.with_columns(tail.str.replace(r"^[^/]*/", ""))
        if rest.is_empty():
            break
    return pl.concat(resolved)


def with_files(job: ImportJob, rows: pl.DataFrame, given: str, *, whole_trees: bool = False) -> pl.DataFrame:
    """The rows, without pool_id, with path, sha256 and n_lines of the file that the path in column `given` means.

    These are null if it means no file. `whole_trees` includes files of the repository that are not searched.
    """
    pools = rows.select(pl.col("pool_id").unique().sort()).with_row_index("pool").cast({"pool": pl.Int64})
    rows = rows.join(pools, on="pool_id", how="left", maintain_order="left").drop("pool_id")
    wanted = rows.select("pool", path_given=given).unique()
    if whole_trees:
        pools = pl.concat([pools, pools.with_columns(pl.col("pool_id") + UNSEARCHED)])
    # Only files with the name of some wanted path, in any folder.
    leaves = wanted["path_given"].cast(pl.String).str.replace(_FOLDERS, "").unique()
    files = job.lake.scan("files", benchmark=job.task.benchmark).join(pools.lazy(), on="pool_id")
    files = files.filter(pl.col("path").str.replace(_FOLDERS, "").is_in(leaves.implode()))
    files = files.join(job.lake.scan("blobs").select("sha256", "n_lines"), on="sha256")
    known = files.select("pool", pl.col("path", "sha256").cast(REPEATED), "n_lines").collect()
    resolved = _resolved(wanted, known).rename({"path_given": given})
    return rows.join(resolved, on=["pool", given], how="left", maintain_order="left").drop("pool")


def named_whole(job: ImportJob, rows: pl.DataFrame) -> pl.DataFrame:
    """Rows of a ranking in which a document equal to a file's path means that file, even if it has `#L1-L2` or `::`."""
    documents = rows.select(pl.col("document").unique().cast(pl.String))
    documents = documents.filter(pl.col("document").str.contains("#L|::"))
    files = job.lake.scan("files", benchmark=job.task.benchmark).select(document="path")
    names = documents.lazy().join(files, on="document", how="semi").collect()["document"]
    whole = pl.when(pl.col("document").cast(pl.String).is_in(names.implode()).fill_null(value=False))
    cleared = [whole.then(None).otherwise(name).alias(name) for name in ("symbol", "line_start", "line_end", "nth")]
    return rows.with_columns(*cleared, path_given=whole.then("document").otherwise("path_given"))


def measured(lake: Lake, rows: pl.DataFrame) -> pl.DataFrame:
    """Rows of item, rank, sha256, line_start, line_end with byte_start, byte_end, n_nws and n_new_nws added.

    The last counts the non-white characters in lines that no better rank of the item has.
    """
    wanted = rows["sha256"].cast(pl.String).unique().drop_nulls()
    stored = contents_of(lake, wanted, ("text", "line_starts", "line_nws"))
    # All contents one after another: an entry for the start of every line, and one for the end of each content.
    starts = pl.col("line_starts").list.concat(pl.col("text").str.len_bytes().cast(pl.Int64))
    n_places = pl.col("line_starts").list.len().cast(pl.Int64) + 1
    contents = stored.select(pl.col("sha256").cast(REPEATED), offset=n_places.cum_sum() - n_places)
    byte_at = pl.lit(stored.select(starts.explode()).to_series())
    n_nws = pl.concat_list(pl.lit(0, pl.Int64), "line_nws").explode().cum_sum()
    nws_before = pl.lit(stored.select(n_nws).to_series())

    def with_sizes(rows: pl.DataFrame) -> pl.DataFrame:
        start, end = pl.col("offset") + pl.col("line_start"), pl.col("offset") + pl.col("line_end")
        placed = rows.join(contents, on="sha256", how="left", maintain_order="left")
        placed = placed.with_columns(n_nws=nws_before.gather(end) - nws_before.gather(start))
        return placed.with_columns(byte_start=byte_at.gather(start), byte_end=byte_at.gather(end)).drop("offset")

    new = with_sizes(added_lines(rows.filter(pl.col("sha256").is_not_null()), ["item", "sha256"]))
    new = new.group_by("item", "rank").agg(n_new_nws=pl.col("n_nws").sum())
    whole = with_sizes(rows).join(new, on=["item", "rank"], how="left", maintain_order="left")
    return whole.with_columns(pl.when(pl.col("sha256").is_not_null()).then(pl.col("n_new_nws").fill_null(0)))
