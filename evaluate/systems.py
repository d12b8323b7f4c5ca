"""Systems: a chunker with a retriever; the names, fingerprints and stored rows of their runs."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path

import polars as pl

from evaluate.rank.ranking import rank, ranked_hit_rows
from evaluate.retrievers import BASELINE, Retriever, retriever_of_name, retrievers
from evaluate.texts.query_forms import QUERY_FORMS
from lake.catalog.protocol import Protocol, Task
from lake.code import code_digest
from lake.declarations import CHUNKER_ALIASES, CHUNKER_SETS
from lake.errors import Exit, GoldspanError, lookup, unknown_name
from lake.fingerprint import fingerprint
from lake.make import BuildTarget
from lake.pools import is_picked
from lake.store import Lake, Part, ordered
from lake.tables import table


@dataclass(frozen=True)
class BuiltInSystem:
    """A chunker with a retriever, which was `written` so; for the oracle also the protocol of its gold."""

    chunker: str
    chunker_stamp: str
    retriever: Retriever
    protocol: Protocol | None = None
    written: str = ""

    def __reduce__(self) -> tuple[object, ...]:
        """Sent to another process, it has the retriever found there: its functions cannot be sent."""
        return _received, (self.chunker, self.chunker_stamp, self.written, self.protocol)

    @property
    def name(self) -> str:
        """The name, `chunker+retriever`."""
        return f"{self.chunker}+{self.retriever.name}"

    def parameters(self) -> dict[str, object]:
        """The retriever's settings and revisions, and the protocol whose gold it sees, if any."""
        others = {"revision": ", ".join(self._revisions().values()), "protocol": self.protocol and self.protocol.name}
        return {**self.retriever.parameters, **{name: value for name, value in others.items() if value}}

    def _revisions(self) -> dict[str, str]:
        return {part.name: part.revision() for part in self.retriever.parts() if part.revision}

    def fingerprint(self, task: Task, label: str, selection: Mapping[str, object]) -> str:
        """The fingerprint of a run of this system: of task, chunks, retriever, its code, and the label of the data."""
        protocol = [self.protocol.name, self.protocol.gold] if self.protocol else None
        chunks, retriever = [self.chunker, self.chunker_stamp], self.retriever
        ranking = [retriever.name, retriever.version, ranking_code(retriever), retriever.parameters]
        return fingerprint(vars(task), chunks, ranking, self._revisions(), protocol, label, selection)


def _received(chunker: str, stamp: str, written: str, protocol: Protocol | None) -> BuiltInSystem:
    return BuiltInSystem(chunker, stamp, retriever_named(written), protocol, written)


@dataclass(frozen=True)
class Run:
    """A run to score or aggregate, under one protocol, or under every one if `protocol` is empty."""

    run_id: str
    protocol: str = ""
    chunker: str | None = None
    is_chance: bool = False


@dataclass(frozen=True)
class PlannedRun(Run):
    """A run to be made; `stamp` is the fingerprint of all that it depends on except the data, including the code."""

    system: BuiltInSystem = field(kw_only=True, compare=False)
    stamp: str = field(kw_only=True)


def resolve_systems(
    task: Task,
    patterns: Sequence[str],
    chunkers: Mapping[str, str],
    retrievers: Mapping[str, Retriever],
    protocols: Sequence[Protocol],
    made_before: Collection[str] = (),
) -> list[BuiltInSystem]:
    """The systems that match some patterns for a task, and the baselines over the same chunkers, the oracle first.

    Without patterns: every system that always runs, and those in `made_before` that still can.
    """
    names = [name for name in task.retrievers or retrievers if name in retrievers and name not in task.without]
    meant = {name: retrievers[name] for name in names}
    baselines = {name for name, retriever in meant.items() if BASELINE in retriever.tags}
    of_task = {name for name, retriever in meant.items() if not retriever.tasks or task.rules in retriever.tasks}
    exact = {pattern.partition("+")[2] for pattern in patterns}
    usual = {name for name in of_task if meant[name].runs in (("always", "asked") if patterns else ("always",))}
    systems = []
    for chunker, stamp in chunkers.items():
        if task.chunkers and chunker not in task.chunkers:
            continue
        picked = {
            name
            for name, retriever in meant.items()
            if _picks(patterns, chunker, name)
            and (name in exact or ((name in usual or f"{chunker}+{name}" in made_before) and not retriever.why_missing))
        }
        running = [(meant[name], name) for name in (picked | baselines if picked else ())]
        for retriever, name in sorted(running, key=lambda pair: (pair[0].needs != "gold", pair[0].name)):
            shown: Sequence[Protocol | None] = protocols if retriever.needs == "gold" else [None]
            systems += [BuiltInSystem(chunker, stamp, retriever, protocol, name) for protocol in shown]
    return systems


def known_retrievers(lake: Lake, patterns: Sequence[str] = ()) -> Mapping[str, Retriever]:
    """Every declared retriever, and those with arguments or a query form that were requested or have run."""
    known, imported = dict(retrievers()), set(imported_systems(lake))
    runs = lake.scan("runs").filter(pl.col("origin") == "built-in").select(pl.col("retriever").unique().sort())
    for name in runs.collect()["retriever"].drop_nulls():
        with suppress(GoldspanError):  # its declaration is gone, so its runs cannot be made again
            known[name] = retriever_named(name)
    for pattern in patterns:
        name = pattern.partition("+")[2]
        if pattern not in imported and name not in known and {":", "~"} & set(name) and not set("*?[") & set(name):
            known[name] = retriever_named(name)
    return known


