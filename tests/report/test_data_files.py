import base64
import json
import zlib

import pytest

from report.format import compare_address, item_address
from report.render import data_file, packed


@pytest.mark.parametrize(
    "value", [{"a": [1, None, 0.5]}, "</script><!--", "a\u2028b\u2029c", "caf\u00e9 \U0001f600", "\x00"]
)
def test_a_data_file_gives_its_value_and_ends_no_script(value: object) -> None:
    text = data_file("x/y", value).decode()
    assert text.startswith('goldspan.give("x/y",')
    assert text.endswith(");\n")
    assert "<" not in text
    assert "\u2028" not in text
    assert json.loads(text[len('goldspan.give("x/y",') : -3]) == value


def test_packed_bytes_are_had_again() -> None:
    content = bytes(range(256)) * 99
    assert zlib.decompress(base64.b64decode(packed(content))) == content
    assert len(packed(content)) < 2000


def test_addresses_name_what_they_show() -> None:
    assert item_address("repobench-r", "python_cff/test/hard/7") == "items/repobench-r.html#item=python_cff/test/hard/7"
    assert item_address("b", "a b&c#d") == "items/b.html#item=a%20b%26c%23d"
    runs = ["repoeval.prompt--window+bm25--6f470b9c", "other--c4392029"]
    address = compare_address("repoeval@chunking-v1", runs)
    assert address == "compare.html#protocol=repoeval@chunking-v1&systems=6f470b9c,c4392029"
