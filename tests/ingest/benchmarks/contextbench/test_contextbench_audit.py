"""Gold held against the files it names: what is cut, what is left out, what is flagged, and both rules apart."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.benchmarks.contextbench.gold import Audit, GoldFile, GoldSpan, audit
from lake.naming import CONSEQUENCES, FLAGS

FILES = {"a.py": "one\ntwo\nthree\n", "ü.py": "äöü\nß", "crlf.py": "one\r\ntwo\r\n", "empty.py": "", ".env": "x=1\n"}


def audited(*spans: tuple[str, int, int] | GoldSpan, files: Mapping[str, str] = FILES) -> Audit:
    given_spans = [one if isinstance(one, GoldSpan) else GoldSpan(*one, None) for one in spans]
    return audit(given_spans, {path: GoldFile(text.encode()) for path, text in files.items()})


def rows(found: Audit, rule: str = "context") -> list[tuple[object, ...]]:
    keys = ("path", "line_start", "line_end", "byte_start", "byte_end", "times")
    return [tuple(row.get(key) for key in keys) for row in found.rows if row["gold"] == rule]


def test_lines_become_half_open_and_have_their_bytes() -> None:
    assert rows(audited(("a.py", 2, 3))) == [("a.py", 1, 3, 4, 14, 1)]
    assert rows(audited(("ü.py", 2, 2))) == [("ü.py", 1, 2, 7, 9, 1)]
    assert rows(audited(("crlf.py", 1, 1))) == [("crlf.py", 0, 1, 0, 5, 1)]


def test_a_span_wholly_past_the_end_keeps_its_file_and_no_lines() -> None:
    found = audited(("a.py", 8, 9))
    assert rows(found) == [("a.py", 3, 3, 14, 14, 1)]
    assert found.flags == ["ends-past-eof:1", "starts-past-eof:1"]
    assert rows(audited(("empty.py", 1, 1))) == [("empty.py", 0, 0, 0, 0, 1)]


@pytest.mark.parametrize(
    "content",
    [
        None,
        "two\nthree",
        "two\nthree\n",
        "  two\t\nthree\n\n\n",
        "2\ttwo\n3\tthree\n",
        "2\ttwo\n3\tthree\n4",
        "2\ttwo\n3\tthree\n4\t",
    ],
)
def test_content_may_differ_in_white_space_around_lines_and_in_line_numbers(content: str | None) -> None:
    assert "content-differs" not in str(audited(GoldSpan("a.py", 2, 3, content)).flags)
    assert "content-differs" not in str(audited(GoldSpan("crlf.py", 2, 2, "two\n")).flags)


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
    named = {
        (one.file.removeprefix("./"), line)
        for one in given_spans
        for line in range(one.line_start - 1, one.line_end)
        if line < n_lines.get(one.file, 0)
    }
    found = audited(*given_spans)
    kept = {(row["path"], line) for row in found.rows if row["gold"] == "context"
            for line in range(int(str(row["line_start"])), int(str(row["line_end"])))}  # fmt: skip
    assert kept == named
    assert sum(int(str(row["times"])) for row in found.rows if row["gold"] == "context-official") == len(given_spans)
    assert set(found.counts) <= set(FLAGS) == set(CONSEQUENCES)
