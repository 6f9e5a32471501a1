# Generated from the modules by `./dev docs`; do not edit.
from typing import Any
from mxnet import amp as amp
from mxnet.contrib import autograd as autograd
from mxnet.contrib import io as io
from mxnet.contrib import quantization as quantization
from mxnet.contrib import tensorboard as tensorboard
from mxnet.contrib import text as text
svrg_optimization: Any
