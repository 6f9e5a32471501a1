"""mx.np: arrays of values, of one value, of ranges, diagonals, triangles and windows."""
import io

import numpy as np
import pytest

import mxnet as mx
from np_table import ALL, build, check_gradient, compare, rand, rows

# Rows whose dtype is given, and rows whose dtype is the default: compared apart from it.
DTYPED = [(name, args, {**kw, "dtype": dtype}) for name, args, kw in [
    ("zeros", ((2, 3),), {}), ("zeros", (3,), {}), ("zeros", ((),), {}), ("zeros", ((0, 2),), {}), ("ones", ((2, 3),), {}),
    ("ones", (0,), {}),
    ("full", ((2, 2), 3), {}), ("full", ((), 1), {}), ("full", ((2, 3), rand(3)), {}), ("full", ((2,), 2.75), {}),
    ("arange", (5,), {}), ("arange", (2, 9, 3), {}), ("arange", (9, 2, -3), {}), ("arange", (3, 3), {}), ("arange", (0.5, 4), {}),
    ("linspace", (0, 10, 5), {}), ("linspace", (0, 10, 4), {"endpoint": False}), ("linspace", (3, 3, 1), {}), ("linspace", (0, 1, 0), {}),
    ("linspace", (0, 10, 4), {}), ("linspace", (5, 1, 3), {}),
    ("logspace", (0, 2, 3), {}), ("logspace", (0, 4, 4), {"base": 2, "endpoint": False}), ("logspace", (1, 1, 0), {}),
    ("eye", (3,), {}), ("eye", (2, 4, 1), {}), ("eye", (4, 2, -1), {}), ("eye", (2, 0), {}), ("eye", (2,), {"k": 9}),
    ("identity", (3,), {}), ("identity", (0,), {}),
    ("tri", (3,), {}), ("tri", (2, 4, 1), {}), ("tri", (4, 2, -1), {}), ("tri", (-1,), {}), ("indices", ((2, 3),), {}),
    ("indices", ((2, 0),), {}), ("indices", ((),), {}),
] for dtype in ("float32", "float64", "float16", "int32", "int64", "int8", "uint8")
    if not (name == "logspace" and dtype in ("int8", "uint8")) and not (args == (0.5, 4) and dtype[0] != "f")]
LIKE = [(name, args, kw) for s in [(), (2, 3), (0, 2)] for name, args, kw in [
    ("zeros_like", (rand(*s),), {}), ("ones_like", (rand(*s),), {}), ("full_like", (rand(*s), 1), {}), ("copy", (rand(*s),), {}),
    ("zeros_like", (rand(*s),), {"dtype": "int64"}), ("full_like", (rand(*s), 2.5), {"dtype": "float64"}), ("diagflat", (rand(*s),), {}),
    ("diagflat", (rand(*s),), {"k": -2})]]
TABLE = [
    ("diag", (rand(3),)), ("diag", (rand(3), 1)), ("diag", (rand(2, 3), -1)), ("diag", (rand(2, 3), 5)), ("diag", (rand(0),)),
    ("diagonal", (rand(2, 3),)),
    ("diagonal", (rand(2, 3, 4), 1, 2, 0)), ("tril", (rand(3, 4),)), ("tril", (rand(2, 3, 3), -1)), ("triu", (rand(4, 2), 1)),
    ("triu", (rand(3),)),
    ("triu", (rand(0, 3),)), ("tril", (rand(3, 0), 2)), ("meshgrid", (rand(2), rand(3))), ("meshgrid", (rand(2), rand(3), rand(4))),
    ("meshgrid", (rand(2),)),
    ("meshgrid", (rand(2), rand(3)), {"indexing": "ij"}), ("meshgrid", (rand(2), rand(3)), {"sparse": True}), ("meshgrid", ()),
    ("meshgrid", (rand(), rand(2))),
]
PLAIN = [
    ("tril_indices", (3,)), ("tril_indices", (3, 1, 2)), ("tril_indices", (2, -1, 5)), ("tril_indices", (0,)), ("triu_indices", (3,)),
    ("triu_indices", (3, 1, 2)),
    ("triu_indices", (2, -1, 5)), ("triu_indices", (2, 9)), ("tril_indices_from", (rand(2, 3), 1)), ("triu_indices_from", (rand(3, 2), -1)),
    ("diag_indices_from", (rand(3, 3),)), ("diag_indices_from", (rand(2, 2, 2),)),
]
WINDOWS = [(name, (m,)) for name in ("hanning", "hamming", "blackman") for m in (-1, 0, 1, 2, 5, 32)]


@pytest.mark.parametrize("row, dtype", rows(DTYPED, ("float32",)) + rows(LIKE, ALL) + rows(TABLE, ALL))
def test_values(row, dtype):
    compare(row, dtype)


@pytest.mark.parametrize("row, dtype", rows(PLAIN, ("float32",)))
def test_indices(row, dtype):
    compare(row, dtype)


