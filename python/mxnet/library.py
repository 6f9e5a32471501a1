"""Libraries of your own operators, graph partitioners and passes, written in C++ against
``mxnet/lib_api.h``."""
import ctypes
import os
import sys
from _ctypes import dlclose as _dlclose

from .base import MXNetError, _LIB, c_str, check_call, mx_uint

__all__ = ["MXlib", "compiled_with_gcc_cxx11_abi", "load"]

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
    A library with an operator is compiled against the header of this package.

    >>> import os, subprocess
    >>> source = '''
    ... #include "mxnet/lib_api.h"
    ... using namespace mxnet::ext;
    ... using Attrs = std::unordered_map<std::string, std::string>;
    ...
    ... MXReturnValue parseAttrs(const Attrs&, int* num_in, int* num_out) {
    ...   *num_in = *num_out = 1;
    ...   return MX_SUCCESS;
    ... }
    ... MXReturnValue inferType(const Attrs&, std::vector<int>* in, std::vector<int>* out) {
    ...   *out = *in;
    ...   return MX_SUCCESS;
    ... }
    ... MXReturnValue inferShape(const Attrs&, std::vector<std::vector<unsigned int>>* in,
    ...                          std::vector<std::vector<unsigned int>>* out) {
    ...   *out = *in;
    ...   return MX_SUCCESS;
    ... }
    ... MXReturnValue forward(const Attrs&, std::vector<MXTensor>* in, std::vector<MXTensor>* out,
    ...                       const OpResource&) {
    ...   for (int64_t i = 0; i < in->at(0).size(); ++i)
    ...     out->at(0).data<float>()[i] = 2 * in->at(0).data<float>()[i];
    ...   return MX_SUCCESS;
    ... }
    ... REGISTER_OP(twice_as_much)
    ...     .setForward(forward, "cpu")
    ...     .setParseAttrs(parseAttrs)
    ...     .setInferType(inferType)
    ...     .setInferShape(inferShape);
    ... MXReturnValue initialize(int version) { return MX_SUCCESS; }
    ... '''
    >>> with open('mine.cc', 'w') as file:
    ...     _ = file.write(source)
    >>> _ = subprocess.run(['g++', '-std=c++11', '-shared', '-fPIC', 'mine.cc', '-o', 'libmine.so',
    ...                     '-I', mx.libinfo.find_include_path()], check=True)
    >>> mx.library.load(os.path.abspath('libmine.so'), verbose=False)
    >>> mx.nd.twice_as_much(mx.nd.array([1, 2])).asnumpy()
    array([2., 4.], dtype=float32)
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


class MXlib:
    """Keeps a shared library open that the program has opened, and closes it when the object goes.
    What :func:`load` has loaded stays open until the process ends, whoever else closes it.

    Parameters
    ----------
    handle : int or ctypes.c_void_p
        What ``dlopen`` gave, which ``ctypes.CDLL(path)._handle`` is, too.

    Examples
    --------
    >>> import _ctypes
    >>> library = mx.library.MXlib(_ctypes.dlopen('libm.so.6', 0))
    >>> del library
    """

    def __init__(self, handle):
        self.handle = handle

    def __del__(self):
        handle = getattr(self.handle, "value", self.handle)
        if handle:
            _dlclose(handle)


def compiled_with_gcc_cxx11_abi():
    """Whether the native library uses the strings and lists of C++11 (``_GLIBCXX_USE_CXX11_ABI``):
    1 or 0. Libraries for :func:`load` may use either.

    >>> mx.library.compiled_with_gcc_cxx11_abi()
    1
    """
    result = ctypes.c_int()
    check_call(_LIB.MXLibInfoCompiledWithCXX11ABI(ctypes.byref(result)))
    return result.value
