"""MatMulNBits with g_idx: columns of a weight whose blocks of scales are in another order (GPTQ's
act-order). Answers are those of NumPy."""
import numpy as np
import pytest

import mxnet as mx

onnx = pytest.importorskip("onnx")
T = onnx.TensorProto


def pack(values, bits):
    each = 8 // bits
    values = np.pad(values, [(0, 0)] * (values.ndim - 1) + [(0, -values.shape[-1] % each)])
    return sum(values[..., i::each] << i * bits for i in range(each)).astype("uint8")


class Layer:
    """A layer of random numbers; `groups`: of each column."""

    def __init__(self, seed, k, n, block, bits, groups, zeros=None, bias=False, **attributes):
        rng = np.random.RandomState(seed)
        blocks = -(-k // block)
        numbers = rng.randint(0, 2 ** bits, (n, blocks * block))
        scales = rng.uniform(0.01, 0.1, (n, blocks)).astype("float32")
        middle = rng.randint(0, 2 ** bits, (n, blocks)) if zeros else np.full((n, blocks), 2 ** (bits - 1))
        of = np.asarray(groups(rng, blocks, block, k))
        self.weights = {"w": pack(numbers, bits).reshape(n, blocks, -1), "s": scales, "g": of.astype("int32")}
        if zeros:
            self.weights["z"] = pack(middle, bits) if zeros == "packed" else middle.astype("float32")
        if bias:
            self.weights["b"] = rng.randn(n).astype("float32")
        names = ["x", "w", "s", "z" if zeros else "", "g"] + ["b"] * bias
        node = onnx.helper.make_node("MatMulNBits", names, ["y"], domain="com.microsoft", K=k, N=n,
                                     bits=bits, block_size=block, **attributes)
        graph = onnx.helper.make_graph(
            [node], "g", [onnx.helper.make_tensor_value_info("x", T.FLOAT, ["rows", k])],
            [onnx.helper.make_tensor_value_info("y", T.FLOAT, ["rows", n])],
            [onnx.numpy_helper.from_array(v, name) for name, v in self.weights.items()])
        opsets = [onnx.helper.make_opsetid("", 17), onnx.helper.make_opsetid("com.microsoft", 1)]
        made = onnx.helper.make_model(graph, opset_imports=opsets, ir_version=8)
        self.model = mx.onnx.load(made.SerializeToString())
        if len(of) >= k and of[:k].min() >= 0 and of[:k].max() < blocks:
            self.plain = (numbers[:, :k] - middle[:, of[:k]]) * scales[:, of[:k]]


def in_order(rng, blocks, block, k):
    return np.repeat(np.arange(blocks), block)[:k]


def turned(rng, blocks, block, k):
    return rng.permutation(in_order(rng, blocks, block, k))


def uneven(rng, blocks, block, k):
    return rng.randint(0, blocks, k)


def one_alone(rng, blocks, block, k):
    return np.full(k, blocks - 1)


def padded(rng, blocks, block, k):
    return np.concatenate([turned(rng, blocks, block, k), np.zeros(blocks * block - k, int)])


@pytest.mark.parametrize("bits", [2, 4, 8])
@pytest.mark.parametrize("groups", [in_order, turned, uneven, one_alone, padded])
@pytest.mark.parametrize("zeros", [None, "packed", "float"])
@pytest.mark.parametrize("k", [96, 90])
def test_columns_of_any_group(bits, groups, zeros, k):
    layer = Layer(bits, k, 10, 32, bits, groups, zeros, bias=k == 90)
    for rows in (1, 3, 40):
        x = np.random.RandomState(rows).randn(rows, k).astype("float32")
        np.testing.assert_allclose(layer.model(x=x).asnumpy(), x @ layer.plain.T + layer.weights.get("b", 0),
                                   rtol=1e-4, atol=1e-4)


def test_data_in_integers():
    layer = Layer(0, 128, 16, 32, 4, turned, "packed", accuracy_level=4)
    x = np.random.RandomState(1).randn(3, 128).astype("float32")
    want = x @ layer.plain.T
    assert np.abs(layer.model(x=x).asnumpy() - want).max() < 0.02 * np.abs(want).max()


@pytest.mark.parametrize("groups, message", [
    (lambda rng, blocks, block, k: np.full(k, -1), "g_idx has -1 at position 0; accepted: 0 to 2"),
    (lambda rng, blocks, block, k: np.arange(k), "g_idx has 3 at position 3; accepted: 0 to 2"),
    (lambda rng, blocks, block, k: np.zeros(k - 1), "g_idx has 95 numbers; accepted: 96 or 96"),
])
def test_groups_that_are_none(groups, message):
    layer = Layer(0, 96, 4, 32, 4, groups)
    with pytest.raises(ValueError, match=message):
        layer.model(x=np.zeros((1, 96), "float32"))
