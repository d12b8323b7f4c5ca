import json
import os
import shutil
from pathlib import Path

import pytest

from ingest.mining.history import History, fetched
from ingest.mining.issues import (
    MAX_CHANGED_FILES,
    MAX_CHANGED_LINES,
    NAMES_FILE,
    NAMES_NEITHER,
    NAMES_SYMBOL,
    mine_issues,
)
from ingest.mining.names import is_source
from lake.errors import Exit
from lake.store import Lake
from tests.ingest.mining.histories import MadeRepository, function, module
from tests.tiny import Said, command, stored

pytestmark = pytest.mark.slow

Mined = tuple[list[dict[str, object]], str]
REPOSITORY = "local/rockets"
MANY = [f"src/part{number}.py" for number in range(MAX_CHANGED_FILES + 1)]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> MadeRepository:
    """A history in which every rule leaves out one commit, and four ask."""
    made = MadeRepository(tmp_path_factory.mktemp("history") / "rockets")
    start = {
        "src/engine.py": module("ignite", "throttle", "shut_down"),
        "src/tank.py": module("fill", "drain"),
        "src/Valve.java": "class Valve {\n  int open(int turns) {\n    int flow = turns;\n    return flow;\n  }\n}\n",
        "src/long.py": f"LIMIT = 1\n\n\n{function('countdown', 1, 150)}",
        "tests/test_engine.py": "def test_ignite():\n    assert True\n",
        "vendor/lib.py": module("borrowed"),
        **{path: module("part") for path in MANY},
    }
    made.commit("first", "Begin with all the parts of a rocket", start)
    engine = start["src/engine.py"]
    changed = engine.replace(function("throttle", 1), function("throttle", 2))
    made.commit(
        "symbol", "Let throttle_back count twice\n\nCloses #12\n\nSigned-off-by: A <a@b.c>", {"src/engine.py": changed}
    )
    made.commit("again", "Let throttle_back count twice\n\nCloses #12", {"src/engine.py": engine})
    made.commit("file", "Mend what tank.py returns when empty", {"src/tank.py": module("fill", "drain", constant=3)})
    java = start["src/Valve.java"].replace("flow = turns", "flow = 2 * turns")
    made.commit("java", "Twice as much has to come out of it", {"src/Valve.java": java})
    long = start["src/long.py"].replace("1 * 70\n", "9 * 70\n").replace("LIMIT = 1", "LIMIT = 2")
    made.commit("long", "Wait a little longer before the start", {"src/long.py": long})
    made.commit("revert", 'Revert "Let throttle count twice"', {"src/engine.py": changed})
    made.commit("automated", "Bump version of everything to 2.0.0", {"src/engine.py": engine})
    made.commit("bot", "Update all the dependencies of engine", {"src/engine.py": changed}, "renovate[bot] <r@x.org>")
    made.commit("short", "Fix it", {"src/engine.py": engine})
    made.commit("docs", "Say how a rocket is to be flown", {"README.md": "Upwards.\n"})
    made.commit("tests", "Test the engine more than before", {"tests/test_engine.py": "def test_all():\n    pass\n"})
    made.commit("vendored", "Take the newer library for parts", {"vendor/lib.py": module("borrowed", constant=4)})
    made.commit("new", "Add a parachute for the landing", {"src/parachute.py": module("open_it")})
    made.commit("renamed", "Call the chute what it is", {"src/parachute.py": None, "src/chute.py": module("open_it")})
    made.commit("bulk", "Count three times in every part", {path: module("part", constant=3) for path in MANY})
    blanks = start["src/engine.py"].replace("total + 1", "total  +  1")
    made.commit("blanks", "Put more space around every sign", {"src/engine.py": blanks})
    made.commit("added", "Comment on nothing that was there", {"src/empty.py": "", "src/engine.py": blanks})
    wide = "".join(f"VALUE_{number} = {number}\n" for number in range(MAX_CHANGED_LINES + 1))
    made.commit("table", "Add the table of values for it", {"src/table.py": wide})
    made.commit("lines", "Double all of the values in it", {"src/table.py": wide.replace(" = ", " = 2 * ")})
    made.git("checkout", "--quiet", "-b", "side", "HEAD~1")
    made.commit("side", "Mend how much open_it lets out", {"src/chute.py": module("open_it", constant=5)})
    made.git("checkout", "--quiet", "main")
    made.git("merge", "--quiet", "--no-ff", "--message=Merge the side of it all", "side")
    return made


@pytest.fixture(scope="module")
def history(made: MadeRepository, tmp_path_factory: pytest.TempPathFactory) -> History:
    return fetched(str(made.folder), "", tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="module")
