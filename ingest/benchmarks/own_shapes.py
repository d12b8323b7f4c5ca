"""`python -m ingest own`: own data in a common shape, declared as `--config` declares it."""

import ast
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

import polars as pl
import yaml

from ingest.benchmarks import beir
from ingest.benchmarks.config import NAME, own_data
from ingest.benchmarks.contextbench.gold import GOLD_KEYS, docs_path
from ingest.benchmarks.contextbench.rows import ID_KEYS
from ingest.benchmarks.declaration import Benchmark
from ingest.benchmarks.fields import MISSING, get_path
from ingest.sources.datasets import HubRows, entry_of, is_saved
from ingest.sources.folder import FolderSource, read_folder
from ingest.sources.git import GITHUB, form_fault
from ingest.sources.rows import JsonObject, read_rows
from ingest.sources.tree import Source
from lake.errors import MAX_EXAMPLES, Exit, GoldspanError, did_you_mean
from lake.fingerprint import fingerprint, sha256_of
from lake.limits import MAX_FILE_BYTES
from lake.offsets import split_lines
from lake.rejects import Rejects
from lake.text import decode, language_of, listed

_QUESTIONS = ("question", "query", "problem_statement", "issue", "prompt", "text")
_GOLD = ("gold", "core", "regions", "spans", "locations", "relevant", "ground_truth.read_core_regions")
_PATHS = ("path", "file", "file_path", "filename")
_LINES = {"lines": "lines", "line": "line", "start_line": "start_line-end_line", "line_start": "line_start-line_end",
          "start": "start-end"}  # fmt: skip
_REPOS, _COMMITS = ("repo", "repository", "repo_dir"), ("base_commit", "commit", "sha")
_UNNAMED = "own/repository"
"""The name given to the repository of rows that name none."""
_WITH_PATCH = {"instance_id", "repo", "base_commit", "problem_statement", "patch"}
_RANGE = re.compile(r"(?:.*#)?L?(\d+)(?:\s*[-:]\s*L?(\d+))?")
_FILE_WITH_LINES = re.compile(r"(?P<path>[^\s:#]+)(?::|#)(?P<lines>L?\d+(?:[-:]L?\d+)?)")
_MULTI = {"org", "repo", "base", "fix_patch", "resolved_issues"}
"""The keys of Multi-SWE-bench's rows."""
_HUB = re.compile(r"(?P<hub>[\w.-]+/[\w.-]+)@(?P<revision>[0-9a-f]{40})(?::(?P<split>\w+))?")
_PLACE = re.compile(r"(?:(?P<places>[\w.]+)\[\](?:\.|$))?(?P<path>[\w.]*)(?::(?P<start>[\w.]+?)(?:-(?P<end>[\w.]+))?)?")
_SHAPES = (
    f"Read are a BEIR folder; rows with {', '.join(sorted(_WITH_PATCH))}, as SWE-bench has them; and rows with a "
    f"question ({', '.join(_QUESTIONS)}) and a list of places ({', '.join(_GOLD)}), each with a path and lines. "
    "Name yours: --query KEY --gold 'KEY[].PATH:LINES'; of files alone --gold 'KEY[].PATH' or 'KEY[]'. Any other shape "
    "is declared: docs/own-data.md."
)


