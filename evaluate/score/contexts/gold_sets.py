"""Answers compared with their items' gold: sizes of the sets of files, symbols, bytes and lines, and of the overlap."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from evaluate.metrics import size_at
from evaluate.score.contexts.intervals import SetSizes, Spans, holders, ranges, sizes, with_reversed
from evaluate.score.contexts.material import ContextRuns, Material
from evaluate.score.coverage import CutOff, walk
from lake.catalog.protocol import GRANULARITIES, ContextRules
from lake.exact import Integers, Mask
from lake.offsets import LineOffsets
from lake.tables import LINES, RANKING

N_RANKED_STEPS = 20
"""The number of first results that are a ranking's steps; a shorter ranking keeps its last state for the rest."""
RANKED_BUDGET = 8_000
"""Non-whitespace characters: where a ranking is cut to be compared with an agent's final context."""
FARTHEST = 1 << 32
"""No file has this many lines: larger line numbers are clipped to it."""
VIEW = ("case", "part", "step", "symbol", "file", "line_start", "line_end")
"""The columns of a view, a row of `hits` or of the gold; steps count from 1."""
_SPAN = ["case", "step", "text", "begin"]
_CASE = ["run_id", "item_id"]
_FILE_KEY = ["item_id", "path", "given"]


class GoldSets:
    """The answers of some runs and the gold that they are compared with, with numbers in place of names.

    `cases` has a row for every run and item (status is null if the run skipped the item); `seen` has all hits as views,
    with rank and run. `files` has what they name: text (the number of the content, null if the repository has no such
    file), is_open (the last line has no newline), first_line (in `line_starts`, the bytes at which each content's lines
    start), and begin, its first place among the `width` places of its item. `axis` has the lines of the same files.
    """

    def __init__(self, material: Material, runs: ContextRuns, rules: ContextRules) -> None:
        self.rules = rules
        items = material.items.lazy()
        of_runs = runs.run_items.lazy().select("run_id", "is_ranking").unique(maintain_order=True)
        answered = runs.run_items.lazy().select(*_CASE, "status", "n_steps", "has_patch")
        n_steps = pl.when("is_ranking").then(N_RANKED_STEPS).otherwise(pl.col("n_steps").fill_null(0))
        self.cases = (
            of_runs.join(items.drop("pool_id"), how="cross", maintain_order="left_right")
            .join(answered, on=_CASE, how="left", maintain_order="left")
            .with_columns(pl.col("has_patch").fill_null(value=False), n_steps=n_steps)
            .collect()
        )
        self.definitions = ContentDefinitions(material.definitions, material.texts, rules)
        absent = pl.lit(None, pl.String)
        hits = runs.hits.lazy().with_columns(
            pl.col("line_start", "line_end").clip(-FARTHEST, FARTHEST),
            given=pl.when(pl.col("path").is_null()).then("path_given"),
        )
        of_gold = {"part": pl.lit("gold"), "step": pl.lit(1, pl.Int64), "symbol": absent, "given": absent}
        gold = material.gold.lazy().with_columns(**of_gold)
        size = pl.col("starts").list.len().cast(pl.Int64)
        n_symbols = pl.Series(self.definitions.n_symbols)
        contents = (
            material.texts.lazy()
            .with_columns(starts=pl.concat_list("line_starts", "n_bytes"), n_symbols=n_symbols)
            .with_columns(text=pl.int_range(pl.len()), first_line=size.cum_sum() - size)
        )
        files = (
            pl.concat([frame.select(*_FILE_KEY, "line_start", "line_end") for frame in (hits, gold)])
            .group_by(_FILE_KEY)
            .agg(farthest=pl.max_horizontal("line_start", "line_end").max())
            .join(items.select("item_id", "pool_id", item=pl.int_range(pl.len())), on="item_id")
            .join(material.files.lazy(), on=["pool_id", "path"], how="left")
            .join(contents.drop("line_starts", "starts"), on="sha256", how="left")
            .sort("item", "path", "given")
            .with_columns(file=pl.int_range(pl.len()), n=2 + pl.max_horizontal("farthest", "n_bytes", "n_symbols", 0))
            .with_columns(
                pl.col("n_lines").fill_null(0),
                begin=pl.col("n").cum_sum().over("item") - pl.col("n"),
                is_open=pl.col("flags").list.contains("no-final-newline").fill_null(value=False),
            )
            .collect()
        )
        self.files = files.select("file", "text", "n_lines", "is_open", "first_line", "begin")
        self.width = int(files.select((pl.col("begin") + pl.col("n")).max().fill_null(1)).item())
        n_nws = pl.col("line_nws").fill_null(pl.lit([], pl.List(pl.Int64)))
        self.axis = LineOffsets.of(files.select(pl.lit(0).alias("pool_id"), path="file", n_nws=n_nws))
        case = self.cases.lazy().select(*_CASE, case=pl.int_range(pl.len()))
        numbered = case.join(files.lazy().select(*_FILE_KEY, "file"), on="item_id")
        views = hits.join(numbered, on=["run_id", *_FILE_KEY], nulls_equal=True)
        run = pl.col("case") // max(1, material.items.height)
        self.seen, gold_views, line_starts = pl.collect_all(
            [
                views.select(*VIEW, "rank", run=run),
                gold.join(numbered, on=_FILE_KEY, nulls_equal=True).select(VIEW),
                contents.select(pl.col("starts").explode()),
            ]
        )
        self.line_starts = line_starts.to_series()
        views_of_gold, one_each = gold_views.lazy(), np.ones(self.cases.height, np.int64)
        self._gold = {of: self._placed(one_each, self._spans(of, views_of_gold, is_gold=True)) for of in GRANULARITIES}

    def shown(self, views: pl.LazyFrame) -> pl.LazyFrame:
        """The views of files and lines; a named symbol also names its file if the rules say so."""
        return views.filter(self.rules.files_of_spans | pl.col("symbol").is_null())

    def existing(self, views: pl.LazyFrame) -> pl.LazyFrame:
        """The views of files that their repository has, with what is known of the file."""
        return views.join(self.files.lazy().filter(pl.col("text").is_not_null()), on="file")

    def within(self, views: pl.LazyFrame, cut_offs: Sequence[CutOff]) -> dict[CutOff, pl.LazyFrame]:
        """The lines that each cut-off takes of ranked views, as views: no line twice."""
        if not cut_offs:
            return {}
        ranges = self.shown(views).filter(pl.col("line_start").is_not_null())
        end = pl.col("line_end").fill_null(FARTHEST)
        spans = ranges.select("rank", "line_start", pool_id=0, path="file", item="case", line_end=end)
        pieces = walk(self.axis.place(spans), self.axis, cut_offs).with_columns(self.axis.file_at("start"))
        start = pl.col("start") - pl.lit(self.axis.files["offset"]).gather("file")
        view = {"part": pl.lit(LINES), "step": pl.lit(1, pl.Int64), "symbol": pl.lit(None, pl.String)}
        lines = pieces.with_columns(case="item", line_start=start, **view).collect().lazy()
        ends = {cut_off: pl.col("line_start") + pl.col(size_at("", *cut_off)) for cut_off in cut_offs}
        taken = pl.col("line_end") > pl.col("line_start")
        return {cut_off: lines.with_columns(line_end=end).filter(taken).select(VIEW) for cut_off, end in ends.items()}

    def sizes(self, granularity: str, n_steps: Integers, views: pl.LazyFrame) -> SetSizes:
        """The sizes of the sets that the cases' steps hold at one of the GRANULARITIES."""
        spans = self._held(granularity, n_steps, views)
        set_sizes = sizes(spans, self._gold[granularity], n_steps, self.width)
        if granularity == "line" and self.rules.ranges == "published":
            set_sizes = with_reversed(set_sizes, spans, n_steps, self.width)
        return set_sizes

    def holders(
        self, granularity: str, n_steps: Integers, views: pl.LazyFrame, marked: Mask
    ) -> tuple[Integers, Integers, Integers, Integers]:
        """The pieces of every case's gold, and how many of its steps hold each: see :func:`intervals.holders`."""
        return holders(self._held(granularity, n_steps, views), self._gold[granularity], marked, self.width)

    def _held(self, granularity: str, n_steps: Integers, views: pl.LazyFrame) -> Spans:
        spans = self._placed(n_steps, self._spans(granularity, self.shown(views)))
        if granularity != "symbol":
            return spans
        # The named symbols come in addition to the others, or in place of all others of their step.
        symbols = self.existing(views.filter(pl.col("symbol").is_not_null())).with_row_index("row").collect()
        if symbols.is_empty():
            return spans
        number = pl.col("number")
        meant = symbols.join(self.definitions.meant(symbols.select("row", "text", "symbol")), on="row", how="left")
        more = self._placed(n_steps, meant.with_columns(start=number.fill_null(0), end=number.fill_null(-1) + 1))
        if self.rules.named_symbols == "in place":
            spans = spans.where(~np.isin(spans.slot, more.slot))
        return Spans(*(np.concatenate(columns) for columns in zip(spans, more, strict=True)))

    def _spans(self, granularity: str, views: pl.LazyFrame, *, is_gold: bool = False) -> pl.DataFrame:
        """What views name: ranges `start` to `end` within files, beside the columns of the views and of their files."""
        rules, start, end, n_lines = self.rules, pl.col("line_start"), pl.col("line_end"), pl.col("n_lines")
        is_range = start.is_not_null() & end.is_not_null()
        there, known = self.existing(views), views.join(self.files.lazy(), on="file")
        if granularity == "file":
            # Gold names the files of its lines, whether or not they exist.
            names_file = (is_gold or rules.files_of_spans) | ~is_range | pl.col("part").is_in([RANKING, LINES])
            views = known if is_gold or rules.unresolved_files == "counted" else there
            return views.filter(names_file).select(*_SPAN, start=pl.lit(0), end=pl.lit(1)).collect()
        if rules.ranges == "clamped":
            # A range without an end reaches to the end of the file.
            first, after = start.clip(0, n_lines), end.fill_null(n_lines).clip(0, n_lines)
            lines = there.filter(start.is_not_null()).with_columns(start=first, end=pl.max_horizontal(first, after))
        elif granularity == "line":
            # Published ranges count unchanged, those of gold even if there is no such file.
            ranges = known if is_gold else there.filter(start >= 0, end >= 1)
            lines = ranges.filter(is_range).with_columns(start=start, end=end)
        else:
            # The published code sees an empty last line in a text that ends in a newline or has no line.
            ends = {"start": pl.max_horizontal(start, 0), "end": pl.min_horizontal(end, n_lines + ~pl.col("is_open"))}
            lines = there.filter(is_range).with_columns(**ends).filter(pl.col("start") < pl.col("end"))
        if granularity == "line":
            return lines.select(*_SPAN, "start", "end").collect()
        first, after = (
            pl.lit(self.line_starts).gather(pl.col("first_line") + pl.min_horizontal(side, n_lines))
            for side in ("start", "end")
        )
        after = after if rules.ranges == "clamped" else pl.max_horizontal(after, first + 1)
        spans = lines.select(*_SPAN, start=first, end=after).collect()
        if granularity == "span":
            return spans
        row, begin, stop = self.definitions.overlapped(*(spans[name].to_numpy() for name in ("text", "start", "end")))
        return spans[row].with_columns(start=pl.Series(begin), end=pl.Series(stop))

    def _placed(self, n_steps: Integers, spans: pl.DataFrame) -> Spans:
        case, step, begin = (spans[name].to_numpy() for name in ("case", "step", "begin"))
        slot, offset = (np.cumsum(n_steps) - n_steps)[case] + step - 1, case * self.width + begin
        return Spans(slot, offset + spans["start"].to_numpy(), offset + spans["end"].to_numpy())


