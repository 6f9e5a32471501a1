"""What scripts written for NumPy take for granted: orders in memory, views, saved states, ufunc
options of functions that are made of others, and what bools cannot do."""

import numpy as onp
import pytest

import mxnet as mx

X = onp.array([[1.5, -2.0, 3.0], [4.0, 5.0, -6.0]], "float32")
MASK = onp.array([True, False, True])


def ours(values):
    return mx.np.array(values, dtype=onp.asarray(values).dtype)


MAKERS = [
    lambda np, x, order: np.zeros((2, 3), order=order),
    lambda np, x, order: np.ones((2, 3), order=order),
    lambda np, x, order: np.full((2, 3), 2.5, order=order),
    lambda np, x, order: np.eye(3, order=order),
    lambda np, x, order: np.array([[1, 2], [3, 4]], order=order),
    lambda np, x, order: np.asarray(x, order=order),
    lambda np, x, order: np.copy(x, order=order),
    lambda np, x, order: np.zeros_like(x, order=order),
    lambda np, x, order: np.ones_like(x, order=order),
    lambda np, x, order: np.full_like(x, 7, order=order),
    lambda np, x, order: np.add(x, x, order=order),
    lambda np, x, order: np.exp(x, order=order),
    lambda np, x, order: x.astype("float64", order=order),
    lambda np, x, order: x.copy(order=order),
    lambda np, x, order: x.T.ravel(order=order),
    lambda np, x, order: x.T.reshape(6, order=order),
]


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("make", MAKERS, ids=range(len(MAKERS)))
def test_orders_change_no_numbers(make, order):
    here, there = make(mx.np, ours(X), order), make(onp, X, order)
    onp.testing.assert_allclose(here.asnumpy(), there, rtol=1e-6)
    assert here.shape == there.shape
    if here.ndim > 1:
        assert here.flags.c_contiguous  # all arrays lie row by row


@pytest.mark.parametrize("make", MAKERS[:-2], ids=range(len(MAKERS) - 2))
def test_other_orders_are_refused(make):
    with pytest.raises((ValueError, NotImplementedError), match="order='Q'"):
        make(mx.np, ours(X), "Q")


@pytest.mark.parametrize("dtype", ["int32", onp.int16, "uint8", "float32", "float16"])
def test_view_in_another_dtype(dtype):
    here, there = ours(X).view(dtype), X.view(dtype)
    assert here.dtype == there.dtype and here.shape == there.shape
    onp.testing.assert_array_equal(here.asnumpy(), there)


def test_view():
    x = ours(X)
    x.view()[0] = 9  # the same memory
    assert x[0].tolist() == [9, 9, 9]
    assert type(x.view(mx.np.ndarray)) is mx.np.ndarray
    assert ours(X[:, :2]).view("float64").shape == (2, 1)
    with pytest.raises(ValueError):
        x.view("float64")  # three elements of four bytes
    with pytest.raises(TypeError):
        x.view(type=list)
    with mx.autograd.record(), pytest.raises(ValueError, match="autograd"):
        x.view("int32")


@pytest.mark.parametrize("dtype", ["int32", "uint8", "float16", "bool", "float64"])
def test_view_in_another_dtype_shares_memory(dtype):
    values = onp.arange(8, dtype="float32").reshape(2, 4)
    here, there = ours(values), values.copy()
    seen, theirs = here.view(dtype), there.view(dtype)
    assert mx.np.shares_memory(seen, here)
    for array, view in [(here, seen), (there, theirs)]:
        array += 1
        array[1] *= 3
        if dtype != "bool":     # of which NumPy keeps what is no 0 or 1
            view[0] = 0
            view[..., -1:] = view[..., -2:-1]
    onp.testing.assert_array_equal(here.asnumpy(), there)
    if dtype != "bool":
        onp.testing.assert_array_equal(seen.asnumpy(), theirs)
    assert seen.dtype == theirs.dtype and seen.shape == theirs.shape


