"""Sampling of images at points: grids, transformers, deformable convolutions."""
import itertools
import math

import numpy as np

from .layers import full
from .sampling import bilinear, size_of
from .shapes import Value, is_static
from .table import converts
from .terms import Term, term

__all__ = []


@converts("BilinearSampler")
def _(c):
    return _sample(c, c[0], c[1])


def _sample(c, x, grid):
    """Images at points from -1 to 1: GridSample, or before opset 16 what it is made of."""
    if c.opset < 16:
        return _gathered(c, Term(c, x, c.dtype()), Term(c, grid, c.dtype()))
    mode = "bilinear" if c.opset < 20 else "linear"
    grid = c.transpose(grid, [0, 2, 3, 1])
    return c.op("GridSample", x, grid, mode=mode, padding_mode="zeros", align_corners=1)


def _flat(c, x):
    """Images with their pixels in one axis."""
    return x.op("Reshape", Term(c, c.ints(0, 0, -1), np.int64))


def _gathered(c, x, grid):
    sizes = [size_of(c, dim, x.dtype) for dim in c.dims()[2:]]
    rows = [_flat(c, grid).op("Gather", Term(c, c.const(i, np.int64), np.int64), axis=1) for i in (1, 0)]
    ys, xs = ((row + 1) * ((size - 1) * 0.5) for row, size in zip(rows, sizes))
    made = bilinear(_flat(c, x), sizes, ys, xs).op("Transpose", perm=[0, 2, 1])
    return c.reshape(made.name, c.out_dims())


# ---- grids

def _affine_grid(c, matrix, size):
    """Positions from -1 to 1, moved by a matrix of 2 by 3. One alone is in the middle."""
    height, width = size
    rows, columns = (np.linspace(-1, 1, n) if n > 1 else np.zeros(1) for n in size)
    points = np.array([(x, y, 1) for y, x in itertools.product(rows, columns)]).T
    matrix = c.op("Reshape", matrix, c.ints(-1, 2, 3))
    moved = c.op("MatMul", matrix, c.const(points))
    return c.op("Reshape", moved, c.ints(-1, 2, height, width))


@converts("GridGenerator")
def _(c):
    if c.params["transform_type"] != "affine":
        return _warp(c)
    return _affine_grid(c, c[0], c.params["target_shape"])


def _warp(c):
    """Positions of pixels plus a flow of as many pixels."""
    sizes = c.dims()[2:]
    if not all(map(is_static, sizes)):
        raise c.unsupported("a flow of free size", "fixed sizes")
    height, width = (size[0] for size in sizes)
    y, x = np.mgrid[:height, :width]
    step, least = (np.array([of(width), of(height)]).reshape(1, 2, 1, 1) for of in
                   (lambda n: 2 / (n - 1) if n > 1 else 0, lambda n: -1 if n > 1 else 0))
    return ((term(c, 0) + np.stack([x, y])[None]) * step + least).name


@converts("SpatialTransformer")
def _(c):
    return _sample(c, c[0], _affine_grid(c, c[1], c.params["target_shape"]))


# ---- alikeness of patches

