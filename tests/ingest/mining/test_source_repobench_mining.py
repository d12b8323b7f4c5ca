"""Which definitions a file imports from its own package, and which of its lines ask for one of them."""

from __future__ import annotations

import pytest

from ingest.mining.imports import java_usages, python_usages
from ingest.mining.miner import Recipe, choose, mine_next_lines
from ingest.mining.sample import OWN, of_folder
from ingest.mining.usage import SETTINGS, Setting, Usage

LIBRARY = "\n\n".join(f"def {name}():\n    return {n}" for n, name in enumerate("abcdefghij"))
IMPORTS = "from .lib import a, b, c, d, e\n"
BODY = "x = 1\ny = 2\nz = 3\n"


def _files(**texts: str) -> dict[str, bytes]:
    """`pkg/<name>.py` → content, with `__` in a name for a folder."""
    paths = {name: name if name.startswith("__") else name.replace("__", "/") for name in texts}
    return {f"pkg/{path}.py": texts[name].encode() for name, path in sorted(paths.items(), key=lambda one: one[1])}


def _usages(**texts: str) -> list[Usage]:
    return python_usages("owner/pkg", _files(**texts))


def _usage(**texts: str) -> Usage:
    (found,) = [usage for usage in _usages(**texts) if usage.path == "pkg/use.py"]
    return found


def _asked(usage: Usage, setting: Setting) -> list[tuple[str, str]]:
    """The gold's first line and the line that asks for it."""
    return [(usage.candidates[it.gold].split("\n")[0], it.answer) for it in usage.questions(setting)]


def test_a_row_by_hand() -> None:
    use = f'"""What it is."""\nimport os\n{IMPORTS}\nn = 1\n\ndef f():\n    # the first\n    return b(n)  # \n'
    (question,) = _usage(lib=LIBRARY, use=use).questions("cff")
    assert question.as_row() == {
        "repo_name": "owner/pkg",
        "file_path": "pkg/use.py",
        "context": [f"def {name}():\n    return {n}" for n, name in enumerate("abcde")],
        "import_statement": "import os\nfrom .lib import a, b, c, d, e",
        "code": '"""What it is."""\n\nn = 1\n\ndef f():\n    # the first\n',
        "next_line": "    return b(n)  # ",
        "gold_snippet_index": 1,
        "split": "test",
        "level": "easy",
    }


def test_a_line_that_uses_two_candidates_asks_for_neither() -> None:
    usage = _usage(lib=LIBRARY, use=f"{IMPORTS}{BODY}k = b(a())\nn = c()\n")
    assert _asked(usage, "cff") == [("def c():", "n = c()")]
    assert _asked(usage, "cfr") == []


def test_a_line_that_names_another_candidate_in_a_string_or_a_comment_asks_for_none() -> None:
    usage = _usage(lib=LIBRARY, use=f'{IMPORTS}{BODY}k = a("b")\nn = c()  # not d\ns = e("f")\n')
    assert _asked(usage, "cff") == [("def e():", 's = e("f")')]


def test_cff_asks_for_the_first_use_and_cfr_for_a_later_one() -> None:
    usage = _usage(lib=LIBRARY, use=f"{IMPORTS}{BODY}one = a()\ntwo = a()\nthree = a()\nfour = b()\n")
    assert _asked(usage, "cff") == [("def a():", "one = a()"), ("def b():", "four = b()")]
    ((gold, line),) = _asked(usage, "cfr")
    assert (gold, line in ("two = a()", "three = a()")) == ("def a():", True)


def test_a_first_use_among_the_first_three_lines_of_code_is_not_asked_for() -> None:
    usage = _usage(lib=LIBRARY, use=f"{IMPORTS}x = 1\n\ny = 2\nz = a()\nk = b()\n")
    assert _asked(usage, "cff") == [("def b():", "k = b()")]


@pytest.mark.parametrize(
    "rebound",
    [
        "def f(a): return a", "a = 1", "for a in []: pass", "lambda a: a", "with x as a: pass", "(k := [a for a in x])",
        "def f(): import a", "if x: from os import a", "def f(*a): pass", "def f(a=1): pass",
        "def f(a: int): pass", "class a: pass",
        "try:\n    pass\nexcept E as a:\n    pass", "def f():\n    global a", "b, a = x", "[a, (x)] = x", "a += 1",
    ],
)  # fmt: skip
def test_a_name_that_means_something_else_too_is_no_gold(rebound: str) -> None:
    usage = _usage(lib=LIBRARY, use=f"{IMPORTS}{BODY}k = a()\nn = c()\n{rebound}\n")
    assert _asked(usage, "cff") == [("def c():", "n = c()")]
    assert len(usage.candidates) == 5


