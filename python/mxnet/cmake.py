"""Prints the folder to give CMake as CMAKE_PREFIX_PATH, so that find_package(mxnet) finds the
library in this package.

    cmake -S . -B build -DCMAKE_PREFIX_PATH="$(python -m mxnet.cmake)"
"""
import os
import sys


def prefix():
    """Returns the package's folder; raises FileNotFoundError when the package is a source tree,
    which holds no headers and library."""
    folder = os.path.dirname(os.path.abspath(__file__))
    if not os.path.exists(os.path.join(folder, "lib", "cmake", "mxnet", "mxnetConfig.cmake")):
        raise FileNotFoundError(f"[cmake] {folder} is a source tree, which CMake cannot use; install the wheel, "
                                "or run cmake --install and give its prefix")
    return folder


if __name__ == "__main__":
    try:
        print(prefix())
    except FileNotFoundError as error:
        sys.exit(str(error))
