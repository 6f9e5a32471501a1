"""What is asked about GPUs, for mx.util."""
import ctypes

from .._arrays.device_argument import accepts_device

__all__ = ["get_cuda_compute_capability", "get_gpu_count", "get_gpu_memory", "get_max_supported_compute_capability",
           "get_rtc_compile_opts"]


def get_gpu_count():
    """Number of GPUs that the library can use.

    >>> mx.util.get_gpu_count() == mx.num_gpus()
    True
    """
    from ..context import num_gpus
    return num_gpus()


def get_gpu_memory(gpu_dev_id):
    """Free and total bytes of a GPU.

    >>> for number in range(mx.util.get_gpu_count()):
    ...     free, total = mx.util.get_gpu_memory(number)
    """
    from ..context import gpu_memory_info
    return gpu_memory_info(gpu_dev_id)


@accepts_device
def get_cuda_compute_capability(ctx):
    """Compute capability of a GPU as major * 10 + minor, from the driver.

    Raises
    ------
    ValueError
        if `ctx` is not a GPU.
    OSError
        if there is no CUDA driver.
    RuntimeError
        if the driver does not know the device.

    Examples
    --------
    >>> if mx.npx.num_gpus():
    ...     capability = mx.npx.get_cuda_compute_capability(mx.npx.gpu(0))
    """
    if ctx.device_type != "gpu":
        raise ValueError(f"[util] Expecting a gpu context to get cuda compute capability, while received ctx {ctx}")
    cuda = ctypes.CDLL("libcuda.so.1")
    device, value = ctypes.c_int(), ctypes.c_int()

    def call(function, *args):
        status = getattr(cuda, function)(*args)
        if status:
            raise RuntimeError(f"[util] {function} for {ctx} failed with CUDA error {status}")

    call("cuInit", 0)
    call("cuDeviceGet", ctypes.byref(device), ctx.device_id)
    parts = []
    for attribute in (75, 76):          # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, _MINOR
        call("cuDeviceGetAttribute", ctypes.byref(value), attribute, device)
        parts.append(value.value)
    return parts[0] * 10 + parts[1]


def get_max_supported_compute_capability():
    """The highest compute capability that the CUDA compiler at hand makes code for, as major * 10 +
    minor.

    Raises
    ------
    MXNetError
        if there is no such compiler.

    Examples
    --------
    >>> if mx.num_gpus():
    ...     newest = mx.util.get_max_supported_compute_capability()
    """
    from ..base import MXNetError
    for name in ("libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2"):
        try:
            nvrtc = ctypes.CDLL(name)
        except OSError:
            continue
        count = ctypes.c_int()
        if nvrtc.nvrtcGetNumSupportedArchs(ctypes.byref(count)) == 0 and count.value > 0:
            known = (ctypes.c_int * count.value)()
            if nvrtc.nvrtcGetSupportedArchs(known) == 0:
                return max(known)
    raise MXNetError("[util] no CUDA compiler (libnvrtc) that tells what it makes code for; accepted: CUDA 11.2 or newer")


def get_rtc_compile_opts(device):
    """Options with which mx.rtc.CudaModule compiles for one GPU: machine code where the compiler
    knows the GPU, else text for the newest one that it does.

    Raises
    ------
    ValueError
        if `device` is not a GPU.

    Examples
    --------
    >>> if mx.num_gpus():
    ...     options = mx.util.get_rtc_compile_opts(mx.gpu(0))
    """
    capability = get_cuda_compute_capability(device)
    newest = get_max_supported_compute_capability()
    kind = "sm" if capability <= newest else "compute"
    return [f"--gpu-architecture={kind}_{min(capability, newest)}"]
