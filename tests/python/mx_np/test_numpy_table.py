"""Functions of mx.np against NumPy over dtypes, shapes, axes and keywords: reductions in all
combinations, and a table of those that no other table has."""

import importlib
import inspect

import numpy as onp
import pytest

import mxnet as mx
from np_table import build, check_gradient, compare, fixed, named, rand, rows

SHAPES = ((), (3,), (2, 3), (2, 0, 3), (2, 1, 3))
SUMS = "sum prod nansum nanprod".split()
MEANS = "mean std var nanmean nanstd nanvar median nanmedian".split()
EXTREMES = "max min amax amin nanmax nanmin ptp".split()
TRUTHS = "all any count_nonzero".split()
MASK, ROW = (
    fixed([[True, False, True], [False, True, True]], "bool"),
    fixed([True, False, True], "bool"),
)


def axes_of(shape):
    n = len(shape)
    return [None, (), *range(n), *([-1] if n else []), *([(0, 1), (0, -1)] if n > 1 else [])]


def reductions(name):
    """Calls of a reduction."""
    table = []
    for shape in SHAPES:
        for axis in axes_of(shape):
            for keep in (False, True):
                empty = 0 in shape and name in EXTREMES
                if not empty:  # an error there, as in NumPy
                    table.append((name, [rand(*shape)], {"axis": axis, "keepdims": keep}))
    return table


def masked(name):
    """Calls of a reduction with what else it takes."""
    start = {"max": 0, "amax": 0, "nanmax": 0, "min": 9, "amin": 9, "nanmin": 9}
    more = {"initial": start[name]} if name in start else {}
    table = [
        (name, [rand(2, 3)], {"where": MASK, **more}),
        (name, [rand(2, 3)], {"where": MASK, "axis": 1, **more}),
        (name, [rand(2, 3)], {"where": ROW, "axis": 0, "keepdims": True, **more}),
    ]
    if name in SUMS or more:
        table += [
            (name, [rand(2, 3)], {"initial": 2, "axis": 0}),
            (name, [rand(0, 3)], {"initial": 2, "axis": 0}),
        ]
    if name in SUMS or name in MEANS:
        table += [
            (name, [rand(2, 3)], {"dtype": "float64"}),
            (name, [rand(2, 3)], {"dtype": "float32", "axis": 1}),
        ]
    if name.endswith(("std", "var")):
        table += [(name, [rand(4, 3)], {"ddof": ddof, "axis": 0}) for ddof in (1, 2, 0.5)]
    return table


def same_dtype(name, dtype):
    """Whether the dtype of a result is NumPy's: not of sums of small integers, nor of means."""
    return not (
        name in ("sum", "prod")
        and dtype in ("int8", "int32", "uint8")
        or name in MEANS
        and "float" not in dtype
    )


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype", ["float32", "float16", "int8", "bool"])
@pytest.mark.parametrize("name", SUMS + MEANS + EXTREMES + TRUTHS)
def test_reductions(name, dtype):
    if name == "ptp" and dtype == "bool":
        return  # NumPy subtracts no bools
    for row in reductions(name):
        several = isinstance(row[2]["axis"], tuple)
        if name in ("ptp", "median") and several and (row[2]["axis"] == () or 0 in row[1][0].shape):
            continue  # an error of NumPy
        tolerance = {"float16": 4e-3, "float32": 1e-5}.get(dtype)
        compare(row, dtype, same_dtype(name, dtype), tolerance=tolerance)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "uint8"])
@pytest.mark.parametrize(
    "name",
    [
        n
        for n in SUMS + MEANS + EXTREMES + ["all", "any"]
        if n not in ("median", "nanmedian", "ptp")
    ],
)
def test_masks_and_starts(name, dtype):
    for row in masked(name):
        compare(row, dtype, same_dtype(name, dtype) or "dtype" in row[2], tolerance=1e-5)