def mined(history: History) -> Mined:
    return mine_issues(history, REPOSITORY, 100, "")


def of_commit(mined: Mined, made: MadeRepository, name: str) -> dict[str, object]:
    (row,) = (row for row in mined[0] if row["instance_id"] == f"local__rockets-{made.commits[name][:12]}")
    return row


def gold_of(row: dict[str, object]) -> list[tuple[str, int, int]]:
    return [(span["file"], span["start_line"], span["end_line"]) for span in json.loads(str(row["gold_context"]))]


def test_each_rule_leaves_out_the_commit_that_it_is_about(mined: Mined) -> None:
    tasks, summary = mined
    assert len(tasks) == 5
    assert summary.partition("; left out: ")[2] == (
        "merge: 1, first commit: 1, revert: 1, automated: 2, message of fewer than 4 words: 1, no source file: 1, "
        "only tests: 1, only generated or vendored files: 1, only new files: 3, only renames: 1, "
        "more than 10 source files: 1, only white space: 1, more than 200 lines: 1, same message as another commit: 1"
    )


def test_gold_is_the_definitions_around_the_replaced_lines(mined: Mined, made: MadeRepository) -> None:
    row = next(row for row in mined[0] if "throttle_back" in str(row["problem_statement"]))
    assert row["problem_statement"] == "Let throttle_back count twice\n\nCloses #12"
    start = 1 + len(f"{function('ignite', 1)}\n\n".splitlines())
    assert gold_of(row) == [("src/engine.py", start, start + len(function("throttle", 1).splitlines()) - 1)]
    row = of_commit(mined, made, "file")
    assert row["base_commit"] == made.commits["again"]
    assert (row["language"], row["repo"]) == ("python", REPOSITORY)
    row = of_commit(mined, made, "java")
    assert (row["language"], gold_of(row)) == ("java", [("src/Valve.java", 2, 5)])
    # Around the line in the long function stands no short definition, and none around the constant.
    row = of_commit(mined, made, "long")
    assert gold_of(row) == [("src/long.py", 1, 1), ("src/long.py", 76, 76)]


def test_how_much_a_message_gives_away(mined: Mined, made: MadeRepository) -> None:
    assert of_commit(mined, made, "file")["source"] == NAMES_FILE
    assert of_commit(mined, made, "side")["source"] == NAMES_SYMBOL
    assert of_commit(mined, made, "java")["source"] == NAMES_NEITHER
    assert of_commit(mined, made, "long")["source"] == NAMES_NEITHER


def test_a_smaller_number_is_the_beginning_of_a_larger_and_a_seed_another_choice(history: History) -> None:
    def ids(n: int, seed: str = "") -> set[object]:
        return {row["instance_id"] for row in mine_issues(history, REPOSITORY, n, seed)[0]}

    assert len(ids(2)) == 2
    assert ids(2) < ids(4) < ids(9)
    assert len({frozenset(ids(2, seed)) for seed in "abcdef"}) > 1


def test_which_files_are_source() -> None:
    own = ["src/engine.py", "lib/latest.js", "src/contest.go"]
    tests = [
        "pkg/engine_test.go",
        "src/engine.spec.ts",
        "src/test/java/A.java",
        "spec/a_spec.rb",
        "src/EngineTest.java",
    ]
    others = ["third_party/zlib/inflate.c", "web/jquery.min.js", "api/a_pb2.py", "README.md"]
    assert [path for path in (*own, *tests, *others) if is_source(path)] == own


def _mine(lake: Path, *arguments: object) -> Said:
    return command("ingest", "mine", *arguments, "--chunkers", "whole-file", "--lake", lake)


