"""ContextBench's rows from Parquet, JSON or JSON Lines, as instances with decoded gold, one per id."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ingest.benchmarks.contextbench.gold import GOLD_KEYS, GoldSpan
from ingest.benchmarks.contextbench.own_gold import LINK, gold_of, is_irrelevant
from ingest.benchmarks.fields import FieldError, Fields, ForeignRow, columns_of, parse_rows, parsed
from ingest.rejects import Rejects, excerpt_of
from ingest.sources.git import form_fault
from ingest.sources.rows import WHOLE_INPUT
from ingest.sources.tree import Entry
from lake.text import counted, language_of

CONTEXTBENCH_FIELDS: Fields = {
    "id": ("original_inst_id", "instance_id", "inst_id"),
    "gold": GOLD_KEYS,
    "commit": ("base_commit", "commit"),
    **{name: (name,) for name in ("repo", "repo_url", "language", "source", "size", "patch", "problem_statement")},
}
"""The first id that a row has is the item's."""

_LISTS = (
    "gold", "core", "regions", "spans", "gold_spans", "locations", "relevant", "expected_chunks", "gold_files",
    "relevant_files", "expected_files", "expected_paths", "ground_truth.read_core_regions",
)  # fmt: skip
OWN_FIELDS: Fields = {
    **CONTEXTBENCH_FIELDS,
    "id": (*CONTEXTBENCH_FIELDS["id"], "item_id", "task_id", "_id", "id"),
    "gold": (*GOLD_KEYS, *(f"{key}[]" for key in _LISTS)),
    "commit": ("base_commit", "commit", "sha", "commit_sha", "commit_hash"),
    "repo": ("repo", "repository", "repo_dir", "repo_name"),
    "problem_statement": ("question", "query", "problem_statement", "issue", "prompt", "text"),
}
"""The fields of own data: under the published keys, or other common ones."""

OWN_REPOSITORY = "own/repository"
"""The name of the repository of own rows that name none."""
NO_COMMIT = "0" * 40
"""The commit of own rows that name none: their repository is read as it is."""

WITH_PATCH = {"instance_id", "repo", "base_commit", "problem_statement", "patch"}
"""The keys of SWE-bench's rows."""
MULTI = {"org", "repo", "base", "fix_patch", "resolved_issues"}
"""The keys of Multi-SWE-bench's rows."""
_ID = re.compile(r"(?:instance_)?([A-Za-z0-9.-]+)__([A-Za-z0-9_.-]+?)-(?:\d+|[0-9a-f]{7,64}(?:-v\w+)?)")
_PATCH = re.compile(r"^(diff --git |--- )", re.MULTILINE)
_ADDRESS = r"^(https://github\.com/|git@github\.com:)"


@dataclass(frozen=True)
class Instance:
    """A checked row; its gold is `gold` or follows from `gold_patch`, and `why_not` says why it cannot be scored."""

    item_id: str
    upstream_id: str | None
    repo: str
    commit: str
    language: str
    source: str | None
    problem_statement: str | None
    patch: str | None
    gold: Sequence[GoldSpan]
    why_not: str | None
    where: tuple[str, str]
    gold_patch: str = ""
    difficulty: str | None = None

    @property
    def ids(self) -> list[str]:
        """All ids of the row."""
        return [self.item_id, *([self.upstream_id] if self.upstream_id else [])]

    @property
    def pool_id(self) -> str:
        """The pool: the repository at its commit, `owner/name@commit`."""
        return f"{self.repo}@{self.commit}"


