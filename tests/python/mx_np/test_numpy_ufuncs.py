"""Functions of mx.np that work element by element, against NumPy: one harness over their table."""
import operator
import pickle

import numpy as onp
import pytest

import mxnet as mx
from mxnet import np
from mxnet.numpy._dispatch import from_values
from mxnet.numpy._operators import BINARY, UNARY

DTYPES = ["float32", "float64", "float16", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "bool"]
# fabs keeps integers, as in 2.0
NUMPY_NAMES = {"fabs": "absolute", "bitwise_left_shift": "left_shift", "bitwise_right_shift": "right_shift", "bitwise_invert": "invert"}
SHIFTS = ("bitwise_left_shift", "bitwise_right_shift")
# Decided otherwise than NumPy, or with a result of its own for what NumPy warns of.
NAMED = [(name, row) for row in BINARY if row.arrays and row.number for name in (row.name,) + row.aliases]
FLOAT_RESULTS = {"true_divide", "divide", "hypot", "arctan2", "atan2", "ldexp", "logaddexp"}


def values(dtype, shape, seed=0, low=-9, high=9):
    rng = onp.random.default_rng(seed)
    if dtype == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype.startswith("float"):
        return rng.uniform(low, high, shape).astype(dtype)
    result = rng.integers(0 if dtype.startswith("u") else low, high, shape).astype(dtype)
    if dtype == "uint64" and result.size:
        result.flat[0] = 2**63 + 5      # where the order of uint64 and of int64 differ
    return result


def numpy_function(name):
    function = getattr(onp, NUMPY_NAMES.get(name, name), None)
    return function or getattr(onp, {"atan2": "arctan2", "pow": "power", "acos": "arccos", "asin": "arcsin", "atan": "arctan",
                                     "acosh": "arccosh", "asinh": "arcsinh", "atanh": "arctanh"}[name])


def promoted(a, b):
    """The dtype in which arrays of two dtypes meet."""
    floats = [d for d in (a, b) if d.startswith("float")]
    if len(floats) == 1:
        return floats[0]
    return onp.promote_types(a, b).name


def check(got, want, what):
    got = got.asnumpy()
    assert got.shape == onp.shape(want), what
    if got.dtype.kind == "f":
        rtol = {"float16": 5e-3, "float32": 2e-5, "float64": 1e-7}[got.dtype.name]
        with onp.errstate(all="ignore"):
            want = onp.asarray(want).astype(got.dtype).astype("float64")
        onp.testing.assert_allclose(got.astype("float64"), want, rtol=rtol, atol=rtol, err_msg=what)
    else:
        onp.testing.assert_array_equal(got, onp.asarray(want).astype(got.dtype), err_msg=what)


def second_operand(name, dtype, shape):
    b = values(dtype, shape, 1)
    if name in SHIFTS or name in ("power", "pow"):
        b = onp.abs(values(dtype, shape, 1, 0, 4)) % (2 if dtype == "bool" else 4) if dtype != "bool" else b
        return b.astype(dtype)
    if name in ("mod", "remainder", "fmod", "floor_divide", "true_divide", "divide"):
        return onp.where(b == 0, onp.ones((), dtype), b).astype(dtype)
    return b


@pytest.mark.parametrize("name,row", NAMED, ids=[n for n, _ in NAMED])
@pytest.mark.filterwarnings("ignore")
def test_two_arrays_of_all_dtypes(name, row):
    function, reference = getattr(np, name), numpy_function(name)
    for a in DTYPES:
        for b in DTYPES:
            x, y = values(a, (3, 1, 4)), second_operand(name, b, (5, 1))
            try:
                want = reference(x, y)
            except TypeError:
                continue
            got = function(from_values(x), from_values(y))
            kind = got.dtype.kind
            if want.dtype.kind == "b" or row.name == "copysign":
                assert kind == "b" or row.name == "copysign"
            elif name in FLOAT_RESULTS:
                assert kind == "f"
            else:
                assert got.dtype.name == promoted(a, b), (name, a, b)
            check(got, want, f"{name} {a} {b}")


@pytest.mark.parametrize("name,row", NAMED, ids=[n for n, _ in NAMED])
@pytest.mark.filterwarnings("ignore")
def test_default_dtypes_of_numpy(name, row):
    reference = numpy_function(name)
    if row.name in ("copysign", "ldexp"):
        pytest.skip("copysign keeps integers, as in 2.0; NumPy's ldexp takes integers alone as second operand")
    with mx.util.np_default_dtype(True):
        for a in DTYPES:
            for b in DTYPES:
                x, y = values(a, (2,)), second_operand(name, b, (2,))
                try:
                    want = reference(x, y)
                except TypeError:
                    continue
                got = getattr(np, name)(from_values(x), from_values(y))
                if not a == b == "bool":    # which stay bool, as in 2.0
                    assert got.dtype == want.dtype, (name, a, b)


