"""RepoBench-R's results: what its retrieval scripts write, a list of candidates per row of the dataset."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import polars as pl

from ingest.runs.importer import Importer
from ingest.runs.ranking_rows import framed, json_document
from ingest.runs.values import count_at
from ingest.sources.input_file import InputFile

_LEVELS = ("easy", "hard")
_FIRST = re.compile(rb"(?:\xef\xbb\xbf)?\s*\{\s*\"(?:easy|hard)\"\s*:\s*\[")
_NAMED = re.compile(r"(?P<language>python|java)_(?P<setting>first|random|cff|cfr)(?![a-z])")
_SUBSETS = {"first": "cff", "random": "cfr"}
_COLUMNS = ("position", "item_id", "gold", "rank", "of")
_OFFICIAL = "3"
"""The lines of code that the task's query has."""
_GOLD = "ground_truth"
_EXAMPLE = '{"easy": [{"3": [2, 0, 1], "ground_truth": 2}], "hard": []}'
_HINT = f"Such a file is: {_EXAMPLE}"


def recognise(head: bytes, name: str) -> bool:
    """An object whose first value is the list of a level."""
    return _FIRST.match(head) is not None


def read(input_file: InputFile) -> Iterator[pl.DataFrame]:
    """A row per candidate, in the order of each list."""
    match = _NAMED.search(input_file.name)
    if match is None:
        what = "its name does not say which part of RepoBench-R it answers"
        hint = "Call it as the published scripts do: python_first.json, java_random.json (or python_cff.json, …)."
        raise input_file.wrong(what=what, hint=hint)
    subset = f"{match['language']}_{_SUBSETS.get(match['setting'], match['setting'])}"
    levels = json_document(input_file, json.loads, _HINT)
    if not isinstance(levels, dict) or not levels.keys() <= set(_LEVELS) or not levels:
        raise input_file.wrong(what="it is no object of easy and hard", hint=_HINT)
    for level, entries in levels.items():
        if not isinstance(entries, list):
            raise input_file.wrong(what=f"{level} is no list", hint=_HINT)
        rows: list[tuple[object, ...]] = []
        for number, entry in enumerate(entries):
            item_id = f"{subset}/test/{level}/{number}"
            # Of lists for several lengths of query that for the task's; where there is one for another alone, that one.
            lists = {key: value for key, value in entry.items() if key != _GOLD} if isinstance(entry, dict) else {}
            if not lists or (_OFFICIAL not in lists and len(lists) > 1):
                has = ", ".join(map(str, lists)) or "no"
                what = f"{level}[{number}]: it has lists for queries of {has} lines, and none of 3"
                raise input_file.wrong(what=what, hint=_HINT)
            candidates = lists.get(_OFFICIAL, next(iter(lists.values())))
            if not isinstance(candidates, list) or any(count_at(of) is None for of in candidates):
                what = f"{level}[{number}]: no list of candidates' numbers from 0"
                raise input_file.wrong(what=what, hint=_HINT)
            gold = count_at(entry, _GOLD)
            rows += [(number + 1, item_id, gold, rank, of) for rank, of in enumerate(candidates, start=1)]
            rows += [(number + 1, item_id, gold, None, None)] * (not candidates)
        yield framed(input_file, rows, _COLUMNS).with_columns(document=pl.format("cand:{}", "of")).drop("of")


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
