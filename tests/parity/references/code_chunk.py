"""The published evaluation of code-chunk on RepoEval: its rankings, its vectors, and its numbers of every query.

Source: the evaluation that is published with code-chunk, on six of RepoEval's repositories at k = 5.
"""

import json
from collections.abc import Iterator

import polars as pl

from lake.store import Lake
from lake.tables import declared_rows, table
from tests.parity.references.reference import Reference, Values, Work

_FOLDER = "repoeval/code-chunk"
_METRICS = {"precision_at_5": "precision", "recall_at_5": "recall", "ndcg_at_5": "ndcg"}
_TASK = "repoeval/prompt-code-chunk"
_PROTOCOL = "repoeval@code-chunk-v1"
_ITEM = "function-2k/" + pl.col("repo") + "/" + pl.col("n").cast(pl.String)
_OURS = "fixed-nws-1800"


def _vectors(work: Work) -> Iterator[Values]:
    """Our own cut of the files, searched with the published vectors: chunks, ranking and metrics are ours."""
    _ingest(work)
    vectors = str(work.source / _FOLDER / "vectors.parquet")
    work.run("evaluate", "--benchmarks", "repoeval", "--systems", f"{_OURS}+recorded", "--vectors", vectors)
    yield from _of_run(work, "fixed", f"{_OURS}+recorded")
    yield Values("relevant chunks of a query", _relevant_here(work), _relevant_there(work))


def _rankings(work: Work) -> Iterator[Values]:
    """The published rankings and chunks, imported as anyone's."""
    _ingest(work)
    options = ("--benchmark", "repoeval", "--task", _TASK)
    for cut in ("ast", "fixed"):
        rankings = work.folder / f"{cut}.tsv"
        document = pl.format("{}#L{}-L{}", "path", pl.col("start_line") + 1, pl.col("end_line") + 1)
        published = pl.read_parquet(work.source / _FOLDER / "rankings.parquet").filter(pl.col("chunker") == cut)
        published.select("rank", "score", item_id=_ITEM, document=document).write_csv(rankings, separator="\t")
        _store_chunks(work.lake, f"published-{cut}", _known_chunks(work, cut))
        work.run("ingest", "run", str(rankings), "--system", cut, "--chunker", f"published-{cut}", *options)
    work.run("evaluate", "--benchmarks", "repoeval", "--systems", "ast,fixed")
    for cut in ("ast", "fixed"):
        yield from _of_run(work, cut, cut)


def _ingest(work: Work) -> None:
    work.run("ingest", "repoeval", "--source", str(work.source), "--chunkers", _OURS)


def _of_run(work: Work, cut: str, system: str) -> Iterator[Values]:
    """The metrics of every query under one cut, and their means over repositories."""
    scores, means = (
        work.rows(name, "repoeval", system, _TASK, protocol=_PROTOCOL).filter(
            pl.col("metric").is_in(_METRICS.values()), k=5
        )
        for name in ("scores", "aggregates")
    )
    theirs = _queries(work, cut)
    # trlx and betty are no part of the published evaluation.
    ours = scores.select("item_id", "metric", "value").collect().join(theirs, on="item_id", how="semi")
    for name, metric in _METRICS.items():
        of_metric = ours.filter(metric=metric).drop("metric")
        yield Values(f"{cut}: {metric}@5 of a query", of_metric, theirs.select("item_id", value=name))
    overall = json.loads((work.source / _FOLDER / "summary.json").read_text())["overall"][cut]
    published = pl.DataFrame({"metric": list(overall), "value": list(overall.values())})
    over_all = means.filter(slice="all").select("metric", value="by_repo").collect()
    yield Values(f"{cut}: mean over repositories", over_all, published)


def _queries(work: Work, cut: str) -> pl.DataFrame:
    queries = pl.read_parquet(work.source / _FOLDER / "queries.parquet").filter(pl.col("chunker") == cut)
    return queries.with_columns(item_id=_ITEM)


def _named_chunks(work: Work, cut: str) -> pl.DataFrame:
    """item_id, repo, path, first and last line (0-based, inclusive) of every chunk that is relevant to a query."""
    field = pl.col("relevant").str.extract_groups(r"^(.+):(\d+)-(\d+)$").struct.field
    lines = [field(group).cast(pl.Int64).alias(name) for group, name in (("2", "start_line"), ("3", "end_line"))]
    chunks = _queries(work, cut).explode("relevant").drop_nulls("relevant")
    return chunks.select("item_id", "repo", field("1").alias("path"), *lines)


