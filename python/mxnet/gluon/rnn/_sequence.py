"""Sequences as one array with a time axis, or as a list with one array per step."""
import inspect

from ... import ndarray as nd, symbol
from ..._arrays.classes import is_np_ndarray, to_class_of
from ..._arrays.tracing import is_deferred_compute
from ...util import to_current_class
from ..parameter import tensor_types

__all__ = ['split_steps', 'join_steps', 'mask_steps', 'module_of', 'batch_axis_of', 'batch_size_of', 'make_states', 'zeros_beside']


def module_of(array):
    """`mx.nd` or `mx.sym`: the operators for `array`."""
    return symbol if isinstance(array, symbol.Symbol) else nd


def zeros_beside(array, axis=None):
    """What makes zeros of the class of `array`, from what `state_info` tells. `axis` is that of the
    sequences in `array`: a graph that is recorded makes as many states as it gets sequences."""
    if axis is not None and is_deferred_compute():
        return lambda **info: _zeros_like_batch(array, axis, info)
    if is_np_ndarray(array):
        return lambda **info: to_class_of(nd.zeros(**info), array)
    return module_of(array).zeros


def _zeros_like_batch(array, axis, info):
    """Zeros as `info` tells, whose number of sequences is that of `array` whenever the recorded
    graph runs."""
    shape, place = tuple(info['shape']), info.get('__layout__', '').find('N')
    if place < 0:
        return to_class_of(nd.zeros(**info), array)
    one = to_class_of(nd.zeros(**{**info, 'shape': shape[:place] + (1,) + shape[place + 1:]}), array)
    return nd.broadcast_like(one, array, lhs_axes=(place,), rhs_axes=(axis,))


def make_states(func, described):
    """A list with ``func(name=, shape=, ...)`` for each description; without `func`, zeros of the
    class that Gluon makes now. A function of mx.np gets the arguments that it knows."""
    if func is None:
        return [to_current_class(nd.zeros(**info)) for info in described]
    if getattr(func, '__module__', '').startswith('mxnet.numpy'):
        known = inspect.signature(func).parameters
        return [func(**{k: v for k, v in info.items() if k in known}) for info in described]
    return [func(**info) for info in described]


def batch_size_of(steps, layout):
    """Sequences per batch of a sequence in either form; 0 (open) for symbols."""
    merged = isinstance(steps, tensor_types)
    first = steps if merged else steps[0]
    return 0 if isinstance(first, symbol.Symbol) else first.shape[batch_axis_of(steps, layout)]


def batch_axis_of(steps, layout):
    """The axis of the sequences in the arrays of a sequence in either form."""
    return (layout if isinstance(steps, tensor_types) else layout.replace('T', '')).find('N')


def _check(length, inputs, layout):
    assert 'T' in layout and 'N' in layout, f'[gluon.rnn.unroll] layout {layout!r} given; it has to name T (steps) and N (batch)'
    axis = layout.find('T')
    if isinstance(inputs, symbol.Symbol):
        count = len(inputs.list_outputs())
        assert count == 1, (f'[gluon.rnn.unroll] a Symbol with {count} outputs given; '
                            'one output with a time axis, or a list of Symbols, is accepted')
        return axis
    steps = inputs.shape[axis] if isinstance(inputs, nd.NDArray) else len(inputs)
    assert length is None or steps == length, f'[gluon.rnn.unroll] inputs of {steps} steps given for length={length}; both have to be equal'
    return axis


def split_steps(length, inputs, layout):
    """A list with one array per step; `inputs` may be one already."""
    axis = _check(length, inputs, layout)
    if not isinstance(inputs, tensor_types):
        return list(inputs)
    steps = module_of(inputs).split(inputs, axis=axis, num_outputs=inputs.shape[axis] if length is None else length, squeeze_axis=1)
    if isinstance(steps, symbol.Symbol):
        return [steps[i] for i in range(len(steps.list_outputs()))]
    return [steps] if isinstance(steps, nd.NDArray) else list(steps)


def join_steps(length, inputs, layout):
    """One array with a time axis where `layout` says; `inputs` may be one already."""
    axis = _check(length, inputs, layout)
    if isinstance(inputs, tensor_types):
        return inputs
    return module_of(inputs[0]).stack(*inputs, axis=axis)


def mask_steps(length, outputs, layout, valid_length):
    """One array, 0 from step valid_length[n] of sequence n on."""
    outputs = join_steps(length, outputs, layout)
    return module_of(outputs).SequenceMask(outputs, sequence_length=valid_length, use_sequence_length=True, axis=layout.find('T'))


# -- under the names of 1.x, which other packages' cells import from rnn_cell

def _format_sequence(length, inputs, layout, merge, in_layout=None):
    """(`inputs` as one array if `merge`, as a list if it is False and as they are if it is None;
    axis of time in `layout`; mx.nd or mx.sym; batch size)."""
    given = in_layout or layout
    F = module_of(inputs if isinstance(inputs, tensor_types) else inputs[0])
    batch = batch_size_of(inputs, given)
    axis, given_axis = layout.find('T'), given.find('T')
    if merge is False:
        return split_steps(length, inputs, given), axis, F, batch
    if merge and not isinstance(inputs, tensor_types):
        return join_steps(None, inputs, layout), axis, F, batch
    if isinstance(inputs, tensor_types) and axis != given_axis:
        inputs = F.swapaxes(inputs, dim1=axis, dim2=given_axis)
    return inputs, axis, F, batch


def _mask_sequence_variable_length(F, data, length, valid_length, time_axis, merge):
    """`data`, one array, 0 from step valid_length[n] on; as a list with one array per step unless
    `merge`."""
    out = F.SequenceMask(data, sequence_length=valid_length, use_sequence_length=True, axis=time_axis)
    return out if merge else split_steps(length, out, 'TN' if time_axis == 0 else 'NT')


def _reverse_sequences(sequences, unroll_step, valid_length=None):
    """The steps in a list in reverse order; with `valid_length`, only those before it."""
    if valid_length is None:
        return list(reversed(sequences))
    F = module_of(sequences[0])
    turned = F.SequenceReverse(F.stack(*sequences, axis=0), sequence_length=valid_length, use_sequence_length=True)
    return [turned[0]] if unroll_step == 1 else split_steps(unroll_step, turned, 'TN')


def _get_begin_state(cell, F, begin_state, inputs, batch_size):
    """`begin_state`, or zeros for `batch_size` sequences where `inputs` are."""
    if begin_state is not None:
        return begin_state
    first = inputs if isinstance(inputs, tensor_types) else inputs[0]
    place = {'ctx': first.context, 'dtype': first.dtype} if F is nd else {}
    return cell.begin_state(batch_size=batch_size, func=zeros_beside(first), **place)


def _cells_state_info(cells, batch_size):
    """What the states of all `cells` are, in one list."""
    return [info for cell in cells for info in cell.state_info(batch_size)]


def _cells_begin_state(cells, **kwargs):
    """The first states of all `cells`, in one list."""
    return [state for cell in cells for state in cell.begin_state(**kwargs)]
