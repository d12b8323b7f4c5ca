"""Issue tasks from a history: a commit's message is the query, its parent the pool, the code it replaces the gold."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping

from ingest.contents.patches import edited_sources, surroundings_of
from ingest.mining.history import Commit, History
from ingest.mining.names import GENERATED, TESTS, is_source
from ingest.rejects import Rejects
from lake.fingerprint import sha256_of
from lake.text import counted, language_of

MAX_CHANGED_FILES, MAX_CHANGED_LINES, MIN_WORDS = 10, 200, 4
"""A commit that changes more source files or existing lines, or says less, does not answer one question."""

SIZES = {5: "1 to 5 lines", 25: "6 to 25 lines", MAX_CHANGED_LINES: f"26 to {MAX_CHANGED_LINES} lines"}
"""The largest number of replaced lines → the name of that size."""

NAMES_FILE, NAMES_SYMBOL, NAMES_NEITHER = "names the file", "names the symbol", "names neither"

_AUTOMATED = re.compile(r"^(bump|release|update changelog|merge|version|prepare(d)? (for )?release|v?\d+\.\d+)\b", re.I)
_BOT = re.compile(r"\[bot\]|\b(dependabot|renovate|greenkeeper|pre-commit-ci|github-actions)\b", re.IGNORECASE)
_SIGNED = re.compile(r"^(signed-off-by|co-authored-by|reviewed-by|acked-by|tested-by|change-id):.*$", re.I | re.M)
_WORD = re.compile(r"[^\W\d_]{2,}")


def question_of(commit: Commit) -> str:
    """A commit's message without trailers such as `Signed-off-by`."""
    return re.sub(r"\n{3,}", "\n\n", _SIGNED.sub("", commit.message)).strip()


def _sources(commit: Commit) -> list[str]:
    return [change.before for change in commit.changes if change.before and is_source(change.before)]


def _all(commit: Commit, holds: Callable[[str], object]) -> bool:
    """Whether `holds` is true of all files of known languages that a commit changes, and there is at least one."""
    paths = [path for change in commit.changes if language_of(path := change.before or change.after)]
    return bool(paths) and all(map(holds, paths))


COMMIT_RULES: Mapping[str, Callable[[Commit], object]] = {
    "merge": lambda commit: " " in commit.parent,
    "first commit": lambda commit: not commit.parent,
    "revert": lambda commit: re.search(r"^revert\b|^this reverts commit\b", commit.message, re.I | re.M),
    "automated": lambda commit: _BOT.search(commit.author) or _AUTOMATED.search(commit.message),
    f"message of fewer than {MIN_WORDS} words": lambda commit: len(_WORD.findall(question_of(commit))) < MIN_WORDS,
    "no source file": lambda commit: not _all(commit, lambda _: True),
    "only tests": lambda commit: _all(commit, TESTS.search),
    "only generated or vendored files": lambda commit: _all(commit, GENERATED.search),
    "only new files": lambda commit: not _sources(commit),
    "only renames": lambda commit: all(change.status == "R100" for change in commit.changes),
    f"more than {MAX_CHANGED_FILES} source files": lambda commit: len(_sources(commit)) > MAX_CHANGED_FILES,
}
"""Rule → whether it leaves a commit out, in the order in which they apply."""

WHITE_SPACE, NO_OLD_LINE = "only white space", "no existing line"
TOO_MANY = f"more than {MAX_CHANGED_LINES} lines"
SAME_QUESTION = "same message as another commit"


