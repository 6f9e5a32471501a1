"""Reductions of mx.np against NumPy: one harness over a table of functions, dtypes, shapes, axes
and keywords."""
import numpy as onp
import pytest

import mxnet as mx
from mxnet import _dtypes, np
from mxnet.numpy._dispatch import from_values
from test_numpy_ufuncs import DTYPES, values

SHAPES = [((3, 4, 5), [None, 0, -1, (0, 2), (-1, 1), ()]), ((4,), [None, 0, -1]), ((), [None, ()]), ((2, 0, 3), [None, 0, 1, 2]),
          ((1, 1), [None, 0])]


def natural(dtype):
    return "int64" if dtype == "bool" else dtype


def widest(dtype):
    return "uint64" if dtype[0] == "u" else "int64" if "int" in dtype or dtype == "bool" else dtype


def same(dtype):
    return dtype


def quotient(dtype):
    return dtype if dtype.startswith("float") else "float32"


# function: the dtype of its results, and whether empty axes are an error
TABLE = {"sum": (natural, False), "prod": (natural, False), "product": (natural, False), "mean": (quotient, False),
         "std": (quotient, False),
         "var": (quotient, False), "max": (same, True), "min": (same, True), "amax": (same, True), "amin": (same, True),
         "any": (lambda d: "bool", False), "all": (lambda d: "bool", False), "sometrue": (lambda d: "bool", False),
         "alltrue": (lambda d: "bool", False), "nansum": (widest, False), "nanprod": (widest, False), "nanmean": (quotient, False),
         "nanstd": (quotient, False), "nanvar": (quotient, False), "median": (quotient, False), "ptp": (same, True),
         "average": (quotient, False)}
NUMPY_NAMES = {"product": "prod", "sometrue": "any", "alltrue": "all"}


def check(got, want, dtype, what):
    got = got.asnumpy()
    assert got.dtype == dtype, (what, got.dtype)
    assert got.shape == onp.shape(want), what
    want = onp.asarray(want)
    if got.dtype.kind == "f":
        rtol = {"float16": 1e-2, "float32": 1e-5, "float64": 1e-12}[got.dtype.name]
        want = want.astype(got.dtype).astype("float64")
        onp.testing.assert_allclose(got.astype("float64"), want, rtol=rtol, atol=rtol, err_msg=what)
    else:
        onp.testing.assert_array_equal(got, want.astype(got.dtype), err_msg=what)


@pytest.mark.parametrize("name", sorted(TABLE))
@pytest.mark.filterwarnings("ignore")
def test_dtypes_shapes_and_axes(name):
    result_of, refuses_empty = TABLE[name]
    function, reference = getattr(np, name), getattr(onp, NUMPY_NAMES.get(name, name))
    for dtype in DTYPES:
        if name == "ptp" and dtype == "bool":
            continue
        for shape, axes in SHAPES:
            x = values(dtype, shape, 1, -2, 3)
            if dtype == "uint64" and name not in ("max", "min", "amax", "amin", "sum", "prod", "any", "all", "ptp"):
                x = x % 5
            for axis in axes:
                for keepdims in (False, True) if name != "average" else (False,):
                    extra = {"keepdims": keepdims} if name != "average" else {}
                    what = f"{name} {dtype} {shape} {axis} {keepdims}"
                    results = 1 if axis is None else int(onp.prod([d for i, d in enumerate(shape) if i not in [
                        a % len(shape) for a in (axis if isinstance(axis, tuple) else (axis,))]]))
                    if refuses_empty and x.size == 0 and results:
                        with pytest.raises(ValueError):
                            function(from_values(x), axis=axis, **extra).asnumpy()
                        continue
                    if x.size == 0 and not results and name == "average":
                        continue
                    if axis == () and name in ("median", "average"):
                        continue    # NumPy's do not know it
                    wide = x.astype("float64") if result_of is quotient or dtype == "float16" else x
                    check(function(from_values(x), axis=axis, **extra), reference(wide, axis=axis, **extra), result_of(dtype), what)


