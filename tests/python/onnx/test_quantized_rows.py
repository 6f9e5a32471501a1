"""Layers on 8-bit integers whose numbers of rows or images change from call to call."""
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import mxnet as mx

pytestmark = pytest.mark.cpu

MOST = 48   # rows


@pytest.fixture(autouse=True)
def plans():
    """Whether new shapes run node by node, where another rounding may decide a tie, does not depend
    on the time that calls take."""
    with mx.test_utils.environment("MXNET_ENFORCE_DETERMINISM", "1"):
        yield


class _Net:
    """Nodes of a quantized net: each value is an unsigned byte between two layers."""

    def __init__(self, seed):
        self.nodes, self.weights, self.rng = [], [], np.random.RandomState(seed)

    def constant(self, array):
        self.weights.append(numpy_helper.from_array(np.asarray(array), f"c{len(self.weights)}"))
        return self.weights[-1].name

    def node(self, op, *inputs, **attributes):
        self.nodes.append(helper.make_node(op, inputs, [f"v{len(self.nodes)}"], **attributes))
        return self.nodes[-1].output[0]

    def bytes_of(self, value, step=0.05, zero=121):
        """The same as 8 bits; an odd zero point takes another way than an even one."""
        steps = self.constant(np.float32(step)), self.constant(np.uint8(zero))
        return self.node("DequantizeLinear", self.node("QuantizeLinear", value, *steps), *steps)

    def filters(self, *shape):
        steps = (self.rng.uniform(0.01, 0.02, shape[0]) / np.prod(shape[1:]) ** 0.5).astype("float32")
        values = self.rng.randint(-127, 128, shape).astype("int8")
        return self.node("DequantizeLinear", self.constant(values), self.constant(steps), self.constant(np.zeros(shape[0], "int8")), axis=0)

    def save(self, path, result, shape):
        graph = helper.make_graph(self.nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", *shape])],
                                  [helper.make_tensor_value_info(result, TensorProto.FLOAT, None)], self.weights)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


def _dense(path, seed):
    net, width = _Net(seed), 512
    x = net.bytes_of("x")
    for i in range(3):
        weight = net.node("Transpose", net.filters(width, width), perm=[1, 0])
        y = net.node("Add", net.node("MatMul", x, weight), net.constant(net.rng.randn(width).astype("float32")))
        y = net.bytes_of(net.node("Relu", y) if i == 0 else y, zero=120 + i)
        x = net.bytes_of(net.node("Add", x, y)) if i == 1 else y
    net.save(path, x, [width])
    return [width]


def _convolutions(path, seed):
    net, width = _Net(seed), 64
    x = net.bytes_of("x")
    for size in (3, 1, 3):
        y = net.node("Conv", x, net.filters(width, width, size, size), net.constant(net.rng.randn(width).astype("float32")),
                     pads=[size // 2] * 4)
        x = net.bytes_of(net.node("Add", x, net.bytes_of(y)))
    net.save(path, x, [width, 14, 18])
    return [width, 14, 18]


@pytest.mark.parametrize("make", [_dense, _convolutions])
@pytest.mark.parametrize("seed", range(3))
def test_rows_are_the_same_in_any_company(make, seed, tmp_path):
    """A row's result does not depend on how many others there are, nor on the calls before."""
    shape = make(str(tmp_path / "m.onnx"), seed)
    rng = np.random.RandomState(seed)
    x = rng.uniform(-4, 4, [MOST, *shape]).astype("float32")
    whole = next(iter(mx.onnx.load(str(tmp_path / "m.onnx")).run({"x": x}).values())).asnumpy()
    assert len(np.unique(whole)) > 50   # bytes that tell rows apart
    model = mx.onnx.load(str(tmp_path / "m.onnx"))
    sizes = [4, 8, 9, 3, 16] + list(rng.randint(1, MOST + 1, 12))
    for n in sizes + sizes[::-1]:
        at = rng.randint(0, MOST - n + 1)
        y = next(iter(model.run({"x": x[at:at + n]}).values())).asnumpy()
        np.testing.assert_array_equal(y, whole[at:at + n], err_msg=f"{n} rows")
