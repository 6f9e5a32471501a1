"""NumPy arrays that end where a page begins that nobody may touch, so that one element too far is a
crash."""
import ctypes
import mmap
import weakref

import numpy as np

_libc = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
_libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
_libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
_PAGE = mmap.PAGESIZE
_PRIVATE = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS


def guarded(values, at_end=True):
    """Copies `values` between two pages without access, against the one behind (`at_end`) or the
    one in front."""
    values = np.ascontiguousarray(values)
    room = -(-max(values.nbytes, 1) // _PAGE) * _PAGE
    begin = _libc.mmap(None, room + 2 * _PAGE, mmap.PROT_READ | mmap.PROT_WRITE, _PRIVATE, -1, 0)
    if begin in (None, ctypes.c_void_p(-1).value):
        raise MemoryError(f"[guarded] no address space for {values.nbytes} bytes")
    _libc.mprotect(begin, _PAGE, 0)
    _libc.mprotect(begin + _PAGE + room, _PAGE, 0)
    start = begin + _PAGE + (room - values.nbytes if at_end else 0)
    block = (ctypes.c_char * values.nbytes).from_address(start)
    array = np.frombuffer(block, values.dtype).reshape(values.shape) if values.nbytes else np.empty(values.shape, values.dtype)
    if values.nbytes:
        array[...] = values
    weakref.finalize(block, _libc.munmap, begin, room + 2 * _PAGE).atexit = False
    return array
