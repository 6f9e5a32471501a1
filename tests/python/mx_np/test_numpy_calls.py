"""Calls of mx.np as NumPy's users write them, compared with NumPy: methods, keyword arguments and
results by position that were once missing."""
import numpy as onp
import pytest

import mxnet as mx
from mxnet import np

_RANDOM = onp.random.RandomState(4)
DATA = {
    "x": _RANDOM.randn(3, 4, 5).astype("float32"),
    "y": _RANDOM.randn(3, 4, 5).astype("float32"),
    "v": _RANDOM.randn(6).astype("float32"),
    "i": _RANDOM.randint(-5, 9, (3, 4)).astype("int32"),
    "h": _RANDOM.randn(3, 4).astype("float16"),
    "b": _RANDOM.rand(3, 4) > 0.5,
}


def _values(result):
    if isinstance(result, (tuple, list)):
        return [v for part in result for v in _values(part)]
    return [result.asnumpy() if isinstance(result, mx.np.ndarray) else result]


def _filled(np, x):
    x.fill(3)
    return x


def _out(np, name, a, b, **kwargs):
    out = np.ones(a.shape, dtype="float32")
    result = getattr(np, name)(a, b, out=out, **kwargs)
    assert result is out
    return out


def _out_by_position(np, name, a, b):
    out = np.ones(a.shape, dtype="float32")
    assert getattr(np, name)(a, b, out) is out
    return out


def _at(np, function, x, indices, values):
    function.at(x, indices, values)
    return x


def _changed(np, function, x, *args, **kwargs):
    function(x, *args, **kwargs)
    return x


