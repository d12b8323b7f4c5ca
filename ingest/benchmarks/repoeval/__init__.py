"""RepoEval (RepoCoder): Python completion tasks; gold is a range of lines in the task's own repository."""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import polars as pl

from ingest.benchmarks.declaration import Benchmark, DataLocation, PoolGroup, SubsetRows, in_one_part
from ingest.benchmarks.fields import Fields
from ingest.benchmarks.repoeval.pools import constructed_pools, published_pools, repositories_of
from ingest.benchmarks.repoeval.tasks import NEEDS_RULE, REPOEVAL_FIELDS, CompletionTask, read_tasks
from ingest.sources.tree import RawFiles, Source, Tree
from lake.errors import Exit, GoldspanError
from lake.rejects import Rejects
from lake.text import counted, language_of

_LEVELS = {"function": "function_level", "line": "line_and_api_level", "api": "line_and_api_level"}
"""Level → the folder of its repositories; line and api tasks share one."""


def _n_lines(text: pl.Expr) -> pl.Expr:
    return text.str.count_matches("\n", literal=True).cast(pl.Int64) + 1


_FIRST, _HOLE, _TEXT = pl.col("query_line_start"), pl.col("target_line"), pl.col("target_text")
GOLD_RULES = {
    "context-and-completion": (
        "The prompt's lines and the completion's, to one line past it: "
        "[context_start_lineno, lineno + len(ground_truth.split('\\n')) - 1], both ends included.",
        _FIRST,
        _HOLE + _n_lines(_TEXT),
    ),
    "context-to-hole": (
        "The prompt's lines and the completion's first: [context_start_lineno, lineno], both included.",
        _FIRST,
        _HOLE + 1,
    ),
    "target": (
        "The completion itself: [lineno, lineno + n - 1], both included.",
        _HOLE,
        _HOLE + _n_lines(_TEXT.str.strip_suffix("\n")),
    ),
}
"""Rule → its meaning, and the start and end of its gold lines in the task's own file (half-open)."""


_NEEDS = (
    "The definitions in other files of the repository that names in the completion resolve to (by jedi's goto over the "
    "finished file, imports followed): a function, a class to its first method's end, an assignment."
)


def find(source: Source, subset: str, rejects: Rejects) -> RawFiles:
    """The task files and repositories of a subset."""

    def missing(what: str) -> GoldspanError:
        hint = "It is laid out as upstream: datasets/*.jsonl and repositories/<level>/<repo>/, folders or zips."
        return GoldspanError(f"RepoEval: {what} is not in {source.name}", hint=hint, code=Exit.MISSING)

    level, context = subset.split("-")
    datasets, folder = source.find("datasets"), _LEVELS[level]
    if datasets is None:
        raise missing("datasets/ or datasets.zip")
    # codex first: its tasks are numbered before those that only codegen files have.
    names = ("codex", "codegen")
    wanted = [f"{level}_level_completion_{context}_context_{name}.test.jsonl" for name in names]
    by_name = {entry.path.rsplit("/", 1)[-1]: entry for entry in datasets.entries}
    tasks = [by_name[name] for name in wanted if name in by_name]
    if not tasks:
        raise missing(f"{datasets.location}/{wanted[0]}")
    pools = source.find(f"repositories/{folder}") or source.find(f"repositories/{level}")
    if pools is None:
        raise missing(f"repositories/{folder}/ or repositories/{folder}.zip")
    for tree in (datasets, pools):
        tree.reject_refused(rejects)
    return RawFiles(tasks, [Tree(pools.location, [entry for entry in pools.entries if is_python(entry.path)])])


def is_python(path: str) -> bool:
    """Whether a file is searched: Python that is in no hidden folder."""
    *folders, name = path.split("/")
    return name.endswith(".py") and not any(folder[:1] == "." or folder == "__pycache__" for folder in folders)


