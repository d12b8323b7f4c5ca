"""What a shell command line showed of files: one walk from the line to its views.

| command | what it shows |
|---|---|
| `cat`, `nl` | the whole file; with `-n`, `-ba` the lines that are numbered |
| `head`, `tail -n +N`, `sed -n A,Bp`, `sed Nq`, `awk NR>=A` | those lines |
| `tail -n N`, `head -c`, `sed s/…/` | the file, of lines that cannot be told |
| piped into `head`, `tail`, `sed -n`, `awk NR` | of what is piped, those lines |
| piped into `grep`, `rg` | the file, or the lines whose numbers are in the rows |
| piped into `jq`, `less`, `sort`, `tr`, `tee` | what is piped; into anything else (`wc`, `python`) nothing |
| `grep`, `rg`, `git grep` | the lines that the output lists, files whose rows have no number |
| `git show REV:f` | the file |
| `git diff`, `git show`, `git log -p`, `git stash show -p` | the lines in the hunks of the output |
| `xargs COMMAND`, `find -exec COMMAND` | as COMMAND with files that only the shell knew |
| searches with `-c`, `-l`, `-q`; `sed -n` without a `p`; `ls`, `find`, everything else | nothing |

What goes into a file or nowhere shows nothing. `cd` holds for what follows, within a subshell for that alone. After
`||` runs only what follows a command that showed nothing. Files and folders that only the shell knew (`$f`, `*.py`),
other commands that print files (`bat`), scripts that open some, and PowerShell are counted as not read.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

from ingest.runs.trajectories.bash_lines import UNKNOWN, Command, Pipeline, pipelines_of, without_documents
from ingest.runs.trajectories.json_values import MAX_LINE
from ingest.runs.trajectories.shell_commands import (
    EDITORS,
    FILTERS,
    WHOLE,
    PrintedRange,
    Search,
    git_options,
    is_diff,
    not_read,
    numbers_lines,
    options_of,
    parse_print_command,
    passes_on,
    search_of,
    unrolled,
)
from ingest.runs.trajectories.shell_output import Failures, hunks_in, joined_lines, numbers_in, views_in
from ingest.runs.trajectories.shell_paths import (
    PATCHERS,
    gone_to,
    in_windows,
    is_below,
    is_path,
    joined,
    patched_in,
    slashed,
    written_by,
)
from ingest.runs.trajectories.trajectory import FileSpan, ParsedCall, renamed

_MOVES = ("cd", "pushd", "chdir", "popd")
_PRINT_NOTHING = (
    *_MOVES, "mkdir", "rm", "cp", "mv", "touch", "export", "set", "source", ".", "true", ":", "sleep", "chmod",
    "exit", "unset", "shopt", "read", "git add",
)  # fmt: skip
_INTERPRETER = re.compile(r"(?:python|node|ruby|php|pypy)[0-9.]*")
_OPENS = re.compile(
    r"\bopen\(|\bread_(?:text|bytes)\(|\breadFile|\bFile\.(?:read|open)|\blinecache\b|file_get_contents"
)
_POWERSHELL = re.compile(
    r"(?:^|[|;({\s])(?:Get-Content|Get-ChildItem|Select-String|Select-Object|Set-Location|Set-Content)\b"
    r"|(?:^|[\\/|;({\s])(?:powershell|pwsh|cmd)(?:\.exe)?\s+[-/]",
    re.IGNORECASE,
)
_SHORT_NAMES = re.compile(r"(?:^|[|;&({]\s*)(?:gc|type|sls|sl)\s", re.IGNORECASE)
"""PowerShell's short names for its commands, which mean something else, or nothing, outside Windows."""
_MOVED = re.compile(r"(?:^|[|;&({\s])(?:cd|chdir|sl|\w+-Location)\s", re.IGNORECASE)
_MARKS = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_=>])")
_MAX_TARGETS, _MAX_SEARCHES = 100, 20


