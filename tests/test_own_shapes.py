import gzip
import json
from collections.abc import Sequence
from pathlib import Path

import polars as pl
import pytest

from lake.errors import Exit
from lake.store import Lake
from tests.tiny import Said, command, put

ENGINE = "import math\n\n\ndef burn(fuel):\n    return math.sqrt(fuel)\n"
ORBIT = "def orbit():\n    return 1\n"
QUESTION, PLACE = "Where does the engine burn fuel?", '["src/engine.py#L4-L5"]'


def lines(*rows: object) -> bytes:
    return "".join(f"{json.dumps(row)}\n" for row in rows).encode()


@pytest.fixture
def repositories(tmp_path: Path) -> Path:
    put(tmp_path / "repos/rockets/src/engine.py", ENGINE.encode())
    put(tmp_path / "repos/rockets/src/orbit.py", ORBIT.encode())
    put(tmp_path / "repos/rockets/.git/config", b"[core]\n")
    return tmp_path / "repos"


def own(folder: Path, *arguments: object) -> Said:
    return command("ingest", "own", *arguments, "--chunkers", "whole-file", "--lake", folder / "lake")


def gold(folder: Path) -> Sequence[tuple[object, ...]]:
    """Every gold place in the lake: item, path, lines from 0, half-open."""
    spans = Lake(folder / "lake").read("gold_spans").filter(gold="context").sort("item_id", "path", "line_start")
    return spans.select("item_id", "path", "line_start", "line_end").rows()


BURN = ("q1", "src/engine.py", 3, 5)


@pytest.mark.parametrize(
    ("row", "flags"),
    [
        ({"question": QUESTION, "gold": [{"path": "src/engine.py", "lines": "4-5"}]}, ()),
        ({"id": 7, "query": QUESTION, "gold": [{"file": "src/engine.py", "lines": [4, 5]}]}, ()),
        ({"issue": QUESTION, "core": [{"file_path": "src/engine.py", "start_line": 4, "end_line": 5}],
          "optional": [{"file_path": "src/orbit.py", "start_line": 1, "end_line": 1}]}, ()),
        # As SWE-Explore publishes them, with the issue beside.
        ({"problem_statement": QUESTION, "repo": None, "repo_dir": "repos/rockets", "ground_truth": {
            "read_core_regions": [{"path": "src/engine.py", "start": 4, "end": 5}], "main_files": []}}, ()),
        ({"ask": QUESTION, "at": {"f": "src/engine.py", "from": 4, "to": 5}},
         ("--query", "ask", "--gold", "at.f:at.from-at.to")),
        ({"ask": QUESTION, "answers": [{"where": "src/engine.py", "which": "L4-L5"}]},
         ("--query", "ask", "--gold", "answers[].where:which")),
        # One place beside the question, whatever else has an address.
        ({"question": QUESTION, "file": "src/engine.py", "start_line": 4, "end_line": 5, "url": "https://a.b/c"}, ()),
        ({"query": QUESTION, "path": "src/engine.py", "lines": "4-5"}, ()),
        ({"query": QUESTION, "file_path": "src/engine.py:4-5"}, ()),
    ],
)  # fmt: skip
def test_paths_and_lines(tmp_path: Path, repositories: Path, row: dict[str, object], flags: tuple[str, ...]) -> None:
    items = put(tmp_path / "my code.jsonl", lines({"id": "q1", "repo": "rockets", **row}))
    own(tmp_path, "--items", items, "--repositories", repositories, *flags).done()
    lake = Lake(tmp_path / "lake")
    assert lake.read("benchmarks").select("name", "like", "label").rows() == [("my-code", "contextbench", "own")]
    burn = (str(row.get("id", "q1")), *BURN[1:])
    assert (gold(tmp_path), lake.read("queries")["text"].to_list()) == ([burn], [QUESTION])
    assert lake.read("files")["path"].sort().to_list() == ["src/engine.py", "src/orbit.py"]
    assert lake.read("items")["language"].to_list() == ["python"]


