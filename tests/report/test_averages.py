import pytest

from report.build import build
from tests.report.context_lake import AVERAGES, ELSEWHERE, OF_STEPS, SYSTEMS, write_context, write_official
from tests.report.html import Element, called, parse, table
from tests.report.small_lake import write_lake

MICRO, MACRO = "ContextBench (sample), official-v1, micro", "ContextBench (sample), official-v1, macro"
BM25, RANDOM, AGENT = "whole-file+bm25-okapi", "whole-file+random", "an-agent"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Element]:
    folder = tmp_path_factory.mktemp("official")
    build(write_official(write_context(write_lake(folder / "lake"))), folder / "site")
    texts = {path.name: path.read_text(encoding="utf-8") for path in (folder / "site").glob("*.html")}
    return {name: parse(text) for name, text in texts.items()}


def section(site: dict[str, Element], short: str, page: str = "contextbench-all.html") -> Element:
    return next(each for each in site[page].all("section") if each.attributes.get("data-protocol") == short)


def test_a_mean_over_fewer_items_stands_apart_and_is_never_the_best(site: dict[str, Element]) -> None:
    head, *rows = table(site["contextbench-all.html"], MICRO)
    at = {name: column for column, name in enumerate(head)}
    names = [row[0] for row in rows]
    apart = names.index("Not comparable with the rows above: limited, partial, failed, or a mean over fewer items")
    assert names[apart + 1 :] == [f"{AGENT} 1 of 2 items"]
    assert rows[-1][at["line_coverage"]] == f"{AVERAGES[AGENT][0]:.3f}"
    assert rows[-1][at["n/N"]] == "1/2 1 failed"
    assert {row[at["n/N"]] for row in rows[:apart] if len(row) == len(head)} == {"2/2"}
    element = next(each for each in site["contextbench-all.html"].all("table") if MICRO in each.text)
    best = {row.all("th")[0].text: [each.text for each in row.all("b")] for row in element.all("tr") if row.all("b")}
    # Of redundancy the least is the best.
    assert best == {ELSEWHERE: ["0.500", "0.250"], called(BM25): ["0.062"]}


def test_the_note_is_the_protocols_own_rule(site: dict[str, Element]) -> None:
    official, docs = (section(site, short, "contextbench.html").text for short in ("official-v1", "docs-v1"))
    assert "an item that a system failed is left out of its means" in official
    assert "scores 0" not in official
    assert "an item that a system failed scores 0" in docs
    assert "is left out" not in docs


@pytest.mark.parametrize(("caption", "position"), [(MICRO, 0), (MACRO, 1)])
def test_lines_are_in_order_under_every_average(site: dict[str, Element], caption: str, position: int) -> None:
    values = {**AVERAGES, ELSEWHERE: (0.5, 0.5)}
    ordered = sorted((name for name in values if name != AGENT), key=lambda name: -values[name][position])
    assert ordered.index(BM25) - ordered.index(RANDOM) == (-1 if position == 0 else 1)
    head, *rows = table(site["contextbench-all.html"], caption)
    numbers = [f"{values[name][position]:.3f}" for name in ordered]
    rows = [row for row in rows if len(row) == len(head)]
    # The baseline stands below the systems.
    systems = [name for name in ordered if name != RANDOM]
    assert [row[0] for row in rows[:3]] == list(map(called, [*systems, RANDOM]))
    by_name = {row[0]: row[head.index("line_coverage")] for row in rows[:3]}
    assert [by_name[called(name)] for name in ordered] == numbers
    box = [each for each in section(site, "official-v1").all("div") if each.attributes.get("data-average")][position]
    assert caption in box.text
    sorted_by = [each.attributes.get("data-key") for each in box.all("th") if each.attributes.get("aria-sort")]
    assert sorted_by == ["line_coverage"]


@pytest.mark.parametrize("caption", [MICRO, MACRO])
def test_metrics_of_steps_are_means_over_items_beside_ratios_of_sums(site: dict[str, Element], caption: str) -> None:
    head, *rows = table(site["contextbench-all.html"], caption)
    cells = {row[0]: row for row in rows if len(row) == len(head)}
    for name in (BM25, RANDOM):
        for metric in OF_STEPS:
            assert cells[called(name)][head.index(metric)] == f"{AVERAGES[name][1] / 2:.3f}"
    box = [each for each in section(site, "official-v1").all("div") if each.attributes.get("data-average")]
    noted = [f"these are means over items here too: {', '.join(OF_STEPS)}." in each.text for each in box]
    assert noted == [True, False, False]


def test_a_protocols_own_average_comes_first(site: dict[str, Element]) -> None:
    for short, average in (("official-v1", "micro"), ("docs-v1", "macro")):
        assert section(site, short).attributes["data-own"] == average
        assert section(site, short, "contextbench.html").attributes["data-average"] == average
    captions = [each.text for each in section(site, "official-v1").all("caption")]
    assert captions[0].startswith(MICRO)


def test_what_was_run_under_another_protocol_is_not_called_not_run(site: dict[str, Element]) -> None:
    head, *rows = table(site["index.html"], "The primary metric of each")
    assert [name.split(" ")[0] for name in head[2:]] == ["RepoEval", "ContextBench"]
    cells = {row[0]: row[2:] for row in rows}
    assert cells[ELSEWHERE] == ["not run", "other protocol"]
    assert cells[AGENT] == ["not run", f"{SYSTEMS[AGENT]:.3f}"]
