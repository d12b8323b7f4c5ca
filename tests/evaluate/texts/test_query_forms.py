import pytest

from evaluate.texts.query_forms import QUERY_FORMS

NO_IMPORTS = {
    "python": ("import os, sys as s  # c\nfrom . import a\nfrom ..b import (c as d,  # (x)\n   e,\n)\n"
               "    from x.y import z, \\\n  w\nimport pdb; pdb.run()\nimport fails here\nimportant = 1",
               "pdb.run()\nimport fails here\nimportant = 1"),
    "typescript": ("import a, {b,\n  c} from './x';\nimport 's'\nexport * from \"../z.js\"\n"
                   "const q = require('q');\nlet v = 3\n", "let v = 3\n"),
    "java": ("package a;\nimport java.util.*;\nimport static x.Foo.bar;\nclass A {}", "package a;\nclass A {}"),
    "go": ('package m\nimport (\n  "fmt"\n  x "h.org/r/x"\n)\nimport "os"\nfunc f() {}', "package m\nfunc f() {}"),
    "rust": ("use crate::a::{b, c::{d}};\nmod y;\nfn f() {}", "fn f() {}"),
    "cpp": ('#include <vector>\n#include "a/b.h" // c\nint x;', "int x;"),
    "csharp": ("using A.B;\nusing var x = y();", "using var x = y();"),
    "": ("import a\n", "import a\n"),
}  # fmt: skip
NO_COMMENTS = {
    "python": (
        '"""A # b"""\nx = "#"  # é\n# y\nz = \'it\\\'s #\' # w\nr\'\'\'# a',
        '"""A # b"""\nx = "#"\n\nz = \'it\\\'s #\'\nr\'\'\'# a',
    ),
    "javascript": ("a = '//'; // b\n`/* ${c} */` /* d\n e */ f", "a = '//';\n`/* ${c} */` f"),
    "rust": ("fn f<'a>(x: &'a str) {} // it's\nlet c = '\"'; // d", "fn f<'a>(x: &'a str) {}\nlet c = '\"';"),
    "java": ('"""\n// a "quoted"\n""" /* open', '"""\n// a "quoted"\n"""'),
    "php": ("#[A]\n$x = 1; # b", "#[A]\n$x = 1;"),
    "": ("# a\n", "# a\n"),
}  # fmt: skip


@pytest.mark.parametrize(
    ("form", "language", "text", "expected"),
    [
        ("last-3-lines", "python", "a\nb\nc\nd", "b\nc\nd"),
        ("last-3-lines", "python", "a\r\nb\n\nd é\n", "b\n\nd é\n"),
        ("last-3-lines", "python", "one", "one"),
        ("last-3-lines", "python", "", ""),
        ("title", "python", "\n \r\nÜber: it fails\r\n\nsteps", "Über: it fails"),
        ("title", "python", " \n\n", ""),
        *(("no-imports", language, *texts) for language, texts in NO_IMPORTS.items()),
        *(("no-comments", language, *texts) for language, texts in NO_COMMENTS.items()),
    ],
)
def test_a_query_form_leaves_what_its_name_says(form: str, language: str, text: str, expected: str) -> None:
    assert QUERY_FORMS[form].rewrite(text, language) == expected


def test_every_query_form_is_found_by_its_own_name_and_leaves_an_empty_query_empty() -> None:
    for name, form in QUERY_FORMS.items():
        assert form.name == name
        assert form.meaning.endswith(".")
        assert form.rewrite("", "python") == ""
