"""The calls that the fuzzer makes. A reproduction is a line of Python after ``from calls import *``
in this folder.

What is refused with an error of the library passes. ``Wrong`` is raised for another kind of error,
for memory that was not written, and for memory beyond what the call needs.
"""
import itertools
import os
import re
import tempfile

import numpy as np

import mxnet as mx
from guard import guarded
from mxnet import autograd
from mxnet.ndarray._native import _call

from files import READERS

ACCEPTED = (mx.MXNetError, TypeError, ValueError, IndexError, MemoryError, NotImplementedError, OverflowError, OSError)
DRAWS = re.compile(r"random|sample|dropout|shuffle|multinomial|normal|uniform|bernoulli|gamma$|choice|RNN|"
                   r"rrelu|LeakyReLU|unique_zipfian|exponential|poisson|laplace|gumbel|logistic|pareto|powerd$|"
                   r"rayleigh|weibull|_empty|empty_like|noise|Custom|_np_copy|_new_empty|_draw_counters", re.I)


# The library's messages; Python's about arguments; NumPy's about an array that it cannot hold.
_NAMES = re.compile(r"^\[[\w ./<>-]+\]|accepted|multiple values for|positional argument|unexpected keyword|"
                    r"array is too big|Maximum allowed dimension|maximum supported dimension")


class Wrong(Exception):
    """Something that neither works nor is refused."""


def a(shape, dtype="float32", fill=0):
    """An array between guard pages; `fill`: 0 small numbers, 1 all zero, 2 numbers at the ends of
    the dtype."""
    n = int(np.prod(shape, dtype=np.int64))
    kind = "float32" if dtype == "bfloat16" else dtype
    values = (np.arange(n) * 7 % 5) if fill == 0 else np.zeros(n)
    values = values.astype(kind)
    if fill == 2 and n:
        ends = [np.nan, np.inf, -np.inf, 1e30,
                -0.0] if kind.startswith("float") else [0, 1] if kind == "bool" else [np.iinfo(kind).max, np.iinfo(kind).min, 0]
        with np.errstate(over="ignore"):
            values = np.resize(np.array(ends, kind), n)
    values = values.reshape(shape)
    if dtype == "bfloat16":
        return mx.nd.array(values, dtype="bfloat16")
    return mx.nd.from_numpy(guarded(values), zero_copy=True)


nan, inf = float("nan"), float("inf")


def v(values, shape, dtype):
    """An array of these numbers between guard pages; integers are cut to their range."""
    numbers = np.array(values, "float64").reshape(shape)
    if dtype == "bfloat16":
        return mx.nd.array(numbers, dtype="bfloat16")
    with np.errstate(over="ignore"):
        if not dtype.startswith("float") and dtype != "bool":
            ends = np.iinfo(dtype)
            numbers = np.clip(np.nan_to_num(numbers), float(ends.min), np.nextafter(float(ends.max) + 1, 0))
        return mx.nd.from_numpy(guarded(numbers.astype(dtype)), zero_copy=True)


def s(stype, shape, dtype="float32", fill=0, wrong=""):
    """A sparse array: of what `a` has, or with parts that lead outside. `wrong`: '' none, 'far' an
    index behind the end, 'negative', 'twice' an index again, 'order' indices that fall, 'ends'
    index pointers that end elsewhere, 'falls' index pointers that fall."""
    rows = shape[0] if shape else 0
    if not shape or 0 in shape or (stype == "csr" and len(shape) != 2) or dtype == "bfloat16":
        return a(shape, dtype, fill)
    dense = a(shape, dtype, fill).asnumpy()
    if not wrong:
        return mx.nd.array(dense, dtype=dtype).tostype(stype)
    if stype == "row_sparse":
        index = np.arange(min(rows, 3))
        data = dense[:len(index)]
        _spoil(index, wrong, rows)
        return mx.nd.sparse.row_sparse_array((data, index), shape=shape, dtype=dtype)
    count = min(shape[1], 3)
    index, indptr = np.tile(np.arange(count), rows), np.arange(rows + 1) * count
    if wrong == "ends":
        indptr[-1] += 7
    elif wrong == "falls" and rows > 1:
        indptr[1] = 1 << 40
    else:
        _spoil(index, wrong, shape[1])
    data = np.resize(dense, len(index)).astype(dense.dtype)
    return mx.nd.sparse.csr_matrix((data, index, indptr), shape=shape, dtype=dtype)


def _spoil(index, wrong, limit):
    index[-1] = {"far": limit + (1 << 33), "negative": -1}.get(wrong, index[0])
    if wrong == "order":
        index[:] = index[::-1].copy()


def _judge(error):
    text = str(error)
    if not isinstance(error, ACCEPTED):
        raise Wrong(f"{type(error).__name__}: {text[:300]}") from error
    if not isinstance(error, (MemoryError, OSError)) and not _NAMES.search(text):
        raise Wrong(f"an error that names nothing: {type(error).__name__}: {text[:300]}") from error


def _leftovers():
    """Raises what nobody has read, until nothing is left."""
    while True:
        try:
            return mx.nd.waitall()
        except ACCEPTED as error:
            _judge(error)


def _peak():
    """Most resident bytes of this process so far. getrusage would also count what its parent had
    when it started this one."""
    with open("/proc/self/status", encoding="ascii") as file:
        return int(re.search(r"VmHWM:\s+(\d+)", file.read()).group(1)) << 10


def _bytes(arrays):
    return sum(int(np.prod(x.shape, dtype=np.float64)) * 8 for x in arrays)


