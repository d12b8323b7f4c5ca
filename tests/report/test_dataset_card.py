import hashlib
import json
from pathlib import Path

import polars as pl
import pytest
import yaml
from datasets import get_dataset_config_names, load_dataset  # type: ignore[import-untyped]  # ships no types


@pytest.fixture(scope="module")
def data(built: Path) -> Path:
    return built / "data"


def test_datasets_reads_every_table_of_the_folder(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    front = yaml.safe_load((data / "README.md").read_text(encoding="utf-8").split("---")[1])
    assert [each["config_name"] for each in front["configs"]] == get_dataset_config_names(str(data))
    scores = load_dataset(str(data), "scores", split="train", cache_dir=str(tmp_path))
    assert scores.to_polars().equals(pl.read_parquet(data / "scores.parquet"))
    n_rows = {path.name: len(pl.read_parquet(path)) for path in data.glob("*.parquet")}
    # It refuses a configuration without rows.
    assert {file for each in front["configs"] for file in each["data_files"]} == {
        name for name, n in n_rows.items() if n
    }
    for each in front["configs"]:
        loaded = load_dataset(str(data), each["config_name"], split="train", cache_dir=str(tmp_path))
        assert len(loaded) == sum(n_rows[file] for file in each["data_files"])


def test_croissant_names_every_file_with_its_hash_and_every_column(data: Path) -> None:
    about = json.loads((data / "croissant.json").read_text(encoding="utf-8"))
    files = {each["@id"]: each for each in about["distribution"]}
    assert files.keys() == {path.name for path in data.glob("*.parquet")}
    for name, file in files.items():
        content = (data / name).read_bytes()
        assert (file["sha256"], file["contentSize"]) == (hashlib.sha256(content).hexdigest(), f"{len(content)} B")
    for table in about["recordSet"]:
        (first, *_) = [field["source"]["fileObject"]["@id"] for field in table["field"]]
        columns = [field["source"]["extract"]["column"] for field in table["field"]]
        assert columns == [*pl.read_parquet_schema(data / first)]
        assert all(field["description"] for field in table["field"])
