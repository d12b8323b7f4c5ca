"""What is sealed, as JSON: `python -m tests.evaluate.sealing` prints what `sealed.json` is to hold.

Every protocol's hash, or those of the protocols that are named, and the sample that `--limit` draws of a fixture of
unequal repositories.
"""

import json
import sys
from collections.abc import Sequence

import polars as pl

from evaluate.score.conformance import seal_of
from lake.benchmarks import protocols
from lake.pools import stratified

SIZES = (1, 1, 2, 3, 5, 8, 13)
"""Items of each repository: their shares of a sample of 11 leave remainders alike and remainders that differ."""


def sealed(names: Sequence[str] = ()) -> dict[str, object]:
    """Protocol → hash, and the sample."""
    rows = [(f"item {repo}.{n}", f"repo {repo}") for repo, size in enumerate(SIZES) for n in range(size)]
    items = pl.DataFrame(rows, schema=["item_id", "repo"], orient="row")
    hashes = {name: seal_of(protocols()[name]) for name in names or protocols()}
    return {"protocols": hashes, "sample": stratified(items, 11)["item_id"].to_list()}


if __name__ == "__main__":
    print(json.dumps(sealed(sys.argv[1:]), indent=2))
