"""Benchmarks in BEIR's layout: documents, queries and judgements, read alike for every collection that is declared."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import partial

import polars as pl

from ingest.benchmarks.declaration import (
    Benchmark,
    PartToRead,
    Place,
    PoolGroup,
    RawFiles,
    Reading,
    Shape,
    limited,
    query_rows,
)
from ingest.benchmarks.fields import FieldError, Fields, Paths, found, text_at
from ingest.contents.blobs import pool_frames
from ingest.sources.dataset_rows import ENDINGS, dataset_rows
from ingest.sources.tree import Source
from lake.catalog.collection import Collection
from lake.errors import Exit, GoldspanError
from lake.limits import MAX_POOL_BYTES, MAX_SOURCE_BYTES
from lake.rejects import Rejects, excerpt_of
from lake.tables import table
from lake.text import counted, listed

FIELDS: Fields = {
    "document": ("_id",),
    "title": ("title",),
    "text": ("text",),
    "query": ("_id",),
    "query_text": ("text",),
    "judged_query": ("query-id",),
    "judged_document": ("corpus-id",),
    "grade": ("score",),
}
"""Where BEIR's rows hold what: of the corpus, of the queries, of the judgements."""

MAX_GRADE = 2**31

PLACES = {
    "corpus": Place("corpus.jsonl"),
    "queries": Place("queries.jsonl"),
    "qrels": Place("qrels/test.tsv"),
}
"""What a declaration names, in the order in which it is read."""

Gold = dict[str, dict[str, int]]
"""Query → document → grade."""


def find(source: Source, subset: str, rejects: Rejects) -> RawFiles:
    """The corpus, the queries, and the judgements of a split.

    Raises:
        GoldspanError: One of them is not there.
    """
    tree = source.tree(".")
    by_path = {entry.path: entry for entry in tree.entries} if tree is not None else {}
    for refused in tree.refused if tree is not None else ():
        rejects.add(source.name, f"entry {refused.path}", refused.reason)
    files = []
    for stem in ("corpus", "queries", f"qrels/{subset}"):
        named = [by_path[f"{stem}{end}"] for end in ENDINGS if f"{stem}{end}" in by_path]
        if not named:
            splits = sorted(path.partition("/")[2] for path in by_path if path.startswith("qrels/"))
            hint = "BEIR's layout is corpus.jsonl, queries.jsonl and qrels/<split>.tsv; Parquet is read as well."
            found = f" It has qrels/{listed(splits)}." if splits and stem.startswith("qrels") else ""
            message = f"{stem}.jsonl, .parquet or .tsv is not in {source.name}"
            raise GoldspanError(message, hint=hint + found, code=Exit.MISSING)
        files.append(named[0])
    return RawFiles(files, [])


def find_own(source: Source, subset: str, rejects: Rejects) -> RawFiles:
    """The three data sets of a declaration."""
    del subset, rejects  # a declaration has one; whatever is wrong is wrong with a row
    trees = [source.tree(name) for name in PLACES]
    return RawFiles([entry for tree in trees if tree is not None for entry in tree.entries], [])


def parts(
    collection: Collection, raw: RawFiles, subset: str, limit: int | None, rejects: Rejects, fields: Fields = FIELDS
) -> Iterator[PartToRead]:
    """The split in one part."""
    del rejects  # whatever is wrong is wrong with a row
    yield PartToRead(subset, lambda found: limited(read(collection, raw, subset, found, fields), limit))


def read(collection: Collection, raw: RawFiles, subset: str, rejects: Rejects, fields: Fields = FIELDS) -> Reading:
    """The judged queries as items, the documents judged relevant as their gold, all documents as the one pool."""
    pool_id = f"{collection.name}/corpus"
    files, blobs = pool_frames((pool_id, *document) for document in _documents(raw, fields, rejects))
    # A document's id has no ending to tell its language by.
    blobs = blobs.with_columns(language=pl.lit(collection.language))
    queries, notes = _queries(raw, fields, rejects), list[str]()
    gold = _judgements(raw, fields, queries, set(files["path"]), rejects, notes)
    items = [
        {
            "benchmark": collection.name,
            "item_id": query,
            "subset": subset,
            "split": subset,
            "language": collection.language,
            "repo": collection.name,
            "pool_id": pool_id,
            "upstream_id": query,
            "scorable": bool(documents),
            "why_not": None if documents else "no document is judged relevant to it",
        }
        for query, documents in gold.items()
    ]
    judged = [(query, path, grade) for query, documents in gold.items() for path, grade in documents.items()]
    return Reading(
        pl.DataFrame(items, schema=table("items").columns),
        query_rows(collection.name, ((query, "query", queries[query]) for query in gold)),
        _spans(collection, judged, files.join(blobs.select("sha256", "n_lines"), on="sha256")),
        [PoolGroup(subset, files, blobs)],
        notes,
    )


