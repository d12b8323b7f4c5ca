"""SWE-Explore's measures of ranked regions, as its published evaluator has them, without a lake.

The rules are those of the evaluator of arXiv 2606.07297 (`eval.py`, as of June 2026), with their odd sides: nDCG is
normalised by what was returned itself, the budget of recall counts repeated lines, and a region that overlaps an
optional one is no noise. Beside them stand two measures of ours, over different lines, to which optional lines are
neither gold nor noise.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import polars as pl

from evaluate.metrics.standard import LINE_BUDGETS
from evaluate.results.region_files import RegionGold, read_gold, read_returned
from lake.errors import Exit, GoldspanError, lookup
from lake.text import counted

_NAME = "swe-explore@published-v1"
_MAIN_LINE = 1.5
_MAIN_REGION, _OTHER_REGION = 3.0, 2.0
_LINE = ["query", "path", "line"]


def score_region_files(
    gold_path: Path, paths: Sequence[Path], names: Sequence[str], *, answered_only: bool
) -> tuple[list[pl.DataFrame], list[str]]:
    """What the regions of each of some files are worth, as :func:`score` has it; and what is said of the first."""
    measures = [lookup(name, "measure", dict.fromkeys(_MEASURES, name)) for name in names] or list(_MEASURES)
    gold, values, notes = read_gold(gold_path), list[pl.DataFrame](), list[str]()
    for path in paths:
        returned, answered = read_returned(path, gold)
        queries = [query for query in gold.queries if query in set(answered) or not answered_only]
        if not set(answered) & set(gold.queries):
            examples = [f"RUN: {min(answered, default='no row')}", f"gold: {min(gold.queries, default='no row')}"]
            raise GoldspanError("no issue of RUN has gold", where=str(path), examples=examples, code=Exit.INVALID)
        values.append(score_regions(gold, returned, queries).select("query", *measures))
        notes += [*region_notes(gold, returned, answered, queries)] if not notes else []
    return values, notes


def score_regions(gold: RegionGold, returned: pl.DataFrame, queries: list[str]) -> pl.DataFrame:
    """What each query's regions are worth: query, and a column for every measure, 0 where nothing is to be measured."""
    measured = pl.DataFrame({"query": sorted(queries)}, schema={"query": pl.String})
    main = gold.main_files.with_columns(is_main=pl.lit(value=True))
    core = _lines(gold.core).unique(_LINE).select(_LINE).join(main, on=["query", "path"], how="left")
    core = core.with_columns(gain=pl.when("is_main").then(_MAIN_LINE).otherwise(1.0)).drop("is_main")
    optional = _lines(gold.optional).unique(_LINE).select(*_LINE, is_optional=pl.lit(value=True))
    lines = (
        _lines(returned)
        .join(core, on=_LINE, how="left", maintain_order="left")
        .join(optional, on=_LINE, how="left", maintain_order="left")
        .with_columns(pl.col("gain").fill_null(0.0), pl.col("is_optional").fill_null(value=False))
        .with_columns(is_core=pl.col("gain") > 0, position=pl.int_range(1, pl.len() + 1).over("query"))
    )
    frames = [
        _sets(lines, core, optional),
        _files(gold, returned),
        _overlaps(gold, returned),
        _weighted_coverage(gold, lines),
        _ranked(returned, lines),
        *(_within(lines, core, budget) for budget in LINE_BUDGETS),
    ]
    for frame in frames:
        measured = measured.join(frame, on="query", how="left", maintain_order="left")
    return measured.fill_null(0.0).fill_nan(0.0).select("query", *_MEASURES)


_MEASURES = (
    "precision", "recall", "f1_score", "hit_file_rate", "noise_file_rate", "hit_region_rate", "noise_region_rate",
    "weighted_core_coverage", "context_efficiency", "optional_coverage",
    *(f"ndcg_at_{budget}" for budget in LINE_BUDGETS), *(f"recall_at_{budget}" for budget in LINE_BUDGETS),
    "first_useful_hit",
    *(f"core_{name}@{budget}" for name in ("coverage", "precision") for budget in LINE_BUDGETS),
)  # fmt: skip
"""SWE-Explore's by its names, then ours."""


