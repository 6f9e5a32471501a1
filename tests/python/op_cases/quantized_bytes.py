"""Operators on 8-bit integers with ranges, against NumPy in exact arithmetic. What 1.9.1 and 2.0
give is in operators/test_quantized.py."""
import functools
import itertools

import numpy as np

from op_cases import ints, rand

CASES = []
BYTES = ["int8", "uint8"]
LEVELS = {"int8": 127.5, "uint8": 255.5}            # of quantize_v2 and dequantize
WHOLE = {"int8": 127.0, "uint8": 255.0}             # of quantize, requantize and sums
LIMITS = {"int8": (-128, 127), "uint8": (0, 255)}
SUMS = 2.0 ** 31
RNG = np.random.default_rng(17)
SIGNED, NATURAL = RNG.integers(-128, 128, (2, 3, 5, 4)), RNG.integers(0, 256, (2, 3, 5, 4))


def one(v):
    return np.array([float(v)])


def cut(x, dtype):
    return np.clip(np.rint(x), *LIMITS[dtype])


def largest(low, high):
    return max(abs(low[0]), abs(high[0]))


def both(m):
    return [np.array([-m]), np.array([m])]


def names(op, npx=True, prefix="_npx_"):
    return ["_contrib_" + op] + ([prefix + op] if npx else [])


def add(op, *inputs, name=None, floats=(), bad=(), dtypes=None, example=None, **more):
    """`floats`: inputs that are float32 whatever dtype is tested."""
    given = dict.fromkeys(floats, "float32")
    CASES.append(dict(op=name or names(op), inputs=list(inputs), dtypes=dtypes or BYTES, bad=list(bad), empty=more.pop("empty", False),
                      input_dtypes={**given, **more.pop("input_dtypes", {})}, **more, **({"example": example} if example else {})))


# ---- numbers and bytes

def quantize(x, low, high, out_type="uint8"):
    m = largest(low, high)
    scale = float(np.float32(WHOLE[out_type]) / np.float32(m)) if m else 0.0
    return [cut(np.nan_to_num(x * scale, posinf=1e9, neginf=-1e9), out_type), *(both(m) if out_type == "int8" else (low, high))]


def quantize_v2(x, out_type="int8", min_calib_range=None, max_calib_range=None):
    given = min_calib_range is not None and max_calib_range is not None
    if out_type == "auto":
        out_type = "uint8" if given and min_calib_range >= 0 else "int8"
    known = x[~np.isnan(x)]
    low, high = (min_calib_range, max_calib_range) if given else (known.min(initial=np.inf), known.max(initial=-np.inf))
    low, high = (low, high) if low <= high or given else (0.0, 0.0)
    m = max(abs(low), abs(high))
    scale = float(np.float32(LEVELS[out_type]) / np.float32(m)) if m else 0.0
    q = cut(np.nan_to_num(x.astype("float32") * np.float32(scale), nan=0.0, posinf=1e9, neginf=-1e9), out_type)
    return [q, *(both(m) if out_type == "int8" else (one(low), one(high)))]


def fake_quantize(x, scale, zero, out_type="uint8", axis=0):
    low, high = LIMITS[out_type]
    scale, zero = (v.reshape([-1 if v.size > 1 and i == axis else 1 for i in range(x.ndim)]) for v in (scale, zero))
    return (np.clip(np.rint(x.astype("float32") / scale.astype("float32")) + zero, low, high) - zero) * scale


for kind, axis, count in (("int8", 0, 1), ("uint8", 1, 5)):
    add("fake_quantize", rand((4, 5), -30, 30), rand((count,), 0.05, 0.2), ints((count,), 0, 9), name="_fake_quantize", dtypes=["float32"],
        refuses=False, input_dtypes={1: "float32", 2: "int32"}, attrs=dict(out_type=kind, axis=axis), ref=fake_quantize,
        bad=[dict(inputs=[(4, 5), (3,), (1,)]), dict(attrs=dict(out_type="int64")), dict(inputs=[(4, 5), (5,), (1,)], attrs=dict(axis=2))])

for kind, (low, high) in itertools.product(("int8", "uint8"), ((-1, 2), (0, 1.5), (2, -1))):
    add("quantize", rand((3, 7)), one(low), one(high), name=["_contrib_quantize", "_npx_contrib_quantize"], dtypes=["float32"],
        attrs=dict(out_type=kind), ref=quantize, out_dtype=[kind, "float32", "float32"], empty=[(0, 3), (1,), (1,)] if low == 0 else False,
        bad=[dict(inputs=[(3, 7), (2,), (1,)]), dict(attrs=dict(out_type="int32")), dict(attrs=dict(out_type="auto"))],
        example="""data = mx.nd.array([-1, -0.5, 0, 0.25, 3])
q, low, high = mx.nd.contrib.quantize(data, mx.nd.array([-1]), mx.nd.array([1]), out_type='int8')
q.asnumpy()""" if kind == "int8" else None)
add("quantize", np.array([np.nan, np.inf, -np.inf, 0.5]), one(-1), one(1), name="_contrib_quantize", dtypes=["float32"],
    attrs=dict(out_type="int8"), ref=quantize, out_dtype=["int8", "float32", "float32"])
