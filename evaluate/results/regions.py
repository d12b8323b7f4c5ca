"""SWE-Explore's measures of ranked regions, by the rules of the evaluator of arXiv 2606.07297 (`eval.py`, June 2026).

nDCG is normalised by what was returned itself, the budget of recall counts repeated lines, and a region that overlaps
an optional one is not noise. The measures `core_…` are our own: optional lines are neither gold nor noise.
"""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import chain, repeat
from pathlib import Path
from typing import IO, Annotated, TypeVar

import polars as pl
from pydantic import BaseModel, BeforeValidator, Field, ValidationError, model_validator

from evaluate.metrics.context import LINE_BUDGETS
from lake.errors import Exit, GoldspanError, lookup
from lake.limits import MAX_LINE_BYTES, TooMuchUnpackedError, unpacked
from lake.text import counted

_MAIN_LINE, _MAIN_REGION, _OTHER_REGION = 1.5, 3.0, 2.0

_UNKNOWN = range(0)
"""Lines that are not known: of no length, and before line 1."""

_Line = Annotated[int, Field(strict=True, gt=-10_000_000, lt=10_000_000)]


class Region(BaseModel):
    """Lines of a file from 1, both ends included; an end of -1 is the file's end, a start below 0 counts from there."""

    path: str
    start: _Line
    end: _Line

    @model_validator(mode="before")
    @classmethod
    def _of_list(cls, value: object) -> object:
        names = ("path", "start", "end")
        return dict(zip(names, value, strict=True)) if isinstance(value, list) and len(value) == 3 else value

    def lines(self, n_lines: dict[str, int]) -> range:
        """The line numbers; _UNKNOWN if they depend on an unknown length of the file, or if the end is below 1."""
        n = n_lines.get(self.path, 0)
        if self.end != -1 and self.start >= 0:
            return range(max(self.start, 1), self.end + 1) if self.end >= 1 else _UNKNOWN
        if n < 1:
            return _UNKNOWN
        start = n + self.start + 1 if self.start < 0 else self.start
        return range(min(max(start, 1), n), (n if self.end == -1 else min(max(self.end, 1), n)) + 1)


_OfModels = BeforeValidator(lambda value: [*chain(*filter(None, value.values()))] if isinstance(value, dict) else [])


class Issue(BaseModel):
    """A row of the gold file: regions and files that all models read, and those that only some read."""

    instance_id: str
    read_core_regions: list[Region] = []
    read_core_files: list[str] = []
    read_optional_regions_map: Annotated[list[Region], _OfModels] = []
    read_optional_files_map: Annotated[list[str], _OfModels] = []
    main_files: list[str] = []
    file_line_counts: dict[str, int] = {}

    @model_validator(mode="before")
    @classmethod
    def _with_truth(cls, value: object) -> object:
        truth = value.get("ground_truth", {}) if isinstance(value, dict) else None
        if not isinstance(value, dict) or not isinstance(truth, dict):
            raise ValueError("a row and its ground_truth are objects")
        return {name: of for name, of in {**value, **truth}.items() if of is not None}


class Answer(BaseModel):
    """A row of a system's file: the regions it returned, in order."""

    instance_id: str
    regions: list[Region]


_Row = TypeVar("_Row", Issue, Answer)
_Span = tuple[str, range]


@contextmanager
def unpacked_file(path: Path) -> Iterator[IO[bytes]]:
    """Open a file, plain or packed with gzip or zstd; an error while it is read becomes a GoldspanError."""
    try:
        with path.open("rb") as file, unpacked(file) as stream:
            yield stream
    except (OSError, ValueError, RecursionError, TooMuchUnpackedError) as error:
        message = f"the file cannot be read to its end: {getattr(error, 'strerror', None) or error}"
        hint = "The order is: python -m evaluate score QRELS RUN"
        code = Exit.MISSING if isinstance(error, FileNotFoundError) else Exit.INVALID
        raise GoldspanError(message, where=str(path), hint=hint, code=code) from error


def is_gold(path: Path) -> bool:
    """Whether the first line of a file looks like a row of SWE-Explore."""
    with suppress(GoldspanError), unpacked_file(path) as stream:
        return b'"read_core_regions"' in stream.readline(MAX_LINE_BYTES)
    return False


def score_region_files(
    gold_path: Path, paths: Sequence[Path], names: Sequence[str], *, answered_only: bool
) -> Iterator[tuple[pl.DataFrame, list[str]]]:
    """Per file: the scores of its regions (query, and a column per measure; 0 for issues without any); and notes."""
    gold = _read_instances(gold_path, Issue)
    of_gold = {query: [*issue.read_core_regions, *issue.read_optional_regions_map] for query, issue in gold.items()}
    for path in paths:
        answers = _read_instances(path, Answer)
        if not gold.keys() & answers.keys():
            examples = [f"RUN: {min(answers, default='no row')}", f"gold: {min(gold, default='no row')}"]
            raise GoldspanError("no issue of RUN has gold", where=str(path), examples=examples, code=Exit.INVALID)
        queries = sorted(query for query in gold if query in answers or not answered_only)
        scored = [score_issue(gold[query], answers[query].regions if query in answers else []) for query in queries]
        measures = [lookup(name, "measure", {of: of for of in scored[0]}) for name in names] or [*scored[0]]
        scores = pl.DataFrame(scored, dict.fromkeys(scored[0], pl.Float64))
        notes = [f"swe-explore@published-v1: means over {counted(len(queries), 'issue')}; core_… are Goldspan's own"]
        if missing := len(gold.keys() - answers.keys()):
            state = "are left out, as by its evaluator" if answered_only else "count 0"
            notes.append(f"{counted(missing, 'issue')} without regions {state}")
        if unknown := len(answers.keys() - gold.keys()):
            notes.append(f"{counted(unknown, 'issue')} of the run without gold are left out")
        returned = {query: answer.regions for query, answer in answers.items()}
        for what, regions in (("gold", of_gold), ("returned", returned)):
            n_lines = {query: gold[query].file_line_counts if query in gold else {} for query in regions}
            if n := sum(region.lines(n_lines[query]).stop == 0 for query in regions for region in regions[query]):
                notes.append(
                    f"{counted(n, f'{what} region')} to a file's end match nothing: rows lack `file_line_counts`"
                )
        yield scores.select(pl.Series("query", queries), *measures), notes


