from pathlib import Path

import polars as pl
import pytest

from evaluate.results.compare import compare
from lake.store import Lake
from tests.report.html import parse, table
from tests.tiny import command

pytestmark = pytest.mark.slow

PART = "my-search"


def test_a_system_that_answered_a_part_is_never_among_the_ranked(lake_folder: Path, tmp_path: Path) -> None:
    file, flags = tmp_path / "run.txt", ("--lake", lake_folder)
    assert command("report", "export", "whole-file+own-file", "--format", "trec", "-o", file, *flags).code == 0
    lines = file.read_text().splitlines(keepends=True)
    first = lines[0].split()[0]
    file.write_text("".join(line for line in lines if line.split()[0] != first))
    asked = ("--benchmark", "repoeval", "--task", "repoeval/prompt", "--system", PART)
    said = command("ingest", "run", file, *asked, *flags).done()
    assert "asked 4 of 5 items" in said.err
    said = command("evaluate", *flags)
    (shown,) = [line for line in said.out.splitlines() if PART in line]
    assert shown.endswith("4 of 5 items  partial")
    assert "more: " in said.out
    rows = command("evaluate", "table", "repoeval", "--protocol", "repoeval@chunking-v1", *flags).out.splitlines()
    name, rank, *_, items = [row for row in rows if not row.startswith("#")][-1].split("\t")
    assert (name, rank, items) == (f"{PART} (partial)", "", "4 of 5")
    (beside,) = compare(Lake(lake_folder), "whole-file+own-file", PART, [], protocol_names=["repoeval@chunking-v1"])
    assert (beside["n_a"], beside["n_b"], beside["n"], beside["delta"]) == (5, 4, 4, 0.0)
    assert (beside["wins"], beside["ties"], beside["losses"]) == (0, 4, 0)
    exported = tmp_path / "numbers.parquet"
    assert command("report", "export", "--format", "parquet", "-o", exported, *flags).code == 0
    assert pl.read_parquet(exported).filter(system=PART)["is_compared"].unique().to_list() == [False]
    assert command("report", "--site", tmp_path / "site", "--quiet", *flags).code == 0
    page = parse((tmp_path / "site/repoeval-all.html").read_text(encoding="utf-8"))
    names = [row[0] for row in table(page, "chunking-v1, macro:")]
    apart = next(place for place, name in enumerate(names) if name.startswith("Not to be compared"))
    assert names[apart + 1 :] == [f"{PART} partial: 4 of 5 items"]
    # Its mean is over other items than the reference's: a difference of the two says nothing.
    differences = {row[0]: row[4] for row in table(page, "chunking-v1, macro:")[1:] if len(row) > 4}
    assert differences[names[apart + 1]] == "–"
    assert "–" not in [cell for name, cell in differences.items() if name != names[apart + 1]]
    system = (tmp_path / f"site/systems/{PART}.html").read_text(encoding="utf-8")
    assert "What happened to the lines that were needed <small>4 items," in system
    assert "What happened to the lines that were needed <small>5 items," not in system
    ledger = Lake(lake_folder).read("ledger_means").filter(run_id=beside["run_b"], slice="all")
    assert ledger["n"].unique().to_list() == [4]
    bold = {row.all("th")[0].text.split()[0] for row in page.all("tr") if row.all("b")}
    assert PART not in bold
