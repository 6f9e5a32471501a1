"""``mx.np.random``: draws from distributions, with parameters that broadcast.

A parameter is a number, an array of mx.np, or what makes one (a nested list, a NumPy array).
Parameters broadcast against each other; ``size``, an int or a tuple, is a shape to which they
broadcast, and their common shape when it is None. The same seed gives the same numbers, however
many threads draw them. Gradients flow from draws to parameters that are arrays, where a function
says so.

Unlike NumPy's, results are float32 unless ``dtype`` says otherwise (float64 after
``npx.set_np(dtype=True)`` where there is a ``dtype``), and integers are int64.
``ctx`` and ``device``, two names of one thing, tell where a result without array parameters is
made.
"""
import ctypes
import importlib
import numbers

import numpy as onp

from .. import random as _seeding
from . import _draws
from ._dispatch import call, default_float, default_int, deliver, device_of, dtype_name, from_values, is_symbol, operand, place_name
from ._random_records import _shape, _split, draw
from .._binding import NDArrayBase
from ..base import _LIB, check_call

__all__ = ["randint", "uniform", "normal", "choice", "rand", "multinomial", "multivariate_normal", "logistic", "gumbel", "f", "laplace",
           "shuffle", "randn", "gamma", "beta", "chisquare", "exponential", "lognormal", "weibull", "pareto", "power", "rayleigh", "seed",
           "get_state", "set_state", "permutation", "bytes", "default_rng", "BitGenerator", "Generator", "RandomState", *_draws.__all__]    # noqa: F822


