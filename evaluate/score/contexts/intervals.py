"""Sizes of unions of intervals and of what they share with the gold, for many walks at once and after every step.

A walk is what one run gathers for one item, step by step. The steps of all walks are numbered one after another, as
slots; so are their places, `width` per walk. Intervals are half-open ranges of places, which are not counted one by
one: the axis is cut wherever an interval starts or ends, and the places between two cuts are one piece.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lake.exact import Integers, Mask


class Spans(NamedTuple):
    """Intervals [start, end), each held at a slot; one row per interval."""

    slot: Integers
    start: Integers
    end: Integers

    def where(self, mask: Mask) -> Spans:
        """The intervals for which `mask` is true."""
        return Spans(*(column[mask] for column in self))


class Pieces(NamedTuple):
    """The pieces of the axis, and the pairs of a `piece` and a `slot` that holds it: each pair once, sorted."""

    walk: Integers
    length: Integers
    gold_length: Integers
    piece: Integers
    slot: Integers


class SetSizes(NamedTuple):
    """The sizes of the sets: `n_gold` for every walk, the others for every slot.

    `n_pred` is what the step holds, `n_cumulative` what it and all earlier steps hold; the hits are the gold in either.
    """

    n_gold: Integers
    n_pred: Integers
    n_hit: Integers
    n_cumulative: Integers
    n_cumulative_hit: Integers


def cut(spans: Spans, gold: Spans, width: int) -> Pieces:
    """The pieces that intervals and gold, which may overlap, cut the axis into; the slots of gold are ignored."""
    spans, gold = spans.where(spans.end > spans.start), gold.where(gold.end > gold.start)
    ends = [spans.start, spans.end, gold.start, gold.end]
    # With `return_index` numpy sorts stably, which is several times faster: most ends are in order already.
    cuts, _, index = np.unique(np.concatenate(ends), return_index=True, return_inverse=True)
    start, end, *gold_sides = np.split(index, np.cumsum([len(side) for side in ends])[:-1])
    gold_start, gold_end = (np.bincount(side, minlength=len(cuts)) for side in gold_sides)
    # The piece after the last cut is empty.
    length = np.diff(cuts, append=cuts[-1:])
    by_slot = np.argsort(spans.slot, kind="stable")
    row, piece = ranges(start[by_slot], end[by_slot])
    by_piece = np.argsort(piece, kind="stable")
    piece, slot = piece[by_piece], spans.slot[by_slot][row][by_piece]
    is_new = (np.diff(piece, prepend=-1) != 0) | (np.diff(slot, prepend=-1) != 0)
    gold_length = length * (np.cumsum(gold_start - gold_end) > 0)
    return Pieces(cuts // width, length, gold_length, piece[is_new], slot[is_new])


def sizes(pieces: Pieces, n_steps: Integers) -> SetSizes:
    """The sizes of every walk's sets after each of its steps."""
    is_first = np.diff(pieces.piece, prepend=-1) != 0
    n_pred, n_hit, n_new, n_new_hit = (
        summed(slot, amount[piece], n_steps.sum())
        for slot, piece in ((pieces.slot, pieces.piece), (pieces.slot[is_first], pieces.piece[is_first]))
        for amount in (pieces.length, pieces.gold_length)
    )
    n_gold = summed(pieces.walk, pieces.gold_length, len(n_steps))
    return SetSizes(n_gold, n_pred, n_hit, up_to(n_new, n_steps), up_to(n_new_hit, n_steps))


def with_reversed(set_sizes: SetSizes, spans: Spans, n_steps: Integers, width: int) -> SetSizes:
    """The sizes with reversed ranges (which end before they start), each counting a negative number of lines.

    They are united as in the published code: a reversed range that starts inside or directly after a range of its step
    belongs to that one and adds nothing; any other counts separately, every time it is named.
    """
    turned, n_slots = spans.where(spans.end < spans.start), int(n_steps.sum())
    if not len(turned.slot):
        return set_sizes
    n_lines, before = turned.end - turned.start, turned.start[:, None] - 1
    others = spans.where(np.isin(spans.start // width, turned.start // width))
    holds = (others.start <= before) & (before < others.end)
    is_within = (holds & (others.slot == turned.slot[:, None])).any(axis=1)
    # The first slot that holds the place before the range, if any does.
    since = np.where(holds, others.slot, n_slots).min(axis=1)
    enters, leaves = since > turned.slot, (since > turned.slot) & (since < n_slots)
    change = summed(turned.slot[enters], n_lines[enters], n_slots) - summed(since[leaves], n_lines[leaves], n_slots)
    return set_sizes._replace(
        n_pred=set_sizes.n_pred + summed(turned.slot, np.where(is_within, 0, n_lines), n_slots),
        n_cumulative=set_sizes.n_cumulative + up_to(change, n_steps),
    )


def up_to(amount: Integers, n_steps: Integers) -> Integers:
    """The running sums of each walk's amounts over its steps."""
    total = np.cumsum(amount)
    running: Integers = total - np.repeat(np.append(0, total)[np.cumsum(n_steps) - n_steps], n_steps)
    return running


def summed(group: Integers, amount: Integers, n_groups: int) -> Integers:
    """The sum of the amounts of each group, in floats, which are exact below 2^53."""
    return np.rint(np.bincount(group, weights=amount, minlength=n_groups)).astype(np.int64)


def ranges(first: Integers, last: Integers) -> tuple[Integers, Integers]:
    """The whole numbers in some half-open ranges: for each, the row of its range, and the number."""
    count = np.maximum(last - first, 0)
    row = np.repeat(np.arange(len(count)), count)
    return row, np.arange(len(row)) - np.repeat(np.cumsum(count) - count - first, count)
