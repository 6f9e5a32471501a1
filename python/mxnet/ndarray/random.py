"""Random arrays. Parameters of a distribution are numbers, or arrays that give `shape` draws for
each of their elements."""
import re as _re

import numpy as _np

from .._dtypes import given as _given
from ..base import _Null, numeric_types, CheckedValueError, _MXTypeError
from ..context import Context, current_context
from . import _internal
from .ndarray import NDArray

__all__ = ["uniform", "normal", "randn", "poisson", "exponential", "gamma", "negative_binomial",
           "generalized_negative_binomial", "multinomial", "binomial", "categorical",
           "shuffle", "randint", "uniform_like", "normal_like", "exponential_like", "gamma_like", "poisson_like", "negative_binomial_like",
           "generalized_negative_binomial_like"]


_PLAIN = (float, int)
_CPU = Context("cpu", 0)   # contexts are the same object wherever they are equal


def _dtype(dtype):
    return _given(dtype) if dtype is _Null or dtype is None or isinstance(dtype, str) else _np.dtype(dtype).name


def _device_text(ctx):
    """A context, or its text ("cpu(0)", as 1.x takes it), as the text that operators take."""
    if isinstance(ctx, Context) or (isinstance(ctx, str) and _re.fullmatch(r"\w+\(\d+\)", ctx)):
        return str(ctx)
    raise _MXTypeError(f"[context] got {ctx!r}; accepted: a Context such as mx.cpu(0)")


_FUNCTIONS = {}   # of distributions that were drawn from, by name: looking one up takes as long as a small draw


def _draw(distribution, params, shape, dtype, ctx, out, kwargs):
    """`params`: values by name, all numbers or all arrays; the caller's to spoil."""
    if out is None and not kwargs:   # the usual call
        for value in params.values():
            if type(value) not in _PLAIN:
                break
        else:
            if shape is not _Null and shape is not None:
                params["shape"] = shape
            if dtype is not _Null:
                params["dtype"] = _dtype(dtype)
            ctx = ctx or current_context()
            if ctx is not _CPU:   # without inputs: cpu(0)
                params["ctx"] = _device_text(ctx)
            function = _FUNCTIONS.get(distribution)
            if function is None:
                function = _FUNCTIONS[distribution] = getattr(_internal, "_random_" + distribution)
            return function(**params)
    arrays = [isinstance(v, NDArray) for v in params.values()]
    options = {"dtype": _dtype(dtype), **kwargs}
    if shape is not _Null and shape is not None:
        options["shape"] = shape
    if all(arrays):
        return getattr(_internal, "_sample_" + distribution)(*params.values(), out=out, **options)
    if any(arrays):
        names = ", ".join(f"{n}={type(v).__name__}" for n, v in params.items())
        raise CheckedValueError(f"[random.{distribution}] got {names}; accepted: all numbers, or all NDArrays")
    for place, (name, value) in enumerate(params.items()):
        if not isinstance(value, numeric_types):   # 1.x checks the first one, and asserts that the others are like it
            kind = CheckedValueError if place else ValueError
            raise kind(f"[random.{distribution}] got {name}={value!r}; accepted: a number or an NDArray")
    if ctx is None and out is None:
        ctx = current_context()
    if ctx is not None:
        options["ctx"] = _device_text(ctx)
    return getattr(_internal, "_random_" + distribution)(**params, out=out, **options)


def uniform(low=0, high=1, shape=_Null, dtype=_Null, ctx=None, out=None, **kwargs):
    """Uniform on [low, high).

    Parameters
    ----------
    low, high : float or NDArray
        Ends of the interval; the upper one is not drawn.
    shape : int or tuple of ints
        Shape of the result; (1,) when left out. With arrays as parameters: of the draws for each of
        their elements, which comes behind the arrays' own shape.
    dtype : str or type
        'float16', 'float32' (default) or 'float64'.
    ctx : Context
        Where the result is, by default the current context. Arrays as parameters decide it
        themselves.
    out : NDArray
        An array to fill, instead of `shape`.

    Raises
    ------
    ValueError
        if a parameter is neither a number nor an array, or one is an array and another a number.

    Examples
    --------
    >>> mx.nd.random.uniform(0, 10, shape=(2, 3)).shape
    (2, 3)
    >>> mx.nd.random.uniform(mx.nd.array([0, 100]), mx.nd.array([1, 200]), shape=4).shape
    (2, 4)
    """
    return _draw("uniform", {"low": low, "high": high}, shape, dtype, ctx, out, kwargs)


