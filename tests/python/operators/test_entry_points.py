"""Every entry point that takes a caller's array checks or converts its dtype and its size; nothing
that is handed in is read as what it is not."""
import ctypes
import os
import subprocess
import sys

import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd
from mxnet.base import _LIB

DTYPES = ["float32", "float64", "float16", "int32", "int64", "int8", "uint8"]
ODD_SHAPES = [(2, 2), (3,), (5,), (1,)]      # for arrays of four elements; (2, 2) has as many
X, Y = mx.sym.Variable("x"), mx.sym.Variable("y")


def ramp(dtype="float32", shape=(4,)):
    return mx.nd.array(np.arange(1, 1 + int(np.prod(shape))).reshape(shape), dtype=dtype)


# Each entry point: (call with a dtype and a shape for the array in question, is another dtype
# converted, is another shape of the same size accepted). What 1.9.1 answers to the same table is in
# the comments; it converts and refuses as we do unless one says otherwise.
def executor_head(dtype, shape):
    grad = mx.nd.zeros(4)
    executor = (X * 2).bind(mx.cpu(), {"x": ramp()}, {"x": grad})
    executor.forward(is_train=True)
    executor.backward([ramp(dtype, shape)])
    return grad, [2, 4, 6, 8]


def executor_head_of_double(dtype, shape):
    grad = mx.nd.zeros(4, dtype="float64")
    executor = (X * 2).bind(mx.cpu(), {"x": ramp("float64")}, {"x": grad})
    executor.forward(is_train=True)
    executor.backward([ramp(dtype, shape)])
    return grad, [2, 4, 6, 8]


def autograd_head(dtype, shape):          # 1.9.1 refuses other dtypes, and reads past the end of smaller arrays
    x = ramp()
    x.attach_grad()
    with autograd.record():
        y = x * 2
    y.backward(ramp(dtype, shape))
    return x.grad, [2, 4, 6, 8]


def head_of_hybridized(dtype, shape):
    net = mx.gluon.nn.HybridLambda(lambda F, x: (x * 2 + 1) * 3 - 1)
    net.hybridize(static_alloc=True)
    x = ramp()
    x.attach_grad()
    with autograd.record():
        y = net(x)
    y.backward(ramp(dtype, shape))
    return x.grad, [6, 12, 18, 24]


def marked_gradient(dtype, shape):        # 1.9.1 refuses other dtypes at the first backward
    x, grad = ramp(), mx.nd.zeros(shape, dtype=dtype)
    autograd.mark_variables([x], [grad])
    with autograd.record():
        y = x * 2
    y.backward()
    return grad, [2, 2, 2, 2]


def bound_gradient(dtype, shape):         # 1.9.1 writes into gradients of another shape
    grad = mx.nd.zeros(shape, dtype=dtype)
    executor = (X * 2).bind(mx.cpu(), {"x": ramp()}, {"x": grad})
    executor.forward(is_train=True)
    executor.backward([mx.nd.ones(4)])
    return grad, [2, 2, 2, 2]


def bound_argument(dtype, shape):
    return (X + Y).bind(mx.cpu(), {"x": ramp(), "y": ramp(dtype, shape)}).forward()[0], [2, 4, 6, 8]


def forward_argument(dtype, shape):
    return (X * 2).bind(mx.cpu(), {"x": mx.nd.zeros(4)}).forward(x=ramp(dtype, shape))[0], [2, 4, 6, 8]


def written_output(dtype, shape):
    out = mx.nd.zeros(shape, dtype=dtype)
    mx.nd.broadcast_add(ramp(), ramp(), out=out)
    return out, [2, 4, 6, 8]


def hybridized_input(dtype, shape):
    net = mx.gluon.nn.Dense(1, in_units=4, use_bias=False, flatten=False)
    net.initialize(mx.init.One())
    net.hybridize()
    return net(ramp(dtype, shape)), [10]


def pushed(dtype, shape):
    store, out = mx.kv.create("local"), mx.nd.zeros(4)
    store.init(1, mx.nd.ones(4))
    store.push(1, ramp(dtype, shape))
    store.pull(1, out=out)
    return out, [1, 2, 3, 4]


def pushed_beside(dtype, shape):
    store, out = mx.kv.create("local"), mx.nd.zeros(4)
    store.init(1, mx.nd.ones(4))
    store.push(1, [ramp(), ramp(dtype, shape)])
    store.pull(1, out=out)
    return out, [2, 4, 6, 8]


