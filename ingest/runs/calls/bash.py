"""Bash command lines parsed with tree-sitter into the commands they run: words without quotes, pipes, redirections."""

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from fnmatch import fnmatchcase
from glob import escape
from itertools import chain, count, pairwise

from tree_sitter import Node

from ingest.contents.syntax_trees import syntax_tree, text_of
from ingest.runs.calls.commands import SHELLS, Command, Pipeline, unrolled
from ingest.runs.trajectory import UNKNOWN

_MAX_CHARACTERS = 40_000  # a longer line, not counting its here-documents, is not read
_MAX_MARKS = 2_000  # The parser's time and memory grow with the square of the number of `|`, `(` or `<<`.
_MAX_DEPTH, _MAX_VALUE = 3, 1_000
_MAX_REPEATED = 200_000  # characters of the bodies of loops, each as often as it runs
_EACH, _LEAF = "\1", "\2"  # a loop's variable, and its last part, while its `echo` is looked for in the output
_BEFORE_ONE = ("timeout", "docker exec", "podman exec")  # commands that run another one, after one word
_PREFIXES = (
    *_BEFORE_ONE, "sudo", "time", "command", "nohup", "env", "exec", "nice", "stdbuf", "builtin", "rtk", "conda run",
    "mamba run", "uv run", "poetry run",
)  # fmt: skip
_PREFIX_FLAGS = ("-u", "-g", "-n", "-o", "-e", "-i", "-k", "-s", "-w", "--user", "--workdir", "--env", "--name")
"""Flags of these commands that take a value."""
_OPEN = ("/dev/stdout", "/dev/stderr", "/dev/tty", "-", "1", "2")
_Stage = tuple[Node, list[Node]]  # a statement and its redirections
_JOINING = ("list", "pipeline", "redirected_statement")
_CLOSED = ("function_definition", "declaration_command", "heredoc_body", "comment")
_READS = re.compile(r"(?:IFS=\S* )?read\b")
_LAST_PART = re.compile(r"\$\(basename (?:-- )?\"?\$\{?(\w+)\}?\"?\)|\$\{(\w+)##\*/\}")
_BARE = re.compile(r"\\(?P<escaped>.)|[*?{}]", re.DOTALL)
_VARIABLE = re.compile(r"(?<=[\w}]/)\$([A-Za-z_]\w*)")  # the parser ends a word at its second variable without braces
_DOCUMENT = re.compile(r"(?<!<)<<-?[ \t]*(?P<quote>['\"]?)\\?(?P<tag>\w+)(?P=quote)")


def parse_command_line(line: str, output: str = "") -> list[Pipeline] | None:
    """The pipelines that a line runs, also by `bash -c`, without here-documents; None if it is too long or too deep.

    Turns of a loop that begin with an `echo` are left out if `output` does not have the echoed row.
    """
    parser = _Parser(output)
    with suppress(RecursionError):
        return parser.pipelines if parser.read_line(line, Pipeline([Command()])) else None
    return None


def without_documents(text: str) -> str:
    """A command line without its here-documents."""
    lines = text.split("\n")
    closing = {line.strip() for line in lines}
    kept, tags = list[str](), list[str]()
    for line in lines:
        if tags:
            del tags[: line.strip() == tags[0]]
            continue
        opened = [mark for mark in _DOCUMENT.finditer(line) if mark["tag"] in closing]
        tags = [mark["tag"] for mark in opened]
        for mark in opened:
            line = line.replace(mark[0], " ", 1)
        kept.append(line)
    return text if tags else "\n".join(kept)


