"""Benchmarks in BEIR's layout: documents, queries and judgements, read the same way for every declared collection."""

from collections.abc import Container
from functools import partial

import polars as pl

from ingest.benchmarks.declaration import Benchmark, DataLocation, PoolGroup, SubsetRows, in_one_part
from ingest.benchmarks.fields import Fields, ForeignRow, check, parse_rows
from ingest.contents.blobs import pool_frames
from ingest.rejects import Rejects
from ingest.sources.rows import ROW_ENDINGS
from ingest.sources.tree import RawFiles, Source, Tree
from lake.catalog.benchmarks.beir import Collection
from lake.errors import Exit, GoldspanError
from lake.limits import MAX_SOURCE_BYTES
from lake.tables.ingested import Blobs
from lake.text import counted, listed

BEIR_FIELDS: Fields = {
    **{"document": ("_id", "id"), "title": ("title",), "text": ("text",)},
    **{"query": ("_id", "id"), "query_text": ("text",)},
    **{"judged_query": ("query-id",), "judged_document": ("corpus-id",), "grade": ("score",)},
}
BEIR_PLACES = {
    "corpus": DataLocation("corpus.jsonl"),
    "queries": DataLocation("queries.jsonl"),
    "qrels": DataLocation("qrels/test.tsv"),
}


def find(source: Source, subset: str, rejects: Rejects) -> RawFiles:
    """The files of the corpus, the queries, and the judgements of a split (`subset`)."""
    tree = source.find(".") or Tree(".", [])
    by_path, files = {entry.path: entry for entry in tree.entries}, []
    tree.reject_refused(rejects, source.name)
    # On the hub, each is a folder with a file per split.
    stems = {stem: [stem, f"{stem}/{stem}", f"{stem}/{subset}"] for stem in ("corpus", "queries")}
    stems[f"qrels/{subset}"] = [f"{folder}/{subset}" for folder in ("qrels", "data", "default")]
    endings = [f"{end}{packed}" for end in ROW_ENDINGS for packed in ("", ".gz", ".zst")]
    for stem, places in stems.items():
        names = (f"{each}{part}{end}" for each in places for part in ("", "-00000-of-00001") for end in endings)
        candidates = [by_path[name] for name in names if name in by_path]
        if not candidates:
            hint = "BEIR's layout is corpus.jsonl, queries.jsonl and qrels/<split>.tsv; Parquet is read as well."
            message = f"{stem}.jsonl, .parquet or .tsv is not in {source.name}, which has {listed(sorted(by_path))}"
            raise GoldspanError(message, hint=hint, code=Exit.MISSING)
        files.append(candidates[0])
    return RawFiles(files, [])


def read(
    collection: Collection, raw: RawFiles, subset: str, rejects: Rejects, fields: Fields = BEIR_FIELDS
) -> SubsetRows:
    """Judged queries as items, the documents judged relevant to them as gold spans, and all documents as one pool."""
    seen: set[str] = set()

    def document(_: str, row: ForeignRow) -> tuple[str, str, bytes]:
        name, text, title = _id(row, "document"), row.text("text"), row.text("title", "")
        data = (f"{title}\n{text}" if title else text).encode()
        check(name not in seen, f"document {name!r} occurs more than once; the first is used")
        check(len(data) <= MAX_SOURCE_BYTES, f"it has {len(data):,} bytes; at most {MAX_SOURCE_BYTES:,} are read")
        seen.add(name)
        return "corpus", name, data

    documents = parse_rows(raw.tasks[0], rejects, document, fields)
    files, blobs = pool_frames(row for _, row in documents)
    # The language cannot be told from a document's id, which has no file ending.
    blobs = Blobs.cast(blobs.with_columns(language=pl.lit(collection.language)))
    queries: dict[str, str] = {}

    def query(_: str, row: ForeignRow) -> tuple[str, str]:
        name, text = _id(row, "query"), row.text("query_text")
        check(name not in queries, f"query {name!r} occurs more than once; the first is used")
        return name, text

    queries.update(pair for _, pair in parse_rows(raw.tasks[1], rejects, query, fields))
    judged = _judgements(raw, fields, queries, seen, rejects)
    is_relevant = pl.col("grade") > 0
    items = judged.group_by("item_id", maintain_order=True).agg(scorable=is_relevant.any())
    items = items.with_columns(
        upstream_id="item_id",
        why_not=pl.when(~pl.col("scorable")).then(pl.lit("no document is judged relevant to it")),
        subset=pl.lit(subset),
        split=pl.lit(subset),
        repo=pl.lit(collection.name),
        language=pl.lit(collection.language),
        pool_id=pl.lit("corpus"),
    )
    # A gold span is a whole document.
    ends = files.join(blobs, on="sha256").select("path", line_end="n_lines")
    gold = judged.filter(is_relevant).join(ends, on="path", how="left")
    gold = gold.with_columns(pl.col("line_end").fill_null(0), line_start=pl.lit(0, pl.Int64), gold=pl.lit("judged"))
    if n_none := judged.height - gold.height:
        raw.notes.append(f"{counted(n_none, 'judgement')} of grade 0: not relevant")
    texts = ((query, "query", queries[query]) for query in items["item_id"])
    return SubsetRows.of(items, texts, gold, [PoolGroup(subset, files, blobs)])


def _judgements(
    raw: RawFiles, fields: Fields, queries: Container[str], documents: Container[str], rejects: Rejects
) -> pl.DataFrame:
    """The columns item_id, path and grade, with one row for each judged pair of query and document."""
    grades: dict[tuple[str, str], int] = {}

    def judgement(_: str, row: ForeignRow) -> tuple[str, int]:
        query, document, grade = _id(row, "judged_query"), _id(row, "judged_document"), row.number("grade")
        check(query in queries, f"query {query!r} is not among the queries")
        first = grades.setdefault((query, document), grade)
        check(first == grade, f"document {document!r} has grade {first} for query {query!r} already; that is kept")
        return document, grade

    keys = [fields[name][0] for name in ("judged_query", "judged_document", "grade")]
    for position, (document, grade) in parse_rows(raw.tasks[2], rejects, judgement, fields, columns=keys):
        if grade > 0 and document not in documents:
            reason = f"document {document!r} is not in the corpus: relevant, but impossible to find"
            rejects.add(raw.tasks[2].path, position, reason)
    rows = [(*judged, grade) for judged, grade in grades.items()]
    return pl.DataFrame(rows, {"item_id": pl.String, "path": pl.String, "grade": pl.Int64}, orient="row")


def _id(row: ForeignRow, field: str) -> str:
    value = row.get(field)
    name = str(value) if type(value) is int else row.text(field)
    row.check(field, name.strip() != "" and "\0" not in name, "must be a name")
    return name


def benchmark_of(collection: Collection) -> Benchmark:
    """The benchmark declaration for a collection."""
    same = ("name", "display_name", "title", "meaning", "version", "homepage", "licence", "citation", "paper")
    return Benchmark(
        **{name: getattr(collection, name) for name in (*same, "markers", "place")},
        subsets=collection.splits,
        default_subsets=collection.splits[:1],
        gold_rules={"judged": "The documents whose grade is above 0, whole."},
        find=find,
        parts=partial(in_one_part, partial(read, collection)),
        data=BEIR_PLACES,
        fields=BEIR_FIELDS,
        is_one_subset=True,
        is_collection=True,
        tags=("documents", "graded"),
    )
