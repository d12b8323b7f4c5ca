import shutil
from pathlib import Path

import pytest

from tests.newcomer.checkout import Checkout, copy_of_the_checkout
from tests.once import made_once


@pytest.fixture(scope="session")
def _evaluated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    def make(home: Path) -> None:
        checkout = copy_of_the_checkout(home / "copy")
        checkout.ingest()
        checkout.run("evaluate")

    return made_once(tmp_path_factory, "newcomer", make) / "copy"


@pytest.fixture
def checkout(_evaluated: Path, tmp_path: Path) -> Checkout:
    """A copy in which the small RepoEval was ingested and evaluated; each test has one of its own."""
    return Checkout(shutil.copytree(_evaluated, tmp_path / "copy"))
