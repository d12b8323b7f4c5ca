from difflib import SequenceMatcher, unified_diff
from pathlib import Path

import pytest
from git import Repo
from hypothesis import example, given
from hypothesis import strategies as st

from ingest.contents.patches import EditedLine, PatchReading, edit_rows, edited_lines
from lake.tables import table

CHANGE = """\
diff --git a/src/cart.py b/src/cart.py
index 1111111..2222222 100644
--- a/src/cart.py
+++ b/src/cart.py
@@ -3,7 +3,7 @@ class Cart:
 three
-four
-five
+new four
 six
+after six
 seven
 eight
 nine
"""


def head(path: str) -> str:
    return f"--- a/{path}\n+++ b/{path}\n"


def docs(patch: str) -> list[tuple[str, int, str]]:
    """What the reading of `docs-v1` finds in a sound patch."""
    edited, notes = edited_lines(patch, "docs")
    assert notes == []
    return [(line.path, line.line, line.kind) for line in edited]


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
    before = {"gone.py": "a\nb\n", "crlf.py": "1\r\n2\r\n3\r\n", "naïve.py": "1\n2\n3", "old.py": "same\n" * 9 + "e\n"}
    for name, text in before.items():
        (tmp_path / name).write_bytes(text.encode())
    (tmp_path / "picture.png").write_bytes(b"\0\1")
    repo.git.add("-A")
    tree = repo.git.write_tree()
    after = {"crlf.py": "1\r\nx\r\n3\r\n", "naïve.py": "1\n2\ny\n", "new.py": "same\n" * 9 + "fin\n", "born.py": "1\n"}
    for name in ("gone.py", "old.py"):
        (tmp_path / name).unlink()
    for name, text in after.items():
        (tmp_path / name).write_bytes(text.encode())
    (tmp_path / "picture.png").write_bytes(b"\0\2")
    repo.git.add("-A")
    edited, notes = edited_lines(repo.git.diff("--cached", "-M", tree, strip_newline_in_stdout=False), "docs")
    assert [line[:2] for line in edited] == [
        ("crlf.py", 1), ("gone.py", 0), ("gone.py", 1), ("naïve.py", 2), ("old.py", 9)
    ]  # fmt: skip
    assert [note.partition(": ")[2] for note in notes] == ["change of a binary file, without lines"]


_LINES = st.lists(st.sampled_from(["a", "b", "-", "+", "--", "-- a/x", "++ b/x", "@@ -1 +1 @@", "", "\\", "diff "]))


# Lines that look like names, or like heads, when they are taken out or put in.
@example(["-- a comment", "- a list", "kept"], ["kept", "added"], 3)
@example(["-- a/x", "kept", "old"], ["++ b/x", "kept", "new"], 0)
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


_OF_CHANGE = [("src/cart.py", 3), ("src/cart.py", 4)]
_GONE = "--- a/gone.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n"
_PLAIN = "--- b.py\n+++ b.py\n@@ -1 +0,0 @@\n-one\n"
_TWO_DASHES = head("q.sql") + "@@ -1,4 +1,1 @@\n-one\n--- two\n-three\n four\n@@ -9 +7,0 @@\n-nine\n"
OFFICIAL = [
    ("only deleted lines count", CHANGE, _OF_CHANGE),
    ("a deleted file's lines go to the file above it", CHANGE + _GONE, [("src/cart.py", 0), *_OF_CHANGE]),
    ("those before any name are dropped", _GONE + CHANGE, _OF_CHANGE),
    ("a removed line that starts with two dashes ends the hunk", _TWO_DASHES, [("q.sql", 0), ("q.sql", 8)]),
    ("a hunk goes on as its lines do", head("a.py") + "@@ -1,1 +1,0 @@\n-one\n \n-three\nindex\n-five\n",
     [("a.py", 0), ("a.py", 2)]),
    *(("an empty line without its blank is not counted", head("a.py") + f"@@ -1,3 +1,1 @@\n-one\n{empty}\n-three\n",
       [("a.py", 0), ("a.py", 1)]) for empty in ("", "\r")),
    *(("an added line is no name", head("a.py") + f"@@ -1,2 +1,2 @@\n-one\n{added}\n-two\n", [("a.py", 0), ("a.py", 1)])
      for added in ("++++ b/other.py", "+++++", "+++ two", "+++")),
    ("a name without its prefix is ignored", _PLAIN, []),
    ("what follows such a name goes to the file above", CHANGE + _PLAIN, [("src/cart.py", 0), *_OF_CHANGE]),
    ("either prefix will do", _PLAIN.replace("+++ b.py", "+++ a/b.py"), [("b.py", 0)]),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "patch", "lines"), OFFICIAL)
