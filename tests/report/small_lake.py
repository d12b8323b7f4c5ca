"""A lake small enough to check by hand: two protocols, baselines, a failed and a limited run, hostile names."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from evaluate.statistics.boards import CHARACTERS, board_rows
from ingest.rejects import Rejects
from lake.catalog.protocol import Primary, Protocol
from lake.fingerprint import sha256_of
from lake.store import Lake, Part
from tests.frames import write

REPOS = ("acme/one", "acme/two", "acme/three")
UNREAD = "acme/unread"
"""The repository of the item that cannot be scored."""

HOSTILE = "evil</script><img src=x onerror=alert(1)>\u202egnp\x00+own-file"
HOSTILE_SHOWN = "evil</script><img src=x onerror=alert(1)>\\u{202E}gnp\\u{0}+own-file"
MEASURES = (("precision", 5), ("precision", 10), ("recall", 10), ("ndcg", 10), ("mrr", 10))
PROTOCOLS = {
    "repoeval@chunking-v1": "Gold is mostly the query's own text: own-file is the thing to beat.",
    "repoeval@target-v1": "Gold is an answer that does not exist yet when code is completed.",
}
CHUNKING, TARGET = PROTOCOLS
HEADLINE = ("subset", "function-2k")
NDCG = ("ndcg", 10)
PRIMARY: Mapping[str, object] = {
    "protocol": CHUNKING, "granularity": "chunk", "metric": "ndcg", "k": 10, "slice": HEADLINE[0],
    "slice_value": HEADLINE[1], "exploratory": False, "unit": "repository",
}  # fmt: skip
"""Of a row of ranks or comparisons: the view that the board of most tests opens on."""

# system → primary metric under chunking-v1, and under target-v1
SYSTEMS: Mapping[str, tuple[float, float]] = {
    "fixed-nws-1500+bm25-okapi": (0.6254, 0.2113),
    "fixed-nws-1500+jaccard": (0.5871, 0.3377),
    "window-20-10+bm25-okapi": (0.7316, 0.1935),
    "fixed-nws-1500+own-file": (0.8127, 0.0451),
    "fixed-nws-1500+random": (0.0742, 0.0216),
    HOSTILE: (0.3049, 0.1482),
}
BASELINES = ("fixed-nws-1500+own-file", "fixed-nws-1500+random", HOSTILE)
FAILED = "window-20-10+jaccard"
LIMITED = "fixed-nws-900+bm25-okapi"

METRIC = {"direction": "higher", "micro": "ratio", "of_steps": False, "cut": "results"}
"""What a metric's row says beside its words."""


def run_id(system: str, task: str = "repoeval.prompt") -> str:
    """As the evaluation names runs: the task, the system, and eight digits that tell runs apart."""
    return f"{task}--{system}--{sha256_of(system.encode())[:8]}"


def write_lake(root: Path, systems: Mapping[str, tuple[float, float]] = SYSTEMS, *, runs: bool = True) -> Lake:
    lake = Lake(root)
    write_benchmark(lake)
    if runs:
        for system, (chunking, target) in systems.items():
            write_run(lake, system)
            write_scores(lake, system, CHUNKING, chunking)
            write_scores(lake, system, TARGET, target)
        write_effects(lake)
        write_run(lake, FAILED, status="failed")
        write_run(lake, LIMITED, limit=2)
        write_scores(lake, LIMITED, CHUNKING, 0.9911)
    return write_boards(lake)


def write_boards(lake: Lake) -> Lake:
    """Work out table `boards` from what the lake holds of aggregates, ranks and comparisons now."""
    kinds = dict(lake.read("benchmarks").select("name", "like").iter_rows())
    for protocol in lake.read("protocols").iter_rows(named=True):
        rules, benchmark, name = _rules(protocol), protocol["benchmark"], protocol["name"]
        for task in protocol["tasks"]:
            runs = lake.read("runs").filter(task=task, benchmark=benchmark)
            tables = {}
            for table, run in (("aggregates", "run_id"), ("ranks", "run_id"), ("comparisons", "run_a")):
                rows = lake.scan(table, benchmark=benchmark).filter(protocol=name).drop("benchmark").collect()
                tables[table] = rows.filter(pl.col(run).is_in(runs["run_id"].implode()))
            if tables["aggregates"].height:
                characters = _characters(rules, tables["aggregates"])
                board = board_rows(rules, runs, kinds.get(benchmark) or benchmark, **tables, characters=characters)
                part = task.replace("/", ".")
                lake.write("boards", board, part=part, fingerprint="f", benchmark=benchmark, protocol=name)
    return lake


