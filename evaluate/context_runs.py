"""Score and aggregate the runs of a task of contexts: all that are not done, together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from evaluate.made_by import aggregating_code, scoring_code
from evaluate.score.conformance import protocol_hash
from evaluate.score.contexts.chance import expected_contexts
from evaluate.score.contexts.loading import fingerprints, load_material, load_runs
from evaluate.score.contexts.scoring import Scored, rules_of, score_contexts
from evaluate.selection import Asked
from evaluate.statistics.oracle_share import with_share_of_oracle
from evaluate.statistics.pooling import pooled
from lake.catalog.protocol import Protocol
from lake.fingerprint import fingerprint
from lake.naming import GOLD_RUN
from lake.store import Lake, Part
from lake.tables import table

ROWS_AT_ONCE = 3_000_000
"""About how many rows of hits are scored together: what memory must hold."""


@dataclass(frozen=True)
class ContextRun:
    """A run that is to be scored.

    Attributes:
        run_id: The run.
        protocol: The one protocol it is scored under; empty for every one.
        chunker: Who cut what it searched; None where nobody knows, or nothing was cut.
        is_chance: It stands for every order of its pool.
        oracle: Protocol → the run that bounds it.
    """

    run_id: str
    protocol: str = ""
    chunker: str | None = None
    is_chance: bool = False
    oracle: Mapping[str, str] = field(default_factory=dict, compare=False)


def score_runs(
    lake: Lake, asked: Sequence[Asked], protocols: Sequence[Protocol], runs: Sequence[ContextRun]
) -> set[str]:
    """Score some runs on every part of the items and aggregate them, as far as it is not done.

    Args:
        lake: Where from and where to.
        asked: The parts.
        protocols: The rules, each with rules of contexts.
        runs: The runs.

    Returns:
        The runs for which there was anything to do.
    """
    done = set[str]()
    for protocol in protocols:
        mine = [run for run in runs if run.protocol in ("", protocol.name)]
        for part in asked:
            _score_part(lake, part, protocol, mine)
        bounds = {run.oracle[protocol.name] for run in mine if protocol.name in run.oracle}
        for wave in (True, False):
            done |= _aggregate(lake, asked, protocol, [run for run in mine if (run.run_id in bounds) == wave])
    return done


def _score_part(lake: Lake, asked: Asked, protocol: Protocol, runs: Sequence[ContextRun]) -> None:
    shared = _made_of_all(lake, asked, protocol)
    made_of = {run: _made_of(lake, asked, run, shared) for run in runs}
    todo = [run for run, stamp in made_of.items() if stamp and not _stands(lake, asked, protocol, run, stamp)]
    for batch in _batches(lake, asked, [run for run in todo if not run.is_chance]):
        scored = _scored(lake, asked, protocol, [run.run_id for run in batch])
        of_run = {"scores": _by_run(scored.scores), "step_scores": _by_run(scored.steps)}
        for run in batch:
            for name, frames in of_run.items():
                _write(lake, asked, protocol, run, name, frames.get(run.run_id), made_of[run])
    for run in [run for run in todo if run.is_chance]:
        scores = expected_contexts(lake, asked, protocol, run.run_id, run.chunker or "")
        _write(lake, asked, protocol, run, "step_scores", None, made_of[run])
        _write(lake, asked, protocol, run, "scores", scores, made_of[run])


def scores_of(lake: Lake, asked: Asked, protocol: Protocol, runs: Sequence[ContextRun]) -> list[pl.DataFrame]:
    """What some runs score on one part, not stored: the columns of `scores` without `protocol` and its hash."""
    batches = _batches(lake, asked, [run for run in runs if not run.is_chance])
    frames = [_scored(lake, asked, protocol, [run.run_id for run in batch]).scores for batch in batches]
    by_chance = [run for run in runs if run.is_chance]
    return frames + [expected_contexts(lake, asked, protocol, run.run_id, run.chunker or "") for run in by_chance]


def _scored(lake: Lake, asked: Asked, protocol: Protocol, names: Sequence[str]) -> Scored:
    rules = rules_of(protocol)
    runs = load_runs(lake, asked, rules, names)
    return score_contexts(protocol, load_material(lake, asked, protocol, rules, runs), runs)


def _made_of_all(lake: Lake, asked: Asked, protocol: Protocol) -> str:
    """What the scores of all runs on a part are made of."""
    symbols = sorted({part.fingerprint for part in lake.parts("symbols", rules=rules_of(protocol).symbols)})
    gold_edits = lake.part("edits", asked.part, benchmark=asked.benchmark, run_id=GOLD_RUN)
    return fingerprint(
        symbols, fingerprints([gold_edits]), asked.stamp, protocol_hash(protocol), scoring_code(protocol)
    )


def _made_of(lake: Lake, asked: Asked, run: ContextRun, shared: str) -> str:
    """What a run's scores on a part are made of; empty where it has nothing on that part."""
    of_run = {"benchmark": asked.benchmark, "run_id": run.run_id}
    answered = lake.part("run_items", asked.part, **of_run)
    return fingerprint(fingerprints([answered, lake.part("edits", asked.part, **of_run)]), shared) if answered else ""


