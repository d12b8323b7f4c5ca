"""Answers compared with their items' gold: sizes of the sets of files, symbols, bytes and lines, and of the overlap."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from evaluate.metrics import size_at
from evaluate.score.contexts.definitions import ContentDefinitions, Extent
from evaluate.score.contexts.intervals import NEVER, SetSizes, Spans, Walks, held_since, sizes
from evaluate.score.contexts.material import ContextRuns, Material
from evaluate.score.coverage import CutOff, walk
from lake.catalog.protocol import GRANULARITIES, ContextRules
from lake.exact import Integers
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
_FILE_KEY = ["item_id", "path", "given"]


@dataclass(frozen=True)
class GoldSets:
    """The answers of some runs and the gold that they are compared with, with numbers in place of names.

    `cases` has a row for every run and item, whose position is the case's number: run_id, item_id, has_gold_patch,
    status (null if the run skipped the item), n_steps, has_patch and is_ranking. `seen` has all hits as views, and rank
    and run (a number); `gold` has the gold of every case as views. `files` has a row for every file that they name:
    file (its number), text (the number of its content, null if the repository has no such file), n_lines, is_open (the
    last line has no newline), first_line (the index in `line_starts` of its content's first line), and begin, its first
    place among the `width` places of its item. `line_starts` has the bytes at which each content's lines start, then
    its length. `axis` has the lines of the same files.
    """

    rules: ContextRules
    cases: pl.DataFrame
    seen: pl.DataFrame
    gold: pl.DataFrame
    files: pl.DataFrame
    width: int
    line_starts: pl.Series
    definitions: ContentDefinitions
    axis: LineOffsets

    @classmethod
    def of(cls, material: Material, runs: ContextRuns, rules: ContextRules) -> GoldSets:
        """Number the cases and the named files, and refer to them by number."""
        items, cases = material.items.lazy(), _cases(material.items.lazy(), runs).collect()
        definitions = ContentDefinitions.of(material.definitions, material.texts, rules)
        absent = pl.lit(None, pl.String)
        hits = runs.hits.lazy().with_columns(
            pl.col("line_start", "line_end").clip(-FARTHEST, FARTHEST),
            given=pl.when(pl.col("path").is_null()).then("path_given"),
        )
        gold = material.gold.lazy().with_columns(
            part=pl.lit("gold"), step=pl.lit(1, pl.Int64), symbol=absent, given=absent
        )
        size = pl.col("starts").list.len().cast(pl.Int64)
        contents = (
            material.texts.lazy()
            .with_columns(starts=pl.concat_list("line_starts", "n_bytes"), n_symbols=pl.Series(definitions.n_symbols))
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
        case = cases.lazy().select("run_id", "item_id", case=pl.int_range(pl.len()))
        numbered = case.join(files.lazy().select(*_FILE_KEY, "file"), on="item_id")
        run = pl.col("case") // max(1, material.items.height)
        seen, of_gold, line_starts = pl.collect_all(
            [
                hits.join(numbered, on=["run_id", *_FILE_KEY], nulls_equal=True).select(*VIEW, "rank", run=run),
                gold.join(numbered, on=_FILE_KEY, nulls_equal=True).select(VIEW),
                contents.select(pl.col("starts").explode()),
            ]
        )
        n_nws = pl.col("line_nws").fill_null(pl.lit([], pl.List(pl.Int64)))
        return cls(
            rules,
            cases,
            seen,
            of_gold,
            files.select("file", "text", "n_lines", "is_open", "first_line", "begin"),
            int(files.select((pl.col("begin") + pl.col("n")).max().fill_null(1)).item()),
            line_starts.to_series(),
            definitions,
            LineOffsets.of(files.select(pl.lit(0).alias("pool_id"), path="file", n_nws=n_nws)),
        )

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
        walks, spans, gold = self.laid(granularity, n_steps, views)
        set_sizes = sizes(walks, spans, gold)
        if granularity == "line" and self.rules.ranges == "published":
            set_sizes = _with_reversed(walks, spans, set_sizes)
        return set_sizes

    def laid(self, granularity: str, n_steps: Integers, views: pl.LazyFrame) -> tuple[Walks, Spans, Spans]:
        """The cases as walks, the sets that their steps hold, and their gold, at one of the GRANULARITIES."""
        walks = Walks(n_steps, self.width)
        spans = self._placed(walks, self._spans(granularity, self.shown(views)))
        if granularity == "symbol":
            spans = self._with_named(walks, spans, views)
        return walks, spans, self._gold[granularity]

    @cached_property
    def _gold(self) -> Mapping[str, Spans]:
        # As walks of one step: the slots of gold are not read.
        walks = Walks(np.ones(self.cases.height, np.int64), self.width)
        views = self.gold.lazy()
        return {of: self._placed(walks, self._spans(of, views, is_gold=True)) for of in GRANULARITIES}

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
        extent = Extent(np.arange(spans.height), spans["start"].to_numpy(), spans["end"].to_numpy())
        row, begin, stop = self.definitions.overlapped(spans["text"].to_numpy(), extent)
        return spans[row].with_columns(start=pl.Series(begin), end=pl.Series(stop))

    def _placed(self, walks: Walks, spans: pl.DataFrame) -> Spans:
        case, step, begin = (spans[name].to_numpy() for name in ("case", "step", "begin"))
        offset = case * self.width + begin
        return Spans(
            walks.first_slot[case] + step - 1, offset + spans["start"].to_numpy(), offset + spans["end"].to_numpy()
        )

    def _with_named(self, walks: Walks, spans: Spans, views: pl.LazyFrame) -> Spans:
        """The symbols, with the named ones in addition to the others or in place of all others of their step."""
        symbols = self.existing(views.filter(pl.col("symbol").is_not_null())).with_row_index("row").collect()
        if symbols.is_empty():
            return spans
        number = pl.col("number")
        meant = symbols.join(self.definitions.meant(symbols.select("row", "text", "symbol")), on="row", how="left")
        more = self._placed(walks, meant.with_columns(start=number.fill_null(0), end=number.fill_null(-1) + 1))
        if self.rules.named_symbols == "in place":
            spans = spans.where(~np.isin(spans.slot, more.slot))
        return Spans(*(np.concatenate(columns) for columns in zip(spans, more, strict=True)))


def _cases(items: pl.LazyFrame, runs: ContextRuns) -> pl.LazyFrame:
    names = pl.LazyFrame({"run_id": runs.names}, schema={"run_id": pl.String})
    answered = runs.run_items.lazy().select("run_id", "item_id", "status", "n_steps", "has_patch")
    return (
        names.with_columns(is_ranking=pl.col("run_id").is_in(list(runs.rankings)))
        .join(items.drop("pool_id"), how="cross", maintain_order="left_right")
        .join(answered, on=["run_id", "item_id"], how="left", maintain_order="left")
        .with_columns(
            pl.col("has_patch").fill_null(value=False),
            n_steps=pl.when("is_ranking").then(N_RANKED_STEPS).otherwise(pl.col("n_steps").fill_null(0)),
        )
    )


def _with_reversed(walks: Walks, spans: Spans, set_sizes: SetSizes) -> SetSizes:
    """The sizes with reversed ranges (which end before they start), each counting a negative number of lines.

    They are united as in the published code: a reversed range that starts inside or directly after a range of its step
    belongs to that one and adds nothing; any other counts separately, every time it is named.
    """
    turned = spans.where(spans.end < spans.start)
    if not len(turned.slot):
        return set_sizes
    n_lines = turned.end - turned.start
    is_within = held_since(walks.alone(spans), walks.alone(turned).start - 1) != NEVER
    before = turned.start - 1
    since = held_since(spans, before)
    enters, leaves = since > turned.slot, (since > turned.slot) & (since != NEVER)
    change = walks.by_slot(turned.slot[enters], n_lines[enters]) - walks.by_slot(since[leaves], n_lines[leaves])
    return set_sizes._replace(
        n_pred=set_sizes.n_pred + walks.by_slot(turned.slot, np.where(is_within, 0, n_lines)),
        n_cumulative=set_sizes.n_cumulative + walks.up_to(change),
    )
