"""The lines of gold and those around them, for the items of which text is to be published and may be."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache

import polars as pl
from pygments.lexer import Lexer
from pygments.lexers import find_lexer_class_by_name, find_lexer_class_for_filename
from pygments.lexers.special import TextLexer
from pygments.token import Comment, Keyword, Name, Number, String
from pygments.util import ClassNotFound

from lake.sampling import stratified
from report.items.licences import ItemText, permits
from report.items.roster import Roster

N_SAMPLED = 100
"""So many items of a benchmark are a sample, each repository with its share."""

AROUND = 8

MAX_LINE = 400
"""Longer lines are cut: made by machines, they are nothing to read."""

MAX_CHARACTERS = 400_000
"""Longer files are shown plain: telling their words apart would take long."""

_KINDS = {Keyword: "k", String: "s", Comment: "c", Number: "m", Name.Function: "n", Name.Class: "n"}


def chosen(roster: Roster, classes: pl.DataFrame, which: ItemText) -> tuple[pl.DataFrame, str]:
    """Whose text is published, item_id and licence of each; and why it is not of the others."""
    wanted = roster.items.filter("scorable").select("item_id", "repo")
    if roster.board.benchmark.is_edition:
        return wanted.clear().rename({"repo": "licence"}), "these results ship without texts."
    if which is ItemText.NONE:
        return wanted.clear().rename({"repo": "licence"}), "this site was built without it."
    if which is ItemText.SAMPLE:
        wanted = stratified(wanted, N_SAMPLED)
    if which is ItemText.FLIPS:
        first = [roster.runs.index(run) for run in roster.usual[:2]]
        mine = classes.filter(pl.col("run").is_in(first)).group_by("item_id").agg(found=pl.col("class") == 0)
        flips = mine.filter(pl.col("found").list.any() & ~pl.col("found").list.all())
        wanted = wanted.join(flips, on="item_id", how="semi", maintain_order="left")
    known = {
        licence["repo"]: licence["licence"]
        for licence in roster.board.benchmark.licences
        if permits(licence["licence"])
    }
    licences = pl.col("repo").replace_strict(list(known), list(known.values()), default=None, return_dtype=pl.String)
    permitted = wanted.select("item_id", licence=licences).drop_nulls()
    of_some = "" if which is ItemText.FULL else f", or it is not among those asked for ({which.value})"
    return permitted, f"no licence of its repository is known that permits it{of_some}."


def texts_by_item(roster: Roster, of: pl.DataFrame) -> pl.DataFrame:
    """The gold of some items (`of`: item_id, licence) as text, a row each: item_id, scorable, licence, files (as JSON).

    A file has its path, and of each line its number from 1, whether it is gold, and its words.
    """
    items = roster.items.join(of, on="item_id").select("item_id", "item", "pool_id", "language", "licence")
    spans = roster.gold.lazy().filter(pl.col("line_start") < pl.col("line_end"))
    by_file = spans.group_by("item", "path").agg("line_start", "line_end").join(items.lazy(), on="item")
    files = roster.lake.scan("files", benchmark=roster.benchmark).select("pool_id", "path", "sha256")
    known = by_file.join(files, on=["pool_id", "path"]).sort("item", "path").collect()
    hashes = known["sha256"].unique().implode()
    texts = roster.lake.scan("blobs").filter(pl.col("sha256").is_in(hashes)).select("sha256", "text").collect()
    text_of = dict(texts.iter_rows())
    columns = known.select("path", "language", "sha256", "line_start", "line_end").iter_rows()
    shown = [_file(path, language, text_of[sha], starts, ends) for path, language, sha, starts, ends in columns]
    files_shown = known.select("item_id", "licence", file=pl.Series(shown, dtype=pl.String))
    by_item = files_shown.group_by("item_id", "licence", maintain_order=True).agg(files=pl.col("file").str.join(","))
    return by_item.with_columns(files=pl.format("[{}]", "files"), scorable=True)


def _file(path: str, language: str, text: str, starts: Sequence[int], ends: Sequence[int]) -> str:
    lines = _lines(path, language, text)
    ranges = [range(start, min(end, len(lines))) for start, end in zip(starts, ends, strict=True)]
    gold = {line for lines in ranges for line in lines}
    near = {line for lines in ranges if lines for line in range(lines.start - AROUND, lines.stop + AROUND)}
    shown = [[line + 1, int(line in gold), lines[line]] for line in sorted(near & set(range(len(lines))))]
    return json.dumps({"path": path, "lines": shown}, ensure_ascii=False, separators=(",", ":"))


@lru_cache(maxsize=256)
def _lines(path: str, language: str, text: str) -> list[list[list[str]]]:
    """A file's lines, each as pairs of a kind of word (empty for most) and text."""
    # What lexers would take for the end of a line, and is none here.
    known = text.replace("\r\n", "\n").replace("\r", "␍")
    lines: list[list[list[str]]] = [[]]
    for token, value in _lexer(path, language, len(known)).get_tokens(known):
        kind = next((short for of, short in _KINDS.items() if token in of), "")
        for place, piece in enumerate(value.split("\n")):
            if place:
                lines.append([])
            if piece:
                lines[-1].append([kind, piece])
    if not lines[-1]:  # a text that ends in a newline has no further line
        lines.pop()
    return [_cut(line) for line in lines]


def _cut(line: list[list[str]]) -> list[list[str]]:
    if sum(len(piece) for _, piece in line) <= MAX_LINE:
        return line
    whole = "".join(piece for _, piece in line)
    return [["", f"{whole[:MAX_LINE]}… ({len(whole):,} characters)"]]


def _lexer(path: str, language: str, size: int) -> Lexer:
    kind = TextLexer
    if size <= MAX_CHARACTERS:
        with suppress(ClassNotFound):
            kind = find_lexer_class_for_filename(path) or find_lexer_class_by_name(language)
    # As they are: no line more or less than the file has.
    return kind(stripnl=False, ensurenl=False)
