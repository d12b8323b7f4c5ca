"""Single commands and their files: printing lines of them (`cat`, `sed -n`, `git show`), searching or writing them."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from ingest.runs.calls.outputs import first_lines
from ingest.runs.trajectory import UNKNOWN, FileSpan
from ingest.runs.values import LAST_LINE, line_of

SHELLS = ("bash", "sh", "zsh")
CommandFlags = Sequence[tuple[str, str]]  # a command's flags, each with its value, empty if it has none
CommandWords = Sequence[str]
PrintedLines = tuple[int, int | None]  # first and last line, from 1; a last line of None means the end
_FILTERS = ("jq", "tr", "column", "sort", "uniq", "cut", "tee", "less", "more")
"""Commands that print all of their input, changed or in another order."""
EDITORS = ("vi", "vim", "nvim", "nano", "emacs", "ed", "view")
NOT_READ = (
    *EDITORS, "bat", "batcat", "tac", "less", "more", "perl", "awk", "mawk", "jq", "sort", "uniq", "cut", "strings",
    "iconv", "rev", "fold", "expand", "column", "ag", "ack", "findstr", "diff", "git blame", "git cat-file", "parallel",
    "od", "xxd", "hexdump", "zcat",
)  # fmt: skip
"""Commands that show parts of files but are not understood; a filter is, if it is fed."""
ALL_LINES: tuple[PrintedLines, ...] = ((1, None),)
DIFFS = ("git diff", "git show", "git log", "git stash", "git format-patch", "gh")
"""Commands that print diffs, at least with some arguments."""
_COUNT = re.compile(r"-?n?(?P<sign>[+-]?)(?P<n>[0-9]+)")
_SED_PIECE = re.compile(r"(?P<start>[0-9]+)(?:,(?P<sign>\+?)(?P<end>[0-9]+|\$))?p")
_SED_QUITS = re.compile(r"([0-9]+)q")
_SED_REPLACES = re.compile(r"s(?P<by>[^\w\s\\])(?:\\.|(?!(?P=by)).)*(?P=by)(?:\\.|(?!(?P=by)).)*(?P=by)g?")
_SED_PATTERN = re.compile(r"/(?:\\.|[^/\\])*(?=/)")
_AWK = re.compile(
    r"(?:F?NR(?P<above>>=?|==)(?P<start>[0-9]+))?(?:(?:&&|,)?F?NR(?P<below><=?|==)(?P<end>[0-9]+))?"
    r"(?P<print>\{print(?:[^{};]*\$0[^{};]*)?(?P<once>;exit)?;?\})?;?(?:F?NR(?P<after>>=?|==)(?P<exit>[0-9]+)\{exit\})?"
)
_AWK_IF = re.compile(r"\{if\(([^(){}]*)\)\{?(print[^{}]*)\}?\}")
_SEARCHES = ("grep", "egrep", "fgrep", "git grep", "rg")
_PRINTS_NO_LINE = re.compile(
    r"-(?![tgeTfmABC])[a-zA-Z]*[qclL][a-zA-Z]*[0-9]*|--(?:quiet|silent|count|files|name-only|type-list)(?:-.*)?"
)
_NUMBERS = re.compile(r"-(?![tgeTfmABC])[a-zA-Z]*n[a-zA-Z]*[0-9]*|--line-number")
_PATTERN = re.compile(r"-[a-zA-Z]*[ef]|--regexp(?:=.*)?|--file(?:=.*)?")
_WITH_VALUE = (
    r"-[a-zA-Z]*[efABCmgtTjM]|--(?:regexp|file|glob|iglob|type|type-not|max-count|context|after-context|before-context"
    r"|include|exclude|exclude-dir|max-depth|sort|threads|max-columns|color|colors)"
)


@dataclass
class Command:
    """A command: its words without quotes and redirections, and whether its output or its errors are hidden."""

    words: list[str] = field(default_factory=list)
    is_hidden: bool = False
    hides_errors: bool = False

    @property
    def name(self) -> str:
        """The command's name without its folder; empty if it has no words."""
        return self.words[0].rpartition("/")[2] if self.words else ""


@dataclass
class Pipeline:
    """Commands connected by pipes; `joined_by` is the operator before them, `scope` the subshells they run in."""

    commands: list[Command]
    joined_by: str = ""
    scope: tuple[int, ...] = ()

    @property
    def is_hidden(self) -> bool:
        """Whether all of its output is hidden."""
        return any(command.is_hidden for command in self.commands)

    @property
    def echoed_row(self) -> str:
        """The one row of text that an `echo` or `printf` prints whenever it runs; empty for any other pipeline."""
        first, *following = self.commands
        words = [word for word in first.words[1:] if word not in ("-e", "-E")]
        if first.name == "printf":
            template, *values = words or [""]
            is_plain = template.count("%") == template.count("%s") == len(values)
            words = [template % tuple(values)] if is_plain else []
        text = " ".join(words).replace("\\n", "\n").strip()
        is_row = not (UNKNOWN in text or "\n" in text or re.match(r"-[eE]*n", text))
        return text if is_row and first.name in ("echo", "printf") and not (following or self.is_hidden) else ""


