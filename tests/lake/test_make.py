from collections.abc import Callable, Sequence
from pathlib import Path

import polars as pl
import pytest

from lake.exact import exact_sum
from lake.make import Input, target_of, write_if_changed
from lake.pools import stratified
from lake.store import Lake
from tests.frames import chunk_rows


def made(
    lake: Lake,
    inputs: Sequence[Input | None] = (),
    parameters: object = None,
    code: Sequence[Callable[..., object]] = (stratified,),
) -> bool:
    calls = list[int]()

    def counted() -> pl.DataFrame:
        calls.append(1)
        return chunk_rows("a")

    part = target_of(lake, "chunks", part="p", inputs=inputs, parameters=parameters, code=code, chunker="c")
    assert part.make(counted) == bool(calls)
    return bool(calls)


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(tmp_path)


def test_what_is_current_is_not_made_again(lake: Lake) -> None:
    assert made(lake)
    assert not made(Lake(lake.root))
    assert made(lake, parameters={"k": 1})
    assert made(lake, parameters={"k": 1}, code=[exact_sum])
    assert not made(lake, parameters={"k": 1}, code=[exact_sum])


def test_another_input_makes_it_again_and_so_does_one_that_is_gone(lake: Lake) -> None:
    given = lake.write("chunks", chunk_rows("a", "b"), part="given", fingerprint="1", chunker="c")
    assert made(lake, [given])
    assert not made(lake, [given])
    given = lake.write("chunks", chunk_rows("a", "b"), part="given", fingerprint="2", chunker="c")
    assert made(lake, [given])
    assert made(lake, [None])


def test_of_parts_that_are_made_together_one_that_is_lost_makes_all_again(lake: Lake) -> None:
    target = target_of(lake, "chunks", part="p", code=[stratified], chunker="c")
    both = target_of(lake, "chunks", part="q", inputs=[target], code=[stratified], chunker="c")
    assert both.fingerprint != target.fingerprint
    assert target.make(lambda: [chunk_rows("a")])
    lake.remove(lake.parts("chunks")[0])
    assert not target.is_current
    assert target.make(lambda: chunk_rows("a"))


def test_a_part_is_counted_once_however_often_it_is_looked_at(lake: Lake) -> None:
    made(lake)
    made(lake)
    assert lake.tally.counts() == {"made": 1, "current": 0, "removed": 0}
    again = Lake(lake.root)
    made(again)
    made(again)
    assert again.tally.counts() == {"made": 0, "current": 1, "removed": 0}
    again.remove(again.parts("chunks")[0])
    assert again.tally.counts() == {"made": 0, "current": 0, "removed": 1}
    other = Lake(lake.root)
    made(other)
    again.tally.add(other.tally)
    assert again.tally.counts() == {"made": 1, "current": 0, "removed": 0}


def test_rows_are_written_if_others_are_stored(lake: Lake) -> None:
    assert write_if_changed(lake, "chunks", "rows", chunk_rows("a", "b"), chunker="c")
    assert not write_if_changed(Lake(lake.root), "chunks", "rows", chunk_rows("a", "b"), chunker="c")
    assert write_if_changed(lake, "chunks", "rows", chunk_rows("a", "b", "c"), chunker="c")
