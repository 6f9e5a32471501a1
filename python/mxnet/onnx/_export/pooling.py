"""Pooling, and changes of an image's size."""
import math

import numpy as np

from .layers import channels_first, channels_last, is_channels_last
from .shapes import is_static
from .table import converts

__all__ = []


class _Window:
    """Sizes of a pooling operator along each axis: kernel, stride, padding in front and behind."""

    def __init__(self, c, sizes, padded=True):
        params = c.params
        n = len(params["kernel"])
        self.kernel = list(params["kernel"])
        self.stride = list(params["stride"]) or [1] * n
        self.pad = list(params["pad"]) if padded and params["pad"] else [0] * n
        self.extra = [0] * n        # padding behind that belongs to no window's size
        self.ceil = False
        self.sizes = sizes
        convention = params["pooling_convention"]
        if convention != "valid":
            self._grow(c, convention)

    def _grow(self, c, convention):
        if not all(map(is_static, self.sizes)):
            if convention == "same":
                raise c.unsupported("pooling_convention 'same' with a free size", "fixed sizes")
            self.ceil = True
            return
        for i, size in enumerate(self.sizes):
            k, s, p = self.kernel[i], self.stride[i], self.pad[i]
            if convention == "full":
                count = math.ceil(max(0, size[0] + 2 * p - k) / s) + 1
                self.extra[i] = max(0, (count - 1) * s + k - size[0] - 2 * p)
            else:
                total = max(0, (math.ceil(size[0] / s) - 1) * s + k - size[0])
                self.pad[i], self.extra[i] = total // 2, total % 2

    def pads(self):
        """As ONNX has them."""
        return self.pad + [p + e for p, e in zip(self.pad, self.extra)]

    def counts(self, include_pad):
        """How many numbers each window has, which an average divides by; None where all have as
        many as the kernel."""
        if not any(self.extra) and include_pad:
            return None
        lengths = []
        for i, size in enumerate(self.sizes):
            k, s, p = self.kernel[i], self.stride[i], self.pad[i]
            count = (size[0] + 2 * p + self.extra[i] - k) // s + 1
            begins = np.arange(count) * s - p
            ends = np.minimum(begins + k, size[0] + p)
            if not include_pad:
                begins, ends = np.maximum(begins, 0), np.minimum(ends, size[0])
            lengths.append((ends - begins).astype(np.float64))
        product = lengths[0]
        for other in lengths[1:]:
            product = product[..., None] * other
        return product


@converts("Pooling_v1")
def _(c):
    """Zeros around the image belong to it, and averages are of whole windows."""
    sizes, x, n = c.dims()[2:], c[0], c.ndim() - 2
    if c.params["global_pool"]:
        return _pool_all(c, x, c.ndim())
    pad = list(c.params["pad"]) or [0] * n
    if any(pad):
        x = c.op("Pad", x, c.ints(0, 0, *pad, 0, 0, *pad), c.const(0))
    window = _Window(c, [tuple(size + 2 * p for size in dim) for dim, p in zip(sizes, pad)], padded=False)
    return _pool(c, x, window)


@converts("Pooling")
def _(c):
    ndim = c.ndim()
    last = is_channels_last(c)
    x = channels_first(c, c[0], ndim) if last else c[0]
    sizes = c.dims()[1:-1] if last else c.dims()[2:]
    x = _pool_all(c, x, ndim) if c.params["global_pool"] else _pool(c, x, _Window(c, sizes))
    return channels_last(c, x, ndim) if last else x


def _pool_all(c, x, ndim):
    kind = c.params["pool_type"]
    if kind == "sum":
        return c.reduce("Sum", x, range(2, ndim))
    if kind == "lp":
        return c.op("GlobalLpPool", x, p=c.params["p_value"])
    return c.op({"max": "GlobalMaxPool", "avg": "GlobalAveragePool"}[kind], x)


def _pool(c, x, window):
    kind = c.params["pool_type"]
    if any(pad >= k for pad, k in zip(window.pads(), window.kernel * 2)):
        return _pool_padded(c, x, window)
    attrs = {"kernel_shape": window.kernel, "strides": window.stride}
    if window.ceil:
        attrs["ceil_mode"] = 1
    if kind == "max":
        return c.op("MaxPool", x, pads=window.pads(), **attrs)
    if kind == "lp":
        if window.ceil and c.opset < 18:
            raise c.unsupported("pool_type 'lp' and a free size", "opset 18 and newer")
        return c.op("LpPool", x, pads=window.pads(), p=c.params["p_value"], **attrs)
    included = c.params.get("count_include_pad")
    included = True if included is None or kind == "sum" else included
    whole_windows = kind == "sum" or c.op_name == "Pooling_v1"
    whole = int(np.prod(window.kernel))
    if window.ceil or not any(window.extra):
        x = c.op("AveragePool", x, pads=window.pads(), count_include_pad=int(included), **attrs)
        return c.op("Mul", x, c.const(whole)) if kind == "sum" else x
    x = c.op("AveragePool", x, pads=window.pads(), count_include_pad=1, **attrs)
    if whole_windows:
        return c.op("Mul", x, c.const(whole)) if kind == "sum" else x
    return c.op("Mul", x, c.const(whole / window.counts(included)))


