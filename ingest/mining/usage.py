"""Questions the RepoBench way: which of a file's imported definitions does its next line use?"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypedDict

from ingest.mining.choice import order

Setting = Literal["cff", "cfr"]
"""Cross-file-first: the gold's first use in its file; cross-file-random: a later one."""
Level = Literal["easy", "hard"]

SETTINGS: tuple[Setting, ...] = ("cff", "cfr")
LEVELS: tuple[Level, ...] = ("easy", "hard")

MIN_CANDIDATES, MIN_HARD = 5, 10
"""As RepoBench has it: 5 to 9 candidates are easy, 10 or more hard."""
MIN_CODE_LINES = 3
"""How many lines that are not blank stand before the next one: RepoBench asks with the last three."""

_WORD = re.compile(r"\w+")


class Row(TypedDict):
    """A row as the hub's files hold it."""

    repo_name: str
    file_path: str
    context: list[str]
    import_statement: str
    code: str
    next_line: str
    gold_snippet_index: int


@dataclass(frozen=True)
class Usage:
    """A file and where it uses what it imports from its own repository.

    Attributes:
        repo: Where the file belongs: `pallets/click`.
        path: In the repository.
        lines: With their ends.
        statements: The import statements' texts, in the file's order.
        import_rows: The lines these stand on, and nothing else does.
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
    uses: Mapping[int, frozenset[int]]
    unasked: frozenset[int] = frozenset()
    closed: frozenset[int] = frozenset()

    @property
    def level(self) -> Level | None:
        """Easy or hard by the number of candidates; None below RepoBench's least."""
        if len(self.candidates) < MIN_CANDIDATES:
            return None
        return "hard" if len(self.candidates) >= MIN_HARD else "easy"

    def questions(self, setting: Setting, seed: str = "") -> Iterator[Question]:
        """At most one question per candidate, in the order of the candidates."""
        for gold in range(len(self.candidates)):
            rows = sorted(row for row, used in self.uses.items() if gold in used)
            asked = rows[:1] if setting == "cff" else rows[1:]
            open_rows = [row for row in asked if self._is_open(row, gold)]
            if open_rows and gold not in self.unasked:
                yield min((Question(self, row, gold) for row in open_rows), key=lambda question: order(question, seed))

    @cached_property
    def _n_code_lines(self) -> list[int]:
        """How many lines of code stand before each line, imports and blank ones not counted."""
        counts = [0]
        for row, line in enumerate(self.lines):
            counts.append(counts[-1] + bool(line.strip() and row not in self.import_rows))
        return counts

    def _is_open(self, row: int, gold: int) -> bool:
        return self.uses[row] == {gold} and row not in self.closed and self._n_code_lines[row] >= MIN_CODE_LINES


@dataclass(frozen=True)
class Question:
    """One line that uses one candidate."""

    usage: Usage
    row: int
    gold: int

    @property
    def answer(self) -> str:
        """The next line as it stands, without its end."""
        return self.usage.lines[self.row].removesuffix("\n")

    @property
    def place(self) -> tuple[str, int]:
        """Where it is asked."""
        return self.usage.path, self.row

    @property
    def identity(self) -> tuple[str, ...]:
        """What is asked, which stays when code around it moves."""
        return self.usage.repo, self.usage.path, self.answer.strip()

    def as_row(self) -> Row:
        """The row: the code is the file's text before the line, without the import statements."""
        usage = self.usage
        before = (line for row, line in enumerate(usage.lines[: self.row]) if row not in usage.import_rows)
        return Row(
            repo_name=usage.repo,
            file_path=usage.path,
            context=list(usage.candidates),
            import_statement="\n".join(usage.statements),
            code="".join(before).lstrip("\n"),
            next_line=self.answer,
            gold_snippet_index=self.gold,
        )


def ambiguous_rows(lines: Sequence[str], names: Mapping[str, int], uses: Mapping[int, frozenset[int]]) -> Iterator[int]:
    """Lines that name, in a string, a comment or as an attribute, a candidate they do not use."""
    for row, used in uses.items():
        if not used.issuperset(names[word] for word in _WORD.findall(lines[row]) if word in names):
            yield row