@dataclass(frozen=True)
class PrintedRange:
    """Lines that a command prints of its files or input: `windows`, or the `last` ones; both None if unknown."""

    windows: tuple[PrintedLines, ...] | None
    files: CommandWords
    last: int | None = None
    is_numbered: bool = False  # whether it numbers all lines of its files
    is_joined: bool = False  # whether it counts the lines of several files as those of one

    @property
    def n_first(self) -> int | None:
        """How many of the first lines it prints, if no others; None if it prints others, or all."""
        window = self.windows[0] if self.windows and len(self.windows) == 1 else (0, None)
        return window[1] if window[0] == 1 else None

    def of(self, spans: Sequence[FileSpan], *, is_shared: bool = False) -> list[FileSpan]:
        """What is printed if the command reads `spans` as one input, which others feed too if it `is_shared`."""
        if self.windows == ALL_LINES:
            return list(spans)
        if self.n_first is not None and (len(spans) > 1 or is_shared):
            return first_lines(spans, self.n_first)[0]
        start, end, windows = (spans[0].start, spans[0].end, self.windows) if len(spans) == 1 else (None, None, None)
        if self.last is not None and start is not None and end is not None:
            windows = ((max(1, end - self.last + 2 - start), None),)
        if start is None or windows is None or is_shared:
            return list(dict.fromkeys(FileSpan(span.path) for span in spans))  # which of their lines is unknown
        shown = []
        for first, last in windows:
            ends = [line for line in (end, None if last is None else start + last - 1) if line is not None]
            shown.append(replace(spans[0], start=start + first - 1, end=min(ends, default=None)))
        return [span for span in shown if span.end is None or span.start is None or span.start <= span.end]


@dataclass(frozen=True)
class FileSearch:
    """A search of files or, if it names none, of its input or the current folder."""

    files: CommandWords
    has_numbers: bool  # whether its rows may have line numbers
    is_numbered: bool  # whether all of them have one

    @property
    def only(self) -> str:
        """The single file or folder that it names; empty if it names none or several."""
        return self.files[0] if len(self.files) == 1 and UNKNOWN not in self.files[0] else ""


def parse_reading(words: CommandWords, *, is_fed: bool = False) -> FileSearch | PrintedRange | None:
    """The search that a command is, or what it prints of files or its input; None if it is neither, or unknown."""
    name, rest = verb_of(words)
    if is_fed and (name in _FILTERS or rest[:2] == ["-m", "json.tool"]):
        return PrintedRange(ALL_LINES, ())
    if name in _SEARCHES:
        if any(map(_PRINTS_NO_LINE.fullmatch, rest)):
            return None
        _, operands = options_of(rest, _WITH_VALUE)
        has_pattern, is_numbered = (any(map(flag.fullmatch, rest)) for flag in (_PATTERN, _NUMBERS))
        return FileSearch(operands[0 if has_pattern else 1 :], is_numbered or name == "rg", is_numbered)
    if name == "git show":
        files = [word.partition(":")[2] for word in options_of(rest)[1] if ":" in word]
        return PrintedRange(ALL_LINES, files) if files else None
    printer, with_value = _PRINTERS.get(name, (None, ""))
    return printer(*options_of(rest, with_value)) if printer else None


def unrolled(pipeline: Pipeline) -> Pipeline:
    """The pipeline that `xargs` or `find -exec` runs, with unknown files; any other pipeline as it is."""
    commands = pipeline.commands
    index = next((index for index, command in enumerate(commands) if command.name == "xargs"), 0)
    words = commands[index].words
    if index:
        while len(words) > 1 and words[1].startswith("-"):
            words = words[2 if words[1] in ("-I", "-n", "-L", "-P", "-d") else 1 :]
        inner = [*words[1:], UNKNOWN, UNKNOWN]
    elif commands[0].name == "find" and "-exec" in words:
        inner = words[words.index("-exec") + 1 :]
        inner = inner[: next((n for n, word in enumerate(inner) if word in (";", "+")), None)]
    else:
        return pipeline
    return replace(pipeline, commands=[replace(commands[index], words=inner), *commands[index + 1 :]])


def _whole(flags: CommandFlags, files: CommandWords, *, numbering: str) -> PrintedRange:
    return PrintedRange(ALL_LINES, files, is_numbered=any(re.fullmatch(numbering, "".join(flag)) for flag in flags))


def _end(flags: CommandFlags, files: CommandWords, *, is_head: bool) -> PrintedRange:
    """The lines that `head` or `tail` prints: 10 by default, unknown if their amount is given in bytes."""
    counts = [f"-n{value}" if re.fullmatch("-[qvz]*n|--lines", flag) else flag for flag, value in flags]
    numbers = [match for match in map(_COUNT.fullmatch, counts) if match and line_of(match["n"]) is not None]
    sign, n = (numbers[-1]["sign"], line_of(numbers[-1]["n"])) if numbers else ("", 10)
    if any(re.match("-[qvz]*c|--bytes", flag) for flag, _ in flags):
        sign, n = "", None
    if is_head:
        return PrintedRange(((1, n),) if n is not None and sign != "-" else None, files)
    return PrintedRange(((n or 1, None),), files) if n is not None and sign == "+" else PrintedRange(None, files, n)


