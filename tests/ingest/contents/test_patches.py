"""Patches as edited lines, by the reading of `docs-v1`."""

from __future__ import annotations

from difflib import SequenceMatcher, unified_diff
from pathlib import Path

import pytest
from git import Repo
from hypothesis import given
from hypothesis import strategies as st

from ingest.contents.patches import edit_rows, edited_lines
from lake.tables import table
from tests.ingest.contents.patch_texts import CHANGE, head


def docs(patch: str) -> list[tuple[str, int, str]]:
    """What the reading of `docs-v1` finds in a sound patch."""
    edited = edited_lines(patch, "docs")
    assert edited.notes == []
    return [(line.path, line.line, line.kind) for line in edited.lines]


def test_changed_lines_count_and_an_insertion_counts_as_the_line_before_it() -> None:
    assert docs(CHANGE) == [
        ("src/cart.py", 3, "deleted"),
        ("src/cart.py", 4, "deleted"),
        ("src/cart.py", 5, "before-insertion"),
    ]


def test_lines_put_in_above_those_taken_out_are_one_change() -> None:
    assert docs(head("a.py") + "@@ -5,2 +5,2 @@\n+new\n-old\n kept\n") == [("a.py", 4, "deleted")]


def test_created_files_have_no_lines() -> None:
    created = "diff --git a/n.py b/n.py\nnew file mode 100644\n--- /dev/null\n+++ b/n.py\n@@ -0,0 +1,2 @@\n+one\n+two\n"
    assert docs(created) == []
    assert docs("--- /dev/null\n+++ b/n.py\n@@ -0,0 +1 @@\n+one\n" + CHANGE[CHANGE.index("---") :]) == docs(CHANGE)
    emptied = "diff --git a/n.py b/n.py\nnew file mode 100644\n--- a/n.py\n+++ b/n.py\n@@ -0,0 +1 @@\n+one\n"
    assert docs(emptied + CHANGE) == docs(CHANGE)
    copied = "diff --git a/o.py b/n.py\ncopy from o.py\ncopy to n.py\n--- a/o.py\n+++ b/n.py\n@@ -1 +1 @@\n-one\n+two\n"
    assert docs(copied + CHANGE) == docs(CHANGE)


@pytest.mark.parametrize(
    ("old", "new", "path"),
    [
        ("a/x.py", "b/x.py", "x.py"),
        ("b/x.py", "a/x.py", "x.py"),
        ("i/x.py", "w/x.py", "x.py"),
        ("x.py", "x.py", "x.py"),
        ("a/x.py", "a/x.py", "a/x.py"),
        ("src/x.py", "src/x.py", "src/x.py"),
        ("a/b/x.py", "b/b/x.py", "b/x.py"),
        ("a/with blank.py\t", "b/with blank.py\t", "with blank.py"),
        ("a/x.py\t2024-01-01 00:00:00", "b/x.py\t2024-01-01 00:00:00", "x.py"),
        ('"a/na\\303\\257ve.py"', '"b/na\\303\\257ve.py"', "naïve.py"),
        ('"a/\\"q\\"\\t\\\\.py"', '"b/\\"q\\"\\t\\\\.py"', '"q"\t\\.py'),
        ("a/x.py", "/dev/null", "x.py"),
        ("x.py", "/dev/null", "x.py"),
    ],
)
def test_names_lose_the_prefixes_that_diffs_put_before_them(old: str, new: str, path: str) -> None:
    assert docs(f"--- {old}\n+++ {new}\n@@ -1 +0,0 @@\n-one\n") == [(path, 0, "deleted")]


def test_a_removed_line_that_looks_like_a_name_is_a_removed_line() -> None:
    patch = head("q.sql") + "@@ -1,3 +1,2 @@\n--- a comment\n-- a list\n kept\n+added\n"
    assert docs(patch) == [("q.sql", 0, "deleted"), ("q.sql", 1, "deleted"), ("q.sql", 2, "before-insertion")]
    both = head("q.sql") + "@@ -1 +1 @@\n--- a/x\n+++ b/x\n@@ -9 +9 @@\n-old\n+new\n"
    assert docs(both) == [("q.sql", 0, "deleted"), ("q.sql", 8, "deleted")]