@pytest.mark.filterwarnings("ignore")
def test_where_initial_dtype_and_out():
    x = onp.random.default_rng(0).normal(size=(4, 5)).astype("float32")
    mask = x > 0
    a, m = from_values(x), from_values(mask)
    for name in ("sum", "prod", "mean", "std", "var", "any", "all"):
        for axis in (None, 0, (0, 1)):
            for keepdims in (False, True):
                got = getattr(np, name)(a, axis=axis, keepdims=keepdims, where=m)
                check(got, getattr(onp, name)(x.astype("float64"), axis=axis, keepdims=keepdims, where=mask),
                      "bool" if name in ("any", "all") else "float32", name)
    onp.testing.assert_allclose(np.std(a, axis=0, ddof=1, where=mask[:, :1]).asnumpy(), onp.std(x, axis=0, ddof=1, where=mask[:, :1]),
                                rtol=1e-5)
    for name in ("max", "min"):
        check(getattr(np, name)(a, axis=0, initial=0.5), getattr(onp, name)(x, axis=0, initial=0.5), "float32", name)
        check(getattr(np, name)(a, axis=0, initial=0.5, where=m), getattr(onp, name)(x, axis=0, initial=0.5, where=mask), "float32", name)
        with pytest.raises(ValueError, match="initial"):
            getattr(np, name)(a, where=m)
    check(np.sum(a, initial=2.5), x.sum(initial=2.5), "float32", "initial")
    check(np.sum(from_values(onp.array([2**62])), initial=1), 2**62 + 1, "int64", "initial of integers")
    for dtype in DTYPES + ["bfloat16"]:
        assert _dtypes.name(np.sum(a, dtype=dtype).dtype) == dtype
    check(np.sum(a, dtype="int32"), x.astype("int32").sum(), "int32", "cast first")
    check(np.mean(from_values(onp.arange(4)), dtype="float16"), 1.5, "float16", "mean")
    out = from_values(onp.zeros(5))
    assert np.sum(a, axis=0, out=out) is out
    onp.testing.assert_allclose(out.asnumpy(), x.sum(axis=0), rtol=1e-5)
    with pytest.raises(TypeError, match="`out`"):
        np.sum(a, out=onp.zeros(()))
    with pytest.raises(ValueError, match="axis"):
        np.sum(a, axis=2)
    with pytest.raises(ValueError, match="twice"):
        np.sum(a, axis=(1, 1))
    with mx.util.np_default_dtype(True):
        for name in ("mean", "std", "var"):
            assert getattr(np, name)(from_values(onp.arange(4))).dtype == onp.float64
    onp.testing.assert_allclose(np.var(a, ddof=1.5).asnumpy(), x.var(ddof=1.5), rtol=1e-5)
    onp.testing.assert_allclose(np.std(a, correction=1).asnumpy(), x.std(ddof=1), rtol=1e-5)
    assert onp.isnan(np.var(from_values(onp.ones(1)), ddof=1).asnumpy())


@pytest.mark.filterwarnings("ignore")
def test_nan():
    x = onp.array([[1.0, onp.nan, 3.0], [onp.nan, onp.nan, onp.nan], [4.0, 5.0, 6.0]], "float32")
    a = from_values(x)
    for name in ("max", "min", "nanmax", "nanmin", "nansum", "nanprod", "nanmean", "nanstd", "nanvar", "sum", "mean", "median"):
        for axis in (None, 0, 1):
            want = getattr(onp, name)(x, axis=axis)
            onp.testing.assert_allclose(getattr(np, name)(a, axis=axis).asnumpy(), want, rtol=1e-6, err_msg=name)
    onp.testing.assert_array_equal(np.argmax(a, axis=1).asnumpy(), onp.argmax(x, axis=1))
    onp.testing.assert_allclose(np.nancumsum(a, axis=1).asnumpy(), onp.nancumsum(x, axis=1))


def test_searches_and_running_sums():
    for dtype in DTYPES:
        x = values(dtype, (3, 4), 5)
        for axis in (None, 0, -1):
            for keepdims in (False, True):
                for name in ("argmax", "argmin"):
                    check(getattr(np, name)(from_values(x), axis=axis, keepdims=keepdims),
                          getattr(onp, name)(x, axis=axis, keepdims=keepdims), "int64", f"{name} {dtype} {axis}")
            check(np.cumsum(from_values(x), axis=axis), onp.cumsum(x, axis=axis, dtype=natural(dtype)), natural(dtype), f"cumsum {dtype}")
    check(np.cumsum(from_values(x), dtype="uint16"), onp.cumsum(x, dtype="uint16"), "uint16", "dtype")
    with pytest.raises(ValueError):
        np.argmax(from_values(onp.zeros((0,))))


