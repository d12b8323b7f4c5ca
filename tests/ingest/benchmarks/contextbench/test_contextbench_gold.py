import json
import math
from collections import Counter
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.benchmarks.contextbench.gold import GoldSpan, audit, decode_gold, docs_path, official_path
from ingest.benchmarks.contextbench.own_gold import gold_of
from ingest.benchmarks.contextbench.rows import CONTEXTBENCH_FIELDS
from ingest.benchmarks.fields import FieldError, ForeignRow
from lake.tables import FLAGS
from tests.ingest.benchmarks.contextbench.context_cases import Row, span

TWO: list[Row] = [span("src/a.py", 1, 4, "one\n"), span("/testbed/b.go", 10, 10, "func b() {")]
PLACES = [("src/a.py", 1, 4), ("/testbed/b.go", 10, 10)]

# The colon after the number is U+FF1A, as published.
BLOCKS = """\
context0\uff1a
file: src/a.py
start_line: 1
end_line: 4
one

context1\uff1a
file: /testbed/b.go
start_line: 10
end_line: 10
func b() {
"""


def places(value: object) -> list[tuple[str, int, int]]:
    return [span[:3] for span in decode_gold(value)]


@pytest.mark.parametrize(
    "value",
    [
        json.dumps(TWO),
        "\ufeff \n" + json.dumps(TWO),
        TWO,
        tuple(TWO),
        BLOCKS,
        "\ufeff\n" + BLOCKS,
        BLOCKS.replace("\n", "\r\n"),
        BLOCKS.replace("context1", "context2").replace("context0", "context1"),
    ],
)
def test_every_form_names_the_same_spans(value: object) -> None:
    assert places(value) == PLACES


def test_a_row_has_its_gold_under_either_name() -> None:
    assert [
        span[:3] for span in gold_of(ForeignRow({"gold_context": BLOCKS, "gold_ctx": []}, CONTEXTBENCH_FIELDS))
    ] == PLACES
    assert [
        span[:3]
        for span in gold_of(ForeignRow({"init_ctx": TWO[:1], "add_ctx": json.dumps(TWO[1:])}, CONTEXTBENCH_FIELDS))
    ] == PLACES
    assert [
        span[:3] for span in gold_of(ForeignRow({"init_ctx": [], "add_ctx": [], "gold_ctx": TWO}, CONTEXTBENCH_FIELDS))
    ] == PLACES
    assert [
        span[:3]
        for span in gold_of(
            ForeignRow({"gold_context": None, "init_ctx": math.nan, "gold_ctx": TWO}, CONTEXTBENCH_FIELDS)
        )
    ] == PLACES


def test_a_line_of_code_that_looks_like_a_head_is_content() -> None:
    text = BLOCKS.replace("func b() {", "context7:\n    with open(name) as file:")
    assert places(text) == PLACES
    assert "context7:" in str(decode_gold(text)[1].content)


def test_an_empty_list_names_nothing_and_is_no_fault() -> None:
    assert (
        decode_gold("[]")
        == decode_gold([])
        == gold_of(ForeignRow({"init_ctx": [], "add_ctx": []}, CONTEXTBENCH_FIELDS))
        == []
    )


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (math.nan, "it is nan"),
        (7, "it is 7"),
        ({"file": "a"}, "it is a mapping of 1, not a list"),
        ("", "neither a JSON list nor text blocks"),
        (json.dumps(TWO)[:-9], "not JSON .* cut off"),
        ("[" * 200_000, "not JSON"),
        ("see the patch", "neither a JSON list nor text blocks"),
        (BLOCKS.replace("end_line: 10\n", ""), "context1 has no `end_line`"),
        (BLOCKS[: BLOCKS.index("start_line: 10")], "context1 has no `start_line`, `end_line`"),
        (["src/a.py"], "span 1 is 'src/a.py', not an object"),
        ([{"file": "a", "start_line": 1}], "span 1 has no `end_line`"),
        ([span("a", 1, math.nan)], "span 1 has no `end_line`"),
        ([span("a", 0, 4)], "0 to 4 is no range of lines"),
        ([span("a", 1.5, 4)], "1.5 to 4"),
        ([span("a", True, 4)], "True to 4"),
        ([span("a", 1, 10**12)], "1 to 1000000000000"),
        ([span("a", 9, 4)], "9 to 4 is no range of lines"),
        ([span("", 1, 4)], "`file` is '', not a path"),
        ([span("/testbed/", 1, 4)], "not a path"),
        ([{**TWO[0], "file": 3}], "`file` is 3"),
        ([span("a\ud800", 1, 4)], "not a path"),
        ([span("a\0", 1, 4)], "not a path"),
    ],
)
def test_what_cannot_be_decoded_says_why(value: object, reason: str) -> None:
    with pytest.raises(FieldError, match=reason):
        decode_gold(value)


def test_a_row_without_gold_says_what_was_looked_for() -> None:
    with pytest.raises(FieldError, match="none of gold_context, init_ctx"):
        gold_of(ForeignRow({"gold_context": None, "patch": "x"}, CONTEXTBENCH_FIELDS))
    with pytest.raises(FieldError, match="none of gold_context"):
        gold_of(ForeignRow({"gold_context": math.nan}, CONTEXTBENCH_FIELDS))


