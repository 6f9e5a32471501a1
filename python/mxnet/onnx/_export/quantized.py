"""Networks in 8 bits, as QuantizeLinear and DequantizeLinear around plain operators.

A result in 8 bits is what it stands for, rounded: `Quantized.real` is that, in float32. Sums of 32
bits are never rounded: they stand for what a plain operator gives. As in 1.9.1, layers see 127
steps in a range of int8, but quantize_v2 and dequantize 127.5, so a result has two such forms.
"""
import numpy as np

from . import layers, layout, pooling  # noqa: F401
from .activations import activation
from .table import CONVERTERS, converts

__all__ = []

# Steps from 0 to the end of a range, as layers count them, and as quantize_v2 and dequantize do.
_WHOLE = {"int8": 127.0, "uint8": 255.0, "int32": 2.0**31}
_HALVES = {"int8": 127.5, "uint8": 255.5, "int32": 2.0**31}


class Quantized:
    """What is known of a result that counts steps.

    Attributes: ``top`` (the end of its range: a float, an array with one of each channel, or the
    name of a scalar), ``real`` (names of what it stands for, by the number of steps).
    """

    __slots__ = ("top", "real")

    def __init__(self, top, real=None):
        self.top, self.real = top, real or {}


def _kind(dtype):
    return np.dtype(dtype).name


def _top(low, high):
    """The end of a range: None where it is not known."""
    if low is None or high is None:
        return None
    top = np.maximum(np.abs(np.float64(low)), np.abs(np.float64(high)))
    return float(top.ravel()[0]) if top.size == 1 else top.ravel()


def _name(c, number):
    return number if isinstance(number, str) else c.const(number, np.float32)


def _divided(c, top, steps):
    """The size of a step."""
    if isinstance(top, str):
        return c.op("Div", top, c.const(steps, np.float32))
    return c.const(np.asarray(top) / steps, np.float32)


def _rounded(c, real, top, steps, i=0):
    """[numbers of 8 bits, lowest, highest] of the output i, which stand for `real`."""
    dtype = c.out_dtype(i)
    if top is None:     # that of the numbers that are there when the model runs
        top = c.op("ReduceMax", c.op("Abs", real), keepdims=0)
    step = _divided(c, top, steps[_kind(dtype)])
    numbers = c.op("QuantizeLinear", real, step, c.const(0, dtype))
    c.outputs[i].quantized = Quantized(top)
    return [numbers, *_range(c, top, dtype)]


def _range(c, top, dtype):
    """The ends of the range, as arrays of one number."""
    if not isinstance(top, str):
        top = float(np.max(top))
        return [c.const([0.0 if _kind(dtype) == "uint8" else -top], np.float32),
                c.const([top], np.float32)]
    high = c.op("Reshape", top, c.ints(1))
    return [c.op("Sub", high, high) if _kind(dtype) == "uint8" else c.op("Neg", high), high]


def _exact(c, real, tops):
    """[sums of 32 bits, lowest, highest] that stand for `real`. `tops` are (end of a range, steps
    to it) of each operand."""
    steps = [_divided(c, top, count) for top, count in tops]
    step = steps[0]
    for other in steps[1:]:
        step = c.op("Mul", step, other)
    if any(isinstance(top, str) for top, _ in tops):
        top = c.op("Mul", step, c.const(_WHOLE["int32"], np.float32))
    else:
        top = _WHOLE["int32"] * float(np.prod([np.max(top) / count for top, count in tops]))
        step = c.const(top / _WHOLE["int32"], np.float32)
    sums = c.cast(c.op("Round", c.op("Div", real, step)), np.int32)
    c.outputs[0].quantized = Quantized(top, {_WHOLE["int32"]: real})
    return [sums, *_range(c, top, np.int32)]


def _operand(c, i, low, high, steps=_WHOLE):
    """(end of the range, steps to it, name of what it stands for) of input i, whose range is that
    of the inputs `low` and `high`."""
    value = c.inputs[i]
    count = steps[_kind(value.dtype)]
    if value.quantized is None:
        top = _top(c.constant(low), c.constant(high))
        if top is None:
            raise c.unsupported("a range that is computed", "ranges that calibration found")
        value.quantized = Quantized(top)
    top, real = value.quantized.top, value.quantized.real
    if count not in real:
        more = {"axis": 0} if np.ndim(top) and not isinstance(top, str) else {}
        real[count] = c.op("DequantizeLinear", value.name, _divided(c, top, count), **more)
    return top, count, real[count]


def _given_top(c):
    return _top(c.params.get("min_calib_range"), c.params.get("max_calib_range"))


# ---- in and out

@converts("_contrib_quantize_v2")
def _(c):
    return _rounded(c, c[0], _given_top(c), _HALVES)


@converts("_contrib_quantize")
def _(c):
    low, high = c.constant(1), c.constant(2)
    if low is None or high is None:
        raise c.unsupported("a range that is computed", "constants")
    if _kind(c.out_dtype()) == "uint8" and low.ravel()[0] != 0:
        raise c.unsupported("uint8 with a lowest number other than 0", "int8")
    return _rounded(c, c[0], _top(low, high), _WHOLE)


