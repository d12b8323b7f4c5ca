"""Which lines of which files the commands that print files print: `cat`, `head`, `sed -n`, `git show`, PowerShell's."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from ingest.runs.trajectories.json_values import MAX_LINE, line_of
from ingest.runs.trajectories.trajectory import View

Window = tuple[int, int | None]
"""First and last line, from 1; None for all lines from the first on."""

WHOLE: tuple[Window, ...] = ((1, None),)

_SED_PIECE = re.compile(r"(?P<start>[0-9]+)(?:,(?P<sign>\+?)(?P<end>[0-9]+|\$))?p")
_SED_QUITS = re.compile(r"([0-9]+)q")
_AWK = re.compile(
    r"(?:F?NR(?P<above>>=?|==)(?P<start>[0-9]+))?(?:(?:&&|,)?F?NR(?P<below><=?|==)(?P<end>[0-9]+))?"
    r"(?P<print>\{print(?:[^{}]*\$0[^{}]*)?\})?;?(?:F?NR(?:>=?|==)[0-9]+\{exit\})?"
)
_DIFFS = ("diff", "show", "log", "stash", "whatchanged", "format-patch")
_VALUES_OF_FILTERS = r"-[tkdfcsSTonw]|--[a-z-]+"
_PERL = re.compile(r"printif(?:\$\.>=)?([0-9]+)(?:\.\.|(?:&&|and)\$\.<=)([0-9]+);?")
_COUNT = re.compile(r"(?:-n|--lines=|-)?(?P<sign>[+-]?)(?P<n>[0-9]+)")


@dataclass(frozen=True)
class Printed:
    """What a command shows of what it reads.

    Attributes:
        windows: The lines, in order; None where they cannot be told.
        files: The files it names; none where it reads what a pipe gives it.
        last: So many lines at the end are shown, in place of windows.
    """

    windows: tuple[Window, ...] | None
    files: tuple[str, ...]
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


def printed_by(words: Sequence[str]) -> Printed | None:
    """What a command shows of the files it names, or of its input; None for a command that is none of those known."""
    name = words[0].rpartition("/")[2] if words else ""
    return _KNOWN[name](words[1:]) if name in _KNOWN else None


def operands_of(words: Sequence[str], with_value: str = "") -> tuple[str, ...]:
    """The words that are no flags, nor the values of any; the arguments are as for :func:`options_of`."""
    return options_of(words, with_value)[1]


def options_of(words: Sequence[str], with_value: str = "") -> tuple[list[tuple[str, str]], tuple[str, ...]]:
    """The flags, each with its value, empty where it has none, and the words that are none.

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


def _all(words: Sequence[str]) -> Printed:
    return Printed(WHOLE, tuple(word for word in operands_of(words) if word[:1] != "+"))


def _nl(words: Sequence[str]) -> Printed:
    return Printed(WHOLE, operands_of(words, "-[bdfhilnsvw]"))


def _bat(words: Sequence[str]) -> Printed:
    flags, files = options_of(words, "-[rlH]|--line-range|--language|--style|--color|--paging")
    ranges = [value for flag, value in flags if flag in ("-r", "--line-range") and value]
    found = [re.fullmatch(r"([0-9]+):([0-9]+)", one) for one in ranges]
    known = [window for one in found if one is not None and (window := _window(one[1], one[2]))]
    if not ranges:
        return Printed(WHOLE, files)
    return Printed(tuple(known) if len(known) == len(ranges) else None, files)


def _head(words: Sequence[str]) -> Printed:
    sign, n, files = _counted(words)
    return Printed(((1, n),) if n is not None and sign != "-" else None, files)


def _tail(words: Sequence[str]) -> Printed:
    sign, n, files = _counted(words)
    if n is None:
        return Printed(None, files)
    return Printed(((max(n, 1), None),), files) if sign == "+" else Printed(None, files, last=n)


def _counted(words: Sequence[str]) -> tuple[str, int | None, tuple[str, ...]]:
    """The sign and number of lines that `head` or `tail` is to show, 10 where it is not said, and the files."""
    flags, operands = options_of(words, "-[cn]|--lines|--bytes")
    if any(flag.startswith(("-c", "--bytes")) for flag, _ in flags):
        return "", None, operands
    counts = [f"-n{value}" if flag in ("-n", "--lines") else flag for flag, value in flags]
    found = [_COUNT.fullmatch(one) for one in (*counts, *(word for word in operands if word.startswith("+")))]
    told = [(one["sign"], n) for one in found if one is not None and (n := line_of(one["n"])) is not None]
    files = tuple(word for word in operands if not (word.startswith("+") and _COUNT.fullmatch(word)))
    return (*(told[-1] if told else ("", 10)), files)


def _sed(words: Sequence[str]) -> Printed | None:
    flags, files = options_of(words, "--expression|-[nErsuz]*e")
    if any(flag.startswith(("-i", "--in-place")) for flag, _ in flags):
        return None
    scripts = [value for flag, value in flags if flag == "--expression" or re.fullmatch("-[nErsuz]*e", flag)]
    is_quiet = any(flag in ("--quiet", "--silent") or re.fullmatch("-[Ersuz]*n[nErsuz]*e?", flag) for flag, _ in flags)
    if not scripts:
        scripts, files = list(files[:1]), files[1:]
    spaced = (re.sub(r"(?<=[0-9$]) +(?=[pq{])", "", script) for script in scripts)
    pieces = [piece for script in spaced for piece in re.split(r"[;\n{}\s]+", script) if piece]
    return Printed(_sed_windows(pieces, is_quiet=is_quiet), files)


