"""RepoBench-R: which of a row's candidate snippets is the one that its next line uses."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import count, islice
from pathlib import Path

import polars as pl

from ingest.benchmarks.declaration import (
    Benchmark,
    DataLocation,
    DataSchema,
    PartToRead,
    PoolGroup,
    RawFiles,
    SubsetRows,
    find_places,
    query_rows,
    reject_refused,
    table_rows,
)
from ingest.benchmarks.fields import Fields
from ingest.benchmarks.repobench_r.rows import REPOBENCH_FIELDS, SPLITS, RepoBenchRow, checked_rows, numbered_rows
from ingest.contents.blobs import SharedContent, pool_frames
from ingest.sources.tree import Source
from lake.errors import Exit, GoldspanError
from lake.naming import BLANK_GOLD
from lake.offsets import split_lines
from lake.rejects import Rejects
from lake.selection import stratified
from lake.text import is_blank

_NAMES = ("python_cff", "python_cfr", "java_cff", "java_cfr")
_SUBSETS = tuple(f"{name}/{split}" for name in _NAMES for split in SPLITS)
_PLACES = {"rows": DataLocation("data/python_cff.gz")}
ROWS_OF_A_PART = 4_000
"""Rows of one part: what a kill can cost."""


def find(source: Source, subset: str, rejects: Rejects) -> RawFiles:
    """The files that hold a subset: the publisher's pickles, or exports in Parquet or JSON Lines."""
    name = subset.partition("/")[0]
    for folder in ("data", "."):
        tree = source.tree(folder)
        if tree is None:
            continue
        reject_refused(tree, rejects)
        tasks = [entry for entry in tree.entries if _holds(entry.path, name)]
        if tasks:
            return RawFiles(tasks, [])
    message = f"RepoBench-R: no file of {name} in {source.name}"
    hint = f"It is laid out as upstream: data/{name}.gz, or {name}*.parquet or .jsonl."
    raise GoldspanError(message, hint=hint, code=Exit.MISSING)


def _find_own(source: Source, subset: str, rejects: Rejects) -> RawFiles:
    files = find_places(_PLACES, source, subset, rejects)
    return RawFiles([replace(entry, path=f"{subset}/{entry.path}") for entry in files.tasks], [])


def at_hand(source: Source) -> list[str]:
    """The test subsets that a source on this machine holds: all of them are read when none is named."""
    subsets = []
    for folder in ("data", "."):
        tree = source.tree(folder)
        paths = [entry.path for entry in tree.entries] if tree else []
        subsets += [f"{name}/test" for name in _NAMES if any(_holds(path, name) for path in paths)]
    return list(dict.fromkeys(subsets))


def parts(
    raw: RawFiles, subset: str, limit: int | None, rejects: Rejects, fields: Fields = REPOBENCH_FIELDS
) -> Iterator[PartToRead]:
    """The subset's rows in parts, one source file in memory at a time."""
    name, split = subset.split("/")
    if limit is not None:
        yield _sample(raw, name, split, limit, fields)
        return
    rows = numbered_rows(raw.tasks, split, rejects, fields)
    for number in count():
        batch = list(islice(rows, ROWS_OF_A_PART))
        if not batch:
            return
        part = f"{name}-{split}-{number:04d}"
        yield PartToRead(part, partial(_reading, part, name, split, partial(checked_rows, batch, split)))


def _sample(raw: RawFiles, name: str, split: str, limit: int, fields: Fields) -> PartToRead:
    part = f"{name}-{split}-sample"

    def checked(rejects: Rejects) -> Iterator[RepoBenchRow]:
        return checked_rows(numbered_rows(raw.tasks, split, rejects, fields), split, rejects)

    def drawn(rejects: Rejects) -> Iterator[RepoBenchRow]:
        names = [(_item_id(row, name, split), row.repo) for row in checked(rejects)]
        frame = pl.DataFrame(names, {"item_id": pl.String, "repo": pl.String}, orient="row")
        chosen = set(stratified(frame, limit)["item_id"])
        # Read once more, and chosen before anything is made of them: a few rows of many cost little.
        return (row for row in checked(Rejects()) if _item_id(row, name, split) in chosen)

    return PartToRead(part, partial(_reading, part, name, split, drawn))


