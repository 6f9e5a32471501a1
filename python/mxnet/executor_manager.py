"""Executors of one network on several devices, each with a part of every batch: what FeedForward of
1.x was made of. Module does more."""
import logging

from . import ndarray as nd
from .io import DataDesc
from .module.executor_group import _split_input_slice

__all__ = ["DataParallelExecutorGroup", "DataParallelExecutorManager"]


def _check_arguments(symbol):
    """Raises ValueError for a network with two arguments or two auxiliary states of one name."""
    for kind, names in (("argument", symbol.list_arguments()), ("auxiliary param", symbol.list_auxiliary_states())):
        twice = [name for name in names if names.count(name) > 1]
        if twice:
            raise ValueError(f'[executor_manager] Find duplicated {kind} name "{twice[0]}", please '
                             f'make the weight name non-duplicated; names are {names}')


def _load_general(data, targets):
    """Copies arrays into targets: each an array, or a list of (slice of the batch, array on a
    device)."""
    for source, target in zip(data, targets):
        if isinstance(target, nd.NDArray):
            source.copyto(target)
            continue
        for part, array in target:
            source[part].copyto(array)


def _load_data(batch, targets):
    """The data of a batch into arrays."""
    _load_general(batch.data, targets)


def _load_label(batch, targets):
    """The labels of a batch into arrays."""
    _load_general(batch.label, targets)


def _bind_exec(sym, ctx, input_shapes, param_names, need_grad=False, base_exec=None,
               shared_data_arrays=None, input_types=None, logger=logging):
    """An executor of `sym` on a device.

    Parameters
    ----------
    input_shapes : dict of str to tuple
    param_names : list of str
        Arguments that are learned.
    need_grad : bool or set of str
        Whether parameters, or which arguments, get gradients.
    base_exec : Executor, optional
        Its parameters and auxiliary states are used again.
    shared_data_arrays : dict of str to NDArray, optional
        Memory of inputs, used where it is large enough; what is made is entered.
    input_types : dict of str to dtype, optional
    """
    shapes, _, aux_shapes = sym.infer_shape(**input_shapes)
    if shapes is None:
        raise ValueError("[executor_manager] the shapes of the inputs do not say the shapes of all arguments")
    types, _, aux_types = sym.infer_type(**(input_types or {name: "float32" for name in input_shapes}))
    wanted = set(param_names) if need_grad is True else set(need_grad or ())
    arguments, gradients, requests = [], {}, {}
    for name, shape, dtype in zip(sym.list_arguments(), shapes, types):
        requests[name] = "write" if name in wanted else "null"
        shared = base_exec is not None and name in param_names
        if shared:
            array = base_exec.arg_dict[name]
            if array.shape != shape:
                raise ValueError(f"[executor_manager] {name} has shape {array.shape} in the executor that is shared, and {shape} here")
        elif shared_data_arrays is not None and name not in param_names:
            array = _from_pool(shared_data_arrays, name, shape, ctx, dtype, logger)
        else:
            array = nd.zeros(shape, ctx, dtype=dtype)
        arguments.append(array)
        if name in wanted:
            gradients[name] = base_exec.grad_dict[name] if shared else nd.zeros(shape, ctx, dtype=dtype)
    if base_exec is not None:
        states = list(base_exec.aux_arrays)
    else:
        states = [nd.zeros(shape, ctx, dtype=dtype) for shape, dtype in zip(aux_shapes, aux_types)]
    return sym.bind(ctx, arguments, args_grad=gradients, grad_req=requests, aux_states=states, shared_exec=base_exec)


def _from_pool(pool, name, shape, ctx, dtype, logger):
    """An input's array out of the memory of `pool`, which grows where that is too small."""
    size = 1
    for d in shape:
        size *= d
    known = pool.get(name)
    if known is None or known.size < size:
        if known is not None:
            logger.warning("executor_manager: input %s grows from %s to %s; give the largest bucket first", name, known.shape, shape)
        known = pool[name] = nd.zeros(shape, ctx, dtype=dtype)
    return known.reshape((-1,))[:size].reshape(shape)