def check_patterns(
    patterns: Sequence[str], chunkers: Sequence[str], retrievers: Mapping[str, Retriever], imported: Sequence[str] = ()
) -> None:
    """Raise an error if a pattern matches no system ("did you mean"), or if a named retriever cannot run."""
    pairs = [(chunker, retriever) for chunker in chunkers for retriever in retrievers]
    for pattern in patterns:
        is_ours = any(_picks([pattern], *pair) for pair in pairs)
        if not is_ours and not any(is_picked(name, [pattern]) for name in imported):
            raise unknown_name(pattern, "system", [*map("+".join, pairs), *imported])
    for name in sorted({pattern.partition("+")[2] for pattern in patterns} & retrievers.keys()):
        if why := retrievers[name].why_missing:
            raise GoldspanError(f"{name} cannot run here", hint=why, code=Exit.MISSING)


def imported_systems(lake: Lake) -> list[str]:
    """The names of the systems with imported runs, for any benchmark."""
    runs = lake.scan("runs").filter(pl.col("origin") == "imported").select("system").unique()
    return runs.collect()["system"].sort().to_list()


def _picks(patterns: Sequence[str], chunker: str, retriever: str) -> bool:
    split = [pattern.partition("+") for pattern in patterns]
    return not patterns or any(
        fnmatchcase(f"{chunker}+{retriever}", f"{meant}{plus}{of_retriever}")
        for of_chunker, plus, of_retriever in split
        for meant in CHUNKER_SETS.get(of_chunker, (CHUNKER_ALIASES.get(of_chunker, of_chunker),))
    )


def ranking_code(retriever: Retriever) -> str:
    """A digest of the code that ranks: of the retriever, those it calls, and the ordering of scores."""
    functions: list[Callable[..., object]] = [rank, ranked_hit_rows]
    for part in retriever.parts():
        form = QUERY_FORMS[part.query_form].rewrite if part.query_form else None
        functions += filter(None, (part.index, part.with_arguments, form))
    return code_digest(*functions)


def retriever_named(name: str) -> Retriever:
    """The retriever with a full name: `name` or `name:arguments`, optionally followed by `~query-form`."""
    before, tilde, form = name.partition("~")
    retriever = retriever_of_name(before)
    if retriever.runs == "always" and name not in retrievers():
        retriever = replace(retriever, runs="asked")
    if not tilde:
        return retriever
    meaning = lookup(form, "query form", QUERY_FORMS).meaning
    if BASELINE in retriever.tags:
        message = f"{before!r} ignores the words of a query, so {tilde + form!r} changes nothing"
        raise GoldspanError(message, hint=f"Write {before}.", code=Exit.USAGE)
    return replace(
        retriever,
        name=f"{retriever.name}~{form}",
        title=f"{retriever.title}, {form.replace('-', ' ')}",
        meaning=f"{retriever.meaning} Asked: {meaning[0].lower()}{meaning[1:]}",
        parameters={**retriever.parameters, "query form": form},
        query_form=form,
    )


def runs_of(lake: Lake, task: Task) -> pl.LazyFrame:
    """A task's rows of table `runs`, sorted."""
    return _runs(lake.root, tuple(lake.parts("runs", benchmark=task.benchmark))).lazy().filter(task=task.name)


@lru_cache(maxsize=4)
def _runs(root: Path, parts: tuple[Part, ...]) -> pl.DataFrame:
    # Cached, as each task and protocol reads the same small parts again.
    return Lake(root).scan_parts(list(parts), "runs").sort("run_id").collect()


def run_batches(lake: Lake, name: str, run_ids: Sequence[str], parts: Sequence[Part]) -> Iterator[list[str]]:
    """Run ids in batches, each small enough that its rows in some parts of a table fit in memory."""
    # `most` rows are read together. A stored row takes more than a byte: they are counted only if there may be more.
    sizes, batch, n_rows, most = dict[str, int](), list[str](), 0, 3_000_000
    if sum(part.path.stat().st_size for part in parts) > most:
        sizes = dict(lake.scan_parts(list(parts), name).group_by("run_id").len().collect().iter_rows())
    for run_id in run_ids:
        n = sizes.get(run_id, 0)
        if batch and n_rows + n > most:
            yield batch
            batch, n_rows = [], 0
        batch.append(run_id)
        n_rows += n
    if batch:
        yield batch


def write_by_run(targets: Mapping[str, BuildTarget], *frames: pl.DataFrame) -> None:
    """Store the parts of several runs that differ only in folder `run_id`; each frame has one table's rows of all."""
    first, split = next(iter(targets.values())), []
    for slot, frame in zip(first.slots, frames, strict=True):
        # Checked and sorted once for all runs: checking dominates the cost of a small frame.
        declared, others = table(slot.table), {name: of for name, of in slot.folders.items() if name != "run_id"}
        rows = ordered(declared, frame, others)
        by_run = {some["run_id"][0]: some for some in rows.partition_by("run_id", maintain_order=True)}
        split.append((declared, by_run, rows.clear()))
    for run_id, target in targets.items():
        # One run after the other: if interrupted, the finished runs are complete.
        for slot, (declared, by_run, nothing) in zip(target.slots, split, strict=True):
            first.lake.put(declared, by_run.get(run_id, nothing), slot.part, target.fingerprint, slot.folders)