QUANTILES = [
    (name, [rand(*shape), q], {"axis": axis, "keepdims": keep})
    for name in ("quantile", "nanquantile")
    for q in (0.5, [0.1, 0.9], [[0.2], [0.7]])
    for shape in ((5,), (3, 4))
    for axis in (None, 0, -1)
    for keep in (False, True)
]
QUANTILES += [
    ("percentile", [rand(5, 4), 30], {"method": method, "axis": 0})
    for method in ("lower", "higher", "midpoint", "nearest")
]
QUANTILES += [
    ("percentile", [rand(3, 4), [25, 75]], {"axis": (0, 1)}),
    ("nanpercentile", [rand(3, 4), 40], {"axis": 1}),
]
A, B = rand(2, 3), rand(2, 3)
LINE = fixed([0.5, 2, 3.5, 1])
TABLE = [
    ("around", [fixed([0.25, 1.5, 2.5, -3.5])]),
    ("round", [fixed([25, 35, 115]), -1]),
    ("average", [A]),
    ("average", [A], {"axis": 1}),
    ("average", [A], {"axis": 1, "weights": fixed([1, 2, 1])}),
    ("average", [A], {"axis": 0, "weights": fixed([1, 3]), "returned": True}),
    ("average", [A], {"weights": fixed([[1, 2, 3], [1, 1, 1]])}),
    ("conjugate", [A]),
    ("imag", [A]),
    ("real", [A]),
    ("iscomplex", [A]),
    ("isreal", [A]),
    ("cumsum", [rand(2, 3)], {"axis": 1, "dtype": "float64"}),
    ("nancumsum", [rand(2, 3)], {"dtype": "float64"}),
    ("divmod", [A, fixed([1, 2, 3])]),
    ("float_power", [fixed([1, 2, 3]), 2]),
    ("interp", [fixed([0, 1, 2.5]), fixed([1, 2, 3]), fixed([4, 0, 2])]),
    ("interp", [fixed([0, 1, 5]), fixed([1, 2, 3]), fixed([4, 0, 2])], {"left": -1, "right": 9}),
    ("einsum", ["ij,kj->ik", A, B]),
    ("einsum", ["ij->ji", A]),
    ("einsum", ["...i,...i", A, B]),
    ("einsum", ["ii", rand(3, 3)]),
    ("trace", [rand(3, 4), 1]),
    ("row_stack", [[A, B]]),
    ("isclose", [A, B]),
    ("signbit", [A]),
    ("modf", [LINE]),
    ("cov", [rand(3, 5)]),
    ("cov", [rand(5), rand(5)], {"ddof": 0}),
    ("cov", [rand(5, 2)], {"rowvar": False}),
    ("corrcoef", [fixed([[1, 2, 4], [3, 1, 0]])]),
    ("ascontiguousarray", [A]),
    ("nan_to_num", [A]),
]
if hasattr(onp, "vecmat"):  # NumPy 2.2
    TABLE += [
        ("matvec", (rand(2, 3, 4), rand(4))),
        ("matvec", (rand(3, 4), rand(2, 4))),
        ("vecmat", (rand(2, 3), rand(2, 3, 4))),
        ("vecmat", (rand(3), rand(3, 4))),
    ]