def _rules(row: Mapping[str, Any]) -> Protocol:
    """The rules of a row of table `protocols`, as far as a board reads them."""
    return Protocol(
        **{name: row[name] for name in ("name", "title", "meaning", "gold", "relevance", "source")},
        tasks=tuple(row["tasks"]),
        metrics=tuple((each["metric"], tuple(each["ks"])) for each in row["metrics"]),
        primary=Primary(**row["primary"]),
        headline=(row["headline"]["slice"], row["headline"]["slice_value"]),
    )


def _characters(rules: Protocol, aggregates: pl.DataFrame) -> pl.DataFrame:
    """How much is read of each run down to the primary metric's cut-off: the better it is, the less."""
    slice_, value = rules.headline or ("all", "all")
    rows = aggregates.filter(metric=rules.primary.metric, k=rules.primary.k, slice=slice_, slice_value=value)
    return rows.with_columns(read=4_000 / (pl.col("macro").abs() + 0.1), returned=pl.lit(8_000.0)).select(CHARACTERS)


def write_benchmark(lake: Lake) -> None:
    licences = [{"repo": repo, "licence": "MIT"} for repo in REPOS]
    columns = {"label": "sample", "licences": licences, "place": 1}
    write(lake, "benchmarks", [
        row("repoeval", columns, display_name="RepoEval", title="Complete a function from its repository",
            meaning="Does retrieval find the code a completion needs?", tags=["sample"], source="sample",
            revision="35f54d6", licence="MIT", citation="@article{repocoder,\n  title = {RepoCoder}\n}",
            paper="RepoCoder, 2023"),
    ])  # fmt: skip
    task = {"query": "the prompt", "pool": "every Python file of the repository", "tie": "hash"}
    write(lake, "tasks", [row("repoeval/prompt", {**task, "benchmark": "repoeval"})])
    write(lake, "protocols", [protocol(name, meaning) for name, meaning in PROTOCOLS.items()])
    rules = {"precision": "same", "recall": "ratio", "ndcg": "none", "mrr": "none"}
    write(lake, "metrics", [
        row(name, {**METRIC, "micro": micro}, meaning=f"What {name} means.")
        for name, micro in rules.items()
    ])  # fmt: skip
    write(lake, "chunkers", [
        row("fixed-nws-1500", {}, meaning="Lines packed greedily."),
        row("window-20-10", {}, meaning="Twenty lines, ten apart."),
    ])  # fmt: skip
    write(lake, "retrievers", [
        row("bm25-okapi", {}, meaning="Okapi BM25."),
        row("jaccard", {}, meaning="Shared tokens."),
        row("own-file", {}, tags=["baseline"], meaning="The query's own file, walked back from the hole."),
        row("random", {}, tags=["baseline"], meaning="What chance scores."),
    ])  # fmt: skip
    write(lake, "items", [item(number) for number in range(6)], part="repoeval", benchmark="repoeval")
    secret = {"text": "def secret_prompt():", "sha256": "0" * 64}
    queries = [{**secret, "item_id": f"item/{number}"} for number in range(6)]
    write(lake, "queries", queries, part="repoeval", benchmark="repoeval", query="prompt")
    span = {"gold": "target", "path": "a.py", "line_start": 9, "line_end": 20}
    spans = [{**span, "item_id": f"item/{number}"} for number in range(5)]
    write(lake, "gold_spans", spans, part="repoeval", benchmark="repoeval")
    write_files(lake)
    refused = Rejects()
    refused.add("datasets/<b>broken</b>.jsonl", "line 12", "the row is no JSON\u202e", "{")
    lake.write("rejects", refused.frame("ingest"), part="ingest", fingerprint="rejects")