def pulled(dtype, shape):
    store, out = mx.kv.create("local"), mx.nd.zeros(shape, dtype=dtype)
    store.init(1, ramp())
    store.pull(1, out=out)
    return out, [1, 2, 3, 4]


def copied_from(dtype, shape):
    out = mx.nd.zeros(4)
    ramp(dtype, shape).copyto(out)
    return out, [1, 2, 3, 4]


def copied_to(dtype, shape):
    out = mx.nd.zeros(shape, dtype=dtype)
    ramp().copyto(out)
    return out, [1, 2, 3, 4]


def update_gradient(dtype, shape):
    weight = mx.nd.zeros(4)
    mx.nd.sgd_update(weight, ramp(dtype, shape), lr=1, out=weight)
    return weight, [-1, -2, -3, -4]


def update_state(dtype, shape):
    weight, momentum = mx.nd.zeros(4), mx.nd.zeros(shape, dtype=dtype)
    mx.nd.sgd_mom_update(weight, ramp(), momentum, lr=1, momentum=0.5, out=weight)
    return momentum, [-1, -2, -3, -4]


CONVERTS, REFUSES = True, False
ENTRY_POINTS = [(executor_head, CONVERTS, REFUSES), (executor_head_of_double, CONVERTS, REFUSES),
         (autograd_head, CONVERTS, CONVERTS), (head_of_hybridized, CONVERTS, CONVERTS),
         (marked_gradient, CONVERTS, REFUSES), (bound_gradient, REFUSES, REFUSES),
         (bound_argument, REFUSES, REFUSES), (forward_argument, CONVERTS, REFUSES),
         (written_output, REFUSES, REFUSES), (hybridized_input, REFUSES, REFUSES),
         (pushed, CONVERTS, REFUSES), (pushed_beside, CONVERTS, REFUSES),
         (pulled, CONVERTS, REFUSES),
         (copied_from, CONVERTS, REFUSES), (copied_to, CONVERTS, REFUSES),
         (update_gradient, REFUSES, REFUSES), (update_state, REFUSES, REFUSES)]


@pytest.mark.parametrize("entry_point, dtypes, shapes", ENTRY_POINTS, ids=[d[0].__name__ for d in ENTRY_POINTS])
def test_dtype_and_size(entry_point, dtypes, shapes):
    def fits(dtype, shape):
        result, expected = entry_point(dtype, shape)
        np.testing.assert_array_equal(result.asnumpy().ravel().astype("float64"), expected, err_msg=f"{dtype} {shape}")

    for dtype in DTYPES:
        if dtypes == CONVERTS or dtype == "float32":
            if dtype != "uint8" or entry_point is not update_state:
                fits(dtype, (4,))
            continue
        with pytest.raises((mx.MXNetError, ValueError, TypeError)):
            fits(dtype, (4,))
    for shape in ODD_SHAPES:
        if shapes == CONVERTS and shape == (2, 2):
            fits("float32", shape)
            continue
        with pytest.raises((mx.MXNetError, ValueError, TypeError)):
            fits("float32", shape)


def test_counts_of_elements_do_not_wrap():
    a = mx.nd.zeros(4)
    data = (ctypes.c_float * 4)(1, 2, 3, 4)
    for count in (3, 5, 2 ** 62 + 4, 2 ** 63):   # times four bytes the third one is 16 again
        assert _LIB.MXNDArraySyncCopyFromCPU(a.handle, data, ctypes.c_size_t(count)) == -1
        assert _LIB.MXNDArraySyncCopyToCPU(a.handle, data, ctypes.c_size_t(count)) == -1
    assert _LIB.MXNDArraySyncCopyFromCPU(a.handle, data, ctypes.c_size_t(4)) == 0
    assert a.asnumpy().tolist() == [1, 2, 3, 4]


# ---- iterables of arrays
def _twice():
    x = mx.nd.array([1, 2, 3, 4])
    x.attach_grad()
    with autograd.record():
        heads = (x * 2, x * 3)
    return x, heads


