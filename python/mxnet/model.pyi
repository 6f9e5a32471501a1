# Generated from the modules by `./dev docs`; do not edit.
from typing import Any
from mxnet import kvstore as _kvstore
from mxnet import ndarray as _ndarray
from mxnet import symbol as _symbol
BatchEndParam: Any
SKLEARN_INSTALLED: Any
kvs = _kvstore
def load_checkpoint(prefix: Any, epoch: Any) -> Any: ...
def load_params(prefix: Any, epoch: Any) -> Any: ...
nd = _ndarray
def save_checkpoint(prefix: str, epoch: int, symbol: Any, arg_params: Any, aux_params: Any, remove_amp_cast: bool = ...) -> Any: ...
sym = _symbol
