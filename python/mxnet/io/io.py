"""Iterators over arrays and files, and iterators over iterators."""
import collections
import queue
import threading
import warnings
import weakref

import numpy as np

from .. import ndarray as nd
from .._startup.interrupt import HeldInterrupt
from ..base import CheckedValueError
from . import _native
from ._native import MXDataIter
from .base import DataBatch, DataDesc, DataIter
from .utils import _getdata_by_idx, _init_data

__all__ = ["DataBatch", "DataDesc", "DataIter", "MXDataIter", "NDArrayIter", "PrefetchingIter", "ResizeIter"]


class _OverIterators(DataIter):
    """An iterator over iterators: `current_batch` is what the last `iter_next` found."""

    current_batch = None

    def getdata(self):
        return self.current_batch.data

    def getlabel(self):
        return self.current_batch.label

    def getindex(self):
        return self.current_batch.index

    def getpad(self):
        return self.current_batch.pad


class ResizeIter(_OverIterators):
    """Another iterator with passes of `size` batches.

    Parameters
    ----------
    data_iter : DataIter
    size : int
        Batches in a pass.
    reset_internal : bool
        Begin a new pass of `data_iter` with each of ours; else go on where the last one ended.

    Examples
    --------
    >>> batches = mx.io.NDArrayIter(mx.nd.ones((6, 2)), batch_size=2)
    >>> len(list(mx.io.ResizeIter(batches, size=5)))
    5
    """

    def __init__(self, data_iter, size, reset_internal=True):
        super().__init__()
        self.data_iter = data_iter
        self.size = size
        self.reset_internal = reset_internal
        self.cur = 0
        self.current_batch = None
        self.provide_data = data_iter.provide_data
        self.provide_label = data_iter.provide_label
        self.batch_size = data_iter.batch_size
        if hasattr(data_iter, "default_bucket_key"):
            self.default_bucket_key = data_iter.default_bucket_key

    def reset(self):
        self.cur = 0
        if self.reset_internal:
            self.data_iter.reset()

    def iter_next(self):
        if self.cur == self.size:
            return False
        try:
            self.current_batch = self.data_iter.next()
        except StopIteration:
            self.data_iter.reset()
            self.current_batch = self.data_iter.next()
        self.cur += 1
        return True


class _Prefetcher:
    """A thread that is one batch ahead of its reader. What the iterator raises is raised for the
    reader.

    A place is (number of the pass, number of the batch in it). Asking twice for a place is asking
    once, and a batch stays until the reader asks for a later one. So Ctrl-C may come anywhere, and
    the next call goes on where the last one ended.
    """

    def __init__(self, iterator):
        self._requests = queue.SimpleQueue()     # of places
        self._results = collections.deque()      # of (place, batch, error)
        self._news = queue.SimpleQueue()         # something for each result
        # The thread knows the queues and the iterator, not us: it ends when we are collected: the
        # reference itself is requested then. weakref.finalize calls Python, which Ctrl-C may end.
        end = weakref.ref(self, self._requests.put)
        thread = threading.Thread(target=self._work, args=(iterator, self._requests, self._results, self._news, end), daemon=True,
                                  name="PrefetchingIter")
        with HeldInterrupt():               # which Thread.start may turn into another error
            thread.start()

    @staticmethod
    def _work(iterator, requests, results, news, end):
        last = (0, -1)
        for place in iter(requests.get, end):
            if place <= last:
                continue
            passes, last = last[0], place
            try:
                if place[0] > passes:
                    iterator.reset()
                results.append((place, iterator.next(), None))
            except StopIteration:
                results.append((place, None, None))
            except BaseException as error:      # pylint: disable=broad-except
                results.append((place, None, error))
            news.put(None)

    def prepare(self, place):
        """The batch at `place` will be asked for."""
        self._requests.put(place)

    def take(self, place):
        """The batch at `place`, None at the end of the pass."""
        results = self._results
        self._requests.put(place)
        while not results or results[0][0] < place:
            if results:
                results.popleft()
                while not self._news.empty():
                    self._news.get()
            else:
                self._news.get()
        _, batch, error = results[0]
        if error is not None:
            results[0] = place, None, None      # until the next pass
            raise error
        if batch is not None:
            self._requests.put((place[0], place[1] + 1))
        return batch


