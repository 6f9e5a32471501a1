# Generated from the modules by `./dev docs`; do not edit.
from typing import Any
from mxnet import amp as amp
from mxnet.contrib import autograd as autograd
from mxnet.contrib import io as io
from mxnet.contrib import onnx as onnx
from mxnet.contrib import quantization as _contrib_quantization
from mxnet.contrib import quantization as quantization
from mxnet.contrib import safetensors as safetensors
from mxnet.contrib import tensorboard as tensorboard
from mxnet.contrib import text as text
from mxnet.contrib import torch as torch
from mxnet.ndarray import contrib as _ndarray_contrib
from mxnet.symbol import contrib as _symbol_contrib
nd = _ndarray_contrib
ndarray = _ndarray_contrib
quant = _contrib_quantization
svrg_optimization: Any
sym = _symbol_contrib
symbol = _symbol_contrib