def test_one_head_gradient_beside_a_list_of_heads():
    x, heads = _twice()
    autograd.backward((heads[0],), head_grads=mx.nd.array([1, 2, 3, 4]))
    assert x.grad.asnumpy().tolist() == [2, 4, 6, 8]
    x, heads = _twice()
    assert autograd.grad((heads[0],), x, head_grads=mx.nd.array([1, 2, 3, 4]))[0].asnumpy().tolist() == [2, 4, 6, 8]
    for gradients in (mx.nd.ones((2, 4)), mx.nd.ones(4), [mx.nd.ones(4)], [mx.nd.ones(4)] * 3):
        with pytest.raises((ValueError, AssertionError), match="2 heads"):
            autograd.backward(_twice()[1], head_grads=gradients)


def test_iterables_that_make_arrays_as_they_go():
    x, heads = _twice()
    autograd.backward((h for h in heads), head_grads=(mx.nd.ones(4) * k for k in (1, 10)))
    assert x.grad.asnumpy().tolist() == [32] * 4
    rows = mx.nd.array([[1, 2], [3, 4]])
    handles = mx.base.c_handle_array(rows)   # the rows are new arrays
    assert len(handles) == 2 and [mx.nd.NDArray(ctypes.c_void_p(_copy(h))).asnumpy().tolist() for h in handles] == [[1, 2], [3, 4]]
    for wrong in ([1.0], ["x"], [heads[0], 3]):
        with pytest.raises(TypeError, match="accepted: NDArrays"):
            autograd.backward(list(_twice()[1])[:len(wrong)], head_grads=wrong)
        with pytest.raises(TypeError, match="accepted: NDArrays"):
            autograd.backward(wrong)
    with pytest.raises(ValueError, match="2 variables"):
        autograd.mark_variables([mx.nd.ones(2), mx.nd.ones(2)], mx.nd.ones((2, 2)))
    grad = mx.nd.zeros(4)
    executor = (X * 2).bind(mx.cpu(), {"x": ramp()}, {"x": grad})
    executor.forward(is_train=True)
    executor.backward(mx.nd.ones(4) for _ in range(1))
    assert grad.asnumpy().tolist() == [2] * 4


def _copy(handle):
    copy = ctypes.c_void_p()
    assert _LIB.MXShallowCopyNDArray(ctypes.c_void_p(handle), ctypes.byref(copy)) == 0
    return copy.value


# ---- records are asked once, at every entry point
INTEGER_ONLY = ["_npi_bitwise_and", "_npi_bitwise_or", "_npi_bitwise_xor",
                "_npi_bitwise_left_shift", "_npi_bitwise_right_shift", "_npi_gcd", "_npi_lcm"]


@pytest.mark.parametrize("name", INTEGER_ONLY)
def test_bound_graphs_check_dtypes(name):
    for dtype in ("float32", "float16"):
        with pytest.raises(TypeError, match="is not supported|accepted: bool and integers"):
            getattr(mx.sym._internal, name)(X, Y).bind(mx.cpu(), {"x": ramp(dtype), "y": ramp(dtype)}).forward()
        net = mx.gluon.nn.HybridLambda(lambda F, x, y: getattr(F._internal, name)(x, y))
        net.hybridize()
        with pytest.raises(TypeError, match="is not supported|accepted: bool and integers"):
            net(ramp(dtype), ramp(dtype)).wait_to_read()
    out = getattr(mx.sym._internal, name)(X, Y).bind(mx.cpu(), {"x": ramp("int64"), "y": ramp("int64")}).forward()[0]
    np.testing.assert_array_equal(out.asnumpy(), getattr(mx.nd._internal, name)(ramp("int64"), ramp("int64")).asnumpy())


MIXED = {   # name: (graph, arrays, gradients with ones from above)
    "subtract": (lambda F, x, y: F._internal._npi_subtract(x, y), ("int64", "float16"), ([1] * 4, [-1] * 4)),
    "add": (lambda F, x, y: F._internal._npi_add(x, y), ("float32", "float64"), ([1] * 4, [1] * 4)),
    "multiply": (lambda F, x, y: F._internal._npi_multiply(x, y), ("int32", "float32"), ([1, 2, 3, 4], [1, 2, 3, 4])),
    "divide by 0.25": (lambda F, x, y: F._internal._npi_true_divide_scalar(x, scalar=0.25) + y, ("int64", "float32"), ([4] * 4, [1] * 4)),
    "mean": (lambda F, x, y: F._internal._npi_mean(x) * 8 + y, ("int64", "float32"), ([8] * 4, [1] * 4)),
    "sum like": (lambda F, x, y: F._internal._sum_like(x, y), ("float32", "float16"), ([1] * 4, [0] * 4)),
    "cast": (lambda F, x, y: F.Cast(x * 2, dtype="float64") * F.Cast(y, dtype="float64"),
             ("float16", "float32"), ([2, 4, 6, 8], [2, 4, 6, 8])),
}