_BITS = "Philox4x32-10"    # the name of where the bits come from
_LIMITS = {name: (int(onp.iinfo(name).min), int(onp.iinfo(name).max)) for name in
           ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")}
_LIMITS.update(bool=(0, 1), float16=(-65504, 65504), float32=(-2 ** 63, 2 ** 63), float64=(-2 ** 63, 2 ** 63),
               bfloat16=(-2 ** 63, 2 ** 63))


def _float_name(dtype):
    return default_float() if dtype is None else dtype_name(dtype)


def seed(seed_state=None, ctx="all", device=None, *, seed=None):   # pylint: disable=redefined-outer-name
    """Restarts the random generators, as :func:`mxnet.random.seed` does; with a number of the
    system's if there is none, or with one that follows from several. `seed` is NumPy's name of
    `seed_state`.

    Examples
    --------
    >>> mx.np.random.seed(7); a = mx.np.random.normal(size=3)
    >>> mx.np.random.seed(7); b = mx.np.random.normal(size=3)
    >>> bool((a.asnumpy() == b.asnumpy()).all())
    True
    """
    seed_state = seed if seed_state is None else seed_state
    if seed_state is None or isinstance(seed_state, (list, tuple, onp.ndarray)):
        seed_state = int(onp.random.SeedSequence(seed_state).generate_state(1)[0])
    _seeding.seed(seed_state, ctx if device is None else device)


def get_state(legacy=False):
    """Where the generators that :func:`seed` restarts stand on all devices, for :func:`set_state`:
    a dictionary, as NumPy's is with `legacy` False. NumPy's tuple cannot hold it, so `legacy` is
    not used.

    Examples
    --------
    >>> state = mx.np.random.get_state()
    >>> first = mx.np.random.normal(size=3)
    >>> mx.np.random.set_state(state)
    >>> bool((mx.np.random.normal(size=3) == first).all())
    True
    """
    del legacy
    size, words = ctypes.c_uint64(), ctypes.POINTER(ctypes.c_uint64)()
    check_call(_LIB.MXRandomGetState(ctypes.byref(size), ctypes.byref(words)))
    return {"bit_generator": _BITS, "state": words[:size.value]}


def set_state(state):
    """Goes on where :func:`get_state` was called, which may have been in another process.

    Raises
    ------
    TypeError
        For what is no state of these generators, such as one of NumPy's.

    Examples
    --------
    >>> state = mx.np.random.get_state()
    >>> mx.np.random.set_state(state)
    """
    words = state.get("state") if isinstance(state, dict) and state.get("bit_generator") == _BITS else None
    if not isinstance(words, list):
        raise TypeError("[random] got what is no state of these generators; accepted: what mx.np.random.get_state() gave")
    check_call(_LIB.MXRandomSetState(ctypes.c_uint64(len(words)), (ctypes.c_uint64 * len(words))(*words)))


def uniform(low=0.0, high=1.0, size=None, dtype=None, ctx=None, out=None, *, device=None):
    """Uniform draws from [low, high). Gradients flow to `low` and `high`.

    `dtype` is float16, float32 or float64; another one is cast to.

    Examples
    --------
    >>> mx.np.random.uniform(mx.np.array([0.0, 10.0]), 20.0, size=(3, 2)).shape
    (3, 2)
    """
    return draw("_npi_uniform", {"low": low, "high": high}, size, _float_name(dtype), ctx, device, out)


def normal(loc=0.0, scale=1.0, size=None, dtype=None, ctx=None, out=None, *, device=None):
    """Normal draws of mean `loc` and standard deviation `scale`. Gradients flow to both.

    A negative `scale` is a ValueError.

    Examples
    --------
    >>> mx.np.random.normal(0.0, 2.0, size=(2, 3), dtype="float64").dtype
    dtype('float64')
    """
    return draw("_npi_normal", {"loc": loc, "scale": scale}, size, _float_name(dtype), ctx, device, out)


def lognormal(mean=0.0, sigma=1.0, size=None, dtype=None, ctx=None, out=None, *, device=None):
    """Exponentials of normal draws of mean `mean` and standard deviation `sigma`. Gradients flow to
    both.

    Examples
    --------
    >>> bool((mx.np.random.lognormal(size=5).asnumpy() > 0).all())
    True
    """
    return deliver(call("exp", (normal(mean, sigma, size, dtype, ctx, device=device),)), out)


def logistic(loc=0.0, scale=1.0, size=None, ctx=None, out=None, *, device=None):
    """Draws from a logistic distribution. Gradients flow to `loc` and `scale`; float32.

    A negative `scale` is a ValueError.

    Examples
    --------
    >>> mx.np.random.logistic(0.0, mx.np.array([1.0, 2.0])).shape
    (2,)
    """
    return draw("_npi_logistic", {"loc": loc, "scale": scale}, size, None, ctx, device, out)


def gumbel(loc=0.0, scale=1.0, size=None, ctx=None, out=None, *, device=None):
    """Draws from a Gumbel distribution. Gradients flow to `loc` and `scale`; float32.

    A negative `scale` is a ValueError.

    Examples
    --------
    >>> mx.np.random.gumbel(size=(2, 2)).shape
    (2, 2)
    """
    return draw("_npi_gumbel", {"loc": loc, "scale": scale}, size, None, ctx, device, out)


def laplace(loc=0.0, scale=1.0, size=None, dtype=None, ctx=None, out=None, *, device=None):
    """Draws from a Laplace distribution. Gradients flow to `loc` and `scale`.

    A negative `scale` is a ValueError.

    Examples
    --------
    >>> mx.np.random.laplace(size=4, dtype="float16").dtype
    dtype('float16')
    """
    return draw("_npi_laplace", {"loc": loc, "scale": scale}, size, _float_name(dtype), ctx, device, out)


def exponential(scale=1.0, size=None, ctx=None, out=None, *, device=None):
    """Draws from an exponential distribution of mean `scale`, to which gradients flow; float32.

    A negative `scale` is a ValueError.

    Examples
    --------
    >>> bool((mx.np.random.exponential(3.0, size=9).asnumpy() >= 0).all())
    True
    """
    return draw("_npi_exponential", {"scale": scale}, size, None, ctx, device, out)


def rayleigh(scale=1.0, size=None, ctx=None, out=None, *, device=None):
    """Draws from a Rayleigh distribution. Gradients flow to `scale`; float32.

    A negative `scale` is a ValueError.

    Examples
    --------
    >>> mx.np.random.rayleigh(mx.np.array([[1.0], [2.0]]), size=(2, 3)).shape
    (2, 3)
    """
    return draw("_npi_rayleigh", {"scale": scale}, size, None, ctx, device, out)


def weibull(a, size=None, ctx=None, out=None, *, device=None):
    """Draws from a Weibull distribution of scale 1 and shape `a`, to which gradients flow; float32.

    An `a` that is not positive is a ValueError.

    Examples
    --------
    >>> mx.np.random.weibull(2.0, size=(2,)).shape
    (2,)
    """
    return draw("_npi_weibull", {"a": a}, size, None, ctx, device, out)


def pareto(a, size=None, ctx=None, out=None, *, device=None):
    """Draws from a Pareto distribution that begins at 0 (Lomax) of shape `a`, to which gradients
    flow; float32.

    An `a` that is not positive is a ValueError.

    Examples
    --------
    >>> bool((mx.np.random.pareto(3.0, size=9).asnumpy() >= 0).all())
    True
    """
    return draw("_npi_pareto", {"a": a}, size, None, ctx, device, out)


def power(a, size=None, ctx=None, out=None, *, device=None):
    """Draws from [0, 1] with density a x^(a-1). Gradients flow to `a`; float32.

    An `a` that is not positive is a ValueError.

    Examples
    --------
    >>> bool((mx.np.random.power(3.0, size=9).asnumpy() <= 1).all())
    True
    """
    return draw("_npi_powerd", {"a": a}, size, None, ctx, device, out)


def gamma(shape, scale=1.0, size=None, dtype=None, ctx=None, out=None, *, device=None):
    """Draws from a gamma distribution. Gradients flow to `shape` and `scale`.

    A `shape` or `scale` that is not positive is a ValueError.

    Examples
    --------
    >>> mx.np.random.gamma(2.0, mx.np.array([1.0, 2.0, 3.0])).shape
    (3,)
    """
    return draw("_npi_gamma", {"shape": shape, "scale": scale}, size, _float_name(dtype), ctx, device, out)


def beta(a, b, size=None, dtype=None, ctx=None, *, device=None):
    """Draws from a beta distribution. Gradients flow to `a` and `b`.

    Parameters that are not positive are a ValueError.

    Examples
    --------
    >>> mx.np.random.beta(mx.np.ones((3, 1)), mx.np.ones(2)).shape
    (3, 2)
    """
    if size is None:
        both, _ = _split({"a": a, "b": b})
        size = tuple(onp.broadcast_shapes(*(x.shape for x in both))) if not any(is_symbol(x) for x in both) else None
    # in float64, where sums of small numbers are rarely 0
    x = gamma(a, 1.0, size, "float64", ctx, device=device)
    y = gamma(b, 1.0, size, "float64", ctx, device=device)
    return call("_npi_cast", (x / (x + y),), dtype=_float_name(dtype))


def chisquare(df, size=None, dtype=None, ctx=None, *, device=None):
    """Draws from a chi-square distribution of `df` degrees of freedom, to which gradients flow.

    A `df` that is not positive is a ValueError.

    Examples
    --------
    >>> mx.np.random.chisquare(3.0, size=(2, 2)).shape
    (2, 2)
    """
    (df,), _ = _split({"df": df}) if not isinstance(df, numbers.Real) else ((df,), None)
    return gamma(df / 2, 2.0, size, dtype, ctx, device=device)


def f(dfnum, dfden, size=None, ctx=None, *, device=None):
    """Draws from an F distribution of `dfnum` and `dfden` degrees of freedom, to which gradients
    flow.

    Degrees that are not positive are a ValueError.

    Examples
    --------
    >>> mx.np.random.f(3.0, 4.0, size=(2,)).shape
    (2,)
    """
    if size is None:
        arrays, _ = _split({"dfnum": dfnum, "dfden": dfden})
        size = tuple(onp.broadcast_shapes(*(x.shape for x in arrays))) if not any(is_symbol(x) for x in arrays) else None
    above, below = chisquare(dfnum, size, "float64", ctx, device=device), chisquare(dfden, size, "float64", ctx, device=device)
    (above_df, below_df) = (x if isinstance(x, numbers.Real) else _split({"df": x})[0][0] for x in (dfnum, dfden))
    return call("_npi_cast", ((above / above_df) / (below / below_df),), dtype=_float_name(None))


def randint(low, high=None, size=None, dtype=None, ctx=None, out=None, *, device=None):
    """Integers from [low, high), or from [0, low) where `high` is None, all equally likely.

    `low` and `high` are integers or arrays of them, which broadcast; int64 is the default dtype.
    low >= high is a ValueError.

    Examples
    --------
    >>> bool((mx.np.random.randint(5, size=100).asnumpy() < 5).all())
    True
    """
    low, high = (0, low) if high is None else (low, high)
    name = dtype_name(None if dtype is int else dtype, default_int())
    for bound in (low, high):
        if isinstance(bound, (NDArrayBase, onp.ndarray, list, tuple)):
            return deliver(_draws.integers_between(low, high, size, name), out)
        if not isinstance(bound, numbers.Integral):
            raise TypeError(f"[randint] a bound is {bound!r}; accepted: integers, and arrays of them")
    made = name if name in ("int32", "int64") else "int64"
    least, most = _LIMITS[name]
    if (low < least or high > most + 1) and low < high:
        raise ValueError(f"[randint] bounds {low} and {high} for {name}; accepted: {least} to {most + 1}")
    params = {"low": int(low), "high": int(high), "shape": _shape(() if size is None else size), "ctx": str(device_of(ctx, device))}
    if params["shape"] == ():
        drawn = call("_npi_reshape", (call("_npi_random_randint", (), dtype=made, **{**params, "shape": (1,)}),), newshape=())
    elif made == name:
        return call("_npi_random_randint", (), out, dtype=made, **params)
    else:
        drawn = call("_npi_random_randint", (), dtype=made, **params)
    return deliver(drawn if made == name else call("_npi_cast", (drawn,), dtype=name), out)


def rand(*size, **kwargs):
    """Uniform draws from [0, 1), of the shape that the positional arguments are. Other arguments
    are those of :func:`uniform`.

    Examples
    --------
    >>> mx.np.random.rand(2, 3).shape
    (2, 3)
    """
    return uniform(0.0, 1.0, size, **kwargs)


def randn(*size, **kwargs):
    """Standard normal draws, of the shape that the positional arguments are. Other arguments are
    those of :func:`normal`.

    Examples
    --------
    >>> mx.np.random.randn(2, 3).shape
    (2, 3)
    """
    return normal(0.0, 1.0, size, **kwargs)


def choice(a, size=None, replace=True, p=None, ctx=None, out=None, *, device=None):
    """Elements of the vector `a`, or integers below the int `a`, in random order.

    `p` are their chances, which are divided by their sum; None: all are equally likely. Without
    `replace` no element comes twice, and a size above their number is a ValueError.

    Examples
    --------
    >>> sorted(mx.np.random.choice(3, 3, replace=False).asnumpy().tolist())
    [0, 1, 2]
    >>> mx.np.random.choice(mx.np.array([4.0, 5.0]), 2, p=mx.np.array([0.0, 1.0]))
    array([5., 5.])
    """
    whole = isinstance(a, numbers.Integral)
    values = None if whole else operand(a)
    if not whole and not is_symbol(values) and values.ndim != 1:
        raise ValueError(f"[choice] a has shape {tuple(values.shape)}; accepted: one dimension, or an int")
    inputs = [] if whole else [values]
    if p is not None:
        inputs.append(operand(p, values))
    where = None if inputs else str(device_of(ctx, device))
    index = call("_npi_choice", inputs, out if whole else None, a=int(a) if whole else "None",
                 size="None" if size is None else _shape(size), ctx=where, replace=bool(replace), weighted=p is not None)
    return index if whole else call("take", (values, index), out, axis=0, mode="clip")


def multinomial(n, pvals, size=None, **kwargs):
    """How often each of the classes occurs in `n` trials; int64, of shape `size` and then the
    classes.

    `pvals` are the chances of the classes: a list or a vector. The last class has what the others
    leave; others that add up to more than 1, and numbers outside [0, 1], are a ValueError.

    Examples
    --------
    >>> int(mx.np.random.multinomial(10, [0.2, 0.3, 0.5]).asnumpy().sum())
    10
    """
    if kwargs:
        raise TypeError(f"[multinomial] got {', '.join(sorted(kwargs))}; accepted: n, pvals, size")
    if isinstance(pvals, (list, tuple)):
        counts = call("_npi_multinomial", (), n=int(n), pvals=tuple(float(p) for p in pvals), size=_shape(size))
        return counts if is_symbol(counts) or place_name(None, None) is None else counts.as_in_context(device_of())
    return call("_npi_multinomial", (operand(pvals),), n=int(n), pvals="None", size=_shape(size))


def multivariate_normal(mean, cov, size=None, check_valid=None, tol=None):
    """Draws from normal distributions of several dimensions.

    `mean` has shape (..., d) and `cov` (..., d, d), which broadcast; the result has shape
    size + (..., d), unlike NumPy's also for several distributions at once. `cov` is symmetric;
    eigenvalues below 0 count as 0. `check_valid` and `tol` are NumPy's, and not used. Gradients
    flow to `mean`, and to `cov` where its eigenvalues differ.

    Examples
    --------
    >>> mx.np.random.multivariate_normal(mx.np.zeros(2), mx.np.array([[1.0, 0.5], [0.5, 1.0]]), size=4).shape
    (4, 2)
    """
    del check_valid, tol
    mean, cov = (operand(x, None, None if isinstance(x, NDArrayBase) else default_float()) for x in (mean, cov))
    for x in (mean, cov):
        if is_symbol(x):
            raise TypeError("[multivariate_normal] got a symbol; accepted: arrays, whose shapes are known")
    length = mean.shape[-1] if mean.ndim else 0
    if mean.ndim < 1 or cov.ndim < 2 or tuple(cov.shape[-2:]) != (length, length):
        raise ValueError(f"[multivariate_normal] mean has shape {tuple(mean.shape)}, cov {tuple(cov.shape)}; "
                         "accepted: (..., d) and (..., d, d)")
    dtype = onp.dtype(mean.dtype).name if onp.dtype(mean.dtype).kind == "f" else default_float()
    mean, cov = (x if onp.dtype(x.dtype).name == dtype else call("_npi_cast", (x,), dtype=dtype) for x in (mean, cov))
    batch = onp.broadcast_shapes(mean.shape[:-1], cov.shape[:-2])
    if dtype in ("float16", "bfloat16"):        # which have no eigenvalues of their own
        found = call("_linalg_syevd", (call("_npi_cast", (cov,), dtype="float32"),))
        vectors, values = (call("_npi_cast", (x,), dtype=dtype) for x in found)
    else:
        vectors, values = call("_linalg_syevd", (cov,))
    scale = call("sqrt", (call("relu", (values,)),))
    draws = normal(0.0, 1.0, (_shape(size) or ()) + tuple(batch) + (length,), dtype, device=mean.context)
    rows = call("expand_dims", (draws * scale,), axis=-2)
    return call("squeeze", (call("_npi_matmul", (rows, vectors)),), axis=-2) + mean


def shuffle(x):
    """Puts the rows of the array `x` (along its first axis), or the entries of a list, into random
    order, in place.

    Examples
    --------
    >>> x = mx.np.array([1, 2, 3]); mx.np.random.shuffle(x); sorted(x.asnumpy().tolist())
    [1.0, 2.0, 3.0]
    """
    if isinstance(x, list):
        x[:] = [x[i] for i in permutation(len(x)).asnumpy().tolist()]
        return
    if not isinstance(x, NDArrayBase):
        raise TypeError(f"[shuffle] got a {type(x).__name__}; accepted: an array of mx.np, or a list")
    if not x.ndim:
        raise TypeError("[shuffle] an array of shape () has no rows; accepted: at least one dimension")
    call("_npi_shuffle", (x,), x)


def permutation(x):
    """The integers below `x`, or a copy of the array `x`, with rows in random order.

    Examples
    --------
    >>> sorted(mx.np.random.permutation(4).asnumpy().tolist())
    [0, 1, 2, 3]
    """
    if isinstance(x, numbers.Integral):
        x = from_values(onp.arange(x, dtype="int64"))
    x = operand(x)
    if not x.ndim:
        raise IndexError("[permutation] a single number; accepted: an int, or an array of at least one dimension")
    return call("_npi_shuffle", (x,))


def bytes(length):    # pylint: disable=redefined-builtin
    """So many random bytes.

    Examples
    --------
    >>> len(mx.np.random.bytes(4))
    4
    """
    return randint(0, 256, length, "uint8").tobytes()


# NumPy's classes, which default_rng takes seeds from.
SeedSequence, PCG64, MT19937 = onp.random.SeedSequence, onp.random.PCG64, onp.random.MT19937
Philox, SFC64 = onp.random.Philox, onp.random.SFC64
globals().update({name: getattr(_draws, name) for name in _draws.__all__})
_OF_GENERATORS = ("default_rng", "BitGenerator", "Generator", "RandomState")


def __getattr__(name):
    if name in _OF_GENERATORS:
        found = globals()[name] = getattr(importlib.import_module("mxnet.numpy._generator"), name)     # which stands on this module
        return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return __all__