@pytest.mark.parametrize(
    ("row", "written"),
    [
        ({"files": ["src/engine.py"]}, "files[]"),
        ({"gold": [{"path": "/testbed/src/engine.py"}]}, "gold[].path"),
        ({"a": {"b": ["src/engine.py", "src/gone.py"]}}, "a.b[]"),
    ],
)
def test_places_without_lines(tmp_path: Path, repositories: Path, row: dict[str, object], written: str) -> None:
    items = put(tmp_path / "my.jsonl", lines({"id": "q1", "question": QUESTION, **row}))
    options = ("--items", items, "--gold", written)
    assert own(tmp_path, *options, "--repositories", repositories / "rockets").code in (Exit.DONE, Exit.INCOMPLETE)
    assert gold(tmp_path) == [("q1", "src/engine.py", 0, 5)]


@pytest.mark.slow
def test_a_board_comes_of_it(tmp_path: Path, repositories: Path) -> None:
    places = [("engine burn fuel", "src/engine.py"), ("orbit", "src/orbit.py")]
    rows = [{"question": text, "gold": [{"path": path, "line": 1}]} for text, path in places]
    items = put(tmp_path / "asked.parquet", b"")
    pl.DataFrame(rows).write_parquet(items)
    # Without a repository in the rows the folder is the one.
    run = own(tmp_path, "--items", items, "--repositories", repositories / "rockets", "--name", "mine")
    run.done("the question is question, the gold is gold[], no key names a repository, no key names a commit")
    command("evaluate", "--systems", "*+bm25-okapi", "--lake", tmp_path / "lake").done()
    table = command("evaluate", "table", "mine", "--lake", tmp_path / "lake")
    assert "whole-file+bm25-okapi" in table.out


@pytest.mark.slow
def test_gold_of_which_no_line_is_there_has_no_number_by_line(tmp_path: Path, repositories: Path) -> None:
    row = {"question": QUESTION, "gold": [{"path": "src/engine.py", "line": 99}]}
    items = put(tmp_path / "mine.jsonl", lines(row))
    own(tmp_path, "--items", items, "--repositories", repositories / "rockets").done()
    command("evaluate", "--systems", "*+bm25-okapi", "--lake", tmp_path / "lake").done()
    table = command("evaluate", "table", "mine", "--protocol", "docs-v1", "--lake", tmp_path / "lake").out
    assert "whole-file+bm25-okapi\t\t–\t–\t–\t0 of 1" in table


@pytest.mark.slow
def test_only_an_unreadable_row_is_rejected_and_only_while_it_is_there(tmp_path: Path, repositories: Path) -> None:
    good = {"id": "q1", "question": QUESTION, "gold": [{"path": "src/engine.py", "lines": "4-5"}]}
    bad = {"id": "q2", "question": QUESTION, "gold": [{"path": "src/engine.py", "lines": "four"}]}
    unasked, unplaced = {**good, "id": "q3", "question": None}, {**good, "id": "q4", "gold": []}
    items = put(tmp_path / "my.jsonl", lines(good, bad, unasked, unplaced) + b"{broken\n")
    own(tmp_path, "--items", items, "--repositories", repositories / "rockets").ended(Exit.INCOMPLETE)
    assert gold(tmp_path) == [BURN]
    reasons = dict(Lake(tmp_path / "lake").read("rejects").select("position", "reason").iter_rows())
    assert any("'four' to" in reason and "no range of lines" in reason for reason in reasons.values())
    assert any("`question` must be a text" in reason for reason in reasons.values())
    assert "not JSON" in reasons["line 5"]
    put(items, lines(good))
    own(tmp_path, "--items", items, "--repositories", repositories / "rockets").done()
    assert Lake(tmp_path / "lake").read("rejects").is_empty()


