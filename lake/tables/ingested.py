"""What ingest writes: items with queries and gold, and the files that are searched."""

from __future__ import annotations

import dataframely as dy
import polars as pl


class Items(dy.Schema):
    """One row per item of a benchmark; what is searched for lies in `queries`."""

    benchmark = dy.String(primary_key=True)
    item_id = dy.String(primary_key=True)
    subset = dy.String()
    split = dy.String(nullable=True)
    level = dy.String(nullable=True)
    context = dy.String(nullable=True)
    difficulty = dy.String(nullable=True)
    source = dy.String(nullable=True)
    language = dy.String()
    repo = dy.String()
    commit = dy.String(nullable=True)
    pool_id = dy.String()
    patch = dy.String(nullable=True)
    target_path = dy.String(nullable=True)
    target_line = dy.Int64(nullable=True, min=0)
    target_text = dy.String(nullable=True)
    query_line_start = dy.Int64(nullable=True, min=0)
    n_candidates = dy.Int64(nullable=True, min=1)
    upstream_id = dy.String(nullable=True)
    gold_flags = dy.List(dy.String(), nullable=True)
    scorable = dy.Bool()
    why_not = dy.String(nullable=True)

    @dy.rule()
    def unscorable_says_why(cls) -> pl.Expr:
        """An item is scorable, or says why not."""
        return pl.col("scorable") == pl.col("why_not").is_null()


class Queries(dy.Schema):
    """The text that is searched for, one row per item and query rule: `query` is the rule's name."""

    benchmark = dy.String(primary_key=True)
    item_id = dy.String(primary_key=True)
    query = dy.String(primary_key=True)
    text = dy.String()
    sha256 = dy.String()


class GoldSpans(dy.Schema):
    """What a gold rule calls the answer: half-open line ranges per item; `gold` is the rule's name.

    `times`: how often the benchmark names the span; null is once. `grade`: how relevant it is, where that is judged in
    grades; null is 1.
    """

    benchmark = dy.String(primary_key=True)
    item_id = dy.String(primary_key=True)
    gold = dy.String(primary_key=True)
    path = dy.String(primary_key=True)
    line_start = dy.Int64(primary_key=True, min=0)
    line_end = dy.Int64(primary_key=True, min=0)
    byte_start = dy.Int64(nullable=True, min=0)
    byte_end = dy.Int64(nullable=True, min=0)
    candidate = dy.Int64(nullable=True, min=0)
    times = dy.Int64(nullable=True, min=1)
    grade = dy.Int64(nullable=True, min=1)

    @dy.rule()
    def range_is_not_reversed(cls) -> pl.Expr:
        """A range ends where it starts or after."""
        return pl.col("line_end") >= pl.col("line_start")


class Blobs(dy.Schema):
    """A file's content, stored once per sha256 of its bytes.

    `line_starts` are byte offsets into the text's UTF-8; `line_nws` are each line's non-whitespace characters.
    """

    sha256 = dy.String(primary_key=True)
    text = dy.String()
    n_bytes = dy.Int64(min=0)
    n_lines = dy.Int64(min=0)
    line_starts = dy.List(dy.Int64())
    line_nws = dy.List(dy.Int64())
    language = dy.String()
    flags = dy.List(dy.String())


class Files(dy.Schema):
    """Which paths a pool holds, and the content of each, in the pool's own order."""

    pool_id = dy.String(primary_key=True)
    path = dy.String(primary_key=True)
    sha256 = dy.String()
    position = dy.Int64(min=0)


class Pools(dy.Schema):
    """What items search: a repository, of which `rest` is what is not searched, or an item's own `candidates`."""

    pool_id = dy.String(primary_key=True)
    benchmark = dy.String()
    repo = dy.String(nullable=True)
    commit = dy.String(nullable=True)
    kind = dy.String()
    n_files = dy.Int64(min=0)


class Chunks(dy.Schema):
    """How a chunker cuts a content: half-open lines and bytes; the text is that slice of the blob."""

    chunker = dy.String(primary_key=True)
    sha256 = dy.String(primary_key=True)
    chunk_no = dy.Int64(primary_key=True, min=0)
    line_start = dy.Int64(min=0)
    line_end = dy.Int64(min=0)
    byte_start = dy.Int64(min=0)
    byte_end = dy.Int64(min=0)
    n_nws = dy.Int64(min=0)


class ChunkStatus(dy.Schema):
    """How cutting a content went: into how many chunks, why not the chunker's own way, and why not at all.

    `n_covered` of its `n_nws` non-whitespace characters lie in some chunk.
    """

    chunker = dy.String(primary_key=True)
    sha256 = dy.String(primary_key=True)
    n_chunks = dy.Int64(min=0)
    fell_back = dy.String(nullable=True)
    failed = dy.String(nullable=True)
    n_nws = dy.Int64(min=0)
    n_covered = dy.Int64(min=0)


class SymbolStatus(dy.Schema):
    """A content in which definitions were looked for, and why it could not be parsed."""

    sha256 = dy.String(primary_key=True)
    failed = dy.String(nullable=True)


class Symbols(dy.Schema):
    """A definition in a content, as one set of rules finds it; `kind` is the syntax tree's own name for the node."""

    rules = dy.String(primary_key=True)
    sha256 = dy.String(primary_key=True)
    byte_start = dy.Int64(primary_key=True, min=0)
    byte_end = dy.Int64(primary_key=True, min=0)
    kind = dy.String(primary_key=True)
    name = dy.String(nullable=True)
    qualified_name = dy.String(nullable=True)
    line_start = dy.Int64(min=0)
    line_end = dy.Int64(min=0)
