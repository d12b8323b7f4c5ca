"""The need of a completion: the definitions in other files of its repository that the names in it refer to.

jedi's goto resolves each name in the hole, in the finished file within its repository, following imports. No code of
the repository is imported or run. Installed packages are not searched: what they define counts as library code.
"""

import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from functools import cache, lru_cache, partial
from pathlib import Path

import jedi
import polars as pl
from parso.grammar import load_grammar
from parso.python.tree import Class, Module, Name
from parso.tree import NodeOrLeaf

from ingest.benchmarks.declaration import PoolGroup
from ingest.benchmarks.repoeval import NEEDS_RULE
from ingest.contents.blobs import concat_files, pool_frames
from ingest.contents.processes import Workers
from lake.engine import BY_JOBS
from lake.offsets import split_lines

ELSEWHERE, OWN_FILE, LIBRARY, UNRESOLVED = "definitions elsewhere", "own file only", "library only", "unresolved"
"""The kinds of need, by what the names of a completion refer to: column `need` of table `items`."""

_Span = tuple[str, int, int]
_Need = tuple[str, list[_Span]]


def with_needs(items: pl.DataFrame, group: PoolGroup, notes: list[str]) -> tuple[pl.DataFrame, pl.DataFrame, PoolGroup]:
    """The items with a column `need` (null if not scorable), the gold spans, and a pool for each hole with such gold.

    `group` holds the repositories of the items; in a pool, the file of the hole is cut off at the hole.
    """
    whole = group.files.join(group.blobs.select("sha256", "text"), on="sha256")
    columns = ("item_id", "pool_id", "target_path", "target_line", "target_text")
    scorable = items.filter("scorable", language="python").select(columns)
    with tempfile.TemporaryDirectory() as root:
        folders = {pool_id: f"{root}/{number}" for number, pool_id in enumerate(sorted({*whole["pool_id"]}))}
        for pool_id, path, text in whole.select("pool_id", "path", "text").iter_rows():
            target = Path(folders[pool_id], path)
            target.parent.mkdir(parents=True, exist_ok=True)
            # Newlines are the only line ends.
            target.write_text(text.replace("\r\n", "\n").replace("\r", " "), encoding="utf-8", newline="\n")
        holes = [
            (folders[pool_id], path, line, text.removesuffix("\n").count("\n") + 1)
            for _, pool_id, path, line, text in scorable.iter_rows()
        ]
        with Workers(BY_JOBS) as workers:
            batches = [holes[start : start + 10] for start in range(0, len(holes), 10)]
            done = workers.map(resolve_holes, batches, lambda batch: [[hole] for hole in batch])
    # A hole that killed its process counts as unresolved, like names that jedi does not know.
    needs = [need for _, some in done for need in some or [(UNRESOLVED, list[_Span]())]]
    if n := Counter(kind for kind, _ in needs):
        others = ", ".join(f"{kind} {n[kind]:,}" for kind in (OWN_FILE, LIBRARY, UNRESOLVED) if n[kind])
        notes.append(f"gold by need: {n[ELSEWHERE]:,} of {n.total():,} items; the others: {others or 'none'}")
    known = scorable.select("item_id", need=pl.Series([kind for kind, _ in needs], dtype=pl.String))
    by_item = zip(known["item_id"], needs, strict=True)
    spans = [(item_id, *span) for item_id, (_, definitions) in by_item for span in definitions]
    schema = {"item_id": pl.String, "path": pl.String, "line_start": pl.Int64, "line_end": pl.Int64}
    gold = pl.DataFrame(spans, schema, orient="row").sort(pl.all())
    items = items.join(known, on="item_id", how="left", maintain_order="left")
    hole = pl.format("need/{}/{}:{}", "repo", "target_path", "target_line")
    needed = items.join(gold, on="item_id", how="semi").with_columns(hole=hole)
    needed = needed.select("pool_id", "target_path", "target_line", "hole").unique("hole").sort("hole")
    own = needed.join(whole, left_on=["pool_id", "target_path"], right_on=["pool_id", "path"]).sort("hole")
    own = own.select("hole", "target_path", "target_line", "text")
    cut, blobs = pool_frames(
        (hole, path, "".join(split_lines(text)[:line]).encode()) for hole, path, line, text in own.iter_rows()
    )
    files = needed.drop("target_line").join(group.files, on="pool_id").sort("hole", "position")
    files = files.filter(pl.col("path") != pl.col("target_path")).with_columns(pool_id="hole").select(cut.columns)
    return items, gold, PoolGroup(NEEDS_RULE, concat_files([files, cut]), blobs)


def resolve_holes(holes: Sequence[tuple[str, str, int, int]]) -> list[_Need]:
    """The need of each hole (folder of the repository, path, first line from 0, number of lines), in order."""
    jedi.settings.auto_import_modules = []
    with tempfile.TemporaryDirectory() as cache:
        jedi.settings.cache_directory = cache
        return [_need(*hole) for hole in holes]


