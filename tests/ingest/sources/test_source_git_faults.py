import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from threading import Timer

import pytest

from ingest.sources.git import Repositories
from lake.errors import Exit
from lake.store import Lake
from tests.ingest.benchmarks.contextbench.context_cases import COMMITTED, FILES, build, items, row
from tests.ingest.sources.git_remotes import Remote, Waits, commands, contents, git_that, repositories, served
from tests.tiny import ROOT, Said, command, refused, stored

HULL = ("100644", "src/hull.py", b"planks = 12\n")

SCRIPT = """
import sys
from pathlib import Path
from ingest.sources.git import Repositories
from ingest.rejects import Rejects
found = Repositories(Path(sys.argv[1]), base=sys.argv[2]).files("acme/boats", sys.argv[3])
print([file.data for file in found(Rejects())])
"""


def _started(tmp_path: Path, commit: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", SCRIPT, str(tmp_path / "cache"), f"file://{tmp_path / 'remotes'}", commit]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def _read_when_there(path: Path) -> int:
    """The number a file holds, once it does."""
    for _ in range(6_000):
        if path.exists() and path.read_text(encoding="ascii").endswith("\n"):
            return int(path.read_text(encoding="ascii"))
        time.sleep(0.05)
    pytest.fail(f"{path} never came")


def _hangs(command: str, pid: Path, *first: str) -> list[str]:
    """Lines of sh: at that git command do something first, say who hangs, and hang, with a child."""
    return [f'case " $* " in *" {command} "*) {"; ".join([*first, f"echo $$ > {pid}"])}; sleep 300;; esac']


def test_what_a_killed_process_left_half_made_is_healed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    remote = Remote(tmp_path / "remotes")
    commit = remote.commit(HULL)
    folder = Repositories(tmp_path / "cache").folder(remote.url)
    with monkeypatch.context() as patched:
        left = (f"touch {folder}/shallow.lock", f"touch {folder}/objects/tmp_pack_x")
        git_that(tmp_path / "bin", patched, _hangs("fetch", tmp_path / "pid", *left))
        process = _started(tmp_path, commit)
        group = _read_when_there(tmp_path / "pid")
    process.kill()
    process.communicate()
    os.killpg(group, signal.SIGKILL)
    assert (folder / "shallow.lock").exists()
    tree = repositories(tmp_path / "cache", tmp_path / "remotes").files("acme/boats", commit)
    assert [*contents(tree).values()] == [HULL[2]]
    assert not [*folder.rglob("*.lock"), *folder.rglob("tmp_*")]


@pytest.mark.parametrize("damage", ["HEAD", "objects/pack/*.pack", "objects"])
def test_a_damaged_repository_is_made_anew(tmp_path: Path, damage: str) -> None:
    remote = Remote(tmp_path / "remotes")
    commit = remote.commit(HULL)
    cache = repositories(tmp_path / "cache", tmp_path / "remotes")
    cache.files("acme/boats", commit)
    damaged = list(cache.folder(remote.url).glob(damage))
    assert damaged
    for path in damaged:
        path.rename(tmp_path / "gone")
        if path.suffix or path.name == "config":
            path.write_bytes(b"damaged")
    assert [*contents(cache.files("acme/boats", commit)).values()] == [HULL[2]]


def test_two_processes_that_want_one_repository_fetch_it_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commit = Remote(tmp_path / "remotes").commit(HULL)
    log = git_that(tmp_path / "bin", monkeypatch, ['case " $* " in *" fetch "*) sleep 1;; esac'])
    both = [_started(tmp_path, commit) for _ in range(2)]
    assert [process.communicate()[0] for process in both] == [f"[{HULL[2]!r}]\n"] * 2
    assert len(commands(log, "fetch")) == 1


def test_a_slow_git_is_ended_with_all_it_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    remote = Remote(tmp_path / "remotes")
    commit = remote.commit(HULL)
    beats = tmp_path / "beats"
    child = f"(while :; do echo beat >> {beats}; sleep 0.05; done) & wait"
    git_that(tmp_path / "bin", monkeypatch, [f'case " $* " in *" fetch "*) {child};; esac'])

    class WhenItBeats(Timer):
        def run(self) -> None:
            while not self.finished.wait(0.01):
                if beats.exists():
                    self.function(*self.args)
                    break

    # Its time is over as soon as what it started is at work, however long that takes on a busy machine.
    monkeypatch.setattr("ingest.sources.git.Timer", WhenItBeats)
    with refused(r"git fetch took longer than 60 seconds", Exit.MISSING):
        repositories(tmp_path / "cache", tmp_path / "remotes").files("acme/boats", commit)
    n_beats = beats.stat().st_size
    assert n_beats
    time.sleep(0.5)
    assert beats.stat().st_size == n_beats


def test_a_content_that_is_damaged_is_fetched_again_by_the_next_run(tmp_path: Path) -> None:
    remote = Remote(tmp_path / "remotes")
    commit = remote.commit(HULL)
    cache = repositories(tmp_path / "cache", tmp_path / "remotes")
    tree = cache.files("acme/boats", commit)
    (pack,) = cache.folder(remote.url).glob("objects/pack/*.pack")
    pack.chmod(0o644)
    pack.write_bytes(pack.read_bytes()[:-25])
    with refused("the repository is damaged, and is fetched again by the next run", Exit.MISSING):
        contents(tree)
    assert [*contents(cache.files("acme/boats", commit)).values()] == [HULL[2]]


def test_a_failing_server_is_asked_again_after_growing_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commit = Remote(tmp_path / "remotes").commit(HULL)
    once = f'[ $(grep -c " fetch " {tmp_path}/bin/log) -le 2 ]'
    fails = f'case " $* " in *" fetch "*) if {once}; then echo "fatal: early EOF" >&2; exit 128; fi;; esac'
    git_that(tmp_path / "bin", monkeypatch, [fails])
    waits = Waits()
    cache = Repositories(tmp_path / "cache", base=f"file://{tmp_path / 'remotes'}", sleep=waits)
    assert contents(cache.files("acme/boats", commit)) == {HULL[1]: HULL[2]}
    assert waits == [1.0, 2.0]


def test_a_server_out_of_reach_is_waited_for_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    why = "fatal: unable to access 'https://example.org/': Could not resolve host: example.org"
    log = git_that(tmp_path / "bin", monkeypatch, [f'case " $* " in *" fetch "*) echo "{why}" >&2; exit 128;; esac'])
    waits = Waits()
    cache = Repositories(tmp_path / "cache", base="https://example.org", sleep=waits)
    for name in ("acme/boats", "acme/rockets"):
        with refused(f"{name} cannot be fetched at 1{{40}}: .*Could not resolve host", Exit.MISSING):
            cache.files(name, "1" * 40)
    assert len(commands(log, "fetch")) == 5
    assert waits == [1.0, 2.0, 4.0]


def test_a_machine_without_git_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with refused("git is not installed", Exit.MISSING):
        repositories(tmp_path / "cache", tmp_path / "remotes").files("acme/boats", "1" * 40)


def test_settings_from_outside_are_not_heard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commit = Remote(tmp_path / "remotes").commit(HULL)
    (tmp_path / "config").write_text(f'[url "file://{tmp_path}/other/"]\n\tinsteadOf = file://{tmp_path}/remotes/\n')
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR"):
        monkeypatch.setenv(name, str(tmp_path / "nowhere"))
    for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"):
        monkeypatch.setenv(name, str(tmp_path / "config"))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "include.path")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", str(tmp_path / "config"))
    monkeypatch.setenv("GIT_ALLOW_PROTOCOL", "ext")
    tree = repositories(tmp_path / "cache", tmp_path / "remotes").files("acme/boats", commit)
    assert [*contents(tree).values()] == [HULL[2]]


