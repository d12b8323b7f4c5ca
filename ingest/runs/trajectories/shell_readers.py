"""Which lines of which files the commands that print files print: `cat`, `head`, `sed -n`, `git show`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from ingest.runs.trajectories.command_lines import UNKNOWN
from ingest.runs.trajectories.json_values import MAX_LINE, line_of
from ingest.runs.trajectories.trajectory import View

Window = tuple[int, int | None]
"""First and last line, from 1; None for all lines from the first on."""
Flags = Sequence[tuple[str, str]]
"""The flags of a command, each with its value, empty where it has none."""
Words = Sequence[str]

WHOLE: tuple[Window, ...] = ((1, None),)
_DIFFS = ("diff", "show", "log", "stash", "whatchanged", "format-patch")
_COUNT = re.compile(r"(?:-n|--lines=|-)?(?P<sign>[+-]?)(?P<n>[0-9]+)")
_SED_PIECE = re.compile(r"(?P<start>[0-9]+)(?:,(?P<sign>\+?)(?P<end>[0-9]+|\$))?p")
_SED_QUITS = re.compile(r"([0-9]+)q")
_SED_PATTERN = re.compile(r"/(?:\\.|[^/\\])*(?=/)")
_SED_PRINTS = re.compile(f"[pPlL{UNKNOWN}]")
_AWK = re.compile(
    r"(?:F?NR(?P<above>>=?|==)(?P<start>[0-9]+))?(?:(?:&&|,)?F?NR(?P<below><=?|==)(?P<end>[0-9]+))?"
    r"(?P<print>\{print(?:[^{}]*\$0[^{}]*)?\})?;?(?:F?NR(?:>=?|==)[0-9]+\{exit\})?"
)
_AWK_COUNTS = re.compile(r"(?:(?:BEGIN|END)\{[^{}$]*\})+")
_PERL = re.compile(r"printif(?:\$\.>=)?([0-9]+)(?:\.\.|(?:&&|and)\$\.<=)([0-9]+);?")


@dataclass(frozen=True)
class Printed:
    """What a command shows of what it reads.

    Attributes:
        windows: The lines, in order; None where they cannot be told.
        files: The files it names; none where it reads what a pipe gives it.
        last: So many lines at the end are shown, in place of windows.
    """

    windows: tuple[Window, ...] | None
    files: Words
    last: int | None = None

    def of(self, view: View) -> list[View]:
        """What is shown of a view that is read."""
        whole = replace(view, start=None, end=None)
        start, end = view.start, view.end
        if start is None or (self.windows is None and self.last is None):
            return [whole]
        if self.last is not None:
            return [whole] if end is None else [replace(view, start=max(start, end - self.last + 1))]
        shown = []
        for first, last in self.windows or ():
            ends = [line for line in (end, None if last is None else start + last - 1) if line is not None]
            shown.append(replace(view, start=start + first - 1, end=min(ends, default=None)))
        return [one for one in shown if one.end is None or one.start is None or one.start <= one.end]


def printed_by(words: Words) -> Printed | None:
    """What a command shows of the files it names, or of its input; None for one that shows nothing, or is not known."""
    name, rest = verb_of(words)
    if name not in _READERS:
        return None
    reader, with_value = _READERS[name]
    return reader(*options_of(rest, with_value))


def is_diff(words: Words) -> bool:
    """Whether a command prints diffs, or may."""
    name, _ = verb_of(words)
    return name == "diff" or (name in {f"git {verb}" for verb in _DIFFS} and printed_by(words) is None)


def numbers_lines(words: Words) -> bool:
    """Whether a command that prints files prints the numbers of all their lines."""
    flags = [word for word in words[1:] if word.startswith("-")]
    if words[0] == "nl":
        return "-ba" in flags or "--body-numbering=a" in flags or ("-b", "a") in pairwise(words)
    return words[0] in ("cat", "bat", "batcat") and any(
        flag == "--number" or ("n" in flag and flag[1:].isalpha()) for flag in flags
    )


def options_of(words: Words, with_value: str = "") -> tuple[Flags, Words]:
    """The flags of a command, each with its value, and the words that are none.

    Args:
        words: What follows a command's name.
        with_value: A pattern of the flags whose value is the next word; that of a long one may follow a `=`.
    """
    flags, operands = list[tuple[str, str]](), list[str]()
    left, is_over = iter(words), False
    for word in left:
        if word == "--" and not is_over:
            is_over = True
        elif is_over or not word.startswith("-"):
            operands.append(word)
        elif with_value and re.fullmatch(with_value, word):
            flags.append((word, next(left, "")))
        else:
            name, _, value = word.partition("=") if word.startswith("--") else (word, "", "")
            flags.append((name, value))
    return flags, tuple(operands)


def verb_of(words: Words) -> tuple[str, Words]:
    """A command's name without its folder, git's with its verb (`git show`), and the words that follow."""
    name, rest = words[0].rpartition("/")[2] if words else "", words[1:]
    if name != "git":
        return name, rest
    verb = git_options(rest)[1]
    return f"git {verb[0]}" if verb else name, verb[1:]


def git_options(words: Words) -> tuple[str, Words]:
    """The folder that `git -C` names, empty where there is none, and the words from git's verb on."""
    folder = ""
    while words and words[0].startswith("-"):
        has_value = words[0] in ("-C", "-c")
        folder = words[1] if words[0] == "-C" and len(words) > 1 else folder
        words = words[1 + has_value :]
    return folder, words