class DataParallelExecutorGroup:
    """Executors of one network, one per device, with the parameters of `shared_group` if there is
    one.

    Parameters
    ----------
    sym : Symbol
    arg_names, param_names : list of str
        All arguments, and those that are learned.
    ctx : list of Context
    slices : list of slice
        The part of a batch that each device gets.
    train_data : DataIter or DataBatch
        Its `provide_data` and `provide_label` say names and shapes.
    shared_group : DataParallelExecutorGroup, optional

    Examples
    --------
    >>> net = mx.sym.LinearRegressionOutput(2 * mx.sym.var('data'), mx.sym.var('label'))
    >>> batches = mx.io.NDArrayIter(mx.nd.arange(4), mx.nd.arange(4), 4, label_name='label')
    >>> group = mx.executor_manager.DataParallelExecutorGroup(
    ...     net, net.list_arguments(), [], [mx.cpu(0), mx.cpu(1)], [slice(0, 3), slice(3, 4)], batches)
    >>> group.load_data_batch(next(batches))
    >>> group.forward()
    >>> [executor.outputs[0].asnumpy() for executor in group.train_execs]
    [array([0., 2., 4.], dtype=float32), array([6.], dtype=float32)]
    """

    def __init__(self, sym, arg_names, param_names, ctx, slices, train_data, shared_group=None):
        _check_arguments(sym)
        self.shared_data_arrays = [{} for _ in ctx] if shared_group is None else shared_group.shared_data_arrays
        self.data_names = [desc[0] for desc in train_data.provide_data]
        self.label_names = [desc[0] for desc in train_data.provide_label]
        self.aux_names = sym.list_auxiliary_states()
        self.param_idx = [i for i, name in enumerate(arg_names) if name in param_names]
        self.param_names = [arg_names[i] for i in self.param_idx]
        self.slices = slices
        self.train_execs = []
        inputs = list(train_data.provide_data) + list(train_data.provide_label)
        for i, device in enumerate(ctx):
            length = slices[i].stop - slices[i].start
            shapes = {desc[0]: (length, *desc[1][1:]) for desc in inputs}
            types = {desc.name: desc.dtype for desc in inputs if isinstance(desc, DataDesc)} or None
            self.train_execs.append(_bind_exec(sym, device, shapes, self.param_names, need_grad=True, input_types=types,
                                               base_exec=None if shared_group is None else shared_group.train_execs[i],
                                               shared_data_arrays=self.shared_data_arrays[i]))
        execs = self.train_execs
        self.data_arrays = [[(slices[i], e.arg_dict[name]) for i, e in enumerate(execs)] for name in self.data_names]
        self.label_arrays = [[(slices[i], e.arg_dict[name]) for i, e in enumerate(execs)] for name in self.label_names]
        self.param_arrays = [[e.arg_arrays[i] for e in execs] for i in self.param_idx]
        self.grad_arrays = [[e.grad_arrays[i] for e in execs] for i in self.param_idx]
        self.aux_arrays = [[e.aux_arrays[i] for e in execs] for i in range(len(self.aux_names))]

    def load_data_batch(self, data_batch):
        """Copy a batch to the devices."""
        _load_data(data_batch, self.data_arrays)
        _load_label(data_batch, self.label_arrays)

    def forward(self, is_train=False):
        """Run all executors forward."""
        for executor in self.train_execs:
            executor.forward(is_train=is_train)

    def backward(self):
        """Run all executors backward."""
        for executor in self.train_execs:
            executor.backward()

    def update_metric(self, metric, labels, pre_sliced=False):
        """Count the outputs; with `pre_sliced` `labels` has a list per device, else each device
        takes its part."""
        for i, (executor, part) in enumerate(zip(self.train_execs, self.slices)):
            metric.update(labels[i] if pre_sliced else [label[part] for label in labels], executor.outputs)


