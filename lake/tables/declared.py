"""What pages say of declared things: a table each, written by the stage that owns the declaration."""

from __future__ import annotations

import dataframely as dy

from lake.tables.columns import text_columns


class Declared(dy.Schema):
    """What a page says of a declared thing; the stage that owns the declaration writes its row."""

    name = dy.String(primary_key=True)
    title, display_name, meaning = text_columns(3)
    version = dy.Int64()
    tags = dy.List(dy.String())
    source, revision, licence, citation, paper, parameters, primary_metric, fingerprint = text_columns(8)


class Benchmarks(Declared):
    """A benchmark, and which data of it this lake holds."""

    label, like = text_columns(2)
    limit = dy.Int64(nullable=True, min=1)
    place = dy.Int64()
    licences = dy.List(dy.Struct({"repo": dy.String(), "licence": dy.String()}))


class Tasks(Declared):
    """A task in words; see `lake.pools.own_pool` for what its own pools are called."""

    benchmark, query, pool, tie, pool_prefix, pool_by = text_columns(6)


class Protocols(Declared):
    """How runs of some tasks are scored."""

    benchmark = dy.String()
    tasks = dy.List(dy.String())
    gold, relevance = text_columns(2)
    metrics = dy.List(dy.Struct({"metric": dy.String(), "ks": dy.List(dy.Int64())}))
    primary = dy.Struct({"granularity": dy.String(), "metric": dy.String(), "k": dy.Int64(), "aggregate": dy.String()})
    headline = dy.Struct({"slice": dy.String(), "slice_value": dy.String()})
    has_contexts = dy.Bool()
    leaves_out_failed = dy.Bool()
    hash = dy.String()
    parity_only = dy.Bool()
    place = dy.Int64()


class Metrics(Declared):
    """How a metric is read, and which of its values are better."""

    direction, micro = text_columns(2)
    of_steps = dy.Bool()
    cut = dy.String()
    formula = dy.List(dy.String())


class Chunkers(Declared):
    """A chunker, by which files were cut."""


class Formats(Declared):
    """A format of what was made elsewhere: `kind` is what such a file holds, `example` how it begins."""

    kind, example = text_columns(2)
