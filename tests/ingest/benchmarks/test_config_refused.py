from pathlib import Path

import pytest

from lake.errors import Exit
from lake.store import Lake
from tests.ingest.benchmarks.test_config import OURS, ingest_own, lay_out
from tests.tiny import command, repoeval

pytestmark = pytest.mark.slow


def _refused(folder: Path, text: str | bytes, *texts: str, code: Exit = Exit.INVALID) -> None:
    """A declaration costs nothing but its own message, which names the file and says all of this."""
    config = lay_out(folder)
    config.write_bytes(text if isinstance(text, bytes) else text.encode())
    ingest_own(config, folder / "lake").refused(code, "mine.yaml", *texts)
    assert not Lake(folder / "lake").parts("items")


def test_what_is_printed_may_be_said_as_it_is(tmp_path: Path) -> None:
    text = f"{OURS}version: {repoeval().version}\ndefault_subsets: [function-2k]\n"
    assert ingest_own(lay_out(tmp_path, text), tmp_path / "lake").code == 0


def _line(path: str) -> str:
    return OURS.replace("meta.where.line", path)


WRONG = {
    "no name": (OURS.replace("name: repoeval\n", ""), "can follow, found nothing", "repoeval"),
    "unknown name": (OURS.replace("repoeval", "repoevil"), "can follow, found 'repoevil'", "repoeval"),
    "unknown key": (OURS.replace("  tasks", "  taks"), "data.taks: unknown key", "Did you mean 'tasks'?"),
    "no label": (OURS.replace("label: ours\n", ""), "label: is missing"),
    "no data": (OURS.split("data:")[0], "data: is missing"),
    "no tasks": (OURS.replace("  tasks: questions.jsonl\n", ""), "data.tasks: is missing"),
    "data is a text": (OURS.split("data:")[0] + "data: here\n", "data: must be a mapping"),
    "a number for a path": (_line("8"), "fields.line.0: input should be a valid string, not 8"),
    "an empty path": (_line("meta..line"), "fields.line.0: string should match pattern", "not 'meta..line'"),
    "yes for a text": (OURS + "license: yes\n", "license: input should be a valid string, not True"),
    "unknown subset": (
        OURS.replace("function-2k", "function-3k"),
        "data.subset: input should be 'function-1k', 'function-2k'",
        "not 'function-3k'",
    ),
    "a zero byte": (OURS.replace("questions.jsonl", '"a\\0"'), "data.tasks.file: string should match pattern"),
    "two faults": (_line("8").replace("ours", "a b"), "2 keys are wrong", "label: ", "fields.line.0: input"),
    "a list": ("- a\n- b\n", "expected the keys of one benchmark, found a list of 2"),
    # Aliases that would stand for billions cost nothing.
    "a bomb": (
        OURS + "a0: &a0 x\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12)),
        "a0: unknown key",
    ),
    **{
        f"label {label}": (OURS.replace("ours", label), "label: ")
        for label in ("published", "Sample", "mined", "a b", "x" * 41, "2024")
    },
    "two colons": ("name: a: b\n", "mapping values are not allowed here", "line 1, column 8"),
    "a key twice": (f"{OURS}label: theirs\n", "'label' occurs twice, first in line 2", "line 14, column 1"),
    "a merge": ("<<: {name: repoeval}\n", "the key << is not a text", "line 1, column 1"),
    "a yes for a key": ("on: repoeval\n", "the key on is not a text", "in quotes", "line 1, column 1"),
    "too deep": ("a: " + "[" * 30_000, "cannot be read: maximum recursion depth"),
    "half a character": (OURS + 'title: "\\ud800"\n', "cannot be read: 'utf-8' codec can't encode"),
    "a zero byte in a text": ("name: \0\n", "cannot be read: unacceptable character #x0000"),
    "not UTF-8": (b"name: x\nlabel: \xff\n", "cannot be read: 'utf-8' codec can't decode byte 0xff"),
    "too large": ("# " + "x" * 5_000_000, "has more than 4,194,304 bytes"),
}


