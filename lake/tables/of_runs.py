"""What pages say of declared things; and runs, of systems here and of others: what they were asked, what it cost."""

import dataframely as dy

from lake.tables.columns import integer_columns, key_columns, number_columns, text_columns


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

    command = dy.String(nullable=True)


class Formats(Declared):
    """A format of what was made elsewhere: `kind` is what such a file holds, `example` how it begins."""

    kind, example = text_columns(2)


class Runs(dy.Schema):
    """One row per run: a system's answers to one task.

    `protocol` is the one whose gold the system is shown. What a run was asked are its rows of `run_items`; where that
    is not all of the items its status is `partial`.
    """

    run_id = dy.String(primary_key=True)
    system, benchmark, task = text_columns(3)
    chunker, retriever = text_columns(2, nullable=True)
    origin, parameters, versions, status = text_columns(4)
    n_items = dy.Int64(min=0)
    limit = dy.Int64(nullable=True, min=1)
    protocol = dy.String(nullable=True)
    selection = dy.List(dy.Struct({"column": dy.String(), "value": dy.String()}), nullable=True)
    format, file = text_columns(2, nullable=True)
    counts = dy.List(dy.Struct({"name": dy.String(), "n": dy.Int64()}), nullable=True)
    unread = dy.List(dy.Struct({"name": dy.String(), "n": dy.Int64()}), nullable=True)
    notes = dy.List(dy.String(), nullable=True)
    fingerprint = dy.String()


class Submissions(dy.Schema):
    """A ranking in the folder of submissions, with what its authors say of it; a row per task it answers.

    It is `scored`, `reported` (numbers alone, never ranked), `older` (a newer one counts), `waiting` (the lake lacks
    its items) or `refused`.
    """

    submission, task = key_columns(2)
    system, benchmark, label, date, kind = text_columns(5)
    authors = dy.List(dy.String())
    contact, url, licence, description, revision, cost = text_columns(6)
    reported = dy.List(dy.Struct({"metric": dy.String(), "value": dy.Float64()}))
    file = dy.String(nullable=True)
    status, why = text_columns(2)
    run_id = dy.String(nullable=True)


class CostRows(dy.Schema):
    """What ranking a part of a run's items cost where it was made: the one table that differs between equal runs."""

    run_id, part = key_columns(2)
    index_seconds = dy.Float64(nullable=True, min=0)
    index_bytes = dy.Int64(nullable=True, min=0)
    query_seconds = dy.List(dy.Float64())
    hardware = dy.String()


class RunItems(dy.Schema):
    """What happened to each item that a run was asked; any other has no row, here or in `scores`."""

    run_id, item_id = key_columns(2)
    status = dy.String()
    error = dy.String(nullable=True)
    n_steps = dy.Int64(nullable=True)
    n_returned, n_nws = integer_columns(2)
    ties = dy.List(dy.Int64())
    has_patch = dy.Bool(nullable=True)
    completion = dy.String(nullable=True)
    n_steps_published = dy.Int64(nullable=True)


class Hits(dy.Schema):
    """What a run returned, in order: ranks from 1, half-open lines and bytes.

    An agent's rows are as it gave them: a row with a symbol names one, a row with neither lines nor symbol names a
    file, a range may be reversed or run past the end; `line_start` 0 without a `line_end` is a view of the whole file.
    """

    run_id, item_id, part = key_columns(3)
    step = dy.Int64(primary_key=True, min=0)
    rank = dy.Int64(primary_key=True, min=1)
    path_given, path = text_columns(2, nullable=True)
    line_start, line_end, byte_start, byte_end = integer_columns(4, least=None, nullable=True)
    symbol = dy.String(nullable=True)
    chunk_no = dy.Int64(nullable=True)
    score = dy.Float64(nullable=True)
    n_new_nws = dy.Int64(nullable=True, min=0)


class ItemUsage(dy.Schema):
    """What an agent used for an item, and how it ended; null where its file does not say it."""

    run_id, item_id = key_columns(2)
    model, exit_status, prices = text_columns(3, nullable=True)
    n_input, n_cached, n_cache_written, n_output, n_turns, n_calls = integer_columns(6, nullable=True)
    usd, seconds = number_columns(2, least=0, nullable=True)
    resolved = dy.Bool(nullable=True)
    step_turns = dy.List(dy.Int64(nullable=True), nullable=True)
    step_calls = dy.List(dy.Int64(nullable=True), nullable=True)


class Edits(dy.Schema):
    """A line that a patch changes, as one reading of patches has it; under run_id `gold` the gold patches' lines."""

    run_id, item_id, reading, path = key_columns(4)
    line = dy.Int64(primary_key=True, min=0)
    kind = dy.String(primary_key=True)