class DataParallelExecutorManager:
    """Executors of a network on several devices, and, with `sym_gen`, of one network per bucket.

    Parameters
    ----------
    symbol : Symbol
    ctx : list of Context
    train_data : DataIter
    arg_names, param_names, aux_names : list of str, optional
        Of the network; those that are learned are all but the inputs.
    work_load_list : list of numbers, optional
        How much of a batch each device gets, relative to the others.
    logger : logging.Logger, optional
    sym_gen : callable, optional
        Gives the network for a bucket key.

    Examples
    --------
    A step of gradient descent on two devices, each with half of the batch:

    >>> scores = mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=2, no_bias=True, name='fc')
    >>> net = mx.sym.SoftmaxOutput(scores, name='softmax')
    >>> batches = mx.io.NDArrayIter(mx.nd.array([[1, 0], [0, 1]] * 2), mx.nd.array([0, 1] * 2), 4)
    >>> devices = [mx.cpu(0), mx.cpu(1)]
    >>> manager = mx.executor_manager.DataParallelExecutorManager(net, devices, batches)
    >>> params = {'fc_weight': mx.nd.zeros((2, 2))}
    >>> manager.set_params(params, {})
    >>> manager.install_monitor(mx.mon.Monitor(interval=100))
    >>> batch = next(batches)
    >>> manager.load_data_batch(batch)
    >>> manager.forward(is_train=True)
    >>> manager.backward()
    >>> for weights, grads in zip(manager.param_arrays, manager.grad_arrays):
    ...     total = grads[0] + grads[1].as_in_context(mx.cpu(0))
    ...     for weight in weights:
    ...         weight -= total.as_in_context(weight.context)
    >>> manager.copy_to(params, {})
    >>> params['fc_weight'].asnumpy()
    array([[ 1., -1.],
           [-1.,  1.]], dtype=float32)
    >>> manager.forward()
    >>> metric = mx.metric.Accuracy()
    >>> manager.update_metric(metric, batch.label)
    >>> metric.get(), manager.aux_arrays
    (('accuracy', 1.0), [])
    """

    def __init__(self, symbol, ctx, train_data, arg_names=None, param_names=None, aux_names=None,
                 work_load_list=None, logger=None, sym_gen=None):
        logger = logging if logger is None else logger
        logger.info("Start training with %s", str(ctx))
        work_load_list = [1] * len(ctx) if work_load_list is None else work_load_list
        if not isinstance(work_load_list, list) or len(work_load_list) != len(ctx):
            raise AssertionError(f"[executor_manager] Invalid settings for work load: {work_load_list!r} for {len(ctx)} devices")
        inputs = {desc[0] for desc in list(train_data.provide_data) + list(train_data.provide_label)}
        self.slices = _split_input_slice(train_data.batch_size, work_load_list)
        self.arg_names = symbol.list_arguments() if arg_names is None else arg_names
        self.param_names = [name for name in self.arg_names if name not in inputs] if param_names is None else param_names
        self.aux_names = symbol.list_auxiliary_states() if aux_names is None else aux_names
        self.ctx = ctx
        self.symbol = symbol
        self.sym_gen = sym_gen
        self.execgrp = DataParallelExecutorGroup(symbol, self.arg_names, self.param_names, ctx, self.slices, train_data)
        self.curr_execgrp = None        # the group of the batch that was loaded
        self._monitors = []
        if sym_gen is not None:
            self.execgrp_bucket = {train_data.default_bucket_key: self.execgrp}

    def install_monitor(self, monitor):
        """Let `monitor` watch all executors, with buckets also those that are made later."""
        self._monitors.append(monitor)
        for group in {self.execgrp, *getattr(self, "execgrp_bucket", {}).values()}:
            for executor in group.train_execs:
                monitor.install(executor)

    def set_params(self, arg_params, aux_params):
        """Give values to parameters and auxiliary states on all devices; names that the network
        does not have are left out."""
        for executor in self.execgrp.train_execs:
            executor.copy_params_from(arg_params, aux_params, allow_extra_params=True)

    def copy_to(self, arg_params, aux_params):
        """Write the means over the devices into the arrays of two dictionaries."""
        for names, arrays, params in ((self.param_names, self.param_arrays, arg_params), (self.aux_names, self.aux_arrays, aux_params)):
            for name, copies in zip(names, arrays):
                mean = sum(copy.copyto(params[name].context) for copy in copies) / len(copies)
                mean.astype(params[name].dtype).copyto(params[name])

    @property
    def param_arrays(self):
        """Per parameter, its arrays on the devices."""
        return self.execgrp.param_arrays

    @property
    def grad_arrays(self):
        """Per parameter, its gradients on the devices."""
        return self.execgrp.grad_arrays

    @property
    def aux_arrays(self):
        """Per auxiliary state, its arrays on the devices."""
        return self.execgrp.aux_arrays

    def load_data_batch(self, data_batch):
        """Copy a batch to the devices; with buckets, to the executors of its key, made when first
        needed."""
        if self.sym_gen is None:
            self.curr_execgrp = self.execgrp
        else:
            key = data_batch.bucket_key
            if key not in self.execgrp_bucket:
                symbol = self.sym_gen(key)
                self.execgrp_bucket[key] = DataParallelExecutorGroup(
                    symbol, symbol.list_arguments(), self.param_names, self.ctx, self.slices, data_batch,
                    shared_group=self.execgrp)
                for monitor in self._monitors:
                    for executor in self.execgrp_bucket[key].train_execs:
                        monitor.install(executor)
            self.curr_execgrp = self.execgrp_bucket[key]
        self.curr_execgrp.load_data_batch(data_batch)

    def forward(self, is_train=False):
        """Run the executors of the loaded batch forward."""
        self.curr_execgrp.forward(is_train=is_train)

    def backward(self):
        """Run the executors of the loaded batch backward."""
        self.curr_execgrp.backward()

    def update_metric(self, metric, labels, pre_sliced=False):
        """Count the outputs of the loaded batch."""
        self.curr_execgrp.update_metric(metric, labels, pre_sliced)
