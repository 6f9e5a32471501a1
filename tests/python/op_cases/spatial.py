"""Sampling, resizing and comparing of images, Fourier transforms and sketches of rows, layers of
the first networks."""
import itertools

import numpy as np

from op_cases import FLOATS, rand
from op_cases.nn_functions import BN, HALF_TOL, batch_norm, batch_norm_train
from op_cases.nn_layers import convolution

ROUGH = {"float32": 2e-5, "float64": 1e-11, "float16": 6e-3, "bfloat16": 4e-2}


def places(n):
    return np.linspace(-1, 1, n) if n > 1 else np.zeros(1)


def sample(x, grid, **_):
    (batch, _, height, width), (rows, columns) = x.shape, grid.shape[2:]
    padded = np.pad(x, [(0, 0), (0, 0), (1, 1), (1, 1)])
    out = np.zeros(x.shape[:2] + (rows, columns))
    for n, i, j in itertools.product(range(batch), range(rows), range(columns)):
        u, v = (grid[n, 0, i, j] + 1) * (width - 1) / 2, (grid[n, 1, i, j] + 1) * (height - 1) / 2
        for r, c in itertools.product((np.floor(v), np.floor(v) + 1), (np.floor(u), np.floor(u) + 1)):
            if 0 <= r < height and 0 <= c < width:
                out[n, :, i, j] += padded[n, :, int(r) + 1, int(c) + 1] * (1 - abs(v - r)) * (1 - abs(u - c))
    return out


def make_grid(data, transform_type, target_shape=None):
    if transform_type == "warp":
        height, width = data.shape[2:]
        step_x, step_y = (2 / (n - 1) if n > 1 else 0 for n in (width, height))
        return np.stack([places(width)[None, None, :] + data[:, 0] * step_x, places(height)[None, :, None] + data[:, 1] * step_y], 1)
    rows, columns = target_shape
    v, u = np.meshgrid(places(rows), places(columns), indexing="ij")
    return np.einsum("nkc,chw->nkhw", data.reshape(-1, 2, 3), np.stack([u, v, np.ones_like(u)]))


def spatial_transformer(x, loc, target_shape, **_):
    return sample(x, make_grid(loc, "affine", target_shape))


