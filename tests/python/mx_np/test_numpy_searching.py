"""mx.np: searching, sorting, choosing, sets and differences."""
import numpy as np
import pytest

import mxnet as mx
from np_table import ALL, FLOATS, INTEGERS, build, check_gradient, compare, fixed, rand, rows

V, M, B = rand(6), rand(2, 3), rand(2, 3, 4)
SHAPES = [(), (1,), (0,), (2, 3), (3, 0), (2, 1, 4)]
TABLE = [(name, (rand(*s),)) for s in SHAPES for name in ("nonzero", "flatnonzero", "argwhere", "unique")
         if not (name == "nonzero" and s == ())] + [
    ("where", (rand(2, 3, dtype="bool"), M, M)), ("where", (rand(3, dtype="int32"), M, rand(2, 1))),
    ("where", (rand(2, 1, low=0, high=2), rand(), rand(3))),
    ("where", (M,)), ("where", (rand(0, dtype="bool"), rand(0), rand(1))), ("where", (rand(4, 1, 1, dtype="bool"), M, M)),
    ("take", (V, fixed([0, 5, 2], "int64"))), ("take", (B, fixed([[0, 1], [2, 0]], "int32"), 1)), ("take", (M, fixed([5, 0], "int8"))),
    ("take", (V, 3)),
    ("take", (B, [0, 2], -2)), ("take", (V, fixed([9, -9], "int64"), None), {"mode": "wrap"}),
    ("take", (M, fixed([9, -9], "int64"), 1), {"mode": "clip"}),
    ("take", (V, fixed([], "int64"))), ("take", (rand(0, 3), fixed([0, 2], "int64"), 1)),
    ("choose", (fixed([0, 1, 2, 1], "int64"), [rand(4), rand(4), rand(4)])),
    ("choose", (fixed([[0], [1]], "int32"), [rand(3), rand(2, 3)])),
    ("choose", (fixed([5, -1], "int64"), [rand(2), rand(2)]), {"mode": "clip"}),
    ("choose", (fixed([5, -1], "int64"), [rand(2), rand(2)]), {"mode": "wrap"}),
    ("compress", (fixed([1, 0, 1], "bool"), V)), ("compress", ([True, False, True], M, 1)), ("compress", ([False], B, 2)),
    ("extract", (rand(2, 3, dtype="bool"), M)),
    ("unravel_index", (fixed([3, 5, 0], "int64"), (2, 3))), ("unravel_index", (fixed([[3], [5]], "int64"), (2, 3))),
    ("unravel_index", (fixed([3], "int64"), 6)),
    ("unique", (M,), {"return_index": True, "return_counts": True}),
    ("unique", (V,), {"return_index": True, "return_inverse": True, "return_counts": True}),
    ("unique", (rand(4, 2, low=0, high=2),), {"axis": 0}), ("unique", (rand(2, 6, low=0, high=2),), {"axis": 1, "return_counts": True}),
    ("unique", (rand(0, 3),), {"axis": 0}), ("unique", (rand(2, 3, 4, low=0, high=2),), {"axis": -1, "return_index": True}),
]
NUMERIC = [
    ("sort", (V,)), ("sort", (B,), {"axis": 1}), ("sort", (B,), {"axis": None}), ("sort", (rand(0),)), ("sort", (rand(3, 0),)),
    ("sort", (V,), {"kind": "stable"}),
    ("argsort", (V,), {"kind": "stable"}), ("argsort", (B,), {"axis": 0, "kind": "stable"}),
    ("argsort", (M,), {"axis": None, "kind": "stable"}),
    ("argsort", (rand(3, 0),)),
    ("searchsorted", (fixed([1, 2, 2, 4]), rand(2, 3))), ("searchsorted", (fixed([1, 2, 2, 4]), rand(3)), {"side": "right"}),
    ("searchsorted", (fixed([1, 2, 2, 4]), 2)), ("searchsorted", (rand(0), rand(2, 0))),
    ("searchsorted", (fixed([2**53, 2**53 + 1], "int64"), fixed([2**53 + 1], "int64"))),
    ("searchsorted", (fixed([1, 2, 2, 4]), fixed([1.5, 2.5, float("nan")], "float64"), "right")),
    ("searchsorted", (fixed([1, 2, float("nan")], "float32"), fixed([float("nan"), 3], "float32"))),
    ("searchsorted", (fixed([4, 1, 2]), rand(3)), {"sorter": fixed([1, 2, 0], "int64")}), ("searchsorted", (rand(0), rand(2))),
    ("digitize", (V, fixed([0, 1, 3]))), ("digitize", (M, fixed([3, 1, 0])), {"right": True}),
    ("diff", (V,)), ("diff", (B,), {"axis": 0}), ("diff", (B, 2, 1)), ("diff", (V, 0)), ("diff", (V, 9)), ("diff", (rand(0),)),
    ("diff", (rand(3, 1),)),
    ("diff", (M,), {"append": rand(2, 2), "axis": 1}), ("ediff1d", (V,)), ("ediff1d", (M,)), ("ediff1d", (V, rand(2), rand(3))),
    ("ediff1d", (rand(0),)),
    ("ediff1d", (rand(),)),
]
# Python's numbers take the array's dtype; NumPy promotes to theirs, or refuses them.
BESIDE_NUMBERS = [
    ("diff", (V,), {"prepend": 1}), ("diff", (M,), {"prepend": 0, "append": rand(1, 3), "axis": 0}), ("ediff1d", (V, 1, 2)),
    ("ediff1d", (V, rand(2), 1)),
    ("ediff1d", (rand(1), 5)),
]


