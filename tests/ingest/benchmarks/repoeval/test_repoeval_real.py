import shutil
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import polars as pl
import pytest

from lake.store import Lake
from tests.tiny import ingested

pytestmark = pytest.mark.shared

COUNTS = {
    "CarperAI_trlx": 46, "amazon-science_patchcore-inspection": 32, "deepmind_tracr": 146,
    "facebookresearch_omnivore": 22, "google_lightweight_mmm": 64, "leopard-ai_betty": 36,
    "lucidrains_imagen-pytorch": 67, "maxhumber_redframes": 42,
}  # fmt: skip
"""Tasks per repository at the function level."""


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    folder = Path(__file__).parents[4] / "../shared/data"
    if not folder.is_dir():
        pytest.skip("../shared/data, the real benchmark data, is not there")
    root = tmp_path_factory.mktemp("real")
    ingested(root, folder, subsets=["function-2k", "function-4k"], chunkers=["whole-file"])
    yield Lake(root)
    shutil.rmtree(root)


def _lines(lake: Lake) -> dict[tuple[str, str], list[str]]:
    """(pool, path) → its lines, cut from the stored text's bytes at the stored `line_starts`."""
    joined = lake.read("files").join(lake.read("blobs"), on="sha256")
    lines = {}
    for pool, path, text, starts in joined.select("pool_id", "path", "text", "line_starts").iter_rows():
        data = text.encode()
        bounds = [*starts, len(data)]
        lines[pool, path] = [data[a:b].decode() for a, b in pairwise(bounds)]
    return lines


def test_all_455_tasks_of_8_repositories_are_scorable(lake: Lake) -> None:
    items = lake.read("items")
    for subset in ("function-2k", "function-4k"):
        of_subset = items.filter(pl.col("subset") == subset)
        assert of_subset.height == 455
        assert of_subset["scorable"].all()
        assert dict(of_subset.group_by("repo").len().iter_rows()) == COUNTS
    assert lake.read("rejects").is_empty()


def test_every_ground_truth_is_the_lines_from_its_hole_on(lake: Lake) -> None:
    lines = _lines(lake)
    items = lake.read("items").filter(pl.col("subset") == "function-2k")
    n_checked = 0
    for pool, path, hole, answer in items.select("pool_id", "target_path", "target_line", "target_text").iter_rows():
        n = answer.count("\n")
        assert answer.endswith("\n")
        assert "".join(lines[pool, path][hole : hole + n]).replace("\r\n", "\n") == answer
        n_checked += 1
    assert n_checked == 455


def test_every_prompt_is_the_lines_up_to_its_hole_the_first_perhaps_cut(lake: Lake) -> None:
    lines = _lines(lake)
    columns = ("item_id", "pool_id", "target_path", "query_line_start", "target_line", "text")
    items = lake.read("items").join(lake.read("queries"), on="item_id")
    differ = []
    for item_id, pool, path, start, hole, prompt in items.select(columns).iter_rows():
        first, *rest = prompt.rstrip().split("\n")
        code_first, *code = "".join(lines[pool, path][start:hole]).replace("\r\n", "\n").rstrip().split("\n")
        assert code_first.endswith(first)
        assert len(code) == len(rest)
        if code != rest:
            differ.append(item_id)
            older = [[line.replace("jax.Array", "jnp.DeviceArray") for line in lines] for lines in (code, rest)]
            assert older[0] == older[1]
    # Upstream's prompts of one file are of another revision than its repository: one type is called otherwise.
    numbers = {"2k": (59, 60, 61), "4k": (59, 60, 61, 62)}
    assert sorted(differ) == [f"function-{c}/google_lightweight_mmm/{n}" for c, ns in numbers.items() for n in ns]


def test_441_python_files_are_searched_and_their_ends_are_crlf_but_for_patchcores(lake: Lake) -> None:
    files = lake.read("files").filter(pl.col("pool_id").str.starts_with("repoeval/function_level/"))
    assert files.height == 441
    # A file of one line without an end has neither.
    blobs = lake.read("blobs").filter(pl.col("text").str.contains("\n"))
    crlf = (
        files.join(blobs, on="sha256")
        .group_by("pool_id")
        .agg(crlf=pl.col("flags").list.contains("crlf").any(), lf=(~pl.col("flags").list.contains("crlf")).any())
    )
    assert crlf.filter("lf")["pool_id"].to_list() == ["repoeval/function_level/amazon-science_patchcore-inspection"]
    assert crlf.filter("crlf").height == 7
