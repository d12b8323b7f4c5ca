"""Texts: languages, tokens, hidden characters, and the formatting of numbers and lists of names."""

import re
from collections.abc import Sequence

LANGUAGES: dict[str, str] = {
    "c": "c", "h": "c", "cc": "cpp", "cpp": "cpp", "cxx": "cpp", "hh": "cpp", "hpp": "cpp", "cs": "csharp", "go": "go",
    "java": "java", "js": "javascript", "jsx": "javascript", "mjs": "javascript", "cjs": "javascript", "kt": "kotlin",
    "php": "php", "py": "python", "pyi": "python", "rb": "ruby", "rs": "rust", "scala": "scala", "swift": "swift",
    "ts": "typescript", "tsx": "tsx",
}  # fmt: skip
"""File suffix → language, named like its tree-sitter grammar."""

NO_VALUE = "–"  # shown in place of a missing number
REGEX_TOKEN = r"[A-Za-z_]\w*|\d+|[^\w\s]"
_REGEX_TOKEN = re.compile(REGEX_TOKEN)
_WORD = re.compile(r"\w+")
_VISIBLE = re.compile(r"[^\x00- ]")


def language_of(path: str) -> str:
    """The language of a path according to its suffix; empty if unknown."""
    _, dot, ending = path.rsplit("/", 1)[-1].rpartition(".")
    return LANGUAGES.get(ending.lower(), "") if dot else ""


def decode(data: bytes) -> tuple[str, int]:
    """Bytes decoded as UTF-8, and the number of undecodable places, which became U+FFFD."""
    text = data.decode(errors="replace")
    return text, text.count("\ufffd") - data.count("\ufffd".encode())


def is_blank(text: str) -> bool:
    """Whether a text is only white space: no character above U+0020."""
    return _VISIBLE.search(text) is None


def regex_tokens(text: str) -> list[str]:
    """The ``regex`` tokens: identifiers, numbers and single punctuation marks, with their case."""
    # Most texts are a single identifier, for which this is several times faster.
    if text.isascii() and text.isidentifier():
        return [text]
    return _REGEX_TOKEN.findall(text)


def words(text: str) -> list[str]:
    r"""The ``words`` tokens: ``\w+``, lower-cased."""
    return _WORD.findall(text.lower())


# Control characters except tab and newline, soft hyphens, bidi and other format characters, line and paragraph
# separators, tags, and surrogates. Zero-width joiners are kept: scripts and emoji need them.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f\ud800-\udfff]"
)


def is_encodable(text: str) -> bool:
    """Whether a text can be encoded in UTF-8: JSON can contain lone surrogates, which cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def escaped(text: str) -> str:
    r"""The text with every hidden character, which might control a terminal or page, escaped as `\u{202E}`."""
    return _HIDDEN.sub(lambda match: f"\\u{{{ord(match[0]):X}}}", text)


def counted(n: int, unit: str) -> str:
    """A number with its unit in singular or (regular) plural: `1 line`, `2 lines`, `3 entries`."""
    plural = f"{unit[:-1]}ies" if unit.endswith("y") else f"{unit}s"
    return f"{n:,} {unit if n == 1 else plural}"


def percent(part: int, whole: int) -> str:
    """A share as `99.98 %`, rounded down so that only the whole is 100 %."""
    return f"{part * 10_000 // max(whole, 1) / 100:.2f} %"


def listed(names: Sequence[str], most: int = 10) -> str:
    """Names joined by commas; beyond `most`, the number of further names."""
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most:,} more"


def group_name(number: int) -> str:
    """`a`, `b`, … for 1, 2, …, and `aa` after `z`."""
    before, last = divmod(number - 1, 26)
    return (group_name(before) if before else "") + chr(ord("a") + last)
