"""`python -m ingest own`: a declaration of own data in a common shape, as `--config` reads it."""

import re
import shutil
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

import polars as pl
import yaml

from ingest.benchmarks import beir
from ingest.benchmarks.config import NAME
from ingest.benchmarks.contextbench.gold import GOLD_KEYS, OWN_GOLD, docs_path
from ingest.benchmarks.contextbench.rows import (
    MULTI,
    OWN_FIELDS,
    OWN_REPOSITORY,
    WITH_PATCH,
    Instance,
    read_instances,
)
from ingest.benchmarks.fields import MISSING, Fields, get_path
from ingest.sources.datasets import HubRows, entry_of, is_saved
from ingest.sources.folder import FolderSource, read_folder
from ingest.sources.git import GITHUB
from ingest.sources.rows import JsonObject, read_rows
from lake.errors import MAX_EXAMPLES, Exit, GoldspanError, did_you_mean
from lake.limits import MAX_FILE_BYTES
from lake.rejects import Rejects
from lake.text import listed

_HUB = re.compile(r"(?P<hub>[\w.-]+/[\w.-]+)@(?P<revision>[0-9a-f]{40})(?::(?P<split>\w+))?")
_SHAPES = (
    f"Read are a BEIR folder; rows with {', '.join(sorted(WITH_PATCH))}, as SWE-bench has them; and rows with a "
    "question and a list of places, each with a path and lines. Name yours: --query KEY --gold 'KEY[].PATH:LINES', for "
    "one place in a row 'PATH:LINES' or 'PATH:START-END', of files alone 'KEY[].PATH' or 'KEY[]'. Any other shape is "
    "declared: docs/own-data.md."
)