@pytest.mark.parametrize("name", MIXED)
def test_gradients_of_mixed_dtypes(name):
    graph, dtypes, expected = MIXED[name]
    if name in ("divide by 0.25", "mean"):
        def graph_part(F, x):
            return F._internal._npi_true_divide_scalar(x, scalar=0.25) if name != "mean" else F._internal._npi_mean(x) * 8
        graph = (lambda F, x, y: F.broadcast_add(graph_part(F, x), y))
    arrays = [ramp(t) for t in dtypes]
    grads = [mx.nd.zeros(4, dtype=t) for t in dtypes]
    executor = graph(mx.sym, X, Y).bind(mx.cpu(), dict(zip("xy", arrays)), dict(zip("xy", grads)))
    out = executor.forward(is_train=True)[0]
    executor.backward([mx.nd.ones(out.shape, dtype=out.dtype)])
    for a in arrays:
        a.attach_grad()
    with autograd.record():
        y = graph(mx.nd, *arrays)
    y.backward()
    np.testing.assert_array_equal(out.asnumpy(), y.asnumpy())
    for bound, array, right, dtype in zip(grads, arrays, expected, dtypes):
        assert bound.dtype == array.grad.dtype == np.dtype(dtype)
        np.testing.assert_array_equal(bound.asnumpy(), right, err_msg="bound")
        if name != "sum like" or right[0]:
            np.testing.assert_array_equal(array.grad.asnumpy(), right, err_msg="eager")


@pytest.mark.parametrize("name, expected", [("prod", [6, 3, 2]), ("nanprod", [6, 3, 2]), ("max", [0, 0, 1]), ("sum", [1, 1, 1])])
def test_gradients_of_reduced_integers(name, expected):
    x = mx.nd.array([1, 2, 3], dtype="int32")
    x.attach_grad()
    with autograd.record():
        y = getattr(mx.nd, name)(x)
    y.backward()
    assert x.grad.dtype == np.int32 and x.grad.asnumpy().tolist() == expected


@pytest.mark.parametrize("name, values, expected", [
    ("prod", [1e30, 1e30, 0], [0, 0, np.inf]), ("prod", [np.inf, 2, 3], [np.nan, np.inf, np.inf]),
    ("nanprod", [2, np.nan, 3], [3, 0, 2]), ("nanprod", [0, np.nan, 3], [3, 0, 0]),
    ("nanprod", [np.inf, np.nan, 2], [np.nan, 0, np.inf]), ("nanprod", [1e30, np.nan, 1e30], [np.inf, 0, np.inf])])
def test_gradients_of_products_that_are_not_finite(name, values, expected):
    """inf / inf is NaN. An infinite product does not get into elements that it is not for."""
    x = mx.nd.array(values)
    x.attach_grad()
    with autograd.record():
        y = getattr(mx.nd, name)(x)
    y.backward()
    np.testing.assert_array_equal(x.grad.asnumpy(), expected)


# ---- single crashes
def test_least_common_multiple_of_the_smallest_integer():
    least = -2 ** 63
    a, b = np.array([least, least, 6, 4, least], "int64"), np.array([3, least, least, 6, -1], "int64")
    for name, reference in (("_npi_lcm", np.lcm), ("_npi_gcd", np.gcd)):
        np.testing.assert_array_equal(getattr(mx.nd._internal, name)(mx.nd.array(a, dtype="int64"),
                                                                     mx.nd.array(b, dtype="int64")).asnumpy(), reference(a, b))


def test_transpose_of_no_dimensions():
    with mx.util.np_shape(True):
        a, grad = mx.nd.ones(()) * 3, mx.nd.zeros(())
        executor = mx.sym.transpose(X).bind(mx.cpu(), {"x": a}, {"x": grad})
        assert executor.forward(is_train=True)[0].asscalar() == 3
        executor.backward([mx.nd.ones(()) * 5])
        assert grad.asscalar() == 5


