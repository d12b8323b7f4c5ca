import polars as pl

from lake.store import Lake
from tests.newcomer.checkout import CHUNKER, Checkout
from tests.test_readme import block
from tests.tiny import put, stored

METRIC = '''"""How many of the first k are relevant."""

import polars as pl

from evaluate.metrics import Ratio, metric
from evaluate.metrics import size_at
from evaluate.metrics.ranked import hits_within


@metric("n_hits", title="Hits", ks=(3,), micro="undefined")
def n_hits(k: int) -> Ratio:
    """How many of the first k results are relevant."""
    return Ratio(hits_within(k), pl.lit(1))


@metric("line_jaccard", title="Line Jaccard", ks=(8_000,), granularity="line", shape="covered", cut="budget")
def line_jaccard(k: int) -> Ratio:
    """Gold lines returned over lines that are gold or returned, within k non-whitespace characters."""
    both, returned = (pl.col(size_at(name, "budget", k)) for name in ("n_both", "n_returned"))
    return Ratio(both, pl.col("n_gold") + returned - both)
'''

PROTOCOL = '''"""RepoEval's chunking rules, ranked by the reciprocal rank."""

from dataclasses import replace

from lake.catalog.protocol import Primary
from lake.catalog.benchmarks.repoeval import CHUNKING

BY_MRR = replace(CHUNKING, name="repoeval@mine-v1", title="Mine", primary=Primary("mrr", 10, "chunk", "macro"))
'''

FORMAT = '''"""Lines of `item|document`, best first."""

from collections.abc import Iterator

import polars as pl

from ingest.runs.importer import Importer
from ingest.sources.input_file import InputFile


def recognise(head: bytes, name: str) -> bool:
    """Whether a file is such a list."""
    return name.endswith(".bars")


def read(input_file: InputFile) -> Iterator[pl.DataFrame]:
    """Every line; the first of an item is its first result."""
    rows = [line.split("|") for line in input_file.text().splitlines()]
    frame = pl.DataFrame(rows, schema=["item_id", "document"], orient="row")
    yield frame.with_row_index("position", offset=1).with_columns(rank=pl.int_range(1, pl.len() + 1).over("item_id"))


BARS = Importer("bars", "Bars", "Lines of item|document, best first.", recognise, read, example="item|a.py#L1-L2")
'''

BENCHMARK = '''"""Recipes: a benchmark in BEIR's layout."""

from lake.catalog.benchmarks.beir import Collection

RECIPES = Collection(
    name="recipes",
    display_name="Recipes",
    title="Which recipe is asked for?",
    meaning="Given a wish, find the recipes that a cook judged to fit it.",
    licence="CC0-1.0",
)

SEARCH = RECIPES.search()

GRADED = RECIPES.graded()
'''

RECIPES = {
    "corpus.jsonl": '{"_id": "r1", "title": "Soup", "text": "boil leeks"}\n{"_id": "r2", "text": "bake bread"}\n',
    "queries.jsonl": '{"_id": "q1", "text": "leeks in a soup"}\n{"_id": "q2", "text": "bread"}\n',
    "qrels/test.tsv": "query-id\tcorpus-id\tscore\nq1\tr1\t2\nq2\tr2\t1\nq2\tr1\t0\n",
}


def add(checkout: Checkout, name: str, text: str) -> None:
    put(checkout.root / name, text.encode())


def test_the_chunker_and_the_retriever_of_the_docs_are_a_file_each(checkout: Checkout) -> None:
    before = stored(checkout.lake, "hits", "scores")
    for path in ("ingest/contents/chunkers/halves.py", "evaluate/retrievers/shared_words.py"):
        add(checkout, path, block(f"`{path}`:"))
    checkout.ingest("halves")
    checkout.run("evaluate", "--systems", "*+shared-words,halves+bm25-okapi")
    assert {"halves+bm25-okapi", "halves+shared-words", f"{CHUNKER}+shared-words"} <= checkout.runs().keys()
    chunks = Lake(checkout.lake).read("chunks", chunker="halves")
    assert chunks.group_by("sha256").len()["len"].max() == 2
    assert before.items() <= stored(checkout.lake, "hits", "scores").items()
    assert f"{CHUNKER}+shared-words" in checkout.run("evaluate", "table")


