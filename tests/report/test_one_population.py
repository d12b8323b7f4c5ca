import re
from pathlib import Path

import polars as pl
import pytest

from evaluate.results.compare import compare
from evaluate.results.extra_tables import summary
from lake.store import Lake
from report.leaderboard.board import build_board
from report.leaderboard.verdicts import agents_sentence, board_sentence, board_verdict, sentence
from report.tables_read import TablesRead
from tests.report.html import given, parse, table
from tests.tiny import build, command

pytestmark = pytest.mark.slow

BOARDS = {
    "repoeval@chunking-v1": ("line_f1", 8_000, "macro", ("subset", "function-2k")),
    "repoeval@target-v1": ("line_f1", 8_000, "macro", ("subset", "function-2k")),
    "contextbench@docs-v1": ("line_f1", 0, "macro", ("all", "all")),
    "contextbench@official-v1": ("line_coverage", 0, "micro", ("all", "all")),
}
"""Protocol → its primary metric, how that is averaged, and the slice that its board opens on."""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lake of two benchmarks, with agents that were imported, and the report on it."""
    folder = tmp_path_factory.mktemp("walk")
    source, lake = build(folder / "source"), folder / "lake"
    flags = ("--lake", lake, "--quiet")
    command("ingest", "repoeval", "--source", source, "--chunkers", "whole-file,window-4-2", *flags).done()
    command("ingest", "contextbench", "--chunkers", "fixed-nws-1500", *flags).done()
    command("evaluate", *flags).done()
    command("report", "--site", folder / "site", *flags).done()
    return folder


def numbers(home: Path, protocol: str, where: tuple[str, str]) -> dict[str, float]:
    """System → its number in table `boards`, which is that of the published aggregates."""
    metric, k, average, _ = BOARDS[protocol]
    view = {"protocol": protocol, "metric": metric, "k": k, "slice": where[0], "slice_value": where[1]}
    lake = Lake(home / "lake")
    rows = lake.scan("boards").filter("is_shown", **view).join(lake.scan("runs"), on="run_id").sort("place").collect()
    values = dict(rows.select("system", "value").iter_rows())
    assert len(values) == rows.height > 3
    published = pl.read_parquet(home / "site/data/aggregates.parquet").filter(**view)
    assert values == dict(published.select("system", average).iter_rows())
    return values


def numbers_of(home: Path, protocol: str, metric: str) -> dict[str, float]:
    """System → its mean over all items of a metric without a cut-off."""
    view = {"protocol": protocol, "metric": metric, "k": 0, "slice": "all"}
    published = pl.read_parquet(home / "site/data/aggregates.parquet").filter(**view)
    return dict(published.select("system", "macro").iter_rows())


def slices(home: Path, protocol: str) -> list[tuple[str, str]]:
    rows = pl.read_parquet(home / "site/data/aggregates.parquet").filter(protocol=protocol, slice="repo")
    return [BOARDS[protocol][3], *rows.select("slice", "slice_value").unique().sort("slice_value").rows()]


@pytest.mark.parametrize("protocol", BOARDS)
def test_exports_tables_and_comparisons_have_the_boards_number(home: Path, protocol: str) -> None:
    metric, k, average, opens_on = BOARDS[protocol]
    lake, benchmark = home / "lake", protocol.partition("@")[0]
    for where in slices(home, protocol):
        expected, of = numbers(home, protocol, where), ("--slice", "=".join(where))
        file = home / "numbers.csv"
        command("report", "export", "--protocol", protocol, *of, "-o", file, "--lake", lake).done()
        exported = pl.read_csv(file).filter("is_shown", metric=metric, k=k)
        assert dict(exported.select("system", "value").iter_rows()) == expected
        assert exported["average"].unique().to_list() == [average]
        printed = command("evaluate", "table", benchmark, "--protocol", protocol, *of, "--lake", lake)
        title, _, *lines = printed.out.splitlines()
        assert f"{'all items' if where[0] == 'all' else ' '.join(where)}, {average}" in title
        cells = [line.split("\t") for line in lines if not line.startswith("#")]
        assert {cell[0]: cell[2] for cell in cells} == {name: f"{number:.3f}" for name, number in expected.items()}
        first, *others = sorted(expected)
        # Every pair on the slice that the board opens on, one pair on each of the others.
        for other in others if where == opens_on else others[:1]:
            (pair,) = compare(Lake(lake), first, other, [], protocol_names=[protocol], slice_name="=".join(where))
            assert (pair["a"], pair["b"]) == (expected[first], expected[other])
            assert ((pair["slice"], pair["slice_value"]), pair["average"]) == (where, average)


@pytest.mark.parametrize("protocol", BOARDS)
def test_the_scripts_data_has_the_boards_number(home: Path, protocol: str) -> None:
    metric, k, average, _ = BOARDS[protocol]
    benchmark, _, short = protocol.partition("@")
    board = given((home / f"site/boards/{benchmark}/{short}.js").read_bytes())[1]
    (path,) = [column["path"] for column in board["columns"] if column["path"].endswith(f"-{metric}-{k}")]
    by_slice, column = given((home / f"site/{path}.js").read_bytes())[1], board["fields"].index(average)
    for where in slices(home, protocol):
        expected = numbers(home, protocol, where)
        rows = zip(board["runs"], by_slice["=".join(where)], strict=True)
        assert {run["system"]: f"{row[column]:.3f}" for run, row in rows if row} == {
            name: f"{number:.3f}" for name, number in expected.items()
        }


def systems_of(home: Path) -> dict[str, str]:
    """What tables call a system → its id."""
    return {f"{run.short_name} {run.by}".strip(): run.system for run in TablesRead(Lake(home / "lake")).runs}


@pytest.mark.parametrize("protocol", BOARDS)
def test_the_page_has_the_boards_number(home: Path, protocol: str) -> None:
    metric, k, average, where = BOARDS[protocol]
    benchmark, _, short = protocol.partition("@")
    page = parse((home / f"site/{benchmark}-all.html").read_text(encoding="utf-8"))
    head, *rows = table(page, f"{short}, {average}:")
    column, systems = head.index(f"{metric}@{k}" if k else metric), systems_of(home)
    shown = {systems[row[0]]: row[column].split()[0] for row in rows if len(row) > column}
    assert shown == {name: f"{number:.3f}" for name, number in numbers(home, protocol, where).items()}
    captions = [(each.all("caption")[0].text, each) for each in page.all("table")]
    (heat,) = [each for caption, each in captions if f", {short}: " in caption and ", by repository" in caption]
    head, *rows = [[cell.text for cell in row.all() if cell.tag in ("td", "th")] for row in heat.all("tr")]
    by_slice = [numbers(home, protocol, slice_) for slice_ in slices(home, protocol)[1:]]
    assert len(head) == 1 + len(by_slice)
    first = [numbers(home, protocol, where)[systems[row[0]]] for row in rows]
    assert first == sorted(first, reverse=True)
    for name, *cells in rows:
        assert cells == [f"{numbers_[systems[name]]:.3f}" for numbers_ in by_slice]


def test_the_interval_beside_a_number_is_of_its_average(home: Path) -> None:
    rows = pl.read_parquet(home / "site/data/aggregates.parquet").filter(
        protocol="contextbench@official-v1", metric="line_coverage", slice="all"
    )
    page = parse((home / "site/contextbench-all.html").read_text(encoding="utf-8"))
    head, *lines = table(page, "official-v1, micro:")
    systems, column = systems_of(home), head.index("line_coverage")
    shown = {systems[line[0]]: line[column].rstrip() for line in lines if len(line) == len(head)}
    for system, low, high in rows.select("system", "micro_low", "micro_high").drop_nulls().iter_rows():
        assert shown[system].endswith(f" {low:.3f} to {high:.3f}")


def test_the_overview_says_what_evaluate_prints_and_each_bar_of_gold_adds_up(home: Path) -> None:
    lake, page = Lake(home / "lake"), parse((home / "site/index.html").read_text(encoding="utf-8"))
    facts = TablesRead(lake)
    shown = [each.text for each in page.all("p") if "verdict" in (each.attributes.get("class") or "")]
    for position, benchmark in enumerate(facts.benchmarks):
        board = build_board(facts, facts.boards(benchmark)[0])
        verdict = board_verdict(board)
        systems = {run.run_id: run.system for run in facts.runs}
        assert verdict.sentence(systems.__getitem__) == list(summary(lake, benchmark))[1].strip()
        by_agents, of_board = agents_sentence(board), board_sentence(board)
        assert shown[position] == (by_agents or of_board)
        for text in filter(None, (by_agents, of_board)):
            # After a colon it goes on in lower case, unless it begins with a name.
            assert not re.search(": (Too|No) ", text)
            assert text.startswith("By lines: ") == (" By files: " in text)
        assert of_board.removeprefix("By lines: ").casefold().startswith(sentence(board, verdict).casefold())
        assert verdict.nothing or f"{abs(verdict.delta):.2f}" in of_board
        for level in ("line", "file") if by_agents else ():
            values = numbers_of(home, board.protocol.name, f"{level}_f1")
            best = max(values[run.system] for run in facts.runs_of(benchmark) if run.has_steps)
            assert f"{best - values['fixed-nws-1500+bm25-okapi']:.2f}" in by_agents
    assert any("the best agent" in text for text in shown)
    bars = [each for each in page.all("div") if each.attributes.get("class") == "bar"]
    styles = [[part.attributes["style"] or "" for part in bar.all() if "style" in part.attributes] for bar in bars]
    widths = [[float(re.findall(r"width:([0-9.]+)%", style)[0]) for style in bar] for bar in styles]
    assert len(widths) > 3
    assert [round(sum(parts), 1) for parts in widths] == [100.0] * len(widths)


PART = "my-search"


def test_a_system_that_answered_a_part_is_never_among_the_ranked(lake_folder: Path, tmp_path: Path) -> None:
    file, flags = tmp_path / "run.txt", ("--lake", lake_folder)
    command("report", "export", "whole-file+own-file", "--format", "trec", "-o", file, *flags).done()
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(line for line in lines if line.split()[0] != lines[0].split()[0]))
    options = ("--benchmark", "repoeval", "--task", "repoeval/prompt", "--system", PART)
    command("ingest", "run", file, *options, *flags).done("answers 4 of 5 items")
    ended = command("evaluate", *flags)
    (shown,) = [line for line in ended.out.splitlines() if PART in line]
    assert shown.endswith("4 of 5 items  partial")
    assert "more: " in ended.out
    rows = command("evaluate", "table", "repoeval", "--protocol", "repoeval@chunking-v1", *flags).out.splitlines()
    name, rank, *_, items = [row for row in rows if not row.startswith("#")][-1].split("\t")
    assert (name, rank, items) == (f"{PART} (partial)", "", "4 of 5")
    (beside,) = compare(Lake(lake_folder), "whole-file+own-file", PART, [], protocol_names=["repoeval@chunking-v1"])
    assert (beside["n_a"], beside["n_b"], beside["n"], beside["delta"]) == (5, 4, 4, 0.0)
    assert (beside["wins"], beside["ties"], beside["losses"]) == (0, 4, 0)
    exported = tmp_path / "numbers.parquet"
    command("report", "export", "--format", "parquet", "-o", exported, *flags).done()
    assert pl.read_parquet(exported).filter(system=PART)["is_compared"].unique().to_list() == [False]
    command("report", "--site", tmp_path / "site", "--quiet", *flags).done()
    page = parse((tmp_path / "site/repoeval-all.html").read_text(encoding="utf-8"))
    names = [row[0] for row in table(page, "chunking-v1, macro:")]
    apart = next(number for number, name in enumerate(names) if name.startswith("Not comparable"))
    assert names[apart + 1 :] == [f"{PART} partial: 4 of 5 items"]
    # Its mean is over other items than the reference's: a difference of the two says nothing.
    differences = {row[0]: row[4] for row in table(page, "chunking-v1, macro:")[1:] if len(row) > 4}
    assert differences[names[apart + 1]] == "–"
    assert "–" not in [cell for name, cell in differences.items() if name != names[apart + 1]]
    system = (tmp_path / f"site/systems/{PART}.html").read_text(encoding="utf-8")
    assert "What happened to the lines that were needed <small>4 items," in system
    assert "What happened to the lines that were needed <small>5 items," not in system
    ledger = Lake(lake_folder).read("ledger_means").filter(run_id=beside["run_b"], slice="all")
    assert ledger["n"].unique().to_list() == [4]
    bold = {row.all("th")[0].text.split()[0] for row in page.all("tr") if row.all("b")}
    assert PART not in bold
