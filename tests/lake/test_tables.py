"""Every declared table: a key, a sentence, names as the house writes them."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from lake.tables import TABLES, Table, declared_row, table
from tests.data_dictionary import lines
from tests.tiny import ROOT

every_table = pytest.mark.parametrize("declared", TABLES.values(), ids=TABLES)


@every_table
def test_a_table_says_what_a_row_is_in_a_sentence(declared: Table) -> None:
    assert re.fullmatch(r"[A-Z`].{20,}\.", declared.meaning, re.DOTALL), declared.meaning


def test_a_declared_row_fits_its_table_and_shows_its_name_where_no_other_is_given() -> None:
    rows = table("chunkers").checked(declared_row("chunkers", name="x", title="X", meaning="It is x.", tags=["a"]))
    row = rows.row(0, named=True)
    assert (row["name"], row["display_name"], row["version"], row["tags"], row["licence"]) == ("x", "x", 1, ["a"], "")


@pytest.mark.slow
def test_importing_the_stages_runs_no_query() -> None:
    # A process that is forked from one where polars has run waits for ever.
    code = "import ingest.commands.read, evaluate.commands.run, report.commands.build, os\n"
    code += "print(*(open(f'/proc/self/task/{one}/comm').read() for one in os.listdir('/proc/self/task')))"
    said = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert "python" in said.stdout
    assert "polars-0" not in said.stdout


def test_every_column_has_a_meaning_and_the_docs_have_all_of_them() -> None:
    assert (ROOT / "docs/tables.md").read_text() == "\n".join(lines()) + "\n"
