"""The seal of a protocol: a hash of its rules and of the scores that they give on a small fixture."""

import dataclasses
import functools
import json
from functools import partial
from pathlib import Path

import dataframely as dy
import numpy as np
import polars as pl

from evaluate.metrics import metrics_of
from evaluate.score.contexts.material import ContextRuns, Material
from evaluate.score.contexts.scoring import score_contexts
from evaluate.score.metric_values import CASE, SCORE_COLUMNS, ScoringInputs, measure_runs
from lake.catalog.protocol import Protocol
from lake.code import code_digest, remembered
from lake.fingerprint import canonical_json, sha256_of
from lake.offsets import LineOffsets
from lake.tables.evaluated import Scores

_FIXTURES = Path(__file__).with_suffix(".json")

_WORDS = ("title", "meaning", "place", "like")
"""The fields of a protocol that are no rules: its texts, its place in a list, and whose rules it has (own data)."""


def sealed(measured: pl.LazyFrame, protocol: Protocol) -> dy.LazyFrame[Scores]:
    """Measured values of runs as scores, with the protocol's name and seal."""
    seal = {"protocol": protocol.name, "protocol_hash": protocol_hash(protocol)}
    return Scores.cast(measured.with_columns(pl.lit(value).alias(name) for name, value in seal.items()))


@functools.cache
def protocol_hash(protocol: Protocol) -> str:
    """The seal of a protocol (see :func:`seal_of`), cached on disk for each version of the code."""
    if protocol.rules is not protocol:
        return protocol_hash(protocol.rules)
    metrics = [metric.at for metric, _ in metrics_of(protocol)]
    code = code_digest(seal_of, *metrics), sha256_of(_FIXTURES.read_bytes()), [pl.__version__, np.__version__]
    return remembered("seals", [code, dataclasses.asdict(protocol)], partial(seal_of, protocol))


def seal_of(protocol: Protocol) -> str:
    """The sha256 of a protocol's rules (without _WORDS) and of its scores on the fixture."""
    rules = {name: value for name, value in dataclasses.asdict(protocol).items() if name not in _WORDS}
    if protocol.context is None:
        # Without context rules the field adds nothing to the hash.
        del rules["context"]
        fixture = {name: frame.lazy() for name, frame in _fixture("rankings").items()}
        hits, completions = (fixture.pop(name).with_columns(run_id=pl.lit("")) for name in ("hits", "completions"))
        inputs = ScoringInputs(protocol, axis=LineOffsets.of(fixture.pop("lines").collect()), **fixture)
        cases = inputs.items.with_columns(run_id=pl.lit("")).join(
            completions, on=CASE, how="left", maintain_order="left"
        )
        measured = measure_runs(inputs, hits, cases, metrics_of(protocol))
        frames = [measured.select(SCORE_COLUMNS).sort("item_id", "granularity", "metric", "k").collect()]
    else:
        scored, key = score_contexts(protocol, *contexts()), ["run_id", "item_id", "granularity"]
        frames = [scored.scores.sort(*key, "metric", "k"), scored.steps.sort(*key, "step")]
    rows = (row for frame in frames for row in frame.iter_rows())
    # Rounded, so that machines agree whose logarithms differ in the last bit.
    scores = [[f"{value:.12g}" if isinstance(value, float) else str(value) for value in row] for row in rows]
    return sha256_of(canonical_json({"rules": rules, "scores": scores}).encode())


def contexts() -> tuple[Material, ContextRuns]:
    """A small data set on which ContextBench's readings differ wherever they can."""
    frames = dict(_fixture("contexts"))
    answered = {name: frames.pop(name) for name in ("run_items", "hits", "edits")}
    return Material(**frames), ContextRuns(**answered)


@functools.cache
def _fixture(kind: str) -> dict[str, pl.DataFrame]:
    """The frames of the fixture for `rankings`, whose items are named after what they test, or `contexts`."""
    tables: dict[str, dict[str, list[str]]] = json.loads(_FIXTURES.read_text("utf-8"))[kind]
    return {
        name: pl.DataFrame(content["rows"], content["columns"], orient="row", infer_schema_length=None)
        for name, content in tables.items()
    }
