import gzip
import io
import json
import pickle
import subprocess
from pathlib import Path

import polars as pl
import pytest

from ingest.sources.rows import read_pickle
from ingest.sources.tree import Entry
from lake.parts import missing_tables
from tests.bench import Bench, Row
from tests.bench.__main__ import printed
from tests.bench._made_contextbench import instances_folder
from tests.bench._repobench_rows import LEVELS, rows, write
from tests.bench.site import write as write_site_lake

ASKED = {"seconds": 30.0, "ratio": 4.0, "difference": 1e-12}
OVER = {"seconds": 30.1, "ratio": 3.9, "difference": 1e-11}


def test_a_target_is_reached_at_its_own_number_and_not_by_what_was_not_measured() -> None:
    assert Row("x", ASKED, ASKED).verdict == "ok"
    for name, over in OVER.items():
        for value in (over, float("nan")):
            assert Row("x", {**ASKED, name: value}, ASKED).verdict == "over", name
        assert Row("x", {other: ASKED[other] for other in OVER if other != name}, ASKED).verdict == "over", name
    assert Row("x", {"seconds": 1e9}).verdict == ""


def test_a_table_says_what_was_measured_and_failed() -> None:
    # No module-level name: discovery would take it for a bench.
    nothing = Bench("nothing", "nothing", "not at all", lambda _settings, _folder: iter(()))
    measured, failed = Row("x", {"seconds": 1.234}, ASKED), Row("y", failed="no peer")
    table = printed("title", [(nothing, measured), (nothing, failed)], [])
    assert [row for row in table.rows[0] if row] == [
        "nothing", "x", "1.23 s", "≤ 30.00 s, ≥ 4.00×, ≤ 1.0e-12", "over"
    ]  # fmt: skip
    assert table.rows[1][-1] == "failed"
    assert table.notes == ["nothing, y: no peer"]


def test_the_lake_of_the_large_site_lacks_no_table_that_its_scores_refer_to(tmp_path: Path) -> None:
    write_site_lake(str(tmp_path), "8")
    assert missing_tables(tmp_path) == []


def test_made_up_rows_are_one_pickle_the_same_every_time_with_the_candidates_of_their_level(tmp_path: Path) -> None:
    for name in ("a.gz", "b.gz"):
        write(tmp_path / name, "python_cff", 160)
    data = (tmp_path / "a.gz").read_bytes()
    assert (tmp_path / "b.gz").read_bytes() == data
    made = {
        split: {level: list(rows("python_cff", split, level, n_rows)) for level in LEVELS}
        for split, n_rows in {"train": 60, "test": 20}.items()
    }
    assert read_pickle(Entry("a.gz", lambda: io.BytesIO(data))) == pickle.loads(gzip.decompress(data)) == made
    for level, (fewest, most) in LEVELS.items():
        contexts = [row["context"] for row in made["train"][level]]
        assert {len(texts) for texts in contexts if isinstance(texts, list)} <= set(range(fewest, most + 1))


def test_made_up_instances_are_alike_and_lie_in_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "real").mkdir()
    texts = {"src/a.py": "x" * 900, "src/b.go": "y" * 1_200, "README.md": "z" * 300}
    pl.DataFrame({"path": list(texts), "content": list(texts.values())}).write_parquet(tmp_path / "real/one.parquet")
    made = []
    for attempt in ("first", "second"):
        monkeypatch.setattr("tempfile.gettempdir", lambda attempt=attempt: str(tmp_path / attempt))
        (tmp_path / attempt).mkdir()
        made.append(instances_folder(tmp_path / "real", 40))
    lines = [(source / "contextbench-made/full.jsonl").read_text() for source, _ in made]
    assert lines[0] == lines[1]
    instances = [json.loads(line) for line in lines[0].splitlines()]
    assert len(instances) == 40
    assert {row["repo"] for row in instances} == {"made/repo0", "made/repo1"}
    instance = instances[-1]
    tree = ["git", "-C", str(made[0][1] / instance["repo"]), "ls-tree", "-r", "-l", instance["base_commit"]]
    sizes = {line.split()[4]: int(line.split()[3]) for line in subprocess.check_output(tree, text=True).splitlines()}
    assert sizes == {"src/a.py": 900, "src/b.go": 1_200, "README.md": 300}
    assert {span["file"] for span in json.loads(instance["gold_context"])} <= {"src/a.py", "src/b.go"}
