"""A DataLoader's parts as objects of the native library, whose threads read items without the
interpreter (`DataLoader(try_nopython=True)`)."""
import copy

import numpy as np

from ... import _dtypes, ndarray as nd
from ...base import _LIB, MXNetError
from ...util import to_current_class
from ...io._native import Epochs, NativeIterator, iterator_records
from .. import block as _block
from . import _internal, batchify as _batchify, dataset as _dataset, sampler as _sampler

__all__ = []


def _of_array(data):
    """A dataset of the parts of an array or a list of numbers; None if it is neither."""
    if not isinstance(data, nd.NDArray):
        try:
            values = np.asarray(data)
        except ValueError:
            return None
        if values.dtype.kind not in 'fiub' or values.ndim == 0:
            return None
        data = nd.array(values, dtype=values.dtype)
    return _internal.NDArrayDataset(arr=data)


def _transformed(view):
    """The dataset of a hybrid block without parameters that changes all items alike, or None."""
    first_only = isinstance(view._fn, _dataset._TransformFirstClosure)
    block, base = view._fn._fn if first_only else view._fn, dataset(view._data)
    if base is None or not len(base) or not isinstance(block, _block.HybridBlock) or block.collect_params():
        return None
    sample = base[0]
    sample = sample if isinstance(sample, tuple) else (sample,)
    block = copy.deepcopy(block)        # the program's own one stays as it is
    block.hybridize()
    inputs = sample[:1] if first_only else sample
    try:
        block(*inputs)
    except (MXNetError, TypeError, ValueError):
        return None
    trace = block._traces.last
    if trace is None or trace.num_plain != len(inputs) or not all(isinstance(a, int) for a in trace.args) or len(trace.args) != len(inputs):
        return None
    return _internal.LazyTransformDataset(cached_op=trace.op, dataset=base, transform_indices=tuple(trace.args),
                                          scalar_outputs=(0,) * len(trace.out.list_outputs()))


def dataset(data):
    """`data` as an MXDataset; None if the library cannot read it."""
    if isinstance(data, _internal.MXDataset):
        return data
    if type(data) is _dataset.SimpleDataset:
        return _of_array(data._data)
    if type(data) is _dataset.ArrayDataset:
        parts = [_of_array(part) for part in data._data]
        if None in parts:
            return None
        return parts[0] if len(parts) == 1 else _internal.GroupDataset(datasets=parts)
    if type(data) is _dataset._SampledDataset:
        base = dataset(data._dataset)
        return base and _internal.IndexedDataset(base=base, indices=data._indices)
    return _transformed(data) if type(data) is _dataset._LazyTransformDataset else None


def function(batchify_fn):
    """`batchify_fn` as an MXBatchifyFunction; None if it is a Python function."""
    if batchify_fn is None or type(batchify_fn) is _batchify.Stack:
        return _internal.StackBatchify()
    if isinstance(batchify_fn, _internal.MXBatchifyFunction):
        return batchify_fn
    if type(batchify_fn) is _batchify.Pad:
        dtype = -1 if batchify_fn._dtype is None else _dtypes.number(batchify_fn._dtype)
        return _internal.PadBatchify(pad_val=batchify_fn._pad_val, dtype=dtype, round_to=batchify_fn._round_to or -1)
    if type(batchify_fn) is _batchify.Group:
        parts = [function(part) for part in batchify_fn._fn]
        return None if None in parts else _internal.GroupBatchify(functions=parts)
    return None


def sampler(batch_sampler):
    """`batch_sampler` as an iterator of the library; None if it is another kind."""
    if isinstance(batch_sampler, _internal.MXSampler):
        return batch_sampler
    inner = getattr(batch_sampler, '_sampler', None)
    kind = {_sampler.SequentialSampler: 'SequentialSampler', _sampler.RandomSampler: 'RandomSampler'}.get(type(inner))
    if type(batch_sampler) is not _sampler.BatchSampler or kind is None:
        return None
    start = {'start': inner._start} if kind == 'SequentialSampler' else {}
    return _internal.MXSampler(kind, length=len(inner), batch_size=batch_sampler._batch_size, last_batch=batch_sampler._last_batch, **start)


class NativeLoader:
    """Epochs that the library's threads prepare. RuntimeError, with the part that is no part of the
    library, if it cannot do that."""

    def __init__(self, data, batchify_fn, batch_sampler, threads, prefetch, pin_device_id):
        parts = {'dataset': dataset(data), 'batchify_fn': function(batchify_fn), 'batch_sampler': sampler(batch_sampler)}
        failed = [name for name, part in parts.items() if part is None]
        if failed:
            raise RuntimeError("[gluon.data.DataLoader] try_nopython=True: the library's threads cannot run the given "
                               f"{', '.join(failed)}; "
                               'accepted: datasets of arrays, their shards and their hybrid transforms without parameters; '
                               'Stack, Pad and Group; sequential and random batches')
        self._sampler = parts.pop('batch_sampler')      # of the latest epoch
        self._parts = parts
        self._options = {'num_workers': threads, 'prefetch_buffer': max(prefetch, 1), 'pin_device_id': pin_device_id}
        self._batch_sampler = batch_sampler
        self._epochs = Epochs(self._iterator, self._batch)

    def _iterator(self):
        self._sampler = sampler(self._batch_sampler)
        arguments = {**self._parts, 'sampler': self._sampler, **self._options}
        return NativeIterator(iterator_records['ThreadedDataLoader'].create(_LIB.MXDataIterCreateIter, arguments))

    @staticmethod
    def _batch(arrays):
        arrays = [to_current_class(array) for array in arrays]
        return arrays[0] if len(arrays) == 1 else tuple(arrays)

    def __len__(self):
        return len(self._sampler)

    def __iter__(self):
        return iter(self._epochs)
