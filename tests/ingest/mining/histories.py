"""Git repositories made for tests, commit by commit, the same everywhere."""

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class MadeRepository:
    """A repository with a work tree, and its commits by what they were called."""

    folder: Path
    commits: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True)
        self.git("init", "--quiet", "--initial-branch=main")

    def git(self, *arguments: str) -> str:
        """One git command, which hears no settings of this machine."""
        who = {
            "NAME": "A. Person",
            "EMAIL": "person@example.com",
            "DATE": f"{1_700_000_000 + 60 * len(self.commits)} +0000",
        }
        known = {f"GIT_{role}_{name}": value for role in ("AUTHOR", "COMMITTER") for name, value in who.items()}
        environment = {**os.environ, **known, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        done = subprocess.run(
            ["git", *arguments], cwd=self.folder, env=environment, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    def commit(
        self, name: str, message: str, files: Mapping[str, str | None], author: str = "A. Person <person@example.com>"
    ) -> str:
        """Commit files with these texts, None for one that goes; the commit's id."""
        for path, text in files.items():
            file = self.folder / path
            if text is None:
                file.unlink()
            else:
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text, encoding="utf-8")
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", f"--author={author}", f"--message={message}")
        self.commits[name] = self.git("rev-parse", "HEAD")
        return self.commits[name]


def function(name: str, constant: int, n_lines: int = 4) -> str:
    steps = "".join(f"    total = total + {constant} * {step}\n" for step in range(n_lines))
    return f'def {name}(total):\n    """Add up for {name}."""\n{steps}    return total\n'


def module(*names: str, constant: int = 1) -> str:
    return "\n\n".join(function(name, constant) for name in names)
