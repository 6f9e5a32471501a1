#!/usr/bin/env python3
"""Writes python/mxnet/_operators/examples.txt: one example for each public operator,
as docstrings show it.

    ./dev python tools/record_examples.py [OPERATOR...]

An example is made of the operator's first case in tests/python/op_cases that is small enough: its
arrays are made smaller as long as the operator takes them, and the call is run. What an operator
prints then stands under the call. A case may have `example`, lines of Python, instead.
tests/python/project/test_examples.py runs all of them as doctests.
"""
import contextlib
import io
import itertools
import os
import sys

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [os.path.join(ROOT, "tests", "python"), os.path.join(ROOT, "tests", "python", "operators")]
import mxnet as mx  # noqa: E402
import test_operators as harness  # noqa: E402
from mxnet._operators import functions as _op_functions  # noqa: E402

PATH = os.path.join(ROOT, "python", "mxnet", "_operators", "examples.txt")
HOMES = [("_contrib_", "mx.nd.contrib."), ("_linalg_", "mx.nd.linalg."), ("_image_", "mx.nd.image."),
         ("_random_", "mx.nd.op."), ("_sample_", "mx.nd.op."), ("_", None), ("", "mx.nd.")]
MOST_NUMBERS = 24   # that an array of an example shows
# Of operators whose cases are tests of their own.
BY_HAND = {
    "cast_storage": """
data = mx.nd.array([[0, 1], [0, 0], [2, 0]])
rows = mx.nd.cast_storage(data, stype='row_sparse')
rows.stype, rows.indices.asnumpy()""",
    "_contrib_dgl_adjacency": """
graph = mx.nd.sparse.csr_matrix(([5, 7], [1, 0], [0, 1, 2]), shape=(2, 2), dtype='int64')
mx.nd.contrib.dgl_adjacency(graph).asnumpy()""",
    "_contrib_dgl_csr_neighbor_uniform_sample": """
graph = mx.nd.sparse.csr_matrix(([5, 7], [1, 0], [0, 1, 2]), shape=(2, 2), dtype='int64')
seeds = mx.nd.array([0], dtype='int64')
result = mx.nd.contrib.dgl_csr_neighbor_uniform_sample(graph, seeds, num_args=2, num_neighbor=2, max_num_vertices=3)
[part.asnumpy().tolist() for part in result]""",
    "_contrib_dgl_csr_neighbor_non_uniform_sample": """
graph = mx.nd.sparse.csr_matrix(([5, 7], [1, 0], [0, 1, 2]), shape=(2, 2), dtype='int64')
chances, seeds = mx.nd.array([0.5, 0.5]), mx.nd.array([0], dtype='int64')
result = mx.nd.contrib.dgl_csr_neighbor_non_uniform_sample(graph, chances, seeds, num_args=3, num_neighbor=2, max_num_vertices=3)
[part.asnumpy().tolist() for part in result]""",
    "_contrib_dgl_graph_compact": """
graph = mx.nd.sparse.csr_matrix(([5, 7], [1, 0], [0, 1, 2]), shape=(2, 2), dtype='int64')
seeds = mx.nd.array([0], dtype='int64')
vertices, part, _ = mx.nd.contrib.dgl_csr_neighbor_uniform_sample(graph, seeds, num_args=2, num_neighbor=2, max_num_vertices=3)
mx.nd.contrib.dgl_graph_compact(part, vertices, graph_sizes=2, return_mapping=False).shape""",
    "_contrib_dgl_subgraph": """
graph = mx.nd.sparse.csr_matrix(([5, 7], [1, 0], [0, 1, 2]), shape=(2, 2), dtype='int64')
some = mx.nd.array([0, 1], dtype='int64')
part, edges = mx.nd.contrib.dgl_subgraph(graph, some, return_mapping=True)
edges.asnumpy()""",
    "_contrib_edge_id": """
graph = mx.nd.sparse.csr_matrix(([5, 7], [1, 0], [0, 1, 2]), shape=(2, 2), dtype='int64')
start, end = mx.nd.array([0, 1], dtype='int64'), mx.nd.array([1, 1], dtype='int64')
mx.nd.contrib.edge_id(graph, start, end).asnumpy()""",
    "FullyConnected": """
data = mx.nd.array([[1, 2, 3]])
weight = mx.nd.array([[1, 0, 0], [0, 1, 1]])
bias = mx.nd.array([10, 20])
mx.nd.FullyConnected(data, weight, bias, num_hidden=2).asnumpy()""",
    "_shuffle": """
result = mx.nd.shuffle(mx.nd.array([[1, 2], [3, 4], [5, 6]]))
sorted(result[:, 0].asnumpy().tolist())""",
    "multi_sgd_mom_update": """
weights, grads, momenta = ([mx.nd.ones(n), mx.nd.ones((2, n))] for n in (3, 3, 3))
arrays = [array for group in zip(weights, grads, momenta) for array in group]
_ = mx.nd.multi_sgd_mom_update(*arrays, lrs=(0.1, 0.2), wds=(0, 0), momentum=0.9, num_weights=2, out=weights)
weights[1].asnumpy().round(3)""",
    "multi_mp_sgd_update": """
weight32 = mx.nd.ones(3)
weight = weight32.astype('float16')
_ = mx.nd.multi_mp_sgd_update(weight, weight, weight32, lrs=(0.1,), wds=(0,), num_weights=1, out=weight)
weight.asnumpy().round(3)""",
    "multi_mp_sgd_mom_update": """
weight32, momentum = mx.nd.ones(3), mx.nd.zeros(3)
weight = weight32.astype('float16')
_ = mx.nd.multi_mp_sgd_mom_update(weight, weight, momentum, weight32, lrs=(0.1,), wds=(0,), momentum=0.9, num_weights=1, out=weight)
weight.asnumpy().round(3)""",
    "preloaded_multi_sgd_mom_update": """
weight, grad, momentum = mx.nd.ones(3), mx.nd.ones(3), mx.nd.zeros(3)
lrs, wds = mx.nd.array([0.1]), mx.nd.array([0])
_ = mx.nd.preloaded_multi_sgd_mom_update(weight, grad, momentum, lrs, wds, momentum=0.9, num_weights=1, out=weight)
weight.asnumpy().round(3)""",
    "preloaded_multi_mp_sgd_mom_update": """
weight32, momentum, lrs, wds = mx.nd.ones(3), mx.nd.zeros(3), mx.nd.array([0.1]), mx.nd.array([0])
weight = weight32.astype('float16')
_ = mx.nd.preloaded_multi_mp_sgd_mom_update(weight, weight, momentum, weight32, lrs, wds, \
    momentum=0.9, num_weights=1, out=weight)
weight.asnumpy().round(3)""",
    "_backward_contrib_quadratic": """
ograd, x = mx.nd.ones(2), mx.nd.array([3, 4])
mx.nd.contrib.backward_quadratic(ograd, x, a=1, b=10, c=100).asnumpy()""",
    "_contrib_backward_gradientmultiplier": """
mx.nd.contrib.backward_gradientmultiplier(mx.nd.array([1, 2]), scalar=-0.5).asnumpy()""",
    "reset_arrays": """
a, b = mx.nd.ones(3), mx.nd.ones((2, 2))
_ = mx.nd.reset_arrays(a, b, num_arrays=2)
a.asnumpy(), float(b.sum().asscalar())""",
    "rmspropalex_update": """
weight, grad = mx.nd.ones(3), mx.nd.ones(3)
n, g, delta = mx.nd.zeros(3), mx.nd.zeros(3), mx.nd.zeros(3)
mx.nd.rmspropalex_update(weight, grad, n, g, delta, lr=0.1, gamma1=0.95, gamma2=0.9).asnumpy().round(3)""",
}
DRAWS = {
    "binomial": ("n=10, p=0.4", "[10.0, 5.0]", "[0.4, 0.5]"),
    "categorical": (None, "[[0.1, 0.9], [0.5, 0.5]]"),
    "exponential": ("lam=2.0", "[1.0, 8.0]"),
    "gamma": ("alpha=2.0, beta=0.5", "[1.0, 2.0]", "[3.0, 4.0]"),
    "generalized_negative_binomial": ("mu=2.0, alpha=0.3", "[1.0, 2.0]", "[0.1, 0.2]"),
    "multinomial": (None, "[[0.1, 0.9], [0.5, 0.5]]"),
    "negative_binomial": ("k=3, p=0.4", "[2.0, 3.0]", "[0.4, 0.5]"),
    "normal": ("loc=1.0, scale=0.1", "[0.0, 5.0]", "[1.0, 2.0]"),
    "poisson": ("lam=3.0", "[1.0, 8.0]"),
    "randint": ("low=0, high=6",),
    "uniform": ("low=-1.0, high=1.0", "[0.0, 5.0]", "[1.0, 6.0]"),
}
for _name, (_numbers, *_arrays) in DRAWS.items():
    if _numbers:
        BY_HAND[f"_random_{_name}"] = f"mx.nd.op.random_{_name}({_numbers}, shape=(2, 3)).shape"
    if _arrays:
        _arrays = ", ".join(f"mx.nd.array({a})" for a in _arrays)
        BY_HAND[f"_sample_{_name}"] = f"mx.nd.op.sample_{_name}({_arrays}, shape=3).shape"
