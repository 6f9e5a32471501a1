"""Answers of C functions that programs written for 1.9.1 rely on. The numbers are those that its
library gave."""
import ctypes
import subprocess
import sys
import textwrap
from ctypes import byref, c_char_p, c_float, c_int, c_uint, c_void_p

import numpy as np
import pytest

import mxnet as mx
from mxnet.base import _LIB, check_call


def shape_of(handle):
    ndim, dims = c_int(), ctypes.POINTER(c_int)()
    check_call(_LIB.MXNDArrayGetShapeEx(handle, byref(ndim), byref(dims)))
    return ndim.value, [dims[i] for i in range(ndim.value)]


def part_of(array, index):
    out = c_void_p()
    check_call(_LIB.MXNDArrayAt(array.handle, c_uint(index), byref(out)))
    shape = shape_of(out)
    check_call(_LIB.MXNDArrayFree(out))
    return shape


def test_handles_of_arrays_are_pointers():
    """A program hands them to C functions as they are. A number would be cut to 32 bits."""
    x = mx.nd.array([1, 2, 3])
    assert isinstance(x.handle, c_void_p) and x.handle.value and shape_of(x.handle) == (1, [3])
    assert mx.base.c_handle_array([x, x])[1] == x.handle.value


def test_an_array_without_memory_has_no_dimensions_unless_shapes_are_those_of_numpy():
    out = c_void_p()
    check_call(_LIB.MXNDArrayCreateNone(byref(out)))
    assert shape_of(out) == (0, [])
    with mx.util.np_shape(True):
        assert shape_of(out) == (-1, [])
    check_call(_LIB.MXNDArrayFree(out))


def test_an_element_has_one_dimension_unless_shapes_are_those_of_numpy():
    x = mx.nd.array([1, 2, 3])
    assert part_of(x, 1) == (1, [1])
    rows = mx.nd.ones((3, 2))
    assert part_of(rows, 1) == (1, [2])
    with mx.util.np_shape(True):
        assert part_of(x, 1) == (0, [])


def test_arrays_of_equally_many_elements_are_copied():
    target, source, smaller = mx.nd.zeros((3, 2)), mx.nd.arange(6).reshape((2, 3)), mx.nd.arange(5)
    check_call(_LIB.MXNDArraySyncCopyFromNDArray(target.handle, source.handle, -1))
    assert target.asnumpy().tolist() == [[0, 1], [2, 3], [4, 5]]
    with pytest.raises(mx.MXNetError):
        check_call(_LIB.MXNDArraySyncCopyFromNDArray(target.handle, smaller.handle, -1))


def test_storage_types_outlive_other_calls():
    x = mx.nd.array([1, 2, 3])
    x.attach_grad()
    with mx.autograd.record():
        y = x * x
    grads, stypes = ctypes.POINTER(c_void_p)(), ctypes.POINTER(c_int)()
    check_call(_LIB.MXAutogradBackwardEx(1, (c_void_p * 1)(y.handle), None, 1, (c_void_p * 1)(x.handle), 0, 0, 1,
                                         byref(grads), byref(stypes)))
    assert shape_of(c_void_p(grads[0])) == (1, [3]) and stypes[0] == 0
    check_call(_LIB.MXNDArrayFree(c_void_p(grads[0])))


def test_a_variable_is_printed_by_its_name():
    x, text = mx.sym.var("x"), c_char_p()
    check_call(_LIB.MXSymbolPrint(x.handle, byref(text)))
    assert text.value == b"Variable:x\n"


def test_flags_of_cached_operators_are_checked():
    out, relu = c_void_p(), mx.sym.relu(mx.sym.var("x"))
    for value, right in ((b"True", True), (b"0", True), (b"maybe", False)):
        result = _LIB.MXCreateCachedOpEx(relu.handle, 1, (c_char_p * 1)(b"static_alloc"), (c_char_p * 1)(value), byref(out))
        assert (result == 0) == right
        if right:
            check_call(_LIB.MXFreeCachedOp(out))
    with pytest.raises(mx.MXNetError, match="static_alloc is 'maybe'"):
        check_call(-1)


