"""Draws of mx.np.random that are made of other draws: NumPy's distributions that neither 1.9.1 nor
2.0 offers there."""
import numpy as onp

from ._dispatch import call, default_float, dtype_name, filled_array, from_values, is_symbol, operand
from ._random_records import _shape, draw
from .._binding import NDArrayBase

__all__ = ["random", "random_sample", "standard_normal", "standard_exponential", "standard_gamma", "standard_cauchy", "standard_t",
           "binomial", "poisson", "negative_binomial", "geometric", "triangular", "dirichlet", "wald", "noncentral_chisquare",
           "noncentral_f", "vonmises", "zipf", "hypergeometric", "logseries", "ranf", "sample"]


def _uniform(size, dtype="float64", ctx=None, device=None):
    return draw("_npi_uniform", {"low": 0.0, "high": 1.0}, size, dtype, ctx, device)


def _normal(size, dtype="float64", ctx=None, device=None):
    return draw("_npi_normal", {"loc": 0.0, "scale": 1.0}, size, dtype, ctx, device)


def _gamma(shape, scale, size, dtype="float64", ctx=None, device=None):
    return draw("_npi_gamma", {"shape": shape, "scale": scale}, size, dtype, ctx, device)


def _float_name(dtype):
    return default_float() if dtype is None else dtype_name(dtype)


def _parameters(name, size, **given):
    """The parameters as arrays of float64, and the shape of the result: `size`, or the one to which
    they broadcast."""
    like = next((v for v in given.values() if isinstance(v, NDArrayBase)), None)
    if any(is_symbol(v) for v in given.values()):
        raise TypeError(f"[{name}] got a symbol; accepted: arrays and numbers, whose shapes are known")
    arrays = [call("_npi_cast", (operand(v, like),), dtype="float64") for v in given.values()]
    common = onp.broadcast_shapes(*(x.shape for x in arrays))
    shape = common if size is None else _shape(size)
    if len(shape) < len(common) or any(m not in (n, 1) for n, m in zip(shape[::-1], common[::-1])):
        raise ValueError(f"[{name}] size={tuple(shape)} for parameters of shape {common}; accepted: a shape to which they broadcast")
    return arrays, tuple(shape)


def _check(name, array, parameter, accepted, ok):
    """Raises ValueError if a value of the parameter is refused. Reads the array."""
    values = array if isinstance(array, onp.ndarray) else array.asnumpy()
    if not ok(values).all():
        wrong = values[~ok(values)].flat[0]
        raise ValueError(f"[{name}] {parameter}={wrong:g}; accepted: {accepted}")


def _counts(record, arrays, shape):
    """int64 draws of a record with one parameter for each element of `shape`."""
    spread = [filled_array("_npi_full", shape, None, "float64", float(x)) if isinstance(x, onp.ndarray)
              else x if x.shape == shape else call("_npi_broadcast_to", (x,), shape=shape) for x in arrays]
    return call("_npi_cast", (call(record, spread, dtype="float64"),), dtype="int64")


def _checked_counts(name, record, size, rules, **given):
    """int64 draws of a record with one parameter for each element of the result. `rules`: what is
    accepted of each parameter, and whether an array is."""
    plain = all(type(v) in (int, float) for v in given.values())
    if plain:       # no array has to be made, spread and read for a number
        arrays, shape = [onp.asarray(float(v)) for v in given.values()], () if size is None else tuple(_shape(size))
    else:
        arrays, shape = _parameters(name, size, **given)
    for array, parameter, (accepted, ok) in zip(arrays, given, rules):
        _check(name, array, parameter, accepted, ok)
    return _counts(record, arrays, shape)


def _float(value, dtype=None):
    return call("_npi_cast", (value,), dtype=_float_name(dtype))


def random(size=None, dtype=None, ctx=None, *, device=None):
    """Uniform draws from [0, 1). `random_sample` is another name.

    Examples
    --------
    >>> mx.np.random.random((2, 3)).shape
    (2, 3)
    """
    return _uniform(size, _float_name(dtype), ctx, device)


def random_sample(size=None, dtype=None, ctx=None, *, device=None):
    """Uniform draws from [0, 1), as :func:`random` gives them.

    Examples
    --------
    >>> mx.np.random.random_sample(4).shape
    (4,)
    """
    return _uniform(size, _float_name(dtype), ctx, device)


ranf = sample = random_sample


def standard_normal(size=None, dtype=None, ctx=None, *, device=None):
    """Draws from the normal distribution of mean 0 and standard deviation 1.

    Examples
    --------
    >>> mx.np.random.standard_normal((2, 2)).shape
    (2, 2)
    """
    return _normal(size, _float_name(dtype), ctx, device)


