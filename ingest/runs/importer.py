"""What a format is that rankings, completions and trajectories made elsewhere come in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import polars as pl

from ingest.runs.trajectories.trajectory import Trajectory
from ingest.runs.trajectories.trajectory_file import TrajectoryFile
from ingest.sources.input_file import InputFile
from lake.catalog.protocol import AnswerKind


@dataclass(frozen=True)
class Importer:
    """A format that predictions made elsewhere come in.

    Attributes:
        name: What `--format` calls it; `aliases` are other names that it answers to.
        meaning: What such a file looks like, in a sentence or two.
        recognise: `recognise(head, path)` says whether a file is of this format, by the beginning of its unpacked
            content; the path is there for what content cannot tell.
        read: Gives the rows in frames of bounded size, in the file's order, as its kind has them. Every row has
            `position`, its place in the file counted from 1; the other columns are these, and what a format has none of
            may be left out.

            ranking: item_id; document (`path#L10-L20`), or path, line_start, line_end (0-based, half-open); rank,
            score, query_sha256, gold (the number of the candidate that is right, as the file has it). A row without a
            document is a list that holds none; with `error` there is no list, and that is why.

            completion: repo, path, line (0-based), context_start (0-based), target_text, prompt_sha256,
            completion.
        trajectories: In its place for the kind trajectory: what one file holds, one after the other. It raises nothing
            but the `DamagedFileError` of the file's own methods, whatever the file holds.
        companions: For the kind trajectory: the paths of files that belong to the file of a path and are read with it,
            not by themselves; they need not exist. One that ends in `/` is a folder with all it holds.
        lists_files: For the kind trajectory: whether it says itself which files count as named beside their lines. Of
            other formats every file of which lines were seen does.
        as_trec_eval: Where its ranks say nothing, its scores order a list, as they do for trec_eval.
        unit: What a position counts: lines, rows or entries.
        example: How such a file begins.
    """

    name: str
    title: str
    meaning: str
    recognise: Callable[[bytes, str], bool]
    read: Callable[[InputFile], Iterator[pl.DataFrame]] = field(default=lambda _: iter(()))
    trajectories: Callable[[TrajectoryFile], Iterator[Trajectory]] = field(default=lambda _: iter(()))
    companions: Callable[[str], Sequence[str]] = field(default=lambda _: ())
    lists_files: bool = False
    as_trec_eval: bool = False
    kind: AnswerKind = "ranking"
    unit: str = "line"
    example: str = ""
    aliases: tuple[str, ...] = ()
