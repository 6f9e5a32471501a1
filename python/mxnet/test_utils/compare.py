"""Tolerances by dtype, and comparisons that say where values differ."""
import numpy as np

from .. import random
from ..base import error_class
from ..ndarray import NDArray
from ._defaults import default_context, default_device, default_dtype, set_default_context, set_default_device
from .arrays import rand_ndarray

__all__ = ["almost_equal", "assert_allclose", "assert_almost_equal", "assert_almost_equal_ignore_nan",
           "assert_almost_equal_with_err", "assert_exception", "checkShapes", "compare_ndarray_tuple",
           "compare_optimizer", "compare_optimizer_noise_seeded", "default_atols", "default_context", "default_device", "default_dtype",
           "default_numeric_eps", "default_rtols", "effective_dtype", "get_atol", "get_etol", "get_rtol",
           "get_tolerance", "get_tols", "locationError", "same", "same_array", "set_default_context",
           "set_default_device"]

_EXACT = {np.dtype(name): 0 for name in ("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")}


# ---- tolerances ----

def default_rtols():
    """Relative tolerances by dtype.

    >>> import numpy
    >>> mx.test_utils.default_rtols()[numpy.dtype('float32')]
    0.0001
    """
    return {np.dtype(np.float16): 1e-2, np.dtype(np.float32): 1e-4, np.dtype(np.float64): 1e-5, **_EXACT}


def default_atols():
    """Absolute tolerances by dtype.

    >>> import numpy
    >>> mx.test_utils.default_atols()[numpy.dtype('float32')]
    0.001
    """
    return {np.dtype(np.float16): 1e-1, np.dtype(np.float32): 1e-3, np.dtype(np.float64): 1e-20, **_EXACT}


def default_numeric_eps():
    """Steps of finite differences by dtype: powers of two, so that adding them loses nothing.

    >>> import numpy
    >>> mx.test_utils.default_numeric_eps()[numpy.dtype('float16')]
    0.015625
    """
    return {np.dtype(np.float16): 2.0 ** -6, np.dtype(np.float32): 2.0 ** -9, np.dtype(np.float64): 2.0 ** -14}


def effective_dtype(dat):
    """The dtype whose tolerance holds for an array; float16 for bfloat16, float64 for a Python
    number.

    >>> mx.test_utils.effective_dtype(mx.nd.ones(2, dtype='float16')).name
    'float16'
    """
    dtype = getattr(dat, "dtype", np.float64)
    return np.dtype(np.float16 if getattr(dtype, "name", None) == "bfloat16" else dtype)


def get_tolerance(dat, tol, default_tol):
    """`tol` if it is a number; from the dictionary `tol`, or else `default_tol`, what it has for
    the dtype of `dat`.

    >>> default = mx.test_utils.default_rtols()
    >>> mx.test_utils.get_tolerance(mx.nd.ones(2), None, default)
    0.0001
    >>> mx.test_utils.get_tolerance(mx.nd.ones(2), 0.1, default)
    0.1
    """
    if isinstance(tol, (int, float, np.number)):
        return tol
    dtype = effective_dtype(dat)
    return {**default_tol, **(tol or {})}.get(dtype, 0)


def get_tols(x, y, rtol, atol):
    """The larger tolerances, relative and absolute, of those for two arrays.

    >>> mx.test_utils.get_tols(mx.nd.ones(2), mx.nd.ones(2, dtype='float16'), None, None)
    (0.01, 0.1)
    """
    return (max(get_tolerance(x, rtol, default_rtols()), get_tolerance(y, rtol, default_rtols())),
            max(get_tolerance(x, atol, default_atols()), get_tolerance(y, atol, default_atols())))


def get_rtol(rtol=None, dtype=np.dtype(np.float64)):
    """`rtol`, or the default for a dtype.

    >>> mx.test_utils.get_rtol(0.1), mx.test_utils.get_rtol()
    (0.1, 1e-05)
    """
    return default_rtols()[np.dtype(dtype)] if rtol is None else rtol


def get_atol(atol=None, dtype=np.dtype(np.float64)):
    """`atol`, or the default for a dtype.

    >>> mx.test_utils.get_atol(0.1), mx.test_utils.get_atol()
    (0.1, 1e-20)
    """
    return default_atols()[np.dtype(dtype)] if atol is None else atol


