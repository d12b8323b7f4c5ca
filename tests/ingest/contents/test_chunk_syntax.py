"""The syntax-aware chunker: by hand in several languages, its fallbacks, its bounds, and on real code."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from tree_sitter_language_pack import get_parser

import ingest.contents.syntax_trees as tree
from ingest.contents.chunkers import Document
from ingest.contents.chunkers.lines import fixed_nws
from ingest.contents.chunkers.syntax import syntax


def chunks(text: str, n: int, language: str = "python") -> list[str]:
    document = Document(text, language)
    cut = syntax(document, n)
    assert not cut.fell_back
    return ["".join(document.lines[start:end]) for start, end in cut.ranges]


def test_a_function_that_fits_is_never_cut() -> None:
    head, first, second = "import a\n\n", "def f():\n    return 1\n\n", "def g():\n    return 2\n"
    # fixed-nws would cut at 22 characters, in the middle of f.
    assert chunks(head + first + second, 22) == [head + first, second]
    assert chunks(head + first + second, 16) == [head, first, second]


def test_comments_and_decorators_stay_with_what_they_annotate() -> None:
    first = "def f():\n    return 1\n\n"
    second = "# about g\n# more\n@deco\ndef g():\n    return 2\n"
    assert chunks(first + second, 40) == [first, second]


def test_the_head_of_a_body_stays_with_its_first_piece() -> None:
    before = "abc = 12345\n"
    head, body = "def function(argument):\n    a = 1\n", "    bcde = argument + 12345\n    return b\n"
    # The bare head would fit beside what stands before it.
    assert chunks(before + head + body, 31) == [before, head, body]


def test_a_large_class_is_cut_between_its_methods() -> None:
    first = "class A:\n    def f(self):\n        return 1\n\n"
    second = "    def g(self):\n        if self:\n            return 2\n        return 3\n\n"
    third = "    def h(self):\n        return 4\n"
    assert chunks(first + second + third, 45) == [first, second, third]


def test_among_equally_many_chunks_the_highest_cuts_win() -> None:
    function = "def f():\n    a = 11\n    b = 22\n    return a\n"
    # Filling the first chunk to the brim would take two lines of f's body into it and leave two chunks as well.
    assert chunks("import abcde\n" + function, 28) == ["import abcde\n", function]


def test_what_has_no_structure_falls_into_lines_at_blank_ones_first() -> None:
    text = 'x = """\naaaa\nbbbb\n\ncccc\ndddd\n"""\n'
    assert chunks(text, 17) == ['x = """\naaaa\nbbbb\n\n', 'cccc\ndddd\n"""\n']


SNIPPETS = {
    "javascript": [
        "import a from 'a';\n\n",
        "// f\nexport function f(x) {\n  return x;\n}\n\n",
        "const g = () => {\n  f(1);\n};\n",
    ],
    "typescript": [
        "interface A {\n  x: number;\n}\n\n",
        "@deco\nexport class B {\n  m() {}\n}\n",
        "enum C {\n  X,\n  YYYYYYYYYY,\n}\n",
    ],
    "go": [
        "package a\n\n",
        "// F does.\nfunc F() int {\n\treturn 1\n}\n\n",
        "type T struct {\n\tx int\n\ty string\n}\n",
    ],
    "java": [
        "package a;\n\n",
        "/** A. */\n@Deprecated\nclass A {\n  int x;\n}\n",
        "interface B {\n  void someMethod();\n}\n",
    ],
    "rust": [
        "use a::b;\n\n",
        "/// F.\n#[inline]\nfn f() -> i32 {\n    1\n}\n\n",
        "struct S {\n    a: i32,\n    bbbbbbb: i32,\n}\n",
    ],
    "cpp": [
        "#include <a>\n\n",
        "// F.\ntemplate <class T>\nint f()\n{\n  return 1;\n}\n\n",
        "struct S {\n  int a;\n  int bbbbb;\n};\n",
    ],
    "c": [
        "#include <a.h>\n\n",
        "/* F. */\nstatic int f(void)\n{\n  return 1;\n}\n\n",
        "struct s {\n  int a;\n  int bbbbbb;\n};\n",
    ],
    "ruby": [
        "require 'a'\n\n",
        "# F.\ndef f(x)\n  x.each { |y| p y }\nend\n\n",
        "class A\n  def bbbbbbbbbbb\n    1\n  end\nend\n",
    ],
}


@pytest.mark.parametrize("language", sorted(SNIPPETS))
def test_every_language_is_cut_between_its_definitions(language: str) -> None:
    parts = SNIPPETS[language]
    n = max(int(Document(part).n_nws.sum()) for part in parts)
    text = "".join(parts)
    assert "".join(chunks(text, n, language)) == text
    starts = {0, len(Document(parts[0]).lines), len(Document(parts[0] + parts[1]).lines)}
    assert {start for start, _ in syntax(Document(text, language), n).ranges} <= starts


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
            if "definition" in node.type and document.n_nws[start:end].sum() <= n:
                assert any(first <= start and end <= stop for first, stop in cut.ranges), (path.name, start)
                n_whole += 1
    assert n_whole > 100
