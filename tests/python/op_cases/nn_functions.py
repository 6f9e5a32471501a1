"""Activations, dropout, softmax family, normalizations."""
import numpy as np

from op_cases import rand

def f32(value):
    """Parameters of the operators are single precision."""
    return float(np.float32(value))


HALF_TOL = {"float64": 1e-11, "float32": 5e-6, "float16": 4e-3, "bfloat16": 3e-2}
# no element near the bends of the functions
SIGNED = np.array([[-3.0, -1.25, -0.25, 0.5], [0.125, 2.0, 1.5, -0.75]])


def _erf(x):
    from math import erf
    return np.vectorize(erf)(x)


ACTIVATIONS = {
    "relu": lambda x: np.maximum(x, 0), "sigmoid": lambda x: 1 / (1 + np.exp(-x)), "tanh": np.tanh,
    "softrelu": lambda x: np.log1p(np.exp(-np.abs(x))) + np.maximum(x, 0), "softsign": lambda x: x / (1 + np.abs(x)),
    "log_sigmoid": lambda x: -np.log1p(np.exp(-x)), "mish": lambda x: x * np.tanh(np.log1p(np.exp(x)))}


def leaky(x, gamma=None, act_type="leaky", slope=0.25, lower_bound=0.125, upper_bound=0.334):
    if act_type == "prelu":
        shape = (1, -1) + (1,) * (x.ndim - 2) if gamma.size > 1 else (1,) * x.ndim
        return np.where(x > 0, x, x * gamma.reshape(shape))
    if act_type == "elu":
        return np.where(x > 0, x, f32(slope) * np.expm1(x))
    if act_type == "selu":
        return 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(x))
    if act_type == "gelu":
        return 0.5 * x * (1 + _erf(x / np.sqrt(2)))
    return np.where(x > 0, x, x * f32(slope))


def softmax(x, length=None, axis=-1, temperature=None, use_length=False, sign=1, dtype=None, mask=None):
    x = sign * x / (temperature or 1.0)
    keep = np.ones(x.shape, bool) if mask is None else np.broadcast_to(mask != 0, x.shape)
    if length is not None:
        n = np.arange(x.shape[axis]).reshape([-1 if i == axis % x.ndim else 1 for i in range(x.ndim)])
        keep = keep & (n < np.expand_dims(length, axis))
    top = np.max(np.where(keep, x, -np.inf), axis=axis, keepdims=True, initial=-1e300)
    e = np.where(keep, np.exp(x - top), 0)
    total = e.sum(axis=axis, keepdims=True)
    return e / np.where(total == 0, 1, total)


def log_softmax(x, axis=-1, temperature=None, **_):
    x = x / (temperature or 1.0)
    if x.size == 0:
        return x
    top = x.max(axis, keepdims=True)
    return x - top - np.log(np.exp(x - top).sum(axis, keepdims=True))


def masked_softmax(x, mask, axis=-1, temperature=None, normalize=True):
    return softmax(x, axis=axis, temperature=temperature, mask=mask)


def masked_log_softmax(x, mask, axis=-1, temperature=None, normalize=True):
    with np.errstate(divide="ignore"):
        return np.log(softmax(x, axis=axis, temperature=temperature, mask=mask))


def softmax_activation(x, mode="instance"):
    return softmax(x, axis=1 if mode == "channel" else -1)


def softmax_output(x, label=None, multi_output=False, **_):
    return softmax(x, axis=1 if multi_output else -1)


def batch_norm(x, gamma, beta, mean, var, eps=1e-3, fix_gamma=True, axis=1, output_mean_var=False, **_):
    shape = [-1 if i == axis % x.ndim else 1 for i in range(x.ndim)]
    eps = f32(eps)
    gamma = np.ones_like(gamma) if fix_gamma else gamma
    y = (x - mean.reshape(shape)) / np.sqrt(var.reshape(shape) + eps) * gamma.reshape(shape) + beta.reshape(shape)
    return [y, mean, 1 / np.sqrt(var + eps)] if output_mean_var else y


def batch_norm_train(x, gamma, beta, mean, var, axis=1, **attrs):
    axes = tuple(i for i in range(x.ndim) if i != axis % x.ndim)
    return batch_norm(x, gamma, beta, x.mean(axes), x.var(axes), axis=axis, **attrs)


def layer_norm(x, gamma, beta, axis=-1, eps=1e-5, output_mean_var=False):
    mean, std = x.mean(axis, keepdims=True), np.sqrt(x.var(axis, keepdims=True) + f32(eps))
    shape = [-1 if i == axis % x.ndim else 1 for i in range(x.ndim)]
    y = (x - mean) / std * gamma.reshape(shape) + beta.reshape(shape)
    return [y, mean, std] if output_mean_var else y