CHUNKS = {"fixed-nws-1500": 3, "window-20-10": 700}
"""Chunker → the chunks of each content."""

N_CONTENTS = 4
"""A file of its own for each repository that can be searched, and one that lies in all of them."""


def write_files(lake: Lake) -> None:
    """What the repositories hold, how it is cut, and two pools of which nothing is searched here."""
    pools = {repo: ["shared", repo] for repo in REPOS} | {UNREAD: ["shared", UNREAD], "other/pool": ["others"]}
    files: list[dict[str, object]] = [
        {"pool_id": pool, "path": f"{position}.py", "sha256": content, "position": position}
        for pool, contents in pools.items()
        for position, content in enumerate(contents)
    ]
    write(lake, "files", files, benchmark="repoeval", kind="searched")
    contents = sorted({content for held in pools.values() for content in held})
    for chunker, n in CHUNKS.items():
        # It cuts three contents the plain way, and leaves out a character of each content.
        is_plain = chunker == "fixed-nws-1500"
        reasons = ["syntax errors" if is_plain and position < 3 else None for position in range(len(contents))]
        status: list[dict[str, object]] = [
            {"sha256": content, "n_chunks": n, "fell_back": why, "n_nws": 2500, "n_covered": 2500 - is_plain}
            for content, why in zip(contents, reasons, strict=True)
        ]
        write(lake, "chunk_status", status, chunker=chunker)


def protocol(name: str, meaning: str) -> dict[str, object]:
    parameters = {
        "tasks": ["repoeval/prompt"],
        "gold": name.partition("@")[2],
        "relevance": "line-overlap",
        "metrics": [{"metric": metric, "ks": [10]} for metric in ("precision", "recall", "ndcg", "mrr")],
        "benchmark": "repoeval",
        "primary": {"granularity": "chunk", "metric": "ndcg", "k": 10, "aggregate": "macro"},
        "headline": {"slice": "subset", "slice_value": "function-2k"},
        "place": list(PROTOCOLS).index(name),
    }
    return row(name, parameters, meaning=meaning, primary_metric="ndcg@10")


def item(number: int) -> dict[str, object]:
    repo = REPOS[number % len(REPOS)] if number < 5 else UNREAD
    return {
        "item_id": f"item/{number}",
        "subset": "function-2k",
        "language": "python",
        "repo": repo,
        "pool_id": repo,
        "scorable": number < 5,
        "why_not": None if number < 5 else "the repository cannot be had",
    }


def write_run(lake: Lake, system: str, *, status: str = "complete", limit: int | None = None) -> None:
    """A run with what it cost, what happened per item, and its ranking."""
    folders = {"benchmark": "repoeval", "run_id": run_id(system)}
    run = {**ran(system, "repoeval/prompt", 5), "status": status, "limit": limit}
    write(lake, "runs", [run], **folders)
    if status == "failed":
        return
    cost = {"part": "0", "index_seconds": 0.1234, "index_bytes": 5_600_000, "hardware": "2 cores"}
    write(lake, "costs", [{**cost, "query_seconds": [0.0042] * 5}], **folders)
    write(lake, "run_items", [{"item_id": f"item/{number}", "n_returned": 2} for number in range(5)], **folders)
    span = {"path": "a b.py", "line_start": 9, "line_end": 20, "score": 1.5}
    hits = [{"item_id": f"item/{number}", "rank": rank, **span} for number in range(5) for rank in (1, 2)]
    write(lake, "hits", hits, **folders)


def write_scores(lake: Lake, system: str, protocol_name: str, primary: float, *, fingerprint: str = "s") -> None:
    """Scores and aggregates of one run under one protocol: the primary metric as given, the others below it."""
    folders = {"benchmark": "repoeval", "protocol": protocol_name, "run_id": run_id(system)}
    scores = [
        {"item_id": f"item/{number}", "granularity": "chunk", "metric": metric, "k": k, "value": primary,
         "protocol_hash": "c0ffee11c0ffee11"}
        for number in range(5)
        for metric, k in MEASURES
    ]  # fmt: skip
    write(lake, "scores", scores, fingerprint=fingerprint, **folders)
    rows = [
        aggregate(measure, where, primary * (1 if measure == NDCG else 0.5 + position / 16))
        for position, measure in enumerate(MEASURES)
        for where in (HEADLINE, ("all", "all"))
    ]
    rows += [aggregate(NDCG, ("repo", repo), primary * (0.7 + position / 8)) for position, repo in enumerate(REPOS)]
    write(lake, "aggregates", rows, fingerprint=fingerprint, **folders)


