"""Stochastic gradient descent and its relatives."""
import logging
import math

import numpy

from .. import ndarray as nd
from .base import Optimizer, aggregation_size, is_low_precision, register, zeros_like

__all__ = ["SGD", "ccSGD", "NAG", "Signum", "SGLD", "DCASGD", "LARS", "LBSGD", "Test"]


def _flatten(groups):
    return [array for group in groups for array in group]


class _MomentumState(Optimizer):
    """A momentum array (None without momentum); with a float32 copy of the weight the state is
    (momentum, copy)."""

    def __init__(self, momentum, **kwargs):
        super().__init__(**kwargs)
        self.momentum = momentum

    def create_state(self, index, weight):
        return zeros_like(weight) if self.momentum else None

    def create_state_multi_precision(self, index, weight):
        if is_low_precision(weight):
            if self.multi_precision:
                master = weight.astype(numpy.float32)
                return self.create_state(index, master), master
            self._warn_low_precision()
        return self.create_state(index, weight)


@register
class SGD(_MomentumState):
    """Stochastic gradient descent with momentum.

    Without momentum ``weight -= lr * (g + wd * weight)``, with it
    ``mom = momentum * mom - lr * (g + wd * weight); weight += mom``; g is the rescaled, clipped
    gradient.

    Parameters
    ----------
    momentum : float
        Share of the last step that is kept.
    lazy_update : bool
        With row_sparse gradients touch only the rows that they have (no decay and no momentum for
        the others).
    **kwargs
        As in :class:`Optimizer`.

    Examples
    --------
    >>> weight = mx.nd.array([1, 2])
    >>> update = mx.optimizer.get_updater(mx.optimizer.SGD(learning_rate=0.5, momentum=0.9))
    >>> update(0, mx.nd.array([1, 1]), weight)
    >>> weight.asnumpy().round(3)
    array([0.5, 1.5], dtype=float32)
    """

    def __init__(self, momentum=0.0, lazy_update=True, **kwargs):
        super().__init__(momentum, **kwargs)
        self.lazy_update = lazy_update
        self.aggregate_num = aggregation_size()

    def create_state(self, index, weight):
        if not self.momentum:
            return None
        return zeros_like(weight, stype=weight.stype if self.lazy_update else "default")

    def _options(self):
        options = self._gradient_options()
        if self.momentum:
            options["momentum"] = self.momentum
        return options

    def _update_one(self, weight, grad, state, lr, wd, with_master):
        options = dict(self._options(), lr=lr, wd=wd)
        if weight.stype == "row_sparse" or grad.stype == "row_sparse":
            options["lazy_update"] = self.lazy_update
        if with_master:
            momentum, master = state
            if momentum is None:
                nd.mp_sgd_update(weight, grad, master, out=weight, **options)
            else:
                nd.mp_sgd_mom_update(weight, grad, momentum, master, out=weight, **options)
        elif state is None:
            nd.sgd_update(weight, grad, out=weight, **options)
        else:
            nd.sgd_mom_update(weight, grad, state, out=weight, **options)

    def _update_many(self, weights, grads, states, lrs, wds, with_master):
        options = dict(self._options(), num_weights=len(weights), lrs=lrs, wds=wds, out=weights)
        if with_master:
            momenta, masters = zip(*states)
            if self.momentum:
                nd.multi_mp_sgd_mom_update(*_flatten(zip(weights, grads, momenta, masters)), **options)
            else:
                nd.multi_mp_sgd_update(*_flatten(zip(weights, grads, masters)), **options)
        elif self.momentum:
            nd.multi_sgd_mom_update(*_flatten(zip(weights, grads, states)), **options)
        else:
            nd.multi_sgd_update(*_flatten(zip(weights, grads)), **options)

    def _update_impl(self, indices, weights, grads, states, multi_precision=False):
        """A step of one weight, or of several in lists; subclasses of 1.x programs override it."""
        if not isinstance(indices, (tuple, list)):
            lr, wd, _ = self._step(indices)
            self._update_one(weights, grads, states, lr, wd, multi_precision)
            return
        self._update_count(indices)
        lrs, wds = self._get_lrs(indices), self._get_wds(indices)
        if all(w.stype == "default" and g.stype == "default" for w, g in zip(weights, grads)):
            self._update_many(weights, grads, states, lrs, wds, multi_precision)
        else:
            for parts in zip(weights, grads, states, lrs, wds):
                self._update_one(*parts, multi_precision)

    def update(self, index, weight, grad, state):
        self._update_impl(index, weight, grad, state, multi_precision=False)

    def update_multi_precision(self, index, weight, grad, state):
        first = weight[0] if isinstance(index, (tuple, list)) else weight
        self._update_impl(index, weight, grad, state, multi_precision=self.multi_precision and is_low_precision(first))


