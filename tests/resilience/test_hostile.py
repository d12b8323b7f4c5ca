import gzip
import io
import os
import pickle
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa  # type: ignore[import-untyped]  # ships no types
import pyarrow.parquet as pq  # type: ignore[import-untyped]  # ships no types
import pytest

from tests.tiny import ROOT, put

MEMORY = "0.7"
DECLARATION = b"name: mine\nlike: beir\n"


class Calls:
    """Pickles as a call of `os.mkdir`."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __reduce__(self) -> tuple[Callable[[str], None], tuple[str]]:
        return os.mkdir, (self.folder,)


def forged() -> bytes:
    """A Parquet file of one text of a megabyte that stands in 20,000 rows."""
    texts = pa.DictionaryArray.from_arrays(pa.array([0] * 20_000, pa.int32()), pa.array(["x" * 1_000_000]))
    file = io.BytesIO()
    pq.write_table(pa.table({"question": texts}), file, compression="zstd", dictionary_pagesize_limit=1 << 24)
    return file.getvalue()


def zipped(name: str, *, link: bool = False) -> bytes:
    """A ZIP of one entry: a link, or 250 MB of nothing."""
    file, entry = io.BytesIO(), zipfile.ZipInfo(name)
    entry.external_attr = 0o120777 << 16 if link else 0
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(entry, b"/etc/passwd" if link else bytes(250_000_000), compress_type=zipfile.ZIP_DEFLATED)
    return file.getvalue()


OWN = ("own", "--items")
REPOBENCH = ("repobench-r", "--source", ".")
REPOEVAL = ("repoeval", "--source", ".")
PICKLE = "data/python_cff.gz"
TASKS = "datasets/function_level_completion_2k_context_codex.test.jsonl"
ENOUGH = "out of memory"

HOSTILE: dict[str, tuple[str, Callable[[], bytes], tuple[str, ...], str]] = {
    "lists in a pickle": (PICKLE, lambda: gzip.compress(b"\x80\x02" + b"]" * 12_000_000 + b"."), REPOBENCH, ENOUGH),
    "a text of a size that is claimed": (PICKLE, lambda: gzip.compress(b"X\xff\xff\xff\x7f."), REPOBENCH, ""),
    "a far place in its memo": (PICKLE, lambda: gzip.compress(b"\x80\x02Nr\xff\xff\xff\x0f."), REPOBENCH, ENOUGH),
    "a pickle that calls": (
        PICKLE,
        lambda: gzip.compress(pickle.dumps(Calls("made"))),
        REPOBENCH,
        "posix.mkdir",
    ),
    "a gzip that unfolds": ("rows.jsonl.gz", lambda: gzip.compress(bytes(200_000_000)), OWN, "once it is unpacked"),
    "a zip that unfolds": ("datasets.zip", lambda: zipped(Path(TASKS).name), REPOEVAL, ""),
    "a zip of a path that climbs": ("datasets.zip", lambda: zipped("../made"), REPOEVAL, ""),
    "a zip of a link": ("datasets.zip", lambda: zipped(Path(TASKS).name, link=True), REPOEVAL, ""),
    "Parquet of one text": ("rows.parquet", forged, OWN, "unknown row layout"),
    "JSON of small values": ("rows.json", lambda: b"[{}" + b",[]" * 20_000_000 + b"]", OWN, ENOUGH),
    "JSON that nests": ("rows.json", lambda: b"[\n" + b"[" * 1_000_000, OWN, "is it cut off?"),
    "YAML of aliases": (
        "mine.yaml",
        lambda: b"a0: &a0 x\n" + b"".join(b"a%d: &a%d [%s]\n" % (n, n, b"*a%d, " % (n - 1) * 9) for n in range(1, 12)),
        ("--config",),
        "can follow, found nothing",
    ),
    "YAML that calls": (
        "mine.yaml",
        lambda: DECLARATION + b"label: !!python/object/apply:os.mkdir [made]\n",
        ("--config",),
        "the tag",
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_made_to_hurt_ends_in_a_sentence(tmp_path: Path, name: str) -> None:
    file, made, command, sentence = HOSTILE[name]
    put(tmp_path / "in" / file, made())
    put(tmp_path / "in/repositories/function_level/a/b.py", b"x = 1\n")
    arguments = [*command, *([file] if command[-1] in ("--items", "--config") else [])]
    done = subprocess.run(
        [sys.executable, "-m", "ingest", *arguments, "--memory-limit", MEMORY, "--engine", "local:1", "--lake", "lake"],
        cwd=tmp_path / "in",
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    output = done.stdout + done.stderr
    assert 0 < done.returncode < 128, output
    assert "Traceback" not in output
    assert "bug in Goldspan" not in output
    assert sentence in output
    assert not list(tmp_path.rglob("made"))
