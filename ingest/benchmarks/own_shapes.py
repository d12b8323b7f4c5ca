"""Own data of a common shape, written as a declaration that `--config` reads: `python -m ingest own`."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import polars as pl
import yaml

from ingest.benchmarks.beir import PLACES
from ingest.benchmarks.contextbench.gold import GOLD_KEYS
from ingest.benchmarks.contextbench.rows import ID_KEYS
from ingest.benchmarks.fields import MISSING, get_path
from ingest.sources.datasets import HubRows, entry_of_hub, entry_of_saved, hub_rows
from ingest.sources.folder import read_folder
from ingest.sources.git import GITHUB, fault_of
from ingest.sources.rows import JsonObject, read_rows
from ingest.sources.tree import Entry, entry_on_disk
from lake.errors import Exit, GoldspanError, did_you_mean
from lake.fingerprint import fingerprint, sha256_of
from lake.limits import MAX_FILE_BYTES
from lake.rejects import Rejects
from lake.text import listed

_IDS = (*ID_KEYS, "item_id", "task_id", "_id", "id")
_QUESTIONS = ("question", "query", "problem_statement", "issue", "prompt", "text")
_GOLD = ("gold", "core", "regions", "spans", "locations", "relevant")
_PATHS = ("path", "file", "file_path", "filename")
_LINES = ("lines", "line", "start_line", "line_start", "start")
_ENDS = {"start_line": "end_line", "line_start": "line_end", "start": "end"}
_REPOS, _COMMITS = ("repo", "repository"), ("base_commit", "commit", "sha")
_WITH_PATCH = ("instance_id", "repo", "base_commit", "problem_statement", "patch")
_RANGE = re.compile(r"L?(\d+)(?:\s*[-:]\s*L?(\d+))?")
_HUB = re.compile(r"(?P<hub>[\w.-]+/[\w.-]+)@(?P<revision>[0-9a-f]{40})(?::(?P<split>\w+))?")
_PLACE = re.compile(r"(?:(?P<list>[\w.]+)\[\]\.)?(?P<path>[\w.]+):(?P<start>[\w.]+?)(?:-(?P<end>[\w.]+))?")
_HEAD_ROWS = 20
_UNKNOWN_COMMIT = "0" * 40
_SHAPES = (
    f"Read are a BEIR folder; rows with {', '.join(_WITH_PATCH)}, as SWE-bench has them; and rows with a question "
    f"({', '.join(_QUESTIONS)}) and a list of places ({', '.join(_GOLD)}), each with a path and lines. "
    "Name yours: --query KEY --gold 'KEY[].PATH:LINES'. Any other shape is declared: docs/own-data.md."
)


@dataclass(frozen=True)
class OwnData:
    """What `python -m ingest own` is given.

    Attributes:
        items: A file or folder, or `owner/name@REVISION` (`:SPLIT`) of the Hugging Face Hub.
        repositories: A folder of repositories, or of one; `github`, or the URL below which they are; empty for none.
        name: What the data is to be called.
        query: The path of the question in a row; empty where its name tells it.
        gold: `KEY[].PATH:LINES`, `KEY[].PATH:START-END`, either without the list where a row has one place; or `patch`.
    """

    items: str
    repositories: str = ""
    name: str = ""
    query: str = ""
    gold: str = ""


@dataclass
class Declared:
    """A declaration: its file, the folder whose files it may read, from where repositories are cloned, and notes."""

    file: Path
    reads: Path
    clones: str = ""
    notes: list[str] = field(default_factory=list)


def declare(data: OwnData, into: Path, rejects: Rejects) -> Declared:
    """Write the declaration of own data below a folder, and its rows in ContextBench's form where they have another.

    Raises:
        GoldspanError: The data is not there, or of no shape that is known.
    """
    items, found = Path(data.items), _HUB.fullmatch(data.items)
    if found is None and not items.exists():
        hint = "Of the Hugging Face Hub: owner/name@REVISION, the 40 digits of a commit."
        raise GoldspanError("the items are not there", where=data.items, hint=hint, code=Exit.MISSING)
    name = data.name or re.sub(r"[^A-Za-z0-9_-]+", "-", found["hub"] if found else items.resolve().stem).strip("-")
    root, folder = items.resolve().parent, _folder(data.repositories)
    declared = Declared(into / name / "declaration.yaml", root)
    declared.file.parent.mkdir(parents=True, exist_ok=True)
    content: dict[str, object]
    if found is None and (items / PLACES["corpus"].usual).is_file():
        places = {key: place.usual for key, place in PLACES.items()}
        declared.reads = items.resolve()
        data_keys: dict[str, object] = {"root": str(declared.reads), **places, "subset": "test"}
        content = {"like": "beir", "data": data_keys}
    else:
        given = {key: text for key, text in (found.groupdict() if found else {}).items() if text}
        of_hub = {"config": "default", "split": "test", **given} if given else {}
        entry = _entry(hub_rows(of_hub) if of_hub else items)
        head = _head(entry)
        keys = list(dict.fromkeys(key for row in head for key in row))
        is_patch = all(key in keys for key in _WITH_PATCH) and data.gold in ("", "patch")
        if is_patch or (any(key in keys for key in GOLD_KEYS) and not data.gold):
            data_keys = {"root": str(root), "rows": of_hub or items.name, "subset": "full"}
            content = {"like": "contextbench", "data": data_keys, "fields": {"gold": "patch"} if is_patch else {}}
            declared.clones = folder.resolve().as_uri() if folder is not None else _address(data)
        else:
            content = _converted(entry, head, keys, data, folder, declared, rejects)
    text = yaml.safe_dump({"name": name, **content}, sort_keys=False, allow_unicode=True)
    declared.file.write_text(text, encoding="utf-8")
    return declared


def _address(data: OwnData) -> str:
    return GITHUB if data.repositories == "github" else data.repositories


def _folder(repositories: str) -> Path | None:
    if not repositories or repositories == "github" or "://" in repositories:
        return None
    if not Path(repositories).is_dir():
        raise GoldspanError("there is no such folder of repositories", where=repositories, code=Exit.MISSING)
    return Path(repositories)


def _entry(place: Path | HubRows) -> Entry:
    if isinstance(place, HubRows):
        return entry_of_hub(place)
    if place.is_dir():
        return entry_of_saved(place)
    return entry_on_disk(place, place.name, place.name, place.stat().st_size)


def _head(entry: Entry) -> list[JsonObject]:
    rejects = Rejects()
    rows = [row for _, row in islice(read_rows(entry, rejects), _HEAD_ROWS)]
    if not rows:
        reasons = [f"{one.position}: {one.reason}" for one in rejects]
        hint = "Rows are JSON Lines, Parquet, or tab-separated values with a line of names."
        raise GoldspanError("it holds no rows", where=entry.path, examples=reasons, hint=hint, code=Exit.INVALID)
    return rows


def _converted(
    entry: Entry, head: Sequence[JsonObject], keys: Sequence[str], data: OwnData, folder: Path | None,
    declared: Declared, rejects: Rejects,
) -> dict[str, object]:  # fmt: skip
    """Write rows of places in ContextBench's form, and their repositories as they lie in a folder."""
    shape = _Shape.of(head, keys, data)
    # What is wrong with a row is for the reader to say, who looks at every one.
    rows = [shape.row(at, row) for at, row in read_rows(entry, rejects)]
    declared.reads = declared.file.parent
    beside = {"repo_files": "repo_files"} if folder is not None else {}
    if folder is not None:
        _snapshots(folder, rows, declared.reads / "repo_files")
    lines = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
    (declared.reads / "rows.jsonl").write_text(lines, encoding="utf-8", errors="replace")
    declared.notes.append(f"the question is {shape.query}, the gold {shape.said}")
    declared.notes += ["optional regions are not read: they are no gold"] * ("optional" in keys)
    declared.clones = "" if folder is not None else _address(data)
    return {"like": "contextbench", "data": {"rows": "rows.jsonl", "subset": "full", **beside}}