@pytest.mark.parametrize("method", ["linear", "lower", "higher", "midpoint", "nearest"])
def test_percentiles(method):
    x = onp.random.default_rng(1).normal(size=(4, 5, 3))
    a = from_values(x)
    for axis in (None, 1, (0, 2)):
        for keepdims in (False, True):
            for q in (0, 37, 100, [10, 50.5], onp.array([[0.0, 20], [30, 90]])):
                want = onp.percentile(x, q, axis=axis, keepdims=keepdims, method=method)
                got = np.percentile(a, q, axis=axis, keepdims=keepdims, interpolation=method)
                onp.testing.assert_allclose(got.asnumpy(), want, rtol=1e-12)
                with mx.autograd.record():      # by sorting, which has a gradient
                    got = np.quantile(a, onp.asarray(q) / 100 if not isinstance(q, int) else q / 100, axis=axis, keepdims=keepdims,
                                      method=method)
                onp.testing.assert_allclose(got.asnumpy(), want, rtol=1e-10)
    with pytest.raises(ValueError, match="101"):
        np.percentile(a, 101).asnumpy()


def test_gradients():
    x = from_values(onp.array([[0.5, 2.0, -1.5], [1.0, 3.0, 0.25]]))
    w = from_values(onp.array([[1.0, 2.0, 3.0], [2.0, 1.0, 0.5]]))
    mask = onp.array([[True, False, True], [True, True, False]])
    x.attach_grad()
    calls = {"sum": {}, "mean": {"axis": 1}, "prod": {"axis": 0}, "std": {"axis": 1}, "var": {"ddof": 1}, "max": {"axis": 1},
             "ptp": {"axis": 0},
             "median": {"axis": 1}, "nansum": {}, "nanmean": {"axis": 0}, "average": {"axis": 0, "weights": w}, "cumsum": {"axis": 1}}
    step = 1e-6
    for name, kwargs in calls.items():
        for more in ({}, {"where": mask}) if name in ("sum", "mean", "prod", "var") else ({},):
            with mx.autograd.record():
                y = getattr(np, name)(x, **kwargs, **more)
            y.backward()
            given = {k: v.asnumpy() if isinstance(v, np.ndarray) else v for k, v in kwargs.items()}
            value, numeric = x.asnumpy(), onp.zeros((2, 3))
            for i in onp.ndindex(2, 3):
                sides = []
                for sign in (1, -1):
                    moved = value.copy()
                    moved[i] += sign * step
                    sides.append(onp.sum(getattr(onp, name)(moved, **given, **more)))
                numeric[i] = (sides[0] - sides[1]) / (2 * step)
            onp.testing.assert_allclose(x.grad.asnumpy(), numeric, rtol=1e-5, atol=1e-6, err_msg=f"{name} {more}")


