import re

import pytest

from ingest.benchmarks.contextbench.gold import GoldSpan
from ingest.benchmarks.contextbench.own_gold import WHOLE_FILE, gold_of, locate
from ingest.benchmarks.fields import FieldError, ForeignRow

TEXT = "class Engine:\n    def burn(self):\n        return 1\n\n\ndef burn():\n    return 2\n"
PATHS = "src/rockets/engine.py rockets/__init__.py rockets/tests/a.py tests/a.py tests/b.py setup.py i.ts web/i.ts"
FILES = dict.fromkeys((*PATHS.split(), "packages/x/i.ts"), TEXT.encode())
LINK = "https://github.com/o/r/blob/x/a.py"


@pytest.mark.parametrize(
    ("written", "ranges"),
    [
        ("a.py:1-2,b.py:4", [("a.py", 1, 2), ("b.py", 4, 4)]),
        (" a.py:1-2 ; b.py#L4-L5 ;", [("a.py", 1, 2), ("b.py", 4, 5)]),
        ("a.py:1-2\nb.py 9.py", [("a.py", 1, 2), ("b.py", 1, WHOLE_FILE), ("9.py", 1, WHOLE_FILE)]),
        ("a.py, lines 1-2; b.py 4-5", [("a.py", 1, 2), ("b.py", 4, 5)]),
        ([{"file": "a.py", "line": 4, "end_line": 9, "function": "f"}], [("a.py", 4, 9)]),
        ([{"file": "a.py", "reason": "x", "endLine": None}], [("a.py", 1, WHOLE_FILE)]),
        ([{"file": "a.py", "lineStart": 4}], "of a place, lineStart is not read; name its lines (--gold"),
        ([{"path": "a.py", "grade": 2}, {"path": "b.py", "grade": 0}], [("a.py", 1, WHOLE_FILE)]),
        ([{"where": "a.py", "line": 1}], "a place has where, line; name the key of its path: --gold 'KEY[].PATH'"),
        ({"files": ["a.py"]}, "its keys files are no paths; name the one of its places: --gold KEY.KEY"),
        ("a.py:1-2, 9, b.py:4", [("a.py", 1, 2), ("a.py", 9, 9), ("b.py", 4, 4)]),
        ("my file.py:1-2 b.py", [("my file.py", 1, 2), ("b.py", 1, WHOLE_FILE)]),
        ("['a.py' 'b.py']", [("a.py", 1, WHOLE_FILE), ("b.py", 1, WHOLE_FILE)]),  # as numpy prints a list
        (
            "https://github.com/o/r/blob/x/a.py?plain=1#L4C2-L5C9",
            [("https://github.com/o/r/blob/x/a.py?plain=1", 4, 5)],
        ),
        (
            "https://github.com/o/r/blob/x/a.py#top",
            "the lines of https://github.com/o/r/blob/x/a.py#top cannot be read",
        ),
        ('["my file.py:1-2", "x#2.py"]', [("my file.py", 1, 2), ("x#2.py", 1, WHOLE_FILE)]),
        ({"a.py": ["1-2", 4], "b.py": "4-5; 7"}, [("a.py", 1, 2), ("a.py", 4, 4), ("b.py", 4, 5), ("b.py", 7, 7)]),
        ([{"path": "a.py", "lines": [[1, 2], [4, 5]]}], [("a.py", 1, 2), ("a.py", 4, 5)]),
        ("", []),
        ("a.py:4–5", "'4–5' to '4–5' is no range of lines"),  # as word processors write it
        ("a.py:4:5", "'4:5' may be two lines or a line and a column; write a.py:FIRST-LAST"),
        ({"a.py": [4, 5, 6]}, "to a list of 3 is no range of lines"),
        ([[]], "`file` is a list of 0, not a path"),
    ],
)
def test_several_places_and_ranges(written: object, ranges: str | list[tuple[str, int, int]]) -> None:
    row = ForeignRow({"gold": written}, {"gold": ("gold[]",)})
    if isinstance(ranges, str):
        with pytest.raises(FieldError, match=re.escape(ranges)):
            gold_of(row)
    else:
        assert [span[:3] for span in gold_of(row)] == ranges


def test_lines_that_are_null_are_not_a_whole_file() -> None:
    row = ForeignRow({"gold": [{"path": "a.py", "lines": None}]}, {"gold": ("gold[].path:lines",)})
    with pytest.raises(FieldError, match="a place has no `lines`"):
        gold_of(row)


def meant(path: str, line_end: int = 1) -> tuple[str, int, int] | str:
    """The place that is meant, or the sentence that says why there is none."""
    spans, faults = locate([GoldSpan(path, 1, line_end, None)], "acme/rockets", FILES, FILES)
    return faults[0] if faults else spans[0][:3]


@pytest.mark.parametrize(
    ("written", "path"),
    [
        *((f"{above}src/rockets/engine.py", "src/rockets/engine.py") for above in (
            "", "./", "/", "a/", "b/", "/testbed/", "/workspace/x/", "/repo/", "/usr/x/", "rockets/", "acme/rockets/",
            "acme__rockets/", "rockets-1.2/", "/home/me/rockets/", "C:\\\\me\\\\",
            "https://github.com/acme/rockets/blob/main/", "https://gitlab.com/acme/rockets/-/blob/main/",
            "https://raw.githubusercontent.com/acme/rockets/main/",
        )),
        ("src\\rockets\\engine.py", "src/rockets/engine.py"),
        ("/home/me/rockets/rockets/__init__.py", "rockets/__init__.py"),
        ("/home/me/rockets/setup.py", "setup.py"),
        ("/home/me/src/rockets/tests/b.py", "tests/b.py"),
    ],
)  # fmt: skip
def test_a_path_with_the_folders_above_its_repository_is_the_file_in_it(written: str, path: str) -> None:
    assert meant(written) == (path, 1, 1)


@pytest.mark.parametrize(
    ("written", "near"),
    [
        # The file may be one that is missing from a folder of the repository.
        ("rockets/setup.py", "setup.py"),
        ("/testbed/rockets/setup.py", "setup.py"),
        ("/repo/rockets/tests/b.py", "tests/b.py"),
        ("/repo/packages/new/web/i.ts", "web/i.ts"),
        # It may be one of a folder that is not there.
        ("new/setup.py", "setup.py"),
        ("/new/setup.py", "setup.py"),
        ("/home/me/new/i.ts", "i.ts"),
        ("engine.py", "src/rockets/engine.py"),
    ],
)
def test_another_path_is_refused_with_the_one_that_may_be_meant(written: str, near: str) -> None:
    assert meant(written) == f"its gold file {written} is not in its repository; did you mean {near}?"


@pytest.mark.parametrize("written", ["gone.py", "b.py/x", "src/rockets", "a.py::burn"])
def test_a_path_of_nothing_is_refused(written: str) -> None:
    assert meant(written) == f"its gold file {written} is not in its repository; paths are relative to the repository"


@pytest.mark.parametrize(
    ("name", "lines"),
    [(":Engine", (1, 3)), ("::Engine.burn", (2, 3)), ("::Engine::burn", (2, 3)), (":burn", (6, 7)), ("", (1, 7))],
)
def test_a_definition_is_its_lines(name: str, lines: tuple[int, int]) -> None:
    assert meant(f"/repo/tests/b.py{name}", WHOLE_FILE) == ("tests/b.py", *lines)


def test_a_definition_that_is_not_there_is_refused() -> None:
    reason = "Engine.fly is defined 0 times in setup.py; write setup.py:FIRST-LAST"
    assert meant("setup.py::Engine.fly", WHOLE_FILE) == reason
