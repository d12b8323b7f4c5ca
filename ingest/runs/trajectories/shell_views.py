"""What a shell command line showed of files: the one place where commands are read as views.

Its public function is :func:`reading_of_command`. What is known of a command is what the record says of it: the line,
the text that was printed, whether it failed, the folder it ran in.

| command | what it shows |
|---|---|
| `cat`, `nl`, `less`, `more`, `bat`, `tac`, `strings` | the whole file; with `-n`, `-ba` the lines that are numbered |
| `less +N`, `head`, `tail -n +N`, `sed -n A,Bp`, `sed Nq`, `awk NR>=A`, `bat -r A:B`, `perl -ne` | those lines |
| `tail -n N`, `head -c`, `sed s/…/`, `awk`, `jq`, `sort`, `cut`, `uniq` | the file; which lines cannot be told |
| piped into `head`, `tail`, `sed -n`, `awk NR` | of what is piped, those lines |
| piped into `grep`, `rg` | the file, or the lines whose numbers are in the rows |
| piped into `jq`, `cat -v`, `tr`, `column`, `tee` | what is piped; into anything else (`wc`, `python`) nothing |
| `grep`, `rg`, `git grep`, `ag`, `ack` | the lines that the output lists, files whose rows have no number |
| these with `-c`, `-l`, `-q`, `--files`; `sed -n` without a `p`, `jq empty`, `awk END{…}` | nothing |
| `git show REV:f`, `git cat-file -p REV:f`, `git blame [-L A,B]` | the file, or those lines |
| `git diff`, `git show`, `git log -p`, `git stash show -p`, `diff -u` | the lines in the hunks of the output |
| `xargs COMMAND`, `find -exec COMMAND` | as COMMAND with the files that `echo` or `ls` names, or a search lists |
| `ls`, `find`, `tree`, `wc`, `file`, `stat`, everything else | nothing |

What goes into a file or nowhere shows nothing. `cd` holds for what follows, within a subshell for that alone. After one
to a folder that only the shell knew (`cd "$d"`) relative paths are of no file, until the next to an absolute one. After
`||` runs only what follows a command that showed nothing. Files that only the shell knew (`$f`, `*.py`), those in
such a folder, scripts (`python -c`) that open files, and lines of PowerShell are counted as not read.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

from ingest.runs.trajectories.bash_lines import pipelines_of
from ingest.runs.trajectories.command_lines import UNKNOWN, Command, Pipeline, in_windows, left_by_powershell, slashed
from ingest.runs.trajectories.json_values import MAX_LINE
from ingest.runs.trajectories.shell_files import (
    PATCHERS,
    Search,
    gone_to,
    is_below,
    is_path,
    joined,
    patched_in,
    search_of,
    unrolled,
    written_by,
)
from ingest.runs.trajectories.shell_output import Failures, hunks_in, joined_lines, numbers_in, views_in
from ingest.runs.trajectories.shell_readers import (
    WHOLE,
    Printed,
    git_options,
    is_diff,
    numbers_lines,
    options_of,
    printed_by,
)
from ingest.runs.trajectories.trajectory import Reading, View, renamed

_FILTERS = ("jq", "tr", "column", "sort", "fold", "expand", "tee", "rev", "iconv", "cut", "uniq", "less", "more")
"""Commands that print all that they read, changed or in another order."""
_MOVES = ("cd", "pushd", "chdir", "popd")
_PRINT_NOTHING = (
    *_MOVES, "mkdir", "rm", "cp", "mv", "touch", "export", "set", "source", ".", "true", ":", "sleep", "chmod",
    "exit", "unset", "shopt", "read", "git add",
)  # fmt: skip
_INTERPRETER = re.compile(r"(?:python|node|ruby|perl|php|pypy)[0-9.]*")
_OPENS = re.compile(
    r"\bopen\(|\bread_(?:text|bytes)\(|\breadFile|\bFile\.(?:read|open)|\blinecache\b|file_get_contents"
)
_INTERACTIVE = ("vi", "vim", "nvim", "nano", "emacs", "ed", "view")
_MARKS = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_=>])")
_MAX_TARGETS, _MAX_SEARCHES = 100, 20


def reading_of_command(
    command: str | Sequence[str], output: str | None = None, *, failed: bool = False, folder: str = ""
) -> Reading:
    """What a command line showed of files, in its order, and where it left the terminal.

    Args:
        command: A line, or the words of one command.
        output: What it printed; None where it is not known, and it counts as having printed what it was to print.
        failed: Whether it ended with an error. A single command that failed shows nothing, unless the output says which
            of its files could not be read; of several, nothing is shown by what follows the one that must have failed.
        folder: Where it runs, empty where it is not said: what relative paths are joined to, as is what `cd` in the
            line names; `UNKNOWN` where a `cd` went where only the shell knew. A caller whose terminal lives on gives
            the folder of the reading before.

    Returns:
        The views, each once; `reads` where a command in it reads files; `folder` after it; `edited` for the files it
        writes to; `unread` for what it was to show and could not be told.
    """
    if (left := left_by_powershell(command, folder)) is not None:
        return Reading(folder=left, unread=("command of PowerShell",) if output is None or output.strip() else ())
    source = command if isinstance(command, str) else "\n".join(command)
    command = slashed(command) if in_windows(folder) else command
    pipelines = pipelines_of(command)
    if pipelines is None:
        return Reading(reads=True, folder=folder, unread=("command too long to be read",))
    line = _Line(None if output is None else _MARKS.sub("", output).replace("\r", ""), failed, folder)
    line.read(pipelines)
    scripts = [one.commands[0].name for one in pipelines if _INTERPRETER.fullmatch(one.commands[0].name)]
    if scripts and output and _OPENS.search(source):
        line.unread.append(f"script of {scripts[0]} that opens files")
    patching = [pipeline for pipeline in pipelines if any(one.name in PATCHERS for one in pipeline.commands)]
    if patching and not failed:
        folder = line.visited(patching[0].scope)[-1]
        line.edited += [joined(folder, path) for path in patched_in(source)]
    is_windows = in_windows(line.start)
    views = (replace(view, path=view.path.replace("\\", "/")) if is_windows else view for view in line.views)
    edited = tuple(dict.fromkeys(filter(None, line.edited)))
    return Reading(tuple(dict.fromkeys(views)), line.reads, line.visited(())[-1], tuple(line.unread), edited)


@dataclass
class _Line:
    """A command line as far as it was gone through."""

    output: str | None
    failed: bool
    start: str
    views: list[View] = field(default_factory=list)
    reads: bool = False
    unread: list[str] = field(default_factory=list)
    edited: list[str] = field(default_factory=list)
    folders: dict[tuple[int, ...], tuple[str, ...]] = field(default_factory=dict)
    is_alone: bool = False
    is_single: bool = False
    only: str = ""
    listed: dict[tuple[str, bool], list[View]] = field(default_factory=dict)

    @cached_property
    def failures(self) -> Failures:
        return Failures(self.output or "")

    @cached_property
    def hunks(self) -> list[View]:
        return hunks_in(self.output or "")

    def visited(self, scope: tuple[int, ...]) -> tuple[str, ...]:
        """The folders that a subshell went to and can go back to; the last is the one it is in."""
        while scope and scope not in self.folders:
            scope = scope[:-1]
        return self.folders.get(scope, (self.start,))

    def read(self, pipelines: Sequence[Pipeline]) -> None:
        printing = [one for one in pipelines if not _is_hidden(one) and one.commands[0].name not in _PRINT_NOTHING]
        self.is_alone, self.is_single = len(printing) == 1, len(pipelines) == 1
        named = {search.only for one in printing if (search := search_of(one.commands[0].words))}
        self.only = named.pop() if len(named) == 1 else ""
        not_run, showed = self._not_run(pipelines), False
        for place, pipeline in enumerate(pipelines):
            if pipeline.joined_by == "||" and showed:
                continue
            before = len(self.views)
            if place < not_run:
                self._read(pipeline)
            showed = len(self.views) > before and not pipeline.commands[0].hides_errors

    def _not_run(self, pipelines: Sequence[Pipeline]) -> int:
        """The place of the first that did not run, as one before it in a chain of `&&` failed, and none after it could.

        What reads files says so when it fails; so without such words another must have failed.
        """
        for place in range(len(pipelines) - 1, -1, -1) if self.failed else ():
            words = pipelines[place].commands[0].words or [""]
            is_move = words[0] in _MOVES
            is_trusted = is_move or words[0] == "echo" or printed_by(words) is not None
            if not is_trusted or (is_move and self.failures.refuse(words[-1])):
                return place + 1
            if pipelines[place].joined_by != "&&":
                break
        return len(pipelines)

    def _read(self, pipeline: Pipeline) -> None:
        folder = self.visited(pipeline.scope)[-1]
        first = pipeline.commands[0]
        written = (path for command in pipeline.commands for path in written_by(command) if is_path(path))
        self.edited += [joined(folder, path) for path in written if not path.startswith(("/tmp/", "/var/tmp/"))]
        if first.name in _MOVES:
            if len(pipeline.commands) == 1 and not (self.failed and self.is_single):
                self._move(pipeline.scope, first)
            return
        pipeline = unrolled(pipeline)
        reads, views = self._shown_by(pipeline)
        self.reads |= reads
        # A file that is printed whole, without a word, is an empty one; anything else that printed nothing showed none.
        is_told = self.output is None or self.output.strip() or (views and self._is_empty(pipeline, views))
        if first.name not in self.failures.missing and is_told:
            is_rooted = first.name == "git" and search_of(first.words) is None and "blame" not in first.words
            root = git_options(first.words[1:])[0]
            folder = folder if not is_rooted else gone_to(folder, root) if UNKNOWN in folder else root
            known = renamed(views, partial(joined, folder))
            if views and not known:
                self.unread.append(f"command {first.name} in a folder that only the shell knew")
            self.views += known

    def _move(self, scope: tuple[int, ...], command: Command) -> None:
        visited = self.visited(scope)
        target = next(iter(options_of(command.words[1:])[1]), UNKNOWN if command.name == "pushd" else "~")
        if command.name == "popd" or command.words[1:] == ["-"]:
            # Where a terminal was before the line is not said.
            self.folders[scope] = visited[:-1] or (UNKNOWN,)
        elif not self.failures.refuse(target):
            self.folders[scope] = (*visited, gone_to(visited[-1], target))

    def _is_empty(self, pipeline: Pipeline, views: Iterable[View]) -> bool:
        is_whole = all((view.start, view.end) == (1, None) for view in views)
        return is_whole and len(pipeline.commands) == 1 and not (self.failed or pipeline.commands[0].hides_errors)

    def _shown_by(self, pipeline: Pipeline) -> tuple[bool, Iterable[View]]:
        first, rest = pipeline.commands[0], pipeline.commands[1:]
        if _is_hidden(pipeline) or not first.words:
            return False, ()
        searches = [search_of(command.words) for command in pipeline.commands]
        if any(search and search.is_silent for search in searches) or not all(map(_passes_on, rest)):
            return False, ()
        if searches[0]:
            return True, self._listed(searches[0])
        if is_diff(first.words):
            return bool(self.hunks), self.hunks
        printed = printed_by(first.words)
        if printed is None:
            if first.name in _INTERACTIVE and first.name not in self.failures.missing:
                self.unread.append(f"command {first.name}")
            return False, ()
        if any(UNKNOWN in file for file in printed.files):
            self.unread.append(f"command {first.name} of files that only the shell knew")
        return bool(printed.files), self._printed(first, printed, rest)

    def _listed(self, search: Search) -> list[View]:
        """What a search showed."""
        only = search.only
        if self.output is None:
            return [View(only)] if "." in posixpath.basename(only).lstrip(".") and not self.failed else []
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
            return [View(only)]
        roots = [posixpath.normpath(path) for path in search.files[:_MAX_TARGETS] if UNKNOWN not in path]
        return [view for view in views if not roots or is_below(view.path, roots)]

    def _printed(self, first: Command, printed: Printed, rest: Sequence[Command]) -> list[View]:
        """What a command that prints files showed, and what the pipe after it left of that."""
        named = [file for file in printed.files if is_path(file)]
        files = [file for file in named if not self.failures.refuse(file)]
        if self.failed and self.is_alone and files == named:  # It may have read none of them.
            return []
        views = [view for file in files for view in printed.of(View(file, 1))]
        for command in rest:
            if hits := self._numbered(views, command):
                return hits
            views = self._narrowed(views, command)
        if len(files) == 1 and self.is_alone and numbers_lines(first.words):
            shown = [(view.start or 1, view.end or MAX_LINE) for view in views]
            numbers = (line for line in numbers_in(self.output or "") if any(a <= line <= b for a, b in shown))
            views = joined_lines((files[0], line) for line in numbers) or views
        return views

    def _numbered(self, views: Sequence[View], command: Command) -> list[View]:
        """The lines that `grep -n` lists of one view that is piped into it: numbered from the view's first on."""
        search = search_of(command.words)
        first = views[0].start if len(views) == 1 and self.is_alone else None
        if search is None or not search.is_numbered or first is None:
            return []
        listed = ((one, one.start, one.end) for one in views_in(self.output or "", views[0].path))
        return [replace(one, start=a + first - 1, end=b + first - 1) for one, a, b in listed if a and b]

    def _narrowed(self, views: list[View], command: Command) -> list[View]:
        printed, is_search = printed_by(command.words), search_of(command.words) is not None
        if not is_search and (printed is None or printed.windows == WHOLE or command.name in _FILTERS):
            return views
        if is_search or printed is None or len(views) > 1:
            # It shows some of them, no one can tell which.
            return list(dict.fromkeys(View(view.path) for view in views))
        return [shown for view in views for shown in printed.of(view)]


def _is_hidden(pipeline: Pipeline) -> bool:
    return any(command.is_hidden for command in pipeline.commands)


def _passes_on(command: Command) -> bool:
    """Whether a command prints what it reads, or a part of it."""
    is_known = search_of(command.words) is not None or printed_by(command.words) is not None
    return is_known or command.name in ("tr", "tee") or command.words[1:3] == ["-m", "json.tool"]