def _whole(flags: Flags, files: Words) -> Printed:
    return Printed(WHOLE, files)


def _paged(flags: Flags, operands: Words) -> Printed:
    """What `less` and `more` show: `+12` says where to begin; so do `+/text` and `+G`, of lines that are not known."""
    begins = [re.fullmatch(r"\+([0-9]+)g?", word) for word in operands if word.startswith("+")]
    known = [_window(found[1], "$") for found in begins if found]
    return Printed(_all_known(known, begins) if begins else WHOLE, [word for word in operands if word[:1] != "+"])


def _unknown(flags: Flags, files: Words) -> Printed:
    """What a command that changes, orders or picks lines makes of its files: they are named, their lines are not."""
    return Printed(None, files)


def _jq(flags: Flags, operands: Words) -> Printed | None:
    return None if operands[:1] == ("empty",) else Printed(None, operands[1:])


def _bat(flags: Flags, files: Words) -> Printed:
    ranges = [value for flag, value in flags if flag in ("-r", "--line-range") and value]
    known = [_window(*found.groups()) for one in ranges if (found := re.fullmatch(r"([0-9]+):([0-9]+)", one))]
    return Printed(_all_known(known, ranges) if ranges else WHOLE, files)


def _blame(flags: Flags, files: Words) -> Printed:
    ranges = [value or flag[2:] for flag, value in flags if flag.startswith("-L")]
    found = [re.fullmatch(r"([0-9]+),(\+?)([0-9]+)", one) for one in ranges if one]
    known = [_window(one[1], str(int(one[3]) - 1) if one[2] else one[3], one[2]) for one in found if one]
    return Printed(_all_known(known, found) if ranges else WHOLE, files[-1:])


def _shown(flags: Flags, operands: Words) -> Printed | None:
    """What `git show` and `git cat-file` show of `REV:path`."""
    files = [word.partition(":")[2] for word in operands if ":" in word]
    return Printed(WHOLE, files) if files else None


def _cat_file(flags: Flags, operands: Words) -> Printed | None:
    """What `git cat-file` shows: with `-e`, `-s`, `-t` only whether it is there, its size, its type."""
    return _shown(flags, operands) if {flag for flag, _ in flags}.isdisjoint(("-e", "-s", "-t")) else None


def _head(flags: Flags, operands: Words, *, is_tail: bool = False) -> Printed:
    """What `head` or `tail` shows: 10 lines where it is not said how many."""
    if any(flag.startswith(("-c", "--bytes")) for flag, _ in flags):
        return Printed(None, operands)
    counts = [f"-n{value}" if flag in ("-n", "--lines") else flag for flag, value in flags]
    found = [_COUNT.fullmatch(one) for one in (*counts, *(word for word in operands if word.startswith("+")))]
    told = [(one["sign"], n) for one in found if one is not None and (n := line_of(one["n"])) is not None]
    sign, n = told[-1] if told else ("", 10)
    files = [word for word in operands if not (word.startswith("+") and _COUNT.fullmatch(word))]
    if is_tail:
        return Printed(((max(n, 1), None),), files) if sign == "+" else Printed(None, files, last=n)
    return Printed(None if sign == "-" else ((1, n),), files)


