"""Rows of a ranking file, each checked by itself: numbers, documents as paths and lines, errors with positions."""

from collections.abc import Iterable, Mapping, Sequence

import polars as pl

from ingest.sources.input_file import InputFile
from ingest.sources.rows import parsed
from lake.errors import MAX_EXAMPLES
from lake.text import counted, listed

REPEATED = pl.Categorical()  # texts that occur in many rows, stored once
RANKING_COLUMNS: Mapping[str, pl.DataType] = {
    "position": pl.Int64(), "item_id": REPEATED, "path_given": REPEATED, "symbol": REPEATED, "document": REPEATED,
    "line_start": pl.Int64(), "line_end": pl.Int64(), "nth": pl.Int64(), "chunk_no": pl.Int64(), "rank": pl.Int64(),
    "score": pl.Float64(), "query_sha256": REPEATED, "error": pl.String(), "gold": pl.Int64(),
}  # fmt: skip
"""The rows of a ranking in any file format; a null path stands for an empty ranking or, with `error`, a missing one."""
_KINDS = {
    **{name: pl.String() if kind == REPEATED else kind for name, kind in RANKING_COLUMNS.items()},
    "line": pl.Int64(), "context_start": pl.Int64(), "of": pl.Int64(),
}  # fmt: skip
_DOCUMENT = (
    r"^(?<path_given>.*?)(?:::(?<symbol>.*?))?"
    r"(?:#L(?<line_start>[0-9]+)(?:-L(?<line_end>[0-9]+))?(?:\.(?<nth>[0-9]{1,9}))?)?$"
)
_CONTROL = r"[\x00-\x1f\x7f]"
_NO_PATH = "it is empty or holds a control character"
DOCUMENTS_HELP = (
    "A document is path#L10-L20 (both included, counted from 1), path#L10, path (the whole file), path::Qualified.name "
    "or cand:3; of several chunks with the same lines the second is path#L10-L10.2."
)
"""How a document of a ranking is written, for messages."""


def kinds_of(names: Iterable[str]) -> pl.Schema:
    """The types of the named columns in rows as read from a file."""
    return pl.Schema((name, _KINDS.get(name, pl.String())) for name in names)


def refuse(input_file: InputFile, rows: pl.DataFrame, what: str, *, shown: pl.Expr, hint: str = "") -> None:
    """Raise if there are `rows`: what is wrong, how many, and the first by position, each as the text in `shown`."""
    if rows.is_empty():
        return
    first = rows.sort("position").head(MAX_EXAMPLES).cast({pl.Categorical: pl.String})
    texts = first.select("position", shown.cast(pl.String).alias("shown")).iter_rows()
    examples = [f"{input_file.unit} {position}: {str(text)[:160]}" for position, text in texts]
    raise input_file.wrong(what=f"{what}: {counted(rows.height, input_file.unit)}", examples=examples, hint=hint)


def as_numbers(input_file: InputFile, rows: pl.DataFrame, *names: str) -> pl.DataFrame:
    """The rows with the named columns, if present, as numbers; nulls stay, any other text is an error."""
    for name, kind in kinds_of(name for name in names if name in rows.columns).items():
        number = pl.col(name).str.strip_chars().cast(kind, strict=False)
        broken = rows.filter(number.is_null() & pl.col(name).is_not_null())
        what = f"a {name} that is not a {'whole ' * kind.is_integer()}number"
        refuse(input_file, broken, what, shown=pl.col(name))
        rows = rows.with_columns(number.alias(name))
    return rows


def check_columns(input_file: InputFile, columns: Sequence[str]) -> None:
    """Raise if a table lacks the columns of a ranking or has one of them twice."""
    has, needed = set(columns), (("item_id",), ("document", "path"), ("rank", "score"))
    missing = [" or ".join(names) for names in needed if has.isdisjoint(names)]
    missing += ["both of line_start and line_end"] * (("line_start" in has) != ("line_end" in has))
    if missing or len(has) < len(columns):
        what = f"missing {' and '.join(missing)}" if missing else "it has a column twice"
        hint = "A table has item_id, then document (path#L10-L20, counted from 1), or path, line_start and line_end "
        hint += "(from 0, the end not included), then rank or score. Trajectories as a table: --format messages."
        raise input_file.wrong(what=f"{what}; the columns are {listed(list(columns[:20]))}", hint=hint)