def group_norm(x, gamma, beta, num_groups=1, eps=1e-5, output_mean_var=False):
    groups = x.reshape(x.shape[0], num_groups, -1)
    mean, std = groups.mean(-1), np.sqrt(groups.var(-1) + f32(eps))
    y = ((groups - mean[..., None]) / std[..., None]).reshape(x.shape)
    if gamma.size != x.shape[1]:
        gamma, beta = (np.repeat(a, x.shape[1] // num_groups) for a in (gamma, beta))
    shape = (1, -1) + (1,) * (x.ndim - 2)
    y = y * gamma.reshape(shape) + beta.reshape(shape)
    return [y, mean, std] if output_mean_var else y


def instance_norm(x, gamma, beta, eps=1e-3):
    axes = tuple(range(2, x.ndim))
    shape = (1, -1) + (1,) * (x.ndim - 2)
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + f32(eps)) * gamma.reshape(shape) + beta.reshape(shape)


def lrn(x, nsize=5, alpha=1e-4, beta=0.75, knorm=2):
    half = (nsize - 1) // 2
    square = np.pad(x ** 2, [(0, 0), (half, half)] + [(0, 0)] * (x.ndim - 2))
    total = sum(square[:, i:i + x.shape[1]] for i in range(2 * half + 1))
    return x / (knorm + f32(alpha) / nsize * total) ** beta


def _check_dropout(outs, inputs, attrs):
    x, y = inputs[0], outs[0]
    kept = y != 0
    assert 0.3 < kept.mean() < 0.7, kept.mean()
    np.testing.assert_allclose(y[kept], 2 * x[kept], rtol=2e-2)
    for axis in attrs.get("axes", ()):
        assert (kept == np.take(kept, [0], axis)).all()


def _check_rrelu(outs, inputs, attrs):
    x, y = inputs[0], outs[0]
    slope = np.where(x > 0, 0.2, y / x)
    assert (slope >= 0.1 - 1e-2).all() and (slope <= 0.4 + 1e-2).all()
    assert slope[x < 0].std() > 0.02
    np.testing.assert_allclose(y[x > 0], x[x > 0], rtol=1e-2)


BN = [rand((3, 4, 2, 2), -1, 2), rand((4,), 0.5, 1.5), rand((4,), -1, 1), rand((4,), -0.5, 0.5), rand((4,), 0.5, 2)]
BN_OWN = {1: "float32", 2: "float32", 3: "float32", 4: "float32"}

CASES = []
for _type, _ref in ACTIVATIONS.items():
    CASES.append({"op": "Activation", "inputs": [SIGNED], "attrs": {"act_type": _type},
                  "ref": lambda x, act_type: ACTIVATIONS[act_type](x), "grad": True,
                  "grad2": True, "tol": HALF_TOL, "bad": [{"attrs": {}}, {"attrs": {"act_type": "cube"}}]})
for _attrs in ({}, {"slope": 0.1}, {"act_type": "elu"}, {"act_type": "elu", "slope": 1.0}, {"act_type": "selu"}, {"act_type": "gelu"}):
    CASES.append({"op": "LeakyReLU", "inputs": [SIGNED], "attrs": _attrs, "ref": leaky,
                  "grad": True, "tol": HALF_TOL, "bad": [{"attrs": {"act_type": "cube"}}],
                  "empty": None if _attrs.get("act_type") != "gelu" else False})

CASES += [
    {"op": "LeakyReLU", "inputs": [SIGNED.reshape(2, 2, 2), np.array([0.125, 0.5])],
     "attrs": {"act_type": "prelu"}, "ref": leaky, "grad": True, "tol": HALF_TOL,
     "bad": [{"inputs": [SIGNED, np.array([0.1, 0.2, 0.3])]}]},
    {"op": "LeakyReLU", "inputs": [SIGNED, np.array([0.125])], "attrs": {"act_type": "prelu"}, "ref": leaky, "grad": True, "tol": HALF_TOL},
    {"op": "LeakyReLU", "inputs": [rand((200,), -2, 2)],
     "attrs": {"act_type": "rrelu", "lower_bound": 0.1, "upper_bound": 0.4}, "check": _check_rrelu,
     "train": True},
    {"op": "Dropout", "inputs": [rand((40, 50), 0.5, 1.5)], "check": _check_dropout, "train": True,
     "bad": [{"attrs": {"p": 1.5}}, {"attrs": {"p": -0.1}}, {"attrs": {"axes": (5,)}}]},
    {"op": "Dropout", "inputs": [rand((40, 500), 0.5, 1.5)], "attrs": {"mode": "always", "axes": (0,)}, "check": _check_dropout},
    {"op": "Dropout", "inputs": [rand((40, 50), 0.5, 1.5)], "ref": lambda x: x},
    {"op": "softmax", "inputs": [rand((3, 4, 5), -2, 2)], "ref": softmax, "grad": True,
     "grad2": True, "tol": HALF_TOL, "bad": [{"attrs": {"axis": 3}}]},
    {"op": "softmax", "inputs": [rand((3, 4, 5), -2, 2)], "attrs": {"axis": 1, "temperature": 2.5},
     "ref": softmax, "grad": True, "grad2": True, "tol": HALF_TOL},
    {"op": "softmax", "inputs": [rand((2, 3, 4), -2, 2), np.array([[1, 2, 3, 0], [3, 3, 2, 1]])],
     "input_dtypes": {1: "int32"}, "attrs": {"axis": 1, "use_length": True},
     "ref": softmax, "grad": [0], "tol": HALF_TOL, "empty": [(0, 3, 4), (0, 4)]},
    {"op": "softmax", "inputs": [rand((2, 3, 9), -2, 2), np.array([[1, 9, 12], [0, 4, 8]])],
     "input_dtypes": {1: "int32"}, "attrs": {"use_length": True},
     "ref": softmax, "grad": [0], "tol": HALF_TOL, "empty": [(0, 3, 9), (0, 3)]},
    # so many short rows that they are computed as columns, 64 at a time
    {"op": "softmax", "inputs": [rand((70, 5), -2, 2)], "ref": softmax, "grad": True, "tol": HALF_TOL},
    {"op": "softmax", "inputs": [rand((13, 24), -2, 2), np.arange(13) * 2], "attrs": {"use_length": True},
     "input_dtypes": {1: "int32"}, "ref": softmax, "grad": [0], "tol": HALF_TOL, "empty": [(0, 24), (0,)]},
    {"op": "log_softmax", "inputs": [rand((70, 5), -2, 2)], "attrs": {"temperature": 0.5}, "ref": log_softmax, "grad": True,
     "tol": HALF_TOL},
    {"op": "softmax", "inputs": [rand((3, 4), -2, 2)], "attrs": {"dtype": "float64"},
     "ref": softmax, "out_dtype": "float64", "grad": True, "grad2": True, "tol": {"float64": 1e-11}},
    {"op": "log_softmax", "inputs": [rand((3, 4, 5), -2, 2)], "ref": log_softmax, "grad": True, "grad2": True, "tol": HALF_TOL},
    {"op": "log_softmax", "inputs": [rand((3, 4, 5), -2, 2)],
     "attrs": {"axis": 0, "temperature": 0.5}, "ref": log_softmax, "grad": True, "grad2": True,
     "tol": HALF_TOL},
    {"op": "softmin", "inputs": [rand((3, 4, 5), -2, 2)], "attrs": {"axis": -2}, "ref": lambda x,
     axis: softmax(x, axis=axis, sign=-1), "grad": True, "grad2": True,
     "tol": HALF_TOL},
    {"op": "SoftmaxActivation", "inputs": [rand((3, 4, 5), -2, 2)], "ref": softmax_activation,
     "grad": True, "tol": HALF_TOL, "empty": False},
    {"op": "SoftmaxActivation", "inputs": [rand((3, 4, 5), -2, 2)], "attrs": {"mode": "channel"},
     "ref": softmax_activation, "grad": True, "tol": HALF_TOL, "empty": False},
    {"op": "masked_softmax", "inputs": [rand((3, 4, 5), -2, 2),
                                        np.array([[1, 1, 0, 1, 0], [0, 0, 0, 0, 0], [1, 0, 0, 0, 0],
                                                  [1, 1, 1, 1, 1]])], "input_dtypes": {1: "bool"},
     "ref": masked_softmax, "grad": [0], "grad2": True, "tol": HALF_TOL, "bad": [{"inputs": [(3, 4, 5), (2, 5)]}]},
    {"op": "masked_log_softmax", "inputs": [rand((3, 4, 5), -2, 2),
                                            np.array([[1, 1, 0, 1, 0]] * 4)],
     "input_dtypes": {1: "bool"}, "ref": masked_log_softmax, "tol": HALF_TOL},
    {"op": "masked_log_softmax", "inputs": [rand((3, 4, 5), -2, 2), np.array([[1, 1, 1, 1, 1]] * 4)],
     "input_dtypes": {1: "bool"}, "ref": masked_log_softmax, "attrs": {"temperature": 3}, "tol": HALF_TOL,
     "grad": [0], "grad2": True},
    {"op": "softmax_cross_entropy", "inputs": [rand((4, 5), -2, 2), np.array([0, 3, 4, 1])],
     "input_dtypes": {1: "int32"}, "grad": [0], "grad2": True, "tol": HALF_TOL,
     "ref": lambda x, label: -np.log(softmax(x)[np.arange(4), label]).sum().reshape(1),
     "empty": False, "bad": [{"inputs": [(4, 5), (3,)]}, {"inputs": [(4, 5, 2), (4,)]}]},
    {"op": "SoftmaxOutput", "inputs": [rand((4, 5), -2, 2), np.array([0, 3, 4, 1])],
     "ref": softmax_output, "tol": HALF_TOL, "empty": [(0, 5), (0,)],
     "bad": [{"inputs": [(4, 5), (3,)]}, {"attrs": {"normalization": "none"}}]},
    {"op": "SoftmaxOutput", "inputs": [rand((4, 5, 3), -2, 2), np.zeros((4, 3))],
     "attrs": {"multi_output": True}, "ref": softmax_output, "tol": HALF_TOL},
    {"op": ["LinearRegressionOutput", "MAERegressionOutput"], "inputs": [(4, 5), (4, 5)],
     "ref": lambda x, label: x, "bad": [{"inputs": [(4, 5), (4, 4)]}]},
    {"op": "LogisticRegressionOutput", "inputs": [rand((4, 5), -2, 2), (4, 5)], "ref": lambda x,
     label: 1 / (1 + np.exp(-x)), "tol": HALF_TOL},
    {"op": "SVMOutput", "inputs": [(4, 5), np.array([0, 3, 4, 1])], "ref": lambda x, label: x,
     "empty": [(0, 5), (0,)], "bad": [{"inputs": [(4, 5), (3,)]}]},
    {"op": "BatchNorm", "inputs": BN, "input_dtypes": {}, "dtypes": ["float32", "float64"],
     "refuses": False, "ref": batch_norm, "tol": HALF_TOL,
     "empty": [(0, 4, 2, 2), (4,), (4,), (4,), (4,)], "bad": [{"attrs": {"axis": 4}}, {"inputs": [(3, 4, 2, 2), (3,), (4,), (4,), (4,)]}]},
    {"op": "BatchNorm", "inputs": BN, "input_dtypes": BN_OWN, "dtypes": ["float16", "bfloat16"],
     "attrs": {"fix_gamma": False}, "ref": batch_norm, "tol": HALF_TOL,
     "refuses": False},
    {"op": "BatchNorm", "inputs": BN, "dtypes": ["float32", "float64"], "refuses": False,
     "attrs": {"fix_gamma": False, "output_mean_var": True}, "ref": batch_norm,
     "tol": HALF_TOL},
    {"op": "BatchNorm", "inputs": BN, "dtypes": ["float32", "float64"], "refuses": False,
     "attrs": {"fix_gamma": False}, "train": True, "ref": batch_norm_train,
     "grad": [0, 1, 2], "grad2": True, "tol": HALF_TOL},
    {"op": "BatchNorm", "inputs": [rand((3, 2, 4), -1, 2)] + BN[1:],
     "dtypes": ["float32", "float64"], "refuses": False, "attrs": {"axis": -1, "fix_gamma": False},
     "train": True, "ref": batch_norm_train, "grad": [0, 1, 2], "grad2": True, "tol": HALF_TOL},
    {"op": "BatchNorm", "inputs": BN, "dtypes": ["float32", "float64"], "refuses": False,
     "attrs": {"use_global_stats": True}, "train": True, "ref": batch_norm,
     "grad": [0, 2], "grad2": True, "tol": HALF_TOL},
    {"op": "_batch_norm_of_the_batch", "inputs": [(3, 4)], "ref": lambda x: 0 * x, "refuses": False},
    {"op": "_batch_norm_of_the_batch", "inputs": [(3, 4)], "ref": lambda x: x, "train": True, "grad": True,
     "grad2": True, "refuses": False},
    {"op": "_batch_norm_of_the_batch", "inputs": [(3, 4)], "attrs": {"use_global_stats": True},
     "ref": lambda x, use_global_stats: 0 * x, "train": True, "grad": True, "refuses": False},
    {"op": "_contrib_BatchNormWithReLU", "inputs": BN, "dtypes": ["float32", "float64"],
     "refuses": False, "attrs": {"fix_gamma": False}, "train": True, "grad": [0, 1, 2], "grad2": True,
     "ref": lambda *a, **k: np.maximum(batch_norm_train(*a, **k), 0), "tol": HALF_TOL},
    {"op": "_fused_batch_norm_add_relu", "inputs": BN[:3] + [rand((3, 4, 2, 2), -1, 1)] + BN[3:],
     "dtypes": ["float32", "float64"], "refuses": False, "attrs": {"fix_gamma": False},
     "train": True, "grad": [0, 1, 2, 3], "grad2": True, "tol": HALF_TOL, "ref": lambda x, gamma, beta, addend, *a,
     **k: np.maximum(batch_norm_train(x, gamma, beta, *a, **k) + addend, 0),
     "bad": [{"inputs": [(3, 4, 2, 2), (4,), (4,), (3, 4, 2, 1), (4,), (4,)]}]},
    {"op": "_fused_batch_norm_add_relu", "inputs": BN[:3] + [rand((3, 4, 2, 2), -1, 1)] + BN[3:],
     "input_dtypes": {i: "float32" for i in (1, 2, 4, 5)},
     "dtypes": ["float16", "bfloat16"], "refuses": False, "attrs": {"fix_gamma": False},
     "tol": HALF_TOL, "empty": [(0, 4, 2, 2), (4,), (4,), (0, 4, 2, 2), (4,), (4,)],
     "ref": lambda x, gamma, beta, addend, *a, **k: np.maximum(batch_norm(x, gamma, beta, *a, **k) + addend, 0)},
    {"op": "LayerNorm", "inputs": [rand((3, 4, 5), -1, 2), rand((5,), 0.5, 1.5), rand((5,), -1, 1)],
     "ref": layer_norm, "grad": True, "grad2": True, "tol": HALF_TOL,
     "empty": [(0, 4, 5), (5,), (5,)], "bad": [{"attrs": {"axis": 3}}, {"inputs": [(3, 4, 5), (4,), (5,)]}]},
    {"op": "LayerNorm", "inputs": [rand((3, 4, 5), -1, 2), rand((4,), 0.5, 1.5), rand((4,), -1, 1)],
     "attrs": {"axis": 1, "eps": 0.1, "output_mean_var": True},
     "ref": layer_norm, "tol": HALF_TOL},
    {"op": "LayerNorm", "inputs": [rand((3, 4, 5), -1, 2), rand((4,), 0.5, 1.5), rand((4,), -1, 1)],
     "attrs": {"axis": 1}, "ref": layer_norm, "grad": True, "grad2": True, "tol": HALF_TOL},
    {"op": "GroupNorm", "inputs": [rand((2, 4, 3), -1, 2), rand((2,), 0.5, 1.5), rand((2,), -1, 1)],
     "attrs": {"num_groups": 2}, "ref": group_norm, "grad": True, "grad2": True,
     "tol": HALF_TOL, "bad": [{"attrs": {"num_groups": 3}}]},
    {"op": "GroupNorm", "inputs": [rand((2, 4, 3), -1, 2), rand((4,), 0.5, 1.5), rand((4,), -1, 1)],
     "attrs": {"num_groups": 2, "output_mean_var": True},
     "ref": group_norm, "tol": HALF_TOL},
    {"op": "GroupNorm", "inputs": [rand((2, 4, 3), -1, 2), rand((4,), 0.5, 1.5), rand((4,), -1, 1)],
     "attrs": {"num_groups": 2}, "ref": group_norm, "grad": True, "grad2": True, "tol": HALF_TOL},
    {"op": "InstanceNorm", "inputs": [rand((2, 4, 3, 2), -1, 2), rand((4,), 0.5, 1.5),
                                      rand((4,), -1, 1)], "ref": instance_norm, "grad": True, "grad2": True,
     "tol": HALF_TOL,
     "bad": [{"inputs": [(2, 4, 3), (3,), (4,)]}]},
    {"op": "LRN", "inputs": [rand((2, 5, 3, 2), -1, 2)], "attrs": {"nsize": 3, "alpha": 0.5},
     "ref": lrn, "grad": True, "grad2": True, "tol": HALF_TOL, "bad": [{"attrs": {"nsize": 0}}]},
    {"op": "LRN", "inputs": [rand((2, 5, 3), -1, 2)],
     "attrs": {"nsize": 5, "alpha": 0.5, "beta": 0.5, "knorm": 1}, "ref": lrn, "grad": True, "grad2": True,
     "tol": HALF_TOL},
    {"op": "LRN", "inputs": [rand((1, 5, 3), -1, 2)], "attrs": {"nsize": 4, "alpha": 0.5}, "ref": lrn, "grad": True, "grad2": True,
     "tol": HALF_TOL},
]
