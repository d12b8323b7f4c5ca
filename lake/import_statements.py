"""Import statements in a text, found by regular expressions because queries are fragments that do not parse."""

import re

_DOTTED = r"\w+(?:\.\w+)*"
_ALIASED = rf"{_DOTTED}(?:[ \t]+as[ \t]+\w+)?"
_QUOTED = r"(?:'[^'\n]+'|\"[^\"\n]+\")"
_END = r"[ \t]*(?:;[ \t]*)?(?:\r?\n|\Z)?"

_PYTHON = (
    rf"(?:>>>[ \t]*)?(?:import[ \t]+(?:{_ALIASED}(?:[ \t]*,[ \t]*{_ALIASED})*)(?=[ \t]*(?:[;#\r\n]|\Z))"
    rf"|from[ \t]+(?:\.+[ \t]*(?:{_DOTTED})?|{_DOTTED})[ \t]*\bimport\b[ \t]*"
    r"(?:\((?:[^()#]|\#[^\n]*)*\)|(?:\\\r?\n|[^\\\n;#])+))(?:[ \t]*\#[^\n]*)?"
)
_SCRIPT = (
    rf"(?:(?:import\b(?:[^'\"`;()=]*?\bfrom)?|export\b[^'\"`;()=]*?\bfrom)[ \t]*{_QUOTED}"
    rf"|(?:import|const|let|var)\b[^=;'\"`()]*=[ \t]*(?:await[ \t]+)?(?:require|import)\(\s*{_QUOTED}\s*\)[.\w]*"
    rf"|require\({_QUOTED}\))"
)
_INCLUDE = r"\#[ \t]*(?:include|import)[ \t]*(?:<[^>\n]+>|\"[^\"\n]+\")[^\n]*"
_JVM = rf"import[ \t]+(?:static[ \t]+)?(?:{_DOTTED}(?:\.(?:\*|_|\{{[^}}]*\}}))?)(?:[ \t]+as[ \t]+\w+)?"
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
    "rust": r"(?:pub(?:\([^)\n]*\))?[ \t]+)?(?:use[ \t]+(?:[\w:{}*,\s]+)(?=;)|mod[ \t]+(?:\w+)(?=;))",
    "csharp": rf"(?:global[ \t]+)?using[ \t]+(?:static[ \t]+)?(?:\w+[ \t]*=[ \t]*)?(?:{_DOTTED})(?=[ \t]*;)",
    "swift": rf"(?:@\w+[ \t]+)?import[ \t]+(?:\w+[ \t]+)?(?:{_DOTTED}){_CONDITIONAL_END}",
    "php": rf"(?:use[ \t]+(?:(?:function|const)[ \t]+)?(?:[\w\\{{}},\s]+)(?=;)"
    rf"|(?:require|include)(?:_once)?\b[^;\n'\"]*{_QUOTED}[^;\n]*)",
    "ruby": rf"(?:require|require_relative|load)\b[ \t(]*{_QUOTED}\)?",
}
_STATEMENT = {language: re.compile(rf"^[ \t]*{pattern}{_END}", re.MULTILINE) for language, pattern in _PATTERNS.items()}


def without_imports(text: str, language: str) -> str:
    """The text without its import statements; unchanged if the language's import syntax is not known here."""
    pattern = _STATEMENT.get(language)
    return text if pattern is None else pattern.sub("", text)


def import_lines(text: str, language: str) -> list[tuple[int, str]]:
    """The import statements of a text, stripped, each with the 0-based number of its first line."""
    pattern = _STATEMENT.get(language)
    matches = pattern.finditer(text) if pattern is not None else ()
    return [(text.count("\n", 0, match.start()), match[0].strip()) for match in matches if match[0].strip()]
