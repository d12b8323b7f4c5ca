"""Ingest and evaluate in a child process that may be killed, starved or shut out, and what must hold afterwards."""

import multiprocessing
import os
import resource
import signal
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from multiprocessing.context import ForkServerContext, ForkServerProcess
from pathlib import Path
from typing import Literal
from unittest.mock import patch

from lake.parts import fault_of
from lake.store import Lake
from lake.tables import TABLES
from tests.engines import without_processes
from tests.tiny import Said, command, leftovers, stored

Moment = Literal["before", "after"]

SYSTEMS = "whole-file+bm25-okapi"


@dataclass(frozen=True)
class Harm:
    """How a child that runs some `stages` is harmed.

    It is killed at replacement `killed_at` of a part (from 1, over both stages), just before or after it (`moment`), or
    no file may grow beyond `file_bytes`, as on a full disk.
    """

    stages: int = 2
    killed_at: int | None = None
    moment: Moment = "before"
    file_bytes: int | None = None


def context() -> ForkServerContext:
    """Children that start from a process which has the stages imported already."""
    made = multiprocessing.get_context("forkserver")
    made.set_forkserver_preload(["ingest.commands.read", "evaluate.commands.run", "tests.resilience.stages"])
    return made


NO_HARM = Harm()


def start(source: Path, lake: Path, harm: Harm = NO_HARM, *, log: Path | None = None) -> ForkServerProcess:
    """The stages on one lake in a child; what they say on stderr goes into a file."""
    child = context().Process(target=_live, args=(source, lake, harm, log))
    child.start()
    return child


def finish(source: Path, lake: Path, *, stages: int = 2) -> tuple[Said, ...]:
    """The stages in this process, as far as they end well."""
    ingest = ("ingest", "repoeval", "--source", source, "--chunkers", "whole-file", "--lake", lake)
    answers: list[Said] = []
    for arguments in (ingest, ("evaluate", "--systems", SYSTEMS, "--lake", lake))[:stages]:
        if not answers or not answers[-1].code:
            answers.append(command(*arguments))
    return tuple(answers)


def _live(source: Path, lake: Path, harm: Harm, log: Path | None) -> None:
    if harm.file_bytes is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (harm.file_bytes, harm.file_bytes))
    if harm.killed_at is not None:
        _kill_at(harm.killed_at, harm.moment)
    with without_processes():
        answers = finish(source, lake, stages=harm.stages)
    if log is not None:
        log.write_text("".join(answer.err for answer in answers))
    sys.exit(answers[-1].code)


def _kill_at(number: int, moment: Moment) -> None:
    replace, done = Path.replace, iter(range(1, 10**9))

    def counted(self: Path, target: Path) -> Path:
        is_last = next(done) == number
        if is_last and moment == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        answer = replace(self, target)
        if is_last:
            os.kill(os.getpid(), signal.SIGKILL)
        return answer

    patch.object(Path, "replace", counted).start()


def every_part_is_whole(lake: Path) -> None:
    """No half-written part is to be seen: each is as it was written and can be read to its end."""
    store = Lake(lake)
    for name in TABLES:
        for part in store.parts(name):
            assert not fault_of(part)
            store.scan_parts([part], name).collect()


def finishes_as_before(source: Path, lake: Path, undisturbed: Mapping[str, bytes], *, stages: int = 2) -> None:
    """The next run ends well and leaves what an undisturbed one leaves, and nothing else."""
    for run in finish(source, lake, stages=stages):
        assert run.code == 0, run.err
    assert stored(lake) == undisturbed
    assert leftovers(lake) == []
