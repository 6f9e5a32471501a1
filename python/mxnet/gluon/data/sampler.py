"""Samplers: the order in which a DataLoader visits the elements of a dataset."""
import numpy as np

from ..._display.repr import from_arguments

__all__ = ['Sampler', 'SequentialSampler', 'RandomSampler', 'FilterSampler', 'BatchSampler', 'IntervalSampler']


class Sampler:
    """Base class: iterates over indices and knows how many there are.

    >>> class Backwards(mx.gluon.data.Sampler):
    ...     def __init__(self, length):
    ...         self.length = length
    ...     def __iter__(self):
    ...         return iter(range(self.length - 1, -1, -1))
    ...     def __len__(self):
    ...         return self.length
    >>> list(mx.gluon.data.BatchSampler(Backwards(5), 2))
    [[4, 3], [2, 1], [0]]
    """

    __repr__ = from_arguments()

    def __len__(self):
        raise NotImplementedError(f'[gluon.data] {type(self).__name__} does not define __len__')

    def __iter__(self):
        raise NotImplementedError(f'[gluon.data] {type(self).__name__} does not define __iter__')


class SequentialSampler(Sampler):
    """start, start + 1, ..., start + length - 1.

    >>> list(mx.gluon.data.SequentialSampler(4, start=10))
    [10, 11, 12, 13]
    """

    def __init__(self, length, start=0):
        self._length = length
        self._start = start

    def __iter__(self):
        return iter(range(self._start, self._start + self._length))

    def __len__(self):
        return self._length


class RandomSampler(Sampler):
    """All of range(length) in an order drawn from NumPy's global generator, anew each time.

    >>> sorted(mx.gluon.data.RandomSampler(4))
    [0, 1, 2, 3]
    """

    def __init__(self, length):
        self._length = length

    def __iter__(self):
        return iter(np.random.permutation(self._length).tolist())

    def __len__(self):
        return self._length


class FilterSampler(Sampler):
    """The indices of the elements of `dataset` for which `fn(element)` is true; looked up once,
    here.

    >>> list(mx.gluon.data.FilterSampler(lambda n: n > 5, [3, 6, 9]))
    [1, 2]
    """

    def __init__(self, fn, dataset):
        self._fn, self._dataset = fn, dataset
        self._indices = [i for i in range(len(dataset)) if fn(dataset[i])]

    def __iter__(self):
        return iter(self._indices)

    def __len__(self):
        return len(self._indices)


class BatchSampler(Sampler):
    """Lists of `batch_size` indices from `sampler`. An incomplete last one is yielded ('keep'),
    dropped ('discard'), or begins the next epoch ('rollover').

    >>> list(mx.gluon.data.BatchSampler(mx.gluon.data.SequentialSampler(5), 2, 'keep'))
    [[0, 1], [2, 3], [4]]
    >>> list(mx.gluon.data.BatchSampler(mx.gluon.data.SequentialSampler(5), 2, 'discard'))
    [[0, 1], [2, 3]]
    """

    def __init__(self, sampler, batch_size, last_batch='keep'):
        self._sampler = sampler
        self._batch_size = batch_size
        self._last_batch = last_batch
        self._prev = []

    def __iter__(self):
        self._check()
        batch, self._prev = self._prev, []
        for i in self._sampler:
            batch.append(i)
            if len(batch) == self._batch_size:
                yield batch
                batch = []
        if batch:
            if self._last_batch == 'keep':
                yield batch
            elif self._last_batch == 'rollover':
                self._prev = batch

    def __len__(self):
        self._check()
        if self._batch_size < 1:
            raise ValueError(f"[gluon.data.BatchSampler] batch_size={self._batch_size} given; 1 or more is accepted")
        n = len(self._sampler)
        if self._last_batch == 'keep':
            return (n + self._batch_size - 1) // self._batch_size
        if self._last_batch == 'discard':
            return n // self._batch_size
        return (len(self._prev) + n) // self._batch_size

    def _check(self):
        if self._last_batch not in ('keep', 'discard', 'rollover'):
            raise ValueError(f"[gluon.data.BatchSampler] last_batch={self._last_batch!r} given; "
                             f"'keep', 'discard' or 'rollover' is accepted")


class IntervalSampler(Sampler):
    """Indices of range(length) in strides: 0, interval, 2 interval, ..., and with `rollover` then
    1, 1 + interval, ... until each index came once.

    >>> list(mx.gluon.data.IntervalSampler(6, 2))
    [0, 2, 4, 1, 3, 5]
    """

    def __init__(self, length, interval, rollover=True):
        assert interval <= length, f'[IntervalSampler] interval={interval} given; at most length={length} is accepted'
        self._length = length
        self._interval = interval
        self._rollover = rollover

    def __iter__(self):
        for start in range(self._interval if self._rollover else 1):
            yield from range(start, self._length, self._interval)

    def __len__(self):
        return self._length if self._rollover else len(range(0, self._length, self._interval))
