"""Records the parameters of MXNet's native iterators, datasets and functions that make batches.

    python record_iterators.py FILE     under MXNet 1.9.1 or 2.0; with this package it shows ours
"""
import ctypes
import json
import sys

import mxnet as mx  # noqa: F401
from mxnet.base import _LIB

LISTS = {'iterators': ('MXListDataIters', 'MXDataIterGetIterInfo'),
         'datasets': ('MXListDatasets', 'MXDatasetGetDatasetInfo'),
         'batchify functions': ('MXListBatchifyFunctions', 'MXBatchifyFunctionGetFunctionInfo')}


def parameters(list_all, info):
    """{name: [[parameter, type], ...]}"""
    text = ctypes.c_char_p
    count, creators = ctypes.c_uint(), ctypes.POINTER(ctypes.c_void_p)()
    assert getattr(_LIB, list_all)(ctypes.byref(count), ctypes.byref(creators)) == 0
    found = {}
    for creator in creators[:count.value]:
        name, doc, number = text(), text(), ctypes.c_uint()
        names, types, docs = (ctypes.POINTER(text)() for _ in range(3))
        pointers = [ctypes.byref(x) for x in (name, doc, number, names, types, docs)]
        assert getattr(_LIB, info)(ctypes.c_void_p(creator), *pointers) == 0
        found[name.value.decode()] = [[names[i].decode(), types[i].decode()] for i in range(number.value)]
    return found


def recorded():
    """Of each list that the library has."""
    return {what: parameters(*functions) for what, functions in LISTS.items() if hasattr(_LIB, functions[0])}


if __name__ == '__main__':
    with open(sys.argv[1], 'w') as out:
        json.dump(recorded(), out, indent=0, sort_keys=True)
        out.write('\n')
