"""`python -m ingest own`: a declaration of own data in a common shape, as `--config` reads it."""

import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from os.path import isfile
from pathlib import Path

import polars as pl
import yaml

from ingest.benchmarks import beir
from ingest.benchmarks.config import NAME
from ingest.benchmarks.contextbench import rows
from ingest.benchmarks.contextbench.gold import GOLD_KEYS
from ingest.benchmarks.contextbench.own_gold import LINES, OWN_GOLD, PATHS, ends_of
from ingest.benchmarks.fields import MISSING, get_path
from ingest.contents.patches import edited_sources
from ingest.rejects import Rejects
from ingest.sources.folder import folder_source, read_folder
from ingest.sources.git import GITHUB, DamagedRepositoryError, GitFolder, form_fault
from ingest.sources.hub import HubRows, entry_of, is_saved
from ingest.sources.repository import RepositoryError
from ingest.sources.rows import JsonObject, format_of, read_rows
from ingest.sources.tree import Entry
from lake.errors import MAX_EXAMPLES, Exit, GoldspanError, did_you_mean
from lake.limits import MAX_FILE_BYTES
from lake.text import counted, listed

_HUB = re.compile(r"(?P<hub>[\w.-]+/[\w.-]+)@(?P<revision>[0-9a-f]{40})(?::(?P<split>\w+))?")
_INSTALLED = re.compile(r"(?:.*?/)?(?:node_modules|\.git)/|.+/(?=(?:pyvenv\.cfg|CACHEDIR\.TAG)$)")
_ENDINGS = (".jsonl", ".json", ".parquet", ".csv", ".tsv", ".yaml", ".yml")
_MEANINGS = {"problem_statement": "question", "gold": "gold", "repo": "repository", "commit": "commit"}
_OPTIONS = "Name your keys: --query KEY, --gold 'KEY[].PATH:LINES', --repo KEY, --commit KEY; docs/own-data.md has all."


