import json
from pathlib import Path

import polars as pl
import pytest

from ingest.benchmarks.contextbench.rows import CONTEXTBENCH_FIELDS, Instance, read_instances, repository_of
from ingest.benchmarks.fields import ForeignRow
from ingest.rejects import Rejects
from lake.errors import Exit, GoldspanError
from lake.store import Lake
from tests.ingest.benchmarks.contextbench.context_cases import (
    COMMIT,
    OTHER_COMMIT,
    Row,
    build,
    entry,
    gold,
    ingested,
    items,
    parquet,
    rejected,
    repo_parquet,
    row,
    span,
    upstream,
    why_not,
)
from tests.tiny import command, put

TEXT_GOLD = "context0\uff1a\nfile: /testbed/src/engine.py\nstart_line: 2\nend_line: 3\nburn\n"


def read(**files: bytes) -> tuple[list[Instance], list[tuple[str, str, str]], list[str]]:
    """The instances of files `rows_json=…`, what was rejected, and what was noted."""
    rejects, notes = Rejects(), list[str]()
    entries = [entry(name.replace("_", ".", 1), data) for name, data in files.items()]
    instances = read_instances(entries, rejects, notes)
    return instances, [(reject.source, reject.position, reject.reason) for reject in rejects], notes


def test_parquet_json_and_json_lines_give_the_same_instances() -> None:
    rows = [row("acme__rockets-1"), row("acme__rockets-2", [])]
    lines = b"".join(json.dumps(row).encode() + b"\r\n" for row in rows)
    texts = {"a_parquet": parquet(rows), "a_json": json.dumps(rows).encode(), "a_jsonl": b"\xef\xbb\xbf" + lines}
    results = {name: read(**{name: data}) for name, data in texts.items()}
    for instances, rejects, notes in results.values():
        assert (rejects, notes) == ([], [])
        assert [it.ids for it in instances] == [[f"acme__rockets-{n}", upstream(f"acme__rockets-{n}")] for n in (1, 2)]
        assert [row.gold[:1] and row.gold[0][:3] for row in instances] == [("/testbed/src/engine.py", 2, 3), []]
        assert [row.why_not for row in instances] == [None, "its gold is empty"]
        assert {row.pool_id for row in instances} == {f"acme/rockets@{COMMIT}"}


def test_one_id_in_both_encodings_is_one_instance() -> None:
    instances, rejects, notes = read(a_parquet=parquet([row()]), b_parquet=parquet([row("acme__rockets-1", TEXT_GOLD)]))
    assert [(instance.item_id, instance.where, instance.why_not) for instance in instances] == [
        ("acme__rockets-1", ("a.parquet", "row 1"), None)
    ]
    assert rejects == []
    assert notes == ["1 row with an id that occurred before; rows with one id are one item"]


@pytest.mark.parametrize(
    ("again", "what"),
    [
        (row("acme__rockets-1", [span("a.py", 1, 2)]), "gold"),
        (row("acme__rockets-1", base_commit=OTHER_COMMIT), "commit"),
    ],
)
def test_rows_of_one_id_that_disagree_cannot_be_scored_and_both_are_named(again: dict[str, object], what: str) -> None:
    [instance], [(source, position, reason)], _ = read(a_parquet=parquet([row()]), b_parquet=parquet([again]))
    assert instance.why_not == f"two rows disagree on its {what}: a.parquet row 1 and b.parquet row 1"
    assert (source, position) == ("b.parquet", "row 1")
    assert reason == f"acme__rockets-1: {instance.why_not}"


@pytest.mark.parametrize("first_is_broken", [True, False])
def test_gold_that_cannot_be_decoded_gives_way_to_gold_that_can(first_is_broken: bool) -> None:
    rows = [row("acme__rockets-1", "[{"), row()]
    one_file, other = (parquet([instance]) for instance in (rows if first_is_broken else reversed(rows)))
    [instance], [reject], _ = read(a_parquet=one_file, b_parquet=other)
    assert instance.why_not is None
    assert len(instance.gold) == 1
    assert reject[0] == ("a.parquet" if first_is_broken else "b.parquet")
    assert "gold cannot be decoded" in reject[2]


