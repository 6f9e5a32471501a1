"""Random numbers as symbols. Parameters of a distribution are numbers, or symbols with one value
per row of samples."""
from ..base import CheckedValueError, _Null
from ._functions import invoke as _invoke, _check_inputs
from .symbol import Symbol

# Distributions that also draw with the shape of an array, and their parameters.
_LIKE = {"uniform": ("low", "high"), "normal": ("loc", "scale"), "exponential": ("lam",), "gamma": ("alpha", "beta"), "poisson": ("lam",),
         "negative_binomial": ("k", "p"), "generalized_negative_binomial": ("mu", "alpha")}

__all__ = ["uniform", "normal", "randn", "poisson", "exponential", "gamma", "negative_binomial",
           "generalized_negative_binomial", "multinomial", "binomial", "categorical",
           "shuffle", "randint",
           *(_name + "_like" for _name in _LIKE)]


def _draw(distribution, params, shape, dtype, kwargs):
    """`params`: list of (name, value); all numbers, or all symbols."""
    symbols = [isinstance(v, Symbol) for _, v in params]
    if all(symbols):
        op = "_sample_" + distribution
        return _invoke(op, op, [v for _, v in params], shape=shape, dtype=dtype, **kwargs)
    if any(symbols):
        given = ', '.join(f'{n}={v!r}' for n, v in params)
        raise CheckedValueError(f"[random.{distribution}] got {given}; accepted: all numbers, or all symbols")
    op = "_random_" + distribution
    return _invoke(op, op, [], **dict(params), shape=shape, dtype=dtype, **kwargs)


def uniform(low=0, high=1, shape=_Null, dtype=_Null, **kwargs):
    """Uniform on [low, high)."""
    return _draw("uniform", [("low", low), ("high", high)], shape, dtype, kwargs)


def normal(loc=0, scale=1, shape=_Null, dtype=_Null, **kwargs):
    """Normal with mean `loc` and standard deviation `scale`."""
    return _draw("normal", [("loc", loc), ("scale", scale)] if not isinstance(loc, Symbol)
                 else [("mu", loc), ("sigma", scale)], shape, dtype, kwargs)


def randn(*shape, **kwargs):
    """Normal with mean `loc` (0) and standard deviation `scale` (1), of the given dimensions."""
    return normal(kwargs.pop("loc", 0), kwargs.pop("scale", 1), shape, kwargs.pop("dtype", _Null), **kwargs)


def poisson(lam=1, shape=_Null, dtype=_Null, **kwargs):
    """Poisson with rate `lam`."""
    return _draw("poisson", [("lam", lam)], shape, dtype, kwargs)


def exponential(scale=1, shape=_Null, dtype=_Null, **kwargs):
    """Exponential with mean `scale`."""
    return _draw("exponential", [("lam", 1.0 / scale)], shape, dtype, kwargs)


def gamma(alpha=1, beta=1, shape=_Null, dtype=_Null, **kwargs):
    """Gamma with shape `alpha` and scale `beta`."""
    return _draw("gamma", [("alpha", alpha), ("beta", beta)], shape, dtype, kwargs)


def negative_binomial(k=1, p=1, shape=_Null, dtype=_Null, **kwargs):
    """Failures before the `k`-th success of probability `p`."""
    return _draw("negative_binomial", [("k", k), ("p", p)], shape, dtype, kwargs)


def binomial(n=1, p=0.5, shape=_Null, dtype=_Null, **kwargs):
    """Successes in `n` trials of probability `p`."""
    return _draw("binomial", [("n", n), ("p", p)], shape, dtype, kwargs)


def generalized_negative_binomial(mu=1, alpha=1, shape=_Null, dtype=_Null, **kwargs):
    """Negative binomial with mean `mu` and dispersion `alpha`."""
    return _draw("generalized_negative_binomial", [("mu", mu), ("alpha", alpha)], shape, dtype, kwargs)


def multinomial(data, shape=_Null, get_prob=True, dtype="int32", **kwargs):
    """Indices drawn with the probabilities in the last axis of `data`; with `get_prob` also their
    log probabilities."""
    _check_inputs("random.multinomial", [data])
    return _invoke("_sample_multinomial", "_sample_multinomial", [data], shape=shape, get_prob=get_prob, dtype=dtype, **kwargs)


def categorical(data, shape=_Null, get_prob=True, dtype="int32", **kwargs):
    """The name of :func:`multinomial` in MXNet 2.0."""
    _check_inputs("random.categorical", [data])
    return _invoke("_sample_categorical", "_sample_categorical", [data], shape=shape, get_prob=get_prob, dtype=dtype, **kwargs)


def shuffle(data, **kwargs):
    """The rows of `data` in random order."""
    _check_inputs("random.shuffle", [data])
    return _invoke("_shuffle", "_shuffle", [data], **kwargs)


def randint(low, high, shape=_Null, dtype=_Null, **kwargs):
    """Integers from `low` to `high` - 1."""
    return _draw("randint", [("low", low), ("high", high)], shape, dtype, kwargs)


def _like(distribution, parameters):
    op = f"_random_{distribution}_like"

    def function(data=None, *args, name=None, attr=None, out=None, **params):
        _check_inputs("random." + distribution + "_like", [data])
        if len(args) > len(parameters):
            raise TypeError(f"[random.{distribution}_like] takes data, {', '.join(parameters)}, "
                            f"and got {len(args) + 1} arguments by position")
        params.update(zip(parameters, args))
        return _invoke(op, distribution + "_like", [data], name=name, attr=attr, **params)
    function.__name__ = function.__qualname__ = distribution + "_like"
    function.__doc__ = f"""Draws from the {distribution.replace('_', ' ')} distribution, with the shape of `data`.

    >>> mx.sym.random.{distribution}_like(mx.sym.var('x')).infer_shape(x=(2, 3))[1]
    [(2, 3)]
    """
    return function


for _name, _parameters in _LIKE.items():
    globals()[_name + "_like"] = _like(_name, _parameters)
