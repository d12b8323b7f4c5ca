import contextlib
import hashlib
import io
import json
from pathlib import Path

import polars as pl
import pytest
import yaml
from datasets import get_dataset_config_names, load_dataset  # type: ignore[import-untyped]  # ships no types

from lake.store import Lake
from lake.text import regex_tokens
from report import downloads
from report.downloads import DOWNLOADS, write_downloads
from tests.report.html import Element
from tests.report.small_lake import BASELINES, FAILED, LIMITED, NDCG, SYSTEMS


def test_the_manifest_has_every_file_with_its_hash(built: Path, pages: dict[str, Element]) -> None:
    manifest = json.loads((built / "manifest.json").read_text(encoding="utf-8"))
    paths = {path.relative_to(built).as_posix() for path in built.rglob("*") if path.is_file()} - {"manifest.json"}
    assert set(manifest["files"]) == paths
    for name, facts in manifest["files"].items():
        data = (built / name).read_bytes()
        assert facts["sha256"] == hashlib.sha256(data).hexdigest(), name
        assert facts["bytes"] == len(data), name
        if name.endswith(".parquet"):
            assert facts["rows"] == pl.read_parquet(built / name).height, name
    hashes = {facts["sha256"] for name, facts in manifest["files"].items() if name.endswith(".parquet")}
    assert hashes == {each.text for each in pages["data.html"].all("code") if len(each.text) == 64}


def test_every_row_of_a_run_names_its_system_and_benchmark(built: Path) -> None:
    for download in DOWNLOADS:
        if download.of_runs and not download.if_any:
            frame = pl.read_parquet(built / "data" / f"{download.name}.parquet")
            assert frame.columns[:2] == ["benchmark", "system"], download.name
            chance = {"fixed-nws-1500+random"} if download.name == "rankings" else set()
            assert set(frame["system"]) == {*SYSTEMS, LIMITED} - chance, download.name


def test_long_texts_are_left_out(built: Path) -> None:
    names = ("items", "queries", "run_items", "files", "chunks")
    items, queries, run_items, files, chunks = (
        pl.read_parquet_schema(built / f"data/{name}.parquet") for name in names
    )
    assert {"target_text", "patch"}.isdisjoint(items)
    assert list(queries) == ["benchmark", "item_id", "query", "sha256", "n_chars", "n_tokens"]
    assert "completion" not in run_items
    assert {"pool_id", "path", "sha256"} <= files.keys()
    assert {"chunker", "sha256", "line_start", "line_end"} <= chunks.keys()
    assert "text" not in chunks
    assert not (built / "data" / "step_scores.parquet").exists()


def test_runs_scores_and_aggregates_say_what_kind_of_system_it_is(built: Path) -> None:
    tables = [pl.read_parquet(built / "data" / f"{name}.parquet") for name in ("runs", "scores", "aggregates")]
    kinds = [dict(table.select("system", "kind").rows()) for table in tables]
    assert kinds[1] == kinds[2]
    assert kinds[0] == {**kinds[1], FAILED: "retriever"}
    assert kinds[1] == {name: "baseline" if name in BASELINES else "retriever" for name in (*SYSTEMS, LIMITED)}


def test_each_system_has_one_aggregate_that_its_board_opens_on(built: Path) -> None:
    opened = pl.read_parquet(built / "data" / "aggregates.parquet").filter("is_headline")
    assert set(opened.group_by("protocol", "system").len()["len"]) == {1}
    assert set(opened["system"]) == {*SYSTEMS, LIMITED}
    assert opened.select("metric", "k").unique().rows() == [NDCG]


def test_queries_without_text_still_say_how_long_they_are(small: Lake, built: Path) -> None:
    queries = pl.read_parquet(built / "data" / "queries.parquet").sort("item_id", "query")
    texts = small.read("queries").sort("item_id", "query")["text"].to_list()
    assert queries["n_chars"].to_list() == [len(text) for text in texts]
    assert queries["n_tokens"].to_list() == [len(regex_tokens(text)) for text in texts]


def test_the_schema_and_first_rows_are_on_the_page(built: Path, pages: dict[str, Element]) -> None:
    schema = pl.read_parquet_schema(built / "data" / "rankings.parquet")
    section = next(each for each in pages["data.html"].all("details") if each.attributes.get("id") == "rankings")
    rows = [[cell.text for cell in row.all() if cell.tag in ("td", "th")] for row in section.all("tr")[1:]]
    assert [row[:2] for row in rows] == [[name, str(kind)] for name, kind in schema.items()]
    assert rows[0][2] == "Name of the benchmark, as used in commands."
    first = dict(zip(schema, (row[3] for row in rows), strict=True))
    assert (first["line_start"], first["line_end"], first["path"]) == ("9", "20", "a b.py")