@pytest.mark.parametrize("kind, value", [("max", -np.inf), ("sum", 0.0)])
@pytest.mark.parametrize("layout", ("NCHW", "NHWC"))
def test_pooling_of_empty_windows(kind, value, layout):
    with mx.util.np_shape(True):
        for dtype in ("float32", "float64", "float16", "bfloat16"):
            for channels in (2, 8, 33):
                data = mx.nd.zeros((2, channels, 0, 3) if layout == "NCHW" else (2, 0, 3, channels), dtype=dtype)
                rows = 2 * channels
                memory = mx.nd.full((3 * rows,), 7, dtype=dtype)
                out = memory[rows:2 * rows].reshape((2, channels, 1, 1) if layout == "NCHW" else (2, 1, 1, channels))
                mx.nd.Pooling(data, global_pool=True, pool_type=kind, layout=layout, out=out)
                found = memory.astype("float32").asnumpy()
                assert (found[:rows] == 7).all() and (found[2 * rows:]
                                                      == 7).all() and (found[rows:2 * rows] == value).all(), (dtype, channels)


class _Tensor(ctypes.Structure):   # a DLManagedTensor of four floats
    _fields_ = [("data", ctypes.c_void_p), ("device", ctypes.c_int32 * 2), ("ndim", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.c_void_p), ("byte_offset", ctypes.c_uint64),
                ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


def test_exchanged_tensors_without_data_or_shape():
    memory, sizes = (ctypes.c_float * 4)(1, 2, 3, 4), (ctypes.c_int64 * 1)(4)

    def take(**fields):
        tensor = _Tensor(ctypes.addressof(memory), (1, 0), 1, 2, 32, 1, sizes, None, 0, None, None)
        for key, value in fields.items():
            setattr(tensor, key, value)
        handle = ctypes.c_void_p()
        if _LIB.MXNDArrayFromDLPackEx(ctypes.byref(tensor), ctypes.c_bool(True), ctypes.byref(handle)) != 0:
            raise mx.base.get_last_ffi_error()
        return mx.nd.NDArray(handle)

    assert take().asnumpy().tolist() == [1, 2, 3, 4]
    for wrong in ({"data": None}, {"shape": None}, {"data": None, "shape": None},
                  {"shape": (ctypes.c_int64 * 1)(-1)}, {"shape": (ctypes.c_int64 * 1)(2 ** 61)},
                  {"ndim": -1},
                  {"ndim": 10 ** 6}, {"lanes": 2}):
        with pytest.raises((ValueError, TypeError), match="from_dlpack"):
            take(**wrong)
    assert take(data=None, shape=(ctypes.c_int64 * 1)(0)).size == 0


def test_numbers_of_arrays_are_bounded():
    a, most = mx.nd.ones(2), 2 ** 31 - 1
    calls = [lambda: mx.nd.split(a, num_outputs=most), lambda: mx.sym.split(X, num_outputs=most), lambda: mx.sym.Concat(X, num_args=most),
             lambda: mx.nd.multi_sgd_update(a, a, num_weights=most, lrs=(1,), wds=(0,)), lambda: mx.nd.multi_all_finite(a, num_arrays=most),
             lambda: mx.nd.multi_sum_sq(a, num_arrays=most), lambda: mx.nd.reset_arrays(a, num_arrays=most)]
    for call in calls:
        with pytest.raises(ValueError, match="accepted: 0 to 1048576"):
            call()
    with pytest.raises(ValueError):
        mx.nd.multi_all_finite(a, num_arrays=-3)


@pytest.mark.parametrize("entry_point", ("eager", "bind", "predict"))
def test_operators_of_gradients_survive_anything(entry_point):
    script = os.path.join(os.path.dirname(__file__), "hostile_gradients.py")
    done = subprocess.run([sys.executable, script, entry_point, "0", "100000"], capture_output=True, text=True, timeout=500)
    assert done.returncode == 0 and done.stdout.endswith("end\n"), (done.returncode, done.stdout[-200:], done.stderr[-2000:])
    assert len(done.stdout.split()) > 150


def test_operators_of_gradients_in_files():
    x = ramp()
    x.attach_grad()
    with autograd.record():
        slope = autograd.grad(x.sin(), [x], create_graph=True)[0]
    text = autograd.get_symbol(slope).tojson()     # what wants equal shapes and dtypes everywhere is read back, as in 1.9.1
    assert "_backward_sin" in text
    names = mx.sym.load_json(text).list_arguments()
    out = mx.sym.load_json(text).bind(mx.cpu(), dict(zip(names, (mx.nd.ones(4), x)))).forward()[0]
    np.testing.assert_allclose(out.asnumpy(), np.cos([1, 2, 3, 4]), rtol=1e-6)
    with pytest.raises(ValueError, match="made by gradients alone"):
        mx.sym.load_json(text.replace("_backward_sin", "_backward_Pooling").replace('"name": "var0"', '"name": "v"').replace(
            '"op": "_backward_Pooling",', '"op": "_backward_Pooling", "attrs": {"kernel": "(2,)"},'))
    with pytest.raises(ValueError, match="made by gradients alone"):
        mx.nd._internal._backward_Convolution(x, x, x, kernel=(2,), num_filter=2)


# ---- the predict API
def _predictor(symbol, params, tmp_path, inputs):
    path = str(tmp_path / "p.params")
    mx.nd.save(path, params)
    with open(path, "rb") as f:
        blob = f.read() if params else b""
    ends, sizes = [0], []
    for shape in inputs.values():
        sizes += shape
        ends.append(len(sizes))
    keys, handle = [k.encode() for k in inputs], ctypes.c_void_p()
    if _LIB.MXPredCreate(symbol.tojson().encode(), blob, len(blob), 1, 0, ctypes.c_uint(len(keys)), (ctypes.c_char_p * len(keys))(*keys),
                         (ctypes.c_uint * len(ends))(*ends), (ctypes.c_uint * len(sizes))(*sizes), ctypes.byref(handle)) != 0:
        raise mx.base.get_last_ffi_error()
    data = (ctypes.c_float * 3)(1, 1, 1)
    assert _LIB.MXPredSetInput(handle, b"data", data, 3) == 0 and _LIB.MXPredForward(handle) == 0
    out = (ctypes.c_float * 2)()
    assert _LIB.MXPredGetOutput(handle, 0, out, 2) == 0
    assert _LIB.MXPredSetInput(handle, b"data", data, 2) == -1 and _LIB.MXPredGetOutput(handle, 0, out, 3) == -1
    assert _LIB.MXPredFree(handle) == 0
    return list(out)


def test_parameters_of_predictors(tmp_path, capfd):
    dense = mx.sym.BatchNorm(mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=2, name="fc"), name="bn", fix_gamma=False)
    params = {"arg:fc_weight": mx.nd.array([[1, 2, 3], [4, 5, 6]]), "arg:fc_bias": mx.nd.zeros(2),
              "arg:bn_gamma": mx.nd.ones(2), "arg:bn_beta": mx.nd.zeros(2),
              "aux:bn_moving_mean": mx.nd.zeros(2), "aux:bn_moving_var": mx.nd.ones(2)}
    inputs = {"data": (1, 3)}
    assert np.allclose(_predictor(dense, params, tmp_path, inputs), [6, 15], rtol=1e-2)
    assert np.allclose(_predictor(dense, {k[4:]: v for k, v in params.items()}, tmp_path, inputs), [6, 15], rtol=1e-2)
    for missing in params:
        with pytest.raises(ValueError, match=missing[4:]):
            _predictor(dense, {k: v for k, v in params.items() if k != missing}, tmp_path, inputs)
    with pytest.raises(ValueError, match="fc_weight, fc_bias, bn_gamma, bn_beta, bn_moving_mean, bn_moving_var; accepted"):
        _predictor(dense, {}, tmp_path, inputs)
    # labels need no values: by their name, or because every operator reads them as such
    for label in ("softmax_label", "whatever"):
        trained = mx.sym.SoftmaxOutput(dense, mx.sym.Variable(label), name="softmax")
        assert np.allclose(sum(_predictor(trained, params, tmp_path, inputs)), 1)
    with pytest.raises(ValueError, match="have other;"):
        _predictor(mx.sym.broadcast_add(dense, mx.sym.Variable("other", shape=(1,))), params, tmp_path, inputs)
    capfd.readouterr()
    _predictor(dense, {**params, "arg:left_over": mx.nd.ones(1)}, tmp_path, inputs)
    assert "left_over, which the graph does not use" in capfd.readouterr().err
