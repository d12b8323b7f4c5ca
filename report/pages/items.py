"""Items: every item: its gold, what each system returned of it, and the sum that makes the score."""

from collections.abc import Iterator

import polars as pl

from lake.tables.evaluated import LEDGER_TITLES
from report.format import page_path, run_key, slug, visible
from report.items.answers import candidates_by_item, spans_by_item
from report.items.roster import Roster, class_texts, classes_of, listing, shards
from report.items.texts import LINES_AROUND, chosen, texts_by_item
from report.publisher import Page, Publisher, SiteMaterial
from report.render import data_file, packed_json

_PATH = "items/index.html"
_SAID = (
    "item_id", "item", "scorable", "repo", "commit", "language", "source", "subset", "level", "target_path", "why_not",
)  # fmt: skip

FIRST = 10  # items listed in the page itself, for readers without scripts


def _pages(material: SiteMaterial) -> Iterator[Page]:
    rosters = [Roster(boards[0]) for boards in material.boards_of.values() if boards]
    description = (
        "Every item of every benchmark: its gold, what each system returned of it, and the score that follows."
    )
    lines = [(roster.board.benchmark, page_path("items", roster.benchmark), len(roster.runs)) for roster in rosters]
    yield Page(_PATH, "Items", "items.html", {"lines": lines, "within": _PATH}, description)
    rosters = [roster for roster in rosters if roster.benchmark in material.written_boards]
    while rosters:
        # Keep only one benchmark's items in memory: they are many.
        yield _page(material, rosters.pop(0))


def _page(material: SiteMaterial, roster: Roster) -> Page:
    name, items, board, classes = roster.benchmark, roster.items, roster.board, classes_of(roster)
    is_candidates = roster.gold["candidate"].is_not_null().any()
    answers = candidates_by_item(roster) if is_candidates else spans_by_item(roster)
    published, why_not = chosen(roster, classes, material.item_text, is_local=material.is_local)
    folder, key = f"items/{slug(name)}", f"items/{name}"
    texts = texts_by_item(roster, published, answers, is_local=material.is_local)
    text_bounds, text_files = shards(texts, f"{folder}/text", f"{key}/text")
    # The ledger of an item: for each run its number, then the amounts in the order of LEDGER_TITLES.
    amounts = pl.concat_list("run", *(pl.col(name).round().cast(pl.Int64) for name in LEDGER_TITLES))
    ledger = (classes.clear() if is_candidates else classes).sort("item_id", "run").group_by("item_id")
    rows = (
        items.select(_SAID)
        .join(answers, on="item", how="left", maintain_order="left")
        .join(
            ledger.agg(ledger=amounts.list.explode(keep_nulls=False, empty_as_null=False)),
            on="item_id", how="left", maintain_order="left",
        )
        .join(texts.select("item_id", has_text=True), on="item_id", how="left", maintain_order="left")
        .drop("item")
    )  # fmt: skip
    bounds, files = shards(rows, folder, key)
    listed, first = listing(roster, classes), roster.runs.index(roster.usual[0]) if roster.usual else 0
    about = {
        "title": board.benchmark.title,
        "protocol": board.protocol.name,
        "metric": board.primary.title,
        "k": board.primary.k,
        "budget": roster.budget,
        "depth": roster.depth,
        "runs": [
            {
                "key": run_key(run.run_id),
                "title": visible(run.full_name),
                "kind": run.kind,
                "page": f"../{material.system_paths[run.system]}",
                "steps": run.has_steps,
            }
            for run in roster.runs
        ],
        "usual": [roster.runs.index(run) for run in roster.usual],
        "classes": LEDGER_TITLES,
        "kind": "candidates" if is_candidates else "lines",
        "shards": bounds,
        "items": items["scorable"].sum(),
        "texts": text_bounds,
        "without": why_not,
        "local": material.is_local,
        "around": LINES_AROUND,
        "first": first,
    }
    files |= text_files
    files[f"{folder}/about.js"] = data_file(f"{key}/about", about)
    files[f"{folder}/list.js"] = data_file(
        f"{key}/list", packed_json(listed.rename({"item_id": "id"}).to_dict(as_series=False))
    )
    for run, text in class_texts(roster, classes).items():
        files[f"{folder}/class-{run}.js"] = data_file(f"{key}/class-{run}", packed_json({"classes": text}))
    title = pl.col("class").replace_strict(range(len(LEDGER_TITLES)), [*LEDGER_TITLES.values()], return_dtype=pl.String)
    shown, main = listed.filter("scorable").head(FIRST), classes.filter(run=first).select("item_id", title)
    values = {
        "benchmark": board.benchmark,
        "board": board,
        "folder": slug(name),
        "key": key,
        "first": shown.join(main, on="item_id", how="left", maintain_order="left").to_dicts(),
        "noun": about["kind"],
        "best": roster.runs[first].full_name if roster.runs else "",
        "within": _PATH,
    }
    n_items, title_of_page = f"{board.benchmark.n_scorable:,}", f"{board.benchmark.title}, items"
    description = f"The {n_items} items of {board.benchmark.title}, one by one: gold, what systems returned, scores."
    return Page(page_path("items", name), title_of_page, "items_of.html", values, description, files)


ITEM_PAGES = Publisher(
    "items", 70, __doc__, _pages, lambda facts: [("Items", _PATH)] * any(map(facts.boards, facts.benchmarks))
)
