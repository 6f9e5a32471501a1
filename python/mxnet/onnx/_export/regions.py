"""Regions of images: ROIPooling, ROIAlign and their relatives.

What ONNX has no operator for is a Scan over the regions, whose body sees one image.
"""
import math

import numpy as np

from ... import _dtypes
from .detection import columns
from .sampling import bilinear, counted, size_of
from .shapes import Value
from .table import converts
from .terms import Term

__all__ = []


def _images(c):
    """(whether each region's image is in the batch, its number, the others being 0): (regions,
    1)."""
    number = Term(c, c.input_as(1, np.float32), np.float32).columns(0, 1)
    there = (number > -1) & (number < size_of(c, c.dims()[0]))
    return there, there.where(number, 0)


def _of_batch(c, there, made):
    """Results, which are 0 for regions of other images."""
    return there.unsqueeze(2, 3).where(Term(c, made, c.dtype()), 0).name


@converts("ROIPooling")
def _(c):
    there, image = _images(c)
    rois = image.to(c.dtype(1)).op("Concat", Term(c, columns(c, c[1], 1, 5), c.dtype(1)), axis=1)
    made = c.op("MaxRoiPool", c[0], rois.name, pooled_shape=list(c.params["pooled_size"]),
                spatial_scale=c.params["spatial_scale"])
    return _of_batch(c, there, made)


@converts("_contrib_ROIAlign")
def _(c):
    params = c.params
    if params["position_sensitive"] or params["aligned"] and c.opset < 16:
        return _each(c, _aligned)
    there, image = _images(c)
    height, width = params["pooled_size"]
    mode = {} if c.opset < 16 else {"coordinate_transformation_mode": "half_pixel"
                                    if params["aligned"] else "output_half_pixel"}
    made = c.op("RoiAlign", c[0], columns(c, c[1], 1, 5), image.squeeze(1).to(np.int64).name, mode="avg",
                output_height=height, output_width=width, spatial_scale=params["spatial_scale"],
                sampling_ratio=max(0, params["sample_ratio"]), **mode)
    return _of_batch(c, there, made)


# ---- a Scan over regions

class _Region:
    """One region in the body of a Scan.

    Attributes: ``c`` (the body), ``node`` (the conversion), ``image`` (channels, height, width),
    ``sizes`` (height, width), ``dtype`` that all is computed in.
    """

    def __init__(self, node, body, row, image, sizes):
        self.node, self.c, self._row, self.image, self.sizes = node, body, row, image, sizes
        self.dtype, self.params = row.dtype, node.params

    def __getitem__(self, i):
        """Number i of the region, without dimensions."""
        return self._row.op("Gather", Term(self.c, self.c.const(i, np.int64), np.int64), axis=0)

    def term(self, values, dtype=None):
        """A constant, or a result of outside of the body."""
        dtype = dtype or self.dtype
        name = values if isinstance(values, str) else self.c.const(values, dtype)
        return Term(self.c, name, dtype)


def _each(c, formula, *rows):
    """The results of all regions: `formula(region, *parts)` computes one. `rows` are further
    inputs that have a part for each region."""
    wide = _dtypes.number(c.dtype()) == _dtypes.number(np.float64)
    dtype = np.float64 if wide else np.float32
    batch, height, width = c.dims()[0], *c.dims()[2:]
    images, count = c.input_as(0, dtype), size_of(c, batch, dtype).squeeze(0)
    sizes = [size_of(c, dim, dtype).squeeze(0).name for dim in (height, width)]
    body = c.body()
    own = Term(body, body.input(f"{c.name}_region", c.dims(1)[1:], dtype).name, dtype)
    parts = [Term(body, body.input(f"{c.name}_part", c.dims(i)[1:], dtype).name, dtype) for i in rows]
    number = own.op("Gather", Term(body, c.const(0, np.int64), np.int64), axis=0)
    there = (number > -1) & (number < Term(body, count.name, dtype))
    at = there.where(number, 0).to(np.int64)
    image = Term(body, images, dtype).op("Gather", at, axis=0)
    region = _Region(c, body, own, image, [Term(body, name, dtype) for name in sizes])
    made = there.where(formula(region, *parts), 0)
    graph = body.proto([Value(made.name, c.out_dims()[1:], dtype)])
    data = [c.input_as(i, dtype) for i in (1, *rows)]
    return c.cast_from(c.op("Scan", *data, body=graph, num_scan_inputs=len(data)), dtype, c.out_dtype())


# ---- means of points

def _points(region, bin_size, ratio):
    """(places of points in a bin, in parts of it; how many there are)."""
    if ratio > 0:
        return region.term((np.arange(ratio) + 0.5) / ratio), region.term(ratio)
    count = bin_size.op("Ceil").op("Max", 0)
    steps = counted(region.c, count.to(np.int64).unsqueeze(0).name, region.dtype)
    return (steps + 0.5) / count.op("Max", 1), count


