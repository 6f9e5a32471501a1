"""Sequences as one array with a time axis, or as a list with one array per step."""
from ... import ndarray as nd, symbol
from ..parameter import tensor_types

__all__ = ['split_steps', 'join_steps', 'mask_steps', 'module_of', 'batch_size_of']


def module_of(array):
    """`mx.nd` or `mx.sym`: the operators for `array`."""
    return symbol if isinstance(array, symbol.Symbol) else nd


def batch_size_of(steps, layout):
    """Sequences per batch of a sequence in either form; 0 (open) for symbols."""
    merged = isinstance(steps, tensor_types)
    first = steps if merged else steps[0]
    if isinstance(first, symbol.Symbol):
        return 0
    return first.shape[layout.find('N') if merged else layout.replace('T', '').find('N')]


def _check(length, inputs, layout):
    assert 'T' in layout and 'N' in layout, f'[gluon.rnn.unroll] layout {layout!r} given; it has to name T (steps) and N (batch)'
    axis = layout.find('T')
    if isinstance(inputs, symbol.Symbol):
        count = len(inputs.list_outputs())
        assert count == 1, f'[gluon.rnn.unroll] a Symbol with {count} outputs given; one output with a time axis, or a list of Symbols, is accepted'
        return axis
    steps = inputs.shape[axis] if isinstance(inputs, nd.NDArray) else len(inputs)
    assert length is None or steps == length, f'[gluon.rnn.unroll] inputs of {steps} steps given for length={length}; both have to be equal'
    return axis


def split_steps(length, inputs, layout):
    """A list with one array per step; `inputs` may be one already."""
    axis = _check(length, inputs, layout)
    if not isinstance(inputs, tensor_types):
        return list(inputs)
    steps = module_of(inputs).split(inputs, axis=axis, num_outputs=inputs.shape[axis] if length is None else length, squeeze_axis=True)
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
