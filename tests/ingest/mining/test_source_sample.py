import base64
import hashlib
import importlib.metadata
import json
from collections import Counter
from pathlib import Path

import pytest

from ingest.commands.read import open_source
from ingest.mining import sample as sample_module
from ingest.mining.miner import PROMPT_TOKENS
from ingest.mining.sample import DATA, PLACES_FILE, open_sample, read_package, read_places
from ingest.sources.tree import Source
from lake.errors import Exit, GoldspanError
from tests.tiny import ROOT, command, put, python, refused, stored

REVISION = (
    "attrs==26.1.0 click==8.5.1 fsspec==2026.9.0 gitpython==3.2.1 httpx2==2.16.2 jinja2==3.1.6 jsonschema==4.26.0 "
    "markdown-it-py==4.3.0 packaging==26.3 python-dateutil==4.0.0 rich==15.0.0"
)
RECORDED = {
    "repoeval": "11dfb66c729448905cfe6c8e8c05ad758b32691fa255c4ce739b8abc410a6f62",
    "repobench-r": "830afdec927ea3da73b5c542470ea53893686a7fa1e605bb853409c5b6a2b27b",
}
"""What the sample was cut from when its digests were recorded, and these. Record them anew when a pin moves."""

DIGEST = """
import hashlib, sys
from ingest.mining.sample import open_sample
source, digest = open_sample(sys.argv[1]), hashlib.sha256()
for path in ("datasets", "repositories/function_level", "data"):
    for entry in getattr(source.find(path), "entries", ()):
        digest.update(entry.path.encode() + b"\\0" + hashlib.sha256(entry.read()).digest())
print(source.revision, digest.hexdigest(), sep="\\n")
"""


@pytest.mark.parametrize("benchmark", RECORDED)
def test_the_sample_is_the_same_in_every_process_and_on_every_machine(benchmark: str) -> None:
    elsewhere = {"PYTHONHASHSEED": "2", "LC_ALL": "C", "TZ": "Asia/Tokyo"}
    revision, digest = python("-c", DIGEST, benchmark, **elsewhere).done().out.split("\n", 1)
    assert (revision, digest.strip()) == (REVISION, RECORDED[benchmark]), (
        "a pin moved: python -m tests.ingest.mining.make_places, and record the digest anew"
    )


def _rows(source: Source, folder: str) -> dict[str, list[dict[str, object]]]:
    tree = source.find(folder)
    assert tree is not None
    return {entry.path: [json.loads(line) for line in entry.read().splitlines()] for entry in tree.entries}


def test_there_are_enough_questions_and_no_repository_dominates() -> None:
    completions = _rows(open_sample("repoeval"), "datasets")
    assert len(completions) == 2 * len(PROMPT_TOKENS)
    for rows in completions.values():
        per_package = Counter(row["metadata"]["fpath_tuple"][0] for row in rows)  # type: ignore[index]  # as JSON has it
        assert len(rows) >= 300
        assert (len(per_package), max(per_package.values())) == (11, 30)
    for name, rows in _rows(open_sample("repobench-r"), "data").items():
        levels = Counter((row["split"], row["level"]) for row in rows)
        assert min(levels["test", level] for level in ("easy", "hard")) >= (100 if "python" in name else 12)
        repos = {split: {row["repo_name"] for row in rows if row["split"] == split} for split in ("test", "train")}
        assert len(repos["test"]) >= 2
        assert len(repos["train"]) == 1
        assert not repos["test"] & repos["train"]


def test_the_sample_says_what_it_is(tmp_path: Path) -> None:
    source = open_sample("repoeval")
    assert (source.name, source.label) == ("sample", "sample")
    assert source.revision.split()[1] == f"click=={importlib.metadata.version('click')}"
    assert source.licences["pallets_click"] == "BSD-3-Clause"
    assert all("MIT" in licence or "BSD" in licence or "Apache" in licence for licence in source.licences.values())
    assert source.find("nowhere") is None
    assert open_source("sample", "repobench-r", cache=tmp_path).revision == source.revision
    assert open_source("sample", "contextbench", cache=tmp_path).label == "sample"
    with refused("no sample of another", Exit.MISSING):
        open_source("sample", "another", cache=tmp_path)


def test_places_are_of_one_version_of_a_package(tmp_path: Path) -> None:
    moved = put(tmp_path / "places.jsonl", PLACES_FILE.read_bytes().replace(b"attrs==26.1.0", b"attrs==26.2.0", 1))
    with pytest.raises(GoldspanError, match=r"the package attrs==26\.2\.0, which is not installed"):
        _ = read_places(moved)[0].entries


@pytest.mark.slow
@pytest.mark.parametrize("benchmark", RECORDED)
def test_a_current_sample_is_not_cut_again(benchmark: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = (benchmark, "--chunkers", "whole-file", "--limit", "5", "--lake", tmp_path)
    command("ingest", *arguments).done()
    before = stored(tmp_path)

    def cut(*_: object) -> bytes:
        message = "the sample is cut again"
        raise AssertionError(message)

    monkeypatch.setattr(sample_module, "lines_of", cut)
    command("ingest", *arguments).done()
    assert stored(tmp_path) == before


ROWS = [json.loads(line) for line in (DATA / "contextbench/test.jsonl").read_text(encoding="utf-8").splitlines()]


def test_there_are_thirty_instances_in_five_repositories_and_languages() -> None:
    assert len({row["instance_id"] for row in ROWS}) == len(ROWS) == 30
    assert len({row["repo"] for row in ROWS}) == len({row["language"] for row in ROWS}) == 5


def test_each_repository_of_contextbench_is_there_at_its_commits_and_no_other() -> None:
    beside = {file.stem for file in (DATA / "contextbench/repo_files").iterdir()}
    assert beside == {f"{row['repo'].replace('/', '__')}@{row['base_commit']}" for row in ROWS}


def test_the_sample_is_ingested_whole(sample_contextbench: Path) -> None:
    printed = (sample_contextbench / "said").read_text(encoding="utf-8")
    assert "30 of 30 items ready" in printed
    assert "labelled sample" in printed


@pytest.mark.parametrize(("pin", "repo"), [(it.pin, it.repository) for it in read_places() if it.pin])
def test_each_package_is_pure_python_pinned_for_all_and_developed_where_it_says(pin: str, repo: str) -> None:
    package = importlib.metadata.distribution(pin.partition("==")[0])
    assert pin in (ROOT / "requirements.txt").read_text().splitlines()
    assert "none-any" in (package.read_text("WHEEL") or "")
    urls = [*(package.metadata.get_all("Project-URL") or []), *(package.metadata.get_all("Home-page") or [])]
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


def test_a_package_is_its_python_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {"toy/b.py": b"b", "toy/a.py": b"a\r\n", "toy/x.txt": b"", "toy-1.0.dist-info/licenses/LICENSE": b"free"}
    _install(tmp_path, files)
    monkeypatch.syspath_prepend(str(tmp_path))
    package = {path: file.read() for path, file in read_package("toy==1.0").items()}
    assert package == {"toy/a.py": b"a\r\n", "toy/b.py": b"b"}


def test_a_missing_package_and_one_without_a_record_are_errors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with refused(r"toy==1\.0, which is not installed", Exit.MISSING) as caught:
        read_package("toy==1.0")
    assert "requirements.txt" in str(caught.value)
    _install(tmp_path, {"toy.py": b""}, recorded=False)
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(GoldspanError, match="not installed with a record of its files"):
        read_package("toy==1.0")
