"""The texts of chunks, whose pieces are counted from those of their files' contents, each of which is cut once."""

from __future__ import annotations

from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np
import polars as pl
import scipy

from evaluate.texts.pieces import Pieces, count_pieces, cut_lines, pieces
from evaluate.texts.tokens import Counted, Texts, Tokenizer, by_spelling, defined_names
from lake.errors import Exit, GoldspanError
from lake.exact import Integers, Mask
from lake.store import Lake, contents_of, parts_holding
from lake.text import counted, language_of

BYTES_AT_ONCE = 8_000_000
"""The approximate number of bytes of text that are cut at a time, which bounds memory."""

BYTES_KEPT = 256_000_000
"""The number of bytes of pieces kept in memory, in addition to those in use."""

DEFINITION_RULES = "docs"
"""The rule set of the definitions used by retrievers."""


class ChunkTexts(Texts):
    """The texts of chunks (sha256, lines, bytes, n_nws), read on first use.

    If chunks are ranked by a text that their chunker supplies, they have it as `text`, and their path.
    """

    def __init__(self, lake: Lake, spans: pl.DataFrame) -> None:
        super().__init__()
        self._lake, self._spans = lake, spans

    def __len__(self) -> int:
        return len(self._spans)

    @cached_property
    def is_blank(self) -> Mask:
        """Whether each text is only white space."""
        return super().is_blank if "text" in self._spans.columns else (self._spans["n_nws"] == 0).to_numpy()

    def part(self, rows: Integers) -> ChunkTexts:
        """Some of the texts, as an independent object."""
        return ChunkTexts(self._lake, self._spans[rows])

    @property
    def own(self) -> ChunkTexts:
        """The chunks' own texts, even if their chunker supplies other ones."""
        return ChunkTexts(self._lake, self._spans.drop("text")) if "text" in self._spans.columns else self

    @property
    def series(self) -> pl.Series:
        """The texts as a column."""
        spans, text = self._spans, pl.col("text").cast(pl.Binary)
        contents = contents_of(self._lake, spans["sha256"], ["text"])
        given = [pl.col("path"), pl.col("text").alias("said")] if "text" in spans.columns else []
        bytes_of = spans.lazy().select("sha256", "byte_start", "byte_end", *given)
        joined = bytes_of.join(contents.lazy(), on="sha256", how="left", maintain_order="left")
        own = text.bin.slice(pl.col("byte_start"), pl.col("byte_end") - pl.col("byte_start")).cast(pl.String)
        if given:
            # A supplied text has placeholders for the file's path and the chunk's own text.
            placed = pl.col("said").str.replace_all("{path}", pl.col("path"), literal=True)
            own = pl.coalesce(placed.str.replace_all("{chunk}", own, literal=True), own)
        return joined.select(own.alias("text")).collect().to_series()

    @cached_property
    def text(self) -> Sequence[str]:
        """The texts."""
        return self.series.to_list()

    def _count(self, tokens: Tokenizer) -> Counted:
        if tokens is defined_names:
            return definitions_in(self._lake, self._spans)
        if tokens is not pieces:
            return super()._count(tokens)
        counted, spans = list[_Counts](), self._spans.with_row_index("chunk")
        cut, whole = (spans[np.flatnonzero(self._are_whole_lines == is_whole)] for is_whole in (False, True))
        for contents, of_lines in pieces_of(self._lake, whole["sha256"]):
            here = whole.join(contents, on="sha256", maintain_order="left")
            start, end = ((here["first_line"] + here[side]).to_numpy() for side in ("line_start", "line_end"))
            counted.append((here["chunk"], of_lines.vocabulary, of_lines.counts(start, end)))
        # A chunk that starts or ends within a line may cut through a piece.
        for some in in_batches(cut.with_columns(text=ChunkTexts(self._lake, cut).series)):
            counted.append((some["chunk"], *count_pieces(some["text"])))
        return _merged(counted, len(spans))

    @cached_property
    def _are_whole_lines(self) -> pl.Series:
        if "text" in self._spans.columns:
            # A text supplied by a chunker is not made of lines of the file.
            return pl.repeat(value=False, n=len(self._spans), eager=True)
        contents = contents_of(self._lake, self._spans["sha256"], ["line_starts", "n_bytes"])
        edges = contents.lazy().select("sha256", edges=pl.concat_list("line_starts", "n_bytes"))
        first = edges.select("sha256", first=pl.col("edges").list.len().cum_sum() - pl.col("edges").list.len())
        of_chunks = self._spans.lazy().join(first, on="sha256", how="left", maintain_order="left")
        spans, bytes_of = pl.collect_all([of_chunks, edges.select(pl.col("edges").explode())])
        byte = bytes_of["edges"]
        sides = [byte[spans["first"] + spans[f"line_{side}"]] == spans[f"byte_{side}"] for side in ("start", "end")]
        return sides[0] & sides[1]


