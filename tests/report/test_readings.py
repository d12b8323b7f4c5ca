from pathlib import Path

from lake.averages import AVERAGES
from lake.store import Lake
from report.leaderboard.board import build_board
from report.leaderboard.pictures import SAME, WaysToCount
from report.tables_read import TablesRead


def test_readings_are_the_differences_of_the_stored_means(lake_folder: Path) -> None:
    facts = TablesRead(Lake(lake_folder))
    boards = [build_board(facts, protocol) for protocol in facts.boards("repoeval")]
    readings = WaysToCount(boards)
    first, second = (row.run.run_id for row in boards[0].systems[:2])
    board = boards[0]
    means = facts.lake.scan("aggregates", benchmark="repoeval").filter(**board.where).collect()
    means = means.filter(granularity=board.primary.granularity, metric=board.primary.metric)
    ahead, behind = (means.filter(run_id=run_id).sort("k").select([*AVERAGES]) for run_id in (first, second))
    expected = sorted(value for row in (ahead - behind).rows() for value in row)
    found = sorted(reading.delta for reading in readings.every if reading.protocol == board.protocol.short)
    assert found == expected
    assert len(found) == means["k"].n_unique() * len(AVERAGES)
    assert {reading.protocol for reading in readings.every} > {board.protocol.short}
    n_behind = sum(reading.delta < -SAME for reading in readings.every)
    assert len(readings.turned) == n_behind
    assert f" of {len(readings.every)} ways to count" in readings.sentence


def test_one_system_alone_has_nothing_to_be_held_against(lake_folder: Path) -> None:
    facts = TablesRead(Lake(lake_folder))
    (best, *_) = build_board(facts, facts.boards("repoeval")[0]).systems
    facts.runs = tuple(run for run in facts.runs if run.baseline or run.run_id == best.run.run_id)
    readings = WaysToCount([build_board(facts, protocol) for protocol in facts.boards("repoeval")])
    assert (readings.every, readings.sentence) == ([], "")