def test_line_ends_and_missing_ones_change_nothing() -> None:
    assert docs(CHANGE.replace("\n", "\r\n")) == docs(CHANGE)
    assert docs(CHANGE.replace(" \n", "\n").rstrip("\n")) == docs(CHANGE)
    no_end = "\\ No newline at end of file\n"
    patch = head("a.py") + f"@@ -1,2 +1,3 @@\n one\n-two\n{no_end}+two\n+three\n{no_end}"
    assert docs(patch) == [("a.py", 1, "deleted")]


def test_what_stands_around_a_patch_is_no_part_of_it() -> None:
    mail = "From 123 Mon Sep 17\nSubject: [PATCH] x\n\n---\n src/cart.py | 4 ++--\n\n"
    assert docs(f"{mail}{CHANGE}-- \n2.39.1\n") == docs(CHANGE)
    assert docs("") == docs("no patch at all\n- a list\n+ of things\n") == []


def test_what_git_writes_is_read_as_it_was_changed(tmp_path: Path) -> None:
    repo = Repo.init(tmp_path)
    before = {
        "gone.py": "odd\nends\n",
        "crlf.py": "1\r\n2\r\n3\r\n",
        "naïve.py": "1\n2\n3",
        "old.py": "same\n" * 9 + "end\n",
    }
    for name, text in before.items():
        (tmp_path / name).write_bytes(text.encode())
    (tmp_path / "picture.png").write_bytes(b"\0\1")
    repo.git.add("-A")
    tree = repo.git.write_tree()
    after = {
        "crlf.py": "1\r\nzwei\r\n3\r\n",
        "naïve.py": "1\n2\ndrei\n",
        "new.py": "same\n" * 9 + "fin\n",
        "born.py": "1\n",
    }
    for name in ("gone.py", "old.py"):
        (tmp_path / name).unlink()
    for name, text in after.items():
        (tmp_path / name).write_bytes(text.encode())
    (tmp_path / "picture.png").write_bytes(b"\0\2")
    repo.git.add("-A")
    edited = edited_lines(repo.git.diff("--cached", "-M", tree, strip_newline_in_stdout=False), "docs")
    assert [line[:2] for line in edited.lines] == [
        ("crlf.py", 1), ("gone.py", 0), ("gone.py", 1), ("naïve.py", 2), ("old.py", 9)
    ]  # fmt: skip
    assert [note.partition(": ")[2] for note in edited.notes] == ["a binary file's change has no lines"]


_LINES = st.lists(st.sampled_from(["a", "b", "-", "+", "--", "-- a/x", "++ b/x", "@@ -1 +1 @@", "", "\\", "diff "]))


@given(_LINES, _LINES, st.integers(0, 3))
def test_edits_equal_the_definition(before: list[str], after: list[str], n_context: int) -> None:
    lines = [f"{line}\n" for line in before], [f"{line}\n" for line in after]
    patch = "".join(unified_diff(*lines, "a/x", "b/x", n=n_context))
    changes = [change for change in SequenceMatcher(None, *lines).get_opcodes() if change[0] != "equal"]
    expected = {("x", line, "deleted") for _, start, end, _, _ in changes for line in range(start, end)}
    inserted = [start for kind, start, *_ in changes if kind == "insert"]
    expected |= {("x", max(start - 1, 0), "before-insertion") for start in inserted}
    assert docs(patch) == sorted(expected)


def test_rows_have_both_readings_and_an_item_without_a_patch_has_none() -> None:
    rows, notes = edit_rows("gold", [("one", CHANGE), ("two", None), ("three", CHANGE[:-6])])
    assert rows.select("item_id", "reading").group_by("item_id", "reading").len().sort("item_id", "reading").rows() == [
        ("one", "docs", 3), ("one", "official", 2), ("three", "docs", 3), ("three", "official", 2)
    ]  # fmt: skip
    table("edits").schema.validate(rows)
    assert [item for item, _ in notes] == ["three"]