def normal(loc=0, scale=1, shape=_Null, dtype=_Null, ctx=None, out=None, **kwargs):
    """Normal with mean `loc` and standard deviation `scale` (floats or NDArrays). Other arguments
    as in :func:`uniform`.

    >>> x = mx.nd.random.normal(5, 0.1, shape=10000)
    >>> round(float(x.mean().asscalar()), 1), round(float(x.asnumpy().std()), 1)
    (5.0, 0.1)
    """
    return _draw("normal", {"loc": loc, "scale": scale}, shape, dtype, ctx, out, kwargs)


def randn(*shape, **kwargs):
    """Normal of the shape ``randn(2, 3)``; keywords `loc` (0), `scale` (1), `dtype`, `ctx` and
    `out`.

    >>> mx.nd.random.randn(2, 3).shape
    (2, 3)
    """
    loc, scale = kwargs.pop("loc", 0), kwargs.pop("scale", 1)
    dtype, ctx, out = kwargs.pop("dtype", _Null), kwargs.pop("ctx", None), kwargs.pop("out", None)
    if kwargs:
        raise TypeError(f"[random.randn] got unexpected arguments {', '.join(kwargs)}; accepted: loc, scale, dtype, ctx, out")
    return normal(loc, scale, shape, dtype, ctx, out)


def poisson(lam=1, shape=_Null, dtype=_Null, ctx=None, out=None, **kwargs):
    """Poisson with mean `lam` (float or NDArray); the numbers are whole, their dtype floating.
    Other arguments as in :func:`uniform`.

    >>> mx.nd.random.poisson(3, shape=(2, 2)).shape
    (2, 2)
    """
    return _draw("poisson", {"lam": lam}, shape, dtype, ctx, out, kwargs)


def exponential(scale=1, shape=_Null, dtype=_Null, ctx=None, out=None, **kwargs):
    """Exponential with mean `scale` (float or NDArray). Other arguments as in :func:`uniform`.

    >>> bool(mx.nd.random.exponential(2, shape=100).min().asscalar() >= 0)
    True
    """
    return _draw("exponential", {"lam": 1.0 / scale}, shape, dtype, ctx, out, kwargs)


def gamma(alpha=1, beta=1, shape=_Null, dtype=_Null, ctx=None, out=None, **kwargs):
    """Gamma with shape `alpha` and scale `beta` (floats or NDArrays), mean alpha*beta. Other
    arguments as in :func:`uniform`.

    >>> mx.nd.random.gamma(alpha=2, beta=0.5, shape=3).shape
    (3,)
    """
    return _draw("gamma", {"alpha": alpha, "beta": beta}, shape, dtype, ctx, out, kwargs)


def negative_binomial(k=1, p=1, shape=_Null, dtype=_Null, ctx=None, out=None, **kwargs):
    """Failures before the `k`-th success of probability `p`, mean k*(1-p)/p. Other arguments as in
    :func:`uniform`.

    >>> mx.nd.random.negative_binomial(k=3, p=0.5, shape=4).shape
    (4,)
    """
    return _draw("negative_binomial", {"k": k, "p": p}, shape, dtype, ctx, out, kwargs)


def binomial(n=1, p=0.5, shape=_Null, dtype=_Null, ctx=None, out=None, **kwargs):
    """Successes in `n` trials of probability `p` (numbers or NDArrays), mean n*p. Other arguments
    as in :func:`uniform`.

    >>> x = mx.nd.random.binomial(n=10, p=0.5, shape=100)
    >>> bool(x.max().asscalar() <= 10)
    True
    """
    return _draw("binomial", {"n": n, "p": p}, shape, dtype, ctx, out, kwargs)


def generalized_negative_binomial(mu=1, alpha=1, shape=_Null, dtype=_Null, ctx=None, out=None, **kwargs):
    """Negative binomial with mean `mu` and dispersion `alpha` (variance mu + alpha*mu*mu). Other
    arguments as in :func:`uniform`.

    >>> mx.nd.random.generalized_negative_binomial(mu=3, alpha=0.5, shape=4).shape
    (4,)
    """
    return _draw("generalized_negative_binomial", {"mu": mu, "alpha": alpha}, shape, dtype, ctx, out, kwargs)


