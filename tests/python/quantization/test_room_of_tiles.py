"""A plan keeps tiles' weights of 8-bit convolutions in a bounded room."""
import numpy as np
import pytest

import mxnet as mx

pytestmark = pytest.mark.cpu
WINOGRAD = "Winograd F(4x4, 3x3) of bytes"
LAYER = 128 * 128 * 9   # bytes of weights


def layers(sizes):
    """Convolutions of 128 channels, one behind the other, on images of these sizes."""
    rng = np.random.default_rng(0)
    y, arrays = mx.sym.var("x"), {"x": mx.nd.array(rng.integers(0, 256, (1, 128, sizes[0], sizes[0])), dtype="uint8")}
    for i, size in enumerate(sizes):
        step = sizes[max(i - 1, 0)] // size
        if step > 1:
            y = mx.sym.slice(y, begin=(None, None, None, None), end=(None, None, None, None), step=(1, 1, step, step))
        given = {"weight": rng.integers(-128, 128, (128, 128, 3, 3)).astype("int8"), "scale": np.full(1, 4e-4, "float32"),
                 "zero": np.full(1, 120, "uint8"), "bias": rng.normal(size=128).astype("float32")}
        arrays.update({f"{name}{i}": mx.nd.array(value, dtype=value.dtype) for name, value in given.items()})
        y = mx.sym._internal._integer_convolution(y, *(mx.sym.var(f"{name}{i}") for name in given), kernel=(3, 3), pad=(1, 1),
                                                  num_filter=128, out_type="uint8", out_scale=0.9, out_zero=117)
    return y.bind(mx.cpu(), arrays, grad_req="null")


def tiled(executor):
    """Which layers have tiles. The first has none with oneDNN: its channels are not last."""
    nodes = [n for n in executor.explain(runs=1).plan["nodes"] if n["op"] == "_integer_convolution"]
    return [n["ran"][0]["implementation"] == WINOGRAD for n in nodes]


def test_layers_have_tiles_while_there_is_room():
    executor = layers([14] * 19)
    want = executor.forward()[0].asnumpy()
    found = tiled(executor)
    if found[0] or not found[1]:   # without VNNI all have tiles
        pytest.skip("tiles are not the fastest here")
    # Transformed weights take 7 times as much beyond the weights: two of 19 layers fit.
    assert found == [False] + [True] * 2 + [False] * 16
    assert executor.explain(runs=0).plan["stats"]["packed_bytes"] < 2.1 * 19 * LAYER
    np.testing.assert_array_equal(executor.forward()[0].asnumpy(), want)   # the answer stays
    assert tiled(executor) == found and len(np.unique(want)) > 20

    mx.util.set_env("MXNET_ONEDNN_ENABLED", "0")   # all layers have tiles
    try:
        other = layers([14] * 19)
        np.testing.assert_array_equal(other.forward()[0].asnumpy(), want)
        assert tiled(other) == [True] * 19
    finally:
        mx.util.set_env("MXNET_ONEDNN_ENABLED", "1")


def test_layers_of_many_tiles_have_them_in_any_case():
    executor = layers([28] * 4 + [14] * 3)
    executor.forward()
    found = tiled(executor)
    if found[0] or not found[1]:   # without VNNI all have tiles
        pytest.skip("tiles are not the fastest here")
    assert found == [False] + [True] * 3 + [False] * 3
