"""ContextBench's repositories as pools: the files that are searched, and the other files of the repository."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import polars as pl

from ingest.benchmarks.contextbench.gold import DOCS, GoldSpan, audit, docs_path
from ingest.benchmarks.contextbench.own_gold import ends_of, locate
from ingest.benchmarks.contextbench.rows import OWN_REPOSITORY, Instance
from ingest.benchmarks.declaration import PoolGroup, SubsetRows
from ingest.contents.blobs import concat_files, pool_batches, pool_frames
from ingest.contents.patches import edit_rows, edited_sources, gold_of_patch
from ingest.rejects import Rejects
from ingest.sources.repository import RepositoryError, is_searched, parquet_files
from ingest.sources.tree import CommitFiles, RawFiles, Repository
from lake.errors import MAX_EXAMPLES
from lake.tables import FLAGS, GOLD_RUN, UNSEARCHED
from lake.text import counted, listed

_NOT_AVAILABLE = "its repository is not available"


def at_snapshots(raw: RawFiles, instances: Sequence[Instance]) -> list[Instance]:
    """The instances; a file `<owner>__<name>.parquet` is their repository at any commit, and its digest the commit.

    If one file only is of no owner (`own__<name>`), it is the repository of rows that name none.
    """
    entries = {entry.path.removesuffix(".parquet"): entry for tree in raw.pools for entry in tree.entries}
    if len(own := [name for name in entries if name.startswith("own__")]) == 1:
        repo = own[0].replace("__", "/", 1)
        instances = [replace(each, repo=repo) if each.repo == OWN_REPOSITORY else each for each in instances]
    names = {repo: repo.replace("/", "__") for repo in {instance.repo for instance in instances}}
    commits = {repo: entries[name].sha256()[:40] for repo, name in names.items() if name in entries}
    return [replace(instance, commit=commits.get(instance.repo, instance.commit)) for instance in instances]


def repository_finder(raw: RawFiles, instances: Sequence[Instance]) -> Callable[[Instance], Repository | None]:
    """A function that finds an instance's repository: in the files next to the rows, else in a clone; None: nowhere."""
    ids: dict[str, list[str]] = {}
    for instance in instances:
        ids.setdefault(instance.pool_id, []).extend(instance.ids)
    # The folder `repo_files`: Parquet files named after an instance's id, or `<owner>__<name>`, maybe with `@<commit>`.
    (tree,) = raw.pools
    files = {entry.path.rsplit("/", 1)[-1]: partial(parquet_files, entry, tree.location) for entry in tree.entries}

    def find(instance: Instance) -> Repository | None:
        repo, commit, clones = instance.repo, instance.commit, raw.repositories
        names = (*ids[instance.pool_id], f"{repo.replace('/', '__')}@{commit}", repo.replace("/", "__"))
        # Fetched when it is first read.
        clone = None if clones is None else lambda *given: clones(repo, commit)(*given)
        return next((files[f"{name}.parquet"] for name in names if f"{name}.parquet" in files), clone)

    return find


def not_available(repo: str, commit: str, reason: str = "") -> str:
    """The reason stored in `why_not` for an item whose repository is not available."""
    return f"{_NOT_AVAILABLE}: {repo} at {commit[:12]}{f': {reason}' if reason else ''}"


def wants_repository() -> pl.Expr:
    """An expression over `items`: whether an item cannot be scored because its repository is not available."""
    return pl.col("why_not").str.starts_with(_NOT_AVAILABLE).fill_null(value=False)


def absent_notes(item_ids: Iterable[str]) -> list[str]:
    """The note about the items whose repositories are not available, as a list; empty if there are none."""
    absent = sorted(item_ids)
    again = "--repositories clones them; what fails is tried again by every run"
    n, examples = counted(len(absent), "item"), listed(absent, MAX_EXAMPLES)
    return [f"{n} without repository files (reasons: items.why_not): {examples}; {again}"] if absent else []


def may_now_be_had(absent: pl.DataFrame, repositories: CommitFiles) -> bool:
    """Ask again for missing repositories; whether any is now available, or missing for another reason than before."""
    for repo, commit, before in absent.select("repo", "commit", "why_not").unique(["repo", "commit"]).iter_rows():
        try:
            repositories(repo, commit)
        except RepositoryError as error:
            if not_available(repo, commit, error.what) == before:
                continue
        return True
    return False


def pool_groups(repositories: Mapping[str, Repository], rejects: Rejects, counts: Counter[str]) -> Iterator[PoolGroup]:
    """Each repository as two parts: searched files and other text files; binary files are left out and counted."""
    no_files, no_blobs = pool_frames([])
    # Commits of one repository share most of their contents, which are stored once.
    seen: set[str] = set()

    def texts(pool_id: str, repository: Repository) -> Iterator[tuple[str, str, bytes]]:
        for file in repository(rejects):
            # Git takes a file for binary if its first 8,000 bytes contain a zero byte.
            if b"\0" in file.data[:8_000]:
                counts["binary"] += 1
            else:
                counts["replaced"] += file.is_replaced
                yield pool_id + ("" if is_searched(file.path, file.data) else UNSEARCHED), file.path, file.data

    for pool_id, repository in repositories.items():
        batches = [no_files]
        for files, blobs in pool_batches(texts(pool_id, repository), seen):
            batches.append(files)
            yield PoolGroup("", no_files, blobs)
        group, is_rest = pool_id.replace("/", "__"), pl.col("pool_id") != pool_id
        for kind, of_kind in (("searched", ~is_rest), ("rest", is_rest)):
            yield PoolGroup(group, concat_files(files.filter(of_kind) for files in batches), no_blobs, kind)