def test_views_are_ordered_with_their_arrays():
    """Work in the background on the one is done before the other is read."""
    x = mx.np.zeros((512, 512))
    bits = x.view("int32")
    for _ in range(5):
        x += mx.np.dot(mx.np.ones((512, 64)), mx.np.ones((64, 512)))
        assert bits[0, 0].item() == onp.float32(x[0, 0].item()).view("int32")
    bits[:] = 0
    assert x.sum().item() == 0
    part = x[3]
    part.view("int32")[1] = 0x3f800000
    assert x[3, 1].item() == 1 and x.sum().item() == 1
    half = mx.np.array([1.0, -2.0], dtype="bfloat16")
    assert half.view("uint16").tolist() == [0x3f80, 0xc000]
    half.view("uint16")[0] = 0x4000
    assert half.astype("float32").tolist() == [2, -2]


def test_views_that_do_not_fit():
    for array, dtype in [(onp.float32(1), "float64"), (onp.zeros((2, 3), "float32"), "float64"), (onp.zeros((0, 3), "float32"), "int64")]:
        with pytest.raises(ValueError) as theirs:
            onp.asarray(array).view(dtype)
        with pytest.raises(ValueError) as here:
            ours(onp.asarray(array)).view(dtype)
        assert str(here.value).startswith(str(theirs.value).rstrip("."))
    assert ours(onp.zeros((2, 0), "float32")).view("float64").shape == (2, 0)
    assert ours(onp.arange(5, dtype="float32"))[2:4].view("float64").shape == (1,)
    with pytest.raises(ValueError, match="middle"):
        ours(onp.arange(5, dtype="float32"))[1:3].view("float64")
    with pytest.raises(mx.MXNetError):
        ours(X).view("complex64")


def test_bools_are_neither_negated_nor_subtracted():
    """As in NumPy and 2.0."""
    b = ours(MASK)
    for call in (
        lambda: -b,
        lambda: b - b,
        lambda: mx.np.negative(b),
        lambda: mx.np.subtract(b, b),
        lambda: mx.np.ptp(b),
    ):
        with pytest.raises(TypeError, match="bool"):
            call()
    assert (b - 1).tolist() == [0, -1, 0] and (b - ours(X)[0]).tolist() == [-0.5, 2, -2]
    assert (~b).tolist() == [False, True, False] and (b ^ b).dtype == bool
    onp.testing.assert_array_equal(mx.np.diff(b).asnumpy(), onp.diff(MASK))


def draws():
    return [mx.np.random.normal(size=5).tolist() for _ in range(6)] + [mx.nd.random.uniform(shape=3).asnumpy().tolist()]


def test_state_of_the_random_numbers():
    mx.np.random.seed(5)
    mx.np.random.uniform(size=3)
    state = mx.np.random.get_state()
    first, rest = draws(), draws()
    mx.np.random.set_state(state)
    assert draws() == first and draws() == rest
    mx.np.random.seed(6)
    assert draws() != first
    mx.np.random.set_state(state)
    assert draws() == first
    assert mx.np.random.get_state() != state


def test_what_is_no_state_is_refused():
    before = mx.np.random.get_state()
    for bad in (onp.random.get_state(), None, {}, mx.np.random.RandomState(3).get_state()):
        with pytest.raises(TypeError, match="get_state"):
            mx.np.random.set_state(bad)
    state = mx.np.random.get_state()
    for words in ([], [1], [1, 1], [1, 1, 1, 0, 0, 10**6], state["state"] + [1]):
        with pytest.raises(ValueError, match="no state"):
            mx.np.random.set_state({**state, "state": words})
    assert mx.np.random.get_state() == before