def declare_own(
    items: str, repositories: str, into: Path, *, name: str = "", query: str = "", gold: str = ""
) -> tuple[Path, Path, str, list[str]]:
    """The declaration of own data, written below `into`; the folder that it reads; what to clone from; and notes.

    `items` is a file, a folder or `owner/name@REVISION` (`:SPLIT`) of the hub; `repositories` is a folder of several or
    one, `github`, a URL, or empty. `gold` is a path as :data:`OWN_GOLD` has it, or `patch`.
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
    if gold not in ("", "patch", *GOLD_KEYS) and not OWN_GOLD.fullmatch(gold):
        hint = "Write KEY[].PATH:LINES or KEY[].PATH:START-END, as in 'gold[].path:lines'; of files alone KEY[]."
        raise GoldspanError(f"--gold {gold!r} does not name the key of the paths", hint=hint, code=Exit.USAGE)
    home = into / name
    home.mkdir(parents=True, exist_ok=True)
    notes = [f"wrote the config {home / 'declaration.yaml'}"]
    like, data, fields = "contextbench", dict[str, object](subset="full"), dict[str, str]()
    reads = path.resolve()
    if path.is_dir() and not is_saved(path):
        # A single file of judgements may be of any split.
        splits = {file.name.partition(".")[0] for file in path.glob("qrels/*")}
        split = splits.pop() if len(splits) == 1 else "test"
        files = beir.find(FolderSource(path, name=items), split, Rejects()).tasks
        like, data = "beir", {key: file.path for key, file in zip(beir.BEIR_PLACES, files, strict=True)}
        data |= {"root": str(reads), "subset": "test"}
    else:
        rows = HubRows(**hub.groupdict(default="test"), config="default") if hub else reads
        reads = reads.parent
        data["rows"] = rows.model_dump() if isinstance(rows, HubRows) else str(rows)
        entry, unread = entry_of(rows), Rejects()
        head = [row for _, row in islice(read_rows(entry, unread), 20)]
        if not head:
            reasons = [f"{reject.position}: {reject.reason}" for reject in unread]
            hint = "Rows are JSON Lines, JSON, Parquet, or values between tabs or commas with a line of names."
            raise GoldspanError("it holds no rows", where=items, examples=reasons, hint=hint, code=Exit.INVALID)
        keys = {key for row in head for key in row}
        if gold in ("", "patch") and (keys >= MULTI or keys >= WITH_PATCH):
            fields["gold"] = "patch"
        else:
            fields = {field: key for field, key in (("problem_statement", query), ("gold", gold)) if key}
            used = {**OWN_FIELDS} | {field: (key,) for field, key in fields.items()}
            notes.append(_layout(head, used, items))
            notes += ["the key `optional` is not read: only required regions are gold"] * ("optional" in keys)
        if not repositories:
            hint = "Give --repositories: a folder of repositories, or one; github; or a URL to clone from."
            raise GoldspanError("rows with gold need their repositories", where=items, hint=hint, code=Exit.USAGE)
        if is_local and (fields.get("gold") == "patch" or not (gold or keys.isdisjoint(GOLD_KEYS))):
            clones = folder.resolve().as_uri()
        elif is_local:
            data["repo_files"] = "repo_files"
            if absent := _snapshots(folder, read_instances([entry], Rejects(), [], used), home / "repo_files"):
                there = listed(sorted(each.name for each in folder.iterdir() if each.is_dir()), MAX_EXAMPLES)
                notes.append(f"{folder} has no folder of {listed(absent, MAX_EXAMPLES)}; it has {there or 'none'}")
    content = {"name": name, "like": like, "data": data, "fields": fields}
    file = home / "declaration.yaml"
    file.write_text(yaml.safe_dump(content, sort_keys=False, allow_unicode=True), encoding="utf-8")
    return file, reads, clones, notes


def _layout(head: Sequence[JsonObject], fields: Fields, items: str) -> str:
    """The keys at which the first rows have the question and the gold; an error if they have none."""
    keys, used = list(dict.fromkeys(key for row in head for key in row)), list[str]()
    for field in ("problem_statement", "gold"):
        for path in fields[field]:
            form = OWN_GOLD.fullmatch(path)
            key = (form["places"] or form["path"]) if form else path
            if any(get_path(row, key) is not MISSING for row in head):
                used.append(path)
                break
        else:
            first, *others = fields[field]
            hint = "" if others else f"{did_you_mean(first.partition('[')[0], keys)} "
            hint += f"Its rows have {listed(keys)}. {_SHAPES}"
            message = f"unknown row layout: no row has {', '.join(fields[field])}"
            raise GoldspanError(message, where=items, hint=hint, code=Exit.INVALID)
    return f"the question is {used[0]}, the gold {used[1]}"


def _snapshots(folder: Path, instances: Sequence[Instance], into: Path) -> list[str]:
    """Write each repository found in `folder` to a Parquet file; return the names of those that are not found.

    `folder` itself is the repository of rows that name none, and of rows whose gold files are in it.
    """
    shutil.rmtree(into, ignore_errors=True)
    into.mkdir()
    gold, absent = dict[str, set[str]](), list[str]()
    for instance in instances:
        gold.setdefault(instance.repo, set()).update(docs_path(span.file) for span in instance.gold)
    for repo, paths in gold.items():
        name = repo.rpartition("/")[2]
        places = (folder / repo, folder / repo.replace("/", "__"), folder / name, *sorted(folder.glob(f"*/{name}")))
        is_it = repo == OWN_REPOSITORY or any((folder / path).is_file() for path in paths)
        source = next((each for each in places if each.is_dir()), folder if is_it else None)
        if source is None:
            absent.append(repo.removeprefix("own/"))
            continue
        entries = (entry for entry in read_folder(source, "").entries if not entry.path.startswith(".git/"))
        files = {entry.path: entry.read() for entry in entries if entry.size <= MAX_FILE_BYTES}
        frame = pl.DataFrame({"path": list(files), "content": list(files.values())})
        frame.write_parquet(into / f"{repo.replace('/', '__')}.parquet")
    return absent
