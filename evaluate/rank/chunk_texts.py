"""The texts of chunks: their pieces are counted from those of the contents they lie in, and no text is read for it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl
import scipy

from evaluate.rank.blobs import contents_of
from evaluate.rank.content_pieces import in_batches, pieces_of
from evaluate.rank.definitions import definitions_in
from evaluate.texts.pieces import cut_lines
from evaluate.texts.tokens import Counted, Texts, Tokenizer, Vocabulary, defined_names
from lake.exact import Integers
from lake.store import Lake
from lake.text import pieces

PATH, CHUNK = "{path}", "{chunk}"
"""In the text that a chunker gives a chunk, the file's path and the chunk's own text."""


class ChunkTexts(Texts):
    """The texts of chunks of the lake, each read when it is first looked at.

    `spans` has a row for each: sha256, line_start, line_end, byte_start, byte_end; and, where some are ranked by a text
    of their chunker's, path and text.
    """

    def __init__(self, lake: Lake, spans: pl.DataFrame) -> None:
        super().__init__()
        self._lake, self._spans = lake, spans

    def __len__(self) -> int:
        return len(self._spans)

    def part(self, rows: Integers) -> Texts:
        """Some of them, by themselves."""
        return ChunkTexts(self._lake, self._spans[rows])

    @cached_property
    def text(self) -> Sequence[str]:
        """The texts."""
        return texts_of(self._lake, self._spans).to_list()

    @property
    def own_text(self) -> Sequence[str]:
        """What the chunks themselves say."""
        return texts_of(self._lake, self._spans.drop("text", strict=False)).to_list()

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
            counted.append(_Counts(here["chunk"], of_lines.vocabulary, of_lines.counts(start, end)))
        # What starts or ends within a line may have parts of pieces.
        for some in in_batches(cut.with_columns(text=texts_of(self._lake, cut))):
            of_texts = cut_lines(some["text"])
            counts = of_texts.counts(of_texts.first_line[:-1], of_texts.first_line[1:])
            counted.append(_Counts(some["chunk"], of_texts.vocabulary, counts))
        return _merged(counted, len(spans))

    @cached_property
    def _are_whole_lines(self) -> pl.Series:
        if "text" in self._spans.columns:
            # What a chunker says of a chunk is in no line of its file.
            return pl.repeat(value=False, n=len(self._spans), eager=True)
        contents = contents_of(self._lake, self._spans["sha256"], ["line_starts", "n_bytes"])
        edges = contents.lazy().select("sha256", edges=pl.concat_list("line_starts", "n_bytes"))
        first = edges.select("sha256", first=pl.col("edges").list.len().cum_sum() - pl.col("edges").list.len())
        of_chunks = self._spans.lazy().join(first, on="sha256", how="left", maintain_order="left")
        spans, bytes_of = pl.collect_all([of_chunks, edges.select(pl.col("edges").explode())])
        byte = bytes_of["edges"]
        sides = [byte[spans["first"] + spans[f"line_{side}"]] == spans[f"byte_{side}"] for side in ("start", "end")]
        return sides[0] & sides[1]


def texts_of(lake: Lake, spans: pl.DataFrame) -> pl.Series:
    """The texts of chunks: sha256, byte_start, byte_end and, where their chunker has texts of its own, path, text."""
    text = pl.col("text").cast(pl.Binary).bin.slice(pl.col("byte_start"), pl.col("byte_end") - pl.col("byte_start"))
    contents = contents_of(lake, spans["sha256"], ["text"])
    given = [pl.col("path"), pl.col("text").alias("said")] if "text" in spans.columns else []
    bytes_of = spans.lazy().select("sha256", "byte_start", "byte_end", *given)
    joined = bytes_of.join(contents.lazy(), on="sha256", how="left", maintain_order="left")
    own = text.cast(pl.String)
    if given:
        placed = pl.col("said").str.replace_all(PATH, pl.col("path"), literal=True)
        own = pl.coalesce(placed.str.replace_all(CHUNK, own, literal=True), own)
    return joined.select(own.alias("text")).collect().to_series()


class _Counts(NamedTuple):
    """How often some chunks have the pieces of a vocabulary."""

    chunk: pl.Series
    vocabulary: pl.Series
    counts: scipy.sparse.csr_array


def _merged(counted: Sequence[_Counts], n_chunks: int) -> Counted:
    vocabulary, places = _united([some.vocabulary for some in counted])
    every, token, row = [some.counts.tocoo() for some in counted], [np.zeros(0, np.int32)], [np.zeros(0, np.uint32)]
    token += [columns[counts.col] for counts, columns in zip(every, places, strict=True)]
    row += [some.chunk.to_numpy()[counts.row] for counts, some in zip(every, counted, strict=True)]
    columns, n = np.concatenate(token), np.concatenate([np.zeros(0), *(counts.data for counts in every)])
    # Contents may have tokens that none of the chunks has.
    is_said = np.bincount(columns, minlength=len(vocabulary)) > 0
    columns = (np.cumsum(is_said, dtype=np.int32) - 1)[columns]
    vocabulary = vocabulary.filter(pl.Series(is_said))
    # Of a chunk the tokens come in the order of their spelling, and stay in it: nothing is sorted here.
    cells = np.concatenate(row).astype(np.int32), columns
    counts = scipy.sparse.coo_array((n, cells), shape=(n_chunks, len(vocabulary))).tocsr()
    return Counted(Vocabulary(vocabulary), scipy.sparse.csr_array(counts))


def _united(vocabularies: Sequence[pl.Series]) -> tuple[pl.Series, list[npt.NDArray[np.int32]]]:
    """Several vocabularies as one, and the places in it of the tokens of each, which ascend as those did."""
    tokens = [pl.LazyFrame({"token": words}) for words in vocabularies]
    every = pl.concat([pl.LazyFrame(schema={"token": pl.String}), *tokens]).unique().sort("token")
    numbered = every.with_columns(place=pl.int_range(pl.len(), dtype=pl.Int32))
    joined = [words.join(numbered, on="token", how="left", maintain_order="left").select("place") for words in tokens]
    united, *places = pl.collect_all([every, *joined])
    return united["token"], [column["place"].to_numpy() for column in places]
