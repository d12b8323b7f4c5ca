"""Texts: their languages, tokens and hidden characters, and how numbers and names are said in one."""

import re
from collections.abc import Sequence

LANGUAGES: dict[str, str] = {
    "c": "c", "h": "c", "cc": "cpp", "cpp": "cpp", "cxx": "cpp", "hh": "cpp", "hpp": "cpp", "cs": "csharp", "go": "go",
    "java": "java", "js": "javascript", "jsx": "javascript", "mjs": "javascript", "cjs": "javascript", "kt": "kotlin",
    "php": "php", "py": "python", "pyi": "python", "rb": "ruby", "rs": "rust", "scala": "scala", "swift": "swift",
    "ts": "typescript", "tsx": "tsx",
}  # fmt: skip
"""File ending → language, the names tree-sitter's grammars have."""

NO_VALUE = "–"
"""Stands where there is no number."""
REGEX_TOKEN = r"[A-Za-z_]\w*|\d+|[^\w\s]"
"""A token of the kind ``regex``: an identifier, a number or a single mark."""
_REGEX_TOKEN = re.compile(REGEX_TOKEN)
_WORD = re.compile(r"\w+")
_PIECE = re.compile(r"\w+|[^\w\s]")


def language_of(path: str) -> str:
    """The language of a path by its ending, or an empty string."""
    _, dot, ending = path.rsplit("/", 1)[-1].rpartition(".")
    return LANGUAGES.get(ending.lower(), "") if dot else ""


def decode(data: bytes) -> tuple[str, int]:
    """Bytes as text in UTF-8, and how many undecodable places became U+FFFD."""
    try:
        return data.decode(), 0
    except UnicodeDecodeError:
        text = data.decode(errors="replace")
        return text, text.count("\ufffd") - data.count("\ufffd".encode())


_VISIBLE = re.compile(r"[^\x00- ]")


def is_blank(text: str) -> bool:
    """Whether a text holds nothing but white space: no character above U+0020."""
    return _VISIBLE.search(text) is None


def regex_tokens(text: str) -> list[str]:
    """The ``regex`` tokens: identifiers, numbers and single marks, case kept."""
    return _REGEX_TOKEN.findall(text)


def pieces(text: str) -> list[str]:
    """Runs of letters, digits and underscores, and single marks, case kept: no other token reaches over their ends."""
    return _PIECE.findall(text)


def words(text: str) -> list[str]:
    r"""The ``words`` tokens: ``\w+``, lower-cased."""
    return _WORD.findall(text.lower())


# Controls but for tab and newline, soft hyphens, bidi and other format characters, line and paragraph separators, tags,
# halves of surrogate pairs. Zero-width joiners stay: scripts and emoji need them.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f\ud800-\udfff]"
)


def is_encodable(text: str) -> bool:
    """Whether a text can be written: JSON can hold half a surrogate pair, which is no character."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def escaped(text: str) -> str:
    r"""The text with every hidden character, which a terminal or a page might obey, as `\u{202E}`."""
    return _HIDDEN.sub(lambda match: f"\\u{{{ord(match[0]):X}}}", text)


def counted(n: int, unit: str) -> str:
    """`1 line`, `2 lines`, `3 entries`: a number and what is counted, which has a plural of the plain kind."""
    plural = f"{unit[:-1]}ies" if unit.endswith("y") else f"{unit}s"
    return f"{n:,} {unit if n == 1 else plural}"


def percent(part: int, whole: int) -> str:
    """`99.98 %`: a share, rounded down, so that only all of it is 100."""
    return f"{part * 10_000 // max(whole, 1) / 100:.2f} %"


def listed(names: Sequence[str], most: int = 10) -> str:
    """Names with commas between; of many the first, and how many more there are."""
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most:,} more"


def group_name(number: int) -> str:
    """`a`, `b`, … for 1, 2, …, and `aa` after `z`."""
    letters = ""
    while number > 0:
        number, last = divmod(number - 1, 26)
        letters = chr(ord("a") + last) + letters
    return letters
