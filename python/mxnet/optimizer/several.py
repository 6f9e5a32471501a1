"""Optimizers with two moments whose operators update several weights at a time."""
import math

from .. import ndarray as nd
from ..ndarray import _internal
from .adaptive import TwoMoments
from .base import aggregation_size, is_low_precision, register, zeros_like

__all__ = ["LAMB", "LANS", "AdamW", "AdaBelief"]


class _SeveralMoments(TwoMoments):
    """Several weights in one call of an operator; with float32 copies of 16-bit weights the state
    is (copy, (mean, variance))."""

    def _update_several(self, arrays, indices, masters, weights):
        """`arrays`: weight, gradient, mean, variance (, copy where `masters`) of each in turn."""
        raise NotImplementedError

    def _counts(self, indices):
        return tuple(self._index_update_count[i] for i in indices)

    def _update_impl(self, index, weight, grad, state, multi_precision=False):
        many = isinstance(index, (tuple, list))
        indices, weights, grads, states = (index, weight, grad, state) if many else ([index], [weight], [grad], [state])
        if not getattr(self, "use_fused_step", True):
            return self._update_plainly(indices, weights, grads, states, multi_precision)
        self._update_count(indices)
        arrays = []
        for w, g, s in zip(weights, grads, states):
            copy, (mean, variance) = s if multi_precision else (None, s)
            arrays += [w, g, mean, variance] if copy is None else [w, g, mean, variance, copy]
        self._update_several(arrays, indices, multi_precision, weights)
        return None

    def _update_plainly(self, indices, weights, grads, states, masters):
        copies = [s[0] for s in states] if masters else weights
        self.step(indices, copies, [g.astype(c.dtype) for g, c in zip(grads, copies)], [s[1] for s in states] if masters else states)
        for weight, copy in zip(weights, copies):
            if copy is not weight:
                weight[:] = copy.astype(weight.dtype)

    def fused_step(self, indices, weights, grads, states):
        """One step of several weights by one operator. All four are lists.

        >>> optimizer = mx.optimizer.AdamW(learning_rate=.1, wd=0)
        >>> weights = [mx.nd.ones(2), mx.nd.zeros(3)]
        >>> states = [optimizer.create_state(i, weight) for i, weight in enumerate(weights)]
        >>> optimizer.fused_step([0, 1], weights, [mx.nd.ones(2), -mx.nd.ones(3)], states)
        >>> print(weights[0].asnumpy().round(3), weights[1].asnumpy().round(3))
        [0.9 0.9] [0.1 0.1 0.1]
        """
        self._update_count(indices)
        arrays = [a for w, g, (mean, variance) in zip(weights, grads, states) for a in (w, g, mean, variance)]
        self._update_several(arrays, indices, False, weights)

    def update(self, index, weight, grad, state):
        self._update_impl(index, weight, grad, state, multi_precision=False)

    def update_multi_precision(self, index, weight, grad, state):
        first = weight[0] if isinstance(index, (tuple, list)) else weight
        self._update_impl(index, weight, grad, state, multi_precision=self.multi_precision and is_low_precision(first))


class _NormScaled(_SeveralMoments):
    """LAMB and LANS."""

    _takes_norms = True

    def __init__(self, learning_rate, beta1, beta2, epsilon, lower_bound, upper_bound, **kwargs):
        super().__init__(learning_rate, beta1, beta2, **kwargs)
        self.epsilon = epsilon
        self.lower_bound = lower_bound
        self.upper_bound = upper_bound

    def _norm_options(self, indices, weights):
        options = dict(self._gradient_options(), learning_rates=tuple(self._get_lrs(indices)), wds=tuple(self._get_wds(indices)),
                       step_count=self._counts(indices), num_tensors=len(indices), beta1=self.beta1, beta2=self.beta2,
                       epsilon=self.epsilon, out=weights)
        if self.lower_bound:
            options["lower_bound"] = self.lower_bound
        if self.upper_bound:
            options["upper_bound"] = self.upper_bound
        return options


@register
class LAMB(_NormScaled):
    """Layer-wise adaptive moments for large batches (You et al., 2019).

    The step of Adam, decay added to it, is scaled to the norm of the weight. Up to 45 weights share
    one operator, or ``MXNET_OPTIMIZER_AGGREGATION_SIZE``.

    Parameters
    ----------
    learning_rate, beta1, beta2, epsilon : float
        As in :class:`Adam`.
    lower_bound, upper_bound : float, optional
        Limits of the norm of the weight.
    bias_correction : bool
        Divide the moments by ``1 - beta ** t``.
    **kwargs
        As in :class:`Optimizer`.

    Examples
    --------
    >>> weight = mx.nd.array([1, 2])
    >>> update = mx.optimizer.get_updater(mx.optimizer.LAMB(learning_rate=0.1))
    >>> update(0, mx.nd.array([1, 1]), weight)
    >>> weight.asnumpy().round(3)
    array([0.842, 1.842], dtype=float32)
    """

    def __init__(self, learning_rate=0.001, beta1=0.9, beta2=0.999, epsilon=1e-6, lower_bound=None, upper_bound=None,
                 bias_correction=True, **kwargs):
        super().__init__(learning_rate, beta1, beta2, epsilon, lower_bound, upper_bound, **kwargs)
        self.bias_correction = bias_correction
        self.aggregate_num = aggregation_size(45, 45)

    def create_state(self, index, weight):
        return zeros_like(weight, stype=weight.stype), zeros_like(weight, stype=weight.stype)

    def _update_several(self, arrays, indices, masters, weights):
        function = _internal._multi_mp_lamb_update if masters else _internal._multi_lamb_update
        function(*arrays, bias_correction=self.bias_correction, **self._norm_options(indices, weights))