def test_a_metric_is_one_file_and_is_asked_for_without_a_protocol_naming_it(checkout: Checkout) -> None:
    before = stored(checkout.lake)
    add(checkout, "evaluate/metrics/n_hits.py", METRIC)
    run = checkout.run("evaluate", "--systems", "*+bm25-okapi", "--metrics", "n_hits@4,line_jaccard@4000")
    assert "n_hits@4" in run
    assert "line_jaccard@4000" in run
    assert "not measured under repoeval@chunking-v1" not in run
    assert "exploratory" in run
    after = stored(checkout.lake)
    changed = [path for path in before if after.get(path) != before[path]]
    assert all(path.startswith("metrics/part-all.") for path in changed)


def test_a_protocol_is_one_file_that_names_what_differs(checkout: Checkout) -> None:
    before = stored(checkout.lake, "hits", "scores")
    assert len(PROTOCOL.strip().splitlines()[2:]) - PROTOCOL.count("\n\n") + 1 <= 5
    add(checkout, "lake/catalog/benchmarks/mine.py", PROTOCOL)
    checkout.run("evaluate", "--systems", "*+bm25-okapi")
    scores = Lake(checkout.lake).scan("scores", benchmark="repoeval")
    assert scores.filter(pl.col("protocol") == "repoeval@mine-v1").collect().height > 0
    assert before.items() <= stored(checkout.lake, "hits", "scores").items()


def test_a_format_of_imports_is_one_file(checkout: Checkout) -> None:
    add(checkout, "ingest/runs/formats/bars.py", FORMAT)
    items = Lake(checkout.lake).read("items")["item_id"]
    paths = {item: "cats.py" if "zoo" in item else "rockets/engine.py" for item in items}
    put(checkout.root / "mine.bars", "".join(f"{item}|{path}#L1-L5\n" for item, path in paths.items()).encode())
    checkout.run("ingest", "run", "mine.bars", "--benchmark", "repoeval", "--system", "mine")
    checkout.run("evaluate", "--systems", "mine")
    assert "mine" in checkout.runs()
    assert "bars" in checkout.run("ingest", "list", "formats")


def test_a_benchmark_in_beirs_layout_is_one_file(checkout: Checkout) -> None:
    before = stored(checkout.lake, "hits", "scores")
    assert len(BENCHMARK.splitlines()) <= 60
    add(checkout, "lake/catalog/benchmarks/recipes.py", BENCHMARK)
    for name, text in RECIPES.items():
        add(checkout, f"recipes/{name}", text)
    assert "2 of 2 items ready" in checkout.run("ingest", "recipes", "--source", "recipes")
    run = checkout.run("evaluate", "--systems", "*+bm25-okapi")
    assert "recipes@graded-v1" in run
    scores = Lake(checkout.lake).scan("scores", benchmark="recipes").filter(metric="ndcg", k=10)
    values = scores.filter(pl.col("run_id").str.contains("bm25")).select("item_id", "value").collect().rows()
    assert sorted(values) == [("q1", 1.0), ("q2", 1.0)]
    assert before.items() <= stored(checkout.lake, "hits", "scores").items()
    checkout.run("report")
    public = checkout.root / "site/public"
    assert "systems/whole-file-bm25-okapi.html" in (public / "recipes.html").read_text(encoding="utf-8")
    for page in ("index.html", "repoeval.html", "recipes.html"):
        assert 'href="recipes.html"' in (public / page).read_text(encoding="utf-8")
    assert "recipes" in checkout.run("ingest", "list", "benchmarks")