def _sets(lines: pl.DataFrame, core: pl.DataFrame, optional: pl.DataFrame) -> pl.DataFrame:
    """Lines as sets: precision, recall and F1 of the core, efficiency, and coverage of the optional lines."""
    is_core, is_optional = pl.col("is_core"), pl.col("is_optional")
    sizes = lines.unique(_LINE).group_by("query").agg(
        n=pl.len(), n_core=is_core.sum(), n_useful=(is_core | is_optional).sum(), n_optional=is_optional.sum()
    )  # fmt: skip
    for name, gold in (("all_core", core), ("all_optional", optional)):
        sizes = sizes.join(gold.group_by("query").agg(pl.len().alias(name)), on="query", how="left")
    n_core = pl.col("n_core")
    return sizes.select(
        "query",
        precision=n_core / pl.col("n"),
        recall=n_core / pl.col("all_core"),
        f1_score=2 * n_core / (pl.col("n") + pl.col("all_core")),
        context_efficiency=pl.col("n_useful") / pl.col("n"),
        optional_coverage=pl.col("n_optional") / pl.col("all_optional"),
    )


def _files(gold: RegionGold, returned: pl.DataFrame) -> pl.DataFrame:
    """Which share of the core files is named, and which share of the named files is neither core nor optional."""
    files = returned.select("query", "path").unique()
    of = ["query", "path"]
    known = pl.concat([gold.core_files, gold.optional_files]).unique()
    hit = gold.core_files.group_by("query").agg(n_gold=pl.len()).join(
        files.join(gold.core_files, on=of, how="semi").group_by("query").agg(n_hit=pl.len()), on="query", how="left"
    )  # fmt: skip
    noise = files.group_by("query").agg(n=pl.len()).join(
        files.join(known, on=of, how="anti").group_by("query").agg(n_noise=pl.len()), on="query", how="left"
    )  # fmt: skip
    return hit.join(noise, on="query", how="full", coalesce=True).select(
        "query",
        hit_file_rate=pl.col("n_hit") / pl.col("n_gold"),
        noise_file_rate=pl.col("n_noise") / pl.col("n"),
    )


def _overlaps(gold: RegionGold, returned: pl.DataFrame) -> pl.DataFrame:
    """Which share of the core regions overlaps a returned one, and which share of these overlaps no gold."""
    hit = _overlapping(gold.core, returned)
    useful = pl.concat([_overlapping(returned, gold.core), _overlapping(returned, gold.optional)])
    core = gold.core.select("query", "region").join(hit, on=["query", "region"], how="left")
    noise = returned.select("query", "region").join(useful.unique(), on=["query", "region"], how="left")
    rates = (
        core.group_by("query").agg(hit_region_rate=pl.col("overlaps").fill_null(value=False).mean()),
        noise.group_by("query").agg(noise_region_rate=pl.col("overlaps").is_null().mean()),
    )
    return rates[0].join(rates[1], on="query", how="full", coalesce=True)


def _overlapping(regions: pl.DataFrame, others: pl.DataFrame) -> pl.DataFrame:
    """Those regions, each once, that share a line of one file with any of some others."""
    both = regions.join(others, on=["query", "path"], suffix="_other")
    shares = (pl.col("start") <= pl.col("end_other")) & (pl.col("start_other") <= pl.col("end"))
    return both.filter(shares).select("query", "region", overlaps=pl.lit(value=True)).unique()


def _weighted_coverage(gold: RegionGold, lines: pl.DataFrame) -> pl.DataFrame:
    """The mean coverage of the core regions, those of main files weighing more."""
    held = lines.select(*_LINE, is_found=pl.lit(value=True)).unique()
    main = gold.main_files.with_columns(weight=pl.lit(_MAIN_REGION))
    by_region = (
        _lines(gold.core)
        .join(held, on=_LINE, how="left")
        .group_by("query", "region", "path", maintain_order=True)
        .agg(coverage=pl.col("is_found").fill_null(value=False).mean())
        .join(main, on=["query", "path"], how="left", maintain_order="left")
        .with_columns(pl.col("weight").fill_null(_OTHER_REGION))
    )
    weight = pl.col("weight")
    return by_region.group_by("query").agg(weighted_core_coverage=(pl.col("coverage") * weight).sum() / weight.sum())


