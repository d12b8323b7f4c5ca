import json
import re
import shutil
from pathlib import Path

import pytest

from lake.errors import Exit
from tests.report.small_lake import CHUNKING, write_lake
from tests.tiny import command, ingested, stored

pytestmark = pytest.mark.slow


def test_what_came_out_is_on_stdout_and_the_last_block_on_stderr(lake_folder: Path) -> None:
    run = command("evaluate", "--lake", lake_folder, "--items", "repo=zoo_animals").done()
    first, verdict, *systems = run.out.splitlines()
    over = "mean over items, items of subset function-2k"
    assert first == f"repoeval: line_f1@8000, {over} (repoeval@chunking-v1)"
    assert verdict.endswith(".")
    assert sum("too few to rank" in line for line in systems) == 3
    assert systems[-1].endswith(f"GOLDSPAN_LAKE={lake_folder} .venv/bin/python -m evaluate table repoeval")
    last, hint = run.err.splitlines()[-2:]
    assert last.startswith("evaluate: ")
    assert " item rankings, " in last
    assert last.endswith(f"→ {lake_folder}")
    assert hint == f"  next: make report LAKE={lake_folder}"


def test_a_table_is_tab_separated_where_no_terminal_reads_it(lake_folder: Path) -> None:
    run = command("evaluate", "table", "repoeval", "--lake", lake_folder)
    assert (run.code, run.err) == (0, "")
    tables = run.out.strip().split("\n\n")
    assert [table.splitlines()[0] for table in tables] == [
        "# repoeval@chunking-v1, subset function-2k, macro",
        "# repoeval@target-v1, subset function-2k, macro",
    ]
    head, *rows = [line.split("\t") for line in tables[0].splitlines() if not line.startswith("#")]
    assert head == ["system", "rank", "line_f1@8000", "low", "high", "recall@10", "mrr@10", "items"]
    assert {len(row) for row in rows} == {8}
    by_system = {row[0]: row for row in rows}
    assert by_system["window-4-2+bm25-okapi"][1] == "too few"
    assert by_system["whole-file+oracle"][1] == ""
    numbers = [float(row[2]) for row in rows]
    assert numbers == sorted(numbers, reverse=True)


def test_a_table_can_be_of_a_protocol_a_slice_some_systems_and_the_first_of_them(lake_folder: Path) -> None:
    options = ("--protocol", "repoeval@target-v1", "--slice", "repo=zoo_animals", "--lake", lake_folder)
    whole = command("evaluate", "table", *options).out
    assert whole.splitlines()[0] == "# repoeval@target-v1, repo zoo_animals, macro"
    names = [line.split("\t")[0] for line in whole.splitlines()[2:] if not line.startswith("#")]
    some = command("evaluate", "table", *options, "--systems", "window-*").out
    assert [line.split("\t")[0] for line in some.splitlines()[2:] if not line.startswith("#")] == [
        name for name in names if name.startswith("window-")
    ]
    ours = [name for name in names if name.endswith(("okapi", "regex"))]
    top = [line.split("\t")[0] for line in command("evaluate", "table", *options, "--top", "1").out.splitlines()[2:]]
    assert ours[0] in top
    assert not {*ours[1:]} & {*top}
    command("evaluate", "table", "--slice", "repo=zoo", "--lake", lake_folder).refused(Exit.USAGE, "repo=zoo_animals")


def test_a_table_over_selected_items_has_the_numbers_of_these_and_ranks_nobody(lake_folder: Path) -> None:
    options = ("--protocol", "repoeval@target-v1", "--lake", lake_folder)
    by_repo, selected = (
        command("evaluate", "table", *options, *chosen).out.splitlines()
        for chosen in (("--slice", "repo=zoo_animals"), ("--items", "repo=zoo_animals"))
    )
    head, *rows = [line.split("\t") for line in selected if not line.startswith("#")]
    assert head == ["system", "line_f1@8000", "low", "high", "recall@10", "mrr@10", "items"]
    columns = [column for column, name in enumerate(by_repo[1].split("\t")) if name != "rank"]
    sliced = [line.split("\t") for line in by_repo[2:] if not line.startswith("#")]
    assert rows == [[row[column] for column in columns] for row in sliced]
    assert any("selected items of subset function-2k" in line for line in selected)
    none = command("evaluate", "table", "--items", "repo=zoo", "--lake", lake_folder)
    none.refused(Exit.MISSING, "  repo is one of ", "zoo_animals")


