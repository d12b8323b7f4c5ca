"""Rankings as TREC runs, tables with a header (BEIR's too), scores as JSON, Parquet, and answers of search programs."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial

import polars as pl

from ingest.runs.importer import Importer, first_object
from ingest.runs.ranking_rows import as_numbers, check_columns, framed, kinds_of, refuse, row_of
from ingest.runs.values import count_at, object_at, objects_in
from ingest.sources.input_file import InputFile
from ingest.sources.rows import read_frames
from lake.errors import did_you_mean
from lake.limits import MAX_TABLE_BYTES

# The document may hold spaces; the other five columns may not.
_TREC_ROW = r"^\s*(\S+)\s+(\S+)\s+(.+?)\s+(\S+)\s+(\S+)\s+(\S+)\s*$"
_TREC_EXAMPLE = "function-2k/acme_rockets/0 Q0 src/engine.py#L10-L20 1 0.93 my-run"
COLUMN_NAMES: Mapping[str, str] = {
    "item_id": "item_id", "item": "item_id", "query": "item_id", "qid": "item_id", "query_id": "item_id",
    "query-id": "item_id", "document": "document", "doc": "document", "docid": "document", "doc_id": "document",
    "corpus-id": "document", "path": "path", "line_start": "line_start", "line_end": "line_end", "rank": "rank",
    "score": "score", "query_sha256": "query_sha256",
}  # fmt: skip
"""The name of a column in a header → its meaning."""
_ROWS_AT_ONCE = 500_000
_SCORES = ("position", "item_id", "document", "score")
_ANSWER_COLUMNS = ("position", "item_id", "path", "line_start", "line_end", "rank", "score", "error")
_IDS, _LISTS = ("id", "instance_id", "item_id", "query_id"), ("results", "hits", "regions")
_KEYS = {"docid": "path", "file": "path", "file_path": "path", "start_line": "start", "end_line": "end"}
_BESIDE = {"text", "content", "rank"}
_Result = tuple[str, int | None, int | None, float | None]  # path, first line from 0, line after the last, score


def recognise_trec(head: bytes, name: str) -> bool:
    """Whether the first line has six columns, or more (spaces in the document), with a rank and a score as numbers."""
    columns = head.removeprefix(b"\xef\xbb\xbf").lstrip().split(b"\n", 1)[0].split()
    with suppress(ValueError):
        return len(columns) >= 6 and columns[-3].isdigit() and float(columns[-2]) is not None
    return False


def read_trec(input_file: InputFile) -> Iterator[pl.DataFrame]:
    """Item, document, rank and score of every line; the second and the last column are ignored."""
    for lines in input_file.lines():
        group = pl.col("text").str.extract_groups(_TREC_ROW).struct.field
        rows = lines.with_columns(
            item_id=_unescaped(group("1")), document=_unescaped(group("3")), rank=group("4"), score=group("5")
        )
        refuse(input_file, rows.filter(pl.col("item_id").is_null()), "not six columns", shown=pl.col("text"))
        yield as_numbers(input_file, rows.drop("text"), "rank", "score")


def _unescaped(column: pl.Expr) -> pl.Expr:
    """The text with `%20` as a space, which would end a column, and `%25` as `%`: as `report export` writes them."""
    return column.str.replace_all("%20", " ", literal=True).str.replace_all("%25", "%", literal=True)


def _names_in(text: str) -> tuple[list[str], str]:
    """The names in a header, and what separates them: a tab, or a comma if there is none."""
    header = text.partition("\n")[0].removeprefix("\ufeff")
    mark = "\t" if "\t" in header else ","
    return [name.strip().strip('"').lower() for name in header.split(mark)], mark


def recognise_table(head: bytes, name: str) -> bool:
    """Whether the first line has names between tabs or commas that include an item's and a document's or path's."""
    columns = {COLUMN_NAMES.get(column, "") for column in _names_in(head.decode(errors="replace"))[0]}
    return "item_id" in columns and bool({"document", "path"} & columns)


def read_table(input_file: InputFile) -> Iterator[pl.DataFrame]:
    """The rows below the header, with the columns it names; an empty number is null."""
    columns, mark = list[str](), ""
    for rows in input_file.lines():
        if not columns:
            header, mark = _names_in(str(rows["text"][0]) if rows.height else "")
            if unknown := [name for name in header if name not in COLUMN_NAMES]:
                what = f"unknown column {unknown[0]!r} in the header"
                raise input_file.wrong(what, hint=did_you_mean(unknown[0], COLUMN_NAMES))
            columns = [COLUMN_NAMES[name] for name in header]
            check_columns(input_file, columns)
            rows = rows.slice(1)
        # Values between commas may be in quotes, but contain none.
        text = pl.col("text").str.replace_all('"', "", literal=True) if mark == "," else pl.col("text")
        fields = text.str.split(mark)
        uneven = rows.filter(fields.list.len() != len(columns))
        refuse(input_file, uneven, f"not the {len(columns)} columns of the header", shown=pl.col("text"))
        table = rows.select("position", *(fields.list.get(n).alias(name) for n, name in enumerate(columns)))
        yield as_numbers(input_file, table, "rank", "score", "line_start", "line_end")