def _tail(flags: Flags, operands: Words) -> Printed:
    return _head(flags, operands, is_tail=True)


def _sed(flags: Flags, files: Words) -> Printed | None:
    if any(flag.startswith(("-i", "--in-place")) for flag, _ in flags):
        return None
    scripts = [value for flag, value in flags if flag == "--expression" or re.fullmatch("-[nErsuz]*e", flag)]
    is_quiet = any(flag in ("--quiet", "--silent") or re.fullmatch("-[Ersuz]*n[nErsuz]*e?", flag) for flag, _ in flags)
    if not scripts:
        scripts, files = list(files[:1]), files[1:]
    if is_quiet and not any(map(_SED_PRINTS.search, (_SED_PATTERN.sub("", script) for script in scripts))):
        return None
    spaced = (re.sub(r"(?<=[0-9$]) +(?=[pq{])", "", script) for script in scripts)
    pieces = [piece for script in spaced for piece in re.split(r"[;\n{}\s]+", script) if piece]
    quits = [line_of(found[1]) for piece in pieces if (found := _SED_QUITS.fullmatch(piece))]
    if not is_quiet:
        return Printed(((1, quits[0]),) if len(pieces) == 1 and quits and quits[0] is not None else None, files)
    place = pieces.index("p") if "p" in pieces else len(pieces)
    asked = [_SED_PIECE.fullmatch(piece) for piece in pieces[:place] if not _SED_QUITS.fullmatch(piece)]
    known = [_window(one["start"], one["end"] or one["start"], one["sign"] or "") for one in asked if one]
    windows = _all_known(known, asked)
    return Printed(WHOLE if windows is not None and place < len(pieces) else windows or None, files)


def _awk(flags: Flags, operands: Words) -> Printed | None:
    script, *files = operands or ("",)
    if _AWK_COUNTS.fullmatch(script := "".join(script.split())):
        return None
    found = _AWK.fullmatch(script)
    if found is None or not any(found.group("start", "end", "print")):
        return Printed(None, files)
    window = _window(found["start"] or "1", found["end"] or (found["start"] if found["above"] == "==" else "$") or "$")
    if window is None:
        return Printed(None, files)
    first, last = window
    return Printed(((first + (found["above"] == ">"), last and last - (found["below"] == "<")),), files)


def _perl(flags: Flags, operands: Words) -> Printed | None:
    script, *files = operands or ("",)
    found = _PERL.fullmatch("".join(script.split())) if any(flag.startswith("-n") for flag, _ in flags) else None
    window = _window(found[1], found[2]) if found else None
    return Printed((window,), files) if window else None


def _window(start: str, end: str, sign: str = "") -> Window | None:
    first, last = line_of(start), None if end == "$" else line_of(end)
    if first is None or (last is None and end != "$"):
        return None
    if last is not None:
        last = first + last if sign else max(first, last)
    return (first, last) if last is None or last <= MAX_LINE else None


def _all_known(windows: Sequence[Window | None], asked: Sequence[object]) -> tuple[Window, ...] | None:
    known = tuple(window for window in windows if window)
    return known if len(known) == len(asked) else None


_READERS: Mapping[str, tuple[Callable[[Flags, Words], Printed | None], str]] = {
    **dict.fromkeys(("cat", "tac"), (_whole, "")),
    **dict.fromkeys(("less", "more"), (_paged, "")),
    **dict.fromkeys(
        ("sort", "uniq", "cut", "column", "rev", "iconv", "strings", "fold", "expand"),
        (_unknown, r"-[tkdfcsSTonw]|--[a-z-]+"),
    ),
    **dict.fromkeys(("bat", "batcat"), (_bat, "-[rlH]|--line-range|--language|--style|--color|--paging")),
    **dict.fromkeys(("awk", "gawk", "mawk"), (_awk, "-[Fv]")),
    "git show": (_shown, ""),
    "git cat-file": (_cat_file, ""),
    "git blame": (_blame, "-L|--since|--date"),
    "nl": (_whole, "-[bdfhilnsvw]"),
    "head": (_head, "-[cn]|--lines|--bytes"),
    "tail": (_tail, "-[cn]|--lines|--bytes"),
    "sed": (_sed, "--expression|-[nErsuz]*e"),
    "jq": (_jq, ""),
    "perl": (_perl, ""),
}
"""By the command's name: what reads its flags and operands, and which flags have a value."""
