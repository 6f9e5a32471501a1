"""NumPy's functions on arrays of mx.np: ``numpy.mean(x)`` runs ``mx.np.mean`` and returns an
array of mx.np (``__array_function__`` and ``__array_ufunc__``, NEP 18 and 13)."""
import functools
import sys

import numpy as onp

__all__ = ["is_masked", "with_array_function_protocol", "with_array_ufunc_protocol"]


def with_array_function_protocol(func):
    """`func`, which takes NumPy's arrays, so that the functions of NumPy that it calls with arrays
    of mx.np run in mx.np. It is called as it is."""
    return func


def with_array_ufunc_protocol(func):
    """`func`, whose ufuncs of NumPy run in mx.np for arrays of mx.np. It is called as it is."""
    return func


@functools.lru_cache(maxsize=None)
def _counterpart(function):
    """The function of mx.np that stands for a function of NumPy, or None."""
    mx_np = sys.modules["mxnet.numpy"]
    name = {"round": "around", "left_shift": "bitwise_left_shift", "right_shift": "bitwise_right_shift",
            "concat": "concatenate"}.get(function.__name__, function.__name__)
    home = getattr(function, "__module__", "") or ""
    space = mx_np.linalg if home.startswith("numpy.linalg") else mx_np
    if home.startswith(("numpy.fft", "numpy.ma", "numpy.lib.recfunctions")):
        return None
    return getattr(space, name, None)


# Functions that write into an argument: NumPy's would write into a copy.
_WRITING = ("copyto", "put", "putmask", "place", "fill_diagonal", "put_along_axis")


def is_masked(kind):
    """Whether a class is that of NumPy's masked arrays. Who has one has imported its module."""
    module = None if kind is onp.ndarray else sys.modules.get("numpy.ma")
    return module is not None and issubclass(kind, getattr(module, "MaskedArray", ()))


def _on_host(value):
    return value.asnumpy() if hasattr(value, "asnumpy") else value


def _same_class(types, cls):
    """Whether NumPy found only arrays that these rules cover."""
    return all(issubclass(t, (cls, onp.ndarray)) for t in types)


def install(cls, fall_back, of_masked):
    """Gives a class of arrays the two protocols. `fall_back(name, function, args, kwargs)` runs
    what mx.np lacks, and `of_masked` what has masked arrays among its operands."""
    def array_function(self, func, types, args, kwargs):
        """The function of mx.np of that name, or NumPy's own on copies."""
        if not _same_class(types, cls):
            return NotImplemented
        if any(map(is_masked, types)):
            return of_masked(func.__name__, func, args, kwargs)
        function = _counterpart(func)
        kwargs = {k: v for k, v in kwargs.items() if v is not getattr(onp, "_NoValue", None)}
        if function is None:
            return fall_back(func.__name__, func, args, kwargs)
        if isinstance(kwargs.get("out"), onp.ndarray):
            onp.copyto(kwargs["out"], _on_host(function(*args, **{k: v for k, v in kwargs.items() if k != "out"})), "same_kind")
            return kwargs["out"]
        try:
            return function(*args, **kwargs)
        except (TypeError, NotImplementedError):
            if func.__name__ in _WRITING or kwargs.get("out") is not None:
                raise
            try:        # what mx.np refuses, such as None among the arrays, NumPy may take
                return fall_back(func.__name__, func, args, kwargs)
            except Exception:    # pylint: disable=broad-except
                pass
            raise

    def array_ufunc(self, ufunc, method, *inputs, **kwargs):
        """The function of mx.np of that name, or its method; what mx.np lacks is NumPy's own on
        copies."""
        out = kwargs.get("out")
        written = inputs[:1] if method == "at" else out or ()
        if any(isinstance(o, onp.ndarray) for o in written):    # numpy_array += x
            return getattr(ufunc, method)(*map(_on_host, inputs), **{k: _on_host(v) for k, v in kwargs.items()})
        if not _same_class([type(x) for x in inputs if not onp.isscalar(x) and hasattr(type(x), "__array_ufunc__")], cls):
            return NotImplemented
        if any(is_masked(type(x)) for x in inputs):
            return of_masked(ufunc.__name__, getattr(ufunc, method), inputs, kwargs)
        function = _counterpart(ufunc)
        name = ufunc.__name__
        if method != "__call__":
            name, function = f"{name}.{method}", getattr(function, method, None)
        if out is not None and ufunc.nout == 1:
            kwargs["out"] = out[0]
        if function is None and method == "at":
            raise TypeError(f"[{name}] the array is of mx.np; accepted: arrays of NumPy, or x[...] = value")
        if function is None:
            return fall_back(name, getattr(ufunc, method), inputs, kwargs)
        try:
            return function(*inputs, **kwargs)
        except NotImplementedError:
            if method == "__call__":
                raise
            return fall_back(name, getattr(ufunc, method), inputs, kwargs)

    cls.__array_function__, cls.__array_ufunc__ = array_function, array_ufunc
