"""ContextBench: the lines of a repository that are needed to resolve an issue, for retrievers and for agents alike."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from ingest.benchmarks.contextbench.gold import DOCS, OFFICIAL
from ingest.benchmarks.contextbench.pools import PartReader, at_snapshots, repository_finder
from ingest.benchmarks.contextbench.rows import CONTEXTBENCH_FIELDS, OWN_FIELDS, read_instances
from ingest.benchmarks.declaration import Benchmark, DataLocation, PartToRead, drawn_ids
from ingest.benchmarks.fields import Fields
from ingest.rejects import Rejects
from ingest.sources.rows import read_rows
from ingest.sources.tree import Entry, RawFiles, Source, Tree
from lake.errors import Exit, GoldspanError

FULL, VERIFIED, SELECTED = "full", "verified", "selected-500"

ITEMS_OF_A_PART = 100
"""The maximum number of items per part: they are read, ranked and scored together, and must fit in memory."""

_SELECTION = "selected_500_instances.csv"


def find(source: Source, subset: str, rejects: Rejects) -> RawFiles:
    """The files with a subset's rows, and the repositories' files in the folder `repo_files`."""
    tree = source.find(".") or Tree(".", [])
    beside = source.find("repo_files") or Tree("repo_files", [])
    rows_refused = {path: reason for path, reason in tree.refused.items() if _may_hold_rows(path)}
    replace(tree, refused=rows_refused).reject_refused(rejects)
    beside.reject_refused(rejects)
    rows = [each for each in tree.entries if _may_hold_rows(each.path) and (subset != VERIFIED or _is_verified(each))]
    selections = [each for each in tree.entries if each.path.rpartition("/")[2] == _SELECTION]
    lacks_rows = not rows or (subset == FULL and all(map(_is_verified, rows)))
    if lacks_rows or (subset == SELECTED and not selections):
        file = "file of rows" if lacks_rows else _SELECTION
        hint = f"Rows are *.parquet, *.json or *.jsonl, maybe in data/; *verified* are {VERIFIED}; "
        hint += f"{SELECTED} needs the publisher's list of instances beside them."
        message = f"ContextBench: no {file} of the subset {subset} in {source.name}"
        raise GoldspanError(message, hint=hint, code=Exit.MISSING)
    return RawFiles([*selections[: subset == SELECTED], *rows], [beside], source.repositories)


def at_hand(source: Source) -> list[str]:
    """The subset of a local source that is read if none is named: the full one, unless all its rows are verified."""
    tree = source.find(".") or Tree(".", [])
    rows = [entry for entry in tree.entries if _may_hold_rows(entry.path)]
    return [VERIFIED] if rows and all(map(_is_verified, rows)) else [FULL]


def parts(
    raw: RawFiles, subset: str, limit: int | None, rejects: Rejects, fields: Fields = CONTEXTBENCH_FIELDS
) -> Iterator[PartToRead]:
    """The subset as one part, or as several if it has many items, with the items of a repository next to each other."""
    instances = read_instances(raw.tasks[subset == SELECTED :], rejects, raw.notes, fields)
    instances = at_snapshots(raw, instances)
    # All rows are passed: the file of a repository may be named after an instance that is not kept.
    find = repository_finder(raw, instances)
    if subset == SELECTED:
        ids = [{row.get("original_inst_id"), row.get("instance_id")} for _, row in read_rows(raw.tasks[0], rejects)]
        known = {item_id for instance in instances for item_id in instance.ids}
        n_absent = sum(map(known.isdisjoint, ids))
        raw.notes.append(f"{n_absent:,} of the {len(ids):,} selected instances have no row in the data")
        selected = set().union(*ids)
        instances = [instance for instance in instances if not selected.isdisjoint(instance.ids)]
    if limit is not None:
        ready = [(each.item_id, each.repo, each.why_not is None and find(each) is not None) for each in instances]
        kept = drawn_ids(ready, limit, raw.notes, "have no repository here or an unreadable row")
        instances = [instance for instance in instances if instance.item_id in kept]
    reader = PartReader(subset, find, is_own=fields != CONTEXTBENCH_FIELDS)
    is_one = len(instances) <= ITEMS_OF_A_PART
    if not is_one:
        instances = sorted(instances, key=lambda instance: (instance.repo, instance.pool_id, instance.item_id))
    for number, start in enumerate(range(0, max(1, len(instances)), ITEMS_OF_A_PART)):
        some = instances[start : start + ITEMS_OF_A_PART]
        yield PartToRead(subset if is_one else f"{subset}-{number:04d}", partial(reader.read, some))
    raw.notes.extend(reader.notes())


def _may_hold_rows(path: str) -> bool:
    *folders, file = path.lower().split("/")
    if file.endswith(".parquet"):
        return not {"repo_files", "trajectories", "parity"}.intersection(folders)
    return file.endswith((".json", ".jsonl")) and folders in ([], ["data"])


def _is_verified(entry: Entry) -> bool:
    return "verified" in entry.path.lower()


CONTEXTBENCH = Benchmark(
    name="contextbench",
    display_name="ContextBench",
    title="Which context does an issue need?",
    meaning="Given an issue, find in its repository the lines a developer has to read to resolve it. Agents and "
    "retrievers are in one table; gold is context that people annotated.",
    version=1,
    homepage="https://huggingface.co/datasets/Contextbench/ContextBench",
    licence="as its publisher states; each repository under its own licence",
    citation=Path(__file__).with_name("citation.bib").read_text(encoding="utf-8").strip(),
    paper="https://arxiv.org/abs/2602.05892",
    subsets=(FULL, VERIFIED, SELECTED),
    default_subsets=(FULL,),
    # No file or folder name is typical of its data, so its folder is found by its own name.
    markers=(),
    gold_rules={
        DOCS: "The annotated lines of the files that are in the repository, cut to their ends.",
        OFFICIAL: "The annotated lines as they are numbered, with paths as the published evaluator reads them.",
    },
    find=find,
    parts=parts,
    data={
        "rows": DataLocation("data/full.parquet"),
        "repo_files": DataLocation("repo_files", is_tree=True, is_optional=True),
    },
    fields=OWN_FIELDS,
    at_hand=at_hand,
    is_one_subset=True,
    more=("edits",),
    needs_symbols=True,
    names_commits=True,
    tags=("issues", "agents", "context", "many-languages"),
    place=3,
)
