"""Modules as if their code were another, without writing to the checkout: what their closures made is made again."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

from lake import code
from tests.tiny import ROOT


@contextmanager
def changed(*modules: str) -> Iterator[None]:
    """As if some modules had other code; they are named by their place in the checkout, and are there."""
    files = {(ROOT / module).resolve(strict=True) for module in modules}
    source = code._source

    def other(file: Path) -> tuple[str, list[str]]:
        digest, imports = source(file)
        return f"{digest}, changed" if file in files else digest, imports

    code.digest_of.cache_clear()
    with patch.object(code, "_source", other):
        yield
    code.digest_of.cache_clear()