def _need(folder: str, file: str, line: int, n_lines: int) -> _Need:
    """The kind of need of a hole, and the spans of the definitions in other files."""
    root, path = Path(folder), Path(folder, file)
    text = path.read_text(encoding="utf-8")
    # A new script for every hole: jedi limits the calls it follows, and counts them over all names of a script.
    script = jedi.Script(text, path=path, project=_project(folder), environment=_environment())
    spans: set[_Span] = set()
    kinds: set[str] = set()
    for uses in _tree(str(path)).get_used_names().values():
        for leaf in (leaf for leaf in uses if line < leaf.start_pos[0] <= line + n_lines):
            if not _is_local(leaf, uses):
                kind, definitions = _resolved(script, leaf, root, path)
                kinds.add(kind)
                spans |= definitions
    kind = next((kind for kind in (UNRESOLVED, LIBRARY) if kind in kinds), OWN_FILE)
    return ELSEWHERE if spans else kind, sorted(spans)


def _resolved(script: jedi.Script, leaf: Name, root: Path, own: Path) -> tuple[str, set[_Span]]:
    try:
        targets = script.goto(*leaf.start_pos, follow_imports=True)
    except (RecursionError, AttributeError, ValueError, TypeError, NotImplementedError):
        # jedi raises these errors on code that it does not expect.
        targets = []
    if not targets:
        trailer = leaf.parent
        if trailer is not None and trailer.type == "trailer" and trailer.parent is not None:
            # An attribute of what a library defines is of the library too.
            base = trailer.parent.children[0]
            if isinstance(base, Name):
                return (LIBRARY if _resolved(script, base, root, own)[0] == LIBRARY else UNRESOLVED), set()
        return (LIBRARY if any(map(_is_import, script.goto(*leaf.start_pos))) else UNRESOLVED), set()
    kinds, spans = set(), set()
    for target in targets:
        module = target.module_path
        if module is None or not module.is_relative_to(root):
            kinds.add(LIBRARY)
        elif module == own:
            # If goto stops at an import statement, the imported module is not in the repository.
            kinds.add(LIBRARY if _is_import(target) else OWN_FILE)
        elif span := _definition(target):
            spans.add((module.relative_to(root).as_posix(), *span))
    return LIBRARY if LIBRARY in kinds and not spans else OWN_FILE, spans


def _is_local(leaf: Name, uses: Sequence[Name]) -> bool:
    """Whether a name is a variable or parameter of the function around it that no import binds."""
    scope = leaf.search_ancestor("funcdef", "lambdef")
    if scope is None or getattr(leaf.parent, "type", "") in ("trailer", "argument", "dotted_name"):
        return False
    names = [use for use in uses if getattr(use.parent, "type", "") != "trailer"]
    bound = [name for name in names if name.search_ancestor("funcdef", "lambdef") is scope]
    kinds = {definition.type for name in bound if (definition := name.get_definition(import_name_always=True))}
    return bool(kinds) and kinds <= {"param", "expr_stmt", "for_stmt", "with_stmt", "namedexpr_test"}


def _node(target: jedi.api.classes.Name) -> NodeOrLeaf | None:
    if target.line is None or target.module_path is None:
        return None
    # One column further: at the name's start position, the leaf before it also matches.
    leaf = _tree(str(target.module_path)).get_leaf_for_position((target.line, target.column + 1))
    return leaf.get_definition(import_name_always=True) if isinstance(leaf, Name) else None


def _is_import(target: jedi.api.classes.Name) -> bool:
    return getattr(_node(target), "type", "") in ("import_name", "import_from")


def _definition(target: jedi.api.classes.Name) -> tuple[int, int] | None:
    """The lines of a definition, from 0, half-open; None for a module, and for an import that leads to a library."""
    node = _node(target)
    if node is None or _is_import(target):
        return None
    if node.type == "param":
        node = node.search_ancestor("funcdef", "lambdef") or node
    if node.type not in ("funcdef", "classdef", "expr_stmt", "annassign"):
        return target.line - 1, target.line
    end: NodeOrLeaf = next(node.iter_funcdefs(), node) if isinstance(node, Class) else node
    start = node
    while start.parent is not None and start.parent.type in ("decorated", "async_stmt"):
        start = start.parent
    last, column = end.end_pos
    return start.start_pos[0] - 1, last if column else last - 1


@lru_cache(maxsize=256)
def _tree(path: str) -> Module:
    # One version's grammar, whichever version runs this.
    module: Module = load_grammar(version="3.11").parse(Path(path).read_text(encoding="utf-8"))
    return module


_environment = cache(partial(jedi.create_environment, sys.executable, safe=False))
"""An environment for this interpreter only; its installed packages are on no path that is searched."""


@lru_cache(maxsize=16)
def _project(folder: str) -> jedi.Project:
    root = Path(folder)
    packages = {path.parent for path in root.rglob("__init__.py")}
    around = {package.parent for package in packages if package.parent not in packages and package != root}
    return jedi.Project(root, sys_path=[folder, *sorted(map(str, around - {root}))], smart_sys_path=False)