# Whole sessions, of statements of several lines.
SESSIONS = {
    "Custom": """
>>> class Twice(mx.operator.CustomOp):
...     def forward(self, is_train, req, in_data, out_data, aux):
...         self.assign(out_data[0], req[0], 2 * in_data[0])
...     def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
...         self.assign(in_grad[0], req[0], 2 * out_grad[0])
>>> @mx.operator.register("twice")
... class TwiceProp(mx.operator.CustomOpProp):
...     def create_operator(self, ctx, shapes, dtypes):
...         return Twice()
>>> mx.nd.Custom(mx.nd.array([1, 2]), op_type="twice").asnumpy()
array([2., 4.], dtype=float32)""",
    # Gradients make these, and calls are refused, as in 1.9.1.
    "_contrib_backward_hawkesll": """
>>> lda, alpha, beta = mx.nd.array([[0.5]]), mx.nd.array([0.2]), mx.nd.array([1])
>>> state, lags, marks = mx.nd.zeros((1, 1)), mx.nd.array([[1, 2]]), mx.nd.zeros((1, 2), dtype='int32')
>>> for array in (lda, alpha, beta):
...     array.attach_grad()
>>> with mx.autograd.record():
...     loglike, _ = mx.nd.contrib.hawkesll(lda, alpha, beta, state, lags, marks, mx.nd.array([2]), mx.nd.array([4]))
>>> loglike.backward()
>>> [round(float(array.grad.sum().asscalar()), 3) for array in (lda, alpha, beta)]
[-0.103, -1.326, -0.155]""",
    "_contrib_backward_index_copy": """
>>> old, new = mx.nd.zeros((3, 1)), mx.nd.array([[5], [6]])
>>> for array in (old, new):
...     array.attach_grad()
>>> with mx.autograd.record():
...     copied = mx.nd.contrib.index_copy(old, mx.nd.array([2, 0], dtype='int64'), new)
>>> copied.backward(mx.nd.array([[1], [10], [100]]))
>>> old.grad.asnumpy().ravel(), new.grad.asnumpy().ravel()
(array([ 0., 10.,  0.], dtype=float32), array([100.,   1.], dtype=float32))""",
}
HEAD = "Made by tools/record_examples.py; do not edit.\n"