CALLS = [
    lambda np, d: np.diff(d["b"]),
    lambda np, d: np.diff(d["b"], axis=0, n=2),
    lambda np, d: np.diff(d["b"], n=10),
    lambda np, d: np.diff(d["x"], n=0, prepend=0),
    lambda np, d: np.average(d["x"], keepdims=True),
    lambda np, d: np.average(d["x"], axis=(0, -1), keepdims=True),
    lambda np, d: np.average(d["i"] * 1.0, axis=0, weights=d["h"][:, 0] ** 2, keepdims=True),
    lambda np, d: np.select([d["i"] > 0, d["b"]], [d["i"], 1]),
    lambda np, d: np.select([d["i"] > 0, d["b"]], [1, d["i"]], default=7),
    lambda np, d: np.select([d["b"]], [d["h"]], default=2),
    lambda np, d: np.indices((2, 3), sparse=True),
    lambda np, d: np.unravel_index(d["i"][d["i"] >= 0], (3, 3), "F"),
    lambda np, d: np.array(d["x"], ndmin=5),
    lambda np, d: np.array(d["x"], copy=None),
    lambda np, d: _filled(np, d["x"].copy()),
    lambda np, d: _filled(np, d["i"].copy()),
    lambda np, d: d["x"].cumprod(axis=1),
    lambda np, d: d["x"].cumprod(),
    lambda np, d: d["v"].conj() + d["v"].conjugate(),
    lambda np, d: np.sort(d["v"]).searchsorted(d["x"]),
    lambda np, d: (d["x"].real, d["x"].imag, d["i"].imag),
    lambda np, d: d["i"].tobytes(),
    lambda np, d: (np.issubdtype(d["x"].dtype, np.floating), np.issubdtype(d["i"].dtype, np.unsignedinteger)),
    lambda np, d: _out(np, "logaddexp2", d["x"], d["y"]),
    lambda np, d: _out(np, "logaddexp2", d["x"], d["y"], where=d["x"] > 0),
    lambda np, d: _out(np, "nextafter", d["x"], d["y"], where=d["x"] > 0),
    lambda np, d: np.vectorize(lambda a, b: a if a > b else -b)(d["x"], 0.5),
    lambda np, d: np.split(d["v"], onp.array(3)) + np.split(d["v"], onp.array([1, 4])),
    lambda np, d: d["x"].reshape(onp.array([3, 20])),
    lambda np, d: np.add.reduce(d["x"]) + np.add.reduce(d["x"], axis=-1).sum(),
    lambda np, d: np.add.reduce(d["i"], axis=(0, 1), keepdims=True),
    lambda np, d: np.add.reduce(d["x"], None),
    lambda np, d: np.add.reduce(d["h"], 1, dtype="float32"),
    lambda np, d: np.multiply.reduce([d["v"], d["v"], d["v"]]),
    lambda np, d: np.maximum.reduce(d["x"], axis=1, initial=0.5),
    lambda np, d: np.minimum.reduce([d["x"], d["y"]]),
    lambda np, d: np.logical_and.reduce([d["b"], d["i"] > 0]),
    lambda np, d: np.logical_or.reduce(d["b"], axis=1),
    lambda np, d: np.logical_xor.reduce(d["b"], axis=1),
    lambda np, d: np.bitwise_xor.reduce(d["i"], axis=1, keepdims=True),
    lambda np, d: np.subtract.reduce(d["x"], axis=2),
    lambda np, d: np.add.accumulate(d["x"], axis=1),
    lambda np, d: np.multiply.accumulate(d["v"]),
    lambda np, d: np.maximum.accumulate(d["x"], axis=2),
    lambda np, d: np.minimum.accumulate(d["v"]),
    lambda np, d: np.subtract.outer(d["v"], d["x"][0]),
    lambda np, d: np.equal.outer(d["i"], d["i"][0]),
    lambda np, d: np.multiply.outer(d["v"], d["v"]),
    lambda np, d: _at(np, np.add, d["v"].copy(), [0, 0, 3], 1.5),
    lambda np, d: _at(np, np.subtract, d["x"].copy(), (np.array([0, 0], dtype="int64"), 1), d["x"][0, 0]),
    lambda np, d: _at(np, np.maximum, d["i"].copy(), 1, 5),
    lambda np, d: np.r_[d["v"], 1.5, d["v"][:2]],
    lambda np, d: np.r_[1:7:2, 9],
    lambda np, d: np.r_[d["x"], d["y"]],
    lambda np, d: np.r_[0:1:5j].astype("float32"),
    lambda np, d: np.c_[d["v"], d["v"]],
    lambda np, d: np.c_[d["x"][0], d["y"][0]],
    lambda np, d: _changed(np, np.put, d["x"].copy(), [0, -1, 7], [1, 2]),
    lambda np, d: _changed(np, np.put, d["i"].copy(), onp.array([[50, -1]]), 9, mode="clip"),
    lambda np, d: _changed(np, np.put, d["i"].copy(), [50, -1], [3, 4], mode="wrap"),
    lambda np, d: _changed(np, np.putmask, d["x"].copy(), d["x"] > 0, [1, 2, 3]),
    lambda np, d: _changed(np, np.putmask, d["x"].copy(), d["x"] > 0, d["y"] * 2),
    lambda np, d: _changed(np, np.place, d["x"].copy(), d["x"] > 0, [1, 2, 3]),
    lambda np, d: _changed(np, np.place, d["i"].copy(), d["b"], [7]),
    lambda np, d: np.mask_indices(4, np.tril, -1),
    lambda np, d: (d["b"][0] * 1).choose([d["i"][0], d["i"][1]]),
    lambda np, d: d["x"].compress([True, False, True], axis=1),
    lambda np, d: _out_by_position(np, "logaddexp2", d["x"], d["y"]),
    # NumPy's names of arguments
    lambda np, d: (np.ravel(a=d["x"]), np.ravel(a=d["x"], order="F")),
    lambda np, d: (np.around(a=d["x"], decimals=1), np.round(a=d["x"], decimals=1)),
    lambda np, d: np.pad(array=d["i"], pad_width=((1, 0), (0, 2)), mode="constant", constant_values=5),
    lambda np, d: (np.diag(v=d["v"], k=1), np.diagflat(v=d["v"])),
    lambda np, d: (np.hstack(tup=[d["v"], d["v"]]), np.vstack(tup=[d["v"], d["v"]]), np.dstack(tup=(d["v"], d["v"]))),
    lambda np, d: np.asarray(a=d["x"], order="C"),
    lambda np, d: np.linalg.matrix_rank(A=d["x"]),
    lambda np, d: np.array(d["x"], order="C", subok=True),
    lambda np, d: np.copy(d["x"], order="K"),
    lambda np, d: np.concatenate([d["i"], d["b"]], dtype="float64"),
    lambda np, d: (np.concatenate([d["x"], d["x"]], axis=1, dtype="float16"), np.concatenate([d["x"], d["i"]], axis=None, dtype="float64")),
    lambda np, d: (np.zeros_like(d["x"], shape=(2, 2)), np.ones_like(d["i"], shape=3), np.full_like(d["x"], 2, shape=(1, 2), dtype="int8")),
    lambda np, d: np.full_like(d["h"], [1, 2, 3, 4]),
    lambda np, d: np.full_like(d["i"], d["i"][0]),
    lambda np, d: np.broadcast_to(d["v"], (2, 6), subok=True),
    lambda np, d: [np.can_cast("int64", "int8", casting=rule) for rule in ("no", "safe", "same_kind", "unsafe")],
    lambda np, d: np.trace(d["i"], dtype="float64"),
    lambda np, d: np.linalg.svd(d["x"][0, :, :4] @ d["x"][0, :, :4].T, hermitian=True, full_matrices=True, compute_uv=False),
    lambda np, d: np.geomspace([1, 2], [10, 20], 4, axis=1, dtype="float32"),
    lambda np, d: np.bincount([]),
    lambda np, d: np.histogram(d["v"], "sturges"),
    lambda np, d: np.histogram(d["x"], bins="auto", range=(-1, 1)),
    lambda np, d: [np.array2string(d["i"]), np.array_str(d["i"], max_line_width=12)],
    lambda np, d: np.array_str(d["v"] * 100, precision=2, suppress_small=True),
    lambda np, d: [np.einsum_path("ij,jk,kl->il", d["x"][0], d["x"][1].T, d["x"][2])[0]],
    lambda np, d: np.einsum_path("ijk,lk->il", d["x"], d["x"][0], optimize="optimal")[1],
    lambda np, d: [np.base_repr(30, 16), np.binary_repr(-3, 5), np.iterable(d["v"]), np.iterable(3)],
    lambda np, d: np.asanyarray(d["x"]) + np.require(d["x"], requirements=["C"]),
    lambda np, d: [i for i, _ in np.ndenumerate(d["i"])],
    lambda np, d: [float(v) for _, v in np.ndenumerate(d["i"])],
    lambda np, d: np.poly1d([1, -2, 3])(d["i"]),
    lambda np, d: np.fromstring("1 2 3", dtype="int32", sep=" "),
    lambda np, d: (d["x"].astype("float64") @ [1, 2, 3, 4, 5], [[1, 2, 3, 4]] @ d["x"].astype("float64"), d["h"] @ d["x"][0]),
    lambda np, d: (d["i"] @ d["i"].T.astype("int8"), d["b"] @ d["x"][1], d["x"] @ onp.ones(5, "float32")),
]
if onp.lib.NumpyVersion(onp.__version__) >= "2.1.0":
    CALLS += [
        lambda np, d: (np.hstack([d["i"], d["i"]], dtype="int8"), np.vstack([d["i"], d["b"]], dtype="float32")),
        lambda np, d: np.stack([d["x"], d["x"]], dtype="int32", casting="unsafe"),
        lambda np, d: np.std(d["x"], axis=1, mean=np.mean(d["x"], axis=1, keepdims=True)),
        lambda np, d: np.var(d["x"], mean=np.mean(d["x"], keepdims=True), ddof=1, keepdims=True),
        lambda np, d: np.nanvar(np.where(d["x"] > 1, np.nan, d["x"]), axis=0, correction=1),
        lambda np, d: np.percentile(d["v"], [20, 50], method="hazen"),
        lambda np, d: np.quantile(d["x"], 0.3, axis=1, method="weibull", keepdims=True),
        lambda np, d: np.quantile(d["v"], 0.3, method="inverted_cdf", weights=abs(d["v"])),
        lambda np, d: np.unique(np.array([1.0, np.nan, np.nan], dtype="float64"), equal_nan=False, return_counts=True),
        lambda np, d: np.arange(stop=4, dtype="int64"),
    ]