def test_two_systems_are_compared_over_selected_items_alone(lake_folder: Path) -> None:
    systems = ("whole-file+bm25-okapi", "whole-file+own-file", "--json", "--lake", lake_folder)
    selected = json.loads(command("evaluate", "compare", *systems, "--items", "repo=zoo_animals").out)
    sliced = json.loads(command("evaluate", "compare", *systems, "--slice", "repo=zoo_animals").out)
    own = ("slice", "slice_value", "smallest_detectable", "verdict")
    assert len(selected) == len(sliced) > 0
    for row, other in zip(selected, sliced, strict=True):
        assert {k: v for k, v in row.items() if k not in own} == {k: v for k, v in other.items() if k not in own}
        assert [name for name, *_ in row["repositories"]] == ["zoo_animals"]


def test_costs_stand_below_the_boards_by_choice(lake_folder: Path) -> None:
    options = ("--protocol", "repoeval@chunking-v1", "--lake", lake_folder)
    boards = command("evaluate", "table", *options).out
    with_costs = command("evaluate", "table", *options, "--costs").out
    assert with_costs.startswith(boards)
    title, head, *rows = with_costs.removeprefix(boards).strip().splitlines()
    assert title == "# repoeval@chunking-v1, subset function-2k: cost"
    assert head.split("\t")[2:] == ["read", "returned", "index s", "index MB", "p50 ms", "p95 ms", "frontier"]
    cells = {row.split("\t")[0]: row.split("\t")[1:] for row in rows if not row.startswith("#")}
    assert all(float(number) >= 0 for row in cells.values() for number in row[:-1])
    # Every system here reads all there is: the best of them is on the frontier, and no baseline is.
    best = next(name for name in cells if not name.endswith(("oracle", "own-file", "random")))
    assert "characters" in cells[best][-1]
    assert {row[-1] for name, row in cells.items() if name.endswith(("oracle", "own-file", "random"))} == {""}


def test_the_grid_of_chunkers_and_retrievers_is_printed_with_its_answer(lake_folder: Path) -> None:
    run = command("evaluate", "effects", "repoeval", "--protocol", "repoeval@chunking-v1", "--lake", lake_folder)
    title, head, *rows, answer = run.out.strip().splitlines()
    assert title.startswith(
        "# repoeval@chunking-v1 of repoeval/prompt, subset function-2k: line_f1@8000 by chunker and"
    )
    assert head.split("\t") == ["chunker", "mean", "bm25-okapi", "jaccard-regex", "effect", "low", "high"]
    cells = {row.split("\t")[0]: row.split("\t")[1:] for row in rows}
    assert list(cells) == ["whole-file", "window-4-2", "mean", "effect", "low", "high"]
    assert {len(row) for row in cells.values()} == {len(head.split("\t")) - 1}
    assert answer.startswith(("# It is undecided here", "# These 4 systems differ by no more than chance."))
    shutil.rmtree(lake_folder / "effects")
    command("evaluate", "effects", "--lake", lake_folder).refused(Exit.MISSING)


def test_a_table_has_ranks_only_where_it_is_ordered_by_what_they_are_of(lake_folder: Path) -> None:
    run = command("evaluate", "--lake", lake_folder, "--metrics", "ndcg_at_10,recall@5").done()
    heads = [line for line in run.out.splitlines() if line.startswith("system")]
    assert [head.split() for head in heads] == [["system", "ndcg@10", "low", "high", "recall@5", "items"]] * 2
    run = command("evaluate", "table", "repoeval", "--lake", lake_folder, "--metrics", "line_f1@8000,ndcg@10")
    heads = [line for line in run.out.splitlines() if line.startswith("system")]
    assert [head.split()[:3] for head in heads] == [["system", "rank", "line_f1@8000"]] * 2