def read_instances(
    entries: Sequence[Entry], rejects: Rejects, notes: list[str], fields: Fields = CONTEXTBENCH_FIELDS
) -> list[Instance]:
    """The instances of some files, one per id (see `_one_of`), in the order of the files.

    Own rows without an id are one instance if they ask the same question of the same repository.
    """
    instances, unnamed = dict[str, Instance](), dict[tuple[str, str], str]()
    n_again, n_irrelevant, is_own = 0, 0, fields != CONTEXTBENCH_FIELDS
    usual = {**(OWN_FIELDS if is_own else CONTEXTBENCH_FIELDS), "gold": fields["gold"]}
    columns, row_keys = () if is_own else columns_of(fields), question_keys(fields)
    keys = {*columns_of({"gold": fields["gold"]})}
    for entry in entries:
        n_refused = len(rejects)
        rows = list(parse_rows(entry, rejects, _of_multi, fields, usual=usual, columns=columns, row_keys=row_keys))
        if not keys.isdisjoint(GOLD_KEYS) and all(keys.isdisjoint(row.content) for _, row in rows):
            if any(row.content.keys() >= WITH_PATCH for _, row in rows):
                hint = "declare fields: {gold: patch}, or give them to `ingest own`"
                rejects.add(entry.path, WHOLE_INPUT, f"rows of SWE-bench have no gold context: {hint}")
            elif len(rejects) == n_refused:
                notes.append(f"{entry.path} is skipped: its rows have no gold")
            continue
        for position, row in rows:
            if is_own and is_irrelevant(row.content):
                n_irrelevant += 1
                continue
            instance = _instance(row, (entry.path, position), rejects, is_own=is_own)
            if instance is None:
                continue
            if not any(_texts(row, "id")):
                question = (instance.repo, instance.problem_statement or instance.item_id)
                instance = replace(instance, item_id=unnamed.setdefault(question, instance.item_id))
            first = instances.setdefault(instance.item_id, instance)
            if first is not instance:
                n_again += 1
                instances[instance.item_id] = _one_of(first, instance, rejects, is_own=is_own)
    if n_irrelevant:
        notes.append(f"{counted(n_irrelevant, 'row')} of grade 0: not relevant")
    if n_again:
        notes.append(f"{counted(n_again, 'row')} with an id that occurred before; rows with one id are one item")
    return list(instances.values())


def question_keys(fields: Fields) -> set[str]:
    """The keys of which every row has one: those of the question, and Multi-SWE-bench's."""
    return {*columns_of({"": fields["problem_statement"]}), "resolved_issues"}


def repository_of(row: ForeignRow, item_id: str) -> str:
    """The `owner/name` of a row: from its id, as in the published evaluator, else from `repo`, else a GitHub URL."""
    url = _text(row, "repo_url") or ""
    given = [re.sub(_ADDRESS, "", text).rstrip("/").removesuffix(".git") for text in (_text(row, "repo") or url, url)]
    whole = [repo for repo in given if not form_fault("repository", repo)]
    match = _ID.fullmatch(item_id)
    if match is None:
        return next(iter(whole), given[0])
    by_id = f"{match[1]}/{match[2]}"
    return next((repo for repo in whole if repo.lower() == by_id.lower()), by_id)


def _one_of(first: Instance, again: Instance, rejects: Rejects, *, is_own: bool) -> Instance:
    """The instance of two rows with one id: unscorable if gold or commit differ; gold of own rows is joined."""
    places, others = (sorted(span[:3] for span in each.gold) or each.gold_patch for each in (first, again))
    differing = ["gold"] * (places != others) + ["commit"] * (first.commit != again.commit)
    # A table may have a line per place.
    is_more = is_own and differing == ["gold"] and bool(first.gold and again.gold)
    if places and others and differing and not is_more:
        both = " and ".join(" ".join(instance.where) for instance in (first, again))
        reason = f"two rows disagree on its {' and '.join(differing)}: {both}"
        rejects.add(*again.where, f"{first.item_id}: {reason}")
        return replace(first, why_not=reason)
    if len({" ".join(each.problem_statement.split()) for each in (first, again) if each.problem_statement}) > 1:
        reason = f"another question than {' '.join(first.where)} under the same id; it is left out"
        rejects.add(*again.where, f"{first.item_id}: {reason}")
    elif is_more:
        return replace(first, gold=[*first.gold, *again.gold])
    return again if others and not places else first


