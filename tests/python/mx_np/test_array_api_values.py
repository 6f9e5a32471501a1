"""Functions of mx.np.array_api against those of NumPy 2, which keep the array API standard: special
values, integers, and a table of calls."""

import numpy as onp
import pytest

import mxnet as mx
from np_table import compare, fixed, rand, rows

xp = mx.np.array_api
FLOATS = ("float32", "float64")
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
numpy2 = pytest.mark.skipif(
    onp.lib.NumpyVersion(onp.__version__) < "2.1.0", reason="compares with the functions of NumPy 2"
)


def ours(values):
    return xp.asarray(values, dtype=getattr(xp, values.dtype.name))


FLOATING = """
    acos acosh asin asinh atan atanh ceil cos cosh exp expm1 floor isfinite isinf isnan log
    log10 log1p log2 reciprocal round sign signbit sin sinh sqrt square tan tanh trunc abs
    negative positive conj imag real logical_not
""".split()
PAIRS = """
    add atan2 copysign divide equal greater greater_equal hypot less less_equal logaddexp
    logical_and logical_or logical_xor maximum minimum multiply nextafter not_equal pow subtract
""".split()
SPECIAL = [
    onp.nan,
    onp.inf,
    -onp.inf,
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -0.5,
    1.5,
    2.5,
    -2.5,
    3.0,
    -3.0,
    1e30,
    -1e30,
]
WHOLE = [0, 1, 2, 3, 7, 100]
WHOLE_ONE = """
    abs ceil floor trunc round sign square positive negative isfinite isinf isnan bitwise_invert
    logical_not
""".split()
WHOLE_TWO = """
    add subtract multiply floor_divide remainder equal less greater_equal maximum minimum
    bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift pow logical_and
    logical_xor
""".split()


def same(got, expected, dtype):
    got = got.asnumpy()
    assert got.shape == expected.shape and got.dtype == expected.dtype, (got.dtype, expected.dtype)
    onp.testing.assert_allclose(got, expected, rtol=2e-6 if dtype == "float32" else 1e-13, atol=0)
    if expected.dtype.kind == "f":
        zero = expected == 0
        assert (onp.signbit(got[zero]) == onp.signbit(expected[zero])).all(), "sign of zero"


@numpy2
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", FLOATING)
def test_special_values_of_one(name, dtype):
    values = onp.array(SPECIAL, dtype)
    with onp.errstate(all="ignore"):
        same(getattr(xp, name)(ours(values)), getattr(onp, name)(values), dtype)


@numpy2
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", PAIRS)
def test_special_values_of_two(name, dtype):
    one, two = onp.array(SPECIAL, dtype)[:, None], onp.array(SPECIAL, dtype)
    with onp.errstate(all="ignore"):
        same(getattr(xp, name)(ours(one), ours(two)), getattr(onp, name)(one, two), dtype)


@numpy2
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", ["floor_divide", "remainder"])
def test_quotients(name, dtype):
    """As in NumPy but for divisors of 0 and infinities, where the rules are those of 2.0
    (docs/differences.md)."""
    finite = onp.array([v for v in SPECIAL if onp.isfinite(v) and abs(v) < 10], dtype)
    one, two = finite[:, None], finite[finite != 0]
    same(getattr(xp, name)(ours(one), ours(two)), getattr(onp, name)(one, two), dtype)
    assert (
        getattr(xp, name)(ours(one), ours(two)).tolist()
        == getattr(ours(one), {"remainder": "__mod__"}.get(name, "__floordiv__"))(
            ours(two)
        ).tolist()
    )


@numpy2
@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers(dtype):
    values = onp.array(WHOLE, dtype)
    if dtype.startswith("int"):
        values = onp.concatenate([values, -values])
    for name in WHOLE_ONE:
        same(getattr(xp, name)(ours(values)), getattr(onp, name)(values), dtype)
    two = onp.array([1, 2, 3, 5], dtype)[:, None]
    for name in WHOLE_TWO:
        with onp.errstate(all="ignore"):
            same(getattr(xp, name)(ours(values), ours(two)), getattr(onp, name)(values, two), dtype)


