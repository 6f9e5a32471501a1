"""DataLoader: batches from a dataset, made in this process, in worker processes or in threads."""
import functools
import threading

from ... import context as context_mod, ndarray as nd  # noqa: F401
from ..._display.repr import from_arguments
from . import batchify
from . import sampler as _sampler
from ..._startup.interrupt import HeldInterrupt
from ._make_batch import make_batch
from ._pool_iter import _MultiWorkerIter, _as_in_context, _worker_fn, _worker_initializer  # noqa: F401  (taken from here by programs of 1.x, as is what follows)
from ._shared_memory import ForkingPickler, rebuild_ndarray, reduce_ndarray  # noqa: F401

__all__ = ['DataLoader', 'default_batchify_fn', 'default_mp_batchify_fn']


def default_batchify_fn(data):
    """Samples as one batch on the CPU: NDArrays stacked, tuples and dicts item by item, everything
    else through NumPy with its dtype kept."""
    return batchify.stack(data)


def default_mp_batchify_fn(data):
    """Like `default_batchify_fn`, in shared memory."""
    return batchify.stack(data, shared=True)


class DataLoader:
    """Iterates over batches of a dataset.

    Parameters
    ----------
    dataset : anything with __len__ and __getitem__
    batch_size : int
        Required unless `batch_sampler` is given.
    shuffle : bool
        Random order, anew each epoch.
    sampler : Sampler
        Instead of `shuffle`: the order.
    last_batch : {'keep', 'discard', 'rollover'}
        What happens to an incomplete last batch.
    batch_sampler : Sampler
        Yields lists of indices; instead of the four arguments before.
    batchify_fn : callable
        Makes a batch of a list of samples. Default: `default_batchify_fn`, with workers
        `default_mp_batchify_fn`.
    num_workers : int
        Processes (or threads) that make batches ahead; 0 makes them when asked. The processes are
        forked at construction and see the dataset as it is then. Their NDArrays come through shared
        memory, without a copy.
    pin_memory : bool
        Copy batches to page-locked memory, from where copies to GPU `pin_device_id` overlap with
        work.
    prefetch : int
        Batches under way at most; default 2 * num_workers.
    thread_pool : bool
        Threads instead of processes.
    timeout : int
        Seconds to wait for a worker's batch, then multiprocessing.TimeoutError.
    auto_reload : bool
        Start the next epoch's batches as soon as this one's are taken; `refresh` and `clean`
        restart and stop that.
    try_nopython : bool, optional
        True, with workers: threads of the native library read the items and make the batches, whose
        items come as a tuple. RuntimeError if `dataset`, `batchify_fn` or the order of the batches
        are not among those that it can do. Random orders come from mx.random.seed then. MXNet 2.0
        does this by itself where it can; here it is asked for.

    An exception in a worker is raised here, with the worker's traceback as its cause. ValueError
    for arguments that contradict each other.

    Examples
    --------
    >>> data = mx.gluon.data.ArrayDataset(mx.nd.arange(10).reshape((5, 2)), mx.nd.arange(5))
    >>> for x, y in mx.gluon.data.DataLoader(data, batch_size=2, last_batch='keep'):
    ...     print(x.shape, y.asnumpy())
    (2, 2) [0. 1.]
    (2, 2) [2. 3.]
    (1, 2) [4.]
    """

    __repr__ = from_arguments(without=("prefetch", "batchify_fn"))

    def __init__(self, dataset, batch_size=None, shuffle=False, sampler=None, last_batch=None, batch_sampler=None, batchify_fn=None,
                 num_workers=0, pin_memory=False, pin_device_id=0, prefetch=None, thread_pool=False, timeout=120, auto_reload=False,
                 try_nopython=None):
        self._workers = None
        self._prefetch_iter = None
        self._mx_iter = None
        assert timeout > 0, f'[gluon.data.DataLoader] timeout={timeout} given; a positive number of seconds is accepted'
        self._dataset = dataset
        self._pin_memory = pin_memory
        self._pin_device_id = pin_device_id
        self._thread_pool = thread_pool
        self._timeout = timeout
        self._batch_sampler = self._make_batch_sampler(batch_size, shuffle, sampler, last_batch, batch_sampler)
        self._num_workers = max(0, num_workers)
        self._prefetch = max(0, 2 * self._num_workers if prefetch is None else int(prefetch))
        if try_nopython and self._num_workers:
            from ._nopython import NativeLoader
            self._mx_iter = NativeLoader(dataset, batchify_fn, self._batch_sampler, self._num_workers, self._prefetch,
                                         pin_device_id if pin_memory else -1)
            self.auto_reload = False
            return
        if batchify_fn is None:
            batchify_fn = default_mp_batchify_fn if self._num_workers and not thread_pool else default_batchify_fn
        self._batchify_fn = batchify_fn
        if self._num_workers:
            with HeldInterrupt():
                from ._workers import ProcessWorkers, ThreadWorkers
                self._workers = (ThreadWorkers if thread_pool else ProcessWorkers)(self._num_workers, dataset, batchify_fn)
                self._workers.belong_to(self)
        self.auto_reload = auto_reload
        if auto_reload:
            self.refresh()

    def _make_batch_sampler(self, batch_size, shuffle, sampler, last_batch, batch_sampler):
        if batch_sampler is not None:
            if batch_size is not None or shuffle or sampler is not None or last_batch is not None:
                raise ValueError('[gluon.data.DataLoader] batch_sampler given together with batch_size, shuffle, sampler or last_batch; '
                                 'either is accepted')
            return batch_sampler
        if batch_size is None:
            raise ValueError('[gluon.data.DataLoader] neither batch_size nor batch_sampler given; one of them is accepted')
        if sampler is None:
            sampler = _sampler.RandomSampler(len(self._dataset)) if shuffle else _sampler.SequentialSampler(len(self._dataset))
        elif shuffle:
            raise ValueError('[gluon.data.DataLoader] shuffle=True given with a sampler, which is the order; either is accepted')
        return _sampler.BatchSampler(sampler, batch_size, last_batch or 'keep')

    def _start(self):
        return _Epoch(self)

    def __iter__(self):
        if self._mx_iter is not None:
            return iter(self._mx_iter)
        if self._prefetch_iter is None:
            return self._start()
        epoch, self._prefetch_iter = self._prefetch_iter, None
        epoch.keep(self)
        return epoch

    def __len__(self):
        return len(self._batch_sampler if self._mx_iter is None else self._mx_iter)

    def refresh(self):
        """Start preparing an epoch now; the next `iter` takes it.

        >>> loader = mx.gluon.data.DataLoader([1, 2, 3], batch_size=2, num_workers=1, thread_pool=True)
        >>> loader.refresh()    # workers read while the program does something else
        >>> [batch.asnumpy().tolist() for batch in loader]
        [[1, 2], [3]]
        >>> loader.refresh()
        >>> loader.clean()      # there is no further epoch
        """
        self.clean()
        if self._mx_iter is not None:
            return
        self._prefetch_iter = self._start()
        self._prefetch_iter.keep(None)    # it must not keep the loader that keeps it

    def clean(self):
        """Drop an epoch that was prepared."""
        if self._prefetch_iter is not None:
            self._prefetch_iter.close()
            self._prefetch_iter = None

    def close(self):
        """End the workers; the loader cannot be used afterwards. Happens by itself when the loader
        is garbage.

        >>> loader = mx.gluon.data.DataLoader([1, 2, 3], batch_size=2, num_workers=1)
        >>> [batch.asnumpy().tolist() for batch in loader]
        [[1, 2], [3]]
        >>> loader.close()
        """
        self.clean()
        if self._workers is not None:
            self._workers.close()


