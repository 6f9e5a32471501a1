"""Networks in 8 bits, as QuantizeLinear and DequantizeLinear around plain operators.

A result in 8 bits is what it stands for, rounded: `Quantized.real` is that, in float32. Sums of 32
bits are never rounded: they stand for what a plain operator gives.
"""
import numpy as np

from . import layers, layout, pooling  # noqa: F401
from .activations import activation
from .table import converts, find

__all__ = []

_STEPS = {"int8": 127.0, "uint8": 255.0, "int32": 2.0**31 - 1}


class Quantized:
    """What is known of a result that counts steps.

    Attributes: ``step`` (a float, an array with one of each channel, or the name of a scalar),
    ``real`` (the name of what it stands for).
    """

    __slots__ = ("step", "real")

    def __init__(self, step, real):
        self.step, self.real = step, real


def _kind(dtype):
    return np.dtype(dtype).name


def _largest(low, high):
    return np.maximum(np.abs(low), np.abs(high))


def _step_of_range(c, low, high, dtype):
    """The size of a step: that of a range which is known, or a name."""
    if low is None or high is None:
        return None
    step = _largest(np.asarray(low, np.float64), np.asarray(high, np.float64)) / _STEPS[_kind(dtype)]
    return float(step.ravel()[0]) if step.size == 1 else step.ravel()


def _name(c, step):
    return step if isinstance(step, str) else c.const(step, np.float32)


def _running_step(c, real, dtype):
    """A step for the numbers that are there when the model runs."""
    largest = c.op("ReduceMax", c.op("Abs", real), keepdims=0)
    return c.op("Div", largest, c.const(_STEPS[_kind(dtype)], np.float32))


def _rounded(c, real, step, i=0):
    """[numbers of 8 bits, lowest, highest] of the output i, which stand for `real`."""
    dtype = c.out_dtype(i)
    if step is None:
        step = _running_step(c, real, dtype)
    zero = c.const(0, dtype)
    numbers = c.op("QuantizeLinear", real, _name(c, step), zero)
    again = c.op("DequantizeLinear", numbers, _name(c, step), zero)
    c.outputs[i].quantized = Quantized(step, again)
    return [numbers, *_range(c, step, dtype)]


def _range(c, step, dtype):
    """The ends of the range, as arrays of one number."""
    kind = _kind(dtype)
    if not isinstance(step, str):
        top = float(np.max(step)) * _STEPS[kind]
        return [c.const([0.0 if kind == "uint8" else -top], np.float32), c.const([top], np.float32)]
    top = c.op("Reshape", c.op("Mul", step, c.const(_STEPS[kind], np.float32)), c.ints(1))
    return [c.op("Sub", top, top) if kind == "uint8" else c.op("Neg", top), top]


def _exact(c, real, steps):
    """[sums of 32 bits, lowest, highest] that stand for `real`; `steps` is one of each operand."""
    if any(isinstance(s, str) for s in steps):
        step = _name(c, steps[0])
        for other in steps[1:]:
            step = c.op("Mul", step, _name(c, other))
    else:
        step = float(np.max(np.prod(np.broadcast_arrays(*steps), axis=0)))
    sums = c.cast(c.op("Round", c.op("Div", real, _name(c, step))), np.int32)
    c.outputs[0].quantized = Quantized(step, real)
    return [sums, *_range(c, step, np.int32)]


def _operand(c, i, low, high, axis=0):
    """Input i, whose range is that of inputs `low` and `high`."""
    value = c.inputs[i]
    if value.quantized is not None:
        return value.quantized
    step = _step_of_range(c, c.constant(low), c.constant(high), value.dtype)
    if step is None:
        raise c.unsupported("a range that is computed", "ranges that calibration found")
    more = {} if isinstance(step, float) else {"axis": axis}
    return Quantized(step, c.op("DequantizeLinear", value.name, _name(c, step), **more))


def _given_range(c):
    return c.params.get("min_calib_range"), c.params.get("max_calib_range")


# ---- in and out

@converts("_contrib_quantize_v2")
def _(c):
    return _rounded(c, c[0], _step_of_range(c, *_given_range(c), c.out_dtype()))


@converts("_contrib_quantize")
def _(c):
    low, high = c.constant(1), c.constant(2)
    if low is None or high is None:
        raise c.unsupported("a range that is computed", "constants")
    if _kind(c.out_dtype()) == "uint8" and low.ravel()[0] != 0:
        raise c.unsupported("uint8 with a lowest number other than 0", "int8")
    return _rounded(c, c[0], _step_of_range(c, low, high, c.out_dtype()))


@converts("_contrib_requantize")
def _(c):
    real = _operand(c, 0, 1, 2).real
    return _rounded(c, real, _step_of_range(c, *_given_range(c), c.out_dtype()))


