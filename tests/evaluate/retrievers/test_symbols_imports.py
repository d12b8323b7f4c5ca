"""Retrievers that look at files: definitions that a query names, and files that its imports reach."""

from __future__ import annotations

import math

import numpy as np
import pytest

from evaluate.retrievers import Floats
from evaluate.retrievers.imports import ImportPaths
from evaluate.texts.import_statements import Import
from tests.evaluate.hand_made import Contents, pool_of, queries_of, scores_of

NAN = float("nan")


def test_symbols_returns_the_chunks_that_define_what_the_query_names_the_rare_names_first() -> None:
    names = [["burn", "__init__"], ["__init__", "__init__"], [], ["Größe"]]
    pool = pool_of(texts=["", "", "burn", ""], contents=Contents(names=names))
    found = scores_of("symbols", pool, queries_of(["burn burn __init__", "Größe Burn", "", "x"]))
    rare, common = math.log(1 + 5 / 1), math.log(1 + 5 / 3)
    expected = [[rare + common, common, NAN, NAN], [NAN, NAN, NAN, rare], [NAN] * 4, [NAN] * 4]
    np.testing.assert_allclose(found, expected)
    assert scores_of("symbols", pool_of(texts=[]), queries_of(["a"])).shape == (1, 0)


FILES = {
    "app/main.py": "import os\nfrom app import far\n\nx = 1\nfrom app.late import y\n",
    "app/far.py": "from .farther import z\n",
    "app/farther.py": "from app.main import x\nimport app.far\n",
    "app/late.py": "y = 1\n",
    "app/os.py": "os = 1\n",
    "app/__init__.py": "",
    "other.py": "far farther late os main app\n",
}


def test_imports_puts_files_before_those_that_they_import_and_these_before_all_others() -> None:
    chunks = [(path, 0, 1) for path in FILES]
    pool = pool_of(chunks, list(FILES.values()), Contents(texts=FILES))
    queries = queries_of(["z = other", "from app import late"], targets=[("app/main.py", 3), (None, -1)])
    words = scores_of("bm25-okapi", pool, queries)
    found = scores_of("imports", pool, queries)
    of_own, of_text = found
    # main imports the package's far above the hole, which imports farther, which imports main itself: never reached.
    assert _tiers(of_own, words[0]) == [{1, 5}, {2}, {0, 3, 4, 6}]
    assert _tiers(of_text, words[1]) == [{3, 5}, {0, 1, 2, 4, 6}]
    none = scores_of("imports", pool, queries_of([""]))
    np.testing.assert_array_equal(np.argsort(none), np.argsort(scores_of("bm25-okapi", pool, queries_of([""]))))
    assert scores_of("imports", pool_of(texts=[]), queries_of(["import a"])).shape == (1, 0)


def _tiers(found: Floats, words: Floats) -> list[set[int]]:
    """The chunks by how far their scores lie below the words'; within a tier they are the words' own."""
    below = np.round((words - found) / (np.ptp(words) + 1)).astype(int)
    np.testing.assert_allclose(found + below * (np.ptp(words) + 1), words, atol=1e-9)
    return [set(np.flatnonzero(below == far).tolist()) for far in sorted(set(below.tolist()))]


PATHS = (
    "src/pkg/__init__.py", "src/pkg/types.py", "src/pkg/sub/a.py", "src/pkg/sub/b.py", "lib/pkg/sub/b.py", "types.py",
    "web/app.ts", "web/util/index.ts", "web/util/é.tsx", "shared/api/client.js",
    "java/com/x/Foo.java", "java/com/x/Bar.java", "java/com/y/Baz.kt",
    "pkg/server/http.go", "pkg/server/tcp.go", "errors/errors.go", "src/a/b.rs", "src/a/mod.rs", "include/x/y.h",
    "c/m.c", "ruby/lib/z.rb", "Models/User.php",
)  # fmt: skip


@pytest.mark.parametrize(
    ("language", "importer", "module", "names", "expected"),
    [
        ("python", "src/pkg/sub/a.py", "pkg.sub", ("b", "missing"), ["src/pkg/sub/b.py"]),
        ("python", "lib/pkg/sub/x.py", "pkg.sub.b", (), ["lib/pkg/sub/b.py"]),
        ("python", "src/pkg/sub/a.py", "..", ("types",), ["src/pkg/__init__.py", "src/pkg/types.py"]),
        ("python", "src/pkg/sub/a.py", ".b", ("f",), ["src/pkg/sub/b.py"]),
        ("python", "src/pkg/sub/a.py", "types", (), ["types.py"]),
        ("python", "src/pkg/sub/a.py", ".....x", (), []),
        ("python", None, ".sub.a", (), ["src/pkg/sub/a.py"]),
        ("python", None, "numpy", ("array",), []),
        ("typescript", "web/app.ts", "./util", (), ["web/util/index.ts"]),
        ("typescript", "web/app.ts", "./util/é.js", (), ["web/util/é.tsx"]),
        ("javascript", "web/app.ts", "@/api/client", (), ["shared/api/client.js"]),
        ("javascript", "web/app.ts", "./nothing", (), []),
        ("javascript", "web/app.ts", "react", (), []),
        ("java", "java/com/y/Z.java", "com.x.Foo", (), ["java/com/x/Foo.java"]),
        ("java", None, "com.x.Foo.CONSTANT", (), ["java/com/x/Foo.java"]),
        ("java", None, "com.x.*", (), ["java/com/x/Bar.java", "java/com/x/Foo.java"]),
        ("java", None, "java.util.List", (), []),
        ("kotlin", None, "com.y.Baz", (), ["java/com/y/Baz.kt"]),
        ("go", "main.go", "github.com/o/r/pkg/server", (), ["pkg/server/http.go", "pkg/server/tcp.go"]),
        ("go", "main.go", "github.com/o/other/thing", (), []),
        ("go", "main.go", "fmt", (), []),
        ("rust", "src/main.rs", "crate::a::b::C", (), ["src/a/b.rs"]),
        ("rust", "src/main.rs", "a", (), ["src/a/mod.rs"]),
        ("c", "c/m.c", "x/y.h", (), ["include/x/y.h"]),
        ("ruby", "ruby/a.rb", "./lib/z", (), ["ruby/lib/z.rb"]),
        ("php", None, "Models\\User", (), ["Models/User.php"]),
        ("", None, "x", (), []),
    ],
)  # fmt: skip
def test_an_import_means_files_by_its_languages_conventions(
    language: str, importer: str | None, module: str, names: tuple[str, ...], expected: list[str]
) -> None:
    assert list(ImportPaths(PATHS).of(Import(module, names), importer, language)) == expected
