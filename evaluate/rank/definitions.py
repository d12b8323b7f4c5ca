"""The definitions in chunks, as the lake holds them: for retrievers that go by more than words."""

from bisect import bisect_left
from collections.abc import Sequence

import polars as pl

from evaluate.texts.tokens import Counted, by_spelling
from lake.errors import Exit, GoldspanError
from lake.pools import parts_holding
from lake.store import Lake
from lake.text import counted, language_of

DEFINITION_RULES = "docs"
"""The rules by which the definitions were found."""


def definitions_in(lake: Lake, spans: pl.DataFrame) -> Counted:
    """How often each chunk (sha256, line_start, line_end) holds the first line of a definition of each name.

    Raises:
        GoldspanError: A chunk is of a file of a known language that was not read for definitions.
    """
    contents = spans.lazy().select("sha256").unique()
    # A file without a line is ranked where blank text is, and is never read for definitions.
    with_lines = spans.lazy().filter(pl.col("line_start") < pl.col("line_end")).select("sha256")
    unread = with_lines.unique().join(lake.scan("symbol_status"), on="sha256", how="anti")
    paths = lake.scan("files").join(unread, on="sha256", how="semi").select("path").unique().sort("path").collect()
    # A snippet that is a candidate has no ending, and is never read for definitions.
    if files := [path for path in paths["path"] if language_of(path)]:
        message = f"the lake has no definitions of {counted(len(files), 'file')}"
        raise GoldspanError(message, examples=files[:3], hint="First: make ingest", code=Exit.MISSING)
    parts = parts_holding(lake, "symbols", "sha256", spans["sha256"], rules=DEFINITION_RULES)
    symbols = lake.scan_parts(parts, "symbols").select("sha256", "line_start", "name").drop_nulls("name")
    of_contents = symbols.join(contents, on="sha256", how="semi").sort("sha256", "line_start", "name")
    rows = of_contents.group_by("sha256", maintain_order=True).agg("line_start", "name").collect().iter_rows()
    defined = {sha256: (lines, names) for sha256, lines, names in rows}
    of_chunks = list[Sequence[str]]()
    for sha256, start, end in spans.select("sha256", "line_start", "line_end").iter_rows():
        lines, names = defined.get(sha256, ((), ()))
        of_chunks.append(names[bisect_left(lines, start) : bisect_left(lines, end)])
    return by_spelling(of_chunks)
