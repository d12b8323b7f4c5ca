"""Chunkers by name: declared ones, and those given as `NAME=COMMAND` (a command or a Python function)."""

import importlib
import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from importlib.metadata import PackageNotFoundError, version

import ingest.contents.chunkers
from ingest.contents.chunkers import CHUNK, PATH, Chunker, Cut, Document, NamedChunker
from ingest.contents.definitions import definitions_of
from ingest.contents.syntax_trees import GRAMMARS
from ingest.programs.command import ANSWER_SECONDS, FUNCTION, JsonCommand
from lake.code import code_digest
from lake.declarations import CHUNKER_ALIASES, CHUNKER_SETS, discover
from lake.errors import Exit, GoldspanError, located, unknown_name
from lake.import_statements import import_lines
from lake.store import Lake
from lake.text import LANGUAGES

CONTEXT = "~context"
"""The suffix of a chunker's name if its chunks are ranked with their context."""

_MAX_LINE = 200
_PARAMETER = re.compile(r"<(\w+)>")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")
_ENDINGS = {language: ending for ending, language in reversed(LANGUAGES.items())}


def with_context(document: Document, cut: Cut) -> Cut:
    """The cut with a text per chunk: its path, the file's first imports, and the first lines of definitions around it.

    Chunks that are not ranges of lines keep their own text. As in code-chunk (github.com/supermemoryai/code-chunk).
    """
    if cut.unit != "lines" or cut.failed:
        return cut
    definitions, _ = definitions_of(document.text, _ENDINGS.get(document.language, ""))
    around = sorted(definitions.get("docs", []), key=lambda each: (each.line_start, -each.line_end))
    imports = import_lines(document.text, document.language)[:20]
    texts = []
    for start, end in cut.ranges:
        statements = [" ".join(text.split())[:_MAX_LINE] for line, text in imports if not start <= line < end]
        holding = [each.line_start for each in around if each.line_start < start < each.line_end]
        heads = [document.lines[line].strip()[:_MAX_LINE] for line in holding]
        texts.append("\n".join([PATH, *dict.fromkeys(statements), *dict.fromkeys(heads), CHUNK]))
    return cut._replace(texts=texts)


@cache
def chunkers() -> dict[str, Chunker]:
    """All declared chunkers by name, sorted."""
    return discover(ingest.contents.chunkers, Chunker, in_every=True)


def default_chunkers() -> list[str]:
    """The concrete names of the chunkers that run if none is named."""
    return [name for chunker in chunkers().values() for name in chunker.defaults]


def resolve_chunkers(names: Sequence[str]) -> list[NamedChunker]:
    """The chunkers for concrete names, aliases or names of sets, each once, in the order first named."""
    each = [member for name in names for member in CHUNKER_SETS.get(name, (name,))]
    wanted = dict.fromkeys(CHUNKER_ALIASES.get(name, name) for name in each)
    return [_resolve(name) for name in wanted]


@cache
def _resolve(name: str) -> NamedChunker:
    resolved = declared(name)
    if resolved is None:
        raise unknown_name(name, "chunker", [*chunkers(), *default_chunkers(), *CHUNKER_ALIASES, *CHUNKER_SETS])
    if why := absence(resolved.declaration):
        hint = "First: make chunkers (or: pip install -c constraints.txt -r requirements-chunkers.txt)"
        raise GoldspanError(f"chunker {name!r} cannot run here: {why}", hint=hint, code=Exit.MISSING)
    if not name.endswith(CONTEXT):
        return resolved
    plain = resolved.declaration
    meaning = f"{plain.meaning} A chunk is ranked with its path, its file's imports and the definitions around it."
    in_context = replace(
        plain, name=f"{plain.name}{CONTEXT}", title=f"{plain.title}, in context", meaning=meaning,
        grammars=plain.grammars or GRAMMARS, text=with_context,
    )  # fmt: skip
    return replace(resolved, name=f"{resolved.name}{CONTEXT}", declaration=in_context)