@pytest.mark.parametrize(
    ("content", "flags", "code", "words"),
    [
        (None, (), Exit.MISSING, "there is no such file or folder of items"),
        (b"", (), Exit.INVALID, "it holds no rows"),
        (lines({"a": {"b": 1}, "c": [{"d": 1}]}), (), Exit.INVALID, "no row has the question (question, query"),
        (lines({"a": {"b": 1}, "c": [{"d": 1}]}), (), Exit.INVALID, "no row has the gold (gold_context"),
        (lines({"a": {"b": 1}, "c": [{"d": 1}]}), (), Exit.INVALID, "Its rows have a.b, c[].d."),
        (lines({"question": {"text": "x"}, "gold": []}), (), Exit.INVALID, "Its rows have question.text, gold."),
        (lines({"question": "x", "gold": [], "sha1": "f"}), ("--commit", "sha"), Exit.INVALID, "Did you mean 'sha1'?"),
        (lines({"question": "x", "golden": []}), (), Exit.INVALID, ", gold[], core[], regions[]"),
        (lines({"question": "x", "gold": []}), ("--query", "qestion"), Exit.INVALID, "Did you mean 'question'?"),
        (lines({"question": "x", "gold": []}), ("--gold", "glod[].path:line"), Exit.INVALID, "Did you mean 'gold'?"),
        (lines({"question": "x", "gold": [{"path": "a.py", "lines": 1}]}), ("--gold", "gold[].paths:lines"),
         Exit.INCOMPLETE, "a place has no `paths`"),
        (lines({"question": "x", "gold": [{"path": "a.py", "line": 1}]}), ("--name", "../my code"), Exit.USAGE,
         "--name: '../my code' is no name of a benchmark"),
        (lines({"question": "x", "gold": []}), ("--gold", "gold:"), Exit.INVALID, "no row has the gold (gold:)"),
        (lines({"question": "x", "gold": [{"path": "a.py", "line": 1}]}), ("--repositories", "nowhere"), Exit.MISSING,
         "this folder of repositories does not exist"),
        (lines({"question": "x", "gold": [{"path": "a.py", "line": 1}]}), ("--name", "repoeval"), Exit.INVALID,
         "a published benchmark"),
    ],
)  # fmt: skip
def test_unknown_shapes(tmp_path: Path, content: bytes | None, flags: tuple[str, ...], code: Exit, words: str) -> None:
    items = tmp_path / "my.jsonl"
    if content is not None:
        put(items, content)
    own(tmp_path, "--items", items, "--repositories", tmp_path, *flags).ended(code, words)


def test_rows_without_repositories_are_refused(tmp_path: Path) -> None:
    items = put(tmp_path / "my.jsonl", lines({"question": "x", "gold": ["a.py:1"]}))
    own(tmp_path, "--items", items).ended(Exit.USAGE, "rows with gold need their repositories")


@pytest.mark.parametrize(
    ("name", "content", "flags"),
    [
        ("a.csv", f'id,question,path,start,end\nq1,"{QUESTION}",src/engine.py,4,5\n', ("--gold", "path:start-end")),
        ("a.csv", f"id,question,gold\nq1,{QUESTION},\"[{{'path': 'src/engine.py', 'lines': '4-5'}}]\"\n", ()),
        ("a.jsonl", {"question": QUESTION, "gold": ["src/engine.py:4-5"]}, ()),
        ("a.jsonl", {"question": QUESTION, "gold": ["src/engine.py#L4-L5"]}, ("--gold", "gold[]")),
        ("a.jsonl", {"question": QUESTION, "gold": {"src/engine.py": [[4, 5]]}}, ()),
        ("a.jsonl", {"question": QUESTION, "gold": {"src/engine.py": [4, 5]}}, ()),
        ("a.jsonl", {"question": QUESTION, "gold": {"path": "src/engine.py", "start": 4.0, "end": 5.0}}, ()),
        ("a.jsonl", {"question": QUESTION, "gold": [["src/engine.py", 4, 5]]}, ()),
        ("a.jsonl", {"question": QUESTION, "gold": [["src/engine.py:4-5"]]}, ()),
        ("a.jsonl", {"question": QUESTION, "gold": [{"path": "src/engine.py", "start": None, "lines": "4-5"}]}, ()),
        ("a.csv", f"\ufeffid,question,gold\r\nq1,{QUESTION},src/engine.py:4-5\r\n", ()),
        ("a.tsv", f"id\tquestion\tpath\tfrom\tto\nq1\t{QUESTION}\t./src/engine.py\t4.0\t5.0\n",
         ("--gold", "path:from-to")),
        ("a.jsonl", {"question": QUESTION, "path": "src/engine.py", "at": "https://x/a#L4-L5"}, ("--gold", "path:at")),
        ("a.csv", f"id;question;gold\nq1;{QUESTION};src/engine.py:4-5\n", ()),
        ("a.tsv", f'id\tquestion\tgold\nq1\t"{QUESTION}"\tsrc/engine.py:4-5\n', ()),
        ("a.yaml", f"- id: q1\n  question: {QUESTION}\n  at: src/engine.py::burn\n", ("--gold", "at")),
        ("a.json", f'{{"v": 1, "tags": [{{}}], "qs": [{{"id": "q1", "query": "{QUESTION}", "gold": {PLACE}}}]}}', ()),
        ("a.json", f'{{"repo": "rockets", "qs": [{{"id": "q1", "query": "{QUESTION}", "gold": {PLACE}}}]}}', ()),
        ("a.json", f'{{"v": 1, "q1": {{"query": "{QUESTION}", "gold": {PLACE}}}}}', ()),
        ("a.yaml", f"sets:\n- id: s\n  at: rockets\n  qs:\n  - id: q1\n    query: {QUESTION}\n    gold: {PLACE}\n",
         ("--repo", "at")),
        ("a.csv", f"id,question,gold,Relevance\nq1,{QUESTION},src/engine.py:4-5,2\nq1,{QUESTION},src/orbit.py,0\n", ()),
    ],
)  # fmt: skip
def test_other_ways_to_write_a_place(
    tmp_path: Path, repositories: Path, name: str, content: str | dict[str, object], flags: tuple[str, ...]
) -> None:
    items = put(tmp_path / name, content.encode() if isinstance(content, str) else lines({"id": "q1", **content}))
    own(tmp_path, "--items", items, "--repositories", repositories / "rockets", *flags).done()
    assert gold(tmp_path) == [BURN]


