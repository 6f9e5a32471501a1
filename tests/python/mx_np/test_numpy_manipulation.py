"""mx.np: shapes, axes, joining, splitting, repeating, padding, inserting."""
import numpy as np
import pytest

import mxnet as mx
from np_table import ALL, FLOATS, INTEGERS, check_gradient, compare, fixed, rand, rows

SHAPES = [(), (1,), (0,), (2, 3), (3, 0), (2, 1, 4)]

ANY_SHAPE = [(name, (rand(*s),), kw) for s in SHAPES for name, kw in [
    ("ravel", {}), ("transpose", {}), ("squeeze", {}), ("flip", {}), ("atleast_1d", {}), ("atleast_2d", {}), ("atleast_3d", {}),
    ("expand_dims", dict(axis=0)), ("expand_dims", dict(axis=-1)), ("expand_dims", dict(axis=(0, -1))), ("reshape", dict(order="F")),
    ("ravel", dict(order="F")), ("roll", dict(shift=1)), ("repeat", dict(repeats=2)), ("tile", dict(reps=2)),
    ("tile", dict(reps=(2, 1, 3))),
    ("tile", dict(reps=())), ("append", dict(values=rand(2))), ("resize", dict(new_shape=(2, 3))), ("resize", dict(new_shape=0))]
    if not (name == "resize" and 0 in s)]
ANY_SHAPE = [(n, a, {**k, **({"newshape" if n == "reshape" else "": -1} if n == "reshape" else {})}) for n, a, k in ANY_SHAPE]
ANY_SHAPE = [row if row[0] != "reshape" else ("reshape", (*row[1], -1), {"order": "F"}) for row in ANY_SHAPE]

