"""Layers."""
from ..block import Block, HybridBlock, SymbolBlock
from .activations import *
from .basic_layers import *
from .conv_layers import *
from . import activations, basic_layers, conv_layers

# MXNet 2.0 has these layers of gluon.contrib here.
_OF_CONTRIB = {'nn': ('PixelShuffle1D', 'PixelShuffle2D', 'PixelShuffle3D', 'SyncBatchNorm'),
               'cnn': ('DeformableConvolution', 'ModulatedDeformableConvolution')}


def __getattr__(name):
    for package, names in _OF_CONTRIB.items():
        if name in names:
            import importlib
            return getattr(importlib.import_module(f'..contrib.{package}', __name__), name)
    raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
