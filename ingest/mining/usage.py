"""Questions the RepoBench way: which of a file's imported definitions does its next line use?"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

MIN_CANDIDATES, MIN_HARD = 5, 10
"""As RepoBench has it: a file imports at least 5; 5 to 9 candidates are easy, 10 or more hard."""
MIN_CODE_LINES = 3
"""Lines that are not blank before the next one: RepoBench asks with the last three."""


@dataclass(frozen=True)
class DrawnTask:
    """A task that may be taken; its identity stays when code around it moves."""

    identity: tuple[str, ...]
    location: tuple[str, int]
    answer: str

    def order(self, seed: str) -> tuple[str, str, int]:
        """The sort key by which the first tasks are taken: a hash, then path and line."""
        identity = "\0".join((*([seed] if seed else []), *self.identity))
        return hashlib.sha256(identity.encode()).hexdigest(), *self.location


@dataclass(frozen=True)
class FileUsage:
    """A file of a repository and where it uses what it imports from there.

    Attributes:
        candidates: The imported definitions' texts, in the order of the imports, none twice.
        uses: Line → the candidates it uses.
        unasked: Candidates whose name means something else somewhere in the file; they are no question's gold.
        closed: Lines that are no next line, such as those inside a string of several lines.
    """

    repo: str
    path: str
    lines: Sequence[str]
    statements: Sequence[str]
    import_rows: frozenset[int]
    candidates: Sequence[str]
    uses: Mapping[int, frozenset[int]] = field(default_factory=dict)
    unasked: frozenset[int] = frozenset()
    closed: frozenset[int] = frozenset()

    @property
    def level(self) -> str:
        """Easy or hard by the number of candidates."""
        return "hard" if len(self.candidates) >= MIN_HARD else "easy"

    def questions(self) -> Iterator[Question]:
        """A question where a candidate is used first, in the order of the candidates."""
        for gold in range(len(self.candidates)):
            row = min((row for row, used in self.uses.items() if gold in used), default=None)
            if row is not None and self._is_open(row, gold) and gold not in self.unasked:
                yield Question.of(self, row, gold)

    @cached_property
    def _n_code_lines(self) -> list[int]:
        """The number of lines of code before each line, imports and blank ones not counted."""
        counts = [0]
        for row, line in enumerate(self.lines):
            counts.append(counts[-1] + bool(line.strip() and row not in self.import_rows))
        return counts

    def _is_open(self, row: int, gold: int) -> bool:
        return self.uses[row] == {gold} and row not in self.closed and self._n_code_lines[row] >= MIN_CODE_LINES


@dataclass(frozen=True)
class Question(DrawnTask):
    """One line that uses one candidate; the answer is the line as it stands, without its end."""

    usage: FileUsage
    gold: int

    @classmethod
    def of(cls, usage: FileUsage, row: int, gold: int) -> Question:
        """The question that a line of a file asks for a candidate."""
        answer = usage.lines[row].removesuffix("\n")
        return cls((usage.repo, usage.path, answer.strip()), (usage.path, row), answer, usage, gold)

    def as_row(self, split: str = "test") -> dict[str, object]:
        """The row as the hub's files hold it: the code is the file's text before the line, without the imports."""
        usage, (path, line) = self.usage, self.location
        before = (text for row, text in enumerate(usage.lines[:line]) if row not in usage.import_rows)
        return {
            "repo_name": usage.repo,
            "file_path": path,
            "context": list(usage.candidates),
            "import_statement": "\n".join(usage.statements),
            "code": "".join(before).lstrip("\n"),
            "next_line": self.answer,
            "gold_snippet_index": self.gold,
            "split": split,
            "level": usage.level,
        }