M, V, B = rand(2, 3), rand(4), rand(2, 3, 4)
TABLE = [
    ("reshape", (B, (4, -1))), ("reshape", (B, (6, 4)), {"order": "F"}), ("reshape", (rand(0, 3), (3, 0))), ("reshape", (rand(), (1, 1))),
    ("transpose", (B, (1, 2, 0))), ("transpose", (B, (-1, 0, 1))), ("moveaxis", (B, 0, -1)), ("moveaxis", (B, (0, 1), (2, 0))),
    ("rollaxis", (B, 2)), ("rollaxis", (B, 0, 3)), ("swapaxes", (B, 0, -1)), ("squeeze", (rand(1, 3, 1), 0)),
    ("squeeze", (rand(1, 3, 1), (0, 2))),
    ("concatenate", ((M, M),)), ("concatenate", ((M, rand(2, 1), rand(2, 0)), 1)), ("concatenate", ((M, V), None)),
    ("concatenate", ((M, M, M), -1)),
    ("stack", ((M, M),)), ("stack", ((M, M, M), 2)), ("stack", ((rand(), rand()),)), ("stack", ((rand(0), rand(0)), -1)),
    ("vstack", ((V, V),)), ("vstack", ((M, M),)), ("hstack", ((V, V),)), ("hstack", ((M, M),)), ("dstack", ((V, V),)),
    ("dstack", ((M, M),)),
    ("column_stack", ((V, V),)), ("column_stack", ((rand(4), rand(4, 2)),)), ("hstack", ((rand(), rand()),)),
    ("vstack", ((rand(), rand()),)),
    ("split", (V, 2)), ("split", (V, [1, 3])), ("split", (V, [3, 1])), ("split", (V, [-1, 9])), ("split", (V, [])), ("split", (B, 2, 2)),
    ("array_split", (V, 3)), ("array_split", (V, 6)), ("array_split", (M, 2, 1)), ("hsplit", (V, 2)), ("hsplit", (M, 3)),
    ("hsplit", (M, [1])),
    ("vsplit", (M, 2)), ("dsplit", (B, 2)), ("dsplit", (B, [1, 1, 3])),
    ("repeat", (M, 2, 1)), ("repeat", (M, [1, 0, 2], 1)), ("repeat", (M, (2,), 0)), ("repeat", (M, 0)), ("repeat", (M, [1, 2, 3, 0, 1, 2])),
    ("roll", (M, -1, 0)), ("roll", (B, (1, 2), (0, 2))), ("roll", (B, 5, (1, 2))), ("roll", (B, 10**12)), ("rot90", (M,)),
    ("rot90", (M, -1)),
    ("rot90", (B, 2, (1, 2))), ("rot90", (B, 3, (2, 0))), ("flip", (B, 1)), ("flip", (B, (0, -1))), ("flip", (B, ())), ("flipud", (V,)),
    ("fliplr", (M,)),
    ("append", (M, rand(1, 3), 0)), ("append", (V, rand(2, 2))),
    ("insert", (V, 1, 1)), ("insert", (V, -1, rand(2))), ("insert", (M, 1, rand(3), 0)), ("insert", (M, 1, rand(2), 1)),
    ("insert", (M, [0, 2], rand(2), 1)),
    ("insert", (M, slice(None, None, 2), rand(2, 2), 1)), ("insert", (M, [1], rand(2, 2), 1)), ("insert", (V, [], rand(0))),
    ("insert", (M, slice(1, 1), 1, 1)),
    ("insert", (V, fixed([True, False, True, False], "bool"), 1)), ("insert", (M, 3, rand(2), 1)),
    ("insert", (V, fixed([3, 0, 0], "int64"), rand(3))),
    ("delete", (V, 1)), ("delete", (M, -1, 1)), ("delete", (M, [0, 0, 2], 1)), ("delete", (M, slice(None, None, -2), 1)),
    ("delete", (V, [])),
    ("delete", (V, [True, False, False, True])), ("delete", (M, 4)), ("delete", (V, slice(None))), ("delete", (V, fixed([1, -1], "int64"))),
    ("broadcast_to", (rand(3), (2, 3))), ("broadcast_to", (rand(), (2, 0))), ("broadcast_to", (rand(2, 1), (4, 2, 3))),
    ("broadcast_to", (rand(1), 3)),
    ("atleast_2d", (rand(), V)), ("atleast_3d", (M, V, B)), ("trim_zeros", (fixed([0, 0, 1, 0, 1, 0]),)),
    ("trim_zeros", (fixed([0, 1, 0]), "f")),
    ("trim_zeros", (fixed([[0, 0, 0], [0, 2, 0], [0, 0, 0]]),)), ("trim_zeros", (fixed([[0, 0], [0, 0]]), "f")),
    ("trim_zeros", (fixed([[0, 0, 0], [0, 2, 0]]), "fb", 1)), ("trim_zeros", (fixed([0, 1, 0]), "b")), ("trim_zeros", (fixed([0, 0]),)),
]
NUMERIC = [
    ("fill_diagonal", (rand(3, 3), 1)), ("fill_diagonal", (rand(5, 2), [1, 2])), ("fill_diagonal", (rand(7, 2), [1, 2, 3]), {"wrap": True}),
    ("fill_diagonal", (rand(2, 2, 2), 3)), ("fill_diagonal", (rand(0, 0), 3)),
]
WIDTHS = [1, (2, 1), ((1, 2), (0, 3)), ((4, 7), (9, 1)), ((0, 0), (0, 0))]
PADS = [("pad", (M, w), {"mode": mode}) for w in WIDTHS for mode in (
    "constant", "edge", "linear_ramp", "maximum", "mean", "median", "minimum", "reflect", "symmetric", "wrap")]
PADS += [("pad", (M, w), {"mode": mode, "reflect_type": "odd"}) for w in WIDTHS[:3] for mode in ("reflect", "symmetric")]
PADS += [("pad", (rand(5), (3, 2)), {"mode": mode, "stat_length": n}) for mode in ("maximum", "minimum", "mean", "median") for n in (1,
          (2, 3), 9)]
PADS += [("pad", (M, 2), {"constant_values": v}) for v in (3, (1, 2), ((1, 2), (3, 4)))]
PADS += [("pad", (M, ((1, 2), (3, 1))), {"mode": "linear_ramp", "end_values": v}) for v in (3, ((1, 2), (3, 4)))]
PADS += [("pad", (rand(), 0)), ("pad", (rand(2, 0), ((1, 1), (0, 2)))), ("pad", (rand(1, 1), 2), {"mode": "reflect"})]


@pytest.mark.parametrize("row, dtype", rows(ANY_SHAPE, ("float32", "int64", "bool")) + rows(TABLE, ALL))
def test_values(row, dtype):
    compare(row, dtype)


