"""ContextBench at its published size, made up: 1,136 instances over 66 git repositories with several commits each.

How many files a repository has, how large they are and of which language is taken from real repositories; what stands
in them is made. Two instances of one repository are commits between which a fifth of the files change: between commits
years apart, as real instances lie, half to nine tenths do, between neighbours far fewer.
"""

import json
import random
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

import polars as pl

from lake.fingerprint import fingerprint, sha256_of_file
from lake.text import language_of
from tests.bench._repobench_rows import kept

SEED = "goldspan-bench-1"
N_INSTANCES, N_REPOSITORIES = 1_136, 66
CHANGED = 0.2
"""The share of a repository's files that are other ones from one of its instances to the next."""

LINES_OF_A_FUNCTION = (6, 40)
SPANS_OF_AN_ITEM = (1, 8)
WORDS_OF_A_QUERY = (40, 300)

_WHEN = "bench <bench@example.org> 1700000000 +0000"
_BRACES = "{head} {{\n{body}}}\n\n"
_FORMS = {
    "python": ("def {name}({a}, {b}):\n{body}\n", "    "),
    "go": (_BRACES.replace("{head}", "func {name}({a} int, {b} string) error"), "\t"),
    "rust": (_BRACES.replace("{head}", "fn {name}({a}: usize, {b}: &str) -> usize"), "    "),
    "javascript": (_BRACES.replace("{head}", "function {name}({a}, {b})"), "  "),
    "typescript": (_BRACES.replace("{head}", "function {name}({a}: number, {b}: string): number"), "  "),
    "java": ("class {name} {{\n  int {a}(int {b}) {{\n{body}  }}\n}}\n\n", "    "),
    "c": (_BRACES.replace("{head}", "int {name}(int {a}, char *{b})"), "    "),
    "cpp": (_BRACES.replace("{head}", "int {name}(int {a}, const char *{b})"), "    "),
}
"""A definition in each language that most of the files are of, and how far its body is indented."""
_STATEMENTS = ("{} = {}({}, {})", "{}.{}({})", "if_{} = {} + {}", "{} = {}.{}", "{}[{}] = {}")


@dataclass(frozen=True)
class Shape:
    """A file: its path and how many bytes it has."""

    path: str
    n_bytes: int


def instances_folder(repo_files: Path, n_instances: int = N_INSTANCES) -> tuple[Path, Path]:
    """A source folder of made-up instances, labelled `made`, and the folder of their git repositories.

    Made once per machine, number and maker. `repo_files` has real repositories' files: Parquet with path and content.
    """
    real = sorted(repo_files.glob("*.parquet"))
    made_by = fingerprint([file.name for file in real], n_instances, SEED, sha256_of_file(Path(__file__)))[:12]
    name = f"contextbench-{n_instances}-{made_by}"
    folder = kept(name, lambda folder: _make([_shapes(file) for file in real], n_instances, folder))
    return folder / "source", folder / "git"


def _shapes(file: Path) -> list[Shape]:
    columns = pl.scan_parquet(file).select("path", n=pl.col("content").str.len_bytes()).sort("path").collect()
    return [Shape(path, n) for path, n in columns.iter_rows()]


