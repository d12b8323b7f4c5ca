from pathlib import Path

from lake.offsets import Offsets
from lake.store import Lake


def test_every_hit_has_the_characters_of_its_new_lines(lake_folder: Path) -> None:
    lake = Lake(lake_folder)
    texts = dict(lake.read("blobs").select("sha256", "text").iter_rows())
    costs = {
        (pool, path): Offsets.between_lines(texts[sha256]).n_nws
        for pool, path, sha256 in lake.read("files").select("pool_id", "path", "sha256").iter_rows()
    }
    pools = dict(lake.read("items").select("item_id", "pool_id").iter_rows())
    runs = lake.read("runs").select("run_id", "chunker")
    hits = lake.read("hits").join(runs, on="run_id").sort("run_id", "item_id", "part", "rank")
    returned: set[tuple[object, ...]] = set()
    n_less = 0
    columns = ("run_id", "part", "item_id", "path", "line_start", "line_end", "n_new_nws")
    for run_id, part, item_id, path, start, end, n_new in hits.select(columns).iter_rows():
        new = [line for line in range(start, end) if (run_id, part, item_id, path, line) not in returned]
        returned |= {(run_id, part, item_id, path, line) for line in new}
        assert n_new == sum(int(costs[pools[item_id], path][line]) for line in new)
        n_less += len(new) < end - start
    assert set(hits["chunker"]) == {"whole-file", "window-4-2"}
    assert n_less > 0
