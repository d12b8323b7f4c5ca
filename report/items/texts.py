"""Texts of the items that may be shown: the query, and the lines that are gold or were returned."""

from collections.abc import Iterator
from contextlib import suppress

import polars as pl
from pygments.lexers import find_lexer_class_by_name, find_lexer_class_for_filename
from pygments.lexers.special import TextLexer
from pygments.token import Comment, Keyword, Name, Number, String
from pygments.util import ClassNotFound

from lake.benchmarks import known_tasks
from lake.pools import stratified
from report.items.licences import ItemText, permits
from report.items.roster import Roster

# Limits, each with its reason or unit.
N_SAMPLED = 100  # items in a sample of a benchmark, stratified by repository
MANY_ITEMS = 2_000  # with more, only a sample is shown by default: text takes 4 to 40 kB per item
LINES_AROUND = 8  # each span of gold
_MAX_LINE = 400  # characters; longer lines are cut: they are generated and not readable
_MAX_LINES = 3_000  # shown per item; files with gold come first
_MAX_CHARACTERS = 400_000  # of a file with syntax highlighting, which would take long
_LINES_OF_FILE = 1 << 40  # more than any has: file and line become one number, faster to group by than four columns

_KINDS = {Keyword: "k", String: "s", Comment: "c", Number: "m", Name.Function: "n", Name.Class: "n"}


def chosen(
    roster: Roster, classes: pl.DataFrame, which: ItemText | None, *, is_local: bool = False
) -> tuple[pl.DataFrame, str]:
    """The items to show as text (item_id, licence; any licence if `is_local`), and why others are not."""
    wanted = roster.items.filter("scorable").select("item_id", "repo")
    if roster.board.benchmark.is_edition:
        return wanted.clear().rename({"repo": "licence"}), "these results ship without texts."
    if which is ItemText.NONE:
        return wanted.clear().rename({"repo": "licence"}), "this site was built without it."
    which = which or (ItemText.SAMPLE if wanted.height > MANY_ITEMS else ItemText.FULL)
    if which is ItemText.SAMPLE:
        wanted = stratified(wanted, N_SAMPLED)
    if which is ItemText.FLIPS:
        first = [roster.runs.index(run) for run in roster.usual[:2]]
        mine = classes.filter(pl.col("run").is_in(first)).group_by("item_id").agg(found=pl.col("class") == 0)
        flips = mine.filter(pl.col("found").list.any() & ~pl.col("found").list.all())
        wanted = wanted.join(flips, on="item_id", how="semi", maintain_order="left")
    known = [each for each in roster.board.benchmark.licences if is_local or permits(each["licence"])]
    licences = pl.DataFrame(known, {"repo": pl.String, "licence": pl.String}).unique("repo", keep="last")
    shown = wanted.join(licences, on="repo", how="left" if is_local else "inner", maintain_order="left")
    shown = shown.select("item_id", pl.col("licence").fill_null(""))
    if is_local:
        return shown, f"it is not among the items asked for ({which.value})."
    of_some = "" if which is ItemText.FULL else f", or it is not among those asked for ({which.value})"
    return shown, f"no known licence of its repository permits it{of_some}."


