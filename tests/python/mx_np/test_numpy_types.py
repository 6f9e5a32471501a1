"""dtypes of mx.np: limits, casts, promotion; NumPy's functions on mx.np's arrays; NumPy's functions
in mx.np."""
import logging
import operator

import numpy as onp
import pytest

import mxnet as mx
from mxnet import np
from mxnet.numpy import fallback, type_functions
from mxnet.numpy._dispatch import from_values

X = onp.arange(6, dtype="float32").reshape(2, 3)


def test_limits():
    for dtype in ("float16", "float32", "float64"):
        info, want = type_functions.finfo(dtype), onp.finfo(dtype)
        assert (info.bits, info.eps, info.max, info.min, info.smallest_normal) == (want.bits, want.eps, want.max, want.min, want.tiny)
    assert type_functions.finfo("bfloat16").bits == 16
    for dtype in ("int8", "uint16", "int64", "uint64"):
        info, want = type_functions.iinfo(dtype), onp.iinfo(dtype)
        assert (info.bits, info.max, info.min) == (want.bits, want.max, want.min)


def test_casts_and_meetings():
    assert type_functions.can_cast("int32", "float64") and not type_functions.can_cast("int32", "float32")
    assert type_functions.can_cast(from_values(X), "float64")
    assert type_functions.result_type(from_values(X), "int64") == onp.float32
    assert type_functions.result_type("int8", "uint8") == onp.int16
    assert type_functions.result_type(from_values(X.astype("int8")), 2) == onp.int8
    assert type_functions.result_type(from_values(X.astype("int8")), 2.5) == onp.float64
    with mx.util.np_default_dtype(True):
        assert type_functions.result_type("int64", "float32") == onp.float64
    with pytest.raises(ValueError, match="result_type"):
        type_functions.result_type()


DTYPES = ["bool", "uint8", "int8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64"]


@pytest.mark.parametrize("numpy_defaults", [False, True])
def test_one_promotion(numpy_defaults):
    """The same rule in operators, in joining, in products, in where, and in result_type; NumPy's
    with NumPy's default dtypes."""
    with mx.util.np_default_dtype(numpy_defaults):
        for a in DTYPES:
            for b in DTYPES:
                x, y = np.ones(2, dtype=a), np.ones(2, dtype=b)
                got = {(x + y).dtype, np.concatenate((x, y)).dtype, np.stack((x, y)).dtype, np.where(x, x, y).dtype,
                       np.result_type(x, y), np.result_type(a, y), np.promote_types(a, b) if numpy_defaults else (x + y).dtype}
                if a != "bool" or b != "bool":
                    got |= {np.kron(x, y).dtype, np.einsum("i,j->ij", x, y).dtype, np.outer(x, y).dtype}
                assert len(got) == 1, (a, b, got)
                if numpy_defaults or onp.dtype(a).kind == onp.dtype(b).kind:
                    assert got == {onp.result_type(a, b)}, (a, b, got)
        several = [("int16", "uint16", "float32"), ("float32", "int16", "uint16"), ("bool", "int8", "uint8"),
                   ("int64", "float16", "float32")]
        for types in several:
            want = onp.result_type(*types) if numpy_defaults else {"int64": onp.float32, "bool": onp.int16}.get(
                next((t for t in types if t in ("int64", "bool")), None), onp.float32)
            assert np.result_type(*types) == want
            assert np.concatenate([np.ones(1, dtype=t) for t in types]).dtype == want


@pytest.mark.parametrize("dtype,number,want", [("int32", 2, "int32"), ("int32", 2.5, "float64"), ("int32", True, "int32"),
                                               ("bool", True, "bool"), ("bool", 2, "int64"), ("bool", 2.5, "float64"),
                                               ("float16", 2.5, "float16"), ("bfloat16", 2.5, "bfloat16")])
def test_numbers_beside_arrays(dtype, number, want):
    x = np.ones(2, dtype=dtype)
    for got in (np.dot(x, number), np.dot(number, x), np.outer(x, number), np.kron(number, x), np.append(x, number),
                np.append(x, [number]), np.where(x, x, number), np.where(x, number, x)):
        assert got.dtype == want
    assert np.result_type(x, number) == want
    if dtype == "int32":
        onp.testing.assert_array_equal(np.dot(x, number).asnumpy(), [number, number])


TRUTHS = {"add": operator.add, "multiply": operator.mul, "maximum": None, "minimum": None, "fmax": None, "fmin": None}