def get_etol(etol=None):
    """`etol`, the share of elements that may differ, or 0.

    >>> mx.test_utils.get_etol(), mx.test_utils.get_etol(0.1)
    (0, 0.1)
    """
    return 0 if etol is None else etol


# ---- comparisons ----

def _numpy(x):
    return x.asnumpy() if isinstance(x, NDArray) else np.asarray(x)


def _wide(x):
    return x.astype(np.float64) if x.dtype == np.float16 else x


def same(a, b):
    """Whether two NumPy arrays are exactly equal.

    >>> import numpy
    >>> mx.test_utils.same(numpy.ones(2), numpy.ones(2))
    True
    """
    return np.array_equal(a, b)


def same_array(array1, array2):
    """Whether two NDArrays share their memory: a change of one is one of the other. Both are as
    before afterwards.

    >>> x = mx.nd.ones((2, 3))
    >>> mx.test_utils.same_array(x[0], x[0]), mx.test_utils.same_array(x, x.copy())
    (True, False)
    """
    array1[:] += 1
    changed = same(array1.asnumpy(), array2.asnumpy())
    array1[:] -= 1
    return changed and same(array1.asnumpy(), array2.asnumpy())


def almost_equal(a, b, rtol=None, atol=None, equal_nan=False, use_broadcast=True):
    """Whether ``|a - b| <= atol + rtol * |b|`` for all elements; tolerances of the dtypes by
    default.

    >>> x = mx.nd.ones(2).asnumpy()
    >>> mx.test_utils.almost_equal(x, x + 1e-6), mx.test_utils.almost_equal(x, x + 0.1)
    (True, False)
    """
    if not use_broadcast and a.shape != b.shape:
        return False
    rtol, atol = get_tols(a, b, rtol, atol)
    return np.allclose(_wide(_numpy(a)), _wide(_numpy(b)), rtol=rtol, atol=atol, equal_nan=equal_nan)


def checkShapes(a, b):
    """Raise AssertionError with the arrays if their shapes differ.

    >>> mx.test_utils.checkShapes(mx.nd.ones(2), mx.nd.zeros(2))
    >>> try:
    ...     mx.test_utils.checkShapes(mx.nd.ones(2), mx.nd.zeros(3))
    ... except AssertionError as error:
    ...     print(error)
    <BLANKLINE>
    Items are not equal: a.shape = (2,) and b.shape = (3,) are not equal
     ACTUAL: array([1., 1.], dtype=float32)
     DESIRED: array([0., 0., 0.], dtype=float32)
    """
    if a.shape != b.shape:
        raise error_class(AssertionError, ValueError)(f"\nItems are not equal: a.shape = {a.shape} and b.shape = {b.shape} are not equal\n"
                             f" ACTUAL: {_numpy(a)!r}\n DESIRED: {_numpy(b)!r}")


def locationError(a, b, index, names, maxError=False):
    """A line that says where two NumPy arrays differ: at `index`, by their `names`.

    >>> import numpy
    >>> a, b = numpy.array([1., 2.]), numpy.array([1., 2.5])
    >>> mx.test_utils.locationError(a, b, (1,), ('a', 'b'), maxError=True)
    'Location of maximum error: (1,), a=2.00000000, b=2.50000000'
    """
    maximum = " of maximum error" if maxError else " of error"
    return f"Location{maximum}: {index}, {names[0]}={float(a[index]):.8f}, {names[1]}={float(b[index]):.8f}"


def _errors(a, b, rtol, atol, equal_nan):
    """The errors in units of the tolerance; more than 1 is too much."""
    with np.errstate(all="ignore"):
        a, b = (x.astype(np.float64) if x.dtype.kind in "fbiu" else x for x in (a, b))
        difference, tolerance = np.abs(a - b), atol + rtol * np.abs(b)
        errors = np.where(difference == 0, 0, difference / (tolerance + 1e-20))    # as in 1.x
    errors = np.where(a == b, 0, errors)            # equal infinities
    if equal_nan:
        errors = np.where(np.isnan(a) & np.isnan(b), 0, errors)
    return errors


