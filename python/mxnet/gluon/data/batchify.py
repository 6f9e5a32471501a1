"""Functions that make one batch of a list of samples."""
import numpy as np

from ... import context as context_mod, ndarray as nd
from ...util import to_current_class

__all__ = ['Stack', 'Pad', 'Append', 'Group', 'AsList']


def _stack_arrays(arrays, shared):
    """NDArrays of equal shape as one with a new first axis, in memory that other processes can map
    when `shared`; rows of csr arrays as one csr array."""
    if arrays[0].stype == 'csr':    # of one row each: csr arrays have two axes
        return nd.concat(*arrays, dim=0)
    arrays = [a.as_nd_ndarray() for a in arrays]
    if not shared or arrays[0].context.device_type == 'gpu':    # only the host's memory is shared
        batch = nd.stack(*arrays)
        return to_current_class(batch.as_in_context(context_mod.Context('cpu_shared', 0)) if shared
                                else batch)
    out = nd.empty((len(arrays),) + arrays[0].shape, dtype=arrays[0].dtype, ctx=context_mod.Context('cpu_shared', 0))
    return to_current_class(nd.stack(*arrays, out=out))


def _has_arrays(sample):
    return any(isinstance(s, (nd.NDArray, dict)) or isinstance(s, (list, tuple)) and _has_arrays(s) for s in sample)


def stack(data, shared=False):
    """Samples as one batch: NDArrays are stacked, the items of tuples and dicts (and of lists with
    NDArrays or dicts in them) are batched each for itself, and everything else, such as lists of
    numbers, goes through NumPy, keeping its dtype. ValueError for samples of different structures,
    TypeError for what is no number."""
    first = data[0]
    if isinstance(first, nd.NDArray):
        return _stack_arrays(data, shared)
    if isinstance(first, tuple) or isinstance(first, list) and _has_arrays(first):
        return [stack(items, shared) for items in zip(*data)]
    if isinstance(first, dict):
        if any(not isinstance(sample, dict) or sample.keys() != first.keys() for sample in data):
            raise ValueError(f'[gluon.data.batchify] samples with other keys than the first one, {list(first)}; samples of one '
                             'structure are accepted (or a batchify_fn of your own)')
        return {key: stack([sample[key] for sample in data], shared) for key in first}
    try:
        batch = np.asarray(data)
    except ValueError as e:
        raise ValueError(f'[gluon.data.batchify] samples that cannot be stacked: {e}; samples of '
                         f'one shape are accepted (or a batchify_fn that pads)') from e
    if batch.dtype.kind in 'OSUMm' and str(batch.dtype) != 'bfloat16':
        raise TypeError(f'[gluon.data.batchify] samples of type {type(first).__name__}; numbers, arrays, and tuples and dicts of them '
                        'are accepted (or a batchify_fn of your own, such as batchify.AsList)')
    return to_current_class(nd.array(batch, dtype=batch.dtype, ctx=context_mod.Context('cpu_shared', 0) if shared else None))


class Stack:
    """Stacks samples along a new first axis; `use_shared_mem` for DataLoader workers.

    >>> mx.gluon.data.batchify.Stack()([mx.nd.ones(3), mx.nd.zeros(3)]).shape
    (2, 3)
    """

    def __init__(self, use_shared_mem=False):
        self._use_shared_mem = use_shared_mem

    def __call__(self, data):
        return stack(data, self._use_shared_mem)


