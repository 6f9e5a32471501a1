"""The products of attention on interleaved projections, against products of single heads."""
import numpy as np

from op_cases import rand

TOL = {"float64": 1e-12, "float32": 1e-5, "float16": 6e-3, "bfloat16": 5e-2}


def _heads(x, heads, parts, part):
    """(batch * heads, steps, size) of one part."""
    steps, batch, _ = x.shape
    return x.reshape(steps, batch * heads, parts, -1)[:, :, part].transpose(1, 0, 2)


def _scores(q, k):
    return q @ k.transpose(0, 2, 1) / np.sqrt(q.shape[2])


def _together(x, batch):
    """(batch * heads, steps, size) as (steps, batch, heads * size)."""
    return x.transpose(1, 0, 2).reshape(x.shape[1], batch, -1)


def self_scores(qkv, heads):
    return _scores(_heads(qkv, heads, 3, 0), _heads(qkv, heads, 3, 1))


def self_values(qkv, attention, heads):
    return _together(attention @ _heads(qkv, heads, 3, 2), qkv.shape[1])


def cross_scores(q, kv, heads):
    return _scores(_heads(q, heads, 1, 0), _heads(kv, heads, 2, 0))


def cross_values(kv, attention, heads):
    return _together(attention @ _heads(kv, heads, 2, 1), kv.shape[1])


CASES = []
for _heads_count, _steps, _queries, _batch, _size in ((1, 3, 2, 1, 2), (2, 5, 3, 3, 4)):
    _features, _both = _heads_count * _size, _batch * _heads_count
    for _op, _ref, _shapes in (
            ("selfatt_qk", self_scores, [(_steps, _batch, 3 * _features)]),
            ("selfatt_valatt", self_values, [(_steps, _batch, 3 * _features), (_both, _steps, _steps)]),
            ("encdec_qk", cross_scores, [(_queries, _batch, _features), (_steps, _batch, 2 * _features)]),
            ("encdec_valatt", cross_values, [(_steps, _batch, 2 * _features), (_both, _queries, _steps)])):
        CASES.append({"op": "_contrib_interleaved_matmul_" + _op,
                      "inputs": [rand(s, -1, 1) for s in _shapes], "attrs": {"heads": _heads_count},
                      "ref": _ref, "grad": list(range(len(_shapes))), "grad2": True, "tol": TOL, "empty": False,
                      "bad": [{"attrs": {"heads": 7}}]})
