"""Patches as the published evaluator reads them, by its own quirks and by its recorded numbers."""

from __future__ import annotations

from ingest.contents.patches import edited_lines
from tests.ingest.contents.patch_texts import CHANGE, head


def official(patch: str) -> list[tuple[str, int]]:
    edited = edited_lines(patch, "official")
    assert edited.notes == []
    assert {line.kind for line in edited.lines} <= {"deleted"}
    return [(line.path, line.line) for line in edited.lines]


def test_only_deleted_lines_count() -> None:
    assert official(CHANGE) == [("src/cart.py", 3), ("src/cart.py", 4)]


def test_a_deleted_files_lines_go_to_the_file_above_it() -> None:
    deleted = "--- a/gone.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n"
    assert official(CHANGE + deleted) == [("src/cart.py", 0), *official(CHANGE)]
    assert official(deleted + CHANGE) == official(CHANGE)


def test_a_removed_line_that_starts_with_two_dashes_ends_the_hunk() -> None:
    patch = head("q.sql") + "@@ -1,4 +1,1 @@\n-one\n--- two\n-three\n four\n@@ -9 +7,0 @@\n-nine\n"
    assert official(patch) == [("q.sql", 0), ("q.sql", 8)]


def test_a_hunk_is_as_long_as_its_lines_go_on() -> None:
    assert official(head("a.py") + "@@ -1,1 +1,0 @@\n-one\n \n-three\nindex\n-five\n") == [("a.py", 0), ("a.py", 2)]


def test_an_empty_context_line_without_its_blank_is_not_counted() -> None:
    for empty in ("", "\r"):
        patch = head("a.py") + f"@@ -1,3 +1,1 @@\n-one\n{empty}\n-three\n"
        assert official(patch) == [("a.py", 0), ("a.py", 1)]


def test_an_added_line_that_starts_with_pluses_is_no_name_and_ends_nothing() -> None:
    for added in ("++++ b/other.py", "+++++", "+++ two", "+++"):
        patch = head("a.py") + f"@@ -1,2 +1,2 @@\n-one\n{added}\n-two\n"
        assert official(patch) == [("a.py", 0), ("a.py", 1)], added


def test_a_name_without_its_prefix_is_ignored() -> None:
    plain = "--- b.py\n+++ b.py\n@@ -1 +0,0 @@\n-one\n"
    assert official(plain) == []
    assert official(CHANGE + plain) == [("src/cart.py", 0), *official(CHANGE)]
    assert official(plain.replace("+++ b.py", "+++ a/b.py")) == [("b.py", 0)]
