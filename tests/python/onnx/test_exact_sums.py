"""The judge of sums of bytes agrees with ONNX Runtime where those saturate on no processor."""
import numpy as np
import pytest

from import_checks import MICROSOFT, exact_sums, model, node, onnx
import microsoft_reference  # noqa: E402  (needs onnx)

RANDOM = np.random.RandomState(0)
STEPS = {"xs": np.array(0.02, "f4"), "xz": np.array(120, "u1"), "ws": np.array(0.03, "f4"), "wz": np.array(3, "i1"),
         "ys": np.array(2, "f4"), "yz": np.array(100, "u1")}


def floats(*shape):
    return RANDOM.randn(*shape).astype("f4")


def small(*shape):
    """Two of their products with bytes are below 2 ** 15."""
    return RANDOM.randint(-60, 61, shape).astype("i1")


def whole(*shape):
    return RANDOM.randint(0, 256, shape).astype("u1")


def agree(kind, names, feeds, weights, outputs=("y",), atol=1, **attributes):
    outputs, weights = list(outputs), {**weights, **{n: a for n, a in STEPS.items() if n in names and n not in weights}}
    data = model([node(kind, names, outputs, **attributes, **MICROSOFT)], feeds, weights, outputs=outputs)
    results = microsoft_reference.evaluator(onnx.load_from_string(data)).run(None, feeds)
    for got, want in zip(results, exact_sums.as_it_is(data, feeds)):
        assert got.dtype == want.dtype and got.shape == want.shape and np.ptp(want.astype(float)) > 0
        np.testing.assert_allclose(got.astype(float), want, rtol=1e-4, atol=atol)


@pytest.mark.parametrize("turned", [0, 1])
@pytest.mark.parametrize("out", [[], ["ys", "yz"]])
@pytest.mark.parametrize("each", [False, True])
def test_gemm(turned, out, each):
    weights = {"w": small(6, 8) if turned else small(8, 6), "c": RANDOM.randint(-900, 900, 6).astype("i4")}
    if each:
        weights.update(ws=np.linspace(0.01, 0.04, 6, dtype="f4"), wz=np.arange(-3, 3, dtype="i1"))
    names = ["x", "xs", "xz", "w", "ws", "wz", "c", *out]
    agree("QGemm", names, {"x": whole(5, 8)}, weights, atol=1 if out else 1e-3, transB=turned, alpha=1.5)


def test_products_as_floats():
    weights = {"w": small(8, 6), "b": floats(6)}
    agree("MatMulIntegerToFloat", ["x", "w", "xs", "ws", "xz", "wz", "b"], {"x": whole(2, 5, 8)}, weights, atol=1e-4)
    agree("DynamicQuantizeMatMul", ["x", "w", "ws", "wz", "b"], {"x": floats(2, 5, 8)}, weights, atol=1e-3)


@pytest.mark.parametrize("last", [0, 1])
def test_convolutions(last):
    weights = {"w": small(6, 4, 3, 3), "c": RANDOM.randint(-900, 900, 6).astype("i4"), "wz": np.array(0, "i1")}
    x = whole(2, 7, 5, 4) if last else whole(2, 4, 7, 5)
    agree("QLinearConv", ["x", "xs", "xz", "w", "ws", "wz", "ys", "yz", "c"], {"x": x}, weights, pads=[1, 1, 0, 1], strides=[2, 1],
          channels_last=last)


def test_attention():
    weights = {"w": small(8, 24), "b": floats(24), "ws": np.array(0.005, "f4"), "m": np.array([[1, 1, 1, 0, 0], [1] * 5], "i4")}
    agree("QAttention", ["x", "w", "b", "xs", "ws", "m", "xz", "wz"], {"x": whole(2, 5, 8)}, weights, atol=1e-3, num_heads=2)
    weights["m"] = np.array([[1] * 6 + [0, 1], [1] * 8], "i4")
    agree("QAttention", ["x", "w", "b", "xs", "ws", "m", "xz", "wz", "p"], {"x": whole(2, 5, 8), "p": floats(2, 2, 2, 3, 4)}, weights,
          ["y", "y_now"], atol=1e-3, num_heads=2, unidirectional=1)


@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
def test_lstm(direction):
    count = 2 if direction == "bidirectional" else 1
    weights = {"w": small(count, 8, 24), "r": small(count, 6, 24), "b": floats(count, 48), "l": np.array([4, 3], "i4"),
               **{n + "s": np.full(count, 0.01, "f4") for n in "wr"}, **{n + "z": np.zeros(count, "i1") for n in "wr"}}
    names = ["x", "w", "r", "b", "l", "", "", "", "ws", "wz", "rs", "rz"]
    agree("DynamicQuantizeLSTM", names, {"x": floats(4, 2, 8)}, weights, ["y", "y_h", "y_c"], atol=2e-2, hidden_size=6, direction=direction)


def test_others_are_asked_for_one_by_one():
    weights = {"w": whole(5, 8), "as": STEPS["xs"], "az": STEPS["xz"], "bs": STEPS["ws"], "bz": STEPS["yz"]}
    agree("QLinearAdd", ["x", "as", "az", "w", "bs", "bz", "ys", "yz"], {"x": whole(2, 5, 8)}, weights)
