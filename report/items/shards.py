"""The files of a benchmark's items: shards of like size with what is shown of each, and the list that finds one."""

from __future__ import annotations

import json
from collections.abc import Iterator

import polars as pl

from report.data_files import data_file, packed
from report.items.roster import Roster
from report.leaderboard.gold_ledger import LEDGER_TITLES

RAW_BYTES = 1_000_000
"""So much JSON goes into a file, which packed is a fifth of it or so."""


def with_shards(frame: pl.DataFrame) -> pl.DataFrame:
    """Rows in their order as JSON: item_id, scorable, json, shard (from 0); what is null is left out of the JSON."""
    rows = frame.select("item_id", "scorable", json=pl.struct(pl.exclude("scorable")).struct.json_encode())
    # Names of what is null take much of what is small.
    rows = rows.with_columns(pl.col("json").str.replace_all(_NULL, ""))
    before = pl.col("json").str.len_bytes().cast(pl.Int64).cum_sum() - 1
    return rows.with_columns(shard=(before // RAW_BYTES).rle_id())


_NULL = r',"[a-z_]+":null'


def bounds(rows: pl.DataFrame) -> list[str]:
    """The least item id of each shard, in order: an item is in the last shard whose least id is not above its own."""
    return rows.group_by("shard", maintain_order=True).agg(pl.col("item_id").first())["item_id"].to_list()


def shard_files(rows: pl.DataFrame, folder: str, name: str) -> Iterator[tuple[str, bytes]]:
    """The files of rows from :func:`with_shards`: path and content, which gives packed JSON under `<name>/<shard>`.

    Beside `rows` it has `at`, how many scorable items come before them, and the scorable items `before` and `behind`.
    """
    id_ = pl.when("scorable").then("item_id")
    walked = rows.with_columns(
        at=pl.col("scorable").cum_sum().cast(pl.Int64) - pl.col("scorable").cast(pl.Int64),
        before=id_.forward_fill().shift(1),
        behind=id_.backward_fill().shift(-1),
    )
    edges = [pl.col("at", "before").first(), pl.col("behind").last()]
    joined = walked.group_by("shard", maintain_order=True).agg(*edges, pl.col("json").str.join(","))
    for shard, at, before, behind, text in joined.iter_rows():
        edges_json = json.dumps({"at": at, "before": before, "behind": behind}, ensure_ascii=False)
        content = f'{edges_json[:-1]},"rows":[{text}]}}'
        yield f"{folder}/{shard}.js", data_file(f"{name}/{shard}", packed(content.encode()))


NO_CLASS = "-"
"""Stands for an item of which nothing is kept: it cannot be scored, or has no gold."""


def classes_of(roster: Roster) -> pl.DataFrame:
    """The class that holds most of an item's gold, by run: run, item_id, class (its number) and each class's amount.

    Of classes with equal shares it is the first.
    """
    names = list(LEDGER_TITLES)
    most = pl.concat_list(names).list.arg_max().cast(pl.Int64)
    return (
        roster.lake.scan("ledger", benchmark=roster.benchmark, protocol=roster.board.protocol.name)
        .join(roster.numbers, on="run_id")
        .filter(pl.col("n_gold") > 0)
        .select("run", "item_id", most.alias("class"), *names)
        .collect()
    )


def class_texts(roster: Roster, classes: pl.DataFrame) -> dict[int, str]:
    """Run → a character for each item, in their order: the class that holds most of its gold."""
    shown = pl.col("class").cast(pl.String).fill_null(NO_CLASS)
    of_run = ((run, classes.filter(run=run).select("item_id", "class")) for run in range(len(roster.runs)))
    ids = roster.items.select("item_id")
    return {
        run: ids.join(mine, on="item_id", how="left", maintain_order="left").select(shown.str.join("")).item()
        for run, mine in of_run
    }


def listing(roster: Roster, classes: pl.DataFrame) -> pl.DataFrame:
    """What the list says of each item: item_id, repo, language, scorable, gold, solved.

    `gold` is how many lines, or 1 where gold is a candidate, null where that is not kept. `solved` counts the systems,
    baselines left out, with most of the item's gold in the first class.
    """
    systems = [number for number, run in enumerate(roster.runs) if not run.baseline]
    amount = pl.sum_horizontal(list(LEDGER_TITLES)).round().cast(pl.Int64)
    is_solved = (pl.col("class") == 0) & pl.col("run").is_in(systems)
    known = classes.group_by("item_id").agg(gold=amount.max(), solved=is_solved.sum())
    return (
        roster.items.select("item_id", "repo", "language", "scorable")
        .join(known, on="item_id", how="left", maintain_order="left")
        .with_columns(pl.col("solved").fill_null(0))
    )


def list_columns(listed: pl.DataFrame) -> dict[str, object]:
    """The same for a script: a list per column; repositories and languages by number, behind their names."""
    columns: dict[str, object] = {"id": listed["item_id"].to_list()}
    for name, many in (("repo", "repos"), ("language", "languages")):
        values = listed[name].unique().sort().to_list()
        numbers = listed[name].replace_strict(values, range(len(values)), return_dtype=pl.Int64)
        columns |= {many: values, name: numbers.to_list()}
    scorable = listed["scorable"].cast(pl.Int8).to_list()
    return columns | {"scorable": scorable, "gold": listed["gold"].to_list(), "solved": listed["solved"].to_list()}