add("quantize", np.array([1, 0, -1.0]), one(0), one(0), name="_contrib_quantize", dtypes=["float32"], attrs=dict(out_type="int8"),
    ref=quantize, out_dtype=["int8", "float32", "float32"])                            # 1.9.1: 127, 127, -128
add("quantize", rand((3,)), one(np.nan), one(1), name="_contrib_quantize", dtypes=["float32"],
    out_dtype=["uint8", "float32", "float32"], ref=lambda x, low, high: [x * 0, low, high])
V2 = ["_contrib_quantize_v2", "_npx_contrib_quantize_v2"]
for kind, calib in itertools.product(("int8", "uint8", "auto"), ({}, dict(min_calib_range=-1.0, max_calib_range=1.5),
                                                                dict(min_calib_range=0.0, max_calib_range=1.5),
                                                                    dict(min_calib_range=-1.0))):
    out = "uint8" if kind == "uint8" or kind == "auto" and calib.get("min_calib_range") == 0 else "int8"
    CASES.append(dict(op=V2, inputs=[rand((3, 7))], dtypes=["float32"], refuses=False, attrs=dict(out_type=kind, **calib), ref=quantize_v2,
                      out_dtype=[out, "float32", "float32"], empty=[(0, 7)],
                      bad=[dict(attrs=dict(out_type="int32")), dict(attrs=dict(min_calib_range="abc")),
                           dict(input_dtypes={0: "float64"}), dict(input_dtypes={0: "int32"})],
                      example="""data = mx.nd.array([-1, -0.5, 0, 0.25, 2])
q, low, high = mx.nd.contrib.quantize_v2(data, out_type='int8')
q.asnumpy()"""))
for x in ([0.0, 0.0], [np.nan, 1.0], [np.nan, np.nan], [np.inf, 1.0, -1.0]):
    CASES.append(dict(op=V2, inputs=[np.array(x)], dtypes=["float32"], refuses=False, ref=quantize_v2, empty=False,
                      out_dtype=["int8", "float32", "float32"]))
CASES.append(dict(op=V2, inputs=[rand((70001,), -1, 1)], dtypes=["float32"], refuses=False, ref=quantize_v2, empty=False,
                  out_dtype=["int8", "float32", "float32"]))
CASES.append(dict(op=V2, inputs=[SIGNED], dtypes=["int8"], refuses=False, empty=False, out_dtype=["int8", "float32", "float32"],
                  ref=lambda x: [x, one(-127.5), one(127.5)]))
CASES.append(dict(op=V2, inputs=[NATURAL], dtypes=["uint8"], refuses=False, empty=False, attrs=dict(out_type="uint8"),
                  out_dtype=["uint8", "float32", "float32"], ref=lambda x, **kw: [x, one(0), one(255.5)]))
CASES.append(dict(op=V2, inputs=[NATURAL], dtypes=["uint8"], refuses=False, empty=False, out_dtype=["int8", "float32", "float32"],
                  ref=lambda x: [cut(x * (127.5 / 255.5), "int8"), one(0), one(255.5)]))   # 1.9.1: the bytes as they are


def quantize_asym(x, min_calib_range=None, max_calib_range=None):
    low, high = (x.min(), x.max()) if min_calib_range is None else (min_calib_range, max_calib_range)
    scale = np.float32(255) / np.float32(high - low) if high > low else np.float32(1)
    return [np.clip(np.rint(x * float(scale) - low * float(scale)), 0, 255), one(scale), one(-np.float32(low) * scale)]


for attrs in ({}, dict(min_calib_range=-1.0, max_calib_range=1.5), dict(min_calib_range=0.5, max_calib_range=1.5)):
    CASES.append(dict(op="_contrib_quantize_asym", inputs=[rand((3, 4, 5))], dtypes=["float32"], attrs=attrs, ref=quantize_asym,
        empty=False,
                      out_dtype=["uint8", "float32", "float32"], bad=[dict(attrs=dict(min_calib_range="x"))]))
CASES.append(dict(op="_contrib_quantize_asym", inputs=[np.full((4,), 0.5)], dtypes=["float32"], ref=quantize_asym, empty=False,
                  out_dtype=["uint8", "float32", "float32"]))