def write_effects(lake: Lake) -> None:
    """A grid of two chunkers and two retrievers in which the retriever does it all, over two of the repositories."""
    levels = [("", ""), ("a", ""), ("b", ""), ("", "x"), ("", "y"), ("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")]
    factors = {(False, False): "grand mean", (True, False): "chunker", (False, True): "retriever"}
    key = {"task": "repoeval/prompt", "slice": HEADLINE[0], "slice_value": HEADLINE[1]}
    of_x = {"x": 0.125, "y": -0.125, "": 0.0}
    rows: list[dict[str, object]] = [
        {**key, "repo": repo, "factor": factors.get((bool(chunker), bool(retriever)), "interaction"),
         "chunker": chunker, "retriever": retriever, "mean": 0.5 + of_x[retriever], "low": -0.25, "high": 0.25,
         "effect": None if chunker == retriever == "" else 0.0 if chunker else of_x[retriever],
         "n_items": n, "n_repos": 2, "left_out": ["c+x"]}
        for repo, n in (("", 5), (REPOS[0], 2), (REPOS[1], 3))
        for chunker, retriever in levels
    ]  # fmt: skip
    rows += [
        {**key, "repo": "", "factor": factor, "chunker": "", "retriever": "", "share": share, "low": share - 0.125,
         "high": share + 0.125, "n_items": 5, "n_repos": 2, "left_out": ["c+x"]}
        for factor, share in (("chunker", 0.125), ("retriever", 0.75), ("interaction", 0.125),
                              ("retriever over chunker", 0.625))
    ]  # fmt: skip
    write(lake, "effects", rows, benchmark="repoeval", protocol=CHUNKING)


def aggregate(measure: tuple[str, int], where: tuple[str, str], value: float) -> dict[str, object]:
    """One aggregate; ndcg and mrr have no ratio of sums."""
    metric, k = measure
    n = 2 if where[0] == "repo" else 5
    return {
        "granularity": "chunk", "metric": metric, "k": k, "slice": where[0], "slice_value": where[1], "macro": value,
        "micro": None if metric in ("ndcg", "mrr") else value * 0.95, "by_repo": value * 0.9, "n": n, "n_items": n,
        "n_repos": 3,
    }  # fmt: skip


def write_ranks(lake: Lake, groups: Sequence[tuple[str, int]]) -> None:
    """Ranks of systems, each with its tie group, in this order."""
    ranks: list[dict[str, object]] = [
        {**PRIMARY, "run_id": run_id(system), "rank": rank, "rank_low": 1, "rank_high": 3, "tie_group": group,
         "too_few": False}
        for rank, (system, group) in enumerate(groups, 1)
    ]  # fmt: skip
    write(lake, "ranks", ranks, benchmark="repoeval", protocol=CHUNKING)
    write_boards(lake)


def row(name: str, columns: Mapping[str, object], **words: object) -> dict[str, object]:
    """What is given of a declared thing's row; :func:`write` leaves the rest empty."""
    return {"title": "", "meaning": "", "name": name, **columns, **words}


def ran(system: str, task: str, n_items: int) -> dict[str, object]:
    """What a run's row says of its system: one with a chunker runs here, and any other was imported."""
    chunker, plus, retriever = system.partition("+")
    of_system = {"chunker": chunker, "retriever": retriever, "origin": "built-in"} if plus else {"origin": "imported"}
    return {"system": system, "task": task, "n_items": n_items, **of_system}


def aggregated(lake: Lake, *run_ids: str) -> list[Part]:
    """The parts that hold the aggregates of all runs or of some under the protocol that most tests are about."""
    parts = [part for part in lake.parts("aggregates") if part.name == CHUNKING]
    return [part for part in parts if not run_ids or part.folders["run_id"] in run_ids]
