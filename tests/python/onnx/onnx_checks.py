"""Runs an exported model with ONNX Runtime, and compares it with what this library computes."""
import numpy as np
import pytest

import mxnet as mx

onnx = pytest.importorskip("onnx")
ort = pytest.importorskip("onnxruntime")
from exact_sums import as_it_is, results  # noqa: E402  (needs both)


def run(path, arrays, exact=False):
    """Results of the model in the file `path`, which must be valid, for arrays by name or in the
    order of its inputs; `exact`: of integers that do not saturate (exact_sums.py)."""
    model = onnx.load(path)
    onnx.checker.check_model(model, full_check=True)
    known = {t.name for t in model.graph.initializer}
    names = [i.name for i in model.graph.input if i.name not in known]
    if not isinstance(arrays, dict):
        arrays = dict(zip(names, arrays))
    return (results if exact else as_it_is)(path, {n: arrays[n] for n in names})


def run_here(path, arrays):
    """The same by :func:`mx.onnx.load`."""
    model = mx.onnx.load(path)
    results = model.run({i.name: arrays[i.name] for i in model.inputs})
    return [results[o.name].asnumpy() for o in model.outputs]


def assert_equal(ours, theirs, tolerance=1e-4):
    """Equal shapes, dtypes and numbers."""
    assert len(ours) == len(theirs)
    for one, other in zip(ours, theirs):
        assert one.shape == other.shape and one.dtype == other.dtype
        if one.dtype.kind != "f":
            np.testing.assert_array_equal(one, other)
            continue
        finite = np.abs(one[np.isfinite(one)])
        scale = float(finite.max()) if finite.size else 1.0
        np.testing.assert_allclose(other, one, rtol=tolerance, atol=tolerance * max(scale, 1e-3))


def operators(path):
    """Names of the ONNX operators in a file, in its order."""
    return [node.op_type for node in onnx.load(path).graph.node]


def check_symbol(symbol, arrays, params, folder, tolerance=1e-4, **options):
    """Export a symbol, run it, and compare. `arrays` are inputs and `params` parameters, NumPy
    arrays by name. Returns the path."""
    inputs = {n: mx.nd.array(a, dtype=a.dtype) for n, a in arrays.items()}
    params = {n: mx.nd.array(a, dtype=a.dtype) for n, a in params.items()}
    states = {n: params[n] for n in symbol.list_auxiliary_states()}
    arguments = {n: inputs[n] if n in inputs else params[n] for n in symbol.list_arguments()}
    bound = symbol.bind(mx.cpu(), arguments, aux_states=states, grad_req="null")
    ours = [out.asnumpy() for out in bound.forward(is_train=False)]
    path = mx.onnx.export_model(symbol, params, inputs, onnx_file_path=str(folder / "model.onnx"),
                                **options)
    assert_equal(ours, run(path, arrays), tolerance)
    assert_equal(ours, run_here(path, arrays), tolerance)
    return path


def check_block(block, arrays, folder, tolerance=1e-4, others=(), **options):
    """Export a block after a call with `arrays`, run it, and compare; `others` are further lists
    of arrays for the same model. Returns the path."""
    to_ours = mx.np.array if mx.util.is_np_array() else mx.nd.array

    def ours(given):
        results = block(*(to_ours(a, dtype=a.dtype) for a in given))
        flat = []
        for result in results if isinstance(results, (list, tuple)) else [results]:
            flat += result if isinstance(result, (list, tuple)) else [result]
        return [r.asnumpy() for r in flat]

    block.hybridize()
    first = ours(arrays)
    path = mx.onnx.export_model(block, onnx_file_path=str(folder / "model.onnx"), **options)
    assert_equal(first, run(path, arrays), tolerance)
    for more in others:
        assert_equal(ours(more), run(path, more), tolerance)
    return path


def around_zero(*shape, seed=0):
    """Numbers from -2 to 2."""
    return np.random.RandomState(seed + len(shape)).uniform(-2, 2, shape).astype("float32")


def positive(*shape, seed=1):
    """Numbers from 0.2 to 0.9."""
    return np.random.RandomState(seed + len(shape)).uniform(0.2, 0.9, shape).astype("float32")