X, Y, SQUARE = rand(2, 3), rand(2, 3), fixed([[4, 1, 0], [1, 5, 2], [0, 2, 6]])
SHAPES = [
    ("broadcast_to", [rand(3), (2, 3)]),
    ("concat", [[X, Y]], {"axis": 1}),
    ("concat", [[X, Y]], {"axis": None}),
    ("expand_dims", [X, -1]),
    ("expand_dims", [X, (0, 2)]),
    ("flip", [X]),
    ("flip", [X], {"axis": (0, 1)}),
    ("moveaxis", [X, 0, 1]),
    ("moveaxis", [rand(2, 3, 4), (0, 1), (-1, 0)]),
    ("permute_dims", [rand(2, 3, 4), (2, 0, 1)]),
    ("repeat", [X, 2], {"axis": 1}),
    ("repeat", [X, fixed([1, 0, 2], "int64")], {"axis": 1}),
    ("repeat", [X, 3]),
    ("reshape", [X, (3, -1)]),
    ("reshape", [X, -1]),
    ("reshape", [X, (6,)], {"copy": True}),
    ("roll", [X, 1]),
    ("roll", [X, (1, -1)], {"axis": (0, 1)}),
    ("squeeze", [rand(1, 3, 1), (0, 2)]),
    ("stack", [[X, Y]], {"axis": -1}),
    ("tile", [X, (2, 1, 2)]),
    ("unstack", [X]),
    ("unstack", [X], {"axis": 1}),
    ("tril", [X]),
    ("triu", [X], {"k": 1}),
    ("matrix_transpose", [rand(2, 3, 4)]),
    ("take", [X, fixed([2, 0], "int64")], {"axis": 1}),
    ("take_along_axis", [X, fixed([[2, 0], [1, 1]], "int64")], {"axis": 1}),
    ("broadcast_arrays", [rand(2, 1), rand(3)]),
    ("diff", [X]),
    ("diff", [X], {"axis": 0}),
    ("where", [fixed([True, False, True], "bool"), X, Y]),
    ("meshgrid", [rand(2), rand(3)]),
    ("meshgrid", [rand(2), rand(3)], {"indexing": "ij"}),
    ("astype", [X, "float32"]),
    ("isin", [X, rand(3)], {"invert": True}),
]
REDUCED = [
    (name, [x], {"axis": axis, "keepdims": keep})
    for name in ("sum", "prod", "max", "min", "mean", "var", "std", "all", "any")
    for x in (rand(2, 3, 4), rand(2, 1, 3))
    for axis, keep in ((None, False), (0, True), ((0, 2), False), (-1, False), ((), False))
]
SEARCHED = [
    ("argmax", [X], {"axis": 1}),
    ("argmin", [X]),
    ("argmax", [X], {"axis": 0, "keepdims": True}),
    ("sort", [X]),
    ("sort", [X], {"axis": 0}),
    ("argsort", [fixed([3, 1, 2])]),
    ("nonzero", [X]),
    ("searchsorted", [fixed([1, 2, 3]), fixed([[0, 2], [3, 4]])], {"side": "right"}),
    ("searchsorted", [fixed([3, 1, 2]), fixed([2])], {"sorter": fixed([1, 2, 0], "int64")}),
    ("count_nonzero", [X], {"axis": 1}),
    ("cumulative_sum", [X], {"axis": 1}),
    ("cumulative_sum", [rand(4)], {"include_initial": True}),
    ("cumulative_prod", [X], {"axis": 0}),
    ("cumulative_prod", [X], {"axis": 1, "include_initial": True}),
    ("unique_all", [X]),
    ("unique_counts", [X]),
    ("unique_inverse", [X]),
    ("clip", [X, -1, 2]),
    ("clip", [X], {"min": 1}),
    ("clip", [X], {"min": Y, "max": 3}),
]
PRODUCTS = [
    ("matmul", [rand(2, 3, 4), rand(4, 2)]),
    ("matmul", [rand(3), rand(3)]),
    ("matmul", [rand(2, 2, 3), rand(3)]),
    ("tensordot", [rand(2, 3), rand(3, 2)], {"axes": 1}),
    ("tensordot", [rand(2, 3), rand(3, 2)], {"axes": ((0,), (1,))}),
    ("vecdot", [X, Y]),
    ("vecdot", [X, rand(2, 1)], {"axis": 0}),
    ("linalg.outer", [rand(2), rand(3)]),
    ("linalg.cross", [rand(2, 3), rand(2, 3)]),
    ("linalg.diagonal", [rand(2, 3, 3)], {"offset": 1}),
    ("linalg.trace", [rand(2, 3, 3)]),
    ("linalg.matrix_power", [SQUARE, 3]),
    ("linalg.tensordot", [rand(2, 3), rand(3, 2)], {"axes": 1}),
]
SOLVED = [
    ("linalg.cholesky", [SQUARE]),
    ("linalg.cholesky", [SQUARE], {"upper": True}),
    ("linalg.det", [SQUARE]),
    ("linalg.slogdet", [SQUARE]),
    ("linalg.inv", [SQUARE]),
    ("linalg.matrix_power", [SQUARE, -2]),
    ("linalg.eigvalsh", [SQUARE]),
    ("linalg.svdvals", [rand(2, 3)]),
    ("linalg.pinv", [rand(3, 2)]),
    ("linalg.pinv", [rand(3, 2)], {"rtol": 1e-3}),
    ("linalg.matrix_rank", [SQUARE]),
    ("linalg.matrix_rank", [rand(2, 3, 3)], {"rtol": 0.1}),
    ("linalg.solve", [SQUARE, rand(3)]),
    ("linalg.solve", [SQUARE, rand(2, 3, 2)]),
    ("linalg.matrix_norm", [rand(2, 3, 3)]),
    ("linalg.matrix_norm", [SQUARE], {"ord": "nuc", "keepdims": True}),
    ("linalg.matrix_norm", [SQUARE], {"ord": -2}),
    ("linalg.vector_norm", [X]),
    ("linalg.vector_norm", [X], {"axis": 1, "ord": 1}),
    ("linalg.vector_norm", [rand(2, 3, 2)], {"axis": (0, 2), "ord": 3.0, "keepdims": True}),
    ("linalg.vector_norm", [X], {"ord": 0}),
]


