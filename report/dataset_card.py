"""What makes the folder of downloads a data set: a card in the hub's form, and Croissant metadata.

With the card's `configs`, `datasets.load_dataset(FOLDER, TABLE)` reads a table. Croissant is MLCommons' vocabulary for
data sets, version 1.0 (https://docs.mlcommons.org/croissant/docs/croissant-spec.html).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import yaml

from report.downloads import DATA_FOLDER, Stored

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


def card_files(stored: Sequence[Stored], about: Mapping[str, str], citation: str) -> dict[str, bytes]:
    """The card and the metadata of the site's downloads, by their paths in the site.

    `about` describes the project as pyproject.toml does, `citation` is the same as BibTeX.
    """
    tables: dict[str, list[Stored]] = {}
    for file in stored:
        tables.setdefault(file.download.name, []).append(file)
    metadata = json.dumps(_croissant(tables, about, citation), indent=1, ensure_ascii=False)
    return {CARD: _card(tables, about).encode(), CROISSANT: f"{metadata}\n".encode()}


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
