"""Opens libraries that other PyPI packages bring, where the RPATH of libmxnet.so does not reach:
pip may have put those packages into another folder than this one."""
import ctypes
import importlib.metadata
import os

# What brings a library, as pip is told, by how the library's name begins.
REQUIREMENTS = {"libdnnl.so": "onednn-cpu-gomp==2023.2.0", "libscipy_openblas.so": "scipy-openblas32",
                "libcudart.so": "nvidia-cuda-runtime", "libcublas": "nvidia-cublas",
                "libnvrtc": "nvidia-cuda-nvrtc", "libcudnn.so": "nvidia-cudnn-cu13",
                "libnccl.so": "nvidia-nccl-cu13"}


def requirement_of(library):
    """What brings `library`, as pip is told; None where no package is known."""
    return next((needed for name, needed in REQUIREMENTS.items() if library.startswith(name)), None)


def open_missing(message):
    """Opens the library that `message` of the loader misses, for what needs it to find it by its
    name. False: there is no package for it, or it is not installed."""
    library = message.partition(":")[0]
    requirement = requirement_of(library)
    if requirement is None:
        return False
    try:
        files = importlib.metadata.files(requirement.partition("==")[0]) or ()
    except importlib.metadata.PackageNotFoundError:
        return False
    for file in files:
        path = str(file.locate())
        if file.name == library and os.path.exists(path):
            try:
                ctypes.CDLL(path)
            except OSError:
                return False
            return True
    return False