def standard_exponential(size=None, ctx=None, *, device=None):
    """Draws from the exponential distribution of mean 1.

    Examples
    --------
    >>> mx.np.random.standard_exponential(3).shape
    (3,)
    """
    return draw("_npi_exponential", {"scale": 1.0}, size, ctx=ctx, device=device)


def standard_gamma(shape, size=None, dtype=None, ctx=None, *, device=None):
    """Draws from the gamma distribution of that shape parameter and scale 1.

    Examples
    --------
    >>> mx.np.random.standard_gamma(mx.np.array([1.0, 2.0])).shape
    (2,)
    """
    return _gamma(shape, 1.0, size, _float_name(dtype), ctx, device)


def standard_cauchy(size=None, dtype=None, ctx=None, *, device=None):
    """Draws from the Cauchy distribution around 0: quotients of two normal draws.

    Examples
    --------
    >>> mx.np.random.standard_cauchy(3).shape
    (3,)
    """
    above, below = (_normal(size, ctx=ctx, device=device) for _ in range(2))
    return _float(above / below, dtype)


def standard_t(df, size=None, dtype=None):
    """Draws from Student's t distribution of `df` degrees of freedom, to which gradients flow.

    A `df` that is not positive is a ValueError.

    Examples
    --------
    >>> mx.np.random.standard_t(mx.np.array([3.0, 30.0]), size=(4, 2)).shape
    (4, 2)
    """
    (df,), shape = _parameters("standard_t", size, df=df)
    chi = _gamma(df / 2, 2.0, shape)
    normal = _normal(shape, device=df.context)
    return _float(normal / call("sqrt", (chi / df,)), dtype)


def binomial(n, p, size=None):
    """How many of `n` trials of chance `p` succeed; int64.

    Negative numbers of trials and chances outside [0, 1] are a ValueError.

    Examples
    --------
    >>> mx.np.random.binomial(10, mx.np.array([0.0, 1.0]))
    array([ 0, 10], dtype=int64)
    """
    rules = [("whole numbers of at least 0", lambda v: (v >= 0) & (v == onp.floor(v))), ("0 to 1", lambda v: (v >= 0) & (v <= 1))]
    return _checked_counts("binomial", "_sample_binomial", size, rules, n=n, p=p)


def poisson(lam=1.0, size=None):
    """Draws from the Poisson distribution of mean `lam`; int64.

    A mean that is negative or not finite is a ValueError.

    Examples
    --------
    >>> mx.np.random.poisson(mx.np.zeros(2), size=(3, 2)).shape
    (3, 2)
    """
    rules = [("at least 0 and finite", lambda v: (v >= 0) & onp.isfinite(v))]
    return _checked_counts("poisson", "_sample_poisson", size, rules, lam=lam)


def negative_binomial(n, p, size=None):
    """How many trials of chance `p` fail before `n` succeed; int64. `n` may be a fraction.

    An `n` that is not positive and chances outside (0, 1] are a ValueError.

    Examples
    --------
    >>> mx.np.random.negative_binomial(3, 1.0, size=2)
    array([0, 0], dtype=int64)
    """
    rules = [("above 0", lambda v: v > 0), ("above 0 and at most 1", lambda v: (v > 0) & (v <= 1))]
    return _checked_counts("negative_binomial", "_sample_negative_binomial", size, rules, n=n, p=p)


def geometric(p, size=None):
    """How many trials of chance `p` it takes until one succeeds, by inversion; int64.

    Chances outside (0, 1] are a ValueError.

    Examples
    --------
    >>> mx.np.random.geometric(1.0, size=3)
    array([1, 1, 1], dtype=int64)
    """
    (p,), shape = _parameters("geometric", size, p=p)
    _check("geometric", p, "p", "above 0 and at most 1", lambda v: (v > 0) & (v <= 1))
    u = _uniform(shape, device=p.context)
    trials = call("ceil", (call("log1p", (-u,)) / call("log1p", (-p,)),))      # u = 0 and p = 1 give 0
    return call("_npi_cast", (call("_npi_maximum_scalar", (trials,), scalar=1.0, is_int=False),), dtype="int64")


def triangular(left, mode, right, size=None, dtype=None):
    """Draws from the density that rises from `left` to `mode` and falls to `right`, by inversion.

    Unless left <= mode <= right and left < right, it is a ValueError.

    Examples
    --------
    >>> mx.np.random.triangular(-1.0, 0.0, 3.0, size=5).shape
    (5,)
    """
    (left, mode, right), shape = _parameters("triangular", size, left=left, mode=mode, right=right)
    wide = right - left
    _check("triangular", wide, "right - left", "above 0", lambda v: v > 0)
    share = (mode - left) / wide
    _check("triangular", share, "(mode - left) / (right - left)", "0 to 1", lambda v: (v >= 0) & (v <= 1))
    u = _uniform(shape, device=wide.context)
    rising = left + call("sqrt", (u * (wide * (mode - left)),))
    falling = right - call("sqrt", ((1.0 - u) * (wide * (right - mode)),))
    return _float(call("_npi_where", (u < share, rising, falling)), dtype)


