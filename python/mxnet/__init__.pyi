# Generated from the modules by `./dev docs`; do not edit.
from typing import Any
from mxnet import amp as amp
from mxnet import attribute as attribute
from mxnet import autograd as _mxnet_autograd
from mxnet import autograd as autograd
from mxnet import base as base
from mxnet import callback as callback
from mxnet import context as context
from mxnet import contrib as contrib
from mxnet import device as device
from mxnet import engine as engine
from mxnet import env as env
from mxnet import error as error
from mxnet import executor as executor
from mxnet import explain as explain
from mxnet import gluon as gluon
from mxnet import image as _mxnet_image
from mxnet import image as image
from mxnet import initializer as _mxnet_initializer
from mxnet import initializer as initializer
from mxnet import io as io
from mxnet import kvstore as _mxnet_kvstore
from mxnet import kvstore as kvstore
from mxnet import library as library
from mxnet import log as log
from mxnet import lr_scheduler as lr_scheduler
from mxnet import memory as memory
from mxnet import metric as metric
from mxnet import model as model
from mxnet import module as _mxnet_module
from mxnet import module as module
from mxnet import monitor as _mxnet_monitor
from mxnet import monitor as monitor
from mxnet import name as name
from mxnet import ndarray as _mxnet_ndarray
from mxnet import ndarray as ndarray
from mxnet import numpy as _mxnet_numpy
from mxnet import numpy as numpy
from mxnet import numpy_extension as _mxnet_numpy_extension
from mxnet import numpy_extension as numpy_extension
from mxnet import onnx as onnx
from mxnet import operator as operator
from mxnet import optimizer as optimizer
from mxnet import profiler as profiler
from mxnet import random as _mxnet_random
from mxnet import random as random
from mxnet import recordio as recordio
from mxnet import registry as registry
from mxnet import rnn as rnn
from mxnet import runtime as runtime
from mxnet import storage as storage
from mxnet import symbol as _mxnet_symbol
from mxnet import symbol as symbol
from mxnet import test_utils as test_utils
from mxnet import util as util
from mxnet import visualization as _mxnet_visualization
from mxnet import visualization as visualization
from mxnet.attribute import AttrScope as AttrScope
from mxnet.base import MXNetError as MXNetError
from mxnet.context import Context as Context
from mxnet.context import Context as _context_Context
from mxnet.context import cpu as cpu
from mxnet.context import cpu_pinned as cpu_pinned
from mxnet.context import current_context as _context_current_context
from mxnet.context import current_context as current_context
from mxnet.context import gpu as gpu
from mxnet.context import gpu_memory_info as gpu_memory_info
from mxnet.context import num_gpus as num_gpus
from mxnet.executor import Executor as Executor
from mxnet.image import is_np_array as is_np_array
from mxnet.ndarray.ndarray import NDArray as NDArray
from mxnet.symbol.symbol import Symbol as Symbol
from mxnet.util import is_np_default_dtype as is_np_default_dtype
from mxnet.util import is_np_shape as is_np_shape
from mxnet.util import np_array as np_array
from mxnet.util import np_default_dtype as np_default_dtype
from mxnet.util import np_shape as np_shape
from mxnet.util import set_np_shape as set_np_shape
from mxnet.util import use_np as use_np
from mxnet.util import use_np_array as use_np_array
from mxnet.util import use_np_default_dtype as use_np_default_dtype
from mxnet.util import use_np_shape as use_np_shape
__version__: str
Device = _context_Context
ag = _mxnet_autograd
checkpoint: Any
cmake: Any
cuda: Any
current_device = _context_current_context
dlpack: Any
doctor: Any
executor_manager: Any
img = _mxnet_image
init = _mxnet_initializer
kv = _mxnet_kvstore
libinfo: Any
mod = _mxnet_module
mon = _mxnet_monitor
nd = _mxnet_ndarray
np = _mxnet_numpy
npx = _mxnet_numpy_extension
numpy_dispatch_protocol: Any
numpy_op_fallback: Any
rnd = _mxnet_random
rtc: Any
sym = _mxnet_symbol
tools: Any
viz = _mxnet_visualization
