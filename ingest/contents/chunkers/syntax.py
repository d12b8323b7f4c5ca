"""Syntax-aware: the file's own structure, split where it is too large and merged where it is small."""

from collections import deque
from collections.abc import Sequence
from itertools import pairwise

from ingest.contents.chunkers import Chunker, Cut, Document, LineRange
from ingest.contents.chunkers._tree import BODIES, Piece, open_piece, parse
from ingest.contents.chunkers.lines import cumulative, fixed_nws, whole_file
from ingest.contents.syntax_trees import GRAMMARS


def syntax(document: Document, n: int) -> Cut:
    """Splits the nodes that exceed `n` non-whitespace characters and merges the pieces, never cutting a line.

    A file that fits is one chunk. Else its syntax tree is opened wherever a piece exceeds `n`: a piece begins where a
    named node is first on its line, and takes the blank lines below it, so that a chunk begins with what it is about.
    Comments and decorators directly above stay with what they annotate, and the head of a body with the body's first
    piece, if both fit. What cannot be opened, a long string say, falls into its lines. Then the pieces are merged into
    as few chunks as possible and, among the ways to do that, the one whose cuts lie highest in the tree. Without a tree
    (see `_tree.parse`) the file is cut as `fixed-nws-<n>` does.
    """
    n_lines, before = document.n_lines, cumulative(document.n_nws)
    if before[-1] <= n:
        return whole_file(document)
    root = parse(document)
    if isinstance(root, str):
        return fixed_nws(document, n, root)
    pieces = _split(Piece(0, n_lines, (root,)), before, n)
    return Cut(_merge(_joined(pieces, before, n), before, n_lines, n))


def _split(whole: Piece, before: Sequence[int], n: int) -> list[Piece]:
    """Opens pieces until each fits or is a single line. A stack, since trees may be deeper than Python may recurse."""
    done: list[Piece] = []
    left = [whole]
    while left:
        piece = left.pop()
        # A body that fits, but not together with its head, is opened as well, or the head would stand alone.
        is_body = bool(done) and done[-1].sticks and piece.field in BODIES
        start = done[-1].start if is_body else piece.start
        if before[piece.end] - before[start] <= n:
            done.append(piece)
        elif parts := open_piece(piece, before):
            left += reversed(parts)
        elif before[piece.end] - before[piece.start] <= n:
            done.append(piece)
        else:
            done += _lines(piece, before)
    return done


def _lines(piece: Piece, before: Sequence[int]) -> list[Piece]:
    """The lines of a piece one by one, blank ones with the line above; a line below a blank one is the better cut."""
    starts = [line for line in range(piece.start, piece.end) if before[line + 1] > before[line]]
    parts = []
    for start, end in pairwise([piece.start, *starts[1:], piece.end]):
        below_gap = before[start] == before[start - 1]
        depth = piece.depth if start == piece.start else piece.depth + (1 if below_gap else 2)
        parts.append(piece._replace(start=start, end=end, depth=depth, sticks=piece.sticks and end == piece.end))
    return parts


def _joined(pieces: Sequence[Piece], before: Sequence[int], n: int) -> list[tuple[int, int]]:
    """(first line, depth) of each piece, after pieces that stick to the next one have joined it where both fit."""
    units: list[tuple[int, int]] = []
    end = pieces[-1].end
    # From the end, so that of a long comment the lines nearest to the code are the ones that stay with it.
    for piece in reversed(pieces):
        if units and piece.sticks and before[end] - before[piece.start] <= n:
            units[-1] = (piece.start, piece.depth)
        else:
            end = piece.end
            units.append((piece.start, piece.depth))
    return units[::-1]


def _merge(units: Sequence[tuple[int, int]], before: Sequence[int], n_lines: int, n: int) -> list[LineRange]:
    """The fewest ranges that fit, with the least depth at their cuts: a minimum over a sliding window of starts."""
    starts = [*(start for start, _ in units), n_lines]
    chunk_costs = 1 + sum(depth for _, depth in units)
    best, came_from = [0], [0]
    window: deque[int] = deque()
    for end in range(1, len(starts)):
        while window and before[starts[end]] - before[starts[window[0]]] > n:
            window.popleft()
        last = end - 1
        # A unit that exceeds n on its own can only be a range of its own, whatever the window says.
        while window and _cost(best, units, window[-1]) >= _cost(best, units, last):
            window.pop()
        window.append(last)
        came_from.append(window[0])
        best.append(_cost(best, units, window[0]) + chunk_costs)
    ranges = []
    end = len(units)
    while end:
        ranges.append((starts[came_from[end]], starts[end]))
        end = came_from[end]
    return ranges[::-1]


def _cost(best: Sequence[int], units: Sequence[tuple[int, int]], start: int) -> int:
    return best[start] + units[start][1]


SYNTAX = Chunker(
    name="syntax-<n>",
    grammars=GRAMMARS,
    title="Syntax tree, n characters",
    meaning="Splits what exceeds n non-whitespace characters along the syntax tree and merges small neighbours.",
    chunk=syntax,
    source="Split-then-merge as in cAST (Zhang et al., 2025), arXiv:2506.15655, on whole lines.",
    defaults=("syntax-1500",),
)
