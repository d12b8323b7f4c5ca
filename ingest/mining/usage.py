"""Questions the RepoBench way: which of a file's imported definitions does its next line use?"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from tree_sitter import Node

from ingest.mining.syntax import text_of

MIN_CANDIDATES, MIN_HARD = 5, 10
"""As RepoBench has it: 5 to 9 candidates are easy, 10 or more hard."""
MIN_CODE_LINES = 3
"""How many lines that are not blank stand before the next one: RepoBench asks with the last three."""

_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Task:
    """A task that may be taken; its identity stays when code around it moves."""

    identity: tuple[str, ...]
    place: tuple[str, int]
    answer: str

    def order(self, seed: str) -> tuple[str, str, int]:
        """What tasks are ordered by before the first are taken: a hash, then the place."""
        identity = "\0".join((*([seed] if seed else []), *self.identity))
        return hashlib.sha256(identity.encode()).hexdigest(), *self.place


@dataclass(frozen=True)
class Usage:
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

    @classmethod
    def of(
        cls,
        repo: str,
        path: str,
        lines: Sequence[str],
        statements: Sequence[Node],
        texts: Mapping[str, str],
        occurrences: Iterable[tuple[int, str, bool]],
        closed: Collection[int] = (),
    ) -> Usage | None:
        """A file's usage; None where it imports too few definitions.

        Given are its import statements, the text of the definition that each name is imported for, and line and name of
        whatever is called so, with whether the name is given there to something else.
        """
        # Two names of one definition are one candidate, and so are two definitions that read the same.
        candidates = list(dict.fromkeys(texts.values()))
        if len(candidates) < MIN_CANDIDATES:
            return None
        names = {name: candidates.index(text) for name, text in texts.items()}
        rows = frozenset(row for node in statements for row in range(node.start_point.row, node.end_point.row + 1))
        used: dict[int, set[int]] = {}
        bound: set[int] = set()
        for row, name, is_bound in occurrences:
            if name in names and row not in rows:
                (bound if is_bound else used.setdefault(row, set())).add(names[name])
        # A line that names, in a string, a comment or as an attribute, a candidate it does not use is none either.
        unclear = {row for row, of in used.items() if not of.issuperset(_named(lines[row], names))}
        return cls(
            repo=repo,
            path=path,
            lines=lines,
            statements=[text_of(node) for node in statements],
            import_rows=rows,
            candidates=candidates,
            uses={row: frozenset(of) for row, of in used.items()},
            unasked=frozenset(bound),
            closed=frozenset(closed) | unclear,
        )

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
        """How many lines of code stand before each line, imports and blank ones not counted."""
        counts = [0]
        for row, line in enumerate(self.lines):
            counts.append(counts[-1] + bool(line.strip() and row not in self.import_rows))
        return counts

    def _is_open(self, row: int, gold: int) -> bool:
        return self.uses[row] == {gold} and row not in self.closed and self._n_code_lines[row] >= MIN_CODE_LINES


@dataclass(frozen=True)
class Question(Task):
    """One line that uses one candidate; the answer is the line as it stands, without its end."""

    usage: Usage
    gold: int

    @classmethod
    def of(cls, usage: Usage, row: int, gold: int) -> Question:
        """The question that a line of a file asks for a candidate."""
        answer = usage.lines[row].removesuffix("\n")
        return cls((usage.repo, usage.path, answer.strip()), (usage.path, row), answer, usage, gold)

    def as_row(self, split: str = "test") -> dict[str, object]:
        """The row as the hub's files hold it: the code is the file's text before the line, without the imports."""
        usage, (path, line) = self.usage, self.place
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


def _named(line: str, names: Mapping[str, int]) -> set[int]:
    return {names[word] for word in _WORD.findall(line) if word in names}