def test_any_cut_off_and_budget_is_computed_when_asked_for_and_stored_nowhere(lake_folder: Path) -> None:
    requested = ["ndcg@20", "line_f1@4000", "self_share@3", "ndcg@10", "line_f1", "accuracy@2"]
    command("evaluate", "--lake", lake_folder).done()
    before = stored(lake_folder)
    metrics = ",".join(requested).replace("line_f1,", "line_f1@0,")
    run = command("evaluate", "--lake", lake_folder, "--metrics", metrics).done()
    assert stored(lake_folder) == before
    for table in run.out.strip().split("\n\n"):
        _, head, *rows = table.splitlines()
        assert head.split("\t") == ["system", requested[0], "low", "high", *requested[1:], "items"]
        cells = [row.split("\t") for row in rows if not row.startswith("#")]
        numbers = {system: [first, *others] for system, first, _, _, *others in cells}
        # Five items whose pools are smaller than twenty: there ndcg@20 is ndcg at the pool's own depth.
        assert numbers["whole-file+oracle"][0] == "1.000"
        assert all(re.fullmatch(r"[01]\.\d{3}", number) for row in numbers.values() for number in row[:-1])
        notes = [row.split()[1] for row in rows if row.startswith("# ") and " is exploratory: " in row]
        assert notes == [name for name in requested if name != "ndcg@10"]


@pytest.mark.parametrize(
    ("arguments", "said_so", "meant"),
    [
        (["--benchmarks", "repoevl"], "unknown benchmark 'repoevl'", "Did you mean 'repoeval'"),
        (["--systems", "window-4-2+bm26"], "unknown system 'window-4-2+bm26'", "Did you mean 'window-4-2+bm25-"),
        (["--metrics", "em"], "'em' cannot be computed for repoeval", "em is not measured under repoeval@target-v1"),
        (["--metrics", "ndcg@101"], "metric 'ndcg@101' cannot be computed", "runs of repoeval/prompt keep 100 results"),
        (["--metrics", "correct@5"], "metric 'correct@5' needs no cut-off", "Usual: correct."),
        (["--items", "gold=target"], "--items 'gold=target': items are selected by column=value", "are fixed"),
        (["--items", "repo"], "--items 'repo'", "Columns are"),
        (["--items", "function-2k/zoo_animal/0"], "unknown item", "Did you mean 'function-2k/zoo_animals/0'"),
    ],
)
def test_usage_errors_change_nothing(lake_folder: Path, arguments: list[str], said_so: str, meant: str) -> None:
    before = stored(lake_folder)
    command("evaluate", "--lake", lake_folder, *arguments).refused(Exit.USAGE, said_so, meant)
    assert stored(lake_folder) == before


LISTED = {
    "systems": "window-4-2+bm25-okapi", "retrievers": "bm25-okapi", "tasks": "repoeval/prompt", "metrics": "ndcg",
    "protocols": "repoeval@target-v1", "runs": "repoeval.prompt--window-4-2+bm25-okapi--",
}  # fmt: skip


@pytest.mark.parametrize("what", LISTED)
def test_what_there_is_can_be_listed(lake_folder: Path, what: str) -> None:
    run = command("evaluate", "list", what, "--lake", lake_folder)
    assert (run.code, run.err, LISTED[what] in run.out) == (0, "", True)


def test_the_table_falls_back_to_a_subset_where_the_headlines_was_not_asked(source: Path, tmp_path: Path) -> None:
    for context in ("1k", "4k"):
        (source / "datasets" / f"function_level_completion_{context}_context_codex.test.jsonl").write_bytes(
            (source / "datasets" / "function_level_completion_2k_context_codex.test.jsonl").read_bytes()
        )
    lake = tmp_path / "lake"
    options = ("--subsets", "function-1k,function-4k", "--chunkers", "whole-file")
    command("ingest", "--source", source, *options, "--lake", lake).done()
    command("evaluate", "--lake", lake).done()
    assert "repoeval@chunking-v1, subset function-1k, macro" in command("evaluate", "table", "--lake", lake).out


def test_effects_of_few_repositories_are_told_over_their_items(tmp_path: Path) -> None:
    lake = write_lake(tmp_path)
    (part,) = lake.parts("benchmarks")
    lake.write("benchmarks", lake.read("benchmarks"), part="repoeval", fingerprint="f")
    lake.remove(part)
    printed = command("evaluate", "effects", "--protocol", CHUNKING, "--lake", lake.root).done()
    title, *_, answer, of_shares, _ = printed.out.strip().splitlines()
    assert "5 items, 2 repositories" in title
    assert "as there are too few items" in answer
    assert answer.endswith("(for these repositories only).")
    assert of_shares.startswith("# shares need not sum to 100 %")


def test_effects_without_a_grid_say_what_to_add(source: Path, tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    ingested(lake, source, chunkers=["whole-file"])
    command("evaluate", "--lake", lake).done()
    printed = command("evaluate", "effects", "--lake", lake)
    why = "no two chunkers were run with the same two retrievers on all items"
    printed.refused(Exit.MISSING, why, "make ingest evaluate")
