"""Functions of mx.np that are made of others against NumPy, with gradients."""

import numpy as onp
import pytest

import mxnet as mx
from np_table import ALL, FLOATS, INTEGERS, check_gradient, compare, fixed, rand, rows

np = mx.np
PLACES = fixed([[2, 0, 1], [-1, 0, 0]], "int64")
TAKEN = [
    ("take_along_axis", [rand(2, 4), PLACES, 1]),
    ("take_along_axis", [rand(2, 4), PLACES, -1]),
    ("take_along_axis", [rand(3, 3), fixed([[2, 0, 1]], "int32"), 0]),
    ("take_along_axis", [rand(1, 4), PLACES, 1]),
    ("take_along_axis", [rand(2, 4), fixed([[1], [0]], "int64"), 1]),
    ("take_along_axis", [rand(2, 3), fixed([5, 0], "int64"), None]),
    ("take_along_axis", [rand(0, 4), fixed([[1]], "int64"), 1]),
    ("msort", [rand(4, 2)]),
]
C = fixed([True, False, True], "bool")
CASES = [
    ("select", [[C, fixed([True, True, False], "bool")], [rand(3), rand(3)]]),
    ("select", [[C], [rand(2, 3)]]),
]
INTEGRALS = [
    ("trapezoid", [rand(5)]),
    ("trapezoid", [rand(2, 4)], {"dx": 0.5, "axis": 0}),
    ("trapezoid", [rand(2, 4), fixed([0, 1, 3, 3.5])]),
    ("trapezoid", [rand(3, 2), fixed([0, 1, 3])], {"axis": 0}),
    ("trapezoid", [rand(2, 3), rand(2, 3)]),
    ("trapezoid", [rand(4), rand(3, 4)]),
    ("trapezoid", [rand(4), rand(3, 3)], {"axis": 0}),
    ("trapezoid", [rand(2, 3, 4), rand(3, 4)], {"axis": -2}),
    ("select", [fixed([[True, False, True], [True, True, False]], "bool"), rand(2, 3)]),
    ("gradient", [rand(5)]),
    ("gradient", [rand(3, 4)]),
    ("gradient", [rand(3, 4), 0.5], {"axis": 1, "edge_order": 2}),
    ("gradient", [rand(4, 3), 2.0, 0.5]),
    ("gradient", [rand(2)]),
    ("heaviside", [rand(5), fixed([0.5])]),
]
PRODUCTS = [
    ("convolve", [rand(5), rand(3)]),
    ("convolve", [rand(2), rand(5)], {"mode": "same"}),
    ("convolve", [rand(5), rand(4)], {"mode": "same"}),
    ("convolve", [rand(5), rand(2)], {"mode": "valid"}),
    ("convolve", [rand(3), rand(1)]),
    ("convolve", [rand(40), rand(19)]),
    ("convolve", [rand(7), rand(30)], {"mode": "same"}),
    ("correlate", [rand(5), rand(3)]),
    ("correlate", [rand(5), rand(4)], {"mode": "same"}),
    ("correlate", [rand(2), rand(5)], {"mode": "same"}),
    ("correlate", [rand(2), rand(5)]),
    ("correlate", [rand(5), rand(3), "full"]),
]
POWERS = [
    ("vander", [rand(4)]),
    ("vander", [rand(3), 5]),
    ("vander", [rand(3), 2], {"increasing": True}),
]
ANGLES = [
    ("sinc", [fixed([0, 0.5, -1.5, 2])]),
    ("exp2", [fixed([0, 3, -1.5])]),
    ("angle", [fixed([0, 3, -1.5])]),
    ("angle", [fixed([2, -1])], {"deg": True}),
    ("geomspace", [1, 1000, 4], {"dtype": "float64"}),
    ("geomspace", [-8, -0.5, 5], {"endpoint": False, "dtype": "float64"}),
    ("bartlett", [5]),
    ("bartlett", [1]),
    ("kaiser", [6, 3.5]),
]
BLOCKS = [
    ("block", [[rand(3), rand(2)]]),
    ("block", [[[rand(2, 2), rand(2, 1)], [rand(1, 3)]]]),
    ("block", [[[[rand(2)]], [[rand(2)]]]]),
    ("diag_indices", [3]),
    ("diag_indices", [2, 3]),
    ("ravel_multi_index", [(fixed([0, 1], "int64"), fixed([2, 0], "int64")), (2, 3)]),
    (
        "ravel_multi_index",
        [(fixed([5, -1], "int64"), fixed([2, 9], "int64")), (2, 3)],
        {"mode": ("wrap", "clip"), "order": "F"},
    ),
]
FOUND = [
    ("isin", [rand(2, 5), rand(3)]),
    ("isin", [rand(4), rand(2, 2)], {"invert": True}),
    ("isin", [rand(4), rand(0)]),
    ("isin", [rand(0), rand(3)]),
    ("isin", [fixed([1, float("nan"), 3], "float32"), fixed([float("nan"), 3], "float64")]),
    ("isin", [fixed([2**53 + 1, 5], "int64"), fixed([2**53, 5], "int64")], {"kind": "sort"}),
    ("nanargmax", [rand(3, 4)], {"axis": 1}),
    ("nanargmin", [rand(3, 4)]),
    ("cumprod", [rand(3, 4)], {"axis": 0}),
    ("cumprod", [rand(2, 3)]),
    ("nancumprod", [rand(5)]),
]