def dequantizer(dtype):
    return lambda x, low, high: x * float(np.float32(largest(low, high)) / np.float32(LEVELS[dtype]))


for kind, x in (("int8", SIGNED), ("uint8", NATURAL)):
    add("dequantize", x, one(-1), one(2.5), name="_contrib_dequantize", dtypes=[kind], floats=(1, 2), refuses=False, out_dtype="float32",
        ref=dequantizer(kind), empty=[(0, 2), (1,), (1,)], bad=[dict(attrs=dict(out_type="int8")), dict(inputs=[(2,), (2,), (1,)])],
        example="""data = mx.nd.array([-127, 0, 64], dtype='int8')
mx.nd.contrib.dequantize(data, mx.nd.array([-1]), mx.nd.array([1])).asnumpy().round(3)""")


def requantize(x, low, high, out_type="int8", min_calib_range=None, max_calib_range=None):
    unit = np.float32(largest(low, high)) / np.float32(2147483647)
    if min_calib_range is None:
        m = np.float32(np.abs(x.astype("int64")).max(initial=0)) * unit
    else:
        m = np.float32(max(abs(min_calib_range), abs(max_calib_range)))
        out_type = "uint8" if out_type == "auto" and min_calib_range >= 0 else out_type
    out_type = "int8" if out_type == "auto" else out_type
    scale = unit * (np.float32(WHOLE[out_type]) / m) if m else np.float32(0)
    return [cut(x.astype("float32") * scale, out_type), np.array([-m if out_type == "int8" else 0]), np.array([m])]


WIDE = RNG.integers(-2 ** 31, 2 ** 31, (50, 40))
for x, (kind, calib) in itertools.product((WIDE, WIDE // 7, WIDE * 0), itertools.product(
        ("int8", "uint8", "auto"), ({}, dict(min_calib_range=-0.5, max_calib_range=0.25), dict(min_calib_range=0.0, max_calib_range=0.7)))):
    out = "uint8" if kind == "uint8" or kind == "auto" and calib.get("min_calib_range") == 0 else "int8"
    add("requantize", x, one(-0.7), one(0.3), name=["_contrib_requantize", "_npx_requantize"], dtypes=["int32"], floats=(1, 2),
        attrs=dict(out_type=kind, **calib), ref=requantize, out_dtype=[out, "float32", "float32"], empty=[(0, 2), (1,), (1,)],
        bad=[dict(attrs=dict(out_type="int32")), dict(inputs=[(2,), (2,), (1,)])],
        example="""data = mx.nd.array([-2000, 0, 1000, 4000], dtype='int32')
q, low, high = mx.nd.contrib.requantize(data, mx.nd.array([-1e6]), mx.nd.array([1e6]))
q.asnumpy()""")

# ---- moves

MOVED = dict(floats=(1, 2), refuses=False)
BYTE_INPUT = {"int8": SIGNED, "uint8": NATURAL}
MOVE_EXAMPLE = """data = mx.nd.array([[1, 2], [3, 4]], dtype='int8')
y, low, high = mx.nd.contrib.{}(data, mx.nd.array([-1]), mx.nd.array([1]){})
y.asnumpy()"""


def moves(op, change, attrs=None, name=None, bad=(), example=""):
    for kind, x in BYTE_INPUT.items():
        add(op, x, one(-1), one(2), name=name, dtypes=[kind], out_dtype=[kind, "float32", "float32"], attrs=attrs or {}, bad=bad,
            ref=lambda x, low, high, **kw: [change(x), low, high], example=MOVE_EXAMPLE.format(op, example), **MOVED)


moves("quantized_flatten", lambda x: x.reshape(2, -1), bad=[dict(inputs=[(2, 3), (2,), (1,)])])
moves("quantized_reshape", lambda x: x.reshape(2, 15, 4), dict(shape=(0, -3, 0)), ["_contrib_quantized_reshape", "quantized_reshape"],
      [dict(attrs=dict(shape=(7, -1))), dict(attrs={})], ", shape=(-1,)")
moves("quantized_reshape", lambda x: x.reshape(2, 15, 4), dict(newshape=(-2, -5, -2)), ["_npx_quantized_reshape"],
      [dict(attrs=dict(newshape=(7, -1))), dict(attrs={})], ", shape=(-1,)")
