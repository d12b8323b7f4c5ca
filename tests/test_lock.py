import importlib.metadata
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.lock import LEFT_OUT, LOCKS, Lock
from tests.tiny import python

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
STAGES = ("lake", "ingest", "evaluate", "report")

every_lock = pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.name)


def lines(lock: Lock) -> list[str]:
    return (ROOT / lock.name).read_text().splitlines()


def pinned(lock: Lock) -> list[Requirement]:
    return [Requirement(line) for line in lines(lock)]


def requirements_of(lock: Lock) -> list[Requirement]:
    groups = [line for group in lock.groups for line in PROJECT["dependency-groups"][group]]
    extras = [line for extra in lock.extras for line in PROJECT["project"]["optional-dependencies"][extra]]
    wanted = [line for line in [*PROJECT["project"]["dependencies"], *groups, *extras] if not line.startswith(LEFT_OUT)]
    return [Requirement(line) for line in wanted]


@every_lock
def test_every_line_is_an_exact_pin_of_a_package_that_may_be_installed_once(lock: Lock) -> None:
    loose = [str(pin) for pin in pinned(lock) if [part.operator for part in pin.specifier] != ["=="] or "*" in str(pin)]
    assert pinned(lock)
    assert loose == []
    here = [canonicalize_name(pin.name) for pin in pinned(lock) if pin.marker is None or pin.marker.evaluate()]
    assert sorted(here) == sorted(set(here))
    # One would answer `import evaluate`; the others no default installation has.
    names = {canonicalize_name(pin.name) for pin in pinned(lock)}
    assert not [name for name in names if name == "evaluate" or name.startswith(("torch", "nvidia", "triton"))]


@every_lock
def test_every_requirement_is_pinned_within_its_range(lock: Lock) -> None:
    pins: dict[str, list[str]] = {}
    for pin in pinned(lock):
        pins.setdefault(canonicalize_name(pin.name), []).extend(part.version for part in pin.specifier)
    missing = [wanted.name for wanted in requirements_of(lock) if canonicalize_name(wanted.name) not in pins]
    assert missing == []
    outside = [
        f"{wanted}: {version}"
        for wanted in requirements_of(lock)
        for version in pins[canonicalize_name(wanted.name)]
        if not wanted.specifier.contains(version, prereleases=True)
    ]
    assert outside == []


@every_lock
def test_a_lock_keeps_the_pins_of_the_one_it_stands_on(lock: Lock) -> None:
    below = [line for other in LOCKS if other.name == lock.on for line in lines(other)]
    # On more systems, where what was added wants them there.
    pins = {line.partition(" ;")[0] for line in lines(lock)}
    assert [line for line in below if line.partition(" ;")[0] not in pins] == []


@every_lock
def test_locks_that_are_installed_side_by_side_pin_alike(lock: Lock) -> None:
    other = {lock.name: lock for lock in LOCKS}.get(lock.beside or "", lock)
    theirs, ours = ({(pin.name, str(pin.specifier)) for pin in pinned(each_lock)} for each_lock in (other, lock))
    both = {name for name, _ in theirs} & {name for name, _ in ours}
    assert {pin for pin in theirs ^ ours if pin[0] in both} == set()


def test_a_package_called_evaluate_is_refused_by_name(tmp_path: Path) -> None:
    pip = ("-m", "pip", "--isolated", "--disable-pip-version-check", "install", "--dry-run", "--no-index")
    # Isolation leaves the machine-wide settings in force; the variable takes them away too.
    target = ("--target", tmp_path / "target")
    answer = python(*pip, *target, "-c", "constraints.txt", "evaluate", PIP_CONFIG_FILE=os.devnull)
    assert answer.code != 0
    assert "evaluate<0" in answer.out + answer.err


def test_the_stages_come_from_this_checkout_and_no_installed_package_has_their_names() -> None:
    script = f"import {', '.join(STAGES)}; print(*(stage.__file__ for stage in ({', '.join(STAGES)})), sep='\\n')"
    printed = python("-c", script).done().out
    assert [Path(line).parent for line in printed.splitlines()] == [ROOT / stage for stage in STAGES]
    assert importlib.metadata.packages_distributions().keys().isdisjoint(STAGES)
    # Started elsewhere and isolated from the caller's paths, Python finds nothing of that name.
    script = f"import importlib.util, sys; sys.exit(any(map(importlib.util.find_spec, {STAGES!r})))"
    assert subprocess.run([sys.executable, "-I", "-c", script], check=False).returncode == 0
