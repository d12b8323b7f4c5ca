"""A Python function as a program that answers JSON lines: `function_program.py module:function`.

The module is imported from the working directory. It runs in a process of its own, of which it may take what it likes.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import traceback
from pathlib import Path


def main(what: str) -> None:
    """Answer every line of standard input; what the function prints goes to standard error."""
    # Its own folder, which Python puts first, holds modules of this package under short names.
    sys.path[0] = str(Path.cwd())
    module, _, name = what.partition(":")
    function = getattr(importlib.import_module(module), name)
    with os.fdopen(os.dup(1), "w") as answers:
        os.dup2(2, 1)
        for line in sys.stdin:
            item = json.loads(line)
            try:
                answer = json.dumps({"id": item["id"], "results": list(function(item))})
            except Exception as error:
                traceback.print_exc()
                answer = json.dumps({"id": item["id"], "error": f"{type(error).__name__}: {error}"})
            print(answer, file=answers, flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
