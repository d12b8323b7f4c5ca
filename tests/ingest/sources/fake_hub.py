"""A Hugging Face hub without a network: its branch moves when told, and it remembers what it was asked."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace

import huggingface_hub
import pytest

from tests.tiny import put


class FakeHub:
    """In the place of what `huggingface_hub` asks."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, files: Mapping[str, bytes], commit: str) -> None:
        self.files, self.commit = files, commit
        self.is_there = True
        self.asked: list[tuple[str, ...]] = []

        def dataset_info(_: object, dataset: str, *, revision: str, **__: object) -> SimpleNamespace:
            self._answer(dataset, revision)
            siblings = [SimpleNamespace(rfilename=path, size=len(data)) for path, data in self.files.items()]
            return SimpleNamespace(sha=self.commit, siblings=siblings)

        def snapshot_download(
            dataset: str, *, revision: str, cache_dir: Path, allow_patterns: list[str], **_: object
        ) -> str:
            self._answer(dataset, *allow_patterns, revision)
            put(cache_dir / revision / allow_patterns[0], self.files[allow_patterns[0]])
            return str(cache_dir / revision)

        monkeypatch.setattr(huggingface_hub.HfApi, "dataset_info", dataset_info)
        monkeypatch.setattr(huggingface_hub, "snapshot_download", snapshot_download)

    def _answer(self, *asked: str) -> None:
        self.asked.append(asked)
        if not self.is_there:
            message = "no route to host"
            raise ConnectionError(message)