@register
class ccSGD(SGD):
    """Older name of :class:`SGD`.

    >>> weight = mx.nd.array([1, 2])
    >>> update = mx.optimizer.get_updater(mx.optimizer.ccSGD(learning_rate=0.5))
    >>> update(0, mx.nd.array([1, 1]), weight)
    >>> weight.asnumpy().round(3)
    array([0.5, 1.5], dtype=float32)
    """

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)


@register
class NAG(_MomentumState):
    """Nesterov's accelerated gradient (Sutskever et al., 2013).

    ``mom = momentum * mom - lr * (g + wd * weight); weight += momentum * mom - lr * (g + wd *
    weight)``.

    Parameters
    ----------
    momentum : float
        Share of the last step that is kept; plain SGD when 0.
    **kwargs
        As in :class:`Optimizer`.

    Examples
    --------
    >>> weight = mx.nd.array([1, 2])
    >>> update = mx.optimizer.get_updater(mx.optimizer.NAG(learning_rate=0.5, momentum=0.9))
    >>> update(0, mx.nd.array([1, 1]), weight)
    >>> weight.asnumpy().round(3)
    array([0.05, 1.05], dtype=float32)
    """

    def __init__(self, momentum=0.0, **kwargs):
        super().__init__(momentum, **kwargs)

    def _options(self, index):
        lr, wd, _ = self._step(index)
        options = dict(self._gradient_options(), lr=lr, wd=wd)
        if self.momentum:
            options["momentum"] = self.momentum
        return options

    def _update_impl(self, index, weight, grad, state, multi_precision=False):
        """A step of one weight; subclasses of 1.x programs override it."""
        if not multi_precision:
            if state is None:
                nd.sgd_update(weight, grad, out=weight, **self._options(index))
            else:
                nd.nag_mom_update(weight, grad, state, out=weight, **self._options(index))
            return
        momentum, master = state
        if momentum is None:
            nd.mp_sgd_update(weight, grad, master, out=weight, **self._options(index))
        else:
            nd.mp_nag_mom_update(weight, grad, momentum, master, out=weight, **self._options(index))

    def update(self, index, weight, grad, state):
        self._update_impl(index, weight, grad, state, multi_precision=False)

    def update_multi_precision(self, index, weight, grad, state):
        self._update_impl(index, weight, grad, state, multi_precision=self.multi_precision and is_low_precision(weight))


@register
class Signum(Optimizer):
    """Steps of one size in the direction of the sign of the momentum (Bernstein et al., "signSGD",
    2018).

    ``mom = momentum * mom - (1 - momentum) * (g + wd * weight); weight = (1 - lr * wd_lh) *
    weight + lr * sign(mom)``; without momentum ``weight -= lr * (sign(g) + wd * weight)``.

    Parameters
    ----------
    learning_rate : float
        Size of the steps.
    momentum : float
        Share of the last momentum that is kept.
    wd_lh : float
        Decay of the weight apart from the gradient (Loshchilov and Hutter, 2017).
    **kwargs
        As in :class:`Optimizer`.

    Examples
    --------
    >>> weight = mx.nd.array([1, 2])
    >>> update = mx.optimizer.get_updater(mx.optimizer.Signum(learning_rate=0.1))
    >>> update(0, mx.nd.array([1, 1]), weight)
    >>> weight.asnumpy().round(3)
    array([0.9, 1.9], dtype=float32)
    """

    def __init__(self, learning_rate=0.01, momentum=0.9, wd_lh=0.0, **kwargs):
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.momentum = momentum
        self.wd_lh = wd_lh

    def create_state(self, index, weight):
        return zeros_like(weight, stype=weight.stype) if self.momentum else None

    def _update_impl(self, index, weight, grad, state):
        lr, wd, _ = self._step(index)
        options = dict(self._gradient_options(), lr=lr, wd=wd)
        if state is None:
            nd.signsgd_update(weight, grad, out=weight, **options)
            return
        if self.wd_lh:
            options["wd_lh"] = self.wd_lh
        nd.signum_update(weight, grad, state, out=weight, momentum=self.momentum, **options)

    def update(self, index, weight, grad, state):
        self._update_impl(index, weight, grad, state)