def dirichlet(alpha, size=None, dtype=None):
    """Draws from the Dirichlet distribution, whose parameters are the last dimension of `alpha`;
    the result has shape size + alpha.shape.

    Parameters that are not positive are a ValueError.

    Examples
    --------
    >>> mx.np.random.dirichlet([1.0, 2.0, 3.0], size=4).shape
    (4, 3)
    """
    (alpha,), _ = _parameters("dirichlet", None, alpha=alpha)
    if alpha.ndim == 0:
        raise ValueError("[dirichlet] alpha is one number; accepted: at least one dimension")
    draws = _gamma(alpha, 1.0, (_shape(size) or ()) + alpha.shape)
    return _float(draws / call("_npi_sum", (draws,), axis=-1, keepdims=True), dtype)


def wald(mean, scale, size=None, dtype=None):
    """Draws from the inverse Gaussian distribution, by the method of Michael, Schucany and Haas.

    Parameters that are not positive are a ValueError.

    Examples
    --------
    >>> mx.np.random.wald(1.0, 2.0, size=3).shape
    (3,)
    """
    (mean, scale), shape = _parameters("wald", size, mean=mean, scale=scale)
    for name, value in (("mean", mean), ("scale", scale)):
        _check("wald", value, name, "above 0", lambda v: v > 0)
    y = _normal(shape, device=mean.context)
    y = mean * y * y
    # the smaller root of the quadratic equation, without the difference of large numbers
    root = mean * (4.0 * scale) / (y + call("sqrt", (y * (4.0 * scale + y),)) + 2.0 * scale) * 0.5
    u = _uniform(shape, device=mean.context)
    return _float(call("_npi_where", (u * (mean + root) <= mean, root, mean * mean / root)), dtype)


def noncentral_chisquare(df, nonc, size=None, dtype=None):
    """Draws from the noncentral chi-square distribution: chi-square draws whose degrees of freedom
    have a Poisson number of pairs added. Gradients flow to `df`, none to `nonc`.

    A `df` that is not positive and a negative `nonc` are a ValueError.

    Examples
    --------
    >>> mx.np.random.noncentral_chisquare(3.0, 2.0, size=3).shape
    (3,)
    """
    (df, nonc), shape = _parameters("noncentral_chisquare", size, df=df, nonc=nonc)
    _check("noncentral_chisquare", nonc, "nonc", "at least 0", lambda v: v >= 0)
    pairs = call("_npi_cast", (_counts("_sample_poisson", (nonc * 0.5,), shape),), dtype="float64")
    return _gamma((df + 2.0 * pairs) / 2, 2.0, shape, _float_name(dtype))


def noncentral_f(dfnum, dfden, nonc, size=None, dtype=None):
    """Draws from the noncentral F distribution: a noncentral chi-square draw over a chi-square
    draw, each over its degrees of freedom.

    Degrees that are not positive and a negative `nonc` are a ValueError.

    Examples
    --------
    >>> mx.np.random.noncentral_f(3.0, 5.0, 2.0, size=3).shape
    (3,)
    """
    (dfnum, dfden, nonc), shape = _parameters("noncentral_f", size, dfnum=dfnum, dfden=dfden, nonc=nonc)
    above = noncentral_chisquare(dfnum, nonc, shape, "float64") / dfnum
    return _float(above / (_gamma(dfden / 2, 2.0, shape) / dfden), dtype)


def _host_generator():
    """A generator of NumPy that :func:`mxnet.random.seed` determines."""
    key = call("_random_randint", (), low=0, high=2 ** 62, shape=(2,), dtype="int64").asnumpy().tolist()
    return onp.random.Generator(onp.random.Philox(key=key))


def _host(name, size, dtype, **given):
    """NumPy's draws from a generator that :func:`mxnet.random.seed` determines."""
    arrays, shape = _parameters(name, size, **given)
    values = [x.asnumpy() if name in ("vonmises", "zipf", "logseries") else x.asnumpy().astype("int64") for x in arrays]
    return from_values(onp.asarray(getattr(_host_generator(), name)(*values, size=shape)), arrays[0].context, dtype)


def multivariate_hypergeometric(colors, nsample, size=None, method="marginals"):
    """NumPy's draws of how many of `nsample` things are of each color; int64."""
    colors = operand(colors)
    drawn = _host_generator().multivariate_hypergeometric(colors.asnumpy().astype("int64"), int(nsample), _shape(size), method)
    return from_values(drawn, colors.context, "int64")