def _known_chunks(work: Work, cut: str) -> pl.DataFrame:
    """The chunks that are known of a published cut: all that its rankings hold, and all that are relevant."""
    columns = ["repo", "path", "start_line", "end_line"]
    rankings = pl.read_parquet(work.source / _FOLDER / "rankings.parquet").filter(pl.col("chunker") == cut)
    both = pl.concat([frame.select(columns) for frame in (rankings, _named_chunks(work, cut))]).unique()
    return both.select("repo", "path", line_start="start_line", line_end=pl.col("end_line") + 1).sort(pl.all())


def _store_chunks(lake: Lake, chunker: str, known: pl.DataFrame) -> None:
    """Store published chunks as a chunker of their own; without them a ranking has no recall.

    `known` has repo, path, line_start, line_end of every chunk; the end may be one line past the file.
    """
    files = lake.scan("files", benchmark="repoeval").select("path", "sha256", repo=_REPO).unique()
    blobs = lake.scan("blobs").select("sha256", "n_bytes", "n_lines", "line_starts", "line_nws")
    spans = known.lazy().join(files, on=["repo", "path"]).join(blobs, on="sha256")
    spans = spans.with_columns(pl.min_horizontal("line_end", "n_lines")).unique(["sha256", "line_start", "line_end"])
    edges = pl.concat_list("line_starts", "n_bytes")
    n_nws = pl.col("line_nws").list.slice(pl.col("line_start"), pl.col("line_end") - pl.col("line_start")).list.sum()
    chunks = spans.sort("sha256", "line_start", "line_end").select(
        "sha256",
        "line_start",
        "line_end",
        chunker=pl.lit(chunker),
        chunk_no=pl.int_range(pl.len(), dtype=pl.Int64).over("sha256"),
        byte_start=edges.list.get(pl.col("line_start")),
        byte_end=edges.list.get(pl.col("line_end")),
        n_nws=n_nws,
        text=pl.lit(None, pl.String),
    )
    status = chunks.group_by("chunker", "sha256").agg(n_chunks=pl.len().cast(pl.Int64), n_covered=pl.sum("n_nws"))
    whole = blobs.select("sha256", n_nws=pl.col("line_nws").list.sum())
    none = {name: pl.lit(None, pl.String) for name in ("fell_back", "failed")}
    status = status.join(whole, on="sha256").with_columns(pl.min_horizontal("n_covered", "n_nws"), **none)
    row = {"name": chunker, "title": chunker, "meaning": "Published chunks.", "fingerprint": chunker}
    declared = declared_rows("chunkers", [row])
    frames = {"chunks": chunks.collect(), "chunk_status": status.collect()}
    for name, frame in frames.items():
        lake.write(name, frame.select(*table(name).columns), part="all", fingerprint=chunker, chunker=chunker)
    lake.write("chunkers", declared, part=chunker, fingerprint=chunker)


def _relevant_there(work: Work) -> pl.DataFrame:
    there = _named_chunks(work, "fixed").select("item_id", "path", "start_line", "end_line", value=1.0)
    # Theirs split on "\n" and so may end one line past the file: then they are not told apart by their end.
    files = work.lake.scan("files").filter(_IN_POOL).join(work.lake.scan("blobs"), on="sha256")
    ends = files.select("path", "n_lines", repo=_REPO).collect()
    repo = pl.col("item_id").str.split("/").list.get(1).alias("repo")
    clamped = pl.min_horizontal("end_line", pl.col("n_lines") - 1).alias("end_line")
    known = there.with_columns(repo).join(ends, on=["repo", "path"], how="left")
    return known.with_columns(clamped).drop("repo", "n_lines")


def _relevant_here(work: Work) -> pl.DataFrame:
    lake = work.lake
    gold = lake.scan("gold_spans", benchmark="repoeval").filter(pl.col("gold") == "context-to-hole")
    gold = gold.with_columns(repo=pl.col("item_id").str.split("/").list.get(1))
    files = lake.scan("files").filter(_IN_POOL).select("path", "sha256", repo=_REPO)
    chunks = lake.scan("chunks", chunker=_OURS).filter(pl.col("n_nws") > 0)
    met = gold.join(files, on=["repo", "path"]).join(
        chunks.select("sha256", start_line="line_start", end_line=pl.col("line_end") - 1), on="sha256"
    )
    met = met.filter(pl.col("start_line") < pl.col("line_end"), pl.col("line_start") <= pl.col("end_line"))
    evaluated = met.join(_queries(work, "fixed").lazy(), on="item_id", how="semi")
    return evaluated.select("item_id", "path", "start_line", "end_line", value=1.0).collect()


_IN_POOL = pl.col("pool_id").str.contains("code-chunk")
_REPO = pl.col("pool_id").str.split("/").list.last()

VECTORS = Reference(
    name="code-chunk-vectors",
    benchmark="repoeval",
    kind="published run",
    values=_vectors,
)

RANKINGS = Reference(
    name="code-chunk-rankings",
    benchmark="repoeval",
    kind="published run",
    values=_rankings,
)