def _ranked(returned: pl.DataFrame, lines: pl.DataFrame) -> pl.DataFrame:
    """NDCG by budgets of lines, its ideal being the returned regions in their best order; and the first useful hit."""
    gains = lines.group_by("query", "region").agg(pl.col("gain").sum())
    size = (pl.col("end") - pl.col("start") + 1).fill_null(0)
    ranked = returned.join(gains, on=["query", "region"], how="left", maintain_order="left").select(
        "query", "region", pl.col("gain").fill_null(0.0), size=size
    )
    density = pl.col("gain") / pl.max_horizontal("size", pl.lit(1))
    best = ranked.sort(pl.col("query"), density, descending=[False, True], maintain_order=True)
    first = pl.col("region").filter(pl.col("gain") > 0).min()
    result = ranked.group_by("query").agg(first_useful_hit=1 - first / pl.len())
    for budget in LINE_BUDGETS:
        of_run, ideal = _discounted(ranked, budget), _discounted(best, budget).rename({"dcg": "ideal"})
        ndcg = pl.when(pl.col("ideal") > 0).then(pl.min_horizontal(pl.col("dcg") / pl.col("ideal"), pl.lit(1.0)))
        rows = of_run.join(ideal, on="query").select("query", ndcg.alias(f"ndcg_at_{budget}"))
        result = result.join(rows, on="query", how="left")
    return result


def _discounted(ranked: pl.DataFrame, budget: int) -> pl.DataFrame:
    """The discounted gain of the regions before the first, the very first aside, that exceeds the budget."""
    position = pl.int_range(pl.len()).over("query")
    exceeds = (pl.col("size").cum_sum().over("query") > budget) & (position > 0)
    gain = pl.when(~exceeds.cum_max().over("query")).then(pl.col("gain") / (position + 2).log(2)).otherwise(0.0)
    return ranked.with_columns(dcg=gain).group_by("query").agg(pl.col("dcg").sum())


def _within(lines: pl.DataFrame, core: pl.DataFrame, budget: int) -> pl.DataFrame:
    """Recall at a budget that counts repeated lines; and ours at one of different lines, beside optional ones."""
    n_core = core.group_by("query").agg(n_core=pl.len())
    published = (
        lines.filter(pl.col("position") <= budget).unique(_LINE).group_by("query").agg(n=pl.col("is_core").sum())
    )
    different = lines.unique(_LINE, keep="first", maintain_order=True)
    taken = different.filter(pl.int_range(pl.len()).over("query") < budget)
    counts = taken.group_by("query").agg(
        n_hit=pl.col("is_core").sum(), n_counted=(pl.col("is_core") | ~pl.col("is_optional")).sum()
    )
    rows = n_core.join(published, on="query", how="left").join(counts, on="query", how="left")
    return rows.select(
        "query",
        (pl.col("n") / pl.col("n_core")).alias(f"recall_at_{budget}"),
        (pl.col("n_hit") / pl.col("n_core")).alias(f"core_coverage@{budget}"),
        (pl.col("n_hit") / pl.col("n_counted")).alias(f"core_precision@{budget}"),
    )


def _lines(regions: pl.DataFrame) -> pl.DataFrame:
    """The lines of regions, one by one in their order; a region that cannot be resolved or is reversed has none."""
    known = regions.filter(pl.col("start") <= pl.col("end"))
    return known.with_columns(line=pl.int_ranges("start", pl.col("end") + 1)).explode("line").drop("start", "end")


def region_notes(gold: RegionGold, returned: pl.DataFrame, answered: list[str], queries: list[str]) -> Iterator[str]:
    """What the numbers are over, and what could not be told."""
    yield f"{_NAME}: means over {counted(len(queries), 'issue')}; core_… are ours"
    if missing := len(set(gold.queries) - set(answered)):
        state = "count 0" if len(queries) == len(gold.queries) else "are left out, as by its evaluator"
        yield f"{counted(missing, 'issue')} without regions {state}"
    if unknown := len(set(answered) - set(gold.queries)):
        yield f"{counted(unknown, 'issue')} of the run without gold are left out"
    for what, regions in (("core", gold.core), ("optional", gold.optional), ("returned", returned)):
        if n := regions["start"].null_count():
            yield f"{counted(n, f'{what} region')} to a file's end match nothing: rows lack `file_line_counts` for them"
