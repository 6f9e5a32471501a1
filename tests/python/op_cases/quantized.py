"""Operators of 8-bit integers."""
import numpy as np

from op_cases import ints, rand

CASES = []
BYTES = np.random.default_rng(3).integers(-128, 128, (3, 40)).astype("float64")
WEIGHT = np.random.default_rng(4).integers(-128, 128, (5, 40)).astype("float64")
FLOATS_IN = np.random.default_rng(5).uniform(-3, 3, (3, 40)).astype("float32").astype("float64")


def bytes_of(x, largest):
    return np.clip(np.rint(np.float32(x) * (np.float32(127) / np.float32(largest))), -127, 127)


def dense(x, weight, *others, num_hidden, no_bias=False, flatten=True, out_type="float32"):
    x = x.reshape(len(x), -1) if flatten else x
    sums = x @ weight.T
    if out_type == "float32":
        sums = sums * others[0][0]
    return sums if no_bias else sums + others[-1]


def _add(op, names=("_contrib_", "_npx_"), bad=(), **more):
    CASES.append(dict(op=[name + op for name in names], refuses=False, empty=more.pop("empty", False), bad=list(bad), **more))


_add("intgemm_maxabsolute", inputs=[rand((4, 5))], dtypes=["float32"], ref=lambda x: np.abs(x).max().reshape(1))
_add("intgemm_maxabsolute", inputs=[np.array([1, np.nan, -2])], dtypes=["float32"], ref=lambda x: np.array([2.]))
_add("intgemm_maxabsolute", inputs=[rand((70001,), -1, 1)], dtypes=["float32"], ref=lambda x: np.abs(x).max().reshape(1))
_add("intgemm_prepare_data", inputs=[rand((3, 7)), np.array([1.25])], dtypes=["float32"], out_dtype="int8", ref=bytes_of,
     bad=[dict(inputs=[(3, 7), (2,)])])
_add("intgemm_prepare_data", inputs=[np.array([.5, 1.5, 2.5, -.5, -1.5, 300, -300, np.nan, np.inf, -np.inf]), np.array([127.])],
     dtypes=["float32"], out_dtype="int8", ref=lambda x, m: np.array([0, 2, 2, 0, -2, 127, -127, 0, 127, -127]))
_add("intgemm_prepare_data", inputs=[np.array([0, 1., -1]), np.array([0.])], dtypes=["float32"], out_dtype="int8",
     ref=lambda x, m: np.array([0, 127, -127]))
_add("intgemm_prepare_weight", inputs=[rand((5, 64)), np.array([2.])], dtypes=["float32"], out_dtype="int8", ref=bytes_of)
_add("intgemm_prepare_weight", inputs=[ints((5, 64), -128, 127)], attrs=dict(already_quantized=True), dtypes=["int8"],
     ref=lambda x, **kw: x)
_add("intgemm_take_weight", inputs=[ints((5, 64), -128, 127), np.array([4, 0, 4, 2])], dtypes=["int8"], input_dtypes={1: "int32"},
     example="""weight = mx.nd.array([[1, 2], [3, 4], [5, 6]], dtype='int8')
mx.nd.contrib.intgemm_take_weight(weight, mx.nd.array([2, 0], dtype='int32')).asnumpy()""",
     ref=lambda x, i: x[i.astype(int)], bad=[dict(inputs=[np.ones((2, 3)), np.array([0, 2])]), dict(inputs=[(2, 3, 4), (2,)])])
_add("intgemm_fully_connected", inputs=[BYTES, WEIGHT, np.array([.01]), rand((5,))], attrs=dict(num_hidden=5), dtypes=["int8"],
     input_dtypes={2: "float32", 3: "float32"}, out_dtype="float32", ref=dense,
     example="""data, weight = mx.nd.array([[0.5, 1]]), mx.nd.array([[1, 0], [1, 2]])
largest = [mx.nd.contrib.intgemm_maxabsolute(x) for x in (data, weight)]
data = mx.nd.contrib.intgemm_prepare_data(data, largest[0])
weight = mx.nd.contrib.intgemm_prepare_weight(weight, largest[1])
scaling = largest[0] * largest[1] / 127 ** 2
mx.nd.contrib.intgemm_fully_connected(data, weight, scaling, num_hidden=2, no_bias=True).asnumpy().round(1)""",
     bad=[dict(attrs=dict(num_hidden=4)), dict(attrs=dict(num_hidden=0)), dict(attrs=dict(out_type="int8", num_hidden=5))])
_add("intgemm_fully_connected", inputs=[BYTES.reshape(3, 5, 8), WEIGHT, np.array([.01])], attrs=dict(num_hidden=5, no_bias=True),
     dtypes=["int8"], input_dtypes={2: "float32"}, out_dtype="float32", ref=dense)
_add("intgemm_fully_connected", inputs=[BYTES, WEIGHT, ints((5,), -9, 9)], attrs=dict(num_hidden=5, out_type="int32"),
     dtypes=["int8"], input_dtypes={2: "int32"}, out_dtype="int32", ref=dense)
_add("intgemm_fully_connected", inputs=[FLOATS_IN, WEIGHT, np.array([.01])], attrs=dict(num_hidden=5, no_bias=True),
     dtypes=["float32"], input_dtypes={1: "int8"}, tol=4,
     ref=lambda x, w, s, **kw: bytes_of(x, np.abs(x).max()) @ w.T * s[0] * np.abs(x).max() / 127)
_add("intgemm_fully_connected", inputs=[np.full((2, 70000), -128.), np.full((3, 70000), -128.)],     # sums that 16 bits cannot hold
     attrs=dict(num_hidden=3, no_bias=True, out_type="int32"), dtypes=["int8"], out_dtype="int32", ref=dense)
_add("intgemm_fully_connected", inputs=[ints((2, 67, 33), -128, 127), ints((70, 33), -128, 127)],
     attrs=dict(num_hidden=70, no_bias=True, out_type="int32", flatten=False), dtypes=["int8"], out_dtype="int32", ref=dense)
