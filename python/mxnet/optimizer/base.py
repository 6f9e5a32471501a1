"""The optimizer interface: hyper-parameters per weight, update counts, registration."""
import os
import warnings

import numpy

from .._display.repr import from_arguments, parameters_of
from ..base import CheckedTypeError
from .. import ndarray as nd
from ..registry import get_create_func, get_register_func, live_registry
from ..util import getenv

__all__ = ["Optimizer", "create", "register"]


def is_low_precision(array):
    """Whether the dtype is a 16-bit float, for which ``multi_precision`` keeps a float32 copy."""
    return array.dtype == numpy.float16 or getattr(array.dtype, "name", None) == "bfloat16"


def zeros_like(array, dtype=None, stype="default", shape=None):
    """Zeros with the context of `array`; of its shape and dtype unless others are given."""
    dtype = dtype or array.dtype
    shape = array.shape if shape is None else shape
    if stype == "default":
        return nd.zeros(shape, ctx=array.context, dtype=dtype)
    return nd.sparse.zeros(stype, shape, ctx=array.context, dtype=dtype)


def aggregation_size(default=4, most=60):
    """Weights per optimizer call: ``MXNET_OPTIMIZER_AGGREGATION_SIZE``, else `default`."""
    name = "MXNET_OPTIMIZER_AGGREGATION_SIZE"
    return max(1, min(most, int(getenv(name) if name in os.environ else default)))


