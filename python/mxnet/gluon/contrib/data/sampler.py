"""A sampler that walks in strides, by the name of 1.9.1."""
from ...data.sampler import IntervalSampler

__all__ = ['IntervalSampler']
