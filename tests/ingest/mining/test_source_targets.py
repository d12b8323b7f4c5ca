"""What the sample asks for: bodies, lines and the prompts before them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tree_sitter import Node

from ingest.mining.miner import Recipe, mine_completions, mine_functions, prompt_before
from ingest.mining.names import UNREADABLE, SourceFiles
from ingest.mining.syntax import is_own_code, lines_of, parsed
from ingest.mining.targets import LENGTH, NESTED, NO_BODY, Target, function_targets, line_targets
from lake.offsets import split_lines
from lake.text import regex_tokens

SOURCE = '''\
import x


class Box:
    """A box."""

    def documented(self, a):
        """Add.

        Twice.
        """
        # why
        b = a
        c = b

        return c  # the end
        # after

    def bare(self):
        a = 1
        b = 2
        return a

    def short(self):
        """Short."""
        a = 1
        return a

    @typing.overload
    def declared(self):
        """Overload."""
        a = 1
        b = 2
        return a

    @property
    def decorated(self):
        "Single quotes."
        a = 1
        b = """x
        y"""


async def outer():
    r"""Raw."""
    def inner():
        """Nested."""
        a = 1
        b = 2
        return a
    return inner


def joined():
    """On one line."""; a = 1
    b = 2
    return a


def formatted():
    f"""No docstring {x}."""
    """Nor this."""
    b = 2
    return a
'''


def targets(of: Callable[[list[str], Node], Iterator[Target]], lines: list[str]) -> list[Target]:
    root = parsed(lines, "python")
    assert root is not None
    return list(of(lines, root))


def test_targets_are_the_bodies_of_documented_functions() -> None:
    lines = split_lines(SOURCE)
    found = {target.identity: "".join(lines[target.start : target.end]) for target in targets(function_targets, lines)}
    assert list(found) == ["Box.documented#1", "Box.decorated#1", "outer#1"]
    assert found["Box.documented#1"] == "        b = a\n        c = b\n\n        return c  # the end\n"
    assert found["Box.decorated#1"] == '        a = 1\n        b = """x\n        y"""\n'
    assert found["outer#1"].startswith("    def inner():\n")
    assert found["outer#1"].endswith("    return inner\n")
    assert [target.name for target in targets(function_targets, lines)] == ["documented", "decorated", "outer"]


BODY = "a();\nb();\nc();\n"


@pytest.mark.parametrize(
    ("path", "text", "identities"),
    [
        ("a.js", f"class A {{ m(x) {{\n{BODY}}} }}\nconst f = (x) => {{\n{BODY}}};\n", ["A.m#1", "f#1"]),
        ("a.ts", f"class A {{ m(x: number): void {{\n{BODY}}} }}\n", ["A.m#1"]),
        ("a.tsx", f"function g(): void {{\n{BODY}}}\n", ["g#1"]),
        ("A.java", f"class A {{ A() {{\n{BODY}}}\nint m(int x) {{\n{BODY}}} }}\n", ["A.A#1", "A.m#1"]),
        ("a.go", f"package a\nfunc (s *S) F(x int) int {{\n{BODY}}}\n", ["S.F#1"]),
        ("a.rs", f"impl A {{ fn f(&self) -> i32 {{\n{BODY}}} }}\n", ["A.f#1"]),
        ("a.c", f"int f(int x) {{\n{BODY}}}\n", ["f#1"]),
        ("a.cpp", f"int A::f(int x) {{\n{BODY}}}\n", ["A.f#1"]),
        ("A.cs", f"class A {{ int F(int x) {{\n{BODY}}} }}\n", ["A.F#1"]),
        ("a.php", f"<?php\nfunction f($x) {{\n{BODY}}}\n", ["f#1"]),
        ("a.rb", "class A\n  def f(x)\n    a()\n    b()\n    c()\n  end\nend\n", ["A.f#1"]),
        ("a.swift", "class A { func f(x: Int) -> Int {\na()\nb()\nreturn x\n} }\n", ["A.f#1"]),
        ("a.kt", "class A {\nfun f(x: Int): Int {\na()\nb()\nreturn x\n}\n}\n", ["A.f#1"]),
        ("a.scala", "object A {\ndef f(x: Int): Int = {\na()\nb()\nx\n}\n}\n", ["A.f#1"]),
        ("a.py", "def f(x):\n    a()\n    b()\n    c()\n", ["f#1"]),
    ],
)
def test_functions_are_found_in_every_language(path: str, text: str, identities: list[str]) -> None:
    found = list(mine_functions("owner/any", SourceFiles({path: text.encode()}, Counter())))
    assert [task.target.identity for task in found] == identities
    assert all(task.answer.count("\n") == 3 for task in found)


def test_what_is_no_completion_is_counted_by_rule() -> None:
    inner = f"function f() {{\nfunction g() {{\n{BODY}}}\n}}\n"
    files = {"a.js": f"{inner}const h = () => 1;\nfunction k() {{ a(); }}\n", "b.js": "function (", "test/a.js": inner}
    contents = {path: text.encode() for path, text in files.items()}
    left_out: Counter[str] = Counter()
    assert [task.target.identity for task in mine_functions("owner/any", SourceFiles(contents, left_out))] == ["f#1"]
    assert left_out == {NESTED: 1, NO_BODY: 1, LENGTH: 1, UNREADABLE: 1}


def test_a_body_of_more_than_28_lines_is_no_target() -> None:
    def lines(n: int) -> list[str]:
        return split_lines('def f():\n    """D."""\n' + "    a = 1\n" * n)

    assert [len(targets(function_targets, lines(n))) for n in (2, 3, 28, 29)] == [0, 1, 1, 0]


def test_two_functions_of_one_name_are_told_apart() -> None:
    lines = split_lines(('def f():\n    """D."""\n' + "    a = 1\n" * 3) * 2)
    assert [target.identity for target in targets(function_targets, lines)] == ["f#1", "f#2"]


def test_a_file_that_does_not_parse_has_no_targets() -> None:
    lines = split_lines(SOURCE + "\ndef (:\n")
    recipe = Recipe("acme/pets")
    assert mine_completions({"a.py": "".join(lines).encode()}, recipe) == {"function": [], "line": []}


def test_lines_worth_asking_for_are_code_inside_functions() -> None:
    text = (
        "a = call(b, c, d)\n"
        "def f(x):\n"
        "    # result = call(x, 1)\n"
        "    first = call(x, 1)\n"
        "\n"
        "    after_blank = call(x, 2)\n"
        "    x = 1\n"
        '    text = """many = lines(of, text)\n'
        "    many = lines(of, text)\n"
        '    """\n'
        "    last = call(x, 3)\n"
    )
    lines = split_lines(text)
    assert [lines[target.start].strip() for target in targets(line_targets, lines)] == [
        "first = call(x, 1)",
        "last = call(x, 3)",
    ]


