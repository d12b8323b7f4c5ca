"""What licences RepoEval's repositories have: as their own licence files say, and told of the published data alone."""

from __future__ import annotations

import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from ingest.benchmarks.repoeval import REPOEVAL
from ingest.pipeline import _declare
from ingest.sources.folder import FolderSource
from lake.store import Lake

TOLD_BY = {
    "MIT": "MIT License",
    "Apache-2.0": "Apache License",
    "BSD-2-Clause": "BSD 2-Clause License",
    "CC-BY-NC-4.0": "Attribution-NonCommercial 4.0 International",
}


def test_each_licence_is_what_the_repositorys_own_file_says(shared: Path) -> None:
    with zipfile.ZipFile(shared / "repoeval/repositories/function_level.zip") as archive:
        told = {
            name.split("/")[-2]: archive.read(name).decode("utf-8").strip().splitlines()[0]
            for name in archive.namelist()
            if name.endswith("/LICENSE")
        }
    assert told == {repo: TOLD_BY[licence] for repo, licence in REPOEVAL.repository_licences.items()}


@pytest.mark.parametrize(("label", "licence"), [("", "MIT"), ("mined", "")])
def test_a_lake_tells_the_licence_of_published_repositories(lake_folder: Path, label: str, licence: str) -> None:
    lake = Lake(lake_folder)
    repo = lake.read("items")["repo"].sort()[0]
    known = replace(REPOEVAL, repository_licences={repo: "MIT"})
    _declare(lake, known, FolderSource(lake_folder, name="somewhere", label=label), None)
    (row,) = lake.read("benchmarks").to_dicts()
    assert {one["repo"]: one["licence"] for one in row["licences"]}[repo] == licence