@pytest.mark.parametrize("row, dtype", rows(TABLE, ALL))
def test_values(row, dtype):
    compare(row, dtype)


@pytest.mark.parametrize("row, dtype", rows(NUMERIC, FLOATS + INTEGERS))
def test_numeric_values(row, dtype):
    compare(row, dtype)


@pytest.mark.parametrize("row, dtype", rows(BESIDE_NUMBERS, FLOATS + ("int64", "int32", "int8")))
def test_numbers_take_the_dtype_of_the_array(row, dtype):
    compare(row, dtype, same_dtype=False)
    assert getattr(mx.np, row[0])(mx.np.ones(row[1][0].shape, dtype),
                   **({"to_end": 1} if row[0] == "ediff1d" else {"prepend": 1, "axis": 0})).dtype == dtype


DIFFERENTIABLE = [r for r in TABLE + NUMERIC + BESIDE_NUMBERS
                  if (r[0] in ("take", "choose", "compress", "extract", "diff", "ediff1d") or r[0] == "where" and len(r[1]) == 3)
                  and getattr(r[1][0], "shape", (1,)) not in ((0,), (0, 3))]


@pytest.mark.parametrize("row", DIFFERENTIABLE, ids=[f"{r[0]}-{i}" for i, r in enumerate(DIFFERENTIABLE)])
def test_gradients(row):
    check_gradient(row)


@pytest.mark.parametrize("x, y", [(1, 2.5), (True, False), (3, "array"), ("array", 2.5), ("array", True)])
@pytest.mark.parametrize("dtype", ALL)
def test_where_with_numbers(x, y, dtype):
    rng = np.random.default_rng(0)
    condition, array = rng.integers(0, 2, (2, 3)), rng.integers(0, 2, 3).astype(dtype)
    def run(lib):
        make = (lambda a: lib.array(a, dtype=a.dtype)) if lib is mx.np else np.array
        return lib.where(make(condition), *(make(array) if v == "array" else v for v in (x, y)))
    ours, theirs = run(mx.np), run(np)
    np.testing.assert_array_equal(ours.asnumpy().astype("float64"), theirs.astype("float64"))
    numbers = "array" not in (x, y)
    assert ours.dtype == ("float32" if numbers else theirs.dtype)


def test_gradient_of_where_with_a_number():
    condition = mx.np.array([1, 0, 1])
    for call in (lambda x: mx.np.where(condition, x, 5), lambda x: mx.np.where(condition, 5, x)):
        x = mx.np.ones((2, 3))
        x.attach_grad()
        with mx.autograd.record():
            y = call(x)
        y.backward()
        assert (x.grad.asnumpy() == (y.asnumpy() == 1)).all()


def test_set_functions():
    x = mx.np.array([[2, 1, 2], [0, 1, 0]], dtype="int32")
    whole = mx.np.unique_all(x)
    assert whole._fields == ("values", "indices", "inverse_indices", "counts")
    values, indices, inverse, counts = np.unique(x.asnumpy(), True, True, True)
    for a, b in zip(whole, (values, indices, inverse.reshape(2, 3), counts)):
        np.testing.assert_array_equal(a.asnumpy(), b)
    assert mx.np.unique_values(x).asnumpy().tolist() == [0, 1, 2]
    assert mx.np.unique_counts(x).counts.asnumpy().tolist() == [2, 2, 2]
    assert mx.np.unique_inverse(x).inverse_indices.shape == (2, 3)
    assert mx.np.set_functions.unique_all is mx.np.unique_all


def test_unique_of_nan_and_infinities():
    values, counts = mx.np.unique(mx.np.array([np.nan, np.inf, 1, np.nan, -np.inf]), return_counts=True)
    np.testing.assert_array_equal(values.asnumpy(), [-np.inf, 1, np.inf, np.nan])
    assert counts.asnumpy().tolist() == [1, 1, 1, 2]


