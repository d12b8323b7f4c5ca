"""The tokenizer of CodeGen-350M, which RepoBench's lexical retrievers use: where it is at hand, and never fetched."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from lake.errors import Exit, GoldspanError
from lake.fingerprint import sha256_of_file

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_MODEL = "Salesforce/codegen-350M-mono"
_FILE = "tokenizer.json"
FOLDER_VARIABLE = "GOLDSPAN_CODEGEN_TOKENIZER"
"""The environment variable that names a folder which holds the file."""


def missing() -> str:
    """What has to be installed or given before the tokenizer can be loaded, or an empty string."""
    given = f"{FOLDER_VARIABLE}=FOLDER, a folder with the {_FILE} of {_MODEL}"
    if find_spec("tokenizers") is None:
        return f"First: .venv/bin/python -m pip install -c constraints.txt 'tokenizers>=0.23,<1'; then give {given}."
    return "" if tokenizer_file() else f"Give {given}."


def tokenizer_file() -> Path | None:
    """The tokenizer's file, in the folder that is named."""
    folder = os.environ.get(FOLDER_VARIABLE)
    return file if folder and (file := Path(folder, _FILE)).is_file() else None


def parameters() -> Mapping[str, object]:
    """What the pages say of the tokens, and which file they come from: with another one, a run is another."""
    file = tokenizer_file() if find_spec("tokenizers") is not None else None
    return {"tokens": "codegen", "tokenizer": _MODEL, "tokenizer_sha256": sha256_of_file(file) if file else ""}


def codegen_tokens(text: str) -> list[str]:
    """The tokens of a text, none added at its ends."""
    return list(_tokenizer().encode(text, add_special_tokens=False).tokens)


@cache
def _tokenizer() -> Tokenizer:
    file = None if missing() else tokenizer_file()
    if file is None:
        raise GoldspanError(f"the tokenizer of {_MODEL} is not at hand", hint=missing(), code=Exit.MISSING)
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(file))
    # A file may ask for the limits of a model that reads the tokens; here they are only compared.
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer
