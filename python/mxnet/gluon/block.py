"""Blocks: networks and their layers."""
# ruff: noqa: F401  (programs of 1.x take from this module what it imports)
import json
import re
import threading
import warnings
from collections import OrderedDict, defaultdict

from .. import initializer, name as _name, ndarray as nd
from ..base import MXNetError, public_home as _public_home
from ..ndarray import NDArray
from ..symbol import Symbol
from ._block import Block, _BlockScope, _gather_type_ctx_info, _regroup
from ._parameter import DeferredInitializationError, Parameter
from ._structure import flatten as _flatten
from .hybrid_block import HybridBlock
from .parameter_dict import ParameterDict
from .symbol_block import SymbolBlock
from .utils import HookHandle, _brief_print_list, _indent

__all__ = ['Block', 'HybridBlock', 'SymbolBlock']

_public_home(globals(), ['Block', '_BlockScope'])