@converts("_contrib_dequantize")
def _(c):
    return c.op("Identity", _operand(c, 0, 1, 2).real)


# ---- layers

def _places(c, inputs):
    """Places of the ranges of the first `inputs` inputs, which stand behind these."""
    return [(inputs + 2 * i, inputs + 2 * i + 1) for i in range(inputs)]


def _weighted(c, compute):
    inputs = 2 if len(c) == 6 else 3
    operands = [_operand(c, i, *place) for i, place in enumerate(_places(c, inputs))]
    bias = operands[2].real if inputs == 3 else None
    real = compute(operands[0].real, operands[1].real, bias)
    return _exact(c, real, [operands[0].step, operands[1].step])


@converts("_contrib_quantized_conv")
def _(c):
    return _weighted(c, lambda x, w, b: layers.convolve(c, "Conv", x, w, b))


@converts("_contrib_quantized_fully_connected")
def _(c):
    return _weighted(c, lambda x, w, b: layers.dense(c, x, w, b))


@converts("_contrib_quantized_embedding")
def _(c):
    weight = _operand(c, 1, 2, 3)
    real = c.op("Gather", weight.real, c.input_as(0, np.int64), axis=0)
    return _rounded(c, real, weight.step)


@converts("_contrib_quantized_batch_norm")
def _(c):
    x = _operand(c, 0, 5, 6)
    gamma = c.const(np.ones(c.shape(1)), np.float32) if c.params["fix_gamma"] else c[1]
    real = c.op("BatchNormalization", x.real, gamma, c[2], c[3], c[4], epsilon=c.params["eps"])
    return _rounded(c, real, _step_of_range(c, *_given_range(c), c.out_dtype()))


# ---- the same range

class _Plain:
    """A conversion whose first input is what a quantized one stands for."""

    def __init__(self, c, real):
        self._c, self._real = c, real

    def __getattr__(self, name):
        return getattr(self._c, name)

    def __getitem__(self, i):
        return self._real if i == 0 else self._c[i]

    def dtype(self, i=0):
        """Of what it stands for."""
        return np.float32 if i == 0 else self._c.dtype(i)

    def const(self, values, dtype=None):
        """A constant of float32, if nothing else is asked for."""
        return self._c.const(values, np.float32 if dtype is None else dtype)

    def reshape_out(self, name, i=0, source=0):
        """As of the conversion."""
        return self._c.reshape_out(name, i, source)


def _same_range(operator):
    def convert(c):
        x = _operand(c, 0, 1, 2)
        real = find(operator)(_Plain(c, x.real))
        return _rounded(c, real, x.step)
    return convert


for _quantized, _operator in (
        ("_contrib_quantized_pooling", "Pooling"), ("_contrib_quantized_flatten", "Flatten"),
        ("_contrib_quantized_reshape", "Reshape"), ("_npx_quantized_reshape", "Reshape"),
        ("_contrib_quantized_transpose", "transpose"), ("_npx_quantized_transpose", "transpose")):
    converts(_quantized)(_same_range(_operator))


@converts("_contrib_quantized_act")
def _(c):
    x = _operand(c, 0, 1, 2)
    return _rounded(c, activation(c, x.real, c.params["act_type"]), x.step)


# ---- several operands

def _result(c, real, steps):
    """Of the kind that the operator has: 8 bits of a range, or exact sums."""
    if _kind(c.out_dtype()) == "int32":
        return _exact(c, real, steps)
    step = _step_of_range(c, *_given_range(c), c.out_dtype())
    return _rounded(c, real, step)


@converts("_contrib_quantized_elemwise_add")
def _(c):
    a, b = _operand(c, 0, 2, 3), _operand(c, 1, 4, 5)
    steps = [s for s in (a.step, b.step) if not isinstance(s, str)]
    return _result(c, c.op("Add", a.real, b.real), [max(steps) / 2**16 if steps else 2.0**-20])


@converts("_contrib_quantized_elemwise_mul")
def _(c):
    a, b = _operand(c, 0, 2, 3), _operand(c, 1, 4, 5)
    real = c.op("Mul", a.real, b.real)
    if c.params["enable_float_output"]:
        return real
    return _result(c, real, [a.step, b.step])


@converts("_contrib_quantized_concat")
def _(c):
    count = c.params["num_args"]
    operands = [_operand(c, i, count + 2 * i, count + 2 * i + 1) for i in range(count)]
    real = c.op("Concat", *(o.real for o in operands), axis=c.params["dim"])
    steps = [o.step for o in operands]
    if any(isinstance(s, str) for s in steps):
        step = c.op("Max", *(_name(c, s) for s in steps))
    else:
        step = max(steps)
    return _rounded(c, real, step)
