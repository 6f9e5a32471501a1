"""The operators that kernels.py measures on a GPU, and how both libraries compute those that the
CPU's list does not have. Arrays are several times as large as the L2 cache, batches are those of a
training step."""
import functools

import numpy as np

from kernels_cases import Case, conv, dense, embedding, pool, product, rows, sgd

BIG = (16384, 4096)   # 256 MiB of float32
DTYPES = ("float32", "tf32", "bfloat16", "float16")
HALF = ("bfloat16", "float16")
# ||got - wanted|| / ||wanted|| against this library on the CPU in float32: libraries may take
# Winograd or FFT, 16-bit types round inputs too, and a relu's gradient is all or nothing where its
# input is nearly 0
TOLERANCE = {"float32": 2e-3, "tf32": 5e-3, "bfloat16": 6e-2, "float16": 2e-2}

# name -> (arrays' worth of bytes that must move, this library's function of mx and two arrays,
# PyTorch's of torch and two tensors)
CALLS = {
    "device copy": (2, lambda mx, x, y: x.copyto(y), lambda t, x, y: y.copy_(x)),
    "add": (3, lambda mx, x, y: x + y, lambda t, x, y: x + y),
    "add a number": (2, lambda mx, x, y: x + 2, lambda t, x, y: x + 2),
    "tanh": (2, lambda mx, x, y: mx.nd.tanh(x), lambda t, x, y: t.tanh(x)),
    "broadcast row": (2, lambda mx, x, y: mx.nd.broadcast_add(x, y[0:1]), lambda t, x, y: x + y[0:1]),
    "broadcast column": (2, lambda mx, x,
                         y: mx.nd.broadcast_mul(x, y.reshape((-1,))[: x.shape[0]].reshape((-1, 1))),
                         lambda t, x, y: x * y.reshape(-1)[: len(x)].reshape(-1, 1)),
    "mean of rows": (1, lambda mx, x, y: x.mean(axis=1), lambda t, x, y: x.mean(1)),
    "mean of columns": (1, lambda mx, x, y: x.mean(axis=0), lambda t, x, y: x.mean(0)),
    "mean of all": (1, lambda mx, x, y: x.mean(), lambda t, x, y: x.mean()),
    "max of rows": (1, lambda mx, x, y: x.max(axis=1), lambda t, x, y: x.amax(1)),
    "argmax of rows": (1, lambda mx, x, y: mx.nd.argmax(x, axis=1), lambda t, x, y: x.argmax(1)),
    "transpose": (2, lambda mx, x, y: mx.nd.transpose(x), lambda t, x, y: x.t().contiguous()),
    "concat": (4, lambda mx, x, y: mx.nd.concat(x, y, dim=1), lambda t, x, y: t.cat((x, y), 1)),
    "fused: tanh(relu(x y - 1) / 2 + x)": (3, lambda mx, x,
                                           y: mx.sym.tanh(mx.sym.relu(x * y - 1) / 2 + x), lambda t,
                                           x, y: t.tanh(t.relu(x * y - 1) / 2 + x)),
}

CASES = {
    **{name: Case("call", dict(name=name, shape=BIG), None, 4 * arrays * int(np.prod(BIG))) for name, (arrays, _, _) in CALLS.items()},
    "gelu, 16384 rows of 4096": rows("gelu", BIG),
    "softmax, 131072 rows of 512": rows("softmax", (131072, 512)),
    "softmax, 2048 rows of 30522": rows("softmax", (2048, 30522)),
    "LayerNorm, 65536 rows of 1024": rows("layer_norm", (65536, 1024)),
    "BatchNorm training, 256 @56, batch 32": rows("batch_norm", (32, 256, 56, 56), 3, backward=False),
    "BatchNorm + relu, forward and backward": rows("batch_norm", (32, 256, 56, 56), 8, backward=True),
    "max pooling 3x3 / 2, 64 @112, batch 64": pool("max", (64, 64, 112, 112), 3, 2, 1),
    "global avg pooling, 2048 @7, batch 256": pool("avg", (256, 2048, 7, 7), 7, 7, 0),
    "embedding, 65536 words of 768": embedding(65536),
    "sgd with momentum, 160 arrays, 25 M": sgd(),
    "product 4096 x 4096 x 4096": dense(4096, 4096, 4096),
    "product 8192 x 8192 x 8192": dense(8192, 8192, 8192),
    "dense, 32 rows, 9216 to 4096": dense(32, 4096, 9216),
    "batch_dot, 384 x (128, 64) (64, 128)": product(384, 128, 64, 128),
    "convolution 7x7 / 2, 3 to 64 @224, batch 32": conv((32, 3, 224, 224), 64, (7, 7), 2, 3),
    "convolution 1x1, 64 to 256 @56, batch 32": conv((32, 64, 56, 56), 256, (1, 1)),
    "convolution 3x3, 64 @56, batch 32": conv((32, 64, 56, 56), 64, (3, 3), 1, 1),
    "convolution 3x3, 128 @28, batch 32": conv((32, 128, 28, 28), 128, (3, 3), 1, 1),
    "convolution 3x3, 256 @14, batch 32": conv((32, 256, 14, 14), 256, (3, 3), 1, 1),
    "convolution 3x3, 512 @7, batch 32": conv((32, 512, 7, 7), 512, (3, 3), 1, 1),
    "convolution 3x3 / 2, 256 @28, batch 32": conv((32, 256, 28, 28), 256, (3, 3), 2, 1),
    "depthwise 3x3, 144 @56, batch 32": conv((32, 144, 56, 56), 144, (3, 3), 1, 1, 1, 144),
}


def error(got, wanted):
    if got.shape != wanted.shape or not np.isfinite(got).all():
        return float("inf")
    return float(np.linalg.norm((got - wanted).ravel()) / np.linalg.norm(wanted.ravel()))


@functools.lru_cache(1)
def _pair(shape):
    """Two arrays of numbers from 0.5 to 1.5; what repeats in them has an odd length."""
    part = np.random.default_rng(0).uniform(0.5, 1.5, (1 << 20) + 7).astype("float32")
    return np.resize(part, shape), np.resize(part[::-1], shape)


def names_for(dtype):
    """Operators with 16-bit arrays; updates have weights in float32."""
    return [name for name, case in CASES.items() if dtype not in HALF or case.kind != "sgd"]


def call_ours(mx, case, place):
    """(a function that computes the case once, one that gives its last result)"""
    name = case.settings["name"]
    x, y = (place(a) for a in _pair(case.settings["shape"]))
    function = CALLS[name][1]
    if name.startswith("fused"):
        net = mx.gluon.SymbolBlock(function(mx, mx.sym.var("x"), mx.sym.var("y")), [mx.sym.var("x"), mx.sym.var("y")])
        net.hybridize(static_alloc=True, static_shape=True)
        run = lambda: net(x, y)
    else:
        run = lambda: function(mx, x, y)
    return run, lambda: run().astype("float32").asnumpy()


def call_torch(t, case, place):
    function = CALLS[case.settings["name"]][2]
    x, y = (place(t.from_numpy(a)) for a in _pair(case.settings["shape"]))
    run = lambda x, y: function(t, x, y)
    if case.settings["name"].startswith("fused"):
        try:
            import triton  # noqa: F401
            run = t.compile(run)
        except ImportError:
            pass   # one kernel for each operator
    return lambda: run(x, y)
