"""Opens libraries that other PyPI packages bring, where the RPATH of libmxnet.so does not reach:
pip may have put those packages into another folder than this one."""
import ctypes
import importlib.metadata
import os

# Which package brings a library, by how its name begins.
PACKAGES = {"libdnnl.so": "onednn-cpu-gomp", "libscipy_openblas.so": "scipy-openblas32", "libcudart.so": "nvidia-cuda-runtime",
            "libcublas": "nvidia-cublas", "libnvrtc": "nvidia-cuda-nvrtc", "libcudnn.so": "nvidia-cudnn-cu13"}


def package_of(library):
    """The package that brings `library`; None where no package is known."""
    return next((package for name, package in PACKAGES.items() if library.startswith(name)), None)


def open_missing(message):
    """Opens the library that `message` of the loader misses, for what needs it to find it by its
    name. False: there is no package for it, or it is not installed."""
    library = message.partition(":")[0]
    package = package_of(library)
    if package is None:
        return False
    try:
        files = importlib.metadata.files(package) or ()
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