@pytest.mark.parametrize("row, dtype", rows(NUMERIC, FLOATS + INTEGERS) + rows(PADS, ("float32", "float64", "int32", "int64")))
def test_numeric_values(row, dtype):
    compare(row, dtype)


UNDIFFERENTIABLE = ("trim_zeros",)


@pytest.mark.parametrize("row", [pytest.param(r, id=f"{r[0]}-{i}") for i, r in enumerate(TABLE) if r[0] not in UNDIFFERENTIABLE
                                 and not (r[0] == "insert" and r[1][1] in ([], slice(1, 1)))])
def test_gradients(row):
    check_gradient(row)


@pytest.mark.parametrize("row", [pytest.param(r, id=f"pad-{i}") for i, r in enumerate(PADS) if len(r) == 3 and r[1][0].shape == (2, 3)
                                 and r[2].get("mode") in ("constant", "edge", "linear_ramp", "mean", "reflect", "symmetric", "wrap")])
def test_gradients_of_pad(row):
    check_gradient(row)


def test_gradient_of_maximum_in_a_symbol_is_refused():
    """Of arrays it is made of other operators: test_numpy_recorded."""
    x = mx.np.ones((2, 2))
    padded = mx.sym.np.pad(mx.sym.var("x").as_np_ndarray(), ((1, 1), (1, 1)), mode="maximum")
    with pytest.raises(ValueError, match=r"\[_npi_pad\] mode 'maximum' has no gradient"):
        padded.bind(mx.cpu(), {"x": x}, {"x": x.copy()})


ERRORS = [
    ("reshape", (M, (4, 4)), ValueError), ("reshape", (M, (-1, -1)), ValueError), ("reshape", (M, 6, "Q"), ValueError),
    ("transpose", (M, (0, 0)), ValueError), ("transpose", (M, (0,)), ValueError), ("moveaxis", (M, 5, 0), ValueError),
    ("moveaxis", (M, (0, 1), 0), ValueError), ("rollaxis", (M, 0, 9), ValueError), ("swapaxes", (M, 0, 2), ValueError),
    ("squeeze", (M, 0), ValueError), ("expand_dims", (M, 4), ValueError), ("expand_dims", (M, (0, 0)), ValueError),
    ("concatenate", ((),), ValueError), ("concatenate", ((M, V),), ValueError), ("concatenate", ((rand(), rand()),), ValueError),
    ("stack", ((M, V),), ValueError), ("split", (V, 3), ValueError), ("split", (V, 0), ValueError), ("split", (V, 2, 1), ValueError),
    ("array_split", (V, 0), ValueError), ("hsplit", (rand(), 1), ValueError), ("vsplit", (V, 1), ValueError),
    ("dsplit", (M, 1), ValueError),
    ("repeat", (M, -1), ValueError), ("repeat", (M, [1, 2], 1), ValueError), ("tile", (M, -1), ValueError), ("roll", (M, 1, 2), ValueError),
    ("rot90", (V,), ValueError), ("rot90", (M, 1, (0, 0)), ValueError), ("flip", (V, 1), ValueError), ("fliplr", (V,), ValueError),
    ("insert", (V, 5, 1), IndexError), ("insert", (V, [1, 2], rand(3)), ValueError), ("insert", (V, [0.5], 1), TypeError),
    ("insert", (V, 1, 1, 3), ValueError), ("delete", (V, 4), IndexError), ("delete", (V, [2**62]), IndexError),
    ("delete", (V, [True]), IndexError),
    ("delete", (V, ["a"]), TypeError), ("broadcast_to", (M, (3, 3)), ValueError), ("broadcast_arrays", (M, V), ValueError),
    ("fill_diagonal", (V, 1), ValueError), ("fill_diagonal", (rand(2, 3, 3), 1), ValueError), ("fill_diagonal", (M, []), ValueError),
    ("pad", (M, -1), ValueError), ("pad", (M, 1.5), TypeError), ("pad", (M, ((1, 2, 3),)), ValueError), ("pad", (M, 1, "x"), ValueError),
    ("pad", (rand(0), 1, "edge"), ValueError), ("pad", (rand(0), 1, "mean"), ValueError), ("resize", (M, -1), ValueError),
]


