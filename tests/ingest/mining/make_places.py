"""Find the places of the sample anew, after a pin of one of its packages has moved; prints what is to be `PLACES`."""

from collections import Counter
from collections.abc import Iterable
from importlib.metadata import version

from ingest.mining.miner import Completion, MinedTask, choose, mine_functions
from ingest.mining.names import FileUsage, Question, SourceFiles, lines_of, usages_by_name
from ingest.mining.sample import PLACES_FILE, ByteSpan, Places, Uses, read_package
from lake.offsets import split_lines
from lake.text import regex_tokens

LIMIT, LINE_TOKENS = 30, 5
"""How many tasks of a kind a repository has at most, and how many tokens a line that is asked for."""


def places_of(before: Places) -> Places:
    name = before.pin.partition("==")[0]
    pin = f"{name}=={version(name)}"
    contents = {path: file.read() for path, file in read_package(pin).items()}
    files = SourceFiles(contents, Counter())
    functions = list(mine_functions(before.repository, files))
    usages = list(usages_by_name(before.repository, files))
    questions_of = {
        "cff": [question for usage in usages for question in usage.questions()],
        "cfr": [Question.of(usage, row, gold) for usage in usages for row, gold in _later(usage)],
    }
    next_lines = {
        setting: [it for level in ("easy", "hard") for it in _chosen(task for task in of if task.usage.level == level)]
        for setting, of in questions_of.items()
    }
    texts = {path: "".join(lines_of(data) or []).encode() for path, data in contents.items()}
    used = {question.usage.path: question.usage for questions in next_lines.values() for question in questions}
    return before.model_copy(
        update={
            "pin": pin,
            "completions": {
                "function": [(*it.location, _end(it), it.name) for it in _chosen(functions)],
                "line": [(*it.location, it.location[1] + 1) for it in _chosen(_lines(functions))],
            },
            "files": {path: _uses(usage, texts) for path, usage in sorted(used.items())},
            "next_lines": {
                setting: [(*question.location, question.gold) for question in questions]
                for setting, questions in next_lines.items()
            },
        }
    )


def _end(task: Completion) -> int:
    return task.location[1] + len(split_lines(task.answer))


def _chosen(tasks: Iterable[MinedTask]) -> list[MinedTask]:
    return choose(tasks, LIMIT)


def _lines(functions: Iterable[Completion]) -> Iterable[Completion]:
    for task in functions:
        path, start = task.location
        for row in range(start + 1, _end(task)):
            text = task.lines[row].strip()
            if len(regex_tokens(text)) >= LINE_TOKENS and not text.startswith("#"):
                yield Completion.of("line", task.repo, path, task.lines, row, row + 1, known=text)


def _later(usage: FileUsage) -> Iterable[tuple[int, int]]:
    """Each line that uses one candidate alone, and not for the first time."""
    seen: set[int] = set()
    for row, golds in sorted(usage.uses.items()):
        if golds <= seen and len(golds) == 1 and row not in usage.closed and not golds & usage.unasked:
            yield row, next(iter(golds))
        seen |= golds


def _uses(usage: FileUsage, texts: dict[str, bytes]) -> Uses:
    candidates: list[ByteSpan] = []
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
