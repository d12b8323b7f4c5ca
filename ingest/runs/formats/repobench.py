"""RepoBench-R's results: what its retrieval scripts write, a list of candidates per row of the dataset."""

from __future__ import annotations

import re
from collections.abc import Iterator

import polars as pl

from ingest.runs.importer import Importer
from ingest.runs.input_rows import framed
from ingest.sources.input_file import InputFile
from lake.limits import MAX_DOCUMENT_BYTES, parsed_json

_LEVELS = ("easy", "hard")
_FIRST = re.compile(rb"(?:\xef\xbb\xbf)?\s*\{\s*\"(?:easy|hard)\"\s*:\s*\[")
_NAMED = re.compile(r"(?P<language>python|java)_(?P<setting>first|random|cff|cfr)(?![a-z])")
_SUBSETS = {"first": "cff", "random": "cfr"}
_COLUMNS = ("position", "item_id", "gold", "rank", "of")
_OFFICIAL = "3"
"""The lines of code that the task's query has."""
_GOLD = "ground_truth"


def recognise(head: bytes, name: str) -> bool:
    """An object whose first value is the list of a level."""
    return _FIRST.match(head) is not None


def read(input_file: InputFile) -> Iterator[pl.DataFrame]:
    """A row per candidate, in the order of each list."""
    named = _NAMED.search(input_file.name)
    if named is None:
        what = "its name does not say which part of RepoBench-R it answers"
        hint = "Call it as the published scripts do: python_first.json, java_random.json (or python_cff.json, …)."
        raise input_file.wrong(what=what, hint=hint)
    subset = f"{named['language']}_{_SUBSETS.get(named['setting'], named['setting'])}"
    for level, rows in _levels(input_file).items():
        found: list[tuple[int, str, int | None, int | None, int | None]] = []
        for number, row in enumerate(rows):
            item_id = f"{subset}/test/{level}/{number}"
            candidates = _candidates(input_file, f"{level}[{number}]", row)
            gold = row.get(_GOLD) if isinstance(row, dict) else None
            right = gold if _is_number(gold) and isinstance(gold, int) else None
            found += [(number + 1, item_id, right, rank, one) for rank, one in enumerate(candidates, start=1)]
            found += [(number + 1, item_id, right, None, None)] * (not candidates)
        yield framed(input_file, found, _COLUMNS).with_columns(document=pl.format("cand:{}", "of")).drop("of")


def _levels(input_file: InputFile) -> dict[str, list[object]]:
    blocks, size = [], 0
    for block in input_file.blocks():
        size += len(block)
        if size > MAX_DOCUMENT_BYTES:
            raise input_file.wrong(what=f"it is longer than {MAX_DOCUMENT_BYTES:,} bytes")
        blocks.append(block)
    try:
        value = parsed_json(b"".join(blocks).removeprefix(b"\xef\xbb\xbf"))
    except (ValueError, RecursionError) as error:
        raise input_file.wrong(what=f"not JSON ({error}); is the file cut off?", hint=_HINT) from error
    if not isinstance(value, dict) or not value.keys() <= set(_LEVELS) or not value:
        raise input_file.wrong(what="it is no object of easy and hard", hint=_HINT)
    levels = {}
    for level, rows in value.items():
        if not isinstance(rows, list):
            raise input_file.wrong(what=f"{level} is no list", hint=_HINT)
        levels[str(level)] = rows
    return levels


def _candidates(input_file: InputFile, place: str, row: object) -> list[int]:
    """The list for the task's query; where there is one for another number of lines alone, that one."""
    lists = {key: value for key, value in row.items() if key != _GOLD} if isinstance(row, dict) else {}
    if not lists or (_OFFICIAL not in lists and len(lists) > 1):
        what = f"{place}: it has lists for queries of {', '.join(map(str, lists)) or 'no'} lines, and none of 3"
        raise input_file.wrong(what=what, hint=_HINT)
    found = lists.get(_OFFICIAL, next(iter(lists.values())))
    if not isinstance(found, list) or not all(_is_number(one) for one in found):
        raise input_file.wrong(what=f"{place}: no list of candidates' numbers from 0", hint=_HINT)
    return found


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31


_EXAMPLE = '{"easy": [{"3": [2, 0, 1], "ground_truth": 2}], "hard": []}'
_HINT = f"Such a file is: {_EXAMPLE}"

REPOBENCH = Importer(
    name="repobench",
    title="RepoBench-R results",
    meaning="What its retrieval scripts write, called as they do: python_first.json, java_random.json. Per row of the "
    "test split the candidates in order; of lists for several lengths of query that for 3 lines, which is the task's.",
    recognise=recognise,
    read=read,
    unit="row",
    example=_EXAMPLE,
    aliases=("repobench-r",),
)
