"""Submit: how to hand in a result, what was handed in, a gate for one's own CI, a site of one's own."""

from __future__ import annotations

import json
from collections.abc import Iterator

from report.folder import CHECKOUT
from report.models import REPORTED
from report.publisher import Page, Publisher, SiteMaterial

_PATH = "submit.html"
RECIPES = {"publish": ".github/workflows/publish.yml", "gate": "site/recipes/gate.yml"}

_EXAMPLE = "lake/submissions/my-retriever/2026-01-31"
MAKE_RUN = """import sys

import polars as pl

lake, of = "lake/data", "benchmark={name}"
items = pl.scan_parquet(f"{{lake}}/items/{{of}}/*.parquet")
files = pl.scan_parquet(f"{{lake}}/files/{{of}}/**/*.parquet")
rows = items.filter("scorable").join(files, on="pool_id")
score = 1 / pl.col("path").str.len_chars()
rows = rows.select("item_id", document="path", score=score)
rows.collect().write_csv(sys.argv[1], separator="\\t")
"""
SYSTEM = """name: my-retriever
benchmark: {name}
{label}kind: retriever
authors: [A. Author]
licence: CC0-1.0
description: Every file, the shortest path first.
"""


def _pages(material: SiteMaterial) -> Iterator[Page]:
    facts = material.facts
    texts = {name: CHECKOUT / path for name, path in RECIPES.items()}
    # Own data takes no submission, so the example answers what it is like.
    benchmark = min(facts.benchmarks.values(), key=lambda benchmark: benchmark.like != "")
    name, is_labelled = benchmark.kind, benchmark.label and not benchmark.is_own
    system = SYSTEM.format(name=name, label=f"label: {json.dumps(benchmark.label)}\n" if is_labelled else "")
    values = {
        "files": {"make_run.py": MAKE_RUN.format(name=name), f"{_EXAMPLE}/system.yaml": system},
        "folder": _EXAMPLE,
        "formats": list(facts.formats.values()),
        "reported": REPORTED,
        "submissions": facts.submissions,
        "recipes": {name: (RECIPES[name], file.read_text("utf-8")) for name, file in texts.items() if file.is_file()},
    }
    yield Page(_PATH, "Submit", "submit.html", values, "A result in three commands, checked, scored and shown here.")


SUBMIT_PAGES = Publisher("submit", 95, __doc__, _pages, lambda _: [("Submit", _PATH)])