@pytest.mark.parametrize(
    ("item_id", "columns", "repo"),
    [
        ("cli__cli-5973", {"repo": "cli"}, "cli/cli"),
        ("tokio-rs__tracing-1236", {"repo": "tracing"}, "tokio-rs/tracing"),
        ("scikit-learn__scikit-learn-25232", {"repo": "scikit-learn/scikit-learn"}, "scikit-learn/scikit-learn"),
        (f"instance_NodeBB__NodeBB-{COMMIT}-v{OTHER_COMMIT}", {"repo": None}, "NodeBB/NodeBB"),
        (f"instance_qutebrowser__qutebrowser-{COMMIT}-vnan", {}, "qutebrowser/qutebrowser"),
        (f"instance_ansible__ansible-{COMMIT}", {"repo": "ansible"}, "ansible/ansible"),
        ("acme__my_own.thing-2-3", {}, "acme/my_own.thing-2"),
        ("fasterxml__jackson-core-1016", {"repo": "FasterXML/jackson-core"}, "FasterXML/jackson-core"),
        # A wrong `repo` is overruled, as in the published evaluator.
        ("mui__material-ui-1", {"repo": "mui/material"}, "mui/material-ui"),
        ("task-7", {"repo": "acme/rockets"}, "acme/rockets"),
        ("task-7", {"repo": "rockets", "repo_url": "https://github.com/acme/rockets/"}, "acme/rockets"),
        ("task-7", {"repo": "rockets", "repo_url": "https://github.com/acme/rockets.git"}, "acme/rockets"),
        ("task-7", {"repo": "rockets"}, "rockets"),
    ],
)
def test_the_owner_comes_from_the_id(item_id: str, columns: dict[str, object], repo: str) -> None:
    assert repository_of(ForeignRow(columns, CONTEXTBENCH_FIELDS), item_id) == repo


def test_a_row_without_an_owner_or_a_commit_or_a_question_says_so() -> None:
    rows = [
        {**row("task-7"), "repo": "rockets"},
        {**row("acme__rockets-2"), "base_commit": "main; rm -rf"},
        {**row("acme__rockets-3"), "base_commit": None},
        {**row("acme__rockets-4"), "problem_statement": None},
        {**row("acme__rockets-5"), "gold_context": None},
        {**row(""), "instance_id": None},
    ]
    instances, rejects, _ = read(a_parquet=parquet(rows))
    reasons = [str(instance.why_not) for instance in instances]
    assert "neither its id nor" in reasons[0]
    assert "`base_commit` is 'main; rm -rf', not a commit's id" in reasons[1]
    assert reasons[2:4] == ["`base_commit` is '', not a commit's id", "`problem_statement` must be a text"]
    assert "its gold cannot be decoded: it has none of" in reasons[4]
    assert [(position, reason.partition(":")[0]) for _, position, reason in rejects] == [
        ("row 1", "task-7"),
        *((f"row {n}", f"acme__rockets-{n}") for n in (2, 3, 4, 5)),
        ("row 6", "it has no id"),
    ]


def test_a_file_of_something_else_is_passed_over_and_noted() -> None:
    others = {"ids_json": b'["acme__rockets-1"]', "runs_jsonl": b'{"instance_id": "a"}\n', "empty_json": b""}
    instances, rejects, notes = read(**others, other_parquet=parquet({"instance_id": ["x"], "context": ["x"]}))
    assert (instances, rejects) == ([], [])
    names = ("ids.json", "runs.jsonl", "empty.json", "other.parquet")
    assert notes == [f"{name} is skipped: its rows have no gold" for name in names]


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("a_parquet", b"", "the Parquet cannot be read"),
        ("a_parquet", parquet([row()])[:-20], "the Parquet cannot be read"),
        ("a_json", json.dumps([row()]).encode()[:-30], "not JSON .* cut off"),
        ("a_json", b"\xff\xfe", "not JSON"),
        ("a_jsonl", b'{"gold_context": ', "not JSON"),
    ],
)
def test_a_file_that_cannot_be_read_is_rejected_and_the_rest_goes_on(name: str, data: bytes, reason: str) -> None:
    instances, [reject], notes = read(**{name: data, "z_parquet": parquet([row()])})
    assert [instance.item_id for instance in instances] == ["acme__rockets-1"]
    assert pl.Series([reject[2]]).str.contains(reason).all()
    assert reject[0] == name.replace("_", ".")
    assert notes == []