def test_descending_sort():
    x = mx.np.array([3, 1, 2])
    assert mx.np.sort(x, descending=True).asnumpy().tolist() == [3, 2, 1]
    assert mx.np.argsort(x, descending=True).asnumpy().tolist() == [0, 2, 1]
    assert mx.np.argsort(x).dtype == np.int64


def test_unravel_index_of_a_number():
    assert [int(i) for i in mx.np.unravel_index(mx.np.array(4, dtype="int64"), (2, 3))] == [1, 1]
    assert mx.np.unravel_index(mx.np.array(0, dtype="int64"), ()) == mx.np.unravel_index(0, ()) == ()
    with pytest.raises(ValueError):
        mx.np.unravel_index(1, ())


ERRORS = [
    ("where", (M, M), ValueError), ("where", (M, rand(2), rand(3)), ValueError), ("take", (V, fixed([6], "int64")), IndexError),
    ("take", (V, fixed([-7], "int64")), IndexError), ("take", (V, fixed([2**62], "int64")), IndexError), ("take", (V, [0], 1), ValueError),
    ("take", (V, [0], 0, "x"), NotImplementedError), ("take", (rand(0), fixed([0], "int64")), IndexError),
    ("choose", (fixed([2], "int64"), [V, V]), ValueError),
    ("choose", (rand(2, dtype="float32"), [V]), TypeError), ("choose", (fixed([0], "int64"), []), ValueError),
    ("compress", ([[True]], M), ValueError),
    ("compress", ([True] * 9, V), IndexError), ("sort", (rand(),), ValueError), ("sort", (V, 1), ValueError),
    ("sort", (V, -1, "x"), ValueError),
    ("argsort", (V, -1, None, "f"), NotImplementedError), ("searchsorted", (M, V), ValueError), ("searchsorted", (V, V, "up"), ValueError),
    ("unravel_index", (fixed([6], "int64"), (2, 3)), ValueError), ("unravel_index", (fixed([-1], "int64"), (2, 3)), ValueError),
    ("unique", (V, False, False, False, 1), ValueError), ("diff", (rand(),), ValueError), ("diff", (V, -1), ValueError),
    ("ediff1d", (rand(3, dtype="bool"),), TypeError),
    ("ediff1d", (V, rand(2, dtype="float64")), TypeError),
]


@pytest.mark.parametrize("name, args, error", ERRORS, ids=[f"{e[0]}-{i}" for i, e in enumerate(ERRORS)])
def test_errors(name, args, error):
    built = build(tuple(args), np.random.default_rng(0), "float32", lambda a: mx.np.array(a, dtype=a.dtype))
    with pytest.raises(error, match=r"^\["):
        getattr(mx.np, name)(*built)
        mx.nd.waitall()


def test_advanced_indexing_of_floats_is_refused():
    from mxnet.numpy._dispatch import call
    with pytest.raises(TypeError, match=r"\[_npi_advanced_indexing\] indices are float32"):
        call("_npi_advanced_indexing", (mx.np.ones(3), mx.np.ones(1)))
    places = mx.np.array([[1, 0, -1], [0, 0, 1]], dtype="int64")
    x = mx.np.arange(6).reshape(2, 3)
    assert call("_npi_advanced_indexing_multiple", (x, places)).asnumpy().tolist() == [3, 0, 4]
    with pytest.raises(IndexError):
        call("_npi_advanced_indexing_multiple", (x, places + 2**40)).asnumpy()


def test_take_counts_negative_indices_from_the_end():
    x = mx.np.arange(10).reshape(2, 5)
    for indices in ([0, -1], -2, np.array([-5, 4]), mx.np.array([0, -1], dtype="int8"), mx.np.array([-3.0, 1.0]),
                    mx.np.array([[-1], [2]], dtype="int64"), mx.np.array([4, 0], dtype="uint8")):
        where = np.asarray(indices).astype("int64")
        np.testing.assert_array_equal(mx.np.take(x, indices, axis=1).asnumpy(), np.take(x.asnumpy(), where, axis=1))
    long = mx.np.arange(300)
    assert long.take(mx.np.array([-1, -128], dtype="int8")).tolist() == [299, 172]      # the sum does not fit int8
    for bad in ([5], mx.np.array([-6], dtype="int32")):
        with pytest.raises(IndexError, match=r"index -6 |index 5 "):
            mx.np.take(x, bad, axis=1).asnumpy()


def test_gradient_of_take_from_the_end():
    x = mx.np.arange(4)
    x.attach_grad()
    with mx.autograd.record():
        y = mx.np.take(x, [-1, 1, -1])
    y.backward()
    assert x.grad.tolist() == [0, 1, 0, 2]
