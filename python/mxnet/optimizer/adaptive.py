"""Optimizers that scale the step of each element by the gradients seen so far."""
import math

from .. import ndarray as nd
from .base import Optimizer, register, zeros_like

__all__ = ["Adam", "Adamax", "Nadam", "AdaGrad", "AdaDelta", "RMSProp", "Ftrl", "FTML"]


class TwoMoments(Optimizer):
    """Running means of the gradient and of a measure of its size: the state is (mean, variance)."""

    def __init__(self, learning_rate, beta1, beta2, **kwargs):
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.beta1 = beta1
        self.beta2 = beta2

    def create_state(self, index, weight):
        return zeros_like(weight), zeros_like(weight)


@register
class Adam(TwoMoments):
    """Adaptive moments (Kingma and Ba, 2014). Weight decay is added to the gradient.

    ``m = beta1 * m + (1 - beta1) * g; v = beta2 * v + (1 - beta2) * g * g;
    weight -= lr * sqrt(1 - beta2 ** t) / (1 - beta1 ** t) * m / (sqrt(v) + epsilon)``.

    Parameters
    ----------
    learning_rate, beta1, beta2, epsilon : float
        As in the formula.
    lazy_update : bool
        With row_sparse gradients touch only the rows that they have.
    **kwargs
        As in :class:`Optimizer`.

    Examples
    --------
    >>> weight = mx.nd.array([1, 2])
    >>> update = mx.optimizer.get_updater(mx.optimizer.Adam(learning_rate=0.1))
    >>> update(0, mx.nd.array([1, 1]), weight)
    >>> weight.asnumpy().round(3)
    array([0.9, 1.9], dtype=float32)
    """

    def __init__(self, learning_rate=0.001, beta1=0.9, beta2=0.999, epsilon=1e-8, lazy_update=True, **kwargs):
        super().__init__(learning_rate, beta1, beta2, **kwargs)
        self.epsilon = epsilon
        self.lazy_update = lazy_update

    def create_state(self, index, weight):
        stype = weight.stype if self.lazy_update else "default"
        return zeros_like(weight, stype=stype), zeros_like(weight, stype=stype)

    def update(self, index, weight, grad, state):
        lr, wd, t = self._step(index)
        lr *= math.sqrt(1. - self.beta2 ** t) / (1. - self.beta1 ** t)
        options = self._gradient_options()
        if weight.stype == "row_sparse" or grad.stype == "row_sparse":
            options["lazy_update"] = self.lazy_update
        nd.adam_update(weight, grad, *state, out=weight, lr=lr, wd=wd, beta1=self.beta1, beta2=self.beta2,
                       epsilon=self.epsilon, **options)


@register
class Adamax(TwoMoments):
    """Adam with the largest gradient so far, decayed, in place of the second moment (Kingma and Ba,
    2014).

    Where no gradient but zero has been seen, the weight stays. The keyword `epsilon` of MXNet 2.0
    is added to the denominator.

    >>> weight = mx.nd.array([1, 2])
    >>> update = mx.optimizer.get_updater(mx.optimizer.Adamax(learning_rate=0.1))
    >>> update(0, mx.nd.array([1, 1]), weight)
    >>> weight.asnumpy().round(3)
    array([0.9, 1.9], dtype=float32)
    """

    epsilon = 0.        # of those that 1.9.1 pickled

    def __init__(self, learning_rate=0.002, beta1=0.9, beta2=0.999, **kwargs):
        self.epsilon = kwargs.pop("epsilon", 0.)
        super().__init__(learning_rate, beta1, beta2, **kwargs)

    def update(self, index, weight, grad, state):
        lr, wd, t = self._step(index)
        mean, largest = state
        g = self._clipped(grad * self.rescale_grad + wd * weight)
        mean[:] = self.beta1 * mean + (1. - self.beta1) * g
        largest[:] = nd.maximum(self.beta2 * largest, nd.abs(g))
        weight[:] -= lr / (1. - self.beta1 ** t) * mean / (largest + (self.epsilon or largest == 0))


