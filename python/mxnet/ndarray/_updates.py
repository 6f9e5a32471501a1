"""Update functions of mxnet.ndarray.contrib, whose lists of arrays have a name for each kind."""
from . import _internal
from ._array import NDArray
from ._creation import array

__all__ = ["adamw_update", "mp_adamw_update", "adabelief_update", "mp_adabelief_update", "multi_adamw_update", "multi_mp_adamw_update",
           "multi_adabelief_update", "multi_mp_adabelief_update", "multi_lamb_update", "multi_mp_lamb_update", "multi_lans_update",
           "multi_mp_lans_update"]


def _factor(rescale_grad, weight):
    """A number as an array of one element beside the weight; an array as it is."""
    if isinstance(rescale_grad, NDArray):
        return rescale_grad
    return array([rescale_grad], ctx=weight.context, dtype="float32")


def _one(operator, arrays, rescale_grad, options):
    return getattr(_internal, operator)(*arrays, _factor(rescale_grad, arrays[0]), **options)


def adamw_update(weight, grad, mean, var, rescale_grad, lr, eta, beta1=0.9, beta2=0.999,
                 epsilon=1e-8, wd=0, clip_gradient=-1, out=None, name=None, **kwargs):
    """One step of AdamW; `rescale_grad` is a number or an array of one element. Nothing is updated
    when it is 0 or not finite. Formula and other arguments as in the operator
    ``mxnet.ndarray._internal._adamw_update``.

    >>> weight, grad, mean, var = mx.nd.ones(2), mx.nd.ones(2), mx.nd.zeros(2), mx.nd.zeros(2)
    >>> _ = mx.nd.contrib.adamw_update(weight, grad, mean, var, 1.0, lr=0.1, eta=1, out=weight)
    >>> weight.asnumpy().round(3)
    array([0.684, 0.684], dtype=float32)
    """
    return _one("_adamw_update", (weight, grad, mean, var), rescale_grad,
                dict(kwargs, lr=lr, eta=eta, beta1=beta1, beta2=beta2, epsilon=epsilon, wd=wd,
                     clip_gradient=clip_gradient, out=out, name=name))


def mp_adamw_update(weight, grad, mean, var, weight32, rescale_grad, lr, eta, beta1=0.9,
                    beta2=0.999, epsilon=1e-8, wd=0, clip_gradient=-1, out=None, name=None,
                    **kwargs):
    """:func:`adamw_update` of a 16-bit weight with its float32 copy `weight32`.

    >>> weight32, grad, mean, var = mx.nd.ones(2), mx.nd.ones(2), mx.nd.zeros(2), mx.nd.zeros(2)
    >>> weight, grad = weight32.astype('float16'), grad.astype('float16')
    >>> _ = mx.nd.contrib.mp_adamw_update(weight, grad, mean, var, weight32, 1.0, lr=0.1, eta=1,
    ...                                out=weight)
    >>> weight.asnumpy().round(3)
    array([0.684, 0.684], dtype=float16)
    """
    return _one("_mp_adamw_update", (weight, grad, mean, var, weight32), rescale_grad,
                dict(kwargs, lr=lr, eta=eta, beta1=beta1, beta2=beta2, epsilon=epsilon, wd=wd,
                     clip_gradient=clip_gradient, out=out, name=name))


def adabelief_update(weight, grad, mean, var, rescale_grad, lr, eta, beta1=0.9, beta2=0.999,
                     epsilon=1e-8, wd=0, clip_gradient=-1, out=None, name=None, **kwargs):
    """One step of AdaBelief; `rescale_grad` as in :func:`adamw_update`. Formula and other arguments
    as in the operator ``mxnet.ndarray._internal._adabelief_update``.

    >>> weight, grad, mean, var = mx.nd.ones(2), mx.nd.ones(2), mx.nd.zeros(2), mx.nd.zeros(2)
    >>> _ = mx.nd.contrib.adabelief_update(weight, grad, mean, var, 1.0, lr=0.1, eta=1, out=weight)
    >>> weight.asnumpy().round(3)
    array([0.649, 0.649], dtype=float32)
    """
    return _one("_adabelief_update", (weight, grad, mean, var), rescale_grad,
                dict(kwargs, lr=lr, eta=eta, beta1=beta1, beta2=beta2, epsilon=epsilon, wd=wd,
                     clip_gradient=clip_gradient, out=out, name=name))


