"""One chunk per definition: what counts as one in each language, and what becomes of the code between."""

from __future__ import annotations

import pytest

from ingest.contents.chunkers import Cut, Document
from ingest.contents.chunkers.definition import MAX_CLASS, definition


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
    "kotlin": [
        "package x\n\nval y = 1\n\n",
        "// Doc.\nclass B(val x: Int) {\n    fun f() = 1\n}\n",
        "fun top() {\n}\n",
    ],
    "scala": ["import b\n", "object O {\n  def f = 1\n}\n", "trait T {\n  def x: Int\n}\n", "def top() = {\n  1\n}\n"],
}


@pytest.mark.parametrize("language", sorted(CASES))
def test_definitions_of_every_language_are_found(language: str) -> None:
    assert is_cut_into(language, *CASES[language])