@register
class SGLD(Optimizer):
    """Stochastic gradient Langevin dynamics (Welling and Teh, 2011): half a gradient step and noise
    of variance lr.

    ``weight += -lr / 2 * (g + wd * weight) + normal(0, sqrt(lr))``.

    >>> weight = mx.nd.array([1, 2])
    >>> update = mx.optimizer.get_updater(mx.optimizer.SGLD(learning_rate=0.1))
    >>> update(0, mx.nd.array([1, 1]), weight)
    >>> weight.shape
    (2,)
    """

    def __init__(self, **kwargs):
        super().__init__(**kwargs)

    def create_state(self, index, weight):
        return None

    def update(self, index, weight, grad, state):
        lr, wd, _ = self._step(index)
        noise = nd.random.normal(0, math.sqrt(lr), shape=weight.shape, dtype=weight.dtype, ctx=weight.context)
        weight[:] += -lr / 2 * (self._rescaled(grad) + wd * weight) + noise


@register
class DCASGD(Optimizer):
    """Delay-compensated asynchronous SGD (Zheng et al., 2016).

    The gradient is corrected by ``lamda * g * g * (weight - weight at the last update)``.

    Parameters
    ----------
    momentum : float
        Share of the last step that is kept.
    lamda : float
        Strength of the correction.
    **kwargs
        As in :class:`Optimizer`.

    Examples
    --------
    >>> weight = mx.nd.array([1, 2])
    >>> update = mx.optimizer.get_updater(mx.optimizer.DCASGD(learning_rate=0.1))
    >>> update(0, mx.nd.array([1, 1]), weight)
    >>> weight.asnumpy().round(3)
    array([0.9, 1.9], dtype=float32)
    """

    def __init__(self, momentum=0.0, lamda=0.04, **kwargs):
        super().__init__(**kwargs)
        self.momentum = momentum
        self.weight_previous = {}       # nothing is kept here; pickles of MXNet 1.x have it
        self.lamda = lamda

    def create_state(self, index, weight):
        return zeros_like(weight) if self.momentum else None, weight.copy()

    def update(self, index, weight, grad, state):
        lr, wd, _ = self._step(index)
        momentum, previous = state
        g = self._rescaled(grad)
        step = -lr * (g + wd * weight + self.lamda * g * g * (weight - previous))
        if momentum is not None:
            momentum[:] = self.momentum * momentum + step
            step = momentum
        previous[:] = weight
        weight[:] += step


