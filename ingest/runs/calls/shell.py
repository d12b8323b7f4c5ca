"""The parts of files that a shell command line showed: from the line to its spans, as docs/agents.md describes.

Redirected output shows nothing; a command after `||` runs only if the one before showed nothing. Output piped into a
command that changes or reorders it shows what is piped, piped into anything else (`wc`, `python`) nothing.
"""

import posixpath
import re
import shlex
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from ingest.runs.calls import commands
from ingest.runs.calls.bash import parse_command_line, without_documents
from ingest.runs.calls.commands import Command, FileSearch, Pipeline, PrintedRange, options_of, verb_of
from ingest.runs.calls.outputs import Failures, first_lines, hunks_in, joined_lines, listed_spans, numbers_in
from ingest.runs.trajectory import IN_WINDOWS, UNKNOWN, FileSpan, ParsedCall, gone_to, joined_path, renamed
from ingest.runs.values import LAST_LINE

_TESTS = ("test", "[", "test_command")
_MOVES = ("cd", "pushd", "chdir", "popd")
_PRINT_NOTHING = (
    *_MOVES, "mkdir", "rm", "cp", "mv", "touch", "export", "set", "source", ".", "true", ":", "sleep", "chmod",
    "exit", "unset", "shopt", "read", "git add", *_TESTS,
)  # fmt: skip
_INTERPRETER = re.compile(r"(?:python|node|ruby|php|pypy)[0-9.]*")
_OPENS = re.compile(
    r"\bopen\(|\bread_(?:text|bytes)\(|\bgetsource(?:lines)?\(|\breadFile|\bFile\.(?:read|open)|\blinecache\b|file_get_contents"
)
_POWERSHELL = re.compile(
    r"(?i)(?:^|[\\/|;({\s])(?:(?:Get|Set|Select)-(?:Content|ChildItem|Location|String|Object)\b"
    r"|(?:powershell|pwsh)(?:\.exe)?'?\s+[-/])"
)
_SHORT_NAMES = re.compile(r"(?:^|[|;&({]\s*)(?:gc|type|sls|sl)\s", re.IGNORECASE)
"""PowerShell's aliases of its commands; outside Windows they mean something else, or nothing."""
_BACKSLASH = re.compile(r"(?<=[\w.:])\\(?=[\w.])")
_HEADINGS = re.compile(r"^==> (.+) <==$", re.MULTILINE)
_ERROR = re.compile(r"(?:sed|head|tail|cat|nl|g?awk|grep|rg): ")
"""The beginning of an error of a command that prints files."""
_MARKS = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_=>])")
_MAX_TARGETS, _MAX_SEARCHES = 100, 20


def parse_shell_call(
    command: str | Sequence[str], output: str | None = None, *, failed: bool = False, folder: str = ""
) -> ParsedCall:
    """The spans that a line, or the words of one command, showed, in order, and the terminal's folder after it.

    Without a recorded output, a line counts as having printed everything. `folder` is the base of relative paths;
    `UNKNOWN` if only the shell knew it.
    """
    line = command if isinstance(command, str) else shlex.join(map(without_documents, command))
    plain, in_windows = without_documents(line), IN_WINDOWS.match(folder) is not None
    if _POWERSHELL.search(plain) or (in_windows and _SHORT_NAMES.search(plain)):
        has_printed = output is None or output.strip()
        return ParsedCall(folder=folder, unread=("command of PowerShell",) if has_printed else ())
    printed = None if output is None else _MARKS.sub("", output).replace("\r", "")
    pipelines = parse_command_line(_BACKSLASH.sub("/", line) if in_windows else line, printed or "")
    if pipelines is None:
        return ParsedCall(reads=True, folder=folder, unread=("command too long to be read",))
    walk, parts = _Walk(pipelines, printed, folder), _parted(pipelines, printed)
    for part, text in parts:
        walk.read(part, text, failed=failed and part is parts[-1][0])
    scripts = [name for line in pipelines if _INTERPRETER.fullmatch(name := line.commands[0].name)]
    if scripts and output and any(map(_OPENS.search, [command] if isinstance(command, str) else command)):
        walk.unread.append(f"script of {scripts[0]} that opens files")
    return ParsedCall(tuple(dict.fromkeys(walk.views)), walk.reads, walk.folder(()), tuple(walk.unread))