@dataclass
class PartReader:
    """Reads a subset in parts; `counts` and `absent`, the items without a repository, are of all parts read so far."""

    subset: str
    find: Callable[[Instance], Repository | None]
    is_own: bool = False
    counts: Counter[str] = field(default_factory=Counter)
    absent: list[str] = field(default_factory=list)

    def read(self, instances: Sequence[Instance], rejects: Rejects) -> SubsetRows:
        """The items, queries, gold and gold patches of some instances, and their repositories one at a time."""
        items, gold, repositories = list[dict[str, object]](), list[dict[str, object]](), dict[str, Repository]()
        by_pool: dict[str, list[Instance]] = {}
        for instance in instances:
            by_pool.setdefault(instance.pool_id, []).append(instance)
        for pool_id, of_pool in by_pool.items():
            repo, commit, not_there = of_pool[0].repo, of_pool[0].commit, ""
            try:
                repository, files, paths = self._gold_files(of_pool, rejects)
            except RepositoryError as error:
                not_there = not_available(repo, commit, error.what)
                if error.what:
                    rejects.add(f"repository {repo}", f"commit {commit}", error.what)
            for instance in of_pool:
                spans, reason, flags = list(instance.gold), instance.why_not or not_there, None
                if not reason:
                    spans, faults = locate(spans, repo, files, paths) if self.is_own else (spans, [])
                    # The gold of a patch are the definitions around the lines that it replaces.
                    patched = gold_of_patch(instance.gold_patch, files)
                    spans += (GoldSpan(path, start + 1, end, None) for path, start, end in patched)
                    rows, counts = audit(spans, files)
                    flags = [f"{name}:{counts[name]}" for name in FLAGS if counts[name]]
                    self.counts.update(counts, audited=len(spans))
                    if any(row["gold"] == DOCS for row in rows):
                        gold += ({"item_id": instance.item_id, **row} for row in rows)
                        repositories[pool_id] = repository
                    else:
                        absent = listed([span.file for span in spans], MAX_EXAMPLES) or "its patch replaces no line"
                        faults = faults or [f"none of its gold files is in its repository: {absent}"]
                        reason = "; ".join(faults[:MAX_EXAMPLES])
                    for fault in faults:
                        rejects.add(*instance.where, f"{instance.item_id}: {fault}")
                elif not instance.why_not:
                    self.absent.append(instance.item_id)
                same = {**vars(instance), "pool_id": pool_id, "subset": self.subset, "commit": commit or None}
                items.append({**same, "gold_flags": flags, "scorable": not reason, "why_not": reason or None})
                self.counts.update(items=1, scorable=not reason, spans=len(spans))
        queries = [(instance.item_id, "problem-statement", instance.problem_statement or "") for instance in instances]
        edits, unread = edit_rows(GOLD_RUN, [(instance.item_id, instance.patch) for instance in instances])
        where = {instance.item_id: instance.where for instance in instances}
        for item_id, fault in unread:
            rejects.add(*where[item_id], f"{item_id}: {fault}")
        pools = pool_groups(repositories, rejects, self.counts)
        return replace(SubsetRows.of(items, queries, gold, pools), more={"edits": edits})

    def _gold_files(
        self, of_pool: Sequence[Instance], rejects: Rejects
    ) -> tuple[Repository, dict[str, bytes], Collection[str]]:
        """A pool's repository, the files that its gold names, and known paths; or a `RepositoryError`."""
        sound = [instance for instance in of_pool if not instance.why_not]
        repository = self.find(sound[0]) if sound else None
        if repository is None:
            raise RepositoryError("")
        spans = [span for instance in sound for span in instance.gold]
        wanted = {docs_path(span.file) for span in spans}
        wanted |= {path for instance in sound for path in edited_sources(instance.gold_patch)}
        files = {file.path: file.data for file in repository(rejects, wanted)}
        paths = set(files)
        if self.is_own and any(docs_path(span.file) not in files for span in spans):
            # Gold may mean a file without the folders above its repository.
            ends = {end for span in spans for end in ends_of(span)}
            for file in repository(Rejects()):
                paths.add(file.path)
                if file.path in ends:
                    files[file.path] = file.data
        return repository, files, paths

    def notes(self) -> Iterator[str]:
        """The notes about the subset; none if no part was read."""
        n = self.counts
        if not n:
            return
        yield f"{n['scorable']:,} of {n['items']:,} can be scored"
        yield from absent_notes(self.absent)
        flags = ", ".join(f"{meaning}: {n[name]:,}" for name, (meaning, _) in FLAGS.items() if n[name])
        audited = f"{n['audited']:,} of them checked against their files; {flags or 'no faults'}"
        yield f"{counted(n['spans'], 'gold span')}, {audited}"
        texts = {"binary": "left out of the repositories, as binary", "replaced": "not UTF-8, with U+FFFD in place"}
        yield from (f"{text}: {counted(n[kind], 'file')}" for kind, text in texts.items() if n[kind])
