"""Patches: the lines of old files that a unified diff edits, by two readings, and the definitions around them."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple, get_args

import dataframely as dy
import polars as pl

from ingest.contents.definitions import definitions_of, ending_of
from lake.offsets import split_lines
from lake.tables import table
from lake.tables.of_runs import Edits
from lake.text import decode, language_of

PatchReading = Literal["docs", "official"]
DELETED, BEFORE_INSERTION = "deleted", "before-insertion"

# Longer numbers are not taken for positions.
_HUNK = re.compile(r"@@ -(\d{1,10})(?:,(\d{1,10}))? \+(\d{1,10})(?:,(\d{1,10}))? @@")
_NOWHERE = "/dev/null"
_QUOTED = re.compile(r'"((?:[^"\\]|\\(?:[abtnvfr"\\]|[0-3][0-7]{2}))*)"\s*')


class EditedLine(NamedTuple):
    """A line of the old file, from 0: `deleted`, or `before-insertion` if it precedes a pure insertion."""

    path: str
    line: int
    kind: str


def edited_lines(patch: str, reading: PatchReading) -> tuple[list[EditedLine], list[str]]:
    """The lines of the old files that a patch edits, and notes on the parts that cannot be read.

    `docs`, the reading in the benchmark's description: lines that the patch deletes or changes. A pure insertion counts
    as the line before it, at the head of a file as its first line; created and copied files have no lines. As for `git
    apply`, hunks end where their heads say.

    `official`, the published evaluator's: deleted lines only, under the name in the last `+++ a/…` or `+++ b/…` line;
    a hunk ends at a line that cannot be part of one or starts with `---`.
    """
    # JSON may contain half a surrogate pair, which cannot be stored.
    lines = patch.encode(errors="replace").decode().removesuffix("\n").split("\n")
    return (_official(lines), []) if reading == "official" else _docs(lines)


def edit_rows(
    run_id: str, patches: Iterable[tuple[str, str | None]]
) -> tuple[dy.DataFrame[Edits], list[tuple[str, str]]]:
    """The lines that the patches of items edit under both readings, and (item, note) for every fault in a patch."""
    rows: list[tuple[str, str, str, str, int, str]] = []
    notes: list[tuple[str, str]] = []
    for item_id, patch in patches:
        for reading in get_args(PatchReading):
            edited, faults = edited_lines(patch or "", reading)
            rows += [(run_id, item_id, reading, *line) for line in edited]
            notes += [(item_id, fault) for fault in faults]
    return Edits.cast(pl.DataFrame(rows, schema=table("edits").columns, orient="row")), notes


def _official(lines: list[str]) -> list[EditedLine]:
    edited: set[EditedLine] = set()
    path, old = "", -1
    for line in lines:
        if match := re.fullmatch(r"\+\+\+ [ab]/(.+)", line, re.DOTALL):
            path, old = match[1], -1
        elif line.startswith("---"):
            old = -1
        elif head := _HUNK.match(line):
            old = int(head[1]) - 1
        elif old < 0 or line.startswith(("+", "\\")) or line in {"", "\r"}:
            continue
        elif line.startswith("-"):
            edited |= {EditedLine(path, old, DELETED)} if path else set()
            old += 1
        else:
            old = old + 1 if line.startswith(" ") else -1
    return sorted(edited)


def _docs(lines: list[str]) -> tuple[list[EditedLine], list[str]]:
    kinds: dict[tuple[str, int], str] = {}
    notes: list[str] = []
    path, is_new, is_created, at = "", False, False, 0
    while at < len(lines):
        line, start, fault = lines[at].removesuffix("\r"), at, ""
        at += 1
        if line.startswith("@@"):
            edited, at, fault = _hunk(lines, start) if path else ([], at, f"hunk without a file: {line}")
            for number, kind in edited if not is_created else ():
                if kind == DELETED or (path, number) not in kinds:
                    kinds[path, number] = kind
        elif line.startswith("diff "):
            path, is_new = "", False
        elif _is_head(lines, start):
            path, is_created = _path(*map(_named, lines[start : start + 2]), is_new=is_new)
            is_new, at = False, start + 2
        elif line.startswith(("new file mode ", "copy from ")):
            is_new = True
        elif line.startswith(("Binary files ", "GIT binary patch")) and not is_new:
            fault = "change of a binary file, without lines"
        if fault:
            notes.append(f"line {start + 1} of the patch: {fault}" + (f" ({path})" if path else ""))
    return sorted(EditedLine(path, line, kind) for (path, line), kind in kinds.items()), notes


def _is_head(lines: list[str], at: int) -> bool:
    """Whether a file's two name lines start at line `at`; a `---` alone is a separator in a mail or a removed line."""
    return lines[at].startswith("--- ") and at + 1 < len(lines) and lines[at + 1].startswith("+++ ")


