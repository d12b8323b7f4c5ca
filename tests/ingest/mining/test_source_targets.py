from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.mining.miner import LENGTH, NESTED, NO_BODY, choose, mine_functions, prompt_before
from ingest.mining.names import UNREADABLE, FileUsage, Task, lines_of, usages_by_name
from lake.offsets import split_lines
from lake.text import regex_tokens


def functions(text: str, path: str = "a.py") -> list[Task]:
    return list(mine_functions("owner/any", {path: text.encode()}, Counter()))


SOURCE = '''\
class Box:
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
'''


def test_targets_are_the_bodies_of_functions_behind_their_docstrings() -> None:
    answers = {task.identity[3]: task.answer for task in functions(SOURCE)}
    assert list(answers) == ["Box.documented#1", "Box.bare#1", "outer#1"]
    assert answers["Box.documented#1"] == "        b = a\n        c = b\n\n        return c  # the end\n"
    assert answers["outer#1"].startswith("    def inner():\n")
    assert answers["outer#1"].endswith("    return inner\n")
    assert functions(SOURCE)[0].row()["metadata"]["function_name"] == "documented"


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
    tasks = functions(text, path)
    assert [task.identity[3] for task in tasks] == identities
    assert all(task.answer.count("\n") == 3 for task in tasks)


def test_what_is_no_completion_is_counted_by_rule() -> None:
    inner = f"function f() {{\nfunction g() {{\n{BODY}}}\n}}\n"
    files = {"a.js": f"{inner}const h = () => 1;\nfunction k() {{ a(); }}\n", "b.js": "function (", "test/a.js": inner}
    contents = {path: text.encode() for path, text in files.items()}
    left_out: Counter[str] = Counter()
    assert [task.identity[3] for task in mine_functions("owner/any", contents, left_out)] == ["f#1"]
    assert left_out == {NESTED: 1, NO_BODY: 1, LENGTH: 1, UNREADABLE: 1}


def test_a_body_of_more_than_28_lines_is_no_target() -> None:
    assert [len(functions("def f():\n" + "    a = 1\n" * n)) for n in (2, 3, 28, 29)] == [0, 1, 1, 0]


def test_lines_are_counted_one_way_or_not_at_all() -> None:
    assert lines_of(b"a\r\nb\n\x0cc\n") == ["a\n", "b\n", "\x0cc\n"]
    assert lines_of(b"a\rb\n") is None
    assert lines_of(b"\xff\n") is None


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


def test_few_of_many_are_drawn_over_all_files_and_no_answer_twice() -> None:
    body = "    a = 1\n    b = 2\n    return {}\n"
    tasks = [
        task for n in range(3) for task in functions(f"def f():\n{body.format(n)}def g():\n{body.format(9)}", f"{n}.py")
    ]
    chosen = choose(tasks, 3)
    assert [task.path for task in chosen] == sorted(task.path for task in chosen)
    assert len({task.answer for task in chosen}) == 3
    assert choose(reversed(tasks), 3) == chosen
    assert len(choose(tasks, 9)) == 4


NAMES = ("alpha", "beta", "gamma", "delta", "epsilon")
CALLS = "".join(f"run({name}(1));\n" for name in NAMES)
FILLER = "one = 1;\ntwo = 2;\nthree = 3;\n"


def usages(**files: str) -> dict[str, FileUsage]:
    contents = {name.replace("__", "/").replace("_DOT_", "."): text.encode() for name, text in files.items()}
    return {usage.path: usage for usage in usages_by_name("owner/any", contents, Counter())}


def golds_and_lines(usage: FileUsage) -> list[tuple[str, str]]:
    """The gold's first line and the line that asks for it."""
    rows = [task.row() for task in usage.tasks()]
    return [(row["context"][row["gold_snippet_index"]].split("\n")[0], row["next_line"]) for row in rows]


def javascript(imports: str, calls: str = CALLS, **more: str) -> FileUsage | None:
    library = "".join(f"export function {name}(x) {{\n  return x;\n}}\n" for name in NAMES)
    return usages(src__library_DOT_js=library, src__use_DOT_js=f"{imports}\n{FILLER}{calls}", **more).get("src/use.js")


