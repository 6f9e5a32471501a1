"""Operators on 8-bit integers that have zero points: those that 8-bit ONNX files become in a graph
of ours. They are written as QuantizeLinear and DequantizeLinear around plain operators (QDQ)."""
import numpy as np

from .table import converts

__all__ = []


def _real(c, i, scale, zero):
    """What input i stands for, with numbers for its scale and its zero point."""
    return c.op("DequantizeLinear", c[i], c.const(scale, np.float32), c.const(zero, c.dtype(i)))


def _scalar(c, i):
    """Input i, which is one number, without axes."""
    known = c.constant(i)
    if known is not None:
        return c.const(known.ravel()[0], np.float32)
    return c.op("Reshape", c[i], c.const([], np.int64))


def _zero(c, i, dtype):
    """The zero point in input i, for integers of `dtype`."""
    known = c.constant(i)
    if known is not None:
        return c.const(known.ravel()[0].astype(dtype), dtype)
    return c.cast_from(c.op("Reshape", c[i], c.const([], np.int64)), c.dtype(i), dtype)


def _stored(c, real):
    """`real` as the node's parameters say: cut, and rounded to 8 bits."""
    low, high = c.params["low"], c.params["high"]
    if np.isfinite(low) or np.isfinite(high):
        real = c.op("Clip", real, c.const(low, np.float32) if np.isfinite(low) else None,
                    c.const(high, np.float32) if np.isfinite(high) else None)
    kind = np.dtype(c.out_dtype())
    if kind == np.float32:
        return real
    if kind == np.int32:
        return c.cast(c.op("Round", real), np.int32)
    return c.op("QuantizeLinear", real, c.const(c.params["out_scale"], np.float32),
                c.const(c.params["out_zero"], kind))


# ---- to integers and back

@converts("_integer_quantize")
def _(c):
    return c.op("QuantizeLinear", c[0], _scalar(c, 1), _zero(c, 2, c.out_dtype()))


@converts("_integer_dequantize")
def _(c):
    return c.op("DequantizeLinear", c[0], _scalar(c, 1), _zero(c, 2, c.dtype()))


@converts("_fake_quantize")
def _(c):
    """Parameters are stored as integers, and what stands between layers is QuantizeLinear and
    DequantizeLinear."""
    kind, scale, zero = np.dtype(c.params["out_type"]), c.constant(1), c.constant(2)
    if scale is None or zero is None:
        if kind.itemsize != 1:
            raise c.unsupported(f"{kind.name} whose scale or zero point is computed", "int8 and uint8")
        steps = _scalar(c, 1), _zero(c, 2, kind)    # one number each, which were found in the data
        return c.op("DequantizeLinear", c.op("QuantizeLinear", c[0], *steps), *steps)
    limits, single = np.iinfo(kind), scale.size == zero.size == 1
    data, shape = c.constant(0), () if single else (c.shape()[c.axis(c.params["axis"])],)
    scale, zero = (np.broadcast_to(v.reshape(()) if v.size == 1 else v, shape) for v in (scale, zero))
    named = [c.const(scale, np.float32), c.const(zero, kind)]
    axis = None if single else c.axis(c.params["axis"])
    beside = shape + (1,) * (c.ndim() - 1 - axis) if shape else ()
    if data is not None and (kind.itemsize != 2 or c.opset >= 21):
        steps, origin = scale.reshape(beside), zero.reshape(beside).astype(np.float64)
        whole = np.clip(np.rint(data.astype(np.float32) / steps) + origin, limits.min, limits.max)
        return c.op("DequantizeLinear", c.const(whole, kind), *named, axis=axis)
    if kind.itemsize == 1 or (kind.itemsize == 2 and c.opset >= 21):
        return c.op("DequantizeLinear", c.op("QuantizeLinear", c[0], *named, axis=axis), *named, axis=axis)
    steps, origin = (c.const(v.reshape(beside), np.float32) for v in (scale, zero))
    whole = c.op("Add", c.op("Round", c.op("Div", c[0], steps)), origin)
    whole = c.op("Clip", whole, c.const(limits.min, np.float32), c.const(limits.max, np.float32))
    return c.op("Mul", c.op("Sub", whole, origin), steps)


@converts("_integer_quantize_dynamic")
def _(c):
    numbers, scale, zero = c.op("DynamicQuantizeLinear", c[0], outputs=3)
    return [numbers, c.op("Reshape", scale, c.ints(1)), c.op("Reshape", zero, c.ints(1))]


