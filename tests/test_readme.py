import re
import shlex
import shutil
import subprocess
from pathlib import Path

import polars as pl
import pytest
import typer
from typer.main import get_command

import evaluate.commands
import ingest.commands
import report.commands
from lake.fingerprint import sha256_of
from lake.store import Lake
from tests.tiny import CATS, ROOT, build, command, put, submitter

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
README = "\n".join(page.read_text() for page in PAGES)
STAGES = {"ingest": ingest.commands.app, "evaluate": evaluate.commands.app, "report": report.commands.app}


def block(after: str) -> str:
    """The first fenced block behind some words."""
    fence = re.search(r"```\w*\n(.*?)```", README[README.index(after) :], re.DOTALL)
    assert fence is not None
    return fence[1]


@pytest.mark.slow
def test_the_readmes_commands_make_runs(lake_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GOLDSPAN_LAKE", str(lake_folder))
    for name in ("search.js", "mine.py"):
        assert len(block(f"`{name}`").splitlines()) <= 20
        Path(name).write_text(block(f"`{name}`"))
    exec(compile(block(": `make_run.py`.").replace("lake/data", str(lake_folder)), "README.md", "exec"), {})
    lines = re.findall(
        r"^.venv/bin/python -m ingest ((?:check|run) +(?:my.tsv|--search) (?:(?!--chunker).)*)$", README, re.MULTILINE
    )
    assert len(lines) == 5
    if shutil.which("rg") is None:
        pytest.skip("ripgrep is not installed: apt-get install ripgrep")
    for line in lines:
        command("ingest", *shlex.split(line)).done()
    command("evaluate", "--systems", "my-*,ripgrep").done()
    runs = pl.read_parquet(lake_folder / "runs/**/*.parquet").filter(origin="imported")
    assert sorted(runs["system"]) == ["my-names", "my-retriever", "my-words", "ripgrep"]
    command("report", "--site", tmp_path / "site").done()
    page = (tmp_path / "site/repoeval-all.html").read_text()
    assert all(name in page for name in runs["system"])


def test_the_steps_of_a_submission_work_as_they_are_printed(tmp_path: Path) -> None:
    checkout = tmp_path / "checkout"
    put(checkout / "make_run.py", block(": `make_run.py`.").encode())
    put(checkout / "system.yaml", block("with this `system.yaml`:").encode())
    source = build(tmp_path / "source/repoeval-sample").parent
    command("ingest", "repoeval", "--source", source, "--lake", checkout / "lake/data").done()
    run = submitter(checkout)
    make = block("Make it, check it, and import it:").splitlines()[0]
    printed = [run(line) for line in (make, *block("Put both in the folder").splitlines())]
    assert any("5 of 5 items" in line for line in printed)
    names = run("git -C ../origin ls-tree -r --name-only my-retriever >&2").split()
    assert names == [f"lake/submissions/my-retriever/2026-01-31/{name}" for name in ("run.tsv", "system.yaml")]
    run(".venv/bin/python -m ingest submissions")
    assert "my-retriever" in Lake(checkout / "lake/data").read("runs")["system"]


def test_an_exported_run_scores_as_printed(lake_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GOLDSPAN_LAKE", str(lake_folder))
    score, *printed = block("# Score a ranking").splitlines()
    for line in [*block("## Take both files from a run").splitlines(), score.removeprefix("$ ")]:
        _, _, stage, *words = shlex.split(line.replace("fixed-nws-1500+", "whole-file+"))
        done = command(stage, *words).done()
    lines = [*done.out.splitlines(), *done.err.splitlines()]
    # Another lake has other numbers.
    assert [re.sub(r"\d+", "0", line) for line in lines] == [re.sub(r"\d+", "0", line) for line in printed]


def test_the_chunker_in_javascript_cuts_below_empty_lines(tmp_path: Path) -> None:
    script, lake = tmp_path / "chunk.js", tmp_path / "lake"
    script.write_text(block("`chunk.js`"))
    assert len(script.read_text().splitlines()) <= 20
    given = f"margin=node {script}"
    command("ingest", "repoeval", "--source", build(tmp_path / "source"), "--chunker", given, "--lake", lake).done()
    chunks = pl.read_parquet(lake / "chunks/chunker=margin/part-*.parquet")
    of_cats = chunks.filter(sha256=sha256_of(CATS.encode())).select("line_start", "line_end").rows()
    assert of_cats == [(0, 4), (4, 7)]


def test_steps_for_vectors_elsewhere(lake_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GOLDSPAN_LAKE", str(lake_folder))
    texts, embedded, evaluated = block("# Vectors of any model").replace("syntax-1500", "whole-file").splitlines()
    command(*shlex.split(texts)[2:]).done()
    assert embedded == ".venv/bin/python embed.py"
    exec(compile(block("in place of `embed` call"), "embed.py", "exec"), {})
    command(*shlex.split(evaluated)[2:]).done()
    rows = Lake(lake_folder).read("run_items").join(Lake(lake_folder).read("runs"), on="run_id")
    assert set(rows.filter(system="whole-file+recorded")["status"]) == {"done"}
    command("evaluate", "texts", "whole-file+bm25-okapi", "-o", "x.parquet").ended(2, "Write CHUNKER+recorded")
    nowhere = command("evaluate", "texts", "whole-file+recorded", "-o", "nowhere/x.parquet")
    nowhere.ended(1, "  where: nowhere/x.parquet\n")


def test_the_snippet_that_reads_the_lake_runs(lake_folder: Path) -> None:
    snippet = block("# The lake").replace("lake/data", str(lake_folder))
    namespace: dict[str, object] = {}
    exec(compile(snippet.replace("pl.scan", "found = pl.scan"), "README.md", "exec"), namespace)
    printed = namespace["found"]
    assert isinstance(printed, pl.DataFrame)
    assert printed.height > 0


@pytest.mark.parametrize("stage", STAGES)
def test_every_flag_is_in_the_readme(stage: str) -> None:
    group = get_command(STAGES[stage])
    assert isinstance(group, typer.core.TyperGroup)
    with group.make_context(stage, [], resilient_parsing=True) as context:
        commands = {name: group.get_command(context, name) for name in group.list_commands(context)}
    flags = {
        max(option.opts, key=len)
        for command in filter(None, commands.values())
        for option in command.params
        if isinstance(option, typer.core.TyperOption)
    }
    written = set(re.findall(r"--[a-z-]+", README)) | ({"--output"} if "`-o`" in README else set())
    assert flags - {"--help"} <= written


def lines_to_copy() -> list[str]:
    """Every line of a fenced block that is of no language: what is typed, and what it prints."""
    fences = re.findall(r"^```(\w*)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    return [line.strip().removeprefix("$ ") for language, text in fences if not language for line in text.splitlines()]


def test_every_command_to_copy_is_one_that_there_is_with_flags_that_it_has() -> None:
    lines = lines_to_copy()
    assert not [line for line in lines if line.startswith("python ")], "by the Python that make sets up"
    # A line with brackets lists what may be given.
    typed = [
        re.fullmatch(r".venv/bin/python -m (ingest|evaluate|report)(.*)", line) for line in lines if " [-" not in line
    ]
    for commands in filter(None, typed):
        group, words = get_command(STAGES[commands[1]]), shlex.split(commands[2], comments=True)
        with group.make_context(commands[1], words) as context:
            assert isinstance(group, typer.core.TyperGroup)
            name, command, rest = group.resolve_command(context, [*context._protected_args, *context.args])
            assert command is not None, commands[0]
            command.make_context(name, rest, parent=context)


def test_every_make_line_to_copy_is_one_that_make_takes() -> None:
    lines = {line for line in lines_to_copy() if line.startswith("make ")}
    assert len(lines) >= 10
    for line in lines:
        done = subprocess.run(
            [*shlex.split(line, comments=True), "--dry-run"], cwd=ROOT, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{line}: {done.stderr}"


def test_every_verb_of_the_makefile_is_listed_with_what_it_does() -> None:
    makefile = (ROOT / "Makefile").read_text()
    phony = re.search(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)
    assert phony is not None
    for verb in phony[1].split():
        assert re.search(rf"^{verb}:.*## \S", makefile, re.MULTILINE), verb


def test_the_readme_is_two_screens_long() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) <= 120


def test_links_and_pictures_lead_somewhere() -> None:
    for page in PAGES:
        for address in re.findall(r"\]\((?!http)([^)]+)\)", page.read_text()):
            path, _, anchor = address.partition("#")
            target = page.parent / path
            assert target.exists(), f"{page.name}: {address}"
            titles = re.findall(r"^#+ (.*)$", target.read_text(), re.MULTILINE) if anchor else []
            assert not anchor or anchor in [title.lower().replace(" ", "-") for title in titles], address