@pytest.mark.parametrize("name", TRUTHS)
@pytest.mark.parametrize("truth", [True, False, onp.True_, onp.False_])
def test_a_truth_value_beside_bools_gives_bools(name, truth):
    """As NumPy: + is "or", * is "and"; numbers make integers of bools."""
    values = onp.array([True, False])
    x, function = np.array(values, dtype="bool"), getattr(np, name)
    want = getattr(onp, name)(values, truth)
    out = np.zeros(2, dtype="bool")
    everywhere = np.ones(2, dtype="bool")
    got = [function(x, truth), function(truth, x), function(x, truth, out=out), function(x, truth, where=everywhere)]
    if TRUTHS[name]:
        got += [TRUTHS[name](x, truth), TRUTHS[name](truth, x)]
    for one in got:
        assert one.dtype == onp.bool_
        onp.testing.assert_array_equal(one.asnumpy(), want)
    assert function(x, 1).dtype == onp.int64 and function(x, 1.5).dtype == onp.float64
    for dtype in ("int8", "float16", "int64"):
        assert function(np.ones(2, dtype=dtype), truth).dtype == dtype


def test_truth_values_in_place():
    x = np.array([True, False], dtype="bool")
    x *= True
    assert x.dtype == onp.bool_ and x.tolist() == [True, False]
    x += True
    assert x.dtype == onp.bool_ and x.tolist() == [True, True]
    x *= onp.False_
    assert x.dtype == onp.bool_ and x.tolist() == [False, False]


def test_truth_values_in_a_hybrid_block():
    """What was traced with bools is traced again for numbers."""
    class Net(mx.gluon.HybridBlock):
        def forward(self, x):
            return (x + True) * 1

    net = Net()
    net.hybridize()
    assert net(np.array([True, False], dtype="bool")).tolist() == [1, 1]
    assert net(np.array([3, 4], dtype="int32")).tolist() == [4, 5]
    assert net(np.array([True, False], dtype="bool")).tolist() == [1, 1]


def test_promotion_runs_no_operators(monkeypatch):
    """result_type makes no array, and an operator would need one."""
    from mxnet.ndarray import _native

    def refuse(*args, **kwargs):
        raise AssertionError("an array is made")
    for name in ("new_array", "from_values", "_new_array", "_new_filled", "_call"):
        monkeypatch.setattr(_native, name, refuse)
    assert np.result_type("int8", "uint8", "bool") == onp.int16
    assert np.result_type("bfloat16", "float16") == onp.float32
    assert str(np.result_type("bfloat16", "int32")) == "bfloat16"
    with pytest.raises(TypeError):
        np.result_type("int8", "words")


def test_functions_of_numpy_run_here():
    x = from_values(X)
    for got, want in [(onp.mean(x), 2.5), (onp.add(x, x), 2 * X), (onp.ones((2, 3)) + x, 1 + X), (x + onp.ones((2, 3)), 1 + X),
                      (onp.float64(2) * x, 2 * X), (onp.exp(x), onp.exp(X)), (onp.sum(x, axis=1), X.sum(axis=1)),
                      (onp.clip(x, 1, 2), onp.clip(X, 1, 2)), (onp.add.reduce(x), X.sum(axis=0)), (onp.median(x), 2.5)]:
        assert isinstance(got, np.ndarray)
        onp.testing.assert_allclose(got.asnumpy(), want, rtol=1e-6)
    assert (onp.ones((2, 3)) + x).dtype == onp.float64 and (onp.float64(2) * x).dtype == onp.float32
    assert onp.allclose(x, x) is True
    onp.testing.assert_allclose(x, X)
    host = X.copy()
    assert onp.add(x, x, out=host) is host and (host == 2 * X).all()
    out = from_values(onp.zeros_like(X))
    assert onp.add(x, x, out=out) is out
    x.attach_grad()
    with mx.autograd.record():
        y = onp.sum(onp.square(x))
    y.backward()
    onp.testing.assert_allclose(x.grad.asnumpy(), 2 * X)