def test_a_table_too_large_for_a_host_is_split(small: Lake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(downloads, "MAX_DOWNLOAD_BYTES", 5_000)
    stored = write_downloads(small, tmp_path, {})
    parts = [each for each in stored if each.download.name == "scores"]
    assert [each.path for each in parts] == [f"data/scores-{number}.parquet" for number in range(1, len(parts) + 1)]
    assert len(parts) > 1
    merged = pl.concat([pl.read_parquet(tmp_path / each.path) for each in parts])
    assert merged.height == small.scan("scores").collect().height
    assert not (tmp_path / "data" / "scores.parquet").exists()


def test_a_site_may_lie_in_a_folder_whose_name_is_a_pattern(small: Lake, tmp_path: Path) -> None:
    stored = write_downloads(small, tmp_path / "site[1]*", {})
    assert {each.path: each.n_rows for each in stored}["data/items.parquet"] == small.scan("items").collect().height


def test_too_long_rankings_are_cut_on_the_site(small: Lake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hits = small.scan("hits").filter(~pl.col("run_id").str.contains("random")).collect()
    by_rank = hits.group_by("rank").len().sort("rank")["len"]
    assert len(by_rank) > 1
    monkeypatch.setitem(downloads.MAX_ROWS, "hits", hits.height - 1)
    stored = next(each for each in write_downloads(small, tmp_path, {}) if each.download.name == "rankings")
    assert stored.n_rows == hits.height - by_rank[-1]
    assert f"the first {len(by_rank) - 1} results" in stored.download.meaning
    assert "score" not in [name for name, _, _ in stored.columns]


def test_of_too_many_scores_the_primary_ones_stay(small: Lake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(downloads.MAX_ROWS, "scores", small.scan("scores").collect().height - 1)
    stored = next(each for each in write_downloads(small, tmp_path, {}) if each.download.name == "scores")
    kept = pl.read_parquet(tmp_path / stored.path)
    assert kept.select("metric", "k").unique().rows() == [NDCG]
    assert kept.height == small.scan("scores").filter(pl.col("metric") == "ndcg").collect().height
    assert "primary metrics" in stored.download.meaning


@pytest.mark.parametrize("library", ["polars", "pandas", "DuckDB"])
def test_snippets(built: Path, pages: dict[str, Element], monkeypatch: pytest.MonkeyPatch, library: str) -> None:
    codes = [each for each in pages["data.html"].all("code") if each.attributes.get("data-library") == library]
    code_of = {each.attributes["data-recipe"]: each.text_raw for each in codes}
    monkeypatch.chdir(built)
    ordered = sorted(SYSTEMS, key=lambda name: -SYSTEMS[name][0])
    board = result(code_of["order"], library, "board")
    assert [name for name in board["system"] if name != LIMITED] == ordered
    table = result(code_of["per-item"], library, "table")
    # The first of the systems, baselines left out.
    first, other = "window-20-10+bm25-okapi", "fixed-nws-1500+bm25-okapi"
    flips = result(code_of["flips"], library, "flips")
    assert set(table) - {"item_id"} == {*SYSTEMS, LIMITED}
    assert table[first] == [SYSTEMS[first][0]] * 5
    assert flips["difference"] == pytest.approx([SYSTEMS[other][0] - SYSTEMS[first][0]] * 5)


def result(code: str, library: str, name: str) -> dict[str, list[object]]:
    if library == "DuckDB":
        duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed: its snippet is not run here")
        relation = duckdb.sql(code)
        return dict(zip(relation.columns, map(list, zip(*relation.fetchall(), strict=True)), strict=True))
    values: dict[str, object] = {}
    with contextlib.redirect_stdout(io.StringIO()) as output:
        exec(compile(code, library, "exec"), values)
    assert output.getvalue()
    frame = values[name]
    assert hasattr(frame, "columns")
    assert hasattr(frame, "__getitem__")
    return {column: list(frame[column]) for column in frame.columns}


def test_what_a_file_is_said_to_hold_names_files_and_no_table_of_another_name() -> None:
    renamed = {f"`{download.table}`" for download in DOWNLOADS if download.table != download.name}
    assert renamed
    assert [download.name for download in DOWNLOADS if any(name in download.meaning for name in renamed)] == []


@pytest.fixture(scope="module")
def data(built: Path) -> Path:
    return built / "data"


def test_datasets_reads_every_table_of_the_folder(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    front = yaml.safe_load((data / "README.md").read_text(encoding="utf-8").split("---")[1])
    assert [each["config_name"] for each in front["configs"]] == get_dataset_config_names(str(data))
    scores = load_dataset(str(data), "scores", split="train", cache_dir=str(tmp_path))
    assert scores.to_polars().equals(pl.read_parquet(data / "scores.parquet"))
    n_rows = {path.name: len(pl.read_parquet(path)) for path in data.glob("*.parquet")}
    # It refuses a configuration without rows.
    assert {file for each in front["configs"] for file in each["data_files"]} == {
        name for name, n in n_rows.items() if n
    }
    for each in front["configs"]:
        loaded = load_dataset(str(data), each["config_name"], split="train", cache_dir=str(tmp_path))
        assert len(loaded) == sum(n_rows[file] for file in each["data_files"])


def test_croissant_names_every_file_with_its_hash_and_every_column(data: Path) -> None:
    about = json.loads((data / "croissant.json").read_text(encoding="utf-8"))
    files = {each["@id"]: each for each in about["distribution"]}
    assert files.keys() == {path.name for path in data.glob("*.parquet")}
    for name, file in files.items():
        content = (data / name).read_bytes()
        assert (file["sha256"], file["contentSize"]) == (hashlib.sha256(content).hexdigest(), f"{len(content)} B")
    for table in about["recordSet"]:
        (first, *_) = [field["source"]["fileObject"]["@id"] for field in table["field"]]
        columns = [field["source"]["extract"]["column"] for field in table["field"]]
        assert columns == [*pl.read_parquet_schema(data / first)]
        assert all(field["description"] for field in table["field"])
