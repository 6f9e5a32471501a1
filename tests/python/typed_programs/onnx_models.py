"""An ONNX model that is written, run, trained, and run behind the interface of onnxruntime."""
from pathlib import Path

import numpy as np

import mxnet as mx
import mxnet.onnx.runtime as ort
from mxnet.onnx import Model


def outputs(model: Model, x: np.ndarray[tuple[int, ...], np.dtype[np.float32]]) -> dict[str, tuple[int, ...]]:
    return {name: array.shape for name, array in model.run({model.inputs[0].name: x}).items()}


def trained(model: Model) -> list[str]:
    block: mx.gluon.SymbolBlock = model.to_block()
    return [name for name, parameter in block.collect_params().items() if parameter.grad_req != "null"]


net = mx.gluon.nn.Dense(3, in_units=4)
net.initialize()
path = mx.onnx.export_model(net, in_shapes=[("n", 4)], onnx_file_path=Path("dense.onnx"))
dense = mx.onnx.load(path, ctx=mx.cpu())
data = np.ones((2, 4), dtype=np.float32)
print(list(outputs(dense, data).values()) == [(2, 3)], len(trained(dense)) == 2, dense.precision is None)

symbol, parameters = dense.convert()
print(len(symbol.list_arguments()) == 1 + len(parameters))

session = ort.InferenceSession(path, ort.SessionOptions(), providers=["CPUExecutionProvider"])
(result,) = session.run(None, {session.get_inputs()[0].name: data})
print(result.shape == (2, 3))
