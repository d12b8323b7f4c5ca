"""Instances with their gold held against their repositories, and what is to be said of that."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ingest.benchmarks.contextbench.gold import DOCS, Audit, GoldFile, GoldSpan, audit
from ingest.benchmarks.contextbench.pools import Trees, absent_notes, gold_files, is_not_at_hand
from ingest.benchmarks.contextbench.rows import Instance
from ingest.contents.edited_definitions import gold_of_patch
from ingest.sources.repository import Repository
from lake.catalog.gold_flags import FLAGS
from lake.rejects import Rejects
from lake.text import counted


class Checked(NamedTuple):
    """An instance, what its repository says of its gold, and why it cannot be scored."""

    instance: Instance
    repository: Repository | None
    audit: Audit | None
    why_not: str | None


def check_instances(instances: Sequence[Instance], trees: Trees, rejects: Rejects) -> list[Checked]:
    """Every instance with its gold held against its repository, which those of one commit share."""
    by_pool: dict[str, list[Instance]] = {}
    for instance in instances:
        by_pool.setdefault(instance.pool_id, []).append(instance)
    checked = {item.instance.item_id: item for pool in by_pool.values() for item in _checked_pool(pool, trees, rejects)}
    return [checked[instance.item_id] for instance in instances]


def _checked_pool(pool: Sequence[Instance], trees: Trees, rejects: Rejects) -> Iterator[Checked]:
    if all(instance.why_not for instance in pool):
        yield from (Checked(instance, None, None, instance.why_not) for instance in pool)
        return
    repository, files, why_not = gold_files(pool, trees, rejects)
    for instance in pool:
        gold = [*instance.gold, *_of_patch(instance, files)]
        audited = audit(gold, files) if repository and instance.why_not is None else None
        reason = instance.why_not or why_not
        if audited is not None and not audited.has_gold:
            reason = "none of its gold files is in its repository"
            if instance.gold_patch:
                reason = "its patch replaces no line of a source file that stood in its repository"
            rejects.add(*instance.where, f"{instance.item_id}: {reason}")
        yield Checked(instance, repository, audited, reason)


def _of_patch(instance: Instance, files: Mapping[str, GoldFile]) -> list[GoldSpan]:
    """The gold that a patch tells: the definitions around the lines that it replaces."""
    data = {path: file.data for path, file in files.items()}
    return [GoldSpan(path, start + 1, end, None) for path, start, end in gold_of_patch(instance.gold_patch, data)]


@dataclass
class Tally:
    """The notes on a subset, told when all its parts are read.

    Attributes:
        read: What was said of its rows.
        counts: How many items and gold spans there are, how many of them are at hand, and the gold's flags.
        absent: The items whose repositories nobody has.
        left_out: How many files of the repositories are binary, and how many had been decoded with replacement.
    """

    read: Sequence[str]
    counts: Counter[str] = field(default_factory=Counter)
    absent: list[str] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)

    def add(self, checked: Sequence[Checked]) -> None:
        """Count some more items."""
        for item in checked:
            n_spans, audit = len(item.instance.gold), item.audit
            if audit and item.instance.gold_patch:
                n_spans += sum(row["gold"] == DOCS for row in audit.rows)
            self.counts += Counter(items=1, scorable=int(item.why_not is None), spans=n_spans)
            if audit:
                self.counts += Counter(audited=n_spans) + audit.counts
            if is_not_at_hand(item.why_not):
                self.absent.append(item.instance.item_id)

    def notes(self) -> Iterator[str]:
        """A sentence each."""
        n = self.counts
        yield from self.read
        yield f"{n['scorable']:,} of {n['items']:,} can be scored"
        yield from absent_notes(self.absent)
        flags = ", ".join(f"{meaning}: {n[name]:,}" for name, meaning in FLAGS.items() if n[name])
        audited = f"{n['audited']:,} of them held against their files; {flags or 'nothing odd'}"
        yield f"{counted(n['spans'], 'gold span')}, {audited}"
        if self.left_out["binary"]:
            yield f"left out of the repositories: {counted(self.left_out['binary'], 'binary file')}"
        if self.left_out["replaced"]:
            n_replaced = counted(self.left_out["replaced"], "file")
            yield f"decoded with replacement before, and flagged not-utf8: {n_replaced}"