@register
class LANS(_NormScaled):
    """LAMB with normalized gradients and Nesterov's momentum (Zheng et al., 2020,
    arXiv:2006.13484).

    Parameters
    ----------
    learning_rate, beta1, beta2, epsilon : float
        As in :class:`Adam`. Gradients are divided by their norms first.
    lower_bound, upper_bound : float, optional
        Limits of the norm of the weight.
    aggregate_num : int
        How many weights share one operator.
    use_fused_step : bool
        Whether :meth:`fused_step` updates the weights, or :meth:`step`.
    **kwargs
        As in :class:`Optimizer`.

    Examples
    --------
    >>> weight = mx.nd.array([1, 2])
    >>> update = mx.optimizer.get_updater(mx.optimizer.LANS(learning_rate=0.1))
    >>> update(0, mx.nd.array([1, 1]), weight)
    >>> weight.asnumpy().round(3)
    array([0.842, 1.842], dtype=float32)
    """

    def __init__(self, learning_rate=0.001, beta1=0.9, beta2=0.999, epsilon=1e-6, lower_bound=None, upper_bound=None,
                 aggregate_num=4, use_fused_step=True, **kwargs):
        super().__init__(learning_rate, beta1, beta2, epsilon, lower_bound, upper_bound, **kwargs)
        self.aggregate_num = max(1, aggregate_num)
        self.use_fused_step = use_fused_step

    def _update_several(self, arrays, indices, masters, weights):
        function = _internal._multi_mp_lans_update if masters else _internal._multi_lans_update
        function(*arrays, **self._norm_options(indices, weights))

    def step(self, indices, weights, grads, states):
        """The same as :meth:`fused_step`, in operators on one weight at a time.

        >>> optimizer = mx.optimizer.LANS(learning_rate=.1, wd=0)
        >>> weight = mx.nd.ones(2)
        >>> optimizer.step([0], [weight], [mx.nd.ones(2)], [optimizer.create_state(0, weight)])
        >>> print(weight.asnumpy().round(3))
        [0.9 0.9]
        """
        self._update_count(indices)
        for i, w, g, (mean, variance), lr, wd in zip(indices, weights, grads, states, self._get_lrs(indices), self._get_wds(indices)):
            count = self._index_update_count[i]
            g = g * self.rescale_grad
            norm = g.norm()
            g = self._clipped(g / nd.where(norm > 0, norm, nd.ones_like(norm)))
            mean[:] = self.beta1 * mean + (1 - self.beta1) * g
            variance[:] = self.beta2 * variance + (1 - self.beta2) * g * g
            size = w.norm()
            if self.lower_bound:
                size = nd.maximum(size, self.lower_bound)
            if self.upper_bound:
                size = nd.minimum(size, self.upper_bound)
            root = (variance / (1 - self.beta2 ** count)).sqrt() + self.epsilon
            change = nd.zeros_like(w)
            for part, share in ((mean / (1 - self.beta1 ** count) / root, self.beta1), (g / root, 1 - self.beta1)):
                part = part + wd * w
                length = part.norm()
                ratio = nd.where((size > 0) * (length > 0), size / length, nd.ones_like(length))
                change += share * ratio * part
            w[:] = w - lr * change


