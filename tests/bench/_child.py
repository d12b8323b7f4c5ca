"""The child's side: `python -m tests.bench._child module:function arguments…` calls it and says what it cost."""

import importlib
import json
import os
import sys

from tests.bench import MEGABYTE
from tests.bench._measure import Stopwatch, high_water_mark


def main() -> None:
    """Call the function; one JSON object on stdout."""
    where, *arguments = sys.argv[1:]
    module, _, name = where.partition(":")
    function = getattr(importlib.import_module(module), name)
    watch = Stopwatch()
    answer = function(*arguments) or {}
    cost = watch.read()
    peak = high_water_mark(os.getpid()) / MEGABYTE
    # What the function says wins: one that warms up first times itself.
    print(json.dumps({**cost, "peak_mb": peak, **answer}))


if __name__ == "__main__":
    main()
