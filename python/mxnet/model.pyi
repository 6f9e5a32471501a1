# Generated from the modules by `./dev docs`; do not edit.
from typing import Any, NamedTuple
from mxnet.ndarray.ndarray import NDArray
from mxnet.symbol.symbol import Symbol
from mxnet import kvstore as _kvstore
from mxnet import ndarray as _ndarray
from mxnet import symbol as _symbol

class BatchEndParam(NamedTuple):
    epoch: int
    nbatch: int
    eval_metric: Any
    locals: Any
SKLEARN_INSTALLED: Any
kvs = _kvstore
def load_checkpoint(prefix: Any, epoch: Any) -> tuple[Symbol, dict[str, NDArray], dict[str, NDArray]]: ...
def load_params(prefix: Any, epoch: Any) -> tuple[dict[str, NDArray], dict[str, NDArray]]: ...
nd = _ndarray
def save_checkpoint(prefix: str, epoch: int, symbol: Any, arg_params: Any, aux_params: Any, remove_amp_cast: bool = ...) -> None: ...
sym = _symbol