def test_the_line_that_first_uses_another_files_definition_asks_for_it() -> None:
    imports = "import { alpha, beta, gamma, delta, epsilon } from './library.js';"
    usage = javascript(imports)
    assert usage is not None
    assert golds_and_lines(usage) == [(f"export function {name}(x) {{", f"run({name}(1));") for name in NAMES]
    row = next(iter(usage.tasks())).row()
    assert (row["import_statement"], row["code"]) == (imports, FILLER)


@pytest.mark.parametrize(
    ("imports", "is_seen"),
    [
        ("const library = require('./library');", True),
        ("import * as all from './library.js';", True),
        ("import { one } from './library.js';", False),
        ("import { alpha, beta, gamma, delta, epsilon } from 'elsewhere';", False),
        ("import * as other from './elsewhere';", False),
        ("", False),
    ],
)
def test_a_file_sees_what_an_import_names_with_its_file_or_whole(imports: str, is_seen: bool) -> None:
    assert (javascript(imports) is not None) is is_seen


def test_a_name_that_two_files_define_or_the_file_itself_means_none() -> None:
    imports = "import { alpha, beta, gamma, delta, epsilon } from './library.js';"
    assert javascript(imports, src__twin_DOT_js="function alpha(x) {\n  return 1;\n}\n") is None
    assert javascript(imports, f"function beta(x) {{\n  return 2;\n}}\n{CALLS}") is None


ALL = "import * as all from './library.js';"


@pytest.mark.parametrize(
    ("imports", "calls", "lines"),
    [
        (ALL, f"{CALLS}for (const alpha of many) {{\n  go(alpha);\n}}\n", CALLS.splitlines()[1:]),
        (ALL, CALLS.replace("beta(1)", "beta(gamma(1))"), [f"run({name}(1));" for name in ("alpha", *NAMES[3:])]),
        (ALL, CALLS.replace("run(delta(1));", "run(delta(1)); // not alpha"),
         [line for line in CALLS.splitlines() if "delta" not in line]),
        (ALL, CALLS + CALLS.replace("run", "again"), CALLS.splitlines()),
        (f"{ALL}\nrun(alpha(1));", CALLS, CALLS.splitlines()[1:]),
    ],
    ids=["of a name bound to something else too", "of two candidates", "that names another", "of a second use",
         "of a use within the first three"],
)  # fmt: skip
def test_a_line_asks_where_it_names_one_candidate_alone_and_first(imports: str, calls: str, lines: list[str]) -> None:
    usage = javascript(imports, calls)
    assert usage is not None
    assert [line for _, line in golds_and_lines(usage)] == lines


@pytest.mark.parametrize(
    ("ending", "library", "use"),
    [
        ("go", "package a\n{}", "package a\nfunc use() {{\n{}{}}}\n"),
        ("java", "{}", "class Use {{ void use() {{\n{}{}}} }}\n"),
        ("rb", "{}", "def use\n{}{}end\n"),
        ("kt", "{}", "fun use() {{\n{}{}}}\n"),
    ],
)
def test_a_file_sees_its_folder_where_the_language_needs_no_import(ending: str, library: str, use: str) -> None:
    definition = {
        "go": "func {}(x int) int {{\n\treturn x\n}}\n",
        "java": "class {} {{ }}\n",
        "rb": "def {}(x)\n  x\nend\n",
        "kt": "fun {}(x: Int): Int {{\n  return x\n}}\n",
    }[ending]
    call = "        run(new {}());\n" if ending == "java" else "  run({}(1))\n"
    filler = FILLER if ending == "java" else FILLER.replace(";", "")
    definitions = {f"a__l{n}_DOT_{ending}": library.format(definition.format(name)) for n, name in enumerate(NAMES)}
    text = use.format(filler, "".join(call.format(name) for name in NAMES))
    by_path = usages(**definitions, **{f"a__use_DOT_{ending}": text})
    assert [line.strip() for _, line in golds_and_lines(by_path[f"a/use.{ending}"])] == [
        call.format(name).strip() for name in NAMES
    ]
