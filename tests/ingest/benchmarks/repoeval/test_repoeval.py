import json
import zipfile
from collections.abc import Sequence
from pathlib import Path

import polars as pl
import pytest

from ingest.benchmarks.declaration import SubsetRows
from ingest.rejects import Rejects
from lake.tables import table
from tests.tiny import TASKS, Row, build, jsonl, opened, put, repoeval, task, task_file

Gold = dict[str, tuple[int, int]]


def _read(source: Path, subset: str = "function-2k") -> tuple[SubsetRows, list[str]]:
    """What is read of a source without a fault, and the notes on it."""
    rejects = Rejects()
    benchmark = repoeval()
    raw = benchmark.find(opened(source, benchmark), subset, rejects)
    (part,) = benchmark.parts(raw, subset, None, rejects)
    reading = part.read(rejects).named(benchmark.name)
    reading.pools = list(reading.pools)
    table("items").checked(reading.items)
    table("gold_spans").checked(reading.gold)
    for group in reading.pools:
        table("files").checked(group.files)
        table("blobs").checked(group.blobs)
    assert [*rejects] == []
    return reading, raw.notes


def _clean(source: Path, subset: str = "function-2k") -> SubsetRows:
    return _read(source, subset)[0]


def _gold(reading: SubsetRows, item_id: str) -> Gold:
    rows = reading.gold.filter(pl.col("item_id") == item_id).select("gold", "line_start", "line_end").rows()
    return {rule: (start, end) for rule, start, end in rows}


# Line:   0 a = 1        the prompt starts here (context_start_lineno = 1 leaves this one out)
#         1 b = 2        ┐ prompt
#         2 c = 3        ┘
#         3 d = 4        ┐ the hole: lineno = 3, two lines, the ground truth ends in a newline
#         4 e = 5        ┘
#         5 f = 6
#         6 g = 7
SEVEN = "a = 1\nb = 2\nc = 3\nd = 4\ne = 5\nf = 6\ng = 7\n"


def _seven(tmp_path: Path, row: Row, level: str = "function", ends: str = "\r\n") -> Path:
    return build(tmp_path, [row], repositories={"r/seven.py": SEVEN.replace("\n", ends).encode()}, level=level)


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("start", "hole", "n", "more", "gold"),
    [
        # ground_truth.split("\n") is ["d = 4", "e = 5", ""], three pieces, and so the first rule ends a line past the
        # completion: [1, 3 + 3 - 1], [1, 3] and [3, 3 + 2 - 1], both ends included.
        (1, 3, 2, {}, [(1, 6), (1, 4), (3, 5)]),
        # Without the newline there is no third piece, so the first rule ends with the completion.
        (1, 3, 2, {"ground_truth": "d = 4\ne = 5"}, [(1, 5), (1, 4), (3, 5)]),
        # A hole on the first line has no prompt and is an item.
        (0, 0, 1, {}, [(0, 2), (0, 1), (0, 1)]),
        # What would end past its file is cut to it.
        (1, 5, 2, {}, [(1, 7), (1, 6), (5, 7)]),
    ],
)
def test_the_three_gold_rules_on_seven_lines(
    tmp_path: Path, start: int, hole: int, n: int, more: dict[str, str], gold: list[tuple[int, int]], ends: str
) -> None:
    reading, notes = _read(_seven(tmp_path, task("r", "seven.py", SEVEN, start, hole, n, **more), ends=ends))
    gold_of = _gold(reading, "function-2k/r/0")
    assert [gold_of[rule] for rule in ("context-and-completion", "context-to-hole", "target")] == gold
    assert reading.queries["text"].to_list() == ["\n".join(SEVEN.splitlines()[start:hole])]
    cut = "gold ranges that ended past their file were cut to it: 1 of context-and-completion"
    assert notes == [cut] * (hole == 5)


@pytest.mark.parametrize("level", ["line", "api"])
def test_line_and_api_rows_say_line_no_and_their_task_ids_are_numbered(tmp_path: Path, level: str) -> None:
    row = task("r", "seven.py", SEVEN, 1, 3, 1, ground_truth="d = 4", task_id="r/7")
    metadata = row["metadata"]
    assert isinstance(metadata, dict)
    metadata["line_no"] = metadata.pop("lineno")
    reading = _clean(_seven(tmp_path, row, level), f"{level}-2k")
    item = reading.items.row(0, named=True)
    assert (item["item_id"], item["level"], item["target_line"], item["upstream_id"]) == (
        f"{level}-2k/r/0", level, 3, "r/7",
    )  # fmt: skip
    assert item["pool_id"] == "repoeval/line_and_api_level/r"
    assert _gold(reading, f"{level}-2k/r/0")["target"] == (3, 4)


def test_an_item_keeps_what_the_row_says(source: Path) -> None:
    reading = _clean(source)
    item = reading.items.row(0, named=True)
    assert {key: item[key] for key in item if item[key] is not None} == {
        "benchmark": "repoeval",
        "item_id": "function-2k/acme_rockets/0",
        "subset": "function-2k",
        "split": "test",
        "level": "function",
        "context": "2k",
        "language": "python",
        "repo": "acme_rockets",
        "pool_id": "repoeval/function_level/acme_rockets",
        "target_path": "rockets/engine.py",
        "target_line": 8,
        "target_text": "        fuel = self.thrust * seconds\n        return fuel\n",
        "query_line_start": 0,
        "upstream_id": "acme--rockets/idx",
        "scorable": True,
    }
    query = reading.queries.row(0, named=True)
    assert (query["item_id"], query["query"]) == (item["item_id"], "prompt")
    assert query["text"].startswith("import math\n")