def randint(low, high, shape=_Null, dtype=_Null, ctx=None, out=None, **kwargs):
    """Integers from `low` to `high` - 1, all equally likely; dtype 'int32' (default) or 'int64'.
    Other arguments as in :func:`uniform`.

    Raises
    ------
    ValueError
        if `low` is not below `high`.
    TypeError
        if an end is no integer (arrays are not accepted either).

    Examples
    --------
    >>> x = mx.nd.random.randint(0, 6, shape=100)
    >>> x.dtype.__name__, bool(x.min().asscalar() >= 0), bool(x.max().asscalar() < 6)
    ('int32', True, True)
    """
    for name, value in (("low", low), ("high", high)):
        if not hasattr(value, "__index__"):
            raise _MXTypeError(f"[random.randint] got {name}={value!r}; accepted: an integer")
    return _draw("randint", {"low": int(low), "high": int(high)}, shape, _Null if dtype is None else dtype, ctx, out, kwargs)


def multinomial(data, shape=_Null, get_prob=False, out=None, dtype="int32", **kwargs):
    """Indices drawn with the probabilities in the last axis of `data`.

    Parameters
    ----------
    data : NDArray, (k,) or (n, k)
        Probabilities; every row adds up to one.
    shape : int or tuple of ints
        Shape of the draws of each row; without it, one.
    get_prob : bool
        Also return the logarithm of the probability of each draw, differentiable with respect to
        `data` (for REINFORCE).
    dtype : str
        Of the indices: 'uint8', 'int32', 'float16', 'float32' or 'float64'.

    Returns
    -------
    NDArray or list of two

    Examples
    --------
    >>> mx.nd.random.multinomial(mx.nd.array([0, 0, 1]), shape=4).asnumpy()
    array([2, 2, 2, 2], dtype=int32)
    """
    options = dict(kwargs) if shape is _Null else dict(kwargs, shape=shape)
    return _internal._sample_multinomial(data, get_prob=get_prob, dtype=_dtype(dtype), out=out, **options)


def categorical(data, shape=_Null, get_prob=False, out=None, dtype="int32", **kwargs):
    """The name of :func:`multinomial` in MXNet 2.0: class numbers drawn with the probabilities in
    the last axis of `data`.

    >>> mx.nd.random.categorical(mx.nd.array([[0, 1], [1, 0]])).asnumpy()
    array([1, 0], dtype=int32)
    """
    options = dict(kwargs) if shape is _Null else dict(kwargs, shape=shape)
    return _internal._sample_categorical(data, get_prob=get_prob, dtype=_dtype(dtype), out=out, **options)


def shuffle(data, **kwargs):
    """The rows of `data` (along the first axis) in random order. Keyword `out`.

    >>> x = mx.nd.random.shuffle(mx.nd.array([3, 1, 2]))
    >>> sorted(x.asnumpy().tolist())
    [1.0, 2.0, 3.0]
    """
    return _internal._shuffle(data, **kwargs)


def _like(distribution, *parameters):
    def function(data=None, *args, out=None, name=None, **kwargs):
        if len(args) > len(parameters) or any(p in kwargs for p in parameters[:len(args)]):
            raise TypeError(f"[random.{distribution}_like] takes data, {', '.join(parameters)}, "
                            f"each once; got {len(args)} behind data and {', '.join(kwargs)}")
        kwargs.update(zip(parameters, args))
        return getattr(_internal, f"_random_{distribution}_like")(data, out=out, name=name, **kwargs)
    function.__name__ = function.__qualname__ = distribution + "_like"
    function.__doc__ = f"""As :func:`{distribution}` with the shape, dtype and device of `data`. Parameters (numbers):
    {', '.join(parameters)}.

    >>> mx.nd.random.{distribution}_like(mx.nd.ones((2, 3))).shape
    (2, 3)
    """
    return function


uniform_like = _like("uniform", "low", "high")
normal_like = _like("normal", "loc", "scale")
exponential_like = _like("exponential", "lam")
gamma_like = _like("gamma", "alpha", "beta")
poisson_like = _like("poisson", "lam")
negative_binomial_like = _like("negative_binomial", "k", "p")
generalized_negative_binomial_like = _like("generalized_negative_binomial", "mu", "alpha")
