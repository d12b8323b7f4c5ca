import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Annotated

import polars as pl
import pytest
import typer

from lake import console
from lake.console import Console, print_listing, run, split_names, split_systems, stage_app
from lake.errors import Exit, GoldspanError
from lake.outcome import Outcome
from lake.parts import PartCounts
from lake.store import Lake
from tests.tiny import command, python

KEYS = ["written", "expected", "scored", "missing", "failed", "rejected", "made", "current", "removed", "seconds"]


def _app(fault: BaseException | None = None, code: int | None = None) -> typer.Typer:
    app = typer.Typer()

    @app.command()
    def work(
        names: Annotated[list[str] | None, typer.Argument()] = None,
        limit: Annotated[int | None, typer.Option(min=1, envvar="LIMIT")] = None,
    ) -> None:
        print("worked", *(names or []), limit)
        if fault is not None:
            raise fault
        if code is not None:
            raise typer.Exit(code)

    @app.command("list")
    def list_() -> None:
        print("listed")

    module = ModuleType("commands_of_a_stage")
    vars(module)["app"] = app
    sys.modules[module.__name__] = module
    return stage_app("work", dict.fromkeys(("work", "list"), module.__name__))


def _code(app: typer.Typer, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["stage", *arguments])
    with pytest.raises(SystemExit) as ended:
        run(app, "stage")
    return int(ended.value.code or 0)


ODD = "stage: it is odd\n  where: here\n  Mend it.\n"
FULL = "stage: the operating system refused: No space left on device"


@pytest.mark.parametrize(
    ("fault", "code", "message"),
    [
        *((GoldspanError("it is odd", where="here", hint="Mend it.", code=code), code, ODD) for code in Exit),
        (KeyboardInterrupt(), 130, "stage: interrupted. Finished work is kept; run the same command again"),
        (
            ZeroDivisionError("by nought\nand more"),
            1,
            "stage: ZeroDivisionError: by nought\n  This is a bug in Goldspan. Run it again with --debug",
        ),
        (OSError(28, "No space left on device", "/x"), 1, FULL),
        (pl.exceptions.ComputeError("IO error (os error 28)"), 1, FULL),
        (MemoryError(), 1, "stage: out of memory"),
        (
            pl.exceptions.PanicException("out of bounds"),
            1,
            "stage: PanicException: out of bounds\n  This is a bug in",
        ),
    ],
)
def test_an_error_ends_in_its_exit_code_and_message(
    fault: BaseException, code: int, message: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _code(_app(fault), monkeypatch) == code
    told = capsys.readouterr().err
    assert told.startswith(message)
    assert len(told.splitlines()) <= 3


@pytest.mark.parametrize(
    "arguments", [["--nothing"], ["--limit", "0"], ["--limit", "many"], ["--limit"], ["work", "--limit", "-3"]]
)
def test_wrong_use(arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert _code(_app(), monkeypatch, *arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "Traceback" not in captured.err
    assert captured.err


@pytest.mark.parametrize(
    ("arguments", "printed"),
    [("a b", "worked a b None\n"), ("list", "listed\n"), ("work list", "worked list None\n")],
)
def test_arguments_go_to_the_default_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: str, printed: str
) -> None:
    assert _code(_app(), monkeypatch, *arguments.split()) == 0
    assert capsys.readouterr().out == printed


def _outcome(**counts: int | str | PartCounts) -> Outcome:
    outcome = Outcome(written="lake/data", warnings=["a note"], hint="make report")
    vars(outcome).update(counts)
    return outcome


def test_json_is_exactly_one_object_on_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    tally = PartCounts({"a", "b"}, {"b", "c"}, {"a"})
    Console(json=True, quiet=True).finish("evaluate", _outcome(expected=5, scored=4, missing=1, tally=tally))
    captured = capsys.readouterr()
    printed = json.loads(captured.out)
    assert list(printed) == KEYS
    assert printed | {"seconds": 0} == {
        "written": "lake/data", "expected": 5, "scored": 4, "missing": 1, "failed": 0, "rejected": 0, "made": 2,
        "current": 1, "removed": 0, "seconds": 0,
    }  # fmt: skip
    assert captured.out.count("\n") == 1
    assert captured.err == ""


def test_the_last_block_says_what_there_is_to_say_and_no_noughts(capsys: pytest.CaptureFixture[str]) -> None:
    Console().finish("evaluate", _outcome(expected=5000, scored=4999, failed=1, tied=3, tally=PartCounts({"a"})))
    captured = capsys.readouterr()
    first, note, hint = captured.err.splitlines()
    assert first.startswith("evaluate: 4,999 of 5,000 items, 1 failed, 3 tied at a cut-off; parts: 1 made in ")
    assert first.endswith(" s → lake/data")
    assert (note, hint) == ("  a note", "  next: make report")
    assert captured.out == ""


@pytest.mark.parametrize(
    ("counts", "code"),
    [
        ({}, 0),
        ({"tally": PartCounts({"a"})}, 0),
        ({"missing": 1}, 5),
        ({"failed": 1}, 5),
        ({"rejected": 1}, 5),
        ({"tied": 1}, 0),
    ],
)
def test_what_is_left_undone_is_exit_code_5(counts: dict[str, int | PartCounts], code: int) -> None:
    assert _outcome(**counts).code == code


def test_a_pipe_gets_progress_now_and_then(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(console, "PIPE_SECONDS", -1.0)
    assert list(Console().track(["a", "b"], "counting", total=2)) == ["a", "b"]
    assert capsys.readouterr().err == "counting: 0 of 2\ncounting: 1 of 2\n"
    assert list(Console().track([], "counting", total=0)) == []


@pytest.mark.parametrize("given", ["a,b", "a b", " a , b,, ", ["a", "b"], ["a,b", "a"]])
def test_names_are_given_in_any_way(given: str | list[str]) -> None:
    assert split_names(given) == ["a", "b"]


ROWS: list[dict[str, object]] = [
    {"name": "a", "meaning": "ä: b", "empty": "", "default": True},
    {"name": "b", "meaning": None, "n": 3, "default": False},
    {"name": "c", "n": 0, "tags": []},
]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a,b c", ["a", "b", "c"]),
        ("mine v2", ["mine v2"]),
        ("a+b, mine v2,*+c  d", ["a+b", "mine v2", "*+c", "d"]),
        ("one, two", ["one, two"]),
        ("", []),
    ],
)
def test_system_names_with_blanks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str, names: list[str]) -> None:
    monkeypatch.setattr(Lake, "scan", lambda *_: pl.LazyFrame({"system": ["mine v2", "one, two"]}))
    assert split_systems(text, Lake(tmp_path)) == names


