"""Tables of declarations, as shown on pages; and of runs made here or imported: their answers, costs and usage."""

import dataframely as dy

from lake.tables.columns import columns


class Declared(dy.Schema):
    """The description of a declaration, as shown on a page; written by the stage that owns it."""

    name = dy.String(primary_key=True)
    title, display_name, meaning = columns(3, dy.String)
    version = dy.Int64()
    tags = dy.List(dy.String())
    source, revision, licence, citation, paper, parameters, primary_metric, fingerprint = columns(8, dy.String)


class Benchmarks(Declared):
    """A benchmark, and the part of its data that this lake holds."""

    label, like = columns(2, dy.String)
    limit = dy.Int64(nullable=True, min=1)
    place = dy.Int64()
    licences = dy.List(dy.Struct({"repo": dy.String(), "licence": dy.String()}))
    gold_rules = dy.List(dy.Struct({"name": dy.String(), "meaning": dy.String()}))


class Tasks(Declared):
    """A task in words; `lake.pools.own_pool` defines the ids of its own pools."""

    benchmark, query, pool, tie, pool_prefix, pool_by = columns(6, dy.String)


class Protocols(Declared):
    """The rules by which runs of some tasks are scored."""

    benchmark = dy.String()
    tasks = dy.List(dy.String())
    gold, relevance = columns(2, dy.String)
    metrics = dy.List(dy.Struct({"metric": dy.String(), "ks": dy.List(dy.Int64())}))
    primary = dy.Struct({"granularity": dy.String(), "metric": dy.String(), "k": dy.Int64(), "aggregate": dy.String()})
    headline = dy.Struct({"slice": dy.String(), "slice_value": dy.String()})
    has_contexts, leaves_out_failed = columns(2, dy.Bool)
    hash = dy.String()
    parity_only = dy.Bool()
    place = dy.Int64()


class Metrics(Declared):
    """A metric: how it is read, and which of its values are better."""

    direction, micro = columns(2, dy.String)
    of_steps = dy.Bool()
    cut = dy.String()
    formula = dy.List(dy.String())


class Chunkers(Declared):
    """A chunker that cut files in this lake."""

    command = dy.String(nullable=True)


class Formats(Declared):
    """A format of imported files: `kind` is their content, `example` their beginning."""

    kind, example = columns(2, dy.String)


class Runs(dy.Schema):
    """One row per run: a system's answers to one task.

    `protocol` is set if the system is shown a protocol's gold; `status` is `partial` if the run lacks items.
    """

    run_id = dy.String(primary_key=True)
    system, benchmark, task = columns(3, dy.String)
    chunker, retriever = columns(2, dy.String, nullable=True)
    origin, parameters, versions, status = columns(4, dy.String)
    n_items = dy.Int64(min=0)
    limit = dy.Int64(nullable=True, min=1)
    protocol = dy.String(nullable=True)
    selection = dy.List(dy.Struct({"column": dy.String(), "value": dy.String()}), nullable=True)
    format, file = columns(2, dy.String, nullable=True)
    counts, unread = columns(2, dy.List, inner=dy.Struct({"name": dy.String(), "n": dy.Int64()}), nullable=True)
    notes = dy.List(dy.String(), nullable=True)
    fingerprint = dy.String()


class Submissions(dy.Schema):
    """A submitted result (ranking, completions or trajectories) with its authors' description; one row per task.

    It is `scored`, `reported` (numbers alone, never ranked), `older` (a newer one counts), `waiting` (the lake lacks
    its items) or `refused`.
    """

    submission, task = columns(2, dy.String, primary_key=True)
    system, benchmark, label, date, kind = columns(5, dy.String)
    authors = dy.List(dy.String())
    contact, url, licence, description, revision, cost = columns(6, dy.String)
    reported = dy.List(dy.Struct({"metric": dy.String(), "value": dy.Float64()}))
    file = dy.String(nullable=True)
    status, why = columns(2, dy.String)
    run_id = dy.String(nullable=True)


class CostRows(dy.Schema):
    """The cost of ranking a part of a run's items on one machine: the only table that differs between equal runs."""

    run_id, part = columns(2, dy.String, primary_key=True)
    index_seconds = dy.Float64(nullable=True, min=0)
    index_bytes = dy.Int64(nullable=True, min=0)
    query_seconds = dy.List(dy.Float64())
    hardware = dy.String()


class RunItems(dy.Schema):
    """The outcome of each item of a run; items that are not in the run have no row, here or in `scores`."""

    run_id, item_id = columns(2, dy.String, primary_key=True)
    status = dy.String()
    error = dy.String(nullable=True)
    n_steps = dy.Int64(nullable=True)
    n_returned, n_nws = columns(2, dy.Int64, min=0)
    ties = dy.List(dy.Int64())
    has_patch = dy.Bool(nullable=True)
    completion = dy.String(nullable=True)
    n_steps_published = dy.Int64(nullable=True)


class Hits(dy.Schema):
    """The results of a run, in order: ranks from 1, half-open ranges of lines and bytes.

    An agent's rows are as it gave them: a row with a symbol names a symbol, a row with neither lines nor symbol names a
    file, a range may be reversed or run past the end; `line_start` 0 without a `line_end` is a view of the whole file.
    """

    run_id, item_id, part = columns(3, dy.String, primary_key=True)
    step = dy.Int64(primary_key=True, min=0)
    rank = dy.Int64(primary_key=True, min=1)
    path_given, path = columns(2, dy.String, nullable=True)
    line_start, line_end, byte_start, byte_end = columns(4, dy.Int64, nullable=True)
    symbol = dy.String(nullable=True)
    chunk_no = dy.Int64(nullable=True)
    score = dy.Float64(nullable=True)
    n_new_nws = dy.Int64(nullable=True, min=0)


class ItemUsage(dy.Schema):
    """An agent's usage for an item, and how the item ended; null if the agent's file does not report it."""

    run_id, item_id = columns(2, dy.String, primary_key=True)
    model, exit_status, prices = columns(3, dy.String, nullable=True)
    n_input, n_cached, n_cache_written, n_output, n_turns, n_calls = columns(6, dy.Int64, min=0, nullable=True)
    usd, seconds = columns(2, dy.Float64, min=0, nullable=True)
    resolved = dy.Bool(nullable=True)
    step_turns, step_calls = columns(2, dy.List, inner=dy.Int64(nullable=True), nullable=True)


class Edits(dy.Schema):
    """A line that a patch changes, under one way of reading patches; run_id `gold` has the gold patches' lines."""

    run_id, item_id, reading, path = columns(4, dy.String, primary_key=True)
    line = dy.Int64(primary_key=True, min=0)
    kind = dy.String(primary_key=True)