def test_gold_that_is_not_there_is_named_with_its_row_and_the_rest_is_kept(tmp_path: Path, repositories: Path) -> None:
    paths = ["/home/me/rockets/src/engine.py:4-5", "engine.py:1", "src/orbit.py::fly"]
    items = put(tmp_path / "a.jsonl", lines({"id": "q1", "question": QUESTION, "gold": paths}))
    own(tmp_path, "--items", items, "--repositories", repositories / "rockets").ended(Exit.INCOMPLETE)
    assert gold(tmp_path) == [BURN]
    assert Lake(tmp_path / "lake").read("items")["repo"].to_list() == ["own/rockets"]
    (reject,) = Lake(tmp_path / "lake").read("rejects").rows(named=True)
    assert (reject["source"], reject["position"]) == ("a.jsonl", "line 1")
    assert "its gold file engine.py is not in its repository; did you mean src/engine.py?" in reject["reason"]
    assert "fly is defined 0 times in src/orbit.py; write src/orbit.py:FIRST-LAST" in reject["reason"]


def test_two_questions_of_one_id_are_not_silently_one(tmp_path: Path, repositories: Path) -> None:
    places = [{"path": "src/engine.py", "lines": "4-5"}]
    texts = (QUESTION, f"{QUESTION}\n", "What is burnt?")
    items = put(tmp_path / "a.jsonl", lines(*({"id": "q1", "question": text, "gold": places} for text in texts)))
    assert own(tmp_path, "--items", items, "--repositories", repositories / "rockets").code == Exit.INCOMPLETE
    rejects = Lake(tmp_path / "lake").read("rejects").select("position", "reason").rows()
    reason = "q1: another question than a.jsonl line 1 under the same id; it is left out"
    assert (gold(tmp_path), rejects) == ([BURN], [("line 3", reason)])


@pytest.mark.parametrize("name", ["q1", ""])
def test_table_rows_of_one_question_become_one_item(tmp_path: Path, repositories: Path, name: str) -> None:
    rows = "".join(f"{name},{QUESTION},{place}\n" for place in ("src/engine.py:4-5", "src/orbit.py:1"))
    items = put(tmp_path / "a.csv", f"id,question,gold\n{rows}".encode())
    own(tmp_path, "--items", items, "--repositories", repositories / "rockets").done()
    name = name or "line-2"
    assert gold(tmp_path) == [(name, *BURN[1:]), (name, "src/orbit.py", 0, 1)]