def mine_issues(history: History, repository: str, n: int, seed: str) -> tuple[list[dict[str, object]], str]:
    """At most `n` issue tasks as rows of ContextBench, sorted by id, and a sentence with what was left out."""
    left_out, candidates = Counter[str](), dict[str, Commit]()
    for commit in history.commits():
        if rule := next((name for name, holds in COMMIT_RULES.items() if holds(commit)), ""):
            left_out[rule] += 1
        else:
            candidates[sha256_of("\0".join((seed, repository, commit.commit_id)).encode())] = commit
    n_commits, rows = left_out.total() + len(candidates), dict[str, dict[str, object]]()
    for _, commit in sorted(candidates.items()):
        question = question_of(commit)
        row = _task(history, repository, commit, question)
        if isinstance(row, str) or question in rows:
            left_out[row if isinstance(row, str) else SAME_QUESTION] += 1
        else:
            rows[question] = row
        if len(rows) == n:
            break
    slices = Counter(str(row[column]) for column in ("source", "size") for row in rows.values())
    by_slice = ", ".join(f"{name} {n:,}" for name, n in sorted(slices.items()))
    rules = (*COMMIT_RULES, WHITE_SPACE, NO_OLD_LINE, TOO_MANY, SAME_QUESTION)
    by_rule = ", ".join(f"{name}: {left_out[name]:,}" for name in rules if left_out[name])
    tasks = f"{counted(len(rows), 'issue task')}{by_slice and f' ({by_slice})'}"
    summary = f"{tasks} of {counted(n_commits, 'commit')}; left out: {by_rule or 'none'}"
    is_shallow = (history.git.folder / "shallow").is_file()
    summary += "; the clone is shallow, so older commits are missing: git fetch --unshallow" * is_shallow
    return sorted(rows.values(), key=lambda row: str(row["instance_id"])), summary


def _task(history: History, repository: str, commit: Commit, question: str) -> dict[str, object] | str:
    """The task of a commit, or the rule that leaves it out."""
    # Source files only: a question does not ask for the other files that a commit changes, such as its tests.
    paths = [path for change in commit.changes for path in (change.before, change.after) if is_source(path)]
    patch = history.patch(commit, dict.fromkeys(paths))
    hunks = re.findall(r"^@@.*?(?=^diff --git |\Z)", patch, re.MULTILINE | re.DOTALL)
    changed = "\n".join(hunks).split("\n")
    before, after = (["".join(line[1:].split()) for line in changed if line.startswith(sign)] for sign in "-+")
    if hunks and "".join(before) == "".join(after):
        return WHITE_SPACE
    edited = {path: lines for path, lines in edited_sources(patch).items() if is_source(path)}
    if (n_lines := sum(map(len, edited.values()))) > MAX_CHANGED_LINES:
        return TOO_MANY
    files = {file.path: file.data for file in history.files(repository, commit.parent)(Rejects(), edited)}
    gold, symbols = [], set[str]()
    for path, lines in sorted(edited.items()):
        spans, around = surroundings_of(files.get(path, b""), path, lines)
        gold += [{"file": path, "start_line": start + 1, "end_line": end} for start, end in spans]
        symbols |= around
    if not gold:
        return NO_OLD_LINE
    return {
        "instance_id": f"{repository.replace('/', '__')}-{commit.commit_id[:12]}",
        "repo": repository,
        "base_commit": commit.parent,
        "language": language_of(max(edited, key=lambda path: (len(edited[path]), path))),
        "source": _given_away(question, edited, symbols),
        "size": next(size for most, size in SIZES.items() if n_lines <= most),
        "problem_statement": question,
        "patch": patch,
        "gold_context": json.dumps(gold),
    }


def _given_away(question: str, paths: Iterable[str], names: Iterable[str]) -> str:
    """The part of the answer that the question contains: a file's name, else a definition's name, else neither."""
    words = set(re.findall(r"[\w./-]+", question))
    words |= {word.strip("./") for word in words}
    last = {word.rsplit("/", 1)[-1] for word in words}
    if any(path in words or path.rsplit("/", 1)[-1] in last for path in paths):
        return NAMES_FILE
    # A short or everyday name may occur by chance.
    telling = {name for name in names if len(name) > 3 and (not name.islower() or "_" in name or len(name) > 7)}
    return NAMES_NEITHER if telling.isdisjoint(re.findall(r"\w+", question)) else NAMES_SYMBOL
