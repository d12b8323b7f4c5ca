"""The texts of chunks: their tokens are counted from those of the contents they lie in, and no text is read for it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
import polars as pl
from scipy.sparse import coo_array, csr_array

from evaluate.rank.blobs import contents_of
from evaluate.rank.content_tokens import LINE_TOKENIZERS, Small, Tokens, cut_tokens, tokens_of, united
from evaluate.texts.tokens import Counted, Integers, Refined, Texts, Tokenizer
from lake.store import Lake


class ChunkTexts(Texts):
    """The texts of chunks of the lake, each read when it is first looked at.

    Args:
        lake: Where their contents are.
        spans: sha256, line_start, line_end, byte_start, byte_end, n_file_lines: a row for each.
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

    def _count(self, tokens: Tokenizer) -> Counted:
        how = None if isinstance(tokens, Refined) else LINE_TOKENIZERS.get(tokens)
        if how is None:
            return super()._count(tokens)
        found, spans = list[_Counts](), self._spans.with_row_index("chunk")
        whole, cut = spans.filter(self._are_whole_lines), spans.filter(~self._are_whole_lines)
        for held, said in tokens_of(self._lake, whole["sha256"], how):
            found.append(_of_chunks(said, held, whole))
        if cut.height:
            # What starts or ends within a line may have parts of tokens.
            here = cut_tokens(texts_of(self._lake, cut), how)
            found.append(
                _Counts(here.vocabulary, cut["chunk"].to_numpy().astype(np.int32)[here.text], here.token, here.n)
            )
        return _merged(found, len(spans))

    @cached_property
    def _are_whole_lines(self) -> pl.Series:
        contents = contents_of(self._lake, self._spans["sha256"], ["line_starts", "n_bytes"])
        edges = contents.select("sha256", edges=pl.concat_list("line_starts", "n_bytes"))
        first = edges.select("sha256", first=pl.col("edges").list.len().cum_sum() - pl.col("edges").list.len())
        spans = self._spans.join(first, on="sha256", how="left", maintain_order="left")
        byte = edges["edges"].explode()
        sides = [byte[spans["first"] + spans[f"line_{side}"]] == spans[f"byte_{side}"] for side in ("start", "end")]
        return sides[0] & sides[1]


def texts_of(lake: Lake, spans: pl.DataFrame) -> pl.Series:
    """The texts of chunks: sha256, byte_start, byte_end."""
    text = pl.col("text").cast(pl.Binary).bin.slice(pl.col("byte_start"), pl.col("byte_end") - pl.col("byte_start"))
    contents = contents_of(lake, spans["sha256"], ["text"])
    found = spans.select("sha256", "byte_start", "byte_end").join(
        contents, on="sha256", how="left", maintain_order="left"
    )
    return found.select(text.cast(pl.String)).to_series()


class _Counts(NamedTuple):
    """How often some chunks say some tokens; those of a chunk are in the order of the vocabulary."""

    vocabulary: pl.Series
    chunk: Small
    token: Small
    n: Small


def _of_chunks(tokens: Tokens, sha256: pl.Series, spans: pl.DataFrame) -> _Counts:
    """The tokens of those chunks that lie in some contents."""
    contents = (
        pl.LazyFrame({"sha256": sha256})
        .join(spans.lazy().select("sha256", "n_file_lines").unique(), on="sha256", maintain_order="left")
        # The contents' lines, end to end.
        .with_columns(first=pl.col("n_file_lines").cum_sum() - pl.col("n_file_lines"))
        .collect()
    )
    here = (
        spans.lazy()
        .join(contents.lazy(), on="sha256", maintain_order="left_right")
        .with_columns(n_held=pl.col("line_end") - pl.col("line_start"), begin=pl.col("first") + pl.col("line_start"))
        .collect()
    )
    n_lines, n_held = int(contents["n_file_lines"].sum()), here["n_held"].to_numpy()
    ends = np.cumsum(n_held)
    held = np.arange(n_held.sum()) + np.repeat(here["begin"].to_numpy() - ends + n_held, n_held)
    lines = csr_array((np.ones(len(held), np.int32), held, np.append(0, ends)), shape=(len(here), n_lines))
    said = contents["first"].to_numpy()[np.repeat(tokens.text, tokens.n)] + tokens.line
    times = csr_array(
        (np.ones(len(said), np.int32), said, np.append(0, np.cumsum(tokens.n))), shape=(len(tokens.n), n_lines)
    )
    # How often each token of a content is on the lines of each chunk.
    found = (times @ lines.T).tocoo()
    return _Counts(
        tokens.vocabulary, here["chunk"].to_numpy().astype(np.int32)[found.col], tokens.token[found.row], found.data
    )


def _merged(found: Sequence[_Counts], n_chunks: int) -> Counted:
    vocabulary, places = united([one.vocabulary for one in found])
    none = np.zeros(0, np.int32)
    token = np.concatenate([none, *(place[one.token] for one, place in zip(found, places, strict=True))])
    chunk, n = np.concatenate([none, *(one.chunk for one in found)]), np.concatenate([none, *(one.n for one in found)])
    # Contents may have tokens that none of the chunks has.
    is_said = np.bincount(token, minlength=len(vocabulary)) > 0
    token = (np.cumsum(is_said, dtype=np.int32) - 1)[token]
    words = vocabulary.filter(pl.Series(is_said)).to_list()
    # Of a chunk the tokens come in the order of their spelling, and stay in it: nothing is sorted here.
    counts = coo_array((n.astype(np.float64), (chunk, token)), shape=(n_chunks, len(words))).tocsr()
    return Counted({word: place for place, word in enumerate(words)}, csr_array(counts))
