"""Run a Python function as a program that answers JSON lines: `function_program.py module:function`.

The module is imported from the working directory, in a process of its own, which the function may use as it likes.
"""

import importlib
import json
import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path


def _main(what: str, located: Callable[[BaseException, Path | None], str]) -> None:
    """Answer every line of standard input; what the function prints goes to standard error."""
    module, _, name = what.partition(":")
    try:
        function = getattr(importlib.import_module(module), name)
    except Exception as error:
        sys.exit(located(error, None))
    with os.fdopen(os.dup(1), "w") as answers:
        os.dup2(2, 1)
        for line in sys.stdin:
            item = json.loads(line)
            try:
                answer = json.dumps({"id": item["id"], "results": list(function(item))})
            except Exception as error:
                traceback.print_exc()
                answer = json.dumps({"id": item["id"], "error": located(error, None)})
            print(answer, file=answers, flush=True)


if __name__ == "__main__":
    # Python puts this file's folder first in the path; its modules would be found under short names.
    sys.path[0] = str(Path(__file__).parents[2])
    located = importlib.import_module("lake.errors").located
    # From here on, modules come from the working directory, whatever their names.
    sys.path[0] = str(Path.cwd())
    for name in ("lake", "lake.errors", "lake.text"):
        del sys.modules[name]
    _main(sys.argv[1], located)