def _weights(region, begin, size, bins, ratio, limit):
    """How much each line of the image counts in each bin, (bins, lines), and the points of a
    bin."""
    each = size / bins
    places, count = _points(region, each, ratio)
    at = begin + (region.term(np.arange(bins)).unsqueeze(1) + places) * each
    inside = (at >= -1) & (at <= limit)
    at = at.op("Max", 0).op("Min", limit - 1)
    lines = counted(region.c, limit.to(np.int64).unsqueeze(0).name, region.dtype)
    near = (1 - (at.unsqueeze(2) - lines).abs()).op("Max", 0)
    return inside.unsqueeze(2).where(near, 0).reduce("Sum", [1], False), count


def _aligned(region):
    """ROIAlign: rows of weights on either side of an image."""
    params = region.params
    bins, ratio, scale = params["pooled_size"], params["sample_ratio"], params["spatial_scale"]
    offset = 0.5 if params["aligned"] else 0
    weights, points = [], []
    for axis in (0, 1):
        begin = region[2 - axis] * scale - offset
        size = region[4 - axis] * scale - offset - begin
        size = size if params["aligned"] else size.op("Max", 1)
        made, count = _weights(region, begin, size, bins[axis], ratio, region.sizes[axis])
        weights.append(made)
        points.append(count)
    total = (points[0] * points[1]).op("Max", 1)
    rows, across = weights[0] / total, weights[1]
    if not params["position_sensitive"]:
        return rows.op("MatMul", region.image).op("MatMul", across.op("Transpose", perm=[1, 0]))
    channels = region.node.out_shape()[1]
    shape = region.term(region.c.op("Concat", region.c.ints(channels, *bins), _image_shape(region), axis=0), np.int64)
    return _by_bin(region.image.op("Reshape", shape), rows, across)


def _image_shape(region):
    return region.c.op("Slice", region.c.op("Shape", region.image.name), region.c.ints(1), region.c.ints(3))


def _by_bin(planes, rows, across):
    """Products of planes (channels, bins, bins, height, width) with weights of lines."""
    made = planes.op("MatMul", across.unsqueeze(2))
    return rows.unsqueeze(1, 2).op("MatMul", made).squeeze(3, 4)


# ---- bins that have channels of their own

def _groups(region, groups, bins):
    """The planes of each bin: (channels, bins, bins, height, width)."""
    c, dim = region.c, region.params["output_dim"]
    shape = c.op("Concat", c.ints(dim, groups, groups), _image_shape(region), axis=0)
    image = region.image.op("Slice", *(region.term([n], np.int64) for n in (0, dim * groups * groups, 0)))
    planes = image.op("Reshape", region.term(shape, np.int64))
    own = np.arange(bins) * groups // bins
    if groups == bins:
        return planes
    own = region.term(own, np.int64)
    return planes.op("Gather", own, axis=1).op("Gather", own, axis=2)


def _rounded(x):
    """Halves go away from zero."""
    return x.op("Sign") * (x.abs() + 0.5).floor()


def _finite(region, made):
    """0 where a number of the region is not finite."""
    numbers = region._row
    finite = (numbers - numbers).same(0).to(np.int32).reduce("Min", [0], False).to(np.bool_)
    return finite.where(made, 0)


@converts("_contrib_PSROIPooling")
def _(c):
    """Means of whole pixels."""
    return _each(c, _pooled)


def _pooled(region):
    params = region.params
    bins, scale = params["pooled_size"], params["spatial_scale"]
    groups, lines, counts = params["group_size"] or bins, [], []
    for axis in (0, 1):
        first, last = _rounded(region[2 - axis]) * scale, (_rounded(region[4 - axis]) + 1) * scale
        size = (last - first).op("Max", 0.1) / bins
        limit = region.sizes[axis]
        numbers = region.term(np.arange(bins))
        begin = (numbers * size + first).floor().op("Max", 0).op("Min", limit)
        end = ((numbers + 1) * size + first).op("Ceil").op("Max", 0).op("Min", limit)
        at = counted(region.c, limit.to(np.int64).unsqueeze(0).name, region.dtype)
        inside = (at >= begin.unsqueeze(1)) & (at < end.unsqueeze(1))
        lines.append(inside.to(region.dtype))
        counts.append((end - begin).op("Max", 0))
    pixels = counts[0].unsqueeze(1) * counts[1]
    sums = _by_bin(_groups(region, groups, bins), *lines)
    return _finite(region, sums / pixels.op("Max", 1))


@converts("_contrib_DeformablePSROIPooling")
def _(c):
    return _each(c, _deformed, *([] if c.params["no_trans"] else [2]))