def predictor(symbol, params, **shapes):
    out, data = c_void_p(), params
    sizes = [d for shape in shapes.values() for d in shape]
    ends = np.cumsum([0] + [len(s) for s in shapes.values()])
    check_call(_LIB.MXPredCreate(symbol.tojson().encode(), data, len(data), 1, 0, len(shapes),
                                 (c_char_p * len(shapes))(*[k.encode() for k in shapes]),
                                 (c_uint * len(ends))(*ends.tolist()), (c_uint * len(sizes))(*sizes), byref(out)))
    return out


@pytest.fixture
def model(tmp_path):
    symbol = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2, name="fc")
    file = str(tmp_path / "m.params")
    mx.nd.save(file, {"arg:fc_weight": mx.nd.ones((2, 3)), "arg:fc_bias": mx.nd.array([0, 1])})
    with open(file, "rb") as stream:
        return symbol, stream.read()


def test_partial_forward_past_the_end_leaves_nothing(model):
    made, left, steps = predictor(*model, data=(1, 3)), c_int(), []
    check_call(_LIB.MXPredSetInput(made, b"data", (c_float * 3)(1, 2, 3), 3))
    for step in range(20):
        check_call(_LIB.MXPredPartialForward(made, step, byref(left)))
        steps.append(left.value)
    assert steps[-1] == 0 and sorted(steps, reverse=True) == steps
    result = (c_float * 2)()
    check_call(_LIB.MXPredGetOutput(made, 0, result, 2))
    assert list(result) == [6, 7]
    assert _LIB.MXPredPartialForward(made, -1, byref(left)) != 0
    check_call(_LIB.MXPredFree(made))


def reshaped(made, **shapes):
    sizes = [d for shape in shapes.values() for d in shape]
    ends = np.cumsum([0] + [len(s) for s in shapes.values()])
    out = c_void_p()
    check_call(_LIB.MXPredReshape(len(shapes), (c_char_p * len(shapes))(*[k.encode() for k in shapes]),
                                  (c_uint * len(ends))(*ends.tolist()), (c_uint * len(sizes))(*sizes), made, byref(out)))
    return out


def test_a_predictor_is_reshaped_with_the_shape_of_its_label(model):
    """Which was no input when it was made. Parameters may come with their own shapes, too."""
    symbol, params = model
    made = predictor(mx.sym.SoftmaxOutput(symbol, name="softmax"), params, data=(1, 3))
    for more in ({}, {"softmax_label": (2,)}, {"softmax_label": (2,), "fc_weight": (2, 3), "other": (7,)}):
        larger, result = reshaped(made, data=(2, 3), **more), (c_float * 4)()
        check_call(_LIB.MXPredSetInput(larger, b"data", (c_float * 6)(), 6))
        check_call(_LIB.MXPredSetInput(larger, b"softmax_label", (c_float * 2)(), 2))
        check_call(_LIB.MXPredForward(larger))
        check_call(_LIB.MXPredGetOutput(larger, 0, result, 4))
        assert list(result) == pytest.approx([0.268941, 0.731059] * 2, rel=1e-5)
        check_call(_LIB.MXPredFree(larger))
    for wrong in ({"dada": (2, 3)}, {"dada": (2, 3), "softmax_label": (2,)}):       # data would keep its shape
        with pytest.raises(mx.MXNetError, match="none for data; accepted: names of inputs"):
            reshaped(made, **wrong)
    with pytest.raises(mx.MXNetError, match=r"shapes of inputs that were given: data \(2,7\)$"):
        reshaped(made, data=(2, 7))
    with pytest.raises(mx.MXNetError, match=r"shapes of inputs that were given: data \(2,7\)$"):
        predictor(symbol, params, data=(2, 7))
    with pytest.raises(mx.MXNetError, match=r"\(2,4\) for the parameter fc_weight; accepted: its own, \(2,3\)"):
        reshaped(made, data=(2, 3), fc_weight=(2, 4))
    check_call(_LIB.MXPredFree(made))


def test_shapes_of_what_a_predictor_does_not_have_are_ignored(tmp_path):
    program = textwrap.dedent(f"""
        import sys
        sys.path.insert(0, {str(__file__.rpartition('/')[0])!r})
        import mxnet as mx
        import test_c_api_of_1x as this
        symbol = mx.sym.relu(mx.sym.var("data"))
        mx.nd.save("m.params", {{}})
        made = this.predictor(symbol, open("m.params", "rb").read(), data=(1, 3), other=(7,))
        this.check_call(this._LIB.MXPredForward(made))
    """)
    run = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr
    assert "the graph has no input other" in run.stderr
