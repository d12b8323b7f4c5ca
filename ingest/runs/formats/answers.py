"""Answers of search programs: JSON Lines, a list of results per item; `ingest run --search` reads them too."""

from collections.abc import Iterator, Mapping, Sequence

import polars as pl

from ingest.runs.importer import Importer, first_object
from ingest.runs.ranking_rows import framed, row_of
from ingest.runs.values import count_at, object_at, objects_at
from ingest.sources.input_file import InputFile

_COLUMNS = ("position", "item_id", "path", "line_start", "line_end", "rank", "score", "error")
_EXAMPLE = '{"id": "function-2k/acme_rockets/0", "results": [{"path": "src/engine.py", "start": 10, "end": 20}]}'
_IDS, _LISTS = ("id", "instance_id", "item_id", "query_id"), ("results", "hits", "regions")
_KEYS = {"docid": "path", "file": "path", "file_path": "path", "start_line": "start", "end_line": "end"}
_BESIDE = {"text", "content", "rank"}
_Row = tuple[str, int | None, int | None, float | None]  # path, first line from 0, line after the last, score


def parse_answer(answer: Mapping[str, object]) -> tuple[Sequence[_Row], str | None]:
    """An answer's results, by score if they have any, or the program's error; a ValueError if it is no answer."""
    if isinstance(error := answer.get("error"), str):
        return (), error or "the program gives no reason"
    results = answer.get("results")
    if not isinstance(results, list):
        raise ValueError("`results` must be a list")
    rows = [_row(number, result) for number, result in enumerate(results, start=1)]
    scores = [score for _, _, _, score in rows if score is not None]
    if scores and len(scores) < len(rows):
        raise ValueError("some results have a score and some have none")
    return sorted(rows, key=lambda row: -(row[3] or 0)) if scores else rows, None


def _row(number: int, result: object) -> _Row:
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
    renamed = [
        {_KEYS.get(key, key): value for key, value in result.items() if key not in _BESIDE}
        for result in objects_at(row, listed)
    ]
    results = renamed if isinstance(row.get(listed), list) else None
    return {"id": row.get(item), "results": results, "error": row.get("error")}


def _is_answer(row: Mapping[str, object]) -> bool:
    has_list = any(isinstance(row.get(key), list) for key in _LISTS)
    return any(key in row for key in _IDS) and (has_list or {"id", "error"} <= row.keys())


def read(input_file: InputFile) -> Iterator[pl.DataFrame]:
    """One row per result; an item without results has one row without a path."""
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
            for rank, (path, start, end, score) in enumerate(results, start=1):
                rows.append((position, item_id, path, start, end, rank, score, None))
            if not results:
                rows.append((position, item_id, None, None, None, None, None, error))
        yield framed(input_file, rows, _COLUMNS)


ANSWERS = Importer(
    name="answers", title="Answers of a program",
    meaning="JSON Lines: id, and results with path, start and end (from 1, inclusive; without them, the whole file) "
        "and score (without it, the order counts); or id and error, the reason why there are no results. Also "
        "instance_id with hits (docid, score), as SWE-bench's retrieval writes them, or with regions, as SWE-Explore.",
    recognise=lambda head, _: _is_answer(first_object(head)), read=read, example=_EXAMPLE,
)  # fmt: skip
