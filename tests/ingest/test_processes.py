"""Work in processes that may die of it."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence

import pytest

from ingest.contents.processes import Workers
from lake.engine import Engine

pytestmark = pytest.mark.usefixtures("processes")


def halves(jobs: Sequence[int]) -> list[float]:
    return [job / 2 for job in jobs]


def dies_of_sevens(jobs: Sequence[int]) -> list[int]:
    if any(job % 10 == 7 for job in jobs):
        os.kill(os.getpid(), signal.SIGKILL)
    return [-job for job in jobs]


def refuses(jobs: Sequence[int]) -> list[int]:
    raise ValueError(len(jobs))


def test_answers_come_in_the_order_of_the_jobs() -> None:
    with Workers(Engine(2)) as pool:
        assert pool.map(halves, range(10), at_once=3) == [job / 2 for job in range(10)]
        assert pool.map(halves, [], at_once=3) == []
        assert pool.map(halves, [8], at_once=3) == [4]


@pytest.mark.parametrize("n_processes", [1, 2])
def test_a_job_that_kills_its_process_costs_no_other_its_answer(n_processes: int) -> None:
    with Workers(Engine(n_processes)) as pool:
        answers = pool.map(dies_of_sevens, range(20), at_once=6)
        assert answers == [None if job in {7, 17} else -job for job in range(20)]
        assert pool.map(halves, [8], at_once=1) == [4]


def test_an_error_is_the_callers() -> None:
    with Workers(Engine(1)) as pool, pytest.raises(ValueError, match="2"):
        pool.map(refuses, [1, 2], at_once=2)


def test_what_was_begun_is_answered_when_it_is_asked_for() -> None:
    with Workers(Engine(1)) as pool:
        pool.begin(dies_of_sevens, [1, 2, 8], at_once=2)
        pool.begin(dies_of_sevens, [7, 9], at_once=2)
        assert pool.map(dies_of_sevens, [9, 7, 3, 2], at_once=2) == [-9, None, -3, -2]