COUNTED = [
    ("bincount", [rand(6, low=0)]),
    ("bincount", [rand(6, low=0)], {"minlength": 8}),
    ("unique_values", [rand(1)]),
]
BINS = [
    ("histogram", [rand(9)], {"bins": 3}),
    ("histogram", [rand(9)], {"bins": fixed([-4, 0, 1, 6])}),
    ("histogram", [rand(9)], {"bins": 4, "range": (-2, 2)}),
    ("histogram", [rand(9)], {"bins": 4, "weights": fixed([1] * 9), "density": True}),
    ("histogram", [rand(3, 3)], {"bins": 4, "weights": rand(3, 3)}),
    ("histogram", [rand(9)], {"bins": fixed([-3, 0, 1, 3]), "weights": rand(9)}),
    ("histogram", [rand(9)], {"bins": 3, "range": (-2, 2), "weights": rand(9, dtype="int64")}),
    ("histogram", [rand(0)], {"bins": 3, "weights": rand(0)}),
]
HOST = [
    ("argpartition", [fixed([1, 2, 3]), 1]),
    ("partition", [rand(5), 2]),
    ("bitwise_count", [fixed([1, 5, 7])]),
    ("histogram2d", [rand(5), rand(5), 3]),
    ("histogramdd", [rand(5, 2), 3]),
    ("histogram_bin_edges", [rand(5), 3]),
    ("i0", [rand(3)]),
    ("intersect1d", [rand(5), rand(5)]),
    ("ix_", [fixed([1, 0]), fixed([2])]),
    ("lexsort", [(rand(5), rand(5))]),
    ("packbits", [fixed([1, 0, 1])]),
    ("poly", [fixed([1, 2])]),
    ("polyadd", [rand(2), rand(3)]),
    ("polyder", [rand(4)]),
    ("polydiv", [rand(4), fixed([1, 2])]),
    ("polyfit", [fixed([0, 1, 2, 3]), rand(4), 1]),
    ("polyint", [rand(3)]),
    ("polymul", [rand(2), rand(3)]),
    ("polysub", [rand(2), rand(3)]),
    ("setdiff1d", [rand(5), rand(3)]),
    ("setxor1d", [rand(5), rand(3)]),
    ("union1d", [rand(5), rand(3)]),
    ("unpackbits", [fixed([3, 130])]),
    ("apply_over_axes", [onp.sum, rand(2, 3), [0]]),
    ("piecewise", [rand(4), [fixed([True, False, True, True], "bool")], [1, 2]]),
]
FLOATING = [
    ("frexp", [LINE]),
    ("unwrap", [rand(5)]),
    ("spacing", [LINE]),
    ("logaddexp2", [rand(3), rand(3)]),
    ("roots", [fixed([1, -3, 2])]),
    ("nextafter", [rand(3), fixed([9])]),
]
ONLY = {
    "bitwise_count": ("int32", "uint8"),
    "packbits": ("uint8",),
    "unpackbits": ("uint8",),
    "ix_": ("int64", "int32"),
}


def values_only(row, dtype):
    """Whether dtypes differ by a rule of mx.np: integers make float32, small ones stay small."""
    small = row[0] in ("einsum", "trace") and dtype in ("int8", "uint8", "int32")
    whole = row[0] in "average float_power cov corrcoef modf".split() and "float" not in dtype
    return (
        small
        or whole
        or row[0] in ("divmod", "interp", "cov", "corrcoef")
        or dtype == "float16"
        and row[0] == "average"
    )


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("row, dtype", rows(QUANTILES, ("float32", "float64", "int32")))
def test_quantiles(row, dtype):
    compare(row, dtype, same_dtype=False, tolerance=1e-5 if dtype == "float32" else None)


@pytest.mark.parametrize("row, dtype", rows(TABLE, ("float32", "float64", "int32", "int8")))
def test_others(row, dtype):
    compare(
        row,
        dtype,
        not values_only(row, dtype),
        tolerance=1e-5 if "float" in dtype or "int" in dtype else None,
    )


@pytest.mark.parametrize(
    "row, dtype", rows(COUNTED, ("int64", "int32", "uint8")) + rows(BINS, ("float32", "float64"))
)
def test_counts(row, dtype):
    compare(row, dtype, same_dtype=False)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "row, dtype",
    rows(HOST, ("float64", "float32", "int32", "uint8", "int64"))
    + rows(FLOATING, ("float64", "float32")),
)
def test_what_numpy_computes(row, dtype):
    if not hasattr(onp, row[0]) or dtype not in ONLY.get(row[0], (dtype,)):
        return
    compare(row, dtype)


