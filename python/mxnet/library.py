"""Libraries of your own operators, graph partitioners and passes, written in C++ against
``mxnet/lib_api.h``."""
import ctypes
import os
import sys

from .base import MXNetError, _LIB, c_str, check_call, mx_uint

__all__ = ["compiled_with_gcc_cxx11_abi", "load"]

_ENDINGS = (".so", ".dll", ".dylib")


def load(path, verbose=True):
    """Loads a library; its operators are then in ``mx.nd`` and ``mx.sym``, and its partitioners and
    passes are backends of ``optimize_for`` and ``hybridize``. Loading one again does nothing. A
    library stays until the process ends.

    Parameters
    ----------
    path : str
        An absolute path, ending in .so.
    verbose : bool
        Whether what the library has is printed.

    Raises
    ------
    MXNetError
        if the file is no such library, was compiled against another version of the header, refuses
        this version of mxnet, or brings a name that is taken.

    Examples
    --------
    A library is compiled against the header of this package::

        header = os.path.join(mx.libinfo.find_include_path(), "mxnet")
        subprocess.run(["g++", "-std=c++11", "-shared", "-fPIC", "mine.cc", "-o", "libmine.so",
                        "-I", header], check=True)
        mx.library.load(os.path.abspath("libmine.so"), verbose=False)
    """
    if not os.path.exists(path):
        raise MXNetError(f"[library] load path {path} does NOT exist")
    if not os.path.isabs(path):
        raise MXNetError(f"[library] load path {path} is not an absolute path")
    path = os.fsdecode(path)
    if not path.endswith(_ENDINGS) or not os.path.isfile(path):
        raise MXNetError(f"[library] load path {path} is NOT a library file; accepted: a file whose name ends in {', '.join(_ENDINGS)}")
    sys.stdout.flush()   # what the library prints comes behind what the program has printed
    check_call(_LIB.MXLoadLib(c_str(path), mx_uint(1 if verbose else 0)))


def compiled_with_gcc_cxx11_abi():
    """Whether the native library uses the strings and lists of C++11 (``_GLIBCXX_USE_CXX11_ABI``):
    1 or 0. Libraries for :func:`load` may use either.

    >>> mx.library.compiled_with_gcc_cxx11_abi()
    1
    """
    result = ctypes.c_int()
    check_call(_LIB.MXLibInfoCompiledWithCXX11ABI(ctypes.byref(result)))
    return result.value
