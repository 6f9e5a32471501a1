"""Numbers that operators are given in Python arrive as they are."""
import math
import random

import numpy as onp
import pytest

import mxnet as mx

EDGES = [1 / 3, 0.1, 6.432141470156256e+300, 1.7976931348623157e308, 2.2250738585072014e-308, 2.1491278310672787e-308, 5e-324, -5e-324,
         math.inf, -math.inf, 123456789012345678, 1e22]


def drawn(n):
    random.seed(0)
    return [math.ldexp(random.random(), random.randint(-1070, 1020)) for _ in range(n)]


@pytest.mark.parametrize("array", [mx.nd, mx.np])
def test_doubles_beside_an_array(array):
    zero = array.zeros((1,), dtype="float64")
    for value in EDGES + drawn(300):
        assert (zero + value).asnumpy()[0] == float(value)


def test_doubles_in_a_text():
    """Texts of symbols and of the C functions; dmlc-core's forms are still read."""
    zero = mx.nd.zeros((1,), dtype="float64")
    for value in EDGES + drawn(50):
        assert mx.nd._internal._plus_scalar(zero, scalar=repr(float(value))).asnumpy()[0] == float(value)
    for text, value in (("1.5f", 1.5), ("INF", math.inf), ("-Infinity", -math.inf), ("+2", 2), ("1e3", 1000)):
        assert mx.nd._internal._plus_scalar(zero, scalar=text).asnumpy()[0] == value
    assert onp.isnan(mx.nd._internal._plus_scalar(zero, scalar="nan").asnumpy()[0])
    for text in ("one", "1.0.0", "1e999"):
        with pytest.raises(mx.MXNetError, match="scalar"):
            mx.nd._internal._plus_scalar(zero, scalar=text)
