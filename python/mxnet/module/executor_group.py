"""Executors of one network on several devices, each with a part of the batch."""
import logging
from collections import OrderedDict

import numpy as np

from .. import ndarray as nd
from ..base import error_class
from ..context import cpu
from ..io import DataDesc
from .base_module import _ArgumentError, _StateError

__all__ = ["DataParallelExecutorGroup"]


def _split_input_slice(batch_size, work_load_list):
    """Slices of the batch in proportion to the loads.

    Raises
    ------
    ValueError
        if a device would get nothing.
    """
    total = sum(work_load_list)
    counts = [round(load * batch_size / total) for load in work_load_list]
    counts[-1] += max(0, batch_size - sum(counts))
    ends = np.minimum(np.cumsum(counts), batch_size)
    starts = [0, *ends[:-1]]
    if any(start >= end for start, end in zip(starts, ends)):
        raise ValueError(f"[Module] Too many slices. Some splits are empty: a batch of {batch_size} "
                         f"for loads {list(work_load_list)}")
    return [slice(int(start), int(end)) for start, end in zip(starts, ends)]


def _part(array, axis, part):
    """A part of an array along the batch's axis; the array itself without one, or if the part is
    all of it. Whoever takes it refuses an array that does not have that axis."""
    if axis < 0 or axis >= array.ndim or (part.start == 0 and part.stop == array.shape[axis]):
        return array
    if axis == 0:
        return array[part]
    return nd.slice_axis(array, axis=axis, begin=part.start, end=part.stop)


def _load_general(arrays, targets, axes):
    """Copy batch arrays to the devices: `targets` has an array for each, or a list with the slice
    of the batch and the array of each device."""
    for array, on_devices, axis in zip(arrays, targets, axes):
        if isinstance(on_devices, nd.NDArray):
            array.copyto(on_devices)
        elif isinstance(array, (list, tuple)):      # sliced by the caller
            for part, (_, target) in zip(array, on_devices):
                part.copyto(target)
        else:
            for piece, target in on_devices:
                _part(array, axis, piece).copyto(target)


def _load_data(batch, targets, axes):
    _load_general(batch.data, targets, axes)


def _load_label(batch, targets, axes):
    _load_general(batch.label, targets, axes)


def _merge_multi_context(arrays, axes):
    """Join lists of arrays, one per device, along the batch's axis; the first device's is taken
    without one."""
    merged = []
    for on_devices, axis in zip(arrays, axes):
        if axis < 0 or len(on_devices) == 1:
            merged.append(on_devices[0])
        else:
            first = on_devices[0].context
            merged.append(nd.concat(*[array.as_in_context(first) for array in on_devices], dim=axis))
    return merged