def declare_own(
    items: str, repositories: str, into: Path, keys: Mapping[str, str], *, name: str = ""
) -> tuple[Path, Path, str, list[str]]:
    """The declaration of own data, written below `into`; the folder that it reads; what to clone from; and notes.

    The arguments are those of the command `own`; `keys` maps fields that have no usual key to theirs, or to nothing.
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
    home = into / name
    home.mkdir(parents=True, exist_ok=True)
    notes = [f"wrote the config {home / 'declaration.yaml'}"]
    if path.is_dir() and not is_saved(path) and not [*path.glob("corpus*")]:
        files = sorted(file for file in path.rglob("*") if format_of(file.name) in _ENDINGS)
        if len(files) != 1:
            names = [str(file.relative_to(path)) for file in files[:MAX_EXAMPLES]]
            what = f"the folder has no corpus, as in BEIR's layout, and {counted(len(files), 'file')} of rows, not one"
            raise GoldspanError(what, where=items, examples=names, hint="Give one file.", code=Exit.INVALID)
        path = files[0]
    reads, data, fields = path.resolve(), dict[str, object](), dict[str, str]()
    if path.is_dir() and not is_saved(path):
        # A single file of judgements may be of any split.
        judged = (file for each in ("qrels", "data", "default") for file in path.glob(f"{each}/*"))
        splits = {re.split(r"\.|-0", file.name)[0] for file in judged}
        split = splits.pop() if len(splits) == 1 else "test"
        tasks = beir.find(folder_source(path, items), split, Rejects()).tasks
        like, data = "beir", {"root": str(reads), "subset": "test"}
        data |= {key: file.path for key, file in zip(beir.BEIR_PLACES, tasks, strict=True)}
    else:
        hub_rows = HubRows(**hub.groupdict(default="test"), config="default") if hub else None
        like, data = "contextbench", {"subset": "full", "rows": hub_rows.model_dump() if hub_rows else str(reads)}
        entry, reads = entry_of(hub_rows or reads), reads.parent
        fields = {field: key for field, key in keys.items() if key}
        if re.fullmatch(r"[\w.]+", gold := fields.get("gold", "")) and gold not in ("patch", *GOLD_KEYS):
            fields["gold"] = f"{gold}[]"
        notes += _layout(entry, fields, items)
        if not repositories:
            hint = "Give --repositories: a folder of repositories, or one; github; or a URL to clone from."
            raise GoldspanError("rows with gold need their repositories", where=items, hint=hint, code=Exit.USAGE)
        if is_local:
            data["repo_files"] = "repo_files"
            used = {**rows.OWN_FIELDS} | {field: (key,) for field, key in fields.items()}
            notes += _gather(folder, rows.read_instances([entry], Rejects(), [], used), home)
            clones = (home / "git").resolve().as_uri() if any((home / "git").iterdir()) else ""
    content = {"name": name, "like": like, "data": data, "fields": fields}
    file = home / "declaration.yaml"
    file.write_text(yaml.safe_dump(content, sort_keys=False, allow_unicode=True), encoding="utf-8")
    return file, reads, clones, notes


def _layout(entry: Entry, fields: dict[str, str], items: str) -> list[str]:
    """Check that the first rows have a question and gold; note at which keys, or take their patch as gold."""
    unread, used = Rejects(), {**rows.OWN_FIELDS} | {field: (key,) for field, key in fields.items()}
    head = [row for _, row in islice(read_rows(entry, unread, row_keys=rows.question_keys(used)), 20)]
    if not head:
        reasons = [f"{reject.position}: {reject.reason}" for reject in unread]
        hint = "Rows are JSON Lines, JSON, Parquet, or values between tabs or commas with a line of names."
        raise GoldspanError("it holds no rows", where=items, examples=reasons, hint=hint, code=Exit.INVALID)
    keys, notes, problems, near = {key for row in head for key in row}, list[str](), list[str](), ""
    paths = list(dict.fromkeys(path for row in head for path in _paths(row)))
    if fields.get("gold", "patch") == "patch" and (keys >= rows.MULTI or keys >= rows.WITH_PATCH):
        fields["gold"] = "patch"
        return []
    # Rows may have one place each, beside the question.
    beside = next((path for path in PATHS if path in keys - {"url"}), "")
    if beside and "gold" not in fields and not any(_has(row, "gold", path) for row in head for path in used["gold"]):
        lines = next(("-".join(filter(None, pair)) for pair in LINES if keys >= {*pair} - {""}), "")
        fields["gold"] = f"{beside}:{lines}" if lines else f"{beside}[]"
        used["gold"] = (fields["gold"],)
    for field, meaning in _MEANINGS.items():
        path = next((path for path in used[field] if any(_has(row, field, path) for row in head)), "")
        notes.append(f"the {meaning} is {path}" if path else f"no key names a {meaning}")
        if not path and (field in fields or field in ("problem_statement", "gold")):
            problems.append(f"no row has the {meaning} ({', '.join(used[field])})")
            near = near or did_you_mean(used[field][0].partition("[")[0], paths if field in fields else [])
    if problems:
        needed = f" Rows with a patch need {listed(sorted(rows.WITH_PATCH))}." if "patch" in keys else ""
        hint = f"{near or f'Its rows have {listed(paths)}.'}{needed} {_OPTIONS}"
        raise GoldspanError(f"unknown row layout: {'; '.join(problems)}", where=items, hint=hint, code=Exit.INVALID)
    return [", ".join(notes)]


def _paths(value: object, above: str = "") -> Iterator[str]:
    """The paths of the keys of a row, with those of objects in it."""
    entry = value[0] if isinstance(value, list) and value else value
    if not isinstance(entry, dict):
        yield above
    else:
        above += "[]" * isinstance(value, list) + "." * bool(above)
        yield from (path for key, each in entry.items() for path in _paths(each, f"{above}{key}"))


def _has(row: JsonObject, field: str, path: str) -> bool:
    """Whether a row has a field at a path: gold of any form, other fields as a text."""
    form = OWN_GOLD.fullmatch(path) if field == "gold" else None
    value = get_path(row, (form["places"] or form["path"]) if form else path)
    return value is not MISSING if field == "gold" else isinstance(value, str)


def _gather(folder: Path, instances: Sequence[rows.Instance], home: Path) -> list[str]:
    """Gather the repositories in `folder` below `home`; return notes on those that are absent or at no commit.

    `folder` itself is the repository of rows that name none or its own name, or whose gold files are in no other. Git
    repositories of which rows name commits become links below `git`, all others Parquet files in `repo_files`.
    """
    for each in ("git", "repo_files"):
        shutil.rmtree(home / each, ignore_errors=True)
        (home / each).mkdir()
    by_name, absent, notes = dict[str, list[rows.Instance]](), list[str](), list[str]()
    for instance in instances:
        is_name = instance.repo != rows.OWN_REPOSITORY and not form_fault("repository", f"own/{instance.item_id}")
        is_folder = is_name and (folder / instance.item_id).is_dir()
        by_name.setdefault(instance.item_id if is_folder else instance.repo, []).append(instance)
    for name, of_name in by_name.items():
        repo, short = name.replace("/", "__"), name.rpartition("/")[2]
        usual = [folder / f"{each}{end}" for each in (name, repo, short) for end in ("", ".git")]
        places = [] if name == rows.OWN_REPOSITORY else [*usual, *sorted(folder.glob(f"*/{short}"))]
        ends = (ends_of(span) for each in of_name for span in each.gold)
        paths = {path for whole, *rest in ends for path in (whole, *(end for end in rest if "/" in end))}
        paths |= {path for each in of_name for path in edited_sources(each.gold_patch)}
        # Not `Path.is_file`, which raises an error if a path is too long.
        having = (each for each in (*places, folder) if any(isfile(each / path) for path in paths))  # noqa: PTH113
        is_it = name == rows.OWN_REPOSITORY or folder.resolve().name == short
        source = next(having, None) or next(filter(Path.is_dir, places), folder if is_it else None)
        n_commits = len({each.commit for each in of_name} - {rows.NO_COMMIT}) if name == of_name[0].repo else 0
        if source is None:
            absent.append(name.removeprefix("own/"))
        elif all(map(Path.exists, (source / "HEAD", source / "objects"))) or (n_commits and (source / ".git").exists()):
            link = home / "git" / name
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(source.resolve())
        else:
            if n_commits:
                of = counted(n_commits, "commit")
                notes.append(f"{source} is not a git repository: it is read as it is, though its rows name {of}")
            if name == rows.OWN_REPOSITORY and sum(each.startswith("own/") for each in by_name) == 1:
                repo = f"own__{re.sub('[^A-Za-z0-9_.-]', '-', folder.resolve().name)}"
            entries, committed = read_folder(source, "").entries, set[str]()
            # What git ignores, such as packages installed in the repository, is in no commit.
            with suppress(DamagedRepositoryError, RepositoryError):
                if (source / ".git").exists():
                    committed = {path for path, *_ in GitFolder(source / ".git").listing("HEAD")}
            if committed:
                entries = [entry for entry in entries if entry.path in committed]
            else:
                unread = sorted({match[0] for entry in entries if (match := _INSTALLED.match(entry.path))})
                reasons = [f"{path} (installed packages or a cache)" for path in unread if path[-5:] != ".git/"]
                notes += [f"not read of {source}: {listed(reasons, MAX_EXAMPLES)}"] if reasons else []
                entries = [entry for entry in entries if not entry.path.startswith(tuple(unread))]
            small = (entry for entry in entries if (source / entry.path).stat().st_size <= MAX_FILE_BYTES)
            files = {entry.path: entry.read() for entry in small}
            frame = pl.DataFrame({"path": list(files), "content": list(files.values())})
            frame.write_parquet(home / "repo_files" / f"{repo}.parquet")
    if absent:
        there = listed(sorted(each.name for each in folder.iterdir() if each.is_dir()), MAX_EXAMPLES)
        notes.append(f"{folder} has no folder of {listed(absent, MAX_EXAMPLES)}; it has {there or 'none'}")
    return notes
