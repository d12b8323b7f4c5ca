"""Tables written by ingest: items with queries and gold, and the searched files."""

import dataframely as dy
import polars as pl

from lake.tables.columns import columns


class Items(dy.Schema):
    """One row per item of a benchmark; the query texts are in `queries`."""

    benchmark, item_id = columns(2, dy.String, primary_key=True)
    subset = dy.String()
    split, level, context, difficulty, source = columns(5, dy.String, nullable=True)
    language, repo = columns(2, dy.String)
    commit = dy.String(nullable=True)
    pool_id = dy.String()
    patch, target_path = columns(2, dy.String, nullable=True)
    target_line = dy.Int64(nullable=True, min=0)
    target_text, function_name, need = columns(3, dy.String, nullable=True)
    query_line_start = dy.Int64(nullable=True, min=0)
    n_candidates = dy.Int64(nullable=True, min=1)
    upstream_id = dy.String(nullable=True)
    gold_flags = dy.List(dy.String(), nullable=True)
    scorable = dy.Bool()
    why_not = dy.String(nullable=True)

    @dy.rule()
    def unscorable_says_why(cls) -> pl.Expr:
        """An item is scorable, or has a reason why not."""
        return pl.col("scorable") == pl.col("why_not").is_null()


class QueryRows(dy.Schema):
    """The query text of an item under a query rule, whose name is in `query`."""

    benchmark, item_id, query = columns(3, dy.String, primary_key=True)
    text, sha256 = columns(2, dy.String)


class GoldSpans(dy.Schema):
    """The gold of an item under a gold rule: half-open line ranges."""

    benchmark, item_id, gold, path = columns(4, dy.String, primary_key=True)
    line_start, line_end = columns(2, dy.Int64, primary_key=True, min=0)
    byte_start, byte_end, candidate = columns(3, dy.Int64, min=0, nullable=True)
    times, grade = columns(2, dy.Int64, min=1, nullable=True)

    @dy.rule()
    def range_is_not_reversed(cls) -> pl.Expr:
        """A range ends where it starts or after."""
        return pl.col("line_end") >= pl.col("line_start")


class Blobs(dy.Schema):
    """A file's content, stored once per sha256 of its bytes; positions refer to its text in UTF-8."""

    sha256 = dy.String(primary_key=True)
    text = dy.String()
    n_bytes, n_lines = columns(2, dy.Int64, min=0)
    line_starts, line_nws = columns(2, dy.List, inner=dy.Int64())
    language = dy.String()
    flags = dy.List(dy.String())


class Files(dy.Schema):
    """The files of a pool: path, content hash, and position in the pool's own order."""

    pool_id, path = columns(2, dy.String, primary_key=True)
    sha256 = dy.String()
    position = dy.Int64(min=0)


class Pools(dy.Schema):
    """A pool that items search: a repository's files (kind `rest`: those not searched), or an item's `candidates`."""

    pool_id = dy.String(primary_key=True)
    benchmark = dy.String()
    repo, commit = columns(2, dy.String, nullable=True)
    kind = dy.String()
    n_files = dy.Int64(min=0)


class Chunks(dy.Schema):
    """A chunk of a file's content, made by one chunker: half-open ranges of lines and bytes."""

    chunker, sha256 = columns(2, dy.String, primary_key=True)
    chunk_no = dy.Int64(primary_key=True, min=0)
    line_start, line_end, byte_start, byte_end, n_nws = columns(5, dy.Int64, min=0)
    text = dy.String(nullable=True)


class ChunkStatus(dy.Schema):
    """The result of chunking a content: the number of chunks, why a fallback was used, and why it failed."""

    chunker, sha256 = columns(2, dy.String, primary_key=True)
    n_chunks = dy.Int64(min=0)
    fell_back, failed = columns(2, dy.String, nullable=True)
    n_nws, n_covered = columns(2, dy.Int64, min=0)


class SymbolStatus(dy.Schema):
    """A content that was searched for definitions, and why it could not be parsed."""

    sha256 = dy.String(primary_key=True)
    failed = dy.String(nullable=True)


class Symbols(dy.Schema):
    """A definition in a content, found by one set of rules; `kind` is the type of its node in the syntax tree."""

    rules, sha256 = columns(2, dy.String, primary_key=True)
    byte_start, byte_end = columns(2, dy.Int64, primary_key=True, min=0)
    kind = dy.String(primary_key=True)
    name, qualified_name = columns(2, dy.String, nullable=True)
    line_start, line_end = columns(2, dy.Int64, min=0)


class RejectRows(dy.Schema):
    """An input or row that could not be read or scored: where it is, and why. Nothing is dropped silently."""

    stage, source, position = columns(3, dy.String, primary_key=True)
    reason, excerpt = columns(2, dy.String)