DIFFERENTIABLE = [
    *[
        (name, [fixed([[0.5, 2.0, -1.5], [3.0, 1.0, 2.5]])], {"axis": axis})
        for name in SUMS + MEANS + ["max", "min", "ptp", "nanmax"]
        for axis in (None, 0)
    ],
    *[
        (name, [fixed([[0.5, 2.0, -1.5], [3.0, 1.0, 2.5]])], {"where": MASK, "axis": 1})
        for name in SUMS + ["mean", "std", "var", "nanmean"]
    ],
    ("average", [A], {"axis": 1, "weights": fixed([1, 2, 1])}),
    ("average", [A, 0, fixed([1.0, 3.0])]),
    ("cumsum", [A], {"axis": 0}),
    ("nancumsum", [A]),
    ("real", [A]),
    ("conjugate", [A]),
    ("cov", [rand(3, 5)]),
    ("corrcoef", [fixed([[1, 2, 4], [3, 1, 0]])]),
    ("einsum", ["ij,kj->ik", A, B]),
    ("trace", [rand(3, 4), 1]),
    ("quantile", [LINE, 0.4]),
    ("percentile", [LINE, [20, 60]]),
    ("quantile", [LINE, fixed([0.1, 0.6], "float32")]),
    ("float_power", [fixed([1.5, 2.0]), 3]),
    ("nan_to_num", [A]),
    ("row_stack", [[A, B]]),
    ("ascontiguousarray", [A]),
    ("modf", [fixed([0.5, -2.25])]),
]


@pytest.mark.parametrize("row", DIFFERENTIABLE, ids=lambda row: row[0])
def test_gradients(row):
    if row[0] in ("nanmedian",):
        return  # NumPy computes it
    check_gradient(row, relative=1e-5)


def test_averages_of_nothing():
    x = mx.np.zeros((3, 0))
    assert onp.isnan(float(mx.np.average(x))) and onp.isnan(mx.np.average(x, axis=1).asnumpy()).all()
    result, total = mx.np.average(x, axis=1, returned=True)
    assert result.shape == total.shape == (3,) and total.tolist() == [0, 0, 0]
    assert mx.np.average(x, axis=1, keepdims=True).shape == (3, 1)


def test_results_of_nothing():
    """NaN, as in NumPy; 2.0 gives zeros."""
    for name in ("median", "percentile", "quantile"):
        q = () if name == "median" else (0.5,)
        function = getattr(mx.np, name)
        assert onp.isnan(function(mx.np.zeros((0,)), *q).item()) and function(
            mx.np.zeros((2, 0)), *q, axis=0
        ).shape == (0,)
        assert function(mx.np.zeros((2, 0, 3)), *q, axis=1, keepdims=True).shape == (2, 1, 3)
    assert mx.np.percentile(mx.np.zeros((0, 2)), [5, 6], axis=0).shape == (2, 2)


TABLE_FILES = """
    test_array_api_values test_numpy_composed test_numpy_creation test_numpy_linalg
    test_numpy_manipulation test_numpy_products test_numpy_reductions test_numpy_searching
    test_numpy_ufuncs test_numpy_table
""".split()


def rows_of_all_files():
    """Every row of every table."""
    for file in TABLE_FILES:
        for table in vars(importlib.import_module(file)).values():
            if isinstance(table, (list, tuple)):
                for row in table:
                    if isinstance(row, tuple) and len(row) > 1 and isinstance(row[0], str):
                        yield file, row


def calls_of(file, row):
    """The function of a row, and its arguments with arrays on cpu(1); None for rows without arrays
    or of another form."""
    name, args, kwargs = row if len(row) == 3 else (*row, {})
    made = []

    def to(values):
        made.append(mx.np.array(values, dtype=values.dtype, device=mx.cpu(1)))
        return made[-1]

    space = mx.np.array_api if file == "test_array_api_values" else mx.np
    if not isinstance(args, (list, tuple)) or not isinstance(kwargs, dict):
        return None
    rng = onp.random.default_rng(0)
    args = build(tuple(args), rng, "float32", to)
    kwargs = {k: build(v, rng, "float32", to) for k, v in kwargs.items()}
    return (named(space, name), args, kwargs) if made else None


