from pathlib import Path

import pytest

from lake.benchmarks import protocols_called
from lake.errors import GoldspanError
from lake.store import Lake


def test_a_name_without_its_benchmark_means_every_protocol_of_that_name(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    assert [one.name for one in protocols_called(lake, "docs-v1")] == ["contextbench@docs-v1"]
    assert [one.name for one in protocols_called(lake, "contextbench@docs-v1")] == ["contextbench@docs-v1"]
    assert {"repoeval@chunking-v1", "repobench-r@chunking-v1"} <= {
        one.name for one in protocols_called(lake, "chunking-v1")
    }
    assert [one.name for one in protocols_called(lake, "chunking-v1", "repoeval")] == ["repoeval@chunking-v1"]


def test_an_unknown_one_is_refused_with_what_may_be_meant(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    with pytest.raises(GoldspanError, match="Did you mean 'docs-v1'"):
        protocols_called(lake, "dcs-v1")