@pytest.mark.parametrize("row, dtype", rows(TAKEN + CASES + FOUND, ALL))
def test_same_as_numpy(row, dtype):
    if row[0] == "select" and dtype == "bool":
        return  # a default of 0 beside bools
    if not hasattr(onp, row[0]):
        return  # NumPy 2 has no msort
    compare(row, dtype)


@pytest.mark.parametrize("row, dtype", rows(PRODUCTS, FLOATS + ("int64", "int32")))
def test_products(row, dtype):
    compare(row, dtype)


@pytest.mark.parametrize("row, dtype", rows(ANGLES, ("float64", "float32")))
def test_angles(row, dtype):
    made = row[0] in ("bartlett", "kaiser")  # by default float32 here
    compare(row, dtype, not made, tolerance=1e-6 if made else None)


@pytest.mark.parametrize("row, dtype", rows(BLOCKS, ("float32", "int64", "bool")))
def test_blocks(row, dtype):
    compare(row, dtype)


@pytest.mark.parametrize("row, dtype", rows(POWERS, ("float64", "float32", "int64")))
def test_powers(row, dtype):
    compare(row, dtype)


@pytest.mark.skipif(not hasattr(onp, "trapezoid"), reason="a name of NumPy 2")
@pytest.mark.parametrize("row, dtype", rows(INTEGRALS, ("float64", "float32", "int32")))
def test_integrals(row, dtype):
    compare(row, dtype, same_dtype=dtype != "int32")


@pytest.mark.parametrize("edge_order", [1, 2])
def test_derivatives_at_coordinates(edge_order):
    values, x = onp.random.default_rng(0).normal(size=(6, 5)), onp.array([0, 1, 1.5, 4, 4.25, 6])
    got = np.gradient(np.array(values, dtype="float64"), x, axis=0, edge_order=edge_order)
    expected = onp.gradient(values, x, axis=0, edge_order=edge_order)
    onp.testing.assert_allclose(got.asnumpy(), expected, rtol=1e-12)


DIFFERENTIABLE = [
    ("vander", [rand(4), 3]),
    ("cumprod", [fixed([1.0, 2.0, -3.0, 0.5])]),
    ("cumprod", [fixed([[1.0, 2.0], [4.0, 3.0]])], {"axis": 0}),
    ("cumulative_sum", [rand(4)], {"include_initial": True}),
    ("cumulative_prod", [fixed([2.0, 3.0])], {"include_initial": True}),
    ("unstack", [rand(2, 3)]),
    ("astype", [rand(3), "float64"]),
    ("reshape", [rand(2, 3)], {"shape": (3, 2)}),
    ("conj", [rand(3)]),
    ("clip", [rand(5)], {"min": -1.5, "max": 2.5}),
    *ANGLES[:2], *BLOCKS[:3], *TAKEN[:6], *CASES, *INTEGRALS[:-1], *PRODUCTS, *POWERS[2:],
]  # fmt: skip


@pytest.mark.parametrize("row", DIFFERENTIABLE, ids=lambda row: row[0])
def test_gradients(row):
    check_gradient(row, relative=1e-5)


def test_special_numbers():
    x = onp.array([onp.nan, -onp.inf, -0.0, 0.0, onp.inf, 2], "float32")
    got = np.heaviside(np.array(x), 0.5)
    onp.testing.assert_array_equal(got.asnumpy(), onp.heaviside(x, onp.float32(0.5)))
    assert np.heaviside(-1.0, 0.5) == 0 and np.in1d(
        np.array([[1, 2], [3, 4]]), [4, 1]
    ).tolist() == [True, False, False, True]
    assert np.trapz(np.array([1.0, 2.0, 3.0])).item() == 4
    assert np.select(
        [np.array([True, False], dtype="bool")], [np.array([1.0, 2.0])], 7
    ).tolist() == [1, 7]


