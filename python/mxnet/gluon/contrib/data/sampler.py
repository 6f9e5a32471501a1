"""A sampler that walks in strides."""
from ...data.sampler import Sampler

__all__ = ['IntervalSampler']


class IntervalSampler(Sampler):
    """Indices of range(length) in strides: 0, interval, 2 interval, ..., and with `rollover` then
    1, 1 + interval, ... until each index came once."""

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
