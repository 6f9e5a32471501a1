"""Learning rates as a function of the number of weight updates."""
import logging
from math import cos, pi

from ._display.repr import from_arguments
from .base import CheckedValueError

__all__ = ["LRScheduler", "FactorScheduler", "MultiFactorScheduler", "PolyScheduler", "CosineScheduler"]


def _change(schedule, num_update, rate):
    """Sets the base rate, and tells who reads the log of a training."""
    logging.info("Update[%d]: Change learning rate to %.5e", num_update, rate)
    schedule.base_lr = rate


class LRScheduler:
    """Base of the schedules: called with the number of updates made so far, it returns the learning
    rate.

    Parameters
    ----------
    base_lr : float
        Learning rate when the warm-up ends. An optimizer given its own learning rate overwrites it.
    warmup_steps : int
        Number of updates before the schedule proper begins.
    warmup_begin_lr : float
        Learning rate at update 0 of the warm-up.
    warmup_mode : {'linear', 'constant'}
        'linear' rises from `warmup_begin_lr` to `base_lr`, 'constant' stays at `warmup_begin_lr`.

    Raises
    ------
    ValueError
        if a parameter is outside of its range.

    Examples
    --------
    >>> class Halving(mx.lr_scheduler.LRScheduler):
    ...     def __call__(self, num_update):
    ...         return self.base_lr / 2 ** (num_update // 10)
    >>> rate = Halving(base_lr=0.8)
    >>> rate(0), rate(10), rate(20)
    (0.8, 0.4, 0.2)
    """

    def __init__(self, base_lr=0.01, warmup_steps=0, warmup_begin_lr=0, warmup_mode="linear"):
        name = type(self).__name__
        if not isinstance(warmup_steps, int):
            raise CheckedValueError(f"[{name}] warmup_steps={warmup_steps!r}; an int, positive or 0, is accepted")
        if warmup_begin_lr > base_lr:
            raise ValueError(f"[{name}] Base lr has to be higher than warmup_begin_lr: "
                             f"base_lr={base_lr}, warmup_begin_lr={warmup_begin_lr}")
        if warmup_steps < 0:
            raise ValueError(f"[{name}] warmup_steps={warmup_steps!r}; Warmup steps has to be positive or 0")
        if warmup_mode not in ("linear", "constant"):
            raise ValueError(f"[{name}] warmup_mode={warmup_mode!r}; Supports only linear and constant modes of warmup")
        self.base_lr = base_lr
        self.warmup_steps = warmup_steps
        self.warmup_final_lr = base_lr
        self.warmup_begin_lr = warmup_begin_lr
        self.warmup_mode = warmup_mode

    __repr__ = from_arguments(always=("base_lr", "step", "factor", "max_update", "power", "final_lr"))

    def get_warmup_lr(self, num_update):
        """Learning rate at update `num_update` of the warm-up, which must not be over yet.

        >>> rate = mx.lr_scheduler.CosineScheduler(100, base_lr=0.8, warmup_steps=10)
        >>> rate.get_warmup_lr(5)
        0.4
        """
        assert num_update < self.warmup_steps
        if self.warmup_mode == "constant":
            return self.warmup_begin_lr
        rise = (self.warmup_final_lr - self.warmup_begin_lr) * float(num_update) / float(self.warmup_steps)
        return self.warmup_begin_lr + rise

    def __call__(self, num_update):
        """The learning rate after `num_update` updates; the number never decreases from call to
        call."""
        raise NotImplementedError("must override this")


class FactorScheduler(LRScheduler):
    """Multiplies the rate by `factor` after every `step` updates, down to `stop_factor_lr`.

    Parameters
    ----------
    step : int
        Updates between two changes, at least 1.
    factor : float
        At most 1.
    stop_factor_lr : float
        The rate does not fall below it.
    base_lr, warmup_steps, warmup_begin_lr, warmup_mode
        As in :class:`LRScheduler`.

    Examples
    --------
    >>> rate = mx.lr_scheduler.FactorScheduler(step=10, factor=0.5, base_lr=0.8)
    >>> rate(1), rate(11), rate(21)
    (0.8, 0.4, 0.2)
    """

    def __init__(self, step, factor=1, stop_factor_lr=1e-8, base_lr=0.01, warmup_steps=0, warmup_begin_lr=0,
                 warmup_mode="linear"):
        super().__init__(base_lr, warmup_steps, warmup_begin_lr, warmup_mode)
        if step < 1:
            raise ValueError(f"[FactorScheduler] step={step}; Schedule step must be greater or equal than 1")
        if factor > 1.0:
            raise ValueError(f"[FactorScheduler] factor={factor}; Factor must be no more than 1 to make lr reduce")
        self.step = step
        self.factor = factor
        self.stop_factor_lr = stop_factor_lr
        self.count = 0

    def __call__(self, num_update):
        if num_update < self.warmup_steps:
            return self.get_warmup_lr(num_update)
        # The state moves forward only, so that a rate set from outside in between is scaled from
        # then on.
        while num_update > self.count + self.step:
            self.count += self.step
            rate = self.base_lr * self.factor
            if rate < self.stop_factor_lr:
                self.base_lr = self.stop_factor_lr
                logging.info("Update[%d]: now learning rate arrived at %.5e, will not change in the future",
                             num_update, self.base_lr)
            else:
                _change(self, num_update, rate)
        return self.base_lr


