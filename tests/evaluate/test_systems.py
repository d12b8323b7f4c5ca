import dataclasses
import re
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import polars as pl
import pytest

import evaluate.commands.listing
from evaluate.retrievers import Retriever, retrievers
from evaluate.systems import (
    BuiltInSystem,
    check_patterns,
    known_retrievers,
    ranking_code,
    resolve_systems,
    retriever_named,
)
from evaluate.texts.query_forms import QUERY_FORMS
from lake.benchmarks import protocols_of
from lake.catalog.benchmarks.repoeval import REPOEVAL_CODE_CHUNK, REPOEVAL_PROMPT
from lake.catalog.protocol import Task
from lake.errors import Exit
from lake.store import Lake
from tests.tiny import build, command, ingested, refused, stored

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
def test_systems_are_picked_by_name_glob_or_alias_with_baselines(patterns: list[str], systems: set[str]) -> None:
    beside = {f"{system.partition('+')[0]}+{baseline}" for system in systems for baseline in BASELINES}
    assert {system.name for system in _chosen(*patterns)} == systems | beside


def test_a_word_for_several_chunkers_picks_those_that_the_lake_holds() -> None:
    cut = {"fixed-nws-600": "1", "fixed-nws-700": "2", "syntax-2400": "3"}
    systems = resolve_systems(REPOEVAL_PROMPT, ["sizes+bm25-okapi"], cut, SOME, protocols_of(REPOEVAL_PROMPT))
    assert {system.chunker for system in systems} == {"fixed-nws-600", "syntax-2400"}


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
    with refused(re.escape(f"unknown system {pattern!r}"), Exit.USAGE) as caught:
        check_patterns([pattern], list(CHUNKERS), retrievers())
    assert caught.value.hint


def _stamp(system: BuiltInSystem, task: Task = REPOEVAL_PROMPT, label: str = "", limit: int | None = None) -> str:
    return system.fingerprint(task, label, {"limit": limit} if limit else {})


def test_whatever_a_run_is_made_from_moves_its_fingerprint() -> None:
    system = next(system for system in _chosen() if system.name == "window-4-2+bm25-okapi")
    oracle = next(system for system in _chosen() if system.name == "window-4-2+oracle")
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


def test_a_form_of_the_query_is_part_of_the_name_and_of_what_a_run_is_made_from() -> None:
    plain, last = retriever_named("bm25-okapi"), retriever_named("bm25-okapi~last-3-lines")
    assert (last.name, last.query_form) == ("bm25-okapi~last-3-lines", "last-3-lines")
    assert last.parameters == {**plain.parameters, "query form": "last-3-lines"}
    assert last.meaning.endswith(QUERY_FORMS["last-3-lines"].meaning[1:])
    assert ranking_code(plain) != ranking_code(last)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("bm26", "unknown retriever 'bm26'"),
        ("bm26:k1=2", "unknown retriever 'bm26'"),
        ("random:x", "retriever 'random' takes no arguments, but was given 'x'"),
        ("bm25-okapi~titel", "unknown query form 'titel'"),
        ("oracle~title", "'oracle' ignores the words of a query, so '~title' changes nothing"),
        ("bm25-okapi:b=1.5", r"takes no argument 'b=1\.5'"),
        ("hybrid:bm25-okapi", "two or more different retrievers"),
        ("hybrid:tfidf:tfidf", "two or more different retrievers"),
        ("hybrid:tfidf:oracle", "'hybrid' cannot call 'oracle'"),
        ("hybrid:bm26:tfidf", "unknown retriever 'bm26'"),
        ("repocoder:random", "'repocoder' cannot call 'random'"),
        ("repocoder:", "unknown retriever ''"),
        ("rerank:", "rerank needs a retriever"),
        ("rerank:top=5", "rerank needs a retriever"),
        ("rerank:bm25-okapi:top=0", "'rerank' takes no argument 'top=0'"),
        ("rerank:bm26", "unknown retriever 'bm26'"),
    ],
)
def test_a_name_that_means_none_is_an_error_that_says_what_to_write(name: str, says: str) -> None:
    with refused(says, Exit.USAGE) as caught:
        retriever_named(name)
    assert caught.value.hint


@pytest.mark.parametrize(
    ("name", "texts", "shown"),
    [
        ("bm25-code", ["k2=1", "k1", "k1=x", "k1=-1", "k1=inf", "k1=nan", "b=2", "k1=1:k1=2", ""],
         "Write bm25-code:k1=1.5:b=0.75, or leave one out; b is from 0 to 1."),
        ("dense:some/model",
         ["dtype=int3", "max_length=0", "max_length", "pooling=best", "colour=red", "dtype=bf16:dtype=bf16"],
         "dtype=bf16, max_length=512"),
    ],
)  # fmt: skip
def test_an_unknown_argument_is_an_error_that_shows_the_known_ones(name: str, texts: list[str], shown: str) -> None:
    for text in texts:
        with refused("takes no argument", Exit.USAGE) as caught:
            retriever_named(f"{name}:{text}")
        assert shown in caught.value.hint