def reading_of_command(
    command: str | Sequence[str], output: str | None = None, *, failed: bool = False, folder: str = ""
) -> ParsedCall:
    """What a command line showed of files, in its order, and where it left the terminal.

    Args:
        command: A line, or the words of one command.
        output: What it printed; None where it is not known, and it counts as having printed what it was to print.
        failed: A single command that failed shows nothing, unless the output says which of its files could not be read;
            of several, nothing is shown by what follows the one that must have failed.
        folder: What relative paths are joined to; `UNKNOWN` where only the shell knew it.
    """
    source = command if isinstance(command, str) else "\n".join(command)
    plain = without_documents(source) if isinstance(command, str) else " ".join(command[:2])
    if _POWERSHELL.search(plain) or (in_windows(folder) and _SHORT_NAMES.search(plain)):
        left = UNKNOWN if _MOVED.search(source) else folder
        return ParsedCall(folder=left, unread=("command of PowerShell",) if output is None or output.strip() else ())
    pipelines = pipelines_of(slashed(command) if in_windows(folder) else command)
    if pipelines is None:
        return ParsedCall(reads=True, folder=folder, unread=("command too long to be read",))
    line = _Line(None if output is None else _MARKS.sub("", output).replace("\r", ""), failed, folder)
    line.read(pipelines)
    scripts = [one.commands[0].name for one in pipelines if _INTERPRETER.fullmatch(one.commands[0].name)]
    if scripts and output and _OPENS.search(source):
        line.unread.append(f"script of {scripts[0]} that opens files")
    patching = [pipeline for pipeline in pipelines if any(one.name in PATCHERS for one in pipeline.commands)]
    if patching and not failed:
        line.edited += [joined(line.folder(patching[0].scope), path) for path in patched_in(source)]
    views = (replace(view, path=view.path.replace("\\", "/")) if in_windows(folder) else view for view in line.views)
    edited = tuple(dict.fromkeys(filter(None, line.edited)))
    return ParsedCall(tuple(dict.fromkeys(views)), line.reads, line.folder(()), tuple(line.unread), edited)


