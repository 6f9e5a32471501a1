"""What judges models that compute with integers. On processors without VNNI ONNX Runtime adds
products of bytes in 16 bits, where they saturate. It is no judge of its own then: floats in the
place of integers are, or onnx's reference with what microsoft_reference.py adds."""
import functools

import numpy as np
import onnx
from onnx import helper, numpy_helper

from microsoft_reference import EVERY, NONE, as_it_is, evaluator

@functools.lru_cache(None)
def saturates():
    """Does ONNX Runtime add products of bytes in 16 bits here?"""
    constants = {"one": np.float32(1), "zero": np.uint8(0), "w": np.full((1, 2, 1, 1), 127, "i1"), "none": np.int8(0),
                 "step": np.float32(1000)}
    node = helper.make_node("QLinearConv", ["x", "one", "zero", "w", "one", "none", "step", "zero"], ["y"])
    graph = helper.make_graph([node], "g", [helper.make_tensor_value_info("x", onnx.TensorProto.UINT8, (1, 2, 1, 1))],
                              [helper.make_empty_tensor_value_info("y")],
                              [numpy_helper.from_array(np.asarray(v), k) for k, v in constants.items()])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    y, = as_it_is(made.SerializeToString(), {"x": np.full((1, 2, 1, 1), 255, "u1")})
    return y.item() != 65   # 2 x 255 x 127 / 1000


PRODUCTS = {"MatMulInteger", "ConvInteger", "QLinearMatMul", "QLinearConv", "QGemm", "MatMulIntegerToFloat", "DynamicQuantizeMatMul",
            "DynamicQuantizeLSTM", "QAttention"}


def results(data, feeds):
    """Of a model's bytes or file, for arrays by name, in the order of its outputs."""
    if not saturates():
        return as_it_is(data, feeds)
    made = onnx.load_from_string(data) if isinstance(data, bytes) else onnx.load(data)
    kinds = {n.op_type for n in made.graph.node}
    if not PRODUCTS & kinds:
        return as_it_is(data, feeds, NONE if "DequantizeLinear" in kinds else EVERY)
    return evaluator(made).run(None, feeds)
