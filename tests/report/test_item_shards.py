from itertools import accumulate
from pathlib import Path

import polars as pl
import pytest

from report.build import build
from report.items import roster as rosters
from report.items.answers import candidates_by_item, spans_by_item
from report.items.licences import ItemText, permits
from report.items.roster import Roster, classes_of
from report.items.texts import chosen, texts_by_item
from tests.report.html import board_of, given
from tests.report.item_lake import (
    AGENT,
    CANDIDATES,
    CONTEXTS,
    FINAL,
    GOLD,
    HOSTILE,
    QUESTION,
    RANKED,
    RETRIEVER,
    STEPS,
    TEXTS,
    Spans,
    item_id,
    write_item_lake,
)

Lines = set[tuple[str, int]]


def lines_of(spans: Spans) -> Lines:
    """The lines of spans as people would count them out, one by one."""
    held: Lines = set()
    for path, start, end in spans:
        n_lines = TEXTS[path].count("\n") if path in TEXTS else 0
        if start is not None:
            held |= {(path, line) for line in range(start, min(n_lines if end is None else end, n_lines))}
    return held


def flat_lines(numbers: list[int], files: list[str]) -> Lines:
    return {
        (files[numbers[at]], line)
        for at in range(0, len(numbers), 3)
        for line in range(numbers[at + 1], numbers[at + 2])
    }


def test_ranges_hold_the_lines_that_a_count_line_by_line_gives(tmp_path: Path) -> None:
    lake = write_item_lake(tmp_path / "lake")
    roster = Roster(board_of(lake, CONTEXTS))
    items = roster.items
    known = spans_by_item(roster)
    systems = [run.system for run in roster.runs]
    number = items["item_id"].to_list().index(item_id(1))
    row = known.row(by_predicate=pl.col("item") == number, named=True)
    files = row["files"]
    lengths = dict(zip(files, row["lengths"], strict=True))
    # Gold in no file of the repository is in no number of contexts.
    assert flat_lines(row["gold"], files) == lines_of([span for span in GOLD if span[0] in TEXTS])
    assert lengths["gone.py"] == -1
    assert lengths["a.py"] == 40
    walked = list(dict.fromkeys((path, line) for path, start, end in RANKED for line in range(start, end)))
    spent = accumulate(sum(unit > " " for unit in TEXTS[path].split("\n")[line]) for path, line in walked)
    paid = {line for line, cost in zip(walked, spent, strict=True) if cost <= 8_000}
    assert 15 < len(paid) < len(walked)
    answers = dict(zip([systems[run] for run in row["run"]], row["answer"], strict=True))
    assert flat_lines(answers[RETRIEVER], files) == paid
    assert flat_lines(answers[AGENT], files) == lines_of(FINAL)
    steps = dict(zip([systems[run] for run in row["run"]], row["steps"], strict=True))
    quads = [steps[AGENT][at : at + 4] for at in range(0, len(steps[AGENT]), 4)]
    for step, spans in enumerate(STEPS, 1):
        mine = [each for quad in quads if quad[0] == step for each in quad[1:]]
        assert flat_lines(mine, files) == lines_of([span for span in spans if span[0] in TEXTS])
    # A file that is nowhere, and one that is named without lines, are named all the same.
    assert {files[quad[1]] for quad in quads} == {"a.py", "b.py", "/testbed/lost.py"}
    assert row["own"] == [files.index("a.py"), 1, 3, 5]


def test_every_item_lies_in_the_shard_that_its_bounds_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rosters, "RAW_BYTES", 1_500)
    build(write_item_lake(tmp_path / "lake"), tmp_path / "site")
    folder = tmp_path / "site" / "items" / CONTEXTS
    name, about = given((folder / "about.js").read_bytes())
    assert name == f"items/{CONTEXTS}/about"
    bounds = about["shards"]
    assert len(bounds) > 2
    seen: list[str] = []
    for number, first in enumerate(bounds):
        name, rows = given((folder / f"{number}.js").read_bytes())
        assert name == f"items/{CONTEXTS}/{number}"
        assert rows["rows"][0]["item_id"] == first
        # How many that can be scored come before it, and which stands beside it; one cannot be.
        assert rows["at"] == sum(name != item_id(3) for name in seen)
        assert rows["before"] == next((name for name in reversed(seen) if name != item_id(3)), None)
        seen += [row["item_id"] for row in rows["rows"]]
    assert seen == sorted(item_id(number) for number in range(7))
    _, columns = given((folder / "list.js").read_bytes())
    assert columns["id"] == seen
    assert columns["gold"] == [None if name == item_id(3) else 36 for name in seen]