@register
class Nadam(TwoMoments):
    """Adam with Nesterov's momentum (Dozat, 2015).

    The momentum follows a schedule, whose product is kept once for the optimizer: as in MXNet 1.x,
    every call of `update` moves it on, whichever weight the call is for.

    Parameters
    ----------
    learning_rate, beta1, beta2, epsilon : float
        As in :class:`Adam`.
    schedule_decay : float
        The momentum of step t is ``beta1 * (1 - 0.5 * 0.96 ** (t * schedule_decay))``.
    **kwargs
        As in :class:`Optimizer`.

    Examples
    --------
    >>> weight = mx.nd.array([1, 2])
    >>> update = mx.optimizer.get_updater(mx.optimizer.Nadam(learning_rate=0.1))
    >>> update(0, mx.nd.array([1, 1]), weight)
    >>> weight.asnumpy().round(3)
    array([0.894, 1.894], dtype=float32)
    """

    def __init__(self, learning_rate=0.001, beta1=0.9, beta2=0.999, epsilon=1e-8, schedule_decay=0.004, **kwargs):
        super().__init__(learning_rate, beta1, beta2, **kwargs)
        self.epsilon = epsilon
        self.schedule_decay = schedule_decay
        self.m_schedule = 1.

    def _momentum(self, t):
        return self.beta1 * (1. - 0.5 * 0.96 ** (t * self.schedule_decay))

    def update(self, index, weight, grad, state):
        lr, wd, t = self._step(index)
        mean, variance = state
        g = self._clipped(grad * self.rescale_grad + wd * weight)
        now, later = self._momentum(t), self._momentum(t + 1)
        self.m_schedule *= now
        mean[:] = self.beta1 * mean + (1. - self.beta1) * g
        variance[:] = self.beta2 * variance + (1. - self.beta2) * g * g
        look_ahead = (1. - now) / (1. - self.m_schedule) * g + later / (1. - self.m_schedule * later) * mean
        weight[:] -= lr * look_ahead / (nd.sqrt(variance / (1. - self.beta2 ** t)) + self.epsilon)


@register
class AdaGrad(Optimizer):
    """Steps divided by the root of the sum of squared gradients (Duchi, Hazan and Singer, 2011).

    ``history += g * g; weight -= lr * (g / sqrt(history + eps) + wd * weight)``.

    Parameters
    ----------
    eps : float
        Keeps the denominator from zero. The keyword `epsilon` of MXNet 2.0 does so in its place: it
        is added to the root, not under it.
    **kwargs
        As in :class:`Optimizer`.

    Examples
    --------
    >>> weight = mx.nd.array([1, 2])
    >>> update = mx.optimizer.get_updater(mx.optimizer.AdaGrad(learning_rate=0.1))
    >>> update(0, mx.nd.array([1, 1]), weight)
    >>> weight.asnumpy().round(3)
    array([0.9, 1.9], dtype=float32)
    """

    epsilon = 0.        # of those that 1.9.1 pickled

    def __init__(self, eps=1e-7, **kwargs):
        self.epsilon = kwargs.pop("epsilon", 0.)
        super().__init__(**kwargs)
        self.float_stable_eps = 0. if self.epsilon else eps

    def create_state(self, index, weight):
        return zeros_like(weight, stype=weight.stype)

    def update(self, index, weight, grad, state):
        lr, wd, _ = self._step(index)
        if grad.stype == "row_sparse":
            nd.sparse.adagrad_update(weight, grad, state, out=weight, lr=lr, wd=wd,
                                     epsilon=self.epsilon or self.float_stable_eps,
                                     **self._gradient_options())
            return
        g = self._rescaled(grad)
        state[:] += g * g
        weight[:] -= lr * (g / (nd.sqrt(state + self.float_stable_eps) + self.epsilon) + wd * weight)


@register
class AdaDelta(Optimizer):
    """Steps in the units of the weight (Zeiler, 2012). The learning rate plays no part.

    Parameters
    ----------
    rho : float
        Share of the running means that is kept.
    epsilon : float
        Keeps roots and denominators from zero.
    **kwargs
        As in :class:`Optimizer`.

    Examples
    --------
    >>> weight = mx.nd.array([1, 2])
    >>> update = mx.optimizer.get_updater(mx.optimizer.AdaDelta())
    >>> update(0, mx.nd.array([1, 1]), weight)
    >>> weight.asnumpy().round(3)
    array([0.99, 1.99], dtype=float32)
    """

    def __init__(self, rho=0.90, epsilon=1e-5, **kwargs):
        super().__init__(**kwargs)
        self.rho = rho
        self.epsilon = epsilon

    def create_state(self, index, weight):
        return zeros_like(weight), zeros_like(weight)

    def update(self, index, weight, grad, state):
        _, wd, _ = self._step(index)
        mean_g2, mean_step2 = state
        g = self._rescaled(grad)
        mean_g2[:] = self.rho * mean_g2 + (1. - self.rho) * g * g
        step = nd.sqrt(mean_step2 + self.epsilon) / nd.sqrt(mean_g2 + self.epsilon) * g
        mean_step2[:] = self.rho * mean_step2 + (1. - self.rho) * step * step
        weight[:] -= step + wd * weight


