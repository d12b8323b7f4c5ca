"""Sizes of unions of intervals and of what they share with the gold, for many walks at once and after every step.

A walk is what one run gathers for one item, step by step. The steps of all walks are numbered one after another, as
slots; so are their places, `width` per walk. Intervals are half-open ranges of places. Nothing is expanded into single
places, and nothing loops over walks or steps: the axis is cut wherever an interval starts or ends, and each piece
between two cuts belongs to the first slot that holds it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lake.exact import Integers, Mask

NEVER = np.iinfo(np.int64).max
"""The slot of a place that no interval holds."""


class Spans(NamedTuple):
    """Intervals [start, end), each held at a slot; one row per interval."""

    slot: Integers
    start: Integers
    end: Integers

    def where(self, mask: Mask) -> Spans:
        """The intervals for which `mask` is true."""
        return Spans(*(column[mask] for column in self))


class SetSizes(NamedTuple):
    """The sizes of the sets: `n_gold` for every walk, others for every slot; `cumulative` is with all earlier steps."""

    n_gold: Integers
    n_pred: Integers
    n_hit: Integers
    n_cumulative: Integers
    n_cumulative_hit: Integers


def sizes(spans: Spans, gold: Spans, n_steps: Integers, width: int) -> SetSizes:
    """The sizes of every walk's sets after each of its steps; the slots of gold are ignored."""
    spans, gold = spans.where(spans.end > spans.start), gold.where(gold.end > gold.start)
    cuts, (start, end, gold_start, gold_end) = _cut(spans, gold)
    # A piece for every cut; the one after the last cut is empty.
    length = np.diff(cuts, append=cuts[-1:])
    gold_length = length * (_n_open(gold_start, gold_end, len(cuts)) > 0)
    gold_before = np.append(0, np.cumsum(gold_length))
    first = _first(start, end, spans.slot, len(cuts))
    is_held, n_slots = first != NEVER, int(n_steps.sum())
    slot, begin, stop = _disjoint(spans.slot, start, end, len(cuts))
    return SetSizes(
        n_gold=summed(cuts // width, gold_length, len(n_steps)),
        n_pred=summed(slot, cuts[stop] - cuts[begin], n_slots),
        n_hit=summed(slot, gold_before[stop] - gold_before[begin], n_slots),
        n_cumulative=up_to(summed(first[is_held], length[is_held], n_slots), n_steps),
        n_cumulative_hit=up_to(summed(first[is_held], gold_length[is_held], n_slots), n_steps),
    )


def holders(spans: Spans, gold: Spans, marked: Mask, width: int) -> tuple[Integers, Integers, Integers, Integers]:
    """The pieces of every walk's gold: the walk, the length, how many slots hold it, and how many `marked` ones."""
    spans, gold = spans.where(spans.end > spans.start), gold.where(gold.end > gold.start)
    cuts, (start, end, gold_start, gold_end) = _cut(spans, gold)
    slot, begin, stop = _disjoint(spans.slot, start, end, len(cuts))
    piece = np.flatnonzero(_n_open(gold_start, gold_end, len(cuts)) > 0)
    n_holding, n_marked = (
        _n_open(begin[counted], stop[counted], len(cuts))[piece] for counted in (slot >= 0, marked[slot])
    )
    return cuts[piece] // width, np.diff(cuts, append=cuts[-1:])[piece], n_holding, n_marked


def with_reversed(set_sizes: SetSizes, spans: Spans, n_steps: Integers, width: int) -> SetSizes:
    """The sizes with reversed ranges (which end before they start), each counting a negative number of lines.

    As in the published code, one that starts inside or directly after a range of its step adds nothing.
    """
    turned, n_slots = spans.where(spans.end < spans.start), int(n_steps.sum())
    if not len(turned.slot):
        return set_sizes
    n_lines, before = turned.end - turned.start, turned.start - 1
    # Moved to places where every slot is a walk of its own.
    own, own_turned = ((each.slot - each.start // width) * width for each in (spans, turned))
    alone = Spans(spans.slot, spans.start + own, spans.end + own)
    is_within, since = _held_since(alone, before + own_turned) != NEVER, _held_since(spans, before)
    enters, leaves = since > turned.slot, (since > turned.slot) & (since != NEVER)
    change = summed(turned.slot[enters], n_lines[enters], n_slots) - summed(since[leaves], n_lines[leaves], n_slots)
    return set_sizes._replace(
        n_pred=set_sizes.n_pred + summed(turned.slot, np.where(is_within, 0, n_lines), n_slots),
        n_cumulative=set_sizes.n_cumulative + up_to(change, n_steps),
    )


def _held_since(spans: Spans, position: Integers) -> Integers:
    """The first slot that holds each position; NEVER if none does."""
    spans = spans.where(spans.end > spans.start)
    cuts, (start, end) = _cut(spans)
    # Positions before the first cut are never held, like those behind the last.
    first = np.append(_first(start, end, spans.slot, len(cuts)), NEVER)
    return first[np.searchsorted(cuts, position, side="right") - 1]


def _cut(*several: Spans) -> tuple[Integers, list[Integers]]:
    """All places where something starts or ends, sorted; and the index of every start and end among them."""
    ends = [side for spans in several for side in (spans.start, spans.end)]
    # With `return_index` numpy sorts stably, which is several times faster: most ends are in order already.
    cuts, _, index = np.unique(np.concatenate(ends), return_index=True, return_inverse=True)
    return cuts, np.split(index, np.cumsum([len(marks) for marks in ends])[:-1])


def _n_open(start: Integers, end: Integers, n_pieces: int) -> Integers:
    """The number of intervals that hold each piece."""
    return np.cumsum(np.bincount(start, minlength=n_pieces) - np.bincount(end, minlength=n_pieces))


def _first(start: Integers, end: Integers, slot: Integers, n_pieces: int) -> Integers:
    """The lowest slot of the intervals that hold each piece.

    An interval of n pieces is two blocks of 2^k pieces, from its start and up to its end, 2^k <= n < 2^(k+1). A block's
    lowest slot is recorded where it begins, the largest blocks first; records are then passed on to its halves.
    """
    least = np.full(n_pieces, NEVER)
    size = np.frexp((end - start).astype(np.float64))[1] - 1
    largest = int(size.max(initial=0))
    for power in range(largest, -1, -1):
        block = 1 << power
        if power < largest:
            handed = least[:-block].copy()
            np.minimum(least[block:], handed, out=least[block:])
        here = size == power
        np.minimum.at(least, start[here], slot[here])
        np.minimum.at(least, end[here] - block, slot[here])
    return least


def _disjoint(group: Integers, start: Integers, end: Integers, n_places: int) -> tuple[Integers, Integers, Integers]:
    """The places that each interval adds to earlier ones of its group, none of them twice: group, begin, end."""
    order = np.argsort(group * n_places + start, kind="stable")
    group, start, end = group[order], start[order], end[order]
    rank = np.cumsum(np.diff(group, prepend=group[:1]) != 0)
    # The farthest end so far; all places of a later group are beyond those of an earlier one.
    reached = np.maximum.accumulate(end + rank * n_places)
    before = np.append(0, reached)[:-1] - rank * n_places
    begin = np.maximum(start, before)
    adds = end > begin
    return group[adds], begin[adds], end[adds]


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