def assert_almost_equal(a, b, rtol=None, atol=None, names=("a", "b"), equal_nan=False, use_broadcast=True,
                        mismatches=(10, 10)):
    """Raise AssertionError unless two arrays are equal within the tolerances.

    Parameters
    ----------
    a, b : NDArray, numpy.ndarray or number
    rtol, atol : float, or dict of dtype to float, optional
        ``|a - b| <= atol + rtol * |b|`` is accepted; tolerances of the dtypes by default.
    names : pair of str
        What to call the arrays.
    equal_nan : bool
        NaN is equal to NaN.
    use_broadcast : bool
        The shapes may differ if they broadcast.
    mismatches : (int, int)
        How many differences are printed, and how many are counted.

    Examples
    --------
    >>> mx.test_utils.assert_almost_equal(mx.nd.ones(2), mx.nd.ones(2) + 1e-6)
    >>> try:
    ...     mx.test_utils.assert_almost_equal(mx.nd.ones(2), mx.nd.zeros(2))
    ... except AssertionError:
    ...     print('different')
    <BLANKLINE>
    *** Maximum errors for vector of size 2:  rtol=0.0001, atol=0.001
    <BLANKLINE>
      1: Error 1000.000000  Location of error: (0,), a=1.00000000, b=0.00000000
      2: Error 1000.000000  Location of error: (1,), a=1.00000000, b=0.00000000
    different
    """
    rtol, atol = get_tols(a, b, rtol, atol)
    a, b = _numpy(a), _numpy(b)
    wide_a, wide_b = a, b
    if a.shape != b.shape:
        try:
            wide_a, wide_b = np.broadcast_arrays(a, b)
        except ValueError:
            use_broadcast = False
        if not use_broadcast:
            checkShapes(a, b)
    errors = _errors(wide_a, wide_b, rtol, atol, equal_nan)
    wrong = ~(errors <= 1)
    count = int(wrong.sum())
    if not count:
        return
    order = np.argsort(-np.nan_to_num(np.where(wrong, errors, -1), nan=np.inf, posinf=np.inf).ravel(), kind="stable")
    print(f"\n*** Maximum errors for vector of size {errors.size}:  rtol={rtol}, atol={atol}\n")
    for i, flat in enumerate(order[:min(count, mismatches[0])]):
        index = tuple(int(j) for j in np.unravel_index(flat, errors.shape))
        print(f"{i + 1:3d}: Error {errors[index]:f}  {locationError(wide_a, wide_b, index, names)}")
    worst = tuple(int(j) for j in np.unravel_index(order[0], errors.shape))
    raise AssertionError(
        f"\nItems are not equal:\nError {errors[worst]:f} exceeds tolerance rtol={rtol:e}, atol={atol:e} "
        f"(mismatch {100 * count / errors.size:f}%).\n"
        f"{locationError(wide_a, wide_b, worst, names, maxError=True)}\n ACTUAL: {a!r}\n DESIRED: {b!r}")


def assert_allclose(a, b, rtol=1e-07, atol=0, equal_nan=True):
    """:func:`assert_almost_equal` with the defaults of `numpy.testing.assert_allclose`.

    >>> mx.test_utils.assert_allclose(mx.nd.ones(2), mx.nd.ones(2))
    """
    assert_almost_equal(a, b, rtol=rtol, atol=atol, equal_nan=equal_nan)


def assert_almost_equal_with_err(a, b, rtol=None, atol=None, etol=None, names=("a", "b"), equal_nan=False,
                                 mismatches=(10, 10)):
    """:func:`assert_almost_equal`, but a share `etol` of the elements may differ.

    >>> a, b = mx.nd.array([1, 2, 3, 4]), mx.nd.array([1, 2, 3, 9])
    >>> mx.test_utils.assert_almost_equal_with_err(a, b, etol=0.25)
    """
    etol = get_etol(etol)
    if etol:
        checkShapes(a, b)
        errors = _errors(_numpy(a), _numpy(b), *get_tols(a, b, rtol, atol), equal_nan)
        if (~(errors <= 1)).mean() <= etol:
            return
    assert_almost_equal(a, b, rtol=rtol, atol=atol, names=names, equal_nan=equal_nan, mismatches=mismatches)


