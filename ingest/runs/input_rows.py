"""What readers share: numbers read strictly, rows refused with their places, all frames as one of small columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import polars as pl

from ingest.runs.documents import HELP, faults_of, spans_of, written
from ingest.runs.importer import Importer
from ingest.sources.input_file import InputFile
from lake.errors import MAX_EXAMPLES
from lake.limits import MAX_RUN_ROWS, parsed_json
from lake.text import counted

NAME = pl.Categorical()
"""Texts that stand in many rows, kept once."""

RANKING: Mapping[str, pl.DataType] = {
    "position": pl.Int64(),
    "item_id": NAME,
    "path_given": NAME,
    "symbol": NAME,
    "document": NAME,
    "line_start": pl.Int64(),
    "line_end": pl.Int64(),
    "nth": pl.Int64(),
    "chunk_no": pl.Int64(),
    "rank": pl.Int64(),
    "score": pl.Float64(),
    "query_sha256": NAME,
    "error": pl.String(),
    "gold": pl.Int64(),
}
"""A ranking's rows, whatever file they come from; a null path is a list without results, or why there is none."""

_KINDS = {name: pl.String() if kind == NAME else kind for name, kind in RANKING.items()}
_NUMBERS_BESIDE = {"line": pl.Int64(), "context_start": pl.Int64(), "of": pl.Int64()}


def kinds_of(names: Iterable[str]) -> pl.Schema:
    """What the columns of these names hold in a file's own rows."""
    return pl.Schema((name, _KINDS.get(name, _NUMBERS_BESIDE.get(name, pl.String()))) for name in names)


def refuse(input_file: InputFile, rows: pl.DataFrame, what: str, *, shown: pl.Expr, hint: str = "") -> None:
    """Raise for some rows, if there are any: how many there are, what is wrong, and the first ones by their place.

    Args:
        input_file: The file.
        rows: What is refused: `position` and what is shown.
        what: What is wrong with them, without how many there are.
        shown: A text per row, of any of its columns.
        hint: What to do.
    """
    if rows.is_empty():
        return
    first = rows.sort("position").head(MAX_EXAMPLES).cast({pl.Categorical: pl.String})
    texts = first.select("position", shown.cast(pl.String).alias("shown")).iter_rows()
    examples = [f"{input_file.unit} {position}: {_printable(text)}" for position, text in texts]
    raise input_file.wrong(what=f"{what}: {counted(rows.height, input_file.unit)}", examples=examples, hint=hint)


def _printable(text: object) -> str:
    return "".join(mark if mark.isprintable() else ascii(mark)[1:-1] for mark in str(text)[:160])


def numbers(input_file: InputFile, rows: pl.DataFrame, *names: str) -> pl.DataFrame:
    """Those columns of texts, of some, that the rows have, as numbers; nulls stay.

    Raises:
        GoldspanError: A text is no number of its column's kind.
    """
    for name, kind in kinds_of(name for name in names if name in rows.columns).items():
        read = rows.with_columns(pl.col(name).str.strip_chars().cast(kind, strict=False).alias("_read"))
        called = "a whole number" if kind.is_integer() else "a number"
        broken = read.filter(pl.col("_read").is_null() & pl.col(name).is_not_null())
        refuse(input_file, broken, f"a {name} that is not {called}", shown=pl.col(name))
        rows = read.with_columns(pl.col("_read").alias(name)).drop("_read")
    return rows


def framed(input_file: InputFile, rows: Sequence[Sequence[object]], names: Sequence[str]) -> pl.DataFrame:
    """Rows as a frame of some columns, `position` among them.

    Raises:
        GoldspanError: A text holds half a surrogate pair, as JSON can and UTF-8 cannot.
    """
    try:
        return pl.DataFrame(rows, schema=kinds_of(names), orient="row")
    except UnicodeEncodeError:
        place = list(names).index("position")
        for row in rows:
            for value in row:
                if isinstance(value, str) and value.encode(errors="replace").decode() != value:
                    where = f"{input_file.unit} {row[place]}"
                    what = f"{where}: {value[:60]!a} holds half a surrogate pair, which is no character"
                    raise input_file.wrong(what=what) from None
        raise