def _parted(pipelines: Sequence[Pipeline], output: str | None) -> list[tuple[Sequence[Pipeline], str | None]]:
    """The pipelines between texts that `echo` printed on rows of their own, each with the output between these rows."""
    parts, start, rows = list[tuple[Sequence[Pipeline], str | None]](), 0, (output or "").split("\n")
    texts = [pipeline.echoed_row for pipeline in pipelines]
    expected, printed = Counter(texts), Counter(map(str.strip, rows))
    for index, text in enumerate(texts):
        # A text that is printed more or less often than it is echoed also occurs in a file, or was cut off.
        if text and expected[text] == printed[text]:
            end = next((number for number, row in enumerate(rows) if row.strip() == text), None)
            if end is None:
                break
            parts.append((pipelines[start:index], "\n".join(rows[:end])))
            start, rows = index + 1, rows[end + 1 :]
    return [*parts, (pipelines[start:], "\n".join(rows) if output is not None else None)]


class _Walk:
    """The state of reading a command line: what it has shown so far, and the folder of each subshell."""

    def __init__(self, pipelines: Sequence[Pipeline], output: str | None, folder: str) -> None:
        self.failures = Failures(output or "")
        # How many pipelines each command prints: several, if a loop or a group is piped into it.
        self.feeds = Counter(id(command) for line in pipelines for command in line.commands[1:])
        self.folders: dict[tuple[int, ...], tuple[str, str]] = {(): (folder, UNKNOWN)}
        self.pushed = list[str]()  # the folders to which `popd` leads back
        self.views, self.unread, self.reads = list[FileSpan](), list[str](), False

    def folder(self, scope: tuple[int, ...], *, before: bool = False) -> str:
        """The current folder of a subshell or, with `before`, the previous one; `UNKNOWN` before the first `cd`."""
        while scope not in self.folders:
            scope = scope[:-1]
        return self.folders[scope][before]

    def read(self, pipelines: Sequence[Pipeline], output: str | None, *, failed: bool) -> None:
        """Read some pipelines with their output; the last of them failed, or not."""
        self.output, self.failed = output, failed
        rows = [row for row in (output or "").split("\n") if row.strip() and row not in self.failures.rows]
        self.has_printed = output is None or not all(map(_ERROR.match, rows))
        self.may_be_empty = not rows
        self.listed = dict[tuple[str, bool], list[FileSpan]]()
        printing = [line for line in pipelines if not line.is_hidden and line.commands[0].name not in _PRINT_NOTHING]
        self.is_alone, self.is_single = len(printing) == 1, len(pipelines) == 1
        read = (commands.parse_reading(line.commands[0].words) for line in printing)
        self.searched = {each.only for each in read if isinstance(each, FileSearch)}
        self.has_headings = sum(line.commands[0].name in ("head", "tail") for line in printing) == 1
        are_joined = any(self.feeds[id(command)] > 1 for line in pipelines for command in line.commands)
        left = len(output.rstrip().split("\n")) if are_joined and output is not None else None
        start, showed, is_tested = len(self.views), False, False
        for pipeline in pipelines[: self._not_run(pipelines)]:
            if pipeline.joined_by == "||" and showed:
                continue
            name, before, self.is_told = pipeline.commands[0].name, len(self.views), False
            self._read(pipeline)
            new = self.views[before:]
            if left is not None and pipeline in printing:
                # The newest views end with the rows that the output has for them.
                self.views[before:], rest = (new, 0) if self.is_told else first_lines(new, left)
                left = rest if new else left - 1 if name in ("echo", "printf") else 0
                if len(self.views) - before < len(new):
                    self.unread.append(f"command {name} whose output was cut off")
            if pipeline.joined_by == "||" and start < before < len(self.views):
                # Only the shell knew which of the two ran.
                del self.views[start:]
                self.unread.append(f"command {name} or the one before it")
            is_sure = self.is_told or not (is_tested or pipeline.commands[0].hides_errors)
            showed = len(self.views) > before and is_sure
            start, is_tested = before, name in _TESTS

    def _not_run(self, pipelines: Sequence[Pipeline]) -> int:
        """The number of pipelines that ran: in a failed `&&` chain, up to the last that can fail without a message."""
        for index in range(len(pipelines) - 1, -1, -1) if self.failed else ():
            words = pipelines[index].commands[0].words or [""]
            reading, is_move = commands.parse_reading(words), words[0] in _MOVES
            is_print = words[0] == "echo" or isinstance(reading, PrintedRange)
            files = words[-1:] if is_move else reading.files if isinstance(reading, PrintedRange) else ()
            if not (is_move or is_print) or any(map(self.failures.refuse, files)):
                return index + 1
            if pipelines[index].joined_by != "&&":
                break
        return len(pipelines)

    def _read(self, pipeline: Pipeline) -> None:
        folder, first = self.folder(pipeline.scope), pipeline.commands[0]
        if first.name in _MOVES:
            target = next(iter(options_of(first.words[1:])[1]), "~" if first.name == "cd" else UNKNOWN)
            is_run = len(pipeline.commands) == 1 and not (self.failed and self.is_single)
            if is_run and not self.failures.refuse(target):
                now = gone_to(folder, target)
                if first.words[1:] == ["-"]:
                    now = self.folder(pipeline.scope, before=True)
                elif first.name == "popd" and self.pushed:
                    now = self.pushed.pop()
                self.pushed += [folder] * (first.name == "pushd")
                self.folders[pipeline.scope] = (now, folder)
            return
        spans = self._shown_by(pipeline)
        # A whole file printed without any output is empty; anything else that printed nothing showed nothing.
        is_whole = bool(spans) and all((span.start, span.end) == (1, None) for span in spans)
        is_sure = not (self.failed or first.hides_errors or pipeline.joined_by or pipeline.commands[1:])
        is_empty = self.may_be_empty and is_whole and is_sure
        if first.name in self.failures.missing or not (self.has_printed or is_empty):
            return
        if first.name == "git" and not isinstance(commands.parse_reading(first.words), FileSearch):
            root = commands.git_options(first.words[1:])[0]
            # `REV:path` is a path from the repository's root, `REV:./path` one from the current folder.
            is_here = any(span.path.startswith(("./", "../")) for span in spans)
            folder = gone_to(folder, root) if is_here or UNKNOWN in folder else root
        known = renamed(spans, partial(joined_path, folder))
        if spans and not known:
            self.unread.append(f"command {first.name} in a folder that only the shell knew")
        self.views += known

    def _shown_by(self, pipeline: Pipeline) -> Sequence[FileSpan]:
        first = pipeline.commands[0]
        if pipeline.is_hidden or not first.words:
            return ()
        words = [command.words for command in pipeline.commands]
        reading, *piped = (commands.parse_reading(each, is_fed=each is not words[0]) for each in words)
        unknown = (verb_of(each)[0] for each, read in zip(words, (reading, *piped), strict=True) if read is None)
        odd = next((name for name in unknown if name in commands.NOT_READ), "")
        if odd and (reading or odd == verb_of(first.words)[0]):
            self.reads |= odd not in commands.EDITORS
            if self.has_printed and odd not in self.failures.missing:
                self.unread.append(f"command {odd}")
            return ()
        if None in piped:
            return ()
        if isinstance(reading, FileSearch):
            self.reads = self.is_told = True
            return self._listed(reading)
        if reading is None:
            if first.name in commands.SHELLS and "-c" in first.words and self.has_printed:
                self.unread.append(f"command {first.name} of files that only the shell knew")
            hunks = hunks_in(self.output or "") if verb_of(first.words)[0] in commands.DIFFS else ()
            self.is_told = bool(hunks)
            self.reads |= self.is_told
            return hunks
        if any(UNKNOWN in file for file in reading.files):
            # `head` and `tail` print the names of several files.
            headings = _HEADINGS.findall(self.output or "") if self.has_headings else []
            if not headings:
                self.unread.append(f"command {first.name} of files that only the shell knew")
            reading = replace(reading, files=[*reading.files, *dict.fromkeys(headings)])
        self.reads |= bool(reading.files)
        return self._printed(reading, piped, pipeline.commands[1:])

    def _listed(self, search: FileSearch) -> list[FileSpan]:
        only = search.only
        if self.output is None:
            return [FileSpan(only)] if "." in posixpath.basename(only).lstrip(".") and not self.failed else []
        if only and self.failures.refuse(only):
            return []
        key = (only, search.has_numbers)
        if key not in self.listed:
            if len(self.listed) == _MAX_SEARCHES:
                self.unread.append("command of too many searches")
                return []
            rows = (row for row in self.output.split("\n") if row not in self.failures.rows)
            self.listed[key] = listed_spans("\n".join(rows), only, numbers=search.has_numbers, lists=False)
        # A file whose rows have no numbers is shown only by a search that succeeded.
        is_numbered = search.is_numbered or (self.failed and self.is_alone)
        spans = [span for span in self.listed[key] if span.start is not None or not is_numbered]
        if only and not self.is_alone and self.searched != {only} and any(span.path == only for span in spans):
            # Rows that name no file cannot be assigned to one of several commands.
            printed_spans = listed_spans(self.output, numbers=search.has_numbers, lists=False)
            return [span for span in printed_spans if span.path == only] or [FileSpan(only)]
        if not spans and self.has_printed and any(UNKNOWN in path for path in search.files):
            self.unread.append("search of files that only the shell knew")
        roots = [posixpath.normpath(path) for path in search.files[:_MAX_TARGETS]]
        if not roots or any(re.match(rf".*[{UNKNOWN}*]|\.\.|\.$", root) for root in roots):
            return spans
        below = (*(f"{root}/" for root in roots), "../")
        paths = (posixpath.normpath(span.path.replace("\\", "/")) for span in spans)
        return [span for span, path in zip(spans, paths, strict=True) if f"{path}/".startswith(below)]

    def _printed(
        self, printed: PrintedRange, piped: Sequence[FileSearch | PrintedRange | None], into: Sequence[Command]
    ) -> list[FileSpan]:
        no_path = re.compile(rf"/dev/|-|.*[{UNKNOWN}\n]", re.DOTALL)
        paths = [file for file in printed.files if 0 < len(file) < 500 and not no_path.match(file)]
        files = [file for file in paths if not self.failures.refuse(file)]
        if self.failed and self.is_alone and files == paths:  # It may have read none of them.
            return []
        whole = [FileSpan(file, 1) for file in files]
        spans = printed.of(whole) if printed.is_joined else [span for file in whole for span in printed.of([file])]
        for each, command in zip(piped, into, strict=True):
            is_shared = self.feeds[id(command)] > 1
            if isinstance(each, PrintedRange):
                if is_shared and each.n_first is None and each.windows != commands.ALL_LINES:
                    self.unread.append(f"command {command.name} of several commands' output")
                    return []
                spans = each.of(spans, is_shared=is_shared)
                continue
            first_line = spans[0].start if len(spans) == 1 and self.is_alone else None
            if each and each.is_numbered and first_line is not None:
                # `grep -n` counts from the first line of its input.
                hits, ahead = listed_spans(self.output or "", spans[0].path), first_line - 1
                hits = [FileSpan(hit.path, hit.start + ahead, hit.end + ahead) for hit in hits if hit.start and hit.end]
                self.is_told |= bool(hits)
                if hits:
                    return hits
            spans = PrintedRange(None, ()).of(spans)
        if len(files) == 1 and self.is_alone and printed.is_numbered:
            shown = [(span.start or 1, span.end or LAST_LINE) for span in spans]
            numbers = (line for line in numbers_in(self.output or "") if any(a <= line <= b for a, b in shown))
            numbered = joined_lines((files[0], line) for line in numbers)
            self.is_told, spans = bool(numbered), numbered or spans
        return spans
