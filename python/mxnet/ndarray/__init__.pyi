# Generated from the modules by `./dev docs`; do not edit.
from typing import Any
from mxnet.ndarray import contrib as _ndarray_contrib
from mxnet.ndarray import contrib as contrib
from mxnet.ndarray import image as _ndarray_image
from mxnet.ndarray import image as image
from mxnet.ndarray import linalg as _ndarray_linalg
from mxnet.ndarray import linalg as linalg
from mxnet.ndarray import ndarray as ndarray
from mxnet.ndarray import op as _ndarray_op
from mxnet.ndarray import op as op
from mxnet.ndarray import random as random
from mxnet.ndarray import sparse as _ndarray_sparse
from mxnet.ndarray import sparse as sparse
from mxnet.ndarray.ndarray import NDArray as NDArray
from mxnet.ndarray.ndarray import add as add
from mxnet.ndarray.ndarray import arange as arange
from mxnet.ndarray.ndarray import array as array
from mxnet.ndarray.ndarray import concatenate as concatenate
from mxnet.ndarray.ndarray import divide as divide
from mxnet.ndarray.ndarray import empty as empty
from mxnet.ndarray.ndarray import equal as equal
from mxnet.ndarray.ndarray import eye as eye
from mxnet.ndarray.ndarray import from_dlpack as from_dlpack
from mxnet.ndarray.ndarray import from_numpy as from_numpy
from mxnet.ndarray.ndarray import full as full
from mxnet.ndarray.ndarray import get_indexing_dispatch_code as get_indexing_dispatch_code
from mxnet.ndarray.ndarray import get_oshape_of_gather_nd_op as get_oshape_of_gather_nd_op
from mxnet.ndarray.ndarray import greater as greater
from mxnet.ndarray.ndarray import greater_equal as greater_equal
from mxnet.ndarray.ndarray import histogram as histogram
from mxnet.ndarray.ndarray import imdecode as imdecode
from mxnet.ndarray.ndarray import indexing_key_expand_implicit_axes as indexing_key_expand_implicit_axes
from mxnet.ndarray.ndarray import lesser as lesser
from mxnet.ndarray.ndarray import lesser_equal as lesser_equal
from mxnet.ndarray.ndarray import linspace as linspace
from mxnet.ndarray.ndarray import logical_and as logical_and
from mxnet.ndarray.ndarray import logical_or as logical_or
from mxnet.ndarray.ndarray import logical_xor as logical_xor
from mxnet.ndarray.ndarray import maximum as maximum
from mxnet.ndarray.ndarray import minimum as minimum
from mxnet.ndarray.ndarray import modulo as modulo
from mxnet.ndarray.ndarray import moveaxis as moveaxis
from mxnet.ndarray.ndarray import multiply as multiply
from mxnet.ndarray.ndarray import not_equal as not_equal
from mxnet.ndarray.ndarray import onehot_encode as onehot_encode
from mxnet.ndarray.ndarray import ones as ones
from mxnet.ndarray.ndarray import power as power
from mxnet.ndarray.ndarray import split_v2 as split_v2
from mxnet.ndarray.ndarray import subtract as subtract
from mxnet.ndarray.ndarray import to_dlpack_for_read as to_dlpack_for_read
from mxnet.ndarray.ndarray import to_dlpack_for_write as to_dlpack_for_write
from mxnet.ndarray.ndarray import true_divide as true_divide
from mxnet.ndarray.ndarray import waitall as waitall
from mxnet.ndarray.ndarray import zeros as zeros
from .op import *

class CachedOp:
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    handle: Any
    is_np_sym: Any
bfloat16: Any
gen_contrib = _ndarray_contrib
gen_image = _ndarray_image
gen_linalg = _ndarray_linalg
gen_op = _ndarray_op
gen_sparse = _ndarray_sparse
def load(fname: Any) -> Any: ...
def load_frombuffer(buf: Any) -> Any: ...
numpy: Any
numpy_extension: Any
def save(fname: Any, data: Any) -> None: ...
utils: Any