def row_of(input_file: InputFile, position: int, text: str, hint: str) -> Mapping[str, object]:
    """The object that a line of JSON is; an empty one in place of any other value.

    Raises:
        GoldspanError: The line is no JSON.
    """
    try:
        row = parsed_json(text.encode())
    except (ValueError, RecursionError) as error:
        why = f"not JSON ({str(error).partition(': line')[0]}); is the file cut off?"
        raise input_file.wrong(what=f"line {position}: {why}", examples=[text[:160]], hint=hint) from error
    return row if isinstance(row, dict) else {}


def load_ranking(input_file: InputFile, importer: Importer) -> pl.DataFrame:
    """A ranking's rows as one frame of the columns `RANKING`, in the file's order, each row checked by itself.

    Raises:
        GoldspanError: The file holds no rows, or a row has no document, no finite score, or neither rank nor score.
    """
    frames, n_rows = [], 0
    for frame in importer.read(input_file):
        n_rows += frame.height
        if n_rows > MAX_RUN_ROWS:
            hint = "Split it by items, and keep the best 100 or so of each list."
            raise input_file.wrong(what=f"it holds more than {MAX_RUN_ROWS:,} rows, the most of a run", hint=hint)
        frames.append(_checked(input_file, frame))
    rows = pl.concat(frames) if frames else pl.DataFrame(schema=dict(RANKING))
    if rows.is_empty():
        raise input_file.wrong(what="the file holds no rows")
    listed = rows.filter(pl.col("path_given").is_not_null())
    ranked = listed["rank"].is_not_null().sum()
    if 0 < ranked < listed.height:
        without = listed.filter(pl.col("rank").is_null())
        refuse(input_file, without, "no rank, where other rows have one", shown=written())
    return rows


def ranks_say_nothing(rows: pl.DataFrame) -> bool:
    """Whether the ranks of every list are all alike, in a file with a list of several rows: all 0, or all 1."""
    lists = rows.filter(pl.col("path_given").is_not_null()).group_by("item_id")
    counts = lists.agg(n=pl.len(), n_ranks=pl.col("rank").n_unique(), n_without=pl.col("score").null_count())
    return bool((counts["n_ranks"] == 1).all() and (counts["n"] > 1).any() and counts["n_without"].sum() == 0)


def ranked_as_trec_eval(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows with the ranks that trec_eval gives them: scores as Float32 descending, then documents descending."""
    # Larger numbers are infinite there, and so alike.
    score = pl.col("score").clip(-_MOST, _MOST).cast(pl.Float32).cast(pl.Float64)
    order = [pl.col("score"), pl.col("document").cast(pl.String)]
    rank = pl.int_range(1, pl.len() + 1, dtype=pl.Int64).sort_by(pl.arg_sort_by(order, descending=True))
    return rows.with_columns(score=score).with_columns(rank=rank.over("item_id"))


_MOST = 3.4028234663852886e38
"""The largest Float32."""


def _checked(input_file: InputFile, frame: pl.DataFrame) -> pl.DataFrame:
    if "document" in frame.columns:
        parsed = spans_of(frame.select(pl.col("document").unique()).drop_nulls())
        spans = frame.join(parsed, on="document", how="left", maintain_order="left", nulls_equal=False)
        shown = pl.format("{}: {}", pl.col("document"), pl.col("fault"))
    else:
        absent = {"line_start", "line_end"} - set(frame.columns)
        spans = faults_of(frame.rename({"path": "path_given"}).with_columns(_nulls(absent)))
        shown = pl.format("{}: {}", pl.col("path_given"), pl.col("fault"))
    faulty = spans.filter(pl.col("fault").is_not_null())
    refuse(input_file, faulty, "a document that cannot be read", shown=shown, hint=HELP)
    rows = spans.with_columns(_nulls(set(RANKING) - set(spans.columns))).select(
        pl.col(name).cast(kind) for name, kind in RANKING.items()
    )
    score, rank, listed = pl.col("score"), pl.col("rank"), pl.col("path_given").is_not_null()
    of_item = pl.format("item {}, {}: {}", "item_id", written(), score)
    for is_so, what, shown in (
        (score.is_nan() | score.is_infinite(), "a score that is not finite", of_item),
        (listed & rank.is_null() & score.is_null(), "neither rank nor score", written()),
        (rank < 0, "a rank below 0", rank),
    ):
        refuse(input_file, rows.filter(is_so), what, shown=shown)
    return rows


def _nulls(names: Iterable[str]) -> list[pl.Expr]:
    return [pl.lit(None, RANKING[name]).alias(name) for name in sorted(names)]
