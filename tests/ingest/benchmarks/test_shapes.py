import json
import socket
from collections.abc import Callable, Mapping
from pathlib import Path

import datasets  # type: ignore[import-untyped]  # ships no types
import polars as pl
import pytest
import yaml

from ingest.sources import hub as sources
from lake.errors import Exit
from lake.store import Lake
from tests.ingest.benchmarks import test_config
from tests.ingest.benchmarks.contextbench import context_cases
from tests.ingest.benchmarks.repobench_r import test_repobench
from tests.ingest.benchmarks.test_beir import CORPUS, QRELS, QUERIES, lay_out
from tests.tiny import Row, Said, build, command, jsonl, put

TABLES = ("items", "queries", "gold_spans", "files", "blobs", "chunks")
CANDIDATES = [test_repobench.row(), test_repobench.row(6, 0), test_repobench.row(10, 9)]


def _contextbench(folder: Path) -> None:
    context_cases.build(folder, name="data/full.parquet")
    (folder / "contextbench").rename(folder.parent / "moved")
    folder.rmdir()
    (folder.parent / "moved").rename(folder)


LAYOUTS: Mapping[str, Callable[[Path], object]] = {
    "repoeval": build,
    "repobench-r": lambda folder: test_repobench.put(folder, CANDIDATES[:2], CANDIDATES[2:]),
    "contextbench": _contextbench,
    "beir": lay_out,
}
"""Benchmark → what lays out a little of it as upstream has it."""


def ingest(lake: Path, *arguments: object) -> Said:
    return command("ingest", *arguments, "--lake", lake, "--chunkers", "whole-file")


def declared(folder: Path, name: str, data: Mapping[str, object], fields: Mapping[str, object]) -> Path:
    content = {"name": name, "label": "ours", "data": dict(data), "fields": dict(fields)}
    return put(folder / "mine.yaml", yaml.safe_dump(content).encode())


def assert_alike(first: Path, other: Path, *, without: tuple[str, ...] = ()) -> None:
    for name in TABLES:
        both = [Lake(lake).read(name) for lake in (first, other)]
        both = [frame.drop(column for column in without if column in frame.columns) for frame in both]
        assert both[0].height > 0
        assert both[0].equals(both[1]), name


