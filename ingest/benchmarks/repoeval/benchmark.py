"""RepoEval (RepoCoder): Python completion tasks whose gold is a range of lines in the task's own repository."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import polars as pl

from ingest.benchmarks.declaration import (
    Benchmark,
    PartToRead,
    Place,
    PoolGroup,
    RawFiles,
    Reading,
    Shape,
    limited,
    query_rows,
)
from ingest.benchmarks.fields import Fields
from ingest.benchmarks.repoeval.completion_tasks import FIELDS, Task, read_tasks
from ingest.benchmarks.repoeval.pools import hard_pools, published_pools, repositories_of
from ingest.sources.tree import Entry, Source, Tree
from lake.errors import Exit, GoldspanError
from lake.limits import MAX_POOL_BYTES, MAX_SOURCE_BYTES
from lake.rejects import Rejects
from lake.tables import table
from lake.text import counted

LEVELS: Mapping[str, str] = {
    "function": "function_level",
    "line": "line_and_api_level",
    "api": "line_and_api_level",
}
"""Level → where its repositories lie; line and api tasks share theirs."""

CONTEXTS = ("1k", "2k", "4k")
# codex first: where a codegen twin gives another prompt for the same target, codex's is the one that stands.
TOKENIZERS = ("codex", "codegen")

GOLD_RULES: Mapping[str, str] = {
    "context-and-completion": "The prompt's lines and the completion's, to one line past it: "
    "[context_start_lineno, lineno + len(ground_truth.split('\\n')) - 1], both ends included.",
    "context-to-hole": "The prompt's lines and the completion's first: [context_start_lineno, lineno], both included.",
    "target": "The completion itself: [lineno, lineno + n - 1], both included.",
}


def find(source: Source, subset: str, rejects: Rejects) -> RawFiles:
    """The task files and repositories of a subset.

    Raises:
        GoldspanError: There are none; the message says what was looked for.
    """
    level, context = subset.split("-")
    datasets = source.tree("datasets")
    if datasets is None:
        raise _missing(source, what="datasets/ or datasets.zip")
    wanted = [f"{level}_level_completion_{context}_context_{tokenizer}.test.jsonl" for tokenizer in TOKENIZERS]
    # Of two files of one name, the one higher up is meant.
    deepest_first = sorted(datasets.entries, key=lambda entry: -entry.path.count("/"))
    by_name = {entry.path.rsplit("/", 1)[-1]: entry for entry in deepest_first}
    tasks = [by_name[name] for name in wanted if name in by_name]
    if not tasks:
        raise _missing(source, what=f"{datasets.location}/{wanted[0]}")
    folder = LEVELS[level]
    pools = source.tree(f"repositories/{folder}", f"repositories/{level}", f"repositories/{level}_level")
    if pools is None:
        raise _missing(source, what=f"repositories/{folder}/ or repositories/{folder}.zip")
    return raw_files(tasks, datasets, pools, rejects)


def find_own(source: Source, subset: str, rejects: Rejects) -> RawFiles:
    """The task file and the repositories of a declaration."""
    del subset  # a declaration has one
    tasks, repositories = source.tree("tasks"), source.tree("repositories")
    if tasks is None or repositories is None:
        raise _missing(source, what="a task file with its repositories")
    return raw_files(tasks.entries, tasks, repositories, rejects)


def raw_files(tasks: Sequence[Entry], datasets: Tree, pools: Tree, rejects: Rejects) -> RawFiles:
    """Some task files and what of the repositories is searched; what either tree refused is rejected.

    So are source files beyond the limits, before anything of them is read.
    """
    for tree in (datasets, pools):
        for refused in tree.refused:
            rejects.add(tree.location, f"entry {refused.path}", refused.reason)
    python, total = [], 0
    for entry in pools.entries:
        if not _searchable(entry.path):
            continue
        reason = None
        if entry.size > MAX_SOURCE_BYTES:
            reason = f"it has {entry.size:,} bytes; at most {MAX_SOURCE_BYTES:,} are read of a source file"
        elif total + entry.size > MAX_POOL_BYTES:
            reason = f"the files before it have the {MAX_POOL_BYTES:,} bytes that are read in all"
        if reason is None:
            python.append(entry)
            total += entry.size
        else:
            rejects.add(pools.location, f"entry {entry.path}", reason)
    return RawFiles(tasks, [Tree(pools.location, python)])


def read(raw: RawFiles, subset: str, rejects: Rejects, fields: Fields = FIELDS) -> Reading:
    """The items, gold spans and repositories of a subset."""
    notes: list[str] = []
    tasks = read_tasks(raw.tasks, fields, rejects, notes)
    level = subset.split("-")[0]
    group = repositories_of(raw.pools[0], LEVELS[level], {task.repo for task in tasks}, rejects)
    n_lines = _lines_per_file(group)
    place = raw.pools[0].location.removesuffix(".zip")
    items, gold = _rows(tasks, subset, n_lines, _pool_prefix(level), place, rejects)
    notes += _notes(tasks, group, n_lines, _pool_prefix(level))
    prompts = ((item_id, "prompt", task.prompt) for item_id, task in zip(items["item_id"], tasks, strict=True))
    pools = [group, *published_pools(group), hard_pools(group, tasks)] if subset == "function-2k" else [group]
    return Reading(items, query_rows("repoeval", prompts), gold, pools, notes)


def parts(
    raw: RawFiles, subset: str, limit: int | None, rejects: Rejects, fields: Fields = FIELDS
) -> Iterator[PartToRead]:
    """The subset in one part: a repository's gold needs all of its files."""
    del rejects  # whatever is wrong is wrong with a row
    yield PartToRead(subset, lambda found: limited(read(raw, subset, found, fields), limit))


