"""Functions that make one batch of a list of samples."""
import numpy as np

from ... import context as context_mod, ndarray as nd

__all__ = ['Stack', 'Append', 'AsList']


def _stack_arrays(arrays, shared):
    """NDArrays of equal shape as one with a new first axis, in memory that other processes can map
    when `shared`."""
    if not shared:
        return nd.stack(*arrays)
    out = nd.empty((len(arrays),) + arrays[0].shape, dtype=arrays[0].dtype, ctx=context_mod.Context('cpu_shared', 0))
    return nd.stack(*arrays, out=out)


def _has_arrays(sample):
    return any(isinstance(s, nd.NDArray) or isinstance(s, (list, tuple)) and _has_arrays(s) for s in sample)


def stack(data, shared=False):
    """Samples as one batch: NDArrays are stacked, the items of tuples (and of lists with NDArrays
    in them) are batched each for itself, and everything else, such as lists of numbers, goes
    through NumPy, keeping its dtype. ValueError for lists of different lengths."""
    first = data[0]
    if isinstance(first, nd.NDArray):
        return _stack_arrays(data, shared)
    if isinstance(first, tuple) or isinstance(first, list) and _has_arrays(first):
        return [stack(items, shared) for items in zip(*data)]
    try:
        batch = np.asarray(data)
    except ValueError as e:
        raise ValueError(f'[gluon.data.batchify] samples that cannot be stacked: {e}; samples of '
                         f'one shape are accepted (or a batchify_fn that pads)') from e
    if shared:
        return nd.array(batch, dtype=batch.dtype, ctx=context_mod.Context('cpu_shared', 0))
    return nd.array(batch, dtype=batch.dtype)


class Stack:
    """Stacks samples along a new first axis; `use_shared_mem` for DataLoader workers."""

    def __init__(self, use_shared_mem=False):
        self._use_shared_mem = use_shared_mem

    def __call__(self, data):
        return stack(data, self._use_shared_mem)


class Append:
    """A list of samples of any shapes, each as an NDArray, with a new axis at `batch_axis` when
    `expand`."""

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
                sample = sample.expand_dims(axis=self._batch_axis)
            out.append(sample.as_in_context(ctx))
        return out


class AsList:
    """The samples themselves, as a list."""

    def __call__(self, data):
        return list(data)