def correlation(a, b, kernel_size=1, max_displacement=1, stride1=1, stride2=1, pad_size=0, is_multiply=True):
    border, radius = max_displacement + (kernel_size - 1) // 2, max_displacement // stride2
    rows, columns = (-(-(n + 2 * pad_size - 2 * border) // stride1) for n in a.shape[2:])
    far = pad_size + kernel_size
    a, b = (np.pad(x, [(0, 0), (0, 0), (pad_size, far), (pad_size, far)]) for x in (a, b))
    out = []
    for down, right in itertools.product(range(-radius * stride2, radius * stride2 + 1, stride2), repeat=2):
        plane = np.zeros((a.shape[0], rows, columns))
        for i, j in itertools.product(range(rows), range(columns)):
            y, x = i * stride1 + max_displacement, j * stride1 + max_displacement
            one = a[:, :, y:y + kernel_size, x:x + kernel_size]
            other = b[:, :, y + down:y + down + kernel_size, x + right:x + right + kernel_size]
            pairs = one * other if is_multiply else abs(one - other)
            plane[:, i, j] = pairs.sum((1, 2, 3)) / (kernel_size ** 2 * a.shape[1])
        out.append(plane)
    return np.stack(out, 1)


def resize(x, like=None, height=1, width=1, scale_height=None, scale_width=None, mode="size", align_corners=True):
    sizes = []
    for n, wanted, scale, other in zip(x.shape[2:], (height, width), (scale_height, scale_width), (2, 3)):
        even, odd = n % 2 == 0, n % 2 == 1
        sizes.append({"size": lambda: int(n * scale) if scale else wanted, "like": lambda: like.shape[other],
                      "odd_scale": lambda: int(n * scale) if even else int((n - 1) * scale) + 1,
                      "to_even_down": lambda: n - odd, "to_even_up": lambda: n + odd,
                      "to_odd_down": lambda: n - even, "to_odd_up": lambda: n + even}[mode]())
    for axis, size in zip((2, 3), sizes):
        n = x.shape[axis]
        step = 0 if size == 1 else (n - 1) / (size - 1) if align_corners else n / size
        at = np.maximum(0, np.arange(size) * step if align_corners else (np.arange(size) + 0.5) * step - 0.5)
        first = np.minimum(at.astype(int), n - 1)
        part = np.minimum(1, at - first).reshape([-1 if k == axis else 1 for k in range(4)])
        x = np.take(x, first, axis) * (1 - part) + np.take(x, np.minimum(first + 1, n - 1), axis) * part
    return x


def crop(x, like=None, num_args=1, offset=(0, 0), h_w=(0, 0), center_crop=False):
    rows, columns = like.shape[2:] if num_args == 2 else h_w
    i, j = ((x.shape[2] - rows) // 2, (x.shape[3] - columns) // 2) if center_crop else offset
    return x[:, :, i:i + rows, j:j + columns]


def pooling_v1(x, kernel=(), pool_type="max", global_pool=False, pooling_convention="valid", stride=None, pad=None):
    nd = x.ndim - 2
    if global_pool:
        kernel, stride, pad = x.shape[2:], None, None
    stride, pad = stride or (1,) * nd, pad or (0,) * nd
    padded = [n + 2 * p - k for n, p, k in zip(x.shape[2:], pad, kernel)]
    out = [1 + (-(-r // s) if pooling_convention == "full" else r // s) for r, s in zip(padded, stride)]
    x = np.pad(x, [(0, 0), (0, 0)] + [(p, p) for p in pad])
    y = np.zeros(x.shape[:2] + tuple(out))
    for at in itertools.product(*(range(o) for o in out)):
        window = x[(slice(None), slice(None)) + tuple(slice(a * s, a * s + k) for a, s, k in zip(at, stride, kernel))]
        axes = tuple(range(2, x.ndim))
        y[(slice(None), slice(None)) + at] = (window.max(axes) if pool_type == "max" else
                                              window.sum(axes) / (np.prod(kernel) if pool_type == "avg" else 1))
    return y


def batch_statistics(x, gamma, beta, mean, var, output_mean_var=False, **attrs):
    axes = (0,) + tuple(range(2, x.ndim))
    y = batch_norm_train(x, gamma, beta, mean, var, **attrs)
    return [y, x.mean(axes), x.var(axes)] if output_mean_var else y


def fft(x, **_):
    z = np.fft.fft(x)
    return np.stack([z.real, z.imag], -1).reshape(x.shape[:-1] + (2 * x.shape[-1],))


def ifft(x, **_):
    return (np.fft.ifft(x[..., ::2] + 1j * x[..., 1::2]) * (x.shape[-1] // 2)).real


def count_sketch(x, h, s, out_dim, **_):
    out = np.zeros(x.shape[:-1] + (out_dim,))
    for i, (at, sign) in enumerate(zip(h.ravel().astype(int), s.ravel())):
        if 0 <= at < out_dim:
            out[..., at] += sign * x[..., i]
    return out


def hawkes(lda, alpha, beta, state, lags, marks, lengths, max_time):
    ll, state = np.zeros(len(lda)), state.copy()
    for n, s in enumerate(state):
        last, time = np.zeros(len(s)), 0.0
        for lag, k in list(zip(lags[n], marks[n].astype(int)))[:int(max(0, lengths[n]))]:
            time += lag
            if not 0 <= k < len(s):
                continue
            decay = np.exp(-beta[k] * (time - last[k]))
            ll[n] += np.log(lda[n, k] + alpha[k] * beta[k] * s[k] * decay)
            ll[n] -= lda[n, k] * (time - last[k]) + alpha[k] * s[k] * (1 - decay)
            s[k], last[k] = 1 + s[k] * decay, time
        decay = np.exp(-beta * (max_time[n] - last))
        ll[n] -= (lda[n] * (max_time[n] - last) + alpha * s * (1 - decay)).sum()
        s *= decay
    return [ll, state]


# away from the middles of pixels, where samples have kinks; some points outside of the image
_RNG = np.random.RandomState(7)
GRID = ((_RNG.randint(-2, 8, (2, 2, 3, 4)) + _RNG.uniform(0.2, 0.8, (2, 2, 3, 4))) / 2.5 - 1)
GRID[:, 1] = (_RNG.randint(-2, 6, (2, 3, 4)) + _RNG.uniform(0.2, 0.8, (2, 3, 4))) / 1.5 - 1
LOC = np.array([[0.9, 0.13, 0.08, -0.21, 0.8, 0.11], [1.3, -0.4, 0.03, 0.3, 1.1, -0.23]])
DISTINCT = (np.random.RandomState(3).permutation(2 * 2 * 7 * 6).reshape(2, 2, 7, 6) - 83.3) / 64.0
HAWKES = [rand((3, 2), 0.2, 1.5), rand((2,), 0.2, 0.9), rand((2,), 0.5, 2), rand((3, 2), 0, 1), rand((3, 5), 0.1, 1.5),
          _RNG.randint(0, 2, (3, 5)), np.array([5.0, 0, 3]), np.array([9.0, 4, 11.5])]

CASES = [
    {"op": "BilinearSampler", "inputs": [(2, 3, 4, 6), GRID], "ref": sample, "grad": True, "grad2": True, "tol": ROUGH,
     "empty": [(0, 3, 4, 6), (0, 2, 3, 4)],
     "bad": [{"inputs": [(2, 3, 4, 6), (1, 2, 3, 4)]}, {"inputs": [(2, 3, 4, 6), (2, 3, 3, 4)]}, {"inputs": [(3, 4, 6), (2, 2, 3, 4)]}]},
    {"op": "BilinearSampler", "inputs": [rand((1, 2, 1, 1), 1, 2), rand((1, 2, 2, 2), -1, 1)], "ref": sample, "tol": ROUGH,
     "empty": [(1, 2, 3, 3), (1, 2, 0, 2)]},
    {"op": "GridGenerator", "inputs": [(2, 6)], "attrs": {"transform_type": "affine", "target_shape": (3, 4)}, "ref": make_grid,
     "grad": True, "grad2": True, "tol": HALF_TOL, "empty": [(0, 6)],
     "bad": [{"inputs": [(2, 5)]}, {"inputs": [(2, 2, 3)]}, {"attrs": {"transform_type": "affine"}},
             {"attrs": {"transform_type": "affine", "target_shape": (-1, 3)}},
             {"attrs": {"transform_type": "affine", "target_shape": (3,)}},
             {"attrs": {"transform_type": "affine", "target_shape": (0, 1 << 40)}}]},
    {"op": "GridGenerator", "inputs": [(2, 6)], "attrs": {"transform_type": "affine", "target_shape": (1, 3)}, "ref": make_grid,
     "grad": True, "tol": HALF_TOL},
    {"op": "GridGenerator", "inputs": [(2, 2, 3, 5)], "attrs": {"transform_type": "warp"}, "ref": make_grid, "grad": True, "grad2": True,
     "tol": HALF_TOL, "bad": [{"inputs": [(2, 3, 3, 5)]}, {"inputs": [(2, 6)]}, {"attrs": {"transform_type": "shear"}}]},
    {"op": "GridGenerator", "inputs": [(1, 2, 1, 4)], "attrs": {"transform_type": "warp"}, "ref": make_grid, "grad": True,
     "tol": HALF_TOL},
    {"op": "SpatialTransformer", "inputs": [(2, 3, 5, 6), LOC], "ref": spatial_transformer, "grad": True, "grad2": True, "tol": ROUGH,
     "attrs": {"target_shape": (4, 3), "transform_type": "affine", "sampler_type": "bilinear"}, "empty": [(0, 3, 5, 6), (0, 6)],
     "bad": [{"inputs": [(2, 3, 5, 6), (1, 6)]}, {"inputs": [(2, 3, 5, 6), (2, 2, 3)]},
             {"attrs": {"transform_type": "affine", "sampler_type": "bilinear"}},
             {"attrs": {"target_shape": (4, -3), "transform_type": "affine", "sampler_type": "bilinear"}}]},
    {"op": "SpatialTransformer", "inputs": [(2, 1, 20, 21), LOC], "ref": spatial_transformer, "grad": [1], "tol": ROUGH,
     "attrs": {"target_shape": (19, 23), "transform_type": "affine", "sampler_type": "bilinear"}},
    {"op": "Correlation", "inputs": [(2, 3, 5, 6), (2, 3, 5, 6)], "attrs": {"pad_size": 1}, "ref": correlation, "grad": True,
     "grad2": True, "tol": HALF_TOL, "empty": [(0, 3, 5, 6), (0, 3, 5, 6)],
     "bad": [{"inputs": [(2, 3, 5, 6), (2, 3, 5, 5)]}, {"inputs": [(3, 5, 6), (3, 5, 6)]}, {"attrs": {"kernel_size": 9}},
             {"attrs": {"stride1": 0}}, {"attrs": {"stride2": 0}}, {"attrs": {"kernel_size": 0}}, {"attrs": {"max_displacement": 4}},
             {"attrs": {"pad_size": 1 << 31}}, {"attrs": {"pad_size": 1 << 29, "max_displacement": 1 << 29}}]},
    {"op": "Correlation", "inputs": [(1, 2, 8, 9), (1, 2, 8, 9)], "ref": correlation, "grad": True, "tol": HALF_TOL,
     "attrs": {"kernel_size": 3, "max_displacement": 2, "stride1": 2, "stride2": 2, "pad_size": 3}},
    {"op": "Correlation", "inputs": [(1, 2, 6, 7), (1, 2, 6, 7)], "ref": correlation, "grad": True, "tol": HALF_TOL,
     "attrs": {"kernel_size": 2, "max_displacement": 1, "stride1": 3, "pad_size": 1}},
    {"op": "Correlation", "inputs": [rand((1, 3, 6, 5), 1, 2), rand((1, 3, 6, 5), 3, 4)], "ref": correlation, "grad": True,
     "attrs": {"kernel_size": 3, "max_displacement": 1, "pad_size": 2, "is_multiply": False}, "tol": HALF_TOL},
    {"op": "_contrib_BilinearResize2D", "inputs": [(2, 2, 4, 5), None], "attrs": {"height": 7, "width": 3}, "ref": resize, "grad": [0],
     "grad2": True, "tol": ROUGH, "empty": [(0, 2, 4, 5), None],
     "bad": [{"inputs": [(4, 5), None]}, {"attrs": {"height": 0, "width": 3}}, {"attrs": {"height": -3, "width": 3}},
             {"attrs": {"mode": "odd_scale", "scale_height": 2}}, {"attrs": {"scale_height": -1, "scale_width": 1}},
             {"attrs": {"scale_height": float("nan"), "scale_width": 1}}, {"attrs": {"scale_height": 1e30, "scale_width": 1}},
             {"attrs": {"scale_height": 0.01, "scale_width": 1}}, {"attrs": {"mode": "odd_scale"}}, {"attrs": {"mode": "nearest"}}]},
    {"op": "_contrib_BilinearResize2D", "inputs": [(2, 2, 4, 5), None], "attrs": {"height": 9, "width": 4, "align_corners": False},
     "ref": resize, "grad": [0], "tol": ROUGH},
    {"op": "_contrib_BilinearResize2D", "inputs": [(1, 2, 4, 5), None], "attrs": {"height": 1, "width": 9, "align_corners": False},
     "ref": resize, "grad": [0], "tol": ROUGH},
    {"op": "_contrib_BilinearResize2D", "inputs": [(2, 1, 5, 7), None], "attrs": {"height": 6, "width": 19}, "ref": resize, "grad": [0],
     "tol": ROUGH},   # rows that are long enough for vectors
    {"op": "_contrib_BilinearResize2D", "inputs": [(1, 1, 1, 1), None], "attrs": {"height": 2, "width": 3}, "ref": resize, "tol": ROUGH},
    {"op": "_contrib_BilinearResize2D", "inputs": [(1, 2, 4, 5), None], "attrs": {"scale_height": 1.5, "scale_width": 0.5},
     "ref": resize, "tol": ROUGH},
    {"op": "_contrib_BilinearResize2D", "inputs": [(1, 2, 4, 5), None], "ref": resize,
     "attrs": {"mode": "odd_scale", "scale_height": 2, "scale_width": 2.5}, "grad": [0], "tol": ROUGH},
    {"op": "_contrib_BilinearResize2D", "inputs": [(2, 2, 4, 5), (1, 3, 6, 2)], "attrs": {"mode": "like"}, "ref": resize, "tol": ROUGH,
     "grad": [0], "grad2": True, "bad": [{"inputs": [(2, 2, 4, 5), (6, 2)]}, {"inputs": [(2, 2, 4, 5), None]}],
     "empty": [(0, 2, 4, 5), (1, 1, 2, 2)]},
    {"op": "_contrib_BilinearResize2D", "inputs": [(2, 2, 4, 5), (1, 3, 6, 2)], "attrs": {"mode": "like"}, "ref": resize, "tol": ROUGH,
     "input_dtypes": {1: "int32"}, "grad": [0], "grad2": True},
    *({"op": "_contrib_BilinearResize2D", "inputs": [(1, 2, 4, 5), None], "attrs": {"mode": mode}, "ref": resize, "tol": ROUGH}
      for mode in ("to_even_down", "to_even_up", "to_odd_down", "to_odd_up")),
    {"op": "Crop", "inputs": [(2, 3, 5, 6)], "attrs": {"num_args": 1, "h_w": (2, 3), "offset": (1, 2)}, "ref": crop, "grad": True,
     "grad2": True, "refuses": False, "empty": [(0, 3, 5, 6)],
     "bad": [{"attrs": {"num_args": 1}}, {"attrs": {"num_args": 1, "h_w": (2,)}}, {"attrs": {"num_args": 1, "h_w": (-2, 3)}},
             {"attrs": {"num_args": 1, "h_w": (2, 7)}}, {"attrs": {"num_args": 1, "h_w": (2, 3), "offset": (4, 0)}},
             {"attrs": {"num_args": 1, "h_w": (2, 3), "offset": (-1, 0)}}, {"attrs": {"num_args": 1, "h_w": (2, 3), "offset": (1,)}},
             {"inputs": [(3, 5, 6)]}]},
    {"op": "Crop", "inputs": [(2, 3, 5, 6)], "attrs": {"num_args": 1, "h_w": (2, 3), "offset": (9, 9), "center_crop": True},
     "ref": crop, "refuses": False, "dtypes": FLOATS + ["int32", "uint8"]},
    {"op": "Crop", "inputs": [(2, 3, 5, 6), (1, 1, 3, 2)], "attrs": {"num_args": 2, "offset": (2, 4)}, "ref": crop, "grad": True,
     "refuses": False, "bad": [{"inputs": [(2, 3, 5, 6), (1, 1, 6, 2)]}, {"inputs": [(2, 3, 5, 6), (3, 2)]}]},
    {"op": "BatchNorm_v1", "inputs": BN, "dtypes": ["float32", "float64"], "refuses": False, "ref": batch_norm, "tol": HALF_TOL,
     "bad": [{"inputs": [(4,), (4,), (4,), (4,), (4,)]}, {"inputs": [(3, 4, 2, 2), (3,), (4,), (4,), (4,)]}]},
    {"op": "BatchNorm_v1", "inputs": BN, "dtypes": ["float32", "float64"], "refuses": False, "ref": batch_statistics, "tol": HALF_TOL,
     "attrs": {"fix_gamma": False, "output_mean_var": True}, "train": True},
    {"op": "BatchNorm_v1", "inputs": BN, "dtypes": ["float32", "float64"], "refuses": False, "ref": batch_statistics, "tol": HALF_TOL,
     "attrs": {"fix_gamma": False}, "train": True, "grad": [0, 1, 2]},
    {"op": "BatchNorm_v1", "inputs": BN, "dtypes": ["float32", "float64"], "refuses": False, "ref": batch_norm, "tol": HALF_TOL,
     "attrs": {"use_global_stats": True}, "train": True, "grad": [0, 2]},
    {"op": ["_contrib_SyncBatchNorm", "_npx_sync_batch_norm"], "inputs": BN, "dtypes": ["float32", "float64"], "refuses": False,
     "ref": batch_norm, "tol": HALF_TOL, "attrs": {"key": "k"}, "bad": [{"attrs": {"key": "k", "ndev": 0}}, {"attrs": {}},
                                                                        {"inputs": [(4,)] * 5}]},
    {"op": "_contrib_SyncBatchNorm", "inputs": BN, "dtypes": ["float32", "float64"], "refuses": False, "ref": batch_statistics,
     "attrs": {"key": "k", "fix_gamma": False, "output_mean_var": True}, "train": True, "tol": HALF_TOL},
    {"op": "_contrib_SyncBatchNorm", "inputs": BN, "dtypes": ["float32", "float64"], "refuses": False, "ref": batch_statistics,
     "attrs": {"key": "k", "fix_gamma": False}, "train": True, "grad": [0, 1, 2], "tol": HALF_TOL},
    {"op": "Convolution_v1", "inputs": [(2, 4, 6, 5), (6, 2, 3, 2), (6,)], "ref": convolution, "tol": 4, "grad": True, "grad2": True,
     "attrs": {"kernel": (3, 2), "num_filter": 6, "num_group": 2, "stride": (2, 1), "pad": (1, 0), "dilate": (1, 2)},
     "empty": [(0, 4, 6, 5), (6, 2, 3, 2), (6,)],
     "bad": [{"inputs": [(2, 4, 6), (6, 4, 3), (6,)], "attrs": {"kernel": (3,), "num_filter": 6}}]},
    {"op": "Convolution_v1", "inputs": [(1, 2, 3, 4, 3), (3, 2, 2, 2, 2)], "ref": convolution, "tol": 4, "grad": True,
     "attrs": {"kernel": (2, 2, 2), "num_filter": 3, "no_bias": True}},
    {"op": "Pooling_v1", "inputs": [DISTINCT], "attrs": {"kernel": (3, 2), "stride": (2, 2), "pad": (1, 1)}, "ref": pooling_v1,
     "grad": True, "tol": 4, "empty": [(0, 2, 7, 6)],
     "bad": [{"inputs": [(2, 3, 4)], "attrs": {"kernel": (2,)}}, {"attrs": {"kernel": (2, 2), "pad": (-1, 0)}},
             {"attrs": {"kernel": (9, 2)}}, {"attrs": {"kernel": (2, 0)}}, {"attrs": {"kernel": (2, 2), "stride": (0, 1)}}]},
    {"op": "Pooling_v1", "inputs": [DISTINCT], "attrs": {"kernel": (3, 2), "pad": (2, 3)}, "ref": pooling_v1, "tol": 4},
    {"op": "Pooling_v1", "inputs": [(2, 2, 7, 6)], "ref": pooling_v1, "grad": True, "grad2": True, "tol": 4,
     "attrs": {"kernel": (3, 4), "stride": (3, 3), "pad": (0, 2), "pool_type": "avg", "pooling_convention": "full"}},
    {"op": "Pooling_v1", "inputs": [(1, 2, 4, 5, 3)], "ref": pooling_v1, "grad": True, "tol": 4,
     "attrs": {"kernel": (2, 3, 2), "pool_type": "sum"}},
    {"op": "Pooling_v1", "inputs": [(2, 2, 4, 5)], "ref": pooling_v1, "tol": 4, "attrs": {"global_pool": True, "pool_type": "avg"}},
    {"op": "IdentityAttachKLSparseReg", "inputs": [rand((4, 3), 0.1, 0.9), rand((3,), 0.2, 0.6)], "ref": lambda x, average: x,
     "bad": [{"inputs": [(4,), (4,)]}, {"inputs": [(4, 3), (4,)]}, {"attrs": {"sparseness_target": 2}}]},
    {"op": "_contrib_hawkesll", "inputs": HAWKES, "input_dtypes": {5: "int32"}, "ref": hawkes, "tol": ROUGH,
     "empty": [(0, 2), (2,), (2,), (0, 2), (0, 5), (0, 5), (0,), (0,)],
     "bad": [{"inputs": [(3, 2), (3,), (2,), (3, 2), (3, 5), (3, 5), (3,), (3,)]},
             {"inputs": [(3, 2), (2,), (2,), (3, 2), (3, 5), (3, 4), (3,), (3,)]}]},
    {"op": "_contrib_hawkesll", "inputs": HAWKES[:5] + [np.array([[0, -1, 2, 1, 1]] * 3), np.array([2.7, -1, 1e4]), HAWKES[7]],
     "input_dtypes": {5: "int32"}, "ref": hawkes, "tol": ROUGH},
    *({"op": [op, back], "inputs": [(3, n * (2 if op == "_contrib_ifft" else 1))], "ref": ref, "grad": n < 20, "grad2": n == 5,
       "tol": ROUGH, "empty": [(0, 6)]}
      for n in (1, 2, 3, 5, 12, 17, 34, 120, 143, 202)
      for op, back, ref in (("_contrib_fft", "_backward__contrib_ifft", fft), ("_contrib_ifft", "_backward__contrib_fft", ifft))),
    {"op": "_contrib_fft", "inputs": [(2, 2, 3, 8)], "ref": fft, "tol": ROUGH},
    {"op": "_contrib_ifft", "inputs": [(2, 2, 3, 8)], "ref": ifft, "tol": ROUGH, "bad": [{"inputs": [(2, 3)]}]},
    {"op": "_contrib_count_sketch", "inputs": [(3, 6), np.array([[0, 3, 1, 3, 9, -1.0]]), np.array([[1, -1, 1, 1, -1, 1.0]])],
     "attrs": {"out_dim": 4}, "ref": count_sketch, "grad": [0], "grad2": True, "tol": HALF_TOL, "empty": [(0, 6), (1, 6), (1, 6)],
     "bad": [{"attrs": {"out_dim": 0}}, {"inputs": [(3, 6), (1, 5), (1, 6)]}]},
    {"op": "_contrib_count_sketch", "inputs": [(2, 2, 5), np.array([0, 3, 1, 3, 2]), (5,)], "input_dtypes": {1: "int32"},
     "attrs": {"out_dim": 4}, "ref": count_sketch, "tol": HALF_TOL},
    *({"op": "_contrib_allclose", "inputs": [np.array(a), np.array(b)], "attrs": attrs, "out_dtype": "uint8",
       "empty": [(0,), (0,)] if result else False, "refuses": whole,
       "dtypes": FLOATS + (["uint8", "int8", "int32", "int64"] if whole else []),
       "ref": lambda a, b, result=result, **_: np.array(result),
       "bad": [{"inputs": [(2, 3), (3,)]}]}
      for a, b, attrs, result, whole in (
          ([1.0, 2], [1.0, 2], {}, 1, True), ([1.0, 2], [1.0, 3], {}, 0, True), ([1.0, 2], [1.0, 3], {"rtol": 0.5}, 1, True),
          ([np.nan, 1], [np.nan, 1], {}, 1, False), ([np.nan, 1], [np.nan, 1], {"equal_nan": False}, 0, False),
          ([np.inf, 1], [np.inf, 1], {}, 1, False), ([np.inf, 1], [-np.inf, 1], {}, 0, False), ([1.0], [np.inf], {}, 0, False))),
]
COVERED_ELSEWHERE = {"_contrib_backward_hawkesll": "test_spatial.py"}