@pytest.mark.parametrize("name,row", NAMED, ids=[n for n, _ in NAMED])
@pytest.mark.filterwarnings("ignore")
def test_numbers_on_either_side(name, row):
    whole = row.name.startswith("bitwise") or row.name in ("gcd", "lcm")
    for dtype in ["float32", "float16", "float64", "int8", "int32", "int64", "bool"]:
        if whole and dtype not in ("int8", "int32", "int64"):
            continue
        x = onp.abs(values(dtype, (3, 4), 2, 1, 5)).astype(dtype)
        for number in (2,) if whole else (2, 2.5, onp.float64(2.5), onp.float32(2.5), onp.int64(2), True):
            integer = isinstance(number, (int, onp.integer))
            meeting = dtype if dtype.startswith("float") else "float64" if not integer else "int64" if dtype == "bool" else dtype
            if number is True and row.truth:
                meeting = dtype
            for left in (False, True):
                args = (number, from_values(x)) if left else (from_values(x), number)
                got = getattr(np, name)(*args)
                exact = x.astype(meeting if not whole else dtype)
                other = exact.dtype.type(number)
                reference = numpy_function(name) if row.name != "ldexp" else lambda a, b: a * 2.0 ** b
                want = reference(*((other, exact) if left else (exact, other)))
                if want.dtype.kind != "b" and name not in FLOAT_RESULTS and row.name != "copysign":
                    assert got.dtype == (onp.dtype(dtype) if whole else exact.dtype), (name, dtype, number)
                if name in ("floor_divide", "mod", "remainder", "fmod") and not exact.all():
                    continue
                check(got, want, f"{name} {dtype} {number!r} {left}")


NAMED_UNARY = [(name, row) for row in UNARY for name in (row.name,) + row.aliases]
RANGES = {"arcsin": (-1, 1), "arccos": (-1, 1), "arctanh": (-0.9, 0.9), "arccosh": (1, 9), "log": (0.1, 9), "log2": (0.1, 9),
          "log10": (0.1, 9), "log1p": (-0.9, 9), "sqrt": (0, 9), "reciprocal": (1, 9), "tan": (-1.2, 1.2)}


@pytest.mark.parametrize("name,row", NAMED_UNARY, ids=[n for n, _ in NAMED_UNARY])
@pytest.mark.filterwarnings("ignore")
def test_one_array_of_all_dtypes(name, row):
    for dtype in DTYPES:
        low, high = RANGES.get(row.name, (-4, 4))
        x = values(dtype, (3, 4), 3, *((low, high) if dtype.startswith("f") else (int(onp.floor(low)), max(high, 1))))
        if row.name == "bitwise_not" and dtype.startswith("float"):
            with pytest.raises(TypeError, match="bitwise_not"):
                getattr(np, name)(from_values(x))
            continue
        if row.name == "negative" and dtype == "bool":
            with pytest.raises(TypeError, match="negative"):
                getattr(np, name)(from_values(x))
            continue
        got = getattr(np, name)(from_values(x))
        if row.kind == "bool":
            assert got.dtype == onp.bool_
        elif dtype.startswith("float") or row.kind == "same" and not (dtype == "bool" and name in ("floor", "ceil", "trunc")):
            assert got.dtype == dtype, (name, dtype)
        else:
            assert got.dtype == ("float16" if dtype in ("int8", "uint8", "bool") else "float32"), (name, dtype)
        try:
            wide = x.astype("float64") if row.kind == "float" else x
            want = x if name == "positive" else numpy_function(name)(wide)
        except TypeError:
            continue
        if row.name == "rint" or row.name == "reciprocal" and dtype[0] in "iub":
            continue
        check(got, want, f"{name} {dtype}")


@pytest.mark.parametrize("shape", [(), (0,), (2, 0, 3), (1,), (4, 5)])
def test_shapes(shape):
    x = onp.ones(shape, "float32")
    assert np.exp(from_values(x)).shape == shape
    assert np.add(from_values(x), from_values(onp.ones((1,) * len(shape), "float32"))).shape == shape
    assert np.add(from_values(x), 1).shape == shape


