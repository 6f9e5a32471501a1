"""Datasets, samplers and the DataLoader."""
from . import batchify, dataset, sampler
from .dataset import *
from .sampler import *

_LAZY = ('vision', 'dataloader', 'DataLoader', '_internal')    # not needed by training loops that bring their own batches


def __getattr__(name):
    import importlib
    if name == 'DataLoader':
        return importlib.import_module('.dataloader', __name__).DataLoader
    if name in _LAZY:
        return importlib.import_module('.' + name, __name__)
    raise AttributeError(f'module {__name__!r} has no attribute {name!r}')


def __dir__():
    return sorted(set(globals()) | set(_LAZY))