def test_the_same_command_on_the_same_commit_gives_the_same_bytes(made: MadeRepository, tmp_path: Path) -> None:
    for name in ("one", "two"):
        copy = shutil.copytree(made.folder, tmp_path / name / "rockets")
        run = _mine(tmp_path / f"lake-{name}", copy, "--tasks", "completion,issue", "--n", 4).done()
        n_commits = made.git("rev-list", "--count", "main")
        assert "rockets-issue: 4 issue tasks (1 to 5 lines " in run.err
        assert f" of {n_commits} commits; left out: merge: 1, first commit: 1" in run.err
    assert stored(tmp_path / "lake-one") == stored(tmp_path / "lake-two")
    lake = Lake(tmp_path / "lake-one")
    rows = lake.read("benchmarks").sort("name").select("name", "like", "label", "revision").rows()
    head = made.git("rev-parse", "main")
    assert rows == [
        ("rockets-completion", "repoeval", "mined", f"{head} n=4"),
        ("rockets-issue", "contextbench", "mined", f"{head} n=4"),
    ]
    times = {path: path.stat().st_mtime_ns for path in lake.root.rglob("*.parquet")}
    _mine(lake.root, made.folder, "--tasks", "completion,issue", "--n", 4).done()
    assert {path: path.stat().st_mtime_ns for path in lake.root.rglob("*.parquet")} == times


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["nowhere"], Exit.MISSING, "nowhere is neither a folder nor a URL"),
        (["."], Exit.MISSING, "Give the folder or URL of a git repository"),
        (["ssh://host/a/b"], Exit.INVALID, "is refused"),
        (["{made}", "--at", "v9"], Exit.MISSING, "has no commit, branch or tag 'v9'"),
        (["{made}", "--tasks", "isue"], Exit.USAGE, "Did you mean 'issue'?"),
        (["{made}", "--label", "???"], Exit.USAGE, "--label NAME"),
        (["{made}", "--tasks", "line"], Exit.MISSING, "nothing could be mined"),
    ],
)
def test_what_cannot_be_mined_is_an_error(
    made: MadeRepository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], code: Exit, words: str
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    _mine(tmp_path / "lake", *(argument.format(made=made.folder) for argument in arguments)).ended(code, words)


def test_a_kind_of_task_without_any_is_no_benchmark(made: MadeRepository, tmp_path: Path) -> None:
    lake = Lake(tmp_path / "lake")
    _mine(lake.root, made.folder, "--tasks", "line,issue").done("rockets-line: 0 next-line tasks")
    assert lake.read("benchmarks")["name"].to_list() == ["rockets-issue"]
    at_first = made.commits["first"]
    _mine(lake.root, made.folder, "--tasks", "issue", "--at", at_first).refused(Exit.MISSING)
    assert lake.read("benchmarks").is_empty()
    assert lake.read("items").is_empty()


def test_odd_messages_and_paths_are_taken_as_they_are(tmp_path: Path) -> None:
    made = MadeRepository(tmp_path / "odd")
    odd = "M\x1e\x1f A\n\n0123456789012345678901234567890123456789\nM\ta.py"
    made.commit("first", odd, {"M": "", "a b\n.py": module("one"), "é.py": module("two")})
    made.commit("empty", "Change nothing of it at all", {})
    made.commit("both", f"Let both of them count more\n{odd}", {"a b\n.py": module("one", constant=2), "é.py": ""})
    history = fetched(str(made.folder), "", tmp_path / "cache")
    commits = {commit.commit_id: commit for commit in history.commits()}
    assert list(commits) == [*reversed(made.commits.values())]
    assert commits[made.commits["first"]].message == odd
    assert commits[made.commits["empty"]].changes == ()
    assert [change.before for change in commits[made.commits["both"]].changes] == ["a b\n.py", "é.py"]
    rows = mine_issues(history, "local/odd", 9, "")[0]
    assert {path for row in rows for path, _, _ in gold_of(row)} <= {"a b\n.py", "é.py"}


def test_two_commands_lead_to_a_verdict(made: MadeRepository, tmp_path: Path) -> None:
    lake = ("--lake", tmp_path / "lake")
    _mine(tmp_path / "lake", made.folder, "--tasks", "completion,issue").done()
    run = command("evaluate", *lake).done()
    assert "rockets-issue (mined): line_f1, mean over items, all items (rockets-issue@docs-v1)" in run.out
    assert "rockets-completion (mined): line_f1@8000" in run.out
    slices = Lake(tmp_path / "lake").read("aggregates", benchmark="rockets-issue")
    assert {NAMES_FILE, NAMES_NEITHER} <= set(slices.filter(slice="source")["slice_value"])
    command("report", "--site", tmp_path / "site", *lake).done()
    assert "mined" in (tmp_path / "site/rockets-issue.html").read_text(encoding="utf-8")


def test_a_repository_of_another_owner_is_read(made: MadeRepository, tmp_path: Path) -> None:
    copy = shutil.copytree(made.folder, tmp_path / "rockets")
    # Only root can give it to somebody else.
    owner = 12345 if os.getuid() == 0 else os.getuid()
    for path in [copy, *copy.rglob("*")]:
        os.chown(path, owner, -1)
    _mine(tmp_path / "lake", copy, "--tasks", "issue", "--n", 2).done()


def test_a_shallow_clone_is_read_as_far_as_it_goes(made: MadeRepository, tmp_path: Path) -> None:
    made.git("clone", "--quiet", "--depth=14", made.folder.as_uri(), str(tmp_path / "shallow"))
    run = _mine(tmp_path / "lake", tmp_path / "shallow", "--tasks", "issue")
    run.done("first commit: 1", "the clone is shallow, so older commits are missing: git fetch --unshallow")