class DataParallelExecutorGroup:
    """Executors of one network on several devices, each with a part of the batch.

    Parameters
    ----------
    symbol : Symbol
    contexts : list of Context
    workload : list of float
        How the batch is divided among the devices.
    data_shapes, label_shapes : list of DataDesc
        Of the whole batch; labels may be None.
    param_names : list of str
        Arguments that are parameters.
    for_training, inputs_need_grad : bool
        Whether parameters and data have gradients.
    shared_group : DataParallelExecutorGroup, optional
        One whose parameters and memory are shared.
    logger : logging.Logger
    fixed_param_names : list of str, optional
        Parameters without gradients.
    grad_req : str, list or dict of str
    state_names : list of str, optional
        Arguments that keep their values between batches.
    group2ctxs : dict, or list of dict for each device, optional
        Devices of the groups of ``ctx_group``.
    """

    def __init__(self, symbol, contexts, workload, data_shapes, label_shapes, param_names, for_training,
                 inputs_need_grad, shared_group=None, logger=logging, fixed_param_names=None, grad_req="write",
                 state_names=None, group2ctxs=None):
        self.symbol = symbol
        self.contexts = contexts
        self.workload = workload
        self.param_names = param_names
        self.for_training = for_training
        self.inputs_need_grad = inputs_need_grad
        self.logger = logger
        self.fixed_param_names = fixed_param_names or []
        self.state_names = state_names or []
        self.group2ctxs = self._per_device(group2ctxs)
        self.arg_names = symbol.list_arguments()
        self.aux_names = symbol.list_auxiliary_states()
        self.output_names = symbol.list_outputs()
        self.grad_req = self._requests(grad_req, data_shapes)
        # An output says with __layout__ where its batch is; the first axis, if it does not. Two
        # outputs may have one name: the last output of a recurrent cell beside its states.
        self.output_layouts = [DataDesc.get_batch_axis(output.attr("__layout__")) for output in symbol]
        self.execs = []
        self.shared_data_arrays = [{} for _ in contexts] if shared_group is None else shared_group.shared_data_arrays
        self.batch_size = None
        self.slices = None
        self.bind_exec(data_shapes, label_shapes, shared_group)

    def _per_device(self, group2ctxs):
        """One dictionary of group to context for each device."""
        count = len(self.contexts)
        if group2ctxs is None:
            return [None] * count
        if isinstance(group2ctxs, (list, tuple)):
            if len(group2ctxs) != count:
                raise _ArgumentError(f"[Module] {len(group2ctxs)} group2ctxs for {count} devices")
            return list(group2ctxs)
        result = [{} for _ in range(count)]
        for group, contexts in group2ctxs.items():
            contexts = contexts if isinstance(contexts, (list, tuple)) else [contexts] * count
            contexts = list(contexts) * count if len(contexts) == 1 else contexts
            if len(contexts) != count:
                raise _ArgumentError(f"[Module] group2ctxs has {len(contexts)} contexts of {group} for {count} devices")
            for mapping, context in zip(result, contexts):
                mapping[group] = context
        return result

    def _requests(self, grad_req, data_shapes):
        """The gradient request of each argument."""
        data_names = {desc[0] for desc in data_shapes}
        if isinstance(grad_req, (list, tuple)):
            if len(grad_req) != len(self.arg_names):
                raise ValueError(f"[Module] {len(grad_req)} grad_req for {len(self.arg_names)} arguments")
            grad_req = dict(zip(self.arg_names, grad_req))
        result = {}
        for name in self.arg_names:
            if isinstance(grad_req, dict):
                default = "write"
                given = grad_req.get(name)
            else:
                default, given = grad_req, None
            if not self.for_training:
                result[name] = "null"
            elif name in self.param_names:
                result[name] = "null" if name in self.fixed_param_names else given or default
            elif name in data_names:
                result[name] = (given or default) if self.inputs_need_grad else "null"
            else:
                result[name] = given or "null"
        return result

    def decide_slices(self, data_shapes):
        """Divide the batch among the devices. Returns the batch's axis in each of the arrays."""
        axes = [DataDesc.get_batch_axis(getattr(desc, "layout", "NCHW")) for desc in data_shapes]
        for (name, shape), axis in zip(data_shapes, axes):
            if axis == -1:
                continue
            size = shape[axis]
            if self.batch_size is not None and size != self.batch_size:
                raise _ArgumentError(f"[Module] all data must have the same batch size: it is {self.batch_size}, but {name} "
                                 f"has shape {shape}")
            if self.batch_size is None:
                self.batch_size = size
                self.slices = _split_input_slice(size, self.workload)
        return axes

    def _shapes_of(self, index, descriptions, axes):
        """The descriptions of what device `index` gets."""
        part = self.slices[index]
        result = []
        for desc, axis in zip(descriptions, axes):
            shape = list(desc.shape)
            if axis >= 0:
                shape[axis] = part.stop - part.start
            result.append(DataDesc(desc.name, tuple(shape), desc.dtype, desc.layout))
        return result

    def bind_exec(self, data_shapes, label_shapes, shared_group=None, reshape=False):
        """Make the executors, or with `reshape` others for new shapes that keep the parameters."""
        self.batch_size = None
        self.data_layouts = self.decide_slices(data_shapes)
        if label_shapes is not None:
            for desc in label_shapes:
                if desc.name not in self.arg_names:     # a loss that has another label would train with zeros; 1.x raised KeyError
                    raise error_class(ValueError, KeyError)(f"[Module] label_shapes has {desc.name!r}, which is no argument of the symbol; "
                                                            f"its arguments are {', '.join(self.arg_names)}")
            self.label_layouts = self.decide_slices(label_shapes)
        for index, context in enumerate(self.contexts):
            inputs = self._shapes_of(index, data_shapes, self.data_layouts)
            if label_shapes is not None:
                inputs += self._shapes_of(index, label_shapes, self.label_layouts)
            shapes = {desc.name: desc.shape for desc in inputs}
            if reshape:
                self.execs[index] = self._default_execs[index].reshape(allow_up_sizing=True, **shapes)
            else:
                self.execs.append(self.symbol.simple_bind(
                    ctx=context, grad_req=self.grad_req, type_dict={desc.name: desc.dtype for desc in inputs},
                    group2ctx=self.group2ctxs[index], shared_arg_names=self.param_names,
                    shared_exec=None if shared_group is None else shared_group.execs[index],
                    shared_buffer=self.shared_data_arrays[index], **shapes))
        if not reshape:
            self._default_execs = list(self.execs)
        self.data_shapes = data_shapes
        self.label_shapes = label_shapes
        self.data_names = [desc.name for desc in data_shapes]
        self.label_names = None if label_shapes is None else [desc.name for desc in label_shapes]
        self._collect_arrays()

    def _arguments(self, names, table="arg_dict"):
        return [[getattr(executor, table)[name] for executor in self.execs] for name in names]

    def _inputs(self, names):
        return [list(zip(self.slices, on_devices)) for on_devices in self._arguments(names)]

    def _collect_arrays(self):
        """Lists of arrays, one per device, by kind of argument."""
        self.data_arrays = self._inputs(self.data_names)
        self.state_arrays = self._arguments(self.state_names)
        used = [(name, axis) for name, axis in zip(self.label_names or (), getattr(self, "label_layouts", ()))
                if name in self.arg_names]
        self._used_labels = [name for name, _ in used]
        self._used_label_axes = [axis for _, axis in used]
        self.label_arrays = self._inputs(self._used_labels) if self.label_names is not None else None
        parameters = [name for name in self.arg_names if name in self.param_names]
        self.param_arrays = self._arguments(parameters)
        self.grad_arrays = [[executor.grad_dict.get(name) for executor in self.execs] for name in parameters] \
            if self.for_training else None
        self.input_grad_arrays = [[executor.grad_dict.get(name) for executor in self.execs]
                                  for name in self.data_names if name in self.arg_names] \
            if self.inputs_need_grad else None
        self.aux_arrays = self._arguments(self.aux_names, "aux_dict")

    def reshape(self, data_shapes, label_shapes):
        """Other shapes, the same parameters."""
        if data_shapes == self.data_shapes and label_shapes == self.label_shapes:
            return
        self.bind_exec(data_shapes, label_shapes, reshape=True)

    def set_params(self, arg_params, aux_params, allow_extra=False):
        """Copy values to all devices."""
        for executor in self.execs:
            executor.copy_params_from(arg_params, aux_params, allow_extra_params=allow_extra)

    def get_params(self, arg_params, aux_params):
        """Write the mean over the devices into the arrays of two dictionaries."""
        parameters = [name for name in self.arg_names if name in self.param_names]
        for names, arrays, target in ((parameters, self.param_arrays, arg_params),
                                      (self.aux_names, self.aux_arrays, aux_params)):
            for name, on_devices in zip(names, arrays):
                mean = on_devices[0].as_in_context(cpu())
                if len(on_devices) > 1:
                    mean = sum((a.as_in_context(cpu()) for a in on_devices[1:]), mean) / len(on_devices)
                mean.astype(target[name].dtype, copy=False).copyto(target[name])

    def forward(self, data_batch, is_train=None):
        """A forward pass on all devices."""
        if isinstance(data_batch, list):            # one batch for each device
            data = list(zip(*(part.data for part in data_batch)))
            labels = list(zip(*(getattr(part, "label", None) or () for part in data_batch)))
        else:
            data, labels = data_batch.data, getattr(data_batch, "label", None)
        _load_general(data, self.data_arrays, self.data_layouts)
        if is_train is None:
            is_train = self.for_training
        if self.label_arrays and labels:
            if len(self._used_labels) != len(self.label_names):
                labels = [label for name, label in zip(self.label_names, labels) if name in self._used_labels]
            _load_general(labels, self.label_arrays, self._used_label_axes)
        for executor in self.execs:
            executor.forward(is_train=is_train)

    def get_output_shapes(self):
        """Names and shapes of the outputs for the whole batch."""
        shapes = []
        for name, output, axis in zip(self.output_names, self.execs[0].outputs, self.output_layouts):
            shape = list(output.shape)
            if axis >= 0:
                shape[axis] = self.batch_size
            shapes.append((name, tuple(shape)))
        return shapes

    def get_outputs(self, merge_multi_context=True, begin=0, end=None):
        """Outputs number `begin` to `end`: joined arrays, or lists of arrays, one per device."""
        end = len(self.output_names) if end is None else end
        outputs = [[executor.outputs[i] for executor in self.execs] for i in range(begin, end)]
        return _merge_multi_context(outputs, self.output_layouts[begin:end]) if merge_multi_context else outputs

    def get_states(self, merge_multi_context=True):
        """Values of the state arrays; not joined: they belong to the devices."""
        if merge_multi_context:
            raise _ArgumentError("[Module] merge_multi_context=True is not supported for get_states")
        return self.state_arrays

    def set_states(self, states=None, value=None):
        """Set the state arrays to given ones, or to one number."""
        if states is not None:
            if value is not None:
                raise _ArgumentError("[Module] Only one of states & value can be specified.")
            targets = [list(zip(self.slices, on_devices)) for on_devices in self.state_arrays]
            _load_general(states, targets, [0] * len(targets))
        else:
            if value is None:
                raise _ArgumentError("[Module] At least one of states & value must be specified.")
            for on_devices in self.state_arrays:
                for state in on_devices:
                    state[:] = value

    def get_input_grads(self, merge_multi_context=True):
        """Gradients of the data: joined arrays, or lists of arrays, one per device."""
        if not self.inputs_need_grad:
            raise _StateError("[Module] the gradients of the data need bind with inputs_need_grad=True")
        return _merge_multi_context(self.input_grad_arrays, self.data_layouts) if merge_multi_context else self.input_grad_arrays

    def backward(self, out_grads=None):
        """A backward pass on all devices."""
        if not self.for_training:
            raise _StateError("[Module] backward needs bind with for_training=True")
        out_grads = [] if out_grads is None else out_grads
        for index, (executor, piece) in enumerate(zip(self.execs, self.slices)):
            grads = []
            for grad, axis in zip(out_grads, self.output_layouts):
                if isinstance(grad, (list, tuple)):
                    grads.append(grad[index].as_in_context(self.contexts[index]))
                else:
                    grads.append(_part(grad, axis, piece).as_in_context(self.contexts[index]))
            executor.backward(out_grads=grads)

    def update_metric(self, eval_metric, labels, pre_sliced):
        """Let a metric take in outputs and labels, device by device."""
        for index, (executor, piece) in enumerate(zip(self.execs, self.slices)):
            if pre_sliced:
                parts = labels[index]
            else:
                parts = [_part(label, axis, piece)
                         for label, axis in zip(labels or (), getattr(self, "label_layouts", ()))]
            try:
                eval_metric.update_dict(OrderedDict(zip(self.label_names or (), parts)),
                                        OrderedDict(zip(self.output_names, executor.outputs)))
            except ValueError as error:
                if parts:
                    raise
                # 1.x raised TypeError when there were no labels to go through.
                raise error_class(TypeError, ValueError)(f"[Module] update_metric has no labels for {type(eval_metric).__name__}: "
                                                         f"{error}") from error

    def install_monitor(self, mon):
        """Let a monitor look at all executors."""
        for executor in self.execs:
            mon.install(executor)
