"""A lake of any number of made-up items and systems under the real protocols: for the weight of pages and for speed."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl

from evaluate.metrics import metrics
from evaluate.pipeline import declare
from evaluate.retrievers import retrievers
from lake.benchmarks import protocols
from lake.catalog.protocol import Protocol
from lake.store import Lake
from lake.tables import table
from tests.frames import filled, write
from tests.report.small_lake import row, write_boards

Column = pl.Series | str | float | bool | None

PROTOCOLS = ("repoeval@chunking-v1", "repoeval@target-v1", "repobench-r@official-v1", "contextbench@docs-v1")
TASKS = {"repoeval": "prompt", "repobench-r": "official", "contextbench": "issue"}
TITLES = {"repoeval": "RepoEval", "repobench-r": "RepoBench-R", "contextbench": "ContextBench"}
SLICES = {
    "repoeval": ("subset", "repo", "context", "difficulty"),
    "repobench-r": ("subset/split/level", "subset", "level", "repo", "difficulty"),
    "contextbench": ("language", "repo", "difficulty"),
}
SUBSETS = {"repoeval": ("function-2k",), "repobench-r": ("python_cff", "python_cfr", "java_cff", "java_cfr")}
N_STEPS, N_RETURNED = 10, 5


def write_wide(
    root: Path, *, n_items: int, n_systems: int, names: Sequence[str] = PROTOCOLS, items_of_a_repo: int = 6
) -> Lake:
    """A lake with that many items and systems per benchmark; ranks and numbers are drawn by each system's quality."""
    lake = Lake(root)
    declare(lake, retrievers().values())
    chosen = [protocols()[name] for name in names]
    for position, benchmark in enumerate(dict.fromkeys(protocol.name.partition("@")[0] for protocol in chosen)):
        draw = np.random.default_rng(position)
        words = {"display_name": TITLES[benchmark], "title": "Made up", "tags": ["made"], "licence": "MIT"}
        of_it = row(benchmark, {"label": "made", "licences": list[object](), "place": position}, **words)
        items = _items(draw, benchmark, n_items, items_of_a_repo)
        write(lake, "benchmarks", [of_it], part=benchmark)
        # The commands refuse scores without this table; pages show text, of which there is none, by its rows.
        write(lake, "files", [], benchmark=benchmark, kind="searched")
        _write(lake, "items", items.drop("n_repo"), benchmark=benchmark)
        kind = "candidate" if benchmark == "repobench-r" else "context"
        gold = items.select("item_id", gold=pl.lit(kind), path=_path(benchmark, pl.col("n_candidates") // 2))
        _write(lake, "gold_spans", gold, benchmark=benchmark, line_start=8, line_end=20, candidate=0)
        mine = [protocol for protocol in chosen if protocol.name.partition("@")[0] == benchmark]
        means: dict[str, list[pl.DataFrame]] = {protocol.name: [] for protocol in mine}
        for number, system in enumerate(_systems(benchmark, n_systems)):
            quality = 0.15 + 0.7 * (number + 0.5) / n_systems
            ranks = np.minimum(draw.geometric(quality, n_items), items["n_candidates"].to_numpy())
            run_id = f"{benchmark}.{TASKS[benchmark]}--{system}--{number:08x}"
            _write_run(lake, benchmark, run_id, items.with_columns(rank=ranks), draw)
            for protocol in mine:
                means[protocol.name].append(_write_scores(lake, protocol, run_id, items.with_columns(rank=ranks), draw))
        for protocol in mine:
            _write_comparisons(lake, protocol, pl.concat(means[protocol.name]))
    cut = {system.partition("+")[0] for name in TITLES for system in _systems(name, n_systems) if "+" in system}
    write(lake, "chunkers", [row(name, {}, meaning="Made up.") for name in sorted(cut)])
    return write_boards(lake)


def _systems(benchmark: str, n: int) -> list[str]:
    """So many names, the best last: baselines, retrievers over chunks of many sizes, agents where there are any."""
    baselines = ["whole-file+random", "whole-file+oracle"]
    agents = [f"agent-{number}" for number in range(n // 4)] if benchmark == "contextbench" else []
    retriever_names = ("bm25-okapi", "jaccard-regex", "tfidf", "bm25-code")
    cut = [f"fixed-nws-{100 * size}+{name}" for size in range(1, n) for name in retriever_names]
    if benchmark == "repobench-r":
        cut = [f"whole-file+{name}" for name in (*retriever_names, *(f"bm25-okapi:k1={k1 / 10}" for k1 in range(1, n)))]
    return [*baselines, *cut[: n - len(baselines) - len(agents)], *agents]


def _path(benchmark: str, number: pl.Expr) -> pl.Expr:
    return pl.format("cand:{}" if benchmark == "repobench-r" else "src/module_{}.py", number)


def _items(draw: np.random.Generator, benchmark: str, n: int, items_of_a_repo: int) -> pl.DataFrame:
    number = pl.int_range(n)

    def one_of(values: Sequence[str], position: pl.Expr) -> pl.Expr:
        return position.mod(len(values)).replace_strict(dict(enumerate(values)), return_dtype=pl.String)

    return pl.select(
        pl.format("item/{}", number.cast(pl.String).str.zfill(6)).alias("item_id"),
        one_of(SUBSETS.get(benchmark, ("full",)), number).alias("subset"),
        one_of(("train", "test"), number // 4).alias("split"),
        one_of(("easy", "hard"), number // 8).alias("level"),
        one_of(("easy", "hard"), number // 8).alias("difficulty"),
        one_of(("in-file", "cross-file"), number // 2).alias("context"),
        one_of(("python", "go", "java"), number // items_of_a_repo).alias("language"),
        pl.format("owner/repository-{}", number // items_of_a_repo).alias("repo"),
        pl.format("pool-{}", number).alias("pool_id"),
        pl.lit(pl.Series(draw.integers(5, 20, n))).alias("n_candidates"),
        (number // items_of_a_repo).alias("n_repo"),
        pl.lit(value=True).alias("scorable"),
    )


def _write_run(lake: Lake, benchmark: str, run_id: str, items: pl.DataFrame, draw: np.random.Generator) -> None:
    """The run, what it cost, and its ranking, in which the gold has its rank; an agent's steps besides."""
    system = run_id.split("--")[1]
    chunker, plus, retriever = system.partition("+")
    folders = {"benchmark": benchmark, "run_id": run_id}
    run: dict[str, Column] = {"system": system, "task": f"{benchmark}/{TASKS[benchmark]}", "status": "complete"}
    run |= {"origin": "built-in" if plus else "imported", "parameters": "{}", "versions": "{}", "fingerprint": "f"}
    run |= {"chunker": chunker if plus else None, "retriever": retriever or None, "n_items": items.height}
    _write(lake, "runs", pl.DataFrame({"run_id": [run_id]}), **folders, **run)
    seconds = pl.DataFrame({"part": ["0"], "query_seconds": [[0.004] * items.height]})
    _write(lake, "costs", seconds, **folders, index_seconds=0.5, index_bytes=1_000_000, hardware="2 cores")
    answered: dict[str, Column] = {"status": "done", "n_nws": 4_000, "n_steps": None if plus else N_STEPS}
    whole = benchmark == "repobench-r"
    returned = pl.col("n_candidates") if whole else pl.lit(N_RETURNED)
    ties = pl.lit([], pl.List(pl.Int64))
    _write(lake, "run_items", items.select("item_id", n_returned=returned, ties=ties), **folders, **answered)
    ranks = pl.int_ranges(1, returned + 1)
    hits = items.select("item_id", "n_candidates", gold_at="rank", rank=ranks).explode("rank")
    # The gold, candidate n // 2, at its rank, the others in their order around it.
    number = (pl.col("n_candidates") // 2 + pl.col("rank") - pl.col("gold_at")) % pl.col("n_candidates")
    scores = pl.Series(draw.random(hits.height) * 40)
    shown = hits.select("item_id", "rank", path=_path(benchmark, number), score=scores)
    _write(lake, "hits", shown, **folders, part="ranking" if plus else "final", step=0, line_start=8, line_end=30)


def _write_scores(
    lake: Lake, protocol: Protocol, run_id: str, items: pl.DataFrame, draw: np.random.Generator
) -> pl.DataFrame:
    """Scores, aggregates and ledger of a run under a protocol; its means by the primary metric."""
    folders = {"benchmark": protocol.name.partition("@")[0], "protocol": protocol.name, "run_id": run_id}
    rank, declared_metrics = pl.col("rank"), metrics()
    parts = []
    for name, ks in protocol.metrics:
        for k in ks:
            noise = pl.Series(draw.integers(0, 8, items.height) / 64)
            known: Mapping[str, pl.Expr] = {
                "accuracy": (rank <= k).cast(pl.Float64),
                "found_rank": rank.cast(pl.Float64),
            }
            value = known.get(name, (1 / rank).round(4) * 0.875 + noise)
            of_one = {"granularity": pl.lit(declared_metrics[name].granularity), "metric": pl.lit(name), "k": pl.lit(k)}
            parts.append(items.select("item_id", value=value, numerator=value, **of_one))
    scores = pl.concat(parts)
    _write(lake, "scores", scores, **folders, protocol_hash=protocol.name, denominator=1.0)
    means = _aggregates(scores, items, folders["benchmark"])
    _write(lake, "aggregates", means, protocol.name, **folders)
    unfound = (rank > 2).cast(pl.Float64)
    nothing = dict.fromkeys(("seen", "unreachable", "no_answer", "other_lines", "not_returned"), 0.0)
    ledger = items.select("item_id", found=1.0 - unfound, past_budget=unfound)
    _write(lake, "ledger", ledger, run_id, **folders, **nothing, n_gold=1.0)
    _write_ledger_means(lake, ledger, items, folders)
    primary = protocol.primary
    of_it = (pl.col("metric") == primary.metric) & (pl.col("k") == primary.k)
    return means.filter(of_it, pl.col("slice") != "repo").with_columns(run_id=pl.lit(run_id))


def _sliced(frame: pl.DataFrame, items: pl.DataFrame, benchmark: str) -> list[pl.DataFrame]:
    """The rows once per slice, with the slice's name and value."""
    columns = {column for name in SLICES[benchmark] for column in name.split("/")}
    with_items = frame.join(items.select("item_id", *columns), on="item_id").with_columns(all=pl.lit("all"))
    return [
        with_items.with_columns(slice=pl.lit(name), slice_value=pl.concat_str(name.split("/"), separator="/"))
        for name in ("all", *SLICES[benchmark])
    ]


def _aggregates(scores: pl.DataFrame, items: pl.DataFrame, benchmark: str) -> pl.DataFrame:
    key = ["granularity", "metric", "k", "slice", "slice_value"]
    value, n = pl.col("value"), pl.len().cast(pl.Int64)
    frames = []
    for part in _sliced(scores, items, benchmark):
        mean = part.group_by(key).agg(macro=value.mean(), n=n, n_items=n, n_repos=n)
        # Repositories are what intervals are over: one of them has none.
        centre = pl.when(pl.col("slice") != "repo").then(pl.col("macro"))
        frames.append(mean.select(
            *key, "n", "n_items", "n_repos", "macro", micro="macro", by_repo="macro",
            **{f"{of}low": centre - 0.03 for of in ("", "micro_", "by_repo_", "item_")},
            **{f"{of}high": centre + 0.03 for of in ("", "micro_", "by_repo_", "item_")},
            n_failed=0, n_not_applicable=0, unit=pl.lit("item"),
        ))  # fmt: skip
    return pl.concat(frames)


def _write_ledger_means(lake: Lake, ledger: pl.DataFrame, items: pl.DataFrame, folders: Mapping[str, str]) -> None:
    key = ["slice", "slice_value"]
    frames = []
    for part in _sliced(ledger, items, folders["benchmark"]):
        sums = part.group_by(key).agg(pl.col("found", "past_budget").mean(), n=pl.len().cast(pl.Int64))
        long = sums.unpivot(["found", "past_budget"], index=[*key, "n"], variable_name="class", value_name="macro")
        frames.append(long.with_columns(micro="macro", n_items="n", n_gold=pl.col("n").cast(pl.Float64)))
    _write(lake, "ledger_means", pl.concat(frames), folders["run_id"], **folders)


def _write_comparisons(lake: Lake, protocol: Protocol, means: pl.DataFrame) -> None:
    """Ranks and comparisons of all pairs by the primary metric."""
    folders = {"benchmark": protocol.name.partition("@")[0], "protocol": protocol.name}
    key = ["granularity", "metric", "k", "slice", "slice_value"]
    means = means.filter(~pl.col("slice").is_in(["context", "difficulty", "level", "language"]))
    rank = pl.col("macro").rank("ordinal", descending=True).over(key).cast(pl.Int64)
    ranks = means.select(*key, "run_id", rank=rank).with_columns(
        rank_low=(pl.col("rank") - 2).clip(1), rank_high=pl.col("rank") + 2, tie_group=pl.col("rank") // 4 + 1
    )
    _write(lake, "ranks", ranks, **folders, too_few=False, exploratory=False, unit="repository")
    pairs = pl.DataFrame(list(combinations(sorted(means["run_id"].unique()), 2)), ["run_a", "run_b"], orient="row")
    a, b = (means.select(*key, "n", pl.col("run_id").alias(f"run_{x}"), pl.col("macro").alias(x)) for x in "ab")
    both = pairs.join(a, on="run_a").join(b.drop("n"), on=["run_b", *key])
    apart = pl.col("b") - pl.col("a")
    third = pl.col("n") // 3
    verdict = pl.when(apart > 0.04).then(pl.lit("better")).when(apart < -0.04).then(pl.lit("worse"))
    compared = both.select(
        *key, "run_a", "run_b", delta=apart, low=apart - 0.04, high=apart + 0.04, wins=third, losses=third,
        ties=pl.col("n") - 2 * third, n_items="n", n_repos="n",
        verdict=verdict.otherwise(pl.lit("cannot be separated")),
    )  # fmt: skip
    same: dict[str, Column] = {"p": 0.04, "p_adjusted": 0.05, "smallest_detectable": 0.03}
    _write(lake, "comparisons", compared, **folders, **same, equivalent=False, exploratory=False, unit="repository")


def _write(lake: Lake, name: str, frame: pl.DataFrame, *parts: str, **columns: Column) -> None:
    """Rows of a table; what is given beside them is the same in every row or a folder's, what is not given null."""
    folders = {folder: str(columns[folder]) for folder in table(name).folders}
    lake.write(name, filled(name, frame, **columns), part="".join(parts) or "all", fingerprint="f", **folders)