class _Parser:
    def __init__(self, output: str) -> None:
        self.pipelines: list[Pipeline] = []
        self._rows = dict.fromkeys(["", *map(str.strip, output.split("\n"))])
        self.variables = {"PWD": "."}
        self._scopes, self._depth, self._repeated = count(1), 0, 0

    def read_line(self, line: str, around: Pipeline) -> bool:
        line = _VARIABLE.sub(r"${\1}", without_documents(line).replace("\r", "").replace("\0", ""))
        if len(line) > _MAX_CHARACTERS or max(map(line.count, ("|", "(", "<<"))) > _MAX_MARKS:
            return False
        root = syntax_tree(line.encode(errors="replace"), "bash")
        if not isinstance(root, str):
            self._read(root, around)
        return not isinstance(root, str)

    def _add(self, pipeline: Pipeline) -> None:
        """Add a pipeline or, if its first command is a shell with `-c`, what the script given to it runs."""
        for command in pipeline.commands:
            command.words = _without_prefix(command.words)
        first, *following = pipeline.commands
        given = pairwise(first.words[1:] if first.name in SHELLS else ())
        script = next((text for flag, text in given if re.fullmatch(r"-[a-z]*c", flag)), None)
        if script is not None and self._depth < _MAX_DEPTH:
            around = Command(is_hidden=first.is_hidden, hides_errors=first.hides_errors)
            inner = replace(pipeline, commands=[around, *following], scope=(*pipeline.scope, next(self._scopes)))
            outer, self.variables, self._depth = self.variables, {"PWD": "."}, self._depth + 1
            # Parts of the script that the outer shell expanded are unknown in it too.
            is_read = self.read_line(script.replace(UNKNOWN, "${_}"), inner)
            self.variables, self._depth = outer, self._depth - 1
            if is_read:
                return
        if first.words:
            self.pipelines.append(unrolled(pipeline))

    def _read(self, node: Node, around: Pipeline) -> None:
        """Add what a node runs, with the redirections of the first command in `around` and piped into the others."""
        first, *following = around.commands
        children = node.named_children
        if node.type in ("command", "variable_assignment", "test_command"):
            self._add(replace(around, commands=[self._command(node, first), *following]))
        elif node.type in _JOINING:
            for operator, statements in _joined(node):
                # A loop over the rows that are piped into it prints them nowhere itself.
                loops = [n for n, (stage, _) in enumerate(statements) if stage.type == "while_statement"]
                (body, redirects), *piped = statements[max(loops, default=0) :]
                stages = [self._redirected(self._command(stage, Command()), after) for stage, after in piped]
                start = self._redirected(first, redirects, is_fed=body.type)
                joined_by = operator or around.joined_by
                self._read(body, replace(around, commands=[start, *stages, *following], joined_by=joined_by))
        elif node.type == "declaration_command":
            for child in children:
                self._assign(child)
        elif node.type == "for_statement" and len(children) > 1:
            self._loop(children, around)
        elif node.type == "while_statement" and _READS.match(_source(children[0])):
            self._loop([children[0].named_children[-1], children[-1]], around)
        elif node.type not in _CLOSED and not node.type.endswith("_redirect"):
            inner = replace(around, scope=(*around.scope, next(self._scopes))) if node.type == "subshell" else around
            for number, child in enumerate(children):
                joined_by = "||" if child.type in ("else_clause", "elif_clause") else "" if number else inner.joined_by
                self._read(child, replace(inner, joined_by=joined_by))

    def _loop(self, nodes: Sequence[Node], around: Pipeline) -> None:
        """Add what a loop over words runs at each turn or, if no turn is known, what it runs for an unknown word."""
        variable, *words, body = nodes
        name, size = _source(variable), body.end_byte - body.start_byte
        is_short = self._repeated < _MAX_REPEATED
        values = list(chain.from_iterable(map(self._words, words))) if is_short and words else [UNKNOWN]
        known = (self._echoed(value, name, body) if UNKNOWN in value else [value] for value in values)
        values = list(chain.from_iterable(known))
        self._repeated += len(values) * size
        start = len(self.pipelines)
        for value in values if self._repeated < _MAX_REPEATED else ():
            turn = len(self.pipelines)
            self.variables[name] = value
            self._read(body, around)
            first = next(iter(self.pipelines[turn:]), around)
            if first.joined_by in ("", around.joined_by) and first.echoed_row not in self._rows:
                del self.pipelines[turn:]
        if len(self.pipelines) == start:
            self.variables[name] = UNKNOWN
            self._read(body, around)

    def _echoed(self, pattern: str, name: str, body: Node) -> list[str]:
        """The words for a pattern that the first `echo` of a loop's body printed; the pattern if it printed none."""
        start, self.variables[name] = len(self.pipelines), _EACH
        self._repeated += body.end_byte - body.start_byte
        if self._repeated < _MAX_REPEATED:
            self._read(body, Pipeline([Command()]))
        texts = (pipeline.echoed_row for pipeline in self.pipelines[start:])
        marked = (re.split(f"([{_EACH}{_LEAF}])", text, maxsplit=1) for text in texts)
        before, mark, after = next((parts for parts in marked if parts[1:]), ("", "", ""))
        del self.pipelines[start:]
        folder, slash, leaf = pattern.rpartition("/") if mark == _LEAF else ("", "", pattern)
        is_lost = UNKNOWN in folder or (mark == _LEAF and pattern == UNKNOWN)
        if is_lost or not mark or not (before + after + pattern).strip(UNKNOWN + " "):
            return [pattern]
        glob = escape(before) + leaf.replace(UNKNOWN, "*") + escape(after)
        rows = (row for row in self._rows if len(row) < _MAX_VALUE and fnmatchcase(row, glob))
        words = (folder + slash + row[len(before) : len(row) - len(after)] for row in rows)
        # `*` stands for no slash, unlike an output.
        return [word for word in words if pattern == UNKNOWN or word.count("/") == pattern.count("/")]

    def _command(self, node: Node, around: Command) -> Command:
        if node.type != "command":
            self._assign(node)
            return Command([] if node.type == "variable_assignment" else [node.type])
        parts = [child for child in node.children if child.type != "variable_assignment"]
        redirects = [child for child in parts if child.type.endswith("_redirect")]
        command = self._redirected(around, redirects)
        words = (self._words(child) for child in parts if child not in redirects)
        command.words = [*chain.from_iterable(words), *command.words]
        return command

    def _assign(self, node: Node) -> None:
        if node.type == "variable_assignment" and node.named_child_count == 2:
            value = self._word(node.named_children[1])
            self.variables[_source(node.named_children[0])] = value if len(value) < _MAX_VALUE else UNKNOWN

    def _redirected(self, command: Command, redirects: Sequence[Node], is_fed: str = "command") -> Command:
        # A file redirected into a compound command is passed to none of its commands.
        command = replace(command, words=[*command.words])
        for node in (redirect for redirect in redirects if redirect.type == "file_redirect"):
            operator = next((child.type for child in node.children if not child.is_named), "")
            number = next((_source(child) for child in node.children if child.type == "file_descriptor"), "")
            target = self._word(node.named_children[-1]) if node.named_children else ""
            if operator == "<" and is_fed == "command":
                command.words.append(target)
            elif operator in (">", ">>", ">|", "&>", "&>>", ">&"):
                if number == "2" or operator.startswith("&"):
                    command.hides_errors = target != "1"
                if number in ("", "1") and target not in _OPEN:
                    command.is_hidden = True
        return command

    def _words(self, node: Node) -> list[str]:
        # A variable without quotes is several words, and so is `a{b,c}`.
        parts = list(map(_source, node.children)) if node.type == "concatenation" else []
        start = parts.index("{") if "{" in parts else -3
        if parts[start + 2 :][:1] == ["}"] and "," in parts[start + 1]:
            before, after = node.children[:start], node.children[start + 3 :]
            first, last = ("".join(map(self._word, nodes)) for nodes in (before, after))
            return [f"{first}{_bare(piece)}{last}" for piece in parts[start + 1].split(",")]
        return self._word(node).split() if node.type.endswith("expansion") else [self._word(node)]

    def _word(self, node: Node) -> str:
        kind, text = node.type, _source(node)
        if kind in ("word", "number", "variable_name"):
            return _bare(text)
        if kind == "raw_string":
            return text[1:-1]
        if last_part := _LAST_PART.fullmatch(text):
            value = self.variables.get(last_part[1] or last_part[2], UNKNOWN)
            return _LEAF if value == _EACH else value.rpartition("/")[2]
        if kind in ("simple_expansion", "expansion", "command_substitution"):
            return "." if text in ("$(pwd)", "`pwd`") else self.variables.get(text.strip("${}"), UNKNOWN)
        if kind in ("concatenation", "command_name"):
            return "".join(map(self._word, node.children))
        if kind != "string":
            return UNKNOWN if node.is_named or text in "{}" else text
        # No node contains the white space between the pieces of a text in double quotes.
        source, end, pieces = text_of(node), 1, list[str]()
        for child in node.named_children:
            start = child.start_byte - node.start_byte
            plain = re.sub(r"\\([$`\"\\\n])", lambda mark: mark[1].strip("\n"), _source(child))
            pieces += [source[end:start].decode(errors="replace")]
            pieces += [plain if child.type == "string_content" else self._word(child)]
            end = child.end_byte - node.start_byte
        return "".join(pieces) + source[end:-1].decode(errors="replace")