def declare_own(
    items: str,
    repositories: str,
    into: Path,
    known: Mapping[str, Benchmark],
    *,
    name: str = "",
    query: str = "",
    gold: str = "",
) -> tuple[Benchmark, Source, str, list[str]]:
    """The benchmark and source of own data, the URL to clone its repositories from, and notes for the user.

    Below `into` a declaration is written, and the rows in ContextBench's format if they have another.

    `items` is a file, a folder or `owner/name@REVISION` (`:SPLIT`) of the hub; `repositories` is a folder of several or
    one, `github`, a URL, or empty. `gold` is `KEY[].PATH:LINES` or `KEY[].PATH:START-END` (without the list if a row
    has one place), `KEY[].PATH` or `KEY[]` for whole files, or `patch`.
    """
    hub, path, folder = _HUB.fullmatch(items), Path(items), Path(repositories)
    if hub is None and not path.exists():
        hint = "Of the Hugging Face Hub: owner/name@REVISION, the 40 digits of a commit."
        raise GoldspanError("there is no such file or folder of items", where=items, hint=hint, code=Exit.MISSING)
    clones = GITHUB if repositories == "github" else repositories if "://" in repositories else ""
    is_local = bool(repositories) and not clones
    if is_local and not folder.is_dir():
        raise GoldspanError("this folder of repositories does not exist", where=repositories, code=Exit.MISSING)
    stem = hub["hub"] if hub else path.resolve().name.partition(".")[0]
    name = name or re.sub(r"[^A-Za-z0-9_-]+", "-", stem).strip("-_")[:40]
    if not re.fullmatch(NAME, name):
        hint = "A name has letters, digits, - and _, 40 at most, and begins with a letter or digit."
        raise GoldspanError(f"--name: {name!r} is no name of a benchmark", hint=hint, code=Exit.USAGE)
    home, reads, notes, rejects = into / name, path.resolve().parent, list[str](), Rejects()
    home.mkdir(parents=True, exist_ok=True)
    like, subset, data, fields = "contextbench", "full", dict[str, object](), {}
    if path.is_dir() and not is_saved(path):
        reads = path.resolve()
        # A single file of judgements may be of any split.
        splits = {file.name.partition(".")[0] for file in path.glob("qrels/*")}
        split = splits.pop() if len(splits) == 1 else "test"
        files = beir.find(FolderSource(path, name=items), split, Rejects()).tasks
        data |= {key: file.path for key, file in zip(beir.BEIR_PLACES, files, strict=True)}
        like, subset = "beir", "test"
    else:
        rows = HubRows(**hub.groupdict(default="test"), config="default") if hub else path
        entry, unread = entry_of(rows), Rejects()
        head = [row for _, row in islice(read_rows(entry, unread), 20)]
        if not head:
            reasons = [f"{reject.position}: {reject.reason}" for reject in unread]
            hint = "Rows are JSON Lines, JSON, Parquet, or values between tabs or commas with a line of names."
            raise GoldspanError("it holds no rows", where=items, examples=reasons, hint=hint, code=Exit.INVALID)
        keys = list(dict.fromkeys(key for row in head for key in row))
        if is_multi := set(keys) >= _MULTI and gold in ("", "patch"):
            reads, rows = home, _written(home, [_of_multi(row) for _, row in read_rows(entry, rejects)])
        is_patch = is_multi or (set(keys) >= _WITH_PATCH and gold in ("", "patch"))
        if is_patch or (not gold and not set(keys).isdisjoint(GOLD_KEYS)):
            data["rows"] = rows.model_dump() if isinstance(rows, HubRows) else rows.name
            fields = {"gold": "patch"} if is_patch else {}
            clones = folder.resolve().as_uri() if is_local else clones
        else:
            question, written, convert = _converter(head, keys, query, gold, items)
            reads = home
            # Faulty rows are converted too: the reader checks every row and rejects them.
            converted = [convert(position, row) for position, row in read_rows(entry, rejects)]
            ends = (span.get("end_line", 0) for row in converted for span in row["gold_context"])
            if not is_local and None in ends:
                message = f"gold of whole files ({written}) needs local repositories, to count the lines of the files"
                raise GoldspanError(message, hint="Give a folder: --repositories DIR", code=Exit.USAGE)
            if is_local:
                data["repo_files"] = "repo_files"
                if absent := _snapshots(folder, converted, home / "repo_files"):
                    there = listed(sorted(each.name for each in folder.iterdir() if each.is_dir()), MAX_EXAMPLES)
                    notes.append(f"{folder} has no folder of {listed(absent, MAX_EXAMPLES)}; it has {there or 'none'}")
            data["rows"] = _written(home, converted).name
            notes.append(f"the question is {question}, the gold {written}")
            notes += ["the key `optional` is not read: only required regions are gold"] * ("optional" in keys)
    file = home / "declaration.yaml"
    data |= {"root": str(reads), "subset": subset}
    content = {"name": name, "like": like, "data": data, "fields": fields}
    file.write_text(yaml.safe_dump(content, sort_keys=False, allow_unicode=True), encoding="utf-8")
    notes = [f"wrote the config {file}", *notes, *(f"left out: {each.position}: {each.reason}" for each in rejects)]
    return *own_data(content, file, known, reads, list(rejects)), clones, notes


