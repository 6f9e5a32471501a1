"""Regions of interest, columns of windows and deformable convolution.

Formulas, in loops: Girshick, Fast R-CNN (2015); He et al., Mask R-CNN (2017); Dai et al., R-FCN
(2016) and Deformable Convolutional Networks (2017); Zhu et al., Deformable ConvNets v2 (2019).
"""
import itertools

import numpy as np

from op_cases import rand


def _round(v):
    return np.sign(v) * np.floor(np.abs(v) + 0.5)


def _edges(k, size, start, limit):
    """Pixels of bin k, between 0 and limit."""
    return np.clip([np.floor(k * size + start), np.ceil((k + 1) * size + start)], 0, limit).astype(int)


def _images(data, rois):
    """(number, region, image) of the regions whose image exists."""
    for n, roi in enumerate(rois):
        if -1 < roi[0] < len(data):
            yield n, roi[1:], data[int(roi[0])]


def roi_pooling(data, rois, pooled_size, spatial_scale, other=None):
    """With `other`, what it has where the first of the largest pixels lies."""
    ph, pw = pooled_size
    y = np.zeros((len(rois), data.shape[1], ph, pw))
    for n, roi, image in _images(data, rois):
        x1, y1, x2, y2 = _round(roi * spatial_scale)
        bh, bw = max(y2 - y1 + 1, 1) / ph, max(x2 - x1 + 1, 1) / pw
        for i, j in itertools.product(range(ph), range(pw)):
            (h0, h1), (w0, w1) = _edges(i, bh, y1, image.shape[1]), _edges(j, bw, x1, image.shape[2])
            if h1 > h0 and w1 > w0:
                pixels = image[:, h0:h1, w0:w1].reshape(len(image), -1)
                taken = pixels if other is None else other[int(rois[n][0])][:, h0:h1, w0:w1].reshape(pixels.shape)
                y[n, :, i, j] = taken[np.arange(len(taken)), pixels.argmax(1)]
    return y


def _bilinear(image, y, x, low, high):
    """Of (channels, h, w) at one point; None: farther outside than is allowed."""
    h, w = image.shape[1:]
    if not (low <= y <= h + high and low <= x <= w + high):
        return None
    y, x = min(max(y, 0), h - 1), min(max(x, 0), w - 1)
    y0, x0 = int(y), int(x)
    y1, x1, fy, fx = min(y0 + 1, h - 1), min(x0 + 1, w - 1), y - y0, x - x0
    upper = image[:, y0, x0] * (1 - fx) + image[:, y0, x1] * fx
    lower = image[:, y1, x0] * (1 - fx) + image[:, y1, x1] * fx
    return upper * (1 - fy) + lower * fy


def _points(bins, start, size, samples):
    """[bin][point] along one axis."""
    count = samples if samples > 0 else max(int(np.ceil(size)), 0)
    return [[start + k * size + (u + 0.5) * size / count for u in range(count)] for k in range(bins)]


def roi_align(data, rois, pooled_size, spatial_scale, sample_ratio=-1, position_sensitive=False, aligned=False):
    ph, pw = pooled_size
    channels = data.shape[1] // (ph * pw) if position_sensitive else data.shape[1]
    y = np.zeros((len(rois), channels, ph, pw))
    for n, roi, image in _images(data, rois):
        x1, y1, x2, y2 = roi * spatial_scale - (0.5 if aligned else 0)
        rw, rh = (x2 - x1, y2 - y1) if aligned else (max(x2 - x1, 1), max(y2 - y1, 1))
        rows, columns = _points(ph, y1, rh / ph, sample_ratio), _points(pw, x1, rw / pw, sample_ratio)
        for i, j in itertools.product(range(ph), range(pw)):
            values = [_bilinear(image, u, v, -1, 0) for u in rows[i] for v in columns[j]]
            mean = sum([v for v in values if v is not None], np.zeros(len(image))) / max(len(values), 1)
            y[n, :, i, j] = mean[(np.arange(channels) * ph + i) * pw + j] if position_sensitive else mean
    return y