if hasattr(onp, "vecmat"):
    CALLS += [lambda np, d: (np.matvec(d["x"], d["x"][0, 0]), np.vecmat(d["h"][0], d["x"]))]


@pytest.mark.parametrize("call", CALLS)
def test_as_numpy(call):
    ours = _values(call(np, {k: np.array(v, dtype=v.dtype) for k, v in DATA.items()}))
    theirs = _values(call(onp, DATA))
    assert len(ours) == len(theirs)
    for a, b in zip(ours, theirs):
        if isinstance(b, str):
            assert a == b
            continue
        assert onp.shape(a) == onp.shape(b)
        if isinstance(b, onp.ndarray) and b.dtype.kind != "i":
            assert a.dtype == b.dtype
        if isinstance(b, bytes):
            assert a == b
        else:
            onp.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


def test_array_without_copy_is_itself():
    x = np.ones(3)
    assert np.array(x, copy=False) is x and np.array(x, copy=None) is x and np.array(x) is not x
    with pytest.raises(ValueError, match="copy=False"):
        np.array([1.0], copy=False)


def test_gradient_of_select_with_numbers():
    x = np.array([1.0, -2.0, 3.0])
    x.attach_grad()
    with mx.autograd.record():
        y = np.select([x > 2, x < 0], [x * 3, 1.0], default=x * 0).sum()
    y.backward()
    assert x.grad.asnumpy().tolist() == [0.0, 0.0, 3.0]


