"""RepoEval (RepoCoder): Python completion tasks; gold is a range of lines in the task's own repository."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import polars as pl

from ingest.benchmarks.declaration import Benchmark, DataLocation, SubsetRows, in_one_part
from ingest.benchmarks.fields import MISSING, Fields, ForeignRow, check, get_path, parse_rows, parsed
from ingest.benchmarks.repoeval.pools import constructed_pools, published_pools, repositories_of
from ingest.rejects import Rejects
from ingest.sources.tree import Entry, RawFiles, Source, Tree
from lake.errors import Exit, GoldspanError
from lake.text import counted, is_encodable, language_of

NEEDS_RULE = "needs"
"""The name of the gold rule of :mod:`ingest.benchmarks.repoeval.needs`, and of the part with its pools."""

_LEVELS = {"function": "function_level", "line": "line_and_api_level", "api": "line_and_api_level"}
"""Level → the folder of its repositories; line and api tasks share one."""

REPOEVAL_FIELDS: Fields = {
    "prompt": ("prompt",),
    "ground_truth": ("metadata.ground_truth",),
    # A repository and the parts of a path in it, as a list or as the Python repr of one.
    "path": ("metadata.fpath_tuple",),
    # The completion's first line, from 0: `lineno` in function files, `line_no` in line and api files.
    "line": ("metadata.lineno", "metadata.line_no"),
    # The prompt's first line, from 0.
    "context_start": ("metadata.context_start_lineno",),
    # The publisher's id of the task: stored, but never used as a key.
    "id": ("metadata.task_id",),
}

_QUESTION = ("repo", "target_path", "target_line", "query_line_start", "prompt", "target_text")
"""The columns of a task; tasks that are equal in these are one."""


_FIRST, _HOLE, _TEXT = pl.col("query_line_start"), pl.col("target_line"), pl.col("target_text")
_END = _HOLE + _TEXT.str.count_matches("\n", literal=True).cast(pl.Int64) + 1
GOLD_RULES = {
    "context-and-completion": (
        "The prompt's lines and the completion's, to one line past it: "
        "[context_start_lineno, lineno + len(ground_truth.split('\\n')) - 1], both ends included.",
        _FIRST,
        _END,
    ),
    "context-to-hole": (
        "The prompt's lines and the completion's first: [context_start_lineno, lineno], both included.",
        _FIRST,
        _HOLE + 1,
    ),
    "target": (
        "The completion itself: [lineno, lineno + n - 1], both included.",
        _HOLE,
        _END - _TEXT.str.ends_with("\n").cast(pl.Int64),
    ),
}
"""Rule → its meaning, and the start and end of its gold lines in the task's own file (half-open)."""


def find(source: Source, subset: str, rejects: Rejects) -> RawFiles:
    """The task files and repositories of a subset."""
    level, context = subset.split("-")
    datasets, folder = source.find("datasets") or Tree("datasets", []), _LEVELS[level]
    # codex first: its tasks are numbered before those that only codegen files have.
    names = ("codex", "codegen")
    wanted = [f"{level}_level_completion_{context}_context_{name}.test.jsonl" for name in names]
    by_name = {entry.path.rpartition("/")[2]: entry for entry in datasets.entries}
    tasks = [by_name[name] for name in wanted if name in by_name]
    pools = source.find(f"repositories/{folder}") or source.find(f"repositories/{level}")
    if not tasks or pools is None:
        what = f"repositories/{folder}/" if tasks else f"{datasets.location}/{wanted[0]}"
        hint = "It is laid out as upstream: datasets/*.jsonl and repositories/<level>/<repo>/, folders or zips."
        raise GoldspanError(f"RepoEval: {what} is not in {source.name}", hint=hint, code=Exit.MISSING)
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
    level, context = subset.split("-")
    tasks = _tasks(raw.tasks, fields, rejects)
    group = repositories_of(raw.pools[0], _LEVELS[level], {*tasks["repo"]}, rejects)
    lines = group.files.join(group.blobs, on="sha256").select("pool_id", "n_lines", target_path="path")
    no_python = "is missing or has no .py file; RepoEval's tasks are in Python"
    why_not = (
        pl.when(~pl.col("is_there"))
        .then(pl.format(f"the repository {{}} {no_python}", "repo"))
        .when(pl.col("n_lines").is_null() | (pl.col("target_line") >= pl.col("n_lines")))
        .then(pl.format("{} has no line {} (from 0) of {}", "repo", "target_line", "target_path"))
    )
    constants = {"subset": subset, "split": "test", "level": level, "context": context}
    items = (
        tasks.with_columns(
            *(pl.lit(value).alias(name) for name, value in constants.items()),
            item_id=pl.format("{}/{}/{}", pl.lit(subset), "repo", "n"),
            pool_id=pl.format("{}/{}", pl.lit(_LEVELS[level]), "repo"),
            language=pl.Series([language_of(path) or "python" for path in tasks["target_path"]], dtype=pl.String),
        )
        .join(lines, on=["pool_id", "target_path"], how="left", maintain_order="left")
        .with_columns(is_there=pl.col("pool_id").is_in(lines["pool_id"].unique().implode()))
        .with_columns(why_not=why_not)
        .with_columns(scorable=pl.col("why_not").is_null())
    )
    for where, position, reason in items.filter("is_there").select("where", "position", "why_not").drop_nulls().rows():
        rejects.add(where, position, reason)
    location = raw.pools[0].location.removesuffix(".zip")
    for repo, n in items.filter(~pl.col("is_there")).group_by("repo").len().sort("repo").iter_rows():
        rejects.add(location, f"repository {repo}", f"it {no_python}: {counted(n, 'task')} cannot be scored")
    scorable = items.filter("scorable")
    gold = pl.concat(
        scorable.select("item_id", "n_lines", path="target_path", gold=pl.lit(rule), line_start=start, end=end)
        for rule, (_, start, end) in GOLD_RULES.items()
    ).with_columns(line_end=pl.min_horizontal("end", "n_lines"))
    cut = gold.filter(pl.col("end") > pl.col("n_lines")).group_by("gold").len().sort("gold")
    if counts := [f"{n:,} of {rule}" for rule, n in cut.iter_rows()]:
        raw.notes.append(f"gold ranges that ended past their file were cut to it: {', '.join(counts)}")
    pools = [group]
    if subset == "function-2k":
        pools += [published_pools(group), *constructed_pools(group, items)]
        if with_needs:
            # Imported when needed, as jedi loads slowly.
            from ingest.benchmarks.repoeval import needs

            items, needed, need_pools = needs.with_needs(items, group, raw.notes)
            gold = pl.concat([gold, needed.with_columns(gold=pl.lit(NEEDS_RULE))], how="diagonal")
            pools.append(need_pools)
    queries = items.select("item_id", pl.lit("prompt").alias("query"), "prompt").iter_rows()
    return SubsetRows.of(items, queries, gold, pools)