def _read_instances(path: Path, kind: type[_Row]) -> dict[str, _Row]:
    rows = dict[str, _Row]()
    hint = "QRELS takes SWE-Explore's rows, RUN takes rows of instance_id and regions: docs/score.md."
    with unpacked_file(path) as stream:
        for number, line in enumerate(iter(lambda: stream.readline(MAX_LINE_BYTES), b""), 1):
            if not line.strip():
                continue
            try:
                row = kind.model_validate_json(line)
                message = f"{row.instance_id} occurs twice" if row.instance_id in rows else ""
            except ValidationError as error:
                first = error.errors()[0]
                message = f"{'.'.join(map(str, first['loc'])) or 'the row'}: {first['msg']}"
            if message:
                raise GoldspanError(message, where=f"{path}, line {number}", hint=hint, code=Exit.INVALID)
            rows[row.instance_id] = row
    return rows


def score_issue(issue: Issue, returned: Sequence[Region]) -> dict[str, float]:
    """The scores of the regions returned for an issue, by SWE-Explore's measures and ours; 0 if a denominator is 0."""
    core, optional, shown = (
        [(region.path, region.lines(issue.file_line_counts)) for region in regions]
        for regions in (issue.read_core_regions, issue.read_optional_regions_map, returned)
    )
    core_files, main, files = {*issue.read_core_files}, {*issue.main_files}, {path for path, _ in shown}
    gold, more = ({*chain.from_iterable(map(_lines, spans))} for spans in (core, optional))
    walked = [*chain.from_iterable(map(_lines, shown))]
    different = list(dict.fromkeys(walked))
    distinct = {*different}
    n_hit = len(gold & distinct)
    covered = [
        (_MAIN_REGION if span[0] in main else _OTHER_REGION, _share(len(lines & distinct), len(lines)))
        for span in core
        if (lines := {*_lines(span)})
    ]
    gains = [sum(_MAIN_LINE if path in main else 1.0 for path, _ in gold.intersection(_lines(span))) for span in shown]
    first = next((number for number, gain in enumerate(gains) if gain), None)
    measures = {
        "precision": _share(n_hit, len(different)),
        "recall": _share(n_hit, len(gold)),
        "f1_score": _share(2 * n_hit, len(different) + len(gold)),
        "hit_file_rate": _share(len(files & core_files), len(core_files)),
        "noise_file_rate": _share(len(files - core_files - {*issue.read_optional_files_map}), len(files)),
        "hit_region_rate": _share(sum(_overlaps(span, shown) for span in core), len(core)),
        "noise_region_rate": _share(sum(not _overlaps(span, core + optional) for span in shown), len(shown)),
        "weighted_core_coverage": _share(sum(weight * part for weight, part in covered), sum(w for w, _ in covered)),
        "context_efficiency": _share(len(distinct & (gold | more)), len(different)),
        "optional_coverage": _share(len(distinct & more), len(more)),
        "first_useful_hit": 0.0 if first is None else 1 - first / len(shown),
    }
    sizes = [lines.stop - lines.start for _, lines in shown]
    best = sorted(range(len(shown)), key=lambda number: -gains[number] / max(sizes[number], 1))
    for budget in LINE_BUDGETS:
        dcg, ideal = (_dcg([(gains[n], sizes[n]) for n in order], budget) for order in (range(len(shown)), best))
        measures[f"ndcg_at_{budget}"] = min(_share(dcg, ideal), 1.0)
        measures[f"recall_at_{budget}"] = _share(len(gold.intersection(walked[:budget])), len(gold))
        taken = {*different[:budget]}
        measures[f"core_coverage@{budget}"] = _share(len(taken & gold), len(gold))
        measures[f"core_precision@{budget}"] = _share(len(taken & gold), len(taken - (more - gold)))
    return measures


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def _lines(span: _Span) -> Iterator[tuple[str, int]]:
    return zip(repeat(span[0]), span[1], strict=False)


def _overlaps(span: _Span, others: Sequence[_Span]) -> bool:
    path, lines = span
    return any(path == other and lines.start < theirs.stop and theirs.start < lines.stop for other, theirs in others)


def _dcg(ranked: Sequence[tuple[float, int]], budget: int) -> float:
    """The discounted gain of the regions before the one that exceeds the budget; the very first one always counts."""
    total, spent = 0.0, 0
    for position, (gain, size) in enumerate(ranked):
        spent += size
        if spent > budget and position:
            break
        total += gain / math.log2(position + 2)
    return total
