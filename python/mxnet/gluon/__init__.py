"""Gluon: networks as Python objects. Blocks with Parameters, losses, the Trainer, data loading and
a model zoo."""
from .parameter import Constant, DeferredInitializationError, Parameter, ParameterDict, tensor_types
from .block import Block, HybridBlock, SymbolBlock
from . import block, loss, nn, parameter, utils

# What `import mxnet` does not need is loaded when it is first touched.
_LAZY = ('data', 'model_zoo', 'contrib', 'rnn', 'trainer', 'Trainer', 'metric', 'probability')


def __getattr__(name):
    import importlib
    if name == 'Trainer':
        return importlib.import_module('.trainer', __name__).Trainer
    if name in _LAZY:
        return importlib.import_module('.' + name, __name__)
    raise AttributeError(f'module {__name__!r} has no attribute {name!r}')


def __dir__():
    return sorted(set(globals()) | set(_LAZY))