class _Epoch:
    """The iterator over one epoch; its length is the number of batches. Several threads may take
    batches; each goes to one of them.

    Neither it nor the loader has a finalizer in Python: an interrupt (Ctrl-C) that arrives in one
    is lost. The workers see when either is gone.
    """

    def __init__(self, loader):
        self._loader = loader    # keeps the workers alive
        self._workers, self._timeout = loader._workers, loader._timeout
        self._length = len(loader._batch_sampler) if hasattr(loader._batch_sampler, '__len__') else None
        self._lists = iter(loader._batch_sampler)
        self._under_way = []
        self._lock = threading.RLock()    # guards what is under way
        if self._workers is not None:
            self._workers.watch(self, self._under_way)
            for _ in range(loader._prefetch + 1):
                if not self._submit():
                    break
        else:
            self._make = functools.partial(make_batch, loader._dataset, loader._batchify_fn)
        self._finish = _Finish(loader._pin_memory, loader._pin_device_id)

    def keep(self, loader):
        """Hold `loader`, or let it go."""
        self._loader = loader

    def _submit(self):
        indices = next(self._lists, None)
        if indices is not None:
            self._under_way.append(self._workers.submit(indices))
        return indices is not None

    def __iter__(self):
        return self

    def __next__(self):
        if self._workers is None:
            with self._lock:
                indices = next(self._lists, None)
            if indices is not None:
                return self._finish(self._make(indices))
        else:
            with self._lock:
                batch = self._take()
            if batch is not None:
                return self._finish(*batch)
        loader, self._loader = self._loader, None
        if loader is not None and loader.auto_reload and loader._prefetch_iter is None:
            loader.refresh()
        raise StopIteration

    next = __next__

    def _take(self):
        """The next batch, which workers made, in a tuple; None at the end."""
        if not self._under_way:
            return None
        try:
            batch = self._workers.fetch(self._under_way[0], self._timeout)
        except BaseException:
            self.close()
            raise
        self._under_way.pop(0)
        self._submit()
        return (batch,)

    def close(self):
        """Drop what is under way; no batches come any more."""
        tasks = list(self._under_way)
        self._under_way.clear()
        self._lists = iter(())
        if self._workers is not None:
            self._workers.forget(tasks)

    def __len__(self):
        return self._length


class _Finish:
    """What happens to a batch in this process."""

    def __init__(self, pin_memory, device):
        self._pinned = context_mod.cpu_pinned(device) if pin_memory else None

    def __call__(self, batch):
        return batch if self._pinned is None else _as_in_context(batch, self._pinned)