def _pool_padded(c, x, window):
    """Readers refuse padding as large as the kernel, so it is an operator of its own."""
    kind, n = c.params["pool_type"], len(window.kernel)
    included = kind == "sum" or c.params.get("count_include_pad") is not False
    counts = window.counts(included)
    number = 0
    if kind == "max":
        number = -np.inf if c.is_float() else np.iinfo(c.dtype()).min
    ends = window.pads()
    pads = c.ints(0, 0, *ends[:n], 0, 0, *ends[n:])
    x = c.op("Pad", x, pads, c.const(number))
    attrs = {"kernel_shape": window.kernel, "strides": window.stride}
    if kind in ("max", "lp"):
        more = {"p": c.params["p_value"]} if kind == "lp" else {}
        return c.op({"max": "MaxPool", "lp": "LpPool"}[kind], x, **attrs, **more)
    x = c.op("AveragePool", x, **attrs)
    whole = int(np.prod(window.kernel))
    if kind == "sum":
        return c.op("Mul", x, c.const(whole))
    return x if counts is None else c.op("Mul", x, c.const(whole / np.maximum(counts, 1)))


@converts("_contrib_AdaptiveAvgPooling2D")
def _(c):
    """Means of rows and of columns are products with matrices."""
    wanted = list(c.params["output_size"] or (1,))
    wanted = wanted * 2 if len(wanted) == 1 else wanted
    if wanted == [1, 1]:
        return c.op("GlobalAveragePool", c[0])
    sizes = c.dims()[2:]
    if not all(map(is_static, sizes)):
        raise c.unsupported("an image of free size", "an output_size of 1, or fixed sizes")
    rows, columns = (_means(size[0], count) for size, count in zip(sizes, wanted))
    x = c.op("MatMul", c.const(rows), c[0])
    return c.op("MatMul", x, c.const(columns.T))


def _means(size, count):
    """The matrix that makes `count` means of `size` numbers."""
    matrix = np.zeros((count, size))
    for i in range(count):
        begin, end = i * size // count, -(-(i + 1) * size // count)
        matrix[i, begin:end] = 1 / (end - begin)
    return matrix


# ---- sizes of images

def _nearest(c, x, scales):
    return c.op("Resize", x, None, c.const([1, 1, *scales], np.float32), mode="nearest",
                coordinate_transformation_mode="asymmetric", nearest_mode="floor")


@converts("UpSampling")
def _(c):
    scale = c.params["scale"]
    if c.params["sample_type"] == "bilinear":
        kernel = 2 * scale - scale % 2
        pad = math.ceil((scale - 1) / 2)
        return c.op("ConvTranspose", c[0], c[1], kernel_shape=[kernel] * 2, strides=[scale] * 2,
                    pads=[pad] * 4, group=c.params["num_filter"] or c.shape()[1])
    grown = []
    for i in range(len(c)):
        ratio = [scale * c.shape(0)[a] // c.shape(i)[a] for a in (2, 3)]
        grown.append(_nearest(c, c[i], ratio))
    if len(grown) == 1:
        return grown[0]
    if c.params["multi_input_mode"] == "sum":
        return c.op("Sum", *grown)
    return c.op("Concat", *grown, axis=1)


@converts("_contrib_BilinearResize2D")
def _(c):
    """Positions of corners meet, or those of pixels' centres."""
    mode = "align_corners" if c.params["align_corners"] else "pytorch_half_pixel"    # of one line: the first
    sizes = c.sizes(c.out_dims())
    return c.op("Resize", c[0], None, None, sizes, mode="linear",
                coordinate_transformation_mode=mode)


@converts("Crop")
def _(c):
    """A part of an image, in the middle or at an offset, of given size or that of another."""
    out, offset = c.out_dims()[2:], c.params["offset"] or (0, 0)
    if c.params["center_crop"]:
        if not all(map(is_static, [*out, *c.dims()[2:]])):
            raise c.unsupported("center_crop with a free size", "fixed sizes")
        offset = [(size[0] - part[0]) // 2 for size, part in zip(c.dims()[2:], out)]
    begins = c.ints(*offset)
    ends = c.op("Add", c.sizes(out), begins) if any(offset) else c.sizes(out)
    return c.op("Slice", c[0], begins, ends, c.ints(2, 3))