def test_no_hook_runs_and_nothing_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    remote = Remote(tmp_path / "remotes")
    first, second = remote.commit(HULL), remote.commit(("100644", "other", b""))
    cache = repositories(tmp_path / "cache", tmp_path / "remotes")
    cache.files("acme/boats", first)
    hook = cache.folder(remote.url) / "hooks" / "reference-transaction"
    hook.parent.mkdir()
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    hook.chmod(0o755)
    git_that(tmp_path / "bin", monkeypatch, [f"env > {tmp_path}/environment"])
    cache.files("acme/boats", second)
    assert not (tmp_path / "ran").exists()
    environment = (tmp_path / "environment").read_text(encoding="utf-8").splitlines()
    assert {"GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=", "SSH_ASKPASS=", "GIT_CONFIG_NOSYSTEM=1"} <= set(environment)


def _ingest(home: Path, *more: object, base: str | None = None) -> Said:
    flag = ["--repositories", base if base is not None else f"file://{home / 'remotes'}"]
    arguments = ["--source", home / "source", "--lake", home / "lake", "--chunkers", "whole-file", *flag, *more]
    return command("ingest", "contextbench", *arguments)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Two rows of one repository that can be cloned, and one of a repository that cannot."""
    commit = Remote(tmp_path / "remotes", "acme/rockets").commit(*COMMITTED)
    rows = [row(f"acme__rockets-{n}", base_commit=commit) for n in (1, 2)]
    build(tmp_path / "source", [*rows, row("acme__boats-3", repo="acme/boats")], files={})
    return tmp_path


def test_repositories_of_a_folders_rows_are_cloned(home: Path) -> None:
    run = _ingest(home)
    run.ended(Exit.INCOMPLETE, "2 of 3 items ready, 1 missing", f"fetching file://{home}/remotes/acme/rockets at")
    assert set(Lake(home / "lake").read("files")["path"]) == set(FILES)
    assert " current" not in run.err


def test_what_could_not_be_had_is_asked_for_and_named_again(home: Path) -> None:
    _ingest(home)
    before = stored(home / "lake")
    again = _ingest(home)
    again.ended(
        Exit.INCOMPLETE,
        f"fetching file://{home}/remotes/acme/boats at",
        "1 item without repository files (reasons: items.why_not): acme__boats-3",
    )
    assert stored(home / "lake") == before


def test_what_can_be_had_at_last_is_read(home: Path) -> None:
    (home / "remotes" / "acme" / "rockets").rename(home / "away")
    assert "0 of 3 items ready, 3 missing" in _ingest(home).err
    assert str(items(home / "lake")["acme__rockets-1"]["why_not"]).startswith("its repository is not available")
    (home / "away").rename(home / "remotes" / "acme" / "rockets")
    assert "2 of 3 items ready, 1 missing" in _ingest(home).err
    assert items(home / "lake")["acme__rockets-1"]["why_not"] is None


def test_a_server_with_a_path_is_cloned_from(home: Path) -> None:
    with served(home / "remotes") as url:
        run = _ingest(home, base=f"{url}/scm/")
    assert "2 of 3 items ready, 1 missing" in run.err, run.err
    assert f"fetching {url}/scm/acme/rockets at" in run.err


@pytest.mark.parametrize("benchmark", ["repoeval", "contextbench"])
def test_where_nothing_is_cloned_the_flag_is_an_error(tmp_path: Path, benchmark: str) -> None:
    run = command("ingest", benchmark, "--lake", tmp_path / "lake", "--repositories", f"file://{tmp_path}")
    run.refused(Exit.USAGE, "--repositories has no effect: nothing is cloned for")