def callable_name(names):
    """How a user calls the operator; None when all its names are internal."""
    for name in sorted(names, key=lambda n: (n.startswith("_"), n.startswith(("_npi_", "_npx_", "_np_")))):
        for prefix, home in HOMES:
            if name.startswith(prefix):
                if home is None:
                    break
                short = name if home == "mx.nd.op." and not name.startswith("_") else name[len(prefix):]
                if not short.isidentifier():
                    break
                found = mx.nd
                for part in (home + short).split(".")[2:]:
                    found = getattr(found, part, None)
                if found is not None:
                    return home + short
                break
    return None


def smaller(values, size):
    """The arrays with no dimension beyond `size`, dimensions that were equal still equal."""
    return [None if v is None else v[tuple(slice(0, size) for _ in v.shape)] for v in values]


def text_of(value, dtype):
    if value.dtype.kind == "f" and value.size and np.isfinite(value).all():
        value = np.round(value, 1)
    plain = np.array2string(value, separator=", ", threshold=10 ** 6, max_line_width=10 ** 6).replace("\n", "")
    while "  " in plain:
        plain = plain.replace("  ", " ")
    for old, new in (("[ ", "["), ("nan", "float('nan')"), ("inf", "float('inf')")):
        plain = plain.replace(old, new)
    return f"mx.nd.array({plain})" if dtype == "float32" else f"mx.nd.array({plain}, dtype='{dtype}')"


def drawn(value, dtype):
    """Text that draws an array of the shape and range of `value`."""
    low, high = (int(np.floor(value.min())), int(np.ceil(value.max())))
    kind = "randint" if np.issubdtype(np.dtype(dtype), np.integer) else "uniform"
    return f"mx.nd.random.{kind}({low}, {high + (kind == 'randint' or high == low)}, shape={value.shape}, dtype='{dtype}')"


def call_lines(case, values, dtype, name):
    """Lines of Python that make the arrays and call the operator."""
    info = _op_functions.op_info(case["op"])
    lines, given = [], []
    for i, value in enumerate(values):
        if value is None:
            continue
        own = case.get("input_dtypes", {}).get(i, dtype)
        if own == "bfloat16":
            return None
        label = f"{info.inputs[0]}{i}" if info.variadic else info.inputs[i] if i < len(info.inputs) else f"input{i}"
        label = _op_functions._identifier(label)
        lines.append(f"{label} = {text_of(value, own) if value.size <= MOST_NUMBERS else drawn(value, own)}")
        given.append(label if info.variadic or all(v is not None for v in values[:i]) else f"{label}={label}")
    given += [f"{_op_functions._identifier(k)}={v!r}" for k, v in case.get("attrs", {}).items()]
    return lines + [f"{name}({', '.join(given)})"]


