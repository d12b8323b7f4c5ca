"""Bash command lines as the commands they run, by tree-sitter's grammar: words without quotes, pipes, redirections."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count, pairwise

from tree_sitter import Node

from ingest.contents.syntax_trees import syntax_tree
from ingest.runs.trajectories.command_lines import MAX_CHARACTERS, UNKNOWN, Command, Pipeline, without_documents

_MAX_MARKS = 2_000  # The parser takes time and memory that grow with the square of these.
_MAX_DEPTH, _MAX_VALUE, _MAX_SCOPES = 3, 1_000, 20
_PREFIXES = ("sudo", "time", "command", "nohup", "env", "exec", "nice", "stdbuf", "builtin")
_HIDING = (">", ">>", ">|", "&>", "&>>", ">&")
_OPEN = ("/dev/stdout", "/dev/stderr", "/dev/tty", "-", "1", "2")
_CLOSED = (
    "function_definition", "test_command", "declaration_command", "heredoc_body", "comment", "file_redirect",
    "herestring_redirect",
)  # fmt: skip
_BARE = re.compile(r"\\(?P<one>.)|(?P<pattern>[*?])|(?P<brace>[{},])", re.DOTALL)
_BRACES = re.compile("\1([^\1\2]*)\2")
_BRACE_MARKS = {"{": "\1", "}": "\2", ",": "\3"}
_ESCAPED = re.compile(r"\\([$`\"\\\n])")


def pipelines_of(command: str | Sequence[str]) -> list[Pipeline] | None:
    """The pipelines that a command line runs, in its order; what `bash -c` is given is read as a line itself.

    Texts fed to a command in the line (`<<EOF`), comments and bodies of functions are left out; variables that the line
    gives a plain value have it. Of a broken line what the grammar makes out is read.

    Args:
        command: A line, or the words of one command.

    Returns:
        The pipelines; None for a line that is too long or too deeply nested to be read.
    """
    pipelines = _pipelines(command) if isinstance(command, str) else [Pipeline([Command(list(command))])]
    return None if pipelines is None else list(_unwrapped(pipelines, 0))


def _unwrapped(pipelines: Sequence[Pipeline], depth: int) -> Iterator[Pipeline]:
    for place, pipeline in enumerate(pipelines):
        first = pipeline.commands[0]
        for command in pipeline.commands:
            command.words = _without_prefix(command.words)
        script = _script(first)
        # What the shell put into the script's text is no more known in it.
        inner = _pipelines(script.replace(UNKNOWN, "${_}")) if script is not None and depth < _MAX_DEPTH else None
        if inner is None:
            if first.words or first.writes:
                yield pipeline
            continue
        for number, one in enumerate(inner):
            one.scope = (*pipeline.scope, -place - 1, *one.scope)
            one.joined_by = one.joined_by if number else pipeline.joined_by
            one.commands += pipeline.commands[1:]
            one.commands[0].is_hidden |= first.is_hidden
        yield from _unwrapped(inner, depth + 1)


def _without_prefix(words: list[str]) -> list[str]:
    while words:
        if words[0].rpartition("/")[2] in _PREFIXES:
            words = words[1:]
            while words and words[0].startswith("-"):
                words = words[1 + (words[0] in ("-u", "-g", "-n", "-o", "-e", "-i")) :]
        elif "=" in words[0] and words[0].partition("=")[0].isidentifier():
            words = words[1:]
        elif words[0] == "timeout" and len(words) > 2:
            words = words[2:]
        else:
            break
    return words


def _script(command: Command) -> str | None:
    """What a shell is given as `-c`, also among other flags as in `-lc`."""
    given = pairwise(command.words[1:] if command.name in ("bash", "sh", "zsh", "dash", "ksh") else ())
    return next((script for flag, script in given if re.fullmatch(r"-[a-z]*c", flag)), None)


def _pipelines(line: str) -> list[Pipeline] | None:
    line = without_documents(line).replace("\r", "").replace("\0", "")
    if len(line) > MAX_CHARACTERS or max(map(line.count, ("|", "(", "<<"))) > _MAX_MARKS:
        return None
    root = syntax_tree(line.encode(errors="replace"), "bash")
    return None if isinstance(root, str) else list(_Walk().pipelines(root))


class _Walk:
    """One way through a line's tree, which remembers what variables were given.

    A node's place is a pipeline: its first command has the redirections around the node, those that follow come after.
    """

    def __init__(self) -> None:
        self.variables = {"PWD": "."}
        self.scopes = count(1)

    def pipelines(self, root: Node) -> Iterator[Pipeline]:
        left = [(root, Pipeline([Command()]))]
        while left:
            node, place = left.pop()
            if node.type in ("command", "variable_assignment"):
                command, around = self._command(node), place.commands[0]
                command.is_hidden |= around.is_hidden
                command.hides_errors |= around.hides_errors
                command.writes += around.writes
                command.words += around.words
                yield replace(place, commands=[command, *place.commands[1:]])
                if command.name in ("echo", "printf"):
                    left += reversed(list(self._inside_words(node, place)))
            elif node.type not in _CLOSED:
                left += reversed(list(self._inside(node, place)))

    def _inside(self, node: Node, place: Pipeline) -> Iterator[tuple[Node, Pipeline]]:
        children, (around, *following) = node.named_children, place.commands
        if node.type == "redirected_statement":
            around = replace(around, words=[], writes=list(around.writes))
            for child in children[1:]:
                self._redirect(child, around)
            inner = replace(place, commands=[around, *following])
            if children[0].type == "list":
                yield from self._joined(children[0], place, inner)
                return
            if children[0].type != "command":
                around.words.clear()
            yield children[0], inner
            # What follows a text that is fed to a command in the line is held by the redirection.
            yield from ((child, replace(place, joined_by="")) for child in children[1:])
        elif node.type == "pipeline":
            yield children[0], replace(place, commands=[around, *self._stages(children[1:]), *following])
        else:
            if node.type == "subshell" and len(place.scope) < _MAX_SCOPES:
                place = replace(place, scope=(*place.scope, next(self.scopes)))
            yield from self._joined(node, place, place)

    def _inside_words(self, node: Node, place: Pipeline) -> Iterator[tuple[Node, Pipeline]]:
        """The commands whose output is among the words of one, as in `echo "$(cat a.py)"`."""
        for child in node.named_children:
            for inner in (child, *child.named_children):
                if inner.type == "command_substitution":
                    yield inner, replace(place, joined_by="", scope=(*place.scope, next(self.scopes)))

    def _joined(self, node: Node, place: Pipeline, last: Pipeline) -> Iterator[tuple[Node, Pipeline]]:
        """What a node holds, each with what joins it to the one before; redirections after a list are of its last."""
        operator = next((child.type for child in node.children if child.type in ("&&", "||")), "")
        for number, child in enumerate(node.named_children):
            joined_by = place.joined_by if number == 0 else operator if node.type == "list" else ""
            joined_by = "||" if child.type in ("else_clause", "elif_clause") else joined_by
            yield child, replace(last if number == node.named_child_count - 1 else place, joined_by=joined_by)

    def _stages(self, nodes: Sequence[Node]) -> Iterator[Command]:
        for node in nodes:
            body = node.named_children[0] if node.type == "redirected_statement" else node
            command = self._command(body) if body.type == "command" else Command([body.type])
            for child in node.named_children[1:] if node is not body else ():
                self._redirect(child, command)
            yield command

    def _command(self, node: Node) -> Command:
        command = Command()
        if node.type == "variable_assignment":
            if node.named_child_count == 2:
                value = "".join(self._words(node.named_children[1]))
                self.variables[_source(node.named_children[0])] = value if len(value) < _MAX_VALUE else UNKNOWN
            return command
        for child in node.named_children:
            if child.type.endswith("_redirect"):
                self._redirect(child, command)
            elif child.type != "variable_assignment":
                command.words += self._words(child)
        return command

    def _redirect(self, node: Node, command: Command) -> None:
        if node.type == "heredoc_redirect":
            for child in node.named_children:
                self._redirect(child, command)
        if node.type != "file_redirect":
            return
        operator = next((child.type for child in node.children if not child.is_named), "")
        number = next((_source(child) for child in node.children if child.type == "file_descriptor"), "")
        target = "".join(self._words(node.named_children[-1])) if node.named_children else ""
        if operator == "<":
            command.words += [target]
        elif operator in _HIDING:
            if number == "2" or operator.startswith("&"):
                command.hides_errors = target != "1"
            if number in ("", "1") and target not in _OPEN:
                command.is_hidden = True
                command.writes += [target]

    def _words(self, node: Node) -> list[str]:
        """The words that a node stands for: one, or several where it has braces, as `{a,b}.py`."""
        word = _word(node, self.variables)
        words = [word]
        if (found := _BRACES.search(word)) and "\3" in found[1]:
            words = [f"{word[: found.start()]}{one}{word[found.end() :]}" for one in found[1].split("\3")]
        return [one.translate({1: "{", 2: "}", 3: ","}) for one in words]


def _word(node: Node, variables: Mapping[str, str]) -> str:
    """A word as the command is given it, with `UNKNOWN` for what cannot be told and marks for bare braces."""
    kind, text = node.type, _source(node)
    if kind in ("word", "number", "variable_name", "{", "}"):
        return _BARE.sub(_bare, text) if kind == "word" else _BRACE_MARKS.get(text, text)
    if kind == "raw_string":
        return text[1:-1]
    if kind == "ansi_c_string":
        return re.sub(r"\\(.)", lambda found: {"n": "\n", "t": "\t"}.get(found[1], found[1]), text[2:-1])
    if kind in ("simple_expansion", "expansion"):
        return variables.get(text.strip("${}"), UNKNOWN)
    if kind == "command_substitution":
        return "." if text in ("$(pwd)", "`pwd`") else UNKNOWN
    if kind == "string":
        return "".join(_pieces(node, variables))
    if kind in ("concatenation", "command_name"):
        return "".join(_word(child, variables) for child in node.children)
    return UNKNOWN if node.is_named else text


def _pieces(node: Node, variables: Mapping[str, str]) -> Iterator[str]:
    """The pieces of a text in double quotes; white space between them is in no node."""
    source, end = node.text or b"", node.start_byte + 1
    for child in node.named_children:
        yield source[end - node.start_byte : child.start_byte - node.start_byte].decode(errors="replace")
        plain = child.type == "string_content"
        yield _ESCAPED.sub(lambda found: found[1].strip("\n"), _source(child)) if plain else _word(child, variables)
        end = child.end_byte
    yield source[end - node.start_byte : -1].decode(errors="replace")


def _bare(found: re.Match[str]) -> str:
    if found["one"] is not None:
        return found["one"].strip("\n")
    return UNKNOWN if found["pattern"] else _BRACE_MARKS[found["brace"]]


def _source(node: Node) -> str:
    return (node.text or b"").decode(errors="replace")