@pytest.mark.parametrize("row, dtype", rows(WINDOWS, ("float32",)))
def test_windows(row, dtype):
    compare((*row, {}), dtype, same_dtype=False)
    assert getattr(mx.np, row[0])(*row[1]).dtype == np.float32
    exact = getattr(mx.np, row[0])(*row[1], dtype="float64").asnumpy()
    np.testing.assert_allclose(exact, getattr(np, row[0])(*row[1]), atol=1e-15)


@pytest.mark.parametrize("row", [r for r in TABLE if r[0] != "meshgrid" or r[1]], ids=lambda r: r[0])
def test_gradients(row):
    check_gradient(row)


@pytest.mark.parametrize("args, kwargs",
                         [(([0, 1], 4, 3), {}), ((rand(2, 2), rand(2, 1), 4), {"axis": -1}), ((0, rand(3), 3), {"endpoint": False})])
def test_spaces_between_arrays(args, kwargs):
    for name in ("linspace", "logspace"):
        compare((name, args, kwargs), "float32", same_dtype=False)


INTEGERS = np.array([1, 2])
DEFAULTS = [   # call, dtype, and dtype with NumPy's defaults
    (lambda np: np.array([1, 2]), "float32", "float64"), (lambda np: np.array(True), "float32", "float64"),
    (lambda np: np.array(INTEGERS), "int64", "int64"), (lambda np: np.array(INTEGERS.astype("float16")), "float16", "float16"),
    (lambda np: np.array(INTEGERS[0]), "int64", "int64"), (lambda np: np.asarray(3), "int64", "int64"), (lambda np: np.asarray([3]),
     "float32", "float64"),
    (lambda np: np.zeros(2), "float32", "float64"), (lambda np: np.ones(2), "float32", "float64"), (lambda np: np.empty(2), "float32",
     "float64"),
    (lambda np: np.full(2, 1), "float32", "int64"), (lambda np: np.full(2, 1.5), "float32", "float64"), (lambda np: np.full(2, True),
     "bool", "bool"),
    (lambda np: np.arange(3), "float32", "int64"), (lambda np: np.arange(3.0), "float32", "float64"), (lambda np: np.linspace(0, 1, 3),
     "float32", "float64"),
    (lambda np: np.logspace(0, 1, 3), "float32", "float64"), (lambda np: np.eye(2), "float32", "float64"), (lambda np: np.identity(2),
     "float32", "float64"),
    (lambda np: np.tri(2), "float32", "float32"), (lambda np: np.hanning(3), "float32", "float64"), (lambda np: np.indices((2,)), "int32",
     "int64"),
]


@pytest.mark.parametrize("call, plain, numpys", DEFAULTS, ids=map(str, range(len(DEFAULTS))))
def test_default_dtypes(call, plain, numpys):
    assert call(mx.np).dtype == np.dtype(plain)
    with mx.util.np_default_dtype():
        assert call(mx.np).dtype == np.dtype(numpys)


@pytest.mark.parametrize("dtype", ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32",
                                   "float64"])
def test_arrays_of_numpy_keep_their_dtype(dtype):
    """They became float32: masks chose by number, and large integers lost digits."""
    values = np.array([[0, 1], [1, 1]], dtype)
    for made in (mx.np.array(values), mx.np.asarray(values), mx.np.array(values, copy=None), mx.np.array(values.T, ndmin=3),
                 mx.np.array(values[0, 0]), mx.np.array(values.reshape(-1)[:0])):
        assert made.dtype == values.dtype
    assert mx.np.array(values).asnumpy().tolist() == values.tolist()
    assert mx.np.array(values, dtype="float32").dtype == np.float32
    assert mx.np.array(values.tolist()).dtype == mx.np.array([*values.tolist()]).dtype == np.float32


def test_masks_and_large_integers_survive():
    large = np.array([2 ** 53 + 1, -2 ** 62 - 1])
    assert mx.np.array(large).asnumpy().tolist() == large.tolist()
    mask = mx.np.array(np.array([True, False, True]))
    assert mx.np.array([1, 2, 3])[mask].asnumpy().tolist() == [1, 3]


def test_array():
    x = mx.np.array([[1, 2], [3, 4]], dtype="int8")
    y = mx.np.array(x)
    assert y.dtype == np.int8 and y.asnumpy().tolist() == [[1, 2], [3, 4]] and not mx.np.shares_memory(x, y)
    assert mx.np.array(x, dtype="float64").dtype == np.float64
    assert mx.np.array([mx.np.array(1), mx.np.array(2)]).asnumpy().tolist() == [1, 2]
    assert mx.np.array([]).shape == (0,) and mx.np.array(5).shape == ()
    assert mx.np.asarray(x) is x and mx.np.asarray(x, dtype="int8") is x and mx.np.asarray(x, copy=True) is not x
    assert mx.np.ascontiguousarray(2.0).shape == (1,)
    assert mx.np.array([1.5], dtype="bfloat16").dtype == "bfloat16"
    assert mx.np.ones(2, device=mx.cpu(0)).context == mx.cpu(0) and mx.np.ones(2, ctx="cpu(0)").context == mx.cpu(0)


