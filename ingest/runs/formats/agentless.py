"""Locations of Agentless (`loc_….jsonl`, or `<instance>_traj.json` of a whole run, counted from 1) and of LocAgent."""

import posixpath
import re
from collections.abc import Iterator, Sequence

from ingest.runs.importer import Importer, TrajectoryFile, item_of, recorded_patch
from ingest.runs.sessions import Session
from ingest.runs.trajectory import FileSpan, Trajectory, Views, view_of_lines
from ingest.runs.usage import AgentUsage, TokenCounts
from ingest.runs.values import JsonRecord, list_at, object_at, objects_at, objects_in, str_at

_FOUND = ("found_files", "found_related_locs", "found_edit_locs")
_NAMED = ("found_modules", "found_entities")
_FILES = ("3_final_combined_files", "2_embedding_selected_files")
_ELEMENTS, _SAMPLES, _PATCH = "4_related_elements", "5_sampled_edit_locs_and_patches", "6_final_selected_patch"
_OF_RUN = (*_FILES, _ELEMENTS, _SAMPLES)
_REQUESTS = ("file_traj", "related_loc_traj", "edit_loc_traj")  # the provider's response to each request
_LINES = re.compile(r"lines?\s*:\s*([0-9]+)(?:\s*-\s*([0-9]+))?(?:\s*\(.*)?")
_PUBLISHED = re.compile(r"line\s*:\s*([0-9]+)|lines\s*:\s*([0-9]+)\s*-\s*([0-9]+)")
_PATCHES = ("all_preds.jsonl", "all_preds_filtered.jsonl")
_STAGES = (
    "file_level_irrelevant", "retrievel_embedding", "retrieval_embedding", "file_level", "file_level_combined",
    "related_elements", "edit_location_individual", "location_merged", "edit_location_samples", "location",
)  # fmt: skip
"""The folders of a whole run; each has the results of those before it, and `edit_location_samples` all samples."""
_ELEMENT = re.compile(r"(?:function|class|variable)\s*:\s*(?P<name>\S.*)")


def _companions(path: str) -> Sequence[str]:
    """Patches for locations (`…_repair.jsonl` for `…_loc.jsonl`, `all_preds.jsonl`), and folders of earlier stages."""
    folder, name = posixpath.split(path)
    above, stage = posixpath.split(folder)
    own = re.sub(r"loc(?:s|ations?)?(?=[_.-]|$)", "repair", name)
    patches = [posixpath.join(folder, own)] if own != name else []
    patches += (posixpath.join(where, name) for where in dict.fromkeys((folder, above)) for name in _PATCHES)
    earlier = _STAGES[: _STAGES.index(stage)] if stage in _STAGES else ()
    return [*patches, *(posixpath.join(above, name, "") for name in earlier)]


def trajectories(file: TrajectoryFile) -> Iterator[Trajectory]:
    """One trajectory per object: everything in it is one step, and the final context as well."""
    patches, session = dict[str, str](), Session(file)
    # The first patch file that has a patch for an item counts.
    for other in (file.all[path] for path in _companions(file.path) if path in file.all):
        for row in session.rows_of(other):
            if patch := recorded_patch(row):
                patches.setdefault(item_of(row), patch)
    for position, row in file.objects():
        notes = [*session.notes]
        step, published = _views(row, notes, _LINES), _views(row, [], _PUBLISHED)
        match = re.fullmatch(r"(?P<item>[^/]+)_traj\.json(?:\.gz|\.zst)?", file.name)
        item = item_of(row) or (match["item"] if match else "")
        patch = str_at(row, _PATCH) or (recorded := recorded_patch(row)) or patches.get(item, recorded)
        requests = (request for key in _REQUESTS for request in objects_at(row, key) or [object_at(row, key)])
        usage = AgentUsage().with_tokens(TokenCounts.of(request.get("usage")) for request in requests)
        own = Trajectory((step,) if step else (), step or None, item, patch, position, tuple(notes), usage=usage)
        yield own.beside(Trajectory((published,) if published else (), published or None))


