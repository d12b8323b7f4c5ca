from __future__ import annotations

import pytest

from evaluate.query_forms import QUERY_FORMS


@pytest.mark.parametrize(
    ("form", "text", "expected"),
    [
        ("last-3-lines", "a\nb\nc\nd", "b\nc\nd"),
        ("last-3-lines", "a\r\nb\n\nd é\n", "b\n\nd é\n"),
        ("last-3-lines", "one", "one"),
        ("last-3-lines", "", ""),
        ("title", "\n \r\nÜber: it fails\r\n\nsteps", "Über: it fails"),
        ("title", " \n\n", ""),
    ],
)
def test_a_query_form_leaves_what_its_name_says(form: str, text: str, expected: str) -> None:
    assert QUERY_FORMS[form].rewrite(text, "python") == expected


def test_every_query_form_is_found_by_its_own_name_and_leaves_an_empty_query_empty() -> None:
    for name, form in QUERY_FORMS.items():
        assert form.name == name
        assert form.meaning.endswith(".")
        assert form.rewrite("", "python") == ""