def declared(name: str) -> NamedChunker | None:
    """The declared chunker of a concrete name, whether or not its packages are installed; None if there is none."""
    plain = name.removesuffix(CONTEXT)
    for pattern, chunker in chunkers().items():
        literals = map(re.escape, _PARAMETER.split(pattern)[::2])
        if match := re.fullmatch(r"([1-9]\d{0,8})".join(literals), plain):
            numbers = map(int, match.groups())
            return NamedChunker(plain, chunker, dict(zip(_PARAMETER.findall(pattern), numbers, strict=True)))
    return None


@cache
def absence(chunker: Chunker) -> str:
    """A message naming the package that a chunker lacks; empty if none is missing."""
    for package in chunker.libraries:
        try:
            version(package)
        except PackageNotFoundError:
            return f"{package} is not installed"
    return ""


def wanted_chunkers(
    names: Sequence[str], given: Sequence[str], lake: Lake, *, trusted: bool = False, seconds: float = ANSWER_SECONDS
) -> list[NamedChunker]:
    """The chunkers named in `names` or given in `given` (`NAME=COMMAND`); if both are empty, the default ones."""
    own = [_given_now(text, seconds) for text in given]
    now, before = {resolved.name for resolved in own}, given_before(lake)
    if len(now) < len(own):
        message = "two --chunker options use one name"
        raise GoldspanError(message, hint="Give every chunker a different name.", code=Exit.USAGE)
    kept = [f"{name}={before[name]}" for name in dict.fromkeys(names) if name in before and name not in now]
    if kept and not trusted:
        message = "commands stored in a lake are not run unless you allow it"
        hint = f"Give the command again, --chunker {shlex.quote(kept[0])}, or add --trust-lake."
        raise GoldspanError(message, where=str(lake.root), examples=kept, hint=hint, code=Exit.USAGE)
    own += [_given_now(text, seconds) for text in kept]
    others = [name for name in names if name not in now and name not in before]
    return [*resolve_chunkers(others if names or own else default_chunkers()), *own]


def given_before(lake: Lake) -> dict[str, str]:
    """Name → command or function of the chunkers in a lake that were given as `NAME=COMMAND`."""
    return dict(lake.scan("chunkers").select("name", "command").drop_nulls().sort("name").collect().iter_rows())


def _given_now(given: str, seconds: float) -> NamedChunker:
    """The chunker for `NAME=COMMAND` or `NAME=module:function`; no command is started."""
    name, _, what = (part.strip() for part in given.partition("="))
    is_built_in = name in CHUNKER_SETS or declared(CHUNKER_ALIASES.get(name, name)) is not None
    if is_built_in or not what or not _NAME.fullmatch(name):
        fault = "is the name of a built-in chunker" if is_built_in else "is no name (letters, digits, ._-) and command"
        message = f"--chunker {name[:80]!a} {fault}"
        raise GoldspanError(message, hint="Such as: --chunker 'mine=node chunk.js'", code=Exit.USAGE)
    if FUNCTION.fullmatch(what):
        meaning, cut, command = "Chunks with your Python function", _function(what), None
    else:
        meaning, cut, command = "Chunks with your command", lambda _: Cut([]), JsonCommand.of(what, seconds=seconds)
    return NamedChunker(name, Chunker(name, name, f"{meaning}: {what}", cut, given=what, command=command), {})


def _function(what: str) -> Callable[..., Cut]:
    module, _, name = what.partition(":")
    try:
        function: Callable[..., Cut] = getattr(importlib.import_module(module), name)
        # Changes to a function can only be noticed in its source.
        code_digest(function)
    except Exception as error:
        message = f"--chunker: {what} cannot be imported as a Python function: {located(error, None)}"
        hint = "The function takes a Document and returns a Cut, like those in ingest/contents/chunkers."
        raise GoldspanError(message, hint=hint, code=Exit.USAGE) from error
    return function