def _stands(lake: Lake, asked: Asked, protocol: Protocol, run: ContextRun, stamp: str) -> bool:
    folders = {"benchmark": asked.benchmark, "run_id": run.run_id, "protocol": protocol.name}
    return all(lake.stands(name, asked.part, stamp, **folders) for name in ("step_scores", "scores"))


def _batches(lake: Lake, asked: Asked, runs: Sequence[ContextRun]) -> Iterator[list[ContextRun]]:
    """Runs that are scored together, so many that memory holds their hits."""
    batch, n_rows = list[ContextRun](), 0
    for run in runs:
        hits = lake.part("hits", asked.part, benchmark=asked.benchmark, run_id=run.run_id)
        n = lake.scan_parts([hits], "hits").select(pl.len()).collect().item() if hits else 0
        if batch and n_rows + n > ROWS_AT_ONCE:
            yield batch
            batch, n_rows = [], 0
        batch.append(run)
        n_rows += n
    if batch:
        yield batch


def _by_run(frame: pl.DataFrame) -> dict[str, pl.DataFrame]:
    return {str(key[0]): rows for key, rows in frame.partition_by("run_id", as_dict=True).items()}


def _write(
    lake: Lake, asked: Asked, protocol: Protocol, run: ContextRun, name: str, rows: pl.DataFrame | None, stamp: str
) -> None:
    declared = table(name).columns
    frame = pl.DataFrame(schema=declared)
    if rows is not None:
        sealed = {"protocol": pl.lit(protocol.name), "protocol_hash": pl.lit(protocol_hash(protocol))}
        frame = rows.with_columns(**{column: sealed[column] for column in sealed if column in declared})
    folders = {"benchmark": asked.benchmark, "run_id": run.run_id, "protocol": protocol.name}
    lake.write(name, frame.select(list(declared)), part=asked.part, fingerprint=stamp, **folders)


def _aggregate(lake: Lake, asked: Sequence[Asked], protocol: Protocol, runs: Sequence[ContextRun]) -> set[str]:
    """The aggregates of some runs, those of the runs that bound them being there; the runs that had none yet."""
    todo: dict[str, tuple[str, Part | None]] = {}
    scored: list[Part] = []
    for run in runs:
        folders = {"benchmark": asked[0].benchmark, "protocol": protocol.name, "run_id": run.run_id}
        parts = [part for one in asked if (part := lake.part("scores", one.part, **folders))]
        bound = run.oracle.get(protocol.name)
        oracle = lake.part("aggregates", "all", **{**folders, "run_id": bound}) if bound else None
        stamp = fingerprint(fingerprints(parts), fingerprints([oracle]), aggregating_code())
        if parts and not lake.stands("aggregates", "all", stamp, **folders):
            todo[run.run_id] = (stamp, oracle)
            scored += parts
    if not todo:
        return set()
    items = pl.concat([one.described for one in asked]).lazy()
    answered = [part for name in todo for part in lake.parts("run_items", benchmark=asked[0].benchmark, run_id=name)]
    scores, run_items = lake.scan_parts(scored, "scores").drop("benchmark"), lake.scan_parts(answered, "run_items")
    found = pooled(protocol, scores, items, run_items)
    for run_id, rows in _by_run(found.collect()).items():
        stamp, oracle = todo[run_id]
        if oracle is not None:
            rows = with_share_of_oracle(rows.lazy(), lake.scan_parts([oracle], "aggregates")).collect()
        folders = {"benchmark": asked[0].benchmark, "protocol": protocol.name, "run_id": run_id}
        lake.write("aggregates", rows, part="all", fingerprint=stamp, **folders)
    return set(todo)
