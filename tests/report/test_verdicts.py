from pathlib import Path

from report.leaderboard.board import build_board
from report.leaderboard.verdicts import reference_row, sentences
from report.pages.overview import first_of_each
from report.tables_read import TablesRead
from tests.report.small_lake import CHUNKING, HEADLINE, SYSTEMS, run_id, write, write_boards, write_lake

REFERENCE = "fixed-nws-1500+own-file"
BEST = "window-20-10+bm25-okapi"


def test_of_the_references_retriever_the_reference_itself_is_drawn(tmp_path: Path) -> None:
    facts = TablesRead(write_lake(tmp_path / "lake", {**SYSTEMS, "window-20-10+own-file": (0.95, 0.1)}))
    board = build_board(facts, facts.protocols[CHUNKING])
    drawn = first_of_each(board, reference_row(board))
    systems = [row.run.system for _, row, _ in drawn]
    assert REFERENCE in systems
    assert "window-20-10+own-file" not in systems
    assert [row.number for _, row, _ in drawn] == sorted((row.number or 0.0 for _, row, _ in drawn), reverse=True)


def test_each_view_with_a_stored_comparison_has_a_verdict_of_its_own(tmp_path: Path) -> None:
    lake = write_lake(tmp_path / "lake")
    pair = {"protocol": CHUNKING, "granularity": "chunk", "run_a": run_id(REFERENCE), "run_b": run_id(BEST)}
    counts = {"equivalent": False, "n_items": 5, "n_repos": 3, "p": 0.5, "wins": 3, "ties": 1, "losses": 1}
    sizes = {
        **counts,
        "delta": 0.25,
        "low": 0.125,
        "high": 0.375,
        "smallest_detectable": 0.5,
        "exploratory": True,
        "unit": "repository",
    }
    behind = {**sizes, "delta": -0.25, "low": -0.375, "high": -0.125, "verdict": "worse", "exploratory": False}
    where = dict(zip(("slice", "slice_value"), HEADLINE, strict=True))
    ndcg, recall = ({"metric": metric, "k": 10} for metric in ("ndcg", "recall"))
    of_repo = {"slice": "repo", "slice_value": "acme/one", "verdict": "cannot be separated"}
    rows: list[dict[str, object]] = [
        {**pair, **behind, **where, **ndcg},
        {**pair, **sizes, **where, **recall, "verdict": "better"},
        {**pair, **sizes, **of_repo, **ndcg},
    ]
    write(lake, "comparisons", rows, benchmark="repoeval", protocol=CHUNKING)
    facts = TablesRead(write_boards(lake))
    concluded = sentences(build_board(facts, facts.protocols[CHUNKING]))
    assert {name: list(of) for name, of in concluded.items()} == {
        "ndcg@10": ["repo=acme/one", "subset=function-2k"],
        "recall@10": ["subset=function-2k"],
    }
    assert concluded["ndcg@10"]["subset=function-2k"].startswith("No system beats own-file: ")
    assert concluded["ndcg@10"]["repo=acme/one"].endswith("(exploratory: not corrected for multiple comparisons).")
    by_recall = concluded["recall@10"]["subset=function-2k"]
    assert by_recall.startswith("bm25-okapi, first by recall at 10, beats own-file by 0.25")
