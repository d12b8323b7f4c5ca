"""Find the places of the sample anew, after a pin of one of its packages has moved; prints what is to be `PLACES`."""

from collections import Counter
from collections.abc import Iterable
from importlib.metadata import version

from ingest.mining.miner import choose, mine_functions
from ingest.mining.names import FileUsage, Task, lines_of, usages_by_name
from ingest.mining.sample import PLACES_FILE, Places, Uses, read_package
from lake.offsets import split_lines
from lake.text import regex_tokens

LIMIT, LINE_TOKENS = 30, 5
"""How many tasks of a kind a repository has at most, and how many tokens a line that is asked for."""


def places_of(before: Places) -> Places:
    name = before.pin.partition("==")[0]
    pin = f"{name}=={version(name)}"
    contents = {path: file.read() for path, file in read_package(pin).items()}
    functions = list(mine_functions(before.repository, contents, Counter()))
    usages = {usage.path: usage for usage in usages_by_name(before.repository, contents, Counter())}
    tasks_of = {
        "cff": [task for usage in usages.values() for task in usage.tasks()],
        "cfr": [usage.task(line, gold) for usage in usages.values() for line, gold in _later(usage)],
    }
    next_lines = {
        setting: [
            (task.path, task.line, task.row()["gold_snippet_index"])
            for level in ("easy", "hard")
            for task in choose((task for task in tasks if task.row()["level"] == level), LIMIT)
        ]
        for setting, tasks in tasks_of.items()
    }
    texts = {path: "".join(lines_of(data) or []).encode() for path, data in contents.items()}
    used = sorted({path for places in next_lines.values() for path, *_ in places})
    return before.model_copy(
        update={
            "pin": pin,
            "completions": {
                "function": [
                    (it.path, it.line, _end(it), it.row()["metadata"]["function_name"])
                    for it in choose(functions, LIMIT)
                ],
                "line": [(it.path, it.line, it.line + 1) for it in choose(_lines(before.repository, functions), LIMIT)],
            },
            "files": {path: _uses(usages[path], texts) for path in used},
            "next_lines": next_lines,
        }
    )


def _end(task: Task) -> int:
    return task.line + len(split_lines(task.answer))


def _lines(repo: str, functions: Iterable[Task]) -> Iterable[Task]:
    for task in functions:
        for line, text in enumerate(split_lines(task.answer)[1:], task.line + 1):
            if len(regex_tokens(text.strip())) >= LINE_TOKENS and not text.strip().startswith("#"):
                yield Task(("line", repo, task.path, text.strip()), task.path, line, text, task.row)


def _later(usage: FileUsage) -> Iterable[tuple[int, int]]:
    """Each line that uses one candidate alone, and not for the first time."""
    seen: set[int] = set()
    for row, golds in sorted(usage.uses.items()):
        if golds <= seen and len(golds) == 1:
            yield row, next(iter(golds))
        seen |= golds


def _uses(usage: FileUsage, texts: dict[str, bytes]) -> Uses:
    candidates: list[tuple[str, int, int]] = []
    for text in usage.candidates:
        path = next(path for path, data in texts.items() if text.encode() in data)
        start = texts[path].index(text.encode())
        candidates.append((path, start, start + len(text.encode())))
    imports, end = [], 0
    for statement in usage.statements:
        start = texts[usage.path].index(statement.encode(), end)
        end = start + len(statement.encode())
        imports.append((start, end))
    return Uses(imports=imports, candidates=candidates)


if __name__ == "__main__":
    for line in PLACES_FILE.read_text(encoding="utf-8").splitlines():
        repository = Places.model_validate_json(line)
        print((places_of(repository) if repository.pin else repository).model_dump_json())
