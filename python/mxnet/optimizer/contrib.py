"""Optimizers beside the common ones."""
from .. import ndarray as nd
from ..base import error_class
from .base import Optimizer, register, zeros_like

__all__ = ["GroupAdaGrad"]


@register
class GroupAdaGrad(Optimizer):
    """AdaGrad with one step size per row: ``history += mean(g * g, axis=1)``.

    For embeddings; weight decay is not supported.

    Parameters
    ----------
    eps : float
        Keeps the denominator from zero.
    **kwargs
        As in :class:`Optimizer`.

    Examples
    --------
    >>> weight = mx.nd.array([[1, 2]])
    >>> update = mx.optimizer.get_updater(mx.optimizer.GroupAdaGrad(learning_rate=0.1))
    >>> update(0, mx.nd.array([[1, 1]]), weight)
    >>> weight.asnumpy().round(3)
    array([[0.9, 1.9]], dtype=float32)
    """

    _takes_norms = True

    def __init__(self, eps=1e-5, **kwargs):
        super().__init__(**kwargs)
        self.float_stable_eps = eps

    def create_state(self, index, weight):
        if len(weight.shape) != 2:
            raise error_class(ValueError, AssertionError)(f"[GroupAdaGrad] weight of shape {weight.shape}; two dimensions are expected")
        return zeros_like(weight, stype=weight.stype, shape=(weight.shape[0], 1))

    def update(self, index, weight, grad, state):
        lr, wd, _ = self._step(index)
        if wd != 0:
            raise error_class(ValueError, AssertionError)(f"[GroupAdaGrad] wd={wd}; weight decay is not supported")
        nd.contrib.group_adagrad_update(weight, grad, state, out=weight, lr=lr, epsilon=self.float_stable_eps,
                                        **self._gradient_options())
