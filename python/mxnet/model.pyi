# Generated from the modules by `./dev docs`; do not edit.
from typing import Any, NamedTuple
from mxnet.ndarray.ndarray import NDArray
from mxnet.symbol.symbol import Symbol
from mxnet import kvstore as _mxnet_kvstore
from mxnet import ndarray as _mxnet_ndarray
from mxnet import symbol as _mxnet_symbol

class BatchEndParam(NamedTuple):
    epoch: int
    nbatch: int
    eval_metric: Any
    locals: Any

class FeedForward:
    def __init__(self, symbol: Any, ctx: Any = ..., num_epoch: int | None = ..., epoch_size: int | None = ..., optimizer: Any = ..., initializer: Any = ..., numpy_batch_size: int = ..., arg_params: Any = ..., aux_params: Any = ..., allow_extra_params: bool = ..., begin_epoch: int = ..., **kwargs: Any) -> None: ...
    @staticmethod
    def create(symbol: Any, X: Any, y: Any = ..., ctx: Any = ..., num_epoch: Any = ..., epoch_size: Any = ..., optimizer: Any = ..., initializer: Any = ..., eval_data: Any = ..., eval_metric: Any = ..., epoch_end_callback: Any = ..., batch_end_callback: Any = ..., kvstore: Any = ..., logger: Any = ..., work_load_list: Any = ..., eval_end_callback: Any = ..., eval_batch_end_callback: Any = ..., **kwargs: Any) -> Any: ...
    def fit(self, X: Any, y: Any = ..., eval_data: Any = ..., eval_metric: Any = ..., epoch_end_callback: Any = ..., batch_end_callback: Any = ..., kvstore: Any = ..., logger: Any = ..., work_load_list: Any = ..., monitor: Any = ..., eval_end_callback: Any = ..., eval_batch_end_callback: Any = ...) -> Any: ...
    @staticmethod
    def load(prefix: Any, epoch: Any, ctx: Any = ..., **kwargs: Any) -> Any: ...
    def predict(self, X: Any, num_batch: int | None = ..., return_data: bool = ..., reset: bool = ...) -> Any: ...
    def save(self, prefix: Any, epoch: Any = ..., remove_amp_cast: bool = ...) -> Any: ...
    def score(self, X: Any, eval_metric: Any = ..., num_batch: int | None = ..., batch_end_callback: Any = ..., reset: bool = ...) -> Any: ...
    allow_extra_params: Any
    arg_params: Any
    argument_checked: Any
    aux_params: Any
    begin_epoch: Any
    ctx: Any
    epoch_size: Any
    initializer: Any
    kwargs: Any
    num_epoch: Any
    numpy_batch_size: Any
    optimizer: Any
    sym_gen: Any
    symbol: Any
SKLEARN_INSTALLED: Any
kvs = _mxnet_kvstore
def load_checkpoint(prefix: Any, epoch: Any) -> tuple[Symbol, dict[str, NDArray], dict[str, NDArray]]: ...
def load_params(prefix: Any, epoch: Any) -> tuple[dict[str, NDArray], dict[str, NDArray]]: ...
nd = _mxnet_ndarray
def save_checkpoint(prefix: str, epoch: int, symbol: Any, arg_params: Any, aux_params: Any, remove_amp_cast: bool = ...) -> None: ...
sym = _mxnet_symbol
