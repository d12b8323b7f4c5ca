import os
import socket
import zipfile
from pathlib import Path

import pytest

from ingest.sources.folder import open_folder, read_folder
from ingest.sources.tree import Source, Tree
from lake.errors import Exit, GoldspanError
from tests.tiny import put, refused

MARKERS = ("datasets", "repositories")


def found(source: Source, folder: str = "datasets") -> Tree:
    tree = source.find(folder)
    assert tree is not None
    return tree


def paths(source: Source, folder: str = "datasets") -> list[str]:
    return [entry.path for entry in found(source, folder).entries]


@pytest.mark.parametrize(
    ("folder", "benchmark", "label"),
    [
        ("repoeval", "repoeval", ""),
        ("repobench-r-mined", "repobench-r", "mined"),
        ("repobench-r-my-own", "repobench-r", "my-own"),
    ],
)
@pytest.mark.parametrize("given", ["itself", "parent"])
def test_a_benchmarks_folder_and_label(tmp_path: Path, folder: str, benchmark: str, label: str, given: str) -> None:
    put(tmp_path / folder / "datasets/a.jsonl", b"x")
    given_folder = tmp_path if given == "parent" else tmp_path / folder
    source = open_folder(given_folder, benchmark, markers=MARKERS)
    assert (source.name, source.label, paths(source)) == (str(given_folder), label, ["a.jsonl"])
    assert (source.revision, source.licences) == ("", {})


def test_a_subfolder_without_a_marker_does_not_hide_the_folder_itself(tmp_path: Path) -> None:
    put(tmp_path / "datasets/x", b"x")
    put(tmp_path / "repoeval-notes/todo.txt", b"x")
    source = open_folder(tmp_path, "repoeval", markers=MARKERS)
    assert (paths(source), source.label) == (["x"], "")


def test_two_subfolders_of_one_benchmark_are_an_error_that_names_both(tmp_path: Path) -> None:
    put(tmp_path / "repoeval/datasets/x", b"x")
    put(tmp_path / "repoeval-new/datasets/x", b"x")
    with refused(r"repoeval, repoeval-new", Exit.USAGE):
        open_folder(tmp_path, "repoeval", markers=MARKERS)


def test_a_folder_without_the_benchmark_says_what_was_looked_for(tmp_path: Path) -> None:
    put(tmp_path / "repoeval/readme.txt", b"x")
    with pytest.raises(GoldspanError) as caught:
        open_folder(tmp_path, "repoeval", markers=MARKERS)
    assert caught.value.code == Exit.MISSING
    for word in ("repoeval-<label>", "datasets or repositories (folders or zips)"):
        assert word in str(caught.value)


def test_a_folder_that_does_not_exist_or_is_a_file_is_told_apart(tmp_path: Path) -> None:
    for given in (tmp_path / "nowhere", put(tmp_path / "file", b"x")):
        with refused("there is no such folder", Exit.MISSING):
            open_folder(given, "repoeval", markers=MARKERS)


def test_a_folder_with_nothing_but_its_own_archive_is_that_archive(tmp_path: Path) -> None:
    (tmp_path / "datasets").mkdir()
    with zipfile.ZipFile(tmp_path / "datasets/datasets.zip", "w") as made:
        made.writestr("a.jsonl", b"{}")
    source = open_folder(tmp_path, "repoeval", markers=MARKERS)
    assert (found(source).location, paths(source)) == ("datasets/datasets.zip", ["a.jsonl"])
    put(tmp_path / "datasets/b.jsonl", b"x")
    assert paths(source) == ["b.jsonl", "datasets.zip"]


def test_links_are_read_inside_and_refused_outside(tmp_path: Path) -> None:
    root = tmp_path / "tree"
    put(root / "real/a.py", b"inside")
    put(tmp_path / "secret", b"outside")
    (root / "link.py").symlink_to("real/a.py")
    (root / "out.py").symlink_to(tmp_path / "secret")
    (root / "up.py").symlink_to("../secret")
    (root / "folder").symlink_to("real")
    (root / "outside").symlink_to(tmp_path)
    (root / "broken").symlink_to("nowhere")
    (root / "circle").symlink_to("circle")
    tree = read_folder(root, "tree")
    assert {entry.path: entry.read() for entry in tree.entries} == {"link.py": b"inside", "real/a.py": b"inside"}
    assert tree.refused == {
        "broken": "not a regular file that may be read",
        "circle": "not a regular file that may be read",
        "folder": "not a regular file that may be read",
        "out.py": "a link that leaves the folder",
        "outside": "a link that leaves the folder",
        "up.py": "a link that leaves the folder",
    }


def test_pipes_and_sockets_are_refused_and_never_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.chdir(tmp_path)  # a socket's path must be short
    with socket.socket(socket.AF_UNIX) as made:
        made.bind("socket")
        tree = read_folder(tmp_path, ".")
    assert tree.entries == []
    assert tree.refused == dict.fromkeys(["pipe", "socket"], "not a regular file that may be read")


def test_a_file_that_may_not_be_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path / "a.py", b"x")
    secret = put(tmp_path / "secret.py", b"x")
    # Not by its mode: whoever runs as root may read everything.
    monkeypatch.setattr("ingest.sources.folder.os.access", lambda path, mode: Path(path) != secret)
    tree = read_folder(tmp_path, ".")
    assert [entry.path for entry in tree.entries] == ["a.py"]
    assert tree.refused == {"secret.py": "not a regular file that may be read"}


def test_a_name_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    try:
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.py")).write_bytes(b"x")
    except OSError:
        pytest.skip("this file system takes only UTF-8")
    tree = read_folder(tmp_path, ".")
    assert tree.entries == []
    assert tree.refused == {r"\xff.py": "the name is not UTF-8"}


def test_what_macos_leaves_behind_is_passed_over_and_hidden_files_are_not(tmp_path: Path) -> None:
    for name in ("__MACOSX/a.py", "x/._a.py", "x/.DS_Store", "x/.hidden/a.py", "x/a.py"):
        put(tmp_path / name, b"x")
    tree = read_folder(tmp_path, ".")
    assert [entry.path for entry in tree.entries] == ["x/.hidden/a.py", "x/a.py"]
    assert tree.refused == {}


def _snapshot(home: Path, dataset: str = "datasets--Contextbench--ContextBench") -> Path:
    """A snapshot as the hub's cache has them: links to where each content lies once."""
    cache = home / dataset
    blob = put(cache / "blobs" / ("a" * 64), b"x")
    snapshot = cache / "snapshots" / ("c" * 40)
    (snapshot / "data").mkdir(parents=True)
    (snapshot / "data" / "test.parquet").symlink_to(Path("../../../blobs") / blob.name)
    return snapshot


def test_links_of_a_snapshot_are_followed_within_its_datasets_cache(tmp_path: Path) -> None:
    snapshot = _snapshot(tmp_path)
    other = put(tmp_path / "datasets--Acme--Boats" / "blobs" / "x", b"x")
    (snapshot / "other").symlink_to(other)
    (snapshot / "refs").symlink_to(put(tmp_path / "datasets--Contextbench--ContextBench" / "refs" / "main", b"x"))
    source = open_folder(snapshot, "contextbench")
    assert source.label == ""
    for path in (".", "data"):
        assert paths(source, path) == ["data/test.parquet" if path == "." else "test.parquet"]
        assert found(source, path).entries[0].read() == b"x"
    assert found(source, ".").refused == dict.fromkeys(["other", "refs"], "a link that leaves the folder")
