"""mx.rtc: signatures and arguments on every machine; kernels where there is a GPU; NVRTC in builds
that have it."""
import ctypes

import numpy as np
import pytest

import mxnet as mx
from mxnet import rtc

pytestmark = [pytest.mark.gpu, pytest.mark.gpu_quick]

SOURCE = r'''
extern "C" __global__ void axpy(const float *x, float *y, float alpha) {
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  y[i] += alpha * x[i];
}
template <typename T> __global__ void fill(T *x, T value) { x[threadIdx.x] = value; }
'''
SUPPORTED = mx.runtime.Features().is_enabled("CUDA_RTC")


def test_signatures():
    parsed = rtc._parse_signature("const float *x, __half* y,int n , const int64_t k, double *")
    assert parsed == [(True, True, np.float32), (True, False, np.float16), (False, False, np.int32),
                      (False, True, np.int64), (True, False, np.float64)]
    for text, kind in (("float x, const", ValueError), ("float* x,", ValueError),
                       ("unsigned int n", ValueError), ("const const float *x", ValueError),
                       ("float **x", ValueError), ("", ValueError), ("int * const x", ValueError), ("float *x y", ValueError),
                       ("half *h", TypeError), ("long *x", TypeError), ("bool b", TypeError), ("size_t n", TypeError)):
        with pytest.raises(kind, match="rtc"):
            rtc._parse_signature(text)


@pytest.mark.skipif(SUPPORTED, reason="this build compiles CUDA kernels")
def test_without_gpu_support_is_a_clear_error():
    with pytest.raises(mx.MXNetError, match=r"\[rtc\] CUDA kernels in a build without GPU support"):
        mx.rtc.CudaModule(SOURCE)


@pytest.mark.skipif(not SUPPORTED, reason="needs NVRTC")
def test_compiled_without_a_device():
    module = mx.rtc.CudaModule(SOURCE, exports=["fill<float>"])
    module.get_kernel("axpy", "const float *x, float *y, float alpha")
    module.get_kernel("fill<float>", "float *x, float value")
    with pytest.raises(mx.MXNetError, match="no kernel axpz"):
        module.get_kernel("axpz", "float *x")
    with pytest.raises(mx.MXNetError, match="undeclared"):
        mx.rtc.CudaModule('extern "C" __global__ void f(int *x) { *x = undeclared; }')


class Recorder:
    """Stands for the library: takes down what a launch hands over."""

    def __init__(self):
        self.calls, self.freed = [], 0

    def MXRtcCudaKernelCall(self, handle, dev_id, args, *rest):
        self.calls.append((dev_id.value, list(args), [r.value for r in rest]))
        self.numbers = [ctypes.cast(args[1], ctypes.POINTER(ctypes.c_int32)).contents.value,
                        ctypes.cast(args[2], ctypes.POINTER(ctypes.c_double)).contents.value]
        return 0

    def MXRtcCudaKernelFree(self, handle):
        self.freed += 1
        return 0


def test_launch_hands_over_arrays_and_numbers(monkeypatch):
    library = Recorder()
    monkeypatch.setattr(rtc, "_LIB", library)
    kernel = rtc.CudaKernel(ctypes.c_void_p(1), "k", [True, False, False], [np.float32, np.int32, np.float64])
    x = mx.nd.ones((3,))
    kernel.launch([x, -7, np.float32(0.5)], mx.gpu(2), (1, 2, 3), (4, 5, 6), 99)
    device, args, rest = library.calls[0]
    assert device == 2 and rest == [1, 2, 3, 4, 5, 6, 99]
    assert args[0] == getattr(x.handle, "value", x.handle)
    assert library.numbers == [-7, 0.5]
    for arguments, ctx, grid, block, shared, kind, text in (
            ([x, 1, 1], mx.cpu(), (1, 1, 1), (1, 1, 1), 0, ValueError, "gpu contexts"),
            ([x, 1], mx.gpu(), (1, 1, 1), (1, 1, 1), 0, ValueError, "2 arguments"),
            ([1, 1, 1], mx.gpu(), (1, 1, 1), (1, 1, 1), 0, TypeError, "an NDArray"),
            ([x, x, 1], mx.gpu(), (1, 1, 1), (1, 1, 1), 0, TypeError, "a number"),
            ([x, 1j, 1], mx.gpu(), (1, 1, 1), (1, 1, 1), 0, TypeError, "a number"),
            ([x, 1, 1], mx.gpu(), (1, 1), (1, 1, 1), 0, ValueError, "grid_dims"),
            ([x, 1, 1], mx.gpu(), (1, 1, 1), (1, 0, 1), 0, ValueError, "block_dims"),
            ([x, 1, 1], mx.gpu(), (1, 1, 1), (1, 1.5, 1), 0, ValueError, "block_dims"),
            ([x, 1, 1], mx.gpu(), (1, 1, 1), (1, 1, 1), -1, ValueError, "shared_mem")):
        with pytest.raises(kind, match=text):
            kernel.launch(arguments, ctx, grid, block, shared)
    assert len(library.calls) == 1
    del kernel
    assert library.freed == 1


def test_launch_on_a_gpu():
    if mx.num_gpus() == 0:
        pytest.skip("needs a GPU")
    module = mx.rtc.CudaModule(SOURCE, exports=["fill<float>"])
    axpy = module.get_kernel("axpy", "const float *x, float *y, float alpha")
    fill = module.get_kernel("fill<float>", "float *x, float value")
    del module
    x, y = mx.nd.arange(64, ctx=mx.gpu(0)), mx.nd.zeros((64,), ctx=mx.gpu(0))
    for _ in range(3):
        axpy.launch([x, y, 2.0], mx.gpu(0), (2, 1, 1), (32, 1, 1))
    np.testing.assert_array_equal(y.asnumpy(), 6 * np.arange(64, dtype="float32"))
    fill.launch([y, 5.0], mx.gpu(0), (1, 1, 1), (64, 1, 1))
    assert (y.asnumpy() == 5).all()
    with pytest.raises(mx.MXNetError, match="float64"):
        axpy.launch([x.astype("float64"), y, 2.0], mx.gpu(0), (2, 1, 1), (32, 1, 1))
