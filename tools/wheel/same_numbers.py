"""Whether a wheel computes the same on two kinds of machine.

    python same_numbers.py write FILE.npz            on each machine, with the wheel installed
    python same_numbers.py compare FILE.npz OTHER.npz

`write` also saves a model beside FILE.npz, and `compare` loads the models of both, which must give
the numbers that their own machines wrote. Whole numbers must be equal, and floating-point numbers
within what fused products and another order of additions change. Exit status 1 where they are not.
"""
import os
import sys

import numpy as np

import mxnet as mx
from mxnet import autograd, gluon

# Differences that are allowed, relative to the largest number of an array.
WITHIN = {"float64": 1e-12, "float32": 2e-5, "float16": 4e-3}
UNARY = ("exp", "log", "sqrt", "rsqrt", "cbrt", "sin", "cos", "tan", "arcsin", "arctan", "sinh", "tanh", "erf", "gamma", "gammaln",
         "sigmoid", "relu", "softsign", "expm1", "log1p", "round", "rint", "fix", "square", "reciprocal")


def inputs(*shape, low=-1.0, high=1.0, dtype="float32", seed=0):
    """The same numbers everywhere: of NumPy's Mersenne twister."""
    return mx.nd.array(np.random.RandomState(seed).uniform(low, high, shape), dtype=dtype)


def draws():
    """Random numbers of each distribution."""
    mx.random.seed(7)
    for name, arguments in (("uniform", (-1, 1)), ("normal", (0, 1)), ("gamma", (2, 1)), ("exponential", (2,)), ("poisson", (4,)),
                            ("negative_binomial", (3, 0.4)), ("randint", (0, 1000))):
        yield "draw " + name, getattr(mx.nd.random, name)(*arguments, shape=(1001,))
    yield "draw shuffle", mx.nd.random.shuffle(mx.nd.arange(1000))
    yield "draw multinomial", mx.nd.random.multinomial(inputs(50, low=0.1), shape=9)
    mx.np.random.seed(7)
    yield "draw np.permutation", mx.np.random.permutation(1000)
    yield "draw np.choice", mx.np.random.choice(50, 300)


def pointwise():
    """Functions of one number and of two, in each type."""
    for dtype in WITHIN:
        x, y = inputs(1003, low=0.05, high=0.95, dtype=dtype), inputs(1003, low=0.1, high=2, dtype=dtype, seed=1)
        for name in UNARY:
            yield f"{name} {dtype}", getattr(mx.nd, name)(x)
        for name in ("add", "multiply", "divide", "power", "maximum", "modulo", "hypot", "greater"):
            operator = getattr(mx.nd, "broadcast_" + {"multiply": "mul", "divide": "div", "modulo": "mod"}.get(name, name))
            yield f"{name} {dtype}", operator(x, y)
        for target in ("float16", "float32", "float64", "int8", "int32", "int64", "uint8"):
            yield f"cast {dtype} {target}", (x * 100).astype(target)
    for dtype in ("int8", "uint8", "int32", "int64"):
        a, b = inputs(777, low=1, high=100, dtype=dtype), inputs(777, low=1, high=9, dtype=dtype, seed=1)
        yield f"integers {dtype}", a * b + a - b


