import pytest

from ingest.rejects import Rejects
from lake.tables import table

Row = tuple[str, ...]
REJECTED: dict[str, tuple[list[Row], list[Row]]] = {
    "they are sorted by their place": (
        [("b.jsonl", "line 1", "odd", "{}"), ("a.jsonl", "line 2", "odd")],
        [("a.jsonl", "line 2", "odd", ""), ("b.jsonl", "line 1", "odd", "{}")],
    ),
    "two reasons at one place are one row, and one reason twice is said once": (
        [("a", "line 1", reason, "x") for reason in ("odd", "old", "odd")],
        [("a", "line 1", "odd; old", "x")],
    ),
    "a long excerpt is cut": ([("a", "line 1", "long", "x" * 5000)], [("a", "line 1", "long", "x" * 200)]),
    "half a surrogate pair is shown and not stored": (
        [("a\udcff", "line 1", "odd \ud800", "{\ud83d}")],
        [("a\\udcff", "line 1", "odd \\ud800", "{\\ud83d}")],
    ),
}


@pytest.mark.parametrize(("added", "rows"), REJECTED.values(), ids=REJECTED)
def test_rejects_are_rows(added: list[Row], rows: list[Row]) -> None:
    rejects = Rejects()
    for reject in added:
        rejects.add(*reject)
    assert len(rejects) == len(added)
    assert table("rejects").checked(rejects.frame("ingest")).rows() == [("ingest", *row) for row in rows]