@pytest.mark.parametrize("name, args, error", ERRORS, ids=[f"{e[0]}-{i}" for i, e in enumerate(ERRORS)])
def test_errors(name, args, error):
    from np_table import build
    built = build(tuple(args), np.random.default_rng(0), "float32", lambda a: mx.np.array(a, dtype=a.dtype))
    with pytest.raises(error, match=r"^\["):
        result = getattr(mx.np, name)(*built)
        mx.nd.waitall()
        assert result is not None


def test_promotion():
    for a, b, want in [("int8", "int64", "int64"), ("int64", "float16", "float16"), ("float32", "float64", "float64"),
                        ("bool", "uint8", "uint8")]:
        assert mx.np.concatenate((mx.np.ones(1, a), mx.np.ones(1, b))).dtype == np.dtype(want)
        assert mx.np.stack((mx.np.ones(1, a), mx.np.ones(1, b))).dtype == np.dtype(want)


def test_out():
    out = mx.np.zeros((4, 3))
    x = mx.np.arange(6).reshape(2, 3)
    assert mx.np.concatenate((x, x), out=out) is out and out[2, 1] == 1
    assert mx.np.stack((x, x), out=mx.np.zeros((2, 2, 3)))[1, 1, 2] == 5
    with pytest.raises(ValueError):
        mx.np.concatenate((x, x), out=mx.np.zeros((3, 3)))


def test_shares_memory():
    x = mx.np.ones((4, 2))
    assert mx.np.shares_memory(x, x) and mx.np.shares_memory(x, x[1:]) and mx.np.may_share_memory(x[:2], x[1:])
    assert not mx.np.shares_memory(x[:2], x[2:]) and not mx.np.shares_memory(x, x.copy())
    assert not mx.np.shares_memory(x[1:1], x)
    assert mx.nd._internal._npi_share_memory(mx.nd.ones((2,)), mx.nd.ones((2,))).asnumpy() == np.False_


def test_sizes():
    assert mx.np.shape(mx.np.ones((2, 3))) == (2, 3) and mx.np.shape(3) == () and mx.np.shape([[1], [2]]) == (2, 1)
    assert mx.np.ndim(mx.np.ones((2, 3))) == 2 and mx.np.size(mx.np.ones((2, 3))) == 6 and mx.np.size(mx.np.ones((2, 3)), 1) == 3


def test_bfloat16():
    x = mx.np.array([1, 2, 3]).astype("bfloat16")
    for y in (mx.np.roll(x, 1), mx.np.concatenate((x, x)), mx.np.pad(x, 1), mx.np.insert(x, 0, 5), mx.np.delete(x, 0)):
        assert y.dtype == "bfloat16"
    assert mx.np.roll(x, 1).asnumpy().astype("float32").tolist() == [3, 1, 2]


# What shares memory, the same in MXNet 1.9.1 and 2.0. Programs write into the copies.
VIEWS = {
    "a[0:1]", "a[0]", "a[0, 1]", "a[0, 1:]", "a[:]", "a[...]", "a[()]", "a[None]", "a[..., None]", "a[0:1, None]", "next(iter(a))",
    "a.astype('float32', copy=False)", "a.detach()", "a.as_in_ctx(mx.cpu())", "a.as_nd_ndarray()", "np.asarray(a)",
    "a.reshape_view((3, 2))", "np.broadcast_arrays(a, a)[0]", "np.reshape(a, (3, -1), copy=False)", "np.reshape(a, a.shape, copy=False)"}
COPIES = {
    "a[:, 1]", "a[:, 1:2]", "a[::-1]", "a[[0]]", "a[a > 3]", "a.reshape(-1)", "np.reshape(a, (3, 2))", "np.reshape(a, -1, copy=True)",
    "a.T", "a.transpose()", "a.swapaxes(0, 1)", "a.flatten()", "np.ravel(a)", "np.squeeze(a)", "np.expand_dims(a, 0)",
    "a.astype('float32')",
    "np.broadcast_to(a, (2, 3))", "a.copy()", "np.split(a, 2)[0]", "np.atleast_2d(a)", "np.moveaxis(a, 0, 1)", "np.array(a)"}