def test_from_dlpack_shares_memory():
    x = np.ones(3, "float32")
    y = mx.np.from_dlpack(x)
    x[0] = 7
    assert type(y) is mx.np.ndarray and y.asnumpy().tolist() == [7, 1, 1]


def test_empty_like():
    x = mx.np.empty_like(mx.np.ones((2, 3), dtype="int8"))
    assert x.shape == (2, 3) and x.dtype == np.int8 and mx.np.empty_like(x, shape=(4,), dtype="bool").dtype == np.bool_


def test_linspace_returns_its_step():
    values, step = mx.np.linspace(0, 1, 5, retstep=True)
    assert step == 0.25 and values.shape == (5,)


def test_genfromtxt():
    x = mx.np.io.genfromtxt(io.StringIO("1,2\n3,4"), delimiter=",")
    assert type(x) is mx.np.ndarray and x.dtype == np.float64 and x.asnumpy().tolist() == [[1, 2], [3, 4]]
    assert mx.np.genfromtxt(io.StringIO("1 2"), dtype="int32").dtype == np.int32


def test_homes():
    assert mx.np.stride_tricks.broadcast_arrays is mx.np.broadcast_arrays and mx.np.function_base.meshgrid is mx.np.meshgrid
    with np.printoptions():
        mx.np.arrayprint.set_printoptions(precision=2)
        assert "0.33" in str(mx.np.array([1 / 3])) and "0.333" not in str(mx.np.array([1 / 3]))


ERRORS = [
    ("array", ([[1], [1, 2]],), TypeError), ("array", (["a"],), TypeError), ("array", ([1j],), TypeError),
    ("array", ([1], "float8"), TypeError),
    ("zeros", (-1,), ValueError), ("full", ((2, 2), rand(3)), ValueError), ("arange", (0, 3, 0), ZeroDivisionError),
    ("arange", (None,), TypeError),
    ("arange", (0, float("inf")), ValueError), ("linspace", (0, 1, -1), ValueError), ("linspace", (0, 1, 2.5), TypeError),
    ("logspace", (0, 1, -1), ValueError),
    ("diag_indices_from", (rand(2, 3),), ValueError), ("diag_indices_from", (rand(2),), ValueError),
    ("tril_indices_from", (rand(2),), ValueError),
    ("tril", (rand(),), ValueError), ("diag", (rand(),), ValueError), ("diagonal", (rand(2),), ValueError),
    ("diagonal", (rand(2, 2), 0, 1, 1), ValueError),
]


@pytest.mark.parametrize("name, args, error", ERRORS, ids=[f"{e[0]}-{i}" for i, e in enumerate(ERRORS)])
def test_errors(name, args, error):
    built = build(tuple(args), np.random.default_rng(0), "float32", lambda a: mx.np.array(a, dtype=a.dtype))
    with pytest.raises(error, match=r"^\["):
        getattr(mx.np, name)(*built)
        mx.nd.waitall()


def test_arrays_of_mx_nd_are_refused():
    with pytest.raises(ValueError, match="as_np_ndarray"):
        mx.np.array(mx.nd.ones(2))


@pytest.mark.parametrize("array", [mx.np.array, mx.nd.array], ids=["np", "nd"])
def test_none_and_texts_become_numbers(array):
    """As in 1.9.1 and 2.0: None among floats is NaN, texts are read."""
    assert np.isnan(array([1, None]).asnumpy()).tolist() == [False, True]
    assert np.isnan(array([[None, 2.5]], dtype="float64").asnumpy()).tolist() == [[True, False]]
    assert np.isnan(array(np.array([1, None], dtype=object)).asnumpy()).tolist() == [False, True]
    assert array(["1.5", "2"]).asnumpy().tolist() == [1.5, 2] and array(["3"], dtype="int32").asnumpy().tolist() == [3]
    for bad, dtype in (([1, None], "int32"), (["a"], None), ([[1, 2], [3]], None), ({1: 2}, None), ([1 + 2j], None)):
        with pytest.raises(TypeError):
            array(bad, dtype=dtype)
    for operands in ((mx.np.ones(2), None), (mx.np.ones(2), "1")):
        with pytest.raises(TypeError):
            mx.np.add(*operands)


def test_lists_of_arrays_keep_their_dtype():
    x = mx.np.array([0.1, 0.2], dtype="float64")
    assert mx.np.array_equiv(x, [x, x]) and mx.np.sum([x, x]).dtype == np.float64
    assert mx.np.add(x, [x, x]).dtype == np.float64 and mx.np.maximum([x], 0).dtype == np.float64
    assert mx.np.sum([mx.np.ones(2, dtype="int8"), mx.np.ones(2, dtype="int32")], axis=0).dtype == np.int32


def test_whole_numbers_beyond_int64():
    largest = 2**64 - 1
    for make in (mx.np.array, mx.np.asarray):
        assert make([largest, 3], dtype="uint64").tolist() == [largest, 3]
        assert make([[2**63], [1]], dtype="uint64").tolist() == [[2**63], [1]]
