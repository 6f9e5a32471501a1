"""Records what mxnet 1.9.1 or 2.0 computes with operators on 8-bit integers, into
data/quantized_oracle_1.9.1.npz or data/quantized_oracle_2.0.npz.

Run with the Pythons that have the old wheels:
PYTHON tests/python/operators/record_oracle_quantized.py. A case is (operator, inputs, attributes).
2.0 does what 1.9.1 has no kernel or no shapes for.
"""
import json
import os
import pathlib

os.environ["MXNET_STORAGE_FALLBACK_LOG_VERBOSE"] = "0"

import mxnet as mx  # noqa: E402
import numpy as np  # noqa: E402

OLD = mx.__version__.startswith("1.")
rng = np.random.RandomState(31)


def ends(*values):
    return [np.array([v], "float32") for v in values]


def i8(*shape):
    return rng.randint(-128, 128, shape).astype("int8")


def u8(*shape):
    return rng.randint(0, 256, shape).astype("uint8")


line = np.linspace(-1.6, 1.6, 400).astype("float32").reshape(4, 100)
sums = rng.randint(-2 ** 31, 2 ** 31, (6, 70), dtype="int64").astype("int32")
CASES = []
for kind in ("int8", "uint8"):
    for low, high in ((-1, 1.5), (0, 1.1), (1.2, -0.5)):
        CASES += [("quantize", [line] + ends(low, high), dict(out_type=kind)),
                  ("quantize_v2", [line], dict(out_type=kind, min_calib_range=low, max_calib_range=high)),
                  ("dequantize", [(i8 if kind == "int8" else u8)(3, 50)] + ends(low, high), {}),
                  ("requantize", [sums] + ends(low, high), dict(out_type=kind, min_calib_range=low / 2.0, max_calib_range=high / 3.0))]
    CASES += [("quantize_v2", [line], dict(out_type=kind)), ("requantize", [sums // 5] + ends(-0.7, 0.3), dict(out_type=kind)),
              ("quantize_v2", [line[:, 60:]], dict(out_type="auto", min_calib_range=0 if kind == "uint8" else -1, max_calib_range=1.5))]
CASES += [("quantized_flatten", [i8(2, 3, 4)] + ends(-1, 2), {}), ("quantized_act", [i8(3, 20)] + ends(-1, 2), dict(act_type="relu"))]
for a, b, low in ((i8, i8, -2), (u8, u8, 0), (u8, i8, -1), (i8, u8, -3)):
    CASES += [("quantized_concat", [a(2, 60), b(2, 40)] + ends(min(low, 0), 2, -1 if b is i8 else 0, 3), dict(num_args=2, dim=1))]
CASES += [("quantized_embedding", [np.array([0, 2, 9, -1], "float32"), i8(4, 6)] + ends(-1, 2), dict(input_dim=4, output_dim=6))]
for make, low in ((i8, -1), (u8, 0)):
    CASES += [("quantized_fully_connected", [make(3, 50), i8(7, 50)] + ends(low, 2, -3, 0.5), dict(num_hidden=7, no_bias=True)),
              ("quantized_fully_connected", [make(3, 50), i8(7, 50), i8(7)] + ends(low, 2, -3, 0.5, -5, 7), dict(num_hidden=7)),
              ("quantized_fully_connected", [make(2, 3, 4), i8(7, 4)] + ends(low, 2, -3, 0.5),
               dict(num_hidden=7, no_bias=True, flatten=False))]
    for pool_type in ("max", "avg"):
        CASES += [("quantized_pooling", [make(2, 3, 7, 6)] + ends(low, 2), dict(kernel=(3, 2), stride=(2, 2), pad=(1, 1),
            pool_type=pool_type)),
                  ("quantized_pooling", [make(2, 3, 5, 5)] + ends(low, 2), dict(kernel=(2, 2), global_pool=True, pool_type=pool_type))]
CASES += [("quantized_pooling", [u8(2, 3, 7, 6)] + ends(0, 2), dict(kernel=(3, 2), pad=(1, 1), pool_type="avg", count_include_pad=False)),
          ("quantized_batch_norm", [i8(3, 4, 5, 5), np.ones(4, "float32") * 1.5, np.ones(4, "float32") * 0.8, np.zeros(4, "float32"),
                                    np.ones(4, "float32") * 0.5] + ends(-1, 2), dict(eps=0.001, min_calib_range=-4, max_calib_range=5)),
          ("quantized_elemwise_add", [i8(4, 30), i8(4, 30)] + ends(-1, 2, -3, 3), {}),
          ("quantized_elemwise_add", [u8(4, 30), u8(4, 30)] + ends(0, 2, 0, 3), dict(min_calib_range=0, max_calib_range=4.3)),
          ("quantize_asym", [line.reshape(2, 2, 100)], {}),
          ("quantize_asym", [line.reshape(2, 2, 100)], dict(min_calib_range=-1, max_calib_range=1.3))]
HISTOGRAM, EDGES = np.histogram(rng.normal(size=5000), 401, (-4, 4))
CASES += [("calibrate_entropy", [HISTOGRAM.astype("float32"), EDGES.astype("float32")], dict(num_quantized_bins=n)) for n in (255, 127, 63)]
if not OLD:     # what 1.9.1 has not, or refuses
    CASES = [("quantized_conv", [i8(2, 4, 6, 5), i8(8, 4, 3, 3)] + ends(-1, 2, -3, 0.5), dict(kernel=(3, 3), num_filter=8, no_bias=True,
        pad=(1, 1))),
             ("quantized_conv", [i8(1, 4, 3, 6, 5), i8(8, 4, 2, 3, 3)] + ends(-1, 2, -3, 0.5), dict(kernel=(2, 3, 3), num_filter=8,
                 no_bias=True)),
             ("quantized_transpose", [u8(2, 3, 4)] + ends(0, 2), dict(axes=(2, 0, 1))),
             ("quantized_reshape", [i8(2, 3, 4)] + ends(-1, 2), dict(shape=(0, -1))),
             ("quantized_elemwise_mul", [i8(4, 30), i8(4, 30)] + ends(-1, 2, -3, 3), {}),
             ("quantized_elemwise_mul", [i8(4, 30), i8(4, 30)] + ends(-1, 2, -3, 3), dict(min_calib_range=-8, max_calib_range=8)),
             ("quantized_elemwise_mul", [i8(4, 30), i8(4, 30)] + ends(-1, 2, -3, 3), dict(enable_float_output=True))]

found, meta = {}, []
for number, (op, inputs, attrs) in enumerate(CASES):
    outs = getattr(mx.nd.contrib, op)(*[mx.nd.array(x, dtype=x.dtype) for x in inputs], **attrs)
    outs = outs if isinstance(outs, (list, tuple)) else [outs]
    found.update({f"{number}_in{i}": x for i, x in enumerate(inputs)})
    found.update({f"{number}_out{i}": o.asnumpy() for i, o in enumerate(outs)})
    meta.append(dict(op=op, attrs=attrs, inputs=len(inputs), outputs=len(outs)))
folder = pathlib.Path(__file__).parents[1] / "data"
np.savez_compressed(folder / f"quantized_oracle_{'1.9.1' if OLD else '2.0'}.npz", meta=json.dumps(meta), **found)