@numpy2
@pytest.mark.parametrize("row, dtype", rows(SHAPES + SEARCHED, ("float64", "int8", "uint32")))
def test_rearranged(row, dtype):
    compare(row, dtype, here=xp)


@numpy2
@pytest.mark.parametrize("row, dtype", rows(REDUCED, ("float32", "int16", "uint8")))
def test_reductions(row, dtype):
    whole = dtype != "float32" and row[0] in ("mean", "var", "std")
    compare(row, dtype, here=xp, same_dtype=not whole)


@numpy2
@pytest.mark.parametrize("row, dtype", rows(PRODUCTS, ("float64", "int32")) + rows(SOLVED, FLOATS))
def test_products(row, dtype):
    compare(row, dtype, here=xp)


@pytest.mark.parametrize("shape", [(3, 3), (2, 4), (5, 2), (2, 3, 5), (0, 3)])
def test_factorizations(shape):
    values = onp.random.default_rng(3).normal(size=shape)
    a, (m, n) = ours(values), shape[-2:]
    for full in (True, False):
        u, s, vh = xp.linalg.svd(a, full_matrices=full)
        k = min(m, n)
        assert u.shape[-2:] == ((m, m) if full else (m, k)) and vh.shape[-2:] == (
            (n, n) if full else (k, n)
        )
        u, s, vh = u.asnumpy(), s.asnumpy(), vh.asnumpy()
        onp.testing.assert_allclose(
            (u[..., :k] * s[..., None, :]) @ vh[..., :k, :], values, atol=1e-12
        )
        onp.testing.assert_allclose(
            onp.swapaxes(u, -1, -2) @ u,
            onp.broadcast_to(onp.eye(u.shape[-1]), u.shape[:-2] + (u.shape[-1],) * 2),
            atol=1e-12,
        )
        onp.testing.assert_allclose(
            vh @ onp.swapaxes(vh, -1, -2),
            onp.broadcast_to(onp.eye(vh.shape[-2]), vh.shape[:-2] + (vh.shape[-2],) * 2),
            atol=1e-12,
        )
    for mode in ("reduced", "complete"):
        q, r = xp.linalg.qr(a, mode=mode)
        onp.testing.assert_allclose(q.asnumpy() @ r.asnumpy(), values, atol=1e-12)
    named = xp.linalg.qr(a)
    assert named.Q is named[0] and xp.linalg.svd(a)._fields == ("U", "S", "Vh")


def test_solve_takes_matrices_for_more_than_a_vector():
    a = onp.random.default_rng(0).normal(size=(3, 3, 3))
    b = onp.random.default_rng(1).normal(size=(3, 2))
    onp.testing.assert_allclose(
        xp.linalg.solve(ours(a), ours(b)).asnumpy(),
        onp.linalg.solve(a, onp.broadcast_to(b, (3, 3, 2))),
        rtol=1e-10,
    )
    assert xp.linalg.solve(ours(a), ours(b[:, 0])).shape == (3, 3)


@pytest.mark.parametrize("shape", [(2, 3), (0, 2), ()])
def test_nothing_to_move_or_to_add_up(shape):
    """`axis=()` is no axis, and vectors without elements have the norm 0."""
    values = onp.random.default_rng(1).normal(size=shape)
    assert xp.roll(ours(values), (), axis=()).tolist() == values.tolist()
    for order in (0, 1, 2, 2.5, onp.inf, -onp.inf):
        got = xp.linalg.vector_norm(ours(values), axis=(), ord=order, keepdims=True)
        expected = onp.where(values == 0, 0.0, 1.0) if order == 0 else abs(values)
        onp.testing.assert_allclose(got.asnumpy(), expected, rtol=1e-12)
    empty = ours(onp.zeros((2, 0)))
    assert xp.linalg.vector_norm(empty, ord=onp.inf).tolist() == 0
    assert xp.linalg.vector_norm(empty, ord=onp.inf, axis=1).tolist() == [0, 0]


@pytest.mark.parametrize("dtype", ["int64", "uint64"])
def test_whole_numbers_are_round(dtype):
    largest = onp.iinfo(dtype).max
    assert xp.round(xp.asarray([largest, 3], dtype=getattr(xp, dtype))).tolist() == [largest, 3]