def test_gradients_of_methods_of_functions():
    x = np.array([1.0, -2.0, 3.0])
    x.attach_grad()
    with mx.autograd.record():
        y = np.add.reduce(x * x) + np.subtract.outer(x, x)[0].sum() + np.maximum.accumulate(x)[1] + np.multiply.reduce([x, x])[2]
    y.backward()
    onp.testing.assert_allclose(x.grad.asnumpy(), [2 + 2 + 1, -4 - 1, 6 - 1 + 6], rtol=1e-6)


def test_methods_of_functions_refuse():
    x = np.ones((2, 0))
    with pytest.raises(ValueError, match="subtract.reduce"):
        np.subtract.reduce(x, axis=1)
    with pytest.raises(IndexError, match="put"):
        np.put(np.ones(3), 3, 1)
    with pytest.raises(NotImplementedError, match="r_"):
        np.r_["r", np.ones(2)]
    with pytest.raises(ValueError, match="putmask"):
        np.putmask(np.ones(3), np.array([True], dtype="bool"), 1)
    with pytest.raises(TypeError, match="add.at"):
        np.add.at(onp.ones(2), 0, 1)
    with pytest.raises(NotImplementedError, match="subtract.reduce"):
        np.subtract.reduce(np.ones(2), where=True)
    with mx.autograd.record(), pytest.raises(ValueError, match="no gradient"):
        np.add.at(np.ones(2), 0, 1)


def test_refused_casts():
    for call in (lambda np: np.concatenate([np.ones(2), np.ones(2)], dtype="int32"),
                 lambda np: np.stack([np.ones(2)], dtype="float16", casting="safe")):
        for module in (np, onp):
            with pytest.raises(TypeError):
                call(module)


def test_seeds_of_the_system():
    """Without a number the seed is the system's."""
    draws = set()
    for _ in range(3):
        np.random.seed()
        draws.add(np.random.normal(size=4).asnumpy().tobytes())
    assert len(draws) == 3
    np.random.seed(seed=5)
    first = np.random.normal(size=4)
    np.random.seed(5)
    assert (np.random.normal(size=4) == first).all()


def test_float_errors_are_numpys():
    with np.errstate(divide="ignore"):
        assert np.geterr()["divide"] == onp.geterr()["divide"] == "ignore"
    before = np.seterr(over="raise")
    assert np.seterr(**before)["over"] == "raise" and np.geterr() == before
    assert np.format_float_positional(np.array(1e-3)) == "0.001" and np.format_float_scientific(0.5) == "5.e-01"


LDEXP = [(0.0, 300), (5.0, 126), (5.0, -140), (1e-30, 150), (1e30, -160), (-1.5, 127), (3.0, 5000), (3.0, -5000), (1.5, 0), (onp.inf, -9)]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_ldexp_overflows_only_where_the_result_does(dtype):
    x, n = (onp.array(v) for v in zip(*LDEXP))
    n = n * (8 if dtype == "float64" else 1)
    with onp.errstate(all="ignore"):
        expected = onp.ldexp(x.astype(dtype), n)
    onp.testing.assert_array_equal(np.ldexp(np.array(x, dtype=dtype), np.array(n, dtype=dtype)).asnumpy(), expected)
    assert np.ldexp(0.0, 300) == 0 and np.ldexp(np.zeros(2), 300).tolist() == [0, 0]


def test_clip_with_bounds_that_fall():
    """As 1.9.1 and 2.0: what is above the upper bound becomes that one, then what is below the
    lower bound that one."""
    assert np.clip(np.array([-1.0, 0.5, 2.0]), 1, 0).tolist() == [1, 0, 0]
    assert mx.nd.clip(mx.nd.array([-1.0, 0.5, 2.0]), 1, 0).asnumpy().tolist() == [1, 0, 0]