def _searchable(path: str) -> bool:
    folders = path.split("/")[:-1]
    return path.endswith(".py") and not any(folder.startswith(".") or folder == "__pycache__" for folder in folders)


def _missing(source: Source, *, what: str) -> GoldspanError:
    return GoldspanError(
        f"RepoEval: {what} is not in {source.name}",
        hint="It is laid out as upstream: datasets/*.jsonl and repositories/<level>/<repo>/, folders or zips.",
        code=Exit.MISSING,
    )


def _pool_prefix(level: str) -> str:
    return f"repoeval/{LEVELS[level]}"


def _lines_per_file(group: PoolGroup) -> dict[tuple[str, str], int]:
    joined = group.files.join(group.blobs.select("sha256", "n_lines"), on="sha256", how="left", maintain_order="left")
    return {(pool, path): n for pool, path, n in joined.select("pool_id", "path", "n_lines").iter_rows()}


def _rows(
    tasks: Sequence[Task],
    subset: str,
    n_lines: Mapping[tuple[str, str], int],
    prefix: str,
    place: str,
    rejects: Rejects,
) -> tuple[pl.DataFrame, pl.DataFrame]:
    level, context = subset.split("-")
    pools = {pool for pool, _ in n_lines}
    absent: Counter[str] = Counter()
    items, gold = [], []
    for task in tasks:
        item_id, pool_id = f"{subset}/{task.repo}/{task.n}", f"{prefix}/{task.repo}"
        why_not = None
        if pool_id not in pools:
            why_not = f"the repository {task.repo} is not there"
            absent[task.repo] += 1
        elif (pool_id, task.path) not in n_lines:
            why_not = f"{task.path} is not in {task.repo}"
            rejects.add(task.where, task.position, why_not)
        elif task.lineno >= n_lines[pool_id, task.path]:
            n = n_lines[pool_id, task.path]
            why_not = f"its completion starts at line {task.lineno} (from 0) of {task.path}, which has {n}"
            rejects.add(task.where, task.position, why_not)
        items.append(
            {
                "benchmark": "repoeval",
                "item_id": item_id,
                "subset": subset,
                "split": "test",
                "level": level,
                "context": context,
                "language": "python",
                "repo": task.repo,
                "pool_id": pool_id,
                "target_path": task.path,
                "target_line": task.lineno,
                "target_text": task.ground_truth,
                "query_line_start": task.context_start,
                "upstream_id": task.upstream_id,
                "scorable": why_not is None,
                "why_not": why_not,
            }
        )
        if why_not is None:
            last = n_lines[pool_id, task.path]
            for rule, (start, end) in task.gold().items():
                span = {"path": task.path, "line_start": start, "line_end": min(end, last)}
                gold.append({"benchmark": "repoeval", "item_id": item_id, "gold": rule, **span})
    for repo, count in sorted(absent.items()):
        reason = f"the repository is not there: {count:,} tasks cannot be scored"
        rejects.add(place, f"repository {repo}", reason)
    return pl.DataFrame(items, schema=table("items").columns), pl.DataFrame(gold, schema=table("gold_spans").columns)


