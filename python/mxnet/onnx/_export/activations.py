"""Activations and softmax."""
import math

import numpy as np

from .table import converts

__all__ = []


def relu(c, x):
    """max(x, 0)."""
    return c.op("Relu", x)


def _softrelu(c, x):
    return c.op("Softplus", x)


def _mish(c, x):
    if c.opset >= 18:
        return c.op("Mish", x)
    return c.op("Mul", x, c.op("Tanh", c.op("Softplus", x)))


def _log_sigmoid(c, x):
    return c.op("Neg", c.op("Softplus", c.op("Neg", x)))


def _gelu(c, x):
    if c.opset >= 20:
        return c.op("Gelu", x)
    halves = c.op("Mul", x, c.const(0.5))
    erf = c.op("Erf", c.op("Div", x, c.const(math.sqrt(2))))
    return c.op("Mul", halves, c.op("Add", erf, c.const(1)))


_KINDS = {
    "relu": relu, "softrelu": _softrelu, "mish": _mish, "log_sigmoid": _log_sigmoid,
    "sigmoid": lambda c, x: c.op("Sigmoid", x), "tanh": lambda c, x: c.op("Tanh", x),
    "softsign": lambda c, x: c.op("Softsign", x)}


def activation(c, x, kind):
    """The activation `kind`, as Activation(act_type=) says it, of the result `x`."""
    if kind not in _KINDS:
        raise c.unsupported(f"act_type {kind!r}", ", ".join(sorted(_KINDS)))
    return _KINDS[kind](c, x)


@converts("Activation")
def _(c):
    return activation(c, c[0], c.params["act_type"])


for _name, _kind in (("relu", "relu"), ("_npx_relu", "relu"), ("_softrelu", "softrelu"),
                     ("softsign", "softsign"), ("sigmoid", "sigmoid"), ("_npx_sigmoid", "sigmoid"),
                     ("mish", "mish"), ("log_sigmoid", "log_sigmoid")):
    converts(_name)(lambda c, kind=_kind: activation(c, c[0], kind))


@converts("hard_sigmoid")
def _(c):
    return c.op("HardSigmoid", c[0], alpha=c.params["alpha"], beta=c.params["beta"])


@converts("LeakyReLU")
def _(c):
    kind, slope = c.params["act_type"], c.params["slope"]
    if kind == "leaky":
        return c.op("LeakyRelu", c[0], alpha=slope)
    if kind == "rrelu":     # its mean outside of training
        bounds = c.params["lower_bound"], c.params["upper_bound"]
        x = c.op("LeakyRelu", c[0], alpha=sum(bounds) / 2)
        if len(c.outputs) == 1:
            return x
        above = c.op("Greater", c[0], c.const(0))
        return [x, c.op("Where", above, c.const(1), c.const(sum(bounds) / 2))]
    if kind == "elu":
        return c.op("Elu", c[0], alpha=slope)
    if kind == "selu":
        return c.op("Selu", c[0])
    if kind == "gelu":
        return _gelu(c, c[0])
    if kind == "gelu_tanh" and c.opset >= 20:
        return c.op("Gelu", c[0], approximate="tanh")
    if kind == "prelu":
        return _prelu(c)
    raise c.unsupported(f"act_type {kind!r}", "leaky, rrelu, elu, selu, gelu, prelu")


def _prelu(c):
    """A slope of each channel: channels are axis 1, or the only axis."""
    slope = c[1]
    if c.ndim(1) == 1 and c.shape(1)[0] > 1 and c.ndim() > 1:
        slope = c.reshape(slope, [c.shape(1)[0]] + [1] * (c.ndim() - 2))
    elif c.ndim(1) > c.ndim():
        slope = c.reshape(slope, [1] * c.ndim())
    return c.op("PRelu", c[0], slope)


# ---- softmax

def _scaled(c, x):
    temperature = c.params.get("temperature")
    return x if temperature in (None, 1.0) else c.op("Div", x, c.const(temperature))


def _within_length(c, axis):
    """Where positions along `axis` are below the length, which has the other axes."""
    lengths = c.unsqueeze(c.input_as(1, np.int64), axis)
    positions = positions_along(c, axis)
    return c.op("Less", positions, lengths)


def positions_along(c, axis, i=0):
    """0, 1, ... along an axis of input i, as int64 of as many dimensions."""
    dims, shape = c.dims(i), [1] * c.ndim(i)
    dim = dims[axis]
    shape[axis] = -1
    if all(size == dim[0] for size in dim):
        return c.const(np.arange(dim[0]).reshape(shape), np.int64)
    count = c.op("Squeeze", c.size(dim))
    numbers = c.op("Range", c.const(0, np.int64), count, c.const(1, np.int64))
    return c.op("Reshape", numbers, c.ints(*shape))


def _lowest(c):
    """A number that softmax makes 0 of, of the dtype of input 0."""
    return c.const(-6e4 if np.dtype(np.float16) == c.dtype() else -1e30)


def _softmax(c, kind, sign=1):
    axis = c.axis(c.params["axis"])
    x = c[0] if sign == 1 else c.op("Neg", c[0])
    x = _scaled(c, x)
    if not c.params.get("use_length"):
        return c.cast_from(c.op(kind, x, axis=axis), c.dtype(), c.out_dtype())
    inside = _within_length(c, axis)
    x = c.op(kind, c.op("Where", inside, x, _lowest(c)), axis=axis)
    x = c.op("Where", inside, x, c.const(0))
    return c.cast_from(x, c.dtype(), c.out_dtype())


converts("softmax")(lambda c: _softmax(c, "Softmax"))
converts("log_softmax")(lambda c: _softmax(c, "LogSoftmax"))
converts("softmin")(lambda c: _softmax(c, "Softmax", -1))


@converts("masked_softmax")
def _(c):
    inside = c.input_as(1, np.bool_)
    x = c.op("Where", inside, _scaled(c, c[0]), _lowest(c))
    x = c.op("Softmax", x, axis=c.axis(c.params["axis"]))
    return c.op("Where", inside, x, c.const(0))


@converts("masked_log_softmax")
def _(c):
    inside = c.input_as(1, np.bool_)
    x = c.op("Where", inside, _scaled(c, c[0]), _lowest(c))
    x = c.op("LogSoftmax", x, axis=c.axis(c.params["axis"]))
    return c.op("Where", inside, x, c.const(-np.inf))


@converts("SoftmaxActivation")
def _(c):
    if c.params["mode"] == "channel":
        return c.op("Softmax", c[0], axis=1)
    return c.op("Softmax", c[0], axis=-1)


@converts("SoftmaxOutput")
def _(c):
    """The probabilities: labels are for training."""
    if c.params["multi_output"]:
        return c.op("Softmax", c[0], axis=1)
    if c.params["preserve_shape"] or c.ndim() == 2:
        return c.op("Softmax", c[0], axis=-1)
    return c.reshape_out(c.op("Softmax", c.op("Flatten", c[0], axis=1), axis=-1))


@converts("LogisticRegressionOutput")
def _(c):
    return c.op("Sigmoid", c[0])
