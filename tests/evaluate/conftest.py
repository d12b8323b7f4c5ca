"""What models are given."""

from collections.abc import Callable, Sequence

import pytest

from evaluate.embedding.models import Encoder
from evaluate.embedding.vectors import Made


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many texts a model was given at a time."""
    sizes: list[int] = []
    for name in ("vectors", "scores"):
        make = getattr(Encoder, name)

        def counting(self: Encoder, texts: Sequence[object], *others: str, make: Callable[..., Made] = make) -> Made:
            sizes.append(len(texts))
            return make(self, texts, *others)

        monkeypatch.setattr(Encoder, name, counting)
    return sizes
