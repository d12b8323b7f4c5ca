"""Gold of own data: places in every common form, and the files and definitions of the repository that they mean."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from urllib.parse import unquote

from ingest.benchmarks.contextbench.gold import GoldSpan, decode_gold, docs_path, is_missing, span_of
from ingest.benchmarks.fields import MISSING, FieldError, ForeignRow, check, get_path, parsed
from ingest.contents.definitions import definitions_of, ending_of
from ingest.sources.strict_yaml import shown
from lake.offsets import split_lines
from lake.text import decode, listed

OWN_GOLD = re.compile(
    r"(?=.*[:\[])(?:(?P<places>[\w.]+)\[\](?:\.|$))?(?P<path>[\w.]*)(?::(?P<start>[\w.]+?)(?:-(?P<end>[\w.]+))?)?"
)
"""The path of own gold: `KEY[].PATH:LINES` or `KEY[].PATH:START-END`, without `KEY[].` if a row has one place.

`KEY[].PATH` is whole files; in `KEY[]`, places are texts, or objects with common keys."""

WHOLE_FILE = 2**31 - 1
"""The end of a span that is a whole file or definition, whose lines are not yet known."""

LINK = re.compile(
    r"https?://[^/]+/(?P<repo>[^/]+/[^/]+)/(?:-/)?(?:(?:blob|blame|raw|src|tree)/)?(?P<ref>[^/]+)/(?P<path>[^?#]+)"
)
"""The address of a file on GitHub and its like."""

PATHS = ("file", "path", "file_path", "filepath", "filename", "url")
LINES = (
    ("start_line", "end_line"), ("startLine", "endLine"), ("line_start", "line_end"), ("start", "end"),
    ("line", "end_line"), ("lines", ""), ("line", ""),
)  # fmt: skip
_OF_LINES = re.compile("line|start|end|range|func|method|class|symbol", re.I)
_RANGE = re.compile(r"(?:.*#)?L?(\d+)(?:C\d+)?(?:\s*[-:]\s*L?(\d+)(?:C\d+)?)?")
_FILE_WITH_LINES = re.compile(r"(.+?)(?:[:#]|,?\s+(?:lines?\s+)?)(L?\d(?:C(?=\d)|[^/\\A-KM-Za-z])*)")
_FILE_WITH_NAME = re.compile(r"(.+?)::?([A-Za-z_$][\w$.:#]*)")
_BETWEEN_RANGES = re.compile(r"(?<=\d)[\s,;]+(?=L?\d)")
# A blank ends a place only after a file's ending or lines, as paths have blanks too.
_ENDED = re.compile(r"(\.\w+(?:[:#]L?\d\S*)?)[^\S\n]+")
# Ranges after a place (`a.py:1-2, 9`) belong to it.
_BETWEEN_PLACES = re.compile(r"[^\S\n]*+[,;\n][\s,;]*+(?!(?:lines?\s+)?L?\d+(?:-L?\d+)?(?:[\s,;]|$))")
_USUAL = {"app", "code", "project", "repo", "repository", "testbed", "workspace"}


def gold_of(row: ForeignRow) -> list[GoldSpan]:
    """The gold spans of a row: of its first context, where `init_ctx` and `add_ctx` together are one."""
    paths = row.fields["gold"]
    given = {path: value for path, value in zip(paths, row.values("gold"), strict=True) if not is_missing(value)}
    for form in filter(None, map(OWN_GOLD.fullmatch, () if given else paths)):
        places, *keys = form.groups(default="")
        if (value := get_path(row.content, places) if places else [row.content]) is not MISSING:
            return [
                span_of({"file": file, "start_line": start, "end_line": end}, f"span {n}")
                for n, (file, lines) in enumerate(_places(value, keys), start=1)
                for start, end in _ranges(lines)
            ]
    check(bool(given), f"it has none of {', '.join(paths)}")
    parts = [path for path in ("init_ctx", "add_ctx") if path in given and path != paths[0]]
    if paths[0] not in given and (spans := [span for part in parts for span in decode_gold(given[part])]):
        return spans
    return next((decode_gold(value) for path, value in given.items() if path not in parts), [])


def _places(value: object, keys: Sequence[str]) -> Iterator[tuple[object, object]]:
    """The path and lines of each place in a list, a table's cell (`a.py:1-2, b.py:4`), lines by file, or alone."""
    value, path = parsed(value), keys[0]
    if isinstance(value, str):
        value = [*filter(None, _BETWEEN_PLACES.split(_ENDED.sub(r"\1\n", value.strip())))]
    if isinstance(value, dict) and all(get_path(value, key) is MISSING for key in ([path] if path else PATHS)):
        # Lines by file: {"a.py": [[1, 9]]}.
        reason = f"its keys {listed([*map(str, value)])} are no paths; name the one of its places: --gold KEY.KEY"
        check(all(set("./").intersection(str(file)) for file in value), reason)
        value = [[file, lines] for file, lines in value.items()]
    if not isinstance(value, (list, dict)):
        raise FieldError(f"it is {shown(value)}, not a list of places")
    for entry in value if isinstance(value, list) else [value]:
        if is_irrelevant(entry):
            continue
        file, lines = _place(entry, *keys)
        match = _FILE_WITH_LINES.fullmatch(file) if lines is None and isinstance(file, str) else None
        if match:
            file, lines = match.groups()
            check(":" not in match[2], f"{match[2]!r} may be two lines or a line and a column; write {file}:FIRST-LAST")
        elif lines is None and "#" in str(file):
            check(LINK.match(str(file)) is None, f"the lines of {file} cannot be read; write #LFIRST-LLAST")
        yield file, lines


