"""Definitions in the contents of pools: found once per content and stored in the table `symbols`."""

from collections.abc import Mapping, Sequence
from importlib.metadata import version

import polars as pl

from ingest.contents.blobs import pool_frames
from ingest.contents.definitions import RULES, Found, definitions_of, ending_of
from ingest.contents.syntax_trees import GRAMMARS
from lake.make import BuildTarget, Slot, made_from, write_if_changed
from lake.outcome import Outcome
from lake.rejects import Rejects
from lake.store import Lake, Part
from lake.tables import declared_rows, table
from lake.text import LANGUAGES, counted


def symbols_of(lake: Lake) -> BuildTarget:
    """The target for definitions, with the contents that could not be parsed; one part per batch of new contents."""
    slots = [Slot("symbols", "", {"rules": rules}) for rules in RULES]
    slots += [Slot("rejects", "symbols-", {}), Slot("symbol_status", "", {})]
    packages = [(name, version(name)) for name in GRAMMARS]
    return BuildTarget(lake, slots, made_from(parameters=packages, code=[definitions_of, symbol_rows, pool_frames]))


def declare_rules(lake: Lake, symbols: BuildTarget) -> None:
    """Store the description of each set of rules, for pages."""
    for rules, meaning in RULES.items():
        row = {"name": rules, "title": f"Definitions, {rules}", "meaning": meaning, "fingerprint": symbols.fingerprint}
        write_if_changed(lake, "symbol_rules", rules, declared_rows("symbol_rules", [row]))


def endings_of(lake: Lake, parts: list[Part]) -> pl.DataFrame:
    """The sha256 and ending of each content in parts of `files`: that of its first path with a known one, or null."""
    paths = lake.scan_parts(parts, "files").select("sha256", "path").unique().sort("sha256", "path").collect()
    endings = pl.Series([ending_of(path) for path in paths["path"]], dtype=pl.String)
    known = paths.select("sha256", ending=endings).filter(pl.col("ending").is_in(list(LANGUAGES)))
    first = known.unique("sha256", keep="first", maintain_order=True)
    return paths.select("sha256").unique().join(first, on="sha256", how="left")


def symbol_rows(
    sha256: Sequence[str], endings: Sequence[str], definitions: Sequence[Mapping[str, Found]]
) -> list[pl.DataFrame]:
    """The definitions in some contents: frames of `symbols` per set of rules, then of `rejects` and `symbol_status`."""
    rows = dict[str, list[tuple[object, ...]]]((rules, []) for rules in RULES)
    for content, by_rules in zip(sha256, definitions, strict=True):
        for rules, symbols in by_rules.items():
            rows[rules] += [(rules, content, *definition) for definition in symbols.definitions]
    frames = [pl.DataFrame(rows[rules], schema=table("symbols").columns, orient="row") for rules in RULES]
    rejects = Rejects()
    why_not = [by_rules["docs"].why_not or None for by_rules in definitions]
    for content, ending, why in zip(sha256, endings, why_not, strict=True):
        if why:
            rejects.add(f"blob {content}", "symbols", f".{ending} could not be parsed: {why}")
    status = pl.DataFrame({"sha256": sha256, "failed": why_not}, schema=table("symbol_status").columns)
    return [*frames, rejects.frame("ingest"), status]


def note_symbols(symbols: BuildTarget, result: Outcome) -> None:
    """Add the number of contents that could not be parsed, now or earlier, to the outcome."""
    n_failed = sum(part.scan("rejects").select(pl.len()).collect().item() for part in symbols.current())
    if n_failed:
        result.rejected += n_failed
        result.warnings.append(f"symbols: {counted(n_failed, 'file')} could not be parsed (reasons: table rejects)")