class MultiFactorScheduler(LRScheduler):
    """Multiplies the rate by `factor` after each of the given numbers of updates.

    Parameters
    ----------
    step : list of int
        Strictly increasing, each at least 1.
    factor : float
        At most 1.
    base_lr, warmup_steps, warmup_begin_lr, warmup_mode
        As in :class:`LRScheduler`.

    Examples
    --------
    >>> rate = mx.lr_scheduler.MultiFactorScheduler(step=[10, 15], factor=0.5, base_lr=0.8)
    >>> rate(1), rate(11), rate(16)
    (0.8, 0.4, 0.2)
    """

    def __init__(self, step, factor=1, base_lr=0.01, warmup_steps=0, warmup_begin_lr=0, warmup_mode="linear"):
        super().__init__(base_lr, warmup_steps, warmup_begin_lr, warmup_mode)
        assert isinstance(step, list) and step, f"[MultiFactorScheduler] step={step!r}; a list with a member is expected"
        if any(s < 1 for s in step):
            raise ValueError(f"[MultiFactorScheduler] step={step}; Schedule step must be greater or equal than 1")
        if any(b <= a for a, b in zip(step, step[1:])):
            raise ValueError(f"[MultiFactorScheduler] step={step}; Schedule step must be an increasing integer list")
        if factor > 1.0:
            raise ValueError(f"[MultiFactorScheduler] factor={factor}; Factor must be no more than 1 to make lr reduce")
        self.step = step
        self.cur_step_ind = 0
        self.factor = factor
        self.count = 0

    def __call__(self, num_update):
        if num_update < self.warmup_steps:
            return self.get_warmup_lr(num_update)
        while self.cur_step_ind < len(self.step) and num_update > self.step[self.cur_step_ind]:
            self.count = self.step[self.cur_step_ind]
            self.cur_step_ind += 1
            _change(self, num_update, self.base_lr * self.factor)
        return self.base_lr


class _DecayScheduler(LRScheduler):
    """From the base rate to `final_lr`, reached at update `max_update`, along a curve that
    subclasses define."""

    def __init__(self, max_update, base_lr, final_lr, warmup_steps, warmup_begin_lr, warmup_mode):
        super().__init__(base_lr, warmup_steps, warmup_begin_lr, warmup_mode)
        name = type(self).__name__
        assert isinstance(max_update, int), f"[{name}] max_update={max_update!r}; an int is expected"
        if max_update < 1:
            raise ValueError(f"[{name}] max_update={max_update}; maximum number of updates must be strictly positive")
        self.base_lr_orig = self.base_lr
        self.max_update = max_update
        self.final_lr = final_lr
        self.max_steps = self.max_update - self.warmup_steps

    def _remaining(self, done, total):
        """Share of the way down, in 0..1, that is left after `done` of `total` updates."""
        raise NotImplementedError

    def __call__(self, num_update):
        if num_update < self.warmup_steps:
            return self.get_warmup_lr(num_update)
        if num_update > self.max_update:
            return self.base_lr
        total = self.max_steps
        remaining = self._remaining(num_update - self.warmup_steps, total) if total else self._remaining(1, 1)
        self.base_lr = rate = self.final_lr + (self.base_lr_orig - self.final_lr) * remaining
        return rate


class PolyScheduler(_DecayScheduler):
    """Decays to `final_lr` as ``(1 - n / max_update) ** pwr``, n being counted from the end of the
    warm-up.

    Parameters
    ----------
    max_update : int
        Update at which the rate is `final_lr`; it stays there.
    base_lr, warmup_steps, warmup_begin_lr, warmup_mode
        As in :class:`LRScheduler`.
    pwr : float
        Exponent.
    final_lr : float
        Last rate.

    Examples
    --------
    >>> rate = mx.lr_scheduler.PolyScheduler(max_update=100, base_lr=0.8, pwr=2)
    >>> rate(0), rate(50), rate(100)
    (0.8, 0.2, 0.0)
    """

    def __init__(self, max_update, base_lr=0.01, pwr=2, final_lr=0, warmup_steps=0, warmup_begin_lr=0,
                 warmup_mode="linear"):
        super().__init__(max_update, base_lr, final_lr, warmup_steps, warmup_begin_lr, warmup_mode)
        self.power = pwr

    def _remaining(self, done, total):
        return pow(1 - done / total, self.power)


class CosineScheduler(_DecayScheduler):
    """Decays to `final_lr` along half a cosine (Loshchilov and Hutter, "SGDR", 2016, without
    restarts).

    Parameters
    ----------
    max_update : int
        Update at which the rate is `final_lr`; it stays there.
    base_lr, warmup_steps, warmup_begin_lr, warmup_mode
        As in :class:`LRScheduler`.
    final_lr : float
        Last rate.

    Examples
    --------
    >>> rate = mx.lr_scheduler.CosineScheduler(max_update=100, base_lr=0.8, warmup_steps=10)
    >>> [round(rate(n), 3) for n in (0, 5, 10, 55, 100)]
    [0.0, 0.4, 0.8, 0.4, 0.0]
    """

    def __init__(self, max_update, base_lr=0.01, final_lr=0, warmup_steps=0, warmup_begin_lr=0, warmup_mode="linear"):
        super().__init__(max_update, base_lr, final_lr, warmup_steps, warmup_begin_lr, warmup_mode)

    def _remaining(self, done, total):
        return (1 + cos(pi * done / total)) / 2