def test_items_are_numbered_per_repository_in_the_files_order(source: Path) -> None:
    assert _clean(source).items.select("item_id", "target_path", "target_line").rows() == [
        ("function-2k/acme_rockets/0", "rockets/engine.py", 8),
        ("function-2k/zoo_animals/0", "cats.py", 5),
        ("function-2k/acme_rockets/1", "rockets/engine.py", 12),
        ("function-2k/acme_rockets/2", "rockets/orbit.py", 9),
        ("function-2k/zoo_animals/1", "dogs.py", 6),
    ]


def test_hidden_folders_caches_and_other_files_are_not_searched(source: Path) -> None:
    put(source / "repositories/function_level/zoo_animals/sub/.venv/x.py", b"x = 1\n")
    put(source / "repositories/function_level/zoo_animals/stub.pyi", b"x: int\n")
    put(source / "repositories/function_level/zoo_animals/.hidden.py", b"x = 1\n")
    path = pl.concat_str(pl.col("pool_id").str.split("/").list.last(), "path", separator="/")
    assert next(iter(_clean(source).pools)).files.select(path).to_series().to_list() == [
        "acme_rockets/rockets/__init__.py",
        "acme_rockets/rockets/engine.py",
        "acme_rockets/rockets/orbit.py",
        "zoo_animals/.hidden.py",
        "zoo_animals/cats.py",
        "zoo_animals/copy/cats.py",
        "zoo_animals/dogs.py",
    ]


def test_fpath_tuple_may_be_its_python_repr(tmp_path: Path) -> None:
    rows: list[Row] = json.loads(json.dumps(list(TASKS)))
    for n, row in enumerate(rows):
        metadata = row["metadata"]
        assert isinstance(metadata, dict)
        parts = metadata["fpath_tuple"]
        metadata["fpath_tuple"] = repr(tuple(parts) if n % 2 else parts)
    lists, other = _clean(build(tmp_path / "a")), _clean(build(tmp_path / "b", rows))
    assert lists.items.equals(other.items)


def _zip(folder: Path, archive: Path, prefix: str = "") -> None:
    with zipfile.ZipFile(archive, "w") as made:
        for file in sorted(folder.rglob("*")):
            if file.is_file():
                made.write(file, prefix + file.relative_to(folder).as_posix())


@pytest.mark.parametrize(("top", "upstream"), [("", False), ("outer/function_level/", True)])
def test_an_archive_with_or_without_a_top_folder_is_the_folder(tmp_path: Path, top: str, upstream: bool) -> None:
    folder = build(tmp_path / "folder")
    _zip(folder / "repositories/function_level", put(tmp_path / "zip/repositories/function_level.zip", b""), top)
    # Upstream has the task files as datasets/datasets.zip.
    datasets = tmp_path / ("zip/datasets/datasets.zip" if upstream else "zip/datasets.zip")
    _zip(folder / "datasets", put(datasets, b""))
    unpacked, other = _clean(folder), _clean(tmp_path / "zip")
    assert unpacked.items.equals(other.items)
    assert unpacked.gold.equals(other.gold)
    for mine, theirs in zip(unpacked.pools, other.pools, strict=True):
        assert mine.files.equals(theirs.files)
        assert mine.blobs.equals(theirs.blobs)


def _twin(source: Path, rows: Sequence[Row]) -> Path:
    put(source / "datasets" / task_file(tokenizer="codegen"), jsonl(rows))
    return source


def test_equal_twins_are_one_item_each(source: Path) -> None:
    alone = _clean(source)
    assert _clean(_twin(source, TASKS)).items.equals(alone.items)


def test_a_twin_with_another_prompt_is_an_item_of_its_own(source: Path) -> None:
    alone = _clean(source)
    other = [{**TASKS[0], "prompt": "shorter"}, *TASKS[1:]]
    both = _clean(_twin(source, other))
    assert both.items.head(len(TASKS)).equals(alone.items)
    assert both.queries.select("item_id", "text").rows()[len(TASKS) :] == [("function-2k/acme_rockets/3", "shorter")]


def test_the_published_evaluations_pools_have_patchcores_build_first(tmp_path: Path) -> None:
    six = [
        "amazon-science_patchcore-inspection", "deepmind_tracr", "facebookresearch_omnivore",
        "google_lightweight_mmm", "lucidrains_imagen-pytorch", "maxhumber_redframes",
    ]  # fmt: skip
    files = {f"{repo}/{path}": path.encode() for repo in six for path in ("src/a.py", "bin/b.py")}
    rows = [task(six[0], "src/a.py", "src/a.py", 0, 0, 1)]
    group = list(_clean(build(tmp_path, rows, repositories=files)).pools)[1]
    assert group.name == "code-chunk"
    patchcore, tracr = f"repoeval/code-chunk/{six[0]}", f"repoeval/code-chunk/{six[1]}"
    in_order = group.files.sort("pool_id", "position").select("pool_id", "path").rows()
    assert [path for pool, path in in_order if pool == patchcore] == ["build/lib/a.py", "bin/b.py", "src/a.py"]
    assert [path for pool, path in in_order if pool == tracr] == ["bin/b.py", "src/a.py"]