def _views(row: JsonRecord, notes: list[str], pattern: re.Pattern[str]) -> Views:
    """The files, elements and lines that a row names, each once; `pattern` is that of the lines in a whole run."""
    is_whole_run = any(key in row for key in _OF_RUN)
    key = next((key for key in _FILES if row.get(key)), _FILES[0]) if is_whole_run else _FOUND[0]
    files = [str_at(file) for file in _flat(row, key)]
    if "" in files or not isinstance(row.get(key), list | None):
        notes.append(f"{key} holds what is no file")
    if is_whole_run:
        samples = _samples(row, _ELEMENTS, files, notes)
        # Of several samples, the first that names lines counts; in other files, all of them, as published.
        located = (_lines(object_at(sample, "edit_locs"), pattern) for sample in list_at(row, _SAMPLES))
        lines = next(filter(None, located), [])
    else:
        related, edits = (_samples(row, key, files, notes) for key in _FOUND[1:])
        samples, lines = [*related, *edits], [view for sample in edits for view in _lines(sample, _LINES)]
    elements = [FileSpan(path, symbol=mark["name"]) for sample in samples for path, mark in _rows(sample, _ELEMENT)]
    for path, _, name in (str_at(text).partition(":") for key in _NAMED for text in _flat(row, key)):
        elements += [FileSpan(path, symbol=name)] * bool(path and name)
    return tuple(dict.fromkeys([*map(FileSpan, filter(None, files)), *elements, *lines]))


def _flat(row: JsonRecord, key: str) -> list[object]:
    return [entry for given in list_at(row, key) for entry in (given if isinstance(given, list) else [given])]


def _samples(row: JsonRecord, key: str, files: Sequence[str], notes: list[str]) -> list[JsonRecord]:
    """Objects by file; before Agentless 1.5 they were lists in the order of the files found, and often shorter."""
    given = list_at(row, key) or [value for value in [row.get(key)] if value not in (None, [])]
    if isinstance(row.get(key), list) and not any(isinstance(entry, dict) for entry in given):
        is_one = any(isinstance(text, str) for entry in given for text in (entry if isinstance(entry, list) else [""]))
        given = [dict(zip(files, list_at(entry), strict=False)) for entry in ([given] if is_one else given)]
    samples: list[JsonRecord] = [sample for sample in given if isinstance(sample, dict)]
    if len(samples) < len(given):
        notes.append(f"{key} holds what is no object by file")
    return samples


def _rows(sample: JsonRecord, pattern: re.Pattern[str]) -> Iterator[tuple[str, re.Match[str]]]:
    for path, texts in sample.items():
        for text in [texts] if isinstance(texts, str) else list_at(texts):
            matches = (pattern.fullmatch(row.strip()) for row in str_at(text).split("\n"))
            yield from ((path, match) for match in matches if match)


def _lines(sample: JsonRecord, pattern: re.Pattern[str]) -> list[FileSpan]:
    numbers = ((path, list(filter(None, match.groups()))) for path, match in _rows(sample, pattern))
    return [view for path, lines in numbers for view in view_of_lines(path, lines[0], lines[-1])]


AGENTLESS = Importer(
    name="agentless", title="Agentless and LocAgent locations", kind="trajectory", aliases=("locagent",),
    meaning="The merged loc_….jsonl (instance_id, found_files, found_related_locs, found_edit_locs), or one "
        "<instance>_traj.json per instance; LocAgent's loc_outputs.jsonl (found_files, found_modules, found_entities).",
    recognise=lambda head, _: any({*_FOUND, *_OF_RUN} & row.keys() for row in objects_in(head)),
    trajectories=trajectories, companions=_companions,
    example='{"instance_id": "acme__rockets-1", "found_files": ["a.py"], "found_edit_locs": {"a.py": ["line: 12"]}}',
)  # fmt: skip
