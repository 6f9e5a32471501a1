"""A module of one symbol."""
import logging
import warnings

from ..base import CheckedTypeError as _ArgumentTypeError, _MXValueError, error_class as _error_class
from .. import ndarray as nd
from .. import optimizer as opt
from .._files.whole_files import load_states, write_file
from ..context import Context, cpu
from ..initializer import InitDesc, Uniform, create as create_initializer
from ..io import DataDesc
from .._training.model import (_create_kvstore, _initialize_kvstore, _update_params, _update_params_on_kvstore, load_checkpoint)
from .base_module import BaseModule, _ArgumentError, _check_input_names, _parse_data_desc
from .executor_group import DataParallelExecutorGroup
from .host_copies import HostCopies, zeros_like

__all__ = ["Module"]


def _shapes(descriptions):
    return ", ".join(f"{desc[0]} {tuple(desc[1])}" for desc in descriptions)


class Module(BaseModule):
    """A network given as a symbol, on one or several devices.

    Parameters
    ----------
    symbol : Symbol
    data_names, label_names : list of str
        Arguments that are data, and labels.
    logger : logging.Logger
    context : Context or list of Context
        Devices; with several each gets a part of every batch.
    work_load_list : list of float, optional
        How a batch is divided among them.
    fixed_param_names : list of str, optional
        Parameters that stay as they are.
    state_names : list of str, optional
        Arguments that are neither data nor parameters, see :meth:`set_states`.
    group2ctxs : dict of str to Context, or list of them
        Devices for the groups of ``AttrScope(ctx_group=...)``.
    compression_params : dict, optional
        Of the gradients, see `KVStore.set_gradient_compression`.

    Examples
    --------
    >>> x = mx.sym.Variable('data')
    >>> net = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(x, num_hidden=2), name='softmax')
    >>> data = mx.nd.array([[1, 0], [0, 1], [1, 0], [0, 1]])
    >>> batches = mx.io.NDArrayIter(data, mx.nd.array([0, 1, 0, 1]), batch_size=2)
    >>> module = mx.mod.Module(net)
    >>> module.fit(batches, num_epoch=20, optimizer_params={'learning_rate': 0.5})
    >>> module.score(batches, 'acc')
    [('accuracy', 1.0)]
    >>> module.predict(batches).shape
    (4, 2)
    """

    def __init__(self, symbol, data_names=("data",), label_names=("softmax_label",), logger=logging, context=None,
                 work_load_list=None, fixed_param_names=None, state_names=None, group2ctxs=None,
                 compression_params=None):
        super().__init__(logger=logger)
        if not hasattr(symbol, "list_arguments"):
            raise _error_class(TypeError, AttributeError)(
                f"[Module] symbol of type {type(symbol).__name__} given; a Symbol is accepted")
        context = cpu() if context is None else context   # not the current one, as in 1.9.1
        self._context = [context] if isinstance(context, Context) else list(context)
        self._work_load_list = work_load_list or [1] * len(self._context)
        if len(self._work_load_list) != len(self._context):
            raise _ArgumentError(f"[Module] {len(self._work_load_list)} loads for {len(self._context)} devices")
        self._group2ctxs = group2ctxs
        self._symbol = symbol
        self._data_names = list(() if data_names is None else data_names)
        self._label_names = list(() if label_names is None else label_names)
        self._state_names = list(state_names or ())
        self._fixed_param_names = list(fixed_param_names or ())
        for names, typename, throw in ((self._data_names, "data", True), (self._label_names, "label", False),
                                       (self._state_names, "state", True),
                                       (self._fixed_param_names, "fixed_param", True)):
            _check_input_names(symbol, names, typename, throw)
        inputs = set(self._data_names + self._label_names + self._state_names)
        self._param_names = [name for name in symbol.list_arguments() if name not in inputs]
        self._aux_names = symbol.list_auxiliary_states()
        self._output_names = symbol.list_outputs()
        self._compression_params = compression_params
        # The executor's own arrays where one on the CPU is all there is (`_params_are_own`), else
        # copies on the CPU; what callers have is out of date ("dirty") after an update.
        self._arg_params = None
        self._aux_params = None
        self._params_are_own = False
        self._params_dirty = False
        self._copies = HostCopies()
        self._optimizer = None
        self._kvstore = None
        self._update_on_kvstore = None
        self._updater = None
        self._preload_opt_states = None
        self._grad_req = None
        self._exec_group = None
        self._data_shapes = None
        self._label_shapes = None

    # -- files --
    @staticmethod
    def load(prefix, epoch, load_optimizer_states=False, **kwargs):
        """A module from files that :meth:`save_checkpoint` wrote; `kwargs` go to the constructor.
        Nothing that the file of optimizer states says is run."""
        symbol, args, auxs = load_checkpoint(prefix, epoch)
        module = Module(symbol=symbol, **kwargs)
        module._arg_params = args
        module._aux_params = auxs
        module.params_initialized = True
        if load_optimizer_states:
            module._preload_opt_states = "%s-%04d.states" % (prefix, epoch)
        return module

    def save_checkpoint(self, prefix, epoch, save_optimizer_states=False, remove_amp_cast=True):
        """Write ``prefix-symbol.json``, ``prefix-NNNN.params``, and ``prefix-NNNN.states`` if asked
        for.

        >>> net = mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=1, name='fc')
        >>> module = mx.mod.Module(net, label_names=None)
        >>> module.bind([('data', (4, 2))])
        >>> module.init_params()
        >>> module.init_optimizer(optimizer='adam')
        >>> module.save_checkpoint('fc', 3, save_optimizer_states=True)
        >>> again = mx.mod.Module.load('fc', 3, load_optimizer_states=True, label_names=None)
        >>> again.bind([('data', (4, 2))])
        >>> again.init_optimizer(optimizer='adam')
        >>> again.symbol.list_arguments()
        ['data', 'fc_weight', 'fc_bias']
        """
        path = "%s-%04d.params" % (prefix, epoch)
        self.save_params(path)      # before the network: where they cannot be written, older ones keep theirs
        self._symbol.save(f"{prefix}-symbol.json", remove_amp_cast=remove_amp_cast)
        logging.info('Saved checkpoint to "%s"', path)
        if save_optimizer_states:
            path = "%s-%04d.states" % (prefix, epoch)
            self.save_optimizer_states(path)
            logging.info('Saved optimizer state to "%s"', path)

    def save_optimizer_states(self, fname):
        """Write the states of the optimizer to a file.

        >>> net = mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=1)
        >>> module = mx.mod.Module(net, label_names=None)
        >>> module.bind([('data', (4, 2))])
        >>> module.init_params()
        >>> module.init_optimizer(optimizer='adam')
        >>> module.save_optimizer_states('adam.states')
        >>> module.load_optimizer_states('adam.states')
        """
        self._need("optimizer_initialized")
        if self._update_on_kvstore:
            self._kvstore.save_optimizer_states(fname)
        else:
            write_file(fname, self._updater.get_states())

    def load_optimizer_states(self, fname):
        """Read what :meth:`save_optimizer_states` wrote."""
        self._need("optimizer_initialized")
        if self._update_on_kvstore:
            self._kvstore.load_optimizer_states(fname)
        else:
            names = self._index_to_name(self._update_on_kvstore)
            weights = {i: self._arg_params[name] for i, name in names.items()}
            load_states(fname, lambda states: self._updater.set_states(states, weights))
        # The file may hold an optimizer.
        known = getattr(self._kvstore, "_optimizer", None) if self._update_on_kvstore else self._updater.optimizer
        self._optimizer = known or self._optimizer

    # -- what the module is --
    @property
    def data_names(self):
        return self._data_names

    @property
    def label_names(self):
        """Names of the labels.

        >>> net = mx.sym.SoftmaxOutput(mx.sym.var('data'), name='softmax')
        >>> mx.mod.Module(net).label_names
        ['softmax_label']
        """
        return self._label_names

    @property
    def output_names(self):
        return self._output_names

    @property
    def data_shapes(self):
        self._need("binded")
        return self._data_shapes

    @property
    def label_shapes(self):
        self._need("binded")
        return self._label_shapes

    @property
    def output_shapes(self):
        self._need("binded")
        return self._exec_group.get_output_shapes()

    # -- parameters --
    def get_params(self):
        if not self.params_initialized:     # `load` gives values before there is anything bound
            self._need("binded", "params_initialized")
        if self._params_are_own:
            params = self._copies.give(self._params_dirty, (self._arg_params, self._aux_params), self._read_devices)
            self._params_dirty = False
            return params
        self._sync_params_from_devices()
        return self._arg_params, self._aux_params

    def _sync_params_from_devices(self):
        if self._params_dirty:
            self._read_devices(self._arg_params, self._aux_params)
        self._params_dirty = False

    def _read_devices(self, arg_params, aux_params):
        """Write parameters into arrays on the CPU."""
        if self._params_are_own:
            for own, targets in ((self._arg_params, arg_params), (self._aux_params, aux_params)):
                for name, target in targets.items():
                    if target is not own[name]:
                        own[name].copyto(target)
        else:
            self._exec_group.get_params(arg_params, aux_params)
        if self._kvstore and self._update_on_kvstore:
            # The store has row_sparse parameters; the devices only rows of them.
            for name, value in sorted(arg_params.items()):
                if value.stype == "row_sparse":
                    rows = nd.arange(0, value.shape[0], dtype="int64")
                    self._kvstore.row_sparse_pull(name, value, row_ids=rows)

    def _allocate_params(self):
        """Where the first values go: the executor's arrays, or copies on the CPU with the dtypes
        and storage types of the first device's."""
        self._share_params()
        group = self._exec_group
        if self._arg_params is None:
            self._arg_params = {name: zeros_like(arrays[0]) for name, arrays in zip(self._param_names, group.param_arrays)}
        if self._aux_params is None:
            self._aux_params = {name: zeros_like(arrays[0]) for name, arrays in zip(self._aux_names, group.aux_arrays)}

    def _share_params(self):
        """One executor on the CPU: a second copy of its parameters would serve nobody."""
        if len(self._context) == 1 and self._context[0].device_type == "cpu":
            group = self._exec_group
            self._arg_params = {name: arrays[0] for name, arrays in zip(self._param_names, group.param_arrays)}
            self._aux_params = {name: arrays[0] for name, arrays in zip(self._aux_names, group.aux_arrays)}
            self._params_are_own = True

    def init_params(self, initializer=Uniform(0.01), arg_params=None, aux_params=None, allow_missing=False,
                    force_init=False, allow_extra=False):
        if self.params_initialized and not force_init:
            warnings.warn("Parameters already initialized and force_init=False. init_params call ignored.",
                          stacklevel=2)
            return
        self._need("binded")
        if isinstance(initializer, str):
            initializer = create_initializer(initializer)
        if initializer is not None and not callable(initializer):
            raise _ArgumentTypeError(f"[Module] init_params: initializer is a {type(initializer).__name__}; accepted: an Initializer, "
                                     "such as mx.init.Xavier(), its name or a function")
        self._allocate_params()
        attributes = self._symbol.attr_dict()

        def check(name, array, values):
            if values is not None and name in values:
                if values[name].shape != array.shape:
                    raise _MXValueError(f"[Module] {name} has shape {array.shape}, and the value given for it "
                                        f"{values[name].shape}")
                return
            if values is not None and not allow_missing:
                raise RuntimeError(f"[Module] {name} is not presented: no value is given for it, "
                                   "and allow_missing=False")
            if initializer is None and values is None:
                raise TypeError(f"[Module] init_params: neither an initializer nor values for {name} given; one of them is needed")

        def fill(name, array, values):
            if values is None or name not in values:
                if initializer is not None:
                    initializer(InitDesc(name, attributes.get(name)), array)
            elif values[name] is not array:
                values[name].copyto(array)

        for each in (check, fill):      # what is wrong leaves all as they are
            for params, values in ((self._arg_params, arg_params), (self._aux_params, aux_params)):
                for name in sorted(params):
                    each(name, params[name], values)
        self.params_initialized = True
        if self._params_are_own:
            self._params_dirty = True       # copies of them are
        else:
            self._params_dirty = False
            self._exec_group.set_params(self._arg_params, self._aux_params)

    def set_params(self, arg_params, aux_params, allow_missing=False, force_init=True, allow_extra=False):
        if not allow_missing:
            self.init_params(initializer=None, arg_params=arg_params, aux_params=aux_params, allow_missing=False,
                             force_init=force_init, allow_extra=allow_extra)
            return
        if self.params_initialized and not force_init:
            warnings.warn("Parameters already initialized and force_init=False. set_params call ignored.",
                          stacklevel=2)
            return
        self._need("binded")
        self._exec_group.set_params(arg_params, aux_params, allow_extra=allow_extra)
        self._params_dirty = True       # the CPU's copy is made when it is asked for
        self._allocate_params()
        self.params_initialized = True

    # -- setting up --
    def bind(self, data_shapes, label_shapes=None, for_training=True, inputs_need_grad=False, force_rebind=False,
             shared_module=None, grad_req="write"):
        if force_rebind:
            self._reset_bind()
        if self.binded:
            self.logger.warning("Already bound, ignoring bind()")
            return
        if inputs_need_grad and not for_training:
            raise _ArgumentError("[Module] inputs_need_grad=True needs for_training=True")
        self.for_training = for_training
        self.inputs_need_grad = inputs_need_grad
        self._grad_req = grad_req
        self._data_shapes, self._label_shapes = _parse_data_desc(self._data_names, self._label_names, data_shapes,
                                                                 label_shapes)
        shared_group = None
        if shared_module is not None:
            shared_module._need("binded", "params_initialized")
            shared_group = shared_module._exec_group
            if len(shared_group.execs) < len(self._context):
                raise _ArgumentError(f"[Module] the shared module has {len(shared_group.execs)} devices, "
                                 f"this one {len(self._context)}")
            known = {*shared_module._arg_params, *shared_module._aux_params}
            missing = [name for name in (*self._param_names, *self._aux_names) if name not in known]
            if missing:
                raise _ArgumentError(f"[Module] the shared module has no parameters {', '.join(missing)}; accepted: a network whose "
                                     "parameters it all has")
        self._exec_group = DataParallelExecutorGroup(
            self._symbol, self._context, self._work_load_list, self._data_shapes, self._label_shapes,
            self._param_names, for_training, inputs_need_grad, shared_group, logger=self.logger,
            fixed_param_names=self._fixed_param_names, grad_req=grad_req, group2ctxs=self._group2ctxs,
            state_names=self._state_names)
        self.binded = True
        if shared_module is not None:
            self.params_initialized = True
            self._arg_params = shared_module._arg_params
            self._aux_params = shared_module._aux_params
            self._params_are_own, self._copies = shared_module._params_are_own, shared_module._copies
            if shared_module.optimizer_initialized:
                self.borrow_optimizer(shared_module)
        elif self.params_initialized:
            # loaded before there was memory on the devices
            self._exec_group.set_params(self._arg_params, self._aux_params)
            self._share_params()

    def _reset_bind(self):
        if self.binded and self.params_initialized:
            self._sync_params_from_devices()
            self._params_are_own = False    # they outlive the executor
        self.binded = False
        self._exec_group = None
        self._data_shapes = None
        self._label_shapes = None

    def reshape(self, data_shapes, label_shapes=None):
        """Go on with other shapes of data, with the same parameters.

        >>> module = mx.mod.Module(mx.sym.exp(mx.sym.var('data'), name='out'), label_names=None)
        >>> module.bind([('data', (4, 2))], for_training=False)
        >>> module.reshape([('data', (6, 2))])
        >>> module.output_shapes
        [('out_output', (6, 2))]
        """
        self._need("binded")
        bound = self._data_shapes, self._label_shapes
        self._data_shapes, self._label_shapes = _parse_data_desc(self._data_names, self._label_names, data_shapes,
                                                                 label_shapes)
        try:
            self._exec_group.reshape(self._data_shapes, self._label_shapes)
        except ValueError:
            self._data_shapes, self._label_shapes = bound
            self._exec_group.bind_exec(*bound, reshape=True)
            raise

    def _index_to_name(self, update_on_kvstore):
        names = self._exec_group.param_names
        if update_on_kvstore:
            return dict(enumerate(names))
        count = len(self._context)
        return {i * count + device: name for i, name in enumerate(names) for device in range(count)}

    def init_optimizer(self, kvstore="local", optimizer="sgd", optimizer_params=(("learning_rate", 0.01),),
                       force_init=False):
        self._need("binded", "params_initialized")
        if self.optimizer_initialized and not force_init:
            self.logger.warning("optimizer already initialized, ignoring...")
            return
        store, update_on_kvstore = _create_kvstore(kvstore, len(self._context), self._arg_params)
        first = self.get_params()[0] if store else None
        batch_size = self._exec_group.batch_size
        if store and "dist" in store.type and "_async" not in store.type:
            batch_size *= store.num_workers
        rescale_grad = 1.0 / batch_size
        idx2name = self._index_to_name(update_on_kvstore)
        if isinstance(optimizer, str):
            optimizer_params = dict(optimizer_params)
            optimizer_params.setdefault("rescale_grad", rescale_grad)
            optimizer = opt.create(optimizer, sym=self.symbol, param_idx2name=idx2name, **optimizer_params)
        else:
            if not isinstance(optimizer, opt.Optimizer):
                raise _ArgumentTypeError(f"[Module] optimizer is a {type(optimizer).__name__}; an Optimizer or a name is expected")
            if optimizer.rescale_grad != rescale_grad:
                warnings.warn("Optimizer created manually outside Module but rescale_grad is not normalized to "
                              f"1.0/batch_size/num_workers ({optimizer.rescale_grad} vs. {rescale_grad}). "
                              "Is this intended?", stacklevel=2)
            if not optimizer.idx2name:
                optimizer.idx2name = idx2name
        self._optimizer = optimizer
        self._kvstore = store
        self._update_on_kvstore = update_on_kvstore
        self._updater = None
        if store:
            if self._compression_params:
                store.set_gradient_compression(self._compression_params)
            if update_on_kvstore:
                store.set_optimizer(optimizer)
            _initialize_kvstore(kvstore=store, param_arrays=self._exec_group.param_arrays,
                                arg_params=first, param_names=self._param_names,
                                update_on_kvstore=update_on_kvstore)
        if not update_on_kvstore:
            self._updater = opt.get_updater(optimizer)
        self.optimizer_initialized = True
        if self._preload_opt_states is not None:
            self.load_optimizer_states(self._preload_opt_states)
            self._preload_opt_states = None

    def borrow_optimizer(self, shared_module):
        """Use the optimizer of another module, which shares its parameters with this one.

        >>> net = mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=1)
        >>> module, other = (mx.mod.Module(net, label_names=None) for _ in range(2))
        >>> module.bind([('data', (4, 2))])
        >>> module.init_params()
        >>> module.init_optimizer()
        >>> other.bind([('data', (8, 2))], shared_module=module)
        >>> other.borrow_optimizer(module)
        >>> other.optimizer_initialized
        True
        """
        shared_module._need("optimizer_initialized")
        self._optimizer = shared_module._optimizer
        self._kvstore = shared_module._kvstore
        self._update_on_kvstore = shared_module._update_on_kvstore
        self._updater = shared_module._updater
        self.optimizer_initialized = True

    # -- computation --
    def _follow_shapes(self, data_batch):
        """Reshape when a batch has other shapes than those the module is bound for."""
        is_list = isinstance(data_batch, list)
        first = data_batch[0] if is_list else data_batch
        new = [array.shape for array in first.data]
        if is_list:
            # parts of a batch, one after the other along the first axis
            new = [(sum(part.data[i].shape[0] for part in data_batch), *shape[1:]) for i, shape in enumerate(new)]
        if new == [desc.shape for desc in self._data_shapes]:
            return
        if getattr(first, "provide_data", None) and not is_list:
            data_shapes = first.provide_data
        else:
            data_shapes = [DataDesc(desc.name, shape, desc.dtype, desc.layout)
                           for desc, shape in zip(self._data_shapes, new)]
        label = getattr(first, "label", None)
        if getattr(first, "provide_label", None) and not is_list:
            label_shapes = first.provide_label
        elif label and not is_list and self._label_shapes:
            label_shapes = [DataDesc(desc.name, label.shape, desc.dtype, desc.layout)
                            for desc, label in zip(self._label_shapes, label)]
        elif self._label_shapes:
            # no labels, for prediction: those of a batch of this size
            sizes = {desc.shape[0]: shape[0] for desc, shape in zip(self._data_shapes, new)}
            label_shapes = [DataDesc(desc.name, (sizes.get(desc.shape[0], desc.shape[0]), *desc.shape[1:]), desc.dtype,
                                     desc.layout) for desc in self._label_shapes]
        else:
            label_shapes = None
        bound = self._data_shapes
        try:
            self.reshape(data_shapes, label_shapes)
        except ValueError as error:
            # What the executor says is about the parameter whose shape follows from the batch.
            raise type(error)(f"[Module] a batch with {_shapes(data_shapes)} for a module that is bound to {_shapes(bound)}: "
                              f"{error}") from None

    def forward(self, data_batch, is_train=None):
        self._need("binded", "params_initialized")
        self._follow_shapes(data_batch)
        self._exec_group.forward(data_batch, is_train)

    def backward(self, out_grads=None):
        self._need("binded", "params_initialized")
        self._exec_group.backward(out_grads=out_grads)

    def update(self):
        self._need("binded", "params_initialized", "optimizer_initialized")
        self._params_dirty = True
        self._copies.release()
        group = self._exec_group
        if self._update_on_kvstore:
            _update_params_on_kvstore(group.param_arrays, group.grad_arrays, self._kvstore, group.param_names)
        else:
            _update_params(group.param_arrays, group.grad_arrays, updater=self._updater,
                           num_device=len(self._context), kvstore=self._kvstore, param_names=group.param_names)

    def get_outputs(self, merge_multi_context=True):
        self._need("binded", "params_initialized")
        return self._exec_group.get_outputs(merge_multi_context=merge_multi_context)

    def get_input_grads(self, merge_multi_context=True):
        self._need("binded", "params_initialized", "inputs_need_grad")
        return self._exec_group.get_input_grads(merge_multi_context=merge_multi_context)

    def get_states(self, merge_multi_context=True):
        self._need("binded", "params_initialized")
        return self._exec_group.get_states(merge_multi_context=merge_multi_context)

    def set_states(self, states=None, value=None):
        self._need("binded", "params_initialized")
        self._exec_group.set_states(states, value)

    def update_metric(self, eval_metric, labels, pre_sliced=False):
        self._exec_group.update_metric(eval_metric, labels, pre_sliced)

    def install_monitor(self, mon):
        self._need("binded")
        self._exec_group.install_monitor(mon)

    def explain(self, path=None, runs=5):
        """The plan of the first context that ran last, as :meth:`mxnet.executor.Executor.explain`
        gives it.

        Parameters
        ----------
        path : str, optional
            Where it is also written: ``.html``, ``.svg``, ``.txt`` or ``.json``.
        runs : int
            How often its nodes are run and timed, on copies of what is bound; 0: not at all.

        Returns
        -------
        mxnet.explain.Explanation

        Raises
        ------
        AssertionError
            for a module that is not bound.
        ValueError
            for another ending of `path`, and for `runs` outside of 0 to 1000.

        Examples
        --------
        >>> module = mx.mod.Module(mx.sym.relu(mx.sym.var('data'), name='relu'), label_names=None)
        >>> module.bind([('data', (1, 2))], for_training=False)
        >>> module.init_params()
        >>> module.forward(mx.io.DataBatch([mx.nd.array([[1, 2]])]))
        >>> [part['implementation'] for part in module.explain().plan['nodes'][0]['ran']]
        ['pointwise loop']
        """
        self._need("binded")
        return self._exec_group.execs[0].explain(path, runs)

    def prepare(self, data_batch, sparse_row_id_fn=None):
        self._need("binded")
        if sparse_row_id_fn is None:
            return
        if not self._kvstore or not self._update_on_kvstore:
            warnings.warn("Parameters are not updated in the KVStore. No need to call sparse_row_id_fn.",
                          stacklevel=2)
            return
        row_ids = sparse_row_id_fn(data_batch)
        if not isinstance(row_ids, dict):
            raise TypeError(f"[Module] sparse_row_id_fn returned {type(row_ids).__name__}; a dict is expected")
        for name, rows in row_ids.items():
            arrays = self._exec_group.param_arrays[self._exec_group.param_names.index(name)]
            if arrays[0].stype != "row_sparse":
                warnings.warn(f"{name}.stype is not 'row_sparse'. No need to perform row_sparse_pull.", stacklevel=2)
            else:
                self._kvstore.row_sparse_pull(name, arrays, row_ids=rows)
