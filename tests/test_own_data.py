from pathlib import Path

import polars as pl
import pytest
import yaml

from ingest.benchmarks import benchmarks
from ingest.benchmarks.config import read_config
from lake.errors import Exit
from lake.store import Lake
from lake.tables import TABLES
from tests.ingest.benchmarks.contextbench import context_cases
from tests.ingest.benchmarks.test_config import OURS, lay_out
from tests.tiny import command, jsonl, put, stored

pytestmark = pytest.mark.slow

NAME = "jinja-search"
N_REPOS = 7
"""More than are needed for intervals over repositories, which own data never has."""
IDS = ["goldspan-sample__ledger-30", *(f"acme__rockets{number}-1" for number in range(1, N_REPOS))]
"""The first is called as an item of the sample is."""
SHARED = {"tasks", "protocols", "metrics", "retrievers", "chunkers", "formats", "symbol_rules"}
"""Tables of what is declared, whatever data there is."""


def declared(folder: Path, **others: object) -> Path:
    """Seven issues of seven repositories in ContextBench's manner, and their declaration."""
    rows = [context_cases.row(item_id, repo=f"acme/rockets{number}") for number, item_id in enumerate(IDS)]
    put(folder / "rows.jsonl", jsonl(rows))
    for item_id in IDS:
        put(folder / f"files/{item_id}.parquet", context_cases.repo_parquet())
    data = {"rows": "rows.jsonl", "repo_files": "files", "subset": "full"}
    content = {"name": NAME, "like": "contextbench", "data": data, **others}
    return put(folder / "ours.yaml", yaml.safe_dump(content, sort_keys=False).encode())


def done(stage: str, *arguments: object) -> str:
    return command(stage, *arguments).done().out


def of_others(lake: Path) -> dict[str, bytes]:
    """Every part of a lake that is not the own data's, nor a list of what is declared."""
    parts = stored(lake)
    return {path: data for path, data in parts.items() if NAME not in path and path.split("/")[0] not in SHARED}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a lake of the sample's ContextBench and own data in its manner, and their site."""
    home = tmp_path_factory.mktemp("own")
    lake = ("--lake", home / "lake")
    done("ingest", "contextbench", "--limit", 6, "--chunkers", "whole-file", *lake)
    done("evaluate", "--systems", "*+bm25-okapi", *lake)
    before = of_others(home / "lake")
    done("ingest", "--config", declared(home / "data"), "--chunkers", "whole-file", *lake)
    answers = "".join(f"{item_id} Q0 src/engine.py:0-7 1 1.0 mine\n" for item_id in IDS)
    file = put(home / "answers.trec", answers.encode())
    done("ingest", "run", file, "--benchmark", NAME, "--system", "mine", *lake)
    (home / "printed.txt").write_text(done("evaluate", "--systems", "*+bm25-okapi,mine", *lake))
    after = of_others(home / "lake")
    assert before.items() <= after.items()
    # What is new is contents that nobody had, and what is made of them.
    of_contents = {"blobs", "chunks", "chunk_status", "rejects", "symbols", "symbol_status"}
    assert {path.split("/")[0] for path in after.keys() - before.keys()} <= of_contents
    done("report", "--site", home / "site", *lake)
    return home


def test_every_row_stands_under_its_own_name(home: Path) -> None:
    lake = Lake(home / "lake")
    (row,) = lake.read("benchmarks").filter(name=NAME).to_dicts()
    assert (row["like"], row["label"], row["display_name"]) == ("contextbench", "own", NAME)
    assert (row["title"], row["meaning"]) == (
        "Own data in the manner of ContextBench",
        "Own data, asked and scored by the rules of ContextBench.",
    )
    assert [row[key] for key in ("citation", "paper", "licence")] == ["", "", ""]
    items = lake.read("items", benchmark=NAME)
    assert sorted(items["item_id"]) == sorted(IDS)
    assert items["pool_id"].str.starts_with(f"{NAME}/").all()
    both = lake.read("items").filter(item_id=IDS[0])
    assert sorted(both["benchmark"]) == ["contextbench", NAME]
    for name in [name for name, declared in TABLES.items() if "benchmark" in declared.folders]:
        # No agent worked on the own data.
        if name != "usage" and lake.parts(name, benchmark="contextbench"):
            assert lake.parts(name, benchmark=NAME), name
    pools = lake.read("pools")
    assert pools["pool_id"].is_unique().all()
    assert set(lake.read("runs", benchmark=NAME)["task"]) == {f"{NAME}/issue"}