@pytest.mark.parametrize(
    "call",
    [
        lambda np, x, m: np.exp2(x, dtype="float64"),
        lambda np, x, m: np.exp2(x, where=m, out=np.zeros_like(x)),
        lambda np, x, m: np.heaviside(x, 0.5, where=m, out=np.ones_like(x)),
        lambda np, x, m: np.heaviside(x, x, dtype="float64"),
        lambda np, x, m: np.conj(x, where=m, out=np.zeros_like(x)),
        lambda np, x, m: np.conj(x, dtype="float64"),
        lambda np, x, m: np.roll(x, (1, 3)),
        lambda np, x, m: np.roll(x, (1, -1), axis=(0, 1)),
        lambda np, x, m: np.mean(x.astype("int32"), dtype="int64", where=m),
        lambda np, x, m: np.mean(x.astype("int32"), dtype="float64", axis=0, where=m),
        lambda np, x, m: np.var(x, where=m, axis=1, ddof=1),
    ],
)
def test_options_of_composed_functions(call):
    here, there = call(mx.np, ours(X), ours(MASK)), call(onp, X, MASK)
    onp.testing.assert_allclose(here.asnumpy(), there, rtol=1e-6)
    assert here.dtype == there.dtype


@pytest.mark.filterwarnings("ignore")
def test_spreads_of_too_few_numbers_are_undefined():
    values = onp.array([[1.0, onp.nan], [2.0, 3.0]])
    for name in ("nanstd", "nanvar"):
        here = getattr(mx.np, name)(ours(values), axis=1, ddof=1)
        onp.testing.assert_allclose(here.asnumpy(), getattr(onp, name)(values, axis=1, ddof=1))


@pytest.mark.filterwarnings("ignore")
def test_spreads_of_too_few_integers():
    values = onp.array([1, 2], "int32")
    for name in ("nanstd", "nanvar"):
        assert getattr(mx.np, name)(ours(values), ddof=5).asnumpy() == getattr(onp, name)(values, ddof=5) == onp.inf


def test_deviations_of_floats_are_floats():
    for name in ("nanstd", "nanvar"):
        for np, x in ((mx.np, ours(X)), (onp, X)):
            with pytest.raises(TypeError, match="dtype"):
                getattr(np, name)(x, dtype=bool)


def test_what_is_no_array_equals_none():
    for np, x in ((mx.np, ours(X)), (onp, X)):
        for other in (None, "text", {}, object()):
            assert np.array_equal(x, other) is False and np.array_equiv(x, other) is False


@pytest.mark.parametrize("x", [onp.arange(3, dtype="int8"), onp.arange(3, dtype="float32"), MASK])
def test_truth_values_of_numpy_are_bools(x):
    for function in (lambda a, b: a + b, lambda a, b: b * a, lambda a, b: a == b):
        assert function(ours(x), onp.True_).dtype == function(ours(x), True).dtype
    if x.dtype == bool:
        assert (ours(x) & onp.True_).tolist() == x.tolist()


MADE_OF_NOTHING = """
    arange(3) arange(1,3,.5) zeros(3) zeros((2,2),dtype='int8') ones(3) empty(3) full(3,1.5) full((2,),[1,2]) eye(3) identity(3)
    tri(3) linspace(0,1,3) linspace([0,1],2,3) logspace(0,1,3) geomspace(1,8,3) hanning(4) hamming(4) blackman(4) bartlett(4) kaiser(4,1.0)
    indices((2,2)) array([1,2]) asarray([1,2]) tril_indices(3)[0] triu_indices(3)[1] diag_indices(3)[0] mask_indices(3,mx.np.triu)[0]
    mgrid[0:3] fromfunction(mx.np.add,(2,2)) fft.fftfreq(4) meshgrid(mx.np.arange(2),mx.np.arange(3))[0]
    random.normal(size=2) random.uniform(size=2) random.randint(5,size=2) random.choice(5,2) random.multinomial(3,[.5,.5])
    random.permutation(4) random.gamma(2.0,size=2) random.poisson(2.0,3) random.default_rng(3).normal(size=2)
""".split()


