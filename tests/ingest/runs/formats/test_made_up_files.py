"""Records made up after the formats' descriptions, each with what is told and read of it: `made_up/<format>.json`.

A case is called by what it shows, and its first file is the one that is read, with the others beside it. Whoever adds
one writes its files; `python -m tests.ingest.runs.formats.test_made_up_files` adds what is told and read of them.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from ingest.runs.find_trajectories import importers
from ingest.runs.importer import Importer
from ingest.sources.tree import UnreadableFileError
from tests.ingest.runs.formats.recorded_sessions import opened
from tests.ingest.runs.formats.test_recorded_files import as_text

Case = Mapping[str, Mapping[str, object]]
CASES: Mapping[Path, dict[str, Case]] = {
    file: json.loads(file.read_text()) for file in sorted(Path(__file__).with_name("made_up").glob("*.json"))
}
_EMPTY: tuple[object, ...] = ("", None, [], {}, [""])
EVERY = [pytest.param(file.stem, case, id=name) for file, cases in CASES.items() for name, case in cases.items()]


@pytest.mark.parametrize(("format_name", "case"), EVERY)
def test_a_made_up_file_is_read_as_its_case_says(tmp_path: Path, format_name: str, case: Case) -> None:
    assert told(importers()[format_name], case["files"], tmp_path) == case


def told(importer: Importer, files: Mapping[str, object], folder: Path) -> dict[str, object]:
    """The files, their rows as lists; which formats know them, which belong to the first; and what is read of that."""
    contents = {path: content(held) for path, held in files.items()}
    first, *others = contents
    file = opened(folder, first, contents)
    known = {path: [it.name for it in importers().values() if it.recognise(contents[path], path)] for path in files}
    claims = importer.companions(first)
    belong = [path for path in others if any(f"{path}/".startswith(f"{claim.rstrip('/')}/") for claim in claims)]
    case: dict[str, object] = {"files": files}
    if (known_as := {path: names for path, names in known.items() if names}) != {first: [importer.name]}:
        case["known"] = known_as
    if belong != others:
        case["belong"] = belong
    try:
        read = [
            {
                "position": trajectory.position,
                **as_text(trajectory, in_short=False),
                "reads": [call.reads for call in trajectory.calls],
            }
            for trajectory in importer.trajectories(file)
        ]
    except UnreadableFileError as error:
        return {**case, "damaged": [error.reason]}
    return {**case, "read": [{name: value for name, value in of_one.items() if value not in _EMPTY} for of_one in read]}


def content(held: object) -> bytes:
    rows = "".join(f"{json.dumps(row)}\n" for row in held) if isinstance(held, list) else held
    return str(rows).encode()


def laid_out(value: object, depth: int = 0) -> str:
    """A value as JSON, a line for each row of a file."""
    if depth == 4 or not isinstance(value, dict | list) or not value:
        return json.dumps(value)
    of_keys = [json.dumps(key) + ": " for key in value] if isinstance(value, dict) else [""] * len(value)
    inner = (laid_out(each, depth + 1) for each in (value.values() if isinstance(value, dict) else value))
    lines = ",\n".join(f"{' ' * (depth + 1)}{key}{text}" for key, text in zip(of_keys, inner, strict=True))
    left, right = "{}" if isinstance(value, dict) else "[]"
    return f"{left}\n{lines}\n{' ' * depth}{right}"


if __name__ == "__main__":
    for path, cases in CASES.items():
        for name, case in cases.items():
            with TemporaryDirectory() as folder:
                cases[name] = told(importers()[path.stem], case["files"], Path(folder))  # type: ignore[assignment]  # as above
        path.write_text(laid_out(cases) + "\n")