def recognise_scores(head: bytes, name: str) -> bool:
    """Whether there is a single object, all of whose values are objects of numbers."""
    objects = objects_in(head) if head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{") else ()
    lists = objects[0].values() if len(objects) == 1 else [None]
    return all(
        isinstance(scores, dict) and not any(isinstance(score, str | dict | list) for score in scores.values())
        for scores in lists
    )


def _distinct(input_file: InputFile, pairs: list[tuple[str, object]]) -> dict[str, object]:
    names = Counter(name for name, _ in pairs)
    if len(names) < len(pairs):
        raise input_file.wrong(what=f"{names.most_common(1)[0][0][:160]!a} occurs twice in an object")
    return dict(pairs)


def read_scores(input_file: InputFile) -> Iterator[pl.DataFrame]:
    """One row per score, query by query."""
    # A whole number may be too large for a float.
    distinct = partial(_distinct, input_file)
    document = input_file.json(partial(json.loads, parse_int=float, object_pairs_hook=distinct))
    if not isinstance(document, dict):
        raise input_file.wrong(what="it is no object")
    rows = list[tuple[object, ...]]()
    for position, (item_id, scores) in enumerate(document.items(), start=1):
        if not isinstance(scores, dict) or not all(isinstance(score, float) for score in scores.values()):
            raise input_file.wrong(what=f"entry {position}: item {item_id!a} has no object {{document: score}}")
        rows += [(position, item_id, *pair) for pair in scores.items()] or [(position, item_id, None, None)]
        if len(rows) >= _ROWS_AT_ONCE:
            yield framed(input_file, rows, _SCORES)
            rows.clear()
    if rows:
        yield framed(input_file, rows, _SCORES)


def _read_parquet(input_file: InputFile) -> Iterator[pl.DataFrame]:
    """The rows in batches; of the table `hits`, only those of the part `ranking`."""

    def wanted(columns: Sequence[str]) -> list[str]:
        check_columns(input_file, columns)
        lines = ("path", "path_given", "line_start", "line_end", "chunk_no")
        location = ("document",) if "document" in columns else lines
        known = ("run_id", "part", "item_id", *location, "rank", "score", "query_sha256")
        return [name for name in known if name in columns]

    n_before, runs = 0, set[str]()
    try:
        for frame in read_frames(input_file.entry, wanted, MAX_TABLE_BYTES):
            rows = frame.cast(kinds_of(frame.columns)).with_row_index("position", n_before + 1)
            n_before += frame.height
            if "run_id" in rows.columns:
                runs |= {*rows["run_id"].unique()}
            if len(runs) > 1:
                raise input_file.wrong("the file holds several runs", hint="Import them one by one: a file each.")
            if "part" in rows.columns:
                rows = rows.filter(part="ranking")
            if "path_given" in rows.columns:
                rows = rows.with_columns(path=pl.coalesce("path", "path_given"))
            if rows.height:
                texts = pl.col("^(?:item_id|document|path)$").fill_null("")
                yield rows.drop("run_id", "part", "path_given", strict=False).with_columns(texts)
    except pl.exceptions.PolarsError as error:
        raise input_file.wrong(what=f"the Parquet cannot be read: {str(error).splitlines()[0][:200]}") from error


def parse_answer(answer: Mapping[str, object]) -> tuple[Sequence[_Result], str | None]:
    """An answer's results, by score if they have any, or the program's error; a ValueError if it is no answer."""
    if isinstance(error := answer.get("error"), str):
        return (), error or "the program gives no reason"
    results = answer.get("results")
    if not isinstance(results, list):
        raise ValueError("`results` must be a list")
    rows = [_result(number, result) for number, result in enumerate(results, start=1)]
    scores = [score for _, _, _, score in rows if score is not None]
    if scores and len(scores) < len(rows):
        raise ValueError("some results have a score and some have none")
    return sorted(rows, key=lambda row: -(row[3] or 0)) if scores else rows, None


def _result(number: int, result: object) -> _Result:
    row = object_at(result)
    path, start, end, score = (row.get(key) for key in ("path", "start", "end", "score"))
    first, last = count_at(start), count_at(end)
    has_lines = (start, end) == (None, None) or 1 <= (first or 0) <= (last or 0)
    has_score = isinstance(score, int | float) and not isinstance(score, bool) and abs(score) < 1e308
    is_known = row.keys() <= {"path", "start", "end", "score"} and (has_score or score is None)
    if not (isinstance(path, str) and has_lines and is_known):
        keys = "a path, maybe start and end (lines from 1) and a finite score, and no other keys"
        raise ValueError(f"result {number}: expected {keys}, not {ascii(result)[:160]}")
    return path, None if first is None else first - 1, last, float(score) if isinstance(score, int | float) else None


def _answer(row: Mapping[str, object]) -> Mapping[str, object]:
    """A row of a file under the keys of an answer, its results without texts and ranks."""
    item, listed = (next((key for key in keys if key in row), keys[0]) for keys in (_IDS, _LISTS))
    results = row.get(listed)
    if isinstance(results, list):
        results = [
            {_KEYS.get(key, key): value for key, value in result.items() if key not in _BESIDE}
            for result in (result if isinstance(result, dict) else {"": result} for result in results)
        ]
    return {"id": row.get(item), "results": results, "error": row.get("error")}


def _is_answer(row: Mapping[str, object]) -> bool:
    has_list = any(isinstance(row.get(key), list) for key in _LISTS)
    return any(key in row for key in _IDS) and (has_list or {"id", "error"} <= row.keys())


def read_answers(input_file: InputFile) -> Iterator[pl.DataFrame]:
    """One row per result; an item without results has one row without a path."""
    seen: dict[str, int] = {}
    for lines in input_file.lines():
        rows: list[tuple[object, ...]] = []
        for position, text in lines.iter_rows():
            answer = _answer(row_of(input_file, position, text))
            if not isinstance(item_id := answer.get("id"), str):
                raise input_file.wrong(f"line {position}: no object with an `id`", examples=[text[:160]])
            try:
                results, error = parse_answer(answer)
            except ValueError as fault:
                raise input_file.wrong(f"line {position}, item {item_id!a}: {fault}") from fault
            if (first := seen.setdefault(item_id, position)) != position:
                raise input_file.wrong(f"line {position}: item {item_id!a} is in line {first} too")
            for rank, (path, start, end, score) in enumerate(results, start=1):
                rows.append((position, item_id, path, start, end, rank, score, None))
            if not results:
                rows.append((position, item_id, None, None, None, None, None, error))
        yield framed(input_file, rows, _ANSWER_COLUMNS)


TREC = Importer(
    name="trec", title="TREC run",
    meaning="Six columns: query, Q0, document, rank, score, run; plain, .gz or .zst. A space in a name is %20. "
        "If all ranks are equal (all 0, all 1), the scores decide, as in trec_eval.",
    recognise=recognise_trec, read=read_trec, example=_TREC_EXAMPLE,
)  # fmt: skip
TSV = Importer(
    name="tsv", title="Table of tab- or comma-separated columns", aliases=("beir", "csv"),
    meaning="A header, then rows, all with tabs or all with commas: item_id (query, qid, BEIR's query-id), document "
        "(doc, docid, corpus-id) or path, line_start, line_end (0-based, half-open, as in the lake), and rank, score "
        "or both.",
    recognise=recognise_table, read=read_table, example="item_id\tdocument\tscore",
)  # fmt: skip
SCORES_JSON = Importer(
    name="json", title="Scores as JSON", unit="entry", aliases=("ranx", "pytrec_eval"),
    meaning="{query: {document: score}}, as written by ranx, pytrec_eval and BEIR.",
    recognise=recognise_scores, read=read_scores,
    example='{"function-2k/acme_rockets/0": {"src/engine.py#L10-L20": 0.93}}',
)  # fmt: skip
PARQUET = Importer(
    name="parquet", title="Parquet", unit="row",
    meaning="The table hits, as written by `report export --format parquet`: item_id, path, line_start, line_end "
        "(0-based, half-open) or document, rank, score or both, and query_sha256 if known.",
    recognise=lambda head, _: head.startswith(b"PAR1"), read=_read_parquet,
    example="item_id, path, line_start, line_end, rank",
)  # fmt: skip
ANSWERS = Importer(
    name="answers", title="Answers of a program",
    meaning="JSON Lines: id, and results with path, start and end (from 1, inclusive; without them, the whole file) "
        "and score (without it, the order counts); or id and error, the reason why there are no results. Also "
        "instance_id with hits (docid, score), as SWE-bench's retrieval writes them, or with regions, as SWE-Explore.",
    recognise=lambda head, _: _is_answer(first_object(head)), read=read_answers,
    example='{"id": "function-2k/acme_rockets/0", "results": [{"path": "src/engine.py", "start": 10, "end": 20}]}',
)  # fmt: skip