def test_it_is_scored_by_the_rules_of_the_benchmark_that_it_is_like(home: Path) -> None:
    rows = Lake(home / "lake").read("protocols").select("name", "benchmark", "hash", "source")
    rules = {name: rest for name, *rest in rows.iter_rows()}
    for short in ("docs-v1", "official-v1"):
        assert rules[f"{NAME}@{short}"] == [NAME, *rules[f"contextbench@{short}"][1:]]
    scores = Lake(home / "lake").read("scores", benchmark=NAME)
    assert set(scores["protocol"]) == {f"{NAME}@docs-v1", f"{NAME}@official-v1"}
    hashes = {protocol: seal for protocol, seal in scores.select("protocol", "protocol_hash").unique().iter_rows()}
    assert hashes == {name: rules[name][1] for name in hashes}


def test_its_items_are_the_unit_however_many_repositories_they_are_of(home: Path) -> None:
    aggregates = Lake(home / "lake").read("aggregates", benchmark=NAME)
    assert aggregates["n_repos"].max() == N_REPOS
    assert set(aggregates["unit"]) == {"item"}
    for name in ("comparisons", "ranks"):
        rows = Lake(home / "lake").scan(name).filter(pl.col("protocol").str.starts_with(NAME)).collect()
        assert set(rows["unit"]) == {"item"}
    assert "95 % intervals are over items: for these repositories only" in (home / "printed.txt").read_text()


def test_table_compare_and_exports_take_its_name(home: Path) -> None:
    lake = ("--lake", home / "lake")
    table = done("evaluate", "table", NAME, "--protocol", "docs-v1", *lake)
    assert table.startswith(f"# {NAME}@docs-v1, ")
    assert "\nmine\t" in table
    assert "contextbench" not in table
    assert f"{NAME} (own): line_f1" in (home / "printed.txt").read_text()
    compared = done("evaluate", "compare", "whole-file+bm25-okapi", "mine", "--protocol", f"{NAME}@docs-v1", *lake)
    assert f"{NAME}@docs-v1 line_f1 " in compared
    assert "over items: for these repositories only" in compared
    table_of_item = done(
        "evaluate", NAME, "--items", f"item_id={IDS[1]}", "--systems", "*+bm25-okapi", "--metrics", "line_f1", *lake
    )
    assert f"# {NAME}@docs-v1, " in table_of_item
    out, board, lines = ("-o", home / "out"), ("--benchmark", NAME), ("mine", "--benchmark", NAME)
    done("report", "export", *board, "--protocol", "docs-v1", "--format", "md", *out, *lake)
    assert "mine" in (home / "out").read_text()
    done("report", "export", *lines, "--format", "contextbench", *out, *lake)
    answers = (home / "out").read_text()
    assert answers.count("\n") == N_REPOS
    assert f'"instance_id": "{IDS[0]}"' in answers


def test_it_has_pages_and_words_of_its_own(home: Path) -> None:
    site = home / "site"
    for page in (f"{NAME}.html", f"{NAME}-all.html", f"items/{NAME}.html", f"pairs/{NAME}.html", "contextbench.html"):
        assert (site / page).is_file(), page
    page = (site / f"{NAME}.html").read_text()
    assert "This is own data in the manner of contextbench, scored by its rules" in page
    assert "Own data, asked and scored by the rules of ContextBench." in page
    published = benchmarks()["contextbench"]
    for words in (published.meaning, published.homepage, published.paper):
        assert words not in page
    data = (site / "data.html").read_text()
    assert "BibTeX of ContextBench" in data
    assert f"BibTeX of {NAME}" not in data
    assert f'<option value="{NAME}@docs-v1"' in (site / "compare.html").read_text()
    overview = (site / "index.html").read_text()
    assert overview.index(">ContextBench<") < overview.index(f">{NAME}<")
    assert "own data in the manner of contextbench, not a published benchmark" in overview


