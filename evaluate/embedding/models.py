"""Models at hand: a folder on this machine, or a commit in the hub's cache. Nothing is ever fetched from here."""

from __future__ import annotations

import importlib.util
import json
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Literal

from lake.fingerprint import canonical_json, fingerprint, sha256_of_file

PACKAGES = ("torch", "sentence_transformers")
_INSTALL = "pip install torch==2.13.0, then pip install -r requirements-dense.txt; in a checkout: make dense"
"""In that order: the second alone takes torch's GPU packages, several GB."""

_COUNTED = (".bin", ".jinja", ".json", ".model", ".pt", ".safetensors", ".txt")
"""Weights, settings and vocabularies: what else lies in a model's folder changes no vector."""


TextKind = Literal["query", "document"]


@dataclass(frozen=True)
class Model:
    """A model as it is loaded.

    Attributes:
        name: A folder, or what the hub calls it.
        pooling: How the vectors of tokens become one, where the model's own way is not taken.
        marks: Words of its vocabulary that are one token wherever they are written.
        alias: What it is to be called.
    """

    name: str
    dtype: str = "float32"
    pooling: str = ""
    marks: tuple[str, ...] = ()
    alias: str = ""

    @property
    def shown(self) -> str:
        """What it is called: its alias, else the hub's name, or a folder's own; where that lies is not said."""
        if self.alias:
            return self.alias
        if not Path(self.name).is_dir() and not self.name.startswith(("/", ".")):
            return self.name
        # Not what a link leads to: a link is how a folder is called otherwise.
        path = Path(self.name).absolute()
        if path.parent.name == "snapshots":
            # A commit in the hub's cache.
            return path.parts[-3].removeprefix("models--").replace("--", "/")
        return path.name if path.name != ".." else path.resolve().name

    @property
    def folder(self) -> Path | None:
        """Where it lies; None where it is not at hand."""
        local = Path(self.name)
        return local.absolute() if local.is_dir() else _snapshot_of(self.name)

    @property
    def revision(self) -> str:
        """The hub's commit, or a digest of the folder's weights and settings; empty where it is not at hand."""
        folder = self.folder
        if folder is None:
            return ""
        return _digest_of(folder) if folder == Path(self.name).absolute() else folder.name

    def missing(self) -> str:
        """What is to be installed or fetched first, or an empty string."""
        if not all(map(importlib.util.find_spec, PACKAGES)):
            return f"First: {_INSTALL}."
        if self.folder is not None:
            return ""
        what = f"{self.name} is no folder here, and the hub's model of that name is not in the cache"
        return f"{what}; nothing is fetched unasked. First: hf download {self.name}"

    def prompt(self, kind: TextKind) -> str:
        """What the model itself wants in front of a text of that kind."""
        file = (self.folder or Path()) / "config_sentence_transformers.json"
        prompts = json.loads(file.read_text(encoding="utf-8")).get("prompts") if file.is_file() else None
        return str((prompts or {}).get(kind) or "")

    def identity(self, **settings: object) -> str:
        """What tells what it makes from what others make, or it makes otherwise."""
        # Another name for it makes no other vectors.
        own = {
            "model": replace(self, alias="").shown,
            "revision": self.revision,
            "dtype": self.dtype,
            "pooling": self.pooling,
        }
        return canonical_json({**own, **settings})


@cache
def _snapshot_of(name: str) -> Path | None:
    # Imported when needed: that takes long.
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    try:
        return Path(snapshot_download(name, local_files_only=True))
    except (HFValidationError, LocalEntryNotFoundError):
        return None


@cache
def _digest_of(folder: Path) -> str:
    paths = [path for path in folder.rglob("*") if path.suffix in _COUNTED and path.is_file()]
    files = sorted((path.relative_to(folder).as_posix(), path) for path in paths)
    return fingerprint([(name, sha256_of_file(path)) for name, path in files])
