"""Rows of RepoBench-R's shape, made up: four gzipped pickles in the hub's layout, as many rows as are asked for.

What the real rows cost is what matters here, not what they say: 5 to 20 candidates of about 1 KB, code of about 4 KB,
and a snippet standing about twice among the candidates of a level and four times among those of its repository, as in
rows mined from real packages.
"""

import gzip
import io
import pickle
import random
import struct
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

from lake.fingerprint import fingerprint, sha256_of_file

SEED = "goldspan-bench-1"
NAMES = ("python_cff", "python_cfr", "java_cff", "java_cfr")
SPLITS = {"train": 3, "test": 1}
"""The published splits, and how many of four rows each has."""
LEVELS = {"easy": (5, 9), "hard": (10, 20)}
"""Fewest and most candidates."""

ROWS_OF_A_REPO = 24
"""Rows that a repository has in one level of one file."""
SNIPPETS_OF_A_REPO = 300
SNIPPET_LINES = (6, 46)
CODE_LINES = (60, 160)

Row = dict[str, object]


def rows_folder(n_rows: int) -> Path:
    """A source folder of so many rows in all, labelled `made`; made once per machine, number and maker."""
    made_by = fingerprint(n_rows, SEED, sha256_of_file(Path(__file__)))[:12]

    def make(folder: Path) -> None:
        for name in NAMES:
            write(folder / "repobench-r-made/data" / f"{name}.gz", name, n_rows // len(NAMES))

    return kept(f"{n_rows}-{made_by}", make)


def kept(name: str, make: Callable[[Path], None]) -> Path:
    """A folder that is made once on this machine, whole or not at all."""
    folder = Path(tempfile.gettempdir()) / "goldspan-bench" / name
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as beside:
            make(Path(beside) / "made")
            # Somebody else may have made it meanwhile, to the same bytes.
            with suppress(OSError):
                (Path(beside) / "made").rename(folder)
    return folder


def write(file: Path, name: str, n_rows: int) -> None:
    """One file of the hub's layout, `{split: {level: [row, …]}}`, a row at a time."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("wb") as raw, gzip.GzipFile("", "wb", compresslevel=1, fileobj=raw, mtime=0) as packed:
        out = io.BufferedWriter(packed, 1 << 20)
        out.write(pickle.PROTO + b"\x03" + _EMPTY)
        for split, share in SPLITS.items():
            out.write(_text(split) + _EMPTY)
            for level in LEVELS:
                out.write(_text(level) + pickle.EMPTY_LIST)
                for row in rows(name, split, level, n_rows * share // (sum(SPLITS.values()) * len(LEVELS))):
                    out.write(pickle.MARK + _plain(row) + pickle.APPENDS)
                out.write(pickle.SETITEM)
            out.write(pickle.SETITEM)
        out.write(pickle.STOP)
        out.flush()


def rows(name: str, split: str, level: str, n_rows: int) -> Iterator[Row]:
    """The rows of one level, repository after repository."""
    language, _, pick = name.partition("_")
    for first in range(0, n_rows, ROWS_OF_A_REPO):
        repo = f"owner{first // ROWS_OF_A_REPO}/{split}_{language}"
        # The same repository has the same snippets in both files of its language and at both levels.
        snippets = _snippets(repo)
        drawn = random.Random(f"{SEED}/{repo}/{pick}/{level}")
        for n in range(min(ROWS_OF_A_REPO, n_rows - first)):
            yield _row(drawn, repo, snippets, LEVELS[level], f"src/module_{n * 3 // 4}.py")


def _row(drawn: random.Random, repo: str, snippets: Sequence[tuple[str, str]], n: tuple[int, int], path: str) -> Row:
    wanted = drawn.randint(*n)
    chosen: dict[int, None] = {}
    while len(chosen) < wanted:
        # Some definitions are used everywhere and most hardly ever.
        chosen[int(len(snippets) * drawn.random() ** 3)] = None
    places = list(chosen)
    drawn.shuffle(places)
    gold = drawn.randrange(wanted)
    name, text = snippets[places[gold]]
    lines = drawn.choices(_bank()[1], k=drawn.randint(*CODE_LINES))
    if drawn.random() < 0.5:
        # Half of the time the lines before the next one speak of what it uses.
        lines[-2] = f"    {name}_value = prepare({text.partition('(')[2].partition(')')[0]})\n"
    return {
        "repo_name": repo,
        "file_path": path,
        "context": [snippets[number][1] for number in places],
        "import_statement": "\n".join(f"from package import {snippets[number][0]}" for number in places),
        "code": "".join(lines),
        "next_line": f"    result = {name}(value)",
        "gold_snippet_index": gold,
    }


def _snippets(repo: str) -> list[tuple[str, str]]:
    """A repository's definitions: name and text."""
    drawn = random.Random(f"{SEED}/{repo}")
    words, lines = _bank()
    made = []
    for n in range(SNIPPETS_OF_A_REPO):
        name = f"{drawn.choice(words)}_{drawn.choice(words)}_{n}"
        head = f"def {name}({', '.join(drawn.choices(words, k=3))}):\n"
        made.append((name, head + "".join(drawn.choices(lines, k=drawn.randint(*SNIPPET_LINES)))))
    return made


@cache
def _bank() -> tuple[list[str], list[str]]:
    """Words, and lines of code made of them: a few words are in most lines, as in code. It takes seconds to make."""
    drawn = random.Random(SEED)
    letters = "etaoinsrhldcumfpgwybvkxjqz"
    words = ["".join(drawn.choices(letters, range(26, 0, -1), k=drawn.randint(3, 10))) for _ in range(4_000)]
    weights = [1 / rank for rank in range(1, len(words) + 1)]
    shapes = (
        "    {} = {}({}, {})\n",
        "    if {} is not None and {}.{}:\n",
        "        return self.{}[{}] + {}\n",
        "    # {} {} {} {} {}\n",
        "    for {} in {}.{}():\n",
        '        raise ValueError("{} {} {}")\n',
        "    self.{}.{}({}={}, {}={})\n",
        "\n",
    )
    lines = []
    for _ in range(20_000):
        shape = drawn.choice(shapes)
        lines.append(shape.format(*drawn.choices(words, weights, k=shape.count("{}"))))
    return words, lines


_EMPTY = pickle.EMPTY_DICT


def _text(value: str) -> bytes:
    data = value.encode()
    return pickle.BINUNICODE + struct.pack("<I", len(data)) + data


def _plain(value: object) -> bytes:
    """A value's pickle without its frame: nothing in it refers to anything before it, so such pickles can be joined."""
    buffer = io.BytesIO()
    pickler = pickle.Pickler(buffer, protocol=3)
    # Every snippet is written out where it stands: the largest form that the publisher's files may have.
    pickler.fast = True
    pickler.dump(value)
    return buffer.getvalue().removeprefix(pickle.PROTO + b"\x03").removesuffix(pickle.STOP)
