"""Calls one entry point of every operator that gradients are made of with shapes and dtypes that do
not fit; run by test_entry_points.py in a process of its own.

Usage: hostile_gradients.py ENTRY_POINT FIRST LAST. Prints the operator before it is called, so that
a crash names it, and "end" at the end.
"""
import ctypes
import itertools
import json
import sys

import mxnet as mx
from mxnet._operators import functions as _op_functions
from mxnet.base import _LIB

SHAPES = [(), (0,), (1,), (5,), (2, 3), (3, 2), (1, 2, 0, 4), (1, 2, 3, 4), (2, 1, 4, 3), (7, 1, 1)]
DTYPES = ["float32", "float64", "float16", "int32", "int64", "uint8", "bool"]
PARAMETERS = {   # for operators that need some
    "kernel": "(2, 2)", "num_filter": "2", "num_hidden": "2", "scalar": "2", "shape": "(2, 3)",
              "axis": "0", "begin": "(0,)", "end": "(1,)", "reps": "(2,)",
    "repeats": "2", "pad_width": "(0, 0, 0, 0, 1, 1, 1, 1)", "mode": "constant", "input_dim": "3",
              "output_dim": "2", "num_args": "2", "heads": "1", "a_min": "0",
    "a_max": "1", "scale": "2", "sample_type": "nearest", "state_size": "2", "num_layers": "1",
              "num_outputs": "2", "act_type": "relu", "dtype": "float32",
    "p": "0.5", "depth": "2", "output_size": "2", "nsize": "3", "ctx": "cpu(0)", "kind": "sum", "value": "1", "num_heads": "1"}


def attempts(name):
    """(parameters, number of inputs) that the record might take."""
    count, pointers = ctypes.c_uint(), ctypes.POINTER(ctypes.c_char_p)()
    types, texts, words = ctypes.POINTER(ctypes.c_char_p)(), ctypes.POINTER(ctypes.c_char_p)(), [ctypes.c_char_p() for _ in range(4)]
    handle = ctypes.c_void_p()
    assert _LIB.NNGetOpHandle(name.encode(), ctypes.byref(handle)) == 0
    assert _LIB.MXSymbolGetAtomicSymbolInfo(handle, ctypes.byref(words[0]), ctypes.byref(words[1]),
                                            ctypes.byref(count), ctypes.byref(pointers),
                                            ctypes.byref(types),
                                            ctypes.byref(texts), ctypes.byref(words[2]), ctypes.byref(words[3])) == 0
    given, inputs = {}, 0
    for i in range(count.value):
        kind, parameter = types[i].decode(), pointers[i].decode()
        if kind.startswith("NDArray"):
            inputs += 1
        elif "required" in kind:
            given[parameter] = PARAMETERS.get(parameter, "1")
    for extra in ({}, {"mode": "lstm"}, {"mode": "edge"}):
        yield {**given, **{k: v for k, v in extra.items() if k in given}}, inputs
    yield {}, inputs


def combinations(inputs, number):
    shapes = itertools.islice(itertools.cycle(itertools.product(SHAPES, repeat=2)), 7 * number, 7 * number + 24)
    for k, (first, second) in enumerate(shapes):
        kinds = [DTYPES[(k + i * (k % 3)) % len(DTYPES)] for i in range(inputs)]
        yield [first if i % 2 == 0 else second for i in range(inputs)], kinds


def eager(name, parameters, arrays):
    handle, outputs = ctypes.c_void_p(), ctypes.POINTER(ctypes.c_void_p)()
    _LIB.NNGetOpHandle(name.encode(), ctypes.byref(handle))
    count = ctypes.c_int(0)
    keys, values = [k.encode() for k in parameters], [v.encode() for v in parameters.values()]
    handles = mx.base.c_handle_array(arrays)
    if _LIB.MXImperativeInvokeEx(handle, ctypes.c_int(len(arrays)), handles, ctypes.byref(count),
                                 ctypes.byref(outputs), ctypes.c_int(len(keys)),
                                 (ctypes.c_char_p * len(keys))(*keys), (ctypes.c_char_p * len(keys))(*values), None) == 0:
        for i in range(count.value):
            mx.nd.NDArray(ctypes.c_void_p(outputs[i])).wait_to_read()


def graph(name, parameters, inputs):
    nodes = [{"op": "null", "name": f"x{i}", "inputs": []} for i in range(inputs)]
    nodes.append({"op": name, "name": "it", "attrs": parameters, "inputs": [[i, 0, 0] for i in range(inputs)]})
    return (json.dumps({"nodes": nodes, "arg_nodes": list(range(inputs)), "heads": [[inputs, 0, 0]],
                        "attrs": {"mxnet_version": ["int", 10901]}}))


def bound(name, parameters, arrays):
    symbol = mx.sym.load_json(graph(name, parameters, len(arrays)))
    given = {f"x{i}": a for i, a in enumerate(arrays)}
    executor = symbol.bind(mx.cpu(), given, {k: mx.nd.zeros(a.shape, dtype=a.dtype) for k, a in given.items()})
    executor.forward(is_train=True)
    executor.backward([mx.nd.ones(o.shape, dtype=o.dtype) for o in executor.outputs])
    mx.nd.waitall()


def predicted(name, parameters, arrays):
    ends, sizes = [0], []
    for a in arrays:
        sizes += a.shape
        ends.append(len(sizes))
    keys, handle = [f"x{i}".encode() for i in range(len(arrays))], ctypes.c_void_p()
    if _LIB.MXPredCreate(graph(name, parameters, len(arrays)).encode(), b"", 0, 1, 0,
                         ctypes.c_uint(len(keys)), (ctypes.c_char_p * len(keys))(*keys),
                         (ctypes.c_uint * len(ends))(*ends), (ctypes.c_uint * max(1, len(sizes)))(*sizes), ctypes.byref(handle)) == 0:
        _LIB.MXPredForward(handle)
        _LIB.MXPredFree(handle)


def main(entry_point, first, last):
    mx.util.set_np_shape(True)
    call = {"eager": eager, "bind": bound, "predict": predicted}[entry_point]
    names = [n for n in _op_functions.op_names() if "_backward_" in n][first:last]
    for number, name in enumerate(names):
        print(name, flush=True)
        for parameters, inputs in attempts(name):
            for shapes, kinds in combinations(max(inputs, 1), number):
                try:
                    call(name, parameters, [mx.nd.zeros(s, dtype=t) for s, t in zip(shapes, kinds)])
                    mx.nd.waitall()
                except (mx.MXNetError, ValueError, TypeError, IndexError):
                    pass
    print("end", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