def _holds(path: str, name: str) -> bool:
    file = path.rsplit("/", 1)[-1].lower()
    return name in path.lower() and file.endswith((".gz", ".pkl", ".pickle", ".parquet", ".jsonl"))


def _item_id(row: RepoBenchRow, name: str, split: str) -> str:
    return f"{name}/{split}/{row.level}/{row.n}"


def _reading(
    part: str, name: str, split: str, rows: Callable[[Rejects], Iterable[RepoBenchRow]], rejects: Rejects
) -> SubsetRows:
    language = name.partition("_")[0]
    items, queries, gold, files = [], [], [], []
    contents: dict[str, SharedContent] = {}
    for row in rows(rejects):
        item_id = _item_id(row, name, split)
        pool_id = f"repobench-r/{item_id}"
        snippet = row.candidates[row.gold]
        items.append(
            {
                "benchmark": "repobench-r",
                "item_id": item_id,
                "subset": name,
                "split": split,
                "level": row.level,
                "difficulty": row.level,
                "source": row.version,
                "language": language,
                "repo": row.repo,
                "pool_id": pool_id,
                "target_path": row.file_path,
                "target_text": row.next_line,
                "n_candidates": len(row.candidates),
                "gold_flags": [BLANK_GOLD] if is_blank(snippet) else [],
                "scorable": True,
            }
        )
        # The official reader's: a trailing newline counts as a line.
        queries.append((item_id, "last-3-lines", "\n".join(row.code.split("\n")[-3:])))
        queries.append((item_id, "imports-and-code", f"{row.import_statement}\n\n{row.code}"))
        n_lines = len(split_lines(snippet))
        span = {"path": f"cand:{row.gold}", "line_start": 0, "line_end": n_lines, "candidate": row.gold}
        gold.append({"benchmark": "repobench-r", "item_id": item_id, "gold": "candidate", **span})
        for number, candidate in enumerate(row.candidates):
            if (content := contents.get(candidate)) is None:
                content = contents[candidate] = SharedContent(candidate.encode())
            files.append((pool_id, f"cand:{number}", content))
    stored, blobs = pool_frames(files)
    # A candidate's path has no ending to tell its language by.
    blobs = blobs.with_columns(language=pl.lit(language))
    group = PoolGroup(part, stored, blobs, "candidates")
    return SubsetRows(
        table_rows("items", items), query_rows("repobench-r", queries), table_rows("gold_spans", gold), [group]
    )


REPOBENCH_R = Benchmark(
    name="repobench-r",
    display_name="RepoBench-R",
    title="Which snippet does the next line use?",
    meaning="Given the code before a line, pick the snippet that the line uses from those its file imports. Python and "
    "Java; gold is one of the row's own candidates.",
    version=3,
    homepage="https://huggingface.co/datasets/tianyang/repobench-r",
    licence="as its publisher states; each repository under its own licence",
    citation=Path(__file__).with_name("citation.bib").read_text(encoding="utf-8").strip(),
    paper="https://arxiv.org/abs/2306.03091",
    subsets=_SUBSETS,
    default_subsets=("python_cff/test",),
    markers=("data/*_cff*", "data/*_cfr*", "*_cff*", "*_cfr*"),
    gold_rules={"candidate": "The candidate that the next line uses, whole."},
    find=find,
    parts=parts,
    schema=DataSchema(_PLACES, REPOBENCH_FIELDS, _find_own),
    at_hand=at_hand,
    tags=("completion", "candidates", "python", "java"),
    place=2,
)