def test_tasks_of_ones_own_in_repoevals_manner_stand_beside_the_sources(source: Path, tmp_path: Path) -> None:
    lake = ("--chunkers", "whole-file", "--lake", tmp_path / "lake")
    done("ingest", "repoeval", "--source", source, *lake)
    before = stored(tmp_path / "lake")
    own = OURS.replace("name: repoeval\nlabel: ours", "name: my-code\nlike: repoeval\nlabel: ours")
    done("ingest", "--config", lay_out(tmp_path / "ours", own), *lake)
    assert before.items() <= stored(tmp_path / "lake").items()
    assert Lake(tmp_path / "lake").read("pools")["pool_id"].is_unique().all()
    out = done("evaluate", *lake[2:])
    assert "my-code (ours): line_f1@8000" in out
    assert "repoeval: line_f1@8000" in out
    key = ("item_id", "granularity", "metric", "k", "value")
    # What random is worth by this metric is drawn, by a seed of each pool's own.
    scores = Lake(tmp_path / "lake").read("scores").filter(pl.col("metric") != "dcg_iou")
    mine, theirs = (scores.filter(benchmark=name).select(key).unique() for name in ("my-code", "repoeval"))
    assert mine.height > 0
    assert mine.join(theirs, on=key, how="anti", nulls_equal=True).is_empty()
    # A task that reproduces published numbers is none of own data's, and its protocol scores nothing of it.
    tasks = Lake(tmp_path / "lake").read("tasks").filter(benchmark="my-code")["name"]
    every_task = ("completion", "need", "prompt", "prompt-hard", "prompt-iou", "prompt-random", "prompt-vectors")
    with_others = [f"prompt-with-{n}" for n in (1, 4, 16)]
    assert sorted(tasks) == sorted(f"my-code/{name}" for name in (*every_task, *with_others))
    done("evaluate", "my-code", "--tasks", "my-code/prompt-hard", "--systems", "*+bm25-okapi", *lake[2:])
    assert Lake(tmp_path / "lake").parts("scores", protocol="my-code@hard-negatives-v1")


@pytest.mark.parametrize(
    ("others", "what"),
    [
        ({"name": "ContextBench"}, "name: 'ContextBench' is a published benchmark"),
        ({"name": "../x"}, "name: string should match pattern"),
        ({"name": "compare"}, "another page of the site"),
        ({"like": "swe"}, "own data can follow, found 'swe'"),
        ({"like": ""}, "For own data add like: beir or contextbench or repobench-r or repoeval."),
    ],
)
def test_an_invalid_name_is_refused_before_writing(tmp_path: Path, others: dict[str, object], what: str) -> None:
    config = declared(tmp_path / "data", **others)
    command("ingest", "--config", config, "--lake", tmp_path / "lake").refused(Exit.INVALID, what)
    assert not (tmp_path / "lake/items").exists()


def test_what_reads_it_again_is_its_declaration(tmp_path: Path) -> None:
    lake, config = ("--lake", tmp_path / "lake"), declared(tmp_path / "data")
    done("ingest", "--config", config, "--chunkers", "whole-file", *lake)
    run = command("ingest", NAME, *lake)
    run.refused(Exit.USAGE, f"{NAME} is own data and is read by its config", f"--config FILE.yaml, with name: {NAME}")
    other = lay_out(tmp_path / "ours", OURS.replace("name: repoeval", "name: my-code\nlike: repoeval"))
    done("ingest", "--config", other, "--chunkers", "fixed-nws-300", *lake)
    run = command("evaluate", NAME, "--systems", "*+bm25-okapi", *lake)
    assert f"skipped fixed-nws-300: it has no chunks for the files of {NAME}; ingest them with it" in run.err


def test_a_name_keeps_its_manner_and_label(tmp_path: Path) -> None:
    lake = ("--chunkers", "whole-file", "--lake", tmp_path / "lake")
    done("ingest", "--config", declared(tmp_path / "data"), *lake)
    before = stored(tmp_path / "lake")
    own = OURS.replace("name: repoeval\nlabel: ours", f"name: {NAME}\nlike: repoeval")
    run = command("ingest", "--config", lay_out(tmp_path / "ours", own), *lake).refused(Exit.USAGE)
    what = "data labelled own in the manner of contextbench; data labelled own in the manner of repoeval would replace"
    assert what in run.err
    assert stored(tmp_path / "lake") == before


@pytest.mark.parametrize("like", ["beir", "contextbench"])
def test_what_is_printed_of_the_published_data_is_not_said_of_own_data(tmp_path: Path, like: str) -> None:
    (entry,) = [
        entry
        for entry in yaml.safe_load(command("ingest", "list", "benchmarks", "--format", "yaml").out)
        if entry["name"] == like
    ]
    entry |= {"name": "ours", "like": like}
    for key, location in entry["data"].items():
        if key not in ("root", "subset"):
            put(tmp_path / location / ("x" if key in ("repositories", "repo_files") else ""), b"")
    own, _ = read_config(put(tmp_path / "ours.yaml", yaml.safe_dump([entry]).encode()), benchmarks())
    assert (own.name, own.kind, own.display_name) == ("ours", like, "ours")
    assert (own.citation, own.paper, own.licence, own.homepage) == ("", "", "", "")
    assert own.title.startswith("Own data in the manner of ")