def test_the_published_evaluators_reading(rule: str, patch: str, lines: list[tuple[str, int]]) -> None:
    edited = edited_lines(patch, "official")
    assert edited == ([EditedLine(*line, "deleted") for line in lines], []), rule


def told(patch: str) -> tuple[list[int], str]:
    """The edited lines of a patch with a fault, and what was said of it."""
    edited, notes = edited_lines(patch, "docs")
    assert notes
    return [line.line for line in edited], "; ".join(notes)


def test_a_patch_that_is_cut_off_keeps_what_it_has() -> None:
    lines, notes = told(CHANGE[: CHANGE.index(" seven")])
    assert lines == [3, 4, 5]
    assert notes == ("line 5 of the patch: hunk has more or fewer lines than its header says (src/cart.py)")


def test_lines_beyond_what_the_head_counts_are_left_out() -> None:
    lines, notes = told(head("a.py") + "@@ -1,2 +1,1 @@\n-one\n two\n-three\n-four\n")
    assert lines == [0]
    assert "more or fewer lines than its header says" in notes


def test_a_hunk_of_no_file_is_told() -> None:
    assert told("@@ -1 +0,0 @@\n-one\n") == ([], "line 1 of the patch: hunk without a file: @@ -1 +0,0 @@")
    # A file's names end with the file.
    assert told(CHANGE + "diff --git a/x b/x\n@@ -1 +0,0 @@\n-one\n")[0] == [3, 4, 5]


@pytest.mark.parametrize("line", ["@@", "@@ ... @@", "@@ -1 @@", "@@ -x,1 +1,1 @@", "@@ -99999999999 +1 @@"])
def test_a_head_without_numbers_is_told(line: str) -> None:
    assert told(f"{head('a.py')}{line}\n-one\n") == ([], f"line 3 of the patch: not a hunk header: {line} (a.py)")


def test_binary_changes_are_told_but_for_created_files() -> None:
    changed = "diff --git a/x.png b/x.png\nindex 1..2 100644\nBinary files a/x.png and b/x.png differ\n"
    assert told(changed)[0] == []
    literal = "diff --git a/x b/x\nindex 1..2 100644\nGIT binary patch\nliteral 3\nKcmZQ(000L7\n\nliteral 2\nJcmZQ)\n\n"
    assert told(literal + CHANGE)[0] == [3, 4, 5]
    created = "diff --git a/x.png b/x.png\nnew file mode 100644\nBinary files /dev/null and b/x.png differ\n"
    assert edited_lines(created, "docs") == ([], [])


_PIECES = st.sampled_from(
    ["diff --git a/x b/x", "--- a/x", "+++ b/x", "--- /dev/null", "+++ /dev/null", "--- ", "+++ ", "+++", "---",
     "@@ -1,2 +1,2 @@", "@@ -0 +9 @@", "@@@ -1 -1 +1 @@@", "@@", "-one", "+one", " one", "", "\\ No newline", "\r",
     "rename from y", "new file mode 100644", '--- "a/\\3', '--- "a/\\377"', '"', "Binary files a and b differ", "\0"]
)  # fmt: skip
_PATCHES = st.one_of(st.text(), st.lists(_PIECES).map("\n".join), st.lists(_PIECES).map("\r\n".join))


@given(_PATCHES, st.sampled_from(["docs", "official"]))
def test_any_text_has_sorted_lines_each_once(patch: str, reading: PatchReading) -> None:
    edited = edited_lines(patch, reading)
    places = [(line.path, line.line) for line in edited[0]]
    assert places == sorted(set(places))
    assert all(path and line >= 0 for path, line in places)
    assert edited == edited_lines(patch, reading)
