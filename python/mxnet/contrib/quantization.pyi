# Generated from the modules by `./dev docs`; do not edit.
from collections.abc import Sequence
from typing import Any
from mxnet.gluon.block import HybridBlock
from mxnet.ndarray.ndarray import NDArray
from mxnet.gluon.block import SymbolBlock
from mxnet import gluon as gluon
from mxnet import ndarray as _ndarray
from mxnet.base import CheckedTypeError as CheckedTypeError
from mxnet.base import CheckedValueError as CheckedValueError
from mxnet.base import c_array as c_array
from mxnet.base import c_str as c_str
from mxnet.base import c_str_array as c_str_array
from mxnet.base import check_call as check_call
from mxnet.base import py_str as py_str
from mxnet.context import Context as Context
from mxnet.context import cpu as cpu
from mxnet.image import is_np_array as is_np_array
from mxnet.io import DataDesc as DataDesc
from mxnet.io import DataIter as DataIter
from mxnet.random import accepts_device as accepts_device
from mxnet.symbol.symbol import Symbol as Symbol

class CalibrationCollector:
    def __init__(self) -> None: ...
    def collect(self, name: str, op_name: str, arr: NDArray) -> None: ...
    @property
    def include_layer(self) -> Any: ...
    @include_layer.setter
    def include_layer(self, value: Any) -> None: ...
    def post_collect(self) -> dict[str, tuple[float, float]]: ...
    include_layers: Any
    min_max_dict: Any
def calib_graph(qsym: Symbol, arg_params: Any, aux_params: Any, collector: Any, calib_mode: str = ..., quantized_dtype: str = ..., logger: Any = ...) -> tuple[Symbol, dict[str, NDArray], dict[str, NDArray]]: ...
def combine_histogram(old_hist: Any, arr: Any, new_min: Any, new_max: Any, new_th: Any) -> Any: ...
nd = _ndarray
def quantize_graph(sym: Symbol, arg_params: Any, aux_params: Any, ctx: Any = ..., excluded_sym_names: Sequence[str] | None = ..., excluded_op_names: Sequence[str] | None = ..., calib_mode: str = ..., quantized_dtype: str = ..., quantize_mode: str = ..., quantize_granularity: str = ..., LayerOutputCollector: Any = ..., logger: Any = ..., *, device: Any = ...) -> tuple[Symbol, dict[str, NDArray], dict[str, NDArray], Any]: ...
def quantize_model(sym: Any, arg_params: Any, aux_params: Any, data_names: Sequence[str] = ..., label_names: Sequence[str] = ..., ctx: Any = ..., excluded_sym_names: Any = ..., excluded_op_names: Any = ..., calib_mode: str = ..., calib_data: Any = ..., num_calib_examples: int | None = ..., quantized_dtype: Any = ..., quantize_mode: Any = ..., quantize_granularity: Any = ..., logger: Any = ..., num_calib_batches: int | None = ..., *, device: Any = ...) -> tuple[Symbol, dict[str, NDArray], dict[str, NDArray]]: ...
def quantize_model_mkldnn(sym: Any, arg_params: Any, aux_params: Any, data_names: Any = ..., label_names: Any = ..., ctx: Any = ..., excluded_sym_names: Any = ..., excluded_op_names: Any = ..., calib_mode: Any = ..., calib_data: Any = ..., num_calib_examples: Any = ..., quantized_dtype: Any = ..., quantize_mode: Any = ..., quantize_granularity: Any = ..., logger: Any = ..., num_calib_batches: Any = ..., *, device: Any = ...) -> tuple[Symbol, dict[str, NDArray], dict[str, NDArray]]: ...
def quantize_net(network: HybridBlock, quantized_dtype: str = ..., quantize_mode: str = ..., exclude_layers: Sequence[str] | None = ..., exclude_layers_match: Sequence[str] | None = ..., exclude_operators: Sequence[str] | None = ..., calib_data: Any = ..., data_shapes: Any = ..., calib_mode: str = ..., num_calib_examples: int | None = ..., ctx: Any = ..., logger: Any = ..., quantize_granularity: str = ..., LayerOutputCollector: Any = ..., num_calib_batches: int | None = ..., *, device: Any = ...) -> SymbolBlock: ...
def quantize_net_v2(network: Any, quantized_dtype: Any = ..., quantize_mode: Any = ..., quantize_granularity: Any = ..., exclude_layers: Any = ..., exclude_layers_match: Any = ..., exclude_operators: Any = ..., calib_data: Any = ..., data_shapes: Any = ..., calib_mode: Any = ..., num_calib_examples: Any = ..., ctx: Any = ..., LayerOutputCollector: Any = ..., logger: Any = ..., num_calib_batches: Any = ..., *, device: Any = ...) -> SymbolBlock: ...
quantize_model_onednn = quantize_model_mkldnn