def _without_prefix(words: list[str]) -> list[str]:
    while words:
        name = words[0].rpartition("/")[2]
        name = name if name in _PREFIXES else " ".join([name, *words[1:2]])
        if name in _PREFIXES:
            words = words[1 + (" " in name) :]
            while words and words[0].startswith("-"):
                # Docker's `-i` takes no value.
                words = words[1 + (words[0] in _PREFIX_FLAGS and not (words[0] == "-i" and name.endswith(" exec"))) :]
            words = words[name in _BEFORE_ONE :]
        elif "=" in words[0] and words[0].partition("=")[0].isidentifier():
            words = words[1:]
        else:
            break
    return words


def _bare(text: str) -> str:
    return _BARE.sub(lambda mark: UNKNOWN if mark["escaped"] is None else mark["escaped"].strip("\n"), text)


def _joined(node: Node) -> list[tuple[str, list[_Stage]]]:
    """The pipelines of a statement: the operator that joins each to the one before it, and its stages.

    The grammar reads `a | b | c && d` and `a && b 2>&1 | c` with the list inside the pipeline.
    """
    if node.type not in _JOINING:
        return [("", [(node, [])])]
    first, *following = (child for child in node.named_children if child.type != "comment")
    pipelines = _joined(first)
    if node.type == "redirected_statement":
        operator, [*stages, (last, redirects)] = pipelines.pop()
        return [*pipelines, (operator, [*stages, (last, [*redirects, *following])])]
    for child in following:
        (_, stages), *others = _joined(child)
        operator = next((mark.type for mark in node.children if mark.type in ("&&", "||")), "")
        if node.type == "pipeline":
            operator, before = pipelines.pop()
            stages = [*before, *stages]
        pipelines += [(operator, stages), *others]
    return pipelines


def _source(node: Node) -> str:
    return text_of(node).decode(errors="replace")
