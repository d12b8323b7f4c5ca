"""Tokens of contents: each is cut once per tokenizer, with the lines on which each of its tokens stands.

The bag of a chunk is then counted from whole numbers: its lines say which of its content's tokens it has. What was cut
last stays in memory for the next chunker, retriever and part of the items.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy.sparse import csr_array

from evaluate.rank.blobs import contents_of
from evaluate.texts.tokens import Tokenizer
from lake.store import Lake
from lake.text import regex_tokens, words

Small = npt.NDArray[np.int32]

BYTES_AT_ONCE = 8_000_000
"""About how many bytes of text are cut at a time: what memory must hold."""

BYTES_KEPT = 256_000_000
"""So many bytes of tokens stay in memory, beside those that are asked for."""


@dataclass(frozen=True)
class LineTokenizer:
    r"""A tokenizer none of whose tokens reaches over the end of a line: the tokens of lines are those of the text.

    Attributes:
        name: What its tokens are called in the lake.
        tokens: The tokenizer.
        ascii: The same as an expression of polars, for text of ASCII alone. Of all other text Python decides what a
            letter is: the tables of another library may be of another version of Unicode.
    """

    name: str
    tokens: Tokenizer
    ascii: Callable[[pl.Expr], pl.Expr]


LINE_TOKENIZERS = {
    one.tokens: one
    for one in (
        LineTokenizer("words", words, lambda text: text.str.to_lowercase().str.extract_all(r"[0-9A-Za-z_]+|\n")),
        LineTokenizer(
            "regex",
            regex_tokens,
            # White space is also U+001C to U+001F, as in Python.
            lambda text: text.str.extract_all(r"[A-Za-z_][0-9A-Za-z_]*|[0-9]+|[^0-9A-Za-z_\t-\r\x1c-\x20]|\n"),
        ),
    )
}
"""By the tokenizer itself. Every other one is given whole texts."""


@dataclass(frozen=True)
class Tokens:
    """Which tokens some texts have; rows text by text, within a text in the order of the tokens' spelling.

    Attributes:
        vocabulary: Every token once, sorted.
        text: The text of each row.
        token: Its token, as a place in the vocabulary.
        n: How often the text says it.
        line: The line of each time, row by row, ascending within a row.
    """

    vocabulary: pl.Series
    text: Small
    token: Small
    n: Small
    line: Small


def tokens_of(lake: Lake, sha256: pl.Series, how: LineTokenizer) -> list[tuple[pl.Series, Tokens]]:
    """The tokens of some contents: contents, sorted, and their tokens, text i being that of the i-th; some at a time.

    Args:
        lake: Where the contents are.
        sha256: The contents, each any number of times.
        how: The tokenizer.
    """
    asked, found = set(sha256), list[tuple[pl.Series, Tokens]]()
    for key, block in list(_kept.items()):
        held = sorted(asked & block.row.keys()) if key[0] == how.name else []
        if held:
            _kept.move_to_end(key)
            found.append((pl.Series("sha256", held), block.of(held)))
            asked.difference_update(held)
    if asked:
        contents = contents_of(lake, pl.Series("sha256", sorted(asked)), ["text"])
        row = {content: number for number, content in enumerate(contents["sha256"])}
        block = _Block(row, cut_tokens(contents["text"], how))
        _keep((how.name, contents["sha256"][0]), block)
        found.append((contents["sha256"], block.tokens))
    return found


class _Block(NamedTuple):
    """Contents that were cut together: the place of each, and their tokens."""

    row: dict[str, int]
    tokens: Tokens

    @property
    def n_bytes(self) -> int:
        arrays = [self.tokens.text, self.tokens.token, self.tokens.n, self.tokens.line]
        return sum(array.nbytes for array in arrays) + int(self.tokens.vocabulary.estimated_size())

    def of(self, contents: Sequence[str]) -> Tokens:
        """The tokens of some of the contents, sorted."""
        if len(contents) == len(self.row):
            return self.tokens
        place = np.full(len(self.row), -1, np.int32)
        place[[self.row[content] for content in contents]] = np.arange(len(contents), dtype=np.int32)
        whole, text = self.tokens, place[self.tokens.text]
        is_held = text >= 0
        line = whole.line[np.repeat(is_held, whole.n)]
        return Tokens(whole.vocabulary, text[is_held], whole.token[is_held], whole.n[is_held], line)


_kept = OrderedDict[tuple[str, str], _Block]()


def _keep(key: tuple[str, str], block: _Block) -> None:
    """Keep what was cut, and of what was cut before as much as memory is to hold."""
    _kept[key] = block
    while len(_kept) > 1 and sum(one.n_bytes for one in _kept.values()) > BYTES_KEPT:
        _kept.popitem(last=False)


def united(vocabularies: Sequence[pl.Series]) -> tuple[pl.Series, list[Small]]:
    """Several vocabularies as one, and the places in it of the tokens of each, which ascend as those did."""
    if len(vocabularies) == 1:
        return vocabularies[0], [np.arange(len(vocabularies[0]), dtype=np.int32)]
    tokens = [one.rename("token").to_frame() for one in vocabularies]
    every = pl.concat([pl.DataFrame(schema={"token": pl.String}), *tokens]).unique().sort("token")
    numbered = every.with_columns(place=pl.int_range(pl.len(), dtype=pl.Int32))
    places = [one.join(numbered, on="token", how="left", maintain_order="left")["place"].to_numpy() for one in tokens]
    return every["token"], places


def cut_tokens(texts: pl.Series, how: LineTokenizer) -> Tokens:
    """Cut texts into tokens."""
    size = pl.col("text").str.len_bytes().cast(pl.Int64)
    block = texts.to_frame("text").select(size.cum_sum() // BYTES_AT_ONCE).to_series().to_numpy()
    starts = np.flatnonzero(np.diff(block, prepend=-1))
    blocks = [_cut(texts[start:end], how) for start, end in zip(starts, [*starts[1:], len(texts)], strict=True)]
    vocabulary, places = united([one.vocabulary for one in blocks])
    return Tokens(
        vocabulary,
        np.concatenate([_NONE, *(one.text + start for one, start in zip(blocks, starts, strict=True))]),
        np.concatenate([_NONE, *(place[one.token] for one, place in zip(blocks, places, strict=True))]),
        np.concatenate([_NONE, *(one.n for one in blocks)]),
        np.concatenate([_NONE, *(one.line for one in blocks)]),
    )


_NONE = np.zeros(0, np.int32)


def _cut(texts: pl.Series, how: LineTokenizer) -> Tokens:
    frame = pl.LazyFrame({"text": texts.rename("text")}).with_row_index("place")
    is_ascii = pl.col("text").str.len_bytes() == pl.col("text").str.len_chars()
    # A text with other characters is taken line by line: few of its lines have any.
    lines = frame.filter(~is_ascii).with_columns(pl.col("text").str.split("\n")).explode("text")
    lines = lines.with_columns(line=pl.int_range(pl.len()).over("place"))
    whole = frame.filter(is_ascii).with_columns(line=pl.lit(0, pl.Int64))
    plain = pl.concat([whole, lines.filter(is_ascii)]).with_columns(tokens=how.ascii(pl.col("text")))
    plain = plain.drop("text").with_columns(n=pl.col("tokens").list.len())
    rest, easy = pl.collect_all([lines.filter(~is_ascii), plain])
    cut = list(map(how.tokens, rest["text"]))
    hard = pl.Series(list(chain.from_iterable(cut)), dtype=pl.String)
    token = easy["tokens"].explode(empty_as_null=False).extend(hard)
    length = np.concatenate([easy["n"].to_numpy().astype(np.int64), np.array([*map(len, cut)], np.int64)])
    place, first = (
        np.concatenate([easy[name].to_numpy(), rest[name].to_numpy()]).astype(np.int32) for name in ("place", "line")
    )
    text, line = np.repeat(place, length), np.repeat(first, length)
    is_end = (token == "\n").to_numpy()
    before = np.concatenate([[0], np.cumsum(is_end, dtype=np.int32)])
    line += before[:-1] - np.repeat(before[np.cumsum(length) - length], length)
    vocabulary, spelt = _places(token.filter(~is_end))
    text, line = text[~is_end], line[~is_end]
    if rest.height:
        order = np.argsort((text.astype(np.int64) << 32) + line, kind="stable")
        text, line, spelt = text[order], line[order], spelt[order]
    return _by_spelling(vocabulary, text, spelt, line, len(texts))


def _places(token: pl.Series) -> tuple[pl.Series, Small]:
    """Every token once, sorted, and the place of each among them."""
    coded = token.cast(pl.Categorical)
    known = coded.unique()
    spelling = known.cast(pl.String)
    order = spelling.arg_sort().to_numpy()
    place = np.zeros(int(known.to_physical().max() or 0) + 1, np.int32)  # type: ignore[arg-type] # numbers of categories
    place[known.to_physical().to_numpy()[order]] = np.arange(len(order))
    return spelling[order], place[coded.to_physical().to_numpy()]


def _by_spelling(vocabulary: pl.Series, text: Small, token: Small, line: Small, n_texts: int) -> Tokens:
    """Tokens in the order of the texts, put into the order of their spelling within each."""
    starts = np.searchsorted(text, np.arange(n_texts + 1))
    # Twice to the other axis: each time everything is put into its place in one go, equals in the order they were in.
    said = csr_array((line, token, starts), shape=(n_texts, len(vocabulary))).tocsc().tocsr()
    text, token = np.repeat(np.arange(n_texts, dtype=np.int32), np.diff(said.indptr)), said.indices
    first = np.flatnonzero((np.diff(text, prepend=-1) != 0) | (np.diff(token, prepend=-1) != 0))
    n = np.diff(first, append=len(text)).astype(np.int32)
    return Tokens(vocabulary, text[first], token[first], n, said.data)
