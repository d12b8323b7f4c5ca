"""Search as many coding agents do, without an index: ripgrep for the query's identifiers, hits merged into windows.

The patterns are the query's identifiers that occur in the fewest files of the pool, as fixed strings at word
boundaries. The lines around a hit form a window, and windows that touch are merged. A window's score is the sum of the
idf of the distinct identifiers in it.
"""

import json
import math
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

_AROUND = 10
"""The number of lines before and after a hit that belong to its window."""
_IDENTIFIER = re.compile(rb"[A-Za-z_][A-Za-z0-9_]{2,}")
# All files of the pool, regardless of `.gitignore` and of the user's configuration, as bytes.
_RG = ("rg", "--no-config", "--json", "--no-ignore", "--hidden", "--text", "--encoding=none", "--fixed-strings",
       "--word-regexp")  # fmt: skip


class _Pool:
    """A folder to search; `n_files` is the number of files that contain each identifier."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.n_lines: dict[str, int] = {}
        self.n_files: Counter[bytes] = Counter()
        for file in sorted(Path(folder).rglob("*")):
            if file.is_file():
                data = file.read_bytes()
                self.n_lines[file.relative_to(folder).as_posix()] = data.count(b"\n") + (data[-1:] not in (b"", b"\n"))
                self.n_files.update(set(_IDENTIFIER.findall(data)))

    def search(self, query: str, k: int) -> list[tuple[str, int, int, float]]:
        """The best windows, best first: path, first and last line (from 1, inclusive), score."""
        known = {name for name in _IDENTIFIER.findall(query.encode()) if name in self.n_files}
        rarest = sorted(known, key=lambda name: (self.n_files[name], name))[:16]
        if not rarest:
            return []
        idf = {name: math.log(1 + len(self.n_lines) / self.n_files[name]) for name in rarest}
        patterns = [f"--regexp={name.decode()}" for name in rarest]
        done = subprocess.run([*_RG, *patterns, "./"], cwd=self.folder, capture_output=True, check=False)
        if done.returncode > 1:
            raise RuntimeError(done.stderr.decode(errors="replace"))
        windows: list[tuple[str, int, int, set[bytes]]] = []
        for path, line, names in sorted(_hits(done.stdout)):
            start, end = max(1, line - _AROUND), min(self.n_lines.get(path, 0), line + _AROUND)
            before: set[bytes] = set()
            if windows and windows[-1][0] == path and start <= windows[-1][2] + 1:
                _, start, _, before = windows.pop()
            windows.append((path, start, end, before.union(names)))
        scored = [
            (path, start, end, math.fsum(idf.get(name, 0) for name in names)) for path, start, end, names in windows
        ]
        return sorted(scored, key=lambda window: (-window[3], window[:3]))[:k]


def _hits(output: bytes) -> list[tuple[str, int, list[bytes]]]:
    hits = []
    for event in map(json.loads, output.splitlines()):
        if event["type"] == "match":
            data = event["data"]
            names = [match["match"]["text"].encode() for match in data["submatches"]]
            hits.append((data["path"]["text"].removeprefix("./"), data["line_number"], names))
    return hits


def _main() -> None:
    pool = None
    for line in sys.stdin:
        item = json.loads(line)
        if pool is None or pool.folder != item["files"]:
            pool = _Pool(item["files"])
        hits = pool.search(item["query"], item["k"])
        results = [{"path": path, "start": start, "end": end, "score": score} for path, start, end, score in hits]
        print(json.dumps({"id": item["id"], "results": results}), flush=True)


if __name__ == "__main__":
    _main()
