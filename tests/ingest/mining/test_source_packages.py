"""Installed packages as repositories: what is listed, and that every byte is what the wheel recorded."""

from __future__ import annotations

import base64
import hashlib
import importlib.metadata
from pathlib import Path

import pytest

from ingest.mining.packages import read_package
from ingest.mining.sample import read_places
from lake.errors import Exit, GoldspanError

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(
    ("pin", "repo"), [(it.places.pin, it.places.repository) for it in read_places() if it.places.pin]
)
def test_each_package_is_pure_python_pinned_for_all_and_developed_where_it_says(pin: str, repo: str) -> None:
    found = importlib.metadata.distribution(pin.partition("==")[0])
    assert pin in (ROOT / "requirements.txt").read_text().splitlines()
    assert "none-any" in (found.read_text("WHEEL") or "")
    urls = [*(found.metadata.get_all("Project-URL") or []), *(found.metadata.get_all("Home-page") or [])]
    assert any(f"github.com/{repo}" in str(url) for url in urls)


def _install(folder: Path, files: dict[str, bytes], *, recorded: bool = True) -> None:
    about = folder / "toy-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: toy\nVersion: 1.0\n")
    record = ["../../../bin/toy,sha256=x,1", "toy-1.0.dist-info/RECORD,,"]
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record.append(f"{name},sha256={digest},{len(data)}")
    if recorded:
        (about / "RECORD").write_text("\n".join(record))


def test_a_package_is_its_python_files_and_licences(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {"toy/b.py": b"b", "toy/a.py": b"a\r\n", "toy/x.txt": b"", "toy-1.0.dist-info/licenses/LICENSE": b"free"}
    _install(tmp_path, files)
    monkeypatch.syspath_prepend(str(tmp_path))
    package = read_package("toy==1.0")
    assert {path: file.read() for path, file in package.items()} == {
        "LICENSE": b"free",
        "toy/a.py": b"a\r\n",
        "toy/b.py": b"b",
    }


@pytest.mark.parametrize(("damage", "says"), [(b"changed", "is not what its wheel recorded"), (None, "cannot be read")])
def test_a_file_that_was_changed_or_removed_is_an_error_that_says_how_to_mend_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: bytes | None, says: str
) -> None:
    _install(tmp_path, {"toy/a.py": b"a", "toy/b.py": b"b"})
    monkeypatch.syspath_prepend(str(tmp_path))
    if damage is None:
        (tmp_path / "toy/a.py").unlink()
    else:
        (tmp_path / "toy/a.py").write_bytes(damage)
    files = read_package("toy==1.0")
    assert files["toy/b.py"].read() == b"b"
    with pytest.raises(GoldspanError, match=rf"toy/a\.py of toy==1\.0 {says}") as caught:
        files["toy/a.py"].read()
    assert caught.value.code == Exit.INVALID
    assert "--force-reinstall --no-deps toy==1.0" in str(caught.value)


def test_a_missing_package_and_one_without_a_record_are_errors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(GoldspanError, match=r"toy==1\.0, which is not installed") as caught:
        read_package("toy==1.0")
    assert caught.value.code == Exit.MISSING
    assert "requirements.txt" in str(caught.value)
    _install(tmp_path, {"toy.py": b""}, recorded=False)
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(GoldspanError, match="no record of its files"):
        read_package("toy==1.0")