def test_out_and_where():
    x, y = from_values(onp.arange(6, dtype="float32")), from_values(onp.ones(6, "float32"))
    mask = onp.array([True, False] * 3)
    out = from_values(onp.full(6, 7, "float32"))
    assert np.add(x, y, out=out) is out and out.asnumpy().tolist() == [1, 2, 3, 4, 5, 6]
    assert np.multiply(x, 2, out=(out,)) is out and out.asnumpy().tolist() == [0, 2, 4, 6, 8, 10]
    np.add(x, y, out=out, where=from_values(mask))
    assert out.asnumpy().tolist() == [1, 2, 3, 6, 5, 10]
    assert np.exp(x, where=mask).asnumpy()[1] == 0
    wide = from_values(onp.zeros(6))
    assert np.add(x, y, out=wide) is wide and wide.dtype == onp.float64 and wide.asnumpy()[5] == 6
    truth = from_values(onp.zeros(6, bool))
    assert np.greater(x, 2, out=truth) is truth and truth.asnumpy().sum() == 3
    counts = from_values(onp.zeros(6, "int32"))
    with pytest.raises(TypeError, match=r"\[add\] the result is float32"):
        np.add(x, y, out=counts)
    with pytest.raises(TypeError, match=r"\[exp\] `out` is a ndarray"):
        np.exp(x, out=onp.zeros(6, "float32"))
    with pytest.raises(ValueError, match="shape"):
        np.exp(x, out=from_values(onp.zeros(5)))
    assert np.add(x, y, dtype="float64").dtype == onp.float64
    assert np.add(x, y, order="K", casting="same_kind", subok=True).dtype == onp.float32
    with pytest.raises(TypeError, match="unexpected argument 'axis'"):
        np.add(x, y, axis=1)
    with pytest.raises(NotImplementedError, match="casting"):
        np.add(x, y, casting="no")


def test_where_of_numbers():
    """Elements elsewhere keep what `out` has; without `out` they are 0."""
    for where in (False, onp.False_, mx.np.array(False)):
        out = mx.np.full((), 7.0)
        for call in (lambda: mx.np.degrees(onp.uint8(1), where=where, out=out), lambda: mx.np.add(1.5, 2, where=where, out=(out,))):
            assert call() is out and out.item() == 7
        assert mx.np.sqrt(4.0, where=where) == 0
    out = mx.np.full(2, 7.0)
    assert mx.np.multiply(2, 3, where=mx.np.array([True, False]), out=out).tolist() == [6, 7]


def test_operands_that_are_no_arrays():
    x = from_values(onp.arange(3, dtype="float32"))
    assert np.add(x, [1, 2, 3]).asnumpy().tolist() == [1, 3, 5]
    assert np.add(onp.ones(3), x).dtype == onp.float64
    assert np.add([1, 2], [3, 4]).asnumpy().tolist() == [4, 6]
    assert np.sqrt([1.0, 4.0]).asnumpy().tolist() == [1, 2]
    for got, want in [(np.exp(2), onp.exp(2)), (np.add(2, 3), 5), (np.true_divide(2, 3), 2 / 3), (np.greater(1, 2), False),
                      (np.arctan2(1, 2), onp.arctan2(1, 2)), (np.floor(1.5), 1.0), (np.bitwise_and(2, 3), 2), (np.clip(2, 0, 1), 1)]:
        assert isinstance(got, onp.generic) and got == want
    with pytest.raises(TypeError, match="as_np_ndarray"):
        np.add(x, mx.nd.ones((3,)))
    with pytest.raises(TypeError):
        np.exp("text")


def test_functions_are_functions():
    assert pickle.loads(pickle.dumps(np.add)) is np.add
    assert np.add.__name__ == "add" and np.add.__module__ == "mxnet.numpy" and "broadcast" in np.add.__doc__
    assert "exp" in repr(np.exp)

    class Holder:
        run = np.exp
    assert callable(Holder().run)