_Counts = tuple[pl.Series, pl.Series, scipy.sparse.csr_array]
"""The numbers of some chunks, a vocabulary, and the counts of its pieces in each chunk."""


def _merged(counted: Sequence[_Counts], n_chunks: int) -> Counted:
    vocabulary = pl.concat([pl.Series(dtype=pl.String), *(known for _, known, _ in counted)]).unique().sort()
    token, row, n = [np.zeros(0, np.uint32)], [np.zeros(0, np.uint32)], [np.zeros(0)]
    for chunk, known, counts in counted:
        cells = counts.tocoo()
        token.append(vocabulary.search_sorted(known).to_numpy()[cells.col])
        row.append(chunk.to_numpy()[cells.row])
        n.append(cells.data)
    columns = np.concatenate(token)
    # Contents may have tokens that occur in none of the chunks.
    is_said = np.bincount(columns, minlength=len(vocabulary)) > 0
    vocabulary = vocabulary.filter(pl.Series(is_said))
    # Each chunk's tokens are already sorted by spelling, and stay so.
    places = np.concatenate(row).astype(np.int32), (np.cumsum(is_said, dtype=np.int32) - 1)[columns]
    merged = scipy.sparse.coo_array((np.concatenate(n), places), shape=(n_chunks, len(vocabulary))).tocsr()
    return Counted.of(vocabulary, scipy.sparse.csr_array(merged))


Block = tuple[pl.DataFrame, Pieces]
"""Contents that were cut together: sha256 and `first_line` of each, and their pieces."""

_kept = OrderedDict[str, Block]()


def pieces_of(lake: Lake, sha256: pl.Series) -> list[Block]:
    """Blocks that together contain the pieces of some contents; each content is in one of them."""
    missing, blocks = set(sha256), list[Block]()
    for key, block in list(_kept.items()):
        if known := missing.intersection(block[0]["sha256"].to_list()):
            _kept.move_to_end(key)
            blocks.append(block)
            missing -= known
    contents = contents_of(lake, pl.Series("sha256", sorted(missing), pl.String), ["text"])
    for some in in_batches(contents):
        cut = cut_lines(some["text"])
        blocks.append((some.select("sha256", first_line=pl.Series(cut.first_line[:-1])), cut))
        _kept[some["sha256"][0]] = blocks[-1]
    while len(_kept) > 1 and sum(cut.n_bytes for _, cut in _kept.values()) > BYTES_KEPT:
        _kept.popitem(last=False)
    return blocks


def in_batches(frame: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """Rows with a `text`, in batches of a size that is cut at a time."""
    size = pl.col("text").str.len_bytes().cast(pl.Int64)
    numbered = frame.with_columns(batch=size.cum_sum() // BYTES_AT_ONCE)
    yield from numbered.partition_by("batch", maintain_order=True, include_key=False)


def definitions_in(lake: Lake, spans: pl.DataFrame) -> Counted:
    """For each chunk, the count of each name whose definition starts in it; an error if a file was not searched."""
    contents = spans.lazy().select("sha256").unique()
    # An empty file is ranked if blank text is, but is never searched for definitions.
    with_lines = spans.lazy().filter(pl.col("line_start") < pl.col("line_end")).select("sha256")
    unread = with_lines.unique().join(lake.scan("symbol_status"), on="sha256", how="anti")
    paths = lake.scan("files").join(unread, on="sha256", how="semi").select("path").unique().sort("path").collect()
    # A candidate snippet has no file suffix, and is never searched for definitions.
    if files := [path for path in paths["path"] if language_of(path)]:
        message = f"the lake has no definitions of {counted(len(files), 'file')}"
        raise GoldspanError(message, examples=files[:3], hint="First: make ingest", code=Exit.MISSING)
    parts = parts_holding(lake, "symbols", "sha256", spans["sha256"], rules=DEFINITION_RULES)
    symbols = lake.scan_parts(parts, "symbols").select("sha256", "line_start", "name").drop_nulls("name")
    of_contents = symbols.join(contents, on="sha256", how="semi").sort("sha256", "line_start", "name")
    rows = of_contents.group_by("sha256", maintain_order=True).agg("line_start", "name").collect().iter_rows()
    defined = {sha256: (lines, names) for sha256, lines, names in rows}
    of_chunks = list[Sequence[str]]()
    for sha256, start, end in spans.select("sha256", "line_start", "line_end").iter_rows():
        lines, names = defined.get(sha256, ((), ()))
        of_chunks.append(names[bisect_left(lines, start) : bisect_left(lines, end)])
    return by_spelling(of_chunks)