@converts("_integer_table")
def _(c):
    """Bytes of negative numbers count from the end of the table, as indices of Gather do."""
    return c.op("Gather", c[1], c.cast(c[0], np.int32), axis=0)


# ---- layers

class _Layer:
    """A convolution or a dense layer, whose filters are the axis `axis` of the result.

    `floats(data, weight, bias)` writes it for what the integers stand for; the bias may be None.
    `sums(data, weight, zero, weight_zero)` writes it for the integers.
    """

    def __init__(self, c, axis, floats, sums):
        self._c, self._axis, self._floats, self._sums = c, axis, floats, sums
        more = 5 + bool(c.params["with_weight_zero"])
        self._addend = more if c.params["with_addend"] else None
        self._turned = axis == c.ndim() - 1 and not len(c.params["kernel"])

    def result(self):
        """The name of what the node computes."""
        c = self._c
        if np.dtype(c.out_dtype()) == np.int32:
            sums = self._sums(c[0], self._integers()[0], _zero(c, 3, c.dtype()),
                              c.const(self._weight_zero(), np.int8))
            return sums if self._addend is None else c.op("Add", sums, c[self._addend])
        scale = c.constant(2)
        if scale is None:
            step = c.op("Reshape", c[2], self._beside(int(np.prod(c.shape(2)))))
        data = c.op("DequantizeLinear", c[0], c.const(1, np.float32), _zero(c, 3, c.dtype()))
        behind = c.params["between_scale"] > 0 and c.params["bias_last"]
        first = None if behind or scale is None else self._bias(scale)
        real = self._floats(data, self._weight(scale), first)
        real = c.op("Mul", real, step) if scale is None else real
        real = self._added(real) if scale is None and not behind else real
        real = self._between(real)
        return _stored(c, self._with_addend(self._added(real) if behind else real))

    # ---- the weight

    def _integers(self):
        """(the weight's name as the product takes it, its axis of filters)."""
        c = self._c
        if not self._turned:
            return c[1], 0
        known = c.constant(1)
        return (c.op("Transpose", c[1]) if known is None else c.const(known.T, np.int8)), 1

    def _weight_zero(self):
        """Numbers of the weight that stand for 0: one, or one for each filter."""
        c = self._c
        if not c.params["with_weight_zero"]:
            return np.int8(0)
        known = c.constant(5)
        if known is None:
            raise c.unsupported("a zero point of the weight that is computed", "constants")
        return known.astype(np.int8).ravel()[0] if known.size == 1 else known.astype(np.int8)

    def _weight(self, scale):
        """The weight as floats, which the scale is part of where it is known."""
        c = self._c
        step = np.float32(1) if scale is None else scale.ravel()
        zero = self._weight_zero()
        single = step.size == zero.size == 1
        shape = () if single else (c.shape(1)[0],)
        step, zero = (np.broadcast_to(v.reshape(()) if v.size == 1 else v, shape)
                      for v in (step, zero))
        name, axis = self._integers()
        return c.op("DequantizeLinear", name, c.const(step, np.float32), c.const(zero, np.int8),
                    axis=None if single else axis)

    # ---- what follows the product

    def _beside(self, count):
        """The shape of `count` numbers of filters that fits beside the result."""
        rest = self._c.ndim() - 1 - self._axis
        return self._c.ints(1) if count == 1 else self._c.ints(-1, *[1] * rest)

    def _bias(self, scale):
        """The bias in one dimension. Where it is a number of steps of the sums it is written in
        32 bits, as runtimes want it beside integers. None if there is none."""
        c = self._c
        bias = c.constant(4)
        if bias is None or not bias.any():
            return c[4] if bias is None else None
        step = np.broadcast_to(scale.ravel(), bias.shape)
        steps = np.round(np.divide(bias, step, where=step != 0, out=np.full_like(bias, np.inf)))
        if np.abs(steps).max() < 2**31 and np.allclose(steps * step, bias, rtol=1e-6, atol=0):
            return c.op("DequantizeLinear", c.const(steps, np.int32), c.const(step, np.float32),
                        c.const(np.zeros(bias.size), np.int32), axis=0)
        return c[4]

    def _added(self, real):
        """With the bias."""
        return self._c.op("Add", real, self._c.op("Reshape", self._c[4], self._beside(0)))

    def _between(self, real):
        """Rounded to what a runtime of integers had between the layer and what follows it."""
        c = self._c
        if not c.params["between_scale"] > 0:
            return real
        step = c.const(c.params["between_scale"], np.float32)
        zero = c.const(c.params["between_zero"], c.params["between_type"])
        return c.op("DequantizeLinear", c.op("QuantizeLinear", real, step, zero), step, zero)

    def _with_addend(self, real):
        c, i = self._c, self._addend
        if i is None:
            return real
        is_bytes = np.dtype(c.dtype(i)).itemsize == 1
        other = _real(c, i, c.params["addend_scale"], c.params["addend_zero"]) if is_bytes else c[i]
        return c.op("Add", real, other)


