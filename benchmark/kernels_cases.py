"""The operators that kernels.py measures on the CPU: what each computes, its floating-point
operations or the bytes that it must move."""
import collections

import numpy as np

Case = collections.namedtuple("Case", "kind settings flops bytes")


def conv(data, filters, kernel, stride=1, pad=0, dilate=1, groups=1):
    n = len(kernel)
    out = [(s + 2 * pad - dilate * (k - 1) - 1) // stride + 1 for s, k in zip(data[2:], kernel)]
    flops = 2 * data[0] * filters * np.prod(out) * np.prod(kernel) * data[1] // groups
    return Case("conv", dict(data=data, weight=(filters, data[1] // groups, *kernel),
                             stride=(stride,) * n, pad=(pad,) * n, dilate=(dilate,) * n,
                             groups=groups),
                int(flops), None)


def pool(kind, data, kernel, stride, pad):
    out = (data[2] + 2 * pad - kernel) // stride + 1
    return Case("pool", dict(type=kind, data=data, kernel=kernel, stride=stride, pad=pad), None,
                4 * data[0] * data[1] * (data[2] * data[3] + out * out))


def dense(rows, outputs, inputs):
    flops = 2 * rows * outputs * inputs
    return Case("dense", dict(rows=rows, outputs=outputs, inputs=inputs),
                flops if rows > 8 else None, None if rows > 8 else 4 * outputs * inputs)


def rows(kind, shape, passes=2, **settings):
    return Case(kind, dict(shape=shape, **settings), None, 4 * passes * int(np.prod(shape)))


def rnn(kind, steps, batch, units):
    gates = {"lstm": 4, "gru": 3, "tanh": 1}[kind]
    return Case("rnn", dict(kind=kind, steps=steps, batch=batch, units=units, gates=gates),
                2 * steps * batch * 2 * units * gates * units, None)


def product(batch, m, k, n):
    return Case("batch_dot", dict(batch=batch, m=m, k=k, n=n), 2 * batch * m * k * n, None)


def embedding(count):
    return Case("embedding", dict(words=30522, units=768, count=count), None, 2 * 4 * count * 768)


def sgd():
    return Case("sgd", dict(shapes=[(512, 312)] * 160), None, 5 * 4 * 160 * 512 * 312)


CASES = {
    "convolution 3x3, 64 to 64 @56": conv((1, 64, 56, 56), 64, (3, 3), 1, 1),
    "convolution 1x1, 256 to 64 @56": conv((1, 256, 56, 56), 64, (1, 1)),
    "convolution 1x1, 64 to 256 @56": conv((1, 64, 56, 56), 256, (1, 1)),
    "convolution 1x1, 1024 to 256 @14": conv((1, 1024, 14, 14), 256, (1, 1)),
    "convolution 1x1, 16 to 96 @112": conv((1, 16, 112, 112), 96, (1, 1)),
    "convolution 1x1, 144 to 24 @56": conv((1, 144, 56, 56), 24, (1, 1)),
    "convolution 1x1, 96 to 576 @14": conv((1, 96, 14, 14), 576, (1, 1)),
    "convolution 1x1, 960 to 160 @7": conv((1, 960, 7, 7), 160, (1, 1)),
    "convolution 1x1, 1280 to 1000 @1": conv((1, 1280, 1, 1), 1000, (1, 1)),
    "strided 3x3 / 2, 3 to 32 @224": conv((1, 3, 224, 224), 32, (3, 3), 2, 1),
    "strided 3x3 / 2, 128 to 128 @56": conv((1, 128, 56, 56), 128, (3, 3), 2, 1),
    "strided 1x1 / 2, 256 to 512 @56": conv((1, 256, 56, 56), 512, (1, 1), 2),
    "strided 7x7 / 2, 3 to 64 @224": conv((1, 3, 224, 224), 64, (7, 7), 2, 3),
    "strided 11x11 / 4, 3 to 64 @224": conv((1, 3, 224, 224), 64, (11, 11), 4, 2),
    "convolution 5x5, 64 to 192 @27": conv((1, 64, 27, 27), 192, (5, 5), 1, 2),
    "convolution 1x7, 192 to 192 @17": Case("conv", dict(data=(1, 192, 17, 17),
                                                         weight=(192, 192, 1, 7), stride=(1, 1),
                                                         pad=(0, 3), dilate=(1, 1), groups=1),
                                            2 * 192 * 192 * 7 * 17 * 17, None),
    "depthwise 3x3, 144 @56": conv((1, 144, 56, 56), 144, (3, 3), 1, 1, 1, 144),
    "depthwise 3x3 / 2, 96 @112": conv((1, 96, 112, 112), 96, (3, 3), 2, 1, 1, 96),
    "depthwise 3x3, 960 @7": conv((1, 960, 7, 7), 960, (3, 3), 1, 1, 1, 960),
    "grouped 3x3, 32 groups, 128 @56": conv((1, 128, 56, 56), 128, (3, 3), 1, 1, 1, 32),
    "dilated 3x3, 256 @28": conv((1, 256, 28, 28), 256, (3, 3), 1, 2, 2),
    "1-D, 5, 64 to 128 @1024, batch 8": conv((8, 64, 1024), 128, (5,), 1, 2),
    "3-D, 3x3x3, 16 to 32 @16x56x56": conv((1, 16, 16, 56, 56), 32, (3, 3, 3), 1, 1),
    "max pooling 3x3 / 2, 64 @112": pool("max", (1, 64, 112, 112), 3, 2, 1),
    "max pooling 3x3 / 2, 64 @112, batch 16": pool("max", (16, 64, 112, 112), 3, 2, 1),
    "avg pooling 3x3, 192 @35": pool("avg", (1, 192, 35, 35), 3, 1, 1),
    "global avg pooling, 2048 @7": pool("avg", (1, 2048, 7, 7), 7, 7, 0),
    "BatchNorm training, 256 @56, batch 8": rows("batch_norm", (8, 256, 56, 56), 3, backward=False),
    "BatchNorm + relu, forward and backward": rows("batch_norm", (8, 256, 56, 56), 10, backward=True),
    **{f"dense, {m} rows, 9216 to 4096": dense(m, 4096, 9216) for m in (1, 2, 4, 8)},
    "dense, 1 row, 2048 to 1000": dense(1, 1000, 2048),
    "dense, 128 rows, 768 to 3072": dense(128, 3072, 768),
    "dense, 128 rows, 3072 to 768": dense(128, 768, 3072),
    "dense, 49 rows, 512 to 2048": dense(49, 2048, 512),
    "batch_dot, 12 x (128, 64) (64, 128)": product(12, 128, 64, 128),
    "embedding, 4096 words of 768": embedding(4096),
    "softmax, 1536 rows of 128": rows("softmax", (1536, 128)),
    "softmax, 32 rows of 30522": rows("softmax", (32, 30522)),
    "LayerNorm, 1024 rows of 768": rows("layer_norm", (1024, 768)),
    "gelu, 128 rows of 3072": rows("gelu", (128, 3072)),
    **{f"{kind}, 35 steps of 32 x 650": rnn(kind, 35, 32, 650) for kind in ("lstm", "gru", "tanh")},
    "sgd with momentum, 160 arrays, 25 M": sgd(),
}