def digits_of(value):
    """How many digits to round to: 3, or others where a number lies halfway between two, which the
    last bit of a sum would decide."""
    finite = np.abs(value[np.isfinite(value)].astype("float64"))
    for digits in (3, 4, 5, 2):
        scaled = finite * 10 ** digits
        if (np.abs(scaled % 1 - 0.5) > 1e-3 + 3e-7 * scaled).all():
            return digits
    return 3


def shown(lines, random):
    """The session with what the last line gives, or None when it fails or gives too much."""
    scope = {"mx": mx, "__name__": "example"}
    session = []
    try:
        mx.random.seed(1)
        for line in lines[:-1]:
            exec(line, scope)
            session.append(">>> " + line)
        with contextlib.redirect_stdout(io.StringIO()):
            result = eval(lines[-1], scope)
            several = isinstance(result, (list, tuple))
            results = list(result) if several else [result]
            for one in results:
                one.wait_to_read()
    except Exception:   # this size is not one that the operator takes
        return None
    if any(r.size == 0 for r in results):
        return None
    big = any(r.size > MOST_NUMBERS for r in results)
    if several or big:
        session += [">>> result = " + lines[-1]]
        session += ([">>> [r.shape for r in result]", str([r.shape for r in results])] if several
                    else [">>> result.shape", str(result.shape)])
        return session
    one = results[0]
    integer = np.issubdtype(np.dtype(one.dtype), np.integer) or one.dtype == bool
    value, tail = one.asnumpy(), ".asnumpy()"
    if not integer:
        digits = digits_of(value)
        value, tail = value.round(digits), f"{tail}.round({digits})"
    if random:
        return session + [">>> result = " + lines[-1], ">>> result.shape", str(result.shape)]
    return session + [f">>> {lines[-1]}{tail}", *filter(None, repr(value).split("\n"))]   # blank lines would end what a doctest compares


def written(text):
    """Session of an example that a person wrote: lines of Python, the last of which is shown."""
    scope, lines = {"mx": mx, "__name__": "example"}, text.strip().split("\n")
    mx.random.seed(1)
    for line in lines[:-1]:
        exec(line, scope)
    shown_lines = repr(eval(lines[-1], scope)).split("\n")
    return [">>> " + line for line in lines] + [line for line in shown_lines if line]   # as in `shown`


def from_case(case, name):
    if "example" in case:
        return written(case["example"])
    accepted = harness._accepted(case)
    dtype = "float32" if "float32" in accepted else accepted[0]
    for size in (2, 3, 4, 5, 10 ** 9):
        try:
            values = smaller(harness._draw(case, dtype), size)
            lines = call_lines(case, values, dtype, name)
        except Exception:
            return None
        found = lines and shown(lines, "check" in case or any("random" in line for line in lines))
        if found and all(len(line) <= 160 for line in found):
            return found
    return None


def examples():
    """(canonical name, lines) of each public operator that has an example."""
    names = {}
    for name in _op_functions.op_names():
        names.setdefault(_op_functions.op_info(name).name, []).append(name)
    cases = {}
    for case in harness.CASES:
        cases.setdefault(_op_functions.op_info(case["op"]).name, []).append(case)
    for canonical in sorted(names):
        name = callable_name(names[canonical])
        if canonical not in SESSIONS and canonical not in BY_HAND and (name is None or "backward" in name):
            continue
        if canonical in SESSIONS:
            yield canonical, SESSIONS[canonical].strip().split("\n")
            continue
        if canonical in BY_HAND:
            yield canonical, written(BY_HAND[canonical])
            continue
        made = (from_case(case, name) for case in itertools.islice(cases.get(canonical, []), 8))
        yield canonical, next((m for m in made if m), None)


def main():
    found = list(examples())
    with open(PATH + ".new", "w", encoding="utf-8") as f:
        f.write(HEAD)
        for name, lines in found:
            if lines:
                f.write(f"\n[{name}]\n" + "\n".join(lines) + "\n")
    os.replace(PATH + ".new", PATH)
    without = [name for name, lines in found if not lines]
    print(f"{len(found) - len(without)} of {len(found)} public operators have an example; without: {' '.join(without)}")


if __name__ == "__main__":
    main()
