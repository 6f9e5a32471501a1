"""Dense, convolution, pooling and embedding layers."""
import itertools

import numpy as np

from op_cases import FLOATS, rand


def dense(x, w, b=None, num_hidden=None, flatten=True, no_bias=False):
    x = x.reshape(x.shape[0], int(np.prod(x.shape[1:]))) if flatten else x
    y = x @ w.T
    return y if b is None else y + b


def expert_dense(x, experts, w, b=None, no_bias=False):
    experts = experts.astype(int)
    y = np.einsum("rk,rnk->rn", np.repeat(x, len(experts) // len(x), 0), w[experts])
    return y if b is None else y + b[experts]


def _pad(x, pad, value=0.0):
    return np.pad(x, [(0, 0), (0, 0)] + [(p, p) for p in pad], constant_values=value)


def convolution(x, w, b=None, kernel=(), stride=None, dilate=None, pad=None, num_filter=1, num_group=1, no_bias=False, layout=None):
    nd = len(kernel)
    last = layout is not None and layout.endswith("C")
    if last:
        x, w = np.moveaxis(x, -1, 1), np.moveaxis(w, -1, 1)
    stride, dilate, pad = stride or (1,) * nd, dilate or (1,) * nd, pad or (0,) * nd
    x = _pad(x, pad)
    out = [(x.shape[2 + i] - dilate[i] * (kernel[i] - 1) - 1) // stride[i] + 1 for i in range(nd)]
    y = np.zeros((x.shape[0], num_filter, *out))
    cg, kg = x.shape[1] // num_group, num_filter // num_group
    for at in itertools.product(*(range(k) for k in kernel)):
        window = tuple(slice(a * d, a * d + (o - 1) * s + 1, s) for a, d, o, s in zip(at, dilate, out, stride))
        for g in range(num_group):
            part = x[(slice(None), slice(g * cg, (g + 1) * cg)) + window]
            y[:, g * kg:(g + 1) * kg] += np.einsum("nc...,kc->nk...", part, w[(slice(g * kg, (g + 1) * kg), slice(None)) + at])
    if b is not None:
        y += b.reshape((1, -1) + (1,) * nd)
    return np.moveaxis(y, 1, -1) if last else y


def deconvolution(x, w, b=None, kernel=(), stride=None, dilate=None, pad=None, adj=None,
                  target_shape=None, num_filter=1, num_group=1, no_bias=True, layout=None):
    nd = len(kernel)
    stride, dilate, pad, adj = stride or (1,) * nd, dilate or (1,) * nd, list(pad or (0,) * nd), list(adj or (0,) * nd)
    full = [(n - 1) * s + d * (k - 1) + 1 for n, s, d, k in zip(x.shape[2:], stride, dilate, kernel)]
    if any(target_shape or ()):
        pad = [(f - t + 1) // 2 for f, t in zip(full, target_shape)]
        adj = [(f - t) % 2 for f, t in zip(full, target_shape)]
    y = np.zeros((x.shape[0], num_filter, *(f + a for f, a in zip(full, adj))))
    cg, kg = x.shape[1] // num_group, num_filter // num_group
    for at in itertools.product(*(range(k) for k in kernel)):
        window = tuple(slice(a * d, a * d + (n - 1) * s + 1, s) for a, d, n, s in zip(at, dilate, x.shape[2:], stride))
        for g in range(num_group):
            y[(slice(None), slice(g * kg, (g + 1) * kg)) + window] += np.einsum(
                "nc...,ck->nk...", x[:, g * cg:(g + 1) * cg], w[(slice(g * cg, (g + 1) * cg), slice(None)) + at])
    y = y[(slice(None), slice(None)) + tuple(slice(p, f + a - p) for p, f, a in zip(pad, full, adj))]
    return y if b is None else y + b.reshape((1, -1) + (1,) * nd)


def pooling(x, kernel=(), pool_type="max", global_pool=False, pooling_convention="valid",
            stride=None, pad=None, p_value=None, count_include_pad=None,
            layout=None):
    last = layout is not None and layout.endswith("C")
    if last:
        x = np.moveaxis(x, -1, 1)
    nd = x.ndim - 2
    if global_pool:
        kernel, stride, pad = x.shape[2:], (1,) * nd, (0,) * nd
    stride, pad = stride or (1,) * nd, pad or (0,) * nd
    padded = [x.shape[2 + i] + 2 * pad[i] - kernel[i] for i in range(nd)]
    out = [1 + (-(-r // s) if pooling_convention == "full" else r // s) for r, s in zip(padded, stride)]
    if pooling_convention == "same":
        out = [-(-n // s) for n, s in zip(x.shape[2:], stride)]
        pad = [max(0, (o - 1) * s + k - n) // 2 for o, s, k, n in zip(out, stride, kernel, x.shape[2:])]
    y = np.zeros(x.shape[:2] + tuple(out))
    for at in itertools.product(*(range(o) for o in out)):
        begin = [a * s - p for a, s, p in zip(at, stride, pad)]
        end = [min(b + k, n + p) for b, k, n, p in zip(begin, kernel, x.shape[2:], pad)]
        window = x[(slice(None), slice(None)) + tuple(slice(max(b, 0), max(e, 0)) for b, e in zip(begin, end))]
        axes = tuple(range(2, x.ndim))
        count = np.prod([e - b for b, e in zip(begin, end)]) if count_include_pad in (None, True) else max(1, np.prod(window.shape[2:]))
        where = (slice(None), slice(None)) + at
        if pool_type == "max":
            y[where] = window.max(axes) if window.size else 0
        elif pool_type == "lp":
            y[where] = (np.abs(window) ** p_value).sum(axes) ** (1 / p_value)
        else:
            y[where] = window.sum(axes) / (count if pool_type == "avg" else 1)
    return np.moveaxis(y, 1, -1) if last else y


def embedding(index, weight, **_):
    return weight[np.clip(np.trunc(index).astype(int), 0, weight.shape[0] - 1)]


def upsample_nearest(*xs, scale, multi_input_mode="concat", **_):
    h = xs[0].shape[2] * scale
    big = [x.repeat(h // x.shape[2], 2).repeat(h // x.shape[2], 3) for x in xs]
    return sum(big) if multi_input_mode == "sum" else np.concatenate(big, 1)


def adaptive_average(x, output_size=(1, 1)):
    h, w = output_size if isinstance(output_size, tuple) and len(output_size) == 2 else np.broadcast_to(output_size, 2)
    rows, columns = x.shape[2:]
    return np.stack([np.stack([x[:, :, i * rows // h:-(-(i + 1) * rows // h),
                                 j * columns // w:-(-(j + 1) * columns // w)].mean((2, 3))
                               for j in range(w)], -1)
                     for i in range(h)], -2)


def _conv(inputs, grad2=False, grad=True, **attrs):
    return {"op": "Convolution", "inputs": inputs, "attrs": attrs, "ref": convolution, "tol": 4, "grad": grad, "grad2": grad2,
            "dtypes": [*FLOATS, "int8"]}


def _deconv(inputs, grad2=False, **attrs):
    return {"op": "Deconvolution", "inputs": inputs, "attrs": attrs, "ref": deconvolution, "tol": 4, "grad": True, "grad2": grad2}


# distinct values, so that finite differences do not change which one is the maximum
_DISTINCT = (np.random.RandomState(3).permutation(2 * 3 * 6 * 5).reshape(2, 3, 6, 5) - 90) / 64.0


def _pool(x=_DISTINCT, dtypes=FLOATS, **attrs):
    return {"op": "Pooling", "inputs": [x], "attrs": attrs, "ref": pooling, "grad": True, "grad2": True, "dtypes": dtypes, "tol": 4,
            "refuses": False}   # whether integers are accepted depends on pool_type


CASES = [
    {"op": "FullyConnected", "inputs": [rand((4, 2, 3), -1, 1), rand((5, 6), -1, 1),
                                        rand((5,), -1, 1)], "attrs": {"num_hidden": 5},
     "ref": dense, "tol": 4,
     "grad": True, "grad2": True, "empty": [(0, 2, 3), (5, 6), (5,)],
     "bad": [{"attrs": {}}, {"attrs": {"num_hidden": 0}}, {"inputs": [(4, 6), (5, 7), (5,)]}, {"inputs": [(4, 6), (5, 6), (4,)]}]},
    {"op": "FullyConnected", "inputs": [rand((4, 2, 3), -1, 1), rand((5, 3), -1, 1)],
     "attrs": {"num_hidden": 5, "flatten": False, "no_bias": True}, "ref": dense,
     "tol": 4, "grad": True, "grad2": True},
    _conv([rand((2, 4, 6), -1, 1), rand((3, 4, 3), -1, 1), rand((3,), -1, 1)], kernel=(3,), num_filter=3, pad=(1,), stride=(2,)),
    dict(_conv([rand((2, 4, 5, 6), -1, 1), rand((6, 2, 3, 2), -1, 1), rand((6,), -1, 1)],
               grad2=True, kernel=(3, 2), num_filter=6, num_group=2, pad=(1, 0),
               stride=(1, 2), dilate=(1, 2)),
         empty=[(0, 4, 5, 6), (6, 2, 3, 2), (6,)],
         bad=[{"attrs": {"num_filter": 6}}, {"attrs": {"kernel": (3, 2)}},
              {"attrs": {"kernel": (9, 9), "num_filter": 6},
               "inputs": [(2, 4, 5, 6), (6, 4, 9, 9), (6,)]},
              {"attrs": {"kernel": (3, 2), "num_filter": 6, "num_group": 4}},
              {"attrs": {"kernel": (3, 2), "num_filter": 6, "stride": (0, 1)}},
              {"attrs": {"kernel": (3, 2), "num_filter": 6, "pad": (-1, 0)}}, {"attrs": {"kernel": (3,), "num_filter": 6}},
              {"attrs": {"kernel": (3, 2), "num_filter": 6, "layout": "NCW"}}]),
    _conv([rand((2, 4, 5, 6), -1, 1), rand((4, 1, 3, 3), -1, 1)], kernel=(3, 3), num_filter=4, num_group=4, no_bias=True),
    _conv([rand((1, 2, 4, 3, 5), -1, 1), rand((3, 2, 2, 3, 2), -1, 1), rand((3,), -1, 1)], kernel=(2, 3, 2), num_filter=3, pad=(0, 1, 1)),
    _conv([rand((2, 5, 4, 4), -1, 1), rand((6, 3, 3, 2), -1, 1), rand((6,), -1, 1)], kernel=(3, 3),
          num_filter=6, num_group=2, layout="NHWC"),
    _conv([rand((2, 8, 3, 3), -1, 1), rand((4, 8, 1, 1), -1, 1)], kernel=(1, 1), num_filter=4, no_bias=True),
    _deconv([rand((2, 3, 4), -1, 1), rand((3, 2, 3), -1, 1)], kernel=(3,), num_filter=2, stride=(2,)),
    dict(_deconv([rand((2, 4, 3, 4), -1, 1), rand((4, 2, 3, 2), -1, 1), rand((4,), -1, 1)],
                 grad2=True, kernel=(3, 2), num_filter=4, num_group=2, stride=(2, 3),
                 pad=(1, 0), adj=(1, 2), no_bias=False),
         bad=[{"attrs": {"kernel": (3, 2), "num_filter": 4, "num_group": 2, "stride": (2, 3), "adj": (2, 0), "no_bias": False}},
              {"attrs": {"kernel": (3, 2), "num_filter": 4, "num_group": 3, "no_bias": False}}]),
    _deconv([rand((1, 3, 3, 3), -1, 1), rand((3, 2, 4, 4), -1, 1)], kernel=(4, 4), num_filter=2,
            stride=(2, 2), target_shape=(7, 6), dilate=(1, 1)),
    _deconv([rand((1, 3, 4, 4), -1, 1), rand((3, 2, 3, 3), -1, 1)], kernel=(3, 3), num_filter=2, stride=(2, 2), pad=(1, 1), adj=(1, 0),
            target_shape=(0, 0)),     # as in symbol files of old versions
    _deconv([rand((1, 2, 2, 3, 2), -1, 1), rand((2, 1, 2, 2, 2), -1, 1)], kernel=(2, 2, 2), num_filter=1, dilate=(1, 2, 1)),
    # windows that lie apart, in both layouts
    _deconv([rand((2, 3, 3, 4), -1, 1), rand((3, 2, 2, 3), -1, 1), rand((2,), -1, 1)],
            kernel=(2, 3), num_filter=2, stride=(2, 3), no_bias=False),
    _conv([rand((2, 3, 6, 8), -1, 1), rand((5, 3, 3, 2), -1, 1), rand((5,), -1, 1)],
          kernel=(3, 2), num_filter=5, stride=(3, 2)),
    _conv([rand((2, 6, 4, 4), -1, 1), rand((5, 3, 2, 4), -1, 1), rand((5,), -1, 1)],
          kernel=(3, 2), num_filter=5, stride=(3, 2), layout="NHWC"),
    dict(_pool(kernel=(3, 2), stride=(2, 2), pad=(1, 0)), empty=[(0, 3, 6, 5)],
         bad=[{"attrs": {}}, {"attrs": {"kernel": (7, 2)}}, {"attrs": {"kernel": (2, 2), "pad": (2, 0)}}, {"attrs": {"kernel": (2,)}},
              {"attrs": {"kernel": (2, 2), "stride": (0, 1)}}, {"attrs": {"kernel": (2, 2), "pool_type": "lp"}}]),
    _pool(kernel=(3, 2), stride=(2, 2), pad=(1, 0), pooling_convention="full"),
    _pool(kernel=(3, 2), stride=(2, 2), pad=(1, 1), pool_type="avg"),
    _pool(kernel=(3, 2), stride=(2, 2), pad=(1, 1), pool_type="avg", pooling_convention="full"),
    _pool(kernel=(3, 2), stride=(2, 2), pad=(1, 1), pool_type="avg", count_include_pad=False),
    _pool(kernel=(2, 3), pool_type="sum"),
    _pool(rand((2, 3, 6, 5), 0.5, 1.5), kernel=(2, 2), stride=(2, 2), pool_type="lp", p_value=2),
    _pool(rand((2, 3, 6, 5), 0.5, 1.5), kernel=(2, 2), stride=(2, 2), pool_type="lp", p_value=3),
    _pool(pool_type="avg", global_pool=True),
    _pool(global_pool=True, layout="NHWC"),
    _pool(_DISTINCT.reshape(2, 3, 30), kernel=(3,), stride=(2,), pooling_convention="same"),
    _pool(_DISTINCT.reshape(2, 3, 2, 3, 5), kernel=(2, 2, 2), stride=(1, 1, 2)),
    _pool(_DISTINCT, kernel=(2, 2), stride=(2, 2), layout="NHWC", pool_type="avg"),
    {"op": "Pooling", "inputs": [np.arange(-50, 50).reshape(1, 1, 10, 10)],
     "attrs": {"kernel": (3, 3)}, "ref": pooling, "dtypes": ["int8"], "refuses": False},
    {"op": "Pooling", "inputs": [np.arange(100).reshape(1, 1, 10, 10)], "attrs": {"kernel": (3, 3)},
     "ref": pooling, "dtypes": ["uint8"], "refuses": False},
    {"op": "Embedding", "inputs": [np.array([[0, 3, 3], [-2, 9, 1]]), rand((4, 3))],
     "input_dtypes": {0: "int32"}, "attrs": {"input_dim": 4, "output_dim": 3},
     "ref": embedding, "grad": [1], "grad2": True, "refuses": False, "out_dtype": lambda dtype: dtype, "tol": 0.01,
     "bad": [{"attrs": {"input_dim": 5, "output_dim": 3}}, {"attrs": {"input_dim": 4}}]},
    {"op": "_contrib_SparseEmbedding", "inputs": [np.array([2, 0, 2]), rand((4, 3))], "input_dtypes": {0: "int32"},
     "attrs": {"input_dim": 4, "output_dim": 3}, "ref": embedding, "grad": [1],
     "refuses": False, "out_dtype": lambda dtype: dtype, "tol": 0.01},
    {"op": "Embedding", "inputs": [np.array([0.0, 1.9, 3.0, 7.0, -1.0]), rand((4, 3))],
     "attrs": {"input_dim": 4, "output_dim": 3}, "ref": embedding, "grad": [1],
     "refuses": False, "tol": 0.01},
    {"op": "_expert_dense", "inputs": [rand((3, 4)), np.array([1, 0, 1, 3, 3, 1]), rand((4, 5, 4)), rand((4, 5))],
     "input_dtypes": {1: "int32"}, "ref": expert_dense, "grad": [0, 2, 3], "refuses": False, "empty": False,
     "out_dtype": lambda dtype: dtype,
     "bad": [{"inputs": [(3, 4), np.array([0, 1, 2, 3]), (4, 5, 4), (4, 5)]},
             {"inputs": [(3, 5), np.array([0, 1, 2]), (4, 5, 4), (4, 5)]},
             {"inputs": [(3, 4), np.array([0, 1, 4]), (4, 5, 4), (4, 5)]},
             {"inputs": [(3, 4), np.array([0, -1, 2]), (4, 5, 4), (4, 5)]}]},
    {"op": "_expert_dense", "inputs": [rand((3, 4)), np.array([2, 0, 2]), rand((4, 5, 4))], "input_dtypes": {1: "int64"},
     "attrs": {"no_bias": True}, "ref": expert_dense, "grad": [0, 2], "refuses": False, "empty": False,
     "out_dtype": lambda dtype: dtype},
    {"op": "UpSampling", "inputs": [rand((2, 3, 2, 3), -1, 1)],
     "attrs": {"scale": 3, "sample_type": "nearest"}, "ref": upsample_nearest, "grad": True,
     "empty": False, "tol": 0.01, "bad": [{"attrs": {"sample_type": "nearest"}},
                                          {"inputs": [(2, 3)]},
                                          {"attrs": {"scale": 2, "sample_type": "bilinear"}}]},
    {"op": "UpSampling", "inputs": [rand((2, 3, 4, 4), -1, 1), rand((2, 1, 2, 2), -1, 1)],
     "attrs": {"scale": 2, "sample_type": "nearest"}, "ref": upsample_nearest,
     "grad": True, "empty": False, "tol": 0.01},
    {"op": "UpSampling", "inputs": [rand((2, 3, 4, 4), -1, 1), rand((2, 3, 2, 2), -1, 1)],
     "attrs": {"scale": 1, "sample_type": "nearest", "multi_input_mode": "sum"},
     "ref": upsample_nearest, "grad": True, "empty": False},
    {"op": "UpSampling", "inputs": [rand((2, 3, 4, 5), -1, 1), rand((3, 1, 5, 5), -1, 1)],
     "attrs": {"scale": 3, "sample_type": "bilinear", "num_filter": 3},
     "ref": lambda x, w, **_: deconvolution(x, w, kernel=(5, 5), num_filter=3, num_group=3,
                                            stride=(3, 3), pad=(1, 1)), "grad": True,
     "empty": False, "tol": 4},
    {"op": "_contrib_AdaptiveAvgPooling2D", "inputs": [rand((2, 3, 5, 7), -1, 1)],
     "attrs": {"output_size": (3, 2)}, "ref": adaptive_average, "grad": True, "empty": False,
     "tol": 2, "bad": [{"inputs": [(3, 5, 7)]}, {"attrs": {"output_size": (0, 1)}}, {"attrs": {"output_size": (1, 1, 1)}}]},
    {"op": "_contrib_AdaptiveAvgPooling2D", "inputs": [rand((2, 3, 5, 7), -1, 1)],
     "ref": adaptive_average, "grad": True, "empty": False, "tol": 2},
    {"op": "_contrib_AdaptiveAvgPooling2D", "inputs": [rand((1, 2, 3, 3), -1, 1)],
     "attrs": {"output_size": 4}, "ref": adaptive_average, "grad": True, "empty": False,
     "tol": 2},
]