def _make(real: Sequence[Sequence[Shape]], n_instances: int, folder: Path) -> None:
    n_repositories = max(1, round(N_REPOSITORIES * n_instances / N_INSTANCES))
    # A few repositories have most of the instances, as in the published rows.
    weights = list(accumulate(1 / (number + 3) for number in range(n_repositories)))
    drawn = random.Random(f"{SEED}/{n_instances}")
    extra = drawn.choices(range(n_repositories), cum_weights=weights, k=n_instances - n_repositories)
    rows: list[dict[str, object]] = []
    for number in range(n_repositories):
        repository = _Repository(f"made/repo{number}", real[number % len(real)])
        rows += repository.write(folder / "git" / f"made/repo{number}", 1 + extra.count(number))
    source = folder / "source" / "contextbench-made"
    source.mkdir(parents=True)
    (source / "full.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


class _Repository:
    """One repository's vocabulary and files."""

    def __init__(self, name: str, shapes: Sequence[Shape]) -> None:
        self.name, self.shapes = name, shapes
        self.drawn = random.Random(f"{SEED}/{name}")
        letters = "etaoinsrhldcumfpgwybvkxjqz"
        ranks = range(len(letters), 0, -1)
        self.words = ["".join(self.drawn.choices(letters, ranks, k=self.drawn.randint(3, 10))) for _ in range(3_000)]
        self.weights = list(accumulate(1 / rank for rank in range(1, len(self.words) + 1)))
        self.searched = [shape for shape in shapes if language_of(shape.path) in _FORMS and shape.n_bytes > 200]
        self.blocks = {language: [self._block(language) for _ in range(400)] for language in ("", *_FORMS)}

    def write(self, folder: Path, n_commits: int) -> Iterator[dict[str, object]]:
        """Make the git repository, a commit per instance, and give the instances' rows."""
        folder.mkdir(parents=True)
        git = ["git", "-C", str(folder)]
        for command in (["init", "--quiet"], ["config", "uploadpack.allowAnySHA1InWant", "true"]):
            subprocess.run([*git, *command], check=True)
        quick = [*git, "-c", "core.compression=1", "fast-import", "--quiet", "--export-marks=marks"]
        texts: dict[str, str] = {}
        rows = []
        with subprocess.Popen(quick, stdin=subprocess.PIPE) as process:
            assert process.stdin is not None
            for commit in range(n_commits):
                n_changed = len(self.shapes) if commit == 0 else max(1, round(CHANGED * len(self.shapes)))
                changed = {shape.path: self._text(shape) for shape in self.drawn.sample(self.shapes, n_changed)}
                texts |= changed
                process.stdin.write(f"commit refs/heads/main\nmark :{commit + 1}\ncommitter {_WHEN}\ndata 0\n".encode())
                for path, text in changed.items():
                    data = text.encode()
                    quoted = '"' + path.replace("\\", "\\\\").replace('"', '\\"') + '"'
                    process.stdin.write(f"M 100644 inline {quoted}\ndata {len(data)}\n".encode() + data + b"\n")
                rows.append(self._instance(texts))
        if process.returncode:
            message = f"git fast-import of {folder} ended with {process.returncode}"
            raise RuntimeError(message)
        marks = dict(line.split() for line in (folder / "marks").read_text().splitlines())
        for commit, row in enumerate(rows):
            yield {"instance_id": f"{self.name.replace('/', '__')}-{commit + 1}", "repo": self.name,
                   "base_commit": marks[f":{commit + 1}"], **row}  # fmt: skip

    def _instance(self, texts: Mapping[str, str]) -> dict[str, object]:
        """An issue about some functions of the repository, and where these are."""
        spans, words = [], self._drawn(self.drawn.randint(*WORDS_OF_A_QUERY))
        first: tuple[str, int] | None = None
        for shape in self.drawn.sample(self.searched, min(self.drawn.randint(*SPANS_OF_AN_ITEM), len(self.searched))):
            lines = texts[shape.path].split("\n")
            start = self.drawn.randrange(max(1, len(lines) - 5))
            end = min(len(lines), start + self.drawn.randint(5, 60))
            spans.append({"file": shape.path, "start_line": start + 1, "end_line": end, "content": ""})
            words += self.drawn.sample(" ".join(lines[start:end]).split() or [""], 1)
            first = first or (shape.path, start)
        self.drawn.shuffle(words)
        path, line = first or ("", 0)
        old = texts[path].split("\n")[line] if path else ""
        patch = f"--- a/{path}\n+++ b/{path}\n@@ -{line + 1},1 +{line + 1},1 @@\n-{old}\n+{old} changed\n"
        return {
            "language": language_of(path),
            "gold_context": json.dumps(spans),
            "patch": f"diff --git a/{path} b/{path}\n{patch}",
            "problem_statement": " ".join(words),
            "source": "made",
        }

    def _text(self, shape: Shape) -> str:
        """A file's text: blocks of its language, each definition with a name of its own."""
        language = language_of(shape.path)
        blocks = self.blocks[language if language in _FORMS else ""]
        parts: list[str] = []
        n_bytes = 0
        while n_bytes < shape.n_bytes:
            part = self.drawn.choice(blocks).replace("NAME", f"{self.drawn.choice(self.words)}_{len(parts)}")
            parts.append(part)
            n_bytes += len(part)
        return "".join(parts)[: shape.n_bytes]

    def _block(self, language: str) -> str:
        form, indent = _FORMS.get(language, ("{body}\n", ""))
        n_lines = self.drawn.randint(*LINES_OF_A_FUNCTION)
        end = ";\n" if "{{" in form and language != "go" else "\n"
        body = "".join(indent + self._statement() + end for _ in range(n_lines))
        a, b = self._drawn(2)
        return form.format(name="NAME", a=a, b=b, body=body)

    def _statement(self) -> str:
        form = self.drawn.choice(_STATEMENTS)
        return form.format(*self._drawn(form.count("{}")))

    def _drawn(self, n: int) -> list[str]:
        return self.drawn.choices(self.words, cum_weights=self.weights, k=n)
