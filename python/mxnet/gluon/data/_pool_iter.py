"""Batches from a multiprocessing pool of the caller's, under the names that 1.x programs import
from the module of the DataLoader."""
import pickle

from ... import context as context_mod, ndarray as nd
from . import _shared_memory
from ._make_batch import make_batch

__all__ = ['_MultiWorkerIter', '_worker_fn', '_worker_initializer']

_worker_dataset = None


def _as_in_context(data, ctx):
    """Nested lists and dicts with their NDArrays moved to `ctx`."""
    if isinstance(data, nd.NDArray):
        return data.as_in_context(ctx)
    if isinstance(data, (list, tuple)):
        return [_as_in_context(d, ctx) for d in data]
    if isinstance(data, dict):
        return {key: _as_in_context(d, ctx) for key, d in data.items()}
    return data


def _worker_initializer(dataset, *_):
    """For ``Pool(initializer=...)``: the dataset of a worker's tasks."""
    global _worker_dataset
    _worker_dataset = dataset


def _worker_fn(samples, batchify_fn, dataset=None):
    """In a worker: the batch of the samples with these indices, as bytes. The dataset is the
    initializer's, or `dataset`."""
    source = _worker_dataset if dataset is None else dataset
    if source is None:
        raise ValueError('[gluon.data.dataloader] no dataset: give one, or make the pool with initializer=_worker_initializer')
    return _shared_memory.dumps(make_batch(source, batchify_fn, samples))


class _MultiWorkerIter:
    """Iterates over the batches of one epoch, which the processes of `worker_pool` make ahead.

    Parameters
    ----------
    worker_pool : multiprocessing.Pool
        Anything with ``apply_async``.
    batchify_fn : callable
    batch_sampler : iterable of lists of indices
    pin_memory, pin_device_id
        As of DataLoader.
    worker_fn : callable
        (indices, batchify_fn, dataset) -> bytes, in the pool.
    prefetch : int
        Batches under way at first.
    dataset
        Goes to `worker_fn`; None for the initializer's.
    data_loader
        Kept as long as this.
    timeout : int
        Seconds, then multiprocessing.TimeoutError.
    """

    def __init__(self, worker_pool, batchify_fn, batch_sampler, pin_memory=False, pin_device_id=0,
                 worker_fn=_worker_fn, prefetch=0, dataset=None, data_loader=None,
                 timeout=120):
        self._worker_pool, self._batchify_fn, self._batch_sampler = worker_pool, batchify_fn, batch_sampler
        self._pinned = context_mod.cpu_pinned(pin_device_id) if pin_memory else None
        self._worker_fn, self._dataset, self._data_loader, self._timeout = worker_fn, dataset, data_loader, timeout
        self._iter = iter(batch_sampler)
        self._under_way = []
        for _ in range(prefetch):
            self._push_next()

    def __len__(self):
        return len(self._batch_sampler)

    def _push_next(self):
        indices = next(self._iter, None)
        if indices is not None:
            self._under_way.append(self._worker_pool.apply_async(self._worker_fn, (indices, self._batchify_fn, self._dataset)))

    def __next__(self):
        self._push_next()
        if not self._under_way:
            raise StopIteration
        made = self._under_way.pop(0).get(self._timeout)
        batch = pickle.loads(made) if isinstance(made, bytes) else made
        if self._pinned is None:
            return batch
        return _as_in_context(batch, self._pinned)

    next = __next__

    def __iter__(self):
        return self
