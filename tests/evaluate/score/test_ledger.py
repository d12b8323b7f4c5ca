from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluate.score.ledger import GOLD_CLASSES, ledger_of_candidates, ledger_of_lines
from lake.benchmarks import protocols
from lake.store import Lake
from lake.tables import table
from tests.evaluate.score.ledger_in_lake import checked
from tests.frames import frame
from tests.tiny import command

RANKED = protocols()["repoeval@chunking-v1"]
CONTEXTS = protocols()["contextbench@docs-v1"]
SPAN = ("path", "line_start", "line_end")
FILES = {"a.py": 12, "b.py": 8}

Span = tuple[str, int | None, int | None]
Line = tuple[str, int]


def spans_of(spans: Sequence[Span]) -> pl.LazyFrame:
    return frame([("x", *span) for span in spans], "item_id", *SPAN)


def lines(spans: Sequence[Span]) -> set[Line]:
    """The lines of spans in files that are there; without an end a view goes on to the file's."""
    return {
        (path, line)
        for path, start, end in spans
        if path in FILES and start is not None
        for line in range(max(0, start), min(FILES[path], FILES[path] if end is None else end))
    }


def of_lines(
    gold: Sequence[Span],
    hits: Mapping[str, Sequence[Span]],
    chunks: Sequence[Span] | None,
    n_found: int,
) -> dict[str, float]:
    """The ledger of one item, whose score says how many gold lines it holds under the budget."""
    is_agent = "step" in hits or "final" in hits
    protocol = CONTEXTS if is_agent else RANKED
    everywhere = len(
        {(path, line) for path, start, end in gold for line in range(start or 0, min(end or 0, FILES.get(path, 99)))}
    )
    case = {"run_id": ["run"], "item_id": ["x"]}
    shown = [("run", "x", part, *span) for part, spans in hits.items() for span in spans]
    n = sum(len(spans) for part, spans in hits.items() if part != "step")
    ledger = ledger_of_lines(
        protocol,
        scores=pl.LazyFrame({**case, "metric": ["line_coverage"], "k": [protocol.primary.k]}).with_columns(
            numerator=float(n_found), denominator=float(everywhere)
        ),
        answered=frame([("run", "x", n, 3 if is_agent else None)], "run_id", "item_id", "n_returned", "n_steps"),
        hits=frame(shown, "run_id", "item_id", "part", *SPAN),
        gold=spans_of(gold),
        files=pl.LazyFrame({"item_id": ["x"] * 2, "path": list(FILES), "n_lines": list(FILES.values())}),
        chunks=spans_of([(path, 0, n) for path, n in FILES.items()] if chunks is None else chunks),
        chance=[],
    ).collect()
    table("ledger").checked(ledger.with_columns(protocol=pl.lit(protocol.name)))
    row = ledger.row(0, named=True)
    assert sum(row[name] for name in GOLD_CLASSES) == row["n_gold"] == everywhere
    return {name: row[name] for name in GOLD_CLASSES if row[name]}


starts = st.tuples(st.sampled_from(["a.py", "b.py"]), st.integers(0, 10), st.integers(1, 6))
spans = starts.map(lambda span: (span[0], span[1], span[1] + span[2]))


@given(chunks=st.lists(spans, unique=True, max_size=6), gold=st.lists(spans, min_size=1, max_size=3), data=st.data())
def test_a_rankings_ledger_is_that_of_sets_of_lines(chunks: list[Span], gold: list[Span], data: st.DataObject) -> None:
    ranking = data.draw(st.lists(st.sampled_from(chunks), unique=True)) if chunks else []
    within = ranking[: data.draw(st.integers(0, len(ranking)))]
    golden, paths = lines(gold), {path for path, _, _ in ranking}
    if not golden:
        return
    left = golden & lines(chunks) - lines(ranking)
    expected = {
        "found": len(golden & lines(within)),
        "past_budget": len(golden & lines(ranking) - lines(within)),
        "unreachable": len(golden - lines(chunks)),
        "no_answer": 0 if ranking else len(left),
        "other_lines": sum(path in paths for path, _ in left),
        "not_returned": sum(path not in paths for path, _ in left) if ranking else 0,
    }
    ledger = of_lines(gold, {"ranking": ranking}, chunks, expected["found"])
    assert ledger == {name: n for name, n in expected.items() if n}


