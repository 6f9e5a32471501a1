"""Symbols, and the functions that make and combine them."""
# ruff: noqa: F401  (programs of 1.x take from this module what it imports)
import ctypes

from ..attribute import AttrScope
from ..base import (NotImplementedForSymbol, SymbolHandle, _LIB, c_handle_array, c_str, c_str_array, check_call,
                    py_str)
from ..context import current_context
from ..executor import Executor
from ._creation import *  # noqa: F403
from ._creation import __all__ as _creation_names
from ._symbol import Group, Symbol, SymbolBase, load_json
from ._variable import Variable, fromjson, load, var

__all__ = ["Symbol", "var", "Variable", "Group", "load", "load_json", "fromjson", *_creation_names]