def reductions():
    """Sums, orders, products of matrices and their decompositions."""
    for dtype in WITHIN:
        x = inputs(9, 20, 31, dtype=dtype)
        for name in ("sum", "mean", "prod", "max", "min", "norm", "argmax", "argmin"):
            for axis in (0, 1, 2):
                yield f"{name} {axis} {dtype}", getattr(mx.nd, name)(x, axis=axis)
        for name in ("softmax", "log_softmax"):
            yield f"{name} {dtype}", getattr(mx.nd, name)(x, axis=1)
        yield f"sort {dtype}", mx.nd.sort(x.reshape((-1,)))
        yield f"argsort {dtype}", mx.nd.argsort(x, axis=1)
        yield f"topk {dtype}", mx.nd.topk(x, k=5, ret_typ="indices")
        yield f"cumsum {dtype}", mx.nd.cumsum(x, axis=2)
        yield f"dot {dtype}", mx.nd.dot(inputs(65, 130, dtype=dtype), inputs(130, 47, dtype=dtype, seed=1))
    for dtype in ("float32", "float64"):
        a = inputs(12, 12, dtype=dtype)
        spd = mx.nd.dot(a, a, transpose_b=True) + 12 * mx.nd.eye(12, dtype=dtype)
        yield f"potrf {dtype}", mx.nd.linalg.potrf(spd)
        yield f"inverse {dtype}", mx.nd.linalg.inverse(spd)
        yield f"slogdet {dtype}", mx.nd.linalg.slogdet(spd)[1]
        yield f"eigenvalues {dtype}", mx.nd.linalg.syevd(spd)[1]
        yield f"svd {dtype}", mx.np.linalg.svd(a.as_np_ndarray())[1]
    for dtype in ("int32", "int64", "float32", "float64"):      # with many equal ones, which keep their order
        x = inputs(30011, low=-1000, high=1000, dtype="int32").astype(dtype)
        yield f"long sort {dtype}", mx.nd.sort(x)
        yield f"long argsort {dtype}", mx.nd.argsort(x, dtype="int32")
    yield "unique", mx.np.unique(inputs(500, high=30, dtype="int32").as_np_ndarray())


def layers():
    """Layers of networks with their gradients."""
    data = inputs(3, 8, 13, 17)
    cases = {
        "convolution": gluon.nn.Conv2D(6, 3, padding=1), "strided convolution": gluon.nn.Conv2D(6, 5, strides=2),
        "grouped convolution": gluon.nn.Conv2D(8, 3, groups=4), "depthwise convolution": gluon.nn.Conv2D(8, 3, groups=8, padding=1),
        "deconvolution": gluon.nn.Conv2DTranspose(4, 4, strides=2), "max pooling": gluon.nn.MaxPool2D(3, 2),
        "average pooling": gluon.nn.AvgPool2D(3, 2), "batch norm": gluon.nn.BatchNorm(), "layer norm": gluon.nn.LayerNorm(),
        "group norm": gluon.nn.GroupNorm(2), "dense": gluon.nn.Dense(11), "leaky": gluon.nn.LeakyReLU(0.1), "gelu": gluon.nn.GELU()}
    for name, layer in cases.items():
        layer.initialize(mx.init.Xavier())
        layer(data)
        for index, parameter in enumerate(layer.collect_params().values()):
            parameter.set_data(inputs(*parameter.shape, low=0.1, seed=index))
        data.attach_grad()
        with autograd.record():
            out = layer(data)
        out.backward(inputs(*out.shape, seed=2))
        yield name, out
        yield name + ", gradient of data", data.grad
        for index, parameter in enumerate(layer.collect_params().values()):
            if parameter.grad_req != "null":
                yield f"{name}, gradient {index}", parameter.grad()
    for kind in (gluon.rnn.LSTM, gluon.rnn.GRU, gluon.rnn.RNN):
        layer = kind(10, num_layers=2, bidirectional=True)
        layer.initialize()
        sequence = inputs(7, 3, 6)
        layer(sequence)
        for index, parameter in enumerate(layer.collect_params().values()):
            parameter.set_data(inputs(*parameter.shape, low=-0.4, high=0.4, seed=index))
        sequence.attach_grad()
        with autograd.record():
            out = layer(sequence)
        out.backward()
        yield kind.__name__, out
        yield kind.__name__ + ", gradient", sequence.grad
    yield "resized picture", mx.image.imresize(inputs(40, 50, 3, low=0, high=255, dtype="uint8"), 23, 31)


def pictures():
    """A JPEG file: the file, and what is decoded of it."""
    y, x = np.mgrid[:48, :64]
    picture = np.stack([y * 5 % 256, x * 4 % 256, (x + y) * 2 % 256], 2).astype("uint8")
    file = mx.recordio.pack_img(mx.recordio.IRHeader(0, 1.0, 0, 0), picture, quality=90, img_fmt=".jpg")
    yield "jpeg file", np.frombuffer(file, "uint8")
    yield "jpeg decoded", mx.image.imdecode(mx.recordio.unpack(file)[1])


