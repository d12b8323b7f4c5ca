"""Import statements: where they stand in a text and what they name, read line by line, so that a fragment will do.

A query is rarely a whole file: it may begin in the middle of a string and end in the middle of a call, which no parser
forgives. An import begins a line in every language here, and a pattern of its language finds it wherever it stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple


class Import(NamedTuple):
    """One thing that a statement names.

    Attributes:
        module: As it is written: `a.b`, `..a`, `./a/b.js`, `github.com/o/r/a`, `a::b`, `a/b.h`.
        names: What is taken out of it, where that is written apart from it, as in Python.
    """

    module: str
    names: tuple[str, ...] = ()


_DOTTED = r"\w+(?:\.\w+)*"
_ALIASED = rf"{_DOTTED}(?:[ \t]+as[ \t]+\w+)?"
_QUOTED = r"(?:'[^'\n]+'|\"[^\"\n]+\")"
_END = r"[ \t]*(?:;[ \t]*)?(?:\r?\n|\Z)?"

_PYTHON = (
    rf"(?:>>>[ \t]*)?(?:import[ \t]+(?P<modules>{_ALIASED}(?:[ \t]*,[ \t]*{_ALIASED})*)(?=[ \t]*(?:[;#\r\n]|\Z))"
    rf"|from[ \t]+(?P<module>\.+[ \t]*(?:{_DOTTED})?|{_DOTTED})[ \t]*\bimport\b[ \t]*"
    r"(?P<names>\((?:[^()#]|\#[^\n]*)*\)|(?:\\\r?\n|[^\\\n;#])+))(?:[ \t]*\#[^\n]*)?"
)
_SCRIPT = (
    rf"(?:(?:import\b(?:[^'\"`;()=]*?\bfrom)?|export\b[^'\"`;()=]*?\bfrom)[ \t]*{_QUOTED}"
    rf"|(?:import|const|let|var)\b[^=;'\"`()]*=[ \t]*(?:await[ \t]+)?(?:require|import)\(\s*{_QUOTED}\s*\)[.\w]*"
    rf"|require\({_QUOTED}\))"
)
_INCLUDE = r"\#[ \t]*(?:include|import)[ \t]*(?:<[^>\n]+>|\"[^\"\n]+\")[^\n]*"
_JVM = rf"import[ \t]+(?:static[ \t]+)?(?P<modules>{_DOTTED}(?:\.(?:\*|_|\{{[^}}]*\}}))?)(?:[ \t]+as[ \t]+\w+)?"
_CONDITIONAL_END = r"(?=[ \t]*(?:;|//|/\*|\r?\n|\Z))"

_PATTERNS = {
    "python": _PYTHON,
    "javascript": _SCRIPT,
    "typescript": _SCRIPT,
    "tsx": _SCRIPT,
    "java": _JVM + r"(?=[ \t]*;)",
    "kotlin": _JVM + _CONDITIONAL_END,
    "scala": _JVM + _CONDITIONAL_END,
    "go": r"import[ \t]*(?:\([^)]*\)|(?:[\w.]+[ \t]+)?\"[^\"\n]+\")",
    "c": _INCLUDE,
    "cpp": _INCLUDE,
    "rust": r"(?:pub(?:\([^)\n]*\))?[ \t]+)?(?:use[ \t]+(?P<modules>[\w:{}*,\s]+)(?=;)|mod[ \t]+(?P<module>\w+)(?=;))",
    "csharp": rf"(?:global[ \t]+)?using[ \t]+(?:static[ \t]+)?(?:\w+[ \t]*=[ \t]*)?(?P<modules>{_DOTTED})(?=[ \t]*;)",
    "swift": rf"(?:@\w+[ \t]+)?import[ \t]+(?:\w+[ \t]+)?(?P<modules>{_DOTTED}){_CONDITIONAL_END}",
    "php": rf"(?:use[ \t]+(?:(?:function|const)[ \t]+)?(?P<modules>[\w\\{{}},\s]+)(?=;)"
    rf"|(?:require|include)(?:_once)?\b[^;\n'\"]*{_QUOTED}[^;\n]*)",
    "ruby": rf"(?:require|require_relative|load)\b[ \t(]*{_QUOTED}\)?",
}
_STATEMENT = {language: re.compile(rf"^[ \t]*{one}{_END}", re.MULTILINE) for language, one in _PATTERNS.items()}
_COMMENT = re.compile(r"#[^\n]*")
_PATH = re.compile(r"[\"'<`]([^\"'>`\n]+)[\"'>`]")
_WORD = re.compile(r"\w+")


def without_imports(text: str, language: str) -> str:
    """The text without its import statements; in a language whose imports are not known as it is."""
    pattern = _STATEMENT.get(language)
    return text if pattern is None else pattern.sub("", text)


def imports_of(text: str, language: str) -> Iterator[Import]:
    """What the import statements of a text name, in their order."""
    pattern = _STATEMENT.get(language)
    for found in pattern.finditer(text) if pattern else ():
        named = found.groupdict()
        if module := named.get("module"):
            names = _COMMENT.sub("", named.get("names") or "").replace("\\", " ")
            firsts = (_WORD.search(part) for part in names.split(","))
            yield Import("".join(module.split()), tuple(first[0] for first in firsts if first))
        elif modules := named.get("modules"):
            yield from (Import(one.split()[0]) for one in _written_out(modules) if one.split())
        else:
            yield from (Import(path[1]) for path in _PATH.finditer(found[0]))


def _written_out(modules: str) -> list[str]:
    """`a, b as c` as two modules, `a::{b, c::{d}}` as `a::b` and `a::c::d`."""
    done, open_, prefix, word = list[str](), list[str](), "", ""
    for mark in f"{modules},":
        if mark == "{":
            open_.append(prefix)
            prefix, word = prefix + word.strip(), ""
        elif mark in ",}":
            done += [prefix + word.strip()] if word.strip() else []
            word = ""
            if mark == "}":
                prefix = open_.pop() if open_ else ""
        else:
            word += mark
    return done
