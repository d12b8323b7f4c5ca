"""Items and spans made by hand, and the scores of a single run over all items."""

from collections.abc import Mapping, Sequence

import polars as pl
from hypothesis import strategies as st

from evaluate.score.chance import score_runs
from evaluate.score.metric_values import ScoringInputs
from lake.offsets import LineOffsets
from tests.frames import frame

Span = tuple[str, int, int]
SPAN = {"path": pl.String, "line_start": pl.Int64, "line_end": pl.Int64}


def axis_of(files: Mapping[str, Sequence[int]]) -> LineOffsets:
    """Pool `repo`, of files whose lines have so many characters."""
    rows = [("repo", path, list(counts)) for path, counts in files.items()]
    return LineOffsets.of(frame(rows, "pool_id", "path", n_nws=pl.List(pl.Int64())).collect())


def lines(*spans: Span) -> set[tuple[str, int]]:
    return {(path, line) for path, start, end in spans for line in range(start, end)}


def alike(chunk: Span, gold: Sequence[Span]) -> float:
    """Lines in both over lines in either: the chunk's, and the gold's in its file."""
    in_file = {line for line in lines(*gold) if line[0] == chunk[0]}
    return len(lines(chunk) & in_file) / len(lines(chunk) | in_file or {0})


def spans_in(*paths: str, last_start: int = 14, lengths: tuple[int, int] = (1, 6)) -> st.SearchStrategy[Span]:
    drawn = st.tuples(st.sampled_from(paths), st.integers(0, last_start), st.integers(*lengths))
    return drawn.map(lambda span: (span[0], span[1], span[1] + span[2]))


def score(inputs: ScoringInputs, *, hits: pl.LazyFrame) -> pl.LazyFrame:
    answers = inputs.items.select("item_id", run_id=pl.lit("run"))
    scores = score_runs(inputs, hits=hits.with_columns(run_id=pl.lit("run"), part=pl.lit("ranking")), answers=answers)
    return scores.lazy().sort("item_id", "granularity", "metric", "k")


def expected_random(inputs: ScoringInputs) -> pl.DataFrame:
    nothing = frame([], "run_id", "item_id", "completion")
    return score_runs(inputs, hits=nothing, answers=nothing, chance=["random"])
