"""Damaged ONNX models, written without the package onnx."""
import os

import numpy as np

import mxnet as mx

_TOKENS = [b"x", b"w", b"Gemm", b"Loop", b"Reshape", b"\x12\x01y", b"\x10\x07", b"\xff" * 9 + b"\x01", b"../w"]


def field(number, data):
    """A field of bytes in the wire format of protobuf."""
    size, length = len(data), b""
    while size >= 128:
        length, size = length + bytes([size % 128 + 128]), size // 128
    return bytes([number * 8 + 2]) + length + bytes([size]) + data


def _graph(random, path):
    """A product, perhaps with its weights in another file, and perhaps a branch."""
    weights = np.ones((3, 4), "float32").tobytes()
    tensor = b"\x08\x03\x08\x04\x10\x01" + field(8, b"w")
    if random.randint(3) == 0:
        with open(path + ".bin", "wb") as f:
            f.write(weights)
        place = field(1, b"location") + field(2, os.path.basename(path + ".bin").encode())
        tensor += b"\x70\x01" + field(13, place)
    else:
        tensor += field(9, weights)
    shape = field(2, field(1, field(2, b"n")) + field(1, b"\x08\x04"))
    value = field(1, b"x") + field(2, field(1, b"\x08\x01" + shape))
    transposed = field(5, field(1, b"transB") + b"\x18\x01\xa0\x01\x02")
    nodes = field(1, field(1, b"x") + field(1, b"w") + field(2, b"y") + field(4, b"Gemm") + transposed)
    if random.randint(2):
        inner = field(1, field(1, b"x") + field(2, b"z") + field(4, b"Relu"))
        branches = b"".join(field(5, field(1, name) + field(6, inner)) for name in (b"then_branch", b"else_branch"))
        nodes += field(1, field(1, b"c") + field(2, b"q") + field(4, b"If") + branches)
    if random.randint(3) == 0:   # numbers that are stored in bytes, and a cast of them
        small = b"\x08\x03\x10" + bytes([17 + random.randint(10)]) + field(8, b"s") + field(9, b"\x7f\x81\x00")
        cast = field(5, field(1, b"to") + b"\x18\x01\xa0\x01\x02")
        nodes += field(1, field(1, b"s") + field(2, b"f") + field(4, b"Cast") + cast) + field(5, small) + field(12, field(1, b"f"))
    if random.randint(8) == 0:   # operators behind each other on the weight, or on the data
        links, last = 10000, random.choice([b"w", b"x"])
        op = random.choice([b"Neg", b"Identity", b"Relu"])
        for i in range(links):
            nodes += field(1, field(1, last) + field(2, b"v%d" % i) + field(4, op))
            last = b"v%d" % i
        nodes += field(12, field(1, last))
    return nodes + field(5, tensor) + field(11, value) + field(12, field(1, b"y"))


def onnx_model(random, path):
    from files import damage
    data = damage(random, b"\x08\x08" + field(7, _graph(random, path)) + field(8, b"\x10\x12"), _TOKENS)
    with open(path, "wb") as f:
        f.write(data)
    model = mx.onnx.load(path) if random.randint(2) else mx.onnx.load(data, folder=os.path.dirname(path))
    repr(model)
    if random.randint(3) == 0:
        model.to_block()
    given = {}
    for info in model.inputs:
        dtype = "float32" if info.dtype in (None, "string", "bfloat16") else info.dtype
        given[info.name] = np.ones((2, 4), dtype)
    for value in model.run(given).values():
        if isinstance(value, mx.nd.NDArray):
            value.asnumpy()
