import importlib.util
from itertools import accumulate
from pathlib import Path

import pytest
from tree_sitter_language_pack import get_parser

import ingest.contents.syntax_trees as tree
from ingest.contents.chunkers import Cut, Document
from ingest.contents.chunkers.lines import fixed_nws
from ingest.contents.chunkers.syntax import MAX_CLASS, definition, syntax


def chunks(text: str, n: int, language: str = "python") -> list[str]:
    document = Document(text, language)
    cut = syntax(document, n)
    assert not cut.fell_back
    return ["".join(document.lines[start:end]) for start, end in cut.ranges]


F, G = "def f():\n    return 1\n\n", "def g():\n    return 2\n"
PARTS: dict[str, tuple[int, list[str]]] = {
    # fixed-nws would cut at 22 characters, in the middle of f.
    "a function that fits is never cut": (22, [f"import a\n\n{F}", G]),
    "a head that does not fit beside a function stands alone": (16, ["import a\n\n", F, G]),
    "comments and decorators stay with what they annotate": (40, [F, f"# about g\n# more\n@deco\n{G}"]),
    # The bare head would fit beside what stands before it.
    "the head of a body stays with its first piece": (31, [
        "abc = 12345\n", "def function(argument):\n    a = 1\n", "    bcde = argument + 12345\n    return b\n",
    ]),
    "a large class is cut between its methods": (45, [
        "class A:\n    def f(self):\n        return 1\n\n",
        "    def g(self):\n        if self:\n            return 2\n        return 3\n\n",
        "    def h(self):\n        return 4\n",
    ]),
    # Filling the first chunk to the brim would take two lines of f's body into it and leave two chunks as well.
    "among equally many chunks the highest cuts win": (28, [
        "import abcde\n", "def f():\n    a = 11\n    b = 22\n    return a\n",
    ]),
    "what has no structure falls into lines, at blank ones first": (17, [
        'x = """\naaaa\nbbbb\n\n', 'cccc\ndddd\n"""\n',
    ]),
}  # fmt: skip


@pytest.mark.parametrize(("n", "parts"), PARTS.values(), ids=PARTS)
def test_a_text_is_cut_along_its_structure(n: int, parts: list[str]) -> None:
    assert chunks("".join(parts), n) == parts


def falls_back(text: str, language: str) -> str:
    document = Document(text, language)
    cut = syntax(document, 10)
    assert cut.ranges == fixed_nws(document, 10).ranges
    return cut.fell_back


def test_a_file_full_of_errors_falls_back() -> None:
    assert falls_back("def ) ] ( 1 2\nclass in for\n" * 9, "python") == "syntax errors"


def test_a_local_error_keeps_the_structure() -> None:
    text = "def f():\n    return 1\n\n" * 8 + "x = = 1\n"
    assert chunks(text, 15)[0] == "def f():\n    return 1\n\n"


def test_a_file_over_the_bound_is_not_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree, "MAX_PARSED_BYTES", 20)
    assert falls_back("abc = 123456\n" * 3, "python") == "larger than 20 bytes"


def test_runaway_error_recovery_is_stopped_and_the_next_file_parsed() -> None:
    assert falls_back("await > await >\n" * 8000, "typescript") == "parsing takes too many steps"
    assert chunks("const a = 1;\nconst b = 2;\n", 10, "typescript") == ["const a = 1;\n", "const b = 2;\n"]


def sources(package: str) -> list[Path]:
    spec = importlib.util.find_spec(package)
    assert spec is not None
    assert spec.origin is not None
    return sorted(Path(spec.origin).parent.glob("*.py"))


@pytest.mark.parametrize("package", ["click", "jinja2"])
def test_real_code_rejoins_and_keeps_its_small_functions_whole(package: str) -> None:
    n, n_whole = 800, 0
    for path in sources(package):
        document = Document(path.read_text(encoding="utf-8"), "python")
        cut = syntax(document, n)
        assert not cut.fell_back
        assert "".join("".join(document.lines[start:end]) for start, end in cut.ranges) == document.text
        for node in get_parser("python").parse(document.text.encode()).root_node.children:
            start, end = node.start_point.row, node.end_point.row + 1
            if "definition" in node.type and document.nws_before[end] - document.nws_before[start] <= n:
                assert any(first <= start and end <= stop for first, stop in cut.ranges), (path.name, start)
                n_whole += 1
    assert n_whole > 100


def is_cut_into(language: str, *parts: str) -> bool:
    document = Document("".join(parts), language)
    cut = definition(document)
    return cut == Cut(cut.ranges) and ["".join(document.lines[start:end]) for start, end in cut.ranges] == [*parts]