@dataclass(frozen=True)
class _Shape:
    """Where a row has its question, and the list of its places (itself without one), and a place its path and lines."""

    query: str
    places: str
    path: str
    start: str
    end: str

    @property
    def said(self) -> str:
        """As `--gold` has it."""
        return f"{self.places}[].{self.path}:{self.start}{f'-{self.end}' if self.end else ''}".removeprefix("[].")

    @classmethod
    def of(cls, head: Sequence[JsonObject], keys: Sequence[str], data: OwnData) -> _Shape:
        def has(path: str) -> bool:
            return any(get_path(row, (path,))[1] is not MISSING for row in head)

        def unknown(why: str, given: str) -> GoldspanError:
            hint = f"{did_you_mean(given, keys)} " if given else ""
            hint += f"Its rows have {listed(keys)}. {_SHAPES}"
            return GoldspanError(f"rows of another shape: {why}", where=data.items, hint=hint, code=Exit.INVALID)

        query = data.query or next((key for key in _QUESTIONS if key in keys), "")
        if not query or not has(query):
            raise unknown(f"there is no question under {data.query or ', '.join(_QUESTIONS)}", data.query)
        if data.gold:
            given = _PLACE.fullmatch(data.gold)
            if given is None:
                hint = "Write KEY[].PATH:LINES or KEY[].PATH:START-END, as in 'gold[].path:lines'."
                raise GoldspanError(f"--gold {data.gold!r} names no place", hint=hint, code=Exit.USAGE)
            first = given["list"] or given["path"]
            if not has(first):
                raise unknown(f"there is nothing under {first}", first)
            return cls(query, given["list"] or "", given["path"], given["start"], given["end"] or "")
        for key in _GOLD:
            for example in (example for row in head for example in _objects(row.get(key))):
                path, start = (next((name for name in names if name in example), "") for names in (_PATHS, _LINES))
                if path and start:
                    return cls(query, key, path, start, _ENDS.get(start, ""))
        raise unknown(f"none of {', '.join(_GOLD)} lists objects with a path and lines", "")

    def row(self, at: str, row: JsonObject) -> dict[str, object]:
        """A row in ContextBench's form, whatever is wrong with it."""
        places = _objects(get_path(row, (self.places,))[1]) if self.places else [row]
        repo = _first(row, _REPOS, "repository").strip("/")
        question = get_path(row, (self.query,))[1]
        return {
            "instance_id": _first(row, _IDS, at.replace(" ", "-")),
            "repo": f"own/{repo.replace('/', '-')}" if fault_of("repository", repo) else repo,
            "base_commit": _first(row, _COMMITS, _UNKNOWN_COMMIT),
            "language": _first(row, ("language",), "unknown"),
            "problem_statement": question if isinstance(question, str) else None,
            "gold_context": [self._span(place) for place in places],
        }

    def _span(self, place: JsonObject) -> dict[str, object]:
        path, first = (get_path(place, (key,))[1] for key in (self.path, self.start))
        last = get_path(place, (self.end,))[1] if self.end else first
        if isinstance(first, list) and len(first) in (1, 2):
            first, last = first[0], first[-1]
        elif isinstance(first, str) and not self.end and (lines := _RANGE.fullmatch(first.strip())):
            first, last = int(lines[1]), int(lines[2] or lines[1])
        span = {"file": path, "start_line": first, "end_line": last}
        return {key: value for key, value in span.items() if value is not MISSING}


def _objects(value: object) -> list[JsonObject]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _first(row: JsonObject, keys: Sequence[str], instead: str) -> str:
    return next((str(row[key]) for key in keys if row.get(key) not in (None, "")), instead)


def _snapshots(folder: Path, rows: Sequence[dict[str, object]], into: Path) -> None:
    """The repositories of some rows as they lie in a folder, a file each; a row's commit is then their content's."""
    into.mkdir(parents=True, exist_ok=True)
    commits: dict[str, str] = {}
    for row in rows:
        repo = str(row["repo"])
        if repo not in commits:
            names = (repo, repo.replace("/", "__"), repo.rpartition("/")[2])
            source = next((folder / name for name in names if (folder / name).is_dir()), folder)
            entries = [one for one in read_folder(source, source.name).entries if not one.path.startswith(".git/")]
            files = {entry.path: entry.read() for entry in entries if entry.size <= MAX_FILE_BYTES}
            commits[repo] = fingerprint([(path, sha256_of(content)) for path, content in files.items()])[:40]
            frame = pl.DataFrame({"path": list(files), "content": list(files.values())})
            frame.write_parquet(into / f"{repo.replace('/', '__')}@{commits[repo]}.parquet")
        row["base_commit"] = commits[repo]
