"""Imported rows: a ranking's, each checked by itself, and the files, lines, bytes and characters that rows mean."""

from collections.abc import Iterable, Mapping, Sequence

import polars as pl

from ingest.sources.input_file import InputFile
from ingest.sources.rows import parsed
from lake.errors import MAX_EXAMPLES
from lake.offsets import added_lines
from lake.store import Lake, contents_of
from lake.tables import UNSEARCHED
from lake.text import counted, listed

REPEATED = pl.Categorical()  # texts that occur in many rows, stored once
RANKING_COLUMNS: Mapping[str, pl.DataType] = {
    "position": pl.Int64(), "item_id": REPEATED, "path_given": REPEATED, "symbol": REPEATED, "document": REPEATED,
    "line_start": pl.Int64(), "line_end": pl.Int64(), "nth": pl.Int64(), "chunk_no": pl.Int64(), "rank": pl.Int64(),
    "score": pl.Float64(), "query_sha256": REPEATED, "error": pl.String(), "gold": pl.Int64(),
}  # fmt: skip
"""The rows of a ranking in any file format; a null path stands for an empty ranking or, with `error`, a missing one."""
_KINDS = {name: kind for name, kind in RANKING_COLUMNS.items() if kind != REPEATED}
_KINDS |= dict.fromkeys(("line", "context_start", "of"), pl.Int64())
_DOCUMENT = (
    r"^(?<path_given>.*?)(?:::(?<symbol>.*?))?"
    r"(?:#L(?<line_start>[0-9]+)(?:-L(?<line_end>[0-9]+))?(?:\.(?<nth>[0-9]{1,9}))?)?$"
)
_FOLDERS = r"(?s)^.*[/\\]"
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
    """The rows with the named columns, if present, as numbers; empty texts become null, any other is an error."""
    for name, kind in kinds_of(name for name in names if name in rows.columns).items():
        number = pl.col(name).str.strip_chars().cast(kind, strict=False)
        broken = rows.filter(number.is_null() & (pl.col(name) != ""))
        what = f"a {name} that is not a {'whole ' * kind.is_integer()}number"
        refuse(input_file, broken, what, shown=pl.col(name))
        rows = rows.with_columns(number.alias(name))
    return rows


def check_columns(input_file: InputFile, columns: Sequence[str]) -> None:
    """Raise if a table lacks the columns of a ranking or has one of them twice."""
    has, needed = set(columns), (("item_id",), ("document", "path"), ("rank", "score"))
    missing = [" or ".join(names) for names in needed if has.isdisjoint(names)]
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
    given = "document" if "document" in frame.columns else "path_given"
    spans = frame.rename({"path": "path_given"}, strict=False)
    if given == "document":
        frame = frame.drop("path", "line_start", "line_end", strict=False)
        parsed = spans_of(frame.select(pl.col("document").unique()).drop_nulls())
        spans = frame.join(parsed, on="document", how="left", maintain_order="left", nulls_equal=False)
    columns = {**RANKING_COLUMNS, "fault": pl.String()}
    absent = [pl.lit(None, kind).alias(name) for name, kind in columns.items() if name not in spans.columns]
    path, start, end, rank, score = map(pl.col, ("path_given", "line_start", "line_end", "rank", "score"))
    fault = _first_fault({
        _NO_PATH: (path == "") | path.str.contains(_CONTROL),
        "line_start and line_end are no range from 0":
            (start.is_null() != end.is_null()) | (start < 0) | (end < start),
        "its score is not finite": score.is_nan() | score.is_infinite(),
        "it has neither rank nor score": path.is_not_null() & rank.is_null() & score.is_null(),
        "its rank is below 0": rank < 0,
    })  # fmt: skip
    spans = spans.with_columns(absent).with_columns(fault=pl.coalesce("fault", fault))
    faulty, shown = spans.filter(pl.col("fault").is_not_null()), pl.format("{}: {}", given, "fault")
    refuse(input_file, faulty, "a document that cannot be read", shown=shown, hint=DOCUMENTS_HELP)
    return spans.select(pl.col(name).cast(kind) for name, kind in RANKING_COLUMNS.items())


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