@register
class RMSProp(Optimizer):
    """Steps divided by the root of the running mean of squared gradients.

    Plain: Tieleman and Hinton (2012), ``n = gamma1 * n + (1 - gamma1) * g * g; weight -= lr * g /
    sqrt(n + epsilon)``. Centred: Graves (2013), with the mean gradient subtracted from the size,
    and `gamma2` as momentum.

    Parameters
    ----------
    learning_rate, gamma1, gamma2, epsilon : float
        As above.
    centered : bool
        Which of the two.
    clip_weights : float, optional
        Limit the weights to ``[-clip_weights, clip_weights]``.
    **kwargs
        As in :class:`Optimizer`; also `rho` and `momentum`, which are what MXNet 2.0 calls `gamma1`
        and `gamma2`.

    Examples
    --------
    >>> weight = mx.nd.array([1, 2])
    >>> update = mx.optimizer.get_updater(mx.optimizer.RMSProp(learning_rate=0.1))
    >>> update(0, mx.nd.array([1, 1]), weight)
    >>> weight.asnumpy().round(3)
    array([0.684, 1.684], dtype=float32)
    """

    def __init__(self, learning_rate=0.001, gamma1=0.9, gamma2=0.9, epsilon=1e-8, centered=False, clip_weights=None,
                 **kwargs):
        self.gamma1 = kwargs.pop("rho", gamma1)
        self.gamma2 = kwargs.pop("momentum", gamma2)
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.epsilon = epsilon
        self.centered = centered
        self.clip_weights = clip_weights

    def create_state(self, index, weight):
        return tuple(zeros_like(weight, stype=weight.stype) for _ in range(3 if self.centered else 1))

    def update(self, index, weight, grad, state):
        lr, wd, _ = self._step(index)
        options = dict(self._gradient_options(), lr=lr, wd=wd, gamma1=self.gamma1, epsilon=self.epsilon)
        if self.clip_weights:
            options["clip_weights"] = self.clip_weights
        if self.centered:
            nd.rmspropalex_update(weight, grad, *state, out=weight, gamma2=self.gamma2, **options)
        else:
            nd.rmsprop_update(weight, grad, *state, out=weight, **options)


@register
class Ftrl(Optimizer):
    """Follow the regularized leader, which makes weights exactly zero (McMahan et al., 2013).

    Parameters
    ----------
    lamda1 : float
        Strength of the L1 penalty.
    learning_rate : float
        Alpha of the paper.
    beta : float
        Beta of the paper.
    **kwargs
        As in :class:`Optimizer`; `wd` is the strength of the L2 penalty.

    Examples
    --------
    >>> weight = mx.nd.array([1, 2])
    >>> update = mx.optimizer.get_updater(mx.optimizer.Ftrl(learning_rate=0.1))
    >>> update(0, mx.nd.array([1, 1]), weight)
    >>> weight.asnumpy().round(3)
    array([0.45 , 0.949], dtype=float32)
    """

    def __init__(self, lamda1=0.01, learning_rate=0.1, beta=1, **kwargs):
        super().__init__(**kwargs)
        self.lr = learning_rate         # a scheduler keeps its own base rate here
        self.lamda1 = lamda1
        self.beta = beta

    def create_state(self, index, weight):
        return zeros_like(weight, stype=weight.stype), zeros_like(weight, stype=weight.stype)

    def update(self, index, weight, grad, state):
        lr, wd, _ = self._step(index)
        nd.ftrl_update(weight, grad, *state, out=weight, lr=lr, wd=wd, lamda1=self.lamda1, beta=self.beta,
                       **self._gradient_options())


@register
class FTML(Optimizer):
    """Follow the moving leader (Zheng and Kwok, 2017).

    Parameters
    ----------
    beta1 : float
        Decay of the weights of earlier losses; about 0.5.
    beta2 : float
        Decay of the running mean of squared gradients.
    epsilon : float
        Keeps the denominator from zero.
    **kwargs
        As in :class:`Optimizer`.

    Examples
    --------
    >>> weight = mx.nd.array([1, 2])
    >>> update = mx.optimizer.get_updater(mx.optimizer.FTML(learning_rate=0.1))
    >>> update(0, mx.nd.array([1, 1]), weight)
    >>> weight.asnumpy().round(3)
    array([0.9, 1.9], dtype=float32)
    """

    def __init__(self, beta1=0.6, beta2=0.999, epsilon=1e-8, **kwargs):
        super().__init__(**kwargs)
        self.beta1 = beta1
        self.beta2 = beta2
        self.epsilon = epsilon

    def create_state(self, index, weight):
        return tuple(zeros_like(weight) for _ in range(3))

    def update(self, index, weight, grad, state):
        lr, wd, t = self._step(index)
        options = self._gradient_options()
        if "clip_gradient" in options:
            options["clip_grad"] = options.pop("clip_gradient")
        nd.ftml_update(weight, grad, *state, out=weight, lr=lr, wd=wd, t=t, beta1=self.beta1, beta2=self.beta2,
                       epsilon=self.epsilon, **options)