@pytest.mark.parametrize(
    ("last", "rest", "code", "message"),
    [
        pytest.param("end", "q2,x\n", Exit.INCOMPLETE, "2 values, not 5", id="a value too few"),
        pytest.param("end", 'q2,"x,y\n', Exit.INCOMPLETE, "unexpected end of data", id="an open quote"),
        pytest.param("start", "", Exit.INVALID, "two columns have the same name", id="a column twice"),
    ],
)
def test_unreadable_csv(tmp_path: Path, repositories: Path, last: str, rest: str, code: Exit, message: str) -> None:
    content = f"id,question,path,start,{last}\nq1,{QUESTION},src/engine.py,4,5\n{rest}"
    items = put(tmp_path / "a.csv", content.encode())
    run = own(tmp_path, "--items", items, "--repositories", repositories / "rockets", "--gold", "path:start-end")
    lake = Lake(tmp_path / "lake")
    assert message in run.ended(code).err + "".join(lake.read("rejects")["reason"] if lake.parts("rejects") else [])


def test_a_folder_in_beirs_layout_is_documents_with_packed_files_or_another_split_too(tmp_path: Path) -> None:
    put(tmp_path / "docs/corpus.jsonl.gz", gzip.compress(lines({"_id": "d1", "text": "def burn(): pass"})))
    put(tmp_path / "docs/queries.jsonl", lines({"_id": "q1", "text": "burn"}))
    put(tmp_path / "docs/qrels/dev.tsv", b"query-id\tcorpus-id\tscore\nq1\td1\t1\n")
    for name, rows in {"corpus": [{"id": "d1", "text": "x"}], "queries": [{"id": "q1", "text": "burn"}]}.items():
        # As data sets of the hub are stored.
        put(tmp_path / f"hub/{name}/{name}-00000-of-00001.parquet", b"")
        pl.DataFrame(rows).write_parquet(tmp_path / f"hub/{name}/{name}-00000-of-00001.parquet")
    put(tmp_path / "hub/data/test-00000-of-00001.jsonl", lines({"query-id": "q1", "corpus-id": "d1", "score": 1}))
    for name in ("docs", "hub"):
        own(tmp_path, "--items", tmp_path / name).done()
        lake = Lake(tmp_path / "lake")
        assert lake.read("benchmarks").filter(name=name)["like"].to_list() == ["beir"]
        assert lake.read("gold_spans", benchmark=name).select("item_id", "path").rows() == [("q1", "d1")]


def test_a_folder_is_its_one_file_of_rows(tmp_path: Path, repositories: Path) -> None:
    items = tmp_path / "set"
    put(items / "data/test.jsonl", lines({"id": "q1", "question": QUESTION, "gold": "src/engine.py:4-5"}))
    own(tmp_path, "--items", items, "--repositories", repositories / "rockets").done()
    assert gold(tmp_path) == [BURN]
    put(items / "data/dev.jsonl", b"")
    run = own(tmp_path, "--items", items, "--repositories", repositories / "rockets")
    run.refused(Exit.INVALID, "2 files of rows, not one", "data/dev.jsonl", "Give one file.")


def test_a_declared_path_may_be_a_text_with_its_repository_next_to_it(tmp_path: Path, repositories: Path) -> None:
    """The rows of CrossCodeEval."""
    place = {"task_id": "c/1", "repository": "rockets", "file": "src/engine.py", "line": 4, "from": 0}
    rows = [{"prompt": "import math\n", "groundtruth": "    return math.sqrt(fuel)", "metadata": place}]
    put(tmp_path / "tasks.jsonl", lines(*rows))
    fields = "{prompt: prompt, ground_truth: groundtruth, path: metadata.file, line: metadata.line, "
    fields += "context_start: metadata.from, id: metadata.task_id}"
    data = f"{{tasks: tasks.jsonl, repositories: {repositories.name}, subset: function-2k}}"
    config = put(tmp_path / "a.yaml", f"name: cc\nlike: repoeval\ndata: {data}\nfields: {fields}\n".encode())
    command("ingest", "--config", config, "--chunkers", "whole-file", "--lake", tmp_path / "lake").done()
    items = Lake(tmp_path / "lake").read("items")
    assert items.select("upstream_id", "repo", "target_path", "target_line").rows() == [
        ("c/1", "rockets", "src/engine.py", 4)
    ]