def _written(home: Path, rows: Sequence[dict[str, Any]]) -> Path:
    file = home / "rows.jsonl"
    lines = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
    file.write_text(lines, encoding="utf-8", errors="replace")
    return file


def _converter(
    head: Sequence[JsonObject], keys: Sequence[str], query: str, gold: str, items: str
) -> tuple[str, str, Callable[[str, JsonObject], dict[str, Any]]]:
    """The keys of the question and the gold, given or detected, and the function that makes ContextBench's rows.

    `head` are the first rows. Faulty rows are converted too; lines count from 1, both ends included.
    """

    def check(path: str, why: str, objects: Sequence[JsonObject] = head) -> None:
        if not path or (objects and all(get_path(each, path) is MISSING for each in objects)):
            hint = f"{did_you_mean(path, {key for each in objects for key in each})} " if path else ""
            hint += f"Its rows have {listed(keys)}. {_SHAPES}"
            raise GoldspanError(f"unknown row layout: {why}", where=items, hint=hint, code=Exit.INVALID)

    question = query or next((key for key in _QUESTIONS if key in keys), "")
    check(question, f"no row has a question under {query or ', '.join(_QUESTIONS)}")
    written = gold or next(_usual_gold(head), "")
    check(written and question, f"none of {', '.join(_GOLD)} lists objects with a path and lines")
    form = _PLACE.fullmatch(written)
    if form is None or not (form["places"] or (form["path"] and form["start"])):
        hint = "Write KEY[].PATH:LINES or KEY[].PATH:START-END, as in 'gold[].path:lines'; of files alone KEY[]."
        raise GoldspanError(f"--gold {gold!r} does not name the key of the paths", hint=hint, code=Exit.USAGE)
    places, path, start, end = form.groups(default="")
    check(places or path, f"no row has {places or path}")
    within = [span for row in head for span in (_objects(row, places, path) if places else [row])]
    for key in filter(None, (path, start, end)):
        check(key, f"no entry of {written} has {key}", within)

    def place(given: JsonObject) -> dict[str, object]:
        file, first, last = (get_path(given, key) for key in (path, start, end or start))
        if not start:
            # The whole file, whose end is filled in later from the repository, unless lines follow its name.
            match = _FILE_WITH_LINES.fullmatch(file) if isinstance(file, str) else None
            file, first, last = (match["path"], match["lines"], None) if match else (file, 1, None)
        if isinstance(first, list) and len(first) in (1, 2):
            first, last = first[0], first[-1]
        elif isinstance(first, str) and not end and (lines := _RANGE.fullmatch(first.strip())):
            first, last = int(lines[1]), int(lines[2] or lines[1])
        span = {"file": file, "start_line": first, "end_line": last}
        return {key: value for key, value in span.items() if value is not MISSING}

    def convert(position: str, row: JsonObject) -> dict[str, Any]:
        repo, text = _first(row, _REPOS, _UNNAMED).strip("/"), get_path(row, question)
        spans = [place(span) for span in (_objects(row, places, path) if places else [row])]
        language = next(filter(None, (language_of(str(span.get("file"))) for span in spans)), "unknown")
        return {
            "instance_id": _first(row, (*ID_KEYS, "item_id", "task_id", "_id", "id"), position.replace(" ", "-")),
            "repo": f"own/{repo.replace('/', '-')}" if form_fault("repository", repo) else repo,
            "base_commit": _first(row, _COMMITS, "0" * 40),
            "language": _first(row, ("language",), language),
            "problem_statement": text if isinstance(text, str) else None,
            "gold_context": spans,
        }

    return question, written, convert


