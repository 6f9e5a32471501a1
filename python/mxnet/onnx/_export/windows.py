"""Windows of images as columns, and back; Fourier transforms."""
import math

import numpy as np

from .shapes import is_static
from .table import converts

__all__ = []


def _window(c):
    """kernel, stride, dilate and pad, one number for each axis of the image."""
    kernel = list(c.params["kernel"])
    others = (list(c.params[name]) or [default] * len(kernel)
              for name, default in (("stride", 1), ("dilate", 1), ("pad", 0)))
    return (kernel, *others)


def _ones(channels, kernel):
    """Weights of a convolution in groups of one channel: each result is one element of the
    window."""
    taps = math.prod(kernel)
    each = np.eye(taps).reshape(taps, 1, *kernel)
    return np.tile(each, (channels, *[1] * (1 + len(kernel))))


@converts("im2col")
def _(c):
    """A convolution that takes the elements of the window one by one."""
    kernel, stride, dilate, pad = _window(c)
    if not is_static(c.dims()[1]):
        raise c.unsupported("a free number of channels", "a fixed one")
    channels = c.shape()[1]
    x = c.op("Conv", c[0], c.const(_ones(channels, kernel)), kernel_shape=kernel, strides=stride,
             dilations=dilate, pads=pad * 2, group=channels)
    return c.op("Reshape", x, c.ints(0, channels * math.prod(kernel), -1))


@converts("col2im")
def _(c):
    """Col2Im, or before opset 18 a transposed convolution that puts elements one by one."""
    kernel, stride, dilate, pad = _window(c)
    sizes = list(c.params["output_size"])
    if c.opset >= 18 and len(kernel) == 2:      # ONNX Runtime is wrong about others
        return c.op("Col2Im", c[0], c.ints(*sizes), c.ints(*kernel), strides=stride,
                    dilations=dilate, pads=pad * 2)
    if not is_static(c.dims()[1]):
        raise c.unsupported("a free number of channels", "a fixed one, or opset_version 18")
    spans = [(k - 1) * d + 1 for k, d in zip(kernel, dilate)]
    counts = [(n + 2 * p - span) // s + 1 for n, p, span, s in zip(sizes, pad, spans, stride)]
    rest = [n + 2 * p - span - (count - 1) * s
            for n, p, span, s, count in zip(sizes, pad, spans, stride, counts)]
    channels = c.shape()[1] // math.prod(kernel)
    x = c.op("Reshape", c[0], c.ints(0, c.shape()[1], *counts))
    return c.op("ConvTranspose", x, c.const(_ones(channels, kernel)), kernel_shape=kernel,
                strides=stride, dilations=dilate, pads=pad * 2, output_padding=rest, group=channels)


# ---- Fourier transforms: real and imaginary parts lie side by side

def _transform(c, x, inverse):
    if c.opset >= 20:
        return c.op("DFT", x, None, c.const(1, np.int64), inverse=inverse)
    return c.op("DFT", x, axis=1, inverse=inverse)


def _waves(count):
    """Real parts of the waves of a transform, and imaginary parts."""
    angles = np.outer(np.arange(count), np.arange(count)) % count * (2 * np.pi / count)
    return np.cos(angles), np.sin(angles)


def _length(c, dim):
    if not is_static(dim):
        raise c.unsupported("rows of a free length", "rows of a fixed length")
    return dim[0]


@converts("_contrib_fft")
def _(c):
    count = _length(c, c.dims()[-1])
    if c.opset < 17:    # which have no DFT
        cosines, sines = _waves(count)
        return c.op("MatMul", c[0], c.const(np.stack([cosines, -sines], -1).reshape(count, -1)))
    rows = c.op("Reshape", c[0], c.ints(-1, count, 1))
    return c.reshape_out(_transform(c, rows, 0))


@converts("_contrib_ifft")
def _(c):
    """The real parts, not divided by the length."""
    count = _length(c, c.dims()[-1]) // 2
    if c.opset < 17:
        cosines, sines = _waves(count)
        return c.op("MatMul", c[0], c.const(np.stack([cosines, -sines], 1).reshape(-1, count)))
    rows = c.op("Reshape", c[0], c.ints(-1, count, 2))
    real = c.slice(_transform(c, rows, 1), 2, 0, 1)
    return c.reshape_out(c.op("Mul", real, c.const(count)))