def test_gradients():
    x, y = from_values(onp.array([0.5, 1.5, 2.5])), from_values(onp.array([[2.0], [3.0]]))
    for array in (x, y):
        array.attach_grad()
    step = 1e-6
    for name in ("add", "multiply", "true_divide", "power", "arctan2", "hypot", "logaddexp", "maximum", "mod", "copysign", "fmax"):
        with mx.autograd.record():
            result = getattr(np, name)(x, y)
        result.backward()
        a, b = x.asnumpy(), y.asnumpy()
        reference = numpy_function(name)
        by_x = ((reference(a + step, b) - reference(a - step, b)) / (2 * step)).sum(axis=0)
        by_y = ((reference(a, b + step) - reference(a, b - step)) / (2 * step)).sum(axis=1, keepdims=True)
        onp.testing.assert_allclose(x.grad.asnumpy(), by_x, rtol=1e-5, atol=1e-7, err_msg=name)
        onp.testing.assert_allclose(y.grad.asnumpy(), by_y, rtol=1e-5, atol=1e-7, err_msg=name)
    whole = from_values(onp.array([1, 2, 4], "int32"))
    with mx.autograd.record():
        result = np.multiply(x, np.log(whole)) + np.where(whole > 1, x, 0) if hasattr(np, "where") else np.multiply(x, np.log(whole))
    result.backward()
    assert onp.isfinite(x.grad.asnumpy()).all()


@pytest.mark.filterwarnings("ignore")
def test_made_of_others():
    a = onp.array([1.5, -2.5, onp.inf, -onp.inf, onp.nan, 0.0, -0.0], "float32")
    x = from_values(a)
    for got, want in [(np.divmod(x, 2), onp.divmod(a, onp.float32(2))), (np.modf(x), onp.modf(a))]:
        for g, w in zip(got, want):
            onp.testing.assert_array_equal(g.asnumpy()[:2], w[:2])
    onp.testing.assert_array_equal(np.modf(x)[0].asnumpy(), onp.modf(a)[0])
    onp.testing.assert_array_equal(np.signbit(x).asnumpy(), onp.signbit(a))
    assert np.float_power(from_values(onp.array([2, 3])), -1).dtype == onp.float64
    onp.testing.assert_array_equal(np.isclose(x, x, equal_nan=True).asnumpy(), onp.isclose(a, a, equal_nan=True))
    onp.testing.assert_array_equal(np.isclose(x, 1.5).asnumpy(), onp.isclose(a, 1.5))
    assert np.allclose(x, x) is False and np.allclose(x, x, equal_nan=True) is True
    assert np.array_equal(x, x) is False and np.array_equal(x, x, equal_nan=True) is True and not np.array_equal(x, x[:2])
    assert np.array_equiv(from_values([1.0, 1.0]), from_values([[1.0], [1.0]])) is True
    onp.testing.assert_array_equal(np.nan_to_num(x, nan=1, posinf=2, neginf=3).asnumpy(), onp.nan_to_num(a, nan=1, posinf=2, neginf=3))
    onp.testing.assert_array_equal(np.clip(x, -1, None).asnumpy(), onp.clip(a, -1, None))
    onp.testing.assert_array_equal(np.clip(from_values(onp.array([2**62 + 1])), 0, 2**40).asnumpy(), [2**40])
    onp.testing.assert_array_equal(np.clip(from_values(onp.array([5], "uint64")), -3, 4).asnumpy(), [4])
    assert np.around(from_values(onp.array([155, 25])), -1).asnumpy().tolist() == [160, 20]
    copy = from_values(a)
    assert np.nan_to_num(copy, copy=False) is copy and onp.isfinite(copy.asnumpy()).all()


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_signs_of_zero_and_numbers_outside_of_the_domain(dtype):
    """Through vectors and what is behind them."""
    zeros = onp.full(37, -0.0, dtype)
    for name in ("tanh", "arcsinh", "log1p", "arctanh", "sin", "tan", "expm1", "cbrt"):
        assert onp.signbit(getattr(np, name)(from_values(zeros)).asnumpy()).all(), name
    assert onp.isnan(np.arccosh(from_values(onp.full(37, -6e4, dtype))).asnumpy()).all()
    a, b = onp.array([6.0, -6.0, 0.0, -0.0, 5.0] * 8, dtype)[:, None], onp.array([3.0, -3.0, 4.0], dtype)
    got, expected = np.mod(from_values(a), from_values(b)).asnumpy(), onp.mod(a, b)
    onp.testing.assert_array_equal(got, expected)
    assert (onp.signbit(got) == onp.signbit(expected)).all()


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int8", "int32", "int64"])
@pytest.mark.parametrize("function", [np.mod, np.fmod], ids=["mod", "fmod"])
def test_remainders_of_a_division_by_zero_are_zero(function, dtype):
    """As in 2.0.0b1, through vectors and what is behind them."""
    a, b = onp.array([5, -5, 0, 7, -7, 1] * 7, dtype), onp.array([0, 0, 0, 4, -4, 2] * 7, dtype)
    expected = [0, 0, 0, 3, -3, 1] * 7
    assert function(from_values(a), from_values(b)).asnumpy().tolist() == expected
    assert function(from_values(a), 0).asnumpy().tolist() == [0] * 42
    assert function(7, from_values(onp.array([0, 4, 0], dtype))).asnumpy().tolist() == [0, 3, 0]
    if dtype.startswith("float"):
        odd = onp.array([onp.inf, -onp.inf, onp.nan], dtype)
        assert function(from_values(odd), 0).asnumpy().tolist() == [0, 0, 0]