CASES[-1]["example"] = CASES[-2]["example"] = """data = mx.np.array([[1, 2], [3, 4]], dtype='int8')
y, low, high = mx.npx.quantized_reshape(data, mx.np.array([-1.0]), mx.np.array([1.0]), newshape=(-1,))
y.asnumpy()"""
TRANSPOSES = ["_contrib_quantized_transpose", "quantized_transpose"]
moves("quantized_transpose", lambda x: x.transpose(0, 2, 3, 1), dict(axes=(0, 2, 3, 1)), TRANSPOSES, [dict(attrs=dict(axes=(0, 0, 1, 2)))])
moves("quantized_transpose", lambda x: x.T, {}, TRANSPOSES + ["_npx_quantized_transpose"])
moves("quantized_act", lambda x: np.maximum(x, 0), dict(act_type="relu"), None, [dict(attrs=dict(act_type="tanh")), dict(attrs={})],
      ", act_type='relu'")
add("quantized_embedding", np.array([[0, 2, 7], [-3, 1, 1]]), ints((4, 5), -128, 127), one(-1), one(2), dtypes=["float32", "int32",
    "int64"],
    refuses=False, input_dtypes={1: "int8", 2: "float32", 3: "float32"}, attrs=dict(input_dim=4, output_dim=5),
    out_dtype=["int8", "float32", "float32"],
    ref=lambda i, w, low, high, **kw: [w[np.clip(i.astype(int), 0, 3)], low, high],
    bad=[dict(attrs=dict(input_dim=0, output_dim=5)), dict(attrs=dict(input_dim=3, output_dim=5)),
         dict(input_dtypes={1: "uint8", 2: "float32", 3: "float32"})],
    example="""weight = mx.nd.array([[1, 2], [3, 4], [5, 6]], dtype='int8')
data, ends = mx.nd.array([2, 0]), [mx.nd.array([-1]), mx.nd.array([1])]
y, low, high = mx.nd.contrib.quantized_embedding(data, weight, *ends, input_dim=3, output_dim=2)
y.asnumpy()""")


def concat(out, kinds, *inputs, num_args, dim=1):
    arrays, ends = inputs[:num_args], inputs[num_args:]
    low, high = min(e[0] for e in ends[::2]), max(e[0] for e in ends[1::2])
    m = max(abs(low), abs(high))
    parts = [cut(x * (largest(*ends[2 * i:2 * i + 2]) / LEVELS[kinds[i]]) * (LEVELS[out] / m), out) for i, x in enumerate(arrays)]
    return [np.concatenate(parts, dim), one(low), one(high)]


for kinds, dim in (("ii", 1), ("uu", 0), ("ui", -1), ("iu", 1), ("iui", 1), ("u", 1)):
    types = [{"i": "int8", "u": "uint8"}[k] for k in kinds]
    out = "uint8" if set(kinds) == {"u"} else "int8"
    n = len(kinds)
    ends = [one(v) for i, k in enumerate(kinds) for v in ((-1 - i if k == "i" else 0), 1 + i)]
    CASES.append(dict(op="_contrib_quantized_concat", inputs=[BYTE_INPUT[t] for t in types] + ends, dtypes=types[:1], refuses=False,
                      input_dtypes={**dict(enumerate(types)), **{i: "float32" for i in range(n, 3 * n)}}, empty=False,
                      attrs=dict(num_args=n, dim=dim), out_dtype=[out, "float32", "float32"],
                      ref=lambda *a, out=out, types=types, **kw: concat(out, types, *a, **kw),
                      bad=[dict(attrs=dict(num_args=n, dim=9)), dict(attrs=dict(num_args=0))],
                      example="""a, b = mx.nd.array([[1, 127]], dtype='int8'), mx.nd.array([[2, 100]], dtype='int8')
ends = [mx.nd.array([v]) for v in (-1, 1, -2, 2)]
y, low, high = mx.nd.contrib.quantized_concat(a, b, *ends, num_args=2)
y.asnumpy()"""))

# ---- layers

LAYER = dict(refuses=False, out_dtype=["int32", "float32", "float32"])


def sums_range(kind, d, w):
    m = np.float32(d / WHOLE[kind]) * np.float32(w / 127) * np.float32(SUMS)
    return both(float(m))


def wide_bias(kind, b, d, w, m):
    return np.clip(np.trunc(b * (m * LEVELS[kind] / (d * w))), -SUMS, SUMS - 1)


def dense(kind, x, weight, *rest, num_hidden, no_bias=False, flatten=True):
    x = x.reshape(len(x), -1) if flatten else x
    bias = () if no_bias else rest[:1]
    ends = rest[len(bias):]
    d, w = largest(*ends[:2]), largest(*ends[2:4])
    sums = x @ weight.T
    if bias:
        sums = sums + wide_bias(kind, bias[0], d, w, largest(*ends[4:]))
    return [np.clip(sums, -SUMS, SUMS - 1).astype("int64"), *sums_range(kind, d, w)]