@pytest.mark.parametrize(
    "columns",
    [
        {"repo": "file:///srv/private"},
        {"repo": "https://127.0.0.1:8443/a/b"},
        {"repo": None, "repo_url": "https://example.org/acme/boats"},
        {"repo": "boats", "repo_url": "file:///acme/boats"},
        {"repo": "../boats"},
        {"repo": "acme/-boats"},
        {"repo": f"acme/{'b' * 230}"},
    ],
)
def test_a_row_names_its_repository_and_no_server(columns: dict[str, object]) -> None:
    rejects = Rejects()
    [instance] = read_instances([entry("rows.parquet", parquet([row("odd", **columns)]))], rejects, [])
    assert "expected owner/name" in str(instance.why_not)
    assert [reject.reason for reject in rejects] == [f"odd: {instance.why_not}"]


SOUND = row("acme__rockets-1")


def jsonl(root: Path, *rows: Row) -> Path:
    """A source of a sound row in Parquet and others in JSON Lines, where a column may hold anything."""
    source = build(root, [SOUND])
    put(source / "contextbench/more.jsonl", b"".join(json.dumps(row).encode() + b"\n" for row in rows))
    return source


def test_gold_that_names_nothing_or_nothing_that_is_there_is_not_scored(tmp_path: Path) -> None:
    rows = [row("acme__rockets-2", []), row("acme__rockets-3", [span("../../etc/passwd", 1, 2), span("gone.py", 1, 1)])]
    ingested(tmp_path / "lake", jsonl(tmp_path / "source", *rows))
    assert why_not(tmp_path / "lake") == {
        "acme__rockets-1": None,
        "acme__rockets-2": "its gold is empty",
        "acme__rockets-3": "none of its gold files is in its repository: ../../etc/passwd, gone.py",
    }
    assert items(tmp_path / "lake")["acme__rockets-3"]["gold_flags"] == ["file-missing:2"]
    assert {item for item, *_ in gold(tmp_path / "lake")} == {"acme__rockets-1"}


def test_a_repository_cut_short_or_of_other_columns_leaves_its_items_unscored(tmp_path: Path) -> None:
    rows = [SOUND, row("acme__boats-2", repo="boats"), row("acme__cars-3", repo="cars")]
    beside = {
        "acme__rockets-1.parquet": repo_parquet(),
        "acme__boats-2.parquet": repo_parquet()[:-50],
        "acme__cars-3.parquet": parquet({"name": ["a"], "content": ["b"]}),
    }
    done = ingested(tmp_path / "lake", build(tmp_path / "source", rows, files=beside))
    reasons = why_not(tmp_path / "lake")
    assert reasons["acme__rockets-1"] is None
    assert "the Parquet cannot be read" in str(reasons["acme__boats-2"])
    assert "needs the columns path" in str(reasons["acme__cars-3"])
    assert [(source, position) for source, position, _ in rejected(tmp_path / "lake")] == [
        ("repository acme/boats", f"commit {COMMIT}"),
        ("repository acme/cars", f"commit {COMMIT}"),
    ]
    assert "ContextBench full: 1 of 3 can be scored" in done.warnings


def test_crlf_and_a_byte_order_mark_leave_lines_where_they_are(tmp_path: Path) -> None:
    files = {"src/engine.py": "\ufeffone\r\ntwo\r\nthree\r\n"}
    rows = [
        row("acme__rockets-1", [span("src/engine.py", 2, 3, "two\nthree"), span("src/engine.py", 1, 1, "\ufeffone")])
    ]
    source = build(tmp_path / "source", rows, files={"acme__rockets-1.parquet": repo_parquet(files)})
    ingested(tmp_path / "lake", source)
    spans = Lake(tmp_path / "lake").read("gold_spans").filter(gold="context")
    assert spans.select("line_start", "line_end", "byte_start", "byte_end").rows() == [(0, 1, 0, 8), (1, 3, 8, 20)]
    assert items(tmp_path / "lake")["acme__rockets-1"]["gold_flags"] == []
    assert Lake(tmp_path / "lake").read("blobs")["flags"].to_list() == [["crlf"]]


def test_a_folder_without_rows_says_what_was_looked_for(tmp_path: Path) -> None:
    put(tmp_path / "contextbench/repo_files/acme__rockets-1.parquet", repo_parquet())
    run = command("ingest", "contextbench", "--source", tmp_path, "--lake", tmp_path / "lake")
    run.refused(Exit.MISSING, "no file of rows")
    with pytest.raises(GoldspanError, match=r"no file of rows of the subset verified"):
        ingested(tmp_path / "lake", build(tmp_path), subsets=["verified"])
