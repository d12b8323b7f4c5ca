"""PowerShell's command lines as the commands they run, those that show files said as bash says them.

| PowerShell | is read as |
|---|---|
| `Get-Content f`, `gc f`, `cat f`, `type f`, with `-Raw`, `-Path`, `-LiteralPath` | `cat f` |
| `Get-Content f` with `-TotalCount n`, `-First n`, `-Head n` | `head -n n f` |
| `Get-Content f` with `-Tail n`, `-Last n` | `tail -n n f` |
| `(Get-Content f)[a..b]` | `sed -n a+1,b+1p f` |
| piped into `Select-Object` with `-First n`, `-Skip n`, `-Last n`, `-Index a..b` | into `head`, `tail` or `sed -n` |
| `Select-String p f`, `sls`, or piped into it | `rg -e p f` |
| piped into `Out-String`, `Out-Host`, `Format-…` | into `cat` |
| `Set-Content`, `Out-File`, `Add-Content`, `>` | nothing is shown |
| `Set-Location`, `sl`, `cd` | `cd` |
| `(Join-Path a b)` as an argument | `a/b`; any other in brackets is one that only the shell knew |

Anything else (`rg`, `git`, `sed`) is read as in bash, with backslashes in paths.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from ingest.runs.trajectories.command_lines import MAX_CHARACTERS, UNKNOWN, Command, Pipeline, without_documents

_SHELLS = ("powershell", "powershell.exe", "pwsh", "pwsh.exe", "cmd", "cmd.exe")
_CMDLET = re.compile(
    r"(?:^|[|;({\s])(?:Get-Content|Get-ChildItem|Select-String|Select-Object|Set-Location|Set-Content)\b", re.I
)
_SCRIPT = re.compile(
    r"\A\s*(?:powershell|pwsh)(?:\.exe)?\s[^'\"]{0,200}?-c(?:ommand)?\s+(?P<quote>['\"])(?P<script>.*)(?P=quote)\s*\Z",
    re.IGNORECASE | re.DOTALL,
)
_WINDOWS = re.compile(r"[A-Za-z]:[\\/]|\\\\")
_TOKEN = re.compile(
    r"""
    (?P<space>[ \t\r]+|`\r?\n)
    |(?P<comment>\#[^\n]*)
    |(?P<index>\)\[(?P<a>[0-9]+)\.\.(?P<b>[0-9]+)\])
    |(?P<redirect>[0-9*]?>>?(?:&1)?)
    |(?P<end>\n|;|&&|\|\||&)
    |(?P<pipe>\|)
    |(?P<bracket>\)(?:\.\w+)*|[({}@])
    |(?P<word>(?:'(?:[^']|'')*'|"(?:`.|[^"`])*"|`.|[^\s|;&(){}'"`>])+)
    """,
    re.VERBOSE | re.DOTALL,
)
_PIECE = re.compile(
    r"'(?P<single>(?:[^']|'')*)'|\"(?P<double>(?:`.|[^\"`])*)\"|`(?P<one>.)|(?P<bare>[^'\"`]+)", re.DOTALL
)
_NUMBER = re.compile(r"[0-9]{1,19}")
_READERS = ("get-content", "gc", "cat", "type")
_SEARCHES = ("select-string", "sls")
_ALIASES = {
    "set-location": "cd", "sl": "cd", "push-location": "pushd", "pop-location": "popd", "out-string": "cat",
    "out-host": "cat",
}  # fmt: skip
_SINKS = ("set-content", "out-file", "add-content", "out-null", "tee-object")
_SWITCHES = ("-raw", "-wait", "-force", "-casesensitive", "-simplematch", "-allmatches", "-list", "-quiet", "-unique")


def is_powershell(command: str | Sequence[str], folder: str) -> bool:
    """Whether a command is PowerShell's: by a folder of Windows it runs in, or by its own words."""
    if not isinstance(command, str):
        return bool(command) and command[0].replace("\\", "/").rpartition("/")[2].lower() in _SHELLS
    return _WINDOWS.match(folder) is not None or _CMDLET.search(command[:MAX_CHARACTERS]) is not None


