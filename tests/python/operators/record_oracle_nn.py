"""Records what mxnet 1.9.1 computes for neural network operators whose conventions a formula does
not settle, into data/nn_oracle.npz.

Run with the Python that has the old wheel: PYTHON tests/python/operators/record_oracle_nn.py,
PYTHON an interpreter with mxnet==1.9.1 A case is (operator, inputs, attributes, indices of inputs
with gradients). All runs are in training mode; head gradients are all 0.5.
"""
import json
import os
import pathlib

os.environ["MXNET_MKLDNN_ENABLED"] = "0"   # its plain kernels: the others refuse some of the cases
os.environ["MXNET_STORAGE_FALLBACK_LOG_VERBOSE"] = "0"

import mxnet as mx  # noqa: E402
import numpy as np  # noqa: E402

rng = np.random.RandomState(20)


def u(*shape, low=-1.0, high=1.0):
    return rng.uniform(low, high, shape).astype("float32")


def labels(high, *shape):
    return rng.randint(0, high, shape).astype("float32")


image = u(2, 3, 7, 6)
bn = [u(3, 4, 2, 2, high=2), u(4, low=0.5, high=1.5), u(4), u(4, low=-0.5, high=0.5), u(4, low=0.5, high=2)]
scores, picks = u(4, 5, low=-2, high=2), np.array([0, 3, -1, 2], "float32")
maps, map_labels = u(2, 4, 3, 2, low=-2, high=2), labels(4, 2, 3, 2)
CASES = [("Pooling", [image], dict(kernel=(3, 2), stride=(2, 2), pad=(1, 1), pool_type=t, pooling_convention=c, count_include_pad=i), [0])
         for t in ("max", "avg", "sum") for c in ("valid", "full") for i in (True, False)]
CASES += [("Pooling", [image], dict(kernel=(2, 2), stride=(2, 2), pool_type="lp", p_value=2), [0]),
          ("Pooling", [u(2, 3, 7)], dict(kernel=(3,), stride=(2,), pooling_convention="full"), [0]),
          ("Pooling", [image], dict(global_pool=True, pool_type="avg", kernel=(2, 2)), [0])]
CASES += ([("BatchNorm", bn, dict(fix_gamma=f, use_global_stats=g, momentum=0.7, eps=0.01),
            [0, 1, 2]) for f in (True, False) for g in (True, False)])
CASES += [("BatchNorm", [u(3, 2, 4)] + bn[1:], dict(axis=2, fix_gamma=False), [0, 1, 2])]
CASES += ([("SoftmaxOutput", [scores, picks], dict(normalization=n, use_ignore=i, grad_scale=1.5),
            [0]) for n in ("null", "batch", "valid") for i in (True, False)])
CASES += ([("SoftmaxOutput", [maps, map_labels],
            dict(multi_output=True, normalization=n, use_ignore=True, ignore_label=1), [0])
           for n in ("null", "batch", "valid")])
CASES += [("SoftmaxOutput", [scores, picks], dict(smooth_alpha=0.2), [0]),
          ("SoftmaxOutput", [scores, u(4, 5, low=0)], dict(normalization="batch"), [0]),
          ("SoftmaxOutput", [u(2, 3, 4), labels(4, 2, 3)], dict(preserve_shape=True, normalization="batch"), [0])]
CASES += [(op, [u(4, 3), u(4, 3)], dict(grad_scale=2.0), [0])
          for op in ("LinearRegressionOutput", "LogisticRegressionOutput", "MAERegressionOutput")]
CASES += [("LinearRegressionOutput", [u(4, 1), u(4)], {}, [0])]
CASES += [("SVMOutput", [scores, labels(5, 4)],
           dict(margin=0.7, regularization_coefficient=0.5, use_linear=linear), [0]) for linear in (True, False)]
CASES += [("LeakyReLU", [u(3, 4, low=-3, high=3)], dict(act_type=t), [0]) for t in ("leaky", "elu", "gelu")]
CASES += [("Embedding", [np.array([-1, 0, 1.9, 3, 7], "float32"), u(4, 3)], dict(input_dim=4, output_dim=3), [1]),
          ("softmax", [maps], dict(axis=1, temperature=2.5), [0]),
          ("log_softmax", [maps], dict(axis=2, temperature=0.5), [0]), ("softmin", [maps], {}, [0]),
          ("softmax_cross_entropy", [scores, labels(5, 4)], {}, [0]),
          ("Deconvolution", [u(1, 3, 3, 3), u(3, 2, 4, 4)], dict(kernel=(4, 4), num_filter=2, stride=(2, 2), target_shape=(7, 6)), [0, 1]),
          ("Deconvolution", [u(1, 4, 3, 3), u(4, 1, 3, 3), u(2)],
           dict(kernel=(3, 3), num_filter=2, num_group=2, stride=(2, 2), pad=(1, 1), adj=(1, 0),
                no_bias=False), [0, 1, 2]),
          ("Convolution", [image, u(4, 3, 3, 3), u(4)],
           dict(kernel=(3, 3), num_filter=4, stride=(2, 1), pad=(1, 0), dilate=(1, 2)), [0, 1, 2]),
          ("LRN", [u(1, 5, 2, 2)], dict(nsize=3, alpha=0.5, beta=0.75, knorm=2), [0]),
          ("GroupNorm", [u(2, 4, 3), u(2), u(2)], dict(num_groups=2), [0, 1, 2]),
          ("LayerNorm", [u(2, 4, 3), u(4), u(4)], dict(axis=1), [0, 1, 2]),
          ("InstanceNorm", [u(2, 4, 3), u(4), u(4)], {}, [0, 1, 2]),
          ("UpSampling", [u(1, 2, 3, 3), u(2, 1, 4, 4)], dict(scale=2, sample_type="bilinear", num_filter=2, num_args=2), [0, 1]),
          ("CTCLoss", [u(4, 2, 5), np.array([[1, 2, 0], [3, 0, 0]], "float32")], {}, [0])]

stored, meta = {}, []
for number, (op, inputs, attrs, grads) in enumerate(CASES):
    arrays = [mx.nd.array(a) for a in inputs]
    for i in grads:
        arrays[i].attach_grad()
    with mx.autograd.record():
        outs = getattr(mx.nd, op)(*arrays, **attrs)
    outs = list(outs) if isinstance(outs, (list, tuple)) else [outs]
    mx.autograd.backward(outs, [mx.nd.full(o.shape, 0.5) for o in outs])
    meta.append({"op": op, "attrs": attrs, "grads": grads, "inputs": len(inputs), "outputs": len(outs)})
    for kind, values in (("in", inputs), ("out", [o.asnumpy() for o in outs]), ("grad", [arrays[i].grad.asnumpy() for i in grads]),
                         ("aux", [a.asnumpy() for a in arrays[3:]] if op == "BatchNorm" else [])):
        for i, value in enumerate(values):
            stored[f"{number}_{kind}{i}"] = value
np.savez_compressed(pathlib.Path(__file__).parents[1] / "data" / "nn_oracle.npz", meta=json.dumps(meta), **stored)
print(len(CASES), "cases")