@converts("Correlation")
def _(c):
    """A Scan over displacements, each of which moves the second image; then patches."""
    params, (batch, channels, *sizes), dtype = c.params, c.dims(), c.dtype()
    if not all(map(is_static, (channels, *sizes))):
        raise c.unsupported("an image of a free size", "images of fixed sizes")
    kernel, most, step, pad = (params[n] for n in ("kernel_size", "max_displacement", "stride1", "pad_size"))
    covered = [(n - 1) * step + kernel for n in c.out_shape()[2:]]
    behind = [max(pad, 2 * most + n - size[0] - pad) for n, size in zip(covered, sizes)]
    pads = Term(c, c.ints(0, 0, pad, pad, 0, 0, *behind), np.int64)
    first, second = (term(c, i).op("Pad", pads, 0) for i in (0, 1))
    axes = Term(c, c.ints(2, 3), np.int64)
    first = first.op("Slice", Term(c, c.ints(most, most), np.int64),
                     Term(c, c.ints(*(most + n for n in covered)), np.int64), axes)
    shifts = np.arange(-(most // params["stride2"]), most // params["stride2"] + 1) * params["stride2"] + most
    begins = np.stack(np.meshgrid(shifts, shifts, indexing="ij"), -1).reshape(-1, 2)
    body = c.body()
    begin = Term(body, body.input(f"{c.name}_begin", [(2,) * len(batch)], np.int64).name, np.int64)
    moved = Term(body, second.name, dtype).op("Slice", begin, begin + np.array(covered), axes)
    own = Term(body, first.name, dtype)
    alike = (own * moved if params["is_multiply"] else (own - moved).abs()).reduce("Sum", [1], False)
    dims = [batch, *((n,) * len(batch) for n in covered)]
    made = c.op("Scan", c.const(begins, np.int64), body=body.proto([Value(alike.name, dims, dtype)]), num_scan_inputs=1)
    made = c.op("Transpose", made, perm=[1, 0, 2, 3])
    if (kernel, step) != (1, 1):
        made = c.op("AveragePool", made, kernel_shape=[kernel] * 2, strides=[step] * 2)
    return c.op("Div", made, c.const(channels[0]))


# ---- deformable convolution

def _deform(c, offset, mask, weight, bias):
    params = c.params
    if c.opset < 19:
        return _sampled(c, offset, mask, weight, bias)
    return c.op("DeformConv", c[0], weight, offset, bias, mask,
                kernel_shape=list(params["kernel"]), strides=full(params["stride"], 2, 1),
                dilations=full(params["dilate"], 2, 1), pads=full(params["pad"], 2, 0) * 2,
                group=params["num_group"], offset_group=params["num_deformable_group"])


def _grid(c, size):
    """Where the taps of windows lie without offsets: (taps, 2, height, width)."""
    places = []
    for axis in (0, 1):
        step, dilate, pad = (full(c.params[name], 2, default)[axis] for name, default in
                             (("stride", 1), ("dilate", 1), ("pad", 0)))
        own = [1, 1, 1, 1]
        own[axis], own[2 + axis] = c.params["kernel"][axis], size[axis]
        taps = np.arange(own[axis]) * dilate - pad
        places.append(np.broadcast_to((taps[:, None] + np.arange(size[axis]) * step).reshape(own),
                                      [*c.params["kernel"], *size]))
    return np.stack(places, 2).reshape(-1, 2, *size)


def _sampled(c, offset, mask, weight, bias):
    """What DeformConv is made of: samples, and a product with the weight."""
    params, dtype, size = c.params, c.dtype(), c.out_dims()[2:]
    if not all(map(is_static, size)):
        raise c.unsupported(f"opset {c.opset} and an image of a free size",
                            "opset_version 19 and later, which have DeformConv")
    size, taps = [dim[0] for dim in size], math.prod(params["kernel"])
    groups, parts, channels = params["num_deformable_group"], params["num_group"], c.shape()[1]

    def shaped(x, *sizes):
        return x.op("Reshape", Term(c, c.ints(*sizes), np.int64))

    at = shaped(Term(c, offset, dtype), -1, taps, 2, *size) + _grid(c, size)
    ys, xs = (shaped(at.op("Gather", Term(c, c.const(i, np.int64), np.int64), axis=2), 0, -1) for i in (0, 1))
    limits = [size_of(c, dim, dtype) for dim in c.dims()[2:]]
    images = shaped(_flat(c, term(c, 0)), -1, channels // groups, 0)
    made = bilinear(images, limits, shaped(ys, 0, -1), shaped(xs, 0, -1))
    if mask is not None:
        made = made * shaped(Term(c, mask, dtype), -1, taps * math.prod(size), 1)
    made = made.op("Transpose", perm=[0, 2, 1])
    made = shaped(made, -1, parts, channels // parts * taps, math.prod(size))
    filters = c.out_shape()[1]
    kernel = shaped(Term(c, weight, dtype), parts, filters // parts, -1)
    made = shaped(kernel.op("MatMul", made), -1, filters, *size)
    return made.name if bias is None else (made + Term(c, bias, dtype).unsqueeze(1, 2)).name


@converts("_contrib_ModulatedDeformableConvolution")
def _(c):
    return _deform(c, c[1], c[2], c[3], None if c.params["no_bias"] else c[4])


@converts("_contrib_DeformableConvolution")
def _(c):
    """Here samples beyond the edges are 0 or those of the edge; ONNX goes over to 0 between. So
    offsets lead to the image, and a mask says which samples count."""
    params, (batch, parts, height, width) = c.params, c.dims(1)
    if not all(map(is_static, (*c.dims()[2:], height, width))):
        raise c.unsupported("an image of a free size", "images of fixed sizes")
    size = [height[0], width[0]]
    taps, groups = math.prod(params["kernel"]), params["num_deformable_group"]
    base = _grid(c, size)[None, None]
    limit = np.array(c.shape()[2:]).reshape(1, 1, 1, 2, 1, 1)
    at = Term(c, c.reshape(c[1], [batch, groups, taps, 2, height, width]), c.dtype()) + base
    inside = ((at < limit) & (at >= 0)).to(c.dtype())
    mask = inside.reduce("Min", [3], keepdims=False)
    mask = c.reshape(mask.name, [batch, groups * taps, height, width])
    offset = at.op("Min", limit - 1).op("Max", 0) - base
    offset = c.reshape(offset.name, [batch, parts, height, width])
    return _deform(c, offset, mask, c[2], None if params["no_bias"] else c[3])