class Optimizer:
    """Base of the optimizers. A subclass defines :meth:`create_state` and :meth:`update`.

    Parameters
    ----------
    rescale_grad : float
        Gradients are multiplied by it before anything else, e.g. 1 / batch size.
    param_idx2name : dict of int to str, optional
        Names of the weights, by which multipliers can be given. A weight whose name does not end in
        ``_weight`` or ``_gamma`` gets no weight decay, unless :meth:`set_wd_mult` says otherwise.
    wd : float
        Weight decay: the factor of the L2 penalty on the weights.
    clip_gradient : float, optional
        Rescaled gradients are limited to ``[-clip_gradient, clip_gradient]``.
    learning_rate : float, optional
        Learning rate; 0.01, or that of the scheduler, when None.
    lr_scheduler : LRScheduler, optional
        Gives the learning rate from the number of updates.
    sym : Symbol, optional
        Network whose ``__lr_mult__`` and ``__wd_mult__`` attributes are taken over.
    begin_num_update : int
        Number of updates made before.
    multi_precision : bool
        Keep float32 copies of 16-bit weights and update those.
    param_dict : dict of int to gluon.Parameter, optional
        Parameters whose ``lr_mult`` and ``wd_mult`` apply; they go before the other multipliers.
    aggregate_num, use_fused_step : optional
        Hints of MXNet 2.0, which change nothing here: updates are fused and aggregated wherever
        they can be. Classes of a program that define ``fused_step`` and ``step`` use the former if
        `use_fused_step` is true.

    Examples
    --------
    >>> weight, gradient = mx.nd.array([1, 2]), mx.nd.array([1, 1])
    >>> optimizer = mx.optimizer.SGD(learning_rate=0.5, rescale_grad=0.1)
    >>> optimizer.update(0, weight, gradient, optimizer.create_state(0, weight))
    >>> weight.asnumpy()
    array([0.95, 1.95], dtype=float32)
    """

    _takes_norms = False     # of weights or gradients: parts of a weight may not be updated apart

    def __init__(self, rescale_grad=1., param_idx2name=None, wd=0., clip_gradient=None, learning_rate=None,
                 lr_scheduler=None, sym=None, begin_num_update=0, multi_precision=False, param_dict=None,
                 aggregate_num=None, use_fused_step=None, **unknown):
        del aggregate_num
        self._takes_fused_step = use_fused_step
        if unknown:
            raise TypeError(f"[{type(self).__name__}] unexpected arguments {', '.join(unknown)}; accepted: "
                            + ", ".join(parameters_of(type(self))))
        if param_idx2name is not None and not isinstance(param_idx2name, dict):
            raise CheckedTypeError(f"[{type(self).__name__}] param_idx2name is a {type(param_idx2name).__name__}; "
                            "a dict of indices to names is expected")
        self.rescale_grad = rescale_grad
        self.lr_scheduler = lr_scheduler
        if lr_scheduler is None:
            self.lr = 0.01 if learning_rate is None else learning_rate
        else:
            if learning_rate is not None:
                if lr_scheduler.base_lr != learning_rate:
                    # as 1.9.1 and 2.0; a warning would stop programs that make errors of them
                    print("learning rate from ``lr_scheduler`` has been overwritten by ``learning_rate`` in optimizer.")
                lr_scheduler.base_lr = learning_rate
            self.lr = learning_rate
        self.wd = wd
        self.clip_gradient = clip_gradient
        self.multi_precision = multi_precision
        self.aggregate_num = 0          # how many weights `update` takes at a time; 0: one, not in a list
        self.allow_np_array = False
        self.begin_num_update = begin_num_update
        self.num_update = begin_num_update
        # Devices hold copies of the same weights: each counts its own updates, under its number.
        self._all_index_update_counts = {0: {}}
        self._index_update_count = self._all_index_update_counts[0]
        self.idx2name = dict(param_idx2name) if param_idx2name else {}
        self.param_dict = param_dict if param_dict else {}
        self.sym_info = (sym.attr_dict(), sym.list_arguments()) if sym is not None else ()
        self.lr_mult = {}
        self.wd_mult = {}
        self.set_lr_mult({})
        self.set_wd_mult({})

    __repr__ = from_arguments(kept_as={"learning_rate": "lr"}, always=("learning_rate",),
                              without=("param_idx2name", "sym", "param_dict", "begin_num_update", "aggregate_num"))

    # -- registration --
    @staticmethod
    def register(klass):
        """Class decorator: make the optimizer known under its name in lower case.

        >>> @mx.optimizer.Optimizer.register
        ... class SignedStep(mx.optimizer.Optimizer):
        ...     def create_state(self, index, weight):
        ...         return None
        ...     def update(self, index, weight, grad, state):
        ...         weight[:] -= self._get_lr(index) * mx.nd.sign(grad)
        >>> mx.optimizer.create('signedstep', learning_rate=.5).lr
        0.5
        """
        return register(klass)

    @staticmethod
    def create_optimizer(name, **kwargs):
        """An optimizer by its registered name; `kwargs` go to its constructor. Raises ValueError
        for other names.

        >>> mx.optimizer.Optimizer.create_optimizer('adam', learning_rate=.01).lr
        0.01
        """
        return create(name, **kwargs)

    # -- what an optimizer is --
    def create_state(self, index, weight):
        """What the optimizer remembers of one weight: None, an NDArray, or a tuple of such."""

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        # A class written for MXNet 2.0 defines `step`, and its base here may have an `update` of
        # its own.
        of_a_program = cls.__module__.partition(".")[0] != __name__.partition(".")[0]
        if of_a_program and not {"step", "fused_step"}.isdisjoint(vars(cls)):
            for method in ("update", "update_multi_precision", "create_state_multi_precision"):
                if method not in vars(cls):
                    setattr(cls, method, vars(Optimizer)[method])

    def update(self, index, weight, grad, state):
        """Make one step: `weight` and `state` change in place. With ``aggregate_num > 0`` all four
        may be lists. A subclass defines this, or :meth:`step`."""
        several = isinstance(index, (tuple, list))
        lists = (index, weight, grad, state) if several else ([index], [weight], [grad], [state])
        fused = getattr(self, "use_fused_step", self._takes_fused_step) and type(self).fused_step is not Optimizer.fused_step
        (self.fused_step if fused else self.step)(*lists)

    def step(self, indices, weights, grads, states):
        """One step of the weights in a list, in a class written for MXNet 2.0.

        >>> class Scaled(mx.optimizer.Optimizer):
        ...     def create_state(self, index, weight):
        ...         return None
        ...     def step(self, indices, weights, grads, states):
        ...         for index, weight, grad in zip(indices, weights, grads):
        ...             weight[:] -= self._get_lr(index) * grad
        >>> weight = mx.nd.ones(2)
        >>> mx.optimizer.get_updater(Scaled(learning_rate=.5))(0, mx.nd.ones(2), weight)
        >>> weight.asnumpy()
        array([0.5, 0.5], dtype=float32)
        """
        raise NotImplementedError(f"[{type(self).__name__}] neither update nor step is defined")

    def fused_step(self, indices, weights, grads, states):
        """As :meth:`step`, by operators that update a weight at once; called instead of it if the
        class defines it and `use_fused_step` is true.

        >>> class Fused(mx.optimizer.Optimizer):
        ...     def create_state(self, index, weight):
        ...         return None
        ...     def fused_step(self, indices, weights, grads, states):
        ...         for index, weight, grad in zip(indices, weights, grads):
        ...             mx.nd.sgd_update(weight, grad, out=weight, lr=self._get_lr(index))
        >>> weight = mx.nd.ones(2)
        >>> update = mx.optimizer.get_updater(Fused(learning_rate=.5, use_fused_step=True))
        >>> update(0, mx.nd.ones(2), weight)
        >>> weight.asnumpy()
        array([0.5, 0.5], dtype=float32)
        """
        self.step(indices, weights, grads, states)

    def create_state_multi_precision(self, index, weight):
        """:meth:`create_state`, and a float32 copy of the weight in front of it where one is
        kept."""
        if is_low_precision(weight):
            if self.multi_precision:
                master = weight.astype(numpy.float32)
                return master, self.create_state(index, master)
            self._warn_low_precision()
        return self.create_state(index, weight)

    def update_multi_precision(self, index, weight, grad, state):
        """:meth:`update` on the float32 copy where one is kept; the weight follows it.

        >>> optimizer = mx.optimizer.SGD(learning_rate=0.5, multi_precision=True)
        >>> weight, grad = mx.nd.ones(2, dtype='float16'), mx.nd.ones(2, dtype='float16')
        >>> state = optimizer.create_state_multi_precision(0, weight)
        >>> optimizer.update_multi_precision(0, weight, grad, state)
        >>> weight.asnumpy()
        array([0.5, 0.5], dtype=float16)
        """
        if isinstance(index, (tuple, list)):
            if self.multi_precision and is_low_precision(weight[0]):
                masters, originals = zip(*state)
                self.update(index, list(masters), [g.astype(numpy.float32) for g in grad], list(originals))
                for w, master in zip(weight, masters):
                    nd.cast(master, dtype=w.dtype, out=w)
            else:
                self.update(index, weight, grad, state)
        elif self.multi_precision and is_low_precision(weight):
            master, original = state
            self.update(index, master, grad.astype(numpy.float32), original)
            nd.cast(master, dtype=weight.dtype, out=weight)
        else:
            self.update(index, weight, grad, state)

    def _warn_low_precision(self):
        warnings.warn("Accumulating with float16 in optimizer can lead to poor accuracy or slow convergence. "
                      f"{type(self).__name__} with multi_precision=True keeps float32 copies.", UserWarning, stacklevel=3)

    # -- learning rate and weight decay --
    @property
    def learning_rate(self):
        """The current learning rate: the scheduler's, if there is one."""
        return self.lr if self.lr_scheduler is None else self.lr_scheduler(self.num_update)

    def set_learning_rate(self, lr):
        """Change the learning rate. Raises UserWarning when there is a scheduler: that one
        decides."""
        if self.lr_scheduler is not None:
            raise UserWarning("[Optimizer] the learning rate comes from the lr_scheduler and can't be set")
        self.lr = lr

    def set_lr_scale(self, args_lrscale):
        """Replaced by :meth:`set_lr_mult`; raises DeprecationWarning.

        >>> optimizer = mx.optimizer.SGD(param_idx2name={0: 'weight'})
        >>> optimizer.set_lr_mult({'weight': 0.1})
        >>> optimizer.lr_mult
        {'weight': 0.1}
        """
        raise DeprecationWarning("[Optimizer] set_lr_scale was replaced by set_lr_mult")

    def _symbol_multipliers(self, key):
        if not self.sym_info:
            return {}
        attributes, arguments = self.sym_info
        return {name: float(attributes[name][key]) for name in arguments if key in attributes.get(name, ())}

    def set_lr_mult(self, args_lr_mult):
        """Set multipliers of the learning rate for weights, by name or index; 1 for those not in
        the dictionary.

        >>> optimizer = mx.optimizer.SGD(learning_rate=0.1, param_idx2name={0: 'a', 1: 'b'})
        >>> optimizer.set_lr_mult({'b': 0.0})
        >>> optimizer.set_wd_mult({'a': 0.5})
        >>> optimizer.set_learning_rate(0.2)
        >>> optimizer.learning_rate
        0.2
        """
        self.lr_mult = {**self._symbol_multipliers("__lr_mult__"), **args_lr_mult}

    @staticmethod
    def _decays(name):
        """Whether a weight of this name has weight decay if nobody says otherwise."""
        return name.endswith(("_weight", "_gamma"))

    def set_wd_mult(self, args_wd_mult):
        """Set multipliers of the weight decay for weights, by name or index; see `param_idx2name`
        for the others."""
        free = {name: 0.0 for name in self.idx2name.values() if not self._decays(name)}
        self.wd_mult = {**free, **self._symbol_multipliers("__wd_mult__"), **args_wd_mult}

    def _multiplier(self, index, of_parameter, table):
        if index in self.param_dict:
            return getattr(self.param_dict[index], of_parameter)
        if index in table:
            return table[index]
        return table.get(self.idx2name[index], 1.0) if index in self.idx2name else 1.0

    def _get_lrs(self, indices):
        lr = self.learning_rate
        return [lr * self._multiplier(i, "lr_mult", self.lr_mult) for i in indices]

    def _get_lr(self, index):
        return self.learning_rate * self._multiplier(index, "lr_mult", self.lr_mult)

    def _get_wds(self, indices):
        return [self._get_wd(i) for i in indices]

    def _get_wd(self, index):
        return self.wd * self._multiplier(index, "wd_mult", self.wd_mult)

    # -- counting --
    def _set_current_context(self, device_id):
        self._index_update_count = self._all_index_update_counts.setdefault(device_id, {})

    def _count_on(self, devices):
        """Between two steps: the weights are on these devices (numbers) from now on, and all have
        made the updates that any has made."""
        made = {}
        for counts in self._all_index_update_counts.values():
            for index, count in counts.items():
                made[index] = max(count, made.get(index, 0))
        self._all_index_update_counts = {device: dict(made) for device in devices}
        self._set_current_context(next(iter(devices), 0))

    def _update_count(self, index):
        counts = self._index_update_count
        for i in index if isinstance(index, (list, tuple)) else (index,):
            counts[i] = count = counts.get(i, self.begin_num_update) + 1
            if count > self.num_update:
                self.num_update = count

    def _step(self, index):
        """Count an update of one weight. Returns its learning rate, weight decay, and number of
        updates."""
        self._update_count(index)
        return self._get_lr(index), self._get_wd(index), self._index_update_count[index]

    # -- gradients --
    def _gradient_options(self):
        """The keyword arguments that every fused update operator takes."""
        options = {"rescale_grad": self.rescale_grad}
        if self.clip_gradient:
            options["clip_gradient"] = self.clip_gradient
        return options

    def _clipped(self, grad):
        return grad if self.clip_gradient is None else nd.clip(grad, -self.clip_gradient, self.clip_gradient)

    def _rescaled(self, grad):
        """The gradient times `rescale_grad`, limited by `clip_gradient`."""
        return self._clipped(grad * self.rescale_grad)

    # -- pickling: parameters and the symbol's attributes stay behind --
    def __getstate__(self):
        state = self.__dict__.copy()
        del state["param_dict"]
        return state

    def __setstate__(self, state):
        self.__dict__.update(state)
        self.param_dict = {}
        self._adopt()

    def _adopt(self):
        """After unpickling, also what MXNet 1.x wrote: a subclass that keeps something in another
        form than 1.x translates it here."""


Optimizer.opt_registry = live_registry(Optimizer)     # lower-case name to class
_enter = get_register_func(Optimizer, "optimizer",
                           "WARNING: New {kind} {new} is overriding existing {kind} {old}")
_create = get_create_func(Optimizer, "optimizer")


def register(klass):
    """Class decorator: make the optimizer known under its name in lower case.

    >>> @mx.optimizer.register
    ... class Halve(mx.optimizer.Optimizer):
    ...     def create_state(self, index, weight):
    ...         return None
    ...     def update(self, index, weight, grad, state):
    ...         weight[:] = weight / 2
    >>> weight = mx.nd.array([4])
    >>> optimizer = mx.optimizer.create('halve')
    >>> optimizer.update(0, weight, mx.nd.ones(1), None)
    >>> weight.asnumpy()
    array([2.], dtype=float32)
    """
    return _enter(klass)


def create(name, **kwargs):
    """An optimizer by its registered name (case does not matter); `kwargs` go to its constructor.

    Raises
    ------
    ValueError
        if no optimizer has this name.

    Examples
    --------
    >>> mx.optimizer.create('adam', learning_rate=0.01).lr
    0.01
    """
    return _create(name, **kwargs)
