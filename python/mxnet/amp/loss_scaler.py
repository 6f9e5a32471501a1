"""Scaling of losses, so that small gradients survive float16."""
from .. import ndarray as nd

__all__ = ["LossScaler"]


class LossScaler:
    """A factor that is halved when gradients overflow and doubled after 2,000 steps in which none
    did (arXiv 1710.03740).

    With `dynamic` false the factor stays as it is: bfloat16 has the range of float32.

    >>> weight = mx.gluon.Parameter('weight', shape=(1,))
    >>> weight.initialize()
    >>> scaler = mx.contrib.amp.LossScaler(init_scale=1024)
    >>> for value in (1, float('inf'), 1):
    ...     weight.grad()[:] = value
    ...     print(scaler.has_overflow([weight]), scaler.loss_scale)
    False 1024.0
    True 1024.0
    False 512.0
    """

    __module__ = "mxnet.contrib.amp.loss_scaler"     # where pickles of 1.x look for it, and this package too
    _dynamic = True

    def __init__(self, init_scale=2.0 ** 16, dynamic=True):
        self._loss_scale = self._next_loss_scale = float(init_scale)
        self._max_loss_scale = 2.0 ** 24
        self._scale_seq_len = 2000
        self._unskipped = 0
        self._dynamic = dynamic

    @property
    def loss_scale(self):
        """What losses are multiplied by."""
        return self._loss_scale

    def has_overflow(self, params):
        """Whether a gradient of `params` holds an infinity or NaN; the factor of the next step
        follows from it."""
        grads = [g for p in params if p.grad_req != "null" for g in p.list_grad()]
        by_context = {}
        for g in grads:
            by_context.setdefault(g.context, []).append(g)
        finite = [nd.multi_all_finite(*some, num_arrays=len(some), init_output=True) for some in by_context.values()]
        overflow = not all(f.item() for f in finite)
        self._loss_scale = self._next_loss_scale
        if not self._dynamic:
            return overflow
        if overflow:
            self._next_loss_scale = self._loss_scale / 2
            self._unskipped = 0
        else:
            self._unskipped += 1
        if self._unskipped == self._scale_seq_len:
            self._unskipped = 0
            self._next_loss_scale = min(self._max_loss_scale, self._loss_scale * 2)
        return overflow
