from pathlib import Path

import polars as pl
import pytest

from evaluate.results.extra_tables import summary
from lake.averages import ITEM_INTERVALS
from lake.errors import typed
from lake.store import Lake
from lake.verdict import BETTER, EQUIVALENT, INSEPARABLE, NONE_WHOLE, TOO_FEW, WORSE
from tests import frames
from tests.report.small_lake import write_boards
from tests.tiny import command

REFERENCE = "whole-file+own-file"
OTHER_WAY = {BETTER: WORSE, WORSE: BETTER}


def change(lake: Lake, name: str, **changed: pl.Expr) -> None:
    """Change columns of a table, and what the boards make of it."""
    frames.change(lake, name, **changed)
    write_boards(lake)


def lines(lake: Lake) -> list[str]:
    return list(summary(lake, "repoeval"))


@pytest.mark.parametrize(
    ("verdict", "words"),
    [
        (
            BETTER,
            f"ranked first, beats {REFERENCE} by 0.250 (95 % CI 0.100 to 0.400; exploratory: not corrected for "
            "multiple comparisons; for these repositories only).",
        ),
        (WORSE, f"No system beats {REFERENCE}: "),
        (
            INSEPARABLE,
            f"is not significantly different from {REFERENCE}: +0.250 (95 % CI 0.100 to 0.400); "
            "smallest detectable difference (testing this pair alone) 0.300",
        ),
        (EQUIVALENT, f"and {REFERENCE} are equivalent: +0.250 (95 % CI 0.100 to 0.400; "),
        (TOO_FEW, f"Too few items to compare {{}} with {REFERENCE}: +0.250"),
    ],
)
def test_each_verdict_has_its_sentence(verdict: str, words: str, lake_folder: Path) -> None:
    lake = Lake(lake_folder)
    runs = dict(lake.read("runs").select("system", "run_id").iter_rows())
    is_there = pl.col("run_a") == runs[REFERENCE]
    size = {"delta": 0.25, "low": 0.1, "high": 0.4}
    other = {"delta": -0.25, "low": -0.4, "high": -0.1}
    numbers = {name: pl.when(is_there).then(pl.lit(size[name])).otherwise(pl.lit(other[name])) for name in size}
    verdicts = pl.when(is_there).then(pl.lit(verdict)).otherwise(pl.lit(OTHER_WAY.get(verdict, verdict)))
    change(lake, "comparisons", verdict=verdicts, smallest_detectable=pl.lit(0.3), **numbers)
    sentence, first, *_ = lines(lake)[1:]
    name = first.split()[0]
    assert words.format(name) in sentence
    assert name in sentence
    assert sentence.endswith(".")


def test_a_system_over_fewer_items_is_not_among_the_first(lake_folder: Path) -> None:
    lake = Lake(lake_folder)
    best = lines(lake)[2].split()[0]
    (run_id,) = lake.read("runs").filter(system=best)["run_id"]
    (protocol,) = {line.partition("(")[2].rstrip(")") for line in lines(lake)[:1]}
    is_primary = (pl.col("metric") == "line_f1") & (pl.col("k") == 8_000)
    n = pl.when((pl.col("run_id") == run_id) & is_primary).then(pl.col("n") - 1).otherwise("n")
    change(lake, "aggregates", n=n)
    assert best not in "\n".join(lines(lake))
    run = command("evaluate", "table", "repoeval", "--protocol", protocol, "--lake", lake_folder)
    rows = [line.split("\t") for line in run.out.splitlines() if not line.startswith("#")]
    assert (rows[-1][0], rows[-1][-1]) == (best, "4 of 5")


def test_where_none_has_all_items_that_is_said(lake_folder: Path) -> None:
    lake = Lake(lake_folder)
    change(lake, "runs", status=pl.lit("partial"))
    assert lines(lake)[1].strip() == NONE_WHOLE
    assert lines(lake)[-1].endswith(f"more: {typed('python -m evaluate table repoeval')}")
    (partial, *_) = [line for line in lines(lake) if line.endswith("partial")]
    assert "0." in partial
    assert "5 of 5" in partial or "5 items" in partial


def test_what_was_asked_for_or_scored_now_is_shown_last(lake_folder: Path) -> None:
    lake = Lake(lake_folder)
    names = lines(lake)
    of_lines = [name for name in lake.read("runs")["system"] if all(name not in line for line in names)]
    last = sorted(of_lines)[0]
    selected = list(summary(lake, "repoeval", [f"{last[:-1]}?"]))
    assert any(line.startswith(f"  {last} ") for line in selected[selected.index("  selected or just run:") :])
    runs = lake.read("runs").filter(system=last)["run_id"].to_list()
    parts = lake.parts("scores")
    assert (
        list(summary(lake, "repoeval", made={part.relative_path for part in parts if part.folders["run_id"] in runs}))
        == selected
    )
    assert list(summary(lake, "repoeval", made={part.relative_path for part in parts})) == names


def test_the_baseline_named_is_the_one_that_the_sentence_compares_with(lake_folder: Path) -> None:
    lake = Lake(lake_folder)
    own_file = lake.read("runs").filter(retriever="own-file")
    assert own_file.height > 1
    number = pl.when(pl.col("run_id").is_in(own_file.filter(system=REFERENCE)["run_id"].implode())).then(0.25)
    others = number.when(pl.col("run_id").is_in(own_file["run_id"].implode())).then(0.75)
    change(lake, "aggregates", macro=others.otherwise("macro"))
    (baselines,) = [line for line in lines(lake) if line.startswith("  baselines: ")]
    assert "own-file 0.250" in baselines


def test_intervals_over_items_are_said_to_be_so(lake_folder: Path) -> None:
    lake = Lake(lake_folder)
    assert lines(lake)[5].strip() == ITEM_INTERVALS == "95 % intervals are over items: for these repositories only"
    is_first = pl.col("run_id") == lake.read("runs")["run_id"][0]
    change(lake, "runs", status=pl.when(is_first).then(pl.lit("partial")).otherwise("status"))
    change(lake, "aggregates", unit=pl.when(is_first).then(pl.lit("item")).otherwise(pl.lit("repository")))
    assert ITEM_INTERVALS not in " ".join(lines(lake))


def test_systems_that_were_asked_for_are_printed_though_all_was_current(lake_folder: Path) -> None:
    flags = ("--lake", lake_folder, "--systems", "*+jaccard-regex")
    names = set(Lake(lake_folder).read("runs").filter(retriever="jaccard-regex")["system"])
    shown = {line.split()[0] for line in command("evaluate", *flags).out.splitlines() if line.startswith("  ")}
    assert names <= shown
