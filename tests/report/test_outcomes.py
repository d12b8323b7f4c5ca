import base64
import json
import zlib
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from lake.store import Lake
from lake.tables.evaluated import LEDGER_TITLES
from report.format import run_key
from report.leaderboard.board import Board, build_board
from report.pages.compare import BoardOutcomes, coded_numbers, outcome_files
from report.tables_read import TablesRead
from tests.report.html import given
from tests.report.small_lake import LIMITED, write_lake
from tests.tiny import command

pytestmark = pytest.mark.slow

Column = Mapping[str, str]


def unpacked(text: str) -> bytes:
    return zlib.decompress(base64.b64decode(text))


def whole(text: str, n: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    raw = unpacked(text)
    return np.frombuffer(raw, f"<u{len(raw) // n}").astype(np.int64)


def decoded(column: Column, n: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """As `site/static/outcomes.js` reads numbers."""
    values = np.array([np.nan, *np.frombuffer(unpacked(column["values"]), "<f8")])
    return values[whole(column["codes"], n)]


@pytest.mark.parametrize(
    ("n_different", "width"), [(0, 1), (3, 1), (255, 1), (256, 2), (65_535, 2), (65_536, 4)], ids=lambda each: str(each)
)
def test_numbers_are_had_again_exactly_in_as_few_bytes_as_they_need(n_different: int, width: int) -> None:
    values = [None, *(1 / (3 + number) for number in range(n_different)), None, *[1 / 3] * bool(n_different)]
    column = coded_numbers(np.array(values, dtype=float))
    assert len(unpacked(str(column["codes"]))) == len(values) * width
    numbers = decoded({key: str(text) for key, text in column.items()}, len(values))
    np.testing.assert_array_equal(numbers, np.array(values, dtype=float))


def test_a_board_of_one_run_has_nothing_to_compare(tmp_path: Path) -> None:
    lake = write_lake(tmp_path, {"fixed-nws-1500+jaccard": (0.5, 0.25)})
    facts = TablesRead(lake)
    chunking, target = (build_board(facts, protocol) for protocol in facts.boards("repoeval"))
    assert len(BoardOutcomes(target).rows) < 2
    assert [row.run.system for row in BoardOutcomes(chunking).rows] == ["fixed-nws-1500+jaccard", LIMITED]


@pytest.fixture(scope="module")
def repobench(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Lake:
    folder = tmp_path_factory.mktemp("repobench")
    for words in (
        ["ingest", "repobench-r", "--source", str(shared), "--chunkers", "whole-file", "--lake", str(folder)],
        ["evaluate", "--lake", str(folder)],
    ):
        assert command(words[0], *words[1:]).code in (0, 5)
    return Lake(folder)


def test_the_outcomes_of_a_small_lake_are_those_that_evaluate_stored(lake_folder: Path) -> None:
    check(Lake(lake_folder))


def test_the_outcomes_of_real_rows_are_those_that_evaluate_stored(repobench: Lake) -> None:
    check(repobench)


def scores_of_lines(lake: Lake, board: Board, run_id: str) -> dict[str, float]:
    """How many lines a run returned of each item, where lines are counted under the board's protocol."""
    scores = lake.scan("scores", protocol=board.protocol.name, run_id=run_id)
    mine = scores.filter(metric="line_precision", granularity="line", k=board.primary.k)
    return dict(mine.select("item_id", "denominator").collect().iter_rows())


def check(lake: Lake) -> None:
    """Scores and what became of the gold are had again; browser/test_compare.py reckons every pair from them."""
    facts = TablesRead(lake)
    n_runs = 0
    for board in (build_board(facts, protocol) for name in facts.benchmarks for protocol in facts.boards(name)):
        outcomes = BoardOutcomes(board)
        files = {path: given(content)[1] for path, content in outcome_files(outcomes)}
        about = files[f"{outcomes.name}.js"]
        n = about["n"]
        assert json.loads(unpacked(about["ids"])) == outcomes.items["item_id"].to_list()
        granularity, metric, k = board.primary.measure
        scores = lake.scan("scores", protocol=board.protocol.name).filter(granularity=granularity, metric=metric, k=k)
        for row in outcomes.rows:
            run = files[f"{outcomes.name}/{run_key(row.run.run_id)}.js"]
            stored = scores.filter(run_id=row.run.run_id).select("item_id", "value").collect()
            mine = decoded(run["value"], n)
            expected = outcomes.items.join(stored, on="item_id", how="left", maintain_order="left")["value"]
            np.testing.assert_array_equal(mine, expected.to_numpy())
            ledger = lake.scan("ledger", protocol=board.protocol.name).filter(run_id=row.run.run_id).collect()
            whys = dict(zip(outcomes.items["item_id"], whole(run["why"], n), strict=True))
            columns = {"n_gold": about["gold"]} | {name: run[name] for name in ("found", "returned") if name in run}
            by_item = {
                name: dict(zip(outcomes.items["item_id"], decoded(column, n), strict=True))
                for name, column in columns.items()
            }
            beside = scores_of_lines(lake, board, row.run.run_id)
            assert ("returned" in run) == bool(beside)
            for entry in ledger.iter_rows(named=True):
                item = entry["item_id"]
                if item in whys:
                    assert by_item["n_gold"][item] == entry["n_gold"]
                    if beside:
                        assert by_item["found"][item] == entry["found"]
                        assert by_item["returned"][item] == beside[item]
                    assert entry[list(LEDGER_TITLES)[whys[item] - 1]] == max(entry[name] for name in LEDGER_TITLES)
        n_runs += len(outcomes.rows)
    assert n_runs > 5
