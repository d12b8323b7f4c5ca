"""Which definitions of other files a file uses, told by their names alone, and which of its lines ask for one."""

from __future__ import annotations

from collections import Counter

import pytest

from ingest.mining.names import FileUsage, SourceFiles, usages_by_name

NAMES = ("alpha", "beta", "gamma", "delta", "epsilon")
CALLS = "".join(f"run({name}(1));\n" for name in NAMES)
FILLER = "one = 1;\ntwo = 2;\nthree = 3;\n"


def usages(**files: str) -> dict[str, FileUsage]:
    contents = {name.replace("__", "/").replace("_DOT_", "."): text.encode() for name, text in files.items()}
    return {usage.path: usage for usage in usages_by_name("owner/any", SourceFiles(contents, Counter()))}


def asked(usage: FileUsage) -> list[tuple[str, str]]:
    """The gold's first line and the line that asks for it."""
    return [(usage.candidates[it.gold].split("\n")[0], it.answer) for it in usage.questions()]


def javascript(imports: str, calls: str = CALLS, **more: str) -> FileUsage | None:
    library = "".join(f"export function {name}(x) {{\n  return x;\n}}\n" for name in NAMES)
    return usages(src__library_DOT_js=library, src__use_DOT_js=f"{imports}\n{FILLER}{calls}", **more).get("src/use.js")


def test_the_line_that_first_uses_another_files_definition_asks_for_it() -> None:
    usage = javascript("import { alpha, beta, gamma, delta, epsilon } from './library.js';")
    assert usage is not None
    assert asked(usage) == [(f"export function {name}(x) {{", f"run({name}(1));") for name in NAMES]
    row = next(iter(usage.questions())).as_row()
    assert row["import_statement"] == "import { alpha, beta, gamma, delta, epsilon } from './library.js';"
    assert row["code"] == FILLER


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


def test_a_name_that_is_bound_to_something_else_too_is_no_gold() -> None:
    bound = "for (const alpha of many) {\n  go(alpha);\n}\n"
    usage = javascript("import * as all from './library.js';", CALLS + bound)
    assert usage is not None
    assert [line for _, line in asked(usage)] == [f"run({name}(1));" for name in NAMES if name != "alpha"]


def test_a_line_that_uses_or_names_two_candidates_asks_for_neither() -> None:
    calls = CALLS.replace("run(beta(1));", "run(beta(gamma(1)));").replace(
        "run(delta(1));", "run(delta(1)); // not alpha"
    )
    usage = javascript("import * as all from './library.js';", calls)
    assert usage is not None
    assert [line for _, line in asked(usage)] == ["run(alpha(1));", "run(epsilon(1));"]


def test_only_a_first_use_behind_three_lines_of_code_asks() -> None:
    usage = javascript("import * as all from './library.js';", CALLS + CALLS.replace("run", "again"))
    assert usage is not None
    assert [line for _, line in asked(usage)] == CALLS.splitlines()
    early = javascript("import * as all from './library.js';\nrun(alpha(1));")
    assert early is not None
    assert [line for _, line in asked(early)] == CALLS.splitlines()[1:]


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
    one = {
        "go": "func {}(x int) int {{\n\treturn x\n}}\n",
        "java": "class {} {{ }}\n",
        "rb": "def {}(x)\n  x\nend\n",
        "kt": "fun {}(x: Int): Int {{\n  return x\n}}\n",
    }[ending]
    call = "        run(new {}());\n" if ending == "java" else "  run({}(1))\n"
    filler = FILLER if ending == "java" else FILLER.replace(";", "")
    definitions = {f"a__l{n}_DOT_{ending}": library.format(one.format(name)) for n, name in enumerate(NAMES)}
    text = use.format(filler, "".join(call.format(name) for name in NAMES))
    found = usages(**definitions, **{f"a__use_DOT_{ending}": text})
    assert [line.strip() for _, line in asked(found[f"a/use.{ending}"])] == [
        call.format(name).strip() for name in NAMES
    ]
