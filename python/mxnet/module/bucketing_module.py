"""Modules for inputs of different lengths, which share their parameters."""
import logging
import warnings

from .. import ndarray as nd
from ..base import CheckedValueError
from ..context import cpu
from ..initializer import Uniform
from .._training.model import load_params
from ..name import NameManager
from .base_module import BaseModule, _ArgumentError, _check_input_names
from .module import Module

__all__ = ["BucketingModule"]


class BucketingModule(BaseModule):
    """A network that is another one for each key of a batch, with the same parameters.

    Parameters
    ----------
    sym_gen : callable
        From a key to (symbol, names of data, names of labels).
    default_bucket_key
        The key of the network with the most memory; it is the one that is bound.
    logger, context, work_load_list, fixed_param_names, state_names, group2ctxs, compression_params
        As in :class:`Module`.

    Examples
    --------
    >>> def graph(length):
    ...     x = mx.sym.Variable('data')
    ...     total = mx.sym.sum(x, axis=1, keepdims=True)
    ...     return mx.sym.FullyConnected(total, num_hidden=2), ['data'], None
    >>> module = mx.mod.BucketingModule(graph, default_bucket_key=10)
    >>> module.bind([('data', (4, 10))], for_training=False)
    >>> module.init_params()
    >>> batch = mx.io.DataBatch([mx.nd.ones((4, 6))], bucket_key=6, provide_data=[('data', (4, 6))])
    >>> module.forward(batch)
    >>> module.get_outputs()[0].shape
    (4, 2)
    """

    def __init__(self, sym_gen, default_bucket_key=None, logger=logging, context=None, work_load_list=None,
                 fixed_param_names=None, state_names=None, group2ctxs=None, compression_params=None):
        super().__init__(logger=logger)
        if default_bucket_key is None:
            raise _ArgumentError("[BucketingModule] default_bucket_key is needed")
        self._sym_gen = sym_gen
        self._default_bucket_key = default_bucket_key
        symbol, data_names, label_names = self._symbol_of(default_bucket_key)
        for names, typename, throw in ((data_names, "data", True), (label_names, "label", False),
                                       (state_names, "state", True), (fixed_param_names, "fixed_param", True)):
            _check_input_names(symbol, list(names or ()), typename, throw)
        self._context = cpu() if context is None else context
        self._work_load_list = work_load_list
        self._fixed_param_names = list(fixed_param_names or [])
        self._state_names = list(state_names or [])
        self._group2ctxs = group2ctxs
        self._compression_params = compression_params
        self._reset_bind()
        self._params_dirty = False
        self._monitor = None
        self._grad_req = None
        self._loaded_params = None      # until there is memory for them

    def _symbol_of(self, bucket_key):
        """Symbol and names of a key. Automatic names start anew, so that the parameters of all keys
        match."""
        with NameManager():
            return self._sym_gen(bucket_key)

    def _reset_bind(self):
        self.binded = False
        self._buckets = {}
        self._curr_module = None
        self._curr_bucket_key = None

    def _make(self, bucket_key):
        symbol, data_names, label_names = self._symbol_of(bucket_key)
        return Module(symbol, data_names, label_names, logger=self.logger, context=self._context,
                      work_load_list=self._work_load_list, fixed_param_names=self._fixed_param_names,
                      state_names=self._state_names, group2ctxs=self._group2ctxs,
                      compression_params=self._compression_params)

    # -- what the module is --
    @property
    def data_names(self):
        return self._curr_module.data_names if self.binded else self._symbol_of(self._default_bucket_key)[1]

    @property
    def output_names(self):
        if self.binded:
            return self._curr_module.output_names
        return self._symbol_of(self._default_bucket_key)[0].list_outputs()

    @property
    def data_shapes(self):
        self._need("binded")
        return self._curr_module.data_shapes

    @property
    def label_shapes(self):
        self._need("binded")
        return self._curr_module.label_shapes

    @property
    def output_shapes(self):
        self._need("binded")
        return self._curr_module.output_shapes

    @property
    def symbol(self):
        self._need("binded")
        return self._curr_module.symbol

    # -- parameters --
    def get_params(self):
        self._need("params_initialized")
        self._curr_module._params_dirty = self._params_dirty
        params = self._curr_module.get_params()
        self._params_dirty = False
        return params

    def init_params(self, initializer=Uniform(0.01), arg_params=None, aux_params=None, allow_missing=False,
                    force_init=False, allow_extra=False):
        if self.params_initialized and not force_init:
            return
        self._need("binded")
        self._curr_module.init_params(initializer=initializer, arg_params=arg_params, aux_params=aux_params,
                                      allow_missing=allow_missing, force_init=force_init, allow_extra=allow_extra)
        self._params_dirty = self._curr_module._params_dirty
        self.params_initialized = True

    def set_params(self, arg_params, aux_params, allow_missing=False, force_init=True, allow_extra=False):
        if not allow_missing:
            self.init_params(initializer=None, arg_params=arg_params, aux_params=aux_params, allow_missing=False,
                             force_init=force_init, allow_extra=allow_extra)
            return
        if self.params_initialized and not force_init:
            warnings.warn("Parameters already initialized and force_init=False. "
                          "set_params call ignored.", stacklevel=2)
            return
        self._curr_module.set_params(arg_params, aux_params, allow_missing=allow_missing, force_init=force_init,
                                     allow_extra=allow_extra)
        self._params_dirty = True
        self.params_initialized = True

    def get_states(self, merge_multi_context=True):
        self._need("binded", "params_initialized")
        return self._curr_module.get_states(merge_multi_context=merge_multi_context)

    def set_states(self, states=None, value=None):
        self._need("binded", "params_initialized")
        self._curr_module.set_states(states, value)

    # -- setting up --
    def bind(self, data_shapes, label_shapes=None, for_training=True, inputs_need_grad=False, force_rebind=False,
             shared_module=None, grad_req="write"):
        if shared_module is not None:
            raise _ArgumentError("[BucketingModule] shared_module for BucketingModule is not supported")
        params = self.get_params() if self.params_initialized and self.binded else self._loaded_params
        if force_rebind:
            self._reset_bind()
        if self.binded:
            self.logger.warning("Already bound, ignoring bind()")
            return
        self.for_training = for_training
        self.inputs_need_grad = inputs_need_grad
        self._grad_req = grad_req
        module = self._make(self._default_bucket_key)
        module.bind(data_shapes, label_shapes, for_training, inputs_need_grad, force_rebind=False, shared_module=None,
                    grad_req=grad_req)
        self._curr_module = module
        self._curr_bucket_key = self._default_bucket_key
        self._buckets[self._default_bucket_key] = module
        self.binded = True
        if params is not None:
            self.set_params(*params)
            self._loaded_params = None

    def switch_bucket(self, bucket_key, data_shapes, label_shapes=None):
        """Go on with the network of a key; it is bound when the key is new.

        >>> def graph(length):
        ...     total = mx.sym.sum(mx.sym.Variable('data'), axis=1, keepdims=True)
        ...     return mx.sym.FullyConnected(total, num_hidden=2, name='fc'), ['data'], None
        >>> module = mx.mod.BucketingModule(graph, default_bucket_key=10)
        >>> module.bind([('data', (4, 10))])
        >>> module.init_params()
        >>> module.switch_bucket(6, [('data', (4, 6))])
        >>> module.data_shapes[0].shape
        (4, 6)
        >>> module.save_checkpoint('net', 1)
        """
        self._need("binded")
        if bucket_key not in self._buckets:
            module = self._make(bucket_key)
            self._check_parameters(bucket_key, module)
            module.bind(data_shapes, label_shapes, self.for_training, self.inputs_need_grad, force_rebind=False,
                        shared_module=self._buckets[self._default_bucket_key], grad_req=self._grad_req)
            if self._monitor is not None:
                module.install_monitor(self._monitor)
            self._buckets[bucket_key] = module
        self._curr_module = self._buckets[bucket_key]
        self._curr_bucket_key = bucket_key

    def _check_parameters(self, bucket_key, module):
        """Refuses parameters that the default bucket lacks: nobody would initialise, save or load
        them."""
        known = self._buckets[self._default_bucket_key]
        missing = [name for name in module._param_names + module._aux_names if name not in known._param_names + known._aux_names]
        if missing:
            raise _ArgumentError(f"[BucketingModule] the network of bucket {bucket_key!r} has parameters {', '.join(missing)}, which that "
                                 f"of the default bucket {self._default_bucket_key!r} lacks; accepted: some of its parameters")

    def init_optimizer(self, kvstore="local", optimizer="sgd", optimizer_params=(("learning_rate", 0.01),),
                       force_init=False):
        self._need("binded", "params_initialized")
        if self.optimizer_initialized and not force_init:
            self.logger.warning("optimizer already initialized, ignoring.")
            return
        self._curr_module._params_dirty = self._params_dirty
        self._curr_module.init_optimizer(kvstore, optimizer, optimizer_params, force_init=force_init)
        for module in self._buckets.values():
            if module is not self._curr_module:
                module.borrow_optimizer(self._curr_module)
        self.optimizer_initialized = True

    # -- computation --
    def prepare(self, data_batch, sparse_row_id_fn=None):
        self._need("binded", "params_initialized")
        key = self._curr_bucket_key
        self.switch_bucket(data_batch.bucket_key, data_batch.provide_data, data_batch.provide_label)
        self._curr_module.prepare(data_batch, sparse_row_id_fn=sparse_row_id_fn)
        # The outputs of the batch before are still to be asked for.
        self.switch_bucket(key, None, None)

    def forward(self, data_batch, is_train=None):
        self._need("binded", "params_initialized")
        self.switch_bucket(data_batch.bucket_key, data_batch.provide_data, data_batch.provide_label)
        self._curr_module.forward(data_batch, is_train=is_train)

    def backward(self, out_grads=None):
        self._need("binded", "params_initialized")
        self._curr_module.backward(out_grads=out_grads)

    def update(self):
        self._need("binded", "params_initialized", "optimizer_initialized")
        self._params_dirty = True
        self._curr_module.update()

    def get_outputs(self, merge_multi_context=True):
        self._need("binded", "params_initialized")
        return self._curr_module.get_outputs(merge_multi_context=merge_multi_context)

    def get_input_grads(self, merge_multi_context=True):
        self._need("binded", "params_initialized", "inputs_need_grad")
        return self._curr_module.get_input_grads(merge_multi_context=merge_multi_context)

    def update_metric(self, eval_metric, labels, pre_sliced=False):
        self._need("binded", "params_initialized")
        self._curr_module.update_metric(eval_metric, labels, pre_sliced)

    def install_monitor(self, mon):
        self._need("binded")
        self._monitor = mon
        for module in self._buckets.values():
            module.install_monitor(mon)

    # -- files --
    def save_checkpoint(self, prefix, epoch, remove_amp_cast=False):
        """Write the parameters, and the network of each key that has been used as
        ``prefix-KEY-symbol.json``.

        Keys that are integers are listed in ``prefix.buckets``.
        """
        self._need("binded", "params_initialized")
        path = "%s-%04d.params" % (prefix, epoch)
        self.save_params(path)
        for key in self._buckets:
            self._symbol_of(key)[0].save(f"{prefix}-{key}-symbol.json", remove_amp_cast=remove_amp_cast)
        if all(isinstance(key, int) for key in self._buckets):
            nd.save(f"{prefix}.buckets", [nd.array(list(self._buckets), dtype="int32")])

    @staticmethod
    def load(prefix, epoch, sym_gen=None, default_bucket_key=None, **kwargs):
        """A module with parameters that :meth:`save_checkpoint` wrote; the other arguments go to
        the constructor.

        >>> def graph(length):
        ...     data = mx.sym.mean(mx.sym.var('data'), axis=1, keepdims=True)
        ...     return mx.sym.FullyConnected(data, num_hidden=2, name='fc'), ('data',), None
        >>> module = mx.mod.BucketingModule(graph, default_bucket_key=5)
        >>> module.bind([('data', (3, 5))], for_training=False)
        >>> module.init_params()
        >>> module.save_checkpoint('net', 1)
        >>> again = mx.mod.BucketingModule.load('net', 1, sym_gen=graph, default_bucket_key=5)
        >>> again.bind([('data', (3, 5))], for_training=False)
        >>> again.init_params()
        >>> sorted(again.get_params()[0])
        ['fc_bias', 'fc_weight']
        """
        if sym_gen is None or default_bucket_key is None:
            raise CheckedValueError("[BucketingModule] sym_gen and default_bucket_key are needed: the networks come from there")
        module = BucketingModule(sym_gen, default_bucket_key, **kwargs)
        module._loaded_params = load_params(prefix, epoch)
        module.params_initialized = True
        return module

    @staticmethod
    def load_dict(sym_dict=None, sym_gen=None, default_bucket_key=None, arg_params=None, aux_params=None, **kwargs):
        """A module with given parameters, and networks from `sym_gen` or from a dictionary of key
        to what it returns.

        >>> def graph(length):
        ...     data = mx.sym.mean(mx.sym.var('data'), axis=1, keepdims=True)
        ...     return mx.sym.FullyConnected(data, num_hidden=2, name='fc'), ('data',), None
        >>> params = {'fc_weight': mx.nd.ones((2, 1)), 'fc_bias': mx.nd.zeros(2)}
        >>> module = mx.mod.BucketingModule.load_dict(
        ...     sym_gen=graph, default_bucket_key=5, arg_params=params, aux_params={})
        >>> module.bind([('data', (1, 5))], for_training=False)
        >>> module.forward(mx.io.DataBatch(
        ...     [mx.nd.ones((1, 3))], bucket_key=3, provide_data=[('data', (1, 3))]))
        >>> module.get_outputs()[0].asnumpy()
        array([[1., 1.]], dtype=float32)
        """
        if sym_dict is None and sym_gen is None:
            raise ValueError("[BucketingModule] sym_dict or sym_gen is needed: the networks come from there")
        if default_bucket_key is None:
            raise _ArgumentError("[BucketingModule] default_bucket_key is needed")
        module = BucketingModule(sym_gen or sym_dict.__getitem__, default_bucket_key, **kwargs)
        module._loaded_params = (arg_params or {}, aux_params or {})
        module.params_initialized = True
        return module