def _known(**runs: str) -> dict[str, Retriever]:
    return {name: replace(retrievers()["bm25-okapi"], name=name, runs=runs[name]) for name in runs}  # type: ignore[arg-type] # the three there are


@pytest.mark.parametrize(
    ("patterns", "names"), [([], {"a"}), (["*+*"], {"a", "b"}), (["*+c"], {"c"}), (["w+b", "w+c"], {"b", "c"})]
)
def test_optional_systems_run_if_named_or_matched_by_a_glob(patterns: list[str], names: set[str]) -> None:
    known = _known(a="always", b="asked", c="named")
    systems = resolve_systems(REPOEVAL_PROMPT, patterns, {"w": ""}, known, [])
    assert {system.retriever.name for system in systems} == names


def test_what_was_run_before_is_run_on_as_far_as_it_can_be() -> None:
    known = _known(a="always", b="asked", c="named")
    known["d"] = replace(known["c"], name="d", missing=lambda: "install it")
    systems = resolve_systems(REPOEVAL_PROMPT, [], {"w": "", "v": ""}, known, [], {"w+b", "v+c", "w+d", "w+gone"})
    assert {system.name for system in systems} == {"w+a", "v+a", "w+b", "v+c"}


@pytest.mark.slow
def test_a_system_of_a_form_is_run_kept_current_and_told_of_like_any(lake_folder: Path) -> None:
    system = "whole-file+bm25-okapi~last-3-lines"
    command("evaluate", "--lake", lake_folder, "--systems", system).done()
    lake = Lake(lake_folder)
    assert "bm25-okapi~last-3-lines" in known_retrievers(lake)
    assert "bm25-okapi~last-3-lines" in lake.read("retrievers")["name"]
    before = {part.relative_path: part.fingerprint for part in lake.parts("scores")}
    command("evaluate", "--lake", lake_folder).done()
    assert {part.relative_path: part.fingerprint for part in lake.parts("scores")} == before
    hits = lake.scan("hits").join(lake.scan("runs").select("run_id", "system"), on="run_id").collect()
    scores, other = (hits.filter(system=name)["score"] for name in (system, "whole-file+bm25-okapi"))
    assert len(scores) == len(other)
    assert scores.to_list() != other.to_list()


def test_a_listing_shows_what_may_be_written_behind_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    with_one = replace(retrievers()["bm25-okapi"], name="mine", arguments=":k1=NUMBER")
    monkeypatch.setattr(evaluate.commands.listing, "retrievers", lambda: MappingProxyType({"mine": with_one}))
    assert "mine[:k1=NUMBER]" in command("evaluate", "list", "retrievers").out
    assert "~last-3-lines" in command("evaluate", "list", "forms").out


HARD = "repoeval/prompt-hard"


def _of(lake: Path, name: str) -> dict[str, bytes]:
    return {path: data for path, data in stored(lake).items() if f"run_id=repoeval.{name}--" in path}


def test_hard_negatives_are_a_task_that_runs_where_it_is_named(tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    ingested(lake, build(tmp_path / "source"), chunkers=("whole-file",))
    run = ("evaluate", "--systems", "*+bm25-okapi", "--lake", lake)
    command(*run).done()
    alone = _of(lake, "prompt")
    assert (len(alone) > 0, _of(lake, "prompt-hard")) == (True, {})
    assert "subset function-2k (repoeval@hard-negatives-v1)" in command(*run, "--tasks", HARD).done().out
    hard = _of(lake, "prompt-hard")
    # The other task's numbers, ranks and comparisons are what they were.
    assert _of(lake, "prompt") == alone
    store = Lake(lake)
    runs = store.read("runs").filter(task=HARD)
    hits = store.scan("hits").filter(pl.col("run_id").is_in(runs["run_id"].implode())).collect()
    assert hits.filter(pl.col("path").str.starts_with("other/")).height > 0
    assert set(hits.filter(pl.col("path").str.contains("^other/"))["path"]) <= {
        "other/zoo_animals/cats.py", "other/zoo_animals/dogs.py", "other/zoo_animals/copy/cats.py",
        "other/acme_rockets/rockets/engine.py", "other/acme_rockets/rockets/orbit.py",
    }  # fmt: skip
    protocols = store.read("scores").filter(pl.col("run_id").is_in(runs["run_id"].implode()))["protocol"]
    assert set(protocols) == {"repoeval@hard-negatives-v1"}
    # Once it was run it is kept.
    store.remove(store.parts("hits", run_id=runs["run_id"][0])[0])
    command(*run).done()
    assert _of(lake, "prompt-hard") == hard


def test_a_task_that_is_none_or_of_no_benchmark_here_is_refused(tmp_path: Path) -> None:
    ingested(tmp_path / "lake", build(tmp_path / "source"), chunkers=("whole-file",))
    unknown = command("evaluate", "--tasks", "repoeval/prompt-hrad", "--lake", tmp_path / "lake")
    unknown.refused(Exit.USAGE, "Did you mean 'repoeval/prompt-hard'")
    other = command("evaluate", "--tasks", "repobench-r/chunks", "--lake", tmp_path / "lake")
    other.refused(Exit.MISSING, "no benchmark for --tasks repobench-r/chunks")
