"""Functions of numbers and of mx.np arrays: parameters of distributions may be either."""
import importlib
import math
from numbers import Number

import numpy as onp

from ... import numpy as np
from ...numpy._dispatch import call


def _elementwise(name, of_number):
    def function(x):
        return float(of_number(x)) if isinstance(x, Number) else getattr(np, name)(x)
    function.__name__ = name
    return function


def _special(name, of_number=None):
    """A function of mx.npx. Python has some of them for numbers; the others become arrays."""
    def function(x):
        if not isinstance(x, Number):
            return getattr(importlib.import_module("mxnet.numpy_extension"), name)(x)
        return of_number(x) if of_number else float(function(np.array(float(x), dtype="float64")))
    function.__name__ = name
    return function


exp, log, log1p, expm1 = (_elementwise(n, getattr(onp, n)) for n in ("exp", "log", "log1p", "expm1"))
sqrt, tan, arctan, sign, floor = (_elementwise(n, getattr(onp, n)) for n in ("sqrt", "tan", "arctan", "sign", "floor"))
erf, gammaln = _special("erf", math.erf), _special("gammaln", math.lgamma)
erfinv, digamma = _special("erfinv"), _special("digamma")


def shape_of(x):
    """The shape of an array, () of a number."""
    return () if isinstance(x, Number) else tuple(x.shape)


def broadcast_to(x, shape, dtype=None):
    """`x` in `shape`; a number becomes an array."""
    return np.full(shape, x, dtype=dtype or "float32") if isinstance(x, Number) else np.broadcast_to(x, shape)


def where(condition, x, y):
    """`x` where the condition holds, else `y`, of the dtype of that which is an array."""
    if isinstance(condition, (bool, onp.bool_)):
        return x if condition else y
    like = y if isinstance(x, Number) else x
    dtype = "float32" if isinstance(like, Number) else like.dtype
    shape = onp.broadcast_shapes(shape_of(condition), shape_of(x), shape_of(y))
    x, y = (np.full(shape, v, dtype=dtype) if isinstance(v, Number) else v for v in (x, y))
    return np.where(condition, x, y)


def both(*conditions):
    """Whether all of some conditions (bools or arrays of bool) hold."""
    result = conditions[0]
    for condition in conditions[1:]:
        result = result * condition
    return result


def softplus(x):
    """log(1 + exp(x)), which does not overflow."""
    return log1p(exp(-abs(x))) + (x + abs(x)) / 2


def xlogy(x, y):
    """x log(y), and 0 where both are 0. The derivative by x is log(y), also where x is 0."""
    return x * log(where(both(x == 0, y == 0), 1.0, y))


def lbeta(a, b):
    """The logarithm of the beta function."""
    return gammaln(a) + gammaln(b) - gammaln(a + b)


def log_softmax(x):
    """log(softmax(x)) along the last axis."""
    return call("log_softmax", (x,), axis=-1)


def softmax(x):
    """Softmax along the last axis."""
    return call("softmax", (x,), axis=-1)


def cholesky(x):
    """Lower triangular factors of positive definite matrices."""
    return call("_npi_cholesky", (x,))


def inverse(x):
    """Inverses of matrices."""
    return call("_npi_inv", (x,))


def solve_lower(factor, x):
    """factor^-1 x of lower triangular matrices; both have one batch shape."""
    return call("_linalg_trsm", (factor, x))


def matmul(x, y):
    """Products of matrices, which broadcast."""
    return np.matmul(x, y)


def transposed(x):
    """Matrices in the last two axes, transposed."""
    return np.swapaxes(x, -1, -2)


def diagonal(x):
    """Diagonals of matrices in the last two axes."""
    return np.sum(x * np.eye(x.shape[-1], dtype=x.dtype), axis=-1)


def constraint_check(condition, message):
    """True as an array, which is an error where the condition does not hold; of a bool, 1.0."""
    if isinstance(condition, (bool, onp.bool_)):
        if not condition:
            raise ValueError(message)
        return 1.0
    return call("_npx_constraint_check", (condition,), msg=message)