def _of_multi(_: str, row: ForeignRow) -> ForeignRow:
    """A row of Multi-SWE-bench under the keys of SWE-bench; any other row as it is."""
    content = row.content
    if not content.keys() >= MULTI:
        return row
    issues, base = parsed(content["resolved_issues"]), parsed(content["base"])
    objects = [issue for issue in issues if isinstance(issue, dict)] if isinstance(issues, list) else []
    texts = [str(each.get(key) or "") for each in objects or [{**content}] for key in ("title", "body")]
    owner, name = content["org"], content["repo"]
    under = {
        "instance_id": content.get("instance_id") or f"{owner}__{name}-{content.get('number')}",
        "repo": f"{owner}/{name}",
        "base_commit": base.get("sha") if isinstance(base, dict) else None,
        "problem_statement": "\n\n".join(filter(None, texts)),
        "patch": content["fix_patch"],
        "language": content.get("language"),
    }
    return replace(row, content=under)


def _instance(row: ForeignRow, where: tuple[str, str], rejects: Rejects, *, is_own: bool) -> Instance | None:
    value, gold, why_not = row.values("gold")[0], list[GoldSpan](), list[str]()
    gold_patch = value if isinstance(value, str) and _PATCH.search(value) else ""
    # Own questions about a repository as it is need no id and no commit.
    is_filled = is_own and not gold_patch
    ids = list(dict.fromkeys(_texts(row, "id"))) or ([where[1].replace(" ", "-")] if is_filled else [])
    if not ids:
        rejects.add(*where, f"it has no id: none of {', '.join(row.fields['id'])}", excerpt_of(row.content))
        return None
    repo, commit = repository_of(row, ids[0]), (_text(row, "commit") or "").strip().lower()
    try:
        gold = [] if gold_patch else gold_of(row)
    except FieldError as error:
        why_not.append(f"its gold cannot be decoded: {error}")
    if is_filled:
        # Addresses of files may name what the row does not: the repository and the commit.
        for link in filter(None, (LINK.match(span.file) for span in gold)):
            names = [name.lower().rpartition("/")[2] for name in (repo or link["repo"], link["repo"])]
            ref = link["ref"] if re.fullmatch("[0-9a-f]{40}", link["ref"]) else ""
            repo, commit = repo or link["repo"], commit or ref
            if names[0] != names[1] or ref not in ("", commit):
                why_not.append(f"its gold {link[0]} is not of {repo} at {commit or 'its commit'}")
        if form_fault("repository", repo):
            repo = f"own/{repo.strip('/').replace('/', '-')}" if repo else OWN_REPOSITORY
        commit = commit or NO_COMMIT
    if fault := form_fault("repository", repo):
        why_not.append(f"neither its id nor {repo[:200]!r} gives its repository: {fault}")
    if not re.fullmatch("[0-9a-f]{7,64}", commit):
        why_not.append(f"`{row.path('commit')}` is {commit!r}, not a commit's id")
    statement = _text(row, "problem_statement")
    if statement is None:
        why_not.append(str(row.error("problem_statement", "must be a text")))
    if why_not:
        rejects.add(*where, f"{ids[0]}: {'; '.join(why_not)}", excerpt_of(row.get("gold")))
    elif not gold and not gold_patch:
        why_not.append("its gold is empty")
    of_gold = next(filter(None, (language_of(span.file) for span in gold if is_own)), "unknown")
    language, size = (_text(row, "language") or of_gold).lower(), _text(row, "size")
    upstream_id, source, patch = ids[1] if len(ids) > 1 else None, _text(row, "source"), _text(row, "patch")
    reason = "; ".join(why_not) or None
    return Instance(
        ids[0], upstream_id, repo, commit, language, source, statement, patch, gold, reason, where, gold_patch, size
    )


def _texts(row: ForeignRow, field: str) -> Iterator[str]:
    """The texts of a field that are not blank; half a surrogate pair, which JSON may contain, becomes `?`."""
    # An id may be a number.
    values = (str(value) if field == "id" and type(value) is int else value for value in row.values(field))
    texts = (value for value in values if isinstance(value, str) and value.strip())
    return (text.encode(errors="replace").decode() for text in texts)


def _text(row: ForeignRow, field: str) -> str | None:
    return next(_texts(row, field), None)