class _Corrected(_SeveralMoments):
    """AdamW and AdaBelief: the learning rate corrects the bias of the moments."""

    def __init__(self, learning_rate=0.001, beta1=0.9, beta2=0.999, epsilon=1e-6, correct_bias=True, use_fused_step=True, **kwargs):
        super().__init__(learning_rate, beta1, beta2, **kwargs)
        self.epsilon = epsilon
        self.correct_bias = correct_bias
        self.use_fused_step = use_fused_step
        self.aggregate_num = aggregation_size()

    def _etas(self, indices):
        etas = self._get_lrs(indices)
        if self.correct_bias:
            etas = [lr * math.sqrt(1. - self.beta2 ** t) / (1. - self.beta1 ** t) for lr, t in zip(etas, self._counts(indices))]
        return etas

    def _step_one(self, weight, grad, mean, variance, eta, wd):
        """One step of one weight; `grad` is rescaled, not clipped."""
        raise NotImplementedError

    def step(self, indices, weights, grads, states):
        """The same as :meth:`fused_step`, in operators on one weight at a time.

        >>> optimizer = mx.optimizer.AdaBelief(learning_rate=.1, wd=0)
        >>> weight = mx.nd.ones(2)
        >>> optimizer.step([0], [weight], [mx.nd.ones(2)], [optimizer.create_state(0, weight)])
        >>> print(weight.asnumpy().round(3))
        [0.889 0.889]
        """
        self._update_count(indices)
        if not math.isfinite(self.rescale_grad) or self.rescale_grad == 0:
            return
        for w, g, (mean, variance), eta, wd in zip(weights, grads, states, self._etas(indices), self._get_wds(indices)):
            self._step_one(w, g * self.rescale_grad, mean, variance, eta, wd)

    def _update_with(self, function, arrays, indices, weights):
        etas = self._etas(indices)
        options = self._gradient_options()
        rescale = nd.full((1,), options.pop("rescale_grad"), ctx=weights[0].context)
        function(*arrays, rescale, lrs=(1.0,) * len(etas), etas=tuple(etas), wds=tuple(self._get_wds(indices)), num_weights=len(etas),
                 beta1=self.beta1, beta2=self.beta2, epsilon=self.epsilon, out=weights, **options)


@register
class AdamW(_Corrected):
    """Adam whose weight decay is no part of the gradient (Loshchilov and Hutter, 2019).

    ``m = beta1 * m + (1 - beta1) * g; v = beta2 * v + (1 - beta2) * g * g;
    weight -= lr * (m / (sqrt(v) + epsilon) + wd * weight)``. Nothing changes in a step whose
    `rescale_grad` is 0 or not finite.

    Parameters
    ----------
    learning_rate, beta1, beta2, epsilon : float
        As in the formula.
    correct_bias : bool
        Multiply lr by ``sqrt(1 - beta2 ** t) / (1 - beta1 ** t)``.
    use_fused_step : bool
        Whether :meth:`fused_step` updates the weights, or :meth:`step`.
    **kwargs
        As in :class:`Optimizer`.

    Examples
    --------
    >>> weight = mx.nd.array([1, 2])
    >>> update = mx.optimizer.get_updater(mx.optimizer.AdamW(learning_rate=0.1))
    >>> update(0, mx.nd.array([1, 1]), weight)
    >>> weight.asnumpy().round(3)
    array([0.9, 1.9], dtype=float32)
    """

    def _update_several(self, arrays, indices, masters, weights):
        self._update_with(_internal._multi_mp_adamw_update if masters else _internal._multi_adamw_update, arrays, indices, weights)

    def _step_one(self, weight, grad, mean, variance, eta, wd):
        grad = self._clipped(grad)
        mean[:] = self.beta1 * mean + (1 - self.beta1) * grad
        variance[:] = self.beta2 * variance + (1 - self.beta2) * grad * grad
        weight[:] = weight - eta * (mean / (variance.sqrt() + self.epsilon) + wd * weight)


@register
class AdaBelief(_Corrected):
    """Steps by the belief in observed gradients (Zhuang et al., 2020). Weight decay is added to the
    gradient.

    ``m = beta1 * m + (1 - beta1) * g; v = beta2 * v + (1 - beta2) * (g - m) ** 2 + epsilon;
    weight -= lr * m / (sqrt(v) + epsilon)``. Nothing changes in a step whose `rescale_grad` is 0 or
    not finite.

    Parameters
    ----------
    learning_rate, beta1, beta2, epsilon : float
        As in the formula.
    correct_bias : bool
        Multiply lr by ``sqrt(1 - beta2 ** t) / (1 - beta1 ** t)``.
    use_fused_step : bool
        Whether :meth:`fused_step` updates the weights, or :meth:`step`.
    **kwargs
        As in :class:`Optimizer`.

    Examples
    --------
    >>> weight = mx.nd.array([1, 2])
    >>> update = mx.optimizer.get_updater(mx.optimizer.AdaBelief(learning_rate=0.1))
    >>> update(0, mx.nd.array([1, 1]), weight)
    >>> weight.asnumpy().round(3)
    array([0.889, 1.889], dtype=float32)
    """

    def _update_several(self, arrays, indices, masters, weights):
        function = _internal._multi_mp_adabelief_update if masters else _internal._multi_adabelief_update
        self._update_with(function, arrays, indices, weights)

    def _step_one(self, weight, grad, mean, variance, eta, wd):
        grad = self._clipped(grad + wd * weight)
        mean[:] = self.beta1 * mean + (1 - self.beta1) * grad
        variance[:] = self.beta2 * variance + (1 - self.beta2) * nd.square(grad - mean) + self.epsilon
        weight[:] = weight - eta * mean / (variance.sqrt() + self.epsilon)