def rroi_align(data, rois, pooled_size, spatial_scale, sampling_ratio=-1):
    ph, pw = pooled_size
    y = np.zeros((len(rois), data.shape[1], ph, pw))
    for n, roi, image in _images(data, rois):
        cx, cy, w, h = roi[:4] * spatial_scale
        cos, sin = np.cos(np.deg2rad(roi[4])), np.sin(np.deg2rad(roi[4]))
        w, h = max(w, 1), max(h, 1)
        rows, columns = _points(ph, -h / 2, h / ph, sampling_ratio), _points(pw, -w / 2, w / pw, sampling_ratio)
        for i, j in itertools.product(range(ph), range(pw)):
            values = [_bilinear(image, u * cos - v * sin + cy, v * cos + u * sin + cx, -1, 0) for u in rows[i] for v in columns[j]]
            y[n, :, i, j] = sum([v for v in values if v is not None], np.zeros(len(image))) / len(values)
    return y


def _group(i, bins, groups):
    return min(i * groups // bins, groups - 1)


def _scaled(roi, scale):
    """x, y, width, height of a region whose corners are rounded."""
    x1, y1 = _round(roi[:2]) * scale
    x2, y2 = (_round(roi[2:]) + 1) * scale
    return x1, y1, max(x2 - x1, 0.1), max(y2 - y1, 0.1)


def psroi_pooling(data, rois, spatial_scale, output_dim, pooled_size, group_size=0):
    p, g = pooled_size, group_size or pooled_size
    y = np.zeros((len(rois), output_dim, p, p))
    for n, roi, image in _images(data, rois):
        x, top, w, h = _scaled(roi, spatial_scale)
        for i, j in itertools.product(range(p), range(p)):
            (h0, h1), (w0, w1) = _edges(i, h / p, top, image.shape[1]), _edges(j, w / p, x, image.shape[2])
            if h1 > h0 and w1 > w0:
                channels = (np.arange(output_dim) * g + _group(i, p, g)) * g + _group(j, p, g)
                y[n, :, i, j] = image[channels, h0:h1, w0:w1].mean((1, 2))
    return y


def deformable_psroi_pooling(data, rois, trans=None, spatial_scale=1, output_dim=1, group_size=1, pooled_size=1,
                             part_size=0, sample_per_part=1, trans_std=0, no_trans=False):
    p, g, part = pooled_size, group_size, part_size or pooled_size
    std = np.float32(trans_std)
    y = np.zeros((len(rois), output_dim, p, p))
    each = output_dim if no_trans else output_dim // (trans.shape[1] // 2)
    for n, roi, image in _images(data, rois):
        x, top, w, h = _scaled(roi, spatial_scale)
        for c, i, j in itertools.product(range(output_dim), range(p), range(p)):
            dx, dy = (0, 0) if no_trans else trans[n, 2 * (c // each):2 * (c // each) + 2, i * part // p, j * part // p] * std
            channel = image[[(c * g + _group(i, p, g)) * g + _group(j, p, g)]]
            values = [_bilinear(channel, top - 0.5 + i * h / p + dy * h + u * h / p / sample_per_part,
                                x - 0.5 + j * w / p + dx * w + v * w / p / sample_per_part, -0.5, -0.5)
                      for u in range(sample_per_part) for v in range(sample_per_part)]
            values = [v for v in values if v is not None]
            y[n, c, i, j] = np.mean(values) if values else 0
    return y


def _window(kernel, stride, dilate, pad):
    nd = len(kernel)
    return stride or (1,) * nd, dilate or (1,) * nd, pad or (0,) * nd


def _taps(sizes, kernel, stride, dilate, pad):
    """For each element of the window the places that it covers in the padded image, and the number
    of positions."""
    out = [(n + 2 * p - d * (k - 1) - 1) // s + 1 for n, p, d, k, s in zip(sizes, pad, dilate, kernel, stride)]
    slices = [tuple(slice(a * d, a * d + (o - 1) * s + 1, s) for a, d, o, s in zip(at, dilate, out, stride))
              for at in itertools.product(*(range(k) for k in kernel))]
    return slices, out


def im2col(data, kernel, stride=(), dilate=(), pad=()):
    stride, dilate, pad = _window(kernel, stride, dilate, pad)
    slices, out = _taps(data.shape[2:], kernel, stride, dilate, pad)
    padded = np.pad(data, [(0, 0), (0, 0)] + [(p, p) for p in pad])
    columns = np.stack([padded[(slice(None), slice(None)) + s] for s in slices], 2)
    return columns.reshape(data.shape[0], data.shape[1] * len(slices), int(np.prod(out)))


def col2im(data, output_size, kernel, stride=(), dilate=(), pad=()):
    stride, dilate, pad = _window(kernel, stride, dilate, pad)
    slices, out = _taps(output_size, kernel, stride, dilate, pad)
    channels = data.shape[1] // len(slices)
    padded = np.zeros((data.shape[0], channels, *(n + 2 * p for n, p in zip(output_size, pad))))
    columns = data.reshape(data.shape[0], channels, len(slices), *out)
    for k, s in enumerate(slices):
        padded[(slice(None), slice(None)) + s] += columns[:, :, k]
    return padded[(slice(None), slice(None)) + tuple(slice(p, p + n) for p, n in zip(pad, output_size))]


def _sample(image, y, x, modulated):
    """Bilinear samples of (channels, h, w). Not modulated: the last row and column go on for a
    pixel."""
    h, w = image.shape[1:]
    if not modulated:
        inside = (y >= 0) & (x >= 0) & (y < h) & (x < w)
        y, x = np.clip(y, 0, h - 1), np.clip(x, 0, w - 1)
    else:
        inside = (y > -1) & (x > -1) & (y < h) & (x < w)
    y0, x0, value = np.floor(y).astype(int), np.floor(x).astype(int), 0
    for i, j in itertools.product((0, 1), (0, 1)):
        ok = (y0 + i >= 0) & (y0 + i < h) & (x0 + j >= 0) & (x0 + j < w)
        weight = (1 - abs(y - y0 - i)) * (1 - abs(x - x0 - j))
        value = value + image[:, np.clip(y0 + i, 0, h - 1), np.clip(x0 + j, 0, w - 1)] * (ok * weight)
    return value * inside


def _deformable(data, offset, mask, weight, bias, kernel, stride=(), dilate=(), pad=(), num_filter=1, num_group=1,
                num_deformable_group=1, **_):
    stride, dilate, pad = _window(kernel, stride, dilate, pad)
    n, taps, groups = len(data), int(np.prod(kernel)), num_deformable_group
    oh, ow = offset.shape[2:]
    offset = offset.reshape(n, groups, taps, 2, oh, ow)
    own = data.shape[1] // groups
    columns = np.zeros((n, data.shape[1], taps, oh, ow))
    for b, d, t in itertools.product(range(n), range(groups), range(taps)):
        y = np.arange(oh)[:, None] * stride[0] - pad[0] + t // kernel[1] * dilate[0] + offset[b, d, t, 0]
        x = np.arange(ow)[None] * stride[1] - pad[1] + t % kernel[1] * dilate[1] + offset[b, d, t, 1]
        value = _sample(data[b, d * own:(d + 1) * own], y, x, mask is not None)
        if mask is not None:
            value = value * mask.reshape(n, groups, taps, oh, ow)[b, d, t]
        columns[b, d * own:(d + 1) * own, t] = value
    columns = columns.reshape(n, num_group, data.shape[1] // num_group * taps, oh * ow)
    y = np.einsum("gfk,ngkp->ngfp", weight.reshape(num_group, num_filter // num_group, -1), columns)
    y = y.reshape(n, num_filter, oh, ow)
    return y if bias is None else y + bias.reshape(1, -1, 1, 1)


def deformable_convolution(data, offset, weight, bias=None, **attrs):
    return _deformable(data, offset, None, weight, bias, **attrs)


def modulated_deformable_convolution(data, offset, mask, weight, bias=None, **attrs):
    return _deformable(data, offset, mask, weight, bias, **attrs)


# image, corners: one of no image, one that sticks out, one turned around, one outside
ROIS = np.array([[0, 0.5, 1.5, 5.25, 4.75], [1, 2.5, 0, 8.5, 9.5], [2, 0, 0, 3, 3], [1, -3.5, -2, 2.25, 1.5],
                 [0, 5, 4, 2, 1.5], [-1, 0, 0, 3, 3], [0, 30, 30, 40, 40], [1, 1, 1, 1, 1]])
NO_REGION, NO_IMAGE = [(2, 3, 6, 7), (0, 5)], [(0, 3, 6, 7), (2, 5)]
BAD_ROIS = [{"inputs": [(2, 3, 6), (2, 5)]}, {"inputs": [(2, 3, 6, 7), (2, 4)]}, {"inputs": [(2, 3, 6, 7), (5,)]}]
BAD_SIZES = [{"attrs": {"pooled_size": (0, 2)}}, {"attrs": {"pooled_size": (2,)}}, {"attrs": {"pooled_size": (2, -1)}},
             {"attrs": {"spatial_scale": 1.5}}, {"attrs": {"spatial_scale": -1}}]


def images(channels=3):
    return rand((2, channels, 6, 7), -2, 2)


def pooled(size, scale, **attrs):
    return dict(pooled_size=size, spatial_scale=scale, **attrs)


def conv(**attrs):
    return dict(dict(kernel=(3, 2), num_filter=4), **attrs)


# for gradients, which are compared with differences in every number
FEW = np.array([[0, 0.5, 0.75, 2.75, 3.25], [1, -1.5, 1, 1.75, 5.5], [2, 0, 0, 3, 3], [0, 2.25, 2.5, 1, 1]])


def differences(op, channels, attrs, rois=FEW, grad2=False, trans=()):
    return {"op": op, "inputs": [rand((2, channels, 4, 4), -2, 2), rois, *trans], "attrs": attrs, "grad": [0, 2] if trans else [0],
            "grad2": grad2, "empty": False, "ref": REFERENCES[op], "tol": 8}


REFERENCES = {"ROIPooling": roi_pooling, "_contrib_ROIAlign": roi_align, "_contrib_RROIAlign": rroi_align,
              "_contrib_PSROIPooling": psroi_pooling, "_contrib_DeformablePSROIPooling": deformable_psroi_pooling}
ROTATED = np.concatenate([ROIS, [[30], [-45], [0], [100], [725], [0], [10], [60]]], 1)

CASES = [
    {"op": ["ROIPooling", "_npx_roi_pooling"], "inputs": [images(), ROIS], "attrs": pooled((3, 2), 1), "ref": roi_pooling,
     "empty": NO_IMAGE, "bad": BAD_ROIS + [{"attrs": dict(pooled((2, 2), 1), **b["attrs"])}
                                                        for b in BAD_SIZES]},
    {"op": ["ROIPooling", "_npx_roi_pooling"], "inputs": [images(), ROIS * [1, 4, 4, 4, 4]], "attrs": pooled((1, 7), 0.25),
     "ref": roi_pooling, "empty": NO_REGION},
    {"op": "_roi_pooling_other", "inputs": [images(), images(), ROIS], "attrs": pooled((3, 2), 1),
     "ref": lambda other, data, rois, **k: roi_pooling(data, rois, other=other, **k), "empty": False},
    {"op": "_contrib_ROIAlign", "inputs": [images(), ROIS], "attrs": pooled((3, 2), 1), "ref": roi_align,
     "tol": 4, "empty": NO_IMAGE, "bad": BAD_ROIS + [{"attrs": dict(pooled((2, 2), 1), **b["attrs"])} for b in BAD_SIZES] +
     [{"attrs": pooled((2, 2), 1, position_sensitive=True)}, {"attrs": pooled((2, 2), 1, sample_ratio=2**30)}]},
    {"op": "_contrib_ROIAlign", "inputs": [images(), ROIS * [1, 2, 2, 2, 2]], "attrs": pooled((2, 4), 0.5, sample_ratio=2),
     "ref": roi_align, "empty": False, "tol": 4},
    {"op": "_contrib_ROIAlign", "inputs": [images(), ROIS], "attrs": pooled((2, 2), 1, aligned=True), "ref": roi_align,
     "empty": False, "tol": 4},
    {"op": "_contrib_ROIAlign", "inputs": [images(), ROIS], "attrs": pooled((2, 2), 1, aligned=True, sample_ratio=3),
     "ref": roi_align, "empty": False, "tol": 4},
    {"op": "_contrib_ROIAlign", "inputs": [images(8), ROIS], "attrs": pooled((2, 2), 1, position_sensitive=True),
     "ref": roi_align, "empty": False, "tol": 4},
    {"op": "_contrib_ROIAlign", "inputs": [rand((2, 2, 3, 40), -2, 2), np.array([[1, -1, 0, 38, 2.5], [0, 20, 1, 60, 3]])],
     "attrs": pooled((3, 5), 1), "ref": roi_align, "empty": False, "tol": 4},
    {"op": "_contrib_RROIAlign", "inputs": [images(), ROTATED], "attrs": pooled((3, 2), 1), "ref": rroi_align, "tol": 8,
     "empty": [(2, 3, 6, 7), (0, 6)],
     "bad": [{"inputs": [(2, 3, 6, 7), (2, 5)]}] + [{"attrs": dict(pooled((2, 2), 1), **b["attrs"])} for b in BAD_SIZES]},
    {"op": "_contrib_RROIAlign", "inputs": [images(), ROTATED * [1, 2, 2, 2, 2, 1]], "attrs": pooled((2, 2), 0.5, sampling_ratio=2),
     "ref": rroi_align, "empty": False, "tol": 8},
    {"op": "_contrib_PSROIPooling", "inputs": [images(12), ROIS], "attrs": dict(spatial_scale=1, output_dim=3, pooled_size=2),
     "ref": psroi_pooling, "tol": 4, "empty": [(2, 12, 6, 7), (0, 5)],
     "bad": [{"inputs": [(2, 12, 6, 7), (2, 4)]}, {"inputs": [(2, 11, 6, 7), (2, 5)]}] +
     [{"attrs": dict(dict(spatial_scale=1, output_dim=3, pooled_size=2), **b)}
      for b in ({"output_dim": 0}, {"pooled_size": 0}, {"pooled_size": -2}, {"group_size": -2}, {"spatial_scale": 2})]},
    {"op": "_contrib_PSROIPooling", "inputs": [images(8), ROIS * [1, 2, 2, 2, 2]],
     "attrs": dict(spatial_scale=0.5, output_dim=2, pooled_size=3, group_size=2), "ref": psroi_pooling, "empty": False,
     "tol": 4},
    {"op": "_contrib_DeformablePSROIPooling", "inputs": [images(8), ROIS, rand((8, 2, 2, 2), -1, 1)],
     "attrs": dict(spatial_scale=1, output_dim=2, group_size=2, pooled_size=2, trans_std=0.25, sample_per_part=3),
     "ref": deformable_psroi_pooling, "tol": 8, "empty": [(2, 8, 6, 7), (0, 5), (0, 2, 2, 2)],
     "bad": [{"inputs": [(2, 8, 6, 7), (2, 5), (2, 3, 2, 2)]}, {"inputs": [(2, 8, 6, 7), (2, 5), (2, 2, 3, 2)]},
             {"inputs": [(2, 8, 6, 7), (2, 5), (2, 8, 2, 2)]}, {"inputs": [(2, 7, 6, 7), (2, 5), (2, 2, 2, 2)]}] +
     [{"attrs": dict(dict(spatial_scale=1, output_dim=2, group_size=2, pooled_size=2), **b)}
      for b in ({"output_dim": 0}, {"pooled_size": 0}, {"group_size": 0}, {"part_size": -1}, {"sample_per_part": 0}, {"trans_std": 2})]},
    {"op": "_contrib_DeformablePSROIPooling", "inputs": [images(16), ROIS * [1, 2, 2, 2, 2], rand((8, 4, 3, 3), -1, 1)],
     "attrs": dict(spatial_scale=0.5, output_dim=4, group_size=2, pooled_size=3, part_size=3, trans_std=0.5, sample_per_part=2),
     "ref": deformable_psroi_pooling, "tol": 8, "empty": False},
    {"op": "_contrib_DeformablePSROIPooling", "inputs": [images(2), ROIS],
     "attrs": dict(spatial_scale=1, output_dim=2, group_size=1, pooled_size=2, no_trans=True, sample_per_part=2),
     "ref": deformable_psroi_pooling, "tol": 8, "empty": False},
    {"op": "im2col", "inputs": [(2, 3, 5, 6)], "attrs": {"kernel": (2, 3)}, "ref": im2col, "empty": [(0, 3, 5, 6)],
     "bad": [{"inputs": [(2, 3, 5)]}, {"attrs": {"kernel": (6, 2)}}, {"attrs": {"kernel": (2,)}}, {"attrs": {"kernel": (2, 0)}},
             {"attrs": {"kernel": (2, 2), "stride": (0, 1)}}, {"attrs": {"kernel": (2, 2), "pad": (-1, 0)}},
             {"attrs": {"kernel": (2, 2), "dilate": (1,)}}]},
    {"op": "im2col", "inputs": [(2, 2, 7, 6)], "attrs": {"kernel": (3, 2), "stride": (2, 3), "dilate": (2, 1), "pad": (3, 1)},
     "ref": im2col, "empty": False},
    {"op": "im2col", "inputs": [(2, 3, 9)], "attrs": {"kernel": (3,), "stride": (2,), "pad": (4,)}, "ref": im2col, "empty": False},
    {"op": "im2col", "inputs": [(1, 2, 3, 4, 5)], "attrs": {"kernel": (2, 1, 3), "pad": (1, 1, 0), "stride": (1, 2, 1)}, "ref": im2col,
     "empty": False},
    {"op": "col2im", "inputs": [(2, 12, 10)], "attrs": {"output_size": (5, 4), "kernel": (1, 3)}, "ref": col2im, "empty": [(0, 12, 10)],
     "bad": [{"inputs": [(2, 12, 9)]}, {"inputs": [(2, 11, 10)]}, {"inputs": [(2, 12, 5, 2)]},
             {"attrs": {"output_size": (5,), "kernel": (1, 3)}}, {"attrs": {"output_size": (0, 4), "kernel": (1, 3)}}]},
    {"op": "col2im", "inputs": [(2, 6, 12)], "attrs": {"output_size": (5, 6), "kernel": (3, 2), "stride": (2, 2), "pad": (1, 1)},
     "ref": col2im, "empty": False},
    {"op": "col2im", "inputs": [(2, 6, 5)], "attrs": {"output_size": (7,), "kernel": (3,)}, "ref": col2im, "empty": False},
    {"op": "col2im", "inputs": [(1, 4, 18)],
     "attrs": {"output_size": (3, 2, 4), "kernel": (1, 2, 2), "dilate": (1, 1, 2), "pad": (0, 1, 0)},
     "ref": col2im, "empty": False},
    {"op": ["_contrib_DeformableConvolution", "_npx_deformable_convolution"],
     "inputs": [(2, 4, 5, 6), rand((2, 12, 3, 5), -1.5, 1.5), (4, 4, 3, 2), (4,)], "attrs": conv(), "ref": deformable_convolution,
     "tol": 8,
     "empty": [(0, 4, 5, 6), (0, 12, 3, 5), (4, 4, 3, 2), (4,)],
     "bad": [{"inputs": [(2, 4, 5, 6), (2, 12, 3, 4), (4, 4, 3, 2), (4,)]}, {"inputs": [(2, 4, 5, 6), (2, 6, 3, 5), (4, 4, 3, 2), (4,)]},
             {"inputs": [(2, 4, 5), (2, 12, 3, 5), (4, 4, 3, 2), (4,)]}, {"attrs": conv(num_group=3)}, {"attrs": conv(kernel=(3,))},
             {"attrs": conv(num_deformable_group=3)}, {"attrs": conv(layout="NCW")}, {"attrs": conv(num_deformable_group=0)}]},
    {"op": ["_contrib_DeformableConvolution", "_npx_deformable_convolution"],
     "inputs": [(2, 4, 6, 7), rand((2, 24, 4, 3), -2, 2), (6, 2, 3, 2)],
     "attrs": conv(num_filter=6, num_group=2, num_deformable_group=2, stride=(2, 3), dilate=(1, 2), pad=(2, 1), no_bias=True),
     "ref": deformable_convolution, "empty": False, "tol": 8},
    {"op": ["_contrib_ModulatedDeformableConvolution", "_npx_modulated_deformable_convolution"],
     "inputs": [(2, 4, 5, 6), rand((2, 12, 3, 5), -1.5, 1.5), (2, 6, 3, 5), (4, 4, 3, 2), (4,)], "attrs": conv(),
     "ref": modulated_deformable_convolution, "tol": 8,
     "empty": [(0, 4, 5, 6), (0, 12, 3, 5), (0, 6, 3, 5), (4, 4, 3, 2), (4,)],
     "bad": [{"inputs": [(2, 4, 5, 6), (2, 12, 3, 5), (2, 12, 3, 5), (4, 4, 3, 2), (4,)]}, {"attrs": conv(num_group=3)}]},
    {"op": ["_contrib_ModulatedDeformableConvolution", "_npx_modulated_deformable_convolution"],
     "inputs": [(2, 4, 6, 7), rand((2, 24, 4, 3), -2, 2), (2, 12, 4, 3), (6, 2, 3, 2)],
     "attrs": conv(num_filter=6, num_group=2, num_deformable_group=2, stride=(2, 3), dilate=(1, 2), pad=(2, 1), no_bias=True),
     "ref": modulated_deformable_convolution, "empty": False, "tol": 8},
    differences("ROIPooling", 1, pooled((2, 3), 1), grad2=True),
    differences("_contrib_ROIAlign", 1, pooled((2, 3), 1), grad2=True),
    differences("_contrib_ROIAlign", 1, pooled((2, 2), 1, aligned=True, sample_ratio=3)),
    differences("_contrib_ROIAlign", 4, pooled((2, 2), 1, position_sensitive=True, sample_ratio=2)),
    differences("_contrib_RROIAlign", 1, pooled((2, 1), 1), np.concatenate([FEW, [[30], [-45], [0], [100]]], 1), grad2=True),
    differences("_contrib_PSROIPooling", 6, dict(spatial_scale=1, output_dim=1, pooled_size=2), grad2=True),   # two to spare
    differences("_contrib_PSROIPooling", 4, dict(spatial_scale=1, output_dim=1, pooled_size=3, group_size=2), grad2=True),
    differences("_contrib_DeformablePSROIPooling", 4, dict(spatial_scale=0.5, output_dim=4, group_size=1, pooled_size=2, part_size=2,
                                                           trans_std=0.5, sample_per_part=3), trans=[rand((4, 4, 2, 2), -1, 1)]),
    differences("_contrib_DeformablePSROIPooling", 4, dict(spatial_scale=1, output_dim=1, group_size=2, pooled_size=3, no_trans=True)),
    {"op": "im2col", "inputs": [(1, 2, 3, 4)], "attrs": {"kernel": (2, 2), "stride": (1, 2), "pad": (1, 0)}, "ref": im2col, "grad": True,
     "grad2": True, "empty": False},
    {"op": "col2im", "inputs": [(1, 8, 3)], "attrs": {"kernel": (2, 2), "output_size": (2, 4)}, "ref": col2im, "grad": True,
     "grad2": True, "empty": False},
    {"op": "_contrib_DeformableConvolution", "inputs": [(1, 4, 3, 4), rand((1, 16, 2, 2), -1.5, 1.5), (2, 2, 2, 2), (2,)],
     "attrs": dict(kernel=(2, 2), num_filter=2, num_group=2, num_deformable_group=2, stride=(1, 2)), "ref": deformable_convolution,
     "grad": True, "empty": False, "tol": 8},
    {"op": "_contrib_ModulatedDeformableConvolution",
     "inputs": [(1, 2, 3, 4), rand((1, 8, 3, 3), -1.5, 1.5), (1, 4, 3, 3), (2, 2, 2, 2), (2,)],
     "attrs": dict(kernel=(2, 2), num_filter=2, pad=(1, 1), stride=(1, 2), dilate=(2, 1)), "ref": modulated_deformable_convolution,
     "grad": True, "empty": False, "tol": 8},
]
