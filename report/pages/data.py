"""Data: every table to download, how to read it, what was rejected, and how to cite.

The folder of downloads is a data set, with a card in the hub's form and Croissant metadata: by the card's `configs`
`datasets.load_dataset(FOLDER, TABLE)` reads a table. Croissant is MLCommons' vocabulary for data sets, version 1.0
(https://docs.mlcommons.org/croissant/docs/croissant-spec.html). How to read the tables, in three libraries,
is said by texts in `site/templates/snippets` that tests run.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path

import yaml

from report.downloads import DATA_FOLDER, Stored, table_files
from report.format import DASH, visible
from report.leaderboard.board import Board
from report.publisher import Page, Publisher, SiteMaterial
from report.render import render


def recipes(board: Board, aggregates: Sequence[str], scores: Sequence[str]) -> list[dict[str, object]]:
    """Recipes for one board, given the files of two tables: scores by item and system, flips, the order.

    Each has a name, a title, its meaning, and the code by library.
    """
    granularity, metric, k = board.primary.measure
    # A system may have a run for each of several tasks.
    who = "run_id" if board.protocol.task else "system"
    names = [getattr(row.run, who) for row in sorted(board.rows, key=lambda row: row.run.baseline)]
    values = {
        "measured": [("protocol", board.protocol.name), ("granularity", granularity), ("metric", metric), ("k", k)],
        "sliced": list(zip(("slice", "slice_value"), board.slice, strict=True)),
        "scores": scores,
        "aggregates": aggregates,
        "who": who,
        "first": names[0],
        "other": names[-1 if len(names) < 2 else 1],
        "average": board.average,
        "is_falling": not board.primary.lower_is_better,
    }
    a_row = f"{board.primary.title} of {board.benchmark.title}: a row per item, a column per system."
    differ = "The items on which two systems differ, the largest difference first: name any two."
    texts = {
        "per-item": ("Scores by item and system", a_row),
        "flips": ("Flips between two systems", differ),
        "order": ("The leaderboard again", "The order of the board by its primary metric."),
    }
    rows: list[dict[str, object]] = []
    for name, (title, meaning) in texts.items():
        snippets = {library: _written(f"{name}.{library}", values) for library in ("pandas", "polars", "DuckDB")}
        if name != "flips" or len(names) > 1:
            rows.append({"name": name, "title": title, "meaning": meaning, "snippets": snippets})
    return rows


def of_system(tables: Mapping[str, Sequence[str]], system: str) -> str:
    """One system's own rows of some tables, given with their files, with polars."""
    return _written("system.polars", {"tables": tables, "system": system})


def _written(name: str, values: Mapping[str, object]) -> str:
    code = render(f"snippets/{name}.txt", {**values, "literal": _literal, "sql": _sql, "files": _files})
    return f"{code.rstrip()}\n"


def _literal(value: str | int) -> str:
    return visible(repr(value))


def _sql(value: str | int) -> str:
    return str(value) if isinstance(value, int) else "'" + value.replace("'", "''") + "'"


def _files(paths: Sequence[str]) -> str:
    return repr(paths[0] if len(paths) == 1 else list(paths))


_PATH = "data.html"
_MAX_REJECTS = 20
_MAX_CELL = 60
_READ = ("aggregates", "scores")
CARD, CROISSANT = f"{DATA_FOLDER}/README.md", f"{DATA_FOLDER}/croissant.json"
_PARQUET = "application/x-parquet"
_CONTEXT: Mapping[str, object] = {
    "@language": "en", "@vocab": "https://schema.org/", "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/", "dct": "http://purl.org/dc/terms/", "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"}, "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    **{
        name: f"cr:{name}"
        for name in (
            "citeAs", "column", "extract", "field", "fileObject", "fileProperty", "recordSet", "repeated", "source",
        )
    },
}  # fmt: skip
_KINDS = {"String": "sc:Text", "Int64": "sc:Integer", "Float64": "sc:Float", "Boolean": "sc:Boolean"}


