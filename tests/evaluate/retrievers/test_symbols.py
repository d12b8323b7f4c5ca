import math

import numpy as np

from tests.evaluate.hand_made import pool_of, queries_of, scores_of

NAN = float("nan")


def test_symbols_returns_the_chunks_that_define_what_the_query_names_the_rare_names_first() -> None:
    names = [["burn", "__init__"], ["__init__", "__init__"], [], ["Größe"]]
    pool = pool_of(texts=["", "", "burn", ""], names=names)
    found = scores_of("symbols", pool, queries_of(["burn burn __init__", "Größe Burn", "", "x"]))
    rare, common = math.log(1 + 5 / 1), math.log(1 + 5 / 3)
    expected = [[rare + common, common, NAN, NAN], [NAN, NAN, NAN, rare], [NAN] * 4, [NAN] * 4]
    np.testing.assert_allclose(found, expected)
    assert scores_of("symbols", pool_of(texts=[]), queries_of(["a"])).shape == (1, 0)