@pytest.mark.parametrize("arguments", [["lst"], ["lst", "--limits"]])
def test_a_mistyped_command_has_a_suggestion(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    fault = GoldspanError("unknown benchmark 'lst'", hint="There is: x.", code=Exit.USAGE)
    assert _code(_app(fault), monkeypatch, *arguments) == Exit.USAGE
    err = capsys.readouterr().err
    assert "Did you mean the command 'list'?" in err
    assert ("unknown benchmark 'lst'" in err) == (len(arguments) == 1)
    # What is like no command, or wrong in another way, keeps its own hint.
    other = GoldspanError("unknown metric 'foo'", hint="There is: ndcg.", code=Exit.USAGE)
    for kept, name in ((fault, "x"), (other, "lst")):
        assert _code(_app(kept), monkeypatch, name) == Exit.USAGE
        assert capsys.readouterr().err == f"stage: {kept.what}\n  {kept.hint}\n"


def test_a_name_between_colons_is_said_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    Console().say("mine:zero: 3 items [bold]of :smile:")
    assert capsys.readouterr().err == "mine:zero: 3 items [bold]of :smile:\n"


def test_a_listing_is_columns_json_or_yaml(capsys: pytest.CaptureFixture[str]) -> None:
    print_listing(ROWS, "")
    assert capsys.readouterr().out == "a  ä: b  default\nb  3\nc  0\n"
    print_listing(ROWS, "json")
    assert json.loads(capsys.readouterr().out) == ROWS
    print_listing(ROWS[:1], "yaml")
    assert capsys.readouterr().out == "- name: a\n  meaning: 'ä: b'\n  empty: ''\n  default: true\n"
    print_listing([], "")
    assert "the lake holds none; first: make ingest evaluate" in capsys.readouterr().err


HIDDEN = "\x1b[31m\x9b\u202e\u2066\ud800"
SHOWN = r"\u{1B}[31m\u{9B}\u{202E}\u{2066}\u{D800}"


def test_control_characters_are_escaped(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    fault = GoldspanError(HIDDEN, where=HIDDEN, examples=[HIDDEN], hint=HIDDEN)
    for error in (fault, ValueError(HIDDEN), OSError(2, "No such file", HIDDEN)):
        _code(_app(error), monkeypatch)
        err = capsys.readouterr().err
        assert SHOWN in err
        assert not set(HIDDEN) & set(err) - set("[31m")
    assert _code(_app(), monkeypatch, f"--{HIDDEN[:-1]}") == 2
    assert "\x1b" not in capsys.readouterr().err


def test_control_characters_are_escaped_in_messages_and_listings(capsys: pytest.CaptureFixture[str]) -> None:
    console = Console()
    console.say(HIDDEN)
    console.warn(HIDDEN)
    console.finish("evaluate", Outcome(written=HIDDEN, warnings=[HIDDEN], hint=HIDDEN))
    print_listing([{"name": HIDDEN}], "")
    print_listing([{"name": HIDDEN}], "json")
    printed = capsys.readouterr()
    assert printed.err.count(SHOWN) == 5
    assert printed.out.startswith(SHOWN)
    assert json.loads(printed.out.partition("\n")[2]) == [{"name": HIDDEN}]
    assert not set(HIDDEN) & set(printed.out + printed.err) - set("[31m")


def test_without_docstrings_the_stages_refuse_to_run() -> None:
    run = python("-OO", "-m", "evaluate", "list", "metrics").refused(Exit.USAGE)
    assert run.err.startswith("python -OO is not supported")


@pytest.mark.parametrize("stage", ["ingest", "evaluate", "report"])
def test_a_stage_shows_its_version_and_the_flags_of_what_it_does_without_a_verb(stage: str) -> None:
    assert command(stage, "--version").out == "goldspan 0.2.0\n"
    run = command(stage, "--help")
    assert (run.code, "--lake" in run.out, " list " in run.out) == (0, True, True)


def test_an_error_says_what_where_three_examples_and_what_to_do() -> None:
    error = GoldspanError("it is odd", where="a.jsonl", examples=["1", "2", "3", "4", "5"], hint="Mend it.")
    assert str(error) == (
        "it is odd\n  where: a.jsonl\n  for example: 1\n  for example: 2\n  for example: 3\n  and 2 more\n  Mend it."
    )


def test_a_name_of_several_lines_is_shown_on_one() -> None:
    error = GoldspanError("it is odd", where="a\nb\x1b", examples=["c\nd"])
    assert error.render() == "it is odd\n  where: a\\u{A}b\\u{1B}\n  for example: c\\u{A}d"