@pytest.mark.filterwarnings("ignore")
def test_statistics():
    rng = onp.random.default_rng(3)
    x, w = rng.normal(size=(3, 7)), rng.uniform(0.5, 2, 7)
    a = from_values(x)
    onp.testing.assert_allclose(np.cov(a).asnumpy(), onp.cov(x), rtol=1e-6)
    onp.testing.assert_allclose(np.cov(a, bias=True).asnumpy(), onp.cov(x, bias=True), rtol=1e-6)
    onp.testing.assert_allclose(np.cov(a, rowvar=False).asnumpy(), onp.cov(x, rowvar=False), rtol=1e-6)
    onp.testing.assert_allclose(np.cov(a, aweights=from_values(w)).asnumpy(), onp.cov(x, aweights=w), rtol=1e-6)
    times = onp.arange(1, 8)
    onp.testing.assert_allclose(np.cov(a, fweights=from_values(times)).asnumpy(), onp.cov(x, fweights=times), rtol=1e-6)
    onp.testing.assert_allclose(np.corrcoef(a).asnumpy(), onp.corrcoef(x), rtol=1e-6)
    onp.testing.assert_allclose(np.corrcoef(a, a[:1]).asnumpy(), onp.corrcoef(x, x[:1]), rtol=1e-6, atol=1e-12)
    got, total = np.average(a, axis=1, weights=w, returned=True)
    want, sums = onp.average(x, axis=1, weights=w, returned=True)
    onp.testing.assert_allclose(got.asnumpy(), want)
    onp.testing.assert_allclose(total.asnumpy(), sums)
    onp.testing.assert_allclose(np.average(a, axis=0, weights=onp.array([1.0, 2, 3])).asnumpy(), onp.average(x, axis=0, weights=[1, 2, 3]))
    with pytest.raises(ValueError, match="average"):
        np.average(a, weights=from_values(onp.ones(5)))
    for bins, limits in ((5, None), (4, (-1.0, 1.0)), ([-2.0, 0.0, 0.5, 2.0], None)):
        for density in (False, True):
            for weights in (None, rng.uniform(size=x.shape)):
                got = np.histogram(a, bins, limits, density=density, weights=None if weights is None else from_values(weights))
                want = onp.histogram(x, bins, limits, density=density, weights=weights)
                onp.testing.assert_allclose(got[0].asnumpy(), want[0])
                onp.testing.assert_allclose(got[1].asnumpy(), want[1])
    onp.testing.assert_array_equal(np.histogram(from_values(onp.arange(9)), 3)[0].asnumpy(), [3, 3, 3])
    with pytest.raises(ValueError, match="histogram"):
        np.histogram(from_values([1.0, onp.nan]))
    counts = onp.array([3, 1, 1, 0])
    onp.testing.assert_array_equal(np.bincount(from_values(counts), minlength=6).asnumpy(), onp.bincount(counts, minlength=6))
    onp.testing.assert_allclose(np.bincount(from_values(counts), weights=[0.5, 1.0, 2.0, 3.0]).asnumpy(), [3.0, 3.0, 0.0, 0.5])
    with pytest.raises(ValueError, match="bincount"):
        np.bincount(from_values(onp.array([-1])))


def test_counts():
    a = from_values(onp.array([[1.0, 0.0, onp.nan], [0.0, 0.0, 2.0]]))
    assert np.count_nonzero(a) == 3 and isinstance(np.count_nonzero(a), int)
    check(np.count_nonzero(a, axis=1), [2, 1], "int64", "axis")
    check(np.count_nonzero(a, keepdims=True), [[3]], "int64", "keepdims")
    assert np.bincount(from_values(onp.array([1], "int32"))).dtype == onp.int32
    with pytest.raises(TypeError, match="bincount"):
        np.bincount(from_values([1.5]))


def test_plain_numbers_and_lists():
    assert np.sum([1, 2]).asnumpy() == 3 and np.mean([[1.0, 2.0]]).shape == () and np.sum(3).asnumpy() == 3
    assert np.max(onp.arange(4)).dtype == onp.int64


@pytest.mark.parametrize("name", ["sum", "prod"])
@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "uint32", "int64", "uint64", "bool"])
def test_integers_are_added_as_another_dtype(name, dtype):
    rng = onp.random.default_rng(0)
    for result in ("int8", "uint8", "uint16", "int32", "int64", "uint64", "float32", "float64", "float16", "bool"):
        for shape, axis in (((7, 5), None), ((3, 4, 5), (0, 2)), ((3000,), None), ((0, 3), 0)):
            x = rng.integers(0, 2 if dtype == "bool" else 120 if name == "sum" else 4, shape).astype(dtype)
            x = x - onp.array(2, dtype) if dtype.startswith("int") else x
            for more in ({}, {"initial": 3}):
                got = getattr(mx.np, name)(mx.np.array(x, dtype=dtype), axis=axis, dtype=result, **more)
                with onp.errstate(all="ignore"):
                    want = getattr(onp, name)(x, axis=axis, dtype=result, **more)
                assert str(got.dtype) == result and got.shape == want.shape
                onp.testing.assert_allclose(got.asnumpy(), want, rtol=2e-3 if result == "float16" else 1e-5)


