"""SWE-Explore's two files: what issues need, and the regions that a system returned; both JSON Lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from evaluate.results.trec_files import unpacked_file
from lake.errors import Exit, GoldspanError
from lake.limits import MAX_LINE_BYTES, TooMuchUnpackedError, parsed_json, unpacked

MAX_REGION_LINES = 20_000_000
"""Lines that all regions of a file may have together."""

_FILE_END = -1
_FILE = {"query": pl.String(), "path": pl.String()}
_REGION = {"query": pl.String(), "region": pl.Int64(), "path": pl.String(), "start": pl.Int64(), "end": pl.Int64()}

RegionRows = list[tuple[object, ...]]


@dataclass(frozen=True)
class RegionGold:
    """What issues need: regions and files, and how many lines files have where that is known."""

    queries: list[str]
    core: pl.DataFrame
    optional: pl.DataFrame
    core_files: pl.DataFrame
    optional_files: pl.DataFrame
    main_files: pl.DataFrame
    n_lines: pl.DataFrame


def is_gold(path: Path) -> bool:
    """Whether a file begins as SWE-Explore's rows do."""
    try:
        with path.open("rb") as file, unpacked(file) as stream:
            return b'"read_core_regions"' in stream.readline(MAX_LINE_BYTES)
    except (OSError, ValueError, TooMuchUnpackedError):
        return False


def read_gold(path: Path) -> RegionGold:
    """The gold of a file in SWE-Explore's form."""
    queries, n_lines = list[str](), RegionRows()
    regions: dict[str, RegionRows] = {"core": [], "optional": []}
    files: dict[str, RegionRows] = {"core": [], "optional": [], "main": []}
    for query, row, where in _json_rows(path):
        truth = row.get("ground_truth", row)
        if not isinstance(truth, dict):
            raise _fault(where, "`ground_truth` is no object")
        queries.append(query)
        regions["core"] += _regions(query, truth.get("read_core_regions"), where)
        regions["optional"] += _regions(query, _of_all(truth.get("read_optional_regions_map")), where)
        files["core"] += [(query, path) for path in _list(truth.get("read_core_files"), where)]
        files["optional"] += [(query, path) for path in _list(_of_all(truth.get("read_optional_files_map")), where)]
        files["main"] += [(query, path) for path in _list(truth.get("main_files"), where)]
        counts = row.get("file_line_counts") or {}
        n_lines += [(query, path, n) for path, n in counts.items()] if isinstance(counts, dict) else []
    of_core, of_optional, main = (_frame(rows, _FILE, path).unique() for rows in files.values())
    known = _frame(n_lines, {**_FILE, "n_lines": pl.Int64()}, path)
    core, optional = (_resolved(_frame(rows, _REGION, path), known, path) for rows in regions.values())
    return RegionGold(queries, core, optional, of_core, of_optional, main, known)


def read_returned(path: Path, gold: RegionGold) -> tuple[pl.DataFrame, list[str]]:
    """The regions that a system returned, in order, as rows of `instance_id` and `regions`; and what it was asked."""
    queries, rows = list[str](), RegionRows()
    for query, row, where in _json_rows(path):
        if "regions" not in row:
            raise _fault(where, "there is no `regions`")
        queries.append(query)
        rows += _regions(query, row["regions"], where)
    return _resolved(_frame(rows, _REGION, path), gold.n_lines, path), queries


def _resolved(regions: pl.DataFrame, n_lines: pl.DataFrame, path: Path) -> pl.DataFrame:
    """Regions with lines from 1, both ends included; -1 is a file's end, and less than 0 counts from there.

    Where that needs a file's length, which is not known, both ends are null.
    """
    start, end, n = pl.col("start"), pl.col("end"), pl.col("n_lines")
    from_end = (end == _FILE_END) | (start < 0)
    is_known, is_given = from_end & (n >= 1), ~from_end & (end >= 1)
    first = pl.when(start < 0).then(n + start + 1).otherwise(start).clip(1, n)
    last = pl.when(end == _FILE_END).then(n).otherwise(end).clip(1, n)
    placed = regions.join(n_lines, on=["query", "path"], how="left", maintain_order="left").with_columns(
        start=pl.when(is_known).then(first).when(is_given).then(pl.max_horizontal(start, pl.lit(1))),
        end=pl.when(is_known).then(last).when(is_given).then(end),
    )
    total = placed.select((pl.col("end") - pl.col("start") + 1).clip(0).sum()).item()
    if total > MAX_REGION_LINES:
        raise _fault(str(path), f"the regions have {total:,} lines; at most {MAX_REGION_LINES:,} are read")
    return placed.drop("n_lines")


def _json_rows(path: Path) -> Iterator[tuple[str, Mapping[str, object], str]]:
    """The id, the row and the place of each row of JSON Lines, no id twice."""
    seen = set[str]()
    with unpacked_file(path) as stream:
        for number, line in enumerate(iter(lambda: stream.readline(MAX_LINE_BYTES), b""), 1):
            if not line.strip():
                continue
            where, row = f"{path}, line {number}", parsed_json(line)
            query = row.get("instance_id") if isinstance(row, dict) else None
            if not isinstance(row, dict) or not isinstance(query, str):
                raise _fault(where, "no object with an `instance_id`")
            if query in seen:
                raise _fault(where, f"{query} stands there twice")
            seen.add(query)
            yield query, row, where


def _regions(query: str, value: object, where: str) -> RegionRows:
    """A query's regions, given as objects with `path`, `start` and `end` or as lists of the three, as rows."""
    rows = RegionRows()
    for number, region in enumerate(_list(value, where)):
        each = [region.get(key) for key in ("path", "start", "end")] if isinstance(region, dict) else region
        if not isinstance(each, list) or len(each) != 3 or not isinstance(each[0], str):
            raise _fault(where, f"{region!r:.80} is no region of path, start and end")
        if not all(type(line) is int and abs(line) < 2**31 for line in each[1:]):
            raise _fault(where, f"{region!r:.80} has lines that are no whole numbers")
        rows.append((query, number, *each))
    return rows


def _of_all(value: object) -> object:
    """What a map of models holds, all together."""
    lists = value.values() if isinstance(value, dict) else []
    return [entry for entries in lists if isinstance(entries, list) for entry in entries]


def _list(value: object, where: str) -> list[object]:
    if value is not None and not isinstance(value, list):
        raise _fault(where, f"{value!r:.80} is no list")
    return value or []


def _frame(rows: Sequence[tuple[object, ...]], schema: Mapping[str, pl.DataType], path: Path) -> pl.DataFrame:
    try:
        return pl.DataFrame(rows, schema, orient="row", strict=True)
    except (pl.exceptions.PolarsError, TypeError, OverflowError) as error:
        raise _fault(str(path), "a path is no text, or a number of lines no whole number") from error


def _fault(where: str, what: str) -> GoldspanError:
    hint = "Gold are SWE-Explore's rows; a run has rows of instance_id and regions: docs/score.md."
    return GoldspanError(what, where=where, hint=hint, code=Exit.INVALID)
