"""CUDA kernels of your own: text in, functions on arrays out."""
import ctypes
import numbers
import re

import numpy as np

from . import _dtypes
from .base import CudaKernelHandle, CudaModuleHandle, NotCopied, _LIB, c_str, c_str_array, check_call
from .ndarray import NDArray

__all__ = ["CudaKernel", "CudaModule"]

_DTYPES = {"float": np.float32, "double": np.float64, "__half": np.float16, "uint8_t": np.uint8, "int": np.int32, "int32_t": np.int32,
           "int8_t": np.int8, "char": np.int8, "int64_t": np.int64}
_ARGUMENT = re.compile(r"^\s*(const\s+)?(\w+)\s*(\*)?\s*(\w+)?\s*$")


def _texts(value):
    return (value,) if isinstance(value, str) else tuple(value)


def _parse_signature(signature):
    """A signature's arguments: (is an array, is const, dtype) of each."""
    arguments = []
    for text in re.sub(r"\s+", " ", signature).split(","):
        match = _ARGUMENT.match(text)
        if match is None or match.group(2) == "const":
            raise ValueError(f'[rtc] argument "{text.strip()}" of a signature; accepted: "(const) type (*) (name)"')
        if match.group(2) not in _DTYPES:
            raise TypeError(f'[rtc] type of argument "{text.strip()}"; accepted: {", ".join(_DTYPES)}')
        arguments.append((match.group(3) is not None, match.group(1) is not None, np.dtype(_DTYPES[match.group(2)])))
    return arguments


class CudaModule(NotCopied):
    """CUDA C text, compiled at once.

    Parameters
    ----------
    source : str
        Definitions of kernels. Those that are not ``extern "C"`` must be named in `exports`.
    options : str or sequence of str
        Options of NVRTC, for example ``-I`` folders or ``-DNAME``. Without ``--gpu-architecture``
        the module serves all devices of the machine.
    exports : str or sequence of str
        C++ names that `get_kernel` will ask for, such as ``"axpy<float>"``.

    Raises
    ------
    MXNetError
        where there is no GPU or no compiler (NVRTC), and with the compiler's messages if the text
        is not right.

    Examples
    --------
    >>> source = '''
    ... template <class T> __global__ void axpy(const T *x, T *y, T a) {
    ...   y[threadIdx.x] += a * x[threadIdx.x];
    ... }'''
    >>> if mx.num_gpus():
    ...     module = mx.rtc.CudaModule(source, exports='axpy<float>')
    ...     kernel = module.get_kernel('axpy<float>', 'const float *x, float *y, float a')
    ...     x, y = mx.nd.ones(10, ctx=mx.gpu(0)), mx.nd.zeros(10, ctx=mx.gpu(0))
    ...     kernel.launch([x, y, 3], mx.gpu(0), grid_dims=(1, 1, 1), block_dims=(10, 1, 1))
    ...     assert (y.asnumpy() == 3).all()
    """

    handle = None

    def __init__(self, source, options=(), exports=()):
        options, exports = _texts(options), _texts(exports)
        handle = CudaModuleHandle()
        check_call(_LIB.MXRtcCudaModuleCreate(c_str(source), ctypes.c_int(len(options)), c_str_array(options), ctypes.c_int(len(exports)),
                                              c_str_array(exports), ctypes.byref(handle)))
        self.handle = handle

    def __del__(self):
        if self.handle is not None:
            _LIB.MXRtcCudaModuleFree(self.handle)

    def get_kernel(self, name, signature):
        """The kernel `name`. `signature` lists its arguments as in C, "const float *x, float *y,
        int n": pointers are arrays, the rest are numbers.

        Types: float, double, __half, uint8_t, int, int32_t, int8_t, char, int64_t. Kernels only
        read what is const.
        """
        arguments = _parse_signature(signature)
        count = len(arguments)
        ints = ctypes.c_int * count
        handle = CudaKernelHandle()
        check_call(_LIB.MXRtcCudaKernelCreate(self.handle, c_str(name), ctypes.c_int(count), ints(*[int(a[0]) for a in arguments]),
                                              ints(*[int(a[1]) for a in arguments]), ints(*[_dtypes.number(a[2]) for a in arguments]),
                                              ctypes.byref(handle)))
        return CudaKernel(handle, name, [a[0] for a in arguments], [a[2] for a in arguments])


