# Generated from the modules by `./dev docs`; do not edit.
from mxnet.context import Context as _context_Context
from mxnet.context import cpu as cpu
from mxnet.context import cpu_pinned as cpu_pinned
from mxnet.context import current_context as _context_current_context
from mxnet.context import gpu as gpu
from mxnet.context import gpu_memory_info as gpu_memory_info
from mxnet.context import num_gpus as num_gpus
Device = _context_Context
current_device = _context_current_context
