"""`python -m tests.parity FOLDER`: hold what is computed here against what others computed of the benchmarks' data.

FOLDER has the data and what was published of it. The rows go into `report/methods/parity.csv`, which Methods shows.
"""

import csv
import sys
from pathlib import Path

from report.methods.parity import PARITY_TABLE, Parity
from tests.parity.references.reference import compare_all


def main() -> None:
    rows = compare_all(Path(sys.argv[1]), print)
    with PARITY_TABLE.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(Parity._fields)
        writer.writerows([f"{value:.2g}" if isinstance(value, float) else value for value in row] for row in rows)


if __name__ == "__main__":
    main()
