"""Arrays of shape () along an axis, operations in place with wider operands, casts by NumPy's
rules, and methods of functions, as NumPy has them."""
import numpy as onp
import pytest

import mxnet as mx
from mxnet import np

ALONG = [
    lambda np, x, axis: np.argsort(x, axis=axis),
    lambda np, x, axis: np.take(x, 0, axis=axis),
    lambda np, x, axis: np.take(x, [0, 0], axis=axis),
    lambda np, x, axis: np.repeat(x, 2, axis=axis),
    lambda np, x, axis: np.repeat(x, [3], axis=axis),
    lambda np, x, axis: np.cumsum(x, axis=axis),
    lambda np, x, axis: np.cumprod(x, axis=axis),
    lambda np, x, axis: np.nancumsum(x, axis=axis),
    lambda np, x, axis: np.squeeze(x, axis=axis),
    lambda np, x, axis: np.compress([True], x, axis=axis),
    lambda np, x, axis: np.sum(x, axis=axis),
    lambda np, x, axis: np.argmax(x, axis=axis),
]


@pytest.mark.parametrize("axis", [0, -1, None, 1])
@pytest.mark.parametrize("call", ALONG, ids=map(str, range(len(ALONG))))
def test_along_an_axis(call, axis):
    x = np.array(3.0)
    try:
        expected = call(onp, onp.float32(3.0) * onp.ones((), "float32"), axis)
    except ValueError:
        with pytest.raises(ValueError):
            call(np, x, axis)
        return
    result = call(np, x, axis)
    assert result.shape == expected.shape and (result.asnumpy() == expected).all()


def test_gradient_along_an_axis():
    x = np.array(3.0)
    x.attach_grad()
    with mx.autograd.record():
        y = np.cumsum(x, axis=0) * 2 + np.cumprod(x, axis=0) + np.take(x, [0, 0], axis=0).sum()
    y.backward()
    assert x.grad.shape == () and float(x.grad) == 5


OPERATORS = ["iadd", "isub", "imul", "ifloordiv", "imod", "ipow"]


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("dtype, other", [("float32", "float64"), ("float16", "float32"), ("int8", "int32"), ("int32", "int64"),
                                          ("uint8", "int32"), ("int32", "float32"), ("float64", "float32"), ("int64", "int8")])
def test_in_place_with_another_dtype(operator, dtype, other):
    """The result is cast back within its kind, and the array stays the same object and memory."""
    values, others = onp.array([7, 2, 5], dtype), onp.array([2, 3, 2], other)
    x = np.array(values, dtype=dtype)
    view, y = x[:2], np.array(others, dtype=other)
    expected = values.copy()
    try:
        getattr(expected, f"__{operator}__")(others)
    except TypeError:
        with pytest.raises(TypeError):
            getattr(x, f"__{operator}__")(y)
        assert x.tolist() == values.tolist()
        return
    assert getattr(x, f"__{operator}__")(y) is x
    assert x.dtype == dtype and x.tolist() == expected.tolist() and view.tolist() == expected[:2].tolist()


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("dtype", ["int32", "int64", "uint8", "int8"])
def test_floats_into_integers(operator, dtype):
    """Whole ones count as integers, as in 1.9.1; a fraction would be lost there."""
    values = onp.array([7, 2, 5], dtype)
    x = np.array(values, dtype=dtype)
    expected = values.copy()
    getattr(expected, f"__{operator}__")(2)
    assert getattr(x, f"__{operator}__")(2.0) is x
    assert x.dtype == dtype and x.tolist() == expected.tolist()
    for fraction in (0.5, float("inf"), float("nan"), 1e300):
        with pytest.raises(TypeError, match=f"the array of {dtype} in place cannot take"):
            getattr(x, f"__{operator}__")(fraction)
    assert x.tolist() == expected.tolist()


def test_products_of_several_dtypes():
    x = np.array([[1.0, 2.0], [3.0, 4.0]], dtype="float64")
    for other in ([1, 2], onp.array([1, 2], "int32"), np.array([1, 2], dtype="float32")):
        assert (x @ other).tolist() == [5, 11] and (x @ other).dtype == onp.float64
    assert ([1, 2] @ x).tolist() == [7, 10]
    x @= np.array([[0, 1], [1, 0]], dtype="int8")
    assert x.tolist() == [[2, 1], [4, 3]] and x.dtype == onp.float64
    with pytest.raises(TypeError):
        x @ mx.nd.ones((2, 2))
    out = np.zeros((2, 2), dtype="float32")
    assert np.matmul(x, x, out=out) is out and out.tolist() == [[8, 5], [20, 13]]
    with pytest.raises(TypeError, match="an array of the same kind"):
        np.matmul(x, x, out=np.zeros((2, 2), dtype="int32"))


