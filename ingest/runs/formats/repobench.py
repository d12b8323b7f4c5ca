"""The output files of RepoBench-R's scripts (a list of candidates per row) and RepoCoder's (a completion per line)."""

import ast
import re
from collections.abc import Iterator
from contextlib import suppress

import polars as pl

from ingest.runs.importer import Importer, first_object
from ingest.runs.ranking_rows import framed, row_of
from ingest.runs.values import at, count_at, list_at, object_at
from ingest.sources.input_file import InputFile
from lake.fingerprint import sha256_of
from lake.limits import parsed_json

_NAMED = re.compile(r"(?P<language>python|java)_(?P<setting>first|random|cff|cfr)(?![a-z])")
_COLUMNS = ("position", "item_id", "gold", "rank", "of")
_SUBSETS = {"first": "cff", "random": "cfr"}
_OFFICIAL = "3"  # the number of lines of code in the task's query
_GOLD = "ground_truth"
_EXAMPLE = '{"easy": [{"3": [2, 0, 1], "ground_truth": 2}], "hard": []}'
_ROW_COLUMNS = ("position", "repo", "path", "line", "context_start", "target_text", "prompt_sha256", "completion")


def read(input_file: InputFile) -> Iterator[pl.DataFrame]:
    """One row per candidate, in the order of each list."""
    if (match := _NAMED.search(input_file.name)) is None:
        hint = "Call it as the published scripts do: python_first.json, java_random.json (or python_cff.json, …)."
        raise input_file.wrong(what="its name does not say which part of RepoBench-R it answers", hint=hint)
    subset = f"{match['language']}_{_SUBSETS.get(match['setting'], match['setting'])}"
    levels = input_file.json(parsed_json)
    if not levels or not isinstance(levels, dict) or not levels.keys() <= {"easy", "hard"}:
        raise input_file.wrong(what="it is no object of easy and hard")
    for level in levels:
        rows: list[tuple[object, ...]] = []
        for number, entry in enumerate(list_at(levels, level)):
            item_id = f"{subset}/test/{level}/{number}"
            # Of lists for several lengths of query, the task's counts; a single list counts whatever its length.
            lists = {key: value for key, value in object_at(entry).items() if key != _GOLD}
            candidates = lists.get(_OFFICIAL, next(iter(lists.values())) if len(lists) == 1 else None)
            if not isinstance(candidates, list) or any(count_at(of) is None for of in candidates):
                what = f"{level}[{number}]: no list of candidates' numbers from 0 for queries of {_OFFICIAL} lines"
                raise input_file.wrong(what)
            gold = count_at(entry, _GOLD)
            rows += [(number + 1, item_id, gold, rank, of) for rank, of in enumerate(candidates, start=1)]
            rows += [(number + 1, item_id, gold, None, None)] * (not candidates)
        yield framed(input_file, rows, _COLUMNS).with_columns(document=pl.format("cand:{}", "of")).drop("of")


def read_repocoder(input_file: InputFile) -> Iterator[pl.DataFrame]:
    """The location of each row's hole, and the first of its choices."""
    for lines in input_file.lines():
        yield framed(input_file, [_row(input_file, *line) for line in lines.iter_rows()], _ROW_COLUMNS)


def _row(input_file: InputFile, position: int, text: str) -> tuple[object, ...]:
    row = row_of(input_file, position, text)
    given, completion = object_at(row, "metadata"), at(next(iter(list_at(row, "choices")), None), "text")
    path, line = given.get("fpath_tuple"), count_at(given, "lineno" if "lineno" in given else "line_no")
    if isinstance(path, str):
        with suppress(ValueError, SyntaxError, MemoryError, RecursionError):
            path = ast.literal_eval(path)
    parts = [*path] if isinstance(path, list | tuple) and all(isinstance(part, str) for part in path) else []
    if not isinstance(completion, str) or len(parts) < 2 or line is None:
        what = f"line {position}: no text in `choices`, or no path or line in `metadata`"
        raise input_file.wrong(what, examples=[text[:160]])
    prompt, target = row.get("prompt"), given.get("ground_truth")
    target_text = target.encode(errors="replace").decode() if isinstance(target, str) else None
    prompt_sha256 = sha256_of(prompt.encode(errors="replace")) if isinstance(prompt, str) else None
    start = count_at(given, "context_start_lineno")
    return position, parts[0], "/".join(parts[1:]), line, start, target_text, prompt_sha256, completion


REPOBENCH = Importer(
    name="repobench", title="RepoBench-R results", unit="row", aliases=("repobench-r",),
    meaning="Output of its retrieval scripts, under their file names: python_first.json, java_random.json. For each "
        "row of the test split, the candidates in order; of lists for several query lengths, the one for 3 lines "
        "counts.",
    recognise=lambda head, _: not {"easy", "hard"}.isdisjoint(first_object(head)), read=read, example=_EXAMPLE,
)  # fmt: skip
REPOCODER_PREDICTIONS = Importer(
    name="repocoder", title="RepoCoder predictions", kind="completion",
    meaning="JSON Lines of completions: the first of `choices`, for the hole given by `fpath_tuple` and `lineno`.",
    recognise=lambda head, _: {"choices", "metadata"} <= first_object(head).keys(), read=read_repocoder,
    example='{"prompt": "…", "choices": [{"text": "…"}], "metadata": {"fpath_tuple": ["repo", "a.py"], "lineno": 8}}',
)  # fmt: skip