def framed(input_file: InputFile, rows: Sequence[Sequence[object]], names: Sequence[str]) -> pl.DataFrame:
    """Rows as a frame with the columns `names`, the first of which is `position`."""
    try:
        return pl.DataFrame(rows, schema=kinds_of(names), orient="row")
    except UnicodeEncodeError as error:
        # Half a surrogate pair is possible in JSON but not in UTF-8.
        what = f"{error.object[:60]!a} contains half a surrogate pair, which is no text"
        raise input_file.wrong(what=what) from error


def row_of(input_file: InputFile, position: int, text: str) -> Mapping[str, object]:
    """The object in a line of JSON; an empty one in place of any other value. Invalid JSON is an error."""
    row = parsed(f"{input_file.path}, line {position}", text.encode())
    return row if isinstance(row, dict) else {}


def checked_rows(input_file: InputFile, frame: pl.DataFrame) -> pl.DataFrame:
    """The rows of a ranking as columns `RANKING_COLUMNS`; an error if a row by itself is invalid."""
    if "document" in frame.columns:
        frame = frame.drop("path", "line_start", "line_end", strict=False)
        parsed = spans_of(frame.select(pl.col("document").unique()).drop_nulls())
        spans = frame.join(parsed, on="document", how="left", maintain_order="left", nulls_equal=False)
    else:
        absent = {"line_start", "line_end"} - set(frame.columns)
        path, start, end = map(pl.col, ("path_given", "line_start", "line_end"))
        no_range = (start.is_null() != end.is_null()) | (start < 0) | (end < start)
        fault = _first_fault({
            _NO_PATH: (path == "") | path.str.contains(_CONTROL),
            "line_start and line_end are no range from 0": no_range,
        })  # fmt: skip
        spans = frame.rename({"path": "path_given"}).with_columns(_nulls(absent)).with_columns(fault=fault)
    given = pl.col("document" if "document" in frame.columns else "path_given")
    faulty = spans.filter(pl.col("fault").is_not_null())
    shown = pl.format("{}: {}", given, "fault")
    refuse(input_file, faulty, "a document that cannot be read", shown=shown, hint=DOCUMENTS_HELP)
    whole = spans.with_columns(_nulls(set(RANKING_COLUMNS) - set(spans.columns)))
    rows = whole.select(pl.col(name).cast(kind) for name, kind in RANKING_COLUMNS.items())
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
    return [pl.lit(None, RANKING_COLUMNS[name]).alias(name) for name in sorted(names)]


def spans_of(documents: pl.DataFrame) -> pl.DataFrame:
    """Documents as people write them (column `document`), each with its span, or with the `fault` in how it is written.

    Added columns: path_given, symbol (the definition named), line_start, line_end (0-based, half-open; null for a whole
    file or a definition) and nth (which of several chunks with these lines; null for the first).
    """
    parts = documents.with_columns(pl.col("document").str.extract_groups(_DOCUMENT).alias("parts")).unnest("parts")
    document, path, symbol, start, end, nth = map(pl.col, parts.columns)
    is_range = start.is_not_null()
    first, last = (number.cast(pl.Int64, strict=False) for number in (start, pl.coalesce(end, start)))
    # Numbers too large for an Int64 are null here.
    is_sound = ((first >= 1) & (last >= first)).fill_null(value=False)
    fault = _first_fault({
        _NO_PATH: (document == "") | document.str.contains(_CONTROL),
        "its lines are not #L10 or #L10-L20, counted from 1": (is_range & ~is_sound)
        | ((path == "") & is_range) | (~is_range & document.str.contains(r"#L[0-9-][^/]*$")) | (nth.cast(pl.Int64) < 2),
        "it is not path::Qualified.name": (symbol == "") | (path == "") | (is_range & symbol.is_not_null()),
    })  # fmt: skip
    # The lake writes symbols with `.`, whatever separator the language uses.
    separated = symbol.str.replace_all("::", ".", literal=True)
    columns = {"symbol": separated, "line_start": first - 1, "line_end": last, "nth": nth.cast(pl.Int64)}
    return parts.with_columns(**columns, fault=fault)


def _first_fault(faults: Mapping[str, pl.Expr]) -> pl.Expr:
    return pl.coalesce(pl.when(is_so).then(pl.lit(fault)) for fault, is_so in faults.items())


def written() -> pl.Expr:
    """A span as people write it, for messages: `path#L10-L20`."""
    lines = pl.format("#L{}-L{}", pl.col("line_start") + 1, pl.col("line_end"))
    return pl.concat_str("path_given", lines.fill_null(""))
