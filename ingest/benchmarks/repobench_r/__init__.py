"""RepoBench-R: find the candidate snippet that a row's next line uses. Rows in all published forms are read."""

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import count, islice
from pathlib import Path
from typing import NamedTuple

import polars as pl

from ingest.benchmarks.declaration import Benchmark, DataLocation, PartToRead, PoolGroup, SubsetRows, drawn_ids, part_of
from ingest.benchmarks.fields import FieldError, Fields, ForeignRow, check, columns_of, parse_rows
from ingest.rejects import Rejects, excerpt_of
from ingest.sources.rows import WHOLE_INPUT, format_of, read_pickle
from ingest.sources.tree import Entry, RawFiles, Source, UnreadableFileError
from lake.errors import Exit, GoldspanError
from lake.fingerprint import sha256_of
from lake.offsets import split_lines
from lake.tables import BLANK_GOLD
from lake.tables.ingested import Blobs, Files
from lake.text import is_blank, is_encodable

ROWS_OF_A_PART = 4_000
"""The number of rows per part: at most so many must be read again after the process is killed."""

_NAMES = ("python_cff", "python_cfr", "java_cff", "java_cfr")
_SPLITS, _LEVELS = ("test", "train"), ("easy", "hard")
_TEXTS = ("repo_name", "file_path", "import_statement", "code", "next_line")
_FIELDS: Fields = {
    **{name: (name,) for name in (*_TEXTS, "context", "split")},
    "code": ("cropped_code", "code"),
    # The publisher has used all of these spellings.
    "gold_snippet_index": ("gold_snippet_index", "golden_snippet_index", "gold_snippet_idex"),
    "level": ("level", "difficulty"),
}
_FOLDERS = ("data", ".")
_unread: dict[str, dict[object, object]] = {}
"""The sha256 of the pickle that was unpacked last → its other splits, which are usually read next."""


class _Row(NamedTuple):
    """A checked row: its item's columns, its imports and the code below them, its candidates, and the gold's index."""

    item: dict[str, object]
    imports: str
    code: str
    candidates: list[str]
    gold: int


def find(source: Source, subset: str, rejects: Rejects) -> RawFiles:
    """The files of a subset: the publisher's pickles, or exports in Parquet or JSON Lines."""
    name = subset.partition("/")[0]
    for tree in filter(None, map(source.find, _FOLDERS)):
        tree.reject_refused(rejects)
        if tasks := [entry for entry in tree.entries if _holds(entry, name)]:
            return RawFiles(tasks, [])
    message = f"RepoBench-R: no file of {name} in {source.name}"
    hint = f"It is laid out as upstream: data/{name}.gz, or {name}*.parquet or .jsonl."
    raise GoldspanError(message, hint=hint, code=Exit.MISSING)


def at_hand(source: Source) -> list[str]:
    """The test subsets that a local source holds; all of them are read if none is named."""
    entries = [entry for tree in map(source.find, _FOLDERS) if tree is not None for entry in tree.entries]
    return [f"{name}/test" for name in _NAMES if any(_holds(entry, name) for entry in entries)]


def parts(
    raw: RawFiles, subset: str, limit: int | None, rejects: Rejects, fields: Fields = _FIELDS
) -> Iterator[PartToRead]:
    """The subset's rows in parts; one source file is in memory at a time."""
    rows = _rows(raw.tasks, subset, rejects, fields)
    if limit is not None:
        chosen = drawn_ids([(row.item["item_id"], row.item["repo"], True) for row in rows], limit, raw.notes)
        again = _rows(raw.tasks, subset, Rejects(), fields)
        rows = (row for row in again if row.item["item_id"] in chosen)
    for number in count():
        if not (batch := list(islice(rows, ROWS_OF_A_PART))):
            return
        name = f"{part_of(subset)}-{number:04d}"
        yield PartToRead(name, partial(_read, name, subset, batch))


def _holds(entry: Entry, name: str) -> bool:
    path = entry.path.lower()
    return name in path and path.endswith((".gz", ".pkl", ".pickle", ".parquet", ".jsonl"))


def _read(part: str, subset: str, rows: Iterable[_Row], _: Rejects) -> SubsetRows:
    name, split = subset.split("/")
    language = name.partition("_")[0]
    items, queries, gold = [], [], []
    # A candidate occurs in many pools, so each is hashed once; in a pool it is a number.
    numbers: dict[str, int] = {}
    content = list[int]()
    same = {"subset": name, "split": split, "language": language, "scorable": True}
    for row in rows:
        item_id = str(row.item["item_id"])
        n_lines = len(split_lines(row.candidates[row.gold]))
        items.append({**same, **row.item, "pool_id": item_id})
        # The official reader counts a trailing newline as a line.
        queries.append((item_id, "last-3-lines", "\n".join(row.code.split("\n")[-3:])))
        queries.append((item_id, "imports-and-code", f"{row.imports}\n\n{row.code}"))
        span = {"path": f"cand:{row.gold}", "line_start": 0, "line_end": n_lines, "candidate": row.gold}
        gold.append({"item_id": item_id, "gold": "candidate", **span})
        content += [numbers.setdefault(candidate, len(numbers)) for candidate in row.candidates]
    texts = [candidate.encode() for candidate in numbers]
    sha256 = list(map(sha256_of, texts))
    of_pools = {"pool_id": pl.String, "n_candidates": pl.Int64}
    files = (
        pl.LazyFrame({column: [item[column] for item in items] for column in of_pools}, of_pools)
        .with_columns(position=pl.int_ranges("n_candidates"))
        .explode("position", empty_as_null=False)
        .with_columns(path=pl.format("cand:{}", "position"), sha256=pl.Series(sha256, dtype=pl.String).gather(content))
    )
    contents = {key: (language, text) for key, text in zip(sha256, texts, strict=True)}
    pool = PoolGroup(part, Files.cast(files).collect(), Blobs.create_empty(), "candidates", contents)
    return SubsetRows.of(items, queries, gold, [pool])


