"""The stages of the main job as measured commands over a lake and a site in a temporary folder."""

from dataclasses import dataclass
from pathlib import Path

from lake.errors import Exit
from tests.bench import Settings
from tests.bench._measure import Measured, command

STAGES = ("ingest", "evaluate", "report")
# Data whose items cannot all be scored is measured all the same.
DONE = (Exit.DONE, Exit.INCOMPLETE)


Parts = dict[str, tuple[int, int]]
"""Every part of a lake by its path, with what tells whether it was written anew."""


@dataclass(frozen=True)
class Job:
    """A lake and a site in a folder, which need not exist, and where the raw data is."""

    settings: Settings
    folder: Path

    @property
    def lake(self) -> Path:
        """The lake."""
        return self.folder / "lake"

    def stage(self, name: str, *arguments: str) -> Measured:
        """Run one stage."""
        given = {
            "ingest": ["--source", self.settings.source],
            "evaluate": [],
            "report": ["--site", str(self.folder / "site")],
        }
        options = [*given[name], "--lake", str(self.lake), "--json", "--quiet", *arguments]
        return command(["-m", name, *options], allowed=DONE)

    def stages(self, *ingest: str) -> dict[str, Measured]:
        """Run all of them; ingest is given these arguments."""
        return {name: self.stage(name, *(ingest if name == "ingest" else ())) for name in STAGES}

    def parts(self) -> Parts:
        """The state of the lake."""
        found = {path: path.stat() for path in sorted(self.lake.rglob("*.parquet"))}
        return {path.relative_to(self.lake).as_posix(): (stat.st_ino, stat.st_mtime_ns) for path, stat in found.items()}