class PrefetchingIter(_OverIterators):
    """Reads other iterators ahead, each in a thread of its own, and joins their batches.

    Parameters
    ----------
    iters : DataIter or list of DataIter
    rename_data, rename_label : list of dict, optional
        For each iterator new names for its arrays.

    Several threads may call `next`; each batch goes to one of them.

    Examples
    --------
    >>> batches = mx.io.PrefetchingIter(mx.io.NDArrayIter(mx.nd.ones((6, 2)), batch_size=2))
    >>> len([batch for batch in batches])
    3

    Two iterators, whose arrays would have one name:

    >>> left, right = (mx.io.NDArrayIter(mx.nd.ones((4, n)), batch_size=2) for n in (3, 5))
    >>> both = mx.io.PrefetchingIter([left, right], [{'data': 'left'}, {'data': 'right'}])
    >>> [(description.name, description.shape) for description in both.provide_data]
    [('left', (2, 3)), ('right', (2, 5))]
    >>> [array.shape for array in both.next().data], both.provide_label
    ([(2, 3), (2, 5)], [])
    """

    def __init__(self, iters, rename_data=None, rename_label=None):
        super().__init__()
        self.iters = iters if isinstance(iters, list) else [iters]
        if not self.iters:
            raise CheckedValueError("[PrefetchingIter] no iterator was given")
        self.n_iter = len(self.iters)
        self.rename_data = rename_data
        self.rename_label = rename_label
        self.batch_size = self.provide_data[0][1][0]
        self.current_batch = None
        self._lock = threading.RLock()      # an array of each iterator belongs to one batch
        self._prefetchers = [_Prefetcher(iterator) for iterator in self.iters]
        self._go_to((0, 0))

    @staticmethod
    def _renamed(described, names):
        if names is None:
            return [desc for descs in described for desc in descs]
        result = []
        for new, descs in zip(names, described):
            for desc in descs:
                desc = desc if isinstance(desc, DataDesc) else DataDesc(*desc)
                result.append(DataDesc(new[desc.name], desc.shape, desc.dtype, desc.layout))
        return result

    @property
    def provide_data(self):
        """Descriptions of the data of all iterators."""
        return self._renamed([i.provide_data for i in self.iters], self.rename_data)

    @property
    def provide_label(self):
        """Descriptions of the labels of all iterators."""
        return self._renamed([i.provide_label for i in self.iters], self.rename_label)

    def _go_to(self, place):
        self._place = place                 # of the batch that comes next
        for prefetcher in self._prefetchers:
            prefetcher.prepare(place)

    def reset(self):
        with self._lock:
            self._go_to((self._place[0] + 1, 0))

    def iter_next(self):
        with self._lock:
            return self._advance()

    def _advance(self):
        batches = [prefetcher.take(self._place) for prefetcher in self._prefetchers]
        if any(batch is None for batch in batches):
            if not all(batch is None for batch in batches):
                raise ValueError("[PrefetchingIter] the iterators have passes of different lengths")
            return False
        pads = {batch.pad for batch in batches}
        if len(pads) > 1:
            raise ValueError(f"[PrefetchingIter] the iterators have batches with different padding: {sorted(pads)}")
        self.current_batch = DataBatch(
            [array for batch in batches for array in batch.data],
            [array for batch in batches for array in batch.label or ()],
            batches[0].pad, batches[0].index, provide_data=self.provide_data, provide_label=self.provide_label)
        self._place = self._place[0], self._place[1] + 1
        return True

    def next(self):
        with self._lock:
            if self.iter_next():
                return self.current_batch
        raise StopIteration


