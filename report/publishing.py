"""Publish results: write one benchmark's rows of a lake as an edition, with a name of its own and without texts."""

import re
import shutil
from pathlib import Path

import polars as pl

from lake.errors import Exit, GoldspanError, did_you_mean
from lake.store import Lake
from lake.tables import UNSEARCHED, table
from lake.verdict import reference_of
from report.downloads import DOWNLOADS, file_metadata, for_readers, primary_measure
from report.editions import EDITION_TAG
from report.tables_read import MEASURE, run_kinds

DEPTH, CHARACTERS = 10, 8_000
"""Results published per ranking: the first DEPTH, and those within CHARACTERS; scores are of the whole ranking."""

_OF_BENCHMARK = (
    "benchmarks", "tasks", "protocols", "items", "gold_spans", "pools", "runs", "costs", "run_items", "usage", "hits",
    "scores", "step_scores", "aggregates", "ledger", "ledger_means", "effects", "repairs", "comparisons",
    "ranks", "boards",
)  # fmt: skip
LEFT_OUT = {each.table: each.without for each in DOWNLOADS if each.without and each.table in _OF_BENCHMARK}
LEFT_OUT["hits"] = ("byte_start", "byte_end", "chunk_no", "score")
"""Columns published empty: texts of data sets and models, and columns that would be half of the bytes of hits."""

_NAMES = ("benchmark", "task", "protocol", "run_id", "run_a", "run_b", "name")
"""The columns whose values begin with the benchmark's name."""
_SHIPPED = {download.table: download for download in DOWNLOADS if download.ships}


def publish(lake: Lake, benchmark: str, edition: str, label: str, to: Path) -> Path:
    """Write one benchmark's rows as the edition `<benchmark>-<edition>`, titled `label`, into the folder `to`."""
    if not re.fullmatch(r"[a-z0-9-]+", edition):
        raise GoldspanError(f"--edition {edition!r} is no name", hint="Use a to z, 0 to 9 and -.", code=Exit.USAGE)
    if not lake.parts("runs", benchmark=benchmark):
        known = {part.folders["benchmark"] for part in lake.parts("runs")}
        hint = did_you_mean(benchmark, known) or "Fill it first: make ingest evaluate"
        raise GoldspanError(f"the lake has no run of {benchmark!r}", where=str(lake.root), hint=hint, code=Exit.MISSING)
    name = f"{benchmark}-{edition}"
    columns = {table: "name" if table == "benchmarks" else "benchmark" for table in _OF_BENCHMARK}
    frames = {table: lake.scan(table).filter(**{of: benchmark}).collect() for table, of in columns.items()}
    # The comparisons by the protocols' primary metrics, and those with the reference by any metric.
    primary = frames["protocols"].select(*primary_measure(), protocol="name", is_primary=True)
    kind, runs = frames["benchmarks"]["like"].item() or benchmark, frames["runs"]
    reference = runs.filter(system=reference_of(kind, runs["system"].to_list()))["run_id"].implode()
    rows = frames["comparisons"].join(primary, on=["protocol", *MEASURE], how="left", maintain_order="left")
    is_needed = pl.col("is_primary") | pl.col("run_a").is_in(reference) | pl.col("run_b").is_in(reference)
    frames["comparisons"] = rows.filter(is_needed).drop("is_primary")
    kinds = run_kinds(lake).collect()
    for table_name, download in _SHIPPED.items():
        frames[table_name] = for_readers(lake, download, frames[table_name].lazy(), kinds).collect()
    frames = {table: _renamed(frame, benchmark, name) for table, frame in frames.items()}
    frames["benchmarks"] = frames["benchmarks"].with_columns(
        like=pl.lit(benchmark),
        label=pl.lit(label),
        tags=pl.concat_list(pl.lit([EDITION_TAG, label]), "tags"),
        # Pages show editions before the lake's own benchmarks.
        place=pl.col("place") - 1_000,
    )
    # The hits of the random baseline tell nothing, and are half of the bytes.
    runs = frames["runs"]
    chance = runs.filter(retriever="random").select("run_id")
    new = pl.col("n_new_nws").fill_null(0)
    before = new.cum_sum().over("run_id", "item_id", "part", order_by=["step", "rank"]) - new
    is_shown = (pl.col("part") != "ranking") | (pl.col("rank") <= DEPTH) | (before <= CHARACTERS)
    frames["hits"] = frames["hits"].filter(is_shown).join(chance, on="run_id", how="anti", maintain_order="left")
    used = {"chunkers": runs["chunker"], "retrievers": runs["retriever"], "metrics": frames["aggregates"]["metric"]}
    for table_name, names in used.items():
        frames[table_name] = lake.read(table_name).filter(pl.col("name").is_in(names.unique().implode()))
    # Of contents, an item's page needs only the lengths of files that are named by gold or hits.
    shown_files = pl.concat(frames[table].select("item_id", "path") for table in ("gold_spans", "hits")).unique()
    pools = frames["items"].select("item_id", "pool_id")
    shown_files = shown_files.join(pools, on="item_id").select("pool_id", "path").unique()
    paths = lake.read("files", benchmark=benchmark).with_columns(pool=pl.col("pool_id").str.strip_suffix(UNSEARCHED))
    kept = paths.join(shown_files, left_on=["pool", "path"], right_on=["pool_id", "path"], how="semi").drop("pool")
    frames["files"] = _renamed(kept, benchmark, name)
    contents = lake.scan("blobs").join(kept.lazy().select("sha256"), on="sha256", how="semi")
    frames["blobs"] = contents.with_columns(text=pl.lit(""), line_starts=pl.lit([], pl.List(pl.Int64))).collect()
    folder = to / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for table_name, frame in frames.items():
        if frame.height:
            empty = [pl.lit(None, frame.schema[column]).alias(column) for column in LEFT_OUT.get(table_name, ())]
            rows = frame.with_columns(empty).sort(table(table_name).key)
            shipped = _SHIPPED.get(table_name)
            metadata = file_metadata(shipped, rows.lazy()) if shipped else {}
            file = folder / f"{table_name}.parquet"
            rows.write_parquet(file, compression="zstd", compression_level=19, metadata=metadata)
    return folder


def _renamed(rows: pl.DataFrame, benchmark: str, name: str) -> pl.DataFrame:
    """Rows with the benchmark renamed, also at the start of the names of tasks, protocols and runs."""
    begins, put = rf"^{re.escape(benchmark)}($|[/@.])", f"{name}${{1}}"
    lists = [pl.col("tasks").list.eval(pl.element().str.replace(begins, put))] if "tasks" in rows.columns else []
    texts = [pl.col(column).str.replace(begins, put) for column in _NAMES if column in rows.columns]
    return rows.with_columns(*texts, *lists)
