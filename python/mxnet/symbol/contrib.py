"""Contributed operators as functions of symbols."""
import math as _math

from . import _control_flow
from .._operators.functions import attach as _attach
from ._functions import symbol_function as _symbol_function

foreach, while_loop, cond = _control_flow.foreach, _control_flow.while_loop, _control_flow.cond
_getattr, __dir__ = _attach(__name__, "_contrib_", _symbol_function)


def __getattr__(name):
    return _getattr(name)


def rand_zipfian(true_classes, num_sampled, range_max):
    """Draws classes by an approximately log-uniform (Zipfian) distribution, see
    :func:`mxnet.ndarray.contrib.rand_zipfian`.

    Returns three symbols: the samples (int64), the expected counts of `true_classes` and of the
    samples (float64).
    """
    from . import cast, exp, log, random
    log_range = _math.log(range_max + 1)
    sampled = cast(exp(random.uniform(0, log_range, shape=(num_sampled,), dtype="float64")) - 1, dtype="int64") % range_max

    def expected(classes):
        classes = cast(classes, dtype="float64")
        return log((classes + 2) / (classes + 1)) / log_range * num_sampled

    return sampled, expected(true_classes), expected(sampled)


def _scaled_update(operator, arrays, rescale_grad, options):
    from . import Symbol, _internal, full
    factor = rescale_grad if isinstance(rescale_grad, Symbol) else full((1,), rescale_grad)
    return getattr(_internal, operator)(*arrays, factor, **options)


def adamw_update(weight, grad, mean, var, rescale_grad, lr, eta, beta1=0.9, beta2=0.999,
                 epsilon=1e-8, wd=0, clip_gradient=-1, out=None, name=None, **kwargs):
    """One step of AdamW, see :func:`mxnet.ndarray.contrib.adamw_update`; `rescale_grad` is a number
    or a symbol."""
    return _scaled_update("_adamw_update", (weight, grad, mean, var), rescale_grad,
                          dict(kwargs, lr=lr, eta=eta, beta1=beta1, beta2=beta2, epsilon=epsilon,
                               wd=wd, clip_gradient=clip_gradient, name=name))


def mp_adamw_update(weight, grad, mean, var, weight32, rescale_grad, lr, eta, beta1=0.9,
                    beta2=0.999, epsilon=1e-8, wd=0, clip_gradient=-1, out=None, name=None,
                    **kwargs):
    """:func:`adamw_update` of a 16-bit weight with its float32 copy `weight32`."""
    return _scaled_update("_mp_adamw_update", (weight, grad, mean, var, weight32), rescale_grad,
                          dict(kwargs, lr=lr, eta=eta, beta1=beta1, beta2=beta2, epsilon=epsilon,
                               wd=wd, clip_gradient=clip_gradient, name=name))