def assert_almost_equal_ignore_nan(a, b, rtol=None, atol=None, names=("a", "b")):
    """:func:`assert_almost_equal` of the elements that are NaN in neither array.

    >>> a, b = mx.nd.array([1, float('nan')]).asnumpy(), mx.nd.array([1, 2]).asnumpy()
    >>> mx.test_utils.assert_almost_equal_ignore_nan(a, b)
    """
    a, b = _numpy(a).copy(), _numpy(b).copy()
    ignored = np.isnan(a) | np.isnan(b)
    a[ignored] = b[ignored] = 0
    assert_almost_equal(a, b, rtol, atol, names)


def assert_exception(f, exception_type, *args, **kwargs):
    """Raise AssertionError unless ``f(*args, **kwargs)`` raises `exception_type`.

    >>> x = mx.nd.ones((2, 3))
    >>> mx.test_utils.assert_exception(mx.nd.dot, mx.MXNetError, x, x)
    """
    try:
        f(*args, **kwargs)
    except exception_type:
        return
    raise AssertionError(f"{getattr(f, '__name__', f)} did not raise {exception_type.__name__}")


def compare_ndarray_tuple(t1, t2, rtol=None, atol=None):
    """:func:`assert_almost_equal` of arrays in nested tuples; None is equal to None.

    >>> mx.test_utils.compare_ndarray_tuple((mx.nd.ones(2), None), (mx.nd.ones(2), None))
    """
    if t1 is None or t2 is None:
        assert t1 is None and t2 is None, f"{t1} and {t2}"
    elif isinstance(t1, (tuple, list)):
        assert len(t1) == len(t2), f"{len(t1)} and {len(t2)} arrays"
        for s1, s2 in zip(t1, t2):
            compare_ndarray_tuple(s1, s2, rtol, atol)
    else:
        assert_almost_equal(t1, t2, rtol=rtol, atol=atol)


def compare_optimizer(opt1, opt2, shape, dtype, w_stype="default", g_stype="default", rtol=1e-4, atol=1e-5,
                      compare_states=True, ntensors=1):
    """Let two optimizers make a step from the same random weights and gradients; compare weights
    and states.

    `shape` is one shape, or a list of shapes, whose weights are updated in one call.

    >>> adam = mx.optimizer.Adam
    >>> mx.test_utils.compare_optimizer(adam(), adam(), (2, 3), 'float32')
    """
    many = isinstance(shape, list) and (ntensors > 1 or isinstance(shape[0], (list, tuple)))
    _compare_steps(opt1, opt2, shape if many else [shape], many, dtype, w_stype, g_stype, rtol, atol, compare_states)


def compare_optimizer_noise_seeded(opt1, opt2, shapes, dtype, noise_seed, w_stype="default", g_stype="default", rtol=1e-4, atol=1e-5,
                                   compare_states=True):
    """:func:`compare_optimizer` for optimizers that draw noise: the random numbers of both start at
    `noise_seed`. `shapes` is a list, each of whose weights makes a step of its own.

    >>> sgld = mx.optimizer.SGLD
    >>> mx.test_utils.compare_optimizer_noise_seeded(sgld(), sgld(), [(2, 3)], 'float32', 7)
    """
    for shape in shapes:
        _compare_steps(opt1, opt2, [shape], False, dtype, w_stype, g_stype, rtol, atol, compare_states, noise_seed)


def _compare_steps(opt1, opt2, shapes, many, dtype, w_stype, g_stype, rtol, atol, compare_states, noise_seed=None):
    w2 = [rand_ndarray(s, w_stype, density=1, dtype=dtype) for s in shapes]
    g2 = [rand_ndarray(s, g_stype, density=0.5, dtype=dtype) for s in shapes]
    w1, g1 = [w.copy() for w in w2], [g.copy() for g in g2]
    s1 = [opt1.create_state_multi_precision(i, w) for i, w in enumerate(w1)]
    s2 = [opt2.create_state_multi_precision(i, w) for i, w in enumerate(w2)]
    if compare_states:
        compare_ndarray_tuple(s1, s2, rtol, atol)
    for optimizer, w, g, s in ((opt1, w1, g1, s1), (opt2, w2, g2, s2)):
        if noise_seed is not None:
            random.seed(noise_seed)
        if many:
            optimizer.update_multi_precision(list(range(len(w))), w, g, s)
        else:
            optimizer.update_multi_precision(0, w[0], g[0], s[0])
    if compare_states:
        compare_ndarray_tuple(s1, s2, rtol, atol)
    compare_ndarray_tuple(w1, w2, rtol, atol)