@register
class LARS(SGD):
    """Layer-wise adaptive rate scaling (You, Gitman and Ginsburg, 2017).

    The learning rate of a weight is multiplied by ``eta * |weight| / (|g| + wd * |weight| + eps)``,
    except for those whose name ends in gamma, beta or bias.

    Parameters
    ----------
    momentum : float
        Share of the last step that is kept.
    lazy_update : bool
        As in :class:`SGD`.
    eta : float
        Trust: how far a step may go, relative to the weight.
    eps : float
        Added to the denominator. MXNet 2.0 calls it `epsilon`.
    momentum_correction : bool
        When the learning rate changes, scale the momentum by the ratio of the new rate to the old.
    **kwargs
        As in :class:`Optimizer`.

    Examples
    --------
    >>> weight = mx.nd.array([1, 2])
    >>> update = mx.optimizer.get_updater(mx.optimizer.LARS(learning_rate=0.1))
    >>> update(0, mx.nd.array([1, 1]), weight)
    >>> weight.asnumpy().round(3)
    array([1., 2.], dtype=float32)
    """

    _takes_norms = True

    def __init__(self, momentum=0.0, lazy_update=True, eta=0.001, eps=0, momentum_correction=True, **kwargs):
        self.eps = kwargs.pop("epsilon", eps)
        super().__init__(momentum=momentum, lazy_update=lazy_update, **kwargs)
        self.eta = eta
        self.momentum_correction = momentum_correction
        self.skip = 0                   # of MXNet 1.x, which counts with it; nothing depends on it
        self.last_lr = None
        self.cur_lr = None

    @staticmethod
    def _decays(name):
        return name.endswith("_weight")

    def _is_scaled(self, index):
        # stores call weights by name: an index that the table does not have is the name
        return not self.idx2name.get(index, str(index)).endswith(("gamma", "beta", "bias"))

    def _note_learning_rate(self):
        self.last_lr = self.cur_lr
        self.cur_lr = self.learning_rate
        if self.last_lr is None:
            self.last_lr = self.cur_lr

    # Programs of 1.x that derive from this class call these two.
    def _l2norm(self, v, rescale=False):
        """The norm as a number; of a gradient as it will be scaled, if `rescale`."""
        return numpy.float32(v.astype(numpy.float32).norm().item() * (self.rescale_grad if rescale else 1.0))

    def _get_lars(self, i, weight, g, lr, wd):
        """The learning rate of this weight as a number."""
        return lr * float(self._trust(weight, g, wd).item()) if self._is_scaled(i) else lr

    def _trust(self, weight, grad, wd):
        """The factor of the learning rate as an array of one element: it is never waited for."""
        w_norm = weight.astype(numpy.float32).norm().reshape((1,))
        g_norm = grad.astype(numpy.float32).norm().reshape((1,)) * self.rescale_grad
        ratio = self.eta * w_norm / (g_norm + wd * w_norm + self.eps)
        return nd.where((w_norm > 0) * (g_norm > 0), ratio, nd.ones_like(ratio))

    def _options(self):
        options = super()._options()
        if self.momentum and self.momentum_correction and self.last_lr:
            options["momentum"] = self.momentum * (self.cur_lr / self.last_lr)
        return options

    def _update_impl(self, index, weight, grad, state, multi_precision=False):
        many = isinstance(index, (tuple, list))
        self._update_count(index)
        self._note_learning_rate()
        for i, w, g, s in zip(index, weight, grad, state) if many else ((index, weight, grad, state),):
            lr, wd = self._get_lr(i), self._get_wd(i)
            if not self._is_scaled(i):
                self._update_one(w, g, s, lr, wd, multi_precision)
                continue
            master = s[1] if multi_precision else w
            momentum = s[0] if multi_precision else s
            if g.stype == "row_sparse":       # the operators update its rows alone
                self._update_one(w, g, s, self._get_lars(i, master, g, lr, wd), wd, multi_precision)
                continue
            # The scaled step, decay included, stands in for the gradient of a plain step with
            # learning rate 1.
            step = nd.broadcast_mul(self._rescaled(g.astype(master.dtype)) + wd * master,
                                    (lr * self._trust(master, g, wd)).astype(master.dtype))
            if momentum is None:
                nd.sgd_update(master, step, out=master, lr=1.0, wd=0.0)
            else:
                nd.sgd_mom_update(master, step, momentum, out=master, lr=1.0, wd=0.0,
                                  momentum=self._options()["momentum"])
            if multi_precision:
                nd.cast(master, dtype=w.dtype, out=w)


