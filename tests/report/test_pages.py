import re
from pathlib import Path

from report.charts.drawing import light_colours
from tests.report.html import Element, called, table
from tests.report.small_lake import (
    CHUNKS,
    FAILED,
    HOSTILE,
    HOSTILE_SHOWN,
    LIMITED,
    N_CONTENTS,
    PROTOCOLS,
    SYSTEMS,
    run_id,
)  # fmt: skip

MACRO = "RepoEval (sample), chunking-v1, macro"


def board(pages: dict[str, Element], caption: str = MACRO) -> dict[str, dict[str, str]]:
    head, *rows = table(pages["repoeval-all.html"], caption)
    return {row[0]: dict(zip(head, row, strict=True)) for row in rows if len(row) == len(head)}


def test_the_pages_are_those_of_the_issue(pages: dict[str, Element]) -> None:
    # Folders hold a page per system, per benchmark's pairs, per benchmark's items.
    plain = {name for name in pages if "/" not in name}
    boards = {"repoeval.html", "repoeval-all.html"}
    assert plain == {"index.html", "compare.html", "data.html", "methods.html", "submit.html"} | boards
    assert {"pairs/repoeval.html", "items/index.html", "items/repoeval.html"} <= set(pages)
    assert sum(name.startswith("systems/") for name in pages) == len({*SYSTEMS, FAILED, LIMITED})


def test_a_systems_page_has_its_number_its_place_and_its_run(pages: dict[str, Element]) -> None:
    page = pages["systems/fixed-nws-1500-jaccard.html"]
    chunking, target = (f"{value:.3f}" for value in SYSTEMS["fixed-nws-1500+jaccard"])
    verdicts = [each.text for each in page.all("p") if each.attributes.get("class") == "verdict"]
    assert [text.split(",")[0].rpartition(" ")[2] for text in verdicts] == [chunking]
    numbers = [row[2].split()[0] for row in table(page, "Primary score on each benchmark")[1:]]
    assert [number[:5] for number in numbers] == [chunking, target]
    assert "Lines packed greedily. Shared tokens." in page.text
    assert 'python -m evaluate repro "' in page.text
    assert "not ranked: failed" in pages["systems/window-20-10-jaccard.html"].text
    own = [
        each.attributes["href"]
        for each in pages["repoeval.html"].all("a")
        if "systems/" in (each.attributes.get("href") or "")
    ]
    assert "systems/fixed-nws-1500-jaccard.html" in own


def test_each_average_has_its_own_table(pages: dict[str, Element]) -> None:
    system = "fixed-nws-1500+bm25-okapi"
    value, name = SYSTEMS[system][0], called(system)
    assert board(pages)[name]["precision@5"] == f"{value * 0.5:.3f}"
    micro = board(pages, "RepoEval (sample), chunking-v1, micro")[name]
    assert (micro["precision@5"], micro["ndcg@10"]) == (f"{value * 0.5 * 0.95:.3f}", "–")
    assert board(pages, "RepoEval (sample), chunking-v1, by repository")[name]["ndcg@10"] == f"{value * 0.9:.3f}"


def test_rows_come_best_first_and_what_cannot_be_compared_last(pages: dict[str, Element]) -> None:
    names = [row[0] for row in table(pages["repoeval-all.html"], MACRO)][1:]
    ordered = [name.replace(HOSTILE, HOSTILE_SHOWN) for name in sorted(SYSTEMS, key=lambda name: -SYSTEMS[name][0])]
    baselines = [name for name in ordered if name.rpartition("+")[2] in {"own-file", "random"}]
    systems = [name for name in ordered if name not in baselines]
    head = "Baselines: yardsticks, not ranked"
    apart = "Not comparable with the rows above: limited, partial, failed, or a mean over fewer items"
    limited, failed = called(LIMITED), called(FAILED)
    systems, baselines = [*map(called, systems)], [*map(called, baselines)]
    assert names == [*systems, head, *baselines, apart, f"{limited} limited to 2", f"{failed} failed"]
    target = board(pages, "RepoEval (sample), target-v1, macro")
    assert f"{failed} failed" in target
    assert not any(name.startswith(limited) for name in target)
    kinds = {name: row["Kind"] for name, row in board(pages).items()}
    assert {kinds[f"{name} fixed-nws-1500"] for name in ("own-file", "random")} == {"baseline"}
    assert kinds["jaccard fixed-nws-1500"] == "retriever"


def test_bold_marks_the_best_retriever_and_never_a_baseline(pages: dict[str, Element]) -> None:
    tables = [each for each in pages["repoeval-all.html"].all("table") if MACRO in each.text]
    bold = [row.all("th")[0].text for row in tables[0].all("tr") if row.all("b")]
    assert bold == ["bm25-okapi window-20-10"]


def test_a_row_says_which_run_it_is_of_and_what_it_cost(pages: dict[str, Element]) -> None:
    row = board(pages)["bm25-okapi window-20-10"]
    assert row["Run"] == run_id("window-20-10+bm25-okapi")
    assert (row["n/N"], row["Chunks"]) == ("5/5", "2,800")
    costs = board(pages, "RepoEval (sample), chunking-v1: cost of each system.")
    assert list(costs["bm25-okapi window-20-10"].values())[1:] == [
        "0.732", "4,810", "8,000", "0.12", "5.6", "4.2", "4.2"
    ]  # fmt: skip


