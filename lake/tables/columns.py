"""Several columns of one kind in one line: `path, symbol = columns(2, dy.String, nullable=True)`."""

from typing import Any, TypeVar

import dataframely as dy

_Column = TypeVar("_Column", bound=dy.Column)


def columns(n: int, kind: type[_Column], **options: Any) -> list[_Column]:  # noqa: ANN401  # whatever the kind takes
    """Columns of one kind and with the same options."""
    return [kind(**options) for _ in range(n)]