@register
class LBSGD(_MomentumState):
    """SGD for large batches (Goyal et al., 2017; You et al., 2017).

    Gradients of `batch_scale` calls are averaged into one step, and the learning rate grows from
    its value to `batch_scale` times that while it warms up; or every weight has its own rate, by
    the ratio of norms.

    Parameters
    ----------
    momentum : float
        Share of the last step that is kept.
    multi_precision : bool
        As in :class:`Optimizer`.
    warmup_strategy : {'linear', 'power2', 'sqrt', 'lars'}
        How the factor grows; 'lars': the ratio of norms instead.
    warmup_epochs, updates_per_epoch : int
        Their product is the length of the warm-up.
    batch_scale : int
        How many batches make up one step.
    begin_epoch : int
        Epoch in which training goes on.
    num_epochs : int
        Epochs altogether.
    **kwargs
        As in :class:`Optimizer`.

    Examples
    --------
    >>> weight = mx.nd.array([1, 2])
    >>> update = mx.optimizer.get_updater(mx.optimizer.LBSGD(learning_rate=0.1))
    >>> update(0, mx.nd.array([1, 1]), weight)
    >>> weight.asnumpy().round(3)
    array([0.9, 1.9], dtype=float32)
    >>> optimizer = mx.optimizer.LBSGD(momentum=0.9, multi_precision=True)
    >>> momentum, master = optimizer.create_state_multi_precision(0, weight.astype('float16'))
    >>> momentum.dtype.__name__, master.dtype.__name__
    ('float32', 'float32')
    """

    _takes_norms = True

    def __init__(self, momentum=0.0, multi_precision=False, warmup_strategy="linear", warmup_epochs=5, batch_scale=1,
                 updates_per_epoch=32, begin_epoch=0, num_epochs=60, **kwargs):
        super().__init__(momentum, multi_precision=multi_precision, **kwargs)
        self.warmup_strategy = warmup_strategy
        self.warmup_epochs = warmup_epochs
        self.batch_scale = batch_scale
        self.updates_per_epoch = updates_per_epoch
        self.init_updates = begin_epoch * updates_per_epoch
        self.num_epochs = num_epochs
        self.adaptive = warmup_strategy == "lars"
        logging.info("Running Large-Batch SGD Algorithm")
        logging.info("(Batch_scale=%f, warmup_epochs=%d, warmup_strategy=%s, updates_per_epoch=%d)",
                     batch_scale, warmup_epochs, warmup_strategy, updates_per_epoch)
        self.cumgrads = {}              # index -> sum of gradients so far, how many calls altogether
        self.lbmult = self.admult = 1   # of MXNet 1.x; nothing depends on them

    def create_state(self, index, weight):   # of the weight's storage, so that steps are lazy
        if self.multi_precision and is_low_precision(weight):   # called without create_state_multi_precision
            master = weight.astype(numpy.float32)
            return self.create_state(index, master), master
        return zeros_like(weight, stype=weight.stype) if self.momentum else None

    # The float32 copy goes first here, as in the base class, and the step is made on it.
    create_state_multi_precision = Optimizer.create_state_multi_precision

    # Programs of 1.x that derive from this class call and override what follows.
    def _get_lbmult(self, nup):
        """The factor of the learning rate after `nup` batches."""
        length = self.warmup_epochs * self.updates_per_epoch
        if nup >= length:
            return float(self.batch_scale)
        if length <= 1:
            return 1.0
        progress = float(nup) / length
        curve = {"linear": progress, "power2": progress * progress, "sqrt": math.sqrt(progress)}
        return 1.0 + (self.batch_scale - 1) * curve.get(self.warmup_strategy, 0.0)

    def _l2norm(self, v):
        """The square of the norm as a number."""
        return float((v * v).sum().item())

    def _get_lars(self, weight, g, wd):
        """The ratio of norms of a weight and its gradient, which is the factor of the rate."""
        w2, g2 = self._l2norm(weight), self._l2norm(g)
        return min(100, max(0.01, math.sqrt(w2 / (g2 + wd * w2 + 1e-18))))

    def _get_cum_gradient(self, index):
        return self.cumgrads.get(index, {})

    def _put_cum_gradient(self, index, cgrad):
        self.cumgrads[index] = cgrad

    def _reset_cum_gradient(self, index):
        """The step has used up what is there."""
        self.cumgrads[index]["cum_grad"] = 0

    def _cumulate_gradient(self, grad, index):
        """Add up the gradient. Returns the sum since the last step, and the number of calls."""
        known = self._get_cum_gradient(index)
        total = known["cum_grad"] + grad if known else grad.copy()
        known = {"cum_grad": total, "num_cums": (known["num_cums"] if known else self.init_updates) + 1}
        self._put_cum_gradient(index, known)
        return known

    def update(self, index, weight, grad, state):
        # The rate is read before the update is counted, as in MXNet 1.x.
        lr, wd = self._get_lr(index), self._get_wd(index)
        self._update_count(index)
        cumulated = self._cumulate_gradient(grad, index)
        if cumulated["num_cums"] % self.batch_scale != 0:
            return
        mean = cumulated["cum_grad"] / self.batch_scale
        if self.adaptive:
            factor = self._get_lars(weight, mean, wd)
        else:
            factor = self._get_lbmult(cumulated["num_cums"])
        self._reset_cum_gradient(index)
        options = dict(self._gradient_options(), lr=lr * factor, wd=wd, out=weight)
        momentum, *master = state if isinstance(state, tuple) else (state,)
        if momentum is None:
            (nd.mp_sgd_update if master else nd.sgd_update)(weight, mean, *master, **options)
        else:
            step = nd.mp_sgd_mom_update if master else nd.sgd_mom_update
            step(weight, mean, momentum, *master, momentum=self.momentum, **options)


@register
class Test(Optimizer):
    """``weight += grad * rescale_grad``, and the state is a copy of the weight: for tests of what
    calls optimizers.

    >>> weight = mx.nd.array([1, 2])
    >>> update = mx.optimizer.get_updater(mx.optimizer.Test())
    >>> update(0, mx.nd.array([1, 1]), weight)
    >>> weight.asnumpy().round(3)
    array([2., 3.], dtype=float32)
    """

    def __init__(self, **kwargs):
        super().__init__(**kwargs)

    def create_state(self, index, weight):
        return zeros_like(weight)

    def update(self, index, weight, grad, state):
        weight[:] += grad * self.rescale_grad
        state[:] = weight
