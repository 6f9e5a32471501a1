"""Functions of mx.np that NumPy computes: arrays are read, and results become arrays again.

Each warns once. While autograd records or a block is traced they are refused, because nothing of
them would be recorded.
"""
import functools
import logging
import sys

import numpy as onp

from .. import numpy_dispatch_protocol
from .._binding import NDArrayBase, is_traced
from ._array import ndarray
from ._dispatch import deliver, from_values, is_symbol
from ._fallback_texts import text_of

# What 2.0 offered that was in NumPy 1.20. Where a name is native in another module of mx.np, it is
# that function.
_NAMES = """allclose alltrue apply_along_axis apply_over_axes argpartition argwhere array_equal array_equiv choose compress corrcoef
count_nonzero cov cumprod digitize divmod extract float_power frexp heaviside histogram2d histogram_bin_edges histogramdd i0
in1d intersect1d isclose isin ix_ lexsort min_scalar_type modf msort nanargmax nanargmin nancumprod nancumsum nanmax nanmedian nanmin
nanpercentile nanprod nanquantile nanstd nansum nanmean nanvar ndim packbits partition piecewise poly polyadd polydiv polyfit
polyint polymul polysub positive promote_types ptp real roots searchsorted select setdiff1d setxor1d signbit size spacing
take_along_axis trapz tril_indices_from trim_zeros union1d unpackbits unwrap vander""".split()

# What neither 1.9.1 nor 2.0 offered.
_ADDED = ["nextafter", "bitwise_count", "logaddexp2", "polyder"]

# What looks at arrays without reading them.
_SILENT = {"min_scalar_type", "promote_types"}

__all__ = []
_warned = set()


def _numpy(value):
    """An argument as NumPy takes it."""
    if isinstance(value, NDArrayBase):
        return value.astype("float32").asnumpy() if getattr(value.dtype, "__name__", "") == "bfloat16" else value.asnumpy()
    if isinstance(value, (tuple, list)):
        return type(value)(_numpy(v) for v in value) if type(value) in (tuple, list) else value
    return {k: _numpy(v) for k, v in value.items()} if type(value) is dict else value


def _first_array(value):
    if isinstance(value, NDArrayBase) or is_symbol(value):
        return value
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (tuple, list)):
        return next((found for found in map(_first_array, value) if found is not None), None)
    return None


def _ours(value, device):
    """A result of NumPy as one of mx.np; NumPy's scalars stay."""
    if isinstance(value, onp.ndarray) and value.dtype.kind in "fiub":
        return from_values(value, device)
    if isinstance(value, (tuple, list)):
        return tuple(_ours(v, device) for v in value) if isinstance(value, tuple) else [_ours(v, device) for v in value]
    return value


def _warn(name):
    if name not in _warned:
        _warned.add(name)
        logging.warning("np.%s is a fallback operator, which is actually using official numpy's implementation.", name)


_LARGE = 8192   # elements that take longer to copy than their memory to share


def _partition(a, kth, axis=-1, kind="introselect", order=None):
    """NumPy's in the memory of the result."""
    if not _is_shared(a, axis):
        return run("partition", onp.partition, (a, kth), {"axis": axis, "kind": kind, "order": order})
    _warn("partition")
    if a.size < _LARGE:
        values = a.asnumpy()
        values.partition(_numpy(kth), axis, kind, order)
        return from_values(values, a.context)
    result = a.copy()
    onp.from_dlpack(result).partition(_numpy(kth), axis, kind, order)
    return result


def _argpartition(a, kth, axis=-1, kind="introselect", order=None):
    """NumPy's in the memory of the argument."""
    if not _is_shared(a, axis):
        return run("argpartition", onp.argpartition, (a, kth), {"axis": axis, "kind": kind, "order": order})
    _warn("argpartition")
    values = a.asnumpy() if a.size < _LARGE else onp.from_dlpack(a)
    return from_values(values.argpartition(_numpy(kth), axis, kind, order), a.context)


def _is_shared(a, axis):
    """Whether NumPy can work on the memory of an array along an axis; what is refused is not."""
    return (
        axis is not None and isinstance(a, NDArrayBase) and a.ndim > 0 and not is_traced() and a.context.device_type != "gpu"
        and getattr(a.dtype, "kind", "b") in "fiu" and _CAN_WRITE
    )


# Older ones give memory that they do not own for reading alone.
_CAN_WRITE = int(onp.__version__.split(".", maxsplit=1)[0]) >= 2
_IN_PLACE = {"partition": _partition, "argpartition": _argpartition}


