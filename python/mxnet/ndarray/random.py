"""Random arrays: ``mx.nd.random``. Parameters may be numbers, or arrays whose elements each give ``shape`` values."""
from .._dtypes import name as _dtype_name
from ..base import _Null, numeric_types
from ..context import current_context
from .ndarray import NDArray, _call

__all__ = ["uniform", "normal", "randn", "poisson", "exponential", "gamma", "multinomial", "negative_binomial", "generalized_negative_binomial",
           "shuffle", "randint", "exponential_like", "gamma_like", "generalized_negative_binomial_like", "negative_binomial_like", "normal_like",
           "poisson_like", "uniform_like"]


def _given(value):
    return None if value is _Null or value is None else value


def _draw(name, numbers, arrays, shape, dtype, ctx, out):
    """`numbers`: parameters by the names of _random_NAME; `arrays`: the same values, in the order of _sample_NAME's inputs."""
    shape = _given(shape)
    dtype = None if _given(dtype) is None else _dtype_name(dtype)
    if any(isinstance(a, NDArray) for a in arrays):
        if not all(isinstance(a, NDArray) for a in arrays):
            raise ValueError(f"[random.{name}] parameters must be all numbers or all NDArrays; got {', '.join(type(a).__name__ for a in arrays)}")
        return _call("_sample_" + name, tuple(arrays), out, shape=shape, dtype=dtype)
    for key, value in numbers.items():
        if not isinstance(value, numeric_types):
            raise ValueError(f"[random.{name}] {key} is a {type(value).__name__}; accepted: a number or an NDArray")
    if shape is None and out is None:
        shape = 1
    where = None if out is not None else str(ctx or current_context())
    return _call("_random_" + name, (), out, shape=shape, dtype=dtype, ctx=where, **numbers)


def uniform(low=0, high=1, shape=_Null, dtype=_Null, ctx=None, out=None, **kwargs):
    """Uniform values in [low, high)."""
    return _draw("uniform", {"low": low, "high": high}, (low, high), shape, dtype, ctx, out)


def normal(loc=0, scale=1, shape=_Null, dtype=_Null, ctx=None, out=None, **kwargs):
    """Normal values with mean `loc` and standard deviation `scale`."""
    return _draw("normal", {"loc": loc, "scale": scale}, (loc, scale), shape, dtype, ctx, out)


def randn(*shape, **kwargs):
    """Normal values of the given dimensions; `loc`, `scale`, `dtype`, `ctx` and `out` as keywords."""
    loc, scale = kwargs.pop("loc", 0), kwargs.pop("scale", 1)
    return normal(loc, scale, shape=shape or (1,), dtype=kwargs.pop("dtype", _Null), ctx=kwargs.pop("ctx", None), out=kwargs.pop("out", None))


def poisson(lam=1, shape=_Null, dtype=_Null, ctx=None, out=None, **kwargs):
    """Poisson values with mean `lam`."""
    return _draw("poisson", {"lam": lam}, (lam,), shape, dtype, ctx, out)


def exponential(scale=1, shape=_Null, dtype=_Null, ctx=None, out=None, **kwargs):
    """Exponential values with mean `scale`."""
    rate = 1.0 / scale
    return _draw("exponential", {"lam": rate}, (rate,), shape, dtype, ctx, out)


def gamma(alpha=1, beta=1, shape=_Null, dtype=_Null, ctx=None, out=None, **kwargs):
    """Gamma values with shape `alpha` and scale `beta`."""
    return _draw("gamma", {"alpha": alpha, "beta": beta}, (alpha, beta), shape, dtype, ctx, out)


def negative_binomial(k=1, p=1, shape=_Null, dtype=_Null, ctx=None, out=None, **kwargs):
    """Failures before the `k`-th success of probability `p`."""
    return _draw("negative_binomial", {"k": k, "p": p}, (k, p), shape, dtype, ctx, out)


def generalized_negative_binomial(mu=1, alpha=1, shape=_Null, dtype=_Null, ctx=None, out=None, **kwargs):
    """Negative binomial values with mean `mu` and dispersion `alpha`."""
    return _draw("generalized_negative_binomial", {"mu": mu, "alpha": alpha}, (mu, alpha), shape, dtype, ctx, out)


def randint(low, high, shape=_Null, dtype=_Null, ctx=None, out=None, **kwargs):
    """Integers in [low, high)."""
    return _draw("randint", {"low": int(low), "high": int(high)}, (low, high), shape, dtype, ctx, out)


def multinomial(data, shape=_Null, get_prob=False, out=None, dtype="int32", **kwargs):
    """Indices drawn with the probabilities in the last axis of `data`; with `get_prob` also their log-probabilities."""
    return _call("_sample_multinomial", (data,), out, shape=_given(shape), get_prob=bool(get_prob), dtype=_dtype_name(dtype))


def shuffle(data, **kwargs):
    """Rows of `data` in random order."""
    return _call("_shuffle", (data,), kwargs.get("out"))


def _like(name, keys):
    def function(data=None, *args, out=None, name=None, **kwargs):
        kwargs.update(zip(keys, args))
        return _call(f"_random_{base}_like", (data,), out, **kwargs)
    base = name
    function.__name__ = name + "_like"
    function.__doc__ = f"Values like those of :func:`{name}`, in the shape and dtype of `data`; parameters: {', '.join(keys)}."
    return function


exponential_like = _like("exponential", ("lam",))
gamma_like = _like("gamma", ("alpha", "beta"))
generalized_negative_binomial_like = _like("generalized_negative_binomial", ("mu", "alpha"))
negative_binomial_like = _like("negative_binomial", ("k", "p"))
normal_like = _like("normal", ("loc", "scale"))
poisson_like = _like("poisson", ("lam",))
uniform_like = _like("uniform", ("low", "high"))