def with_files(lake: Lake, benchmark: str, rows: pl.DataFrame, *, whole_trees: bool = False) -> pl.DataFrame:
    """The rows, without pool_id, with path, sha256 and n_lines of the file that `path_given` means, null if none.

    It means the file with this path, else (a backslash is a slash) the one left when the fewest leading folders are
    dropped. `whole_trees` includes files of the repository that are not searched.
    """
    pools = rows.select(pl.col("pool_id").unique().sort()).with_row_index("pool").cast({"pool": pl.Int64})
    rows = rows.join(pools, on="pool_id", how="left", maintain_order="left").drop("pool_id")
    key, path, whole = ["pool", "path_given"], pl.col("path"), pl.col("whole")
    wanted = rows.select(key).unique().with_columns(whole=pl.col("path_given").cast(pl.String))
    wanted = wanted.with_columns(leaf=whole.str.replace(_FOLDERS, ""))
    if whole_trees:
        pools = pl.concat([pools, pools.with_columns(pl.col("pool_id") + UNSEARCHED)])
    files = lake.scan("files", benchmark=benchmark).with_columns(leaf=path.str.replace(_FOLDERS, ""))
    files = files.filter(pl.col("leaf").is_in(wanted["leaf"].implode())).join(pools.lazy(), on="pool_id")
    files = files.join(lake.scan("blobs").select("sha256", "n_lines"), on="sha256")
    known = files.select("pool", "leaf", "path", "sha256", "n_lines").collect()
    exact = wanted.join(known.with_columns(whole="path"), on=["pool", "whole"])
    rest = wanted.join(exact, on=key, how="anti").filter(~whole.str.contains(r"(?:^|[/\\])\.\.(?:[/\\]|$)"))
    plain = pl.format("/{}", whole.str.replace_all("\\", "/", literal=True)).str.replace_all(r"/(?:\.?/)+", "/")
    rest = rest.join(known, on=["pool", "leaf"]).filter(plain.str.ends_with(pl.format("/{}", "path")))
    rest = rest.sort(path.str.len_bytes(), descending=True).unique(key, keep="first", maintain_order=True)
    meant = pl.concat([exact, rest], how="diagonal").select(*key, pl.col("path", "sha256").cast(REPEATED), "n_lines")
    return rows.join(meant, on=key, how="left", maintain_order="left").drop("pool")


def named_whole(lake: Lake, benchmark: str, rows: pl.DataFrame) -> pl.DataFrame:
    """Rows of a ranking in which a document equal to a file's path means that file, even if it has `#L1-L2` or `::`."""
    files = lake.scan("files", benchmark=benchmark).filter(pl.col("path").str.contains("#L|::"))
    names = files.select(pl.col("path").unique()).collect()["path"]
    whole = pl.when(pl.col("document").cast(pl.String).is_in(names.implode()).fill_null(value=False))
    cleared = [whole.then(None).otherwise(name).alias(name) for name in ("symbol", "line_start", "line_end", "nth")]
    return rows.with_columns(*cleared, path_given=whole.then("document").otherwise("path_given"))


def measured(lake: Lake, rows: pl.DataFrame) -> pl.DataFrame:
    """Rows of item, rank, sha256, line_start, line_end with byte_start, byte_end, n_nws and n_new_nws added.

    The last counts the non-white characters in lines that no better rank of the item has.
    """
    wanted = rows["sha256"].cast(pl.String).unique().drop_nulls()
    stored = contents_of(lake, wanted, ("text", "line_starts", "line_nws"))
    # All contents one after another: an entry for the start of every line, and one for the end of each content.
    starts = pl.col("line_starts").list.concat(pl.col("text").str.len_bytes().cast(pl.Int64))
    n_places = pl.col("line_starts").list.len().cast(pl.Int64) + 1
    contents = stored.select(pl.col("sha256").cast(REPEATED), offset=n_places.cum_sum() - n_places)
    byte_at = pl.lit(stored.select(starts.explode()).to_series())
    n_nws = pl.concat_list(pl.lit(0, pl.Int64), "line_nws").explode().cum_sum()
    nws_before = pl.lit(stored.select(n_nws).to_series())

    def with_sizes(rows: pl.DataFrame) -> pl.DataFrame:
        start, end = pl.col("offset") + pl.col("line_start"), pl.col("offset") + pl.col("line_end")
        placed = rows.join(contents, on="sha256", how="left", maintain_order="left")
        placed = placed.with_columns(n_nws=nws_before.gather(end) - nws_before.gather(start))
        return placed.with_columns(byte_start=byte_at.gather(start), byte_end=byte_at.gather(end)).drop("offset")

    new = with_sizes(added_lines(rows.filter(pl.col("sha256").is_not_null()), ["item", "sha256"]))
    new = new.group_by("item", "rank").agg(n_new_nws=pl.col("n_nws").sum())
    whole = with_sizes(rows).join(new, on=["item", "rank"], how="left", maintain_order="left")
    return whole.with_columns(pl.when(pl.col("sha256").is_not_null()).then(pl.col("n_new_nws").fill_null(0)))
