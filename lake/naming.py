"""What rows and parts are called that one stage writes and others find."""

from collections.abc import Mapping

RANKING, LINES = "ranking", "lines"
"""The parts of a ranking's hits; the second, where there is one, is what to return to cover lines."""
STEP, FINAL = "step", "final"
PUBLISHED_READING = "published-"
"""What stands before `step` and `final` in `hits` where ContextBench's converter reads an agent's file otherwise."""
UNSEARCHED = "#rest"
"""What follows a pool's id in that of its repository's files that are not searched, but may be named."""
DONE = "done"
"""The status of an item that a run answered; any other is counted as failed."""
BLANK_GOLD = "blank"
"""The flag of an item whose gold is nothing but white space: chunks never are, so no ranking of chunks can find it."""
GOLD_RUN = "gold"
"""The run under which rows of runs' tables stand that are the benchmark's own: the lines that gold patches edit."""
IMPORT_REJECTS = "import-"
"""What stands before a run's name in that of the part of `rejects` that every imported run has."""
PROGRAMS = ("command", "function", "ripgrep")
"""The formats of imported runs whose answers were given here, by a program that was asked; `file` is what it is."""
SEARCHED = ("searched", "candidates")
"""The kinds of pools that are searched; those of kind `rest` are not."""
SITE_PAGES = frozenset({"compare", "data", "index", "methods", "submit"})
"""What the pages of every site are called that lie beside those of the benchmarks."""


FLAGS: Mapping[str, tuple[str, str]] = {
    "content-differs": (
        "spans whose content is not what their lines hold",
        "the line numbers are trusted, not the content",
    ),
    "ends-past-eof": ("spans that end past their file's end", "cut to the file's end"),
    "starts-past-eof": ("spans that lie past their file's end", "the file stays gold, none of its lines"),
    "file-missing": ("gold files that are not in their repository", "left out of every count"),
    "file-not-searched": (
        "gold files that are not searched (unsupported language or over 1 MB)",
        "they stay gold, which no retriever can return",
    ),
    "duplicate-spans": ("spans that are named again", "counted once"),
}
"""What an item may be flagged with, each with a count, and what becomes of it under the project's own gold rule."""
