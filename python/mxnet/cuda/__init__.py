"""What NVIDIA's tools are told: ranges to show (`nvtx`), and when to record."""
from ..base import _LIB, check_call
from . import nvtx

__all__ = ["cuda_profiler_start", "cuda_profiler_stop", "nvtx"]


def cuda_profiler_start():
    """Have tools that wait for it record (``nsys profile --capture-range=cudaProfilerApi``).

    Raises
    ------
    MXNetError
        in a build without GPU support, and where there is no GPU.
    """
    check_call(_LIB.MXCUDAProfilerStart())


def cuda_profiler_stop():
    """Has such tools end to record; see :func:`cuda_profiler_start`."""
    check_call(_LIB.MXCUDAProfilerStop())