@pytest.mark.parametrize("text", sorted(VIEWS | COPIES))
def test_what_shares_memory(text):
    a = mx.np.array([[0, 1, 2], [3, 4, 5]])
    result = eval(text, {"a": a, "np": mx.np, "mx": mx})
    result[() if result.ndim == 0 else slice(None)] = 99
    assert bool((a.asnumpy() == 99).any()) == (text in VIEWS)


def test_reshape_without_a_copy():
    a = mx.np.arange(6)
    assert mx.np.reshape(a, (2, -1), copy=False).shape == (2, 3) and mx.np.reshape(a, 6, copy=False).shape == (6,)
    assert mx.np.reshape(mx.np.zeros((0, 2)), (2, 0), copy=False).shape == (2, 0)
    assert mx.np.reshape(mx.np.array(2.0), (1, 1), copy=False).shape == (1, 1)
    for shape in ((4, 2), (-1, -1), (4, -1), (-2, 3), (0, -1)):
        with pytest.raises(ValueError, match="as many elements"):
            mx.np.reshape(a, shape, copy=False)
    with pytest.raises(ValueError, match="order"):
        mx.np.reshape(a, (2, 3), order="F", copy=False)
    with pytest.raises(ValueError, match="a copy is needed"):
        mx.np.reshape([1, 2], (2, 1), copy=False)
    with mx.autograd.record(), pytest.raises(ValueError, match="a copy is needed"):
        mx.np.reshape(a, (2, 3), copy=False)


def random_places(rng, size):
    """Positions as numbers, slices, lists and masks, few and many."""
    yield int(rng.integers(-size, size))
    yield slice(*(None if rng.random() < 0.4 else int(v) for v in rng.integers(-size, size, 2)), int(rng.choice([-2, -1, 1, 2])))
    for number in (1, 3, 40):
        yield [int(v) for v in rng.integers(-size, size, number)]
    yield rng.random(size) < 0.5


@pytest.mark.parametrize("shape, axis", [((60,), 0), ((60,), None), ((5, 60), 1), ((60, 3), 0), ((2, 60, 3), -2), ((3, 4, 5), None)])
def test_delete_and_insert_take_runs_and_single_places_alike(shape, axis):
    rng = np.random.default_rng(7)
    for dtype in ("float32", "int64", "uint8", "bool"):
        a = rng.integers(0, 100, shape).astype(dtype)
        size = a.size if axis is None else shape[axis]
        for places in random_places(rng, size):
            ours = mx.np.array(places, dtype=bool) if isinstance(places, np.ndarray) else places
            np.testing.assert_array_equal(mx.np.delete(mx.np.array(a, dtype=dtype), ours, axis).asnumpy(), np.delete(a, places, axis))
            if isinstance(places, np.ndarray):
                continue
            np.testing.assert_array_equal(mx.np.insert(mx.np.array(a, dtype=dtype), ours, 1, axis).asnumpy(),
                                          np.insert(a, places, 1, axis))
            if isinstance(places, list) and axis is not None:
                values = rng.integers(0, 100, [len(places) if d == axis % a.ndim else n for d, n in enumerate(shape)]).astype(dtype)
                np.testing.assert_array_equal(
                    mx.np.insert(mx.np.array(a, dtype=dtype), ours, mx.np.array(values, dtype=dtype), axis).asnumpy(),
                    np.insert(a, places, values, axis))


def test_positions_of_the_default_dtype_are_deleted_and_inserted():
    """np.array([0, 2]) is float32; 2.0 takes it for delete."""
    a, places = mx.np.arange(12).reshape(3, 4), mx.np.array([0, 2])
    assert places.dtype == np.float32
    np.testing.assert_array_equal(mx.np.delete(a, places, axis=1).asnumpy(), np.delete(a.asnumpy(), [0, 2], 1))
    np.testing.assert_array_equal(mx.np.insert(a, places, 7, axis=1).asnumpy(), np.insert(a.asnumpy(), [0, 2], 7, 1))
    for wrong in (0.5, np.nan, 1e30):
        with pytest.raises(TypeError, match="whole numbers"):
            mx.np.delete(a, mx.np.array([0, wrong]), axis=1)
