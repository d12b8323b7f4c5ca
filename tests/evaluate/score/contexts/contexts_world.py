"""A repository and an answer in a few words, and what a protocol makes of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from evaluate.score.contexts.material import ContextRuns, Material
from evaluate.score.contexts.scoring import Scored, score_contexts
from lake.catalog.benchmarks.contextbench import CONTEXTS, PUBLISHED
from lake.catalog.protocol import Protocol
from lake.offsets import Offsets
from tests.frames import frame

__all__ = ["CONTEXTS", "PUBLISHED", "Answer", "View", "answer", "numbers", "of", "ranking", "scored", "world"]

TEN_LINES = "".join(f"line {number}..\n" for number in range(10))
"""Ten lines of nine bytes, seven of which are not white space."""


@dataclass(frozen=True)
class View:
    """Something an agent saw; lines as people count them."""

    path: str
    start: int | None = None
    end: int | None = None
    symbol: str | None = None


@dataclass(frozen=True)
class Answer:
    """What a run answered to the one item."""

    steps: Sequence[Sequence[View]] = ()
    final: Sequence[View] = ()
    patch: Sequence[tuple[str, int]] | None = None
    ranked: Sequence[View] | None = None
    lines: Sequence[View] = ()
    status: str = "done"


def world(
    files: Mapping[str, str] | None = None,
    gold: Sequence[tuple[str, int, int]] = (("a.py", 3, 5),),
    definitions: Sequence[tuple[str, int, int, str, str, str]] = (),
    gold_edits: Sequence[tuple[str, int]] = (),
    *,
    has_gold_patch: bool = True,
) -> Material:
    """One item and its repository; lines count from 1.

    `files`: path → text, by default `a.py` and `b.py` of ten lines of nine bytes. `gold`: path, first and last line.
    `definitions`: path, first byte, byte after the last, kind, name, qualified name. `gold_edits`: path, line.
    """
    files = {"a.py": TEN_LINES, "b.py": TEN_LINES} if files is None else files
    lines = {path: Offsets.between_lines(text) for path, text in files.items()}
    texts = [
        (path, len(text.encode()), len(lines[path].n_nws), lines[path].byte[:-1].tolist(), lines[path].n_nws.tolist(),
         ["no-final-newline"] if text and not text.endswith("\n") else [])
        for path, text in files.items()
    ]  # fmt: skip
    spans = [("item", path, start - 1, end) for path, start, end in gold]
    return Material(
        items=pl.DataFrame({"item_id": ["item"], "pool_id": ["pool"], "has_gold_patch": [has_gold_patch]}),
        gold=frame(spans, "item_id", "path", "line_start", "line_end").collect(),
        gold_edits=frame([("item", path, line - 1) for path, line in gold_edits], "item_id", "path", "line").collect(),
        files=pl.DataFrame({"pool_id": "pool", "path": list(files), "sha256": list(files)}),
        texts=frame(texts, "sha256", "n_bytes", "n_lines", "line_starts", "line_nws", "flags").collect(),
        definitions=frame(definitions, "sha256", "byte_start", "byte_end", "kind", "name", "qualified_name").collect(),
    )


def answer(
    final: Sequence[View] = (),
    steps: Sequence[Sequence[View]] = (),
    patch: Sequence[tuple[str, int]] | None = None,
    status: str = "done",
) -> Answer:
    """An agent's answer: its final context, its steps, and the lines that its patch edits, as people count them."""
    return Answer(steps, final, patch, status=status)


def ranking(ranked: Sequence[View], lines: Sequence[View] = ()) -> Answer:
    """A ranking, and the other order for lines that an oracle has."""
    return Answer(ranked=ranked, lines=lines)


def scored(protocol: Protocol, material: Material, *answers: Answer | None) -> Scored:
    """The scores of one run per answer, called `0`, `1` and so on; None is a run that passed the item over."""
    known = set(material.files["path"])
    hits: list[tuple[object, ...]] = []
    answered = list[tuple[object, ...]]()
    edits = list[tuple[object, ...]]()
    for number, answer in enumerate(answers):
        if answer is None:
            answered.append((str(number), "item", None, 0, None, False))
            continue
        is_ranking = answer.ranked is not None
        of_agent = (None, None) if is_ranking else (len(answer.steps), answer.patch is not None)
        answered.append((str(number), "item", answer.status, *of_agent, is_ranking))
        edits += [(str(number), "item", path, line - 1) for path, line in answer.patch or ()]
        parts = [("step", step, views) for step, views in enumerate(answer.steps, start=1)]
        parts += [("final", 0, answer.final), ("ranking", 0, answer.ranked or ()), ("lines", 0, answer.lines)]
        hits += [
            (str(number), "item", part, step, rank, view.path, *_resolved(view, known))
            for part, step, views in parts
            for rank, view in enumerate(views, start=1)
        ]
    seen = ("run_id", "item_id", "part", "step", "rank", "path_given", "path", "line_start", "line_end", "symbol")
    of_items = ("run_id", "item_id", "status", "n_steps", "has_patch")
    runs = ContextRuns(
        run_items=frame(answered, *of_items, is_ranking=pl.Boolean()).collect(),
        hits=frame(hits, *seen).collect(),
        edits=frame(edits, "run_id", "item_id", "path", "line").collect(),
    )
    return score_contexts(protocol, material, runs)


def _resolved(view: View, known: set[str]) -> tuple[str | None, int | None, int | None, str | None]:
    start = None if view.start is None else view.start - 1
    return view.path if view.path in known else None, start, view.end, view.symbol


def numbers(protocol: Protocol, material: Material, given: Answer | None) -> dict[str, float | None]:
    """The values of one answer, by metric and cut-off: `line_f1`, `line_f1@2000`."""
    rows = scored(protocol, material, given).scores.select("metric", "k", "value").iter_rows()
    return {f"{metric}@{k}" if k else metric: value for metric, k, value in rows}


def of(protocol: Protocol, material: Material, given: Answer, metric: str) -> tuple[float | None, ...]:
    rows = scored(protocol, material, given).scores.filter(pl.col("metric") == metric, pl.col("k") == 0)
    return rows.select("value", "numerator", "denominator").row(0)
