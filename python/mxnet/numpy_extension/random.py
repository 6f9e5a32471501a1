"""``mx.npx.random``: draws that NumPy does not have, and the generators' seed."""
from .. import random as _seeding
from .._dtypes import name as _dtype_name
from ..numpy._dispatch import call, default_float, device_of, operand
from ..numpy.random import _float_name, _shape, _split, draw

__all__ = ["seed", "bernoulli", "normal_n", "uniform_n", "categorical", "multinomial"]

_BERNOULLI = ("bool", "float16", "float32", "float64", "int32", "uint8")


def seed(seed, ctx="all", device=None):   # pylint: disable=redefined-outer-name
    """Restarts the random generators of one device or of all, as :func:`mxnet.random.seed` does.

    Examples
    --------
    >>> mx.npx.random.seed(7); a = mx.np.random.uniform(size=3)
    >>> mx.npx.random.seed(7); b = mx.np.random.uniform(size=3)
    >>> bool((a.asnumpy() == b.asnumpy()).all())
    True
    """
    _seeding.seed(seed, ctx if device is None else device)


def bernoulli(prob=None, logit=None, size=None, dtype=None, ctx=None, out=None, *, device=None):
    """Ones with chance `prob`, or with the chance whose log-odds are `logit`, else zeros.

    One of the two is given, as a number or an array; `size` is a shape to which it broadcasts. The
    result is float32 unless `dtype` says otherwise. A `prob` outside [0, 1] is a ValueError. No
    gradients flow to the parameter.

    Examples
    --------
    >>> mx.npx.random.bernoulli(mx.np.array([0.0, 1.0]), dtype="int32")
    array([0, 1], dtype=int32)
    """
    if (prob is None) == (logit is None):
        raise ValueError("Either `prob` or `logit` must be specified, but not both. "
                         f"Received prob={prob}, logit={logit}")
    name = "float32" if dtype is None else _dtype_name(dtype)
    made = name if name in _BERNOULLI else "int32"
    arrays, told = _split({"prob": prob} if logit is None else {"logit": logit})
    told = {"prob": "None", "logit": "None", **told}
    where = None if arrays else str(device_of(ctx, device))
    drawn = call("_npi_bernoulli", arrays, out if made == name else None, size=_shape(size), ctx=where, dtype=made,
                 is_logit=prob is None, **told)
    return drawn if made == name else call("_npi_cast", (drawn,), out, dtype=name)


def normal_n(loc=0.0, scale=1.0, batch_shape=None, dtype=None, ctx=None, *, device=None):
    """Normal draws: `batch_shape` of them for each element of the parameters, which come last in
    the result's shape. Gradients flow to parameters that are arrays.

    Examples
    --------
    >>> mx.npx.random.normal_n(mx.np.zeros(3), 1.0, batch_shape=(4, 5)).shape
    (4, 5, 3)
    """
    return draw("_npi_normal_n", {"loc": loc, "scale": scale}, batch_shape, _float_name(dtype), ctx, device)


def uniform_n(low=0.0, high=1.0, batch_shape=None, dtype=None, ctx=None, *, device=None):
    """Uniform draws: `batch_shape` of them for each element of the parameters, which come last in
    the result's shape. Gradients flow to parameters that are arrays.

    Examples
    --------
    >>> mx.npx.random.uniform_n(mx.np.zeros(3), 1.0, batch_shape=4).shape
    (4, 3)
    """
    return draw("_npi_uniform_n", {"low": low, "high": high}, batch_shape, _float_name(dtype), ctx, device)


def categorical(data=None, shape=None, get_prob=None, dtype=None, out=None, name=None):
    """Class numbers drawn with the chances in the last axis of `data`, which are divided by their
    sum.

    The result has the other axes of `data`, then `shape`; int32 unless `dtype` says otherwise. With
    `get_prob` there is a second result, the logarithms of the chances of what was drawn, through
    which gradients flow.

    Examples
    --------
    >>> mx.npx.random.categorical(mx.np.array([[0.0, 1.0], [1.0, 0.0]]))
    array([1, 0], dtype=int32)
    """
    del name
    return call("_npx__random_categorical", (operand(data),), out, shape=_shape(shape), get_prob=get_prob,
                dtype=None if dtype is None else _dtype_name(dtype))


def multinomial(n=None, p=None, shape=None, ctx=None, dtype=None, out=None, name=None):
    """How often each class occurs in `n` trials.

    `p` has the shape of `n` and a last axis with the chances of the classes, which are divided by
    their sum. The result has the shape of `n`, then `shape`, then the classes; float32 unless
    `dtype` says otherwise.

    Examples
    --------
    >>> mx.npx.random.multinomial(mx.np.array([3.0]), mx.np.array([[0.0, 1.0]]))
    array([[0., 3.]])
    """
    del ctx, name
    p = operand(p)
    return call("_npx__random_multinomial", (operand(n, p), p), out, shape=_shape(shape),
                dtype=default_float() if dtype is None else _dtype_name(dtype))


def __dir__():
    return __all__