@pytest.mark.parametrize("call", MADE_OF_NOTHING)
def test_arrays_are_made_on_the_current_device(call):
    with mx.cpu(1):
        made = eval(f"mx.np.{call}")  # pylint: disable=eval-used
    assert made.ctx == mx.cpu(1)
    assert eval(f"mx.np.{call}").ctx == mx.cpu(0)  # pylint: disable=eval-used


SHAPES = [3, (), (2, 3), (0, 2), [2, 1], onp.int64(2), (onp.int64(2), 1), (1,) * 8, (1,) * 9]
DTYPES = [None, "int8", onp.float64, onp.dtype("uint16"), float, bool, "f4"]


@pytest.mark.parametrize("name", ["zeros", "ones"])
def test_arrays_of_one_value_in_all_spellings(name):
    here, there = getattr(mx.np, name), getattr(onp, name)
    for shape in SHAPES:
        for dtype in DTYPES:
            want = there(shape, "float32" if dtype is None else dtype)
            for made in (here(shape, dtype), here(shape, dtype=dtype), here(shape=shape, dtype=dtype, order="C"), here(shape, dtype, "F")):
                assert made.shape == want.shape and made.dtype == want.dtype and (made.asnumpy() == want).all()
    for bad in (-1, (2, -1), "a", 2.5, (2.0,), None):
        with pytest.raises((ValueError, TypeError)):
            here(bad)
    with pytest.raises(TypeError):
        here(3, dtype="foo")
    with mx.util.np_default_dtype(True):
        assert here(3).dtype == onp.float64 and here(3, dtype="float32").dtype == onp.float32


BOUNDS = [(3,), (0,), (-2,), (2.5,), (1, 4), (1.5, 4), (4, 1, -1), (0, 1, 0.25), (True,), (onp.int64(3),), (2, 2), (0, 3, onp.float32(0.5))]


@pytest.mark.parametrize("bounds", BOUNDS, ids=str)
def test_ranges_in_all_spellings(bounds):
    for dtype in ("float32", "int32", onp.float64, "uint8"):
        if "int" in str(dtype) and min(bounds) < 0 and dtype == "uint8":
            continue
        want = onp.arange(*bounds, dtype=dtype) if all(float(b).is_integer() for b in bounds) or "float" in str(dtype) else None
        if want is not None:
            made = mx.np.arange(*bounds, dtype=dtype)
            assert made.dtype == want.dtype and made.tolist() == want.tolist()
    assert mx.np.arange(*bounds).dtype == onp.float32
    with mx.util.np_default_dtype(True):
        made, want = mx.np.arange(*bounds), onp.arange(*bounds)
        assert made.dtype == ("int64" if want.dtype.kind == "i" else "float64") and made.tolist() == want.tolist()
    with pytest.raises(ZeroDivisionError):
        mx.np.arange(0, 1, 0)


def test_transposes_in_all_spellings():
    values = onp.arange(24).reshape(2, 3, 4)
    x = ours(values)
    for axes in (None, (0, 1, 2), (2, 0, 1), [1, 0, 2], (-1, 0, 1), onp.array([2, 1, 0])):
        want = onp.transpose(values, axes)
        for made in (mx.np.transpose(x, axes), mx.np.transpose(x, axes=axes), mx.np.transpose(a=x, axes=axes)):
            assert made.shape == want.shape and (made.asnumpy() == want).all()
    for bad in ((0, 1), (0, 0, 1), (0, 1, 3), 1):
        with pytest.raises(ValueError):
            mx.np.transpose(x, bad)
    assert mx.np.transpose(mx.np.ones(()), ()).shape == ()


def test_single_values_are_numbers_of_python():
    for dtype, value in (("bool", True), ("bool", False), ("int8", -3), ("uint8", 200), ("float32", 1.5), ("int64", 2**40)):
        x = mx.np.array([value], dtype=dtype)
        assert x.item() == value and type(x.item()) is type(value) and bool(x) == bool(value) and x.tolist() == [value]