@converts("_integer_convolution")
def _(c):
    n, params = len(c.params["kernel"]), c.params
    before = tuple(params["pad"]) or (0,) * n
    window = {"kernel_shape": list(params["kernel"]), "group": params["num_group"],
              "strides": list(params["stride"] or (1,) * n),
              "dilations": list(params["dilate"] or (1,) * n),
              "pads": [*before, *(tuple(params["pad_end"]) or before)]}
    return _Layer(c, 1, lambda *names: c.op("Conv", *names, **window),
                  lambda *names: c.op("ConvInteger", *names, **window)).result()


@converts("_integer_dense")
def _(c):
    def floats(data, weight, bias):
        real = c.op("MatMul", data, weight)
        return real if bias is None else c.op("Add", real, bias)
    return _Layer(c, c.ndim() - 1, floats, lambda *names: c.op("MatMulInteger", *names)).result()


@converts("_integer_lstm")
def _(c):
    """ONNX Runtime's own operator, which this one is of: plain ones would round data by the range
    of all rows."""
    params = c.params
    directions = 2 if params["bidirectional"] else 1
    numbers = []
    for i in range(3, 7):       # scales and zero points: one of each direction, or of each column
        shape = (directions,) if int(np.prod(c.shape(i))) == directions else (directions, -1)
        numbers.append(c[i] if len(shape) == c.ndim(i) else c.op("Reshape", c[i], c.ints(*shape)))
    lengths = c.input_as(10, np.int32) if params["use_sequence_length"] else None
    direction = "bidirectional" if directions == 2 else "reverse" if params["reverse"] else "forward"
    return c.op("DynamicQuantizeLSTM", *(c[i] for i in (0, 1, 2, 7)), lengths, c[8], c[9], None,
                *numbers, outputs=3, domain="com.microsoft", direction=direction,
                hidden_size=params["state_size"])


@converts("_block_dense")
def _(c):
    """Blocks of a weight whose numbers have 2, 4 or 8 bits: floats, since few runtimes have more
    of it than an operator of their own."""
    packed, scale = c.constant(1), c.constant(2)
    shift = c.constant(3) if c.params["with_shift"] else 0
    if packed is None or scale is None or shift is None:
        raise c.unsupported("a weight that is computed", "constants")
    bits = c.params["bits"]
    parts = [(packed >> (bits * i)) & ((1 << bits) - 1) for i in range(8 // bits)]
    numbers = np.stack(parts, axis=-1).reshape(*scale.shape, -1).astype(np.float32)
    if not c.params["with_shift"]:
        numbers -= 1 << (bits - 1)
    weight = numbers * scale[..., None]
    if c.params["with_shift"]:
        weight -= shift[..., None]
    real = c.op("MatMul", c[0], c.const(weight.reshape(len(weight), -1).T, np.float32))
    return real if c.params["no_bias"] else c.op("Add", real, c[len(c) - 1])


# ---- of two arrays, and of one

def _operands(c):
    params = c.params
    return (_real(c, 0, params["a_scale"], params["a_zero"]),
            _real(c, 1, params["b_scale"], params["b_zero"]))


@converts("_integer_pair")
def _(c):
    return _stored(c, c.op("Mul" if c.params["multiply"] else "Add", *_operands(c)))


@converts("_integer_matmul")
def _(c):
    if np.dtype(c.out_dtype()) == np.int32:
        return c.op("MatMulInteger", c[0], c[1], c.const(c.params["a_zero"], c.dtype(0)),
                    c.const(c.params["b_zero"], c.dtype(1)))
    return _stored(c, c.op("MatMul", *_operands(c)))


@converts("_integer_mean")
def _(c):
    real = _real(c, 0, c.params["scale"], c.params["zero"])
    return _stored(c, c.op("GlobalAveragePool", real))