def _pages(material: SiteMaterial) -> Iterator[Page]:
    facts = material.facts
    groups = [(table, list(files)) for table, files in groupby(material.downloads, key=lambda each: each.download)]
    board = next((boards[0] for boards in material.boards.values() if boards and boards[0].rows), None)
    about = material.project
    title = f"{{{about['name']}}}: {about['description']}"
    fields = {"title": title, "version": about["version"], "license": about["license"]}
    lines = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields.items())
    citation = f"@software{{{about['name'].lower()},\n{lines}\n}}"
    values = {
        "groups": groups,
        "first": {each.path: [list(map(_cut, row)) for row in each.first] for each in material.downloads},
        "recipes": recipes(board, *(table_files(material.downloads, name, [board.benchmark]) for name in _READ))
        if board
        else [],
        "n_bytes": sum(each.n_bytes for each in material.downloads),
        "benchmarks": list(facts.benchmarks.values()),
        "card": {"card": CARD, "Croissant metadata": CROISSANT},
        "citation": citation,
        "rejects": list(facts.rejects.head(_MAX_REJECTS).iter_rows(named=True)),
        "n_rejects": facts.rejects.height,
        "stages": facts.rejects["stage"].value_counts().sort("stage").rows(),
    }
    tables: dict[str, list[Stored]] = {}
    for stored in material.downloads:
        tables.setdefault(stored.download.name, []).append(stored)
    metadata = json.dumps(_croissant(tables, about, citation), indent=1, ensure_ascii=False)
    files = {CARD: _card(tables, about).encode(), CROISSANT: f"{metadata}\n".encode()}
    yield Page(_PATH, "Data", "data.html", values, files=files)


def _cut(value: object) -> str:
    text = DASH if value is None else str(value)
    return text if len(text) <= _MAX_CELL else f"{text[:_MAX_CELL]}…"


def _card(tables: Mapping[str, Sequence[Stored]], about: Mapping[str, str]) -> str:
    configs: list[dict[str, object]] = [
        {"config_name": name, "data_files": [Path(file.path).name for file in files]} for name, files in tables.items()
    ]
    # The hub opens on the first that is called so.
    configs[0]["default"] = True
    front = {"pretty_name": f"{about['name']} results", "license": "mit", "configs": configs}
    rows = [f"| `{name}` | {files[0].download.first_sentence} |" for name, files in tables.items()]
    text = [
        f"# {about['name']} results",
        f"{about['description']} Each table is a configuration; a file's metadata says what its columns mean.",
        "\n".join(["| table | a row is |", "|---|---|", *rows]),
        "Benchmarks' ids, paths and lines are under their own licences (table `benchmarks`); texts are not here.",
    ]
    return "\n\n".join([f"---\n{yaml.safe_dump(front, sort_keys=False)}---", *text]) + "\n"


def _croissant(tables: Mapping[str, Sequence[Stored]], about: Mapping[str, str], citation: str) -> dict[str, object]:
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": f"{about['name']} results",
        "description": about["description"],
        "citeAs": citation,
        "license": "https://spdx.org/licenses/MIT.html",
        "version": about["version"],
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": Path(file.path).name,
                "name": Path(file.path).name,
                "contentUrl": Path(file.path).name,
                "contentSize": f"{file.n_bytes} B",
                "encodingFormat": _PARQUET,
                "sha256": file.sha256,
            }
            for of in tables.values()
            for file in of
        ],
        # Of a table in several files the first stands for all: they have the same columns.
        "recordSet": [
            {
                "@type": "cr:RecordSet",
                "@id": name,
                "name": name,
                "description": of[0].download.meaning,
                "field": [_field(name, of[0], *column) for column in of[0].columns],
            }
            for name, of in tables.items()
        ],
    }


def _field(table: str, file: Stored, column: str, kind: str, meaning: str) -> dict[str, object]:
    inner = kind.removeprefix("List(").removesuffix(")")
    return {
        "@type": "cr:Field",
        "@id": f"{table}/{column}",
        "name": column,
        "description": meaning,
        # What is a record of its own is given as the text that it is printed as.
        "dataType": _KINDS.get(inner, "sc:Text"),
        **({"repeated": True} if kind.startswith("List(") else {}),
        "source": {"fileObject": {"@id": Path(file.path).name}, "extract": {"column": column}},
    }


DATA_PAGES = Publisher("data", 80, __doc__, _pages, lambda _: [("Data", _PATH)])
