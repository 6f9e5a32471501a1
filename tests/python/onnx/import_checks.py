"""Loads models of a few nodes, and compares what they compute with ONNX Runtime."""
import numpy as np
import pytest

import mxnet as mx

onnx = pytest.importorskip("onnx")
ort = pytest.importorskip("onnxruntime")
import exact_sums  # noqa: E402  (needs both)

node = onnx.helper.make_node
MICROSOFT = {"domain": "com.microsoft"}
LEARNING = {"domain": "ai.onnx.ml"}


def model(nodes, feeds, weights, opset=17, outputs=()):
    """The bytes of a model whose inputs are like `feeds`; its results are those named y..., and
    `outputs`."""
    def info(name, array):
        kind = onnx.helper.np_dtype_to_tensor_dtype(array.dtype)
        return onnx.helper.make_tensor_value_info(name, kind, list(array.shape))

    names = [o for n in nodes for o in n.output if o.startswith("y") or o in outputs]
    graph = onnx.helper.make_graph(
        nodes, "graph", [info(k, v) for k, v in feeds.items()],
        [onnx.ValueInfoProto(name=n) for n in names],
        [onnx.numpy_helper.from_array(v, k) for k, v in weights.items()])
    opsets = [onnx.helper.make_opsetid(d, v)
              for d, v in (("", opset), ("com.microsoft", 1), ("ai.onnx.ml", 3))]
    made = onnx.helper.make_model(graph, opset_imports=opsets, ir_version=8)
    return made.SerializeToString()


def theirs(data, feeds, exact=True):
    """Results of ONNX Runtime; `exact`: of integers that do not saturate."""
    return exact_sums.results(data, feeds) if exact else exact_sums.as_it_is(data, feeds)


def ours(data, feeds):
    made = mx.onnx.load(data)(**feeds)
    made = made if isinstance(made, (list, tuple)) else [made]
    return [m.asnumpy() if hasattr(m, "asnumpy") else np.array(m) for m in made]


def check(nodes, feeds, weights=(), opset=17, rtol=1e-4, atol=1e-5):
    """Equal shapes, dtypes and numbers, but for tolerances; `nodes` may be one."""
    nodes = nodes if isinstance(nodes, list) else [nodes]
    data = model(nodes, feeds, dict(weights), opset)
    want, got = theirs(data, feeds), ours(data, feeds)
    assert len(got) == len(want)
    for one, other in zip(got, want):
        assert one.shape == other.shape
        assert one.dtype == other.dtype
        np.testing.assert_allclose(one.astype(float), other.astype(float), rtol=rtol, atol=atol)