def _documents(raw: RawFiles, fields: Fields, rejects: Rejects) -> Iterator[tuple[str, bytes]]:
    """Every document's id, and its title and text."""
    seen: set[str] = set()
    n_bytes = 0
    for position, row in dataset_rows(raw.tasks[0], rejects):
        try:
            name, text = _id(row, fields["document"]), text_at(row, fields["text"])
            title = text_at(row, fields["title"], "")
            data = (f"{title}\n{text}" if title else text).encode()
            _check(name not in seen, f"document {name!r} is there more than once; the first is read")
            _check(len(data) <= MAX_SOURCE_BYTES, f"it has {len(data):,} bytes; at most {MAX_SOURCE_BYTES:,} are read")
            is_within = n_bytes + len(data) <= MAX_POOL_BYTES
            _check(is_within, f"with it the documents have more than the {MAX_POOL_BYTES:,} bytes that are read")
        except FieldError as error:
            rejects.add(raw.tasks[0].path, position, str(error), excerpt_of(row))
            continue
        seen.add(name)
        n_bytes += len(data)
        yield name, data


def _queries(raw: RawFiles, fields: Fields, rejects: Rejects) -> dict[str, str]:
    """Query → its text."""
    queries: dict[str, str] = {}
    for position, row in dataset_rows(raw.tasks[1], rejects):
        try:
            name, text = _id(row, fields["query"]), text_at(row, fields["query_text"])
            _check(name not in queries, f"query {name!r} is there more than once; the first is read")
        except FieldError as error:
            rejects.add(raw.tasks[1].path, position, str(error), excerpt_of(row))
            continue
        queries[name] = text
    return queries


def _judgements(
    raw: RawFiles,
    fields: Fields,
    queries: dict[str, str],
    documents: set[str],
    rejects: Rejects,
    notes: list[str],
) -> Gold:
    """The relevant documents of every judged query, which may be none."""
    grades: Gold = {}
    keys = (fields["judged_query"][0], fields["judged_document"][0], fields["grade"][0])
    for position, row in dataset_rows(raw.tasks[2], rejects, keys):
        try:
            query, document = (_id(row, fields[name]) for name in ("judged_query", "judged_document"))
            grade = _grade(row, fields["grade"])
            _check(query in queries, f"query {query!r} is not among the queries")
            first = grades.setdefault(query, {}).setdefault(document, grade)
            _check(first == grade, f"document {document!r} is judged {first} for query {query!r} before; that holds")
        except FieldError as error:
            rejects.add(raw.tasks[2].path, position, str(error), excerpt_of(row))
            continue
        if grade > 0 and document not in documents:
            reason = f"document {document!r} is not in the corpus: it counts as relevant and never returned"
            rejects.add(raw.tasks[2].path, position, reason)
    if n_none := sum(grade <= 0 for judged in grades.values() for grade in judged.values()):
        notes.append(f"{counted(n_none, 'judgement')} of grade 0: not relevant")
    return {
        query: {document: grade for document, grade in judged.items() if grade > 0} for query, judged in grades.items()
    }


def _spans(collection: Collection, judged: list[tuple[str, str, int]], files: pl.DataFrame) -> pl.DataFrame:
    """Rows of `gold_spans`: whole documents."""
    rows = pl.DataFrame(judged, {"item_id": pl.String, "path": pl.String, "grade": pl.Int64}, orient="row")
    ends = files.select("path", line_end="n_lines")
    spans = rows.join(ends, on="path", how="left").with_columns(
        pl.col("line_end").fill_null(0), benchmark=pl.lit(collection.name), gold=pl.lit("judged"), line_start=0
    )
    empty = pl.DataFrame(schema=table("gold_spans").columns)
    return pl.concat([empty, spans.cast({"line_start": pl.Int64})], how="diagonal")


def _id(row: Mapping[str, object], paths: Paths) -> str:
    path, value = found(row, paths)
    name = str(value) if isinstance(value, int) and not isinstance(value, bool) else text_at(row, paths)
    _check(name.strip() != "" and "\0" not in name, f"`{path}` is to be a name")
    return name


def _grade(row: Mapping[str, object], paths: Paths) -> int:
    path, value = found(row, paths)
    try:
        grade = float(value) if isinstance(value, (int, float, str)) else math.nan
    except (ValueError, OverflowError):
        grade = math.nan
    _check(abs(grade) < MAX_GRADE and grade.is_integer(), f"`{path}` is to be a whole number")
    return int(grade)


def _check(holds: bool, reason: str) -> None:  # what is checked
    if not holds:
        raise FieldError(reason)


def benchmark_of(collection: Collection) -> Benchmark:
    """The benchmark that reads a collection."""
    return Benchmark(
        name=collection.name,
        display_name=collection.display_name,
        title=collection.title,
        meaning=collection.meaning,
        version=collection.version,
        homepage=collection.homepage,
        licence=collection.licence,
        citation=collection.citation,
        paper=collection.paper,
        subsets=collection.splits,
        default_subsets=collection.splits[:1],
        markers=collection.markers,
        gold_rules={"judged": "The documents whose grade is above 0, whole."},
        find=find,
        parts=partial(parts, collection),
        shape=Shape(PLACES, FIELDS, find_own),
        is_one_subset=True,
        is_collection=True,
        place=collection.place,
    )
