import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.contents.definition_nodes import MAX_NAME
from ingest.contents.definitions import MAX_ENCLOSING, definitions_of
from lake.offsets import Offsets
from lake.text import LANGUAGES

_PIECES = st.sampled_from(
    ["class A", "def b(self):", "function f()", "func (s *S) g()", "impl T for U", "struct p", "namespace n", "fn h()",
     "enum E", "void A::b()", "operator()", "=> ", "const x = ", "() => {", "<T>", "(", ")", "{", "}", "\n", "  ", ";",
     "end\n", "# é", '"', "'", "/*", "*/", "\0", "\r\n", "\ufffd", "interface I", "type T = ", "macro_rules! m",
     "typedef struct {} t", "extension (x: Int)", "init()", "fun String.k() = 1", "<?php ", "#define M(x) x",
     "module M"]
)  # fmt: skip
_TEXTS = st.one_of(st.text(), st.lists(_PIECES).map("".join), st.lists(_PIECES, min_size=5, max_size=60).map(" ".join))


@given(_TEXTS, st.sampled_from(sorted(LANGUAGES)))
def test_any_text_has_sorted_rows_within_it_each_once(text: str, ending: str) -> None:
    data = text.encode()
    starts = Offsets.between_lines(text).byte[:-1].tolist()
    by_rules, _ = definitions_of(text, ending)
    for symbols in by_rules.values():
        places = [(row.byte_start, -row.byte_end, row.kind) for row in symbols]
        assert places == sorted(set(places))
        for row in symbols:
            assert 0 <= row.byte_start <= row.byte_end <= len(data)
            assert 0 <= row.line_start <= row.line_end <= len(starts)
            assert row.byte_start >= starts[row.line_start] if row.line_start < len(starts) else row.line_start == 0
            assert row.byte_end <= (starts[row.line_end] if row.line_end < len(starts) else len(data))
    assert all(row.name and row.qualified_name for row in by_rules.get("docs", []))


@pytest.mark.parametrize(
    ("ending", "opening", "closing"),
    [
        ("js", "function a() {", "}"),
        ("rs", "mod a { fn b() {", "}}"),
        ("cpp", "class B {", "};"),
        ("java", "class A {", "}"),
        ("rb", "module A\n", "end\n"),
        ("py", "(", ")"),
    ],
)
def test_deep_nesting_is_looked_through(ending: str, opening: str, closing: str) -> None:
    depth = 10_000
    by_rules, why = definitions_of(opening * depth + closing * depth, ending)
    symbols = by_rules.get("docs", [])
    assert len(symbols) == (0 if opening == "(" else depth) or why
    depths = [len((row.qualified_name or "").split(".")) for row in symbols]
    assert max(depths, default=0) <= MAX_ENCLOSING + 1


def test_an_endless_name_is_cut() -> None:
    for symbols in definitions_of(f"def {'x' * 100_000}(): pass\n", "py")[0].values():
        assert [row.name for row in symbols] == ["x" * MAX_NAME]


def test_syntax_errors_cost_only_what_they_spoil() -> None:
    text = "class A:\n    def b(self):\n        return 1 +\n\ndef d():\n    pass\n"
    assert [row.qualified_name for row in definitions_of(text, "py")[0]["docs"]] == ["A", "A.b", "d"]


def test_a_language_without_a_grammar_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(LANGUAGES, "py", "parseltongue")
    assert definitions_of("def f(): pass\n", "py") == ({}, "no grammar for 'parseltongue'")