class ContentDefinitions:
    """The definitions in some contents, sorted by content and position, distinguished by a protocol's rules.

    The number of a content is its row in `texts`; a definition has the number of its symbol within the content.
    """

    def __init__(self, definitions: pl.DataFrame, texts: pl.DataFrame, rules: ContextRules) -> None:
        node = pl.format("{}-{} {}", "byte_start", "byte_end", "kind")
        is_qualified = rules.symbol_identity == "qualified name"
        name = pl.coalesce("qualified_name", node) if is_qualified else node
        reach = pl.col("byte_end") + (1 if rules.overlap == "touching" else 0)
        ordered = (
            definitions.lazy()
            .join(texts.lazy().select("sha256").with_row_index("text"), on="sha256")
            .with_columns(pl.col("text").cast(pl.Int64), reach=reach, is_same=name)
            .filter(pl.col("reach") > pl.col("byte_start"))
            .sort("text", "byte_start", "byte_end", "kind")
            .with_row_index("row")
            .with_columns(first=pl.col("row").min().over("text", "is_same"))
            .with_columns(is_first=pl.col("row") == pl.col("first"))
            .with_columns(symbol=(pl.col("is_first").cum_sum().cast(pl.Int64) - 1).gather(pl.col("first")))
            .with_columns(symbol=pl.col("symbol") - pl.col("symbol").min().over("text"))
            .collect()
        )
        text, start, end, self._symbol = (
            ordered[column].to_numpy() for column in ("text", "byte_start", "reach", "symbol")
        )
        self._text, self._is_first = text, ordered["is_first"].to_numpy()
        self.n_symbols = np.bincount(text[self._is_first], minlength=texts.height)
        self._n_first = np.append(0, np.cumsum(self._is_first))
        whole = "qualified_name" if is_qualified else "name"
        self._names = ordered.lazy().select("text", "symbol", "name", whole=whole)
        # The contents' bytes on one axis; bytes behind all definitions of any content share one place per content.
        self._width = int(end.max(initial=0)) + 2
        self._begins, ends = self._place(text, start), self._place(text, end)
        # The axis is cut where a definition starts or ends; each piece has the definitions that hold it.
        self._cuts = np.unique(np.concatenate([self._begins, ends]))
        definition, piece = ranges(np.searchsorted(self._cuts, self._begins), np.searchsorted(self._cuts, ends))
        self._holding = definition[np.argsort(piece, kind="stable")]
        self._first_holding = np.append(0, np.cumsum(np.bincount(piece, minlength=len(self._cuts))))

    def _place(self, text: Integers, byte: Integers) -> Integers:
        position: Integers = text * self._width + np.minimum(byte, self._width - 1)
        return position

    def overlapped(self, text: Integers, start: Integers, end: Integers) -> Spans:
        """The symbols that non-empty spans of bytes overlap in their contents: rows of spans, and ranges of symbols."""
        start, end = self._place(text, start), self._place(text, end)
        # Definitions that begin inside a span are consecutive, and so are their symbols, but for those defined before.
        begun, over = np.searchsorted(self._begins, start, side="right"), np.searchsorted(self._begins, end)
        before = self._n_first[np.searchsorted(self._text, text)]
        first, after = self._n_first[begun] - before, self._n_first[over] - before
        again = np.flatnonzero(~self._is_first)
        row_again, index = ranges(np.searchsorted(again, begun), np.searchsorted(again, over))
        # Those around a span's first byte; before the first cut there are none.
        at = np.searchsorted(self._cuts, start, side="right") - 1
        sides = (np.where(at < 0, 0, self._first_holding[side]) for side in (at, at + 1))
        row_around, number = ranges(*sides)
        row = np.concatenate([np.arange(len(text)), row_again, row_around])
        single = self._symbol[np.concatenate([again[index], self._holding[number]])]
        return Spans(row, np.concatenate([first, single]), np.concatenate([np.maximum(first, after), single + 1]))

    def meant(self, given: pl.DataFrame) -> pl.DataFrame:
        """The symbols (row, number) that names mean: of that name, else of what follows its last dot."""
        spoken = given.lazy().select("row", "text", written=pl.col("symbol").str.strip_chars())
        names = self._names.rename({"symbol": "number"})
        exactly = spoken.join(names, left_on=["text", "written"], right_on=["text", "whole"]).select("row", "number")
        others = spoken.join(exactly, on="row", how="anti").with_columns(pl.col("written").str.split(".").list.last())
        loosely = others.join(names, left_on=["text", "written"], right_on=["text", "name"]).select("row", "number")
        return pl.concat([exactly, loosely]).unique().sort("row", "number").collect()