def _path(old: str, new: str, *, is_new: bool) -> tuple[str, bool]:
    """The file that the hunks below two name lines edit, and whether it is created (then it has no old lines)."""
    if is_new or old == _NOWHERE:
        return new, True
    # The prefixes are `a/` and `b/`, those of diff.mnemonicPrefix, or none.
    is_prefixed = old.startswith("a/") if new == _NOWHERE else old[1:2] == new[1:2] == "/" and old[0] != new[0]
    return (old[2:] or old) if is_prefixed else old, False


def _hunk(lines: list[str], at: int) -> tuple[list[tuple[int, str]], int, str]:
    """The lines that the hunk at a line edits, each with its kind, then where the hunk ends, and its fault."""
    head = _HUNK.match(lines[at])
    if head is None:
        return [], at + 1, f"not a hunk header: {lines[at].rstrip()}"
    start, n_old, _, n_new = (int(number) for number in head.groups(default="1"))
    # If a hunk has no old lines, its head gives the line before it.
    old = max(start - 1, 0) if n_old else start
    marks, at = list[str](), at + 1
    while (n_old > 0 or n_new > 0) and at < len(lines):
        # Editors strip the blank of an empty context line.
        mark = lines[at].rstrip("\r")[:1] or " "
        if mark not in " -+\\":
            break
        marks.append(mark)
        n_old -= mark in " -"
        n_new -= mark in " +"
        at += 1
    edited = list[tuple[int, str]]()
    # A line `\` only says that the one above has no line end.
    for run in re.findall(r" +|[-+]+", "".join(marks).replace("\\", "")):
        n_deleted = run.count("-")
        edited += [(old + number, DELETED) for number in range(n_deleted)]
        if n_deleted == 0 and "+" in run:
            edited.append((max(old - 1, 0), BEFORE_INSERTION))
        old += n_deleted + run.count(" ")
    # The next lines may be another file's names, or the signature of a mailed patch.
    goes_on = at < len(lines) and lines[at][:1] in {"+", "-"} and not _is_head(lines, at)
    is_wrong = (n_old, n_new) != (0, 0) or (goes_on and lines[at].rstrip() not in {"--", "---"})
    return edited, at, "hunk has more or fewer lines than its header says" if is_wrong else ""


def _named(line: str) -> str:
    r"""The file name in a `---` or `+++` line; git quotes one with unusual bytes: `"na\303\257ve"`."""
    name = line[4:].removesuffix("\r")
    if quoted := _QUOTED.fullmatch(name):
        return quoted[1].encode().decode("unicode_escape").encode("latin-1").decode(errors="replace")
    # A time may follow a tab.
    return name.partition("\t")[0].strip()


def edited_sources(patch: str) -> dict[str, list[int]]:
    """The existing files of known languages that a patch edits, each with the edited lines, from 0."""
    edited: dict[str, list[int]] = {}
    for path, line, _ in edited_lines(patch, "docs")[0]:
        if language_of(path):
            edited.setdefault(path, []).append(line)
    return edited


def surroundings_of(data: bytes, path: str, lines: Sequence[int]) -> tuple[list[tuple[int, int]], set[str]]:
    """The innermost definitions around lines, from 0 (or the line alone), as disjoint spans; all names around."""
    text, _ = decode(data)
    definitions = definitions_of(text, ending_of(path))[0].get("docs", [])
    # Of definitions of over 100 lines, a shorter one inside, or the line alone, is meant.
    short = [each for each in definitions if each.line_end - each.line_start <= 100]
    n_lines = len(split_lines(text))
    covered, names = set[int](), set[str]()
    for line in lines:
        around = [definition for definition in short if definition.line_start <= line < definition.line_end]
        inner = min(around, key=lambda each: each.line_end - each.line_start, default=None)
        start, end = (line, line + 1) if inner is None else (inner.line_start, inner.line_end)
        names |= {definition.name for definition in around if definition.name}
        covered.update(range(start, min(end, n_lines)))
    starts = sorted(line for line in covered if line - 1 not in covered)
    ends = sorted(line + 1 for line in covered if line + 1 not in covered)
    return list(zip(starts, ends, strict=True)), names


def gold_of_patch(patch: str, files: Mapping[str, bytes]) -> list[tuple[str, int, int]]:
    """The gold spans of a patch in the given files: path and lines, from 0 and half-open."""
    return [
        (path, *span)
        for path, lines in sorted(edited_sources(patch).items())
        if path in files
        for span in surroundings_of(files[path], path, lines)[0]
    ]