def test_each_definition_is_a_chunk_and_so_is_the_code_between() -> None:
    assert is_cut_into(
        "python",
        "import a\n\n# a section\n\n",
        "# about f\n# more\n@deco\ndef f():\n    def inner():\n        return 1\n    return inner\n\n\n",
        "x = 1\ny = 2\n",
        "class A:\n    def f(self):\n        return 1\n\n",
        "if x:\n    f()\n",
    )


def test_a_large_class_is_cut_into_its_members() -> None:
    assert is_cut_into(
        "python",
        "import a\n\n",
        '# about A\n@deco\nclass A:\n    """Doc."""\n\n    x = 1\n\n',
        f"    # about f\n    @deco\n    def f(self):\n        return '{'x' * MAX_CLASS}'\n\n",
        "    y = 1\n\n",
        "    class B:\n        def g(self):\n            return 2\n\n",
        "z = 1\n",
    )


CASES = {
    "javascript": [
        "import a from 'a';\nconst b = 1;\n\n",
        "// doc\nexport const f = () => {\n  return 1;\n};\n",
        "export default class X extends Y {\n  m() {}\n}\n",
        "module.exports = {\n  f,\n};\n",
        "function* g() {\n  yield 1;\n}\n",
    ],
    "typescript": [
        "interface I {\n  x: number;\n}\n",
        "type T = {\n  a: string;\n};\n",
        "namespace N {\n",
        "  export function q() {\n    return 1;\n  }\n",
        "  export enum E {\n    A,\n  }\n}\n",
        "@Component({\n  a: 1,\n})\nexport class Z {\n  x() {}\n}\n",
    ],
    "java": [
        "package a;\n\nimport b.C;\n\n",
        "/** Doc. */\n@Deprecated\npublic class A {\n  int f() {\n    return 1;\n  }\n}\n\n",
        "record R(int x) {\n}\n",
        "enum E {\n  A\n}\n",
    ],
    "go": [
        'package a\n\nimport "b"\n\nvar x = 1\n\n',
        "// T is.\ntype T struct {\n\tx int\n}\n\n",
        "func (t T) F() int {\n\treturn t.x\n}\n\n",
        "const y = 2\n",
    ],
    "rust": [
        "use a::b;\n\n",
        "/// Doc.\n#[derive(Debug)]\nstruct S {\n    a: i32,\n}\n\n",
        "impl S {\n    fn f(&self) -> i32 {\n        1\n    }\n}\n\n",
        "mod tests {\n    use super::*;\n\n",
        "    #[test]\n    fn t() {\n        f();\n    }\n}\n",
    ],
    "cpp": [
        "#include <a>\ntypedef int x;\nstruct forward;\n\n",
        "typedef struct {\n  int a;\n} A;\n",
        "// Doc.\ntemplate <class T>\nclass X\n{\n  int f();\n};\n\n",
        "namespace a {\n",
        "int g()\n{\n  return 1;\n}\n}\n",
    ],
    "c": [
        "#ifndef A\n#define A\n\n",
        "/* Doc. */\nstruct s {\n  int a;\n};\n",
        "struct s one = {1};\n",
        "static int f(void)\n{\n  return 1;\n}\n#endif\n",
    ],
    "csharp": [
        "using System;\n\n",
        "namespace A\n{\n",
        "    // Doc.\n    [Serializable]\n    public class B\n    {\n        int F() { return 1; }\n    }\n",
        "    enum E { A, B }\n}\n",
    ],
    "ruby": [
        "require 'a'\n\n",
        "module Foo\n",
        "  # Doc.\n  class Bar\n    def a\n      1\n    end\n  end\n\n",
        "  def self.c\n    3\n  end\nend\n",
    ],
    "php": ["<?php\nuse B;\n\n", "/** Doc. */\nclass C {\n  function f() { return 1; }\n}\n", "function g() {\n}\n"],
    "swift": ["import A\n\n", "/// Doc.\nclass B: C {\n  func f() {}\n}\n", "let y = 1\n", "func top() {\n  f(1)\n}\n"],
    "kotlin": ["package x\n\nval y=1\n\n", "// Doc.\nclass B(val x: Int) {\n    fun f() = 1\n}\n", "fun top() {\n}\n"],
    "scala": ["import b\n", "object O {\n  def f = 1\n}\n", "trait T {\n  def x: Int\n}\n", "def top() = {\n  1\n}\n"],
}


@pytest.mark.parametrize("language", sorted(CASES))
def test_definitions_of_every_language_are_found(language: str) -> None:
    assert is_cut_into(language, *CASES[language])


@pytest.mark.parametrize("language", sorted(CASES))
def test_every_language_is_cut_between_its_definitions(language: str) -> None:
    parts = [Document(part) for part in CASES[language]]
    n, text = max(part.nws_before[-1] for part in parts), "".join(CASES[language])
    assert "".join(chunks(text, n, language)) == text
    starts = {0, *accumulate(len(part.lines) for part in parts)}
    assert {start for start, _ in syntax(Document(text, language), n).ranges} <= starts