@pytest.mark.parametrize("given", WRONG)
def test_a_wrong_declaration_is_refused_with_its_place_and_what_to_do(tmp_path: Path, given: str) -> None:
    text, *messages = WRONG[given]
    _refused(tmp_path, text, *map(str, messages))


GONE = {
    "root": ("data:\n", "data:\n  root: else\n", "data.tasks: the file", "else/questions.jsonl is not there"),
    "tasks": ("questions", "question", "data.tasks: the file", "Did you mean 'questions.jsonl'?"),
    "a folder of tasks": ("questions.jsonl", "repos", "data.tasks: the file", "There is: mine.yaml, questions.jsonl."),
    "repositories": ("repos\n", "repo\n", "data.repositories: the folder or zip", "Did you mean 'repos'?"),
    "a name too long": ("questions", "q" * 300, "cannot be opened: "),
}


@pytest.mark.parametrize("given", GONE)
def test_what_is_not_there_is_named_with_what_is(tmp_path: Path, given: str) -> None:
    old, new, *messages = GONE[given]
    _refused(tmp_path, OURS.replace(old, new), "mine.yaml", *messages, code=Exit.MISSING)


def test_a_declaration_that_is_not_there_is_said_with_those_that_are(tmp_path: Path) -> None:
    lay_out(tmp_path)
    missing = f"mien.yaml cannot be read: No such file or directory\n  where: {tmp_path / 'mien.yaml'}"
    run = ingest_own(tmp_path / "mien.yaml", tmp_path / "lake")
    run.refused(Exit.MISSING, missing, "Did you mean 'mine.yaml'?")
    (tmp_path / "folder.yaml").mkdir()
    assert "folder.yaml cannot be read: Is a directory" in ingest_own(tmp_path / "folder.yaml", tmp_path / "lake").err


OUTSIDE = """\
name: repoeval
label: ours
data: {root: ROOT, tasks: questions.jsonl, repositories: repos, subset: function-2k}
fields: {prompt: q, ground_truth: answer.text, path: meta.where.file, line: meta.where.line,
         context_start: meta.where.from, id: meta.no}
"""


@pytest.mark.parametrize("root", ["../private", "{absolute}", "linked"])
def test_files_outside_its_own_folder_are_read_only_where_the_command_line_allows_it(tmp_path: Path, root: str) -> None:
    private = tmp_path / "private"
    lay_out(private)
    with (private / "questions.jsonl").open("a") as file:
        file.write("secret: hunter2\n")
    config = tmp_path / "theirs" / "mine.yaml"
    config.parent.mkdir()
    (config.parent / "linked").symlink_to(private)
    config.write_text(OUTSIDE.replace("ROOT", root.format(absolute=private)))
    lake = tmp_path / "lake"
    outside = f"data.tasks: it is outside {config.parent}, and only files inside are read"
    ingest_own(config, lake).refused(Exit.INVALID, outside, "--config-reads FOLDER")
    assert not Lake(lake).parts("items")
    assert "5 of 5 items ready" in ingest_own(config, lake, "--config-reads", tmp_path).err
    (reject,) = Lake(lake).read("rejects").rows(named=True)
    assert (reject["position"], reject["excerpt"]) == ("line 6", "")
    assert "hunter2" not in "".join(map(str, reject.values()))
    # Within its own folder the excerpt helps whoever made the file.
    config.rename(private / "mine.yaml")
    own = tmp_path / "own lake"
    (private / "mine.yaml").write_text(OUTSIDE.replace("ROOT", "."))
    ingest_own(private / "mine.yaml", own)
    assert Lake(own).read("rejects")["excerpt"].to_list() == ["secret: hunter2"]


def test_a_reads_folder_without_a_declaration_is_an_error(tmp_path: Path) -> None:
    command("ingest", "--config-reads", tmp_path, "--lake", tmp_path / "lake").refused(Exit.USAGE)