@pytest.mark.slow
@pytest.mark.parametrize("name", LAYOUTS)
def test_a_printed_declaration_gives_the_items_of_the_files_it_was_printed_for(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    LAYOUTS[name](folder)
    out = command("ingest", "list", "benchmarks", "--format", "yaml").out
    (entry,) = [row for row in yaml.safe_load(out) if row["name"] == name]
    config = put(folder / "mine.yaml", yaml.safe_dump([entry | {"label": "ours"}]).encode())
    run = ingest(tmp_path / "one", "--config", config)
    assert run.code in (Exit.DONE, Exit.INCOMPLETE), run.err
    ingest(tmp_path / "other", name, "--source", tmp_path).ended(run.code)
    assert_alike(tmp_path / "one", tmp_path / "other")


def _under(row: Row, names: Mapping[str, str]) -> Row:
    return {"own": {names.get(key, key): value for key, value in row.items()}}


REPOBENCH = {"repo_name": "repo", "file_path": "file", "context": "snippets", "import_statement": "imports"}
REPOBENCH |= {"code": "before", "next_line": "after", "gold_snippet_index": "answer"}
CONTEXTBENCH = {"original_inst_id": "name", "gold_context": "answer", "base_commit": "at", "problem_statement": "issue"}


def _own_repobench(folder: Path) -> Path:
    put(folder / "training.jsonl", jsonl([_under(row, REPOBENCH) for row in CANDIDATES]))
    fields = {field: f"own.{name}" for field, name in REPOBENCH.items()}
    return declared(folder, "repobench-r", {"rows": "training.jsonl", "subset": "python_cff/test"}, fields)


def _own_contextbench(folder: Path) -> Path:
    put(folder / "rows.jsonl", jsonl([_under(context_cases.row(), CONTEXTBENCH)]))
    put(folder / "files/acme__rockets-1.parquet", context_cases.repo_parquet())
    fields = {"id": "own.name", "gold": "own.answer", "commit": "own.at", "problem_statement": "own.issue"}
    fields |= {field: f"own.{field}" for field in ("repo", "language", "patch", "source")}
    return declared(folder, "contextbench", {"rows": "rows.jsonl", "repo_files": "files", "subset": "full"}, fields)


def _own_beir(folder: Path) -> Path:
    put(folder / "documents.jsonl", jsonl([_under(row, {"_id": "name", "text": "body"}) for row in CORPUS]))
    put(folder / "asked.jsonl", jsonl([{"name": row["_id"], "body": row["text"]} for row in QUERIES]))
    lines = [line.split("\t") for line in QRELS.splitlines()[1:]]
    put(folder / "judged.jsonl", jsonl([{"q": q, "d": d, "g": int(g)} for q, d, g in lines]))
    fields = {"document": "own.name", "title": "own.title", "text": "own.body", "query": "name", "query_text": "body"}
    fields |= {"judged_query": "q", "judged_document": "d", "grade": "g"}
    places = {"corpus": "documents.jsonl", "queries": "asked.jsonl", "qrels": "judged.jsonl", "subset": "test"}
    return declared(folder, "beir", places, fields)


OWN = {"repobench-r": _own_repobench, "contextbench": _own_contextbench, "beir": _own_beir}
EVERY = {**OWN, "repoeval": test_config.lay_out}


@pytest.mark.slow
@pytest.mark.parametrize("name", EVERY)
def test_rows_under_keys_of_ones_own_are_those_of_upstreams_keys(tmp_path: Path, name: str) -> None:
    run = ingest(tmp_path / "one", "--config", EVERY[name](tmp_path / "mine"))
    assert run.code in (Exit.DONE, Exit.INCOMPLETE), run.err
    assert "rejected" not in run.err
    LAYOUTS[name](tmp_path / name)
    ingest(tmp_path / "other", name, "--source", tmp_path)
    assert_alike(tmp_path / "one", tmp_path / "other", without=("upstream_id",))


@pytest.mark.parametrize("name", OWN)
def test_a_path_that_leads_nowhere_is_named_with_its_file_and_line(tmp_path: Path, name: str) -> None:
    config = OWN[name](tmp_path / "mine")
    was = {"repobench-r": "own.after", "contextbench": "own.issue", "beir": "own.body"}[name]
    config.write_text(config.read_text().replace(was, "own.nothing"))
    assert ingest(tmp_path / "lake", "--config", config).code != Exit.DONE
    rejects = Lake(tmp_path / "lake").read("rejects").sort("source", "position")
    row = rejects.filter(pl.col("reason").str.contains("`own.nothing` is missing")).rows(named=True)[0]
    assert row["position"] == "line 1"
    file = {"repobench-r": "training.jsonl", "contextbench": "rows.jsonl", "beir": "documents.jsonl"}[name]
    assert row["source"].rpartition("/")[2] == file


WRONG = {
    "a list": ("documents.jsonl", "[a]", "data.corpus.file: input should be a valid string, not a list of 1"),
    "a hub's name alone": ("documents.jsonl", "{hub: a/b}", "data.corpus.hub.revision: is missing"),
    "a branch": (
        "documents.jsonl",
        "{hub: a/b, revision: main, split: x}",
        "data.corpus.hub.revision: string should match pattern",
    ),
}


@pytest.mark.parametrize("given", WRONG)
def test_what_is_off_in_a_declaration_is_named_with_its_key_and_line(tmp_path: Path, given: str) -> None:
    was, becomes, message = WRONG[given]
    config = _own_beir(tmp_path / "mine")
    config.write_text(config.read_text().replace(was, becomes, 1))
    answer = ingest(tmp_path / "lake", "--config", config)
    assert answer.code in (Exit.INVALID, Exit.MISSING)
    assert message in answer.err
    assert "mine.yaml" in answer.err


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        message = "the network is asked for something"
        raise AssertionError(message)

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


def saved(rows: list[Row], folder: Path) -> Path:
    datasets.Dataset.from_list([{**row, "_id": str(row["_id"])} for row in rows]).save_to_disk(folder)
    return folder


@pytest.mark.usefixtures("no_network")
def test_folders_that_save_to_disk_made_and_parquet_are_read_as_json_lines_are(tmp_path: Path) -> None:
    folder = lay_out(tmp_path / "beir")
    saved(CORPUS, folder / "documents")
    pl.DataFrame(QUERIES).write_parquet(folder / "asked.parquet")
    places = {"corpus": "documents", "queries": "asked.parquet", "qrels": "qrels/test.tsv", "subset": "test"}
    ingest(tmp_path / "one", "--config", declared(folder, "beir", places, {})).ended(Exit.INCOMPLETE)
    ingest(tmp_path / "other", "beir", "--source", tmp_path)
    assert_alike(tmp_path / "one", tmp_path / "other")
    again = ingest(tmp_path / "one", "--config", folder / "mine.yaml")
    assert "parts: 11 current" in again.err


def _damaged(folder: Path, how: str) -> None:
    state = folder / "state.json"
    (arrow,) = folder.glob("*.arrow")
    if how == "leaves":
        arrow.rename(folder.parent / "out.arrow")
        state.write_text(json.dumps(json.loads(state.read_text()) | {"_data_files": [{"filename": "../out.arrow"}]}))
    elif how == "cut off":
        arrow.write_bytes(arrow.read_bytes()[:-200])
    else:
        state.write_text("[" * 100_000)


DAMAGED = {
    "leaves": "state.json names files that are not in its folder",
    "cut off": "`datasets` cannot read it",
    "deep": "`datasets` cannot read it: maximum recursion depth",
}


@pytest.mark.parametrize("how", DAMAGED)
def test_a_saved_data_set_that_is_not_as_saved_is_refused(tmp_path: Path, how: str) -> None:
    folder = lay_out(tmp_path / "beir")
    _damaged(saved(CORPUS, folder / "documents"), how)
    places = {"corpus": "documents", "queries": "queries.jsonl", "qrels": "qrels/test.tsv", "subset": "test"}
    run = ingest(tmp_path / "lake", "--config", declared(folder, "beir", places, {}))
    assert run.code in (Exit.INVALID, Exit.INCOMPLETE)
    lake = Lake(tmp_path / "lake")
    assert DAMAGED[how] in run.err + "".join(lake.read("rejects")["reason"] if lake.parts("rejects") else [])
    assert not lake.parts("files") or lake.read("files").is_empty()


COMMIT = "c" * 40
HUB = {"hub": "acme/recipes", "revision": COMMIT, "config": "corpus", "split": "corpus"}


def _of_the_hub(folder: Path) -> Path:
    lay_out(folder)
    places = {"corpus": HUB, "queries": "queries.jsonl", "qrels": "qrels/test.tsv", "subset": "test"}
    return declared(folder, "beir", places, {})


def test_a_hubs_data_set_without_network_or_cache_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def offline(*_: object, **__: object) -> None:
        message = "Couldn't reach 'acme/recipes' on the Hub (OfflineModeIsEnabled)"
        raise ConnectionError(message)

    monkeypatch.setattr(datasets, "load_dataset_builder", offline)
    run = ingest(tmp_path / "lake", "--config", _of_the_hub(tmp_path / "beir"))
    run.refused(
        Exit.MISSING,
        f"acme/recipes@{COMMIT} cannot be downloaded: ",
        "Couldn't reach",
        "Try again online",
    )


@pytest.mark.usefixtures("no_network")
@pytest.mark.parametrize(("commit", "streamed_from"), [(COMMIT, 10**9), (COMMIT, 0), ("d" * 40, 10**9)])
def test_a_hubs_data_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, commit: str, streamed_from: int) -> None:
    """The hub's own files in a folder: all but the resolving of the name is what `datasets` does with them."""
    monkeypatch.setattr(sources, "STREAMED_FROM", streamed_from)
    file = put(tmp_path / "hub/corpus.jsonl", jsonl([{**row, "_id": str(row["_id"])} for row in CORPUS]))
    load = datasets.load_dataset_builder

    def builder(name: str, config: str, *, revision: str) -> datasets.DatasetBuilder:
        assert (name, config, revision) == ("acme/recipes", "corpus", COMMIT)
        return load("json", data_files={"corpus": str(file)}, cache_dir=str(tmp_path / "cache" / commit))

    monkeypatch.setattr(datasets, "load_dataset_builder", builder)
    run = ingest(tmp_path / "one", "--config", _of_the_hub(tmp_path / "beir"))
    if commit != COMMIT:
        assert run.code == Exit.MISSING
        assert "the cache holds another commit" in run.err
        return
    assert run.code == Exit.INCOMPLETE, run.err
    assert bool(list(tmp_path.glob("cache/**/*.arrow"))) == (streamed_from > 0)
    ingest(tmp_path / "other", "beir", "--source", tmp_path)
    assert_alike(tmp_path / "one", tmp_path / "other")


SWE_BENCH = {"repo": "a/b", "instance_id": "a__b-1", "base_commit": "0" * 40, "patch": "x", "problem_statement": "y"}


@pytest.mark.slow
def test_rows_of_swe_bench_are_known_and_their_owner_reads_what_to_add(tmp_path: Path) -> None:
    put(tmp_path / "rows.jsonl", jsonl([dict(SWE_BENCH)]))
    config = declared(tmp_path, "contextbench", {"subset": "full", "rows": "rows.jsonl"}, {})
    ingest(tmp_path / "lake", "--config", config).ended(
        Exit.INCOMPLETE, "rows of SWE-bench have no gold context: declare fields: {gold: patch}"
    )