def is_irrelevant(judged: object) -> bool:
    """Whether a row or a place is judged not relevant: of grade 0."""
    items = judged.items() if isinstance(judged, Mapping) else ()
    return any(str(key).lower() in ("relevance", "grade") and str(value) in ("0", "0.0") for key, value in items)


def _place(entry: object, path: str, start: str, end: str) -> tuple[object, object]:
    """The path and lines (None: all) of a place; without `path`, at the first common keys that it has."""
    if isinstance(entry, list) and entry and not path:
        return entry[0], entry[1] if len(entry) == 2 else entry[1:] or None
    if isinstance(entry, dict) and not path:
        has = {key for key, value in entry.items() if value is not None}
        path = next((key for key in PATHS if key in has), "")
        check(path != "", f"a place has {listed([*map(str, entry)])}; name the key of its path: --gold 'KEY[].PATH'")
        start, end = next((keys for keys in LINES if has.issuperset(filter(None, keys))), ("", ""))
        others = listed([key for key in entry if key in has and _OF_LINES.search(key)])
        hint = "name its lines (--gold 'KEY[].PATH:LINES'), or for the whole file its path ('KEY[].PATH')"
        check(bool(start) or not others, f"of a place, {others} is not read; {hint}")
    for key in filter(None, (path, start, end)):
        check(not is_missing(get_path(entry, key)), f"a place has no `{key}`")
    file, first, last = [get_path(entry, key) if key else entry for key in (path, start, end)]
    return file, [[first, last]] if end else first if start else None


def _ranges(lines: object) -> Iterator[tuple[object, object]]:
    """The first and last line of each range: a number, two numbers, a text (`4-9, 12`, `a.py#L4-L9`), or several."""
    lines = [[1, WHOLE_FILE]] if lines is None else parsed(lines)
    parts: Sequence[object] = _BETWEEN_RANGES.split(lines.strip()) if isinstance(lines, str) else [lines]
    if isinstance(lines, list) and not all(isinstance(n, (int, float)) or str(n).isdigit() for n in lines):
        parts = lines
    for part in parts:
        match = _RANGE.fullmatch(part.strip()) if isinstance(part, str) else None
        if match:
            yield match[1], match[2] or match[1]
        else:
            yield (part[0], part[-1]) if isinstance(part, list) and len(part) in (1, 2) else (part, part)


def locate(
    spans: Sequence[GoldSpan], repo: str, files: Mapping[str, bytes], paths: Collection[str]
) -> tuple[list[GoldSpan], list[str]]:
    """The spans with the paths and lines that they mean, and a sentence for each of which the file is not there."""
    located, faults = list[GoldSpan](), list[str]()
    for span in spans:
        _, name = _written(span)
        path, near = _path(span, repo, paths)
        start, end = span.line_start, span.line_end
        if path not in files:
            hint = f"did you mean {near}?" if near else "paths are relative to the repository"
            faults.append(f"its gold file {span.file[:200]} is not in its repository; {hint}")
            located.append(span._replace(line_end=start) if end == WHOLE_FILE else span)
            continue
        text = decode(files[path])[0]
        if name:
            dotted = "." + re.sub(r"[:#.]+", ".", name)
            every = definitions_of(text, ending_of(path))[0].get("docs", [])
            called = [each for each in every if f".{each.qualified_name}".endswith(dotted)]
            called = [each for each in called if f".{each.qualified_name}" == dotted] or called
            if len(called) != 1:
                faults.append(f"{name} is defined {len(called)} times in {path}; write {path}:FIRST-LAST")
                continue
            start, end = called[0].line_start + 1, called[0].line_end
        elif end == WHOLE_FILE:
            end = len(split_lines(text)) or 1
        located.append(span._replace(file=path, line_start=start, line_end=end))
    return located, faults


def _written(span: GoldSpan) -> tuple[str, str]:
    """The path of a span as it is written, from an address too, and the name of a definition after it, or nothing."""
    match = _FILE_WITH_NAME.fullmatch(span.file) if span.line_end == WHOLE_FILE else None
    path, name = match.groups() if match else (span.file, "")
    return unquote(link["path"]) if (link := LINK.match(path)) else path, name


def ends_of(span: GoldSpan) -> list[str]:
    """The path of a span, and what is left of it without its first folders, longest first."""
    parts = docs_path(_written(span)[0]).split("/")
    return ["/".join(parts[n:]) for n in range(len(parts))]


def _path(span: GoldSpan, repo: str, paths: Collection[str]) -> tuple[str, str]:
    """The path of the file that is meant, without the folders above the repository; else nothing, and a near path."""
    path, *ends = ends_of(span)
    if path in paths:
        return path, ""
    end = next((end for end in ends if end in paths), "")
    *above, last = path.removesuffix(end).strip("/").split("/")
    names = (repo.replace("/", "__"), repo.rpartition("/")[2])
    is_named = last in names or last.startswith(tuple(f"{name}-" for name in names))
    is_absolute = re.match(r"/(?!testbed/|workspace/)|[A-Za-z]:/", _written(span)[0].replace("\\", "/")) is not None
    is_above = [*above, last] in (["a"], ["b"]) or is_named or last in _USUAL or (is_absolute and "/" in end)
    inside = set[str]()
    if not (is_absolute and is_named and above and above[0] not in _USUAL):
        # The file may as well be missing from a folder of the repository.
        inside = {*above, f"{last}/{end.rpartition('/')[0]}".rstrip("/") if is_named or last in _USUAL else last}
    if end and is_above and not any(each.startswith(tuple(f"{folder}/" for folder in inside)) for each in paths):
        return end, ""
    longer = [each for each in paths if each.endswith(f"/{path}")]
    return "", end or (longer[0] if len(longer) == 1 else "")
