"""Submit: how to hand in a result, what was handed in, a gate for one's own CI, a site of one's own."""

import json
from collections.abc import Iterator

from report.folder import CHECKOUT
from report.publisher import Page, Publisher, SiteMaterial
from report.render import render

_PATH = "submit.html"
RECIPES = {"publish": ".github/workflows/publish.yml", "gate": "site/recipes/gate.yml"}

_EXAMPLE = "lake/submissions/my-retriever/2026-01-31"


def _pages(material: SiteMaterial) -> Iterator[Page]:
    texts = {name: CHECKOUT / path for name, path in RECIPES.items()}
    # Own data takes no submissions: the example is for another benchmark, or for the one it is `like`.
    benchmark = min(material.benchmarks.values(), key=lambda benchmark: benchmark.like != "")
    name, is_labelled = benchmark.kind, benchmark.label and not benchmark.is_own
    words = {"name": name, "label": json.dumps(benchmark.label) if is_labelled else ""}
    files = {"make_run.py": "make_run", f"{_EXAMPLE}/system.yaml": "system.yaml"}
    values = {
        "files": {path: f"{render(f'snippets/{text}.txt', words)}\n" for path, text in files.items()},
        "folder": _EXAMPLE,
        "formats": material.formats,
        "submissions": material.submissions,
        "recipes": {name: (RECIPES[name], file.read_text("utf-8")) for name, file in texts.items() if file.is_file()},
    }
    yield Page(_PATH, "Submit", "submit.html", values, "A result in three commands, checked, scored and shown here.")


SUBMIT_PAGES = Publisher("submit", 95, __doc__, _pages, lambda _: [("Submit", _PATH)])