def _tasks(entries: Sequence[Entry], fields: Fields, rejects: Rejects) -> pl.DataFrame:
    """The tasks of all files, numbered per repository in file order; a task found again, in any file, is left out."""
    rows = list[dict[str, object]]()
    for entry in entries:
        before = len(rows), len(rejects)
        parsed = parse_rows(entry, rejects, partial(_task, entry.path), fields, usual=REPOEVAL_FIELDS)
        rows += (task for _, task in parsed)
        if before == (len(rows), len(rejects)):
            rejects.add(entry.path, "file", "holds no task")
    texts = ("where", "position", "upstream_id", "function_name", *_QUESTION)
    columns = {**dict.fromkeys(texts, pl.String), **dict.fromkeys(("target_line", "query_line_start"), pl.Int64)}
    first, is_new = pl.col("position").first().over("where", *_QUESTION), pl.struct(_QUESTION).is_first_distinct()
    tasks = pl.DataFrame(rows, columns).with_columns(first=first, is_new=is_new)
    is_again = pl.col("position") != pl.col("first")
    for where, position, same in tasks.filter(is_again).select("where", "position", "first").iter_rows():
        rejects.add(where, position, f"the same task as {same}")
    # Tasks of later files are numbered after those of earlier ones, so no number is used twice.
    numbered = tasks.filter(is_again | pl.col("is_new")).with_columns(n=pl.int_range(pl.len()).over("repo"))
    return numbered.filter("is_new").drop("first", "is_new")


def _task(where: str, position: str, row: ForeignRow) -> dict[str, object]:
    prompt, ground_truth = row.text("prompt"), row.text("ground_truth")
    row.check("ground_truth", ground_truth != "", "is empty")
    repo, *path = _fpath(row)
    wanted = "must be the number of a line, from 0"
    line, start = (row.number(field, wanted) for field in ("line", "context_start"))
    for field, number in (("line", line), ("context_start", start)):
        row.check(field, number >= 0, wanted)
    check(start <= line, f"the context starts at line {start}, after the completion at {line}")
    # Only function files name the function whose body is the hole; nothing depends on it.
    name, upstream_id = get_path(row.content, "metadata.function_name"), row.get("id")
    return {
        "where": where,
        "position": position,
        "upstream_id": "" if upstream_id is MISSING else str(upstream_id).encode(errors="backslashreplace").decode(),
        "function_name": name if isinstance(name, str) and is_encodable(name) else None,
        "repo": repo,
        "target_path": "/".join(path),
        "target_line": line,
        "query_line_start": start,
        "prompt": prompt,
        "target_text": ground_truth,
    }


def _fpath(row: ForeignRow) -> list[str]:
    value = parsed(row.get("path"))
    if isinstance(value, str):
        # A path as a text, of the repository that is named next to it, if any, as in CrossCodeEval's rows.
        beside = "".join(row.path("path").rpartition(".")[:2])
        repositories = (get_path(row.content, f"{beside}{key}") for key in ("repository", "repo"))
        folder = [name.replace("/", "_") for name in repositories if isinstance(name, str)][:1]
        value = [*folder, *value.removeprefix("./").split("/")]
    parts = [part for part in value if isinstance(part, str)] if isinstance(value, (list, tuple)) else []
    is_path = isinstance(value, (list, tuple)) and len(parts) == len(value) >= 2
    row.check("path", is_path, "must be a repository and the parts of a path in it")
    stays = all(part not in {"", ".", ".."} and not set("/\\\0").intersection(part) for part in parts)
    check(stays and all(map(is_encodable, parts)), f"the path {'/'.join(parts)!a} leaves its repository")
    return parts


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
    gold_rules={name: meaning for name, (meaning, *_) in GOLD_RULES.items()}
    | {
        NEEDS_RULE: "The definitions in other files of the repository that names in the completion resolve to (by "
        "jedi's goto over the finished file, imports followed): a function, a class to its first method's end, an "
        "assignment."
    },
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