def mp_adabelief_update(weight, grad, mean, var, weight32, rescale_grad, lr, eta, beta1=0.9,
                        beta2=0.999, epsilon=1e-8, wd=0, clip_gradient=-1, out=None, name=None,
                        **kwargs):
    """:func:`adabelief_update` of a 16-bit weight with its float32 copy `weight32`.

    >>> weight32, grad, mean, var = mx.nd.ones(2), mx.nd.ones(2), mx.nd.zeros(2), mx.nd.zeros(2)
    >>> weight, grad = weight32.astype('float16'), grad.astype('float16')
    >>> _ = mx.nd.contrib.mp_adabelief_update(weight, grad, mean, var, weight32, 1.0, lr=0.1, eta=1,
    ...                                out=weight)
    >>> weight.asnumpy().round(3)
    array([0.648, 0.648], dtype=float16)
    """
    return _one("_mp_adabelief_update", (weight, grad, mean, var, weight32), rescale_grad,
                dict(kwargs, lr=lr, eta=eta, beta1=beta1, beta2=beta2, epsilon=epsilon, wd=wd,
                     clip_gradient=clip_gradient, out=out, name=name))


def _in_turn(operator, lists):
    """The arrays of the first weight, then those of the second, ..."""
    if len({len(arrays) for arrays in lists}) != 1 or not lists[0]:
        raise ValueError(f"[{operator}] got lists of {', '.join(str(len(arrays)) for arrays in lists)} arrays; "
                         "accepted: one or more, as many of each kind")
    return [array for group in zip(*lists) for array in group]


def _scaled(operator, lists, rescale_grad, lrs, wds, etas, out, name, size, kwargs):
    arrays = _in_turn(operator, lists)
    return getattr(_internal, operator)(*arrays, _factor(rescale_grad, arrays[0]), lrs=lrs, wds=wds, etas=etas,
                                        num_weights=size or len(lists[0]), out=out, name=name, **kwargs)


def multi_adamw_update(weights, grads, mean, var, rescale_grad, lrs, wds, etas, out=None,
                       name=None, size=0, **kwargs):
    """:func:`adamw_update` of several weights: lists of arrays and numbers, one for each weight.

    `rescale_grad` is one number, or an array of one element, for all. Keywords beta1, beta2,
    epsilon and clip_gradient are the same for all weights.

    >>> weight, grad = [mx.nd.ones(2)], [mx.nd.ones(2)]
    >>> mean, var = [mx.nd.zeros(2)], [mx.nd.zeros(2)]
    >>> _ = mx.nd.contrib.multi_adamw_update(weight, grad, mean, var, 1.0, lrs=[0.1], wds=[0],
    ...                                out=weight, etas=[1])
    >>> weight[0].asnumpy().round(3)
    array([0.684, 0.684], dtype=float32)
    """
    return _scaled("_multi_adamw_update", [weights, grads, mean, var], rescale_grad, lrs, wds, etas, out, name, size, kwargs)


def multi_mp_adamw_update(weights, grads, mean, var, weights32, rescale_grad, lrs, wds, etas,
                          out=None, name=None, size=0, **kwargs):
    """:func:`multi_adamw_update` of 16-bit weights with their float32 copies.

    >>> weight32, mean, var = [mx.nd.ones(2)], [mx.nd.zeros(2)], [mx.nd.zeros(2)]
    >>> weight, grad = [mx.nd.ones(2, dtype='float16')], [mx.nd.ones(2, dtype='float16')]
    >>> _ = mx.nd.contrib.multi_mp_adamw_update(weight, grad, mean, var, weight32, 1.0, lrs=[0.1],
    ...                                out=weight, wds=[0], etas=[1])
    >>> weight[0].asnumpy().round(3)
    array([0.684, 0.684], dtype=float16)
    """
    return _scaled("_multi_mp_adamw_update", [weights, grads, mean, var, weights32], rescale_grad, lrs, wds, etas, out, name, size, kwargs)


def multi_adabelief_update(weights, grads, mean, var, rescale_grad, lrs, wds, etas, out=None,
                           name=None, size=0, **kwargs):
    """:func:`adabelief_update` of several weights; arguments as in :func:`multi_adamw_update`.

    >>> weight, grad = [mx.nd.ones(2)], [mx.nd.ones(2)]
    >>> mean, var = [mx.nd.zeros(2)], [mx.nd.zeros(2)]
    >>> _ = mx.nd.contrib.multi_adabelief_update(weight, grad, mean, var, 1.0, lrs=[0.1], wds=[0],
    ...                                out=weight, etas=[1])
    >>> weight[0].asnumpy().round(3)
    array([0.649, 0.649], dtype=float32)
    """
    return _scaled("_multi_adabelief_update", [weights, grads, mean, var], rescale_grad, lrs, wds, etas, out, name, size, kwargs)