def test_numbers_written_at_places_again_and_again():
    """The binding keeps the numbers that were written last."""
    rows = mx.np.array([0, 2], dtype="int64")
    for dtype in ("float32", "int32", "float64"):
        x, want = mx.np.zeros((3, 2), dtype=dtype), onp.zeros((3, 2), dtype)
        for value in (1, 2, 3, 4, 5, 1, 2, -0.0, 0.0, 1, 7, float("inf") if "float" in dtype else 8):
            x[rows] = value
            want[[0, 2]] = value
            onp.testing.assert_array_equal(x.asnumpy(), want)
            assert (onp.signbit(x.asnumpy()) == onp.signbit(want)).all()
    y = mx.np.zeros(3)
    y[rows] = 1
    y += 1  # not into the kept number
    z = mx.np.zeros(3)
    z[rows] = 1
    assert z.tolist() == [1, 0, 1] and y.tolist() == [2, 1, 2]


@pytest.mark.parametrize("name", ["var", "std", "mean", "sum", "max", "prod", "nanmean"])
def test_gradients_of_reductions_of_one_number(name):
    """Of shape ()."""
    x = mx.np.array(3.0)
    x.attach_grad()
    with mx.autograd.record():
        y = getattr(mx.np, name)(x)
    y.backward()
    assert x.grad.shape == () and float(x.grad) == (0 if name in ("var", "std") else 1)


FLAT = [[], [1, 2.5, True], [2**40], [float("nan"), -0.0], 3, 2.5, True]


@pytest.mark.parametrize("values", FLAT + [[[1, 2], [3, 4]], (1, 2), [1, [2]], [1, None]])
@pytest.mark.parametrize("dtype", [None, "float32", "float64", "int32", "float16"])
def test_arrays_of_numbers(values, dtype):
    try:
        want = onp.asarray(values).astype(dtype or "float32")
    except (ValueError, TypeError):
        with pytest.raises(TypeError):
            mx.np.array(values, dtype=dtype)
        return
    if not onp.isfinite(want).all() and dtype == "int32":
        return
    made = mx.np.array(values, dtype=dtype)
    assert made.dtype == want.dtype and made.shape == want.shape
    onp.testing.assert_array_equal(made.asnumpy(), want)
    assert made.ctx == mx.cpu(0)
    with mx.cpu(1):
        assert mx.np.array(values, dtype=dtype).ctx == mx.cpu(1)
    assert mx.np.array(values, dtype=dtype, device=mx.cpu(2)).ctx == mx.cpu(2)


def test_shapes_in_all_spellings():
    values = onp.arange(6.0)
    x = ours(values)
    for shape in ((2, 3), [3, -1], 6, (), -1, (onp.int64(3), 2), (1,) * 9, (6, 1)):
        size = 1 if shape == () or shape == (1,) * 9 else 6
        want, a = onp.reshape(values[:size], shape), ours(values[:size])
        spellings = [
            mx.np.reshape(a, shape),
            mx.np.reshape(a, newshape=shape),
            mx.np.reshape(a, shape=shape),
            a.reshape(shape),
            *([a.reshape(*shape)] if isinstance(shape, tuple) and shape else []),
        ]
        for made in spellings:
            assert made.shape == want.shape and (made.asnumpy() == want).all()
    for call in (
        lambda: mx.np.reshape(x),
        lambda: mx.np.reshape(x, None),
        lambda: x.reshape(),
        lambda: mx.np.reshape(x, (4, 2)),
        lambda: x.reshape(4, 2),
        lambda: mx.np.reshape(x, (-1, -1)),
        lambda: mx.np.reshape(x, "a"),
    ):
        with pytest.raises((TypeError, ValueError)):
            call()
    z = mx.np.zeros((2, 0))
    assert z.reshape(0, 5).shape == mx.np.reshape(z, (0, 5)).shape == (0, 5)
    with mx.autograd.record():
        x.attach_grad()
        y = (mx.np.reshape(x, (3, 2)) * 2 + x.reshape(3, 2)).sum()
    y.backward()
    assert x.grad.tolist() == [3] * 6
