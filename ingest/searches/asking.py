"""Every item of a task put to a program, pool by pool; what it answers is a file that can be imported."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from ingest.runs.formats.answers import parsed
from ingest.runs.items import ItemPart
from ingest.searches.conversation import Conversation, CrashError, NonsenseError, TimeOutError
from ingest.searches.pool_folders import PoolFolders
from ingest.searches.search import Search
from lake.catalog.task import Task
from lake.errors import Exit, GoldspanError
from lake.store import Lake
from lake.text import counted

RESULTS = 100
"""So many results are asked for where a task keeps all."""
_TIME_OUTS = 2
"""After so many time-outs the rest of a pool is not asked."""

Track = Callable[[Iterable[tuple[str, Path]], int], Iterable[tuple[str, Path]]]
"""Shows how many of the pools are done."""


@dataclass
class Asked:
    """What came of asking.

    Attributes:
        n_answered: Items that were answered.
        failures: Pools with items that were not, a sentence each.
        first_seconds: What the first answer in each pool took, where the pool had others.
        query_seconds: What the others took.
        unwritten: Files that could not be written out to be searched.
    """

    n_answered: int = 0
    failures: list[str] = field(default_factory=list)
    first_seconds: list[float] = field(default_factory=list)
    query_seconds: list[float] = field(default_factory=list)
    unwritten: Sequence[str] = ()


def items_of(lake: Lake, task: Task, parts: Sequence[ItemPart]) -> pl.DataFrame:
    """The items that are put to a program: item_id, pool_id, target_path, text; sorted by pool, each once.

    Raises:
        GoldspanError: The lake has no query of one.
    """
    items = pl.concat([one.scorable.select("item_id", "pool_id", "target_path") for one in parts])
    items = items.unique("item_id", keep="first")
    texts = lake.scan("queries", benchmark=task.benchmark, query=task.query).select("item_id", "text")
    found = items.lazy().join(texts.unique("item_id", keep="first"), on="item_id", how="left").collect()
    if n_without := found["text"].null_count():
        message = f"the lake holds no query of {counted(n_without, 'item')} of {task.name}"
        raise GoldspanError(message, where=str(lake.root), hint="First: make ingest", code=Exit.MISSING)
    return found.sort("pool_id", "item_id")


def ask(
    lake: Lake, task: Task, items: pl.DataFrame, search: Search, answers: Path, *,
    track: Track, say: Callable[[str], None],
) -> Asked:  # fmt: skip
    """Put every item to a program.

    Args:
        lake: Where the pools' files are.
        task: Whose items they are.
        items: As :func:`items_of` gives them.
        search: The program.
        answers: The file that is written: a line per item, in the items' order.
        track: Shows how many of the pools are done.
        say: Told of every pool with items that were not answered.

    Raises:
        GoldspanError: The program wrote what is no answer, or answered nothing at all.
    """
    asked = Asked()
    folders = PoolFolders(lake, task.benchmark, answers.parent)
    of_pool = {str(key[0]): rows for key, rows in items.partition_by("pool_id", as_dict=True).items()}
    with Conversation(search.command) as talk, answers.open("w", encoding="utf-8") as out:
        for pool_id, folder in track(folders.each(items["pool_id"]), len(of_pool)):
            rows = of_pool[pool_id]
            failed: list[str] = []
            for answer in _pool(talk, search.what, task, rows, folder, asked):
                if (error := parsed(answer).error) is not None:
                    failed.append(error)
                print(json.dumps(answer), file=out)
            asked.n_answered += rows.height - len(failed)
            if failed:
                asked.failures.append(f"{pool_id}: {len(failed):,} of {counted(rows.height, 'item')}: {failed[0]}")
                say(f"failed in pool {asked.failures[-1]}")
    asked.unwritten = folders.unwritten
    if not asked.n_answered:
        hint = "A line in, a line out; what is for people goes to standard error. README: A command of your own."
        message = f"the program answered none of {counted(items.height, 'item')}"
        raise GoldspanError(message, where=search.what, examples=asked.failures, hint=hint)
    return asked


def _pool(
    talk: Conversation, what: str, task: Task, rows: pl.DataFrame, folder: Path, asked: Asked
) -> Iterator[Mapping[str, object]]:
    """An answer, or why there is none, for every item of a pool."""
    first, given_up, time_outs = True, "", 0
    for item_id, pool_id, target_path, text in rows.select("item_id", "pool_id", "target_path", "text").iter_rows():
        request = {"id": item_id, "query": text, "pool": pool_id, "files": str(folder), "k": task.depth or RESULTS}
        if task.without_own_file:
            request["without"] = target_path
        if given_up:
            yield {"id": item_id, "error": given_up}
            continue
        try:
            answer, seconds = talk.ask(request)
            problem = parsed(answer.said).problem
        except TimeOutError as error:
            time_outs += 1
            given_up = f"not asked, after {time_outs} time-outs in its pool" if time_outs == _TIME_OUTS else ""
            yield {"id": item_id, "error": str(error)}
            continue
        except CrashError as error:
            given_up = f"not asked, after a crash in its pool: {error}"
            yield {"id": item_id, "error": str(error)}
            continue
        except NonsenseError as error:
            problem = str(error)
        if problem:
            message = f"the answer to item {item_id}: {problem}"
            hint = 'An answer is {"id": …, "results": [{"path": …, "start": 1, "end": 9, "score": 0.5}]}, on one line.'
            raise GoldspanError(message, where=what, hint=hint, code=Exit.INVALID)
        (asked.first_seconds if first and rows.height > 1 else asked.query_seconds).append(seconds)
        first = False
        yield answer.said
