"""Chunkers of other libraries: their texts are located in the file; if that fails, the file's lines are packed."""

from collections.abc import Callable, Iterable
from functools import cache, partial

from ingest.contents.chunkers import Chunker, Cut, Document, LineRange
from ingest.contents.chunkers.lines import fixed_nws
from ingest.contents.syntax_trees import GRAMMARS

Split = Callable[[str], Iterable[str]]
"""A text → the texts of its chunks."""
NOT_KNOWN = "language not known"


def astchunk(document: Document, n: int) -> Cut:
    """Chunks by astchunk, each from its first node to the end of its last; other languages as by `fixed-nws-<n>`."""
    language = "typescript" if document.language == "tsx" else document.language
    if language not in ("csharp", "java", "python", "typescript"):
        return fixed_nws(document, n, f"does not support {language!r}" if language else NOT_KNOWN)
    return Cut([span for span in _ast_ranges(language, n)(document.text) if span[0] < span[1]], unit="bytes")


def by_splitter(document: Document, n: int, splitter: Callable[[str, int], Split], name: str = "") -> Cut:
    """The pieces of a library's splitter called `name` (default: the language); if it fails, those of `fixed-nws`."""
    if not (name := name or document.language):
        return fixed_nws(document, n, NOT_KNOWN)
    ranges = list[LineRange]()
    try:
        for text in filter(None, splitter(name, n)(document.text)):
            # Each is searched after the one before.
            start = document.text.find(text, ranges[-1][1] if ranges else 0)
            if start < 0:
                raise ValueError(f"chunk {len(ranges)} is not a part of the file")
            ranges.append((start, start + len(text)))
        return Cut(ranges, unit="characters")
    except ImportError:  # a missing package, not a fault of the file
        raise
    except Exception as error:
        # A library may raise any exception for an unusual file.
        return fixed_nws(document, n, f"{type(error).__name__}: {error}"[:100])


@cache
def _ast_ranges(language: str, n: int) -> Callable[[str], list[LineRange]]:
    from astchunk import ASTChunkBuilder

    builder = ASTChunkBuilder(max_chunk_size=n, language=language, metadata_template="none")

    def ranges(text: str) -> list[LineRange]:
        windows = builder.assign_tree_to_windows(text, builder.parser.parse(text.encode()).root_node)
        return [(window[0].node.start_byte, window[-1].node.end_byte) for window in windows]

    return ranges


@cache
def _chonkie_code(language: str, n: int) -> Split:
    from chonkie.chunker import code
    from tree_sitter_language_pack import get_parser

    # It would import its dependencies when created, including a model that guesses languages, which is not needed here.
    code.get_parser = get_parser
    without_guessing = type("CodeChunker", (code.CodeChunker,), {"_import_dependencies": lambda self: None})
    chunker = without_guessing(chunk_size=n, language=language)
    return lambda text: [chunk.text for chunk in chunker.chunk(text)]


@cache
def _chonkie(name: str, n: int) -> Split:
    import chonkie

    chunker = getattr(chonkie, name)(chunk_size=n)
    return lambda text: [chunk.text for chunk in chunker.chunk(text)]


@cache
def _langchain_code(language: str, n: int) -> Split:
    from langchain_text_splitters import Language, RecursiveCharacterTextSplitter

    known = Language({"javascript": "js", "typescript": "ts", "tsx": "ts"}.get(language, language))
    split: Split = RecursiveCharacterTextSplitter.from_language(known, chunk_size=n, chunk_overlap=0).split_text
    return split


@cache
def _llamaindex_code(language: str, n: int) -> Split:
    from llama_index.core.node_parser import CodeSplitter

    # Sizes are in characters; without a tokenizer given here it would load one.
    split: Split = CodeSplitter(language=language, max_chars=n, tokenizer=str.split).split_text
    return split


# With the packages that chonkie imports but does not require.
_of_chonkie = partial(Chunker, libraries=("chonkie", "requests", "tokenizers", "tqdm", "typing-extensions"))

ASTCHUNK = Chunker(
    name="astchunk-<n>",
    title="astchunk, n characters",
    meaning="Splits syntax tree nodes of over n non-whitespace characters and merges small neighbours.",
    chunk=astchunk,
    grammars=tuple(f"tree-sitter-{name}" for name in ("c-sharp", "java", "python", "typescript")),
    libraries=("astchunk",),
    source="cAST (Zhang et al., 2025), arXiv:2506.15655, by its authors' program; there n is 1,800.",
)
CHONKIE_CODE = _of_chonkie(
    name="chonkie-code-<n>",
    title="Chonkie, code, n characters",
    meaning="Groups syntax tree nodes up to n characters and splits larger ones into their children.",
    chunk=partial(by_splitter, splitter=_chonkie_code),
    grammars=GRAMMARS,
    source="chonkie's CodeChunker, given the language; its default n is 2,048.",
)
CHONKIE_RECURSIVE = _of_chonkie(
    name="chonkie-recursive-<n>",
    title="Chonkie, recursive, n characters",
    meaning="Splits texts of over n characters at blank lines, then at line ends, punctuation and spaces.",
    chunk=partial(by_splitter, splitter=_chonkie, name="RecursiveChunker"),
    source="chonkie's RecursiveChunker with its default rules; its default n is 2,048.",
)
CHONKIE_TOKEN = _of_chonkie(
    name="chonkie-token-<n>",
    title="Chonkie, tokens, n characters",
    meaning="Cuts after every n characters, even inside a line or a word.",
    chunk=partial(by_splitter, splitter=_chonkie, name="TokenChunker"),
    source="chonkie's TokenChunker with its default tokenizer (characters); its default n is 2,048.",
)
LANGCHAIN_CODE = Chunker(
    name="langchain-code-<n>",
    title="LangChain, code, n characters",
    meaning="Splits texts of over n characters before classes and functions, then at blank lines, line ends and "
    "spaces.",
    chunk=partial(by_splitter, splitter=_langchain_code),
    libraries=("langchain-text-splitters",),
    source="LangChain's RecursiveCharacterTextSplitter for the file's language, without overlap; its default n is "
    "4,000.",
)
LLAMAINDEX_CODE = Chunker(
    name="llamaindex-code-<n>",
    title="LlamaIndex, code, n characters",
    meaning="Joins syntax tree nodes up to n characters and splits larger ones into their children.",
    chunk=partial(by_splitter, splitter=_llamaindex_code),
    grammars=GRAMMARS,
    libraries=("llama-index-core",),
    source="LlamaIndex's CodeSplitter; its default n is 1,500.",
)
