"""ContextBench's published converter: what it made of the recorded trajectories, view by view."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from evaluate.results.parity.contextbench_official import import_both
from evaluate.results.parity.reference import Reference, Values, Work

_READING = ["run", "item_id", "part", "step", "path_given", "line_start", "line_end"]
_CONTEXT = ["run", "item_id", "part", "step", "path_given"]


def _values(work: Work) -> Iterator[Values]:
    """The steps and final contexts of every trajectory, from its own file and from the converter's."""
    ours, theirs = (_views(work, run_ids) for run_ids in import_both(work))
    for part, quantity in (("step", "views of a step"), ("final", "views of a final context")):
        here, there = (frame.filter(pl.col("part") == part).with_columns(value=1.0) for frame in (ours, theirs))
        yield Values(quantity, here, there)


def _views(work: Work, run_ids: dict[str, str]) -> pl.DataFrame:
    """Every file and range that a run's contexts hold, by the published reading where there are two."""
    names = pl.DataFrame({"run_id": list(run_ids.values()), "run": list(run_ids)})
    of_runs = pl.col("run_id").is_in(names["run_id"].to_list())
    items = work.lake.scan("run_items", benchmark="contextbench").filter(of_runs)
    is_published = pl.col("part").str.starts_with("published-")
    views = (
        work.lake.scan("hits", benchmark="contextbench")
        .filter(of_runs)
        .join(items.select("run_id", "item_id", "n_steps_published"), on=["run_id", "item_id"])
        .filter(is_published == pl.col("n_steps_published").is_not_null())
        .with_columns(pl.col("part").str.strip_prefix("published-"))
        .join(names.lazy(), on="run_id")
    )
    # A file that is named beside its own ranges says nothing more.
    is_bare = pl.col("line_start").is_null() & pl.col("line_start").is_not_null().any().over(_CONTEXT)
    return views.filter(~is_bare).select(_READING).unique().collect()


CONVERTER = Reference(
    name="contextbench-converter",
    benchmark="contextbench",
    kind="raw trajectory",
    needs=("contextbench/repo_files", "contextbench/parity", "contextbench/trajectories"),
    values=_values,
)
