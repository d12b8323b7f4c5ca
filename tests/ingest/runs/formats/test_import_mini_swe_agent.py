import pytest

from ingest.runs.formats.mini_swe_agent import views_of_command
from ingest.runs.trajectory import FileSpan, in_repository, spans_named


def test_several_lines_may_follow_one_file_and_reversed_ones_are_swapped() -> None:
    text = (
        "File: a.py\nLines: 9-3\nLines: 5 - 6\n\nFile: b.py\nFile: c.py\r\n  Lines: 1-1 (all)\r\nLines: x-y\nLines: 4"
    )
    assert spans_named(text) == [FileSpan("a.py", 3, 9), FileSpan("a.py", 5, 6), FileSpan("c.py", 1, 1)]


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ("/testbed/a.py", "a.py"), ("./a.py", "a.py"), ("/a/b.py", "a/b.py"), ("'a.py'", "a.py"),
        ("/home/rockets/src/a.py", "src/a.py"), ("/home/other/src/a.py", "other/src/a.py"), ("/home/rockets/", ""),
        ("/home/fix.patch", ""), ("../a.py", "../a.py"), ("a/./b.py", "a/./b.py"),
    ],
)  # fmt: skip
def test_a_path_loses_where_the_repository_lay(given: str, path: str) -> None:
    assert in_repository(given, "rockets") == path


@pytest.mark.parametrize(
    ("command", "views"),
    [
        ("nl -ba /testbed/a.py | sed -n '3,9p'", [FileSpan("/testbed/a.py", 3, 9)]),
        (
            "cd x && sed -n 3,9p a.py || head -n 5 b.go; cat c.rs",
            [FileSpan("a.py", 3, 9), FileSpan("b.go", 1, 5), FileSpan("c.rs")],
        ),
        ("grep -rn 'def f' a.py b.py", [FileSpan("a.py")]),
        ("grep -n x src", []),
        ("cat a.py | head -n 5", [FileSpan("a.py")]),
        ("cat notes.txt; cat 'a.py'", [FileSpan("a.py")]),
        ("cat a.py && cat a.py", [FileSpan("a.py")]),
        ("sed -i s/x/y/ a.py && cat a.py", []),
        ("cat > a.py", []),
        ("cat a.py; rm -r b", []),
        ("git add a.py; cat a.py", []),
        ("", []),
    ],
)
def test_a_command_shows_the_files_it_reads(command: str, views: list[FileSpan]) -> None:
    assert views_of_command(command) == views


def test_a_command_made_to_break_a_pattern_is_soon_read() -> None:
    for text in (
        "nl " * 50_000,
        "grep " * 50_000,
        "sed -n 1,2p " * 20_000,
        "cat " + "a" * 10**6,
        "nl a" + " |" * 10**5,
    ):
        assert views_of_command(text) == []
