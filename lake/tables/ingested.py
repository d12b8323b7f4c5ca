"""Tables written by ingest: items with queries and gold, and the searched files."""

import dataframely as dy
import polars as pl

from lake.tables.columns import integer_columns, key_columns, text_columns


class Items(dy.Schema):
    """One row per item of a benchmark; the query texts are in `queries`."""

    benchmark, item_id = key_columns(2)
    subset = dy.String()
    split, level, context, difficulty, source = text_columns(5, nullable=True)
    language, repo = text_columns(2)
    commit = dy.String(nullable=True)
    pool_id = dy.String()
    patch, target_path = text_columns(2, nullable=True)
    target_line = dy.Int64(nullable=True, min=0)
    target_text, function_name, need = text_columns(3, nullable=True)
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

    benchmark, item_id, query = key_columns(3)
    text, sha256 = text_columns(2)


class GoldSpans(dy.Schema):
    """The gold of an item under a gold rule: half-open line ranges."""

    benchmark, item_id, gold, path = key_columns(4)
    line_start = dy.Int64(primary_key=True, min=0)
    line_end = dy.Int64(primary_key=True, min=0)
    byte_start, byte_end, candidate = integer_columns(3, nullable=True)
    times, grade = integer_columns(2, least=1, nullable=True)

    @dy.rule()
    def range_is_not_reversed(cls) -> pl.Expr:
        """A range ends where it starts or after."""
        return pl.col("line_end") >= pl.col("line_start")


class Blobs(dy.Schema):
    """A file's content, stored once per sha256 of its bytes; positions refer to its text in UTF-8."""

    sha256 = dy.String(primary_key=True)
    text = dy.String()
    n_bytes, n_lines = integer_columns(2)
    line_starts = dy.List(dy.Int64())
    line_nws = dy.List(dy.Int64())
    language = dy.String()
    flags = dy.List(dy.String())


class Files(dy.Schema):
    """The files of a pool: path, content hash, and position in the pool's own order."""

    pool_id, path = key_columns(2)
    sha256 = dy.String()
    position = dy.Int64(min=0)


class Pools(dy.Schema):
    """A pool that items search: a repository's files (kind `rest`: those not searched), or an item's `candidates`."""

    pool_id = dy.String(primary_key=True)
    benchmark = dy.String()
    repo, commit = text_columns(2, nullable=True)
    kind = dy.String()
    n_files = dy.Int64(min=0)


class Chunks(dy.Schema):
    """A chunk of a file's content, made by one chunker: half-open ranges of lines and bytes."""

    chunker, sha256 = key_columns(2)
    chunk_no = dy.Int64(primary_key=True, min=0)
    line_start, line_end, byte_start, byte_end, n_nws = integer_columns(5)
    text = dy.String(nullable=True)


class ChunkStatus(dy.Schema):
    """The result of chunking a content: the number of chunks, why a fallback was used, and why it failed."""

    chunker, sha256 = key_columns(2)
    n_chunks = dy.Int64(min=0)
    fell_back, failed = text_columns(2, nullable=True)
    n_nws, n_covered = integer_columns(2)


class SymbolStatus(dy.Schema):
    """A content that was searched for definitions, and why it could not be parsed."""

    sha256 = dy.String(primary_key=True)
    failed = dy.String(nullable=True)


class Symbols(dy.Schema):
    """A definition in a content, found by one set of rules; `kind` is the type of its node in the syntax tree."""

    rules, sha256 = key_columns(2)
    byte_start = dy.Int64(primary_key=True, min=0)
    byte_end = dy.Int64(primary_key=True, min=0)
    kind = dy.String(primary_key=True)
    name, qualified_name = text_columns(2, nullable=True)
    line_start, line_end = integer_columns(2)


class RejectRows(dy.Schema):
    """An input or row that could not be read or scored: where it is, and why. Nothing is dropped silently."""

    stage, source, position = key_columns(3)
    reason, excerpt = text_columns(2)
