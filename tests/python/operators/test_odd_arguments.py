"""Legal calls that few programs make: what they give is what MXNet 1.9.1 gives."""
import numpy as np
import pytest

import mxnet as mx

WITH_DTYPE = ["softmax", "softmin", "log_softmax", "cumsum", "topk", "argsort", "cast", "amp_cast"]


@pytest.mark.parametrize("name", WITH_DTYPE)
def test_a_dtype_of_none_is_float64(name):
    x = mx.nd.array([[1, 2], [4, 3]])
    assert getattr(mx.nd, name)(x, dtype=None).dtype == np.float64
    symbol = getattr(mx.sym, name)(mx.sym.Variable("x"), dtype=None)
    assert symbol.infer_type(x="float32")[1] == [np.float64]
    if hasattr(x, name):
        assert getattr(x, name)(dtype=None).dtype == np.float64


def test_a_dtype_of_none_where_arrays_are_made():
    assert mx.nd.one_hot(mx.nd.array([0, 1]), 3, dtype=None).dtype == np.float64
    assert mx.nd.arange(3, dtype=None).dtype == mx.nd.linspace(0, 1, 3, dtype=None).dtype == np.float64
    for name in ("uniform", "normal", "poisson", "exponential", "gamma"):
        assert getattr(mx.nd.random, name)(shape=2, dtype=None).dtype == np.float64
        assert getattr(mx.sym.random, name)(shape=2, dtype=None).infer_type()[1] == [np.float64]
    ones = mx.nd.ones(2)
    assert mx.nd.random.uniform(ones, ones, dtype=None).dtype == np.float64
    assert mx.sym.Variable("x").astype(None).infer_type(x="float32")[1] == [np.float64]
    for made in (mx.nd.zeros(2, dtype=None), mx.nd.ones(2, dtype=None), mx.nd.full(2, 3, dtype=None),
                 mx.nd.eye(2, dtype=None)):     # these four have a default of their own
        assert made.dtype == np.float32


def test_numpy_functions_take_none_for_their_default():
    x = mx.np.array([1.0, 2.0], dtype="float32")
    for made in (mx.npx.softmax(x, dtype=None), mx.np.sum(x, dtype=None), mx.np.random.uniform(size=2, dtype=None)):
        assert made.dtype == np.float32


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int32", "int64"])
def test_hypot_of_whole_numbers_takes_a_whole_number(dtype):
    x = mx.nd.array([0, 1, 2, 3], dtype=dtype)
    np.testing.assert_array_equal(mx.nd._internal._hypot_scalar(x, scalar=2.5).asnumpy(), [2, 2, 2, 3])
    np.testing.assert_allclose(mx.nd._internal._hypot_scalar(x.astype("float32"), scalar=2.5).asnumpy(),
                               np.hypot([0, 1, 2, 3], 2.5), rtol=1e-6)


def test_the_mean_of_no_elements_is_nan():
    no = mx.nd.zeros(0)
    out, mean, std = mx.nd.LayerNorm(mx.nd.zeros((3, 0, 5)), no, no, axis=1, output_mean_var=True)
    assert out.shape == (3, 0, 5) and mean.shape == std.shape == (3, 1, 5)
    assert np.isnan(mean.asnumpy()).all() and np.isnan(std.asnumpy()).all()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("axis", [0, 1])
def test_softmax_of_numbers_near_the_largest(dtype, axis):
    largest = float(np.finfo(dtype).max)
    rows = np.array([[largest, 1, 2], [-largest, 1, 2], [-largest] * 3, [-1, largest, 0.5 * largest]], dtype)
    want = np.array([[1, 0, 0], [0, 1 / (1 + np.e ** 2), 1 / (1 + np.e ** -2)], [1 / 3] * 3, [0, 1, 0]])
    x = mx.nd.array(rows if axis else rows.T, dtype=dtype)
    for name, sign in (("softmax", 1), ("softmin", -1)):
        got = getattr(mx.nd, name)(sign * x, axis=axis, temperature=0.5).asnumpy()
        np.testing.assert_allclose(got if axis else got.T, want, rtol=1e-6, err_msg=name)
    got = mx.nd.log_softmax(x, axis=axis, temperature=0.5).asnumpy()
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(np.exp(got if axis else got.T), want, rtol=1e-6)


def test_quadratic_does_not_subtract_infinities():
    x = mx.nd.array([3e38, -3e38])
    np.testing.assert_array_equal(mx.nd.contrib.quadratic(x, a=1.5, b=-2.0, c=3.0).asnumpy(), [np.inf, np.inf])


@pytest.mark.parametrize("call", [
    lambda dtype: mx.nd.zeros(2, dtype=dtype), lambda dtype: mx.nd.cast(mx.nd.ones(2), dtype=dtype),
    lambda dtype: mx.sym.cast(mx.sym.var("x"), dtype=dtype), lambda dtype: mx.nd.softmax(mx.nd.ones(2), dtype=dtype),
    lambda dtype: mx.nd.one_hot(mx.nd.ones(2), 3, dtype=dtype), lambda dtype: mx.nd.random.uniform(dtype=dtype)])
def test_names_of_no_dtype_are_a_type_error(call):
    for name in ("flot32", "complex64"):
        with pytest.raises(TypeError) as error:
            call(name)
        assert isinstance(error.value, mx.MXNetError) and name in str(error.value)


def test_counts_of_arrays():
    """A count that is given must be that of the arrays; a symbol gets variables for the rest."""
    x = mx.nd.ones((1, 2, 3))
    assert mx.nd.concat(x, x, num_args="2").shape == (1, 4, 3)
    for call in (lambda: mx.nd.concat(x, x, num_args=3), lambda: mx.nd.add_n(x, x, num_args=1),
                 lambda: mx.nd.stack(x, x, num_args=2.5), lambda: mx.nd.khatri_rao(x[0], x[0], num_args=None)):
        with pytest.raises(mx.MXNetError, match="num_args|it takes"):
            call()
    a = mx.sym.var("a")
    assert mx.sym.add_n(a, num_args=3, name="c").list_arguments() == ["a", "c_arg1", "c_arg2"]
    assert mx.sym.concat(a, num_args=2, name="c").list_arguments() == ["a", "c_arg1"]


def test_diag_of_a_vector_does_not_look_at_the_axes():
    x = mx.nd.array([1, 2])
    x.attach_grad()
    for axes in ({}, {"axis1": 1, "axis2": 0}, {"axis1": 3}, {"axis2": 0}):
        with mx.autograd.record():
            y = mx.nd.diag(x, k=1, **axes)
        y.backward(mx.nd.arange(9).reshape((3, 3)))
        assert y.asnumpy().tolist() == [[0, 1, 0], [0, 0, 2], [0, 0, 0]] and x.grad.asnumpy().tolist() == [1, 5]