@given(
    steps=st.lists(spans, max_size=5), final=st.lists(spans, max_size=3), gold=st.lists(spans, min_size=1, max_size=3)
)
def test_an_agents_ledger_is_that_of_sets_of_lines(steps: list[Span], final: list[Span], gold: list[Span]) -> None:
    golden, paths = lines(gold), {path for path, _, _ in [*steps, *final]}
    if not golden:
        return
    left = golden - lines([*steps, *final])
    expected = {
        "found": len(golden & lines(final)),
        "seen": len(golden & lines(steps) - lines(final)),
        "no_answer": 0 if final else len(left),
        "other_lines": sum(path in paths for path, _ in left) if final else 0,
        "not_returned": sum(path not in paths for path, _ in left) if final else 0,
    }
    ledger = of_lines(gold, {"step": steps, "final": final}, None, expected["found"])
    assert ledger == {name: n for name, n in expected.items() if n}


def test_gold_in_no_file_and_past_the_end_of_one() -> None:
    # Of nine lines of a.py three are past its end and none; gone.py is nowhere.
    assert of_lines([("a.py", 9, 15), ("gone.py", 0, 4)], {"ranking": [("a.py", 0, 10)]}, [("a.py", 0, 12)], 1) == {
        "found": 1,
        "unreachable": 4,
        "other_lines": 2,
    }


def test_lines_that_are_best_returned_stand_in_place_of_the_ranking() -> None:
    hits: dict[str, list[Span]] = {"ranking": [("b.py", 0, 8)], "lines": [("a.py", 0, 4)]}
    ledger = of_lines([("a.py", 0, 6)], hits, [("a.py", 0, 4), ("a.py", 4, 12), ("b.py", 0, 8)], 3)
    assert ledger == {"found": 3, "past_budget": 1, "other_lines": 2}


@pytest.mark.parametrize(
    ("n_found", "correct", "reachable", "paths", "wanted"),
    [
        (1, 1, 1, ["cand:2"], "found"),
        (0, 1, 1, ["cand:0", "cand:2"], "past_budget"),
        (0, 0, 0, ["cand:2"], "unreachable"),
        (0, 0, 1, [], "no_answer"),
        (0, 0, 1, ["cand:0", "cand:2"], "other_lines"),
        (0, 0, 1, ["cand:0"], "not_returned"),
    ],
)
def test_a_candidates_ledger_by_hand(n_found: int, correct: int, reachable: int, paths: list[str], wanted: str) -> None:
    values = [("accuracy", 1, n_found), ("accuracy", 3, 1), ("correct", 0, correct), ("reachable", 0, reachable)]
    ledger = ledger_of_candidates(
        protocols()["repobench-r@chunking-v1"],
        scores=frame(values, "metric", "k", "value").with_columns(item_id=pl.lit("x"), run_id=pl.lit("run")),
        answered=pl.LazyFrame({"run_id": ["run"], "item_id": ["x"], "n_returned": [len(paths)]}),
        hits=pl.LazyFrame({"path": paths}, {"path": pl.String}).with_columns(item_id=pl.lit("x"), run_id=pl.lit("run")),
        gold=pl.LazyFrame({"item_id": ["x"], "path": ["cand:2"]}),
    )
    row = ledger.collect().row(0, named=True)
    assert {name: row[name] for name in ("n_gold", *GOLD_CLASSES) if row[name]} == {"n_gold": 1, wanted: 1}


def test_the_ledger_of_a_lake_takes_its_scores_apart(lake_folder: Path) -> None:
    lake = Lake(lake_folder)
    checked(lake, "line_coverage", 8_000, "repoeval@chunking-v1")
    before = {part.relative_path: part.fingerprint for name in ("ledger", "ledger_means") for part in lake.parts(name)}
    command("evaluate", "--lake", lake_folder).done()
    assert before == {
        part.relative_path: part.fingerprint for name in ("ledger", "ledger_means") for part in lake.parts(name)
    }