@converts("_contrib_requantize")
def _(c):
    return _rounded(c, _operand(c, 0, 1, 2)[2], _given_top(c), _WHOLE)


@converts("_contrib_dequantize")
def _(c):
    return c.op("Identity", _operand(c, 0, 1, 2, _HALVES)[2])


# ---- layers

def _weighted(c, compute):
    count = 2 if len(c) == 6 else 3
    kind = _kind(c.dtype())
    # A bias of 8 bits is brought to the units of the sums by both counts of steps.
    of_bias = {**_WHOLE, "int8": _WHOLE[kind] * _WHOLE["int8"] / _HALVES[kind]}
    operands = [_operand(c, i, count + 2 * i, count + 2 * i + 1, of_bias if i == 2 else _WHOLE)
                for i in range(count)]
    real = compute(*(o[2] for o in operands), *[None] * (3 - count))
    return _exact(c, real, [o[:2] for o in operands[:2]])


@converts("_contrib_quantized_conv")
def _(c):
    return _weighted(c, lambda x, w, b: layers.convolve(c, "Conv", x, w, b))


@converts("_contrib_quantized_fully_connected")
def _(c):
    return _weighted(c, lambda x, w, b: layers.dense(c, x, w, b))


@converts("_contrib_quantized_embedding")
def _(c):
    top, _, weight = _operand(c, 1, 2, 3)
    real = c.op("Gather", weight, c.input_as(0, np.int64), axis=0)
    return _rounded(c, real, top, _WHOLE)


@converts("_contrib_quantized_batch_norm")
def _(c):
    real = _operand(c, 0, 5, 6, _HALVES)[2]
    gamma = c.const(np.ones(c.shape(1)), np.float32) if c.params["fix_gamma"] else c[1]
    real = c.op("BatchNormalization", real, gamma, c[2], c[3], c[4], epsilon=c.params["eps"])
    return _rounded(c, real, _given_top(c), _HALVES)


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
        top, _, x = _operand(c, 0, 1, 2)
        return _rounded(c, CONVERTERS[operator](_Plain(c, x)), top, _WHOLE)
    return convert


@converts("_contrib_quantized_pooling")
def _(c):
    """Greatest numbers are those of the integers, whatever range they have: ONNX files that were
    imported tell none."""
    if c.params["pool_type"] != "max":
        return _pooled(c)
    known = c.inputs[0].quantized
    top = _top(c.constant(1), c.constant(2)) if known is None else known.top
    if top is not None:
        c.outputs[0].quantized = Quantized(top)
    return [CONVERTERS["Pooling"](c), c[1], c[2]]


_pooled = _same_range("Pooling")

for _quantized, _operator in (
        ("_contrib_quantized_flatten", "Flatten"),
        ("_contrib_quantized_reshape", "Reshape"), ("_npx_quantized_reshape", "Reshape"),
        ("_contrib_quantized_transpose", "transpose"), ("_npx_quantized_transpose", "transpose")):
    converts(_quantized)(_same_range(_operator))


@converts("_contrib_quantized_act")
def _(c):
    top, _, x = _operand(c, 0, 1, 2)
    return _rounded(c, activation(c, x, c.params["act_type"]), top, _WHOLE)


# ---- several operands

def _result(c, real, tops):
    """Of the kind that the operator has: 8 bits of a range, or exact sums."""
    if _kind(c.out_dtype()) == "int32":
        return _exact(c, real, tops)
    return _rounded(c, real, _given_top(c), _HALVES)


@converts("_contrib_quantized_elemwise_add")
def _(c):
    """Sums of 32 bits have the range that both ranges together have."""
    operands = [_operand(c, 0, 2, 3, _HALVES), _operand(c, 1, 4, 5, _HALVES)]
    tops = [o[0] for o in operands]
    if any(isinstance(top, str) for top in tops):
        top = c.op("Add", *(_name(c, top) for top in tops))
    else:
        top = sum(tops)
    real = c.op("Add", *(o[2] for o in operands))
    return _result(c, real, [(top, _WHOLE["int32"])])


@converts("_contrib_quantized_elemwise_mul")
def _(c):
    operands = [_operand(c, 0, 2, 3, _HALVES), _operand(c, 1, 4, 5, _HALVES)]
    real = c.op("Mul", *(o[2] for o in operands))
    if c.params["enable_float_output"]:
        return real
    return _result(c, real, [o[:2] for o in operands])


@converts("_contrib_quantized_concat")
def _(c):
    count = c.params["num_args"]
    operands = [_operand(c, i, count + 2 * i, count + 2 * i + 1) for i in range(count)]
    real = c.op("Concat", *(o[2] for o in operands), axis=c.params["dim"])
    tops = [o[0] for o in operands]
    if any(isinstance(top, str) for top in tops):
        top = c.op("Max", *(_name(c, top) for top in tops))
    else:
        top = max(tops)
    return _rounded(c, real, top, _WHOLE)