def powershell_pipelines_of(command: str | Sequence[str]) -> list[Pipeline] | None:
    """The pipelines that a command line runs, as `command_lines` has them; None for a line too long."""
    if not isinstance(command, str):
        command = command[-1]
    command = without_documents(_SCRIPT.sub(lambda found: found["script"], command, count=1))
    if len(command) > MAX_CHARACTERS:
        return None
    pipelines = [Pipeline([Command()])]
    place, redirect = 0, ""
    inner: list[list[str]] = []
    while found := _TOKEN.match(command, place):
        place = found.end()
        last = pipelines[-1].commands[-1]
        word = None if found["word"] is None else _PIECE.sub(_unquoted, found["word"])
        if found["bracket"] == "(" and (inner or last.words):
            inner.append([])
            continue
        if inner and found[0].startswith(")"):
            words = inner.pop()
            word = _value(words) if found[0] == ")" else UNKNOWN
        if inner:
            inner[-1] += [] if word is None else [word]
        elif word is not None:
            if redirect:
                last.is_hidden, last.writes = redirect[0] in ">1*", [*last.writes, word]
            else:
                last.words.append(word)
            redirect = ""
        elif found["redirect"] is not None:
            redirect = "" if found["redirect"].endswith("&1") else found["redirect"]
        elif found["index"] is not None:
            last.words += ["-index", f"{found['a']}..{found['b']}"]
        elif found["pipe"] is not None:
            pipelines[-1].commands.append(Command())
        elif found["end"] is not None:
            pipelines.append(Pipeline([Command()], found["end"] if found["end"] in ("&&", "||") else ""))
    for pipeline in pipelines:
        pipeline.commands = [_as_bash(command) for command in pipeline.commands if command.words]
    return [pipeline for pipeline in pipelines if pipeline.commands]


def _value(words: Sequence[str]) -> str:
    """What an argument in brackets is: a number, the path of `Join-Path a b`, or what only the shell knew."""
    if words[:1] and words[0].lower() == "join-path":
        named, plain = _arguments(words[1:])
        parts = [*(named[key] for key in ("-path", "-childpath") if key in named), *plain]
        known = len(parts) == 2 and not any(UNKNOWN in part for part in parts)
        return f"{parts[0]}/{parts[1]}" if known else UNKNOWN
    return words[0] if len(words) == 1 and words[0].isdecimal() else UNKNOWN


def _unquoted(found: re.Match[str]) -> str:
    if found["double"] is not None:
        return re.sub(r"\$[\w:{(]+", UNKNOWN, found["double"].replace('`"', '"'))
    if found["single"] is not None:
        return found["single"].replace("''", "'")
    return found["one"] or re.sub(r"\$[\w:]+|[*?]", UNKNOWN, found["bare"])


def _as_bash(command: Command) -> Command:
    """A command with the words that bash would have for it; paths with `/`."""
    words = [word if word.startswith("-") else word.replace("\\", "/") for word in command.words]
    name = words[0].lower()
    named, plain = _arguments(words[1:])
    if name in _SEARCHES and "-pattern" not in named:
        named["-pattern"], plain = "".join(plain[:1]), plain[1:]
    path = _first(named, "-path", "-literalpath", "-filepath")
    files = [part for word in ([path] if path else plain) for part in word.split(",") if part]
    if name in _SEARCHES:
        words = ["rg", *(["-l"] if {"-list", "-quiet"} & named.keys() else []), "-e", named["-pattern"], *files]
    elif name in _READERS or name in ("select-object", "select"):
        words = [*_window(named), *(files if name in _READERS else ())]
    elif name in _ALIASES or name.startswith("format-"):
        words = [_ALIASES.get(name, "cat"), *files]
    elif name in _SINKS:
        return Command(["cat"], is_hidden=True, writes=[*command.writes, *files[:1]])
    return replace(command, words=words)


def _arguments(words: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """What follows named parameters, by their names, and the other words."""
    named: dict[str, str] = {}
    plain, key = [], ""
    for word in words:
        if word.startswith("-") and not word[1:].isdecimal():
            key = word.lower()
            named[key] = ""
            key = "" if key in _SWITCHES else key
        elif key:
            named[key], key = word, ""
        else:
            plain.append(word)
    return named, plain


def _window(named: dict[str, str]) -> list[str]:
    """The command that takes the lines which `Get-Content` or `Select-Object` is told to take."""
    first, last = _first(named, "-totalcount", "-first", "-head"), _first(named, "-tail", "-last")
    if found := re.fullmatch(r"([0-9]{1,19})\.\.([0-9]{1,19})", named.get("-index", "")):
        return ["sed", "-n", f"{int(found[1]) + 1},{int(found[2]) + 1}p"]
    if skip := _NUMBER.fullmatch(named.get("-skip", "")):
        end = int(first) + int(skip[0]) if _NUMBER.fullmatch(first) else "$"
        return ["sed", "-n", f"{int(skip[0]) + 1},{end}p"]
    return ["head", "-n", first] if first else ["tail", "-n", last] if last else ["cat"]


def _first(named: dict[str, str], *keys: str) -> str:
    return next((named[key] for key in keys if key in named), "")