@dataclass
class _Line:
    """A command line as far as it was gone through."""

    output: str | None
    failed: bool
    start: str
    views: list[FileSpan] = field(default_factory=list)
    reads: bool = False
    unread: list[str] = field(default_factory=list)
    edited: list[str] = field(default_factory=list)
    folders: dict[tuple[int, ...], tuple[str, str]] = field(default_factory=dict)
    is_alone: bool = False
    is_single: bool = False
    only: str = ""
    listed: dict[tuple[str, bool], list[FileSpan]] = field(default_factory=dict)

    @cached_property
    def failures(self) -> Failures:
        return Failures(self.output or "")

    @property
    def has_printed(self) -> bool:
        return self.output is None or self.output.strip() != ""

    @cached_property
    def hunks(self) -> list[FileSpan]:
        return hunks_in(self.output or "")

    def folder(self, scope: tuple[int, ...], *, before: bool = False) -> str:
        """The folder that a subshell is in, or was in before; where it was before the line is not said."""
        while scope and scope not in self.folders:
            scope = scope[:-1]
        return self.folders.get(scope, (self.start, UNKNOWN))[before]

    def read(self, pipelines: Sequence[Pipeline]) -> None:
        printing = [one for one in pipelines if not _is_hidden(one) and one.commands[0].name not in _PRINT_NOTHING]
        self.is_alone, self.is_single = len(printing) == 1, len(pipelines) == 1
        named = {search.only for one in printing if (search := search_of(one.commands[0].words))}
        self.only = named.pop() if len(named) == 1 else ""
        showed = False
        for pipeline in pipelines[: self._not_run(pipelines)]:
            if pipeline.joined_by == "||" and showed:
                continue
            before = len(self.views)
            self._read(pipeline)
            showed = len(self.views) > before and not pipeline.commands[0].hides_errors

    def _not_run(self, pipelines: Sequence[Pipeline]) -> int:
        """The place of the first that did not run, as one before it in a chain of `&&` failed, and none after it could.

        What reads files says so when it fails; so without such words another must have failed.
        """
        for place in range(len(pipelines) - 1, -1, -1) if self.failed else ():
            words = pipelines[place].commands[0].words or [""]
            is_move = words[0] in _MOVES
            is_trusted = is_move or words[0] == "echo" or parse_print_command(words) is not None
            if not is_trusted or (is_move and self.failures.refuse(words[-1])):
                return place + 1
            if pipelines[place].joined_by != "&&":
                break
        return len(pipelines)

    def _read(self, pipeline: Pipeline) -> None:
        folder, first = self.folder(pipeline.scope), pipeline.commands[0]
        written = (path for command in pipeline.commands for path in written_by(command) if is_path(path))
        self.edited += [joined(folder, path) for path in written if not path.startswith(("/tmp/", "/var/tmp/"))]
        if first.name in _MOVES:
            target = next(iter(options_of(first.words[1:])[1]), "~" if first.name == "cd" else UNKNOWN)
            is_run = len(pipeline.commands) == 1 and not (self.failed and self.is_single)
            if is_run and not self.failures.refuse(target):
                is_back = first.words[1:] == ["-"]
                now = self.folder(pipeline.scope, before=True) if is_back else gone_to(folder, target)
                self.folders[pipeline.scope] = (now, folder)
            return
        pipeline = unrolled(pipeline)
        views = list(self._shown_by(pipeline))
        # A file that is printed whole, without a word, is an empty one; anything else that printed nothing showed none.
        is_told = self.has_printed or (views and self._is_empty(pipeline, views))
        if first.name in self.failures.missing or not is_told:
            return
        if first.name == "git" and search_of(first.words) is None:
            root = git_options(first.words[1:])[0]
            folder = gone_to(folder, root) if UNKNOWN in folder else root
        known = renamed(views, partial(joined, folder))
        if views and not known:
            self.unread.append(f"command {first.name} in a folder that only the shell knew")
        self.views += known

    def _is_empty(self, pipeline: Pipeline, views: Iterable[FileSpan]) -> bool:
        is_whole = all((view.start, view.end) == (1, None) for view in views)
        return is_whole and len(pipeline.commands) == 1 and not (self.failed or pipeline.commands[0].hides_errors)

    def _shown_by(self, pipeline: Pipeline) -> Iterable[FileSpan]:
        first, rest = pipeline.commands[0], pipeline.commands[1:]
        if _is_hidden(pipeline) or not first.words:
            return ()
        searches = [search_of(command.words) for command in pipeline.commands]
        printed = parse_print_command(first.words)
        odd = [name for place, one in enumerate(pipeline.commands) if (name := not_read(one, is_fed=place > 0))]
        if odd and (printed or searches[0] or not_read(first)):
            self.reads |= odd[0] not in EDITORS
            if self.has_printed and odd[0] not in self.failures.missing:
                self.unread.append(f"command {odd[0]}")
            return ()
        if any(search and search.is_silent for search in searches) or not all(map(passes_on, rest)):
            return ()
        if searches[0]:
            self.reads = True
            return self._listed(searches[0])
        if is_diff(first.words):
            self.reads |= bool(self.hunks)
            return self.hunks
        if printed is None:
            return ()
        if any(UNKNOWN in file for file in printed.files):
            self.unread.append(f"command {first.name} of files that only the shell knew")
        self.reads |= bool(printed.files)
        return self._printed(first, printed, rest)

    def _listed(self, search: Search) -> list[FileSpan]:
        """What a search showed."""
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
            self.listed[key] = views_in("\n".join(rows), only, numbers=search.has_numbers, lists=False)
        views = self.listed[key]
        if search.is_numbered:
            views = [view for view in views if view.start is not None]
        if only and not self.is_alone and self.only != only and any(view.path == only for view in views):
            # Whose lines the output lists cannot be told where it does not name them.
            return [FileSpan(only)]
        roots = [posixpath.normpath(path) for path in search.files[:_MAX_TARGETS] if UNKNOWN not in path]
        return [view for view in views if not roots or is_below(view.path, roots)]

    def _printed(self, first: Command, printed: PrintedRange, rest: Sequence[Command]) -> list[FileSpan]:
        """What a command that prints files showed, and what the pipe after it left of that."""
        named = [file for file in printed.files if is_path(file)]
        files = [file for file in named if not self.failures.refuse(file)]
        if self.failed and self.is_alone and files == named:  # It may have read none of them.
            return []
        views = [view for file in files for view in printed.of(FileSpan(file, 1))]
        for command in rest:
            if hits := self._numbered(views, command):
                return hits
            views = _narrowed(views, command)
        if len(files) == 1 and self.is_alone and numbers_lines(first.words):
            shown = [(view.start or 1, view.end or MAX_LINE) for view in views]
            numbers = (line for line in numbers_in(self.output or "") if any(a <= line <= b for a, b in shown))
            views = joined_lines((files[0], line) for line in numbers) or views
        return views

    def _numbered(self, views: Sequence[FileSpan], command: Command) -> list[FileSpan]:
        """The lines that `grep -n` lists of one view that is piped into it: numbered from the view's first on."""
        search = search_of(command.words)
        first = views[0].start if len(views) == 1 and self.is_alone else None
        if search is None or not search.is_numbered or first is None:
            return []
        listed = ((one, one.start, one.end) for one in views_in(self.output or "", views[0].path))
        return [replace(one, start=a + first - 1, end=b + first - 1) for one, a, b in listed if a and b]


def _narrowed(views: list[FileSpan], command: Command) -> list[FileSpan]:
    """What a command that a pipe leads to prints of some views."""
    if command.name in FILTERS:
        return views
    printed = parse_print_command(command.words)
    if printed is not None and printed.windows == WHOLE:
        return views
    if printed is None or len(views) > 1:
        # It shows some of them, no one can tell which.
        return list(dict.fromkeys(FileSpan(view.path) for view in views))
    return [shown for view in views for shown in printed.of(view)]


def _is_hidden(pipeline: Pipeline) -> bool:
    return any(command.is_hidden for command in pipeline.commands)
