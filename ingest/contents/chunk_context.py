"""What a chunk does not say itself: its file's path, imports, and the definitions around it, put before it to rank it.

`<chunker>~context` cuts as the chunker does; what is ranked is a chunk's own text below these lines, what is scored are
its own lines alone. code-chunk puts the same before its chunks (github.com/supermemoryai/code-chunk, "contextualized
text").
"""

from __future__ import annotations

from ingest.contents.chunkers import CHUNK, PATH, Cut, Document, LineRange
from ingest.contents.definitions import Definition, definitions_of
from lake.import_statements import import_lines
from lake.text import LANGUAGES

CONTEXT = "~context"
"""The end of the name of a chunker whose chunks are ranked with their context."""

MAX_IMPORTS = 20
_MAX_LINE = 200
_ENDINGS = {language: ending for ending, language in reversed(LANGUAGES.items())}


def with_context(document: Document, cut: Cut) -> Cut:
    """The cut with a text for each chunk: the path, the file's first imports and the heads of definitions around it.

    What the chunk itself begins with or holds is not said twice. Chunks that are not ranges of lines keep their own
    text, and so do those of a file that is one chunk, but for the path.
    """
    if cut.unit != "lines" or cut.failed:
        return cut
    docs = definitions_of(document.text, _ENDINGS.get(document.language, "")).get("docs")
    around = docs.definitions if docs is not None else []
    imports = import_lines(document.text, document.language)[:MAX_IMPORTS]
    return cut._replace(texts=[_text(document, lines, imports, around) for lines in cut.ranges])


def _text(document: Document, lines: LineRange, imports: list[tuple[int, str]], around: list[Definition]) -> str:
    start, end = lines
    statements = [" ".join(text.split())[:_MAX_LINE] for line, text in imports if not start <= line < end]
    holding = [definition for definition in around if definition.line_start < start < definition.line_end]
    holding.sort(key=lambda definition: (definition.line_start, -definition.line_end))
    heads = [document.lines[definition.line_start].strip()[:_MAX_LINE] for definition in holding]
    return "\n".join([PATH, *dict.fromkeys(statements), *dict.fromkeys(heads), CHUNK])