def integers_between(low, high, size, dtype):
    """Integers from [low, high) for bounds of which one is an array: remainders of draws of 62
    bits, so that ranges of up to 2 ** 40 have chances that differ by less than 1e-6."""
    like = next((v for v in (low, high) if isinstance(v, NDArrayBase)), None)
    bounds = [operand(v, like) for v in (low, high)]
    for bound in bounds:
        if is_symbol(bound) or bound.dtype.kind not in "iu":
            raise TypeError(f"[randint] a bound is {bound!r}; accepted: integers, and arrays of them")
    low, high = (call("_npi_cast", (b,), dtype="int64") for b in bounds)
    common = onp.broadcast_shapes(low.shape, high.shape)
    shape = tuple(common if size is None else _shape(size))
    if onp.broadcast_shapes(common, shape) != shape:
        raise ValueError(f"[randint] size={shape} for bounds of shape {common}; accepted: a shape to which they broadcast")
    _check("randint", high - low, "high - low", "above 0", lambda v: v > 0)
    bits = call("_random_randint", (), low=0, high=2 ** 62, shape=shape or (1,), dtype="int64", ctx=str(low.context))
    bits = bits if shape else call("_npi_reshape", (bits,), newshape=())
    return call("_npi_cast", (low + bits % (high - low),), dtype=dtype)


def multinomials(n, pvals, size=None):
    """How often each of the classes, the last dimension of `pvals`, occurs in `n` trials, which may
    be arrays: one binomial draw for each class, of the trials that are left."""
    like = next((v for v in (n, pvals) if isinstance(v, NDArrayBase)), None)
    n, pvals = (call("_npi_cast", (operand(v, like),), dtype="float64") for v in (n, pvals))
    if not pvals.ndim:
        raise ValueError("[multinomial] pvals is one number; accepted: at least one dimension")
    common = onp.broadcast_shapes(n.shape, pvals.shape[:-1])
    shape = tuple(common if size is None else _shape(size))
    if onp.broadcast_shapes(common, shape) != shape:
        raise ValueError(f"[multinomial] size={shape} for parameters of shape {common}; accepted: a shape to which they broadcast")
    _check("multinomial", pvals, "pvals", "0 to 1", lambda v: (v >= 0) & (v <= 1))
    _check("multinomial", n, "n", "whole numbers of at least 0", lambda v: (v >= 0) & (v == onp.floor(v)))
    sums = call("_npi_sum", (pvals[..., :-1],), axis=-1)
    _check("multinomial", sums, "the sum of pvals[:-1]", "at most 1", lambda v: v <= 1 + 1e-12)
    trials, rest, counts = call("_npi_broadcast_to", (n,), shape=shape), 1.0, []
    for i in range(pvals.shape[-1] - 1):
        chance = pvals[..., i]
        share = call("_npi_clip", (chance / rest,), a_min=0.0, a_max=1.0) if i else chance
        share = call("_npi_nan_to_num", (share,), nan=0.0)      # no chance is left
        counts.append(call("_npi_cast", (_counts("_sample_binomial", (trials, share), shape),), dtype="float64"))
        trials, rest = trials - counts[-1], rest - chance
    return call("_npi_cast", (call("_npi_stack", [*counts, trials], axis=-1),), dtype="int64")


def vonmises(mu, kappa, size=None, dtype=None):
    """Draws from the von Mises distribution, of angles around `mu` with concentration `kappa`.
    NumPy draws them, from a generator that :func:`mxnet.random.seed` determines.

    Examples
    --------
    >>> mx.np.random.vonmises(0.0, 4.0, size=3).shape
    (3,)
    """
    return _host("vonmises", size, _float_name(dtype), mu=mu, kappa=kappa)


def zipf(a, size=None):
    """Draws from the Zipf distribution: k with a chance proportional to ``k ** -a``; int64. They
    are NumPy's, as for :func:`vonmises`.

    Examples
    --------
    >>> mx.np.random.zipf(2.0, size=3).shape
    (3,)
    """
    return _host("zipf", size, "int64", a=a)


def hypergeometric(ngood, nbad, nsample, size=None):
    """How many of `nsample` things that are drawn are good, of `ngood` good and `nbad` bad ones;
    int64. They are NumPy's draws, as for :func:`vonmises`.

    Examples
    --------
    >>> mx.np.random.hypergeometric(3, 0, 2, size=2)
    array([2, 2], dtype=int64)
    """
    return _host("hypergeometric", size, "int64", ngood=ngood, nbad=nbad, nsample=nsample)


def logseries(p, size=None):
    """Draws from the logarithmic series distribution: k with a chance proportional to
    ``p ** k / k``; int64. They are NumPy's, as for :func:`vonmises`.

    Examples
    --------
    >>> mx.np.random.logseries(0.5, size=3).shape
    (3,)
    """
    return _host("logseries", size, "int64", p=p)