def test_no_warnings_and_no_refusals(caplog):
    """2.0 asks NumPy, with a warning, and refuses while recording."""
    x = np.array([[3.0, 1.0, 2.0]])
    x.attach_grad()
    with mx.autograd.record():
        y = np.take_along_axis(x, np.argsort(x), axis=1)
        assert np.isin(x, [1.0]).sum().item() == 1 and np.nanargmax(x).item() == 0
        (y * np.array([1.0, 2.0, 3.0])).sum().backward()
    assert x.grad.tolist() == [[3, 1, 2]] and not caplog.records


def test_errors():
    x = np.ones((2, 3))
    for call, error in [
        (lambda: np.take_along_axis(x, np.ones((2, 3)), 1), IndexError),
        (lambda: np.take_along_axis(x, np.ones(2, dtype="int64"), 1), ValueError),
        (lambda: np.take_along_axis(x, np.ones((2, 3), dtype="int64"), 2), ValueError),
        (lambda: np.take_along_axis(x, np.full((2, 3), 3, dtype="int64"), 1).asnumpy(), IndexError),
        (lambda: np.select([], []), ValueError),
        (lambda: np.select([x], [x]), TypeError),
        (lambda: np.convolve(x, x), ValueError),
        (lambda: np.convolve(x[0], x[0], "none"), ValueError),
        (lambda: np.vander(x), ValueError),
        (lambda: np.gradient(x, 1.0, 1.0, 1.0), TypeError),
        (lambda: np.gradient(x[:1]), ValueError),
        (lambda: np.gradient(x, edge_order=3), ValueError),
        (lambda: np.trapezoid(x, axis=5), ValueError),
        (lambda: np.nanargmax(x * np.nan), ValueError),
        (lambda: np.unstack(x, axis=2), ValueError),
        (lambda: np.cumulative_sum(x), ValueError),
        (lambda: np.cumprod(x, axis=2), ValueError),
        (lambda: np.reshape(x), TypeError),
        (lambda: np.reshape(x, (7,), copy=False), ValueError),
        (lambda: np.clip(x, 1, 2, min=1), ValueError),
    ]:
        with pytest.raises(error):
            call()


def test_reshape_without_a_copy():
    x = np.zeros((2, 3))
    y = np.reshape(x, (3, -1), copy=False)
    y[0] = 7
    assert x[0, 0].item() == 7 and np.reshape(x, shape=(6,))[0].item() == 7
    assert INTEGERS and np.clip(x, min=1, max=5).tolist() == [[5, 5, 1], [1, 1, 1]]


def test_grids():
    for key in [
        np.s_[0:2, 0:3],
        np.s_[1:7:2, 3:0:-1],
        np.s_[0:1:3j, 0:2],
        np.s_[0:2:0.5],
        np.s_[0:2, 0:2, 0:2],
    ]:
        for name in ("mgrid", "ogrid"):
            got, expected = getattr(np, name)[key], getattr(onp, name)[key]
            together = (
                zip(got, expected) if isinstance(expected, (tuple, list)) else [(got, expected)]
            )
            for a, b in together:
                assert a.shape == b.shape and onp.allclose(a.asnumpy(), b)
    assert np.mgrid[0:2, 0:3].dtype == "int64" and np.mgrid[0:1:0.5].dtype == "float32"


def test_written_places():
    values = onp.zeros((2, 3), "float32")
    for indices, written, axis in [
        ([[1], [2]], 5, 1),
        ([[0, 1, 0]], [[7, 8, 9]], 0),
        ([1, 4], [1, 2], None),
    ]:
        x, indices = np.array(values), onp.array(indices)
        np.put_along_axis(x, np.array(indices, dtype="int64"), np.array(written), axis)
        expected = values.copy()
        onp.put_along_axis(expected, indices, written, axis)
        assert x.tolist() == expected.tolist()
    x = np.zeros((2, 3), dtype="int32")
    np.copyto(x, [1, 2, 3], where=onp.array([True, False, True]))
    assert x.tolist() == [[1, 0, 3]] * 2 and x.dtype == "int32"
    with pytest.raises(TypeError, match="same_kind"):
        np.copyto(x, np.ones(3))
    np.copyto(x, np.ones(3) * 2.5, casting="unsafe")
    assert x.tolist() == [[2, 2, 2]] * 2


def test_refused():
    for call in (
        lambda: np.geomspace(-1, 1),
        lambda: np.geomspace(0, 1),
        lambda: np.ravel_multi_index((np.array([2], dtype="int64"),), (2,)),
        lambda: np.ravel_multi_index(([1],), (2, 2)),
        lambda: np.ravel_multi_index(([1],), (2,), mode="none"),
    ):
        with pytest.raises(ValueError):
            call()
    assert np.isscalar(2) and not np.isscalar(np.array(2)) and np.issubdtype(np.int8, onp.integer)
    assert np.left_shift(np.array([1], dtype="int32"), 3).item() == 8 and np.angle(1j) == onp.pi / 2