@pytest.mark.parametrize("dtype", ["uint8", "int8"])
def test_bytes_and_numbers_are_computed_byte_by_byte(dtype):
    """Every byte with every number, against integers of 32 bits."""
    info = onp.iinfo(dtype)
    bytes_ = onp.arange(info.min, info.max + 1).astype(dtype)
    x, wide = np.array(bytes_, dtype=dtype), bytes_.astype("int32")
    for number in range(info.min, info.max + 1):
        arithmetic = [operator.floordiv, operator.mod] if number else []
        arithmetic += [operator.lshift, operator.rshift] if 0 <= number <= 7 else []
        for call in arithmetic:
            got = call(x, number).asnumpy()
            assert got.dtype == dtype
            onp.testing.assert_array_equal(got, call(wide, number).astype(dtype), err_msg=f"{call.__name__} {number}")
        for call in (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge):
            onp.testing.assert_array_equal(call(x, number).asnumpy(), call(wide, number))
    assert (x > 300).sum() == 0 and (x > -1000).sum() == 256 and (x == 2.5).sum() == 0
    turned = np.flip(x)
    onp.testing.assert_array_equal((x < turned).asnumpy(), bytes_ < bytes_[::-1])


@pytest.mark.parametrize("call", [
    lambda np, out: np.add(np.ones(3, dtype="float32"), np.ones(3, dtype="float32"), out=out),
    lambda np, out: np.exp(np.zeros(3, dtype="float32"), out=out),
    lambda np, out: np.multiply(np.ones((2, 1), dtype="float32"), np.ones(3, dtype="float32"), out=out),
    lambda np, out: np.subtract(np.ones((), dtype="float32"), 3, out=out),
    lambda np, out: np.maximum(np.ones((1, 3), dtype="int32"), 3, out=out)])
def test_a_larger_out_is_filled(call):
    out, wanted = mx.np.zeros((2, 3), dtype="float32"), onp.zeros((2, 3), "float32")
    assert call(mx.np, out) is out
    onp.testing.assert_array_equal(out.asnumpy(), call(onp, wanted))


def test_an_out_that_is_too_small_is_refused():
    with pytest.raises(ValueError):
        mx.np.add(mx.np.ones((2, 3)), mx.np.ones((2, 3)), out=mx.np.ones(3))


@pytest.mark.parametrize("name", ["and_", "or_", "xor", "lshift", "rshift"])
def test_bools_beside_numbers_that_are_no_truth_values(name):
    """A bool is 0 or 1 there, as in NumPy: what comes out does not fit into a bool."""
    x, call = onp.array([True, False, True]), getattr(operator, name)
    for number in (1, 2, 3):
        got, wanted = call(mx.np.array(x), number), call(x, number)
        assert got.tolist() == wanted.tolist(), number
        assert got.dtype == ("bool" if number == 1 and "shift" not in name else "int64")
    if "shift" in name:
        got = call(1, mx.np.array(x))
        assert got.dtype == "int64" and got.tolist() == call(1, x).tolist()
    else:
        for truth in (True, False):
            assert call(mx.np.array(x), truth).dtype == "bool"


@pytest.mark.parametrize("name", ["bitwise_and", "bitwise_or", "bitwise_xor", "lcm", "left_shift"])
def test_whole_floats_beside_integers(name):
    """3.0 is 3, as in 1.9.1; a fraction is refused, as in NumPy."""
    x = mx.np.array([6, 12, 5], dtype="int32")
    function = getattr(mx.np, name)
    for a, b, whole in ((x, 3.0, (x, 3)), (3.0, x, (3, x))):
        result, wanted = function(a, b), function(*whole)
        assert result.dtype == wanted.dtype == "int32" and result.tolist() == wanted.tolist()
    for number in (2.5, float("inf"), float("nan")):
        with pytest.raises(mx.MXNetError, match="is not a whole number; accepted: whole numbers"):
            function(x, number)