def test_fallback_warns_once_and_is_refused_while_recording(caplog):
    x = from_values(X)
    fallback._warned.discard("frexp")
    with caplog.at_level(logging.WARNING):
        parts = np.frexp(x)
        np.frexp(x)
    assert [r for r in caplog.text.splitlines() if "np.frexp is a fallback operator" in r].__len__() == 1
    for got, want in zip(parts, onp.frexp(X)):
        assert isinstance(got, np.ndarray)
        onp.testing.assert_array_equal(got.asnumpy(), want)
    with mx.autograd.record(), pytest.raises(ValueError, match=r"\[frexp\].*autograd.record"):
        np.frexp(x)
    with mx.autograd.record(), mx.autograd.pause():
        np.frexp(x)
    out = from_values(onp.zeros(6))
    assert np.cumprod(x, out=out) is out
    for name in fallback._NAMES:
        assert callable(getattr(fallback, name)) and callable(getattr(np, name))


def test_what_looks_without_reading():
    x = from_values(X)
    assert np.ndim(x) == 2 and np.size(x) == 6 and np.size(x, 1) == 3 and np.ndim([1]) == 1
    assert np.min_scalar_type(x) == onp.float32
    assert np.real(x) is x


class _Halves(mx.gluon.HybridBlock):
    def forward(self, x):
        return x / 2, np.mean(x)


class _HalvesInALoop(mx.gluon.HybridBlock):
    def forward(self, x):
        halves, _ = mx.npx.foreach(lambda row, state: (row / 2, state), x, np.zeros(1))
        return halves, np.mean(x)


@pytest.mark.parametrize("block", [None, _Halves, _HalvesInALoop])
def test_results_follow_the_switch_from_call_to_call(block):
    """What one setting of npx.set_np(dtype=) gave is not taken for another one's, whoever remembers
    it: eager calls, compiled graphs, graphs that a node holds."""
    x = np.arange(6, dtype="int32").reshape((3, 2))
    net = block() if block else _Halves()
    if block:
        net.hybridize()
    for numpy_defaults in (False, True, False, True, True, False):
        want = onp.float64 if numpy_defaults else onp.float32
        with mx.util.np_default_dtype(numpy_defaults):
            halves, mean = net(x)
            assert halves.dtype == want and mean.dtype == want, numpy_defaults
            assert (x + np.ones(2, dtype="float32")).dtype == want
        assert halves.asnumpy().tolist() == [[0, .5], [1, 1.5], [2, 2.5]] and float(mean) == 2.5


def test_lists_of_fractions_beside_float64():
    """They keep their digits: 0.1 is what it is in the array."""
    values = [0.1, 0.7, -2.3]
    x = np.array(values, dtype="float64")
    for same in (x == values, values == x, np.equal(values, x), np.isin(x, values), np.isclose(x, values, rtol=0, atol=0)):
        assert same.all()
    assert np.array_equal(x, values) and np.array_equal(values, x) and np.array_equal(x[0], 0.1)
    for result, want in [(x - values, [0, 0, 0]), (np.maximum(x, values), values), (np.where(x > 9, x, values), values),
                         (np.where([False] * 3, x, values), values), (np.concatenate([x[:0], values]), values),
                         (np.linspace(x, values, 2)[1], values), (np.linspace(values, x, 2)[0], values),
                         (x[1:].clip(values[1:]), values[1:])]:
        assert result.dtype == "float64" and result.tolist() == want
    x += values
    assert x.tolist() == [v + v for v in values]
    assert (np.array([1.0]) + values[:1]).dtype == (np.array([1], dtype="int32") + values[:1]).dtype == "float32"


def test_where_takes_numpys_bools_for_bools():
    keep, x = np.array([True, False]), np.array([5, 6], dtype="int64")
    for yes in (True, onp.True_):
        assert np.where(keep, x, yes).dtype == np.where(keep, yes, x).dtype == "int64"
        assert np.where(keep, x, yes).tolist() == [5, 1]


def test_ends_of_differences_take_the_dtype():
    x, end = np.array([1.0, 4.0], dtype="float64"), np.array([7])
    for options in ({"to_begin": end}, {"to_end": end}, {"to_begin": end.astype("int64"), "to_end": end.astype("float16")}):
        theirs = {name: v.asnumpy() for name, v in options.items()}
        ours = np.ediff1d(x, **options)
        assert ours.dtype == "float64" and ours.tolist() == onp.ediff1d(x.asnumpy(), **theirs).tolist()
    with pytest.raises(TypeError, match="safe"):
        np.ediff1d(np.array([1, 4], dtype="int32"), to_begin=end)
    with pytest.raises(TypeError, match="stack.*None"):
        np.stack([x, end], axis=None)
