"""What is mined, in the publishers' layouts: RepoEval's task files and repositories, RepoBench-R's files of rows."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, partial

from ingest.mining.miner import COMPLETIONS, Completion, Level, Recipe, folder_of, mine_completions, mine_next_lines
from ingest.mining.syntax import Language
from ingest.mining.usage import LEVELS, SETTINGS, Row, Setting
from ingest.mining.usage import Level as Difficulty
from ingest.sources.tree import UNKNOWN_SIZE, Entry
from lake.fingerprint import fingerprint, sha256_of
from lake.make import made_from

CONTEXTS: Mapping[str, int] = {"1k": 667, "2k": 1333, "4k": 2667}
"""How many `regex` tokens a prompt has at most. RepoCoder allows 1,000, 2,000 or 4,000 of Codex's tokens; three of
those are about two `regex` tokens (RepoEval's own prompts, where cut, have a median of 1,326 at 2k and 2,679 at 4k)."""

_LANGUAGES: tuple[Language, ...] = ("java", "python")


@dataclass(frozen=True)
class Mined:
    """A repository and what is mined from it.

    Attributes:
        recipe: What is asked of it.
        files: Its files.
        licence: Its licence.
    """

    recipe: Recipe
    files: Sequence[Entry]
    licence: str

    @property
    def digest(self) -> str:
        """Changes with any file, and with the recipe."""
        files = [(file.path, file.made_from or sha256_of(file.read())) for file in self.files]
        return fingerprint(asdict(self.recipe), files)

    @cached_property
    def completions(self) -> dict[Level, list[Completion]]:
        """The completions that the recipe asks."""
        return mine_completions(self._read(), self.recipe)

    @cached_property
    def next_lines(self) -> dict[Setting, dict[Difficulty, list[Row]]]:
        """The rows of RepoBench-R that the recipe asks."""
        return mine_next_lines(self._read(), self.recipe)

    def _read(self) -> dict[str, bytes]:
        return {file.path: file.read() for file in self.files}


def repoeval_folders(repositories: Sequence[Mined]) -> dict[str, list[Entry]]:
    """RepoEval's folders → their files, sorted; task files are made when they are read."""

    def task_file(level: Level, limit: int) -> bytes:
        rows = (row.row(n, limit) for one in repositories for n, row in enumerate(one.completions.get(level, [])))
        return "".join(f"{json.dumps(row)}\r\n" for row in rows).encode()

    def files(folder: str) -> list[Entry]:
        by_folder = sorted((folder_of(one.recipe.repository), one.files) for one in repositories)
        found = [(f"{folder}/{repo}/{file.path}", file) for repo, files in by_folder for file in files]
        return [Entry(path, file.size, file.read, made_from=file.made_from) for path, file in found]

    made = {
        f"{level}_level_completion_{context}_context_codex.test.jsonl": partial(task_file, level, limit)
        for level in COMPLETIONS
        for context, limit in CONTEXTS.items()
    }
    repository_folders = {f"repositories/{name}": files(name) for name in ("function_level", "line_and_api_level")}
    return {"datasets": _made_when_read(made, repositories), **repository_folders}


def repobench_folders(repositories: Sequence[Mined]) -> dict[str, list[Entry]]:
    """RepoBench-R's folder → its files of rows, sorted and made when they are read."""

    def file(language: Language, setting: Setting) -> bytes:
        rows = (
            {**row, "split": one.recipe.split, "level": level}
            for level in LEVELS
            for one in repositories
            if one.recipe.language == language
            for row in one.next_lines.get(setting, {}).get(level, [])
        )
        return "".join(f"{json.dumps(row)}\n" for row in rows).encode()

    made = {f"{one}_{setting}.jsonl": partial(file, one, setting) for one in _LANGUAGES for setting in SETTINGS}
    return {"data": _made_when_read(made, repositories)}


def _made_when_read(made: Mapping[str, Callable[[], bytes]], repositories: Sequence[Mined]) -> list[Entry]:
    digest = made_from(parameters=[one.digest for one in repositories], code=[repoeval_folders])
    return [Entry(path, UNKNOWN_SIZE, make, made_from=digest) for path, make in sorted(made.items())]
