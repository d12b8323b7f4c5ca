"""Patches that are none, or not whole: what is wrong is told, and nothing is raised."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.contents.patches import Edited, PatchReading, edited_lines
from tests.ingest.contents.patch_texts import CHANGE, head


def told(patch: str) -> tuple[list[int], str]:
    """The edited lines of a patch with a fault, and what was said of it."""
    edited = edited_lines(patch, "docs")
    assert edited.notes
    return [line.line for line in edited.lines], "; ".join(edited.notes)


def test_a_patch_that_is_cut_off_keeps_what_it_has() -> None:
    lines, said = told(CHANGE[: CHANGE.index(" seven")])
    assert lines == [3, 4, 5]
    assert said == (
        "line 5 of the patch: a hunk that is cut off, or whose head counts other lines than it has (src/cart.py)"
    )


def test_lines_beyond_what_the_head_counts_are_left_out() -> None:
    lines, said = told(head("a.py") + "@@ -1,2 +1,1 @@\n-one\n two\n-three\n-four\n")
    assert lines == [0]
    assert "goes on below what its head counts" in said


def test_a_hunk_of_no_file_is_told() -> None:
    assert told("@@ -1 +0,0 @@\n-one\n") == ([], "line 1 of the patch: a hunk of no file: @@ -1 +0,0 @@")
    # A file's names end with the file.
    assert told(CHANGE + "diff --git a/x b/x\n@@ -1 +0,0 @@\n-one\n")[0] == [3, 4, 5]


@pytest.mark.parametrize("line", ["@@", "@@ ... @@", "@@ -1 @@", "@@ -x,1 +1,1 @@", "@@ -99999999999 +1 @@"])
def test_a_head_without_numbers_is_told(line: str) -> None:
    assert told(f"{head('a.py')}{line}\n-one\n") == ([], f"line 3 of the patch: no hunk's head: {line} (a.py)")


def test_binary_changes_are_told_but_for_created_files() -> None:
    changed = "diff --git a/x.png b/x.png\nindex 1..2 100644\nBinary files a/x.png and b/x.png differ\n"
    assert told(changed)[0] == []
    literal = "diff --git a/x b/x\nindex 1..2 100644\nGIT binary patch\nliteral 3\nKcmZQ(000L7\n\nliteral 2\nJcmZQ)\n\n"
    assert told(literal + CHANGE)[0] == [3, 4, 5]
    created = "diff --git a/x.png b/x.png\nnew file mode 100644\nBinary files /dev/null and b/x.png differ\n"
    assert edited_lines(created, "docs") == Edited([])


_PIECES = st.sampled_from(
    ["diff --git a/x b/x", "--- a/x", "+++ b/x", "--- /dev/null", "+++ /dev/null", "--- ", "+++ ", "+++", "---",
     "@@ -1,2 +1,2 @@", "@@ -0 +9 @@", "@@@ -1 -1 +1 @@@", "@@", "-one", "+one", " one", "", "\\ No newline", "\r",
     "rename from y", "new file mode 100644", '--- "a/\\3', '--- "a/\\377"', '"', "Binary files a and b differ", "\0"]
)  # fmt: skip
_PATCHES = st.one_of(st.text(), st.lists(_PIECES).map("\n".join), st.lists(_PIECES).map("\r\n".join))


@given(_PATCHES, st.sampled_from(["docs", "official"]))
def test_any_text_has_sorted_lines_each_once(patch: str, reading: PatchReading) -> None:
    edited = edited_lines(patch, reading)
    places = [(line.path, line.line) for line in edited.lines]
    assert places == sorted(set(places))
    assert all(path and line >= 0 for path, line in places)
    assert edited == edited_lines(patch, reading)