def training(stem):
    """Losses of a small network in training, which is then saved to files of the name `stem`."""
    mx.random.seed(3)
    net = gluon.nn.HybridSequential(prefix="small_")
    with net.name_scope():
        net.add(gluon.nn.Conv2D(8, 3, activation="relu"), gluon.nn.BatchNorm(), gluon.nn.MaxPool2D(), gluon.nn.Flatten(),
                gluon.nn.Dense(32, activation="tanh"), gluon.nn.Dropout(0.2), gluon.nn.Dense(4))
    net.initialize(mx.init.Xavier())
    net.hybridize()
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 3e-3})
    loss = gluon.loss.SoftmaxCrossEntropyLoss()
    data, labels, losses = inputs(96, 1, 12, 12), mx.nd.array(np.arange(96) % 4), []
    for step in range(40):
        rows = slice(step % 3 * 32, step % 3 * 32 + 32)
        with autograd.record():
            error = loss(net(data[rows]), labels[rows])
        error.backward()
        trainer.step(32)
        losses.append(error.mean().asscalar())
    yield "training: losses of the first steps", np.array(losses[:8], "float32")
    yield "training: final loss below the first", np.array([losses[-1] < 0.5 * losses[0]])
    net.export(stem)
    yield "model", net(data)


def write(path):
    """Writes all numbers to `path`, and the model beside it."""
    found = {}
    for part in (draws(), pointwise(), reductions(), layers(), pictures(), training(os.path.splitext(path)[0])):
        for name, value in part:
            assert name not in found, name
            found[name] = value if isinstance(value, np.ndarray) else value.asnumpy()
    np.savez(path, **found)
    print(f"{len(found)} arrays in {path}, of {os.uname().machine}")


def difference(one, other):
    """(the largest difference relative to the largest number, what is allowed)."""
    if one.shape != other.shape or one.dtype != other.dtype:
        return np.inf, 0
    if one.dtype.name not in WITHIN:
        return float((one != other).mean()) if one.size else 0.0, 0
    kept = np.isfinite(one)
    if not np.array_equal(np.where(kept, 0, one), np.where(np.isfinite(other), 0, other), equal_nan=True):
        return np.inf, 0
    one, other = one[kept].astype("float64"), other[kept].astype("float64")
    return float(abs(one - other).max(initial=0) / max(abs(one).max(initial=0), 1e-30)), None


def compare(path, other):
    """Prints what differs; returns the number of arrays that differ by more than is allowed."""
    first, second = np.load(path), np.load(other)
    wrong = sorted(set(first.files) ^ set(second.files))
    equal = 0
    largest = {}
    compared = [name for name in first.files if name not in wrong and name != "model"]    # the model is compared below
    for name in compared:
        found, within = difference(first[name], second[name])
        kind = first[name].dtype.name
        allowed = 0 if within == 0 else WITHIN[kind]
        equal += found == 0
        largest[kind] = max(largest.get(kind, (0, "")), (found, name))
        if found > allowed:
            wrong.append(f"{name}: differs by {found:.2g}, and {allowed:.2g} is allowed")
    for file in (path, other):
        stem = os.path.splitext(file)[0]
        net = gluon.SymbolBlock.imports(stem + "-symbol.json", ["data"], stem + "-0000.params")
        found, _ = difference(np.load(file)["model"], net(inputs(96, 1, 12, 12)).asnumpy())
        if found > WITHIN["float32"]:
            wrong.append(f"the model of {file} differs by {found:.2g} here")
    print(f"{len(compared)} arrays, {equal} equal to the last bit")
    for kind, (found, name) in sorted(largest.items()):
        print(f"{kind}: the largest difference is {found:.2g} ({name})")
    for line in wrong:
        print(line)
    return len(wrong)


if __name__ == "__main__":
    sys.exit(write(sys.argv[2]) if sys.argv[1] == "write" else compare(*sys.argv[2:4]) > 0)
