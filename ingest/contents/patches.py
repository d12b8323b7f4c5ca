"""Patches as lines of the old file: which lines a unified diff edits, by two readings."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import polars as pl

from lake.tables import table

Reading = Literal["docs", "official"]

READINGS: tuple[Reading, ...] = ("docs", "official")

DELETED = "deleted"
BEFORE_INSERTION = "before-insertion"

# A position of more than ten digits is none.
_HUNK = re.compile(r"@@ -(\d{1,10})(?:,(\d{1,10}))? \+(\d{1,10})(?:,(\d{1,10}))? @@")
_NEW_NAME = re.compile(r"\+\+\+ [ab]/(.+)", re.DOTALL)
_NOWHERE = "/dev/null"
# What git puts before the old and the new name: plain, `diff.mnemonicPrefix` and `--no-index`; turned round by `-R`.
_PREFIXES = frozenset(
    pair for one, other in ("ab", "iw", "ci", "cw", "ow", "12") for pair in ((one, other), (other, one))
)
_QUOTED = re.compile(rb'\\([0-7]{3}|[abtnvfr"\\])')
_ESCAPES = dict(zip(b'abtnvfr"\\', b'\a\b\t\n\v\f\r"\\', strict=True))


class EditedLine(NamedTuple):
    """A line of the old file that a patch edits.

    Attributes:
        line: From 0.
        kind: `deleted`, or `before-insertion` for the line that a pure insertion follows.
    """

    path: str
    line: int
    kind: str


@dataclass
class Edited:
    """What a reading finds in a patch."""

    lines: list[EditedLine]
    notes: list[str] = field(default_factory=list)


def edited_lines(patch: str, reading: Reading) -> Edited:
    """The lines of the old files that a patch edits.

    `docs`, the brief's: lines that the patch deletes or changes. An insertion that changes no line counts as the line
    before it, at a file's head as its first line. Created and copied files have none, a renamed file goes by its old
    name.
    Hunks are as long as their heads say, as `git apply` and `patch` have it: what follows is none of theirs.

    `official`, the published evaluator's: deleted lines alone, under the name of the last `+++ a/…` or `+++ b/…` line,
    which keeps a carriage return at its end. Other names are ignored, as is `/dev/null`: a deleted file's lines go to
    the file above it, and those before any name are dropped. A hunk runs until a line that is none of a hunk's or
    starts `---`, as a removed line that starts `--` does. An empty context line whose blank an editor stripped is not
    counted.

    Never raises: what cannot be read is left out and noted.
    """
    # Half a surrogate pair, which JSON can hold, is no text to store.
    lines = patch.encode(errors="replace").decode().split("\n")
    if not lines[-1]:
        lines.pop()
    return _official(lines) if reading == "official" else _Docs(lines).read()


def edit_rows(run_id: str, patches: Iterable[tuple[str, str | None]]) -> tuple[pl.DataFrame, list[tuple[str, str]]]:
    """Patches by item as rows of the table `edits` under both readings, and (item, note) for every fault in one.

    Args:
        run_id: The run the patches are of, or `gold`.
        patches: (item_id, patch); an item without a patch has no rows.
    """
    rows: list[tuple[str, str, str, str, int, str]] = []
    notes: list[tuple[str, str]] = []
    for item_id, patch in patches:
        for reading in READINGS:
            edited = edited_lines(patch or "", reading)
            rows += [(run_id, item_id, reading, *line) for line in edited.lines]
            # The official reading has no view of its own on what a sound patch is.
            notes += [(item_id, note) for note in edited.notes if reading == "docs"]
    return pl.DataFrame(rows, schema=table("edits").columns, orient="row"), notes


def _official(lines: list[str]) -> Edited:
    found: set[EditedLine] = set()
    path, old = "", -1
    for line in lines:
        if named := _NEW_NAME.fullmatch(line):
            path, old = named[1], -1
        elif line.startswith("---"):
            old = -1
        elif head := _HUNK.match(line):
            old = int(head[1]) - 1
        elif old < 0 or line.startswith(("+", "\\")) or line in {"", "\r"}:
            continue
        elif line.startswith("-"):
            found |= {EditedLine(path, old, DELETED)} if path else set()
            old += 1
        else:
            old = old + 1 if line.startswith(" ") else -1
    return Edited(sorted(found))


class _Docs:
    """One pass over a patch's lines by the `docs` reading."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.at = 0
        self.kind: dict[tuple[str, int], str] = {}
        self.notes: list[str] = []
        self._new_file()

    def read(self) -> Edited:
        while self.at < len(self.lines):
            line = self.lines[self.at].removesuffix("\r")
            if line.startswith("@@"):
                self._hunk(line)
                continue
            if line.startswith("diff "):
                self._new_file(line)
            elif self._is_head():
                self._name()
                self.at += 1
            elif line.startswith(("new file mode ", "copy from ")):
                self.is_new = True
            elif line.startswith("rename from "):
                self.renamed = _unquoted(line.removeprefix("rename from "))
            elif line.startswith(("Binary files ", "GIT binary patch")) and not self.is_new:
                self._note("a binary file's change has no lines")
            self.at += 1
        return Edited(sorted(EditedLine(path, line, kind) for (path, line), kind in self.kind.items()), self.notes)

    def _new_file(self, diff_line: str = "") -> None:
        self.diff_line = diff_line
        self.path = self.renamed = ""
        self.is_new = self.is_created = False

    def _is_head(self) -> bool:
        """Whether a file's two names stand here; a `---` alone is a mail's rule or a removed line."""
        return self._starts(0, "--- ") and self._starts(1, "+++ ")

    def _starts(self, ahead: int, mark: str) -> bool:
        at = self.at + ahead
        return at < len(self.lines) and self.lines[at].startswith(mark)

    def _name(self) -> None:
        old, new = (_named(self.lines[at]) for at in (self.at, self.at + 1))
        self.is_created = self.is_new or old == _NOWHERE
        (first, _, rest), other = old.partition("/"), new.partition("/")[0]
        if new == _NOWHERE:
            # Nothing to compare with but the line above, which has an unprefixed name twice.
            is_prefixed = first == "a" and not self.diff_line.endswith(f" {old} {old}")
        else:
            is_prefixed = (first, other) in _PREFIXES
        self.path = new if self.is_created else self.renamed or (rest if is_prefixed and rest else old)
        self.renamed, self.is_new = "", False

    def _hunk(self, line: str) -> None:
        head = _HUNK.match(line)
        if head is None or not self.path:
            combined = "a hunk of a merge, with no one old file" if line.startswith("@@@") else "no hunk's head"
            self._note(f"{combined if head is None else 'a hunk of no file'}: {line}")
            self.at += 1
            return
        start, n_old, _, n_new = (int(number or 1) for number in head.groups(default="1"))
        where, self.at = self.at, self.at + 1
        # Without old lines a hunk's head names the line before it.
        old = max(start - 1, 0) if n_old else start
        deleted: list[int] = []
        inserts = False
        while n_old > 0 or n_new > 0:
            mark = self._mark(n_old, n_new)
            if not mark:
                break
            if mark == " ":
                self._change(deleted, old, inserts=inserts)
                deleted, inserts = [], False
            elif mark == "-":
                deleted.append(old)
            elif mark == "+":
                inserts = True
            n_old -= mark in " -"
            n_new -= mark in " +"
            old += mark in " -"
            self.at += 1
        self._change(deleted, old, inserts=inserts)
        if (n_old, n_new) != (0, 0):
            self._note("a hunk that is cut off, or whose head counts other lines than it has", where)
        elif self.at < len(self.lines) and self.lines[self.at][:1] in {"+", "-"} and not self._ends_here():
            self._note("a hunk that goes on below what its head counts; the rest is left out", where)

    def _mark(self, n_old: int, n_new: int) -> str:
        """What the line is to a hunk that wants so many more: its first character, or nothing where the hunk ends."""
        if self.at == len(self.lines):
            return ""
        # Between a hunk's lines two names above another hunk's head are names, unless they are just what is missing.
        if self._is_head() and self._starts(2, "@@ -") and (n_old, n_new) != (1, 1):
            return ""
        mark = self.lines[self.at][:1]
        # Editors strip the blank of an empty context line.
        mark = " " if mark in {"", "\r"} else mark
        return mark if mark in " -+\\" else ""

    def _ends_here(self) -> bool:
        """Whether another file's names follow, or the signature below a mailed patch."""
        return self._is_head() or self.lines[self.at].rstrip() in {"--", "---"}

    def _change(self, deleted: list[int], old: int, *, inserts: bool) -> None:
        """Take note of neighbouring changed lines; `old` is the line after them."""
        if self.is_created:
            return
        for line in deleted:
            self.kind[self.path, line] = DELETED
        if inserts and not deleted:
            self.kind.setdefault((self.path, max(old - 1, 0)), BEFORE_INSERTION)

    def _note(self, what: str, at: int | None = None) -> None:
        line = (self.at if at is None else at) + 1
        self.notes.append(f"line {line} of the patch: {what}" + (f" ({self.path})" if self.path else ""))


def _named(line: str) -> str:
    """The name in a `---` or `+++` line, without the time that may follow a tab."""
    named = line[4:].removesuffix("\r")
    return _unquoted(named) if named.startswith('"') else named.partition("\t")[0].strip()


def _unquoted(name: str) -> str:
    r"""A name as git writes it where bytes are odd: `"na\303\257ve"`."""
    name = name.rstrip()
    if not (name.startswith('"') and name.endswith('"') and len(name) > 1):
        return name

    def byte(match: re.Match[bytes]) -> bytes:
        escape = match[1]
        return bytes([int(escape, 8) & 0xFF if escape.isdigit() else _ESCAPES[escape[0]]])

    return _QUOTED.sub(byte, name[1:-1].encode()).decode(errors="replace")