@pytest.mark.parametrize(
    "later", ["import a", "import a.b", "import x as a", "from os import a", "from ....x import a"]
)
def test_of_two_imports_of_one_name_the_later_counts(later: str) -> None:
    usage = _usage(lib=LIBRARY, use=f"from .lib import f\n{IMPORTS}{later}\n{BODY}k = a()\nn = c()\n")
    assert [text.split("\n")[0] for text in usage.candidates] == [f"def {name}():" for name in "fbcde"]
    assert _asked(usage, "cff") == [("def c():", "n = c()")]


@pytest.mark.parametrize("other", ["x.a", "f(a=1)", "'a'", "# a", "x.a.y"])
def test_a_name_that_only_looks_the_same_is_no_use(other: str) -> None:
    usage = _usage(lib=LIBRARY, use=f"{IMPORTS}{BODY}{other}\nk = a()\n")
    assert _asked(usage, "cff") == [("def a():", "k = a()")]


@pytest.mark.parametrize(
    "line", ["k: a = 1", "def f(x: list[a]): ...", "@a", "k = x[a]", "f(x=a)", "k = a.real.imag", "a"]
)
def test_uses_of_every_kind_count(line: str) -> None:
    text = f"{IMPORTS.replace(' b,', ' f as b2,')}{BODY}{line}\n{'def g(): ...' if line == '@a' else ''}\n"
    usage = _usage(lib=LIBRARY, use=text)
    assert _asked(usage, "cff") == [("def a():", line)]


def test_a_line_inside_a_string_of_several_lines_is_not_asked_for() -> None:
    usage = _usage(lib=LIBRARY, use=f'{IMPORTS}{BODY}k = f"""\n{{a()}}\n"""\nn = c()\n')
    assert _asked(usage, "cff") == [("def c():", "n = c()")]


@pytest.mark.parametrize(
    "statement",
    [
        "from .lib import a, b, c, d, e",
        "from . import a, b, c, d, e",
        "from pkg import a, b, c, d, e",
        "from pkg.lib import a, b, c, d, e",
        "from .lib import (\n    a,  # one\n    b, c,\n    d, e,\n)",
        "from .lib import a\nfrom . import b, c\nfrom pkg.lib import d\nfrom .more import renamed as e",
    ],
)
def test_imports_are_followed_to_the_definition(statement: str) -> None:
    usage = _usage(
        __init__="try:\n    from .lib import a, b, c, d, e\nexcept ImportError:\n    a = None\n",
        lib=LIBRARY,
        more="from pkg.lib import e as renamed\n",
        use=f"{statement}\n{BODY}k = e()\n",
    )
    assert [text.split("\n")[0] for text in usage.candidates] == [f"def {name}():" for name in "abcde"]
    assert _asked(usage, "cff") == [("def e():", "k = e()")]


def test_what_is_no_function_or_class_of_the_package_is_no_candidate() -> None:
    lib = f"{LIBRARY}\n\nVALUE = 1\nfrom os import path\nfrom .gone import missing\nfrom .lib import itself\n"
    imports = (
        "from .lib import VALUE, path, missing, itself, nothing, a, b, c, d, e\nfrom . import lib\nfrom os import f\n"
    )
    usage = _usage(lib=lib, use=f"{imports}from .... import g\nfrom .lib import *\n{BODY}")
    assert [text.split("\n")[0] for text in usage.candidates] == [f"def {name}():" for name in "abcde"]


def test_a_candidate_is_the_last_definition_of_its_name_with_its_decorators() -> None:
    lib = (
        f"{LIBRARY}\n\n@overload\ndef a(): ...\n\n@cache\n@other(1)\nclass a(b):\n    '''It.'''\n\n    n = 1\n\nx = 1\n"
    )
    usage = _usage(lib=lib, use=f"{IMPORTS}{BODY}")
    assert usage.candidates[0] == "@cache\n@other(1)\nclass a(b):\n    '''It.'''\n\n    n = 1"


def test_two_names_of_one_text_are_one_candidate() -> None:
    use = f"{IMPORTS}from .lib import a as again\nfrom .twin import a as twin\n{BODY}k = again()\nn = twin()\n"
    usage = _usage(lib=LIBRARY, twin="def a():\n    return 0\n", use=use)
    assert len(usage.candidates) == len(set(usage.candidates)) == 5
    assert _asked(usage, "cff") == [("def a():", "k = again()")]
    assert _asked(usage, "cfr") == [("def a():", "n = twin()")]