def _sed(flags: CommandFlags, files: CommandWords) -> PrintedRange | None:
    given = {flag for flag, _ in flags}
    short = "".join(flag for flag in given if not flag.startswith("--"))
    if "i" in short or "--in-place" in given:
        return None
    scripts = [value for _, value in flags if value]
    if not scripts:
        scripts, files = list(files[:1]), files[1:]
    script, is_quiet = ";".join(scripts), "n" in short or not given.isdisjoint(("--quiet", "--silent"))
    if is_quiet and not re.search(f"[pPlL{UNKNOWN}]", _SED_PATTERN.sub("", script)):
        return None
    plain = re.sub(r"\{(?:=;?)?p;?\}", "p", re.sub(r"(?<=[0-9$,{;=p]) +(?=[0-9$pq{}=])", "", script))
    pieces = list(filter(None, re.split(r"[;\n{}\s]+", plain)))
    if not is_quiet:
        if _SED_REPLACES.fullmatch(script):
            return PrintedRange(ALL_LINES, files)
        quits = _SED_QUITS.fullmatch(pieces[0]) if len(pieces) == 1 else None
        last = line_of(quits[1]) if quits else None
        return PrintedRange(((1, last),) if last is not None else None, files, is_joined=True)
    prints = [_SED_PIECE.fullmatch(piece) for piece in pieces if not _SED_QUITS.fullmatch(piece)]
    known = [_window(piece["start"], piece["end"] or piece["start"], piece["sign"] or "") for piece in prints if piece]
    windows = tuple(filter(None, known))
    is_joined = "s" not in short and "--separate" not in given
    return PrintedRange(windows if windows and len(windows) == len(prints) else None, files, is_joined=is_joined)


def _awk(flags: CommandFlags, operands: CommandWords) -> PrintedRange | None:
    script, *files = operands or ("",)
    for name, _, value in (value.partition("=") for flag, value in flags if flag == "-v"):
        script = re.sub(rf"\b{re.escape(name)}\b", value.replace("\\", ""), script)
    picked = _AWK.fullmatch(_AWK_IF.sub(r"\1{\2}", "".join(script.split())))
    if picked is None or not (picked["start"] or picked["end"] or picked["print"]):
        return None
    if picked["once"] and picked["above"] != "==":
        return None
    end = picked["end"] or (picked["start"] if picked["above"] == "==" else None)
    if end is None and (exit_line := line_of(picked["exit"])) is not None:
        # The line at which it exits is printed before.
        end = str(exit_line + (picked["after"] == ">"))
    window = _window(picked["start"] or "1", end or "$")
    first, last = window or (0, 0)
    shown = (first + (picked["above"] == ">"), last and last - (picked["below"] == "<"))
    return PrintedRange((shown,), files, is_joined="FNR" not in script) if window else None


def _window(start: str, end: str, sign: str = "") -> PrintedLines | None:
    first, last = line_of(start), line_of(end)
    if first is None or (last is None and end != "$"):
        return None
    last = None if last is None else first + last if sign else max(first, last)
    return (first, last) if last is None or last <= LAST_LINE else None


_PRINTERS: Mapping[str, tuple[Callable[[CommandFlags, CommandWords], PrintedRange | None], str]] = {
    "cat": (partial(_whole, numbering="-[a-zA-Z]*n[a-zA-Z]*"), ""),
    "nl": (partial(_whole, numbering="-ba"), "-[bdfhilnsvw]"),
    "head": (partial(_end, is_head=True), "-[qvz]*[cn]|--lines|--bytes"),
    "tail": (partial(_end, is_head=False), "-[qvz]*[cn]|--lines|--bytes"),
    "sed": (_sed, "--expression|-[nErsuz]*e"), "awk": (_awk, "-[Fv]"), "gawk": (_awk, "-[Fv]"),
}  # fmt: skip
"""Command → the function that reads its flags and operands, and a pattern for the flags that take a value."""


def options_of(words: CommandWords, with_value: str = "") -> tuple[CommandFlags, CommandWords]:
    """A command's flags with their values, and its other words; flags matching `with_value` take the next word."""
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


def verb_of(words: CommandWords) -> tuple[str, CommandWords]:
    """A command's name without its folder, for git with the subcommand (`git show`), and the words that follow."""
    name, rest = words[0].rpartition("/")[2] if words else "", words[1:]
    if name != "git":
        return name, rest
    verb = git_options(rest)[1]
    return f"git {verb[0]}" if verb else name, verb[1:]


def git_options(words: CommandWords) -> tuple[str, CommandWords]:
    """The folder that `git -C` names, empty if it names none, and the words from git's subcommand on."""
    folder = ""
    while words and words[0].startswith("-"):
        flag, *words = words
        folder = words[0] if flag == "-C" and words else folder
        words = words[flag in ("-C", "-c") :]
    return folder, words
