# Generated from the modules by `./dev docs`; do not edit.
from typing import Any
from mxnet.symbol import contrib as _symbol_contrib
from mxnet.symbol import contrib as contrib
from mxnet.symbol import image as _symbol_image
from mxnet.symbol import image as image
from mxnet.symbol import linalg as _symbol_linalg
from mxnet.symbol import linalg as linalg
from mxnet.symbol import op as _symbol_op
from mxnet.symbol import op as op
from mxnet.symbol import random as random
from mxnet.symbol import sparse as _symbol_sparse
from mxnet.symbol import sparse as sparse
from mxnet.symbol import symbol as symbol
from mxnet.symbol.symbol import Group as Group
from mxnet.symbol.symbol import Symbol as Symbol
from mxnet.symbol.symbol import arange as arange
from mxnet.symbol.symbol import eye as eye
from mxnet.symbol.symbol import fromjson as fromjson
from mxnet.symbol.symbol import full as full
from mxnet.symbol.symbol import histogram as histogram
from mxnet.symbol.symbol import hypot as hypot
from mxnet.symbol.symbol import linspace as linspace
from mxnet.symbol.symbol import load as load
from mxnet.symbol.symbol import load_json as load_json
from mxnet.symbol.symbol import maximum as maximum
from mxnet.symbol.symbol import minimum as minimum
from mxnet.symbol.symbol import ones as ones
from mxnet.symbol.symbol import pow as _symbol_pow
from mxnet.symbol.symbol import pow as pow
from mxnet.symbol.symbol import split_v2 as split_v2
from mxnet.symbol.symbol import var as _symbol_var
from mxnet.symbol.symbol import var as var
from mxnet.symbol.symbol import zeros as zeros
from .op import *
SymbolBase: Any
Variable = _symbol_var
gen_contrib = _symbol_contrib
gen_image = _symbol_image
gen_linalg = _symbol_linalg
gen_op = _symbol_op
gen_sparse = _symbol_sparse
numpy: Any
numpy_extension: Any
power = _symbol_pow
