"""Search as many coding agents do, without an index: ripgrep for the query's rarest identifiers, at word boundaries.

The lines around a hit form a window, scored by the idf of the identifiers in it; windows that touch are merged.
"""

import json
import math
import re
import subprocess
import sys
from collections import Counter
from functools import lru_cache
from pathlib import Path

_AROUND = 10  # lines before and after a hit that belong to its window
_IDENTIFIER = re.compile(rb"[A-Za-z_][A-Za-z0-9_]{2,}")
# All files of the pool, regardless of `.gitignore` and of the user's configuration, as bytes.
_RG = ("rg", "--no-config", "--json", "--no-ignore", "--hidden", "--text", "--encoding=none", "--fixed-strings",
       "--word-regexp")  # fmt: skip


@lru_cache(maxsize=1)
def _counts(folder: str) -> tuple[dict[str, int], Counter[bytes]]:
    """The number of lines of each file in a folder, and the number of files that contain each identifier."""
    n_lines, n_files = dict[str, int](), Counter[bytes]()
    for file in sorted(Path(folder).rglob("*")):
        if file.is_file():
            data = file.read_bytes()
            n_lines[file.relative_to(folder).as_posix()] = data.count(b"\n") + (data[-1:] not in (b"", b"\n"))
            n_files.update(set(_IDENTIFIER.findall(data)))
    return n_lines, n_files


def _search(folder: str, query: str, k: int) -> list[dict[str, object]]:
    """The best windows, best first."""
    n_lines, n_files = _counts(folder)
    known = {name for name in _IDENTIFIER.findall(query.encode()) if name in n_files}
    rarest = sorted(known, key=lambda name: (n_files[name], name))[:16]
    if not rarest:
        return []
    idf = {name: math.log(1 + len(n_lines) / n_files[name]) for name in rarest}
    patterns = [f"--regexp={name.decode()}" for name in rarest]
    done = subprocess.run([*_RG, *patterns, "./"], cwd=folder, capture_output=True, check=False)
    if done.returncode > 1:
        raise RuntimeError(done.stderr.decode(errors="replace"))
    hits = []
    for event in map(json.loads, done.stdout.splitlines()):
        if event["type"] == "match":
            data = event["data"]
            names = [match["match"]["text"].encode() for match in data["submatches"]]
            hits.append((data["path"]["text"].removeprefix("./"), data["line_number"], names))
    windows: list[tuple[str, int, int, set[bytes]]] = []
    for path, line, names in sorted(hits):
        start, end = max(1, line - _AROUND), min(n_lines.get(path, 0), line + _AROUND)
        before: set[bytes] = set()
        if windows and windows[-1][0] == path and start <= windows[-1][2] + 1:
            _, start, _, before = windows.pop()
        windows.append((path, start, end, before.union(names)))
    scored = [(path, start, end, math.fsum(idf.get(name, 0) for name in names)) for path, start, end, names in windows]
    best = sorted(scored, key=lambda window: (-window[3], window[:3]))[:k]
    return [{"path": path, "start": start, "end": end, "score": score} for path, start, end, score in best]


def _main() -> None:
    for line in sys.stdin:
        item = json.loads(line)
        results = _search(item["files"], item["query"], item["k"])
        print(json.dumps({"id": item["id"], "results": results}), flush=True)


if __name__ == "__main__":
    _main()
