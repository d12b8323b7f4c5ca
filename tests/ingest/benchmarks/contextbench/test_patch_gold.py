from pathlib import Path

import polars as pl
import pytest
import yaml

from ingest.contents.patches import edited_sources, gold_of_patch, surroundings_of
from lake.errors import Exit
from lake.store import Lake
from tests.ingest.benchmarks.contextbench import context_cases
from tests.once import linked
from tests.tiny import command, jsonl, put

SOURCE = """import os

LIMIT = 3


class Engine:
    def start(self):
        return LIMIT

    def stop(self):
        return 0
"""


def patch_of(path: str, start: int, lines: list[str]) -> str:
    n_old, n_new = (sum(line[0] in marks for line in lines) for marks in (" -", " +"))
    head = f"diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -{start},{n_old} +{start},{n_new} @@\n"
    return head + "".join(f"{line}\n" for line in lines)


@pytest.mark.parametrize(
    ("lines", "spans"),
    [([7], [(6, 8)]), ([7, 10], [(6, 8), (9, 11)]), ([2], [(2, 3)]), ([5], [(5, 11)]), ([2, 3], [(2, 4)]), ([99], [])],
    ids=["a method", "two methods", "a constant", "a class's own line", "two lines that touch", "past the end"],
)
def test_the_innermost_definitions_are_around_lines(lines: list[int], spans: list[tuple[int, int]]) -> None:
    assert surroundings_of(SOURCE.encode(), "a.py", lines)[0] == spans


def test_files_of_no_known_language_and_new_files_are_not_gold() -> None:
    patch = patch_of("a.py", 8, ["-        return LIMIT", "+        return LIMIT + 1"])
    patch += patch_of("CHANGES.md", 1, ["-one", "+two"])
    patch += "diff --git a/n.py b/n.py\nnew file mode 100644\n--- /dev/null\n+++ b/n.py\n@@ -0,0 +1,1 @@\n+x = 1\n"
    assert edited_sources(patch) == {"a.py": [7]}
    assert gold_of_patch(patch, {"a.py": SOURCE.encode()}) == [("a.py", 6, 8)]
    assert gold_of_patch(patch, {}) == []


def test_rows_with_a_patch_become_items_with_gold(tmp_path: Path) -> None:
    usual = context_cases.row("acme__rockets-1")
    files = {file["path"]: file["content"] for file in pl.read_parquet(context_cases.repo_parquet()).to_dicts()}
    path = next(path for path in files if str(path).endswith(".py"))
    first = str(files[path], "utf-8") if isinstance(files[path], bytes) else str(files[path])
    line = first.splitlines()[0]
    rows = []
    kept = ("repo", "base_commit", "problem_statement")
    for number, patch in enumerate([patch_of(path, 1, [f"-{line}", "+pass"]), patch_of("docs.md", 1, ["-a", "+b"])]):
        row: dict[str, object] = {key: usual[key] for key in kept}
        rows.append({**row, "instance_id": f"acme__rockets-{number + 1}", "patch": patch})
        put(tmp_path / f"files/acme__rockets-{number + 1}.parquet", context_cases.repo_parquet())
    put(tmp_path / "rows.jsonl", jsonl(rows))
    data = {"rows": "rows.jsonl", "repo_files": "files", "subset": "full"}
    content = {"name": "swe", "like": "contextbench", "data": data, "fields": {"gold": "patch"}}
    declared = put(tmp_path / "swe.yaml", yaml.safe_dump(content).encode())
    run = command("ingest", "--config", declared, "--chunkers", "whole-file", "--lake", tmp_path / "lake")
    run.ended(
        Exit.INCOMPLETE,
        "swe full: 1 of 2 can be scored",
        "swe: 1 item cannot be scored: acme__rockets-2: none of its gold files is in its repository: its patch",
    )
    items = Lake(tmp_path / "lake").read("items").sort("item_id")
    assert items["scorable"].to_list() == [True, False]
    assert items["why_not"][1] == "none of its gold files is in its repository: its patch replaces no line"
    gold = Lake(tmp_path / "lake").read("gold_spans")
    assert set(gold["gold"]) == {"context", "context-official"}
    assert set(gold["path"]) == {path}
    assert gold["line_start"].min() == 0


def test_the_real_rows_have_gold_by_their_patches(shared: Path, real_contextbench: Path, tmp_path: Path) -> None:
    lake = Lake(linked(real_contextbench / "lake", tmp_path / "lake"))
    data = {"root": str(shared / "contextbench"), "rows": "test.parquet", "repo_files": "repo_files", "subset": "full"}
    content = {"name": "by-patch", "like": "contextbench", "data": data, "fields": {"gold": "patch"}}
    file = put(tmp_path / "ours.yaml", yaml.safe_dump(content).encode())
    reads = ("--config", file, "--config-reads", shared / "contextbench", "--chunkers", "whole-file")
    command("ingest", *reads, "--lake", lake.root).ended(Exit.INCOMPLETE)
    scorable = lake.read("items", benchmark="by-patch").filter("scorable")
    assert scorable.height == 21
    edited = lake.read("edits", benchmark="by-patch", run_id="gold").filter(reading="docs")
    edited = edited.select("item_id", "path", "line")
    gold = lake.read("gold_spans", benchmark="by-patch").filter(gold="context")
    gold = gold.select("item_id", "path", "line_start", "line_end")
    # Every line that a patch replaces in a file that is searched is inside a span.
    held = edited.join(gold, on=["item_id", "path"]).filter(pl.col("line").is_between("line_start", "line_end", "left"))
    both = edited.join(gold.select("item_id", "path").unique(), on=["item_id", "path"], how="semi")
    assert held.unique(["item_id", "path", "line"]).height == both.height
    assert set(gold["item_id"]) == set(scorable["item_id"])