class NDArrayIter(DataIter):
    """Batches of arrays in memory.

    Parameters
    ----------
    data : NDArray, numpy.ndarray, h5py.Dataset, list of them, or dict of str to them
        Arrays with the same first dimension. NumPy arrays become float32, NDArrays keep their
        dtype.
    label : the same, optional
    batch_size : int
    shuffle : bool
        Another order for each pass, from NumPy's random generator.
    last_batch_handle : {'pad', 'discard', 'roll_over'}
        What becomes of instances that do not fill a batch: filled up from the beginning, left out,
        or put in front of the next pass. Others warn and do as 'discard'.
    data_name, label_name : str
        Names of single arrays.
    layout : str
        For the descriptions of the data.

    Raises
    ------
    ValueError, TypeError
        if an array is shorter than the first or there is none, or an option is not one of those
        above.

    Examples
    --------
    >>> batches = mx.io.NDArrayIter(mx.nd.arange(10).reshape((5, 2)), mx.nd.arange(5), batch_size=2)
    >>> for batch in batches:
    ...     print(batch.data[0].shape, batch.label[0].asnumpy(), batch.pad)
    (2, 2) [0. 1.] 0
    (2, 2) [2. 3.] 0
    (2, 2) [4. 0.] 1
    """

    def __init__(self, data, label=None, batch_size=1, shuffle=False, last_batch_handle="pad", data_name="data",
                 label_name="softmax_label", layout="NCHW"):
        super().__init__(batch_size)
        if batch_size < 1:
            raise ValueError(f"[NDArrayIter] batch_size={batch_size}; at least 1 is expected")
        if last_batch_handle not in ("pad", "discard", "roll_over"):
            warnings.warn(f"[NDArrayIter] last_batch_handle={last_batch_handle!r} leaves out instances that do not fill a "
                          "batch; 'pad', 'discard' and 'roll_over' are accepted", stacklevel=2)
        self.data = _init_data(data, allow_empty=False, default_name=data_name)
        self.label = _init_data(label, allow_empty=True, default_name=label_name)
        if last_batch_handle != "discard" and any(a.stype == "csr" for _, a in self.data + self.label):
            raise NotImplementedError("[NDArrayIter] csr arrays are supported with last_batch_handle='discard' only")
        self.num_data = self.data[0][1].shape[0]
        longer = [name for name, array in self.data + self.label if array.shape[0] > self.num_data]
        if longer:   # 1.x reads what belongs to the first array
            warnings.warn(f"[NDArrayIter] more instances than the {self.num_data} of "
                          f"{self.data[0][0]}: {', '.join(longer)}; the rest is not read",
                          stacklevel=2)
            self.data, self.label = ([(name, array[:self.num_data] if array.shape[0] > self.num_data else array) for name, array in arrays]
                                     for arrays in (self.data, self.label))
        for name, array in self.data + self.label:
            if array.shape[0] != self.num_data:
                raise ValueError(f"[NDArrayIter] {name} has {array.shape[0]} instances and {self.data[0][0]} has "
                                 f"{self.num_data}; they have to be the same number")
        self.idx = np.arange(self.num_data)
        self.shuffle = shuffle
        self.last_batch_handle = last_batch_handle
        self.layout = layout
        self.data_list = [array for _, array in self.data + self.label]
        self.num_source = len(self.data_list)
        self.cursor = -batch_size
        self._cache_data = None         # of the last pass, with 'roll_over'
        self._cache_label = None
        self.reset()

    def _descriptions(self, arrays):
        return [DataDesc(name, (self.batch_size, *array.shape[1:]), array.dtype, self.layout) for name, array in arrays]

    @property
    def provide_data(self):
        """Descriptions of the data."""
        return self._descriptions(self.data)

    @property
    def provide_label(self):
        """Descriptions of the labels."""
        return self._descriptions(self.label)

    def _shuffle_data(self):
        np.random.shuffle(self.idx)
        self.data = _getdata_by_idx(self.data, self.idx)
        self.label = _getdata_by_idx(self.label, self.idx)

    def hard_reset(self):
        """Begin a new pass without what the last one left over.

        >>> data = mx.nd.arange(5)
        >>> batches = mx.io.NDArrayIter(data, batch_size=2, last_batch_handle='roll_over')
        >>> len([batch for batch in batches])
        2
        >>> batches.hard_reset()
        >>> batches.next().data[0].asnumpy(), batches.provide_data[0].shape, batches.provide_label
        (array([0., 1.], dtype=float32), (2,), [])
        """
        if self.shuffle:
            self._shuffle_data()
        self.cursor = -self.batch_size
        self._cache_data = None
        self._cache_label = None

    def reset(self):
        if self.shuffle:
            self._shuffle_data()
        rest = self.cursor - self.num_data      # negative: how many instances are left over
        if self.last_batch_handle == "roll_over" and -self.batch_size < rest < 0:
            self.cursor = rest - self.batch_size
        else:
            self.cursor = -self.batch_size

    def iter_next(self):
        self.cursor += self.batch_size
        return self.cursor < self.num_data

    def next(self):
        if not self.iter_next():
            raise StopIteration
        data, label = self.getdata(), self.getlabel()
        if len(data[0]) < self.batch_size:      # with 'discard' or 'roll_over'
            self._cache_data, self._cache_label = data, label
            raise StopIteration
        return DataBatch(data=data, label=label, pad=self.getpad(), index=None)

    # Subclasses of 1.x programs override the three methods below, e.g. to read rows from a file.
    def _getdata(self, data_source, start=None, end=None):
        """Rows `start` to `end` of every array of `data_source`, a list of (name, array)."""
        assert start is not None or end is not None, "[NDArrayIter] neither start nor end given; one of them is needed"
        return [array[start:end].copy() for _, array in data_source]    # a program may write into its batch

    def _concat(self, first_data, second_data):
        """The arrays of two lists, one behind the other."""
        return [nd.concat(first, second, dim=0) for first, second in zip(first_data, second_data)]

    def _batchify(self, data_source):
        """The current batch of `data_source`."""
        if not 0 <= self.cursor + self.batch_size or self.cursor >= self.num_data:
            raise CheckedValueError("[NDArrayIter] there is no current batch: iter_next or reset comes first")
        start, end = self.cursor, self.cursor + self.batch_size
        if start < 0:                           # the left-over of the last pass comes first
            cache = self._cache_data if data_source is self.data else self._cache_label
            if cache is None:
                raise CheckedValueError("[NDArrayIter] there is no current batch: iter_next comes first")
            return self._concat(cache, self._getdata(data_source, end=end))
        if end <= self.num_data or self.last_batch_handle != "pad":
            return self._getdata(data_source, start, min(end, self.num_data))
        batch = self._getdata(data_source, start=start)
        missing = end - self.num_data
        while missing > 0:                      # more than once if the batch is larger than the data
            batch = self._concat(batch, self._getdata(data_source, end=min(missing, self.num_data)))
            missing -= self.num_data
        return batch

    def getdata(self):
        return self._batchify(self.data)

    def getlabel(self):
        return self._batchify(self.label)

    def getpad(self):
        end = self.cursor + self.batch_size
        if self.last_batch_handle == "pad" and end > self.num_data:
            return end - self.num_data
        if self.last_batch_handle == "roll_over" and -self.batch_size < self.cursor < 0:
            return -self.cursor
        return 0


globals().update(_native.functions)     # CSVIter and others, by what the library has
__all__ += sorted(_native.functions)