def _deformed(region, moves=None):
    """Means of samples in bins that offsets move."""
    params, dim = region.params, region.params["output_dim"]
    bins, scale, samples = params["pooled_size"], params["spatial_scale"], params["sample_per_part"]
    classes = 1 if moves is None else region.node.shape(2)[1] // 2
    places = []
    for axis in (0, 1):
        begin = _rounded(region[2 - axis]) * scale - 0.5
        size = ((_rounded(region[4 - axis]) + 1) * scale - 0.5 - begin).op("Max", 0.1)
        shape = [1, 1, 1, 1, 1]
        shape[1 + axis], shape[3 + axis] = bins, samples
        steps = np.arange(bins)[:, None] + np.arange(samples) / samples
        at = region.term(steps.reshape(shape)) * (size / bins) + begin
        if moves is not None:
            at = at + _offset(region, moves, 1 - axis, classes) * params["trans_std"] * size
        places.append(at)
    return _finite(region, _mean(region, places, classes, dim, bins, samples))


def _offset(region, moves, axis, classes):
    """Offsets of bins along an axis: (classes, bins, bins, 1, 1)."""
    bins = region.params["pooled_size"]
    parts = region.params["part_size"] or bins
    own = region.term(np.arange(bins) * parts // bins, np.int64)
    x = moves.op("Reshape", region.term([classes, 2, parts, parts], np.int64))
    x = x.op("Gather", region.term(axis, np.int64), axis=1)
    return x.op("Gather", own, axis=1).op("Gather", own, axis=2).unsqueeze(3, 4)


def _mean(region, places, classes, dim, bins, samples):
    """The mean of the samples of each bin, of those within the image."""
    inside, clipped = None, []
    for at, limit in zip(places, region.sizes):
        here = (at >= -0.5) & (at <= limit - 0.5)
        inside = here if inside is None else inside & here
        clipped.append(at.op("Max", 0).op("Min", limit - 1))
    shape = [classes, bins, bins, samples, samples]
    whole = region.term(np.zeros(shape))
    planes = _groups(region, region.params["group_size"], bins)
    # each bin of each class is an image of its own
    planes = planes.op("Reshape", region.term([classes, dim // classes, bins * bins, -1], np.int64))
    planes = planes.op("Transpose", perm=[0, 2, 1, 3])
    planes = planes.op("Reshape", region.term([classes * bins * bins, dim // classes, -1], np.int64))
    flat = region.term([classes * bins * bins, samples * samples], np.int64)
    ys, xs = ((at + whole).op("Reshape", flat) for at in clipped)
    values = bilinear(planes, region.sizes, ys, xs)
    weight = inside.where(whole + 1, 0).op("Reshape", flat).unsqueeze(2)
    sums = (values * weight).reduce("Sum", [1], False) / weight.reduce("Sum", [1], False).op("Max", 1)
    sums = sums.op("Reshape", region.term([classes, bins, bins, dim // classes], np.int64))
    return sums.op("Transpose", perm=[0, 3, 1, 2]).op("Reshape", region.term([dim, bins, bins], np.int64))


# ---- regions that are rotated

@converts("_contrib_RROIAlign")
def _(c):
    return _each(c, _rotated)


def _rotated(region):
    """Means of samples along the region's own axes."""
    params = region.params
    (bins_h, bins_w), scale, ratio = params["pooled_size"], params["spatial_scale"], params["sampling_ratio"]
    center = [region[i] * scale for i in (2, 1)]
    sizes = [(region[i] * scale).op("Max", 1) for i in (4, 3)]
    angle = region[5] * (math.pi / 180)
    cosine, sine = angle.op("Cos"), angle.op("Sin")
    own, counts = [], []
    for size, bins in zip(sizes, (bins_h, bins_w)):
        each = size / bins
        places, count = _points(region, each, ratio)
        own.append((region.term(np.arange(bins)).unsqueeze(1) + places) * each - size / 2)
        counts.append(count)
    down, over = own[0].unsqueeze(1, 3), own[1].unsqueeze(0, 2)    # (bins, bins, points, points)
    ys = down * cosine - over * sine + center[0]
    xs = over * cosine + down * sine + center[1]
    inside = (ys >= -1) & (ys <= region.sizes[0]) & (xs >= -1) & (xs <= region.sizes[1])
    ys, xs = (at.op("Max", 0).op("Min", limit - 1) for at, limit in zip((ys, xs), region.sizes))
    row = region.term([1, -1], np.int64)
    image = region.image.unsqueeze(0).op("Reshape", region.term([1, region.node.shape()[1], -1], np.int64))
    values = bilinear(image, region.sizes, ys.op("Reshape", row), xs.op("Reshape", row))
    values = values * inside.to(region.dtype).op("Reshape", row).unsqueeze(2)
    bins = region.term([bins_h * bins_w, -1, region.node.shape()[1]], np.int64)
    sums = values.op("Reshape", bins).reduce("Sum", [1], False) / (counts[0] * counts[1])
    sums = sums.op("Transpose", perm=[1, 0])
    return sums.op("Reshape", region.term([-1, bins_h, bins_w], np.int64))
