"""Prints the folder to give CMake as CMAKE_PREFIX_PATH, so that find_package(mxnet) finds the
library of this package.

    cmake -S . -B build -DCMAKE_PREFIX_PATH="$(python -m mxnet.cmake)"

An installed package is such a folder itself. In a checkout, what ./dev build has made is installed
into build/prefix first, which takes less than a second.
"""
import os
import subprocess
import sys


def prefix():
    """Returns the folder: the installed package's, or in a checkout build/prefix, into which it
    installs the library, the headers and CMake's files.

    FileNotFoundError where a checkout has not been built or there is no CMake; OSError, with what
    CMake says, where it cannot install.

    >>> import mxnet.cmake
    >>> import os
    >>> os.path.exists(os.path.join(mxnet.cmake.prefix(), "include", "mxnet", "c_api.h"))
    True
    """
    folder = os.path.dirname(os.path.abspath(__file__))
    if os.path.exists(os.path.join(folder, "lib", "cmake", "mxnet", "mxnetConfig.cmake")):
        return folder
    from . import libinfo
    try:
        build = os.path.dirname(libinfo.find_lib_path()[0])
    except RuntimeError as error:
        raise FileNotFoundError(f"[cmake] {folder} is a checkout without a library: {error}") from None
    if not os.path.exists(os.path.join(build, "cmake_install.cmake")):
        raise FileNotFoundError(f"[cmake] {folder} is a checkout, and {build}, where its library lies, is no build folder; "
                                "accepted: a folder of ./dev build, or run cmake --install and give its prefix")
    made = os.path.join(os.path.dirname(build), "prefix")
    try:
        done = subprocess.run(["cmake", "--install", build, "--prefix", made], capture_output=True, text=True)
    except FileNotFoundError:
        raise FileNotFoundError("[cmake] there is no program cmake, which installs a checkout's library into "
                                f"{made}; install CMake 3.25 or later") from None
    if done.returncode:
        raise OSError(f"[cmake] cmake --install {build} --prefix {made} failed:\n{done.stdout}{done.stderr}")
    return made


if __name__ == "__main__":
    try:
        print(prefix())
    except OSError as error:
        sys.exit(str(error))