def test_candidates_have_the_rank_of_gold_and_the_first_five(tmp_path: Path) -> None:
    build(write_item_lake(tmp_path / "lake"), tmp_path / "site")
    _, rows = given((tmp_path / "site" / "items" / CANDIDATES / "0.js").read_bytes())
    rows = rows["rows"]
    assert [row["answer"] for row in rows] == [
        [[1, 1, 6, 1, 2, 3, 4]],
        [[7, 0, 0, 1, 2, 3, 4]],
        [[2, 0, 7, 6, 5, 4, 3]],
    ]
    assert [row["gold"] for row in rows] == [[6]] * 3
    # Without scripts the list is there, with where the rest is.
    page = (tmp_path / "site" / "items" / f"{CANDIDATES}.html").read_text(encoding="utf-8")
    assert "hard/<wbr>2</th>" in page
    assert "</script><img" not in (tmp_path / "site" / "items" / f"{CONTEXTS}.html").read_text(encoding="utf-8")


def test_licences_are_permissive_by_name_alone() -> None:
    for licence in ("MIT", "mit", "Apache-2.0", "BSD License", "GPL-3.0 OR MIT", "MIT AND ISC"):
        assert permits(licence), licence
    for licence in ("", "GPL-3.0", "MIT AND GPL-3.0", "MITX", "see file", "CC-BY-NC-4.0", "(MIT"):
        assert not permits(licence), licence


def test_text_is_published_of_whom_it_is_asked_and_permitted(tmp_path: Path) -> None:
    lake = write_item_lake(tmp_path / "lake")
    roster = Roster(board_of(lake, CONTEXTS))
    classes = classes_of(roster)
    of = {which: chosen(roster, classes, which)[0] for which in ItemText}
    # Item 2 is from a repository whose licence nobody knows, item 3 cannot be scored.
    licensed = {item_id(number) for number in range(7) if number not in {2, 3}}
    published = {which: set(items["item_id"]) for which, items in of.items()}
    assert published == dict.fromkeys(ItemText, licensed) | {ItemText.NONE: set(), ItemText.FLIPS: set()}
    # Where one of the two systems shown first found most, and the other did not.
    lost = pl.when((pl.col("run") == roster.runs.index(roster.usual[0])) & (pl.col("item_id") == item_id(4))).then(1)
    flipped = classes.with_columns(pl.coalesce(lost, "class").alias("class"))
    assert chosen(roster, flipped, ItemText.FLIPS)[0]["item_id"].to_list() == [item_id(4)]

    answers = spans_by_item(roster)
    texts = texts_by_item(roster, of[ItemText.FULL], answers)
    item = texts.row(by_predicate=pl.col("item_id") == item_id(1), named=True)
    # Code of the repository is under its licence; an issue is its writer's.
    assert dict(texts.select("item_id", "question").iter_rows()) == {
        name: None if name == item_id(4) else QUESTION for name in licensed
    }
    files = {file["path"]: file for file in item["files"]}
    returned = lines_of([span for span in [*RANKED, *FINAL] if span[0] in TEXTS])
    near = {("a.py", line) for line in range(28)}
    for path, file in files.items():
        lines = TEXTS[path].split("\n")
        gold = {(path, n - 1) for n, is_gold in zip(file["n"], file["gold"], strict=True) if is_gold}
        assert gold == {span for span in lines_of(GOLD) if span[0] == path}
        assert {(path, n - 1) for n in file["n"]} >= {line for line in gold | near if line[0] == path}
        assert {(path, n - 1) for n in file["n"]} <= {line for line in gold | near | returned if line[0] == path}
        for n, text in zip(file["n"], file["text"], strict=True):
            line = lines[n - 1]
            assert text == (line if len(line) <= 400 else f"{line[:400]}… ({len(line)} characters)")
    # Words are told apart in files with gold alone.
    assert files["b.py"]["kinds"][0] == "0k3 4n2 "
    assert not files[HOSTILE]["kinds"]
    assert texts_by_item(roster, of[ItemText.NONE], answers).is_empty()


def test_a_site_for_one_machine_shows_all_text_and_the_question(tmp_path: Path) -> None:
    lake = write_item_lake(tmp_path / "lake")
    roster = Roster(board_of(lake, CONTEXTS))
    shown, _ = chosen(roster, classes_of(roster), None, is_local=True)
    assert set(shown["item_id"]) == {item_id(number) for number in range(7) if number != 3}
    texts = texts_by_item(roster, shown, spans_by_item(roster), is_local=True)
    item = texts.row(by_predicate=pl.col("item_id") == item_id(2), named=True)
    assert item["question"] == QUESTION
    assert not any(file["kinds"] for file in item["files"])
    # A benchmark of very many items shows a sample.
    roster = Roster(board_of(lake, CANDIDATES))
    shown, _ = chosen(roster, pl.DataFrame(), None, is_local=True)
    texts = texts_by_item(roster, shown, candidates_by_item(roster), is_local=True)
    assert [[file["path"] for file in files] for files in texts["files"]] == [
        ["cand:6"],
        ["cand:6", "cand:0"],
        ["cand:6", "cand:7"],
    ]
