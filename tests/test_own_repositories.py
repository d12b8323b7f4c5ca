from pathlib import Path

import pytest

from lake.errors import Exit
from lake.store import Lake
from tests.ingest.mining.histories import MadeRepository
from tests.ingest.runs.agents import PATCH
from tests.test_own_shapes import BURN, ENGINE, QUESTION, gold, lines, own
from tests.tiny import Row, put


@pytest.mark.parametrize(
    ("repo", "below", "there"),
    [("rockets", "acme/rockets", True), ("acme/rockets", "rockets", True), ("rockets", ".", True), ("x", "y", False)],
)
def test_a_missing_repository_is_named(tmp_path: Path, repo: str, below: str, *, there: bool) -> None:
    put(tmp_path / "repos" / below / "src/engine.py", ENGINE.encode())
    location = {"path": "src/engine.py", "lines": "4-5"}
    rows = [{"id": "q0", "gold": [{**location, "path": "no.py"}]}, {"id": "q1", "gold": [location]}]
    items = put(tmp_path / "my.jsonl", lines(*({"question": QUESTION, "repo": repo, **row} for row in rows)))
    run = own(tmp_path, "--items", items, "--repositories", tmp_path / "repos").ended(Exit.INCOMPLETE)
    assert (gold(tmp_path) == [BURN]) == there
    assert ("repos has no folder of x; it has y" in run.err) != there
    assert ("next: " in run.out + run.err) == there


@pytest.mark.slow
@pytest.mark.parametrize(
    ("row", "query"),
    [
        ({"instance_id": "acme__rockets-1", "repo": "acme/rockets", "base_commit": "COMMIT",
          "problem_statement": QUESTION, "patch": PATCH, "test_patch": ""}, QUESTION),
        # As Multi-SWE-bench publishes them.
        ({"org": "acme", "repo": "rockets", "number": 1, "title": "Burn", "base": {"sha": "COMMIT"}, "fix_patch": PATCH,
          "resolved_issues": [{"number": 3, "title": "It burns", "body": "too fast"}]}, "It burns\n\ntoo fast"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("below", ["acme/rockets", "acme__rockets", "rockets", "."])
def test_issues_with_patches_and_clones(tmp_path: Path, row: dict[str, object], query: str, below: str) -> None:
    made = MadeRepository(tmp_path / "git" / below)
    commit = made.commit("first", "Begin", {"src/engine.py": ENGINE})
    made.commit("second", "Move", {"src/engine.py": f"#\n{ENGINE}"})
    lacking = {"instance_id": "q2", "org": "acme", "repo": "acme/rockets"}
    items = put(tmp_path / "swe.jsonl", lines(row, lacking).replace(b"COMMIT", commit.encode()))
    own(tmp_path, "--items", items, "--repositories", tmp_path / "git").ended(Exit.INCOMPLETE)
    assert gold(tmp_path) == [("acme__rockets-1", "src/engine.py", 3, 5)]
    lake = Lake(tmp_path / "lake")
    assert lake.read("queries").filter(item_id="acme__rockets-1")["text"].to_list() == [query]


def test_gold_of_a_commit_is_read_at_the_commit(tmp_path: Path) -> None:
    """Also if only addresses name the repository and the commit."""
    made = MadeRepository(tmp_path / "repos/rockets")
    commit = made.commit("first", "Begin", {"src/engine.py": ENGINE})
    other = made.commit("second", "Move", {"src/engine.py": f"#\n{ENGINE}"})
    links = [f"https://github.com/acme/rockets/blob/{each}/src/engine.py#L4-L5" for each in (commit, other)]
    plain: Row = {"repo": "acme/rockets", "commit": commit, "gold": "src/engine.py:4-5"}
    rows: list[Row] = [plain, {"gold": links[0]}, {"gold": links}, plain | {"commit": commit[:8]}]
    each = [row | {"id": f"q{n}", "question": QUESTION} for n, row in enumerate(rows)]
    items = put(tmp_path / "a.jsonl", lines(*each))
    own(tmp_path, "--items", items, "--repositories", tmp_path / "repos").ended(Exit.INCOMPLETE)
    assert gold(tmp_path) == [(f"q{n}", "src/engine.py", 3, 5) for n in (0, 1, 3)]
    (reject,) = Lake(tmp_path / "lake").read("rejects").rows(named=True)
    assert (reject["source"], reject["position"]) == ("a.jsonl", "line 3")
    assert f"/{other}/src/engine.py is not of acme/rockets at {commit}" in reject["reason"]


def test_a_folder_at_no_commit_is_read_as_it_is_and_said_so(tmp_path: Path) -> None:
    put(tmp_path / "repos/rockets/src/engine.py", ENGINE.encode())
    installed = ("web/node_modules/a/i.js", "env/pyvenv.cfg", "env/lib/a.py", ".x_cache/CACHEDIR.TAG", ".x_cache/a.py")
    for path in installed:
        put(tmp_path / "repos/rockets" / path, b"x = 1\n")
    row = {"id": "q1", "question": QUESTION, "repo": "rockets", "commit": "a" * 40, "gold": "src/engine.py:4-5"}
    run = own(tmp_path, "--items", put(tmp_path / "a.jsonl", lines(row)), "--repositories", tmp_path / "repos").done()
    assert "rockets is not a git repository: it is read as it is, though its rows name 1 commit" in run.err
    folders = [f"{path} (installed packages or a cache)" for path in (".x_cache/", "env/", "web/node_modules/")]
    assert f"rockets: {', '.join(folders)}" in run.err
    assert gold(tmp_path) == [BURN]
    assert Lake(tmp_path / "lake").read("files")["path"].to_list() == ["src/engine.py"]


def test_of_a_git_repository_the_committed_files_are_read_as_they_are_now(tmp_path: Path) -> None:
    made = MadeRepository(tmp_path / "repo")
    made.commit("first", "Begin", {"src/engine.py": "#\n"})
    put(tmp_path / "repo/src/engine.py", ENGINE.encode())
    put(tmp_path / "repo/.venv/lib.py", ENGINE.encode())
    items = put(tmp_path / "a.jsonl", lines({"id": "q1", "question": QUESTION, "gold": "src/engine.py:4-5"}))
    own(tmp_path, "--items", items, "--repositories", tmp_path / "repo").done()
    assert gold(tmp_path) == [BURN]
    assert Lake(tmp_path / "lake").read("files")["path"].to_list() == ["src/engine.py"]


def test_of_a_bare_repository_the_last_commit_is_read(tmp_path: Path) -> None:
    made = MadeRepository(tmp_path / "repo")
    made.commit("first", "Begin", {"src/engine.py": ENGINE})
    (tmp_path / "repo/.git").rename(tmp_path / "rockets.git")
    items = put(tmp_path / "a.jsonl", lines({"id": "q1", "question": QUESTION, "gold": "src/engine.py:4-5"}))
    own(tmp_path, "--items", items, "--repositories", tmp_path / "rockets.git").done()
    assert gold(tmp_path) == [BURN]