def _notes(
    tasks: Sequence[Task], group: PoolGroup, n_lines: Mapping[tuple[str, str], int], prefix: str
) -> Iterator[str]:
    ends = Counter(
        rule
        for task in tasks
        if (last := n_lines.get((f"{prefix}/{task.repo}", task.path), 0)) > task.lineno
        for rule, (_, end) in task.gold().items()
        if end > last
    )
    if ends:
        said = ", ".join(f"{count:,} of {rule}" for rule, count in sorted(ends.items()))
        yield f"gold ranges that ended past their file were cut to it: {said}"
    replaced = group.blobs.filter(pl.col("flags").list.contains("not-utf8")).height
    if replaced:
        yield f"not UTF-8: {counted(replaced, 'file')}; what could not be decoded is U+FFFD"


SUBSETS = tuple(f"{level}-{context}" for level in LEVELS for context in CONTEXTS)

REPOEVAL = Benchmark(
    name="repoeval",
    display_name="RepoEval",
    title="Repository-level code completion",
    meaning="Given the code before a hole, find in the same repository the lines that belong to it. Python; gold is a "
    "range of lines.",
    version=2,
    homepage="https://github.com/microsoft/CodeT/tree/main/RepoCoder",
    licence="MIT for the tasks; each repository under its own licence",
    # Read from the licence files of the function-level repositories.
    repository_licences={
        "CarperAI_trlx": "MIT",
        "amazon-science_patchcore-inspection": "Apache-2.0",
        "deepmind_tracr": "Apache-2.0",
        "facebookresearch_omnivore": "CC-BY-NC-4.0",
        "google_lightweight_mmm": "Apache-2.0",
        "leopard-ai_betty": "Apache-2.0",
        "lucidrains_imagen-pytorch": "MIT",
        "maxhumber_redframes": "BSD-2-Clause",
    },
    citation="""@inproceedings{zhang2023repocoder,
  title = {RepoCoder: Repository-Level Code Completion Through Iterative Retrieval and Generation},
  author = {Zhang, Fengji and Chen, Bei and Zhang, Yue and Keung, Jacky and Liu, Jin and Zan, Daoguang and Mao, Yi and
            Lou, Jian-Guang and Chen, Weizhu},
  booktitle = {Proceedings of the 2023 Conference on Empirical Methods in Natural Language Processing},
  year = {2023}
}""",
    paper="https://arxiv.org/abs/2303.12570",
    subsets=SUBSETS,
    default_subsets=("function-2k",),
    markers=("datasets", "repositories"),
    gold_rules=GOLD_RULES,
    find=find,
    parts=parts,
    shape=Shape(
        places={
            "tasks": Place("datasets/function_level_completion_2k_context_codex.test.jsonl"),
            "repositories": Place("repositories/function_level", is_tree=True),
        },
        fields=FIELDS,
        find=find_own,
    ),
    needs_symbols=True,
    place=1,
)