def test_the_grid_says_whether_the_chunker_or_the_retriever_matters_more(pages: dict[str, Element]) -> None:
    page = pages["repoeval.html"]
    assert (
        "The retriever matters more here: it explains 75 % (62 to 88) of the variance between these 4 systems"
        in page.text
    )
    head, *rows = table(page, "RepoEval (sample), chunking-v1: ndcg at 10 of every chunker with every retriever")
    assert head == ["Chunker", "x", "y", "Mean", "Effect"]
    assert rows == [
        ["a", "0.625", "0.375", "0.500", "0.000 −0.250 to +0.250"],
        ["b", "0.625", "0.375", "0.500", "0.000 −0.250 to +0.250"],
        ["Mean", "0.625", "0.375", "0.500", "–"],
        ["Effect", "+0.125 −0.250 to +0.250", "−0.125 −0.250 to +0.250", "–", "–"],
    ]
    assert "Left out, as not every chunker was run with every retriever: c+x." in page.text


def test_chunks_are_those_of_the_files_this_benchmark_searches(pages: dict[str, Element]) -> None:
    rows = board(pages)
    for chunker, n in CHUNKS.items():
        assert rows[f"bm25-okapi {chunker}"]["Chunks"] == f"{n * N_CONTENTS:,}"
    text = pages["repoeval.html"].text
    assert "In this lake, 3 files were cut the plain way (syntax errors)." in text
    assert text.count("Its chunks contain 99.96 % of the text of the files that it cut, not counting white space.") == 1


def test_what_cannot_be_scored_is_in_no_count_but_that_of_all_items(pages: dict[str, Element]) -> None:
    assert "5 of 6 items scorable · 3 repositories · python" in pages["repoeval.html"].text
    assert "1 item: the repository cannot be had" in pages["repoeval.html"].text
    assert "5 of 6 items · 3 repositories · " in pages["index.html"].text


def test_every_protocol_has_its_meaning(pages: dict[str, Element]) -> None:
    for meaning in PROTOCOLS.values():
        assert meaning in pages["repoeval.html"].text


def test_charts_take_their_colours_from_the_page(built: Path) -> None:
    charts = re.findall(r"<svg.*?</svg>", (built / "repoeval-all.html").read_text(encoding="utf-8"), re.DOTALL)
    colours = {colour for chart in charts for colour in re.findall(r'(?:fill|stroke)="([^"]*)"', chart)}
    assert colours <= {"none", "currentColor", "transparent"} | {f"var(--{name})" for name in light_colours()}
    assert not [chart for chart in charts if re.search(r'\bid="', chart)]


def test_uncertainty_is_said_to_be_missing_while_it_is(pages: dict[str, Element]) -> None:
    assert "No interval: a single item shows nothing of how others differ." in pages["repoeval.html"].text
    assert "Rank" not in table(pages["repoeval-all.html"], MACRO)[0]


def test_the_sample_is_called_a_sample_wherever_its_numbers_are(pages: dict[str, Element]) -> None:
    assert "RepoEval (sample)" in table(pages["index.html"], "The primary metric of each")[0][2]
    for page in ("index.html", "repoeval.html"):
        assert "labelled sample, not the published benchmark" in pages[page].text
    captions = [each.text for each in pages["repoeval.html"].all("caption")]
    assert all("RepoEval (sample)" in caption for caption in captions)
    assert "data from the built-in sample" in pages["repoeval.html"].text
    assert "Data from the built-in sample" in pages["data.html"].text


def test_the_matrix_shows_the_headline_of_every_system(pages: dict[str, Element]) -> None:
    _, *rows = table(pages["index.html"], "The primary metric of each")
    shown = {row[0]: row[2] for row in rows}
    assert shown["jaccard fixed-nws-1500"] == "0.587"
    assert shown[called(FAILED)] == "failed"
    assert shown[called(LIMITED)] == "0.991 limited to 2"


def test_refused_rows_are_counted_and_shown(pages: dict[str, Element]) -> None:
    assert "1 row by ingest" in pages["data.html"].text
    wanted = ["datasets/<b>broken</b>.jsonl", "line 12", "ingest", "the row is no JSON\\u{202E}"]
    assert table(pages["data.html"], "1 refused row")[1] == wanted


def test_no_query_text_is_published(built: Path) -> None:
    for path in built.rglob("*"):
        assert not path.is_file() or b"secret_prompt" not in path.read_bytes(), path


def test_ids_are_unique(pages: dict[str, Element]) -> None:
    for name, page in pages.items():
        ids = [each.attributes["id"] for each in page.all() if "id" in each.attributes]
        assert len(ids) == len(set(ids)), name


def test_every_row_has_as_many_cells_as_heads(pages: dict[str, Element]) -> None:
    for name, page in pages.items():
        for each in page.all("table"):
            widths = {
                sum(int(cell.attributes.get("colspan") or 1) for cell in row.all() if cell.tag in ("td", "th"))
                for row in each.all("tr")
            }
            assert len(widths) == 1, f"{name}: {each.all('caption')[0].text}"