def _rows(entries: Iterable[Entry], subset: str, rejects: Rejects, fields: Fields) -> Iterator[_Row]:
    """The rows of a split, numbered per level over all files; wrong rows and unreadable files are rejected."""
    counts, split = dict.fromkeys(_LEVELS, 0), subset.rpartition("/")[2]
    for entry in entries:
        is_export = format_of(entry.path) in (".parquet", ".jsonl")
        contents = _exported(entry, split, rejects, fields) if is_export else _pickled(entry, split, rejects)
        try:
            for level, content in contents:
                number = counts[level]
                counts[level] += 1
                try:
                    if not isinstance(content, dict):
                        raise FieldError(f"a {type(content).__name__}, not an object")
                    yield _row(ForeignRow(content, fields), level, f"{subset}/{level}/{number}")
                except FieldError as error:
                    rejects.add(entry.path, f"{split}/{level} row {number}", str(error), excerpt_of(content))
        except UnreadableFileError as error:
            rejects.add(entry.path, WHOLE_INPUT, error.reason)


def _pickled(entry: Entry, split: str, rejects: Rejects) -> Iterator[tuple[str, object]]:
    sha256 = entry.sha256()
    splits = _unread.get(sha256, {})
    if split not in splits:
        _unread.clear()
        value = read_pickle(entry)
        _unread[sha256] = splits = value if isinstance(value, dict) else {}
    levels = splits.pop(split, None)
    for level in _LEVELS:
        rows = levels.pop(level, []) if isinstance(levels, dict) else None
        if not isinstance(rows, list):
            rejects.add(entry.path, f"{split}/{level}", f"a {type(rows).__name__}, not a list of rows")
            continue
        # Each row is freed once it is read. Copied, as a pickle's lists may be one object.
        rows = rows[::-1]
        while rows:
            yield level, rows.pop()


def _exported(entry: Entry, split: str, rejects: Rejects, fields: Fields) -> Iterator[tuple[str, object]]:
    """Rows of an export; split and level come from columns, else from the path, else from the number of candidates."""
    path = entry.path.lower()
    default = min((name for name in _SPLITS if name in path), key=path.find, default="test")
    by_path = next((name for name in _LEVELS if name in path.rsplit("/", 1)[-1]), "")

    def split_and_level(_: str, row: ForeignRow) -> tuple[str, str, object]:
        level, candidates = row.text("level", ""), row.get("context")
        is_hard = isinstance(candidates, (list, tuple)) and len(candidates) >= 10
        level = level if level in _LEVELS else by_path or ("hard" if is_hard else "easy")
        return row.text("split", "") or default, level, row.content

    rows = parse_rows(entry, rejects, split_and_level, fields, usual=_FIELDS, columns=columns_of(fields))
    return ((level, row) for _, (of_split, level, row) in rows if of_split == split)


def _row(row: ForeignRow, level: str, item_id: str) -> _Row:
    context = row.get("context")
    if not isinstance(context, (list, tuple)) or not context:
        raise FieldError("`context` must be a list of candidates that is not empty")
    # In v1.1 a candidate is {identifier, path, snippet}, in v1 the snippet itself.
    given = [each.get("snippet") if isinstance(each, dict) else each for each in context]
    candidates = [each for each in given if isinstance(each, str) and (each.isascii() or is_encodable(each))]
    check(len(candidates) == len(given), f"{len(given) - len(candidates)} of its candidates are not texts")
    repo, path, imports, code, next_line = (row.text(name) for name in _TEXTS)
    gold = row.number("gold_snippet_index")
    is_one = 0 <= gold < len(candidates)
    row.check("gold_snippet_index", is_one, f"is {gold}, not the number of one of the {len(candidates)} candidates")
    is_v11 = all(isinstance(candidate, dict) for candidate in context) or "cropped_code" in row.content
    item: dict[str, object] = {
        "item_id": item_id,
        "level": level,
        "difficulty": level,
        "source": "v1.1" if is_v11 else "v1",
        "repo": repo,
        "target_path": path,
        "target_text": next_line,
        "n_candidates": len(candidates),
        "gold_flags": [BLANK_GOLD] if is_blank(candidates[gold]) else [],
    }
    return _Row(item, imports, code, candidates, gold)


REPOBENCH_R = Benchmark(
    name="repobench-r",
    display_name="RepoBench-R",
    title="Which snippet does the next line use?",
    meaning="Given the code before a line, pick the snippet that the line uses from those its file imports. Python and "
    "Java; gold is one of the item's candidates.",
    version=3,
    homepage="https://huggingface.co/datasets/tianyang/repobench-r",
    licence="as its publisher states; each repository under its own licence",
    citation=Path(__file__).with_name("citation.bib").read_text(encoding="utf-8").strip(),
    paper="https://arxiv.org/abs/2306.03091",
    subsets=tuple(f"{name}/{split}" for name in _NAMES for split in _SPLITS),
    default_subsets=("python_cff/test",),
    markers=("data/*_cff*", "data/*_cfr*", "*_cff*", "*_cfr*"),
    gold_rules={"candidate": "The candidate that the next line uses, whole."},
    find=find,
    parts=parts,
    data={"rows": DataLocation("data/python_cff.gz")},
    fields=_FIELDS,
    at_hand=at_hand,
    tags=("completion", "candidates", "python", "java"),
    place=2,
)