def multi_mp_adabelief_update(weights, grads, mean, var, weights32, rescale_grad, lrs, wds, etas,
                              out=None, name=None, size=0, **kwargs):
    """:func:`multi_adabelief_update` of 16-bit weights with their float32 copies.

    >>> weight32, mean, var = [mx.nd.ones(2)], [mx.nd.zeros(2)], [mx.nd.zeros(2)]
    >>> weight, grad = [mx.nd.ones(2, dtype='float16')], [mx.nd.ones(2, dtype='float16')]
    >>> _ = mx.nd.contrib.multi_mp_adabelief_update(weight, grad, mean, var, weight32, 1.0,
    ...                                lrs=[0.1], wds=[0], etas=[1], out=weight)
    >>> weight[0].asnumpy().round(3)
    array([0.648, 0.648], dtype=float16)
    """
    return _scaled("_multi_mp_adabelief_update", [weights, grads, mean, var, weights32], rescale_grad, lrs, wds, etas, out, name, size,
                   kwargs)


def _norms(operator, lists, step_count, lrs, wds, out, num_tensors, kwargs):
    return getattr(_internal, operator)(*_in_turn(operator, lists), learning_rates=lrs, wds=wds, step_count=step_count,
                                        num_tensors=num_tensors or len(lists[0]), out=out, **kwargs)


def multi_lamb_update(weights, grads, mean, var, step_count, lrs, wds, out=None, num_tensors=0,
                      **kwargs):
    """One step of LAMB for several weights: lists of arrays and numbers, one for each weight.

    `step_count` has the numbers of the steps, from 1. Keywords beta1, beta2, epsilon, rescale_grad,
    lower_bound, upper_bound, clip_gradient and bias_correction are the same for all weights.

    >>> weight, grad = [mx.nd.ones(2)], [mx.nd.ones(2)]
    >>> mean, var = [mx.nd.zeros(2)], [mx.nd.zeros(2)]
    >>> _ = mx.nd.contrib.multi_lamb_update(weight, grad, mean, var, [1], lrs=[0.1], wds=[0],
    ...                                out=weight)
    >>> weight[0].asnumpy().round(3)
    array([0.9, 0.9], dtype=float32)
    """
    return _norms("_multi_lamb_update", [weights, grads, mean, var], step_count, lrs, wds, out, num_tensors, kwargs)


def multi_mp_lamb_update(weights, grads, mean, var, weights32, step_count, lrs, wds, out=None,
                         num_tensors=0, **kwargs):
    """:func:`multi_lamb_update` of 16-bit weights with their float32 copies.

    >>> weight32, mean, var = [mx.nd.ones(2)], [mx.nd.zeros(2)], [mx.nd.zeros(2)]
    >>> weight, grad = [mx.nd.ones(2, dtype='float16')], [mx.nd.ones(2, dtype='float16')]
    >>> _ = mx.nd.contrib.multi_mp_lamb_update(weight, grad, mean, var, weight32, [1], lrs=[0.1],
    ...                                out=weight, wds=[0])
    >>> weight[0].asnumpy().round(3)
    array([0.9, 0.9], dtype=float16)
    """
    return _norms("_multi_mp_lamb_update", [weights, grads, mean, var, weights32], step_count, lrs, wds, out, num_tensors, kwargs)


def multi_lans_update(weights, grads, mean, var, step_count, lrs, wds, out=None, num_tensors=0,
                      **kwargs):
    """One step of LANS for several weights; arguments as in :func:`multi_lamb_update`, less
    bias_correction.

    >>> weight, grad = [mx.nd.ones(2)], [mx.nd.ones(2)]
    >>> mean, var = [mx.nd.zeros(2)], [mx.nd.zeros(2)]
    >>> _ = mx.nd.contrib.multi_lans_update(weight, grad, mean, var, [1], lrs=[0.1], wds=[0],
    ...                                out=weight)
    >>> weight[0].asnumpy().round(3)
    array([0.9, 0.9], dtype=float32)
    """
    return _norms("_multi_lans_update", [weights, grads, mean, var], step_count, lrs, wds, out, num_tensors, kwargs)


def multi_mp_lans_update(weights, grads, mean, var, weights32, step_count, lrs, wds, out=None,
                         num_tensors=0, **kwargs):
    """:func:`multi_lans_update` of 16-bit weights with their float32 copies.

    >>> weight32, mean, var = [mx.nd.ones(2)], [mx.nd.zeros(2)], [mx.nd.zeros(2)]
    >>> weight, grad = [mx.nd.ones(2, dtype='float16')], [mx.nd.ones(2, dtype='float16')]
    >>> _ = mx.nd.contrib.multi_mp_lans_update(weight, grad, mean, var, weight32, [1], lrs=[0.1],
    ...                                out=weight, wds=[0])
    >>> weight[0].asnumpy().round(3)
    array([0.9, 0.9], dtype=float16)
    """
    return _norms("_multi_mp_lans_update", [weights, grads, mean, var, weights32], step_count, lrs, wds, out, num_tensors, kwargs)
