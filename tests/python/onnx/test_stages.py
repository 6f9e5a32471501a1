"""Models that are cut where shapes depend on contents."""
import numpy as np

import mxnet as mx
from import_checks import model, node, onnx, theirs


def test_constants_are_known_behind_a_cut():
    """However many contents there were before: they are no part of what plans are made for."""
    def constant(name, value):
        return node("Constant", [], [name], value=onnx.numpy_helper.from_array(np.array(value)))

    nodes = [constant("shape", [-1, 1]), constant("begin", [0]), constant("axis", [1]),
             node("NonZero", ["x"], ["places"]), node("Reshape", ["places", "shape"], ["column"]),
             node("Neg", ["begin"], ["zero"]), node("Unsqueeze", ["column", "axis"], ["deep"]),
             node("Slice", ["deep", "zero", "long", "zero"], ["y"])]
    data = model(nodes, {"x": np.zeros(40, "float32")}, {"long": np.array([30])})
    net = mx.onnx.load(data)
    for count in range(1, 25):
        x = (np.arange(40) < count).astype("float32")
        np.testing.assert_array_equal(net(x).asnumpy(), theirs(data, {"x": x})[0])
    plans = net.explain()
    for name in ("shape", "begin", "zero", "axis"):
        assert f"contents of {name}" not in plans
    assert "(Reshape) on arrays" not in plans and "(Slice) on arrays" not in plans