def test_lines_are_counted_one_way_or_not_at_all() -> None:
    assert lines_of(b"a\r\nb\n\x0cc\n") == ["a\n", "b\n", "\x0cc\n"]
    assert lines_of(b"a\rb\n") is None
    assert lines_of(b"\xff\n") is None


@pytest.mark.parametrize(
    ("path", "own"),
    [
        ("click/core.py", True),
        ("click/testing.py", True),
        ("attr/contest.py", True),
        ("x/tests/a.py", False),
        ("x/test/a.py", False),
        ("x/test_a.py", False),
        ("x/a_test.py", False),
        ("conftest.py", False),
        ("x/benchmarks/a.py", False),
    ],
)
def test_tests_and_benchmarks_are_searched_and_not_asked_for(path: str, own: bool) -> None:
    assert is_own_code(path) is own


def test_a_prompt_is_cut_before_a_token() -> None:
    lines = ["alpha = 1\n", "  beta = alpha + 2\n", "\n", "hole\n"]
    assert prompt_before(lines, 3, 99) == ("alpha = 1\n  beta = alpha + 2", 0)
    assert prompt_before(lines, 3, 5) == ("beta = alpha + 2", 1)
    assert prompt_before(lines, 3, 3) == ("alpha + 2", 1)
    assert prompt_before(lines, 3, 6) == ("1\n  beta = alpha + 2", 0)
    assert prompt_before(lines, 0, 6) == ("", 0)


@given(st.text(alphabet="ab1_ =é²\n", max_size=60), st.integers(1, 12))
def test_a_prompt_is_the_end_of_the_text_and_holds_the_last_tokens(text: str, limit: int) -> None:
    lines = split_lines(text)
    prompt, start = prompt_before(lines, len(lines), limit)
    assert "".join(lines[start:]).rstrip().endswith(prompt)
    assert regex_tokens(prompt) == regex_tokens(text)[-limit:]
    assert len("".join(lines[start:]).rstrip()) - len(prompt) <= len(lines[start]) if lines else prompt == ""


def test_a_recipe_says_what_is_mined_of_a_tree_how_much_and_which() -> None:
    functions = "".join(
        f'def f{n}():\n    """D."""\n    a = call(x, {n})\n    b = a\n    return b\n\n\n' for n in range(6)
    )
    files = {"pkg/a.py": functions.encode(), "pkg/bad.py": b"\xff", "tests/a.py": functions.encode(), "a.txt": b""}
    every = mine_completions(files, Recipe("owner/pkg"))
    assert {level: len(found) for level, found in every.items()} == {"function": 6, "line": 6}
    few = mine_completions(files, Recipe("owner/pkg", limit=2))["function"]
    assert len(few) == 2
    assert few[0].row(0, 99)["metadata"] == {
        "task_id": "owner--pkg/idx",
        "ground_truth": few[0].answer,
        "fpath_tuple": ["owner_pkg", "pkg", "a.py"],
        "context_start_lineno": 0,
        "lineno": few[0].target.start,
        "function_name": few[0].target.name,
    }
