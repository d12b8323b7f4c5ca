import os
import signal

import pytest

from lake.engine import THREADS, Engine, parse_engine
from lake.errors import Exit, GoldspanError
from tests.engines import mapped
from tests.tiny import refused

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("processes")]


def refuse(text: str) -> int:
    message = f"{text} is refused"
    raise GoldspanError(message, where="here", examples=["a", "b"], hint="Do not.", code=Exit.INVALID)


def threads(text: str) -> str:
    del text
    return os.environ[THREADS]


def test_processes_share_the_cores() -> None:
    each = str(max(1, (os.cpu_count() or 1) // 2))
    before = os.environ.get(THREADS)
    assert set(mapped(Engine(2), threads, ["a", "b"])) == {each}
    assert os.environ.get(THREADS) == before


def test_an_error_in_another_process_arrives_whole() -> None:
    with pytest.raises(GoldspanError, match="a is refused") as caught:
        list(mapped(Engine(2), refuse, ["a", "a"]))
    assert (caught.value.code, caught.value.where, caught.value.hint) == (Exit.INVALID, "here", "Do not.")


@pytest.mark.parametrize(
    "text", ["local", "local:0", "local:-1", "local:two", "dask://host", "dask://a/b:1", "dask:host:1", ""]
)
def test_an_engine_that_is_none_is_refused_with_what_to_write(text: str) -> None:
    with refused("local:2", Exit.USAGE):
        parse_engine(text)


def _killed(job: int) -> int:
    os.kill(os.getpid(), signal.SIGKILL)
    return job


def test_a_process_that_is_killed_is_a_sentence() -> None:
    with pytest.raises(GoldspanError, match="was killed, probably because memory ran out") as caught:
        list(mapped(Engine(2), _killed, [1, 2]))
    assert "ENGINE=local:1" in caught.value.hint