def _usual_gold(head: Sequence[JsonObject]) -> Iterator[str]:
    """The gold that some rows have under usual keys, written as `--gold` takes it."""
    for key in _GOLD:
        for row in head:
            for span in _objects(row, key):
                pairs = ((path, start) for path in _PATHS for start in _LINES)
                yield from (f"{key}[].{path}:{_LINES[start]}" for path, start in pairs if {path, start} <= span.keys())
            if any(_FILE_WITH_LINES.fullmatch(str(text[""])) for text in _objects(row, key, "")):
                yield f"{key}[]"


def _of_multi(row: JsonObject) -> dict[str, Any]:
    """A row of Multi-SWE-bench under the keys of SWE-bench."""
    issues, base = _objects(row, "resolved_issues"), _parsed(row.get("base"))
    texts = [str(each.get(key) or "") for each in issues or [row] for key in ("title", "body")]
    owner, name = row.get("org"), row.get("repo")
    return {
        "instance_id": row.get("instance_id") or f"{owner}__{name}-{row.get('number')}",
        "repo": f"{owner}/{name}",
        "base_commit": base.get("sha") if isinstance(base, dict) else None,
        "problem_statement": "\n\n".join(filter(None, texts)),
        "patch": row.get("fix_patch"),
        "language": row.get("language"),
    }


def _parsed(value: object) -> object:
    """A list or object, also if it is written as JSON or in Python's form, as tables contain it; else the value."""
    if isinstance(value, str) and value[:1] in ("[", "{"):
        for parse in (json.loads, ast.literal_eval):
            with suppress(ValueError, SyntaxError, MemoryError, RecursionError):
                parsed: object = parse(value)
                return parsed
    return value


def _objects(row: JsonObject, path: str, key: str = "-") -> list[JsonObject]:
    """The objects of the list at `path`; with an empty `key`, each element becomes an object with it under that key."""
    value = _parsed(get_path(row, path))
    if key and isinstance(value, dict) and all(isinstance(each, list) for each in value.values()):
        # Lines by file: {"a.py": [[1, 9]]}.
        return [{"path": file, "lines": lines} for file, spans in value.items() for lines in spans]
    objects = [{"": item} if not key else item for item in value] if isinstance(value, list) else []
    return [item for item in objects if isinstance(item, dict)]


def _first(row: JsonObject, keys: Sequence[str], instead: str) -> str:
    return next((str(row[key]) for key in keys if row.get(key) not in (None, "")), instead)


def _snapshots(folder: Path, rows: Sequence[dict[str, Any]], into: Path) -> list[str]:
    """Write each repository found in `folder` to a Parquet file, and set its rows' commit to a digest of its files.

    `folder` itself is the repository of rows that name none, and of rows whose gold files are in it. Return the names
    of the repositories that are not found.
    """
    into.mkdir(parents=True, exist_ok=True)
    by_repo, absent = dict[str, list[dict[str, Any]]](), list[str]()
    for row in rows:
        by_repo.setdefault(row["repo"], []).append(row)
    for repo, of_repo in by_repo.items():
        name = repo.rpartition("/")[2]
        places = (folder / repo, folder / repo.replace("/", "__"), folder / name, *sorted(folder.glob(f"*/{name}")))
        gold = (docs_path(str(span.get("file"))) for row in of_repo for span in row["gold_context"])
        is_it = repo == _UNNAMED or any((folder / path).is_file() for path in gold)
        source = next((each for each in places if each.is_dir()), folder if is_it else None)
        if source is None:
            absent.append(repo.removeprefix("own/"))
            continue
        entries = (entry for entry in read_folder(source, "").entries if not entry.path.startswith(".git/"))
        files = {entry.path: entry.read() for entry in entries if entry.size <= MAX_FILE_BYTES}
        commit = fingerprint([(path, sha256_of(content)) for path, content in files.items()])[:40]
        frame = pl.DataFrame({"path": list(files), "content": list(files.values())})
        frame.write_parquet(into / f"{repo.replace('/', '__')}@{commit}.parquet")
        for row in of_repo:
            row["base_commit"] = commit
            for span in (span for span in row["gold_context"] if span.get("end_line", 0) is None):
                span["end_line"] = len(split_lines(decode(files.get(docs_path(str(span.get("file"))), b""))[0])) or 1
    return absent