def run(name, function, args, kwargs, always=False):
    """`function`, a function of NumPy, on arrays of mx.np. `name` is what the warning calls it.
    While something is recorded, calls with arrays of mx.np are refused, or all if `always`."""
    array = _first_array((args, kwargs))
    if is_symbol(array):
        raise TypeError(f"[{name}] got a symbol; accepted: arrays, because NumPy computes this function")
    if (always or array is not None) and is_traced():
        raise ValueError(f"[{name}] NumPy computes this function, so it has no gradient and is in no graph; accepted: calls outside of "
                         "autograd.record() and hybridized blocks (or within autograd.pause())")
    _warn(name)
    out = kwargs.pop("out", None)
    if isinstance(function, onp.ufunc):
        if len(args) > function.nin:    # results by position
            args, out = args[:function.nin], args[function.nin:]
        if out is not None and "where" in kwargs:    # elements elsewhere keep their values
            return _where(function, args, kwargs, out)
    result = _ours(function(*_numpy(args), **_numpy(kwargs)), array.context if isinstance(array, NDArrayBase) else None)
    if out is None:
        return result
    if isinstance(out, tuple) and isinstance(result, tuple):
        return tuple(deliver(r, o) for r, o in zip(result, out))
    if not isinstance(result, NDArrayBase):
        result = from_values(result, array.context if isinstance(array, NDArrayBase) else None)
    return deliver(result, out[0] if isinstance(out, tuple) else out)


def _where(function, args, kwargs, out):
    """A ufunc whose `where` leaves elements of `out` as they are."""
    targets = out if isinstance(out, tuple) else (out,)
    values = tuple(onp.array(_numpy(target)) for target in targets)
    function(*_numpy(args), out=values, **_numpy(kwargs))
    written = tuple(deliver(from_values(value, target.context), target) for value, target in zip(values, targets))
    return written if isinstance(out, tuple) and len(written) > 1 else written[0]


def _made(name):
    """The function that runs NumPy's of that name."""
    function = getattr(onp, name)
    if name in _SILENT:
        return _silent(name, function)

    def fallback(*args, **kwargs):
        return _IN_PLACE[name](*args, **kwargs) if name in _IN_PLACE else run(name, function, args, kwargs)
    functools.update_wrapper(fallback, function, assigned=("__name__",), updated=())
    fallback.__wrapped__ = function
    fallback.__module__, fallback.__qualname__ = "mxnet.numpy", name
    fallback.__doc__ = text_of(name)
    return fallback


def _silent(name, function):
    def look(value, *args, **kwargs):
        if isinstance(value, NDArrayBase) or is_symbol(value):
            if value.shape and name == "min_scalar_type":
                return onp.dtype(value.dtype)
            value = onp.dtype(value.dtype) if value.shape else value.asnumpy()
        return function(value, *args, **kwargs)
    look.__name__ = look.__qualname__ = name
    look.__wrapped__, look.__module__ = function, "mxnet.numpy"
    look.__doc__ = text_of(name, silent=True)
    return look


def vectorize(pyfunc, otypes=None, doc=None, excluded=None, cache=False, signature=None):
    """A function of arrays that calls a Python function of numbers for every element; arguments as
    those of NumPy's class. It has no gradient.

    Examples
    --------
    >>> mx.np.vectorize(lambda a, b: a if a > b else -b)(mx.np.array([1.0, 5.0]), 3.0)
    array([-3.,  5.], dtype=float64)
    """
    function = onp.vectorize(pyfunc, otypes=otypes, doc=doc, excluded=excluded, cache=cache, signature=signature)

    @functools.wraps(pyfunc)
    def vectorized(*args, **kwargs):
        return run("vectorize", function, args, kwargs)
    return vectorized


__all__.append("vectorize")
_native = vars(sys.modules[__package__ + ".multiarray"])
for _name in _NAMES + [n for n in _ADDED if hasattr(onp, n)]:
    if _name in _native:
        globals()[_name] = _native[_name]
        continue
    globals()[_name] = _made(_name)
    __all__.append(_name)



def _of_masked(name, function, args, kwargs):
    """`function` of NumPy where masked arrays are among the operands: the result is NumPy's, since
    an array of mx.np has no place for the mask."""
    if is_traced():
        raise ValueError(f"[{name}] got a masked array, of which nothing can be recorded; accepted: calls outside of autograd.record() "
                         "and hybridized blocks, or the arrays without mask (filled())")
    return function(*_numpy(args), **_numpy(kwargs))


numpy_dispatch_protocol.install(ndarray, run, _of_masked)