def texts_by_item(roster: Roster, of: pl.DataFrame, answers: pl.DataFrame, *, is_local: bool = False) -> pl.DataFrame:
    """The texts of the items in `of` (item_id, licence); `answers` comes from :mod:`report.items.answers`.

    If `is_local`, all queries are shown, and there is no syntax highlighting, which takes a second per megabyte.
    Otherwise only queries that are code of the item's repository are shown, and files with gold are highlighted.

    Returns:
        A row per item: item_id, scorable, licence, question, files. A file has its path and lists with an entry per
        shown line: `n` (its number from 1), `gold` (0 or 1), `text` and, if highlighted, `kinds`: the highlighted words
        (`4k3 `: a keyword of three characters at offset 4).
    """
    if of.is_empty():
        return of.select("item_id", scorable=True)
    items = roster.items.join(of, on="item_id").select("item_id", "item", "pool_id", "language", "licence")
    files = roster.files.select("pool_id", "path", "sha256").unique(["pool_id", "path"])
    ranges = (
        _ranges(answers)
        .join(items.lazy().select("item", "pool_id"), on="item")
        .join(files, on=["pool_id", "path"])
        .join(roster.lake.scan("blobs").select("sha256", "n_lines"), on="sha256")
        .collect()
    )
    near = ranges.filter("is_gold", pl.col("start") < pl.col("end")).with_columns(
        pl.col("start") - LINES_AROUND, pl.col("end") + LINES_AROUND, is_gold=False
    )
    within = pl.int_ranges(pl.col("start").clip(0), pl.min_horizontal("end", "n_lines"))
    spans = pl.concat([ranges, near]).with_columns(line=within)
    is_gold = pl.col("is_gold") & (pl.col("line").list.len() > 0)
    shown_files = (
        spans.group_by("item", "path", "sha256")
        .agg(has_gold=is_gold.any())
        .sort("item", ~pl.col("has_gold"), "path")
        # Many lines are grouped, sorted and joined faster by numbers than by texts.
        .with_columns(file=pl.int_range(pl.len()))
    )
    known = (
        spans.lazy()
        .join(shown_files.lazy(), on=["item", "path"])
        .select("file", "is_gold", "line")
        .explode("line", empty_as_null=False, keep_nulls=False)
        .group_by(at=pl.col("file") * _LINES_OF_FILE + pl.col("line"))
        .agg(pl.col("is_gold").any())
        .sort("at")
        .select("is_gold", file=pl.col("at") // _LINES_OF_FILE, line=pl.col("at") % _LINES_OF_FILE)
        .join(shown_files.lazy().select("item", "file"), on="file", maintain_order="left")
        .filter(pl.int_range(pl.len()).over("item") < _MAX_LINES)
        .collect()
    )
    words = _lines(roster, shown_files.join(items, on="item"), is_coloured=not is_local)
    is_coloured = pl.col("kinds").list.eval(pl.element() != "").list.any()
    by_item = (
        known.lazy()
        .group_by("file", maintain_order=True)
        .agg("line", n=pl.col("line") + 1, gold=pl.col("is_gold").cast(pl.Int8))
        .join(shown_files.lazy(), on="file", maintain_order="left")
        .join(words, on="sha256", maintain_order="left")
        .with_columns(pl.col("text", "kinds").list.gather(pl.col("line")))
        .with_columns(kinds=pl.when(is_coloured).then("kinds").otherwise([]))
        .group_by("item", maintain_order=True)
        .agg(files=pl.struct("path", "n", "gold", "text", "kinds"))
    )
    task = known_tasks(roster.lake).get(roster.board.task.name) if roster.board.task else None
    questions = roster.lake.scan("queries", benchmark=roster.benchmark).filter(query=task.query if task else "")
    # A query for code completion is the repository's code; an issue belongs to its author.
    if not is_local:
        code = roster.items.lazy().filter(pl.col("target_path").is_not_null()).select("item_id")
        questions = questions.join(code, on="item_id", how="semi")
    shown = items.lazy().join(by_item, on="item", how="left")
    shown = shown.join(questions.select("item_id", question="text"), on="item_id", how="left")
    return shown.sort("item").select("item_id", "licence", "question", "files", scorable=True).collect()


def _ranges(answers: pl.DataFrame) -> pl.LazyFrame:
    """Gold and returned lines, or gold and first-ranked candidates: item, path, start, end, is_gold."""
    if "n_candidates" in answers.columns:
        # An answer's first candidate is its third number, after the rank of the gold and the metric's value.
        first = answers.lazy().explode("answer").select("item", number=pl.col("answer").list.get(2, null_on_oob=True))
        both = [
            answers.lazy().select("item", number="gold", is_gold=True).explode("number"),
            first.with_columns(is_gold=False),
        ]
        numbers = pl.concat(both).drop_nulls().unique()
        return numbers.select(
            "item", path=pl.format("cand:{}", "number"), start=0, end=pl.lit(_MAX_LINES), is_gold="is_gold"
        )
    threes = [
        answers.lazy().select("item", all="gold", is_gold=True),
        answers.lazy().select("item", all="answer", is_gold=False).explode("all"),
    ]
    columns = {name: pl.col("all").list.gather_every(3, number) for number, name in enumerate(("file", "start", "end"))}
    ranges = pl.concat(threes).select("item", "is_gold", **columns).explode(*columns).drop_nulls("file")
    paths = answers.lazy().select("item", path="files", file=pl.int_ranges(pl.col("files").list.len()))
    every = ranges.join(paths.explode("path", "file"), on=["item", "file"])
    # Many systems return the same lines.
    return every.select("item", "path", "start", "end", "is_gold").unique()


def _lines(roster: Roster, files: pl.DataFrame, *, is_coloured: bool) -> pl.LazyFrame:
    """The lines of each content: sha256, text, kinds (null if not highlighted)."""
    # Lexers would take a carriage return for the end of a line, which it is not here.
    text = pl.col("text").str.replace_all("\r\n", "\n", literal=True).str.replace_all("\r", "␍", literal=True)
    blobs = roster.lake.scan("blobs").filter(pl.col("sha256").is_in(files["sha256"].unique().implode()))
    stored = blobs.select("sha256", text).collect()
    golden = files.filter("has_gold").sort("path", "language").unique("sha256", keep="first", maintain_order=True)
    of = golden.join(stored, on="sha256").select("sha256", "path", "language", "text").filter(pl.lit(is_coloured))
    kinds = [list(_line_kinds(path, language, text)) for _, path, language, text in of.iter_rows()]
    kinds_of = of.lazy().select("sha256", kinds=pl.Series(kinds, dtype=pl.List(pl.String)))
    line, n_characters = pl.element(), pl.element().str.len_chars()
    cut = pl.format("{}… ({} characters)", line.str.head(_MAX_LINE), n_characters)
    shown = pl.when(n_characters > _MAX_LINE).then(cut).otherwise(line)
    lines = stored.select("sha256", pl.col("text").str.strip_suffix("\n").str.split("\n").list.eval(shown))
    return lines.lazy().join(kinds_of, on="sha256", how="left")


def _line_kinds(path: str, language: str, text: str) -> Iterator[str]:
    """The highlighted words of each line of a file: for each word its offset, the letter of its kind and its length."""
    lexer, line, at = TextLexer, "", 0
    if len(text) <= _MAX_CHARACTERS:
        with suppress(ClassNotFound):
            lexer = find_lexer_class_for_filename(path) or find_lexer_class_by_name(language)
    # Keep leading and trailing newlines, so that the number of lines is that of the file.
    for token, value in lexer(stripnl=False, ensurenl=False).get_tokens(text):
        kind = next((short for of, short in _KINDS.items() if token in of), "")
        for number, piece in enumerate(value.split("\n")):
            if number:
                yield line
                line, at = "", 0
            line += f"{at}{kind}{len(piece)} " if kind and piece else ""
            at += len(piece)
    yield line
