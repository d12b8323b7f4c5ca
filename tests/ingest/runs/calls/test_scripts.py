"""Scripts that call an agent's tools: which tools with which arguments, as far as the script itself says it."""

from __future__ import annotations

import pytest

from ingest.runs.calls.scripts import script_calls


@pytest.mark.parametrize(
    ("script", "calls"),
    [
        (
            "tools.run({cmd: 'it\\'s\\n\\u00e9', \"n\": 3, b: ['x', null]});",
            [{"cmd": "it's\n\u00e9", "n": None, "b": ["x", None]}],
        ),
        ("const p = 'a.py', cmd = `cat '${p}'`; await tools.run({cmd});", [{"cmd": "cat 'a.py'"}]),
        ("tools.run({cmd: 'head -' + '3 ' + ('a' + '.py')})", [{"cmd": "head -3 a.py"}]),
        ("tools.run(`*** Begin`)", [{"input": "*** Begin"}]),
        ("tools.run({cmd: `cat ${unknown}`, n: f()})", [{"cmd": None, "n": None}]),
        ("fs.map(f => tools.run({cmd: f}))", [{"cmd": None}]),
        ("text(1); other.run({cmd: 'x'})", []),
        ("tools.run(", []),
    ],
)
def test_arguments_are_what_the_script_says(script: str, calls: list[object]) -> None:
    assert script_calls(script) == [("run", given) for given in calls]


def test_scripts_nested_too_deep_are_no_scripts() -> None:
    assert not script_calls("tools.a(" * 5_000 + ")" * 5_000)
    assert not script_calls("f(" * 3_000 + "tools.a({})" + ")" * 3_000)
