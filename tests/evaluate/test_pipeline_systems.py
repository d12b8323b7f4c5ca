"""Which systems run: by name, glob and alias, with the baselines beside them; and what a run of one is called."""

from __future__ import annotations

import dataclasses
import re

import pytest

from evaluate.retrievers import retrievers
from evaluate.systems import BuiltInSystem, check_patterns, resolve_systems
from lake.catalog.benchmarks.repoeval import REPOEVAL_CODE_CHUNK, REPOEVAL_PROMPT
from lake.catalog.protocol import Task
from lake.catalog.protocols import protocols_of
from lake.errors import Exit, GoldspanError

CHUNKERS = {"fixed-nws-1500": "1", "window-4-2": "2"}
BASELINES = {"oracle", "own-file", "random"}
SOME = {name: retrievers()[name] for name in ("bm25-okapi", "jaccard-regex", "recorded", *BASELINES)}
"""Retrievers enough to pick from: none of these tests is about how many there are."""


def _chosen(*patterns: str, task: Task = REPOEVAL_PROMPT) -> list[BuiltInSystem]:
    return resolve_systems(task, patterns, CHUNKERS, SOME, protocols_of(task))


@pytest.mark.parametrize(
    ("patterns", "systems"),
    [
        (["window-4-2+bm25-okapi"], {"window-4-2+bm25-okapi"}),
        (["*+bm25*"], {"window-4-2+bm25-okapi", "fixed-nws-1500+bm25-okapi"}),
        (["window-?-?+jaccard-regex"], {"window-4-2+jaccard-regex"}),
        (["code-chunk-fixed+bm25-okapi"], {"fixed-nws-1500+bm25-okapi"}),
        (["code-chunk-fixed+j*", "*-2+b*"], {"fixed-nws-1500+jaccard-regex", "window-4-2+bm25-okapi"}),
        (["window-4-2+random"], {"window-4-2+random"}),
    ],
)
def test_systems_are_picked_by_name_glob_and_alias_with_the_baselines_of_their_chunkers(
    patterns: list[str], systems: set[str]
) -> None:
    beside = {f"{system.partition('+')[0]}+{one}" for system in systems for one in BASELINES}
    assert {system.name for system in _chosen(*patterns)} == systems | beside


def test_a_word_for_several_chunkers_picks_those_that_the_lake_holds() -> None:
    cut = {"fixed-nws-600": "1", "fixed-nws-700": "2", "syntax-2400": "3"}
    found = resolve_systems(REPOEVAL_PROMPT, ["sizes+bm25-okapi"], cut, SOME, protocols_of(REPOEVAL_PROMPT))
    assert {system.chunker for system in found} == {"fixed-nws-600", "syntax-2400"}


def test_without_patterns_all_run_that_are_meant_to_run_unasked() -> None:
    free = {name for name, one in SOME.items() if one.runs_unnamed("repoeval/prompt")}
    assert {system.name for system in _chosen()} == {f"{chunker}+{one}" for chunker in CHUNKERS for one in free}


def test_there_is_an_oracle_for_each_protocol_and_it_comes_first() -> None:
    systems = [system for system in _chosen() if system.chunker == "window-4-2"]
    protocols = [system.protocol for system in systems if system.retriever.name == "oracle"]
    assert protocols == protocols_of(REPOEVAL_PROMPT)
    assert [system.retriever.name for system in systems][: len(protocols)] == ["oracle"] * len(protocols)
    assert not any(system.protocol for system in systems[len(protocols) :])


def test_a_task_meant_for_some_retrievers_runs_no_other() -> None:
    assert _chosen(task=REPOEVAL_CODE_CHUNK) == []
    assert {system.name for system in _chosen("*+recorded", task=REPOEVAL_CODE_CHUNK)} == {
        f"{chunker}+recorded" for chunker in CHUNKERS
    }


@pytest.mark.parametrize("pattern", ["window-4-2+bm26", "bm25-okapi", "+", "none*+random", ""])
def test_a_pattern_that_means_no_system_asks_did_you_mean(pattern: str) -> None:
    with pytest.raises(GoldspanError, match=re.escape(f"unknown system {pattern!r}")) as caught:
        check_patterns([pattern], list(CHUNKERS), retrievers())
    assert caught.value.code == Exit.USAGE
    assert caught.value.hint


def _stamp(system: BuiltInSystem, task: Task = REPOEVAL_PROMPT, label: str = "", limit: int | None = None) -> str:
    return system.fingerprint(task, label, {"limit": limit} if limit else {})


def test_whatever_a_run_is_made_from_moves_its_fingerprint() -> None:
    system = next(one for one in _chosen() if one.name == "window-4-2+bm25-okapi")
    oracle = next(one for one in _chosen() if one.name == "window-4-2+oracle")
    newer = dataclasses.replace(system.retriever, version=system.retriever.version + 1)
    other_k1 = dataclasses.replace(system.retriever, parameters={**system.retriever.parameters, "k1": 1.2})
    stamps = [
        _stamp(system),
        _stamp(dataclasses.replace(system, chunker_stamp="3")),
        _stamp(dataclasses.replace(system, retriever=newer)),
        _stamp(dataclasses.replace(system, retriever=other_k1)),
        _stamp(system, label="sample"),
        _stamp(system, limit=3),
        _stamp(system, limit=4),
        _stamp(system, dataclasses.replace(REPOEVAL_PROMPT, tie="pool")),
        _stamp(oracle),
        _stamp(dataclasses.replace(oracle, protocol=protocols_of(REPOEVAL_PROMPT)[-1])),
    ]
    assert len(set(stamps)) == len(stamps)
    assert _stamp(system) == _stamp(dataclasses.replace(system))