class Pad:
    """Stacks samples along a new first axis, the smaller ones filled up at the end of each axis.

    Parameters
    ----------
    val : number, optional
        What fills them up; 0 by default.
    dtype : str or type, optional
        Of the batch; by default that of the first sample.
    round_to : int, optional
        Sizes become multiples of it.
    use_shared_mem : bool
        For DataLoader workers.

    Examples
    --------
    >>> from mxnet.gluon.data.batchify import Pad
    >>> Pad(val=-1)([[1, 2, 3], [4]]).asnumpy().tolist()
    [[1, 2, 3], [4, -1, -1]]
    """

    def __init__(self, val=None, dtype=None, round_to=None, use_shared_mem=False):
        if round_to is not None and round_to < 1:
            raise ValueError(f'[gluon.data.batchify.Pad] round_to={round_to} given; 1 or more is accepted')
        self._pad_val = 0 if val is None else val
        self._dtype = dtype
        self._round_to = round_to
        self._use_shared_mem = use_shared_mem

    def __call__(self, data):
        if isinstance(data[0], tuple):
            raise NotImplementedError('[gluon.data.batchify.Pad] samples of several items; Group(Pad(), Pad(), ...) is accepted')
        samples = [s.asnumpy() if isinstance(s, nd.NDArray) else np.asarray(s) for s in data]
        if len({s.ndim for s in samples}) > 1:
            raise ValueError(f'[gluon.data.batchify.Pad] samples of {sorted({s.ndim for s in samples})} dimensions; '
                             'the same number is accepted')
        sizes = np.max([s.shape for s in samples], axis=0).astype(np.int64)
        if self._round_to is not None:
            sizes = -(-sizes // self._round_to) * self._round_to
        batch = np.full((len(samples), *sizes), self._pad_val, dtype=self._dtype or samples[0].dtype)
        for i, sample in enumerate(samples):
            batch[(i, *(slice(size) for size in sample.shape))] = sample
        ctx = context_mod.Context('cpu_shared', 0) if self._use_shared_mem else context_mod.cpu()
        return to_current_class(nd.array(batch, dtype=batch.dtype, ctx=ctx))


class Group:
    """A function of its own for each item of a sample; the batch is a tuple of their results.

    Parameters
    ----------
    fn, args : callable
        The functions, one by one or in a list.

    Examples
    --------
    >>> from mxnet.gluon.data.batchify import Group, Pad, Stack
    >>> data, label = Group(Pad(), Stack())([([1, 2], 0), ([3], 1)])
    >>> data.asnumpy().tolist(), label.asnumpy().tolist()
    ([[1, 2], [3, 0]], [0, 1])
    """

    def __init__(self, fn, *args):
        functions = fn if isinstance(fn, (list, tuple)) else (fn, *args)
        assert not args or not isinstance(fn, (list, tuple)), \
            f'[gluon.data.batchify.Group] a list and {len(args)} functions given; either is accepted'
        for i, function in enumerate(functions):
            assert callable(function), f'[gluon.data.batchify.Group] function {i} is a {type(function).__name__}; callables are accepted'
        self._fn = functions

    def __call__(self, data):
        assert all(len(sample) == len(self._fn) for sample in data), \
            f'[gluon.data.batchify.Group] samples of {sorted({len(s) for s in data})} items given; {len(self._fn)} is accepted'
        return tuple(function([sample[i] for sample in data]) for i, function in enumerate(self._fn))


class Append:
    """A list of samples of any shapes, each as an NDArray, with a new axis at `batch_axis` when
    `expand`.

    >>> [a.shape for a in mx.gluon.data.batchify.Append()([mx.nd.ones(3), mx.nd.ones(2)])]
    [(1, 3), (1, 2)]
    """

    def __init__(self, expand=True, batch_axis=0, use_shared_mem=False):
        self._expand = expand
        self._batch_axis = batch_axis
        self._use_shared_mem = use_shared_mem

    def __call__(self, data):
        ctx = context_mod.Context('cpu_shared', 0) if self._use_shared_mem else context_mod.cpu()
        out = []
        for sample in data:
            if not isinstance(sample, nd.NDArray):
                sample = np.asarray(sample)
                sample = nd.array(sample, dtype=sample.dtype)
            if self._expand:
                sample = nd.expand_dims(sample, axis=self._batch_axis)
            out.append(to_current_class(sample.as_in_context(ctx)))
        return out


class AsList:
    """The samples themselves, as a list.

    >>> mx.gluon.data.batchify.AsList()(['one', 'two'])
    ['one', 'two']
    """

    def __call__(self, data):
        return list(data)