def arrays_in(results):
    """The arrays among results."""
    if isinstance(results, (list, tuple)):
        return [a for r in results for a in arrays_in(r)]
    return [results] if isinstance(results, mx.nd.NDArray) else []


@pytest.mark.filterwarnings("ignore")
def test_results_are_on_the_device_of_the_arrays():
    tried = 0
    for file, row in rows_of_all_files():
        found = calls_of(file, row) if len(row) < 4 else None
        if found is None:
            continue
        function, args, kwargs = found
        try:
            results = function(*args, **kwargs)
        except (ValueError, TypeError, IndexError, NotImplementedError) as error:
            assert "cpu(" not in str(error), row  # others are rows for other dtypes
            continue
        tried += 1
        for result in arrays_in(results):
            assert result.context == mx.cpu(1), row
    assert tried > 800


class Calling(mx.gluon.HybridBlock):
    """A block that calls a function with fixed arguments on the arrays that it is given."""

    def __init__(self, call):
        super().__init__()
        self._call = call

    def forward(self, *arrays):
        return self._call(*arrays)


def with_arrays(value, arrays):
    """Arguments of :func:`calls_of` with other arrays in the places of theirs."""
    if isinstance(value, mx.np.ndarray):
        return next(arrays)
    if isinstance(value, (list, tuple)):
        return type(value)(with_arrays(v, arrays) for v in value)
    return value


@pytest.mark.nightly
@pytest.mark.filterwarnings("ignore")
def test_results_in_hybridized_blocks_are_those_outside():
    tried = 0
    for file, row in rows_of_all_files():
        found = calls_of(file, row) if len(row) < 4 else None
        if found is None:
            continue
        function, args, kwargs = found
        arrays = arrays_in([*args, *kwargs.values()])
        try:
            expected = arrays_in([function(*args, **kwargs)])
        except (ValueError, TypeError, IndexError, NotImplementedError):
            continue  # a row for other dtypes

        def call(*given, function=function, args=args, kwargs=kwargs):
            given = iter(given)
            positional = with_arrays(args, given)
            return function(*positional, **{k: with_arrays(v, given) for k, v in kwargs.items()})

        net = Calling(call)
        net.hybridize()
        if not expected:
            continue
        for _ in range(2):  # traced, and run again
            got = arrays_in([net(*arrays)])
        tried += 1
        for a, b in zip(got, expected, strict=True):
            assert onp.dtype(a.dtype) == b.dtype, row
            onp.testing.assert_allclose(
                a.asnumpy(), b.asnumpy(), rtol=1e-5, atol=1e-6, err_msg=str(row)
            )
    assert tried > 800


NO_VALUES = """
    allclose apply_along_axis array2string array_equal array_equiv array_repr array_str asarray
    broadcast_shapes can_cast copyto empty empty_like finfo from_dlpack frombuffer fromfunction
    fromiter genfromtxt get_printoptions iinfo iscomplexobj isdtype isrealobj isscalar issubdtype
    load loadtxt mask_indices may_share_memory min_scalar_type ndim place printoptions promote_types
    put put_along_axis putmask result_type save savetxt savez set_printoptions shape shares_memory
    size vectorize asanyarray require iterable ndenumerate base_repr binary_repr einsum_path
    format_float_positional format_float_scientific seterr geterr poly1d savez_compressed fromfile
    fromstring
""".split()


def test_every_function_is_in_a_table():
    """What gives arrays is compared with NumPy: here or in a table of another file."""
    known = set(NO_VALUES) | set(SUMS + MEANS + EXTREMES + TRUTHS)
    known |= {row[0] for _, row in rows_of_all_files()}
    names = [
        n
        for n in dir(mx.np)
        if not n.startswith("_") and callable(getattr(mx.np, n)) and hasattr(onp, n)
    ]
    names = [n for n in names if not inspect.isclass(getattr(mx.np, n))]
    assert not sorted(set(names) - known) and len(names) > 300