def _soil(arrays, value):
    """Leaves `value` in the pool's blocks that the next results of such sizes will get."""
    kept = [mx.nd.full(x.shape, value, dtype="uint8" if x.dtype == np.bool_ else x.dtype) for x in arrays if 0 < x.size < 1 << 16]
    mx.nd.waitall()
    del kept


_made = []      # the results of the call that is being made, which may fail behind them


def _list(outs):
    _made[:] = outs if isinstance(outs, (list, tuple)) else [outs]
    return list(_made)


def _eager(name, arrays, params):
    given = [x.asnumpy() for x in arrays]
    outs = _list(_call(name, arrays, **params))
    first = [x.asnumpy() for x in outs]
    if not DRAWS.search(name) and "seed" not in name:
        changed = [x.asnumpy() for x in arrays]
        if not all(np.array_equal(one, two, equal_nan=one.dtype.kind == "f") for one, two in zip(given, changed)):
            return outs   # an update: another result is right
        _soil([x for x in outs if x.stype == "default"], 3)
        again = _list(_call(name, arrays, **params))
        for one, two, before, after in itertools.zip_longest(first, [x.asnumpy() for x in again], changed, [x.asnumpy() for x in arrays]):
            if before is not None and not np.array_equal(before, after, equal_nan=before.dtype.kind == "f"):
                return outs   # an update: another result is right
        for one, two in zip(first, [x.asnumpy() for x in again]):
            if one.dtype.kind in "fiub" and one.shape == two.shape and not np.array_equal(one, two, equal_nan=one.dtype.kind == "f"):
                raise Wrong("two calls differ: memory that was not written")
    return outs


def _out(name, arrays, params, given):
    outs = _list(_call(name, arrays, given if len(given) != 1 else given[0], **params))
    for x in outs:
        x.asnumpy()
    return outs


def _backward(name, arrays, params):
    for x in arrays:
        x.attach_grad("add" if x.size % 2 else "write")
    with autograd.record():
        outs = _list(_call(name, arrays, **params))
    autograd.backward(outs, [mx.nd.ones(x.shape, dtype=x.dtype) for x in outs])
    for x in arrays:
        x.grad.asnumpy()
    return outs


def _bound(name, arrays, params, is_train=True):
    symbol = getattr(mx.sym._internal, name, None) or getattr(mx.sym, name)
    inputs = {f"x{i}": x for i, x in enumerate(arrays)}
    made = symbol(*[mx.sym.Variable(n) for n in inputs], **params)
    names = made.list_arguments() + made.list_auxiliary_states()
    for n in names:
        inputs.setdefault(n, mx.nd.ones((2, 3)))
    floating = {n: "write" if inputs[n].dtype in (np.float32, np.float64, np.float16) else "null" for n in made.list_arguments()}
    grads = {n: mx.nd.zeros(inputs[n].shape, dtype=inputs[n].dtype) for n in floating if floating[n] == "write"}
    bound = made.bind(mx.cpu(), {n: inputs[n] for n in made.list_arguments()}, grads, floating,
                      {n: inputs[n] for n in made.list_auxiliary_states()})
    outs = _list(bound.forward(is_train=is_train))
    for x in outs:
        x.asnumpy()
    if is_train:
        bound.backward([mx.nd.ones(x.shape, dtype=x.dtype) for x in outs])
        for x in grads.values():
            x.asnumpy()
    return outs


def _alone(params):
    """Calls would wait for those on other devices, which nobody makes here."""
    given = dict(params or {})
    if str(given.get("ndev", "")).strip().lstrip("+").isdigit():
        given["ndev"] = min(int(given["ndev"]), 1)
    return given


_MODES = {"eager": _eager, "out": _out, "backward": _backward, "bound": _bound}


def call(mode, name, arrays, params=None, *more):
    """One operator through one entry point: eager, out (with a list of outputs), backward,
    bound."""
    before = _peak()
    _made.clear()
    try:
        _MODES[mode](name, arrays, _alone(params), *more)
    except ACCEPTED as error:
        _judge(error)
    _leftovers()
    of_arrays = _bytes(arrays) + _bytes(_made)
    _made.clear()
    if _peak() - before > (512 << 20) + 16 * of_arrays:
        raise Wrong(f"{(_peak() - before) >> 20} MiB for arrays of {of_arrays >> 20} MiB")


def reader(kind, seed):
    """A damaged file of this kind, made from `seed`, through its reader; see files.py."""
    before = _peak()
    with tempfile.TemporaryDirectory() as folder:
        try:
            READERS[kind](np.random.RandomState(seed), os.path.join(folder, "given"))
        except ACCEPTED as error:
            _judge(error)
    _leftovers()
    if kind not in ("states", "pickled") and _peak() - before > 512 << 20:   # of those two the interpreter takes what it likes
        raise Wrong(f"{(_peak() - before) >> 20} MiB for a file of some bytes")


def environment(name, value):
    """Sets a variable, trains a step under it and takes it back."""
    try:
        mx.util.set_env(name, value)
    except ValueError as error:
        return _judge(error)
    try:
        x, w = mx.nd.ones((4, 3, 8, 8)), mx.nd.ones((2, 3, 3, 3))
        _bound("Convolution", [x, w], {"kernel": (3, 3), "num_filter": 2, "no_bias": True})
        _backward("pick", [mx.nd.ones((600, 400)), mx.nd.zeros(600)], {})
    except ACCEPTED as error:
        _judge(error)
    finally:
        mx.util.set_env(name, "")
    _leftovers()
