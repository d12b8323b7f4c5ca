"""`python -m tests.parity FOLDER`: hold what is computed here against what others computed of the benchmarks' data.

FOLDER has the data and what was published of it. The rows go into `lake/catalog/parity.py`, which Methods shows.
"""

from __future__ import annotations

import sys
from pathlib import Path

from lake.catalog import parity
from tests.parity.references.reference import compare_all


def main() -> None:
    """Compare, and write the rows."""
    rows = compare_all(Path(sys.argv[1]), print)
    file = Path(parity.__file__)
    before = file.read_text(encoding="utf-8").split("ROWS: ")[0]
    lines = "".join(f"    Parity({', '.join(map(_written, row))}),\n" for row in rows)
    file.write_text(f"{before}ROWS: tuple[Parity, ...] = (\n{lines})  # fmt: skip\n", encoding="utf-8")


def _written(value: object) -> str:
    if isinstance(value, str):
        return f'"{value}"'
    return f"{value:.2g}" if isinstance(value, float) else repr(value)


if __name__ == "__main__":
    main()