def read(
    raw: RawFiles, subset: str, rejects: Rejects, fields: Fields = REPOEVAL_FIELDS, *, with_needs: bool = False
) -> SubsetRows:
    """The items, gold spans and repositories of a subset; `with_needs` adds the gold by need of the completions."""
    tasks = read_tasks(raw.tasks, fields, rejects, raw.notes)
    level, context = subset.split("-")
    group = repositories_of(raw.pools[0], _LEVELS[level], {task.repo for task in tasks}, rejects)
    items = _placed(tasks, subset, group)
    for where, position, why_not in items.filter("is_there").select("where", "position", "why_not").drop_nulls().rows():
        rejects.add(where, position, why_not)
    location = raw.pools[0].location.removesuffix(".zip")
    for repo, n in items.filter(~pl.col("is_there")).group_by("repo").len().sort("repo").iter_rows():
        rejects.add(location, f"repository {repo}", f"it {_NO_PYTHON}: {counted(n, 'task')} cannot be scored")
    constants = {"subset": subset, "split": "test", "level": level, "context": context}
    languages = [language_of(path) or "python" for path in items["target_path"]]
    items = items.with_columns(
        scorable=pl.col("why_not").is_null(),
        language=pl.Series(languages, dtype=pl.String),
        **{name: pl.lit(value) for name, value in constants.items()},
    )
    same = items.filter("scorable").select(pl.all(), path="target_path")
    columns = ("item_id", "n_lines", "path")
    gold = pl.concat(
        same.select(*columns, gold=pl.lit(rule), line_start=start, end=end)
        for rule, (_, start, end) in GOLD_RULES.items()
    ).with_columns(line_end=pl.min_horizontal("end", "n_lines"))
    raw.notes.extend(_notes(gold, group))
    pools = [group]
    if subset == "function-2k":
        pools += [published_pools(group), *constructed_pools(group, tasks)]
        if with_needs:
            # Imported when needed, as jedi loads slowly.
            from ingest.benchmarks.repoeval import needs

            items, needed, need_pools = needs.with_needs(items, group)
            gold = pl.concat([gold, needed.with_columns(gold=pl.lit(NEEDS_RULE))], how="diagonal")
            raw.notes.extend(needs.notes(items))
            pools.append(need_pools)
    queries = items.select("item_id", pl.lit("prompt").alias("query"), "prompt").iter_rows()
    return SubsetRows.of(items, queries, gold, pools)


_NO_PYTHON = "is missing or has no .py file; RepoEval's tasks are in Python"


def _placed(tasks: Sequence[CompletionTask], subset: str, group: PoolGroup) -> pl.DataFrame:
    lines = group.files.join(group.blobs, on="sha256").select("pool_id", "n_lines", target_path="path")
    numbers = ("n", "target_line", "query_line_start")
    columns = {name: pl.Int64 if name in numbers else pl.String for name in CompletionTask._fields}
    folder = _LEVELS[subset.split("-")[0]]
    message = "its completion starts at line {} (from 0) of {}, which has {}"
    return (
        pl.DataFrame(tasks, columns, orient="row")
        .with_columns(
            item_id=pl.format("{}/{}/{}", pl.lit(subset), "repo", "n"),
            pool_id=pl.format("{}/{}", pl.lit(folder), "repo"),
        )
        .join(lines, on=["pool_id", "target_path"], how="left", maintain_order="left")
        .with_columns(is_there=pl.col("pool_id").is_in(lines["pool_id"].unique().implode()))
        .with_columns(
            why_not=pl.when(~pl.col("is_there"))
            .then(pl.format(f"the repository {{}} {_NO_PYTHON}", "repo"))
            .when(pl.col("n_lines").is_null())
            .then(pl.format("{} is not in {}", "target_path", "repo"))
            .when(pl.col("target_line") >= pl.col("n_lines"))
            .then(pl.format(message, "target_line", "target_path", "n_lines"))
        )
    )


def _notes(gold: pl.DataFrame, group: PoolGroup) -> Iterator[str]:
    cut = gold.filter(pl.col("end") > pl.col("n_lines")).group_by("gold").len().sort("gold")
    if not cut.is_empty():
        counts = ", ".join(f"{count:,} of {rule}" for rule, count in cut.iter_rows())
        yield f"gold ranges that ended past their file were cut to it: {counts}"
    if replaced := group.blobs.filter(pl.col("flags").list.contains("not-utf8")).height:
        yield f"not UTF-8: {counted(replaced, 'file')}; what could not be decoded is U+FFFD"


REPOEVAL = Benchmark(
    name="repoeval",
    display_name="RepoEval",
    title="Repository-level code completion",
    meaning="Given the code before a hole, find the gold lines in the same repository. Python; gold is, by protocol, "
    "the code around the hole, the hole itself, or the definitions that it uses.",
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
    citation=Path(__file__).with_name("citation.bib").read_text(encoding="utf-8").strip(),
    paper="https://arxiv.org/abs/2303.12570",
    subsets=tuple(f"{level}-{context}" for level in _LEVELS for context in ("1k", "2k", "4k")),
    default_subsets=("function-2k",),
    markers=("datasets", "repositories"),
    gold_rules={**{name: meaning for name, (meaning, *_) in GOLD_RULES.items()}, NEEDS_RULE: _NEEDS},
    find=find,
    parts=partial(in_one_part, read),
    data={
        "tasks": DataLocation("datasets/function_level_completion_2k_context_codex.test.jsonl"),
        "repositories": DataLocation("repositories/function_level", is_tree=True, holds=is_python),
    },
    fields=REPOEVAL_FIELDS,
    needs_symbols=True,
    tags=("completion", "repositories", "python"),
    place=1,
)
