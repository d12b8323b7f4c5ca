"""Names of rows and parts that one stage writes and others read."""

from collections.abc import Mapping

RANKING, LINES = "ranking", "lines"
"""The parts of a ranking's hits; the second, where there is one, is what to return to cover lines."""
STEP, FINAL = "step", "final"
PUBLISHED_READING = "published-"
"""The prefix of `step` and `final` in `hits` where ContextBench's converter reads an agent's file otherwise."""
UNSEARCHED = "#rest"
"""The suffix of the id of a pool's unsearched files, which a run may name."""
DONE = "done"
"""The status of an item that a run answered; any other is counted as failed."""
BLANK_GOLD = "blank"
"""The flag of an item whose gold is nothing but white space: chunks never are, so no ranking of chunks can find it."""
GOLD_RUN = "gold"
"""The run under which rows of runs' tables stand that are the benchmark's own: the lines that gold patches edit."""
IMPORT_REJECTS = "import-"
"""The prefix of an imported run's part of `rejects`, before the run's id."""
PROGRAMS = ("command", "function", "ripgrep")
"""The formats of imported runs whose answers were given here, by a program that was asked; `file` is what it is."""
SEARCHED = ("searched", "candidates")
"""The kinds of pools that are searched; those of kind `rest` are not."""
SITE_PAGES = frozenset({"compare", "data", "index", "methods", "submit"})
"""The names of a site's pages beside those of the benchmarks."""


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
"""Flag of an item → what it counts, and what becomes of that under the project's own gold rule."""
