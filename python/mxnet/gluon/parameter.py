"""Parameters of blocks, and dictionaries of them."""
# ruff: noqa: F401  (programs of 1.x take from this module what it imports)
import warnings

import numpy as np

from .. import autograd, context as context_mod, initializer, ndarray as nd, symbol
from ..base import MXNetError, public_home as _public_home
from ..util import is_np_shape
from ._constant import Constant, _FixedValue
from ._parameter import DeferredInitializationError, Parameter, tensor_types
from .parameter_dict import ParameterDict
from .utils import shape_is_known

__all__ = ['DeferredInitializationError', 'Parameter', 'Constant', 'ParameterDict', 'tensor_types']

_public_home(globals(), [*__all__, '_FixedValue'])