@pytest.mark.parametrize(
    ("names", "level"), [("abcd", None), ("abcde", "easy"), ("abcdefghi", "easy"), ("abcdefghij", "hard")]
)
def test_five_candidates_are_easy_and_ten_are_hard(names: str, level: str | None) -> None:
    found = _usages(lib=LIBRARY, use=f"from .lib import {', '.join(names)}\n{BODY}")
    assert [usage.level for usage in found] == ([level] if level else [])


def test_a_file_that_does_not_parse_or_imports_beside_other_code_is_left_out() -> None:
    broken = f"{IMPORTS}{BODY}def (:\n"
    beside = f"{IMPORTS.rstrip()}; x = 1\n{BODY}"
    assert _usages(lib=LIBRARY, broken=broken, beside=beside, tests__use=IMPORTS) == []


def test_no_answer_is_chosen_twice_and_no_more_than_the_limit() -> None:
    files = _files(lib=LIBRARY, **{f"use{n}": f"{IMPORTS}{BODY}k = a()\nn{n} = b()\nm{n} = c()\n" for n in range(4)})
    every = mine_next_lines(files, Recipe("owner/pkg"))["cff", "easy"]
    assert len(every) == 1 + 4 + 4
    assert [question.place for question in every] == sorted(question.place for question in every)
    few = mine_next_lines(files, Recipe("owner/pkg", limit=3))
    assert len(few["cff", "easy"]) == 3
    assert {question.place for question in few["cff", "easy"]} < {question.place for question in every}
    assert few["cff", "hard"] == few["cfr", "easy"] == []
    other = choose(every, 3, "another")
    assert [question.place for question in other] != [question.place for question in few["cff", "easy"]]


def test_tasks_are_drawn_evenly_over_the_files() -> None:
    files = _files(lib=LIBRARY, **{f"use{n}": f"{IMPORTS}{BODY}k{n} = a()\nn{n} = b()\nm{n} = c()\n" for n in range(4)})
    every = mine_next_lines(files, Recipe("owner/pkg"))["cff", "easy"]
    assert sorted(question.place[0] for question in choose(every, 4, evenly=True)) == [
        f"pkg/use{n}.py" for n in range(4)
    ]
    four, seven = ({question.place for question in choose(every, n, evenly=True)} for n in (4, 7))
    assert four < seven


def test_a_question_stays_when_code_is_put_before_it() -> None:
    uses = "".join(f"n{n} = a({n})\n" for n in range(9))
    before, after = (_usage(lib=LIBRARY, use=f"{IMPORTS}{BODY}{more}{uses}") for more in ("", "x = 4\n" * 7))
    assert _asked(before, "cfr") == _asked(after, "cfr")


USING = "package a.b;\n\nimport a.c.One;\nimport a.c.Two;\nimport a.c.Three;\nimport a.c.Four;\nimport a.c.Five;\n\n"


def _java(body: str) -> Usage:
    files = {f"any/{name}.java": f"package a.c;\n\npublic class {name} {{}}\n" for name in NAMES}
    files |= {
        "any/Use.java": f"{USING}public class Use {{\n    int n;\n    int m;\n{body}}}\n",
        "any/bad.java": "class {",
    }
    (usage,) = java_usages("owner/it", {path: text.encode() for path, text in files.items()})
    return usage


NAMES = ("One", "Two", "Three", "Four", "Five")


def test_a_java_class_is_known_by_its_package_wherever_its_file_lies() -> None:
    usage = _java("    One a;\n    Two b;\n")
    assert usage.candidates == [f"public class {name} {{}}" for name in NAMES]
    assert [it.answer.strip() for it in usage.questions("cff")] == ["One a;", "Two b;"]


def test_a_java_line_that_names_another_class_in_a_comment_or_a_string_asks_for_none() -> None:
    usage = _java('    One a; // no Two\n    Three b = of("Four");\n    Five c;\n')
    assert [it.answer.strip() for it in usage.questions("cff")] == ["Five c;"]


@pytest.mark.parametrize("recipe", OWN, ids=lambda recipe: recipe.repository)
def test_every_class_a_java_file_imports_is_asked_for(recipe: Recipe) -> None:
    for usage in java_usages(recipe.repository, _own(recipe)):
        asked = {it.gold for setting in SETTINGS for it in usage.questions(setting)}
        assert asked == set(range(len(usage.candidates)))


def _own(recipe: Recipe) -> dict[str, bytes]:
    return {file.path: file.read() for file in of_folder(recipe).files}