class CudaKernel(NotCopied):
    """A kernel of a `CudaModule`; made by `CudaModule.get_kernel`.

    >>> source = '''
    ... extern "C" __global__ void add(float *x, float a, int size) {
    ...   int i = blockIdx.x * blockDim.x + threadIdx.x;
    ...   if (i < size) x[i] += a;
    ... }'''
    >>> if mx.num_gpus():
    ...     kernel = mx.rtc.CudaModule(source).get_kernel('add', 'float *x, float a, int size')
    ...     x = mx.nd.zeros(1000, ctx=mx.gpu(0))
    ...     kernel.launch([x, 0.5, x.size], mx.gpu(0), grid_dims=(8, 1, 1), block_dims=(128, 1, 1))
    ...     assert (x.asnumpy() == 0.5).all()
    """

    def __init__(self, handle, name, is_ndarray, dtypes):
        self.handle = handle
        self._name = name
        self._is_ndarray = list(is_ndarray)
        self._dtypes = [np.dtype(d) for d in dtypes]

    def __del__(self):
        if getattr(self, "handle", None) is not None:
            _LIB.MXRtcCudaKernelFree(self.handle)

    def launch(self, args, ctx, grid_dims, block_dims, shared_mem=0):
        """Runs the kernel on the GPU `ctx` when the arrays are ready; returns at once.

        `args` holds arrays on `ctx` of the signature's dtypes, and numbers. `grid_dims` and
        `block_dims` have three entries each; `shared_mem` is the dynamic shared memory in bytes.
        """
        if ctx.device_type != "gpu":
            raise ValueError(f"[rtc] {self._name} on {ctx}; accepted: gpu contexts")
        for what, dims in (("grid_dims", grid_dims), ("block_dims", block_dims)):
            if len(dims) != 3 or not all(isinstance(d, numbers.Integral) and 0 < d < 2 ** 31 for d in dims):
                raise ValueError(f"[rtc] {what}={tuple(dims)} for {self._name}; accepted: three integers above 0")
        if not 0 <= shared_mem < 2 ** 31:
            raise ValueError(f"[rtc] shared_mem={shared_mem} for {self._name}; accepted: bytes, 0 or more")
        if len(args) != len(self._is_ndarray):
            raise ValueError(f"[rtc] {len(args)} arguments for {self._name}; accepted: {len(self._is_ndarray)}, as in its signature")
        values, kept = [], []
        for i, (arg, is_ndarray, dtype) in enumerate(zip(args, self._is_ndarray, self._dtypes)):
            if is_ndarray:
                if not isinstance(arg, NDArray):
                    raise TypeError(f"[rtc] argument {i} of {self._name} is a {type(arg).__name__}; accepted: an NDArray")
                values.append(arg.handle.value if hasattr(arg.handle, "value") else arg.handle)
            else:
                if not isinstance(arg, (numbers.Number, np.generic)) or isinstance(arg, complex):
                    raise TypeError(f"[rtc] argument {i} of {self._name} is a {type(arg).__name__}; accepted: a number")
                kept.append(np.array(arg, dtype=dtype))   # lives until the call is over
                values.append(kept[-1].ctypes.data)
        check_call(_LIB.MXRtcCudaKernelCall(
            self.handle, ctypes.c_int(ctx.device_id), (ctypes.c_void_p * len(values))(*values),
            *[ctypes.c_uint32(d) for d in grid_dims], *[ctypes.c_uint32(d) for d in block_dims], ctypes.c_uint32(shared_mem)))
