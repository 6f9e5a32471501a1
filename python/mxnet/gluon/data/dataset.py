"""Datasets: anything with __len__ and __getitem__, and views of it."""
import os

from ... import ndarray as nd
from ..._display.repr import from_arguments, of_dataset
from . import sampler as _sampler

__all__ = ['Dataset', 'SimpleDataset', 'ArrayDataset', 'RecordFileDataset']


class Dataset:
    """Base class: `self[i]` for i in range(len(self)).

    >>> class Squares(mx.gluon.data.Dataset):
    ...     def __len__(self):
    ...         return 5
    ...     def __getitem__(self, number):
    ...         return number * number
    >>> data = Squares().transform(lambda n: n + 1)
    >>> len(data), data[3]
    (5, 10)
    """

    def __getitem__(self, idx):
        raise NotImplementedError(f'[gluon.data] {type(self).__name__} does not define __getitem__')

    def __len__(self):
        raise NotImplementedError(f'[gluon.data] {type(self).__name__} does not define __len__')

    __repr__ = of_dataset

    def filter(self, fn):
        """The elements for which `fn(element)` is true; looks at all of them once, here.

        >>> data = mx.gluon.data.SimpleDataset([1, 2, 3, 4, 5])
        >>> list(data.filter(lambda n: n % 2)), list(data.shard(2, 0)), list(data.take(2))
        ([1, 3, 5], [1, 2, 3], [1, 2])
        >>> list(data.sample(mx.gluon.data.SequentialSampler(2, start=1)))
        [2, 3]
        """
        return _SampledDataset(self, _sampler.FilterSampler(fn, self))

    def shard(self, num_shards, index):
        """Part `index` of `num_shards` consecutive parts whose sizes differ by at most one."""
        assert 0 <= index < num_shards, f'[gluon.data] shard {index} of {num_shards} given; 0 to {num_shards - 1} is accepted'
        size, larger = divmod(len(self), num_shards)
        start = size * index + min(index, larger)
        return _SampledDataset(self, _sampler.SequentialSampler(size + (index < larger), start))

    def take(self, count):
        """The first `count` elements, or all when there are not so many or `count` is None."""
        if count is None or count > len(self):
            count = len(self)
        if count < 0:
            raise ValueError(f'[gluon.data] take({count}) given; 0 or more, or None, is accepted')
        return _SampledDataset(self, _sampler.SequentialSampler(count))

    def sample(self, sampler):
        """The elements that `sampler` lists, in its order."""
        if not isinstance(sampler, _sampler.Sampler):
            raise TypeError(f'[gluon.data] sampler of type {type(sampler).__name__} given; a gluon.data.Sampler is accepted')
        return _SampledDataset(self, sampler)

    def transform(self, fn, lazy=True):
        """`fn(*element)` for every element, computed when it is read, or, without `lazy`, once,
        here."""
        lazy_view = _LazyTransformDataset(self, fn)
        return lazy_view if lazy else SimpleDataset([lazy_view[i] for i in range(len(lazy_view))])

    def transform_first(self, fn, lazy=True):
        """Like `transform`, with `fn` applied to the first item of each element only.

        >>> data = mx.gluon.data.ArrayDataset([1, 2, 3], [10, 20, 30])
        >>> list(data.transform_first(lambda x: -x))
        [(-1, 10), (-2, 20), (-3, 30)]
        """
        return self.transform(_TransformFirstClosure(fn), lazy)


class SimpleDataset(Dataset):
    """A list, or anything with __len__ and __getitem__, as a dataset.

    >>> data = mx.gluon.data.SimpleDataset([1, 2, 3, 4])
    >>> list(data.filter(lambda n: n % 2 == 0))
    [2, 4]
    """

    def __init__(self, data):
        self._data = data

    def __len__(self):
        return len(self._data)

    def __getitem__(self, idx):
        return self._data[idx]


class _LazyTransformDataset(Dataset):
    __repr__ = from_arguments()

    def __init__(self, data, fn):
        self._data = data
        self._fn = fn

    def __len__(self):
        return len(self._data)

    def __getitem__(self, idx):
        item = self._data[idx]
        return self._fn(*item) if isinstance(item, tuple) else self._fn(item)


class _TransformFirstClosure:
    """A class and not a closure, so that it can be pickled."""

    __repr__ = from_arguments()

    def __init__(self, fn):
        self._fn = fn

    def __call__(self, x, *args):
        return (self._fn(x),) + args if args else self._fn(x)


class _SampledDataset(Dataset):
    __repr__ = from_arguments()

    def __init__(self, dataset, sampler):
        self._dataset = dataset
        self._sampler = sampler
        self._indices = list(iter(sampler))

    def __len__(self):
        return len(self._indices)

    def __getitem__(self, idx):
        return self._dataset[self._indices[idx]]


class ArrayDataset(Dataset):
    """Several arrays (or lists) of equal length: element i is the tuple of their elements i, or the
    element itself for one array.

    >>> data = mx.gluon.data.ArrayDataset(mx.nd.arange(6).reshape((3, 2)), [10, 20, 30])
    >>> x, y = data[1]
    >>> x.asnumpy(), y
    (array([2., 3.], dtype=float32), 20)
    """

    def __init__(self, *args):
        assert args, '[gluon.data.ArrayDataset] nothing given; at least one array is accepted'
        self._length = len(args[0])
        self._data = []
        for i, data in enumerate(args):
            assert len(data) == self._length, (f'[gluon.data.ArrayDataset] array {i} has '
                                               f'{len(data)} elements and the first one '
                                               f'{self._length}; '
                                               'equal lengths are accepted')
            if isinstance(data, nd.NDArray) and len(data.shape) == 1:
                data = data.asnumpy()    # numbers, and not NDArrays of shape (1,)
            self._data.append(data)

    def __getitem__(self, idx):
        if len(self._data) == 1:
            return self._data[0][idx]
        return tuple(data[idx] for data in self._data)

    def __len__(self):
        return self._length


class RecordFileDataset(Dataset):
    """The records, as bytes, of a RecordIO file `x.rec` that has its index `x.idx` beside it.

    >>> records = mx.recordio.MXIndexedRecordIO('r.idx', 'r.rec', 'w')
    >>> for n in range(3):
    ...     records.write_idx(n, b'record %d' % n)
    >>> records.close()
    >>> data = mx.gluon.data.RecordFileDataset('r.rec')
    >>> len(data), data[2]
    (3, b'record 2')
    """

    def __init__(self, filename):
        self.idx_file = os.path.splitext(filename)[0] + '.idx'
        self.filename = filename
        self._open()

    def _open(self):
        from ... import recordio
        self._owner = os.getpid()
        self._record = recordio.MXIndexedRecordIO(self.idx_file, self.filename, 'r')

    def __getitem__(self, idx):
        if self._owner != os.getpid():
            self._open()    # after a fork the two processes would move one file position
        return self._record.read_idx(self._record.keys[idx])

    def __len__(self):
        return len(self._record.keys)