@pytest.mark.parametrize(
    ("given_path", "docs", "official"),
    [
        ("src/a.py", "src/a.py", "src/a.py"),
        ("./src/a.py", "src/a.py", "src/a.py"),
        ("/src/a.py", "src/a.py", "src/a.py"),
        ("/testbed/src/a.py", "src/a.py", "src/a.py"),
        ("/workspace/acme__rockets__0.1/src/a.py", "src/a.py", "src/a.py"),
        ("/workspace/run_test.js", "run_test.js", "run_test.js"),
        ("src\\a.py", "src/a.py", "src/a.py"),
        # A dotfile keeps its dot; the published code takes it away from relative paths alone.
        (".github/a.yml", ".github/a.yml", "github/a.yml"),
        ("./.eslintrc.js", ".eslintrc.js", "eslintrc.js"),
        ("/.eslintrc.js", ".eslintrc.js", ".eslintrc.js"),
        ("/testbed/.eslintrc.js", ".eslintrc.js", ".eslintrc.js"),
        ("/workspace/x/.eslintrc.js", ".eslintrc.js", ".eslintrc.js"),
        ("../a.py", "../a.py", "a.py"),
    ],
)
def test_gold_paths_under_both_rules(given_path: str, docs: str, official: str) -> None:
    assert (docs_path(given_path), official_path(given_path)) == (docs, official)


@given(st.text(st.sampled_from("./ab"), min_size=1))
def test_a_path_is_normalised_once_and_for_all(path: str) -> None:
    once = docs_path(path)
    assert docs_path(once) == once
    assert not once.startswith(("/", "./"))


FILES = {"a.py": "one\ntwo\nthree\n", "ü.py": "äöü\nß", "crlf.py": "one\r\ntwo\r\n", "empty.py": "", ".env": "x=1\n"}


Audit = tuple[list[Row], Counter[str]]


def audited(*spans: tuple[str, int, int] | GoldSpan, files: Mapping[str, str] = FILES) -> Audit:
    given_spans = [span if isinstance(span, GoldSpan) else GoldSpan(*span, None) for span in spans]
    return audit(given_spans, {path: text.encode() for path, text in files.items()})


def rows(audit_of: Audit, rule: str = "context") -> list[tuple[object, ...]]:
    keys = ("path", "line_start", "line_end", "byte_start", "byte_end", "times")
    return [tuple(row.get(key) for key in keys) for row in audit_of[0] if row["gold"] == rule]


def test_lines_become_half_open_and_have_their_bytes() -> None:
    assert rows(audited(("a.py", 2, 3))) == [("a.py", 1, 3, 4, 14, 1)]
    assert rows(audited(("ü.py", 2, 2))) == [("ü.py", 1, 2, 7, 9, 1)]
    assert rows(audited(("crlf.py", 1, 1))) == [("crlf.py", 0, 1, 0, 5, 1)]


def test_a_span_wholly_past_the_end_keeps_its_file_and_no_lines() -> None:
    result = audited(("a.py", 8, 9))
    assert rows(result) == [("a.py", 3, 3, 14, 14, 1)]
    assert +result[1] == {"ends-past-eof": 1, "starts-past-eof": 1}
    assert rows(audited(("empty.py", 1, 1))) == [("empty.py", 0, 0, 0, 0, 1)]


def test_content_may_differ_in_white_space_around_lines_and_in_line_numbers() -> None:
    plain = [None, "two\nthree", "two\nthree\n", "  two\t\nthree\n\n\n"]
    for content in (*plain, "2\ttwo\n3\tthree\n", "2\ttwo\n3\tthree\n4", "2\ttwo\n3\tthree\n4\t"):
        assert not audited(GoldSpan("a.py", 2, 3, content))[1]["content-differs"]
    assert not audited(GoldSpan("crlf.py", 2, 2, "two\n"))[1]["content-differs"]


spans = st.builds(
    GoldSpan,
    st.sampled_from(["a.py", "./a.py", "gone.py", "empty.py"]),
    st.integers(1, 6),
    st.integers(6, 9),
    st.none(),
)


@given(st.lists(spans, max_size=6))
def test_the_briefs_rule_holds_the_lines_that_there_are(given_spans: list[GoldSpan]) -> None:
    n_lines = {"a.py": 3, "./a.py": 3, "empty.py": 0}
    lines = {
        (span.file.removeprefix("./"), line)
        for span in given_spans
        for line in range(span.line_start - 1, span.line_end)
        if line < n_lines.get(span.file, 0)
    }
    result = audited(*given_spans)
    kept = {(row["path"], line) for row in result[0] if row["gold"] == "context"
            for line in range(int(str(row["line_start"])), int(str(row["line_end"])))}  # fmt: skip
    assert kept == lines
    assert sum(int(str(row["times"])) for row in result[0] if row["gold"] == "context-official") == len(given_spans)
    assert set(result[1]) <= set(FLAGS)
