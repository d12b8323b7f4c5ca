"""How many query plans evaluating a lake takes: every plan that polars is given to carry out is counted."""

from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import polars as pl
import typer

from evaluate.commands import app


def count(lake: str, *arguments: str) -> dict[str, object]:
    """Evaluate a lake in this process; how many plans that took, `collect_all` counting as one for all it is given."""
    counted = [0]

    def counting(function: Callable[..., Any]) -> Callable[..., Any]:
        def called(*given: Any, **options: Any) -> Any:  # noqa: ANN401  # as the library has it
            counted[0] += 1
            return function(*given, **options)

        return called

    # Of eager frames as well, which are carried out as plans.
    ways = [(pl.LazyFrame, "collect"), (pl.LazyFrame, "_collect_eager"), (pl, "collect_all")]
    patches = [patch.object(place, name, counting(getattr(place, name))) for place, name in ways]
    for one in patches:
        one.start()
    try:
        typer.main.get_command(app)(
            ["run", "--lake", lake, "--engine", "local:1", "--quiet", *arguments], standalone_mode=False
        )
    except (SystemExit, typer.Exit):
        pass
    finally:
        for one in patches:
            one.stop()
    return {"n_plans": counted[0]}