def test_casts():
    x = np.array([1.5, -2.5])
    for casting in ("no", "equiv", "safe", "same_kind", "unsafe"):
        for dtype in ("float32", "float64", "float16", "int32"):
            if onp.can_cast("float32", dtype, casting):
                assert x.astype(dtype, casting=casting).dtype == dtype
            else:
                with pytest.raises(TypeError):
                    x.astype(dtype, casting=casting)
    i = np.ones(2, dtype="int8")
    with pytest.raises(TypeError):
        np.copyto(i, 1.5)
    np.copyto(i, 1.5, casting="unsafe")
    np.copyto(i, 3)
    with pytest.raises(TypeError):
        np.concatenate([x, x], out=np.zeros(4, dtype="int8"))
    assert np.concatenate([x, x], out=np.zeros(4, dtype="int8"), casting="unsafe").tolist() == [1, -2, 1, -2] and i.tolist() == [3, 3]


@pytest.mark.parametrize("name", ["add", "maximum", "subtract", "multiply"])
def test_reduceat(name):
    values = onp.arange(24.0, dtype="float32").reshape(4, 6)
    for axis, indices in ((0, [0, 2]), (1, [0, 3, 1, 5]), (-1, [4, 2]), (0, [])):
        expected = getattr(onp, name).reduceat(values, onp.array(indices, int), axis=axis)
        if indices:
            result = getattr(np, name).reduceat(np.array(values), indices, axis=axis)
            onp.testing.assert_allclose(result.asnumpy(), expected, rtol=1e-6)
    with pytest.raises(IndexError):
        getattr(np, name).reduceat(np.array(values), [0, 9])


def test_attributes_of_functions():
    for name in ("add", "multiply", "exp", "divide", "maximum", "absolute"):
        ours, theirs = getattr(np, name), getattr(onp, name)
        assert (ours.nin, ours.nout, ours.nargs, ours.identity) == (theirs.nin, theirs.nout, theirs.nargs, theirs.identity)


@pytest.mark.filterwarnings("ignore")
def test_pad_with_a_function():
    def border(vector, width, axis, kwargs):
        vector[:width[0]] = kwargs["fill"]
        vector[len(vector) - width[1]:] = axis
    x = onp.arange(6.0, dtype="float32").reshape(2, 3)
    assert np.pad(np.array(x), 1, border, fill=9).tolist() == onp.pad(x, 1, border, fill=9).tolist()


ONE = """abs arccos arccosh arcsin arcsinh arctan arctanh cbrt ceil cos cosh deg2rad degrees exp exp2 expm1 fabs fix floor
isfinite isinf isnan isneginf isposinf log log10 log1p log2 logical_not negative positive rad2deg radians reciprocal rint sign sin
sinh sqrt square tan tanh trunc copy ravel squeeze sort argsort cumsum cumprod flip argwhere flatnonzero unique nan_to_num transpose
ones_like zeros_like real imag conj signbit sinc i0 atleast_1d atleast_2d atleast_3d any all sum prod count_nonzero isreal iscomplex
diff ediff1d""".split()
TWO = """add subtract multiply divide power maximum minimum arctan2 hypot mod fmod equal less logical_and dot outer inner kron copysign
logaddexp floor_divide matmul tensordot cross vdot append searchsorted isin array_equal allclose""".split()
SMALL = ((), (0,), (2, 0), (0, 3), (1,), (1, 1))


def shapes(function, *arrays):
    """The shapes of what a function gives; the one word "error" where it refuses."""
    try:
        result = function(*arrays)
    except (ValueError, TypeError, IndexError, mx.MXNetError):
        return "error"
    several = isinstance(result, (tuple, list))
    return [getattr(r, "shape", ()) for r in result] if several else getattr(result, "shape", ())


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ONE + TWO)
def test_shapes_of_little_are_those_of_numpy(name):
    """Of arrays without dimensions, without elements, or with one."""
    ours, numpys = getattr(mx.np, name), getattr(onp, name)
    others = SMALL if name in TWO else [None]
    for a, b in [(onp.full(s, 0.5, "float32"), o) for s in SMALL for o in others]:
        given = [a] if b is None else [a, onp.full(b, 0.5, "float32")]
        assert shapes(ours, *(mx.np.array(v) for v in given)) == shapes(numpys, *given), [v.shape for v in given]