def test_sums_in_bool():
    """As in NumPy: what is added is cast first."""
    for numbers in ([1, -1], [256, 0], [0, 0], [2.5, -2.5]):
        for name in ("sum", "prod"):
            for dtype in ("int32", "float32"):
                x = onp.array(numbers, dtype)
                found = getattr(mx.np, name)(mx.np.array(x, dtype=dtype), dtype="bool")
                assert found.dtype == onp.bool_ and bool(found) == bool(getattr(onp, name)(x, dtype=bool)), (name, numbers, dtype)


RNG = onp.random.default_rng(2)
MANY = 50000


@pytest.mark.parametrize("x", [
    RNG.normal(size=MANY).astype("float32"), RNG.normal(size=MANY), RNG.integers(-9, 9, MANY).astype("int32"),
    onp.sort(RNG.normal(size=MANY)), onp.sort(RNG.normal(size=MANY))[::-1].copy(), onp.zeros(MANY), onp.tile(onp.arange(64.0), 800),
    onp.repeat([5.0, -3.0], [MANY - 1, 1]), onp.repeat([-onp.inf, 0.0, onp.inf], [100, MANY, 100]),
    onp.append(RNG.normal(size=MANY), onp.nan), RNG.normal(size=(2, MANY)).T.copy(),
], ids=["float32", "float64", "int32", "rising", "falling", "zeros", "few", "one", "infinite", "nan", "columns"])
def test_percentiles_of_many_numbers(x):
    a = from_values(x)
    for q in (0, 0.001, 37, 50, 99.999, 100, [10, 50.5], list(range(0, 101, 5)), [k / 2 for k in range(60)]):
        want = onp.percentile(x, q, axis=0, method="higher")
        onp.testing.assert_array_equal(np.percentile(a, q, axis=0, interpolation="higher").asnumpy(), want)
    onp.testing.assert_allclose(np.median(a, axis=0).asnumpy(), onp.median(x, axis=0), rtol=1e-6)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "uint8"])
def test_histograms_of_many_numbers(dtype):
    x = (RNG.normal(size=MANY) * 30).astype("int64").astype(dtype)     # many of them are edges
    for bins, bounds in ((7, (-10, 60)), (1, None), (1000, (0, 100)), (5, (200, 300)), ([0, 3, 4, 9], None)):
        for got, want in zip(np.histogram(from_values(x), bins, range=bounds), onp.histogram(x, bins, range=bounds)):
            onp.testing.assert_allclose(got.asnumpy(), want, rtol=1e-6)


@pytest.mark.parametrize("axis", [5, -3, (0, 5)])
@pytest.mark.parametrize("name, arguments", [("median", ()), ("quantile", (0.5,)), ("percentile", (50,))])
def test_quantiles_of_nothing_refuse_axes_out_of_range(name, arguments, axis):
    with pytest.raises(mx.MXNetError, match=r"axis -?\d of an array of 2 dimensions; accepted: -2 to 1"):
        getattr(mx.np, name)(mx.np.zeros((0, 2)), *arguments, axis=axis)


def test_variances_in_integers_are_cut_off():
    x = np.array([[1, 2], [5, 9]], dtype="int32")
    for name, want in (("var", 9), ("std", 3), ("nanvar", 9), ("nanstd", 3)):
        for dtype in ("int32", "int8", "uint8", "bool"):
            got = getattr(np, name)(x, dtype=dtype)
            assert got.dtype == onp.dtype(dtype) and got.item() == onp.array(want, dtype).item()
    some = np.array([[True, True], [True, False]])
    assert np.var(x, dtype="int32", where=some).asnumpy() == 2      # 26 / 9
    with pytest.raises(TypeError, match="accepted: a dtype of floats"):
        np.nanmean(np.ones(2), dtype="int32")


def test_edges_that_fall_are_refused():
    for edges in ([3, 2, 1], [1, 3, 2]):
        for bins in (edges, onp.array(edges), np.array(edges)):
            with pytest.raises(ValueError, match="accepted: edges that do not fall"):
                np.histogram(np.array([1, 2, 2]), bins)[0].asnumpy()
    onp.testing.assert_array_equal(np.histogram(np.array([1, 2, 2]), np.array([1, 2, 2, 3]))[0].asnumpy(), [1, 0, 2])