def windows(x, kernel, stride, dilate, pad):
    x = np.pad(x, [(0, 0), (0, 0)] + [(p, p) for p in pad])
    out = [(n - d * (k - 1) - 1) // s + 1 for n, k, s, d in zip(x.shape[2:], kernel, stride, dilate)]
    for at in itertools.product(*map(range, kernel)):
        seen = tuple(slice(a * d, a * d + s * (n - 1) + 1, s) for a, d, s, n in zip(at, dilate, stride, out))
        yield at, x[(slice(None), slice(None)) + seen]


def conv(kind, x, weight, *rest, kernel, num_filter, no_bias=False, stride=None, dilate=None, pad=None, num_group=1, layout=None):
    nd = len(kernel)
    if layout and layout[-1] == "C":
        x, weight = np.moveaxis(x, -1, 1), np.moveaxis(weight, -1, 1)
    stride, dilate, pad = stride or (1,) * nd, dilate or (1,) * nd, pad or (0,) * nd
    bias = () if no_bias else rest[:1]
    ends = rest[len(bias):]
    d, w = largest(*ends[:2]), largest(*ends[2:4])
    sums = 0
    for at, seen in windows(x, kernel, stride, dilate, pad):
        groups = seen.reshape((len(x), num_group, -1) + seen.shape[2:])
        filters = weight[(slice(None), slice(None)) + at].reshape(num_group, num_filter // num_group, -1)
        part = np.einsum("ngc...,gfc->ngf...", groups, filters)
        sums = sums + part.reshape((len(x), num_filter) + seen.shape[2:])
    if bias:
        sums = sums + wide_bias(kind, bias[0], d, w, largest(*ends[4:])).reshape((-1,) + (1,) * nd)
    if layout and layout[-1] == "C":
        sums = np.moveaxis(sums, 1, -1)
    return [np.clip(sums, -SUMS, SUMS - 1).astype("int64"), *sums_range(kind, d, w)]


def layer(op, ref, x_shape, w_shape, bias, bad=(), example=None, ranges=(-1, 2, -3, 0.5, -5, 7), empty=False, **attrs):
    arrays = 3 if bias else 2
    for kind in BYTES:
        add(op, ints(x_shape, -128, 255 if kind == "uint8" else 127), ints(w_shape, -128, 127),
            *([ints((w_shape[0],), -128, 127)] if bias else []), *[one(v) for v in ranges[:2 * arrays]], dtypes=[kind],
            input_dtypes={**{i: "int8" for i in range(1, arrays)}, **{i: "float32" for i in range(arrays, 3 * arrays)}},
            attrs=dict(attrs, **({} if bias else dict(no_bias=True))), ref=functools.partial(ref, kind), bad=bad, example=example,
                empty=empty,
            **LAYER)


DENSE_EXAMPLE = """data = mx.nd.array([[1, 2], [3, 4]], dtype='int8')
weight = mx.nd.array([[1, 0], [1, 1]], dtype='int8')
ends = [mx.nd.array([v]) for v in (-1, 1, -2, 2)]
y, low, high = mx.nd.contrib.quantized_fully_connected(data, weight, *ends, num_hidden=2, no_bias=True)
y.asnumpy()"""
layer("quantized_fully_connected", dense, (3, 4, 5), (6, 20), True, num_hidden=6, example=DENSE_EXAMPLE,
      bad=[dict(attrs=dict(num_hidden=5)), dict(attrs=dict(num_hidden=0))])
layer("quantized_fully_connected", dense, (3, 40), (6, 40), False, num_hidden=6)
layer("quantized_fully_connected", dense, (2, 67, 33), (70, 33), True, num_hidden=70, flatten=False)
# a bias beyond 32 bits
layer("quantized_fully_connected", dense, (2, 3), (2, 3), True, num_hidden=2, ranges=(-1e-3, 1e-3, -1e-3, 1e-3, -5e7, 1))
layer("quantized_fully_connected", dense, (1, 5), (2, 5), True, num_hidden=2, ranges=(-1, 1, -1, 1, 0, 0))
layer("quantized_fully_connected", dense, (2, 300), (129, 300), False, num_hidden=129)
CONV_EXAMPLE = """data = mx.nd.array([[[[1, 2, 3], [4, 5, 6]]]], dtype='uint8')
weight = mx.nd.array([[[[1, -1]]]], dtype='int8')
ends = [mx.nd.array([v]) for v in (0, 1, -2, 2)]
y, low, high = mx.nd.contrib.quantized_conv(data, weight, *ends, kernel=(1, 2), num_filter=1, no_bias=True)
y.asnumpy()"""
BAD_CONV = [dict(attrs=dict(kernel=(3, 3), num_filter=5)), dict(attrs=dict(kernel=(9, 9), num_filter=4)), dict(attrs=dict(kernel=(3,),
    num_filter=4)),
            dict(attrs=dict(kernel=(3, 3), num_filter=4, stride=(0, 1))), dict(attrs=dict(kernel=(3, 3), num_filter=4, num_group=3))]
layer("quantized_conv", conv, (2, 3, 7, 6), (4, 3, 3, 3), True, kernel=(3, 3), num_filter=4, pad=(1, 1), stride=(2, 1), bad=BAD_CONV,
      example=CONV_EXAMPLE)
layer("quantized_conv", conv, (1, 16, 9, 9), (32, 16, 3, 3), False, kernel=(3, 3), num_filter=32)
layer("quantized_conv", conv, (2, 6, 8, 8), (4, 3, 3, 3), True, kernel=(3, 3), num_filter=4, num_group=2, dilate=(2, 1))
layer("quantized_conv", conv, (2, 8, 5, 5), (8, 1, 3, 3), False, kernel=(3, 3), num_filter=8, num_group=8, pad=(1, 1))
layer("quantized_conv", conv, (2, 5, 11), (3, 5, 4), True, kernel=(4,), num_filter=3, stride=(2,))
layer("quantized_conv", conv, (1, 2, 4, 5, 3), (3, 2, 2, 3, 1), True, kernel=(2, 3, 1), num_filter=3)
layer("quantized_conv", conv, (2, 6, 7, 5), (4, 3, 2, 5), True, kernel=(3, 2), num_filter=4, layout="NHWC", pad=(1, 0))
layer("quantized_conv", conv, (1, 70, 1, 40), (33, 70, 1, 1), False, kernel=(1, 1), num_filter=33)


def average(x, kernel, stride, pad):
    nd = len(kernel)
    return np.rint(sum(seen for _, seen in windows(x, kernel, stride, (1,) * nd, pad)) / np.prod(kernel))


def maxima(x, kernel, stride, pad):
    nd = len(kernel)
    x = np.pad(x, [(0, 0), (0, 0)] + [(p, p) for p in pad], constant_values=-1000)
    return np.max([seen for _, seen in windows(x, kernel, stride, (1,) * nd, (0,) * nd)], 0)


POOL_EXAMPLE = """data = mx.nd.array([[[[1, 2, 3, 6]]]], dtype='int8')
y, low, high = mx.nd.contrib.quantized_pooling(data, mx.nd.array([-1]), mx.nd.array([1]), kernel=(1, 2), stride=(1, 2))
y.asnumpy()"""
for kind, x in BYTE_INPUT.items():
    for pool_type, f in (("max", maxima), ("avg", average)):
        for kernel, stride, pad in (((2, 2), (2, 2), (0, 0)), ((3, 2), (1, 2), (1, 1))):
            attrs = dict(kernel=kernel, stride=stride, pad=pad, pool_type=pool_type)
            add("quantized_pooling", x, one(-1), one(2), dtypes=[kind], floats=(1, 2), refuses=False, attrs=attrs, example=POOL_EXAMPLE,
                out_dtype=[kind, "float32", "float32"],
                ref=lambda x, low, high, f=f, kernel=(), stride=(), pad=(), **kw: [f(x, kernel, stride, pad), low, high],
                bad=[dict(attrs=dict(attrs, pool_type="sum")), dict(attrs=dict(attrs, kernel=(9, 9))), dict(attrs=dict(attrs,
                    output_size="(2,2)"))])
    add("quantized_pooling", x, one(-1), one(2), dtypes=[kind], floats=(1, 2), refuses=False, out_dtype=[kind, "float32", "float32"],
        attrs=dict(global_pool=True, pool_type="avg", kernel=(1, 1), output_size=None),
        ref=lambda x, low, high, **kw: [np.rint(x.mean((2, 3), keepdims=True)), low, high])

# ---- element by element

PAIR_ENDS = [one(v) for v in (-1, 2, -3, 3)]
GRID = np.meshgrid(np.arange(-128, 128), np.arange(-128, 128))


def pair_case(op, ref, kinds, out, attrs, bad=(), example=None, outs=3):
    arrays = [g + (128 if k == "uint8" else 0) for g, k in zip(GRID, kinds)]
    add(op, *arrays, *PAIR_ENDS, dtypes=[kinds[0]], refuses=False, input_dtypes={1: kinds[1], **{i: "float32" for i in range(2, 6)}},
        attrs=attrs,
        ref=ref, out_dtype=[out, "float32", "float32"][:outs], bad=bad, example=example)


CALIBRATED = dict(min_calib_range=-2.0, max_calib_range=4.5)
for kinds in itertools.product(BYTES, BYTES):
    def summed(a, b, *ends, kinds=kinds, min_calib_range=None, max_calib_range=None):
        v = a * (2 / LEVELS[kinds[0]]) + b * (3 / LEVELS[kinds[1]])
        if min_calib_range is None:
            return [np.clip(np.rint(v / 5 * (SUMS - 1)), -SUMS, SUMS - 1), *both(5.0)]
        out = "uint8" if set(kinds) == {"uint8"} else "int8"
        return [cut(v / 4.5 * LEVELS[out], out), one(min_calib_range), one(max_calib_range)]

    def product(a, b, *ends, kinds=kinds, min_calib_range=None, max_calib_range=None, enable_float_output=False):
        products = a.astype("int64") * b.astype("int64")
        unit = np.float32(6) / np.float32(LEVELS[kinds[0]] * LEVELS[kinds[1]])
        if enable_float_output:
            return products * float(unit)
        if min_calib_range is None:
            m = np.float32(2 / WHOLE[kinds[0]]) * np.float32(3 / WHOLE[kinds[1]]) * np.float32(SUMS)
            return [products, *both(float(m))]
        out = "uint8" if set(kinds) == {"uint8"} else "int8"
        scaled = products.astype("float32") * (unit * (np.float32(LEVELS[out]) / np.float32(4.5)))
        return [np.clip(np.trunc(scaled), *LIMITS[out]), one(min_calib_range), one(max_calib_range)]

    eight = "uint8" if set(kinds) == {"uint8"} else "int8"
    for op, ref in (("quantized_elemwise_add", summed), ("quantized_elemwise_mul", product)):
        text = f"""lhs, rhs = mx.nd.array([100, -50], dtype='int8'), mx.nd.array([30, 20], dtype='int8')
ends = [mx.nd.array([v]) for v in (-1, 1, -2, 2)]
y, low, high = mx.nd.contrib.{op}(lhs, rhs, *ends, min_calib_range=-3, max_calib_range=3)
y.asnumpy()"""
        pair_case(op, ref, kinds, "int32", {}, [dict(attrs=dict(min_calib_range="x"))], text)
        pair_case(op, ref, kinds, eight, CALIBRATED)
    pair_case("quantized_elemwise_mul", product, kinds, "float32", dict(enable_float_output=True), outs=1)


def norm(kind, x, gamma, beta, mean, var, low, high, eps=1e-3, axis=1, min_calib_range=None, max_calib_range=None, **_):
    shape = [1] * x.ndim
    shape[axis] = -1
    gamma, beta, mean, var = (v.reshape(shape) for v in (gamma, beta, mean, var))
    y = (x * (largest(low, high) / LEVELS[kind]) - mean) / np.sqrt(var + eps) * gamma + beta
    m = np.abs(y).max() if min_calib_range is None else max(abs(min_calib_range), abs(max_calib_range))
    ends = both(m) if min_calib_range is None else (one(min_calib_range), one(max_calib_range))
    return [cut(y / m * 127.5, "int8"), *ends]


def near(kind):
    """float32 may round differently where the number is near the middle between two."""
    def check(got, values, attrs):
        want = norm(kind, *values, **attrs)
        assert np.abs(got[0].astype(int) - want[0]).max() <= 1 and (got[0] != want[0]).mean() < 0.02
        np.testing.assert_allclose(np.ravel(got[1:]), np.ravel(want[1:]), rtol=1e-5)
    return check


for kind, x in BYTE_INPUT.items():
    for attrs in (dict(min_calib_range=-4.0, max_calib_range=3.0), {}, dict(axis=-1, eps=0.01)):
        n = x.shape[attrs.get("axis", 1)]
        CASES.append(dict(op="_contrib_quantized_batch_norm", dtypes=[kind], refuses=False, attrs=attrs, check=near(kind), empty=False,
                          inputs=[x, rand((n,), 0.5, 2), rand((n,)), rand((n,)), rand((n,), 0.1, 2), one(-1), one(2)],
                          input_dtypes={i: "float32" for i in range(1, 7)},
                          bad=[dict(attrs=dict(axis=7)), dict(attrs=dict(min_calib_range="x"))],
                          example="""data = mx.nd.array([[100, -50], [0, 20]], dtype='int8')
gamma, beta, mean, var = mx.nd.array([1, 2]), mx.nd.array([0, 1]), mx.nd.array([0, 0]), mx.nd.array([1, 1])
y, low, high = mx.nd.contrib.quantized_batch_norm(data, gamma, beta, mean, var, mx.nd.array([-1]), mx.nd.array([1]))
y.asnumpy()"""))

# ---- recurrent layers, and the threshold of a histogram

def lstm(x, parameters, h, c, scale, shift, *, state_size, state_outputs=False, **_):
    n, inputs = state_size, x.shape[2]
    sizes = np.cumsum([4 * n * inputs, 4 * n * n, 4 * n])
    wx, wh, bx, bh = np.split(parameters, sizes)
    sigmoid = lambda v: 1 / (1 + np.exp(-v))
    h, c, out = h[0], c[0], []
    for step in (x - shift[0]) / scale[0]:
        i, f, g, o = np.split(step @ wx.reshape(4 * n, -1).T + bx + h @ wh.reshape(4 * n, -1).T + bh, 4, 1)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        out.append(h)
    return [np.stack(out)] + ([h[None], c[None]] if state_outputs else [])


for more in ({}, dict(state_outputs=True)):
    attrs = dict(mode="lstm", state_size=3, num_layers=1, **more)
    CASES.append(dict(op="_contrib_quantized_rnn", inputs=[ints((4, 2, 5), 0, 255), rand((4 * 3 * (5 + 3 + 2),), -1, 1), rand((1, 2, 3)),
                                                           rand((1, 2, 3)), one(64), one(128)],
                      input_dtypes={i: "float32" for i in range(1, 6)}, dtypes=["uint8"], refuses=False, attrs=attrs, ref=lstm, empty=False,
                      out_dtype="float32", tol={"float32": 2e-5},
                      bad=[dict(attrs=dict(attrs, mode="gru")), dict(attrs=dict(attrs, use_sequence_length=True)), dict(attrs=dict(attrs,
                          num_layers=2))],
                      example="""data = mx.nd.array([[[0, 255]], [[128, 64]]], dtype='uint8')
parameters, state = mx.nd.ones((20,)) * 0.5, mx.nd.zeros((1, 1, 1))
scale, shift = mx.nd.array([100]), mx.nd.array([128])
y = mx.nd.contrib.quantized_rnn(data, parameters, state, state, scale, shift, mode='lstm', state_size=1, num_layers=1)
y.asnumpy().round(3).ravel()"""))


def entropy(hist, edges, num_quantized_bins=255):
    """The threshold of least divergence, and that."""
    def smooth(p):
        empty, full = (p == 0).sum(), (p != 0).sum()
        return None if full == 0 or 1e-4 * empty / full >= 1 else np.where(p == 0, 1e-4, p - 1e-4 * empty / full)

    n, half, found = len(hist), num_quantized_bins // 2, []
    for i in range(half, n // 2 + 1):
        a, b = n // 2 - i, n // 2 + i + 1
        p, s = hist[a:b].copy(), hist[a:b].copy()
        p[0], p[-1], s[0] = hist[:a + 1].sum(), p[-1] + hist[b:].sum(), 0
        q, merged = np.zeros(len(s)), len(s) // num_quantized_bins
        for j in range(num_quantized_bins):
            part = slice(j * merged, len(s) if j == num_quantized_bins - 1 else (j + 1) * merged)
            q[part] = np.where(p[part] != 0, s[part].sum() / max((s[part] != 0).sum(), 1), 0)
        p, q = smooth(p), smooth(q)
        found.append(np.inf if p is None or q is None else (p / p.sum() * np.log((p / p.sum()) / (q / q.sum()))).sum())
    best = int(np.argmin(found))
    return [one(edges[n // 2 + half + best + 1]), one(found[best])]


for bins, quantized in ((3, 3), (9, 3), (21, 5), (101, 7)):
    histogram = np.histogram(np.random.default_rng(bins).normal(size=500), bins, (-3, 3))[0].astype("float64")
    CASES.append(dict(op=["_contrib_calibrate_entropy", "_npx_contrib_calibrate_entropy"], inputs=[histogram,
        np.arange(bins + 1) - bins / 2],
                      dtypes=["float32"], attrs=dict(num_quantized_bins=quantized), ref=entropy, empty=False, tol={"float32": 2e-4},
                      bad=[dict(attrs=dict(num_quantized_bins=bins + 2)), dict(attrs=dict(num_quantized_bins=2)),
                          dict(attrs=dict(num_quantized_bins=0)),
                           dict(inputs=[(9,), (9,)]), dict(inputs=[(8,), (9,)])],
                      example="""hist, edges = mx.nd.array([1, 5, 9, 4, 1]), mx.nd.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5])
threshold, divergence = mx.nd.contrib.calibrate_entropy(hist, edges, num_quantized_bins=3)
threshold.asnumpy()"""))