def _sed_windows(pieces: Sequence[str], *, is_quiet: bool) -> tuple[Window, ...] | None:
    if not is_quiet:
        quits = _SED_QUITS.fullmatch(pieces[0]) if len(pieces) == 1 else None
        last = line_of(quits[1]) if quits else None
        return ((1, last),) if last is not None else None
    windows: list[Window] = []
    for piece in pieces:
        if piece == "p":
            return WHOLE
        if _SED_QUITS.fullmatch(piece):
            continue
        found = _SED_PIECE.fullmatch(piece)
        window = _window(found["start"], found["end"] or found["start"], found["sign"] or "") if found else None
        if window is None:
            return None
        windows.append(window)
    return tuple(windows) or None


def _awk(words: Sequence[str]) -> Printed:
    script, *rest = operands_of(words, "-[Fv]") or ("",)
    found = _AWK.fullmatch("".join(script.split()))
    if found is None or not any(found.group("start", "end", "print")):
        return Printed(None, tuple(rest))
    window = _window(found["start"] or "1", found["end"] or (found["start"] if found["above"] == "==" else "$") or "$")
    if window is None:
        return Printed(None, tuple(rest))
    first, last = window
    first += found["above"] == ">"
    return Printed(((first, last and last - (found["below"] == "<")),), tuple(rest))


def _perl(words: Sequence[str]) -> Printed | None:
    script, *files = operands_of([word for word in words if word not in ("-ne", "-n", "-e")]) or ("",)
    found = _PERL.fullmatch("".join(script.split())) if any(word.startswith("-n") for word in words) else None
    window = _window(found[1], found[2]) if found else None
    return Printed((window,), tuple(files)) if window else None


def _git(words: Sequence[str]) -> Printed | None:
    verb, *rest = without_git_options(words)[1] or ("",)
    if verb in ("show", "cat-file"):
        objects = [word.partition(":")[2] for word in operands_of(rest) if ":" in word]
        return Printed(WHOLE, tuple(objects)) if objects else None
    if verb == "blame":
        flags, files = options_of(rest, "-L|--since|--date")
        ranges = [value or flag[2:] for flag, value in flags if flag.startswith("-L")]
        found = [re.fullmatch(r"([0-9]+),(\+?)([0-9]+)", one) for one in ranges if one]
        windows = [_window(one[1], str(int(one[3]) - 1) if one[2] else one[3], one[2]) for one in found if one]
        known = tuple(window for window in windows if window)
        return Printed(known if len(known) == len(found) and ranges else None if ranges else WHOLE, files[-1:])
    return None


def without_git_options(words: Sequence[str]) -> tuple[str, Sequence[str]]:
    """The folder that `git -C` names, empty where there is none, and the words from git's verb on."""
    folder = ""
    while words and words[0].startswith("-"):
        has_value = words[0] in ("-C", "-c")
        folder = words[1] if words[0] == "-C" and len(words) > 1 else folder
        words = words[1 + has_value :]
    return folder, words


def is_diff(words: Sequence[str]) -> bool:
    """Whether a command prints diffs, or may."""
    if words[0] != "git":
        return words[0] == "diff"
    verb = without_git_options(words[1:])[1][:1]
    return bool(verb) and verb[0] in _DIFFS and printed_by(words) is None


def numbers_lines(words: Sequence[str]) -> bool:
    """Whether a command that prints files prints the numbers of all their lines."""
    flags = [word for word in words[1:] if word.startswith("-")]
    if words[0] == "nl":
        return "-ba" in flags or "--body-numbering=a" in flags or ("-b", "a") in pairwise(words)
    return words[0] in ("cat", "bat", "batcat") and any(
        flag == "--number" or ("n" in flag and flag[1:].isalpha()) for flag in flags
    )


def _anything(words: Sequence[str]) -> Printed:
    """What a command that changes, orders or picks lines makes of its files: they are named, their lines are not."""
    return Printed(None, operands_of(words, _VALUES_OF_FILTERS))


def _jq(words: Sequence[str]) -> Printed:
    return Printed(None, operands_of(words)[1:])


def _window(start: str, end: str, sign: str = "") -> Window | None:
    first, last = line_of(start), None if end == "$" else line_of(end)
    if first is None or (last is None and end != "$"):
        return None
    if last is not None:
        last = first + last if sign else max(first, last)
    return (first, last) if last is None or last <= MAX_LINE else None


_KNOWN: Mapping[str, Callable[[Sequence[str]], Printed | None]] = {
    **dict.fromkeys(("cat", "less", "more", "tac"), _all),
    **dict.fromkeys(("sort", "uniq", "cut", "column", "rev", "iconv", "strings", "fold", "expand"), _anything),
    **dict.fromkeys(("bat", "batcat"), _bat),
    **dict.fromkeys(("awk", "gawk", "mawk"), _awk),
    "nl": _nl,
    "head": _head,
    "tail": _tail,
    "sed": _sed,
    "git": _git,
    "jq": _jq,
    "perl": _perl,
}
