"""PowerShell's commands as views of files: its few that show them, with paths as Windows writes them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.runs.trajectories.shell_views import reading_of_command
from ingest.runs.trajectories.trajectory import View

FOLDER = "C:\\srv\\repo"
WHOLE = View("C:/srv/repo/src/a.py", 1, None)


def lines(start: int, end: int | None) -> list[View]:
    return [View(WHOLE.path, start, end)]


@pytest.mark.parametrize(
    ("command", "views"),
    [
        ("Get-Content src\\a.py", [WHOLE]),
        ("Get-Content -Raw -Path 'src\\a.py'", [WHOLE]),
        ("gc .\\src\\a.py -Raw | Out-String", [WHOLE]),
        ("type src\\a.py; cat src/b.py", [WHOLE, View("C:/srv/repo/src/b.py", 1, None)]),
        ("Get-Content src\\a.py -TotalCount 40", lines(1, 40)),
        ("Get-Content src\\a.py | Select-Object -First 40", lines(1, 40)),
        ("Get-Content src\\a.py | select -Skip 10 -First 5", lines(11, 15)),
        ("Get-Content src\\a.py | Select-Object -Skip 10", lines(11, None)),
        ("(Get-Content src\\a.py)[9..19]", lines(10, 20)),
        ("Get-Content src\\a.py -Tail 5", [View(WHOLE.path)]),
        ("cd src; Get-Content a.py", [WHOLE]),
        ("Get-Content $file", []),
        ("Get-Content src\\a.py | Set-Content b.py", []),
        ("Get-Content src\\a.py > b.py", []),
        ("Get-Content src\\a.py | Measure-Object -Line", []),
        ("Get-ChildItem -Recurse src", []),
        ("Get-Content (Join-Path src a.py)", [WHOLE]),
        (
            "Get-Content -Path (Join-Path -Path (Join-Path 'C:\\srv' repo) -ChildPath src/a.py) -TotalCount 40",
            lines(1, 40),
        ),
        ("Get-Content (Join-Path $root a.py)", []),
        ("Get-Content (Get-ChildItem src -Filter a.py).FullName", []),
        ("Get-Content src\\a.py | Select-Object -First (40)", lines(1, 40)),
        ("if (Test-Path src\\a.py) {\nGet-Content src\\a.py\n}", [WHOLE]),
        ("cd (Join-Path $env:TEMP x); Get-Content a.py", []),
        ("Push-Location $dir; Get-Content b.py; Pop-Location; Get-Content src\\a.py", [WHOLE]),
    ],
)
def test_what_is_printed_is_seen(command: str, views: list[View]) -> None:
    assert list(reading_of_command(command, folder=FOLDER).views) == views


@pytest.mark.parametrize(
    ("command", "edited"),
    [
        ("Set-Content src\\a.py 'x'", (WHOLE.path,)),
        ("Set-Content (Join-Path src a.py) 'x'", (WHOLE.path,)),
        ("Set-Content -Path (Join-Path src 'a.py') -Value (Get-Date)", (WHOLE.path,)),
        ("'x' > (Join-Path src a.py)", (WHOLE.path,)),
        ("Set-Content (Join-Path $dir a.py) 'x'", ()),
        ("Set-Content -Path (Join-Path $dir a.py) -Value 'x'", ()),
        ("Add-Content ($paths | Select-Object -First 1) 'x'", ()),
        ("Get-Date | Out-File (New-TemporaryFile).FullName", ()),
    ],
)
def test_what_is_written_is_edited(command: str, edited: tuple[str, ...]) -> None:
    assert reading_of_command(command, folder=FOLDER).edited == edited


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("Select-String -Path src\\*.py -Pattern burn", "src\\a.py:3:x"),
        ("Select-String burn src\\a.py", "src\\a.py:3:x"),
        ("Get-Content src\\a.py | Select-String burn", "3:x"),
        ("rg -n burn src\\a.py src\\b.py", "src\\a.py:3:x"),
        ("findstr /n burn src\\a.py", "3:x"),
    ],
)
def test_a_search_is_what_its_output_lists(command: str, output: str) -> None:
    if "|" in command:
        assert reading_of_command(command, output, folder=FOLDER).views == (View(WHOLE.path),)
    else:
        assert reading_of_command(command, output, folder=FOLDER).views == (View(WHOLE.path, 3, 3),)


def test_a_command_that_windows_does_not_know_shows_nothing() -> None:
    said = "\x1b[31;1msed: The term 'sed' is not recognized as a name of a cmdlet"
    assert reading_of_command("sed -n '1,9p' a.py", said, failed=True, folder=FOLDER).views == ()


def test_it_is_known_by_its_words_or_its_folder() -> None:
    assert reading_of_command("Get-Content src\\a.py").views == (View("src/a.py", 1, None),)
    assert reading_of_command('powershell -NoProfile -Command "type src\\a.py"', folder=FOLDER).views == (WHOLE,)
    assert reading_of_command("Get-Content a.py; rg -n x", "src\\b.py:3:x").views[1:] == (View("src/b.py", 3, 3),)
    assert reading_of_command(["pwsh", "-Command", "type src\\a.py"]).views == (View("src/a.py", 1, None),)
    assert reading_of_command("Set-Location src", folder=FOLDER).folder == "C:/srv/repo/src"


@given(
    st.lists(
        st.sampled_from(["Get-Content ", "(", ")[", "1..", "9", "]", "'", '"', "`", "|", ";", ">", "$a", "-Skip "])
    )
)
def test_any_line_is_read(pieces: list[str]) -> None:
    assert all(view.path for view in reading_of_command("".join(pieces), folder=FOLDER).views)


def test_a_pattern_with_a_comma_is_one_word() -> None:
    found = reading_of_command("Select-String 'a,b' src/a.py", "src\\a.py:3:a,b\n", folder="C:\\w")
    assert found.views == (View("C:/w/src/a.py", 3, 3),)
