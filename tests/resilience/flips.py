"""One bit of one part flipped, and what the commands make of it: `python -m tests.resilience.flips 300` flips many."""

import random
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from lake.errors import Exit
from lake.store import Lake
from tests.resilience.stages import finish
from tests.tiny import build, command, stored


def flip(path: Path, bit: int = 800) -> None:
    data = bytearray(path.read_bytes())
    data[bit // 8] ^= 1 << bit % 8
    path.write_bytes(data)


def outcome(source: Path, whole: Path, lake: Path, damage: Sequence[tuple[str, int]]) -> str:
    """The outcome of flipped bits in parts of a copy of a whole lake: `mended`, or the fault.

    `verify` names each part; the stages name it again, set it aside and make it again, to the same bytes.
    """
    shutil.rmtree(lake, ignore_errors=True)
    shutil.copytree(whole, lake)
    for part, bit in damage:
        flip(lake / part, bit)
    verified = command("ingest", "verify", "--lake", lake)
    if verified.code != Exit.INVALID or not all(part in verified.out for part, _ in damage):
        return "verify says nothing"
    runs = finish(source, lake)
    if [run.code for run in runs] != [0, 0]:
        return "the stages end badly"
    if not all(any(part in run.err for run in runs) for part, _ in damage):
        return "the stages say nothing"
    if stored(lake) != stored(whole) or command("ingest", "verify", "--lake", lake).code != Exit.DONE:
        return "other bytes"
    return "mended"


def drawn(lake: Path, n: int, seed: int) -> list[tuple[str, int]]:
    """Some bits of some parts of a lake, each table alike often: path in the lake, and the bit."""
    source = random.Random(seed)
    paths = sorted(path.relative_to(lake).as_posix() for path in lake.rglob("part-*.parquet"))
    tables = sorted({path.partition("/")[0] for path in paths})
    chosen = [
        source.choice([path for path in paths if path.startswith(f"{tables[k % len(tables)]}/")]) for k in range(n)
    ]
    return [(path, source.randrange((lake / path).stat().st_size * 8)) for path in chosen]


def main(n: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        build(home / "source")
        finish(home / "source", home / "whole")
        assert Lake(home / "whole").parts("scores")
        outcomes = Counter(
            outcome(home / "source", home / "whole", home / "lake", [flip]) for flip in drawn(home / "whole", n, 1)
        )
        print(dict(outcomes))


if __name__ == "__main__":
    main(int(sys.argv[1]))
